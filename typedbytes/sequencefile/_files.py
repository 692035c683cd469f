"""Reader and Writer by name: open paths and URLs, look up codecs and classes.

Here: what connects the record loop with the other files of this package. Not here: bytes of the format. Invariant: a
file opened here is closed here, after a failure too.
"""

from __future__ import annotations

import contextlib
import io
import os
from functools import partial

from typedbytes import _core
from typedbytes._base import locations
from typedbytes._base.compression import refuse_compressed_sequence_file
from typedbytes.errors import FormatError
from typedbytes.sequencefile import _codecs, _native, _record_types, _writables

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Literal, overload

    from _typeshed import ReadableBuffer
    from typing_extensions import Unpack

    from typedbytes._base.options import (
        ClassTexts,
        DecodeOptions,
        Decoders,
        EncodeOptions,
        Encoders,
        SequenceReaderOptions,
        SequenceWriterOptions,
    )

__all__ = ["Reader", "Writer", "decode", "encode", "open"]

_TYPED_BYTES = "TypedBytesWritable"
_MAX_RECORD_NBYTES = 2**31 - 1  # its length is an int32
#: Options of a Reader or a Writer that say nothing of its keys and values.
_OF_FILES = {"start", "length", "raw", "resync", "metadata", "version", "sync_interval", "block_size"}


if TYPE_CHECKING:

    @overload
    def open(file: Any, mode: Literal["r"] = "r", **options: Any) -> Reader: ...
    @overload
    def open(file: Any, mode: Literal["w", "a"], **options: Any) -> Writer: ...
    def open(file: Any, mode: str = "r", **options: Any) -> Any: ...

else:

    def open(file, mode="r", **options):
        """Open a SequenceFile: "r" returns a Reader, "w" and "a" a Writer, with their options.

        "a" adds records to the file of a path or URL, or makes one. Its classes, compression and metadata stay; options
        that contradict them raise ValueError. The new records come after a sync marker, as in Hadoop. A file whose last
        record is cut raises the error of a Reader, and nothing is written.

        >>> import io
        >>> file = io.BytesIO()
        >>> with open(file, "w") as writer:
        ...     writer.write("key", 5)
        >>> open(file.getvalue()).read_all()
        [('key', 5)]
        """
        if mode not in ("r", "w", "a"):
            raise ValueError(f'mode must be "r", "w" or "a", not {mode!r}')
        if mode == "a":
            from typedbytes.sequencefile._append import appending

            return appending(file, options)
        return (Reader if mode == "r" else Writer)(file, **options)


_HEADER = {
    "version": "The version of the format, 4 to 6.",
    "key_class": "The name of the keys' class in Java.",
    "value_class": "The name of the values' class in Java.",
    "compression": 'What is compressed: "none", each "record", or a "block" of many.',
    "codec": "The name of the codec's class in Java; None without compression.",
    "metadata": "The text of the header, a dict by name.",
    "sync_marker": "The 16 bytes that are written between records, at which reading can start.",
}
_SKIPPED = "What was skipped as damaged, a list of `Skipped`; resync=True fills it."


def _documented(texts):
    """Return a decorator that documents attributes that a compiled class only stores, without docstrings."""

    def document(kind):
        for name, text in texts.items():
            setattr(kind, name, property(getattr(kind, name).__get__, doc=text))
        return kind

    return document


