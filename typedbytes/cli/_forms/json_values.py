"""The values of JSON one after the other: one a line, indented on several lines, or several on a line.

Here: where a value ends, and what is not JSON. Not here: what a value means. Invariant: no more is held than the
longest value, or line, takes, a few times over, and each character is decoded a few times at most.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import reprlib

__all__ = ["JsonFormError", "json_values", "load_line"]

_TOKEN = 16  # characters: a number, an escape or a name that a piece cuts is no error yet
_NOT_WHITE = re.compile(r"[^ \t\n\r]")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def _skip_white(text, start):
    found = _NOT_WHITE.search(text, start)
    return found.start() if found else len(text)


class JsonFormError(ValueError):
    """Say why JSON is not the form of a value; line: that of the text where this was found, from 0, or None."""

    line: int | None = None
    location = None


def _object(members):
    tree = dict(members)
    if len(tree) < len(members):
        raise JsonFormError('a name occurs twice in an object; {"map": [[key, value], ...]} can hold a key twice')
    return tree


def _constant(name):
    raise JsonFormError(f'{name} is not JSON; write {{"double": "nan:7ff8000000000000"}}, "inf" or "-inf"')


def _plain_constant(name):
    raise JsonFormError(f"{name} is not JSON")


def _finite(text):
    number = float(text)
    if math.isinf(number):
        raise JsonFormError(f"expected a number in the range of 64 bits, not {reprlib.repr(text)}")
    return number


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite, parse_constant=_constant)
# of equal names the last counts, as for Python
_plain_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_plain_constant)


def load_line(line):
    """Return the tree that one line of JSON holds, given as bytes of UTF-8."""
    try:
        # with its end, what is missing would be in the next line
        return _decoder.decode(line.decode("utf-8").rstrip("\r\n"))
    except (ValueError, RecursionError) as error:
        raise _form_error(error, "; the line ends inside a value: write one value a line") from None


def _form_error(error, hint=""):
    """Return a JsonFormError for an error of decoding; the hint is for text that ends inside a value."""
    if isinstance(error, JsonFormError):
        return error
    if isinstance(error, RecursionError):
        return JsonFormError("nested too deeply")
    if not isinstance(error, json.JSONDecodeError):
        return JsonFormError(f"not JSON: {error}")
    found = JsonFormError(f"not JSON at column {error.colno}: {error.msg}{hint if _is_cut(error) else ''}")
    found.line = error.lineno - 1
    return found


def _is_cut(error):
    return error.doc and (error.pos == len(error.doc) or error.msg.startswith("Unterminated string"))


def json_values(lines, plain=False, max_nbytes=None):
    """Yield (location, tree, text, start, end) of each value in (location, line)s; text[start:end] is the value.

    Lines and text are bytes of UTF-8. A line may come in pieces, of which only the last ends with a newline. A
    JsonFormError has the location of what is wrong.
    """
    pending, decode = _Pending(plain, max_nbytes), (_plain_decoder if plain else _decoder).decode
    for location, line in lines:
        if pending.is_empty and line.endswith(b"\n"):  # most often one value, in half the time
            try:
                text = line.decode("utf-8")
                tree = decode(text)
            except (ValueError, RecursionError):
                pass
            else:
                yield location, tree, text, 0, len(text)
                continue
        yield from pending.add(location, line)
    yield from pending.finish()


class _Pending:
    """The text of values that have not ended."""

    def __init__(self, plain, max_nbytes):
        self._raw_decode = (_plain_decoder if plain else _decoder).raw_decode
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._max_nbytes = math.inf if max_nbytes is None else max_nbytes
        self._parts = []  # of the text
        self._nchars = 0
        self._locations = []  # of the lines of the text
        self._is_line_end = True
        self._depth = 0.0  # of the end of the text, infinite where that is not known
        self._due = 0  # characters; to decode fewer again would take a time that grows with their square

    @property
    def is_empty(self):
        """Whether the next line starts with a value, or with nothing."""
        return not self._parts and self._is_line_end

    def add(self, location, line):
        """Yield the values that end in this line or piece of one."""
        if not self._parts:
            if line.isspace():
                return
            self._locations, self._depth, self._due = [location], 0, 0
        elif self._is_line_end:
            self._locations.append(location)
        self._is_line_end = line.endswith(b"\n")
        text = self._as_text(line)
        if not self._is_line_end:
            self._depth = math.inf
        elif self._parts:
            self._depth += _depth(text)
        self._parts.append(text)
        self._nchars += len(text)
        if self._depth <= 0 or self._nchars >= self._due or self._nchars > self._max_nbytes:
            yield from self._values("".join(self._parts))

    def finish(self):
        """Yield the values of the last line."""
        if self._locations:
            text = "".join((*self._parts, self._as_text(b"", True)))
            yield from self._values(text.rstrip("\r\n"), is_all=True)  # what is missing would be in the next line

    def _as_text(self, line, is_all=False):
        try:
            return self._decode(line, is_all)
        except UnicodeDecodeError as error:
            raise self._located(_form_error(error), -1) from None

    def _values(self, text, is_all=False):
        """Yield the values at the front of the text, and leave the rest."""
        start, nlines = _skip_white(text, 0), 0
        is_piece = not is_all and not text.endswith("\n")
        while start < len(text):
            try:
                tree, end = self._raw_decode(text, start)
            except (ValueError, RecursionError) as error:
                if not is_all and _goes_on(error, is_piece):
                    self._check_length(len(text) - start, nlines)
                    break
                raise self._located(self._form_error(error, start), nlines) from None
            self._check_length(end - start, nlines)
            if is_piece and len(text) - end < _TOKEN:
                break
            following = _skip_white(text, end)
            if following == end < len(text) and not (text[end - 1] in "]}" and text[end] in "[{"):
                raise self._located(_form_error(json.JSONDecodeError("Extra data", text, end)), nlines)
            yield self._locations[nlines], tree, text, start, end
            nlines += text.count("\n", start, following)
            start = following
        rest = text[start:]
        self._parts, self._nchars, self._due = [rest] if rest else [], len(rest), 2 * len(rest)
        del self._locations[:nlines]
        if self._depth < math.inf:
            self._depth = _depth(rest)

    def _check_length(self, nchars, nlines):
        if nchars > self._max_nbytes:
            raise self._located(JsonFormError(f"longer than {self._max_nbytes} bytes"), nlines)

    def _form_error(self, error, start):
        hint = "; the input ends inside a value"
        if isinstance(error, json.JSONDecodeError) and error.doc[error.pos : error.pos + 1] in ("\r", "\n"):
            try:
                self._raw_decode(error.doc[: error.pos], start)
            except ValueError as cut:  # its message is that of a string without an end
                error, hint = cut, "; a string ends in the line where it starts"
        return _form_error(error, hint)

    def _located(self, error, nlines):
        """Return an error with its location: in this line of the text, or in the one that a decoder has found."""
        nlines = nlines if error.line is None else error.line
        error.location = self._locations[-1 if nlines >= len(self._locations) else nlines]
        return error


def _goes_on(error, is_piece):
    """Return whether more text may make what is an error now a value."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(error.doc) - (_TOKEN if is_piece else 0) or error.msg.startswith("Unterminated string")


def _depth(text):
    """Return how many more arrays and objects a line opens than it closes."""
    bare = _STRING.sub("", text)
    return bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")
