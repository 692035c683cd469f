"""The command diff."""

import hashlib

import typedbytes as tb
from support.commands import LIST, ONE, STREAM, TEXT, TWO, bad, good, rows, run


def test_diff(file):
    one, other = file(STREAM), file(ONE + TWO + LIST, "b.tb")
    assert good("diff", one, one) == b""
    done = run("diff", one, other)
    assert (done.returncode, done.stderr) == (1, b"")
    assert rows(done.stdout) == [{"record": 1, "first": "hi", "second": 2}, {"record": 3, "first": 2}]
    assert len(rows(run("diff", "-n", "1", one, other).stdout)) == 1
    assert run("diff", "-n", "0", one, other).returncode == 1
    assert run("diff", one, "-", stdin=STREAM).returncode == 0
    assert "two inputs" in bad(64, "diff", one)[1]
    assert bad(66, "diff", one, one + "x")


def test_diff_without_order(file):
    one, other = file(STREAM + ONE), file(TWO + LIST + ONE + ONE + ONE, "b.tb")
    assert run("diff", "--unordered", file(STREAM, "c.tb"), file(TWO + LIST + TEXT + ONE, "d.tb")).returncode == 0
    assert rows(run("diff", "--unordered", one, other).stdout) == [
        {"only in": "first", "times": 1, "value": "hi"},
        {"only in": "second", "times": 1, "value": 1},
    ]


def test_diff_without_order_of_a_record_and_of_a_digest_that_are_the_same_bytes(file):
    """Records that differ cannot be made so that they are counted as one.

    The second pair is the digest of the first, by BLAKE2b of 16 bytes without key or salt: a search through some 2**28
    pairs like the first finds one whose digest is a pair.
    """
    longer, shorter = (
        bytes.fromhex("0400000100119e566d060000000000000000"),
        bytes.fromhex("03a31fa2280906afa7e154a2db0cffff"),
    )
    assert hashlib.blake2b(longer, digest_size=16).digest() == shorter and tb.count(longer) == tb.count(shorter) == 2
    one, other = file(longer), file(shorter, "b.tb")
    done = run("diff", "--unordered", "--pairs", one, other)
    assert done.returncode == 1
    assert [(row["only in"], row["times"]) for row in rows(done.stdout)] == [("first", 1), ("second", 1)]
