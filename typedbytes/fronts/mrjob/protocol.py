"""Protocols: how a line is read as a key and a value, and how these are written as a line.

`read(line)` returns (key, value), `write(key, value)` a line; both of bytes, without its end. Those with Value in their
names have no key.
"""

from __future__ import annotations

import json
import pickle

from typedbytes.fronts.mrjob.util import safeeval

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

TAB = b"\t"


class _Pairs:
    """A key and a value, each encoded by `_dumps`; the key of adjacent lines is decoded once."""

    _read_key: bytes | None = None
    _key: Any = None

    def read(self, line: bytes) -> tuple[Any, Any]:
        """Return the key and the value of a line."""
        encoded, value = line.split(TAB, 1)
        if encoded != self._read_key:
            self._key, self._read_key = self._loads(encoded), encoded
        return self._key, self._loads(value)

    def write(self, key: Any, value: Any) -> bytes:
        """Return a line."""
        return self._dumps(key) + TAB + self._dumps(value)

    def _loads(self, data):
        raise NotImplementedError

    def _dumps(self, value):
        raise NotImplementedError


class _Values:
    """A value without a key, encoded as in the protocol `_pairs`."""

    _pairs: type[_Pairs]

    def __init__(self) -> None:
        self._loads, self._dumps = self._pairs()._loads, self._pairs()._dumps

    def read(self, line: bytes) -> tuple[None, Any]:
        """Return None and the value of a line."""
        return None, self._loads(line)

    def write(self, key: object, value: Any) -> bytes:
        """Return a line."""
        return self._dumps(value)


def _json_protocols(module_name: str, names: str, **options: Any) -> tuple[type[_Pairs], type[_Values]]:
    """Return the two protocols by a module that encodes JSON, which is imported when it is used."""

    class Pairs(_Pairs):
        """Encode a key and a value as JSON."""

        def __init__(self) -> None:
            self._module = __import__(module_name)

        def _loads(self, data):
            return self._module.loads(data.decode("utf-8"))

        def _dumps(self, value):
            return self._module.dumps(value, **options).encode("utf-8")

    class Values(_Values):
        """Encode a value as JSON."""

        _pairs = Pairs

    for kind, name in ((Pairs, f"{names}Protocol"), (Values, f"{names}ValueProtocol")):
        kind.__name__ = kind.__qualname__ = name
    return Pairs, Values


class StandardJSONProtocol(_Pairs):
    """Encode a key and a value as JSON, by Python's own module."""

    def _loads(self, data):
        return json.loads(data.decode("utf-8"))

    def _dumps(self, value):
        return json.dumps(value).encode("utf-8")


class StandardJSONValueProtocol(_Values):
    """Encode a value as JSON, by Python's own module."""

    _pairs: type[_Pairs] = StandardJSONProtocol


if TYPE_CHECKING:  # jobs derive classes from these, and checkers do not accept what a function returns as a base
    SimpleJSONProtocol = StandardJSONProtocol
    SimpleJSONValueProtocol = StandardJSONValueProtocol
    UltraJSONProtocol = StandardJSONProtocol
    UltraJSONValueProtocol = StandardJSONValueProtocol
    RapidJSONProtocol = StandardJSONProtocol
    RapidJSONValueProtocol = StandardJSONValueProtocol
else:
    SimpleJSONProtocol, SimpleJSONValueProtocol = _json_protocols("simplejson", "SimpleJSON")
    UltraJSONProtocol, UltraJSONValueProtocol = _json_protocols("ujson", "UltraJSON")
    RapidJSONProtocol, RapidJSONValueProtocol = _json_protocols("rapidjson", "RapidJSON")


def _fastest() -> tuple[type[_Pairs], type[_Values]]:
    """Return the protocols of the first of these modules that is installed, in mrjob's order."""
    from importlib.util import find_spec

    for name, protocols in (
        ("ujson", (UltraJSONProtocol, UltraJSONValueProtocol)),
        ("rapidjson", (RapidJSONProtocol, RapidJSONValueProtocol)),
        ("simplejson", (SimpleJSONProtocol, SimpleJSONValueProtocol)),
    ):
        if find_spec(name) is not None:
            return protocols
    return StandardJSONProtocol, StandardJSONValueProtocol


if TYPE_CHECKING:
    JSONProtocol = StandardJSONProtocol
    JSONValueProtocol = StandardJSONValueProtocol
else:
    JSONProtocol, JSONValueProtocol = _fastest()


class PickleProtocol(_Pairs):
    """Encode a key and a value as pickles, in which special characters are escaped."""

    def _loads(self, data):
        return pickle.loads(data.decode("unicode_escape").encode("latin-1"))

    def _dumps(self, value):
        return pickle.dumps(value).decode("latin-1").encode("unicode_escape")


class PickleValueProtocol(_Values):
    """Encode a value as a pickle, in which special characters are escaped."""

    _pairs = PickleProtocol


class ReprProtocol(_Pairs):
    """Encode a key and a value by their repr."""

    def _loads(self, data):
        return safeeval(data)

    def _dumps(self, value):
        return repr(value).encode("utf-8")


class ReprValueProtocol(_Values):
    """Encode a value by its repr."""

    _pairs = ReprProtocol


class BytesProtocol:
    """Bytes: a key, a TAB and a value; None is left out, with the TAB."""

    def read(self, line: bytes) -> tuple[bytes, bytes | None]:
        """Return the key and the value of a line."""
        key, tab, value = line.partition(TAB)
        return key, value if tab else None

    def write(self, key: bytes | None, value: bytes | None) -> bytes:
        """Return a line."""
        return TAB.join([each for each in (key, value) if each is not None])


class BytesValueProtocol:
    """Bytes: a value."""

    def read(self, line: bytes) -> tuple[None, bytes]:
        """Return None and the line."""
        return None, line

    def write(self, key: object, value: bytes) -> bytes:
        """Return the value."""
        return value


def _text(line):
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


class TextProtocol:
    """Text: a key, a TAB and a value; None is left out, with the TAB. What is not UTF-8 is read as Latin-1."""

    def read(self, line: bytes) -> tuple[str, str | None]:
        """Return the key and the value of a line."""
        key, tab, value = _text(line).partition("\t")
        return key, value if tab else None

    def write(self, key: str | None, value: str | None) -> bytes:
        """Return a line."""
        return TAB.join([each.encode("utf-8") for each in (key, value) if each is not None])


class TextValueProtocol:
    """Text: a value. What is not UTF-8 is read as Latin-1."""

    def read(self, line: bytes) -> tuple[None, str]:
        """Return None and the line."""
        return None, _text(line)

    def write(self, key: object, value: str) -> bytes:
        """Return the value."""
        return value.encode("utf-8")


RawProtocol = TextProtocol
RawValueProtocol = TextValueProtocol
