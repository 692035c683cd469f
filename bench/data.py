"""The named shapes that everything here is measured on.

Here: how the objects of each shape are made, from a fixed seed. Not here: codecs, clocks. Invariant: the same name,
variant and size give equal objects in every process and on every Python.

A shape is a list of items. Its variants hold different items of the same kind: measured in turn, they keep the
processor from learning one list by heart, which flatters every branch. The usual size stays in warm memory; LARGE
times as many items do not.
"""

import bisect
import itertools
import marshal
import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from uuid import UUID

import typedbytes as tb

SEED = 20_090_427
LARGE = 20
NVARIANTS = 12

PYTHON2_FILES = Path(__file__).resolve().parent.parent / "test_vectors" / "foreign" / "python2"
RUNES = "".join(map(chr, range(0x16A0, 0x16D4)))
RUSSIAN = "".join(map(chr, range(0x430, 0x450)))
CJK = "".join(map(chr, range(0x4E00, 0x5000)))
EMOJI = "".join(map(chr, range(0x1F600, 0x1F640)))


@dataclass(frozen=True)
class Shape:
    """A kind of list: its name, the usual number of items, how one is made, and what msgspec calls the list."""

    name: str
    nitems: int
    make: Callable[[random.Random], object]
    annotation: object = None

    def items(self, variant=0, scale=1):
        """Return the items of a variant, `scale` times as many as usual and one at least."""
        rng = random.Random(f"{SEED} {self.name} {variant}")
        return [self.make(rng) for _ in range(max(1, round(self.nitems * scale)))]

    def nvariants(self, scale=1):
        """Return how many variants are worth having: nothing learns a large list by heart."""
        return NVARIANTS if scale <= 1 and self.name not in ALWAYS_LARGE else 1


class FileShape(Shape):
    """A file of the old benchmark whose STRINGs were byte strings, and are again; it has one variant and one size."""

    def items(self, variant=0, scale=1):
        data = (PYTHON2_FILES / f"{self.name}.tb").read_bytes()
        values = tb.Decoder(unicode_errors="surrogateescape").decode_all(data)
        return [as_byte_strings(value) for value in (values if scale >= 1 else values[:: round(1 / scale)])]


def as_byte_strings(value):
    """Return a nested value with bytes instead of text."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_byte_strings, value))
    if isinstance(value, dict):
        return {as_byte_strings(key): as_byte_strings(item) for key, item in value.items()}
    return value


def fresh(items):
    """Return equal items whose strings have not been asked for their UTF-8 form: peers keep that inside the str.

    What was shared stays shared: the keys of one record are often those of the next.
    """
    return marshal.loads(marshal.dumps(items))


def count_values(items):
    """Return the number of leaves and containers in a list of items, the list itself left out."""
    nvalues, pending = 0, list(items)
    while pending:
        value = pending.pop()
        nvalues += 1
        if isinstance(value, (list, tuple)):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(itertools.chain.from_iterable(value.items()))
    return nvalues


# -- items ------------------------------------------------------------------------------------------------


def signed(nbits):
    """Make integers of a width, both signs."""
    return lambda rng: rng.getrandbits(nbits) - (1 << nbits - 1)


def ascii_text(nchars):
    """Make lower-case words of a length."""
    return lambda rng: "".join(rng.choices(string.ascii_lowercase, k=nchars))


def text(nchars):
    """Make text of runes and Latin letters, as many of each, in no order that could be foreseen."""
    return lambda rng: "".join(rng.choices(RUNES + string.ascii_letters, k=nchars))


def byte_string(nbytes):
    """Make random bytes of a length."""
    return lambda rng: rng.randbytes(nbytes)


@lru_cache(None)
def vocabulary():
    """Return 5,000 words and the limits between their shares: Zipf's law, the frequent ones short."""
    rng = random.Random(f"{SEED} vocabulary")
    lengths = [max(1, round(1.5 + len(bin(rank)) / 2 + rng.gauss(0, 1.2))) for rank in range(1, 5001)]
    words = ["".join(rng.choices(string.ascii_lowercase, k=length)) for length in lengths]
    return words, list(itertools.accumulate(1 / (rank + 2.7) for rank in range(1, 5001)))


def word(rng):
    """Make a word as running text has them; each time an object of its own."""
    words, limits = vocabulary()
    return words[bisect.bisect(limits, rng.random() * limits[-1])].encode().decode()


def word_pair(rng):
    """Make what the mapper of a word count gives."""
    return word(rng), 1


