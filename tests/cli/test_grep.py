"""The command grep."""

import random

import typedbytes as tb
from support.commands import ONE, PAIR_STREAM, PAIRS, TWO, bad, good, run, values


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
