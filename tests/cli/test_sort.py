"""The command sort, and what partition has in common with it."""

import os
import random

import pytest

import typedbytes as tb
from support.commands import ONE, PAIR_STREAM, TEXT, TWO, bad, good, rows, sequence_file, values
from support.subprocess_runs import run_fresh


def test_sort_by_value(file):
    pairs = [(f"key {i}", value) for i, value in enumerate([3, -1, 10**12, 2.5, 3, -(2**40), 0, float("inf")])]
    first, second = file(tb.Encoder().encode_pairs(pairs[:3])), file(tb.Encoder().encode_pairs(pairs[3:]), "b.tb")

    def by_value(*arguments):
        return tb.Decoder().decode_pairs(good("sort", "--by", "value", "--pairs", *arguments, first, second))

    assert by_value() == sorted(pairs, key=lambda pair: pair[1])
    assert by_value("--reverse") == sorted(pairs, key=lambda pair: pair[1], reverse=True)
    assert rows(good("sort", "--by", "value", "--to", "json", "--pairs", first)) == [list(pairs[i]) for i in (1, 0, 2)]
    texts = ["b", "", "aa", "caf\u00e9", "a" * 30, "B"]
    assert values(good("sort", "--by", "value", "--values", stdin=tb.Encoder().encode_all(texts))) == sorted(texts)
    seq, out = file(b"", "a.seq"), file(b"", "out.seq")
    good("loadtb", "--overwrite", seq, stdin=tb.Encoder().encode_pairs(pairs))
    good("sort", "--by", "value", "--to", "sequencefile", seq, "-o", out)
    assert tb.Decoder().decode_pairs(good("cat", out)) == sorted(pairs, key=lambda pair: pair[1])


def test_nulls_come_first_in_a_sort():
    numbers = [2, None, -1.5, None, 10]
    sorted_numbers = [None, None, -1.5, 2, 10]
    for dialect in ("hadoop", "hive"):
        words, stdin = (
            ["--by", "value", "--values", "--dialect", dialect],
            tb.Encoder(dialect=dialect).encode_all(numbers),
        )
        assert tb.Decoder(dialect=dialect).decode_all(good("sort", *words, stdin=stdin)) == sorted_numbers
        assert tb.Decoder(dialect=dialect).decode_all(good("sort", "-r", *words, stdin=stdin)) == sorted_numbers[::-1]
    rows = tb.Encoder().encode_all([(2, "b"), (None, "a"), (2, None)])
    assert values(good("sort", "--by", "[0]", "--by", "[1]", "--values", stdin=rows)) == [
        (None, "a"),
        (2, None),
        (2, "b"),
    ]


def test_numbers_of_several_types_that_are_equal_keep_their_order():
    large = 2**63
    numbers = [1.0, 1, True, 0, -0.0, False, 0.0, 1.0, 2**53, 2.0**53, 2**53 + 1, float(large), tb.Byte(1), 0.5]
    data = tb.Encoder().encode_pairs((f"{i:02}", number) for i, number in enumerate(numbers))
    nested = tb.Encoder().encode_pairs((f"{i:02}", ("a", (number, "b"))) for i, number in enumerate(numbers))
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    backwards = sorted(range(len(numbers)), key=numbers.__getitem__, reverse=True)
    for stdin, paths in ((data, ["value"]), (nested, ["value"]), (nested, ["value[0]", "value[1][0]"])):
        by = [word for path in paths for word in ("--by", path)]
        assert [int(key) for key, _ in tb.PairReader(good("sort", "--pairs", *by, stdin=stdin))] == order
        assert [int(key) for key, _ in tb.PairReader(good("sort", "--pairs", "-r", *by, stdin=stdin))] == backwards


def test_sort_by_value_in_little_memory():
    rng = random.Random(2)
    numbers = [rng.randrange(-(10**6), 10**6) for _ in range(20_000)]
    assert values(
        good("sort", "--by", "value", "--memory", "200K", "--values", stdin=tb.Encoder().encode_all(numbers))
    ) == sorted(numbers)


