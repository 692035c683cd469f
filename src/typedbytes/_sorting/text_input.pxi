# Lines of text as pairs, typed bytes or objects, as Hadoop's TextInputFormat passes them to a streaming task.
#
# Here: where lines start and end, which of them belong to a split, what bytes that are not UTF-8 become. Not
# here: files, compression; a source is an object with readinto.
#
# The rules are those of LineRecordReader and LineReader: a line ends with LF, CR or CR LF; a split has the lines
# that start after its first byte (in the file's first split: at it) up to the one that starts right after its
# last; a byte order mark at the start of a file is not part of its first line. And those of Text.toString: what is
# not UTF-8 becomes U+FFFD.
#
# Invariant: every line of a file belongs to one split, wherever it is cut; memory follows the longest line.

from libc.stdint cimport INT32_MAX, int32_t
from libc.string cimport memchr, memcmp, memcpy
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject

from typedbytes._core cimport (
    BUSY, drop, fill_from, finish, held, offset_of, OPEN, open_source, PairSource, raise_in_use, ReadBuffer, refill,
    release, reserve, shrink, SIGNAL_MASK, Source, start_filled, start_owned, State, text_from_utf8, WriteBuffer,
    written,
)
from typedbytes.core.byteorder cimport is_ascii, store_i32, store_i64
from typedbytes.core.cpython cimport ascii_data, as_failure, int_from_i64, new_ascii, raise_pending
from typedbytes._sorting.java_utf8 cimport java_character
from typedbytes.core.typecode cimport LONG, STRING
from typedbytes.core.refs cimport xdecref

from typedbytes.errors import LimitError

cdef enum:
    TEXT_READ_SIZE = 1 << 18  # bytes asked for at once
    HEAD_NBYTES = 14          # bytes of a pair before its text: a LONG, and a STRING's code and length

cdef enum Outcome:
    FOUND                     # a line
    ENOUGH                    # bytes have been written
    NEEDS_OUTPUT              # capacity for the pair
    NEEDS_INPUT               # to find the end of the line
    OVER                      # the split, or the input
    TOO_LONG                  # for a STRING

cdef struct Line:
    const unsigned char* text
    Py_ssize_t nbytes         # length of the line, without a byte order mark and without its end
    Py_ssize_t nall           # length of the line with both, from the cursor on

ctypedef int (*line_function)(LineReader reader, PyObject** key, PyObject** value) noexcept    # -1: an exception is set


