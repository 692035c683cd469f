"""Readers and writers over files, paths, descriptors, sockets and buffers; the functions named as in json and pickle.

Here: opening paths and URLs, wrapping descriptors, closing what was opened. The streams themselves are compiled.
"""

from __future__ import annotations

import io
import os

from typedbytes import _core

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal

    from typedbytes._base.options import Dialect, EncodeOptions, PicklePolicy

    _Default = Callable[[Any], Any] | None
    _ExtHook = Callable[[int, bytes], Any] | None
    _IntWidth = Literal["auto", 32, 64]

__all__ = ["Reader", "PairReader", "Writer", "PairWriter", "dump", "load", "dump_all", "iter_load"]


def __dir__() -> list[str]:
    return __all__


_NAMED_ENDS = (".deflate", ".snappy", ".lz4", ".lzo_deflate")  # of the names of files whose first bytes may be any
_COMPRESSED_ENDS = (".gz", ".bz2", ".xz", ".zst", ".lzo", *_NAMED_ENDS)
# The first bytes of compressed files; files of typed bytes start with others, except B, P to _ and 89,
# which are application codes.
_COMPRESSED_STARTS = b"\x1f\xfd\x28B\x89" + bytes(range(0x50, 0x60))


def _is_path(file):
    return isinstance(file, (str, os.PathLike))


def _opened(file, mode):
    """Return (file, whether we opened it): paths and URLs are opened, descriptors wrapped, others returned as is."""
    if _is_path(file):
        compress = _as_it_is if mode == "rb" else _compressing(file)  # before the file is emptied
        if isinstance(file, str) and "://" in file:
            from typedbytes._base import locations

            opened, _ = locations.opened(file, mode[0])
        else:
            opened = io.FileIO(file, mode)
        return _decompressed(opened, os.fsdecode(file)) if mode == "rb" else compress(opened), True
    if isinstance(file, int) and not isinstance(file, bool):
        return io.FileIO(file, mode, closefd=False), False
    return file, False


def _as_it_is(file):
    return file


def _compressing(path):
    """Return a function from the file at a path to what is written to; ValueError for a name that is only read."""
    if not os.fsdecode(path).endswith(_COMPRESSED_ENDS):
        return _as_it_is
    from typedbytes._base.compression import compressing

    return compressing(path, _core.write_all)


def _decompressed(file, name):
    """Return a file that we opened, or its decompressed contents; closes it if that fails."""
    try:
        if file.seekable():  # looking at the first bytes of a pipe would wait for them
            head = file.read(1)
            file.seek(-len(head), io.SEEK_CUR)
            if head and head in _COMPRESSED_STARTS or name.endswith(_NAMED_ENDS):
                from typedbytes._base.compression import decompressed

                return decompressed(file, name)
    except BaseException:
        file.close()
        raise
    return file


class _PathOpener:
    """Mixin for a compiled stream: it opens paths, and closes what it has opened."""

    __slots__ = ()
    _mode: str
    _stream: Any

    def __init__(self, file: Any, **options: Any) -> None:
        if self._mode == "wb" and _is_path(file):
            self._stream(io.BytesIO(), **options)  # refuses wrong options before the file is emptied
        file, ours = _opened(file, self._mode)
        try:
            super().__init__(file, owns=ours, **options)  # type: ignore[call-arg]
        except BaseException:
            if ours:
                file.close()
            raise


@_core.step_as_base
class Reader(_PathOpener, _core.Reader):
    __slots__ = ()
    __doc__ = _core.Reader.__doc__
    __signature__: Any = _core.PassedOptions(_core.Reader)
    _mode = "rb"


@_core.step_as_base
class PairReader(_PathOpener, _core.PairReader):
    __slots__ = ()
    __doc__ = _core.PairReader.__doc__
    __signature__: Any = _core.PassedOptions(_core.PairReader)
    _mode = "rb"


class Writer(_PathOpener, _core.Writer):
    __slots__ = ()
    __doc__ = _core.Writer.__doc__
    __signature__: Any = _core.PassedOptions(_core.Writer)
    _mode = "wb"
    _stream = _core.Writer


class PairWriter(_PathOpener, _core.PairWriter):
    __slots__ = ()
    __doc__ = _core.PairWriter.__doc__
    __signature__: Any = _core.PassedOptions(_core.PairWriter)
    _mode = "wb"
    _stream = _core.PairWriter


