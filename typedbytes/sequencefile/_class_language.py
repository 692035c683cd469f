"""The language that describes classes, in a line of text.

Here: text to trees, which the compiled ClassProgram runs. Not here: bytes, and where texts come from. Invariant:
nothing in a description is executed, and its size is bounded.

    id: long, name: text, tags: list<text>, at: optional<vlong>
    double, double
    LongWritable
"""

from __future__ import annotations

import re

__all__ = ["parse"]

_MAX_TOKENS = 10_000  # of a description
_MAX_LEVELS = 40
_MAX_NITEMS = 1 << 20
_TOKENS = re.compile(r"\s*(?:#[^\n]*)?\s*([\w$.]+|-?[0-9]+|[<>{}\[\](),:=?])", re.ASCII)
_NAME = re.compile(r"(?![0-9])[\w$.]+", re.ASCII)
_FIELD_NAME = re.compile(r"(?![0-9])[\w$]+", re.ASCII)

_SCALARS = frozenset({
    "boolean", "byte", "short", "int", "long", "float", "double", "char", "vint", "vlong", "null", "text", "string",
    "utf", "bytes", "rest",
})  # fmt: skip
#: Types of Java's and Python's fields that are none of a description, and what is.
_WORDS_OF_JAVA = {
    "String": "text, utf or string, by the method that writes it", "str": "text?", "Integer": "int?",
    "Character": "char?", "bool": "boolean?",
}  # fmt: skip
_COUNTS = ("byte", "short", "int", "vint", "vlong")
_IO = "org.apache.hadoop.io."
#: Hadoop's own classes whose bytes are those of a type.
_SIMPLE = {
    "BooleanWritable": "boolean", "ByteWritable": "byte", "ShortWritable": "short", "IntWritable": "int",
    "LongWritable": "long", "FloatWritable": "float", "DoubleWritable": "double", "VIntWritable": "vint",
    "VLongWritable": "vlong", "NullWritable": "null", "Text": "text", "UTF8": "utf", "BytesWritable": "bytes",
    "MD5Hash": "bytes[16]",
}  # fmt: skip


def _node(kind, shown, *, count="byte", items=(), names=None, value=None):
    """Return a tree as ClassProgram takes it."""
    return kind, shown, count, tuple(items), names, value


def parse(name, text, classes):
    """Return the tree of the class that a text describes; ValueError for one that is wrong.

    classes: those that may be named in it, by `in`.
    """
    return _Parser(name, text, classes).parsed()


