"""Records as columns: reads batches of typed bytes and writes pairs or columns, with the interface of the other formats."""

from typedbytes import columns
from typedbytes.streaming._typed import TypedBytesOutput


class ColumnsInput:
    """Read batches of typed bytes; options are those of columns.read."""

    def __init__(self, source, options):
        self._reader = columns.read(source, **options)

    @property
    def offset(self):
        """The number of bytes used for the batches read so far."""
        return self._reader.offset

    @property
    def record(self):
        """The number of pairs in the batches read so far."""
        return self._reader.record

    def batches(self):
        """Return an iterator of batches."""
        return self._reader

    def whole_groups(self):
        """Return an iterator of batches that end where a key ends."""
        return self._reader.groups()

    def failure(self):
        """Return the error the input has failed with, or None."""
        return self._reader.failure

    def check_end(self):
        """Raise the error of the input, or RuntimeError if its end has not been read."""
        self._reader._check_end()


class ColumnsOutput(TypedBytesOutput):
    """Write the columns or pairs that a job returns; options are those of PairWriter."""

    def writes(self, given):
        """Write columns, or every pair of an iterable."""
        if isinstance(given, dict) or hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
            return columns.write(self, given)
        return super().writes(given)
