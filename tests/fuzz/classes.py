"""Described classes beside the slow reference, and descriptions that are no descriptions.

Here: which class bytes are read by, and what must hold of any. Not here: the reference. Invariant: the bytes looked at
end at an unreadable page; the first eight bytes choose the class. NaNs are one: struct changes the bits of a float's.
"""

import random

import typedbytes
from fuzz.guard import Guard
from support import class_reference as reference
from typedbytes import sequencefile
from typedbytes.errors import DecodeError

GUARD = Guard(1 << 20)
HEAD = 8
NAME = "com.example.Fuzzed"
TOKENS = (
    "id", "name", NAME, "long", "text", "list", "map", "optional", "utf", "vint", "<", ">", "{", "}", "[", "]", ",",
    ":", "=", "?", "3", "-1", "999999999999", "enum", "counted", "CompressedWritable", "GenericWritable", "java",
    "ObjectWritable", "MapWritable", "pyspark", "writable", "hbase.Result", "hbase.Mutation", "hbase.KeyValue",
    "mahout.Vector", "hive.Timestamp", "hive.Decimal", "EnumSetWritable", "null", "rest", "strings", "#", "\n", " ",
)  # fmt: skip
#: What Python functions read, which the reference does not know.
NAMED = [each for each in TOKENS if each[0] in "hjmpOEM" and each not in ("map", "MapWritable")] + ["MapWritable"]


def shape(maker):
    """Return the choice of a class, and bytes that are nearly one."""
    rng = maker.rng
    seed = rng.randbytes(HEAD)
    tree = tree_of(seed)
    if tree is None or rng.random() < 0.1:
        return seed + maker.program()
    data = reference.encode(tree, reference.made_value(rng, tree))
    return seed + (maker.spoiled(data) if rng.random() < 0.8 else data)


def tree_of(seed):
    """Return the tree that eight bytes choose; None: a description at random."""
    return None if seed[:1] >= b"\xe0" else reference.made_record(random.Random(seed))


def check_class(data):
    """Read the bytes by the class, and by the reference; what was read is written, and read again."""
    seed, content = data[:HEAD].ljust(HEAD, b"\0"), data[HEAD:]
    tree = tree_of(seed)
    if tree is None:
        return check_description(random.Random(seed), content)
    classes = {NAME: reference.fields_of(tree)}
    try:
        expected = reference.whole(tree, content)
    except reference.Refused:
        expected = reference.Refused
    try:
        found = sequencefile.decode(NAME, GUARD.put(content), classes=classes)
    except DecodeError as error:
        assert expected is reference.Refused, (classes, error, expected)
        assert NAME in str(error) and 0 <= error.offset <= len(content), error
        return None
    assert repr(found) == repr(expected), (classes, found, expected)
    again = sequencefile.encode(NAME, found, classes=classes)
    assert repr(sequencefile.decode(NAME, again, classes=classes)) == repr(found), classes
    return None


def check_description(rng, content):
    """Read the bytes by any text that is a description."""
    words = rng.choices(TOKENS, k=rng.randrange(1, 30))
    text = rng.choice(NAMED) if rng.random() < 0.5 else " ".join(words)
    try:
        found = sequencefile.decode(NAME, GUARD.put(content), classes={NAME: text})
    except (ValueError, DecodeError) as error:
        assert not isinstance(error, UnicodeError), error
        return
    typedbytes.dumps(found, default=repr)
