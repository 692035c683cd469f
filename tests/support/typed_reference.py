"""Decoding and encoding by type, slow and obvious: the other implementation, which tests compare the compiled one with.

Here: what an annotation does to a value, written from the table in docs/records.md with typing's own means, never from
`typedbytes._records`. Not here: exotic generics, how instances are made fast; an instance is made by its constructor.
Invariant: bytes are walked once from left to right, and the first thing that is wrong is the error.
"""

import collections.abc as abc
import dataclasses
import datetime
import decimal
import enum
import functools
import re
import sys
import types
import typing
import uuid

import numpy

from support import reference
from support.reference import (
    BOOL,
    BYTE,
    BYTES,
    BYTESTRING,
    DOUBLE,
    FLOAT,
    INT,
    LIST,
    LONG,
    MAP,
    MARKER,
    NDARRAY,
    NULL,
    PICKLE,
    SHORT,
    STRING,
    VECTOR,
)  # fmt: skip
from typedbytes import records
from typedbytes._types import Byte, Float, Int, Long
from typedbytes.errors import DecodeError, DecodeTypeError, EncodeTypeError, EncodeValueError, FormatError, LimitError

UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
FORMS = {
    **dict.fromkeys((BYTE, INT, LONG, SHORT), "integer"), FLOAT: "double", DOUBLE: "double", BOOL: "bool",
    STRING: "string", NULL: "null", BYTES: "bytes", BYTESTRING: "bytes", NDARRAY: "array", LIST: "list",
    VECTOR: "vector", MAP: "map", PICKLE: "pickle",
}  # fmt: skip
DATES = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta)
LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable)
SETS = {set: set, abc.MutableSet: set, frozenset: frozenset, abc.Set: frozenset}
MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
#: The forms in which values of a type are written, then those in which they can be read besides.
OWN = {
    type(None): ("null",), bool: ("bool",), int: ("integer",), float: ("double",), str: ("string",),
    numpy.ndarray: ("array",), **dict.fromkeys((bytes, bytearray, memoryview), ("bytes",)),
    **dict.fromkeys((*LISTS, *SETS), ("list",)), tuple: ("vector",), **dict.fromkeys(MAPPINGS, ("map",)),
    decimal.Decimal: ("string",),
}  # fmt: skip
BESIDES = {
    type(None): ("pickle",), int: ("pickle",), float: ("integer",),
    **dict.fromkeys((bytes, bytearray, memoryview), ("pickle",)), **dict.fromkeys(LISTS, ("vector",)),
    **dict.fromkeys(SETS, ("vector", "pickle")), tuple: ("list",),
    **dict.fromkeys(DATES, ("integer", "string", "pickle")), decimal.Decimal: ("integer", "double", "pickle"),
    uuid.UUID: ("bytes", "string", "pickle"),
}  # fmt: skip
LENIENT = {type(None): ("string",), bool: ("integer", "string"), int: ("double", "string"), float: ("string",)}
WIDTHS = {Byte: int, Int: int, Long: int, Float: float}
UNITS = {records.Seconds: 1_000_000, records.Milliseconds: 1000, records.Microseconds: 1}
EPOCH = datetime.datetime(1970, 1, 1)
NOTHING = object()
LENGTH_OF_NULL = b"\0\0\0\4"  #: of the text that is None where types are not strict


# -- annotations ------------------------------------------------------------------------------------------


def split(hint, marks=()):
    """Return what an annotation is about (a class, Union, Literal, Any), its arguments, and the markers that apply."""
    while type(hint) is not type:
        origin = typing.get_origin(hint)
        if hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif origin is typing.Annotated:
            marks, hint = (*hint.__metadata__, *marks), hint.__origin__
        elif isinstance(hint, dataclasses.InitVar):
            hint = hint.type
        elif isinstance(hint, typing.TypeVar):
            hint = hint.__bound__ or typing.Any
        elif getattr(origin, "_name", None) in ("Final", "Required", "NotRequired", "ReadOnly"):
            hint = hint.__args__[0]
        elif hint is None:
            return type(None), (), marks
        elif origin is tuple and not typing.get_args(hint):
            return tuple, ((),), marks
        else:
            return origin or hint, typing.get_args(hint), marks
    return hint, (), marks


def members_of(hint, marks=()):
    """Return the members of a union, each with its markers; one for anything else."""
    kind, arguments, marks = split(hint, marks)
    if kind not in UNIONS:
        return [(hint, marks)]
    return [member for argument in arguments for member in members_of(argument, marks)]


def scalar_form(value):
    """Return the form of a scalar, of an Enum's member that of its value."""
    value = value.value if isinstance(value, enum.Enum) else value
    return next(OWN[kind][0] for kind in (type(None), bool, int, float, str, bytes) if isinstance(value, kind))


