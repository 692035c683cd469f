"""Reading and writing as the older libraries did; see the package."""

import io
import struct
from contextlib import contextmanager
from operator import index
from types import MappingProxyType

from typedbytes._core import FlushedAtExit
from typedbytes._collisions import Collisions
from typedbytes._core import Encoder, Kept, PairReader, Reader, write_all
from typedbytes._types import Byte, Ext, Float, Long, Writable
from typedbytes.errors import DecodeError, EncodeTypeError, EncodeValueError, FormatError, LimitError, TruncatedError

BYTES = 0
BYTE = 1
BOOL = 2
INT = 3
LONG = 4
FLOAT = 5
DOUBLE = 6
STRING = 7
VECTOR = 8
LIST = 9
MAP = 10
PICKLE = 100
BYTESTRING = 101
MARKER = 255

_NAMES = {VECTOR: "VECTOR", LIST: "LIST", MAP: "MAP"}
_MAX_DEPTH = 256
_MAX_LENGTH = 2**31 - 1

_END = object()

# Values that hold no bytes; nothing has to look inside them.
_PLAIN = frozenset({bool, int, float, str, type(None)})
_SALTED = frozenset({bool, str, bytes, type(None)})
_NUMBERS = frozenset({int, float})


class Bytes(bytes):
    """Hold the bytes of a BYTES value, so that they can be told from other strings.

    >>> Bytes(b"raw")
    Bytes(b'raw')
    """

    __module__ = "typedbytes.legacy"
    __slots__ = ()

    def __repr__(self):
        return f"Bytes({bytes.__repr__(self)})"


def _native(value):
    """Return a value with its bytes as `Bytes`, also those inside containers."""
    kind = type(value)
    if kind is bytes:
        return Bytes(value)
    if kind is list:
        return value if _are_plain(value) else [_native(item) for item in value]
    if kind is tuple:
        return value if _are_plain(value) else tuple([_native(item) for item in value])
    if kind is dict and not (_are_plain(value) and _are_plain(value.values())):
        return {_native(key): _native(item) for key, item in value.items()}
    return value


def _are_plain(items):
    return _PLAIN.issuperset(map(type, items))


def _native_pair(pair):
    key, value = pair
    return pair if type(key) in _PLAIN and type(value) in _PLAIN else (_native(key), _native(value))


# Reading ahead. An iteration is several times faster when its reader asks for many bytes at once; a window lets it, and
# afterwards puts the file to where the reader stopped. Sources that allow neither way are read value by value.


class _Window:
    """Feed a reader from a file, whose position is put right by close()."""

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
    """Show the reader what the file has buffered; the file moves on when the reader wants more, or is done."""

    nshown = 0

    def read1(self, nbytes):
        self.advance(self.nshown)
        data = self.file.peek(nbytes)[:nbytes]
        self.nshown = len(data)
        return data

    def give_back(self, nbytes):
        # After a failure the reader may stand before what is shown; the file cannot go back there.
        self.advance(max(self.nshown - nbytes, 0))

    def advance(self, nbytes):
        self.nshown = 0
        if len(self.file.read(nbytes)) != nbytes:
            raise OSError("read() gave less than peek() had shown")


def _window_kind(file):
    if callable(getattr(file, "peek", None)):
        return _PeekingWindow
    seekable = getattr(file, "seekable", None)
    return _SeekingWindow if callable(seekable) and seekable() else None


class _Legacy:
    """Keep what Input and Output have in common: handlers, options, and the use in a with statement."""

    def __init__(self, file, unicode_errors, pickle):
        self._handlers = {}
        self._depth = 0
        self._options = {"unicode_errors": unicode_errors, "pickle": pickle}
        self._connect(file)

    @property
    def unicode_errors(self):
        """Give the error handler for STRING; setting it holds from the next value on."""
        return self._options["unicode_errors"]

    @unicode_errors.setter
    def unicode_errors(self, name):
        self._options["unicode_errors"] = name
        self._connect(self.file)

    def _register_all(self, handlers, own):
        """Register what the table of a subclass holds beyond our own."""
        for kind, handler in handlers.items():
            if handler is not own.get(kind):
                self.register(kind, handler)

    def close(self):
        """Close the file; raises what the file raises.

        >>> Input(io.BytesIO()).close()
        """
        self.file.close()

    @property
    def closed(self):
        """Whether the file is closed, as it says itself.

        >>> Input(io.BytesIO()).closed
        False
        """
        return bool(getattr(self.file, "closed", False))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


