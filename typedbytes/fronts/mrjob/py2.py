"""What scripts for Python 2 and 3 take from here."""

from __future__ import annotations

from io import StringIO
from urllib.parse import ParseResult, urljoin, urlparse
from urllib.request import pathname2url, urlopen

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "PY2", "ParseResult", "StringIO", "integer_types", "long", "pathname2url", "string_types", "to_unicode", "unicode",
    "urljoin", "urlopen", "urlparse", "xrange",
]  # fmt: skip

PY2 = False
integer_types: tuple[type[int]] = (int,)
string_types: tuple[type[str], type[bytes]] = (str, bytes)
long = int
unicode = str
xrange = range


def to_unicode(s: Any) -> str:
    """Return text; bytes that are not UTF-8 are read as Latin-1."""
    if not isinstance(s, bytes):
        return str(s)
    try:
        return s.decode("utf-8")
    except UnicodeDecodeError:
        return s.decode("latin-1")