def own_forms(hint, marks=()):
    """Return the forms in which values of a type are written."""
    kind, arguments, marks = split(hint, marks)
    text = last(marks, *UNITS, records.Text) is records.Text
    if kind is typing.Literal:
        return {scalar_form(value) for value in arguments}
    if is_class(kind, enum.Enum):
        return {"string"} if records.Name in marks else {scalar_form(member) for member in kind}
    if kind in DATES:
        return {"string" if text else "integer"}
    if kind is uuid.UUID:
        return {"string" if text else "bytes"}
    if kind in WIDTHS:
        return {*OWN[WIDTHS[kind]]}
    if is_record(kind):
        return {fields_of(kind, arguments, marks).form}
    return {*OWN[kind]}


def forms(hint, marks, strict):
    """Return all forms in which values of a type can be read."""
    kind, arguments, marks = split(hint, marks)
    own = own_forms(hint, marks)
    if kind is typing.Literal:
        return own | ({"pickle"} if own & {"null", "integer", "bytes"} else set())
    if is_class(kind, enum.Enum):
        return {scalar_form(member) for member in kind} | {"string", "pickle"}
    if is_record(kind):
        return {"map"} if is_typed_dict(kind) else {"map", "vector", "list"}
    kind = WIDTHS.get(kind, kind)
    return own | {*BESIDES.get(kind, ())} | ({*LENIENT.get(kind, ())} if not strict else set())


def last(marks, *wanted):
    """Return the last marker that is one of those."""
    return next((mark for mark in marks[::-1] if any(mark is other for other in wanted)), None)


def is_class(kind, base):
    return isinstance(kind, type) and issubclass(kind, base)


def is_typed_dict(kind):
    return is_class(kind, dict) and hasattr(kind, "__required_keys__")


def is_struct(kind):
    return "msgspec" in sys.modules and is_class(kind, sys.modules["msgspec"].Struct)


@functools.lru_cache(None)
def is_record(kind):
    """Return whether a class is a record class."""
    return isinstance(kind, type) and (
        is_struct(kind)
        or is_typed_dict(kind)
        or hasattr(kind, "__attrs_attrs__")
        or dataclasses.is_dataclass(kind)
        or hasattr(kind, "_fields")
    )


class Field:
    """One field: the attribute, the key on the wire, the annotation, whether it may be missing."""

    def __init__(self, name, key, hint, required, default=NOTHING, argument=None, written=True):
        self.name, self.key, self.hint, self.required, self.default, self.written = (
            name, key, hint, required, default, written,
        )  # fmt: skip
        self.argument = argument or name


class Fields:
    """What a record class says of itself."""

    def __init__(self, cls, arguments=(), marks=()):
        self.cls = cls
        hints = typing.get_type_hints(cls, include_extras=True)
        types_of = dict(zip(getattr(cls, "__parameters__", ()), arguments))
        hints = {name: substituted(hint, types_of) for name, hint in hints.items()}
        self.tag, self.forbids_unknown, self.may_have_more, self.omits_defaults, self.is_array = (
            None, False, False, False, False,
        )  # fmt: skip
        self.fields = list(self.find(hints))
        mark = last(marks, records.Vector, records.Map)
        is_vector = self.is_array if mark is None else mark is records.Vector
        self.form = "vector" if is_vector else "map"

    def find(self, hints):
        """Go through the fields, and note what else there is to say of the class."""
        cls = self.cls
        if is_struct(cls):
            msgspec = sys.modules["msgspec"]
            config = cls.__struct_config__
            self.tag = None if config.tag is None else (config.tag_field, config.tag)
            self.is_array, self.forbids_unknown, self.omits_defaults = (
                config.array_like,
                config.forbid_unknown_fields,
                config.omit_defaults,
            )
            self.may_have_more = config.array_like and not config.forbid_unknown_fields
            for field in msgspec.structs.fields(cls):
                default = NOTHING if field.default is msgspec.NODEFAULT else field.default
                left = tuple(hint for hint in typing.get_args(field.type) if hint is not msgspec.UnsetType)
                hint = typing.Union[left] if default is msgspec.UNSET else hints[field.name]
                yield Field(field.name, field.encode_name, hint, field.required, default)
        elif is_typed_dict(cls):
            for name, hint in hints.items():
                wrapper = getattr(typing.get_origin(hint), "_name", None)
                required = wrapper == "Required" or wrapper != "NotRequired" and name in cls.__required_keys__
                yield Field(name, name, hint, required)
        elif hasattr(cls, "__attrs_attrs__"):
            attr = sys.modules["attr"]
            for field in cls.__attrs_attrs__:
                if field.init:
                    default = NOTHING if isinstance(field.default, attr.Factory) else field.default
                    yield Field(
                        field.name, field.name, hints[field.name], field.default is attr.NOTHING, default, field.alias
                    )
        elif dataclasses.is_dataclass(cls):
            for field in cls.__dataclass_fields__.values():
                if field._field_type is not dataclasses._FIELD_CLASSVAR and field.init:
                    required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
                    written = field._field_type is dataclasses._FIELD
                    yield Field(field.name, field.name, hints[field.name], required, field.default, written=written)
        else:
            self.is_array = True
            for name in cls._fields:
                yield Field(
                    name, name, hints.get(name, typing.Any), name not in cls._field_defaults,
                    cls._field_defaults.get(name, NOTHING),
                )  # fmt: skip