class Input(_Legacy):
    """Read values from a binary file object.

    unicode_errors: as in bytes.decode. pickle: "safe", "trust" or "raw", as for `typedbytes.loads`.
    `eof` tells whether the end has been met. Raises TypeError for a file opened as text.

    >>> Input(io.BytesIO(b"\\x02\\x01")).read()
    True
    """

    __module__ = "typedbytes.legacy"

    _reader_kind = Reader
    _finish = staticmethod(_native)

    def __init__(self, file, unicode_errors="strict", *, pickle="safe"):
        self.eof = False
        self.t = None  # the type code met last, for handlers of several
        self._failure = None
        self._handlers_own = None  # the error that a handler raised last
        self._window = None
        self._reader = None
        self._npassed = 0  # bytes that other readers than the present one have consumed
        super().__init__(file, unicode_errors, pickle)
        self._register_all(self.TYPECODE_HANDLER_MAP, Input.TYPECODE_HANDLER_MAP)

    def _connect(self, file):
        reader = Reader(file, read_ahead=False, **self._options)
        if self._reader is not None:
            self._npassed += self._reader.offset
        self._file, self._reader = file, reader

    @property
    def file(self):
        """Give the file, its position put to where the next value begins."""
        self._settle()
        return self._file

    @file.setter
    def file(self, file):
        self._settle()
        self._connect(file)

    # Values.

    def read(self):
        """Return the next value, or None at the end of the file; `eof` tells that from a None that was written.

        Raises as `typedbytes.load`, but for the end.

        >>> source = Input(io.BytesIO(b"\\x02\\x01"))
        >>> source.read(), source.read(), source.eof
        (True, None, True)
        """
        try:
            value = self._next_record()
            return None if value is _END else value
        except BaseException as error:
            self._break(error)
            raise

    def reads(self):
        """Iterate over the values up to the end of the file; raises as `read`.

        While an iteration runs, the file itself may stand further on; `file` puts it right.

        >>> list(Input(io.BytesIO(b"\\x02\\x01\\x02\\x00")).reads())
        [True, False]
        """
        return Kept(self._records())

    __iter__ = reads

    def register(self, typecode, handler):
        """Have handler(self) read the payload of every value of a type code, those inside containers too.

        Raises ValueError for a code outside 0..254: a MARKER is not a value.

        >>> source = Input(io.BytesIO(b"\\x78\\x05"))
        >>> source.register(0x78, lambda source: source.file.read(1))
        >>> source.read()
        b'\\x05'
        """
        if not callable(handler):
            raise TypeError(f"a handler must be callable, not {type(handler).__name__}")
        self._handlers[_checked_code(typecode)] = handler
        self._settle()

    def lookup(self, typecode):
        """Return the function of no arguments that reads the payload of a type code.

        Raises as `register`.

        >>> Input(io.BytesIO(b"\\x00\\x00\\x00\\x05")).lookup(INT)()
        5
        """
        typecode = _checked_code(typecode)
        return lambda: self._value(typecode)

    # Payloads: for handlers, after the type code.

    def read_bytes(self):
        """Read the payload of a BYTES; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("000000026869"))).read_bytes()
        Bytes(b'hi')
        """
        return Bytes(self._payload(BYTES))

    def read_byte(self):
        """Read the payload of a BYTE; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("fe"))).read_byte()
        -2
        """
        return self._payload(BYTE)

    def read_bool(self):
        """Read the payload of a BOOL; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("01"))).read_bool()
        True
        """
        return self._payload(BOOL)

    def read_int(self):
        """Read the payload of an INT; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("00000005"))).read_int()
        5
        """
        return self._payload(INT)

    def read_long(self):
        """Read the payload of a LONG; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("0000000000000005"))).read_long()
        5
        """
        return self._payload(LONG)

    def read_float(self):
        """Read the payload of a FLOAT; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("3fc00000"))).read_float()
        1.5
        """
        return self._payload(FLOAT)

    def read_double(self):
        """Read the payload of a DOUBLE; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("3ff8000000000000"))).read_double()
        1.5
        """
        return self._payload(DOUBLE)

    def read_string(self):
        """Read the payload of a STRING as str; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("000000026869"))).read_string()
        'hi'
        """
        return self._payload(STRING)

    read_unicode = read_string

    def read_bytestring(self):
        """Read the payload of a byte string, code 101, as bytes; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("000000026869"))).read_bytestring()
        b'hi'
        """
        return self._payload(BYTESTRING)

    def read_pickle(self):
        """Read the payload of a PICKLE under the policy of this Input; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("0000000580024b072e"))).read_pickle()
        7
        """
        return self._payload(PICKLE)

    def read_vector(self):
        """Read the payload of a VECTOR as a tuple; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("000000010201"))).read_vector()
        (True,)
        """
        return self._walk_vector() if self._handlers else _native(self._payload(VECTOR))

    def read_list(self):
        """Read the payload of a LIST, up to its MARKER; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("0201ff"))).read_list()
        [True]
        """
        return self._walk_list() if self._handlers else _native(self._payload(LIST))

    def read_map(self):
        """Read the payload of a MAP as a dict; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("0000000102010200"))).read_map()
        {True: False}
        """
        return self._walk_map() if self._handlers else _native(self._payload(MAP))

    def read_marker(self):
        """Raise StopIteration, as the originals do at a MARKER; nothing is read.

        >>> next(iter(Input(io.BytesIO()).read_marker, None), "the end")
        'the end'
        """
        raise StopIteration

    def invalid_typecode(self):
        """Raise the FormatError of the type code met last, for handlers that refuse it; the Input stays failed.

        >>> source = Input(io.BytesIO(b"\\x78"))
        >>> source.register(0x78, Input.invalid_typecode)
        >>> source.read()
        Traceback (most recent call last):
        typedbytes.errors.FormatError: unknown type code 120 at offset 0
        """
        if self._failure is not None:
            raise self._failure
        self._settle()
        self._fail(FormatError, f"unknown type code {self.t}", max(self._offset - 1, 0), self.t)

    # A subclass may have a table of its own; one Input is told by `register`.
    TYPECODE_HANDLER_MAP = MappingProxyType({
        BYTES: read_bytes, BYTE: read_byte, BOOL: read_bool, INT: read_int, LONG: read_long, FLOAT: read_float,
        DOUBLE: read_double, STRING: read_string, VECTOR: read_vector, LIST: read_list, MAP: read_map, PICKLE: read_pickle,
        BYTESTRING: read_bytestring, MARKER: read_marker,
    })  # fmt: skip

    # The reader, asked so that it, its window and the file agree.

    def _ask(self, question, *arguments):
        if self._failure is not None:
            raise self._failure
        if self._window is not None:
            self._settle()
        try:
            return question(*arguments)
        except DecodeError as error:
            self._keep(error, self._npassed)
            raise

    def _keep(self, error, offset):
        """Remember an error of a reader that began at this offset; records are not counted across readers."""
        if isinstance(error, DecodeError):
            error.offset += offset
            error.record = None
        self._failure = error

    def _break(self, error, offset=0):
        """Remember what broke in, wherever it did: a value may be lost, or read in part. A handler's error leaves the next one in its place."""
        if self._failure is None and error is not self._handlers_own:
            self._keep(error, offset)

    def _fail(self, kind, message, offset, code):
        self._failure = kind(message, offset, code)
        raise self._failure

    @property
    def _offset(self):
        return self._npassed + self._reader.offset

    def _code(self):
        return self._ask(self._reader._read_code)

    def _payload(self, code):
        return self._ask(self._reader._read_payload, code)

    def _next(self):
        """Read a value, or _END."""
        if not self._handlers:
            value = _native(self._ask(self._reader.read, _END))
            self.eof = value is _END
            return value
        code = self._code()
        self.eof = code < 0
        return _END if self.eof else self._value(code)

    _next_record = _next

    def _value(self, code):
        self.t = code
        handler = self._handlers.get(code)
        if handler:
            return self._handled(handler)
        walk = self._handlers and _WALKED.get(code)
        return walk(self) if walk else _native(self._payload(code))

    def _handled(self, handler):
        try:
            return handler(self)
        except BaseException as error:
            self._handlers_own = error
            raise

    def _records(self):
        """Yield the values up to the end of the file."""
        window = None
        try:
            while not self._handlers and self._open_window():
                window, finish = self._window, self._finish
                for value in window.reader:
                    yield value if type(value) in _PLAIN else finish(value)
                    if self._window is not window:
                        break  # somebody else has settled it
                else:
                    self.eof = True
                    return
            value = self._next_record()
            while value is not _END:
                yield value
                value = self._next_record()
        except GeneratorExit:
            raise
        except BaseException as error:
            self._break(error, self._offset)
            raise
        finally:
            if window is not None and self._window is window:
                self._settle()

    def _open_window(self):
        """Open a window if this file can have one, and return it."""
        if self._failure is not None:
            raise self._failure
        self._settle()
        kind = _window_kind(self._file)
        self._window = kind and kind(self._file, self._reader_kind, self._options)
        return self._window

    def _settle(self):
        if self._window is not None:
            try:
                window, self._window = self._window, None
                self._npassed += window.close()
            except BaseException as error:
                self._break(error)  # nobody knows where the file stands
                raise

    # Containers whose values may belong to handlers.

    @contextmanager
    def _container(self, code):
        """Count a level while its items are read; gives the offset of the container's type code."""
        start = self._offset - 1
        if self._depth == _MAX_DEPTH:
            self._fail(LimitError, f"containers nest deeper than {_MAX_DEPTH}", start, code)
        self._depth += 1
        try:
            yield start
        except BaseException as error:
            self._handlers_own = None  # what it raised leaves the file inside the container
            self._break(error)
            raise
        finally:
            self._depth -= 1

    # Two frames a level, so that the deepest value stays within Python's own limit of recursion.

    def _walk_vector(self):
        items = []
        with self._container(VECTOR) as start:
            for _ in range(self._count(VECTOR, start)):
                items.append(self._value(self._inner_code(VECTOR)))
        return tuple(items)

    def _walk_list(self):
        items = []
        with self._container(LIST):
            code = self._inner_code(LIST)
            while code != MARKER:
                items.append(self._value(code))
                code = self._inner_code(LIST)
        return items

    def _walk_map(self):
        items = {}
        with self._container(MAP) as start:
            collisions = Collisions()
            for _ in range(self._count(MAP, start)):
                code = self._inner_code(MAP)
                place = self._offset - 1
                key = self._value(code)
                self._check_key(key, code, place)
                if _has_weak_hash(key) and collisions.are_many(key, self._offset - place, self._offset - start):
                    self._fail(LimitError, "too many keys of a MAP share one hash value", start, MAP)
                items[key] = self._value(self._inner_code(MAP))
        return items

    def _check_key(self, key, code, place):
        try:
            hash(key)
        except TypeError:
            self._fail(FormatError, f"{type(key).__name__} cannot be a MAP key", place, code)

    def _inner_code(self, container):
        code = self._code()
        if code < 0:
            self._fail_truncated(container)
        return code

    def _count(self, code, start):
        head = [self._inner_code(code) for _ in range(4)]
        count = int.from_bytes(bytes(head), "big", signed=True)
        if count < 0:
            self._fail(FormatError, f"{_NAMES[code]} has a negative count, {count}", start, code)
        return count

    def _fail_truncated(self, code):
        self._fail(TruncatedError, f"input ends inside {_NAMES[code]}", self._offset, code)


