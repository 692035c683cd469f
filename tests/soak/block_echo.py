"""Every published size to a JVM, and random messages there and back, as many as one likes.

Run by `python tests/soak/block_echo.py 100000`. Here: the long version of two tests of tests/block/test_java.py. Not
here: values. Invariant: it ends well only when every message came back as it was.
"""

import contextlib
import random
import subprocess
import sys

from support import block_peer, block_reference as slow
from support.block_messages import answer_sizes, echo_messages


def refuse_a_line_of_2_gib():
    """Send a line that no array of Java's can hold; the peer ends with an error that says so."""
    command = block_peer.command("checksum", "line", "pipe", ["-Xmx6g"])
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0
    ) as peer:
        with contextlib.suppress(BrokenPipeError):
            peer.stdin.write(b"1\n")
            for _ in range(2049):
                peer.stdin.write(b"x" * (1 << 20))
        said = peer.stderr.read()
    assert b"BlockException: a line is too long for this reader" in said, said
    print("line: 2 GiB refused", flush=True)


def main(count):
    """Spread the messages over all wires."""
    refuse_a_line_of_2_gib()
    rng = random.Random(1)
    for wire in slow.WIRES:
        answer_sizes(wire, range(11))
        with block_peer.peer("echo", wire) as sock:
            echo_messages(sock, wire, rng, -(-count // len(slow.WIRES)))
        print(
            f"{wire}: sizes 0 to 10 answered, {-(-count // len(slow.WIRES)):,} messages came back as they were",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
