"""Reading ahead from a file whose position is exact afterwards.

An iteration is several times as fast when its reader asks for many bytes at once. A window lets it do that, and moves the file
to where the reader stopped when it closes. A file that can neither peek nor seek is read value by value.
"""

import io


class _Window:
    """Feed a reader from a file; close() corrects the position of the file."""

    def __init__(self, file, kind, options):
        self.file = file
        self.reader = kind(self, **options)

    def close(self):
        """Return the number of bytes that the reader consumed."""
        reader, self.reader = self.reader, None
        nbytes, nunused = reader.offset, len(reader.detach())
        if not getattr(self.file, "closed", False):
            self.give_back(nunused)
        return nbytes


class _SeekingWindow(_Window):
    def read1(self, nbytes):
        return self.file.read(nbytes)

    def give_back(self, nbytes):
        self.file.seek(-nbytes, io.SEEK_CUR)


class _PeekingWindow(_Window):
    """Show the reader what the file has buffered; the file advances when the reader asks for more, or has stopped."""

    nshown = 0

    def read1(self, nbytes):
        self.advance(self.nshown)
        data = self.file.peek(nbytes)[:nbytes]
        self.nshown = len(data)
        return data

    def give_back(self, nbytes):
        # After a failure the reader may be before what is shown; the file cannot go back there.
        self.advance(max(self.nshown - nbytes, 0))

    def advance(self, nbytes):
        self.nshown = 0
        if len(self.file.read(nbytes)) != nbytes:
            raise OSError("read() gave less than peek() had shown")


def window_kind(file):
    """Return the class of windows that a file allows, or None."""
    if callable(getattr(file, "peek", None)):
        return _PeekingWindow
    seekable = getattr(file, "seekable", None)
    return _SeekingWindow if callable(seekable) and seekable() else None
