"""Reading ahead from a file whose position is exact afterwards.

An iteration is several times as fast when its reader asks for many bytes at once. A file of this module lets it
do that, and moves the user's file to where the reader stopped when it closes. A file that can neither peek nor
seek is read value by value.
"""

import io

from typedbytes._core import send_deferred

# Files whose reads cannot have been overridden.
_DIRECT = (io.BufferedReader, io.BytesIO, io.FileIO)


class _ReadAheadFile:
    """Feed a reader from a file; close() corrects the position of the file."""

    def __init__(self, file, kind, options):
        self.file = file
        self.reader = self.open_reader(kind, options)

    def open_reader(self, kind, options):
        return kind(self, **options)

    def give_back(self, nbytes):
        """Move the position of the file back by `nbytes`; each kind of read-ahead file does that in its own way."""
        raise NotImplementedError

    def close(self):
        """Return the number of bytes that the reader consumed."""
        reader, self.reader = self.reader, None
        nbytes, nunused = reader.offset, len(reader.detach())
        if not getattr(self.file, "closed", False):
            self.give_back(nunused)
        return nbytes


class _SeekingFile(_ReadAheadFile):
    def read1(self, nbytes):
        send_deferred()
        return self.file.read(nbytes)

    def give_back(self, nbytes):
        self.file.seek(-nbytes, io.SEEK_CUR)


class _DirectFile(_ReadAheadFile):
    """Have the reader read the file itself, into its own memory."""

    def open_reader(self, kind, options):
        return kind(self.file, **options)

    def give_back(self, nbytes):
        self.file.seek(-nbytes, io.SEEK_CUR)


class _PeekingFile(_ReadAheadFile):
    """Show the reader what the file has buffered; the file advances when the reader asks for more, or has stopped."""

    nshown = 0

    def read1(self, nbytes):
        send_deferred()
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


def open_read_ahead(file, kind, options, read_size):
    """Return a read-ahead file with a reader of this class, or None for a file that allows none."""
    peek, seekable = getattr(file, "peek", None), getattr(file, "seekable", None)
    if type(file) in _DIRECT and file.seekable():
        return _DirectFile(file, kind, {**options, "buffer_size": read_size})
    if callable(peek):
        return _PeekingFile(file, kind, options)
    return _SeekingFile(file, kind, options) if callable(seekable) and seekable() else None
