"""The Java reader of block messages on good and spoiled input, in one virtual machine with little memory.

    python tests/fuzz/java_blocks.py --cases 100000 [--seed S]

Wants a JDK. For each input the Java reader has to give as many messages as the slow reference, and to end as that
does: with the input, or with the exception that it documents. Bombs declare large sizes in few bytes; anything but the
right exception is a finding.

Here: the comparison, the bombs, the list of explained differences. Not here: how other inputs are made. Invariant:
whatever the input, nothing but BlockException and EOFException comes out of the reader.
"""

import argparse
import collections
import pathlib
import re
import struct
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS.parent / "test_vectors" / "java")]

import jars  # noqa: E402

from fuzz import blocks, inputs  # noqa: E402
from gates import figures  # noqa: E402
from support import block_peer, block_reference as slow  # noqa: E402
from typedbytes.errors import BlockError, LimitError, TruncatedError  # noqa: E402

SOURCE = pathlib.Path(__file__).with_name("ReadHostileBlocks.java")
WIRES = ("line", "block", "bytes", "type8", "total", "header", "native")  # in the order of Java's Wire
SMALL = ("-Xmx64m", "-Xss512k", "-XX:MaxDirectMemorySize=64m", "-XX:+UseSerialGC", "-Xshare:auto")
MAX_SECONDS = 600
NAMES = {None: "end", BlockError: "BlockException", LimitError: "BlockException", TruncatedError: "EOFException"}
#: A native message with what may be a WRITABLE, whose content Java leaves to its caller.
WRITABLE = re.compile(rb"\xf5BB.*\x32", re.DOTALL)

BAD, CUT, END = "BlockException", "EOFException", "end"
HUGE = struct.pack(">i", 2**31 - 1)
NUMBERS = (
    HUGE, struct.pack(">i", -1), struct.pack(">i", -(2**31)), struct.pack(">q", 2**63 - 1), struct.pack(">q", 2**62),
)  # fmt: skip


def bombs():
    """Return (wire, bytes, what ends them): large declared sizes, few bytes."""
    for wire in ("block", "bytes", "type8", "header"):
        kind = b"\0" if wire == "type8" else bytes(4)
        yield wire, HUGE, CUT
        yield wire, b"\xff" * 4, BAD
        yield wire, b"\0\0\0\1" + kind + HUGE, CUT
        yield wire, b"\0\0\0\1" + kind + HUGE + bytes(3 << 20), CUT
        yield wire, b"\0\0\0\1" + kind + b"\x80\0\0\0", BAD
    yield "header", HUGE + bytes(8) * 50_000, CUT
    yield "total", HUGE + HUGE + bytes(4) + HUGE, BAD
    yield "total", HUGE + HUGE + bytes(4) + struct.pack(">i", 2**31 - 13), CUT
    for kind, end in ((b"0", BAD), (b"1", END), (b"3", BAD), (b"4", BAD), (b"5", END)):
        yield "line", kind + b"\n" + b"1" * 1_000_001, CUT
        yield "line", kind + b"\n" + b"1" * 1_000_001 + b"\ne\n", end
    yield "line", b"5\n" + b"1" * 500_000 + b"x" * 500_000 + b"\ne\n", BAD
    yield "line", b"5\n1e" + b"9" * 500_000 + b"\ne\n", END
    yield from native_bombs()


def native_bombs():
    """Return native messages whose head, entries or nested values declare large sizes."""
    for count, nbody, end in (
        (2**32 - 1, 0, BAD),
        (2**30, 0, BAD),
        (2**29, 0, CUT),
        (1, 2**64 - 1, BAD),
        (2**29, 2**63 - 1, CUT),
    ):
        yield "native", head(count, nbody), end
    for code in (0, 7, 8, 0x20, 0x21, 0x23):
        for nbytes, end in ((2**31 - 17, CUT), (2**31, BAD), (2**63 - 1, BAD), (2**64 - 1, BAD)):
            yield "native", head(1, nbytes & 2**63 - 1) + entry(code, nbytes) + bytes(9), end
    yield "native", head(2, 2**63 - 1) + entry(0, 2**63 - 8) + entry(0, 2**63 - 1), BAD
    for data, end in nested_bombs():
        yield "native", head(1, len(data)) + entry(data[0], len(data)) + data, end