def dump(
    obj: Any, file: Any, *, type: Any = None, omit_none: bool = False, int_width: _IntWidth = "auto",
    pickle: PicklePolicy = "safe", default: _Default = None, sort_keys: bool = False, unicode_errors: str = "strict",
    dialect: Dialect = "hadoop", max_depth: int = 256,
) -> None:  # fmt: skip
    """Encode one object and write it to a file object, descriptor, path or socket.

    Options and encode errors as for `dumps`; errors of the file are raised as they are.

    >>> import io
    >>> file = io.BytesIO()
    >>> dump(True, file); file.getvalue().hex()
    '0201'
    """
    options: EncodeOptions = {
        "int_width": int_width,
        "pickle": pickle,
        "default": default,
        "sort_keys": sort_keys,
        "unicode_errors": unicode_errors,
        "dialect": dialect,
        "max_depth": max_depth,
    }
    if _is_path(file):
        data = _core.dumps(obj, type=type, omit_none=omit_none, **options)  # an error leaves the file as it is
        with Writer(file) as writer:
            writer.write_raw(data)
    else:
        with Writer(file, type=type, omit_none=omit_none, **options) as writer:
            writer.write(obj)


def load(
    file: Any, *, type: Any = None, strict: bool = True, pickle: PicklePolicy = "safe", exact: bool = False,
    map_pairs: bool = False, ext_hook: _ExtHook = None, unicode_errors: str = "strict", dialect: Dialect = "hadoop",
    max_depth: int = 256, max_bytes: int | None = None,
) -> Any:  # fmt: skip
    r"""Read one value from a file object, descriptor, path or socket, and nothing after it.

    Options and errors as for `loads`; at the end of the file TruncatedError, which is an EOFError.

    >>> import io
    >>> load(io.BytesIO(b"\x02\x01"))
    True
    """
    with Reader(
        file,
        type=type,
        strict=strict,
        read_ahead=False,
        pickle=pickle,
        exact=exact,
        map_pairs=map_pairs,
        ext_hook=ext_hook,
        unicode_errors=unicode_errors,
        dialect=dialect,
        max_depth=max_depth,
        max_bytes=max_bytes,
    ) as reader:
        for value in reader:
            return value
        return _core.loads(b"")


def dump_all(
    iterable: Iterable[Any], file: Any, *, type: Any = None, omit_none: bool = False, int_width: _IntWidth = "auto",
    pickle: PicklePolicy = "safe", default: _Default = None, sort_keys: bool = False, unicode_errors: str = "strict",
    dialect: Dialect = "hadoop", max_depth: int = 256,
) -> int:  # fmt: skip
    """Write every object of an iterable and return their number; options and errors as for `dump`.

    >>> import io
    >>> dump_all([1, 2], io.BytesIO())
    2
    """
    objects = iter(iterable)
    with Writer(
        file,
        type=type,
        omit_none=omit_none,
        int_width=int_width,
        pickle=pickle,
        default=default,
        sort_keys=sort_keys,
        unicode_errors=unicode_errors,
        dialect=dialect,
        max_depth=max_depth,
    ) as writer:
        return writer.writes(objects)


def iter_load(
    file: Any, *, type: Any = None, strict: bool = True, raw: bool = False, read_ahead: bool = True,
    buffer_size: int = 131072, pickle: PicklePolicy = "safe", exact: bool = False, map_pairs: bool = False,
    ext_hook: _ExtHook = None, unicode_errors: str = "strict", dialect: Dialect = "hadoop", max_depth: int = 256,
    max_bytes: int | None = None,
) -> Reader:  # fmt: skip
    r"""Iterate over the values of a file or of a bytes-like buffer; the same as `Reader`.

    >>> list(iter_load(b"\x02\x01\x02\x00"))
    [True, False]
    """
    return Reader(
        file, type=type, strict=strict, raw=raw, read_ahead=read_ahead, buffer_size=buffer_size, pickle=pickle,
        exact=exact, map_pairs=map_pairs, ext_hook=ext_hook, unicode_errors=unicode_errors, dialect=dialect,
        max_depth=max_depth, max_bytes=max_bytes,
    )  # fmt: skip
