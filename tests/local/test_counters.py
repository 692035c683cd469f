"""Counters as the local engine parses what tasks say: where lines end, what is an amount, what is too many.

That a real Hadoop parses it the same way is in test_local_hadoop.py.
"""

import functools
import itertools
import re

import pytest
from hypothesis import given, strategies as st

from support.local_jobs import run, write_script
from typedbytes import local
from typedbytes.jobs import counters
from typedbytes.jobs.counters import Counters, Messages, lines_of

GREATEST = 2**63 - 1
FOX = "\U0001f98a"  # two characters to Java


class Pieces:
    """A pipe that gives what was written piece by piece."""

    def __init__(self, pieces):
        self._pieces = iter(pieces)

    def read(self, nbytes):
        piece = next(self._pieces, b"")
        assert len(piece) <= nbytes
        return piece


def counted(*lines):
    """Return the counters that lines make, quietly."""
    messages = Messages(quiet=True)
    for line in lines:
        messages.handle(line.encode("utf-8", "surrogateescape"))
    return messages.counters


@given(st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"reporter:", b"\xc2\x85"])), st.lists(st.integers(1, 9)))
def test_lines_end_where_javas_do(said, sizes):
    """Hadoop passes on a report within a line, and counts one after a carriage return."""
    data = b"".join(said)
    ends = [*itertools.accumulate(sizes), len(data)]
    pieces = [piece for piece in (data[a:b] for a, b in zip([0, *ends], ends)) if piece]
    whole = re.split(b"\r\n|\r|\n", data)
    lines = list(lines_of(Pieces(pieces)))
    assert [line.rstrip(b"\r\n") for line, _ in lines] == (whole if whole[-1] else whole[:-1])
    assert all(is_complete for _, is_complete in lines)


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 16])
def test_the_middle_of_a_line_is_not_a_report(size, monkeypatch):
    if size < 10:  # a sixteenth of what is passed on, since each piece takes a step
        monkeypatch.setattr(counters, "PIECE_NBYTES", counters.PIECE_NBYTES // 16)
        monkeypatch.setattr(counters, "MAX_REPORT_NBYTES", counters.MAX_REPORT_NBYTES // 16)
    messages = Messages(quiet=True)
    reports = [
        f"{'x' * (counters.PIECE_NBYTES + shift)}reporter:counter:long,a,1\n"
        for shift in (-1, 0, 1, counters.PIECE_NBYTES)
    ]
    reports += [
        f"reporter:counter:{'g' * (3 * counters.PIECE_NBYTES)},b,1\n",
        f"reporter:counter:g,n,{'0' * 2 * counters.MAX_REPORT_NBYTES}1\n",
        "reporter:counter:g,n,5",
    ]
    data = "".join(reports).encode()
    for line, whole in lines_of(Pieces(data[i : i + size] for i in range(0, len(data), size))):
        messages.handle(line, whole)
    assert messages.counters == {"g" * 127: {"b": 1}, "g": {"n": 5}}


@pytest.mark.parametrize(
    "text, amount",
    [
        ("+4", 4), ("-2", -2), ("0" * 5000 + "9", 9), (str(GREATEST), GREATEST), (str(-GREATEST - 1), -GREATEST - 1),
        ("\u0663", 3), ("1,,", 1), ("3 \t", 3),
        *((text, None) for text in (
            str(GREATEST + 1), str(-GREATEST - 2), "9" * 5000, "1.5", "1e3", " 3", "", "+", "--1", "1_000",
            "\U0001d7d1", "\xb2", "1,x", "3\xa0",
        )),
    ],
)  # fmt: skip
def test_amounts(text, amount):
    assert counted(f"reporter:counter:g,n,{text}\n") == ({} if amount is None else {"g": {"n": amount}})


def test_sums_are_those_of_java():
    counters = counted(
        *[f"reporter:counter:g,n,{GREATEST}"] * 2, f"reporter:counter:g,m,{-GREATEST - 1}", "reporter:counter:g,m,-1"
    )
    assert counters == {"g": {"n": -2, "m": GREATEST}}
    total = Counters()
    for _ in range(3):
        total.merge(counters)
    assert total == {"g": {"n": -6, "m": GREATEST - 2}}


@pytest.mark.parametrize(
    "written, names",
    [
        (f"{'g' * 128},{'n' * 64}", ("g" * 128, "n" * 64)),
        (f"{'g' * 129},{'n' * 65}", ("g" * 127, "n" * 63)),
        (f"{FOX * 65},{FOX * 32}", (FOX * 63 + "?", FOX * 32)),
        ("  g , n ", ("g ", " n ")),
        (",", ("", "")),
        ("\udcff,\udcc3(", ("\ufffd", "\ufffd(")),
    ],
)
def test_names(written, names):
    assert counted(f"reporter:counter:{written},1") == {names[0]: {names[1]: 1}}


@pytest.mark.parametrize(
    "line",
    [
        "reporter:counter:g,1", "reporter:counter:g,a,b,1", "reporter:counter:", "reporter:", "reporter:counters:g,n,1",
        " reporter:counter:g,n,1",
    ],
)  # fmt: skip
def test_what_is_not_a_report(line):
    assert counted(line) == {}


@pytest.mark.parametrize(
    "line, limit, kept",
    [("reporter:counter:{},n,1", "51 groups", 51), ("reporter:counter:g,{},1", "121 counters", 121)],
)
def test_a_task_with_too_many_counters_costs_no_more_memory(line, limit, kept):
    messages = Messages(quiet=True)
    for number in range(1000):
        messages.handle(line.format(number).encode())
    assert messages.exceeded_limit.startswith(limit)
    assert sum(map(len, messages.counters.values())) == kept


@pytest.mark.parametrize("nreducers, ncounters, ngroups", [(0, 118, 48), (1, 112, 47)])
def test_a_job_has_no_more_counters_than_hadoop_allows(tmp_path, nreducers, ncounters, ngroups):
    (tmp_path / "in.tb").write_bytes(b"\x02\x01\x02\x01")
    script = write_script(
        tmp_path,
        """
        import os, sys
        from typedbytes import streaming

        def say(key, value):
            ncounters, ngroups = map(int, os.environ["COUNTERS"].split())
            for number in range(ncounters):
                if streaming.task().nreducers == 0 or number % 2 == (sys.argv[1] == "reduce"):
                    os.write(2, b"\\nreporter:counter:%d,%d,1\\n" % (number % ngroups, number))
            return [(key, 1)]

        streaming.run(say, say)
        """,
    )
    for more in ((0, 0), (1, 0), (0, 1)):
        environ = {"COUNTERS": f"{ncounters + more[0]} {ngroups + more[1]}"}
        job = functools.partial(
            run, script, tmp_path / "in.tb", tmp_path / f"out{more}", reducers=nreducers, environ=environ
        )
        if more == (0, 0):
            assert sum(map(len, job().counters.values())) > ncounters
        else:
            with pytest.raises(
                local.JobError, match=f"more than the {(ncounters, ngroups)[more[1]]} that Hadoop allows a job"
            ):
                job()