@_documented({**_HEADER, "skipped": _SKIPPED})
@_core.step_as_base
class Reader(_native.Reader):
    """Read the (key, value) pairs of a SequenceFile, or of a split of it.

    - file: a path, a URL that fsspec knows, a binary file object, a descriptor, or bytes.
    - start, length: the split; it has exactly the records that Hadoop reads for it.
    - raw: return the bytes of keys and values, not decoded.
    - resync: after damage continue at the next sync marker, and list in `skipped` what was skipped; without it, the
      error is raised after the records before it.
    - max_bytes: limit of a record, and of a decompressed value or block buffer; None for no limit.
    - decoders: functions of bytes by class name, for classes that this library does not know, whose bytes are otherwise
      returned as `typedbytes.Writable`, or in place of its own, as for Text in another encoding.
    - classes: descriptions of classes, such as "id: long, name: text", by class name, or the path of a file of them.
    - key_type, value_type, strict: as for `typedbytes.PairReader`, whatever the classes are: text fits a date, a
      MapWritable a record class.

    Other options as for `typedbytes.Decoder`; unicode_errors applies to Text too.

    Raises FormatError, TruncatedError and LimitError with the offset in the file and the record's index;
    ModuleNotFoundError for a codec whose library is not installed. After an error the Reader stays failed.

    `version`, `key_class`, `value_class`, `compression` ("none", "record" or "block"), `codec` (a class name or None),
    `metadata` and `sync_marker` are those of the header.

    >>> import io
    >>> file = io.BytesIO()
    >>> with Writer(file, key_class="Text", value_class="IntWritable", metadata={"made by": "me"}) as writer:
    ...     writer.write("a", 1)
    >>> reader = Reader(file.getvalue())
    >>> reader.metadata, reader.read(), reader.read()
    ({'made by': 'me'}, ('a', 1), None)
    """

    __slots__ = ()
    __signature__: Any = _core.PassedOptions(_native.Reader)

    def __init__(
        self,
        file: Any,
        *,
        max_bytes: int | None = 1 << 28,
        decoders: Decoders = None,
        classes: ClassTexts = None,
        **options: Unpack[SequenceReaderOptions],
    ) -> None:
        source, ours = locations.opened(file, "r")
        find = _find_converters(decoders, classes, _types_of_pairs(options), options)

        def find_in_header(class_name, part):
            found = find(class_name, part)
            if any(found):
                return found
            with contextlib.suppress(*([FormatError] if options.get("raw") else [])):  # bytes need no schema
                return None, None, _avro(class_name, part, self.metadata)
            return found

        try:
            super().__init__(
                source,
                owns=ours,
                filename=file if ours else None,
                max_bytes=_MAX_RECORD_NBYTES if max_bytes is None else max_bytes,
                find_codec=_find_decompress,
                find_converters=find_in_header,
                **options,
            )
        except BaseException as error:
            if ours:
                with contextlib.closing(source):
                    _check_compression(source, file, error)
            raise


def header_of(source: Any) -> _native.Reader:
    """Return a reader for the header alone: it needs no library of a codec, and no schema of a class."""
    return _native.Reader(source, find_codec=lambda _: bytes, find_converters=lambda *_: (None, None, None))


def check_readable(header: _native.Reader) -> None:
    """Raise the error that a Reader of a file with this header raises for its codec or a schema."""
    if header.codec:
        _find_decompress(header.codec)
    for part, name in (("key", header.key_class), ("value", header.value_class)):
        _avro(name, part, header.metadata)


def _check_compression(source, path, error):
    """Raise FormatError instead of this error for a SequenceFile that is compressed as a whole."""
    if isinstance(error, FormatError) and source.seekable():
        source.seek(0)
        refuse_compressed_sequence_file(source, path)


@_documented(_HEADER)
class Writer(_native.Writer):
    """Write a SequenceFile.

    - file: a path, a URL that fsspec knows, a binary file object or a descriptor.
    - key_class, value_class: names of Writable classes; for Hadoop's own the package can be left out.
    - compression: "none", "record" or "block"; by default "block" if a codec is given, else "none".
    - codec: its class or one of default, gzip, bzip2, snappy, lz4, zstd.
    - metadata: text by name, for the header.
    - version: 4 to 6.
    - sync_marker: 16 bytes, random if not given.
    - sync_interval: bytes between markers.
    - block_size: bytes of keys and values that end a block.
    - encoders: functions by class name that take an object and return bytes, for classes that this library does not
      know, whose objects must otherwise be bytes or a `typedbytes.Writable`, or in place of its own.
    - classes: descriptions, as for `Reader`.
    - key_type, value_type, omit_none: as for `typedbytes.PairWriter`.

    Other options as for `typedbytes.Encoder`.

    A record that cannot be encoded raises EncodeTypeError, EncodeValueError or what a hook raises, and nothing of it is
    written. After an error of the sink the Writer stays failed. The end of a with block closes the Writer, after an
    exception too: the file is valid then and has the records before it. For one that is complete or not there, write to
    another name, and os.replace() it after the block.

    >>> import io
    >>> file = io.BytesIO()
    >>> with Writer(file, key_class="NullWritable", value_class="Text", compression="record", codec="gzip") as writer:
    ...     writer.write(None, "text")
    >>> list(Reader(file.getvalue()))
    [(None, 'text')]
    """

    __slots__ = ()
    __signature__: Any = _core.PassedOptions(_native.Writer)

    def __init__(
        self, file: Any, *, key_class: str = _TYPED_BYTES, value_class: str = _TYPED_BYTES,
        compression: Literal["none", "record", "block"] | None = None, codec: str | None = None,
        sync_marker: bytes | None = None, encoders: Encoders = None, classes: ClassTexts = None,
        **options: Unpack[SequenceWriterOptions],
    ) -> None:  # fmt: skip
        encoders = _writables.by_full_name(encoders)
        key_class, value_class = (_writables.checked_name(each, encoders, classes) for each in (key_class, value_class))
        types = _types_of_pairs(options)
        encoding = {name: value for name, value in options.items() if name not in (*_OF_FILES, "append_at")}
        key_function, key_program = _writables.find_encoder(key_class, types["key"], encoders, classes, encoding)
        value_function, value_program = _writables.find_encoder(
            value_class, types["value"], encoders, classes, encoding
        )
        metadata = options.get("metadata") or {}
        key_program = key_program or (key_function is None and _avro(key_class, "key", metadata)) or None
        value_program = value_program or (value_function is None and _avro(value_class, "value", metadata)) or None
        keywords: dict[str, Any] = {
            **options,
            **_find_compress(compression, codec),
            "key_class": key_class,
            "value_class": value_class,
            "sync_marker": os.urandom(16) if sync_marker is None else sync_marker,
            "key_function": key_function,
            "value_function": value_function,
            "key_program": key_program,
            "value_program": value_program,
        }
        for part, program in (("key", key_program), ("value", value_program)):
            if types[part] is not None:
                keywords[f"{part}_type"] = _record_types.by_names(types[part], program)
        if isinstance(file, (str, os.PathLike)):
            _native.Writer(io.BytesIO(), **keywords).close()  # refuses wrong options before the file is emptied
        file, ours = locations.opened(file, "a" if options.get("append_at") else "w")
        try:
            super().__init__(file, owns=ours, **keywords)
        except BaseException:
            if ours:
                file.close()
            raise


