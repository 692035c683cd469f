"""Memory that ends exactly where an unreadable page begins, so that reading one byte too many is a crash in any build.

Here: the pages and the views of them. Not here: what is read. Invariant: after the last byte of the view that `put`
returned last, and before the first byte of the one that `put_first` returned last, is a page without permissions.
"""

import ctypes
import mmap

PAGE = mmap.PAGESIZE
PROT_NONE = 0


class Guard:
    """Memory for some bytes between two pages that no code may touch."""

    def __init__(self, nbytes=1 << 20):
        npages = -(-nbytes // PAGE)
        self.capacity = npages * PAGE
        self._pages = mmap.mmap(-1, self.capacity + 2 * PAGE)
        self._view = memoryview(self._pages)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        for page in (self._start, self._start + PAGE + self.capacity):
            _forbid(page)

    def put(self, data):
        """Copy bytes to where they end at the unreadable page, and return a view of them."""
        end = PAGE + self.capacity
        return self._put(data, end - len(data), end)

    def put_first(self, data):
        """Copy bytes to where they start after the unreadable page, and return a view of them."""
        return self._put(data, PAGE, PAGE + len(data))

    def _put(self, data, start, end):
        if len(data) > self.capacity:
            raise ValueError(f"{len(data)} bytes do not fit {self.capacity}")
        view = self._view[start:end]
        view[:] = data
        return view


def _forbid(address):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), PROT_NONE):
        raise OSError(ctypes.get_errno(), "mprotect failed")