@functools.lru_cache(None)
def fields_of(cls, arguments=(), marks=()):
    """Return what a record class says of itself."""
    return Fields(cls, arguments, marks)


def substituted(hint, types_of):
    """Return an annotation with types in place of its type variables."""
    if isinstance(hint, typing.TypeVar):
        return types_of.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ()) if typing.get_origin(hint) else ()
    return hint[tuple(types_of.get(parameter, parameter) for parameter in parameters)] if parameters else hint


# -- decode -----------------------------------------------------------------------------------------------


class Misfit(Exception):
    """A value that is not of the type."""


class Walk(reference.Walk):
    """One pass over one value that is to be of a type."""

    def __init__(self, data, offset=0, *, strict=True, **options):
        super().__init__(data, offset, **options)
        self.strict = strict

    def typed(self, hint, marks=(), path="", depth=0, container=None, in_key=False):
        """Return the value here as one of a type, or END_OF_LIST."""
        start = self.offset
        members = members_of(hint, marks)
        if any(split(member)[0] in (typing.Any, object) for member, _ in members):
            return self.value(path, depth, container, in_key)
        code = self.take(1, container, path)[0]
        if code == MARKER and container == LIST:
            return reference.END_OF_LIST
        form = self.form_of(code, start, path)
        if form == "pickle" and self.pickle == "raw":
            raise self.misfit(start, code, path)
        if form == "pickle" and any("pickle" in forms(*member, self.strict) for member in members):
            value = self.scalar(start, code, path)
            for member in members:
                try:
                    return self.fitted(value, *member)
                except Misfit:
                    continue
            raise self.misfit(start, code, path)
        if form == "string" and self.is_null_text([split(*member)[0] for member in members]):
            self.take(8, code, path)
            return None
        owners = [member for member in members if form in own_forms(*member)]
        readers = [member for member in members if form in forms(*member, self.strict)]
        if code == BYTESTRING:  # no UUID is read from these
            owners, readers = (
                [member for member in found if split(*member)[0] is not uuid.UUID] for found in (owners, readers)
            )
        if not owners and not readers:
            raise self.misfit(start, code, path)
        if form in ("list", "vector", "map") and depth + 1 > self.max_depth:
            raise LimitError("too deep", offset=start, code=code, path=path)
        alike = records_with_tags_alike(members, code)
        if (owners or readers)[0] in alike:
            owners = [self.tagged(alike, code, start, path, depth + 1)]
        if owners and split(*owners[0])[0] is typing.Literal:
            literals = [value for member in owners for value in split(*member)[1]]
            return self.one_of(literals, self.scalar(start, code, path), start, code, path)
        kind, arguments, marks = split(*(owners or readers)[0])
        if form in ("list", "vector", "map"):
            return self.container(kind, arguments, marks, code, start, path, depth + 1, in_key)
        if form == "string" and kind is type(None) and self.data[self.offset : self.offset + 4] != LENGTH_OF_NULL:
            self.number(">i", code, path)
            raise self.misfit(start, code, path)  # told by its length: the text need not be there
        if form == "string" and (
            kind in (*DATES, uuid.UUID) or kind in LENIENT or kind in WIDTHS
        ):  # whose text is ASCII
            value = self.sized(start, code, path).decode("ascii", "replace")
        else:
            value = self.scalar(start, code, path)
        try:
            return self.converted(value, form, kind, arguments, marks)
        except Misfit:
            raise self.misfit(start, code, path) from None

    def is_null_text(self, kinds):
        """Return whether the text "null" is here and is None for one of several types: text is none of them."""
        head, text = self.data[self.offset : self.offset + 4], self.data[self.offset + 4 : self.offset + 8]
        is_null = head == LENGTH_OF_NULL and text.lower() == b"null"
        return is_null and not self.strict and type(None) in kinds and str not in kinds

    def form_of(self, code, start, path):
        """Return the form that a type code is of, "other" for those that no type has."""
        is_hive_code = self.hive and code in (NULL, SHORT, reference.ENDOFRECORD)
        if code > MAP and code not in reference.APPLICATION and not is_hive_code:
            raise FormatError("no such type code here", offset=start, code=code, path=path)
        return FORMS.get(code, "other")

    def misfit(self, offset, code, path):
        return DecodeTypeError("misfit", offset, code, path)

    def one_of(self, literals, value, start, code, path):
        """Return the value of a Literal that is equal to what has been read."""
        for literal in literals:
            plain = literal.value if isinstance(literal, enum.Enum) else literal
            if type(plain) is type(value) and plain == value:
                return literal
        raise self.misfit(start, code, path)

    # -- scalars

    def converted(self, value, form, kind, arguments, marks):
        """Return a scalar of a form that the type can be read from as one of the type."""
        if kind in WIDTHS:
            try:
                return kind(self.converted(value, form, WIDTHS[kind], (), ()))
            except ValueError:
                raise Misfit from None
        if is_class(kind, enum.Enum):
            return self.member(kind, value, form, marks)
        if kind in DATES:
            return date_of_text(kind, value, marks) if form == "string" else date_of_number(kind, value, marks)
        try:
            if kind is uuid.UUID:
                return uuid_of(value)
            if kind is decimal.Decimal:
                return decimal.Decimal(value if form == "integer" else decimal_text(value))
            if form in OWN[kind]:
                return kind(value) if kind in (bytearray, memoryview) else value
            if kind is bool:
                return {"0": False, "1": True, "false": False, "true": True}[str(value).lower()]
            if kind is float and form == "integer" and float(value) != value:
                raise Misfit
            if kind is float:
                return number_of(value, float) if form == "string" else float(value)
            if kind is int and form == "double":
                if value != int(value):
                    raise Misfit
                return int(value)
            if kind is int:
                return number_of(value, int)
            if kind is type(None) and value.lower() == "null":
                return None
        except (ValueError, KeyError, OverflowError, decimal.DecimalException):
            pass
        raise Misfit

    def member(self, kind, value, form, marks):
        """Return the member of an Enum with this value, else that of this name; first by name if it is written so."""
        if records.Name in marks and form == "string" and value in kind.__members__:
            return kind[value]
        for member in kind.__members__.values():
            if type(member.value) is type(value) and member.value == value:
                return member
        if form in {scalar_form(member) for member in kind}:
            try:
                return kind(value)
            except ValueError:
                pass
        if form == "string" and value in kind.__members__:
            return kind[value]
        raise Misfit

    def fitted(self, value, hint, marks=()):
        """Return what a pickle held as a value of a type."""
        kind, arguments, marks = split(hint, marks)
        is_aware = isinstance(value, (datetime.datetime, datetime.time)) and value.tzinfo is not None
        if kind in SETS and isinstance(value, (set, frozenset)):
            return SETS[kind](self.element(item, arguments[0] if arguments else typing.Any) for item in value)
        if kind is typing.Literal:
            for literal in arguments:
                plain = literal.value if isinstance(literal, enum.Enum) else literal
                if type(plain) is type(value) and plain == value:
                    return literal
            raise Misfit
        if is_class(kind, enum.Enum) and isinstance(value, (int, bytes, type(None))):
            return self.member(kind, value, scalar_form(value), marks)
        if kind in WIDTHS and type(value) is int and WIDTHS[kind] is int:
            return self.converted(value, "integer", kind, (), ())
        if kind in (bytearray, memoryview) and type(value) is bytes:
            return kind(value)
        if type(value) is not kind or kind not in (type(None), int, bytes, *DATES, decimal.Decimal, uuid.UUID):
            raise Misfit
        if kind is datetime.datetime and is_aware != (records.UTC in marks) or kind is datetime.time and is_aware:
            raise Misfit
        return value

    def element(self, value, hint):
        """Return an element of a pickled set as a value of a type: as if it had been written by itself."""
        if split(hint)[0] in (typing.Any, object):
            return value
        walk = Walk(reference.dumps(value), strict=self.strict)
        try:
            return walk.typed(hint)
        except DecodeTypeError:
            raise Misfit from None

    # -- containers

    def container(self, kind, arguments, marks, code, start, path, depth, in_key):
        """Return a container of the kind that the type wants."""
        if is_record(kind):
            return self.record(fields_of(kind, arguments, marks), code, start, path, depth)
        if kind in MAPPINGS:
            return self.mapping(*(arguments or (typing.Any, typing.Any)), code, start, path, depth)
        if kind is tuple and arguments and arguments[-1] is not ...:
            arguments = () if arguments == ((),) else arguments
            return tuple(self.items(list(arguments), code, start, path, depth, in_key))
        hint = arguments[0] if arguments else typing.Any
        if kind in SETS:
            found = SETS[kind](self.hashed(hint, code, start, path, depth))
        else:
            found = list(self.items(hint, code, start, path, depth, in_key))
        return tuple(found) if kind is tuple else found

    def items(self, hints, code, start, path, depth, in_key=False, names=None, nrequired=None, may_have_more=False):
        """Go through the items of a VECTOR or LIST; `hints` is one annotation for all, or a list of one for each."""
        n = 0
        is_fixed = isinstance(hints, list)
        nrequired = len(hints) if is_fixed and nrequired is None else nrequired
        count = self.size(start, code, path) if code == VECTOR else None
        if is_fixed and count is not None and (count < nrequired or count > len(hints) and not may_have_more):
            raise self.misfit(start, code, path)
        while n != count:
            item_path = path + (f".{names[n]}" if names and n < len(names) else f"[{n}]")
            if code == LIST and self.data[self.offset : self.offset + 1] == bytes([MARKER]):
                self.take(1, code, item_path)
                break
            if is_fixed and n >= len(hints):
                if not may_have_more:
                    self.take(1, code, item_path)
                    raise self.misfit(start, code, path)
                self.skip(code, item_path, depth)
            else:
                hint = hints[n] if is_fixed else hints
                yield self.typed(hint, (), item_path, depth, code, in_key)
            n += 1
        if is_fixed and n < nrequired:
            raise self.misfit(start, code, path)

    def hashed(self, hint, code, start, path, depth):
        """Go through the items of a set."""
        n = 0
        offset = self.offset if code == LIST else self.offset + 4
        for item in self.items(hint, code, start, path, depth, in_key=True):
            try:
                hash(item)
            except TypeError:
                raise self.misfit(offset, self.data[offset], f"{path}[{n}]") from None
            yield item
            n, offset = n + 1, self.offset

    def mapping(self, key_hint, value_hint, code, start, path, depth):
        """Return a dict."""
        found = {}
        for n in range(self.size(start, code, path)):
            offset = self.offset
            key = self.typed(key_hint, (), f"{path}.key({n})", depth, code, in_key=True)
            try:
                hash(key)
            except TypeError:
                raise self.misfit(offset, self.data[offset], f"{path}.key({n})") from None
            found[key] = self.typed(value_hint, (), f"{path}[{reference.key_text(key)}]", depth, code)
        return found

    def record(self, fields, code, start, path, depth):
        """Return an instance of a record class."""
        found = {}
        if code == MAP:
            by_key = {field.key.encode(): field for field in fields.fields}
            for n in range(self.size(start, code, path)):
                self.entry(fields, by_key, found, n, code, start, path, depth)
        else:
            tag = [] if fields.tag is None else [typing.Literal[fields.tag[1]]]
            wanted = [*tag, *(field.hint for field in fields.fields)]
            names = [*(fields.tag[:1] if tag else ()), *(field.name for field in fields.fields)]
            nrequired = len(tag) + max((n + 1 for n, field in enumerate(fields.fields) if field.required), default=0)
            items = list(self.items(wanted, code, start, path, depth, False, names, nrequired, fields.may_have_more))
            found = {field.name: item for field, item in zip(fields.fields, items[len(tag) :])}
        if any(field.required and field.name not in found for field in fields.fields):
            raise self.misfit(start, code, path)
        if is_typed_dict(fields.cls):
            return found
        try:
            return fields.cls(**{field.argument: found[field.name] for field in fields.fields if field.name in found})
        except (TypeError, ValueError):
            raise self.misfit(start, code, path) from None

    def entry(self, fields, by_key, found, n, code, start, path, depth):
        """Read one key of a record's MAP and its value."""
        offset = self.offset
        self.skip(code, f"{path}.key({n})", depth)
        key = self.data[offset + 5 : self.offset] if self.data[offset] == STRING else None
        if fields.tag is not None and key == fields.tag[0].encode():
            self.typed(typing.Literal[fields.tag[1]], (), f"{path}.{fields.tag[0]}", depth, code)
        elif key in by_key:
            field = by_key[key]
            found[field.name] = self.typed(field.hint, (), f"{path}.{field.name}", depth, code)
        elif fields.forbids_unknown:
            raise self.misfit(start, code, path)
        else:
            self.skip(code, path, depth)

    def skip(self, container, path, depth):
        """Go over one value, whose structure is looked at; what is wrong inside it has its own path."""
        try:
            reference.skip_value(self, depth)
        except DecodeError as error:
            code = container if error.code is None and not isinstance(error, LimitError) else error.code
            raise type(error)(error.message, error.offset, code, path) from None

    def tagged(self, members, code, start, path, depth):
        """Return the member whose tag the record here has."""
        offset = self.offset
        all_fields = [fields_of(*split(*member)) for member in members]
        tag = NOTHING
        if code != MAP:
            if code == VECTOR:
                is_empty = not self.size(start, code, path)
            else:
                is_empty = self.data[self.offset : self.offset + 1] == bytes([MARKER])
            if not is_empty:
                tag = self.tag_here(path, code)
        else:
            for n in range(self.size(start, code, path)):
                at = self.offset
                self.skip(code, f"{path}.key({n})", depth)
                is_tag = self.data[at] == STRING and self.data[at + 5 : self.offset] == all_fields[0].tag[0].encode()
                if is_tag:
                    tag = self.tag_here(path, code)
                    break
                self.skip(code, path, depth)
        self.offset = offset
        for member, fields in zip(members, all_fields):
            if type(tag) is type(fields.tag[1]) and tag == fields.tag[1]:
                return member
        raise self.misfit(start, code, path)

    def tag_here(self, path, container):
        """Return the tag here, NOTHING if it is not a number, a bool or text."""
        code = self.take(1, container, path)[0]
        self.form_of(code, self.offset - 1, path)
        is_scalar = BYTE <= code <= STRING or (self.hive and code == SHORT)
        return self.scalar(self.offset - 1, code, path) if is_scalar else NOTHING


