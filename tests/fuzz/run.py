"""Fuzz every target for some seconds or some executions, and say what came out.

    python tests/fuzz/run.py --seconds 600              all targets, ten minutes in all
    python tests/fuzz/run.py --executions 3000 --seed 1 each target 3,000 times, with the same inputs every time
    python tests/fuzz/run.py --replay bytes FILE ...    run inputs again, such as those that a run has saved
    python tests/fuzz/run.py --engine atheris ...       led by coverage; see coverage.py

Here: the command line and the table. Not here: checks. Invariant: exit code 0 means that no execution crashed, raised
what is not documented, or took over a second.
"""

import argparse
import pathlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from fuzz import engine, inputs, targets  # noqa: E402
from gates import figures  # noqa: E402

FOR_EVER = 10**12


def main(arguments=None):
    """Run the command."""
    options = parser().parse_args(arguments)
    known = {**targets.TARGETS, **targets.PLANTED}
    if options.child:
        engine.die_loudly()
        target = known[options.child]
        engine.work(
            options.child, target, options.seed, options.seconds, options.executions, options.slow, options.record
        )
        return 0
    if options.replay:
        return replay(known[options.replay[0]], options.replay[1:])
    if options.engine == "atheris":
        from fuzz import coverage

        return report(options, coverage.watch)
    return report(options, engine.watch)


def parser():
    """Describe the command line."""
    result = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    result.add_argument("--seconds", type=float, default=FOR_EVER, help="of all targets together")
    result.add_argument("--processes", type=int, default=1, help="how many targets run at a time")
    result.add_argument("--executions", type=int, default=FOR_EVER, help="of each target")
    result.add_argument("--seed", default=str(time.time_ns()), help="the same seed makes the same inputs")
    result.add_argument("--targets", default=",".join(targets.TARGETS), help="names with commas between")
    result.add_argument("--engine", choices=("plain", "atheris"), default="plain")
    result.add_argument("--timeout", type=float, default=60, help="seconds before one input counts as stuck")
    result.add_argument(
        "--slow",
        type=float,
        default=engine.SLOW_SECONDS,
        help="seconds of processor time before one input counts as slow",
    )
    result.add_argument("--findings", default="build/fuzz", help="the folder for inputs that found something")
    result.add_argument("--replay", nargs="+", metavar=("TARGET", "FILE"))
    result.add_argument("--child", help=argparse.SUPPRESS)
    result.add_argument("--record", help=argparse.SUPPRESS)
    return result


def report(options, watch):
    """Run the targets and print a line for each, in their order; return the exit code."""
    names = options.targets.split(",")
    seconds = options.seconds * options.processes / len(names)
    command = [sys.executable, __file__, "--slow", options.slow]
    print(f"seed {options.seed}")
    print(
        f"{'target':<12}{'executions':>12}{'crashes':>9}{'exceptions':>12}{f'over {options.slow:g} s':>10}"
        f"{'slowest':>9}{'MiB':>6}"
    )
    executions, slowest, bad = {}, 0.0, 0

    def run(name):
        return watch(command, name, options.seed, seconds, options.executions, options.timeout)

    pool = ThreadPoolExecutor(options.processes)
    for name, found in zip(names, pool.map(run, names)):
        kinds = [finding["kind"] for finding in found["findings"]]
        ncrashes, nexceptions = sum(kind in ("death", "stuck") for kind in kinds), kinds.count("exception")
        print(
            f"{name:<12}{found['executions']:>12,}{ncrashes:>9}{nexceptions:>12}{kinds.count('slow'):>10}"
            f"{found['slowest']:>9.3f}{found['mebibytes']:>6}",
            flush=True,
        )
        for path, finding in zip(engine.save(options.findings, name, found["findings"]), found["findings"]):
            print(f"  {path}\n{finding['text']}")
        executions[name] = found["executions"]
        slowest = max(slowest, found["slowest"])
        bad += len(kinds)
    total, nkept = sum(executions.values()), sum(len(inputs.corpus(name)) for name in names)
    print(f"{total:,} executions, {bad} findings")
    figures.report(
        executions=total, findings=bad, slowest_seconds=round(slowest, 3), inputs_kept=nkept, of_each=executions
    )
    return 1 if bad else 0


def replay(target, paths):
    """Run inputs from files again; what is wrong comes out as it is."""
    engine.die_loudly()
    for path in paths:
        target.check(pathlib.Path(path).read_bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