cdef class LineReader(PairSource):
    "LineReader(source, *, start=0, length=None)\n--\n\n" \
        """Read lines of text as pairs: a LONG, the offset at which the line starts, and a STRING, the line.

    source: a binary file with readinto(), positioned at `start`. start, length: of the split;
    None for the rest of the file.

    >>> import io
    >>> LineReader(io.BytesIO(b"one\\ntwo")).read_typed().hex()
    '04000000000000000007000000036f6e65040000000000000004070000000374776f'
    """

    cdef ReadBuffer buf
    cdef WriteBuffer out
    cdef Source source
    cdef long long end            # lines that start after it belong to the next split; -1: there is none
    cdef long long nlines
    cdef long long line_feed      # offset of the first LF from the cursor on, or the offset up to which there is none
    cdef long long carriage_return    # offset of the first CR from the cursor on, or the one up to which there is none
    cdef Py_ssize_t pair_nbytes   # bytes that the line at the cursor takes as a pair
    cdef bint is_utf8             # the line at the cursor is UTF-8
    cdef bint as_lines            # lines are written as they are, not as pairs
    cdef bint ended               # the source has ended
    cdef State state
    cdef object failure           # lines before it may be lost, so every later call raises it again

    def __init__(self, source, *, long long start=0, length=None):
        if self.source is not None:
            raise RuntimeError("a LineReader cannot be initialised again")
        if start < 0 or (length is not None and length < 0):
            raise ValueError(f"start and length must not be negative, not {start} and {length}")
        self.end = -1 if length is None else start + PyNumber_Index(length)    # NumPy's sums would wrap
        filler = open_source(source, True)
        start_filled(&self.buf, TEXT_READ_SIZE, fill_from, <void*>filler)
        self.buf.read_ahead = True
        self.buf.start_offset = start
        self.source = filler
        self.state = BUSY    # the source may call read_typed()
        if start > 0:
            self.skip_line()
        self.state = OPEN

    def __dealloc__(self):
        release(&self.buf)
        drop(&self.out)

    def __reduce__(self):
        raise TypeError("a LineReader cannot be pickled")

    @property
    def record(self):
        """The number of lines read."""
        return self.nlines

    @property
    def offset(self):
        """The offset after the last line read."""
        return self.position()

    def read_typed(self, Py_ssize_t nbytes=131072):
        """Return the next pairs, at least `nbytes` bytes, fewer only at the end; b"" at the end.

        Raises LimitError for a line that no STRING can hold, of 2^31 bytes or more.
        """
        return self.read(nbytes, False)

    def read_lines(self, Py_ssize_t nbytes=131072):
        """Return the next lines as they are, each with LF as its end; otherwise as read_typed()."""
        return self.read(nbytes, True)

    cdef bytes read(self, Py_ssize_t nbytes, bint as_lines):
        cdef Outcome outcome = NEEDS_OUTPUT
        nbytes = max(nbytes, 1)
        self.enter()
        self.as_lines = as_lines
        try:
            start_owned(&self.out, min(nbytes, TEXT_READ_SIZE) + 4096)
            while outcome == NEEDS_OUTPUT or outcome == NEEDS_INPUT:
                with nogil:
                    outcome = self.write_held(nbytes)
                if outcome == NEEDS_OUTPUT:
                    reserve(&self.out, self.pair_nbytes)
                elif outcome == NEEDS_INPUT:
                    self.read_on()
                elif outcome == TOO_LONG:
                    self.raise_too_long()
            return finish(&self.out)
        except BaseException as error:
            self.keep_failure(error)
        finally:
            drop(&self.out)
            self.state = OPEN

    cdef bint take_pair(self, PyObject** key, PyObject** value) except -1:
        # The line as str; raises as read_typed() does.
        cdef int got
        self.enter()
        got = (<line_function>self.take_line)(self, key, value)
        if got < 0:
            self.fail_pending()
        self.state = OPEN
        return got

    cdef bint take_line(self, PyObject** key, PyObject** value) except -1:
        cdef Line line
        cdef Outcome outcome = NEEDS_INPUT
        if not self.nlines & SIGNAL_MASK:
            PyErr_CheckSignals()
        while outcome == NEEDS_INPUT:
            outcome = self.find_line(&line)
            if outcome == NEEDS_INPUT:
                self.read_on()
        if outcome == FOUND:
            self.make_pair(&line, key, value)
            self.pass_line(&line)
        return outcome == FOUND

    cdef int fail_pending(self) except -1:
        try:
            raise_pending()
        except BaseException as error:
            self.keep_failure(error)
        finally:
            self.state = OPEN

    cdef inline int enter(self) except -1:
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        if self.source is None:
            raise RuntimeError("this LineReader was never initialised")
        return 0 if claim_state(&self.state, OPEN, BUSY) else raise_in_use(self)

    cdef int keep_failure(self, error) except -1:
        self.failure = as_failure(error)
        raise self.failure

    cdef int raise_too_long(self) except -1:
        raise LimitError("a line has more than 2^31-1 bytes as UTF-8", offset_of(&self.buf, self.buf.cursor),
                         record=self.nlines)

    cdef int skip_line(self) except -1:
        # A line that starts before or exactly at the start of this split belongs to the split before.
        cdef Py_ssize_t nbytes, nend
        while not self.find_end(&nbytes, &nend):
            self.read_on()
        self.buf.cursor += nbytes + nend
        return 0

    cdef int read_on(self) except -1:
        if not held(&self.buf):
            shrink(&self.buf)
        self.ended = not refill(&self.buf, held(&self.buf) + 1)
        return 0

    cdef inline Py_ssize_t find(self, int byte, long long* known) noexcept nogil:
        # From the cursor to the first such byte, or to the end of what is held. `known`:
        # the offset where it was found, or from which to search.
        cdef const unsigned char* p = self.buf.cursor
        cdef const void* found
        if known[0] > offset_of(&self.buf, p):
            p = self.buf.start + (known[0] - self.buf.start_offset)
        if p < self.buf.end and p[0] != byte:
            found = memchr(p, byte, self.buf.end - p)
            p = self.buf.end if found == NULL else <const unsigned char*>found
        known[0] = offset_of(&self.buf, p)
        return p - self.buf.cursor

    cdef bint find_end(self, Py_ssize_t* nbytes, Py_ssize_t* nend) noexcept nogil:
        # The size of the line at the cursor and of what ends it; False: more must be read to know.
        cdef Py_ssize_t feed = self.find(c"\n", &self.line_feed)
        cdef Py_ssize_t carriage = self.find(c"\r", &self.carriage_return)
        nbytes[0] = min(feed, carriage)
        if nbytes[0] == held(&self.buf):
            nend[0] = 0
            return self.ended
        nend[0] = 2 if carriage + 1 == feed and feed < held(&self.buf) else 1
        return carriage > feed or carriage + 1 < held(&self.buf) or self.ended

    cdef inline Outcome find_line(self, Line* line) noexcept nogil:
        # FOUND, NEEDS_INPUT or OVER.
        cdef Py_ssize_t nbytes, nend, nmark
        cdef long long position = self.position()
        if 0 <= self.end < position:
            return OVER
        if not self.find_end(&nbytes, &nend):
            return NEEDS_INPUT
        nmark = 3 if position == 0 and nbytes >= 3 and memcmp(self.buf.cursor, b"\xef\xbb\xbf", 3) == 0 else 0
        line.text, line.nbytes, line.nall = self.buf.cursor + nmark, nbytes - nmark, nbytes + nend
        return FOUND if line.nall > nmark else OVER

    cdef inline long long position(self) noexcept nogil:
        return offset_of(&self.buf, self.buf.cursor)

    cdef inline void pass_line(self, const Line* line) noexcept nogil:
        self.buf.cursor += line.nall
        self.nlines += 1

    cdef Outcome write_held(self, Py_ssize_t enough) noexcept nogil:
        cdef Line line
        cdef Outcome outcome
        while written(&self.out) < enough:
            outcome = self.find_line(&line)
            if outcome != FOUND:
                return outcome
            self.pair_nbytes = (line.nbytes + 1 if self.as_lines else
                                HEAD_NBYTES + repaired_nbytes(line.text, line.nbytes, &self.is_utf8))
            if self.pair_nbytes - HEAD_NBYTES > INT32_MAX:
                return TOO_LONG
            if self.out.end - self.out.cursor < self.pair_nbytes:
                return NEEDS_OUTPUT
            self.write_pair(&line)
            self.pass_line(&line)
        return ENOUGH

    cdef inline void write_pair(self, const Line* line) noexcept nogil:
        cdef unsigned char* p = self.out.cursor
        self.out.cursor += self.pair_nbytes
        if self.as_lines:
            memcpy(p, line.text, line.nbytes)
            p[line.nbytes] = c"\n"
            return
        p[0] = LONG
        store_i64(p + 1, self.position())
        p[9] = STRING
        store_i32(p + 10, <int32_t>(self.pair_nbytes - HEAD_NBYTES))
        if self.is_utf8:
            memcpy(p + HEAD_NBYTES, line.text, line.nbytes)
        else:
            copy_repaired(p + HEAD_NBYTES, line.text, line.nbytes)

    cdef inline int make_pair(self, const Line* line, PyObject** key, PyObject** value) except -1:
        value[0] = self.text_of(line)
        key[0] = int_from_i64(self.position())
        if key[0] == NULL:
            xdecref(value[0])
            return -1
        return 0

    cdef inline PyObject* text_of(self, const Line* line) except NULL:
        cdef PyObject* text
        if not is_ascii(line.text, line.nbytes):
            return self.other_text_of(line)
        if line.nbytes > INT32_MAX:
            self.raise_too_long()
        text = new_ascii(line.nbytes)
        memcpy(ascii_data(text), line.text, line.nbytes)
        return text

    cdef PyObject* other_text_of(self, const Line* line) except NULL:
        cdef Py_ssize_t nbytes = line.nbytes
        cdef PyObject* text
        if nbytes > INT32_MAX // 3:    # what is not UTF-8 takes three bytes in place of one
            nbytes = repaired_nbytes(line.text, line.nbytes, &self.is_utf8)
        if nbytes > INT32_MAX:
            self.raise_too_long()
        text = text_from_utf8(line.text, line.nbytes)
        return text if text != NULL else repaired_text(line.text, line.nbytes)