def records_with_tags_alike(members, code):
    """Return the members that are told apart by their tags: all have the same form, and in a MAP the same key."""
    found = [(member, fields_of(*split(*member))) for member in members if is_record(split(*member)[0])]
    tagged = [member for member, fields in found if fields.tag]
    tags = {(fields.is_array, code == MAP and fields.tag[0]) for _, fields in found if fields.tag}
    return tagged if len(tagged) > 1 and len(tags) == 1 else []


def uuid_of(value):
    """Return a UUID from its bytes or its text with hyphens."""
    if isinstance(value, str):
        if not re.fullmatch("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value):
            raise Misfit
        return uuid.UUID(value)
    return uuid.UUID(bytes=value)


def decimal_text(value):
    """Return the text of a Decimal, of a float its repr."""
    text = repr(value) if isinstance(value, float) else value
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|s?nan\d*)", text, re.I | re.A):
        raise Misfit
    return text


def number_of(text, kind):
    """Return the number that a text says, without spaces or underscores."""
    if "_" in text or text != text.strip() or not text.isascii():
        raise Misfit
    return kind(text)


def date_of_number(kind, number, marks):
    """Return a date of days, another of these types of the units that its marker says."""
    unit = UNITS.get(last(marks, *UNITS), 1)
    try:
        if kind is datetime.date:
            return EPOCH.date() + datetime.timedelta(number)
        span = datetime.timedelta(microseconds=number * unit)
        if kind is datetime.timedelta:
            return span
        if kind is datetime.datetime:
            return (EPOCH.replace(tzinfo=datetime.timezone.utc) if records.UTC in marks else EPOCH) + span
        if not datetime.timedelta(0) <= span < datetime.timedelta(1):
            raise Misfit
        return (EPOCH + span).time()
    except OverflowError:
        raise Misfit from None


