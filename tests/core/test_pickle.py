"""The pickler and unpickler of type code 100: what they accept, and above all what they refuse.

The pickles of Python 2 were written by its pickle and cPickle (2.7.18); those of Python 3 are written here, by the
Python that runs the tests, in every protocol.
"""

import collections
import copy
import datetime as datetime_module
import decimal as decimal_module
import enum
import gc
import json
import pickle
import pickletools
import re
import sys
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Context, Decimal, localcontext
from uuid import UUID

import pytest
from hypothesis import given, strategies as st

from support import vectors
from support.pickled_values import EAST, MODULUS, OTHERS, PROTOCOLS, PYTHON2, SOME_UUID, VALUES, refused, set_of, uuid
from support.process_memory import peak_of
from support.subprocess_runs import run_fresh
from typedbytes import Decoder, Ext, FormatError, LimitError, Reader, TruncatedError, dumps, loads
from typedbytes._core import safe_dumps, safe_loads

pytestmark = [pytest.mark.every_python]


MAX_DEPTH = 100


def same(got, wanted):
    return type(got) is type(wanted) and got == wanted


def show(value):
    """Return a name that is the same in every process: not the order of a set, nor a UUID of this moment."""
    return type(value).__name__ if isinstance(value, (set, frozenset, UUID)) else ascii(value)[:40]


# Values that belong.


