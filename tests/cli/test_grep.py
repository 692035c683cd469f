"""The command grep."""

import decimal
import pickle
import random
import re
import string

import pytest

import typedbytes as tb
from support.commands import ONE, PAIR_STREAM, PAIRS, TWO, bad, good, run, values
from typedbytes.cli.commands import grep


def grepped(*arguments, stdin=PAIR_STREAM):
    done = run("grep", *arguments, stdin=stdin)
    assert done.returncode == (0 if done.stdout else 1) and done.stderr == b""
    return tb.Decoder().decode_pairs(done.stdout) if "--pairs" in arguments else values(done.stdout)


def test_grep():
    """Letters that fold to those of the pattern among them, and -0.0."""
    assert grepped("--pairs", "key 3") == [pair for pair in PAIRS if pair[0] == "key 3"]
    assert grepped("--pairs", "--in", "value", "^9") == [pair for pair in PAIRS if str(pair[1]).startswith("9")]
    assert grepped("--pairs", "-v", "--in", "key", "[0-5]") == [pair for pair in PAIRS if pair[0] == "key 6"]
    assert grepped("--pairs", "-v", "KEY", "-i") == []
    assert grepped("--pairs", "-i", "KEY 2") == [pair for pair in PAIRS if pair[0] == "key 2"]
    stream = [b"in bytes", ["in", ("a", {"deep": "list"})], "caf\u00e9", 1.5, True, tb.Ext(99, b"list"), "a.b"]
    data = tb.Encoder().encode_all(stream)
    assert grepped("list", stdin=data) == stream[1:2]
    assert grepped("deep", stdin=data) == stream[1:2]
    assert grepped("CAF\u00c9", "-i", stdin=data) == stream[2:3]
    # the sign of kelvin
    assert grepped("\u212aey 5", "-i", "--pairs") == [pair for pair in PAIRS if pair[0] == "key 5"]
    assert grepped(r"^1\.5$", stdin=data) == stream[3:4]
    assert grepped("-F", ".", stdin=data) == [1.5, "a.b"]
    assert grepped("true", stdin=data) == [True]
    assert grepped("-0.0", stdin=tb.Encoder().encode_all([0.0, -0.0])) == [0.0]
    assert str(grepped("-0.0", stdin=tb.Encoder().encode_all([0.0, -0.0]))) == "[-0.0]"
    assert "PATTERN" in bad(64, "grep", "(")[1]
    assert "PATTERN" in bad(64, "grep")[1]
    assert "--in" in bad(64, "grep", "--in", "key", "x", stdin=data)[1]


@pytest.mark.parametrize("pattern", ["-foo", "-v", "-3", "--count", "-e", "-x=1", "=", "=x", "foo", ""])
def test_a_pattern_that_begins_with_a_dash(file, pattern):
    """Given by -e, it is any text; all other words are files then, and so are those after --."""
    path, other = file(tb.dumps(f"a{pattern}b") + TWO), file(ONE + tb.dumps(pattern), "foo")
    expected = tb.dumps(f"a{pattern}b") + (b"" if pattern else TWO + ONE) + tb.dumps(pattern)
    for words in (["-e", pattern, path, other], [path, "-e", pattern, "--", other], [path, other, f"-e={pattern}"]):
        assert good("grep", *words) == expected
    assert good("grep", f"-e{pattern}" if pattern[:1] not in ("=", "") else "-e=" + pattern, path, other) == expected
    assert good("grep", "-e", pattern, stdin=tb.dumps(pattern)) == tb.dumps(pattern)
    if pattern[:1] == "-":
        assert good("grep", "--", pattern, path, other) == expected


def test_one_pattern_is_needed(file):
    path = file(ONE)
    said = "the following arguments are required: PATTERN (see typedbytes grep --help)"
    for words in ([], ["-c"], ["--"]):
        assert bad(64, "grep", *words)[1] == said
    said = "argument -e: give it once: 'a|b' matches what either pattern does (see typedbytes grep --help)"
    assert bad(64, "grep", "-e", "a", "-e", "b", path)[1] == said
    assert "argument -e: expected one argument" in bad(64, "grep", path, "-e")[1]
    assert "argument PATTERN: " in bad(64, "grep", "-e", "-(", path)[1]


def test_grep_counts(file):
    first, second = file(PAIR_STREAM), file(PAIR_STREAM, "b.tb")
    assert good("grep", "-c", "--pairs", "key 3", first, second) == b"28\n"
    assert good("grep", "--count", "--pairs", "-v", "key 3", first) == b"86\n"
    assert run("grep", "-c", "--pairs", "nowhere", first).stdout == b"0\n"
    assert run("grep", "-c", "--pairs", "nowhere", first).returncode == 1
    assert bad(65, "grep", "-c", "1", stdin=ONE + b"\x0e")[0] == b""