def dict_5(rng):
    """Make a record of five fields."""
    return {
        "id": rng.getrandbits(31),
        "name": ascii_text(8)(rng),
        "score": rng.random(),
        "active": rng.random() < 0.5,
        "visits": rng.randrange(256),
    }


FIELDS = [f"field_{n:03}" for n in range(100)]


def dict_100(rng):
    """Make a wide record of numbers."""
    return {field: rng.getrandbits(31) for field in FIELDS}


def tuple_keys(rng):
    """Make counts by word and year, as a table of two keys has them."""
    return {(ascii_text(5)(rng), rng.randrange(1900, 2100)): rng.randrange(1000) for _ in range(40)}


def nested(rng):
    """Make a dict of lists of tuples: 14 leaves and containers."""
    first, second, third = ((rng.randrange(1000), rng.random()) for _ in range(3))
    return {"visits": [first, second], "orders": [third]}


def nested_lists(depth):
    """Return `depth` lists, each in the one before, with a number in the innermost."""

    def make(rng):
        value = [rng.randrange(256)]
        for _ in range(depth - 1):
            value = [value]
        return value

    return make


def named_fields(names):
    """Make records of numbers with these keys."""
    return lambda rng: {name: rng.randrange(1000) for name in names}


LONG_NAMES = [f"a_field_whose_name_is_longer_than_most_{n:02}" for n in range(10)]
CYRILLIC_NAMES = [f"название поля {n:02}" for n in range(10)]


def many_keys(rng):
    """Make a record of ten numbers whose keys are any of 30,000.

    A list of the keys would change how many instructions each path takes.
    """
    return {f"user_{n:05}": rng.randrange(1000) for n in rng.sample(range(30_000), 10)}