@pytest.mark.parametrize("value", VALUES, ids=show)
def test_a_value_survives_both_directions(value):
    data = safe_dumps(value)
    assert data[:2] == b"\x80\x02"
    assert same(safe_loads(data), value)
    assert same(pickle.loads(data), value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("value", VALUES + OTHERS, ids=show)
def test_a_pickle_of_this_python_reads(value, protocol):
    assert same(safe_loads(pickle.dumps(value, protocol)), value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_optimized_pickle_reads(protocol):
    value = {(1, SOME_UUID, "x"), (2, SOME_UUID, "x")}
    assert safe_loads(pickletools.optimize(pickle.dumps(value, protocol))) == value


@pytest.mark.parametrize("value", VALUES, ids=show)
def test_a_value_of_code_100_survives(value):
    if type(value) is not int or not -(2**63) <= value < 2**63:  # those have codes of their own
        assert dumps(value)[5:] == safe_dumps(value)
    for data in [safe_dumps(value), *(pickle.dumps(value, protocol) for protocol in PROTOCOLS)]:
        assert same(loads(b"\x64" + len(data).to_bytes(4, "big") + data), value)


def test_a_known_form_that_is_cut_short_is_refused():
    for value in (
        datetime(2047, 12, 31, 23, 59, 59, 999999),
        datetime(2020, 2, 29, tzinfo=EAST),
        time(1, 2, 3, tzinfo=timezone.utc),
    ):
        for data in (safe_dumps(value), *(pickletools.optimize(pickle.dumps(value, protocol)) for protocol in (2, 3))):
            for end in range(3, len(data) - 1):
                cut = data[:end] + b"."
                with pytest.raises(FormatError):
                    loads(b"\x64" + len(cut).to_bytes(4, "big") + cut)


ODD = timezone(timedelta(hours=-3, minutes=-41, seconds=-17, microseconds=-5), "of \xe9 odd minutes")
MOMENTS = [
    date(1, 1, 1),
    date(2023, 12, 31),
    datetime(1900, 2, 28, 23, 59, 59, 200),
    datetime(2024, 2, 29, 12, 30, 45, 128 << 8 | 200),
    datetime(2024, 10, 27, 2, 30, fold=1),
    *(datetime(2024, 5, 6, 7, 8, 9, 123456, zone) for zone in (timezone.utc, EAST, ODD)),
    datetime(9999, 12, 31, 23, 59, 59, 999999, EAST, fold=1),
    time(23, 59, 59, 999999),
    time(2, 30, fold=1),
    *(time(1, 2, 3, 4, zone) for zone in (timezone.utc, EAST, ODD)),
    timedelta(0),
    timedelta(-1, 86399, 999999),
    timedelta(65536, 256, 65535),
    complex(1.5, -2.5),
    complex("nan"),
    complex("-inf-nanj"),
]


def outcome_of(data):
    try:
        value = loads(b"\x64" + len(data).to_bytes(4, "big") + data)
    except FormatError as error:
        return str(error)
    return type(value), repr(value)


@pytest.mark.parametrize("value", MOMENTS, ids=show)
def test_one_wrong_byte_is_read_as_pickle_reads_it_or_refused(value):
    """What is written here is recognised as a whole; any other pickle, of another protocol too, opcode by opcode."""
    data = safe_dumps(value)
    assert outcome_of(data) == outcome_of(data) == (type(value), repr(value))
    for index in range(2, len(data)):
        for byte in {data[index] ^ 1, data[index] ^ 0x80, (data[index] + 1) % 256, 0, 0x2E, 0x71, 0xC2, 0xFF}:
            changed = data[:index] + bytes([byte]) + data[index + 1 :]
            outcome = outcome_of(changed)
            assert outcome == outcome_of(b"\x80\x03" + changed[2:])
            if type(outcome) is tuple:
                found = pickle.loads(changed)
                assert outcome == (type(found), repr(found))


ZONES = st.sampled_from([None, timezone.utc, EAST, ODD])
#: Sixteen texts and ints of 32 bits are the most that are written as a small set.
ELEMENTS = (
    st.integers(-300, 70_000)
    | st.sampled_from([2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 255, 256, 65535, 65536, 2**70])
    | st.text("ab\0\x7f", max_size=5)
    | st.text(max_size=3)
)


@given(
    st.lists(
        st.datetimes(timezones=ZONES)
        | st.builds(lambda moment: moment.replace(fold=1), st.datetimes(timezones=ZONES))
        | st.times(timezones=ZONES)
        | st.dates()
        | st.timedeltas()
        | st.complex_numbers()
        | st.frozensets(ELEMENTS, max_size=20)
        | st.sets(ELEMENTS, max_size=20)
    )
)
def test_a_value_of_its_own_has_the_bytes_that_it_has_inside_others(values):
    for value in values:
        is_set = type(value) is set
        inside = safe_dumps(frozenset([(frozenset(value) if is_set else value,)]))
        inside = inside[2 + len(FROZENSET) : -len(b"\x85a\x85R.")]
        if is_set:
            inside = b"c__builtin__\nset\n]" + inside[len(FROZENSET) :]
        assert dumps(value, sort_keys=is_set)[7:] == inside + b"."
    assert dumps(values) == b"\x09" + b"".join(map(dumps, values)) + b"\xff"
    for value, found in zip(values, loads(dumps(values))):
        assert type(found) is type(value) and (found == value or repr(found) == repr(value))
        assert getattr(found, "fold", 0) == getattr(value, "fold", 0)


def test_small_sets_from_which_elements_were_removed_are_written_as_they_are():
    for kind in (set, frozenset):
        for nremoved in range(12):
            value = set(range(1000, 1012))
            for number in range(1000, 1000 + nremoved):
                value.remove(number)
            assert loads(dumps(kind(value))) == value


def test_a_subclass_of_datetime_is_no_datetime():
    plain = datetime(2024, 5, 6, tzinfo=timezone.utc)
    assert loads(dumps([plain, plain])) == [plain, plain]
    for moment in (Moment(2024, 5, 6), Moment(2024, 5, 6, tzinfo=timezone.utc)):
        with pytest.raises(TypeError, match=r"cannot encode an object of type .*Moment: pass default="):
            dumps([plain, moment])
        assert loads(dumps([plain, moment], default=str)) == [plain, str(moment)]


class Zone(tzinfo):
    def utcoffset(self, moment):
        return timedelta(0)


def test_a_zone_that_is_no_timezone_is_refused_after_others():
    plain = datetime(2024, 5, 6, tzinfo=timezone.utc)
    for moment in (plain.replace(tzinfo=Zone()), plain.replace(tzinfo=Zone()).timetz()):
        with pytest.raises(TypeError, match="cannot pickle .*Zone under the safe policy"):
            dumps([plain, plain, moment])
    assert loads(dumps(plain)) == plain


@pytest.mark.parametrize("data", PYTHON2, ids=show)
def test_a_pickle_of_python_2_reads(data):
    assert same(safe_loads(data), PYTHON2[data])


def test_what_the_older_libraries_wrote_reads():
    goldens = json.loads((vectors.ROOT / "foreign/python2/goldens_py2.json").read_text("ascii"))["values"]
    pickled = [golden for golden in goldens if golden["typedbytes"].startswith("64")]
    assert len(pickled) > 8
    for golden in pickled:
        wanted = eval(golden["py3"], {"decimal": decimal_module, "datetime": datetime_module})
        assert same(safe_loads(bytes.fromhex(golden["typedbytes"])[5:]), wanted)


def test_bytes_and_nan_come_back_in_full():
    assert safe_loads(safe_dumps(Decimal("-NaN42"))).as_tuple() == Decimal("-NaN42").as_tuple()
    assert str(safe_loads(safe_dumps(complex("nan")))) == "(nan+0j)"
    assert str(safe_loads(safe_dumps(complex(-0.0, -0.0)))) == "(-0-0j)"


@pytest.mark.parametrize(
    "value", [datetime(2020, 10, 25, 2, fold=1), time(2, fold=1), datetime(2020, 1, 1, 2, tzinfo=EAST, fold=1)]
)
def test_the_fold_of_a_repeated_hour_is_kept(value):
    data = safe_dumps(value)
    assert safe_loads(data).fold == pickle.loads(data).fold == 1
    assert safe_loads(pickle.dumps(value, 4)).fold == 1


@pytest.mark.parametrize("value", VALUES, ids=show)
def test_the_bytes_are_those_of_pickle_without_its_memo(value):
    theirs = pickletools.optimize(pickle.dumps(value, 2))
    repeats_a_name = any(opcode.name == "BINGET" for opcode, _, _ in pickletools.genops(theirs))
    assert (safe_dumps(value) == theirs) is not repeats_a_name


@given(st.integers() | st.integers(0, 2100).map(lambda n: -(2**n)) | st.integers(0, 2100).map(lambda n: 2**n))
def test_an_int_is_written_as_by_pickle(number):
    assert safe_dumps(number) == pickle.dumps(number, 2)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_at_every_edge_of_digits_and_bytes_survives(sign):
    for nbits in range(60, 700):
        for number in (sign * ((1 << nbits) + step) for step in (-1, 0, 1)):
            data = safe_dumps(number)
            assert data == pickle.dumps(number, 2)
            assert safe_loads(data) == number
            signed = number.to_bytes(100, "little", signed=True)  # with more bytes of the sign than it takes
            assert safe_loads(b"\x80\x02\x8a\x64" + signed + b".") == number


def listed(payloads):
    """Return the bytes of a LIST of code 100."""
    return b"\x09" + b"".join(b"\x64" + len(each).to_bytes(4, "big") + each for each in payloads) + b"\xff"


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize(
    "last_bytes", [b"\x80\0", b"\xff\0", b"\x7f\0", b"\0\0", b"\xff\x01", b"\x80\xff", b"\xff\xff"]
)
def test_pickled_ints_in_a_row_read_as_pickle_reads_them(last_bytes, protocol):
    other = b"\x80%c\x8a\x09\xb1\x7f\1\2\3\4\5%b." % (protocol, last_bytes)
    assert len(other) == 14
    hashes = [pickle.dumps(2**63 + number * 2**31 + number, 2) for number in range(40)]
    for payloads in (
        hashes + [other] + hashes,
        [other] * 40,
        [*hashes, pickle.dumps(None, 2), other],
        [hashes[0], other] * 40,
    ):
        assert loads(listed(payloads)) == [pickle.loads(each) for each in payloads]
        assert loads(listed(payloads), pickle="trust") == [pickle.loads(each) for each in payloads]
        for options in ({"exact": True}, {"pickle": "raw"}):
            assert loads(listed(payloads), **options) == [Ext(100, each) for each in payloads]


def test_pickled_ints_in_a_row_that_end_early_are_refused():
    data = listed([pickle.dumps(2**64 - 1 - number, 2) for number in range(20)])
    for end in range(len(data)):
        with pytest.raises(TruncatedError) as caught:
            loads(memoryview(data)[:end])  # what comes after it in memory continues it
        assert caught.value.offset == end
        with pytest.raises(LimitError):
            loads(data, max_bytes=max(end, 1))
    without_stop = data[:-2] + b"0" + data[-1:]
    with pytest.raises(FormatError) as caught:
        loads(without_stop)
    assert (caught.value.offset, caught.value.path) == (1 + 19 * 19, "[19]")


NONE = b"\x64\0\0\0\4" + pickle.dumps(None, 2)


@pytest.mark.parametrize(
    "options, none",
    [
        ({}, NONE),
        ({"pickle": "trust"}, NONE),
        ({"pickle": "raw", "default": lambda obj: str(obj)}, dumps("None")),
        ({"dialect": "hive"}, b"\x0c"),
    ],
)
def test_nones_in_a_row_are_written_as_one_alone(options, none):
    assert dumps(None, **options) == none
    for count in (*range(70), 100_000):
        for others in ([], [1, True], [2.5, None, "a", None, None]):
            items = [None] * count + others + [None] * count
            encoded = b"".join(none if item is None else dumps(item) for item in items)
            assert dumps(items, **options) == b"\x09" + encoded + b"\xff"
            assert dumps(tuple(items), **options) == b"\x08" + len(items).to_bytes(4, "big") + encoded


@pytest.mark.parametrize(
    "options, none",
    [({}, NONE), ({"pickle": "raw", "default": lambda obj: str(obj)}, dumps("None")), ({"dialect": "hive"}, b"\x0c")],
)
@given(
    items=st.lists(st.sampled_from([None, True, False]) | st.sampled_from([1, "a", 2.5, date(2020, 1, 2)]), max_size=70)
)
def test_flags_that_may_be_missing_are_written_and_read_as_each_alone(options, none, items):
    alone = [none if item is None else dumps(item, **options) for item in items]
    wire = b"\x09" + b"".join(alone) + b"\xff"
    assert dumps(items, **options) == wire
    assert dumps(tuple(items), **options) == b"\x08" + len(items).to_bytes(4, "big") + b"".join(alone)
    reading = {name: value for name, value in options.items() if name in ("pickle", "dialect")}
    assert loads(wire, **reading) == [loads(each, **reading) for each in alone]
    for end in range(len(wire)):
        with pytest.raises(TruncatedError):
            loads(wire[:end], **reading)


def test_equal_scalars_give_equal_bytes_whoever_shares_their_parts():
    name = "".join(["I", "ST"])
    twice = frozenset({(1, name), (2, name)})
    copied = frozenset({(1, "".join(["I", "ST"])), (2, "".join(["IS", "T"]))})
    assert safe_dumps(copy.copy(twice)) == safe_dumps(twice)
    assert sorted(safe_dumps(copied)) == sorted(safe_dumps(twice))
    assert safe_dumps(timezone.utc) == safe_dumps(timezone(timedelta(0)))


@pytest.mark.parametrize("text", ["", "s", "long " * 12])
def test_the_elements_of_a_frozenset_are_in_the_order_of_their_bytes(text):
    for count in (*range(2, 20), 50, 300):
        texts = [f"{text}{number}" for number in range(count)]
        elements = [b"X" + len(each).to_bytes(4, "little") + each.encode() for each in texts]
        wanted = FROZENSET + b"(" + b"".join(sorted(elements)) + b"e\x85R."
        assert safe_dumps(frozenset(texts)) == b"\x80\x02" + wanted


DIGITS = st.text("0123456789", max_size=20)


@given(st.sampled_from(["", "-"]), DIGITS, st.sampled_from(["", "."]), DIGITS)
def test_a_decimal_of_any_digits_is_as_its_constructor_makes_it(sign, before, point, after):
    text = sign + before + point + after
    pickled = b"\x80\x02cdecimal\nDecimal\nX" + len(text).to_bytes(4, "little") + text.encode() + b"\x85R."
    if not before + after:
        refused(pickled)
        return
    expected, value = Decimal(text), safe_loads(pickled)
    assert value.as_tuple() == expected.as_tuple()
    assert (str(value), hash(value), sys.getsizeof(value)) == (str(expected), hash(expected), sys.getsizeof(expected))
    assert value * value + 1 == expected * expected + 1
    assert copy.copy(-value) == -expected and safe_dumps(value) == safe_dumps(expected)


def test_a_decimal_is_whole_when_it_is_collected():
    for text in ("0", "-0.00", "1234567890123456789", "-.1234567890123456789", "12345678901234567890"):
        values = [safe_loads(safe_dumps(Decimal(text))) for _ in range(1000)]
        gc.collect()
        assert values == 1000 * [Decimal(text)]
        assert {value.scaleb(3) for value in values} == {Decimal(text).scaleb(3)}


def test_a_decimal_reads_the_same_in_any_context():
    with localcontext(Context(prec=1, traps=[])):
        assert safe_loads(safe_dumps(Decimal("123.456"))) == Decimal("123.456")
        refused(b"cdecimal\nDecimal\n(S'no number'\ntR.")


@given(
    st.recursive(
        st.integers() | st.text() | st.binary() | st.decimals(allow_nan=False) | st.datetimes() | st.uuids(),
        st.frozensets,
    )
)
def test_any_value_survives(value):
    if type(value) not in (str, bytes):
        assert same(safe_loads(safe_dumps(value)), value)
    for protocol in PROTOCOLS:
        assert same(safe_loads(pickle.dumps(value, protocol)), value)


# Objects that do not.


@pytest.mark.parametrize("kind", [set, frozenset])
@pytest.mark.parametrize(
    "make",
    [int, str, lambda n: n * 2**20, lambda n: -n, lambda n: n << 32],
    ids=["small", "text", "far", "negative", "long"],
)
def test_a_set_of_any_size_survives_and_takes_no_more_memory(kind, make):
    for nitems in [*range(70), 76, 77, 78, 100, 127, 128, 153, 154, 307, 1000, 5000]:
        value = kind(map(make, range(nitems)))
        decoded = safe_loads(safe_dumps(value))
        assert decoded == value and type(decoded) is kind
        assert sys.getsizeof(decoded) <= sys.getsizeof(value)
        assert all(element in decoded for element in value)
        assert set(decoded) - value == value - set(decoded) == set()


def test_a_decoded_set_grows_and_shrinks():
    for nitems in range(200):
        decoded = safe_loads(safe_dumps(set(range(nitems))))
        decoded |= set(range(1000))
        decoded -= set(range(500))
        assert decoded == set(range(500, 1000))


def test_equal_elements_of_a_pickled_set_are_one():
    elements = 3 * b"K\x01K\x02M\x01\x00J\x01\x00\x00\x00\x8a\x01\x01"
    assert safe_loads(b"\x80\x02c__builtin__\nset\n](" + elements + b"e\x85R.") == {1, 2}


def test_what_was_removed_from_a_set_is_not_written():
    value = set(range(300))
    for number in range(0, 300, 2):
        value.remove(number)
    assert safe_loads(safe_dumps(value)) == set(range(1, 300, 2))
    value.clear()
    assert safe_dumps(value) == safe_dumps(set())


def test_a_set_that_the_collector_changes_is_written_as_it_is_then():
    class Adding:
        def __init__(self):
            self.itself = self

        def __del__(self):
            value.update(range(1000, 3000))

    value = set(range(200))
    before, threshold = set(value), gc.get_threshold()
    gc.collect()
    try:
        gc.set_threshold(1, 1, 1)
        Adding()
        written = safe_loads(safe_dumps(value))
    finally:
        gc.set_threshold(*threshold)
    assert written in (before, before | set(range(1000, 3000)))


class Whole(int):
    pass


class Name(str):
    pass


class Local(tzinfo):
    def utcoffset(self, moment):
        return timedelta(0)


class Moment(datetime):
    pass


class Color(enum.IntEnum):
    RED = 1


STRANGE = [
    object(),
    object,
    len,
    Whole(1),
    Color.RED,
    Moment(2020, 1, 1),
    datetime(2020, 1, 1, tzinfo=Local()),
    time(1, tzinfo=Local()),
    timezone(timedelta(0), Name("Z")),
    datetime(2020, 1, 1, tzinfo=timezone(timedelta(0), Name("Z"))),
    UUID(int=Whole(5)),
    UUID(int=5, is_safe="yes"),
    UUID.__new__(UUID),
    {Whole(1)},
    {(1, Name("x"))},
    frozenset({(datetime(2020, 1, 1, tzinfo=Local()),)}),
    collections.OrderedDict(),
    True,
    1.5,
    "text",
    b"bytes",
    (),
    [],
    {},
]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_another_type_is_not_pickled(value):
    with pytest.raises(TypeError, match=r'cannot pickle \S+ under the safe policy: pass pickle="trust" or default='):
        safe_dumps(value)


def nested(depth):
    value = frozenset()
    for _ in range(depth):
        value = frozenset({value})
    return value


def test_nesting_has_a_limit_in_both_directions():
    deepest, beyond = nested(MAX_DEPTH - 1), nested(MAX_DEPTH)
    assert safe_loads(safe_dumps(deepest)) == deepest
    assert safe_loads(pickle.dumps(deepest, 4)) == deepest
    with pytest.raises(TypeError, match="nested deeper than 100 levels"):
        safe_dumps(beyond)
    for protocol in (2, 4):
        assert "nests deeper" in refused(pickle.dumps(beyond, protocol))


@pytest.mark.parametrize(
    "data, name",
    [
        (b"cos\ngetpid\n(tR.", "'os'.'getpid'"),
        (b"cposix\nsystem\n(S'true'\ntR.", "'posix'.'system'"),
        (b"cbuiltins\neval\n(S'1'\ntR.", "'builtins'.'eval'"),
        (b"c__builtin__\neval\n.", "'__builtin__'.'eval'"),
        (b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93.", "'builtins'.'exec'"),
        (b"\x80\x04\x8c\x08datetime\x8c\x14datetime.fromordinal\x93.", "'datetime'.'datetime.fromordinal'"),
        (b"c_codecs\ndecode\n.", "'_codecs'.'decode'"),
        (b"ccopyreg\n__newobj__\n.", "'copyreg'.'__newobj__'"),
        (b"ctypedbytes._pickle\nsafe_loads\n.", "'typedbytes._pickle'.'safe_loads'"),
        (b"c" + b"m" * 5000 + b"\nn\n.", "'" + "m" * 60 + "'.'n'"),
        (b"c\xc3\xa9\nn\n.", r"'\xe9'.'n'"),
    ],
)
def test_a_name_outside_the_list_is_refused_and_reported(data, name):
    assert f"it asks for {name};" in refused(data)


@pytest.mark.parametrize(
    "value", [[1], {"a": 1}, ({1},), [], {}, bytearray(b"x"), len, int, object, range(3), Color.RED, ...], ids=show
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_values_of_other_types_are_refused(value, protocol):
    refused(pickle.dumps(value, protocol))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"N",
        b"NN.",
        b"(.",
        b"N(.",
        b"(N.",
        b"N.N",
        b"N..",
        b"\x80",
        b"\x80\x06N.",
        b"\x80\xffN.",
        b"\x95\x00\x00\x00\x00\x00\x00\x00\x80N.",
        b"\x95\x03\x00\x00\x00\x00\x00\x00\x00N.",
        b"0.",
        b"N0.",
        b"N2.",
        b"N1.",
        b"Pid\n.",
        b"NQ.",
        b"\x82\x01.",
        b"(icollections\nOrderedDict\n.",
        b"(o.",
        b"(cdatetime\ndate\no.",
        b"\x97.",
        b"N\x98.",
        b"\x96\x00\x00\x00\x00\x00\x00\x00\x00.",
        b"\xff.",
        b"\x00.",
        b"t.",
        b"N\x86.",
        b"\x85.",
        b"R.",
        b"NNR.",
        b"N)R.",
        b"]]R.",
        b"b.",
        b"s.",
        b"q\x00.",
        b"h\x00.",
        b"g-1\n.",
        b"I\n.",
        b"I1_000\n.",
        b"I 1\n.",
        b"I0x1\n.",
        b"I" + b"9" * 4301 + b"\n.",
        b"L" + b"9" * 5000 + b"L\n.",
        b"F1.5",
        b"Fone\n.",
        b"F" + b"1" * 65 + b"\n.",
        b"Sabc\n.",
        b"S'\n.",
        b"S'abc\"\n.",
        b"S'\\q'\n.",
        b"V\\u12\n.",
        b"X\xff\xff\xff\xff.",
        b"X\x01\x00\x00\x00\xff.",
        b"T\xff\xff\xff\xff.",
        b"B\x05\x00\x00\x00.",
        b"\x8d\x00\x00\x00\x00\x00\x00\x00\x80.",
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff.",
        b"\x8b\xff\xff\xff\xff.",
        b"\x8a\x05\x01.",
        b"cdatetime\ndate\n.",
        b"(cdatetime\ndate\nt.",
        b"cuuid\nUUID\n)\x81.",
        b"cuuid\nUUID\n)R.",
        b"(cuuid\nUUID\n)\x81t.",
        b"(cuuid\nUUID\n)\x81\x91.",
        b"c__builtin__\nobject\n)R.",
        b"c__builtin__\nset\n)\x81.",
        b"ccopy_reg\n_reconstructor\n(c__builtin__\nset\nc__builtin__\nobject\nNtR.",
        b"ccopy_reg\n_reconstructor\n(cuuid\nUUID\nc__builtin__\nobject\nK\x01tR.",
        b"c_codecs\nencode\n(S'a'\nS'rot13'\ntR.",
        b"c_codecs\nencode\n(V\\u20ac\nS'latin1'\ntR.",
        b"c_codecs\nencode\n(K\x01S'latin1'\ntR.",
        b"cdecimal\nDecimal\n(K\x01tR.",
        b"cdecimal\nDecimal\n(S'1'\nNtR.",
        b"cdatetime\ndate\n(K\x01K\x01K\x01tR.",
        b"cdatetime\ndate\n(S'abc'\ntR.",
        b"cdatetime\ndate\n(S'\\x00\\x00\\x01\\x01'\ntR.",
        b"cdatetime\ndatetime\n(S'\\x07\\xdb\\x01\\xff\\x0c\\x1e-\\x01\\xe2@'\ntR.",
        b"cdatetime\ndatetime\n(S'\\x07\\xdb\\x01\\x14\\x0c\\x1e-\\xff\\xff\\xff'\ntR.",
        b"cdatetime\ndatetime\n(S'\\x07\\xdb\\x01\\x14\\x0c\\x1e-\\x01\\xe2@'\nS'zone'\ntR.",
        b"cdatetime\ntime\n(S'\\x7f\\x1e-\\x01\\xe2@'\ntR.",
        b"cdatetime\ntimedelta\n(F1e308\nI0\nI0\ntR.",
        b"cdatetime\ntimezone\n(K\x01tR.",
        b"c__builtin__\nset\n(K\x01tR.",
        b"c__builtin__\nset\n(K\x01\x85tR.",
        b"c__builtin__\nset\n(]]aatR.",
        b"c__builtin__\ncomplex\n(NNtR.",
        b"c__builtin__\nbytes\n(I1000000000\ntR.",
        b"c__builtin__\ncomplex\n(I1\nI2\ntR.",
        b"cdatetime\ntimedelta\n(F1\nI0\nI0\ntR.",
        b"cdatetime\ntimedelta\n(I01\nI0\nI0\ntR.",
        b"cdatetime\ntimezone\n(cdatetime\ntimedelta\n(I0\nI0\nI0\ntRS'a'\nS'b'\ntR.",
        b"cdatetime\ntime\n(S'\\x0c\\x1e-\\x01\\xe2@'\ncdatetime\ntimedelta\n(I0\nI0\nI0\ntRtR.",
        b"c_codecs\nencode\n(S'a'\n)tR.",
        b")\x8c\x01a\x93.",
        set_of(b"\x8f"),
        set_of(b"c__builtin__\nset\n]\x85R"),
        set_of(uuid(-1)),
        set_of(uuid(2**128)),
        b"(\x8f(K\x01\x90t.",
        b"(\x8f\x91.",
        b"\x8f\x85.",
        b"\x8f(K\x01\x90(K\x02e.",
    ],
    ids=show,
)
def test_a_broken_or_useless_pickle_is_refused(data):
    refused(data)


class Victim:
    pass


FAULTS = {
    "it ends without STOP": b"\x80\x02K\x01",
    "it ends with 0 values on its stack, not one": b"\x80\x02.",
    "it ends with 2 values on its stack, not one": b"NN.",
    "it ends with a MARK that no opcode has used": b"N(.",
    "an opcode takes 2 from a stack of 1": b"N\x86.",
    "an opcode takes the values after a MARK, and there is no MARK": b"Nt.",
    "an opcode stores the value on top of the stack, which is empty": b"q\x00.",
    "an opcode adds to the object below its values, and there is none": b"Na.",
    "nothing is stored under the number 7": b"h\x07.",
    "it asks for an object under a number out of range": b"g%d\n." % 2**64,
    "an opcode declares 9 bytes, of which 2 are there": b"U\x09a.",
    "an opcode declares 18446744073709551615 bytes, of which 1 are there": b"\x8d" + b"\xff" * 8 + b".",
    "negative length -1": b"T\xff\xff\xff\xff.",
    "a frame declares 5 bytes, of which 2 are there": b"\x95\x05" + bytes(7) + b"N.",
    "a line has no end": b"I1",
    "b'one' is not a number of 1 to 4300 digits": b"Ione\n.",
    "a float has 65 characters, more than 64": b"F" + b"1" * 65 + b"\n.",
    "a string has no quotes around it": b"Sa\n.",
    "unknown escape of 'q' in a string": b"S'\\q'\n.",
    "a constructor is given 0 arguments, not 1": b"cdecimal\nDecimal\n)R.",
    "a constructor is given 3 arguments, not 1 to 2": b"cdatetime\ntime\nNNN\x87R.",
    "a constructor is given 0 arguments, not 1 to 2": b"cdatetime\ntimezone\n)R.",
    "the state of a date or time has 1 bytes, not 4": b"cdatetime\ndate\nU\x01a\x85R.",
    "the state of a UUID has no int": b"cuuid\nUUID\n)\x81}b.",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_pickle_is_described_with_its_offset(fault):
    with pytest.raises(ValueError, match="^broken pickle at byte ") as caught:
        safe_loads(FAULTS[fault])
    offset, description = re.fullmatch(r"broken pickle at byte (\d+): (.*); pass pickle=.*", str(caught.value)).groups()
    assert description == fault
    assert 0 < int(offset) <= len(FAULTS[fault]) + 1


def test_build_changes_no_class_and_no_complete_value():
    assert "it asks for" in refused(b"c" + __name__.encode() + b"\nVictim\n}S'x'\nK\x01sb.")
    assert "dict" in refused(b"cdatetime\ndate\n}S'x'\nK\x01sb.")
    assert "complete" in refused(b"cuuid\nUUID\n)\x81}S'int'\nK\x01sb}S'int'\nK\x02sb.")
    assert "UUID" not in vars(Victim)


def test_no_value_is_changed_after_it_was_put_into_a_set():
    blank = b"cuuid\nUUID\n)\x81q\x00"
    state = b"}S'int'\nK\x05sb"
    assert safe_loads(b"(" + blank + state + b"h\x00\x91.") == {UUID(int=5)}
    refused(b"(" + blank + b"h\x00" + state + b"h\x00}S'int'\nK\x06sb\x91.")


IS_SAFE = b"}S'int'\nK\x01sS'is_safe'\n"


@pytest.mark.parametrize(
    "state",
    [
        b"N", b")", b"}", b"}S'int'\nNs", b"}S'int'\nI01\ns", IS_SAFE + b"K\x07s", IS_SAFE + b"I00\ns", IS_SAFE + b")s",
        b"}K\x01K\x01s", IS_SAFE + b"NsS'x'\nNs",
    ],
)  # fmt: skip
def test_the_state_of_a_uuid_is_checked(state):
    refused(b"cuuid\nUUID\n)\x81" + state + b"b.")


def test_a_uuid_without_a_number_may_be_dropped_again():
    blank = b"cuuid\nUUID\n)\x81"
    replaced = blank + b"}U\x03int" + blank + b"sU\x03intK\x09sb"  # the state's number is given twice
    assert safe_loads(replaced + b".") == UUID(int=9)
    refused(replaced + b"\x85" * 100 + b".")


@pytest.mark.parametrize("number", [object(), {1}, [1]], ids=["object", "set", "list"])
def test_a_uuid_whose_number_is_no_scalar_is_refused(number):
    value = UUID(int=9)
    object.__setattr__(value, "int", number)
    with pytest.raises(TypeError, match="cannot pickle builtins.* under the safe policy"):
        safe_dumps(value)


def test_an_interpreter_without_datetime_s_c_interface():
    code = """
        import datetime, sys
        from typedbytes import _core
        class WithoutInterface:
            timezone = datetime.timezone
        sys.modules["datetime"] = WithoutInterface
        try:
            _core.safe_loads(bytes.fromhex(sys.argv[1]))
        except (AttributeError, ValueError) as error:
            print(error)
    """
    assert "AttributeError" in run_fresh(code, pickle.dumps(date(2020, 1, 2), 2).hex())


FROZENSET = b"c__builtin__\nfrozenset\n]"


@pytest.mark.parametrize(
    "start, end, deep",
    [
        (FROZENSET, b"a\x85R", 20_000),
        (FROZENSET, b"\x85a\x85R", 20_000),
        (b"", b"\x85", 200_000),
        (b"N", b"\x86", 200_000),
    ],
)
def test_deep_nesting_does_not_touch_the_stack_of_c(start, end, deep):
    for levels in (150, deep):
        value = start * levels + b"K\1" + end * levels
        for data in (value + b".", FROZENSET + value + b"a\x85R.", b"(" + value + value + b"\x91."):
            assert "nests deeper" in refused(data)


def in_small_stacks(loop):
    """Run a loop over NESTING, SHARING and POSITIONS in a fresh interpreter.

    `read` takes a pickle, in a thread with a small stack.
    """
    code = f"""
        from fuzz.pickles import *
        from typedbytes._core import safe_loads

        def read(data):
            try:
                in_small_stack(safe_loads, data)
            except ValueError:
                return "refused"
            return "read"

        {loop}
    """
    return run_fresh(code)


@pytest.mark.parametrize(
    "levels, depth, positions",
    [
        ("NESTING.values()", 5000, "[POSITIONS['alone'], POSITIONS['in a set'], POSITIONS['for is_safe']]"),
        ("[NESTING['TUPLE2']]", 50_000, "POSITIONS.values()"),
        # sixty levels of sharing would be 2**60 steps for code that walks them
        ("SHARING.values()", 60, "POSITIONS.values()"),
    ],
    ids=["every level", "every position", "shared"],
)
def test_what_nests_is_refused_on_a_small_stack(levels, depth, positions):
    """Hashing, building, showing and releasing a deep tuple all recurse: its levels are counted before any of these."""
    loop = (
        f"print({{read(start + nested([level], b'K\\x01', {depth}) + end) for level in {levels} for start, "
        f"end in {positions}}})"
    )
    assert in_small_stacks(loop) == "{'refused'}"


def test_the_deepest_value_lives_on_a_small_stack():
    """Before Python 3.11 writing a level takes more of the stack."""
    deepest = b")" + b"\x85" * (MAX_DEPTH - 1) + b"."
    assert type(safe_loads(deepest)) is tuple
    refused(deepest[:-1] + b"\x85.")
    for data in (deepest, safe_dumps(nested(MAX_DEPTH - 1))):
        assert run_fresh(f"from fuzz.pickles import check_pickle; check_pickle({data})") == ""


def test_mutable_containers_are_not_shared():
    """Each use would copy them: a short pickle could take gigabytes."""
    assert "it shares a tuple that holds a list" in refused(b"(c__builtin__\nfrozenset\nq\0](K\1K\2e\x85q\1Rh\0h\1Rt.")
    assert "it shares a tuple that holds a list" in refused(b"(cuuid\nUUID\n)\x81}\x86q\0h\0t.")
    assert "it shares a list" in refused(b"c__builtin__\nset\n]q\x00h\x00a\x85R.")
    assert "it shares a set" in refused(b"(c__builtin__\nset\n]\x85Rq\x00h\x00t.")


def test_a_memo_ends_with_its_pickle():
    stores, asks = b"\x80\x04K\x01\x94.", b"\x80\x04h\x00."
    assert safe_loads(stores) == 1
    assert "nothing is stored under the number 0;" in refused(asks)
    encoded = b"".join(b"\x64" + len(data).to_bytes(4, "big") + data for data in (stores, asks))
    decoder = Decoder()
    for use in (
        decoder.decode_all,
        lambda data: decoder.decode(b"\x09" + data + b"\xff"),
        lambda data: list(Reader(data)),
    ):
        with pytest.raises(FormatError):
            use(encoded)


@pytest.mark.parametrize(
    "keys",
    [
        range(300),
        range(1, 301),
        range(2**32 - 300, 2**32),
        range(300, 0, -1),
        [*range(50), *range(100, 150), *range(50, 100)],
        [*range(5, 10), 0, 7, 7, 10, 2**32 - 1, 4, 5],
        [key * 2**26 for key in [*range(64), *range(64)]],
        [7] * 100,
        [*range(3), *range(3), *range(200)],
    ],
    ids=str,
)
def test_the_memo_finds_what_was_stored_last_under_a_key(keys):
    puts = b"".join(b"M%br%b" % (n.to_bytes(2, "little"), key.to_bytes(4, "little")) for n, key in enumerate(keys))
    turns = b"".join(
        b"M%br%bj%b" % (n.to_bytes(2, "little"), *[key.to_bytes(4, "little")] * 2) for n, key in enumerate(keys)
    )
    gets = b"".join(b"j" + key.to_bytes(4, "little") for key in keys)
    for data in (puts + gets, turns + gets, puts + b"K\1\x94" + gets + puts + gets):
        whole = b"\x80\x04((" + data + b"t\x91."
        assert safe_loads(whole) == pickle._loads(whole)  # the one in C has memory for each number up to the highest
    unknown = next(key for key in range(2**31) if key not in keys)
    assert f"nothing is stored under the number {unknown};" in refused(
        b"((" + puts + b"j" + unknown.to_bytes(4, "little") + b"t\x91."
    )


def test_memo_keys_allocate_nothing():
    for put in (b"r\xff\xff\xff\x7f", b"p1000000000\n", b"q\xff"):
        assert peak_of(lambda put=put: safe_loads(b"K\x01" + put + b".")) < 1 << 16
    assert "stores more objects than it can hold" in refused(b"N" + b"\x94" * 1000 + b".")


def test_memo_keys_are_those_of_four_bytes():
    """Longer ones can share one hash value: a mebibyte could take 11 s."""
    assert safe_loads(b"(K\1p4294967295\ng4294967295\nt.") == (1, 1)
    for key in (b"-1", b"4294967296", b"%d" % MODULUS):
        assert "under a number out of range" in refused(b"K\1p" + key + b"\n.")


@pytest.mark.parametrize("opcode", [b"X", b"B", b"\x8b", b"T"])
def test_lengths_allocate_nothing(opcode):
    assert peak_of(lambda: refused(opcode + b"\xff\xff\xff\x7f" + b"x" * 100)) < 1 << 16


@pytest.mark.parametrize("nbytes", [0, 1, 4, 8, 10, 40, 255])
def test_an_int_that_says_another_length_than_it_has_is_refused(nbytes):
    # also by the short way that ints take, with bytes after the PICKLE that could be taken for the number's
    payload = b"\x80\x02\x8a" + bytes([nbytes]) + b"\7" * 9 + b"."
    wire = b"\x64" + len(payload).to_bytes(4, "big") + payload
    with pytest.raises(FormatError) as caught:
        Decoder().decode_from(wire + b"\7" * 300)
    assert (caught.value.offset, caught.value.code) == (0, 100)


def test_text_with_a_length_of_eight_bytes():
    text = "h\xe9"
    data = text.encode()
    assert safe_loads(b"\x80\x04\x8d" + len(data).to_bytes(8, "little") + data + b".") == text
