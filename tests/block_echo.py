"""Every published size to a JVM, and random messages there and back, as many as one likes: `python tests/block_echo.py 100000`.

What belongs here: the long version of two tests of test_block_java.py. It knows nothing of values. Always true: it ends well only
when every message came back as it was.
"""

import random
import sys

import block_peer
import block_reference as slow
from test_block_java import answer_sizes, echo_messages


def main(count):
    """Spread the messages over all wires."""
    chance = random.Random(1)
    for wire in slow.WIRES:
        answer_sizes(wire, range(11))
        with block_peer.peer("echo", wire) as sock:
            echo_messages(sock, wire, chance, -(-count // len(slow.WIRES)))
        print(f"{wire}: sizes 0 to 10 answered, {-(-count // len(slow.WIRES)):,} messages came back as they were", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