CLOCK = r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})0*)?(Z|[+-]\d\d:?\d\d)?"
SPAN = r"([+-])?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,6})0*)?S)?)?"


def date_of_text(kind, text, marks):
    """Return what ISO 8601 text says."""
    try:
        if kind is datetime.timedelta:
            return span_of_text(text)
        match = re.fullmatch(
            {datetime.date: r"(\d{4})-(\d\d)-(\d\d)", datetime.time: CLOCK}.get(
                kind, rf"(\d{{4}})-(\d\d)-(\d\d)[T ]{CLOCK}"
            ),
            text,
            re.A,
        )
        if match is None:
            raise Misfit
        parts = [*match.groups()]
        day = [int(part) for part in parts[:3]] if kind is not datetime.time else []
        if kind is datetime.date:
            return datetime.date(*day)
        hour, minute, second, fraction, zone = parts[-5:]
        clock = datetime.time(int(hour), int(minute), int(second), int((fraction or "").ljust(6, "0")))
        if (zone is not None) != (records.UTC in marks) or kind is datetime.time and zone is not None:
            raise Misfit
        if kind is datetime.time:
            return clock
        moment = datetime.datetime.combine(datetime.date(*day), clock)
        if zone is None:
            return moment
        if zone == "Z":
            return moment.replace(tzinfo=datetime.timezone.utc)
        if int(zone[-2:]) > 59:
            raise Misfit
        span = datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        return moment.replace(tzinfo=datetime.timezone(-span if zone[0] == "-" else span))
    except (ValueError, OverflowError):
        raise Misfit from None