def _find_compress(compression, codec):
    """Return what is compressed, and with compression the codec's class name and its function."""
    if compression is None:
        compression = "none" if codec is None else "block"
    if compression not in _native.COMPRESSIONS:
        raise ValueError(f'compression must be "none", "record" or "block", not {compression!r}')
    if compression == "none":
        return {"compression": compression}
    name = "default" if codec is None else str(codec)
    # class names have packages
    class_name, _, compress = _codecs.find(name if "." in name else name.lower(), to_write=True)
    return {"compression": compression, "codec": class_name, "compress": compress}


def _avro(class_name, part, metadata):
    """Return the program of a class whose values are Avro's, by the schema in the header, or None."""
    if not class_name.startswith(_writables.AVRO):
        return None
    from typedbytes.sequencefile import _avro

    return _avro.program_of(class_name, part, metadata)


def _find_decompress(name):
    return _codecs.find(name).decompress


def _find_converters(decoders, classes, types, options):
    keywords = {
        "classes": classes,
        "types": types,
        "options": {name: value for name, value in options.items() if name not in _OF_FILES},
    }
    return partial(_writables.find_converters, decoders=_writables.by_full_name(decoders), **keywords)


def _types_of_pairs(options):
    """Return the types that options give to keys and values; TypeError for that of a single value."""
    if "type" in options:
        raise TypeError("a SequenceFile has pairs: give key_type= and value_type=, not type=")
    return {"key": options.get("key_type"), "value": options.get("value_type")}


def decode(
    class_name: str,
    data: ReadableBuffer,
    *,
    decoders: Decoders = None,
    classes: ClassTexts = None,
    type: Any = None,
    strict: bool = True,
    **options: Unpack[DecodeOptions],
) -> Any:
    r"""Decode the bytes of one key or value of a class, such as those from a Reader with raw=True.

    Options as for `Reader`; raises as it does, with offsets in `data`.

    >>> decode("org.apache.hadoop.io.Text", b"\x02hi")
    'hi'
    """
    keywords = {**options, "type": type, "strict": strict}
    find = _find_converters(decoders, classes, {None: type}, keywords)
    return _native.decode(_writables.full_name(class_name), data, find_converters=find, **keywords)


def encode(
    class_name: str,
    obj: Any,
    *,
    encoders: Encoders = None,
    classes: ClassTexts = None,
    type: Any = None,
    omit_none: bool = False,
    **options: Unpack[EncodeOptions],
) -> bytes:
    r"""Encode an object as the bytes of a class; options and errors as for `Writer`.

    >>> encode("org.apache.hadoop.io.Text", "hi")
    b'\x02hi'
    """
    name = _writables.full_name(class_name)
    keywords = {**options, "type": type, "omit_none": omit_none}
    function, program = _writables.find_encoder(name, type, _writables.by_full_name(encoders), classes, keywords)
    keywords["type"] = _record_types.by_names(type, program)
    return _native.encode(name, obj, function=function, program=program, **keywords)
