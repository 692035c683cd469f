"""The bytes of a value depend on the value alone: Hadoop groups keys by bytes that different processes make.

What else could decide is set to other values: the decimal context, the locale, the time zone, the hash seed, the limit
on digits. Each type that is encoded is among the values, so a new one that asks its object for text is found here.
"""

import datetime
import pickle
import subprocess
import sys
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy
import pytest

import typedbytes as tb
from support.subprocess_runs import program, run_fresh
from typedbytes import sortkey

#: Made in each process, by lines of Python.
VALUES = """
    import array, collections, datetime, enum, sys
    from decimal import Decimal
    from uuid import SafeUUID, UUID
    import numpy
    import typedbytes as tb
    from typedbytes import sortkey
    from typedbytes._report import _native as report

    east = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    noon = datetime.datetime(2024, 3, 31, 2, 30, 15, 123456)
    Weekday = enum.IntEnum("Weekday", "MON TUE")
    Point = collections.namedtuple("Point", "x y")
    words = ["hadoop", "typed", "bytes", "caf\\u00e9", "", "\\U0001f600", *map(str, range(40))]

    scalars = [
        None, True, False, 0, 2**31, -(2**63), 2**64 - 1, 2**100, -(2**2000), 10**4000, 10**5000, 0.1, 1e300, -0.0,
        float("inf"), "text", "caf\\u00e9", b"bytes", bytearray(b"array"), memoryview(b"view"),
        array.array("i", [1, 2]), tb.Byte(1), tb.Long(2), tb.Float(2.5), tb.Ext(60, b"x"), tb.Writable("class", b"x"),
        Weekday.TUE, Point(1, Decimal("1E+9")), collections.OrderedDict(a=1), 1.5 + 2j,
        UUID(int=5), UUID(int=2**127, is_safe=SafeUUID.safe),
        noon, noon.replace(tzinfo=east), noon.replace(fold=1, tzinfo=datetime.timezone.utc), noon.date(), noon.time(),
        noon.time().replace(tzinfo=datetime.timezone(datetime.timedelta(0), "Zulu")), datetime.timedelta(-1, 5, 7),
        Decimal("12345678.90"), Decimal("1E+100"), Decimal("-1.5E-30"), Decimal("Infinity"), Decimal("-sNaN12"),
        Decimal("0E-9"), Decimal("1." + 90 * "3"),
        numpy.float32(0.1), numpy.int64(5), numpy.complex128(1j), numpy.arange(3), numpy.array(["2024"], "M8[Y]"),
    ]
    frozensets = [
        frozenset(), frozenset(words), frozenset(map(str.encode, words)),
        frozenset({("a", "b"), ("b", "a"), ("c",), ()}),
        frozenset({frozenset(words[:3]), frozenset(words[2:5]), frozenset()}),
        frozenset({Decimal("1E+9"), noon.date(), UUID(int=7), None}),
    ]
    sets = [set(words), {frozenset(words[:3]), frozenset(words[3:])}]

    def encoded_forms():
        for pickle in "safe", "trust":
            for value in [*scalars, *frozensets]:
                yield tb.dumps(value, pickle=pickle)
                yield tb.dumps([{"key": value}], pickle=pickle)
            for value in sets:
                yield tb.dumps(value, pickle=pickle, sort_keys=True)
        yield tb.Encoder().encode_pairs([(value, 1) for value in [*scalars, *frozensets]])
        for value in scalars:
            yield report.lines(tb.dumps(value), plain=True)
        for value in (None, True, 2**63, -5, 0.1, 1e300, "caf\\u00e9", b"bytes", (1, "a")):
            yield tb.dumps(sortkey.encode(value, none="first"))
"""

SHOW = """
    for encoded in encoded_forms():
        print(encoded.hex())
"""

CONTEXTS = {
    "capitals": "capitals=0",
    "precision": "prec=1, rounding=decimal.ROUND_UP, Emax=1, Emin=-1, clamp=1, traps=[]",
    "traps": (
        "prec=1, capitals=0, traps=[decimal.Inexact, decimal.Rounded, decimal.FloatOperation, decimal.Subnormal, "
        "decimal.Clamped]"
    ),
}


@pytest.fixture(scope="module")
def usual():
    return run_fresh(VALUES + SHOW)


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_decimal_context_decides_nothing(name, usual):
    code = f"    import decimal\n    decimal.setcontext(decimal.Context({CONTEXTS[name]}))\n"
    assert run_fresh(VALUES + code + SHOW) == usual