def span_of_text(text):
    """Return the timedelta of a duration."""
    match = re.fullmatch(SPAN, text, re.A)
    if match is None or text[-1:] in ("P", "T"):
        raise Misfit
    sign, days, hours, minutes, seconds, fraction = match.groups()
    span = datetime.timedelta(
        days=int(days or 0), hours=int(hours or 0), minutes=int(minutes or 0), seconds=int(seconds or 0),
        microseconds=int((fraction or "").ljust(6, "0")),
    )  # fmt: skip
    return -span if sign == "-" else span


def decode_from(data, hint, offset=0, **options):
    """Return the value at offset as one of a type, and the offset after it."""
    walk = Walk(data, offset, **options)
    return walk.typed(hint), walk.offset


def loads(data, hint, **options):
    """Return the one value that data is, as one of a type."""
    value, end = decode_from(data, hint, **options)
    if end < len(data):
        raise FormatError("bytes after the value", offset=end, code=data[end], path="")
    return value


# -- encode -----------------------------------------------------------------------------------------------


class Encoding(reference.Encoding):
    """The options of an encoder by type."""

    def __init__(self, *, omit_none=False, **options):
        super().__init__(**options)
        self.omit_none = omit_none

    def typed(self, obj, hint, marks=(), path="", depth=0):
        """Return the bytes of a value of a type."""
        members = members_of(hint, marks)
        if any(split(member)[0] in (typing.Any, object) for member, _ in members):
            return self.value(obj, path, depth)
        for is_strict in (True, False):
            fitting = [split(*member) for member in members if is_of(obj, *split(*member), is_strict)]
            if fitting:
                derived = [kind for kind in type(obj).__mro__ if any(kind is each for each, *_ in fitting)]
                return self.write(obj, *min(fitting, key=lambda each: each[0] not in derived[:1]), path, depth)
        raise EncodeTypeError("misfit", path)

    def write(self, obj, kind, arguments, marks, path, depth):
        """Return the bytes of a value that is of the type."""
        width = kind if kind in WIDTHS else last(marks, *WIDTHS)
        text = last(marks, *UNITS, records.Text) is records.Text
        if width is not None:
            try:
                return self.value(width(obj), path, depth)
            except ValueError:
                raise EncodeValueError("number too big", path) from None
        if is_class(kind, enum.Enum):
            return self.value(obj.name if records.Name in marks else obj.value, path, depth)
        if kind in DATES and text:
            return self.value(self.date_text(obj, kind, marks, path), path, depth)
        if kind in DATES:
            return self.date_number(obj, kind, marks, path)
        if kind is uuid.UUID:
            return self.value(str(obj) if text else obj.bytes, path, depth)
        if kind is decimal.Decimal:
            return self.value(str(obj), path, depth)
        if kind is typing.Literal:
            return self.value(obj.value if isinstance(obj, enum.Enum) else obj, path, depth)
        if kind is float:
            try:
                number = float(obj)
            except OverflowError:
                raise EncodeValueError("int too large", path) from None
            if isinstance(obj, int) and number != obj:
                raise EncodeValueError("rounded", path)
            return self.value(number, path, depth)
        if not (is_record(kind) or kind in (*LISTS, *SETS, *MAPPINGS, tuple)):
            return self.value(obj, path, depth)
        if depth + 1 > self.max_depth:
            raise EncodeValueError("too deep", path)
        return self.container(obj, kind, arguments, marks, path, depth + 1)

    def container(self, obj, kind, arguments, marks, path, depth):
        """Return the bytes of a container."""
        if is_record(kind):
            return self.record(obj, fields_of(kind, arguments, marks), path, depth)
        if kind in MAPPINGS:
            key_hint, value_hint = arguments or (typing.Any, typing.Any)
            pairs = []
            for n, (key, value) in enumerate(obj.items()):
                encoded = self.typed(key, key_hint, (), f"{path}.key({n})", depth)
                pairs.append((encoded, self.typed(value, value_hint, (), f"{path}[{reference.key_text(key)}]", depth)))
            return self.map(pairs)
        hints = [arguments[0] if arguments else typing.Any] * len(obj)
        if kind is tuple and arguments and arguments[-1] is not ...:
            hints = [] if arguments == ((),) else [*arguments]
            if len(hints) != len(obj):
                raise EncodeTypeError("wrong length", path)
        items = [self.typed(item, hint, (), f"{path}[{n}]", depth) for n, (item, hint) in enumerate(zip(obj, hints))]
        if kind in SETS and self.sort_keys:
            items.sort()
        return vector(items) if kind is tuple else bytes([LIST]) + b"".join(items) + bytes([MARKER])

    def map(self, pairs):
        """Return a MAP."""
        if self.sort_keys:
            pairs.sort(key=lambda pair: pair[0])
        return bytes([MAP]) + len(pairs).to_bytes(4, "big") + b"".join(key + value for key, value in pairs)

    def record(self, obj, fields, path, depth):
        """Return the bytes of an instance of a record class."""
        if is_typed_dict(fields.cls):
            names = {field.name for field in fields.fields}
            if not set(obj) <= names or any(field.required and field.name not in obj for field in fields.fields):
                raise EncodeTypeError("keys", path)
        parts = []
        for field in fields.fields:
            if not field.written or is_typed_dict(fields.cls) and field.name not in obj:
                continue
            value = obj[field.name] if is_typed_dict(fields.cls) else getattr(obj, field.name)
            if fields.form == "map" and self.leaves_out(value, field, fields):
                continue
            parts.append((self.value(field.key), self.typed(value, field.hint, (), f"{path}.{field.name}", depth)))
        if fields.form == "map":
            tag = [] if fields.tag is None else [(self.value(fields.tag[0]), self.value(fields.tag[1]))]
            return self.map(tag + parts)
        return vector([*([] if fields.tag is None else [self.value(fields.tag[1])]), *(value for _, value in parts)])

    def leaves_out(self, value, field, fields):
        """Return whether a field is not written into a MAP."""
        unset = getattr(sys.modules.get("msgspec"), "UNSET", NOTHING)
        is_default = (
            value is field.default
            or not field.required
            and field.default is NOTHING
            and type(value) in (list, dict, set)
            and not value
        )
        return (
            value is unset
            or value is None
            and self.omit_none
            and field.default is None
            or fields.omits_defaults
            and is_default
        )

    def date_number(self, obj, kind, marks, path):
        """Return a date as its days, another of these types as its number of units."""
        if kind is datetime.date:
            return self.number(INT, ">i", (obj - EPOCH.date()).days, path)
        zero = {datetime.timedelta: datetime.timedelta(0), datetime.datetime: EPOCH}.get(kind)
        if kind is not datetime.timedelta:
            self.check_zone(obj, kind, marks, path)
        if kind is datetime.time:
            obj, zero = datetime.datetime.combine(EPOCH.date(), obj), EPOCH
        if kind is datetime.datetime and obj.tzinfo is not None:
            zero = EPOCH.replace(tzinfo=datetime.timezone.utc)
        number, rest = divmod(
            (obj if kind is datetime.timedelta else obj - zero) // datetime.timedelta(microseconds=1),
            UNITS.get(last(marks, *UNITS), 1),
        )
        if rest:
            raise EncodeValueError("more precise than its unit", path)
        return self.number(LONG, ">q", number, path)

    def check_zone(self, obj, kind, marks, path):
        """Refuse a naive value where an aware one is wanted, and the other way round."""
        if (obj.tzinfo is not None and obj.utcoffset() is not None) != (
            kind is datetime.datetime and records.UTC in marks
        ):
            raise EncodeValueError("naive or aware", path)
        if obj.tzinfo is not None and obj.utcoffset().microseconds:
            raise EncodeValueError("a fraction of a second from UTC", path)
        if kind is datetime.datetime and records.UTC in marks:
            try:
                obj.astimezone(datetime.timezone.utc)
            except OverflowError:
                raise EncodeValueError("out of range in UTC", path) from None

    def date_text(self, obj, kind, marks, path):
        """Return ISO 8601 text."""
        if kind is datetime.timedelta:
            return span_text(obj)
        if kind is datetime.date:
            return obj.isoformat()
        self.check_zone(obj, kind, marks, path)
        if obj.tzinfo is None:
            return obj.replace(fold=0).isoformat()
        return obj.astimezone(datetime.timezone.utc).replace(tzinfo=None).isoformat() + "Z"