cdef Py_ssize_t repaired_nbytes(const unsigned char* p, Py_ssize_t nbytes, bint* is_utf8) noexcept nogil:
    cdef Py_ssize_t at = 0, total = 0, size
    is_utf8[0] = True
    if is_ascii(p, nbytes):
        return nbytes
    while at < nbytes:
        size = java_character(p + at, nbytes - at)
        is_utf8[0] &= size > 0
        at += size if size > 0 else -size
        total += size if size > 0 else 3
    return total


cdef PyObject* repaired_text(const unsigned char* p, Py_ssize_t nbytes) except NULL:
    cdef bint is_utf8
    cdef Py_ssize_t size = repaired_nbytes(p, nbytes, &is_utf8)
    repaired = PyBytes_FromStringAndSize(NULL, size)
    copy_repaired(<unsigned char*>PyBytes_AS_STRING(repaired), p, nbytes)
    return text_from_utf8(<const unsigned char*>PyBytes_AS_STRING(repaired), size)


cdef void copy_repaired(unsigned char* out, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    cdef Py_ssize_t at = 0, size
    while at < nbytes:
        size = java_character(p + at, nbytes - at)
        if size > 0:
            memcpy(out, p + at, size)
            at += size
            out += size
        else:
            memcpy(out, b"\xef\xbf\xbd", 3)
            at -= size
            out += 3