def _has_weak_hash(key):
    """Tell whether anybody can choose the hash of a key."""
    return type(key) not in _SALTED and not (type(key) in _NUMBERS and -(2**63) <= key < 2**63)


_WALKED = {VECTOR: Input._walk_vector, LIST: Input._walk_list, MAP: Input._walk_map}


def _checked_code(typecode):
    if not 0 <= typecode < MARKER:
        raise ValueError(f"a type code of a value is 0..254, not {typecode}")
    return int(typecode)


class PairedInput(Input):
    """Read alternating keys and values as (key, value) tuples; otherwise as `Input`.

    >>> list(PairedInput(io.BytesIO(b"\\x02\\x01\\x02\\x00")))
    [(True, False)]
    """

    __module__ = "typedbytes.legacy"

    _reader_kind = PairReader
    _finish = staticmethod(_native_pair)

    def read(self):
        """Return the next (key, value), or None at the end of the file.

        Raises as `Input.read`, and TruncatedError for a key without a value.

        >>> PairedInput(io.BytesIO(b"\\x02\\x01\\x02\\x00")).read()
        (True, False)
        """
        return super().read()

    def _next_record(self):
        try:
            key = self._next()
        except BaseException:
            self._handlers_own = None  # the next value is none to begin a pair with
            raise
        if key is _END:
            return _END
        value = self._next()
        if value is _END:
            self._fail(TruncatedError, "input ends after a key without its value", self._offset, None)
        return key, value


