"""Files on other machines, read in large pieces, the next of which is fetched while one is used.

Here: the pieces and the thread that fetches. Not here: what file systems there are. Invariants: one read of the file at
a time; no piece is fetched ahead before two have been read in a row, so that a first look and a search cost no more.
"""

from __future__ import annotations

import io
import queue
import threading

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["ReadAhead"]


class _Fetcher(threading.Thread):
    """The thread that reads ahead, for the pieces of one file.

    With a thread for each piece, the memory of each piece was mapped and unmapped again, at the cost of page faults.
    """

    def __init__(self):
        super().__init__(name="read ahead", daemon=True)
        self._wanted: queue.SimpleQueue[_Fetch | None] = queue.SimpleQueue()
        self.start()

    def fetch(self, file, offset, nbytes):
        """Return the _Fetch of a piece."""
        fetch = _Fetch(self, file, offset, nbytes)
        self._wanted.put(fetch)
        return fetch

    def end(self):
        """Let the thread end after its last read; in a forked child it has ended already."""
        if self.is_alive():
            self._wanted.put(None)

    def run(self):
        while (fetch := self._wanted.get()) is not None:
            fetch.read()
            del fetch


class _Fetch:
    """A piece that the thread reads: `data` is None until it is done, or `error` set."""

    def __init__(self, thread, file, offset, nbytes):
        self._thread = thread
        self._read = file, offset, nbytes
        self.data = self.error = None
        self.is_done = False  # set before _done is released
        self._done = threading.Lock()
        self._done.acquire()  # released by the thread

    def read(self):
        """Read it; the thread calls this."""
        try:
            self.data = _read_at(*self._read)
        except BaseException as error:  # raised where the data is wanted
            self.error = error
        del self._read  # the file, which its owner may have dropped
        self.is_done = True
        self._done.release()

    def wait(self):
        """Wait until it is done; not in a forked child, which does not have the thread."""
        if not self.is_done and self._thread.is_alive():
            self._done.acquire()


def _read_at(file, offset, nbytes):
    if file.tell() != offset:
        file.seek(offset)
    return file.read(nbytes)


class ReadAhead(io.RawIOBase):
    """Read a file of fsspec in pieces that grow from `nbytes` to `max_nbytes` as long as they follow each other."""

    def __init__(self, file: Any, nbytes: int, max_nbytes: int) -> None:
        self._file = file
        self._piece = memoryview(b"")
        self._start = 0  # of the piece in the file
        self._offset = 0
        self._min_nbytes = self._nbytes = nbytes
        self._max_nbytes = max_nbytes
        self._next: _Fetch | None = None  # what follows the piece
        self._fetcher: _Fetcher | None = None  # the thread, as soon as there is something to fetch

    @property
    def size(self) -> Any:
        """The number of bytes of the file, None if it is not known."""
        return getattr(self._file, "size", None)

    def readable(self) -> bool:
        """Return True: it can be read from."""
        return True

    def seekable(self) -> bool:
        """Return whether the file can be read from any offset."""
        return bool(self._file.seekable())

    def tell(self) -> int:
        """Return the offset of the next byte."""
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go on at an offset; the file is asked when bytes are read, or how long it is."""
        if whence == io.SEEK_END:
            if self._next is not None:
                self._next.wait()
            self._file.seek(offset, whence)  # not every file returns where it is then
            offset = self._file.tell()
        elif whence == io.SEEK_CUR:
            offset += self._offset
        if offset < 0:
            raise ValueError(f"negative offset {offset}")
        self._offset = offset
        return offset

    def read(self, nbytes: int | None = -1) -> bytes:
        """Return the next n bytes, fewer only at the end of the file."""
        left = float("inf") if nbytes is None or nbytes < 0 else nbytes
        parts: list[Any] = []
        while left and (part := self._take(left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def readinto(self, target: Any) -> int:
        """Fill the front of a buffer; return how many bytes that were."""
        part = self._take(len(target))
        memoryview(target)[: len(part)] = part  # a bytearray copies first what is assigned to a part of it
        return len(part)

    def close(self) -> None:
        """Close the file, which a thread that is still reading it does when it is done."""
        if not self.closed:
            if self._next is None or self._next.is_done:
                self._file.close()
            if self._fetcher is not None:
                self._fetcher.end()
        super().close()

    def _take(self, nbytes):
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        at = self._offset - self._start
        if not 0 <= at < len(self._piece):
            self._move()
            at = 0
        part = self._piece[at : at + min(nbytes, len(self._piece))]
        self._offset += len(part)
        return part

    def _move(self):
        """Make the piece that begins at the offset the current one."""
        is_next = self._offset == self._start + len(self._piece) > self._start
        data = None
        if self._next is not None:
            self._next.wait()  # also if it is not wanted; signals are handled meanwhile
            fetch, self._next = self._next, None
            if is_next:
                if fetch.error is not None:
                    raise fetch.error
                data = fetch.data  # None in a forked child, which does not have the thread
        if data is None:
            nbytes = self._next_nbytes(self._offset, is_next)
            data = _read_at(self._file, self._offset, nbytes) if nbytes else b""
        if not data and self.size is not None and self._offset < self.size:
            raise OSError(f"the file ends after {self._offset} of {self.size} bytes")
        self._piece, self._start = memoryview(data), self._offset
        end = self._offset + len(data)
        if is_next and data and (nbytes := self._next_nbytes(end, True)):
            if self._fetcher is None or not self._fetcher.is_alive():  # the child of a fork has its own
                self._fetcher = _Fetcher()
            self._next = self._fetcher.fetch(self._file, end, nbytes)

    def _next_nbytes(self, offset, is_next):
        """Return the length of the piece at an offset; some servers refuse one that goes beyond the end."""
        self._nbytes = min(2 * self._nbytes, self._max_nbytes) if is_next else self._min_nbytes
        return self._nbytes if self.size is None else max(0, min(self._nbytes, self.size - offset))
