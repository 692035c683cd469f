"""Find what is wrong with an input: every record with wrong contents, and the offset where its structure breaks.

Whole chunks of records are checked first, then the single records of a chunk that fails. A bad record whose length is
known is skipped; after a fault in the structure there is no offset to continue from. Large BYTES and STRINGs are
checked in pieces, not held.
"""

import io
from collections import deque
from contextlib import suppress
from itertools import chain

import typedbytes
from typedbytes._report import WholeRecords
from typedbytes.cli._failure import BAD_DATA, Failure
from typedbytes.cli._records.decoding import is_refused_value, name_option
from typedbytes.cli._records.encoded import nparts, split

KEPT_NBYTES = 1 << 20
WINDOW_NBYTES = 32  # on each side of a fault


class RecentBytesReader(io.RawIOBase):
    """Read from a source, and keep what was read last, so that a fault can be shown."""

    def __init__(self, source):
        self._source = source
        self._pieces: deque = deque()
        self._start = self._end = 0  # offsets of what is kept

    def readable(self):
        """Return True."""
        return True

    def readinto(self, target):
        """Fill the front of a buffer; return the number of bytes read."""
        nbytes = self._source.readinto(target)
        self._pieces.append(bytes(target[:nbytes]))
        self._end += nbytes
        while self._end - self._start - len(self._pieces[0]) > KEPT_NBYTES:
            self._start += len(self._pieces.popleft())
        return nbytes

    def kept_bytes(self, start, stop):
        """Return those bytes between two offsets that are still kept, and the offset of the first."""
        start = max(start, self._start)
        return b"".join(self._pieces)[start - self._start : max(0, stop - self._start)], start

    def window(self, offset):
        """Return the bytes around an offset, and the offset of the first."""
        return self.kept_bytes(max(0, offset - WINDOW_NBYTES) // 16 * 16, offset + WINDOW_NBYTES)

    def drain(self):
        """Read the rest and return the number of bytes of the whole source, as far as it can be read."""
        buffer = bytearray(1 << 17)
        with suppress(typedbytes.DecodeError):
            while self.readinto(buffer):
                pass
        return self._end


class FaultFinder:
    """Decode the records of an input, which `source`, a RecentBytesReader, reads.

    `faults` are the first few (DecodeError, bytes around it, offset of the first of these bytes), `nfaults` is the
    number of all faults, and `nintact` that of intact records. decoding: options of a Decoder. keep: a function that is
    called with the bytes of intact records. `failure` is what ended an input that is not typed bytes, or None.
    """

    def __init__(self, source, nfaults, max_bytes, decoding, keep=None):
        self._source = source
        self._max_faults = nfaults
        self._is_damaged = False
        self.faults = []
        self.nfaults = 0
        self.failure = None
        self.nintact = self.nrecords = self.nbytes = self.nkept = 0
        self._keep = keep
        self._dialect = decoding["dialect"]
        self._decoder = typedbytes.Decoder(**decoding)
        self._max_bytes = max_bytes
        self._unicode_errors = decoding["unicode_errors"]

    def run(self, reader):
        """Check all records of a reader of encoded records."""
        self._nparts = nparts(reader)
        self._decode = self._decoder.decode_pairs if self._nparts == 2 else self._decoder.decode_all
        records = WholeRecords(
            self._check, pairs=self._nparts == 2, dialect=self._dialect, max_bytes=self._max_bytes,
            leaves_out=self._keep is None, unicode_errors=self._unicode_errors,
        )  # fmt: skip
        try:
            records.read(reader)
        except typedbytes.DecodeError as error:
            records.flush()
            self._add_fault(self._with_path(error))
        except Failure as failure:
            if failure.status != BAD_DATA:
                raise
            records.flush()
            self.failure = failure
        else:
            records.flush()
        self._name_options()

    def run_sequence_file(self, reader):
        """Check the pairs of a SequenceFile by the classes in its header, beyond damage too."""
        windows: dict = {}
        nseen = nmissing = 0
        for _ in chain(reader, [None]):  # once more for damage after the last pair
            if len(reader.skipped) != nseen:
                nseen = len(reader.skipped)
                self._add_windows(reader.skipped, windows)
        for skipped in reader.skipped:
            if skipped.error.record is not None:
                skipped.error.record += nmissing  # the reader counts only the pairs that it returns
            self._add_fault(skipped.error, *windows.get(skipped.error.offset, ()))
            nmissing += skipped.nrecords or 0
            self._is_damaged |= skipped.nrecords != 1  # a text may have been the first sign of wrong lengths
        self.nintact, self.nbytes = reader.record, reader.offset
        self._name_options()

    def add_damage(self, skipped, windows):
        """Add what was skipped of a file before its records were typed bytes, with the bytes around each fault."""
        for part, window in zip(skipped, windows):
            self._add_fault(part.error, *window)

    def _add_windows(self, skipped, windows):
        """Add the windows of the last faults, while their bytes are kept."""
        for fault in reversed(skipped):
            if fault.error.offset in windows:
                break
            windows[fault.error.offset] = self._source.window(fault.error.offset)

    def _add_fault(self, error, *window):
        if self.nfaults < max(1, self._max_faults):
            self.faults.append((error, *(window or self._source.window(error.offset))))
        self.nfaults += 1
        self._is_damaged |= not is_refused_value(error)

    def _name_options(self):
        for error, *_ in self.faults:
            name_option(error, self._is_damaged)

    def _check(self, chunk, left_out):
        """Check a chunk of whole records, or one of which something was left out."""
        if left_out:
            self._check_record(chunk, left_out)
            return
        try:
            self._accept(chunk, len(self._decode(chunk)))
        except typedbytes.DecodeError:
            for record in split(chunk, self._nparts, self._dialect):
                self._check_record(record)

    def _check_record(self, record, left_out=()):
        nleft_out = sum(nbytes for _, _, nbytes, _ in left_out)
        try:
            self._decode(record)
        except typedbytes.DecodeError as error:
            for start, offset, _, defect in left_out:
                if start == error.offset and defect is not None:
                    # The byte that was found is the last before what was left out.
                    reason = getattr(error.__cause__, "reason", None)
                    error.message = f"STRING is not UTF-8: {reason} at its byte {defect}"
            error.offset += self.nbytes + sum(nbytes for _, offset, nbytes, _ in left_out if offset <= error.offset)
            error.record = self.nrecords
            self._add_fault(error)
            self.nrecords += 1
            self.nbytes += len(record)
        else:
            self._accept(record, 1)
        self.nbytes += nleft_out

    def _accept(self, records, nrecords):
        if self._keep:
            self._keep(records)
            self.nkept += len(records)
        self.nintact += nrecords
        self.nrecords += nrecords
        self.nbytes += len(records)

    def _with_path(self, error):
        """Return an error of structure with the path that decoding reports, if its record is still kept."""
        data, start = self._source.kept_bytes(self.nbytes, error.offset + 16)
        if start == self.nbytes:
            try:
                self._decode(data)
            except typedbytes.DecodeError as found:
                if found.offset + start == error.offset and type(found) is type(error):
                    error.path = found.path
        return error


def dump(window, start, marked):
    r"""Return bytes as lines of hex and text; the byte at the offset `marked` follows a >.

    >>> dump(b"ab\x00", 16, 17)
    ['00000010   61>62 00                                         ab.']
    """
    lines = []
    for row in range(0, len(window), 16):
        part = window[row : row + 16]
        digits = "".join(f"{'>' if start + row + i == marked else ' '}{byte:02x}" for i, byte in enumerate(part))
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        lines.append(f"{start + row:08x}  {digits:<48}  {text}")
    return lines
