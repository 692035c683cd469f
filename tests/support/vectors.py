"""The vectors as tests see them: where they lie, how a value is spelled, what a call came to.

Here: reading test_vectors/ and comparing to the bit. Not here: which implementation is being tested. Invariant: two
values are the same when they are spelled the same.
"""

import array
import collections
import datetime
import decimal
import enum
import json
import pathlib
import re
import struct
import uuid

import numpy

from typedbytes._types import Byte, Ext, Float, Long, Writable
from typedbytes.errors import DecodeError, EncodeError

ROOT = pathlib.Path(__file__).resolve().parents[2] / "test_vectors"


def read_jsonl(path):
    """Return the lines of a file of vectors; a missing or empty file is an error, not an empty test."""
    lines = [json.loads(line) for line in (ROOT / path).read_text("ascii").splitlines()]
    assert lines, f"{path} holds no vector"
    return lines


def read_folder(folder):
    """Return the vectors of all files in a folder, each with the name of its file before its own."""
    files = sorted((ROOT / folder).glob("*.jsonl"))
    assert files, f"{folder} holds no vectors"
    return [{**vector, "name": f"{file.stem}/{vector['name']}"} for file in files for vector in read_jsonl(file)]


def short_seeds():
    """Return the bytes of all short vectors, good and bad; as in strategies.py without pickles that name a class."""
    vectors = [*read_folder("valid"), *read_folder("invalid")]
    seeds = {bytes.fromhex(vector["hex"]) for vector in vectors if len(vector.get("hex", "")) in range(2, 65)}
    return sorted(seed for seed in seeds if not re.search(rb"[ci](__builtin__|decimal|datetime|os|_codecs)\n", seed))


def names(vectors):
    """Return the names of vectors, for pytest's ids."""
    return [vector["name"] for vector in vectors]


# -- spelling ---------------------------------------------------------------------------------------------


class Thing:
    """Have no type code."""

    def __repr__(self):
        return "Thing()"


class Colour(enum.IntEnum):
    """Be an int by inheritance."""

    RED = 7


Point = collections.namedtuple("Point", "x y")


def double(bits):
    """Return the float with these 64 bits."""
    return struct.unpack(">d", struct.pack(">Q", bits))[0]


def ndarray(dtype, shape, data):
    """Return the array with these bytes."""
    return numpy.frombuffer(bytes.fromhex(data), dtype).reshape(shape)


NOTATION = {
    "Byte": Byte,
    "Colour": Colour,
    "Decimal": decimal.Decimal,
    "Ext": Ext,
    "Float": Float,
    "Long": Long,
    "OrderedDict": collections.OrderedDict,
    "Point": Point,
    "Thing": Thing,
    "UUID": uuid.UUID,
    "Writable": Writable,
    "array": array.array,
    "bytearray": bytearray,
    "datetime": datetime,
    "double": double,
    "frozenset": frozenset,
    "inf": float("inf"),
    "memoryview": memoryview,
    "ndarray": ndarray,
    "numpy": numpy,
    "set": set,
}

HOOKS = {
    "pair": lambda code, data: (code, data),
    "length": lambda code, data: len(data),
    "repr": repr,
    "bytes": lambda obj: repr(obj).encode("ascii"),
    "itself": lambda obj: obj,
}


def read_value(text):
    """Return the value that a notation spells."""
    return eval(text, {"__builtins__": {}}, NOTATION)


def read_options(options):
    """Return keyword arguments; hooks go by name in the files."""
    return {name: HOOKS[value] if name in ("ext_hook", "default") else value for name, value in options.items()}


def exact_repr(value):
    """Return a value as text that shows its types, the order of its MAPs and the bits of its floats."""
    kind = type(value)
    if kind in (Float, Byte, Long):
        return f"{kind.__name__}({exact_repr(kind.__base__(value))})"
    if kind is float and value != value:
        return f"double({struct.unpack('>Q', struct.pack('>d', value))[0]:#018x})"
    if kind is str:
        return ascii(value)
    if kind is Ext:
        return f"Ext({value.code}, {value.data!r})"
    if kind is Writable:
        return f"Writable({value.class_name!a}, {value.data!r})"
    if kind is tuple:
        return f"({', '.join(map(exact_repr, value))}{',' * (len(value) == 1)})"
    if kind is list:
        return f"[{', '.join(map(exact_repr, value))}]"
    if kind is dict:
        return f"{{{', '.join(f'{exact_repr(key)}: {exact_repr(item)}' for key, item in value.items())}}}"
    if kind in (set, frozenset):
        items = ", ".join(sorted(map(exact_repr, value)))
        return f"{kind.__name__}([{items}])"
    if kind is numpy.ndarray:
        return f"ndarray({value.dtype.str!r}, {value.shape}, {value.tobytes().hex()!r})"
    return repr(value)


# -- outcomes ---------------------------------------------------------------------------------------------


def failure(error):
    """Return the contents of one of our errors: class, offset, code, path."""
    if isinstance(error, EncodeError):
        return type(error).__name__, error.path
    return type(error).__name__, error.offset, error.code, error.path


def outcome(call, *args, **options):
    """Return the spelling of what a call gives, or what its error says; errors of other kinds pass through."""
    try:
        return exact_repr(call(*args, **options))
    except (DecodeError, EncodeError) as error:
        return failure(error)


# -- sources ----------------------------------------------------------------------------------------------


class Dribble:
    """A source that gives one byte for each read, whatever was asked for."""

    def __init__(self, data):
        self.data = bytes(data)
        self.offset = 0

    def read(self, nbytes=-1):
        """Return the next byte, or nothing at the end."""
        taken = self.data[self.offset : self.offset + (nbytes != 0)]
        self.offset += len(taken)
        return taken
