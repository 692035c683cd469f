"""The command diff."""

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