def nested_bombs():
    """Yield TypedBytes: deep, with counts that are not true, with keys that are slow to compare."""
    yield b"\x09" * 300_000, BAD
    yield b"\x09" * 256 + b"\xff" * 256, END
    yield b"\x09" * 257 + b"\xff" * 257, BAD
    for code in (0, 7, 8, 10, 60, 144):
        for number in NUMBERS:
            yield b"\x09" + bytes([code]) + number + b"\xff", BAD
    vectors = maps = b"\x02\1" * 100_000
    for _ in range(255):
        vectors = b"\x08" + struct.pack(">i", len(vectors)) + vectors
        maps = b"\x0a" + struct.pack(">i", (len(maps) + 4) // 2) + b"\x02\0\x02\0" + b"\x02\1" + maps
    yield vectors, BAD
    yield maps, BAD
    yield pairs(lists_of_one_hash(300)), BAD
    yield pairs(lists_of_one_hash(16_000)), BAD
    yield pairs([b"\x04" + struct.pack(">II", n, n) for n in range(50_000)]), END  # one hash value, but an order
    yield pairs(both for n in range(20_000) for both in (b"\x04" + struct.pack(">II", n, n), text_of_no_hash(n))), BAD
    yield pairs([b"\x09\xff"] * 50_000), END
    yield pairs([b"\0\0\0\0\0"] * 50_000), END
    yield pairs([b"\x09\x03" + struct.pack(">i", n) + b"\xff" for n in range(50_000)]), END


def head(count, nbody):
    """Return the head of a native message."""
    return struct.pack(">IBBHIIQ", 0xF5424201, 1, 0, 0, count, 0, nbody)


def entry(code, number):
    """Return an entry of a native message."""
    return struct.pack(">BBBBIQ", code, 0, 0, 0, 0, number)


def pairs(keys):
    """Return a MAP of these encoded keys."""
    keys = list(keys)
    return b"\x0a" + struct.pack(">i", len(keys)) + b"".join(key + b"\x02\1" for key in keys)


def lists_of_one_hash(count):
    """Return lists that Java gives one hash value: 31 * 0 + 31 is 31 * 1 + 0."""
    halves = (b"\1\0\1\x1f", b"\1\1\1\0")
    return [b"\x09" + b"".join(halves[number >> bit & 1] for bit in range(14)) + b"\xff" for number in range(count)]


def text_of_no_hash(number):
    """Return one of the texts whose hash value is 0, as that of a long with equal halves: zeros do not change it."""
    return b"\x07" + struct.pack(">i", number % 100) + bytes(number % 100)


def cases(seed):
    """Yield (wire, bytes) without end, messages that are good, spoiled, or hold a number of the worst."""
    maker = inputs.Maker(f"java blocks {seed}")
    while True:
        for wire in WIRES:
            data = bytearray(blocks.messages(maker, wire))
            if data and maker.rng.random() < 0.2:
                offset, number = maker.rng.randrange(len(data)), maker.rng.choice(NUMBERS)
                data[offset : offset + len(number)] = number
            yield wire, bytes(data)


def read_by_java(batch, seed):
    """Return (messages, exception or end, what it said) of each input; the channel gives it in pieces or whole."""
    steps = inputs.Maker(f"steps {seed}").rng
    supply = bytearray()
    for wire, data in batch:
        supply += (
            struct.pack(">BHi", WIRES.index(wire), steps.choice((0, 0, 1, 7)) if len(data) < 5000 else 0, len(data))
            + data
        )
    command = [
        jars.find_tool("java"), *SMALL, "-cp", f"{block_peer.classes()}:{hostile_classes()}", "ReadHostileBlocks",
    ]  # fmt: skip
    lines = (
        subprocess.run(command, input=supply, stdout=subprocess.PIPE, timeout=MAX_SECONDS).stdout.decode().splitlines()
    )
    assert len(lines) == len(batch), f"the virtual machine ended after {len(lines)} of {len(batch)} inputs"
    return [(int(count), *rest.partition(" ")[::2]) for count, _, rest in (line.partition(" ") for line in lines)]


def hostile_classes():
    """Return the folder of the program that reads the inputs, compiled when a source has changed."""
    return jars._made(jars.BUILD / "java-block-hostile", [SOURCE, *block_peer.SOURCES], _compile)


def _compile(folder):
    command = [jars.find_tool("javac"), "-Xlint:all", "-Werror", "-d", folder, "-cp", block_peer.classes(), SOURCE]
    jars._run(command, "javac could not compile the reader of hostile messages")


def explained(data, found, right):
    """Return the name of the reason for which Java ends otherwise than the reference, None: there is none."""
    nmessages, outcome, said = found
    if (nmessages, outcome) == (right[0], BAD) and "too large for this reader" in said:
        return "more than 2^30 values, or 2^31 bytes in one"
    if outcome in (BAD, CUT, END) and right[1] == BAD and nmessages >= right[0] and WRITABLE.search(data):
        return "a Writable is left to the caller"
    if (nmessages, outcome) == (right[0], CUT) and right[1] == BAD and b"\xf5BB" in data:
        return "nested values are looked at when the message is whole"
    return None


def findings(ncases, seed):
    """Run bombs and cases; return what is wrong, and how often each explanation was met."""
    supply, wrong, met = cases(seed), [], collections.Counter()
    expected = list(bombs())
    batch = [bomb[:2] for bomb in expected] + [next(supply) for _ in range(ncases)]
    for number, ((wire, data), found) in enumerate(zip(batch, read_by_java(batch, seed))):
        if number < len(expected):
            right = (int(expected[number][2] == END), expected[number][2])
        else:
            messages, error = slow.decode(wire, data, pickle="raw")
            right = (len(messages), NAMES[error and error[0]])
        if found[:2] != right:
            reason = explained(data, found, right) if number >= len(expected) else None
            if reason:
                met[reason] += 1
            else:
                wrong.append(f"{wire} {data[:300].hex()}: {found}, not {right}")
    return wrong, met


def main(arguments=None):
    """Run the cases, and print what was explained and what was not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", default=str(time.time_ns()))
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}")
    wrong, met = findings(options.cases, options.seed)
    print("\n".join(wrong[:10]))
    for name, count in met.most_common():
        print(f"{count:>9,}  {name}")
    print(f"{options.cases:,} cases, {len(wrong)} unexplained differences")
    figures.report(cases=options.cases, unexplained=len(wrong), explained=dict(met))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