def span_text(span):
    """Return a timedelta as ISO 8601 has durations, in days and seconds."""
    sign, span = ("-", -span) if span < datetime.timedelta(0) else ("", span)
    seconds = (
        f"{span.seconds}.{span.microseconds:06}".rstrip("0").rstrip(".") if span.microseconds else str(span.seconds)
    )
    return f"{sign}P{span.days}D" + (f"T{seconds}S" if seconds != "0" else "")


def vector(items):
    """Return a VECTOR."""
    return bytes([VECTOR]) + len(items).to_bytes(4, "big") + b"".join(items)


def is_of(obj, kind, arguments, marks, is_strict):
    """Return whether a Python object is of a type, whatever is in it."""
    if kind is typing.Literal:
        return any(type(obj) is type(value) and obj == value for value in arguments)
    if kind in (int, float, *WIDTHS) and isinstance(obj, (bool, enum.Enum)):
        return False
    if kind in (float, Float):
        return isinstance(obj, float) or isinstance(obj, int) and not is_strict
    if kind in (Byte, Int, Long):
        return isinstance(obj, int)
    if kind is datetime.date and isinstance(obj, datetime.datetime):
        return False
    if is_typed_dict(kind) or kind in MAPPINGS:
        return isinstance(obj, dict)
    if kind in LISTS:
        return isinstance(obj, list) or isinstance(obj, tuple) and not is_strict
    if kind in SETS:
        return isinstance(obj, (set, frozenset))
    if kind in (bytes, bytearray, memoryview):
        return isinstance(obj, (bytes, bytearray, memoryview))
    return isinstance(obj, kind)


def dumps(obj, hint, **options):
    """Return obj, which is of a type, as one value."""
    return Encoding(**options).typed(obj, hint)
