"""Output and PairedOutput: values into a file, each as soon as it is given."""

from __future__ import annotations

import io
import sys

from typedbytes._base.codes import BYTESTRING, MAP, PICKLE, STRING, VECTOR
from typedbytes._core import Encoder, PairRecordOutput, RecordOutput, safe_dumps, write_all
from typedbytes._types import Byte, Ext, Float, Long, Writable
from typedbytes.errors import EncodeTypeError, EncodeValueError
from typedbytes.legacy._base import MAX_DEPTH, Bytes, _Legacy, read_only

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, ClassVar

    from _typeshed import ReadableBuffer

    from typedbytes._base.options import PicklePolicy

_MAX_LENGTH = 2**31 - 1


class Output(_Legacy, RecordOutput):
    """Write values to a binary file object, each as soon as it is given.

    While a loop over an Input has input left that it has read ahead, records for a file with a buffer, or for standard
    output, may wait; flush(), taking `file`, or a call of the file's own methods writes them. unicode_errors: as in
    str.encode. pickle: "safe", "trust" or "raw", as for `typedbytes.dumps`. A handler writes to `file` itself; where
    handlers are registered, an object that fails inside a container leaves the part before it in the file. Raises
    TypeError for a file opened as text.

    >>> import io
    >>> file = io.BytesIO()
    >>> Output(file).write(True)
    >>> file.getvalue().hex()
    '0201'
    """

    __module__ = "typedbytes.legacy"

    def __init__(self, file: Any, unicode_errors: str = "strict", *, pickle: PicklePolicy = "safe") -> None:
        super().__init__(file, unicode_errors, pickle)
        self._register_all(self.TYPE_HANDLER_MAP, Output.TYPE_HANDLER_MAP)
        RecordOutput.__init__(self)

    def _connect(self, file):
        if isinstance(file, io.TextIOBase):
            raise TypeError("a binary file is needed, not one opened as text")
        self.file: Any = file
        is_stdout = type(file) is io.FileIO and file is getattr(sys.__stdout__, "buffer", None)
        is_plain = type(self).write in (Output.write, PairedOutput.write) and self._options["pickle"] != "trust"
        self.__configure__(self._handlers, is_stdout, is_plain, **self._options)
        self._encode = Encoder(**self._options).encode

    def flush(self) -> None:
        """Flush the file; raises what the file raises.

        >>> Output(io.BytesIO()).flush()
        """
        self.__call_file__(self.file.flush)

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        had_failed = error is not None and self._file_failed
        try:
            self.close()
        except Exception:
            if not had_failed:  # else the first error goes on
                raise

    def register(self, python_type: type, handler: Callable[[Any, Any], object]) -> None:
        r"""Have handler(self, obj) write every object of exactly this type, those inside containers too.

        Raises TypeError for a handler that cannot be called.

        >>> output = Output(io.BytesIO())
        >>> output.register(complex, lambda output, obj: output.write_string(str(obj)))
        >>> output.write([1j]); output.file.getvalue()
        b'\t\x07\x00\x00\x00\x021j\xff'
        """
        if not callable(handler):
            raise TypeError(f"a handler must be callable, not {type(handler).__name__}")
        self._handlers[python_type] = handler

    def lookup(self, python_type: type) -> Callable[[Any], object]:
        """Return the function of one argument that writes objects of a type.

        >>> Output(io.BytesIO()).lookup(int)(5)
        """
        return lambda obj: (self._handlers.get(python_type) or _own_writer(obj))(self, obj)

    # One method for each type: the object decides only the payload.

    def write_bytes(self, data: ReadableBuffer) -> None:
        """Write a bytes-like object as BYTES; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_bytes(b"hi"); file.getvalue().hex()
        '00000000026869'
        """
        self._write_encoded(self._encode(_converted(memoryview, data)))

    def write_byte(self, number: int) -> None:
        """Write an int as BYTE; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_byte(-2); file.getvalue().hex()
        '01fe'
        """
        self._write_encoded(self._encode(_converted(Byte, _converted(_index, number))))

    def write_bool(self, truth: object) -> None:
        """Write the truth of an object as BOOL; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_bool(1); file.getvalue().hex()
        '0201'
        """
        self._write_encoded(self._encode(bool(truth)))

    def write_int(self, number: int) -> None:
        """Write an int as INT, as LONG if it needs 64 bits, as PICKLE if it needs more; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_int(5); file.getvalue().hex()
        '0300000005'
        """
        self._write_encoded(self._encode(_converted(_index, number)))

    def write_long(self, number: int) -> None:
        """Write an int as LONG, as PICKLE when it needs more than 64 bits; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_long(5); file.getvalue().hex()
        '040000000000000005'
        """
        number = _converted(_index, number)
        self._write_encoded(self._encode(Long(number) if -(2**63) <= number < 2**63 else number))

    def write_float(self, number: float) -> None:
        """Write a float as FLOAT, narrowed to 32 bits; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_float(1.5); file.getvalue().hex()
        '053fc00000'
        """
        self._write_encoded(self._encode(Float(_converted(_real, number))))

    def write_double(self, number: float) -> None:
        """Write a float as DOUBLE; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_double(1.5); file.getvalue().hex()
        '063ff8000000000000'
        """
        self._write_encoded(self._encode(_converted(_real, number)))

    def write_string(self, string: str | ReadableBuffer) -> None:
        """Write a str, or the bytes of one, as STRING; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_string("hi"); file.getvalue().hex()
        '07000000026869'
        """
        if isinstance(string, str):
            return self._write_encoded(self._encode(string))
        data = bytes(_converted(memoryview, string))
        self._write_encoded(_header(STRING, len(data)) + data)

    write_unicode = write_string

    def write_bytestring(self, data: ReadableBuffer) -> None:
        """Write a bytes-like object as a byte string, code 101; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_bytestring(b"hi"); file.getvalue().hex()
        '65000000026869'
        """
        self._write_encoded(self._encode(Ext(BYTESTRING, _converted(memoryview, data))))

    write_array = write_bytes

    def write_vector(self, items: Iterable[Any]) -> None:
        """Write a sequence as VECTOR; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_vector([True]); file.getvalue().hex()
        '08000000010201'
        """
        items = tuple(items)
        if not self._handlers:
            return self._write_encoded(self._encode(items))
        self._write_encoded(_header(VECTOR, len(items)))
        self._write_inner(items)

    def write_list(self, items: Iterable[Any]) -> None:
        """Write a sequence as LIST; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_list((True,)); file.getvalue().hex()
        '090201ff'
        """
        items = list(items)
        if not self._handlers:
            return self._write_encoded(self._encode(items))
        self._write_encoded(b"\x09")
        self._write_inner(items)
        self._write_encoded(b"\xff")

    def write_map(self, items: Any) -> None:
        """Write a dict as MAP; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_map({True: False}); file.getvalue().hex()
        '0a0000000102010200'
        """
        items = dict(items)
        if not self._handlers:
            return self._write_encoded(self._encode(items))
        self._write_encoded(_header(MAP, len(items)))
        self._write_inner([part for item in items.items() for part in item])

    def write_pickle(self, obj: Any) -> None:
        """Pickle an object under the policy of this Output, even one that has its own type code; raises as `write`.

        >>> file = io.BytesIO()
        >>> Output(file).write_pickle(7); file.getvalue().hex()
        '640000000580024b072e'
        """
        self._write_encoded(self._encode(Ext(PICKLE, self._pickled(obj))))

    # As TYPECODE_HANDLER_MAP of Input.
    TYPE_HANDLER_MAP: ClassVar[Mapping[type, Callable[[Any, Any], object]]] = read_only({
        bool: write_bool, int: write_int, float: write_double, str: write_string, bytes: write_bytes,
        Bytes: write_bytes, tuple: write_vector, list: write_list, dict: write_map,
    })  # fmt: skip

    def _pickled(self, obj):
        policy = self._options["pickle"]
        if policy == "raw":
            raise EncodeTypeError('pickle="raw" pickles nothing')
        return _converted(_trusted_dumps if policy == "trust" else safe_dumps, obj)

    def _write_with_handlers(self, obj):
        self._writer_of(obj)(self, obj)

    def _writer_of(self, obj):
        return self._handlers.get(type(obj)) or _own_writer(obj)

    def _write_whole(self, obj):
        self._write_encoded(self._encode(obj))

    def _write_inner(self, items):
        if self._depth == MAX_DEPTH:
            raise EncodeValueError(f"containers nest deeper than {MAX_DEPTH}")
        self._depth += 1
        try:
            for item in items:
                self._writer_of(item)(self, item)
        finally:
            self._depth -= 1

    def _write_encoded(self, data):
        """Write all bytes, in several calls for a file that accepts only a part."""
        self.__call_file__(write_all, self.file, data)


