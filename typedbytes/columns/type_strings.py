"""The types of columns as text, and as the tuples ("descriptions") that the compiled code uses.

Here: conversion between ``"vector<string, double>"`` and its description, both ways; the named parts of a type. Not
here: values. Invariant: every description has exactly one text.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    ColumnType = tuple[Any, ...]

__all__ = ["NUMBERS", "codes", "format_text", "format_type", "parse", "parts", "row_types"]

_FIXED = {"byte": 1, "bool": 2, "int": 3, "long": 4, "float": 5, "double": 6, "short": 11}
_VARIABLE = {"bytes": 0, "string": 7}
_NAMES = {code: name for names in (_FIXED, _VARIABLE) for name, code in names.items()}
#: What Hive, and SQL, call types: a text with such a word is refused with the word that it has to have.
_ELSEWHERE = {
    "tinyint": "byte", "smallint": "short", "integer": "int", "bigint": "long", "boolean": "bool", "binary": "bytes",
    "varchar": "string", "char": "string", "timestamp": "timestamp<us>", "decimal": "decimal<precision, scale>",
    "numeric": "decimal<precision, scale>", "array": "list<...>", "uniontype": "string",
    **{name: name for name in (*_FIXED, *_VARIABLE, "date", "map", "struct")},  # in capitals
}  # fmt: skip
_VECTOR, _LIST = 8, 9
_MAX_ITEMS = 2**31 - 1
_MAX_LEVELS = 30
_TOKENS = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*|"(?:[^"\\]|\\.)*"|-?[0-9]+|\.\.\.|[<>,*:()])')
#: The kinds of which an array over the memory of a batch has the numbers.
NUMBERS: tuple[str, ...] = ("fixed", "array", "date", "time", "timestamp", "duration")
_UNITS = ("s", "ms", "us")  # of times
_MAX_DIGITS = 76  # of Arrow's decimals
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse(text: str) -> ColumnType:
    """Return the description of a type.

    Raises ValueError for text that is not a type.

    >>> parse("map<string, long>")
    ('map', ('variable', 7), ('fixed', 4))
    """
    tokens = _tokens(text)
    column_type = _type(tokens, text, 0)
    _expect(tokens, None, text)
    return column_type


def row_types(text: str) -> dict[str, str]:
    """Return the types, as text, of the columns that a text names.

    Raises ValueError that names the column.

    >>> row_types("id: long, name: string")
    {'id': 'long', 'name': 'string'}
    """
    tokens, found = _tokens(f"{text}>", text), {}
    while True:
        token = tokens.pop()
        try:
            name = _field_name(token, text)
        except ValueError:
            raise ValueError(f"expected the name of a column, found {'the end' if token == '>' else token}") from None
        if name in found:
            raise ValueError(f"two columns {name!r}")
        try:
            if tokens.pop() != ":":
                raise ValueError("expected a colon after the name, and then a type")
            found[name] = format_type(_type(tokens, text, 1))
            end = tokens.pop()
            if end not in (",", ">") or (end == ">" and tokens != [None]):
                raise ValueError(f"expected a comma, or the end, after {found[name]}")
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}") from None
        if end == ">":
            return found


def format_type(column_type: ColumnType) -> str:
    """Return the text of a description.

    >>> format_type(("array", 6, 2))
    'vector<double * 2>'
    """
    name, *rest = column_type
    if not rest:
        return name
    if name in ("time", "timestamp", "duration", "decimal", "enum"):
        return f"{name}<{', '.join(_format_settings(name, rest))}>"
    if name in ("fixed", "variable"):
        return _NAMES.get(rest[0]) or f"ext<{rest[0]}>"
    if name == "array":
        return f"vector<{_NAMES[rest[0]]} * {rest[1]}>"
    if name == "tuple":
        return f"{'tuple' if _array_of(rest[0]) else 'vector'}<{', '.join(map(format_type, rest[0]))}>"
    if name == "list":
        return f"list<{format_type(rest[1])}>" if rest[0] == _LIST else f"vector<{format_type(rest[1])}...>"
    if name in ("struct", "row"):
        return f"{name}<{', '.join(f'{_format_name(field)}: {format_type(part)}' for field, part in rest[0])}>"
    return f"map<{format_type(rest[0])}, {format_type(rest[1])}>"


def _format_name(field):
    return field if _PLAIN_NAME.fullmatch(field) else format_text(field)


def format_text(text: str) -> str:
    """Return a text between quotation marks, as names of parts and of enums have it."""
    import json

    return json.dumps(text, ensure_ascii=False)


def _format_settings(name, settings):
    """Return the texts between the brackets of a type that has no types within."""
    if name == "enum":
        return [format_text(value) if isinstance(value, str) else str(value) for value in settings[0]]
    if name == "timestamp":
        return [settings[0], "UTC"] if settings[1] else settings[:1]
    return map(str, settings)


def codes(column_type: ColumnType) -> set[int]:
    """Return the type codes of the scalars in a type.

    >>> sorted(codes(parse("map<string, struct<short: long>>")))
    [4, 7]
    """
    if column_type[0] in ("fixed", "variable", "array"):
        return {column_type[1]}
    return set().union(*map(codes, parts(column_type).values()))


def parts(column_type: ColumnType) -> dict[str, ColumnType]:
    """Return the columns within a column of this type, by name, as Arrow names them.

    >>> parts(parse("list<int>"))
    {'item': ('fixed', 3)}
    """
    name, *rest = column_type
    if name == "tuple":
        return {str(number): part for number, part in enumerate(rest[0])}
    if name == "list":
        return {"item": rest[1]}
    if name == "map":
        return {"key": rest[0], "value": rest[1]}
    return dict(rest[0]) if name in ("struct", "row") else {}


def _tokens(text, shown=None):
    """Return the tokens from the last to the first, after a None; shown: the text in messages."""
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            raise _not_a_type(shown or text)
        found.append(match.group(1))
        position = match.end()
    return [None, *found[::-1]]


def _not_a_type(text, word=None):
    """Return the error for a text that is not a type, because of a word in it where that is known."""
    if word is not None and word.lower() in _ELSEWHERE:
        return ValueError(f"{word!r} is not a column type: it is {_ELSEWHERE[word.lower()]} here")
    text = text if word is None else word
    names = ", ".join([*_FIXED, *_VARIABLE])
    return ValueError(
        f"{text!r} is not a column type: {names}, date, time<us>, timestamp<us>, timestamp<us, UTC>, duration<us>, "
        'decimal<18, 2>, uuid, enum<"a", ...>, raw, vector<...>, tuple<...>, row<name: ...>, list<...>, map<..., ...>, '
        "struct<name: ...> or ext<N>; ext<100> holds pickles"
    )


def _expect(tokens, token, text):
    if tokens.pop() != token:
        raise _not_a_type(text)


def _type(tokens, text, level):
    name = tokens.pop()
    if level > _MAX_LEVELS:
        raise ValueError(f"columns nest at most {_MAX_LEVELS} levels")
    if name in _FIXED:
        return "fixed", _FIXED[name]
    if name in _VARIABLE:
        return "variable", _VARIABLE[name]
    if name in ("raw", "unknown", "date", "uuid"):
        return (name,)
    if name in ("time", "timestamp", "duration", "decimal", "enum"):
        if tokens.pop() != "<":
            raise _not_a_type(text, name)
        return name, *_settings(name, tokens, text)
    if name not in ("row", "vector", "tuple", "list", "map", "struct", "ext"):
        raise _not_a_type(text, name)
    _expect(tokens, "<", text)
    if name == "vector":
        return _vector(tokens, text, level)
    if name == "tuple":  # items of one fixed type, but a column each, which may have nulls
        return "tuple", _items(_type(tokens, text, level + 1), tokens, text, level)
    if name in ("struct", "row"):
        return name, _fields(tokens, text, level)
    column_type: tuple
    if name == "ext":
        column_type = "variable", _number(tokens, text, 50, 200)
    elif name == "list":
        column_type = "list", _LIST, _type(tokens, text, level + 1)
    else:
        key = _type(tokens, text, level + 1)
        _expect(tokens, ",", text)
        column_type = "map", key, _type(tokens, text, level + 1)
    _expect(tokens, ">", text)
    return column_type


def _number(tokens, text, min_number, max_number):
    digits = tokens.pop()
    if digits is None or not digits.isdigit() or not min_number <= int(digits) <= max_number:
        raise ValueError(f"{text!r} is not a column type: expected a number from {min_number} to {max_number}")
    return int(digits)


def _settings(name, tokens, text):
    """Return what is between the brackets of a type that has no types within."""
    words = [tokens.pop()]
    while tokens[-1] == ",":
        tokens.pop()
        words.append(tokens.pop())
    _expect(tokens, ">", text)
    if None in words:
        raise _not_a_type(text)
    if name == "enum":
        values = tuple(int(word) if word.lstrip("-").isdigit() else _field_name(word, text) for word in words)
        if (
            len({*map(type, values)}) > 1
            or len({*values}) < len(values)
            or any(type(n) is int and not -(2**63) <= n < 2**63 for n in values)
        ):
            raise ValueError(f"{text!r} is not a column type: an enum has different texts or different LONGs")
        return (values,)
    if name == "decimal":
        if (
            len(words) != 2
            or not all(word.isdigit() for word in words)
            or not 1 <= int(words[0]) <= _MAX_DIGITS
            or int(words[1]) > int(words[0])
        ):
            raise ValueError(
                f"{text!r} is not a column type: a decimal has up to {_MAX_DIGITS} digits, and no more decimals"
            )
        return tuple(map(int, words))
    has_zone = name == "timestamp" and words[1:] == ["UTC"]
    if words[0] not in _UNITS or len(words) != 1 + has_zone:
        raise ValueError(f"{text!r} is not a column type: the unit of a {name} is {', '.join(_UNITS)}")
    return (words[0], has_zone) if name == "timestamp" else (words[0],)


def _vector(tokens, text, level):
    """Return the type of a VECTOR: an array, if its items have one fixed type."""
    if tokens[-1] == ">":
        tokens.pop()
        return "tuple", ()
    item = _type(tokens, text, level + 1)
    column_type: tuple
    if tokens[-1] == "*" and item[0] == "fixed":
        tokens.pop()
        column_type = "array", item[1], _number(tokens, text, 1, _MAX_ITEMS)
    elif tokens[-1] == "...":
        tokens.pop()
        column_type = "list", _VECTOR, item
    else:
        items = _items(item, tokens, text, level)
        return _array_of(items) or ("tuple", items)
    _expect(tokens, ">", text)
    return column_type


def _items(first, tokens, text, level):
    """Return the types of a VECTOR's items, to the closing bracket."""
    items = [first]
    while (token := tokens.pop()) != ">":
        if token != ",":
            raise _not_a_type(text)
        items.append(_type(tokens, text, level + 1))
    return tuple(items)


def _fields(tokens, text, level):
    fields: dict[str, tuple] = {}
    while True:
        name = _field_name(tokens.pop(), text)
        if name in fields:
            raise ValueError(f"{text!r} is not a column type: it has two fields {name!r}")
        _expect(tokens, ":", text)
        fields[name] = _type(tokens, text, level + 1)
        token = tokens.pop()
        if token == ">":
            return tuple(fields.items())
        if token != ",":
            raise _not_a_type(text)


def _field_name(token, text):
    """Return the name that a token is: a plain one, or any as JSON writes it."""
    if token is None or not (_PLAIN_NAME.fullmatch(token) or token.startswith('"')):
        raise _not_a_type(text)
    if _PLAIN_NAME.fullmatch(token):
        return token
    import json

    try:
        name = json.loads(token)
        name.encode("utf-8")
    except ValueError:
        raise _not_a_type(text) from None
    if "\0" in name:
        raise ValueError(f"{text!r} is not a column type: Arrow has no NUL in the name of a field")
    return name


def _array_of(items):
    if items and items[0][0] == "fixed" and all(item == items[0] for item in items):
        return "array", items[0][1], len(items)
    return None
