"""What Input and Output share: byte strings, handlers, options and the use in a with statement."""

from __future__ import annotations

from _thread import RLock  # threading itself is not imported: start-up time

from typedbytes._base import codes
from typedbytes._core import ParametersOf

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from typing_extensions import Self

    from typedbytes._base.options import PicklePolicy

MAX_DEPTH = 256  # of containers in containers
MappingProxyType = type(type.__dict__)  # of types, without the time that its import takes


class Bytes(bytes):
    """Hold the bytes of a BYTES value, to distinguish them from other strings.

    >>> Bytes(b"raw")
    Bytes(b'raw')
    """

    __module__ = "typedbytes.legacy"
    __slots__ = ()
    __signature__: Any = ParametersOf(lambda source=b"", encoding="utf-8", errors="strict": None)

    def __repr__(self) -> str:
        return f"Bytes({bytes.__repr__(self)})"


def read_only(handlers: dict) -> Mapping:
    """Return a view of a table of handlers through which it cannot be changed."""
    return MappingProxyType(handlers)


def checked_code(typecode):
    """Return a type code as an int; ValueError for one that no value has."""
    if not 0 <= typecode < codes.MARKER:
        raise ValueError(f"a type code of a value is 0..254, not {typecode}")
    return int(typecode)


def by_one_thread(method):
    """Have a method that reads a record in several steps refuse other threads, which would get parts of it."""

    def guarded(self):
        if not self._reading.acquire(blocking=False):
            raise RuntimeError(f"this {type(self).__name__} is in use by another thread")
        try:
            return method(self)
        finally:
            self._reading.release()

    return guarded


class _Legacy:
    """Keep what Input and Output have in common: handlers, options, and the use in a with statement."""

    __module__ = "typedbytes.legacy"

    file: Any  # set by each subclass, as the next two
    _connect: Any
    register: Any

    def __init__(self, file: Any, unicode_errors: str, pickle: PicklePolicy) -> None:
        self._handlers: dict[Any, Callable[..., Any]] = {}
        self._depth = 0
        self._reading = RLock()  # a handler may read within a record
        self._options: dict[str, Any] = {"unicode_errors": unicode_errors, "pickle": pickle}
        self._connect(file)

    @property
    def unicode_errors(self) -> str:
        """The error handler for STRING; a new one is used from the next value on."""
        return self._options["unicode_errors"]

    @unicode_errors.setter
    def unicode_errors(self, name: str) -> None:
        self._options["unicode_errors"] = name
        self._connect(self.file)

    def _register_all(self, handlers, own):
        """Register what the table of a subclass holds in addition to our own."""
        for kind, handler in handlers.items():
            if handler is not own.get(kind):
                self.register(kind, handler)

    def close(self) -> None:
        """Close the file; raises what the file raises.

        >>> Input(io.BytesIO()).close()
        """
        self.file.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed, according to its own `closed`.

        >>> Input(io.BytesIO()).closed
        False
        """
        return bool(getattr(self.file, "closed", False))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        self.close()
