"""Input and PairedInput: values out of a file."""

from __future__ import annotations

from typedbytes._base import codes
from typedbytes._core import END, PairReader, ReadAheadIterator, Reader, replace_bytes, send_deferred
from typedbytes.errors import DecodeError, FormatError, TruncatedError
from typedbytes.legacy._base import Bytes, _Legacy, by_one_thread, checked_code, read_only
from typedbytes.legacy._read_ahead import open_read_ahead

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, ClassVar, NoReturn

    from typedbytes._base.options import PicklePolicy

# Bytes that an iteration asks for at once; fewer after one that was given up early,
# since what is not used is read again.
_READ_SIZE = 131072
_SHORT_READ_SIZE = 8192


class Input(_Legacy):
    r"""Read values from a binary file object.

    unicode_errors: as in bytes.decode. pickle: "safe", "trust" or "raw", as for `typedbytes.loads`.
    `eof` is true once the end of the file has been reached. Raises TypeError for a file opened as text.

    >>> import io
    >>> Input(io.BytesIO(b"\x02\x01")).read()
    True
    """

    __module__ = "typedbytes.legacy"

    _reader_kind: type[Any] = Reader

    def __init__(self, file: Any, unicode_errors: str = "strict", *, pickle: PicklePolicy = "safe") -> None:
        self.eof: bool = False
        self.t: int | None = None  # the type code read last, for handlers of several
        self._failure: BaseException | None = None
        self._handlers_own: BaseException | None = None  # the error that a handler raised last
        self._in_key = False  # what is read is a MAP's key, or a part of it, and no handler makes something else of it
        self._read_ahead: Any = None
        self._read_size = _READ_SIZE
        self._reader: Any = None
        self._walks: dict[int, Callable[[Input], Any]] = {}  # of containers whose items may have handlers
        self._npassed = 0  # bytes consumed by the readers before the present one
        super().__init__(file, unicode_errors, pickle)
        self._register_all(self.TYPECODE_HANDLER_MAP, Input.TYPECODE_HANDLER_MAP)

    def _connect(self, file):
        reader = Reader(file, read_ahead=False, **self._options)
        if self._reader is not None:
            self._npassed += self._reader.offset
        self._file, self._reader = file, reader

    @property
    def file(self) -> Any:
        """The file, positioned at the start of the next value."""
        self._settle()
        return self._file

    @file.setter
    def file(self, file: Any) -> None:
        self._settle()
        self._connect(file)

    def read(self) -> Any:
        r"""Return the next value, or None at the end of the file; `eof` distinguishes that from a None in the file.

        Raises as `typedbytes.load`, except at the end.

        >>> source = Input(io.BytesIO(b"\x02\x01"))
        >>> source.read(), source.read(), source.eof
        (True, None, True)
        """
        try:
            value = self._next_record()
            return None if value is END else value
        except BaseException as error:
            self._break(error)
            raise

    def reads(self) -> Iterator[Any]:
        r"""Iterate over the values up to the end of the file; raises as `read`.

        During an iteration the file itself may be ahead; `file` corrects its position.

        >>> list(Input(io.BytesIO(b"\x02\x01\x02\x00")).reads())
        [True, False]
        """
        return ReadAheadIterator(self._open_reader, self._next_record, self._leave, Bytes)

    __iter__ = reads

    def register(self, typecode: int, handler: Callable[[Any], Any]) -> None:
        r"""Have handler(self) read the payload of every value of a type code, those inside containers too.

        Raises ValueError for a code outside 0..254: a MARKER is not a value.

        >>> source = Input(io.BytesIO(b"\x78\x05"))
        >>> source.register(0x78, lambda source: source.file.read(1))
        >>> source.read()
        b'\x05'
        """
        if not callable(handler):
            raise TypeError(f"a handler must be callable, not {type(handler).__name__}")
        from typedbytes.legacy._containers import WALKS

        self._handlers[checked_code(typecode)] = handler
        self._walks = WALKS
        self._settle()

    def lookup(self, typecode: int) -> Callable[[], Any]:
        r"""Return the function of no arguments that reads the payload of a type code.

        Raises as `register`.

        >>> Input(io.BytesIO(b"\x00\x00\x00\x05")).lookup(3)()
        5
        """
        typecode = checked_code(typecode)
        return lambda: self._value(typecode)

    # Payloads: for handlers, after the type code.

    def read_bytes(self) -> Bytes:
        """Read the payload of a BYTES; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("000000026869"))).read_bytes()
        Bytes(b'hi')
        """
        return Bytes(self._payload(codes.BYTES))

    def read_byte(self) -> int:
        """Read the payload of a BYTE; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("fe"))).read_byte()
        -2
        """
        return self._payload(codes.BYTE)

    def read_bool(self) -> bool:
        """Read the payload of a BOOL; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("01"))).read_bool()
        True
        """
        return self._payload(codes.BOOL)

    def read_int(self) -> int:
        """Read the payload of an INT; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("00000005"))).read_int()
        5
        """
        return self._payload(codes.INT)

    def read_long(self) -> int:
        """Read the payload of a LONG; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("0000000000000005"))).read_long()
        5
        """
        return self._payload(codes.LONG)

    def read_float(self) -> float:
        """Read the payload of a FLOAT; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("3fc00000"))).read_float()
        1.5
        """
        return self._payload(codes.FLOAT)

    def read_double(self) -> float:
        """Read the payload of a DOUBLE; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("3ff8000000000000"))).read_double()
        1.5
        """
        return self._payload(codes.DOUBLE)

    def read_string(self) -> str:
        """Read the payload of a STRING as str; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("000000026869"))).read_string()
        'hi'
        """
        return self._payload(codes.STRING)

    read_unicode = read_string

    def read_bytestring(self) -> bytes:
        """Read the payload of a byte string, code 101, as bytes; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("000000026869"))).read_bytestring()
        b'hi'
        """
        return self._payload(codes.BYTESTRING)

    def read_pickle(self) -> Any:
        """Read the payload of a PICKLE under the policy of this Input; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("0000000580024b072e"))).read_pickle()
        7
        """
        return self._payload(codes.PICKLE)

    def read_vector(self) -> tuple[Any, ...]:
        """Read the payload of a VECTOR as a tuple; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("000000010201"))).read_vector()
        (True,)
        """
        return self._walks[codes.VECTOR](self) if self._handlers else replace_bytes(self._payload(codes.VECTOR), Bytes)

    def read_list(self) -> list[Any]:
        """Read the payload of a LIST, up to its MARKER; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("0201ff"))).read_list()
        [True]
        """
        return self._walks[codes.LIST](self) if self._handlers else replace_bytes(self._payload(codes.LIST), Bytes)

    def read_map(self) -> dict[Any, Any]:
        """Read the payload of a MAP as a dict; raises as `read`.

        >>> Input(io.BytesIO(bytes.fromhex("0000000102010200"))).read_map()
        {True: False}
        """
        return self._walks[codes.MAP](self) if self._handlers else replace_bytes(self._payload(codes.MAP), Bytes)

    def read_marker(self) -> NoReturn:
        """Raise StopIteration, as the originals do at a MARKER; nothing is read.

        >>> next(iter(Input(io.BytesIO()).read_marker, None), "the end")
        'the end'
        """
        raise StopIteration

    def invalid_typecode(self) -> NoReturn:
        r"""Raise the FormatError of the type code read last, for handlers that reject it; the Input stays failed.

        >>> source = Input(io.BytesIO(b"\x78"))
        >>> source.register(0x78, Input.invalid_typecode)
        >>> source.read()
        Traceback (most recent call last):
        typedbytes.errors.FormatError: unknown type code 120 at offset 0
        """
        if self._failure is not None:
            raise self._failure
        self._settle()
        self._fail(FormatError, f"unknown type code {self.t}", max(self._offset - 1, 0), self.t)

    # A subclass may have its own table; `register` is for a single Input.
    TYPECODE_HANDLER_MAP: ClassVar[Mapping[int, Callable[[Any], Any]]] = read_only({
        codes.BYTES: read_bytes, codes.BYTE: read_byte, codes.BOOL: read_bool, codes.INT: read_int,
        codes.LONG: read_long, codes.FLOAT: read_float, codes.DOUBLE: read_double, codes.STRING: read_string,
        codes.VECTOR: read_vector, codes.LIST: read_list, codes.MAP: read_map, codes.PICKLE: read_pickle,
        codes.BYTESTRING: read_bytestring, codes.MARKER: read_marker,
    })  # fmt: skip

    # Calls of the reader, which keep it, its read-ahead file and the file consistent.

    def _call(self, method, *arguments):
        if self._failure is not None:
            raise self._failure
        if self._read_ahead is not None:
            self._settle()
        try:
            return method(*arguments)
        except DecodeError as error:
            self._keep(error, self._npassed)
            raise

    def _keep(self, error, offset):
        """Store an error of a reader that started at this offset, without the record number, which is its own."""
        if isinstance(error, DecodeError):
            error.offset += offset
            error.record = None
        self._failure = error

    def _break(self, error, offset=0):
        """Store an error that interrupted reading anywhere; a value may be lost, but not by a handler's own error."""
        if self._failure is None and error is not self._handlers_own:
            self._keep(error, offset)

    def _fail(self, kind, message, offset, code) -> NoReturn:
        self._failure = kind(message, offset, code)
        raise self._failure

    @property
    def _offset(self):
        return self._npassed + self._reader.offset

    def _code(self):
        return self._call(self._reader.__read_code__)

    def _payload(self, code):
        return self._call(self._reader.__read_payload__, code)

    def _next(self):
        """Read a value, or END."""
        if not self._handlers:
            value = replace_bytes(self._call(self._reader.read, END), Bytes)
            self.eof = value is END
            return value
        code = self._code()
        self.eof = code < 0
        return END if self.eof else self._value(code)

    _next_record = by_one_thread(_next)

    def _value(self, code):
        self.t = code
        handler = self._handlers.get(code)
        if handler:
            return self._handled(handler)
        walk = self._walks.get(code)
        return walk(self) if walk else replace_bytes(self._payload(code), Bytes)

    def _handled(self, handler):
        in_key, self._in_key = self._in_key, False
        try:
            return handler(self)
        except BaseException as error:
            self._handlers_own = error
            raise
        finally:
            self._in_key = in_key

    def _leave(self, reader, error, at_end):
        """Take back the reader of an iteration, which is at its end, has failed or is given up."""
        if error is not None:
            self._break(error, self._offset)
        if at_end:
            self.eof = True
        if self._read_ahead is not None and self._read_ahead.reader is reader:
            self._settle()

    def _open_reader(self):
        """Return a reader that reads ahead, or None where the file or a handler does not allow one."""
        if self._failure is not None:
            raise self._failure
        if self._handlers:
            return None
        self._settle()
        self._read_ahead = open_read_ahead(self._file, self._reader_kind, self._options, self._read_size)
        return self._read_ahead and self._read_ahead.reader

    def _settle(self):
        if self._read_ahead is not None:
            try:
                read_ahead, self._read_ahead = self._read_ahead, None
                send_deferred()
                nbytes = read_ahead.close()
                self._npassed += nbytes
                self._read_size = _READ_SIZE if nbytes >= _SHORT_READ_SIZE else _SHORT_READ_SIZE
            except BaseException as error:
                self._break(error)  # the position of the file is unknown
                raise


class PairedInput(Input):
    r"""Read alternating keys and values as (key, value) tuples; otherwise as `Input`.

    >>> import io
    >>> list(PairedInput(io.BytesIO(b"\x02\x01\x02\x00")))
    [(True, False)]
    """

    __module__ = "typedbytes.legacy"

    _reader_kind = PairReader

    def read(self) -> Any:
        r"""Return the next (key, value), or None at the end of the file.

        Raises as `Input.read`, and TruncatedError for a key without a value.

        >>> PairedInput(io.BytesIO(b"\x02\x01\x02\x00")).read()
        (True, False)
        """
        return super().read()

    @by_one_thread
    def _next_record(self):
        try:
            key = self._next()
        except BaseException:
            self._handlers_own: BaseException | None = None  # the next value is not a key
            raise
        if key is END:
            return END
        if (value := self._next()) is END:
            self._fail(TruncatedError, "input ends after a key without its value", self._offset, None)
        return key, value