def test_grep_takes_what_cannot_be_decoded(file):
    # The body of a writable and of a pickle may be wrong in what cat copies.
    wrong = good("from-json", stdin=b'{"ext": [50, ""]}\n')
    data = ONE + wrong + TWO
    assert good("cat", stdin=data) == data
    assert good("grep", "2", stdin=data) == TWO
    assert good("grep", "-v", "2", stdin=data) == ONE + wrong
    assert good("grep", "--pairs", "-v", "nowhere", stdin=ONE + wrong) == ONE + wrong


def test_grep_finds_the_same_with_and_without_its_short_cut():
    rng = random.Random(3)
    data = tb.Encoder().encode_pairs(
        [("".join(rng.choices("ab", k=rng.randrange(8))), "b" * rng.randrange(3)) for _ in range(6000)]
    )
    for text in ("aab", "b\x07"):
        for extra in ([], ["-v", "--in", "key"]):
            assert (
                run("grep", "--pairs", *extra, text, stdin=data).stdout
                == run("grep", "--pairs", *extra, f"(?:{text})", stdin=data).stdout
            )


def test_letters_that_match_where_case_is_ignored_are_known():
    """The compiled search for the text that each match has knows all characters that are the same letter."""
    others = {"k": ["\u212a"], "s": ["\u017f"], "i": ["\u0130", "\u0131"]}
    for letter in string.ascii_lowercase:
        pattern = re.compile(letter, re.IGNORECASE)
        found = [chr(code) for code in range(128, 0x20000) if pattern.fullmatch(chr(code))]
        assert sorted(found) == sorted(others.get(letter, [])), letter


def test_grep_ignores_the_case_of_what_every_match_has():
    texts = ["task sink", "TASK SIN\u212a", "ta\u017fk s\u0131nk", "TAs\u212a S\u0130NK", "tax", "k", ""]
    data = tb.Encoder().encode_all(texts)
    assert grepped("-i", "task sink", stdin=data) == texts[:4]
    assert grepped("-i", "s.*NK", stdin=data) == texts[:4]
    assert grepped("-i", "-v", "task +SINK", stdin=data) == texts[4:]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("error.*[0-9]", "error"),
        ("^(GET|HEAD) /x", " /x"),
        ("a?bcd*ef", "bc"),
        ("(ab)+c", "ab"),
        ("(?i:ab)xyz", "xyz"),
        ("[ab]|xyz", ""),
        ("(?=ab)cd", "cd"),
        ("12|x", ""),
        ("1234w", "1234w"),
        ("true.x", "x"),
        ("12.5", "12"),
    ],
)
def test_the_text_that_every_match_has(expression, text):
    assert grep._required_text(expression, 0) == text


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("a{4294967295}", "the repetition number is too large"),
        ("(?:" * 600 + "a" + ")" * 600, "nested too deeply"),
        ("(a", "missing ), unterminated subpattern at position 0"),
    ],
)
def test_a_pattern_that_python_refuses(expression, message):
    assert bad(64, "grep", expression, stdin=ONE)[1].startswith(f"argument PATTERN: {message}")


def test_no_warning_of_python_is_printed():
    result = run("grep", "[[a]", stdin=tb.dumps("[b") + tb.dumps("b"))
    assert (result.returncode, result.stdout, result.stderr) == (0, tb.dumps("[b"), b"")


def test_numbers_of_every_type_are_found_by_their_decimals():
    """SHORTs of Hive among them, and what is pickled because no type code holds it."""
    shorts = good("from-json", "--dialect", "hive", stdin=b'{"short": 5}\n{"short": -300}\n[{"short": 12}, null]\n')
    for pattern, expected in (("5", b"\x0b\0\5"), ("^-300$", b"\x0b\xfe\xd4"), ("^12$", shorts[6:])):
        assert good("grep", "--dialect", "hive", "--values", pattern, stdin=shorts) == expected
    pickled = [2**70, -(10**30), decimal.Decimal("1.50"), decimal.Decimal("2E+7"), decimal.Decimal("-Infinity")]
    pickled += [decimal.Decimal("sNaN"), None, {1, 5}, (2**64, "a")]
    data = tb.Encoder().encode_all(pickled)
    for pattern, number in (("^1180591620717411303424$", 0), ("^-10{30}$", 1), (r"^1\.50$", 2), (r"^2E\+7$", 3)):
        assert good("grep", pattern, stdin=data) == tb.dumps(pickled[number])
    assert good("grep", "^-inf$", stdin=data) == tb.dumps(pickled[4])
    assert good("grep", "^nan$", stdin=data) == tb.dumps(pickled[5])
    assert grepped("18446744073709551616", stdin=data) == [(2**64, "a")]
    number = tb.dumps(pickled[2])
    assert good("grep", "--dialect", "hive", "--values", r"^1\.50$", stdin=number) == number
    for large in (2**64, 10**4299):
        assert good("grep", f"^{large}$", stdin=tb.dumps(large)) == tb.dumps(large)
    other = pickle.dumps(re.compile("5"), 2)  # what is refused has no text
    assert good("grep", "-v", "5", stdin=b"\x64" + len(other).to_bytes(4, "big") + other) != b""