def _own_writer(obj):
    """Return the method of Output for an object without a handler."""
    if not isinstance(obj, (tuple, list, dict)) or isinstance(obj, (Ext, Writable)):
        return Output._write_whole
    if isinstance(obj, tuple):
        return Output.write_vector
    return Output.write_list if isinstance(obj, list) else Output.write_map


def _trusted_dumps(obj):
    """Pickle any object; those of plain types as under the safe policy, so that equal keys have equal bytes."""
    try:
        return safe_dumps(obj)
    except TypeError:
        from pickle import dumps

        return dumps(obj, 2)


def _converted(make, obj):
    """Return make(obj); its errors are raised as errors of encoding."""
    try:
        return make(obj)
    except (ValueError, OverflowError) as error:
        raise EncodeValueError(str(error)) from error
    except Exception as error:
        raise EncodeTypeError(str(error)) from error


def _index(number):
    from operator import index

    return index(number)


def _real(number):
    if isinstance(number, (str, bytes, bytearray)):
        raise TypeError(f"a number is needed, not {type(number).__name__}")
    return float(number)


def _header(code, length):
    if length > _MAX_LENGTH:
        raise EncodeValueError(f"a length of {length} does not fit 31 bits")
    return code.to_bytes(1, "big") + length.to_bytes(4, "big")


class PairedOutput(Output, PairRecordOutput):
    """Write (key, value) pairs, alternating; otherwise as `Output`.

    >>> import io
    >>> file = io.BytesIO()
    >>> PairedOutput(file).write((True, False))
    >>> file.getvalue().hex()
    '02010200'
    """

    __module__ = "typedbytes.legacy"

    def _write_with_handlers(self, pair):
        for part in pair:
            self._writer_of(part)(self, part)
