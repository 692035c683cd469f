"""Two interpreters in one run: what the second one takes of the first one's time, for us and for its own marshal.

    python bench/interpreters.py COMMAND COMMAND [SHAPE...]    commands that run a Python with this package, such as python3.13

A shape is encoded and decoded as a whole list, in a new process each time; the interpreters take turns, and of each the least CPU time counts. The first
figure of a row is our ratio of the two, the second marshal's. The last row is the geometric mean of our ratio by
marshal's: at most 1.0 where the newer interpreter is not slower for us than by itself. Both should be built by one distribution:
marshal gains from how the interpreter was optimised, we do not.
"""

import json
import marshal
import math
import shlex
import subprocess
import sys

import typedbytes as tb
from data import SHAPES
from timing import Race, Runner

TURNS = 3
SECONDS = 0.3  # of a race
CONTENDERS = ("typedbytes", "marshal")


def measure(name):
    """Return nanoseconds for an item, by operation and contender; in the interpreter that is measured."""
    shape = SHAPES[name]
    lists = [shape.items(variant) for variant in range(shape.nvariants())]
    found = {}
    for operation in ("encode", "decode"):
        runners = []
        for contender, (dumps, loads) in zip(CONTENDERS, ((tb.dumps, tb.loads), (marshal.dumps, marshal.loads))):
            arguments = lists if operation == "encode" else [dumps(each) for each in lists]
            run = dumps if operation == "encode" else loads
            runners.append(Runner(contender, run, lambda nround, given=arguments: given[nround % len(given)], 0, True))
        race = Race("objects", operation, name, len(lists[0]), runners)
        race.run(SECONDS)
        for contender, entry in race.result()["entries"].items():
            found[f"{operation} {contender}"] = entry["ns"]
    return found


def marshals(name):
    """Return whether marshal knows the values of a shape."""
    try:
        marshal.dumps(SHAPES[name].items(0, 0.01))
    except ValueError:
        return False
    return True


def measured(command, name):
    """Run `measure` in an interpreter."""
    return json.loads(subprocess.check_output([*shlex.split(command), __file__, "--measure", name], text=True))


def main():
    """Print the table."""
    if sys.argv[1] == "--measure":
        print(json.dumps(measure(sys.argv[2])))
        return
    commands, names = sys.argv[1:3], sys.argv[3:] or [name for name in SHAPES if marshals(name)]
    print("| | typedbytes | marshal | ratio |\n|---|---|---|---|")
    ratios = []
    for name in names:
        turns = [[measured(command, name) for command in commands] for _ in range(TURNS)]
        least = [{key: min(turn[which][key] for turn in turns) for key in turns[0][which]} for which in (0, 1)]
        for operation in ("encode", "decode"):
            ours, theirs = (least[1][f"{operation} {each}"] / least[0][f"{operation} {each}"] for each in CONTENDERS)
            ratios.append(ours / theirs)
            print(f"| {operation} {name} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"| geometric mean of {len(ratios)} | | | {mean:.3f} |")


if __name__ == "__main__":
    main()