class Output(_Legacy, FlushedAtExit):
    """Write values to a binary file object, each as soon as it is given.

    unicode_errors: as in str.encode. pickle: "safe", "trust" or "raw", as for `typedbytes.dumps`. A handler writes to
    `file` itself; an object that fails inside a container leaves the part before it only where handlers are registered.
    Raises TypeError for a file opened as text.

    >>> file = io.BytesIO()
    >>> Output(file).write(True)
    >>> file.getvalue().hex()
    '0201'
    """

    __module__ = "typedbytes.legacy"

    def __init__(self, file, unicode_errors="strict", *, pickle="safe"):
        super().__init__(file, unicode_errors, pickle)
        self._register_all(self.TYPE_HANDLER_MAP, Output.TYPE_HANDLER_MAP)
        FlushedAtExit.__init__(self)

    def _connect(self, file):
        if isinstance(file, io.TextIOBase):
            raise TypeError("a binary file is needed, not one opened as text")
        self.file = file
        self._encode = Encoder(**self._options).encode

    def write(self, obj):
        """Write one value.

        Raises EncodeTypeError or EncodeValueError, and what the file raises.

        >>> Output(io.BytesIO()).write([1, 2.5, "text"])
        """
        self._write(obj)

    def writes(self, iterable):
        """Write every value of an iterable; raises as `write`.

        >>> Output(io.BytesIO()).writes([1, 2])
        """
        for obj in iterable:
            self.write(obj)

    def flush(self):
        """Flush the file; raises what the file raises.

        >>> Output(io.BytesIO()).flush()
        """
        self.file.flush()

    def register(self, python_type, handler):
        """Have handler(self, obj) write every object of exactly this type, those inside containers too.

        Raises TypeError for a handler that cannot be called.

        >>> output = Output(io.BytesIO())
        >>> output.register(complex, lambda output, obj: output.write_string(str(obj)))
        >>> output.write([1j]); output.file.getvalue()
        b'\\t\\x07\\x00\\x00\\x00\\x021j\\xff'
        """
        if not callable(handler):
            raise TypeError(f"a handler must be callable, not {type(handler).__name__}")
        self._handlers[python_type] = handler

    def lookup(self, python_type):
        """Return the function of one argument that writes objects of a type.

        >>> Output(io.BytesIO()).lookup(int)(5)
        """
        return lambda obj: (self._handlers.get(python_type) or _own_writer(obj))(self, obj)

    # One method for each type: the object given decides nothing but the payload.

    def write_bytes(self, data):
        """Write a bytes-like object as BYTES; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_bytes(b"hi"); file.getvalue().hex()
        '00000000026869'
        """
        self._put(self._encode(_made(memoryview, data)))

    def write_byte(self, number):
        """Write an int as BYTE; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_byte(-2); file.getvalue().hex()
        '01fe'
        """
        self._put(self._encode(_made(Byte, _made(index, number))))

    def write_bool(self, truth):
        """Write the truth of an object as BOOL; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_bool(1); file.getvalue().hex()
        '0201'
        """
        self._put(self._encode(bool(truth)))

    def write_int(self, number):
        """Write an int as INT, as LONG when it needs 64 bits, as PICKLE when it needs more; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_int(5); file.getvalue().hex()
        '0300000005'
        """
        self._put(self._encode(_made(index, number)))

    def write_long(self, number):
        """Write an int as LONG, as PICKLE when it needs more than 64 bits; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_long(5); file.getvalue().hex()
        '040000000000000005'
        """
        number = _made(index, number)
        self._put(self._encode(Long(number) if -(2**63) <= number < 2**63 else number))

    def write_float(self, number):
        """Write a float as FLOAT, narrowed to 32 bits; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_float(1.5); file.getvalue().hex()
        '053fc00000'
        """
        self._put(self._encode(Float(_made(_real, number))))

    def write_double(self, number):
        """Write a float as DOUBLE; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_double(1.5); file.getvalue().hex()
        '063ff8000000000000'
        """
        self._put(self._encode(_made(_real, number)))

    def write_string(self, string):
        """Write a str, or the bytes of one, as STRING; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_string("hi"); file.getvalue().hex()
        '07000000026869'
        """
        if isinstance(string, str):
            return self._put(self._encode(string))
        data = bytes(_made(memoryview, string))
        self._put(_head(STRING, len(data)) + data)

    write_unicode = write_string

    def write_bytestring(self, data):
        """Write a bytes-like object as a byte string, code 101; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_bytestring(b"hi"); file.getvalue().hex()
        '65000000026869'
        """
        self._put(self._encode(Ext(BYTESTRING, _made(memoryview, data))))

    write_array = write_bytes

    def write_vector(self, items):
        """Write a sequence as VECTOR; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_vector([True]); file.getvalue().hex()
        '08000000010201'
        """
        items = tuple(items)
        if not self._handlers:
            return self._put(self._encode(items))
        self._put(_head(VECTOR, len(items)))
        self._write_inner(items)

    def write_list(self, items):
        """Write a sequence as LIST; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_list((True,)); file.getvalue().hex()
        '090201ff'
        """
        items = list(items)
        if not self._handlers:
            return self._put(self._encode(items))
        self._put(b"\x09")
        self._write_inner(items)
        self._put(b"\xff")

    def write_map(self, items):
        """Write a dict as MAP; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_map({True: False}); file.getvalue().hex()
        '0a0000000102010200'
        """
        items = dict(items)
        if not self._handlers:
            return self._put(self._encode(items))
        self._put(_head(MAP, len(items)))
        self._write_inner([part for item in items.items() for part in item])

    def write_pickle(self, obj):
        """Pickle an object under the policy of this Output, also one that has a code of its own; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_pickle(7); file.getvalue().hex()
        '640000000580024b072e'
        """
        self._put(self._encode(Ext(PICKLE, self._pickled(obj))))

    # As TYPECODE_HANDLER_MAP of Input.
    TYPE_HANDLER_MAP = MappingProxyType({
        bool: write_bool, int: write_int, float: write_double, str: write_string, bytes: write_bytes, Bytes: write_bytes,
        tuple: write_vector, list: write_list, dict: write_map,
    })  # fmt: skip

    def _pickled(self, obj):
        policy = self._options["pickle"]
        if policy == "raw":
            raise EncodeTypeError('pickle="raw" pickles nothing')
        if policy == "trust":
            from pickle import dumps

            return _made(lambda obj: dumps(obj, 2), obj)
        from typedbytes._pickle import safe_dumps

        return _made(safe_dumps, obj)

    def _write(self, obj):
        if self._handlers:
            self._writer_of(obj)(self, obj)
        else:
            self._put(self._encode(obj))

    def _writer_of(self, obj):
        return self._handlers.get(type(obj)) or _own_writer(obj)

    def _write_whole(self, obj):
        self._put(self._encode(obj))

    def _write_inner(self, items):
        if self._depth == _MAX_DEPTH:
            raise EncodeValueError(f"containers nest deeper than {_MAX_DEPTH}")
        self._depth += 1
        try:
            for item in items:
                self._writer_of(item)(self, item)
        finally:
            self._depth -= 1

    def _put(self, data):
        """Write all bytes, also to a file that takes a part at a time."""
        write_all(self.file, data)


