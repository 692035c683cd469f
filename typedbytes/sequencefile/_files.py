"""Reader and Writer with names instead of functions: places are opened, codecs and classes looked up.

Here: what connects the record loop with the other files of this package. Not here: bytes of the format. Always true: what
was opened here is closed here, after a failure too.
"""

import os
from functools import partial

from typedbytes.sequencefile import _native as _sequence
from typedbytes import _core
from typedbytes.sequencefile import _codecs, _locations, _writables

__all__ = ["Reader", "Writer", "decode", "encode", "open"]

_TYPED_BYTES = "TypedBytesWritable"


def open(place, mode="r", **options):
    """Open a SequenceFile: "r" gives a Reader, "w" a Writer; options are theirs.

    >>> import io
    >>> file = io.BytesIO()
    >>> with open(file, "w") as writer:
    ...     writer.write("key", 5)
    >>> open(file.getvalue()).read_all()
    [('key', 5)]
    """
    if mode not in ("r", "w"):
        raise ValueError(f'mode is "r" or "w", not {mode!r}')
    return (Reader if mode == "r" else Writer)(place, **options)


@_core.step_as_base
class Reader(_sequence.Reader):
    """Read the (key, value) pairs of a SequenceFile, or of a split of it.

    place: a path, a URL that fsspec knows, a binary file object, a descriptor, or bytes. start, length: the split; it has
    exactly the records that Hadoop would give to it. raw: give the bytes of keys and values as they are. resync: go on
    behind damage at the next sync marker, and say in `skipped` what was passed over; without it, the error is raised behind
    the records before it. max_bytes: of a record, and of what a compressed value or block buffer comes to; None for no
    limit. decoders: functions of bytes by class name, for classes that this library does not know: their bytes come as
    `typedbytes.Writable` otherwise. Other options as for `typedbytes.Decoder`, of which unicode_errors is also for Text.

    Raises FormatError, TruncatedError and LimitError with the offset in the file and the record's index; ModuleNotFoundError
    for a codec whose library is not installed. After an error the Reader stays failed.

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

    def __init__(self, place, *, max_bytes=1 << 28, decoders=None, **options):
        file, ours = _locations.opened(place, "r")
        try:
            super().__init__(
                file,
                owns=ours,
                max_bytes=_locations.LARGEST if max_bytes is None else max_bytes,
                find_codec=_find_decompress,
                find_kind=partial(_writables.find, decoders=decoders or {}),
                **options,
            )
        except BaseException:
            if ours:
                file.close()
            raise


class Writer(_sequence.Writer):
    """Write a SequenceFile.

    place: a path, a URL that fsspec knows, a binary file object or a descriptor. key_class, value_class: names of Writable
    classes, those of Hadoop's own without their package. compression: "none", "record" or "block". codec: its class or one
    of default, gzip, bzip2, snappy, lz4, zstd. metadata: text by name, for the header. version: 4 to 6. sync_marker: 16
    bytes, random if not given. sync_interval: bytes between markers. block_size: bytes of keys and values that end a block.
    encoders: functions of an object that give bytes, by class name, for classes that this library does not know; without
    one, bytes or a `typedbytes.Writable` are taken. Other options as for `typedbytes.Encoder`.

    A record that cannot be encoded raises EncodeTypeError, EncodeValueError or what a hook raises, and leaves nothing behind.
    After the sink has failed, so has the Writer.

    >>> import io
    >>> file = io.BytesIO()
    >>> with Writer(file, key_class="NullWritable", value_class="Text", compression="record", codec="gzip") as writer:
    ...     writer.write(None, "text")
    >>> list(Reader(file.getvalue()))
    [(None, 'text')]
    """

    __slots__ = ()

    def __init__(
        self, place, *, key_class=_TYPED_BYTES, value_class=_TYPED_BYTES, compression="none", codec="default",
        sync_marker=None, encoders=None, **options,
    ):  # fmt: skip
        if compression not in _sequence.COMPRESSIONS:
            raise ValueError(f'compression is "none", "record" or "block", not {compression!r}')
        key_class, value_class = _writables.full_name(key_class), _writables.full_name(value_class)
        encoders = encoders or {}
        if compression == "none":
            codec_class = compress = None
        else:
            codec_class, _, compress = _codecs.find(codec)
            if compress is None:
                raise ValueError(f"codec {codec} is only read")
        file, ours = _locations.opened(place, "w")
        try:
            super().__init__(
                file,
                owns=ours,
                key_class=key_class,
                value_class=value_class,
                compression=compression,
                codec=codec_class,
                compress=compress,
                sync_marker=os.urandom(16) if sync_marker is None else sync_marker,
                key_function=encoders.get(key_class),
                value_function=encoders.get(value_class),
                **options,
            )
        except BaseException:
            if ours:
                file.close()
            raise


def _find_decompress(name):
    return _codecs.find(name).decompress


def decode(class_name, data, *, decoders=None, **options):
    """Decode the bytes of one key or value of a class, such as a Reader with raw=True gives.

    Options as for `Reader`; raises as it does, with offsets in `data`.

    >>> decode("org.apache.hadoop.io.Text", b"\\x02hi")
    'hi'
    """
    find = partial(_writables.find, decoders=decoders or {})
    return _sequence.decode(_writables.full_name(class_name), data, find_kind=find, **options)


def encode(class_name, obj, *, encoders=None, **options):
    """Encode an object as the bytes of a class; options and errors as for `Writer`.

    >>> encode("org.apache.hadoop.io.Text", "hi")
    b'\\x02hi'
    """
    name = _writables.full_name(class_name)
    return _sequence.encode(name, obj, function=(encoders or {}).get(name), **options)