@pytest.mark.parametrize("seed", ["0", "1", "2", "4294967295"])
def test_a_hash_seed_decides_nothing(seed, usual, monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", seed)
    assert run_fresh(VALUES + SHOW) == usual


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/New_York", "XXX+11:30YYY", "nonsense"])
def test_a_time_zone_decides_nothing(zone, usual, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    assert run_fresh(VALUES + SHOW) == usual


@pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="this Python has no limit")
@pytest.mark.parametrize("ndigits", [0, 640])
def test_a_limit_on_digits_decides_nothing(ndigits, usual):
    assert run_fresh(VALUES + f"    sys.set_int_max_str_digits({ndigits})\n" + SHOW) == usual


def test_a_locale_with_a_decimal_comma_decides_nothing(usual, tmp_path, monkeypatch):
    made = subprocess.run(
        [program("localedef"), "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], capture_output=True
    )
    assert (tmp_path / "de_DE.UTF-8").exists(), made.stderr  # the sources of locales are in Debian's package locales
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    code = """
    import locale

    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    assert locale.str(0.5) == "0,5"
    """
    assert run_fresh(VALUES + code + SHOW) == usual


def test_equal_frozensets_have_equal_bytes_however_they_were_made():
    """Within one process the order of a frozenset's table depends on the order in which its elements came."""
    for numbers in [[0, 8], [0, 8, 16, 24], [*range(0, 800, 8)]]:
        one, other = frozenset(numbers), frozenset(reversed(numbers))
        assert tb.dumps(one) == tb.dumps(other) and tb.dumps((one, 1)) == tb.dumps((other, 1))
        assert tb.dumps({*numbers}, sort_keys=True) == tb.dumps({*reversed(numbers)}, sort_keys=True)
        assert tb.loads(tb.dumps(one)) == one and pickle.loads(tb.dumps(one)[5:]) == one
        nested = frozenset({one, (1, other)})
        assert tb.loads(tb.dumps(nested)) == nested == pickle.loads(tb.dumps(nested)[5:])


class Text(str):
    def __str__(self):
        raise AssertionError

    encode = __len__ = __iter__ = __getitem__ = __repr__ = __format__ = __str__


class Bytes(bytes):
    def __bytes__(self):
        raise AssertionError

    __len__ = __iter__ = __getitem__ = __repr__ = decode = __bytes__


class Buffer(bytearray):
    def __bytes__(self):
        raise AssertionError

    __len__ = __iter__ = __getitem__ = __repr__ = decode = __bytes__


class Whole(int):
    def __int__(self):
        raise AssertionError

    __index__ = __rshift__ = __and__ = __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __str__ = __repr__ = (
        __pos__
    ) = __int__
    bit_length = to_bytes = __int__


class Real(float):
    def __float__(self):
        raise AssertionError

    __lt__ = __gt__ = __int__ = __trunc__ = __str__ = __repr__ = is_integer = hex = as_integer_ratio = __float__


@pytest.mark.parametrize("pickle", ["safe", "trust", "raw"])
@pytest.mark.parametrize(
    "plain, hooked",
    [
        *((text, Text) for text in ("", "text", "caf\u00e9", "\u20ac", "\U0001f600")),
        *((data, Bytes) for data in (b"", b"bytes\0", b"\xff" * 300)),
        *((number, Whole) for number in (0, 5, -(2**31), 2**40, -(2**63), 2**63, 2**64 - 1, 2**70, -(2**200), 2**5000)),
        *((number, Real) for number in (0.0, 2.5, -1e300, float("inf"))),
    ],
)
def test_what_a_subclass_of_a_scalar_says_of_itself_decides_nothing(plain, hooked, pickle):
    """A subclass is written as the number or the text that it stores: its methods are not asked."""
    value = hooked(plain)
    if pickle != "raw" or type(plain) is not int or -(2**63) <= plain < 2**63:
        assert tb.dumps(value, pickle=pickle) == tb.dumps(plain, pickle=pickle)
        assert tb.dumps({1: [value]}, pickle=pickle) == tb.dumps({1: [plain]}, pickle=pickle)
    if type(plain) is not int or -(2**63) <= plain < 2**64:
        assert sortkey.encode((value,)) == sortkey.encode((plain,))


def test_a_sort_key_has_the_memory_of_a_bytearray():
    assert sortkey.encode(Buffer(b"bytes\0")) == sortkey.encode(b"bytes\0")


class Amount(Decimal):
    def __str__(self):
        return "5"


class Half(Fraction):
    pass


@pytest.mark.parametrize(
    "value",
    [Amount("1.5"), Half(1, 2), UUID(int=True), numpy.datetime64("2024")],
    ids=lambda value: type(value).__name__,
)
def test_what_could_not_be_read_again_as_it_was_is_refused(value):
    """Also inside a frozenset. A UUID can hold a bool as its number: no int has its bytes, which a reader refuses."""
    for each in (value, frozenset({value}), (1, [value])):
        with pytest.raises(tb.EncodeTypeError, match="^cannot encode an object of type "):
            tb.dumps(each)


def test_an_encoder_in_a_thread_with_a_context_of_its_own():
    with localcontext(Context(capitals=0)):
        assert str(Decimal("1E+100")) == "1e+100"
        encoded = tb.dumps(Decimal("1E+100"))
    assert encoded[5:] == b"\x80\x02cdecimal\nDecimal\nX\x06\0\0\x001E+100\x85R."
    assert pickle.loads(encoded[5:]) == Decimal("1E+100")


@pytest.mark.parametrize("moment", [datetime.datetime(2024, 7, 1, 12), datetime.time(12)])
def test_a_zoneinfo_is_refused_with_a_cure(moment):
    """It is known by a key, and decoding one would open a file by a name from the data."""
    try:
        there = moment.replace(tzinfo=ZoneInfo("Europe/Oslo"))
    except ZoneInfoNotFoundError:
        pytest.skip("no time zone database")
    cure = r", or convert datetimes by \.astimezone\(datetime\.timezone\.utc\), at \[0\]$"
    with pytest.raises(tb.EncodeTypeError, match=r"cannot pickle zoneinfo\.ZoneInfo under the safe policy: .*" + cure):
        tb.dumps([there])
    assert tb.loads(tb.dumps(there, pickle="trust"), pickle="trust") == there
    if isinstance(there, datetime.datetime):
        as_utc = tb.loads(tb.dumps([there], default=lambda value: value.astimezone(datetime.timezone.utc)))
        assert as_utc == [there] and as_utc[0].utcoffset() == datetime.timedelta(0)