def _own_writer(obj):
    """Return the method of Output for an object without a handler."""
    if not isinstance(obj, (tuple, list, dict)) or isinstance(obj, (Ext, Writable)):
        return Output._write_whole
    return Output.write_vector if isinstance(obj, tuple) else Output.write_list if isinstance(obj, list) else Output.write_map


def _made(make, obj):
    """Return what `make` makes of an object; its errors become those of encoding."""
    try:
        return make(obj)
    except (ValueError, OverflowError) as error:
        raise EncodeValueError(str(error)) from error
    except Exception as error:
        raise EncodeTypeError(str(error)) from error


def _real(number):
    if isinstance(number, (str, bytes, bytearray)):
        raise TypeError(f"a number is needed, not {type(number).__name__}")
    return float(number)


def _head(code, length):
    if length > _MAX_LENGTH:
        raise EncodeValueError(f"a length of {length} does not fit 31 bits")
    return struct.pack(">Bi", code, length)


class PairedOutput(Output):
    """Write (key, value) pairs, alternating; otherwise as `Output`.

    >>> file = io.BytesIO()
    >>> PairedOutput(file).write((True, False))
    >>> file.getvalue().hex()
    '02010200'
    """

    __module__ = "typedbytes.legacy"

    def write(self, pair):
        """Write a key and its value: both, or neither where no handler is registered.

        Raises as `Output.write`, and ValueError for anything but a pair.

        >>> PairedOutput(io.BytesIO()).write(("key", 1))
        """
        key, value = pair
        if not self._handlers:
            return self._put(self._encode(key) + self._encode(value))
        self._write(key)
        self._write(value)
