"""Decode large values, each contender in a process of its own: time and page faults.

What a process has freed before changes what the C library does with memory, so a process that contenders share hides
what each costs alone. Times are CPU time with the release of the value, the least of many calls.
"""

import argparse
import multiprocessing
import resource
import time

import contenders
import data

SHAPES = ("bytes_100", "bytes_1k", "bytes_10k", "text_100", "text_1000", "dict_5", "nested", "row_8")
NAMES = ("typedbytes", "msgspec", "ormsgpack", "msgpack", "marshal", "pickle")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ncalls", type=int, default=100)
    parser.add_argument("shapes", nargs="*", choices=[*SHAPES, []], default=[], help=f"which: {' '.join(SHAPES)} (all)")
    options = parser.parse_args()
    print("us to decode a list and release it, and page faults")
    print(f"{'':<10}{'items':>7}" + "".join(f"{name:>18}" for name in NAMES))
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        for shape in options.shapes or SHAPES:
            nitems = len(data.SHAPES[shape].items(0, data.LARGE))
            cells = [processes.apply(measured, (name, shape, options.ncalls)) for name in NAMES]
            print(f"{shape:<10}{nitems:>7,}" + "".join(cells), flush=True)


def measured(name, shape_name, ncalls):
    """Return the cell of a contender, from the process that this is."""
    shape = data.SHAPES[shape_name]
    codec = contenders.codec(name, shape) if contenders.can(name, shape) else None
    if codec is None:
        return f"{'-':>18}"
    encoded = codec.dumps(shape.items(0, data.LARGE))
    least_ns, fewest = float("inf"), float("inf")
    for _ in range(ncalls):
        faults, started = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.process_time_ns()
        codec.loads(encoded)
        least_ns = min(least_ns, time.process_time_ns() - started)
        fewest = min(fewest, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
    return f"{least_ns / 1000:>12,.0f}{fewest:>6,}"


if __name__ == "__main__":
    main()