def mixed_text(nchars, others, every):
    """Return text of Latin letters where one character in `every` is one of `others`."""

    def make(rng):
        chars = rng.choices(string.ascii_letters, k=nchars)
        for index in rng.sample(range(nchars), max(1, nchars // every)):
            chars[index] = rng.choice(others)
        return "".join(chars)

    return make


ZONE = timezone(timedelta(hours=5, minutes=30))


def some_date(rng):
    """Make a date of a hundred years."""
    return date(1950, 1, 1) + timedelta(rng.randrange(36_525))


def moment(zone=None):
    """Make datetimes to the microsecond."""
    return lambda rng: (
        datetime(1950, 1, 1, tzinfo=zone)
        + timedelta(rng.randrange(36_525), rng.randrange(86_400), rng.randrange(10**6))
    )


def amount(rng):
    """Make an amount of money."""
    return Decimal(rng.randrange(10**9)).scaleb(-2)


def row_8(rng):
    """Make a row of a database: eight fields, five of them without a type code of their own."""
    return (
        rng.getrandbits(30), ascii_text(8)(rng), amount(rng), amount(rng), some_date(rng), moment()(rng), rng.random(),
        None,
    )  # fmt: skip


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("bool", 10_000, lambda rng: rng.random() < 0.5, list[bool]),
        Shape("small_int", 10_000, lambda rng: rng.randrange(256), list[int]),
        Shape("int32", 10_000, signed(32), list[int]),
        Shape("int64", 10_000, signed(64), list[int]),
        Shape("wide_int", 10_000, signed(128)),
        Shape("double", 10_000, lambda rng: rng.random(), list[float]),
        Shape("ascii_8", 10_000, ascii_text(8), list[str]),
        Shape("ascii_20", 10_000, ascii_text(20), list[str]),
        Shape("ascii_100", 2_000, ascii_text(100), list[str]),
        Shape("text_100", 2_000, text(100), list[str]),
        Shape("text_1000", 200, text(1000), list[str]),
        Shape("bytes_100", 2_000, byte_string(100), list[bytes]),
        Shape("bytes_1k", 500, byte_string(1_000), list[bytes]),
        Shape("bytes_10k", 100, byte_string(10_000), list[bytes]),
        Shape("word_pairs", 5_000, word_pair, list[tuple[str, int]]),
        Shape("large_pairs", 20_000, word_pair, list[tuple[str, int]]),
        Shape("large_double", 100_000, lambda rng: rng.random(), list[float]),
        Shape("tuple_2", 5_000, lambda rng: (rng.randrange(1000), rng.random()), list[tuple[int, float]]),
        Shape("dict_5", 1_000, dict_5, list[dict]),
        Shape("dict_100", 100, dict_100, list[dict[str, int]]),
        Shape("tuple_keys", 100, tuple_keys),
        Shape("doubles_100", 100, lambda rng: [rng.random() for _ in range(100)], list[list[float]]),
        Shape("nested", 20_000, nested, list[dict[str, list[tuple[int, float]]]]),
        Shape("uint64", 10_000, lambda rng: rng.getrandbits(63) | 1 << 63, list[int]),
        Shape("bytearray_20", 5_000, lambda rng: bytearray(rng.randbytes(20)), list[bytearray]),
        Shape("empty", 5_000, lambda rng: rng.choice(([], {})), list),
        Shape("ints_5", 2_000, lambda rng: [rng.randrange(1000) for _ in range(5)], list[list[int]]),
        Shape("word_count", 2_000, lambda rng: {word(rng): 1}, list[dict[str, int]]),
        Shape("deep_20", 500, nested_lists(20), list),
        Shape("deep_200", 50, nested_lists(200), list),
        Shape("long_keys", 500, named_fields(LONG_NAMES), list[dict[str, int]]),
        Shape("many_keys", 2_000, many_keys, list[dict[str, int]]),
        Shape("cyrillic_keys", 500, named_fields(CYRILLIC_NAMES), list[dict[str, int]]),
        Shape("german_1000", 200, mixed_text(1000, "äöüß", 50), list[str]),
        Shape("latin_10k", 20, mixed_text(10_000, "é", 300), list[str]),
        Shape("quotes_10k", 20, mixed_text(10_000, "\u2019", 100), list[str]),
        Shape("cyrillic_1000", 200, mixed_text(1000, RUSSIAN, 1), list[str]),
        Shape("cjk_1000", 200, mixed_text(1000, CJK, 1), list[str]),
        Shape("emoji_10k", 20, mixed_text(10_000, EMOJI, 100), list[str]),
        Shape("none", 10_000, lambda rng: None, list[None]),
        Shape("date", 2_000, some_date, list[date]),
        Shape("datetime", 2_000, moment(), list[datetime]),
        Shape("datetime_zone", 2_000, moment(ZONE), list[datetime]),
        Shape("decimal", 2_000, amount, list[Decimal]),
        Shape("uuid", 2_000, lambda rng: UUID(int=rng.getrandbits(128)), list[UUID]),
        Shape("int_2048", 1_000, signed(2048)),
        Shape("set_100", 100, lambda rng: {rng.getrandbits(20) for _ in range(100)}, list[set[int]]),
        Shape("row_8", 1_000, row_8, list[tuple[int, str, Decimal, Decimal, date, datetime, float, None]]),
        FileShape("list_50", 100, None),
        FileShape("tuple_50", 100, None),
        FileShape("dict_50", 100, None),
    )
}

#: Shapes of text alone.
TEXTS = ("german_1000", "latin_10k", "quotes_10k", "cyrillic_1000", "cjk_1000", "emoji_10k")
#: Shapes that are measured with each kind of vectors.
VECTORISED = ("ascii_100", "text_100", "text_1000", *TEXTS)
#: Shapes that need fresh objects for each measurement of encode: those with text that is not ASCII, and words.
WITH_TEXT = frozenset(
    (
        "text_100", "text_1000", "word_pairs", "large_pairs", "word_count", "long_keys", "many_keys", "cyrillic_keys",
        *TEXTS,
    )
)  # fmt: skip
#: Shapes whose items are pairs, as streams of keys and values have them.
PAIRS = frozenset(("word_pairs",))
#: Shapes of values that are written as pickles, and those that marshal has too; MessagePack, CBOR and JSON lack them.
PICKLED = frozenset(("date", "datetime", "datetime_zone", "decimal", "uuid", "int_2048", "set_100", "row_8"))
MARSHALLED = frozenset(("int_2048", "set_100"))
#: Shapes that are large as they are.
ALWAYS_LARGE = frozenset(("large_pairs", "large_double", "nested", "list_50", "tuple_50", "dict_50"))
#: Shapes small enough in each item to be encoded and decoded value by value.
BY_VALUE = (
    "bool", "small_int", "int32", "int64", "wide_int", "double", "ascii_8", "ascii_20", "text_100", "bytes_100",
    "uint64", "bytearray_20", "empty", "ints_5", "word_count", "deep_20", "deep_200", "word_pairs", "tuple_2", "dict_5",
    "nested", *sorted(PICKLED),
)  # fmt: skip
