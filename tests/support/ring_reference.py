"""The other side of a ring, slow and obvious, from docs/block-format.md: it can also lie.

Here: the handshake, the words of a memory, bytes through it. Not here: what a test expects. Invariant: no code of the
ring is used. It never sleeps, so it never asks for a bell.
"""

import fcntl
import mmap
import os
import struct
import time

from typedbytes.block import BlockReader, BlockWriter, Command

HEAD_SIZE = 4096
TAIL, HEAD, WAIT, RUNG = 128, 256, 384, 512
SHRINK, GROW, FUTURE_WRITE, SEAL = 2, 4, 16, 1


class SlowRing:
    """The words and bytes of two memories."""

    def __init__(self, sock, mine, theirs, capacity):
        self.sock, self.mine, self.theirs, self.capacity = sock, mine, theirs, capacity
        self.tail = self.head = self.rung = 0
        self.answered = None

    @classmethod
    def accept(cls, sock, before_answer=None, magic=b"\x01TBRING\x01"):
        """Take an offer; before_answer is called with the descriptor of the lent memory, while it may be written to."""
        reader, writer = BlockReader(sock, "native"), BlockWriter(sock, "native")
        command, path, lent, capacity = reader.read()
        assert command == "ring"
        with open(path, "rb") as theirs, open(lent, "r+b") as mine:
            self = cls(
                sock,
                mmap.mmap(mine.fileno(), HEAD_SIZE + capacity),
                mmap.mmap(theirs.fileno(), HEAD_SIZE + capacity, prot=mmap.PROT_READ),
                capacity,
            )
            assert struct.unpack_from("<8sQ", self.theirs) == (b"\x01TBRING\x01", capacity)
            struct.pack_into("<8sQ", self.mine, 0, magic, capacity)
            if before_answer is not None:
                before_answer(mine.fileno())
            writer.write([Command("mapped")])
        assert reader.read() in (["sealed"], None)  # None: the other side has found a fault
        return self

    @classmethod
    def offer(
        cls, sock, capacity=4096, seals=SHRINK | GROW | FUTURE_WRITE | SEAL, lent_seals=SHRINK | GROW, nbytes=None,
        owner=-1,
    ):  # fmt: skip
        """Offer memories, and return the answer, the ring and their descriptors."""
        files = [os.memfd_create("typedbytes", os.MFD_ALLOW_SEALING) for _ in range(2)]
        for file in files:
            os.posix_fallocate(file, 0, HEAD_SIZE + capacity if nbytes is None else nbytes)
            os.fchown(file, owner, -1)
        mine, theirs = mmap.mmap(files[0], 0), mmap.mmap(files[1], 0, prot=mmap.PROT_READ)
        struct.pack_into("<8sQ", mine, 0, b"\x01TBRING\x01", capacity)
        fcntl.fcntl(files[0], 1033, seals)
        fcntl.fcntl(files[1], 1033, lent_seals)
        paths = [f"/proc/{os.getpid()}/fd/{file}" for file in files]
        BlockWriter(sock, "native").write([Command("ring"), *paths, capacity])
        answer = BlockReader(sock, "native").read()
        return answer, cls(sock, mine, theirs, capacity), files

    def store(self, offset, number):
        """Change a word of the own memory."""
        struct.pack_into("<Q", self.mine, offset, number % 2**64)

    def load(self, offset):
        """Return a word of the other side's memory."""
        return struct.unpack_from("<Q", self.theirs, offset)[0]

    def bell(self):
        """Ring if the other side sleeps and was not rung for that."""
        time.sleep(0)
        wait = self.load(WAIT)
        if wait & 1 and wait != self.answered:
            self.answered = wait
            self.sock.send(b"\0")
            self.rung += 1
            self.store(RUNG, self.rung)

    def publish(self, offset, number):
        """Change a position, and wake the other side; it may fall asleep at this moment, without having seen it."""
        self.store(offset, number)
        self.bell()

    def write(self, data):
        """Write bytes, a few at a time."""
        while data:
            space = self.capacity - (self.tail - self.load(HEAD))
            part, data = data[:space], data[space:]
            for byte in part:
                self.mine[HEAD_SIZE + self.tail % self.capacity] = byte
                self.tail += 1
            self.publish(TAIL, self.tail)

    def read(self, nbytes):
        """Read bytes, all of them."""
        found = bytearray()
        while len(found) < nbytes:
            while self.load(TAIL) == self.head:
                self.bell()
            for _ in range(self.load(TAIL) - self.head):
                found.append(self.theirs[HEAD_SIZE + self.head % self.capacity])
                self.head += 1
            self.publish(HEAD, self.head)
        return bytes(found)
