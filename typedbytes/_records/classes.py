"""Record classes: one function for each family fills in a Record's fields, and how an instance is made.

An instance is made without `__init__` only where that is the same: `object.__new__` makes it, `__init__` is the
generated one and only stores the fields, and nothing of the class is run when they are stored.
"""

from __future__ import annotations

import sys
import types

from typedbytes._records.model import MISSING, Field, Refused

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from typedbytes._records.hints import Hints
    from typedbytes._records.model import Record

__all__ = ["describe_typed_dict", "family_of"]


def family_of(cls: Any) -> tuple[str, Callable[[Record, Hints], None]] | None:
    """Return the form in which a class is written, and the function that describes it; None: it is no record class."""
    struct = getattr(sys.modules.get("msgspec"), "Struct", ())
    if struct and issubclass(cls, struct):
        return ("VECTOR" if cls.__struct_config__.array_like else "MAP"), describe_struct
    if "__attrs_attrs__" in _names_in(cls):
        return "MAP", describe_attrs
    if "__dataclass_fields__" in _names_in(cls):
        return "MAP", describe_dataclass
    if issubclass(cls, dict) and hasattr(cls, "__required_keys__"):
        return "MAP", describe_typed_dict
    if issubclass(cls, tuple) and _namedtuple_base(cls) is not None:
        return "VECTOR", describe_namedtuple
    return None


def describe_typed_dict(record: Record, hints: Hints) -> None:
    """Describe a TypedDict."""
    record.make = "typeddict"
    fields = []
    for name in hints.found:
        annotation, required = hints.without_qualifiers(name)
        if required is None:
            required = name in record.cls.__required_keys__  # type: ignore[attr-defined]
        fields.append(Field(name, hints.node(name, annotation), required=required))
    record.fields = tuple(fields)


def describe_namedtuple(record: Record, hints: Hints) -> None:
    """Describe a NamedTuple, or a class that derives from one."""
    cls, base = record.cls, _namedtuple_base(record.cls)
    defaults = base.__dict__["_field_defaults"]
    record.fields = tuple(
        Field(name, hints.node(name), required=name not in defaults, default=defaults.get(name, MISSING))
        for name in base.__dict__["_fields"]
    )
    new = _found(cls, "__new__")[1]
    is_generated = getattr(getattr(new, "__func__", new), "__globals__", {}).get("_tuple_new") == tuple.__new__
    is_plain = is_generated and _found(cls, "__init__")[0] is object and _is_called_plainly(cls)
    record.make = "tuple" if is_plain else "call"


def describe_struct(record: Record, hints: Hints) -> None:
    """Describe a msgspec.Struct, which msgspec makes without `__init__` too."""
    cls: Any = record.cls
    msgspec = sys.modules["msgspec"]
    config = cls.__struct_config__
    record.make = "struct"
    record.forbid_unknown = config.forbid_unknown_fields
    record.allow_extra_items = config.array_like and not config.forbid_unknown_fields
    record.omit_defaults = config.omit_defaults
    record.post_init = hasattr(cls, "__post_init__")
    record.tag = None if config.tag is None else (config.tag_field, config.tag)
    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    defaults = (msgspec.NODEFAULT,) * (len(names) - len(defaults)) + defaults
    fields = []
    for name, key, default in zip(names, cls.__struct_encode_fields__, defaults):
        annotation, may_be_absent = hints.without_unset(name)
        field = Field(name, hints.node(name, annotation), key=key, member=_member(cls, name))
        if isinstance(default, msgspec._core.Factory):
            field.required, field.factory = False, default.factory
        elif default is not msgspec.NODEFAULT:
            field.required, field.default = False, default
        if may_be_absent:
            field.absent = msgspec.UNSET
        fields.append(field)
    record.fields = tuple(fields)


def describe_dataclass(record: Record, hints: Hints) -> None:
    """Describe a dataclass."""
    import dataclasses

    cls: Any = record.cls
    is_plain = not hasattr(cls, "__post_init__") and _has_dataclass_init(cls)
    fields = []
    for item in cls.__dataclass_fields__.values():
        kind = item._field_type
        if kind is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        is_field = kind is dataclasses._FIELD  # type: ignore[attr-defined]
        is_plain = is_plain and is_field and item.init
        if not item.init:
            continue
        field = Field(item.name, hints.node(item.name), written=is_field)
        if item.default is not dataclasses.MISSING:
            field.required, field.default = False, item.default
        elif item.default_factory is not dataclasses.MISSING:
            field.required, field.factory = False, item.default_factory
        fields.append(field)
    is_frozen = cls.__dataclass_params__.frozen
    _finish(record, fields, is_plain and (is_frozen or _found(cls, "__setattr__")[0] is object))