def test_values_without_an_order(file):
    path = file(ONE + tb.dumps({"a": 1}))
    stdout, message = bad(65, "sort", "--by", "value", "--values", path)
    assert stdout == b""
    assert message.startswith(f"{path}: cannot sort by this value, only by numbers, texts, bytes and VECTORs of them: ")
    assert message.endswith("object of type dict at offset 5, record 1")
    assert "input ends inside INT" in bad(65, "sort", "--by", "value", "--pairs", stdin=TEXT + ONE[:-1])[1]


# Order
UNSORTED = [((i * 7919) % 5000 - 2500, "x" * (i % 50)) for i in range(60_000)]


def test_the_order_of_all_bytes_stands_alone():
    for words in (["bytes", "value"], ["value", "bytes"], ["bytes", "bytes"]):
        by = [word for order in words for word in ("--by", order)]
        message = bad(64, "sort", "--pairs", *by, stdin=b"")[1]
        assert message == "--by bytes leaves no ties to another --by: it stands alone"


def test_sort(file):
    data = tb.Encoder().encode_pairs(UNSORTED)
    expected = tb.Encoder().encode_pairs(sorted(UNSORTED, key=lambda pair: tb.dumps(pair[0])))
    assert good("sort", "--pairs", stdin=data) == expected
    assert len(data) > 2_000_000
    for threads in ([], ["--threads", "1"], ["--threads", "7"]):
        assert good("sort", "--pairs", *threads, "--memory", "1M", file(data)) == expected  # with temporary files
    assert "argument --threads: expected an integer" in bad(64, "sort", "--threads", "0", file(data))[1]
    assert good("sort", "--pairs", "--to", "json", stdin=data) == good("to-json", "--pairs", stdin=expected)
    assert good("sort", stdin=TWO + TEXT + ONE) == ONE + TWO + TEXT
    assert good("sort", file(TWO), file(ONE, "b.tb")) == ONE + TWO
    lines = good("to-json", "--pairs", stdin=PAIR_STREAM)
    assert good("sort", "--pairs", stdin=lines) == good("sort", "--pairs", stdin=PAIR_STREAM)


WITHOUT_A_COLLECTOR = """
import gc, os, sys
gc.disable()
from typedbytes.cli import main
before = set(os.listdir("/proc/self/fd"))
stderr, sys.stderr = sys.stderr, None  # without the message
assert main() == 65
sys.stderr = stderr
left = set(os.listdir("/proc/self/fd")) - before
assert not left, [os.readlink(f"/proc/self/fd/{each}") for each in left]
"""


@pytest.mark.parametrize("records", [ONE + b"\x0e", ONE + TWO + ONE[:3]], ids=["damaged", "cut"])
@pytest.mark.parametrize(
    "command",
    ["sort", "sort --to json", "partition -n 2 -o {}", "cat", "to-json", "uniq", "stats", "tail", "freq", "count"],
)
def test_an_input_with_an_error_is_closed_without_the_collector(command, records, file, tmp_path):
    for options in [], ["--pairs"]:
        run_fresh(WITHOUT_A_COLLECTOR, *command.format(tmp_path / "parts").split(), *options, file(records))