class _Parser:
    """Parses the description of one class."""

    def __init__(self, name, text, classes):
        self._name = name
        self._text = text
        self._classes = classes
        self._tokens = self._split()
        self._index = 0
        self._level = 0

    def _split(self):
        tokens: list[str] = []
        offset = 0
        text = self._text.rstrip()
        while offset < len(text):
            match = _TOKENS.match(text, offset)
            if match is None or len(tokens) == _MAX_TOKENS:
                raise self._error(f"unexpected {text[offset : offset + 20].strip()!r}" if match is None else "too long")
            tokens.append(match.group(1))
            offset = match.end()
        return [*tokens, ""]

    def _error(self, message):
        return ValueError(f"class {self._name}: {message} in its description {self._text[:200].strip()!r}")

    @property
    def _next(self):
        return self._tokens[self._index]

    def _take(self):
        found = self._next
        self._index += found != ""  # the end stays
        return found

    def _takes(self, token):
        """Return whether this token is next; it is taken then."""
        is_next = self._next == token
        self._index += is_next
        return is_next

    def _expect(self, token):
        found = self._next
        if found != token:
            raise self._error(f"expected {token!r}, found {found!r}" if found else f"expected {token!r} at the end")
        self._index += 1

    def parsed(self):
        """Return the tree."""
        node = self._fields("", self._name)
        self._expect("")
        return node

    def _fields(self, end, shown):
        """Parse fields up to a token: a record, or for a single one without a name its type."""
        fields, names = [], []
        while self._next != end:
            name = None
            if self._tokens[self._index + 1 : self._index + 2] == [":"]:
                name = self._take()
                if not _FIELD_NAME.fullmatch(name):
                    raise self._error(f"expected a name, found {name!r}")
                self._expect(":")
            fields.append(self._field())
            names.append(name)
            if self._next != end:
                self._expect(",")
        if len(fields) == 1 and names[0] is None and fields[0][0] != "constant":
            return fields[0]
        valued = [name for name, field in zip(names, fields) if field[0] != "constant"]
        if None in valued and any(valued):
            raise self._error("expected names for all fields, or for none")
        if len(set(valued)) < len(valued) and None not in valued:
            raise self._error("expected different names of fields")
        named = None if None in valued else tuple(name or "" for name in names)
        return _node("record", shown.rpartition(".")[2], items=fields, names=named)

    def _field(self):
        """Parse a type, and the value that it always has, if one follows."""
        first = self._index
        node = self._type()
        if not self._takes("="):
            return node
        number = self._take()
        kind = node[0]
        if kind not in _COUNTS or not re.fullmatch("-?[0-9]+", number):
            raise self._error(f"expected an integer type and its number, found {kind} = {number}")
        from typedbytes.sequencefile._native import encode

        name = next(each for each, same in _SIMPLE.items() if same == kind)
        try:
            data = encode(_IO + name, int(number))
        except ValueError as error:
            raise self._error(str(error)) from None
        return _node("constant", " ".join(self._tokens[first : self._index]), value=data)

    def _type(self):
        self._level += 1
        if self._level > _MAX_LEVELS:
            raise self._error(f"more than {_MAX_LEVELS} levels")
        node = self._plain_type()
        while True:
            if self._takes("?"):
                node = _node("optional", f"an optional {_bare(node)}", items=[node])
            elif self._takes("["):
                number = self._number(_MAX_NITEMS)
                self._expect("]")
                node = _node("array", f"an array of {number}", items=[node], value=number)
            else:
                break
        self._level -= 1
        return node

    def _number(self, most):
        text = self._take()
        if not (text.isdigit() and len(text) < 10 and int(text) <= most):
            raise self._error(f"expected a number up to {most}, found {text!r}")
        return int(text)

    def _plain_type(self):
        word = self._take()
        if word == "{":
            node = self._fields("}", "a record")
            self._expect("}")
            return node if node[0] == "record" else _node("record", "a record", items=[node])
        if not _NAME.fullmatch(word):
            raise self._error(f"expected a type, found {word!r}" if word else "expected a type at the end")
        if self._next == "<":
            return self._generic(word)
        if word == "bytes" and self._takes("["):
            number = self._number(_MAX_NITEMS)
            self._expect("]")
            return _node("fixed", f"bytes[{number}]", value=number)
        if word == "strings":
            return _node(word, "strings", count="int", items=[self._scalar("string")])
        if word in _SCALARS:
            return self._scalar(word)
        return self._class(word)

    @staticmethod
    def _scalar(word):
        count = {"text": "vint", "string": "int", "bytes": "int"}.get(word, "byte")
        return _node(word, _shown(word), count=count)

    def _class(self, word):
        """Return the node of another class by its full name, or by the short one of Hadoop's own."""
        if word in self._classes:
            return _node("class", word, value=word)
        short = word[len(_IO) :] if word.startswith(_IO) else word
        if short in _SIMPLE:
            return _Parser(word, _SIMPLE[short], self._classes).parsed()
        from typedbytes.sequencefile._class_readers import READERS

        if word in READERS:
            return READERS[word](self._classes)
        known = ", ".join(sorted({*_SCALARS, "strings", *_GENERIC}))
        near = _WORDS_OF_JAVA.get(word, f"{word.lower()}?" if word.lower() in _SCALARS else "")
        raise self._error(f"unknown type {word!r}{near and f' ({near})'}: {known}, or a described class;")

    def _generic(self, word):
        if word not in _GENERIC:
            raise self._error(f"unknown type {word!r}<...>; known: {', '.join(sorted(_GENERIC))};")
        self._expect("<")
        node = _GENERIC[word](self, word)
        self._expect(">")
        return node

    def _count(self, default):
        """Parse how a count is written, after a comma."""
        if not self._takes(","):
            return default
        return self._count_name()

    def _count_name(self):
        count = self._take()
        if count not in _COUNTS:
            raise self._error(f"expected one of {', '.join(_COUNTS)}, found {count!r}")
        return count

    def _counted_scalar(self, word):
        return _node(word, _shown(word), count=self._count_name())

    def _list(self, word):
        item = self._type()
        count = "int" if word == "ArrayWritable" else self._count("int")
        return _node("list", "a list", count=count, items=[item])

    def _table(self, word):
        return _node("table", "a TwoDArrayWritable", count="int", items=[self._type()])

    def _map(self, word):
        key = self._type()
        self._expect(",")
        value = self._type()
        return _node("map", "a map", count=self._count("int"), items=[key, value])

    def _optional(self, word):
        item = self._type()
        return _node("optional", f"an optional {_bare(item)}", items=[item])

    def _enum(self, word):
        count, names = self._count_name(), []
        while self._takes(","):
            names.append(self._take())
        if not names or len(set(names)) < len(names) or not all(map(_FIELD_NAME.fullmatch, names)):
            raise self._error("expected different names in an enum")
        return _node("enum", f"an enum of {len(names)} names", count=count, names=tuple(names))

    def _choice(self, word):
        items = [self._type()]
        while self._takes(","):
            items.append(self._type())
        return _node("choice", f"a choice of {len(items)} classes", items=items)

    def _within(self, word):
        item = self._type()
        return _node("within", f"counted {_bare(item)}", count=self._count("int"), items=[item])

    def _compressed(self, word):
        item = self._type()
        return _node("compressed", "a CompressedWritable", count="int", items=[item])

    def _writable(self, word):
        """Parse how the name of a class is written, which one of it follows."""
        form = self._take()
        if form not in ("text", "utf"):
            raise self._error(f"expected text or utf, found {form!r}")
        from typedbytes.sequencefile._class_readers import named_writable

        return named_writable(form, self._classes)


_GENERIC = {
    "text": _Parser._counted_scalar,
    "bytes": _Parser._counted_scalar,
    "list": _Parser._list,
    "ArrayWritable": _Parser._list,
    "TwoDArrayWritable": _Parser._table,
    "map": _Parser._map,
    "optional": _Parser._optional,
    "enum": _Parser._enum,
    "GenericWritable": _Parser._choice,
    "counted": _Parser._within,
    "CompressedWritable": _Parser._compressed,
    "writable": _Parser._writable,
}


def _shown(word):
    """Return a type with its article."""
    return word if word in ("bytes", "null", "text", "rest") else f"{'an' if word[0] in 'iu' else 'a'} {word}"


def _bare(node):
    """Return what a type is called after an adjective."""
    return node[1].removeprefix("a ").removeprefix("an ")