def describe_attrs(record: Record, hints: Hints) -> None:
    """Describe a class of attrs."""
    attr = sys.modules["attr"]
    cls: Any = record.cls
    is_plain = (
        not hasattr(cls, "__attrs_post_init__") and not hasattr(cls, "__attrs_pre_init__") and _has_attrs_init(cls)
    )
    fields = []
    for item in cls.__attrs_attrs__:
        default = item.default
        is_factory = isinstance(default, attr.Factory)
        of_itself = is_factory and default.takes_self
        is_plain = is_plain and item.init and item.converter is None and item.validator is None and not of_itself
        if not item.init:
            continue
        argument = getattr(item, "alias", None) or item.name.lstrip("_")
        annotation = None if item.name in hints.found else item.type  # of attr.ib(type=...)
        field = Field(item.name, hints.node(item.name, annotation), argument=argument)
        if is_factory:
            field.required, field.factory = False, None if of_itself else default.factory
        elif default is not attr.NOTHING:
            field.required, field.default = False, default
        fields.append(field)
    setattr_owner, setter = _found(cls, "__setattr__")
    is_frozen = setter is getattr(sys.modules.get("attr._make"), "_frozen_setattrs", object)
    _finish(record, fields, is_plain and (is_frozen or setattr_owner is object))


def _finish(record: Record, fields: Iterable[Field], is_plain: bool) -> None:
    """Decide how an instance of a dataclass or an attrs class is made; `is_plain` says what is known of it already."""
    cls = record.cls
    if getattr(cls, "__abstractmethods__", ()):
        raise Refused(f"{cls.__name__} is abstract, so that it has no instances")
    record.fields = tuple(fields)
    record.make = "call"
    members = [_member(cls, field.name) for field in record.fields]
    for field, member in zip(record.fields, members):
        field.member = member
    if not is_plain or not _is_called_plainly(cls) or _found(cls, "__new__")[0] is not object:
        return
    if all(member is not None for member in members) and members:
        record.make = "slots"
    elif not any(_is_data_descriptor(_found(cls, field.name)[1]) for field in record.fields) and cls.__dictoffset__:
        record.make = "dict"


def _found(cls: type, name: str) -> tuple[type | None, Any]:
    """Return the first class of the method resolution order that has a name, and what it has there."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base, base.__dict__[name]
    return None, None


def _names_in(cls: type) -> set[str]:
    return {
        name for base in cls.__mro__ for name in ("__attrs_attrs__", "__dataclass_fields__") if name in base.__dict__
    }


def _member(cls: type, name: str) -> Any:
    """Return the descriptor of a slot, None where the field has none."""
    owner, found = _found(cls, name)
    return found if type(found) is types.MemberDescriptorType and found.__objclass__ is owner else None


def _is_data_descriptor(found: Any) -> bool:
    return hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")


def _is_called_plainly(cls: type) -> bool:
    """Return whether a call of the class is `__new__` and `__init__`, and nothing of its metaclass."""
    return _found(type(cls), "__call__")[0] is type


def _namedtuple_base(cls: type) -> Any:
    """Return the class that namedtuple() or NamedTuple has made, None where there is none."""
    for base in cls.__mro__[::-1]:
        if "_fields" in base.__dict__ and "_field_defaults" in base.__dict__ and tuple in base.__bases__:
            return base
    return None


def _init_of(cls: type, marker: str) -> Any:
    """Return the code of `__init__` if it is of the class whose fields the class has, else None."""
    owner, init = _found(cls, "__init__")
    return getattr(init, "__code__", None) if owner is _found(cls, marker)[0] else None


def _has_dataclass_init(cls: type) -> bool:
    """Return whether `__init__` is what dataclasses has generated, which a class's own is kept before."""
    code = _init_of(cls, "__dataclass_fields__")
    if code is None or code.co_filename != "<string>":
        return False
    if sys.version_info >= (3, 11):
        return code.co_qualname == "__create_fn__.<locals>.__init__"
    return (
        code.co_name == "__init__" and bool(code.co_flags & 0x10) and code.co_firstlineno == 2
    )  # nested, below the line of a def


def _has_attrs_init(cls: type) -> bool:
    code = _init_of(cls, "__attrs_attrs__")
    if code is None or not code.co_filename.startswith("<attrs generated"):
        return False
    return not any("_attrs_cached_hash" in str(name) for name in (*code.co_names, *code.co_consts))