@pytest.mark.parametrize("command", [["sort"], ["partition", "-n", "2", "-o", "parts"]], ids=lambda command: command[0])
def test_damage_is_blamed_on_its_input(command, file, tmp_path):
    first, second = file(ONE + TWO, "a.tb"), file(ONE + b"\x0e", "b.tb")
    stdout, message = bad(65, *command, first, second, cwd=tmp_path)
    assert stdout == b"" and message == f"{second}: unknown type code 14 at offset 5, record 1"
    assert bad(65, *command, "--pairs", file(ONE + TWO + ONE, "c.tb"), cwd=tmp_path)[1].startswith(
        f"{tmp_path}/c.tb: input ends"
    )
    assert "text that is neither" in bad(65, *command, stdin=b"Dear reader", cwd=tmp_path)[1]
    assert (
        "some inputs hold pairs and some values"
        in bad(64, *command, first, file(sequence_file(), "d.seq"), cwd=tmp_path)[1]
    )
    assert bad(66, *command, "no.tb", cwd=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["a.tb", "b.tb", "c.tb", "d.seq"]


def test_an_empty_input_has_no_kind_in_a_sort(file, tmp_path):
    pairs, nothing = file(sequence_file(), "a.seq"), file(b"", "b.tb")
    for inputs in ((nothing, pairs), (pairs, nothing), (nothing, pairs, nothing)):
        assert good("sort", *inputs) == good("sort", pairs)
        file_of_pairs = good("sort", "--by", "value", "--to", "sequencefile", *inputs)
        assert good("cat", stdin=file_of_pairs) == good("sort", "--by", "value", pairs)
        good("partition", "-n", "1", "-o", str(tmp_path / "parts"), *inputs)
        assert (tmp_path / "parts" / "part-00000").read_bytes() == good("cat", pairs)
        (tmp_path / "parts" / "part-00000").unlink()
    assert good("sort", nothing, nothing) == good("sort", "--pairs", nothing) == b""
    assert bad(65, "sort", "--to", "json", nothing, file(b"SEQ", "c.seq"))


@pytest.mark.parametrize(
    "command",
    [["sort"], ["partition", "-n", "2", "-o", "parts"], ["convert", "--to", "arrow"]],
    ids=lambda command: command[0],
)
def test_records_beyond_max_bytes_are_refused(command, tmp_path):
    for pairs, number in (([], 2), (["--pairs"], 1)):
        stream = TEXT * 2 + tb.dumps("x" * 20) + TEXT
        assert good("sort", *pairs, "--max-bytes", "32", stdin=stream) == good("sort", *pairs, stdin=stream)
        message = bad(65, *command, *pairs, "--max-bytes", "20", stdin=stream, cwd=tmp_path)[1]
        assert message == bad(65, "cat", *pairs, "--max-bytes", "20", stdin=stream)[1]
        assert message.endswith(f"record {number}")
    assert os.listdir(tmp_path) == []


def test_an_array_is_no_value_to_sort_by():
    """It has an __index__ method, which raises TypeError."""
    numpy = pytest.importorskip("numpy")
    array = tb.dumps(numpy.arange(2))
    assert "cannot sort by this value, only by numbers" in bad(65, "sort", "--by", "value", "--values", stdin=array)[1]


TEXTS = [
    b"b", b"\xe9a", b"", b"a\xff", b"caf\xc3\xa9", b"caf\xe9", b"caf", b"\xed\xa0\x80", b"\xed\x9f\xbf",
    b"\xee\x80\x80", b"\xf0\x9f\x98\x80", b"\xe9\0a", b"\x80", b"\xff", b"\xe9", b"\xc3",
]  # fmt: skip


@pytest.mark.parametrize("nested", [False, True])
def test_text_that_is_not_utf8_has_a_place_in_the_order(nested):
    """It is that of Python's text: of code points, which are U+DC80 to U+DCFF for bytes that are not text."""
    texts = [b"\x07" + len(text).to_bytes(4, "big") + text for text in TEXTS]
    if nested:
        texts = [b"\x08\0\0\0\2" + ONE + text for text in texts]
    expected = b"".join(sorted(texts, key=lambda text: tb.Decoder(unicode_errors="surrogateescape").decode(text)))
    for options in ([], ["--unicode-errors", "surrogateescape"]):
        assert good("sort", "--by", "value", "--values", *options, stdin=b"".join(texts)) == expected
        assert good("top", "-n", "99", "--smallest", "--values", *options, stdin=b"".join(texts)) == expected
    fields = b"".join(b"\x0a\0\0\0\1" + tb.dumps("a") + text for text in texts)
    assert len(good("sort", "--by", "value.a", "--by", "value.a", "--values", stdin=fields)) == len(fields)


def test_text_beside_what_only_python_can_order():
    rows = [
        b"\x08\0\0\0\2" + tb.dumps(2**63 + n) + b"\x07\0\0\0\1" + text for n in (1, 0) for text in (b"\xff", b"\xe9")
    ]
    assert good("sort", "--by", "value", "--values", stdin=b"".join(rows)) == b"".join(rows[i] for i in (3, 2, 1, 0))


@pytest.mark.parametrize("command", ["sort", "top"])
def test_an_error_has_one_offset(command):
    pickled = b"\x64\0\0\0\3c\n."
    message = bad(65, command, "--by", "value", "--values", stdin=ONE + b"\x08\0\0\0\1" + pickled)[1]
    assert message.count(" at offset ") == 1 and message.endswith(" at offset 5, record 1, path [0]")
