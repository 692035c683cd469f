"""Counters and status: what Hadoop will read on standard error."""

import os
import signal
import sys

import pytest

from support.subprocess_runs import in_threads
from typedbytes.streaming import _reporter, counter, status
from typedbytes.streaming._reporter import LINE_NBYTES, CounterBuffer, write_line


@pytest.fixture
def counters(monkeypatch):
    monkeypatch.setattr(_reporter, "counters", CounterBuffer())
    return _reporter.counters


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        seconds = 1000.0

        def monotonic(self):
            return self.seconds

    clock = Clock()
    monkeypatch.setattr(_reporter, "time", clock)
    return clock


def lines(capfd):
    """Return what Hadoop would look at: a message follows on a line end of its own."""
    return [line for line in capfd.readouterr().err.splitlines() if line]


def test_amounts_are_sent_together(counters, capfd):
    counter("words", "seen")
    counter("words", "seen", 4)
    counter("words", "lost", -2)
    counter("words", "none", 0)
    assert lines(capfd) == []
    counters.send()
    assert lines(capfd) == [
        "reporter:counter:words,seen,5",
        "reporter:counter:words,lost,-2",
        "reporter:counter:words,none,0",
    ]
    counters.send()
    assert lines(capfd) == []


def test_amounts_are_sent_every_ten_seconds(clock, counters, capfd):
    counter("g", "n")
    clock.seconds += 9.9
    counter("g", "n")
    assert lines(capfd) == []
    clock.seconds += 0.1
    counter("g", "n")
    assert lines(capfd) == ["reporter:counter:g,n,3"]
    clock.seconds += 9.9
    counter("g", "n")
    assert lines(capfd) == []


@pytest.mark.parametrize(
    "group, name, sent",
    [
        ("a,b", "c\nd\re", "a;b,c d e"),
        ("", "", ","),
        ("h\u00e9:\t", "\U0001f40d", "h\u00e9:\t,\U0001f40d"),
        ("\udcff", "n", "\\udcff,n"),
        (1, None, "1,None"),
        ("g" * 128, "n" * 64, "g" * 128 + "," + "n" * 64),
        ("g" * 129, "n" * 65, "g" * 127 + "," + "n" * 63),
    ],
)
def test_names_that_hadoop_can_read(counters, capfd, group, name, sent):
    counter(group, name)
    counters.send()
    assert lines(capfd) == [f"reporter:counter:{sent},1"]


def test_names_cut_alike_are_one_counter(counters, capfd):
    counter("g", "n" * 70 + "1")
    counter("g", "n" * 70 + "2")
    counters.send()
    assert lines(capfd) == ["reporter:counter:g," + "n" * 63 + ",2"]


class Three:
    def __index__(self):
        return 3


@pytest.mark.parametrize("amount, sent", [(True, 1), (Three(), 3), (2**62, 2**62)])
def test_amounts_are_integers(counters, capfd, amount, sent):
    counter("g", "n", amount)
    counters.send()
    assert lines(capfd) == [f"reporter:counter:g,n,{sent}"]


@pytest.mark.parametrize("amount", [1.0, "1", None])
def test_other_amounts_are_refused(counters, capfd, amount):
    with pytest.raises(TypeError):
        counter("g", "n", amount)
    counters.send()
    assert lines(capfd) == []


def test_amounts_have_64_bits(counters, capfd):
    """Hadoop counts none beyond them."""
    greatest = 2**63 - 1
    for amount in (greatest + 1, -greatest - 2, 10**30):
        with pytest.raises(ValueError, match="64 bits"):
            counter("g", "n", amount)
    for name, amount in (("n", greatest), ("n", greatest), ("m", -greatest - 1), ("m", -1)):
        counter("g", name, amount)
    counters.send()
    assert lines(capfd) == ["reporter:counter:g,n,-2", f"reporter:counter:g,m,{greatest}"]


def test_too_many_names(counters, capfd):
    for number in range(100):
        counter("g", number)
    counters.send()
    with pytest.raises(ValueError, match="exceeds the limit of 100 counters"):
        counter("g", "another")
    counter("g", 99)
    assert len(lines(capfd)) == 100


def test_threads_count_together(counters, capfd):
    def count():
        for _ in range(1000):
            counter("g", "n")

    in_threads(count, [()] * 4)
    counters.send()
    assert lines(capfd) == ["reporter:counter:g,n,4000"]


def call_with_handler(function, handler, at):
    """Call a function, and a handler before one of its opcodes, as for a signal; return whether it has as many."""
    nopcodes = 0

    def trace(frame, event, arg):
        nonlocal nopcodes
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code.co_filename == _reporter.__file__:
            nopcodes += 1
            if nopcodes == at:
                handler()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return nopcodes >= at


@pytest.fixture
def no_hanging():
    def fail(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, 20)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("seconds", [0, 10])
def test_a_signal_handler_counts_too(clock, counters, capfd, no_hanging, seconds):
    def count():
        clock.seconds += seconds
        counter("g", "n")
        counter("g", "m", 0)

    at = 0
    while at == 0 or call_with_handler(count, lambda: counter("g", "n"), at):
        at += 1
    counters.send()
    assert at > 50
    assert sum(int(line.rpartition(",")[2]) for line in lines(capfd)) == 2 * at - 1


def test_a_send_that_is_interrupted_sends_nothing_twice(counters, capfd, monkeypatch):
    write, sent = os.write, []

    def interrupted(fd, data):
        if len(sent) == 1:
            raise KeyboardInterrupt
        sent.append(data)
        return write(fd, data)

    for name in "abc":
        counter("g", name)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "write", interrupted)
        counters.send()
    counter("g", "c")
    counters.send()
    assert lines(capfd) == ["reporter:counter:g,a,1", "reporter:counter:g,c,2"]


def test_status_is_shown_at_once(capfd):
    status("half\nway\r\nthere")
    assert lines(capfd) == ["reporter:status:half way  there"]


def test_the_prefix_is_hadoops(monkeypatch, capfd, counters):
    monkeypatch.setenv("stream_stderr_reporter_prefix", "##")
    status("x")
    counter("g", "n")
    counters.send()
    assert lines(capfd) == ["##status:x", "##counter:g,n,1"]


@pytest.mark.parametrize("character", ["x", "\u00e9", "\U0001f40d"])
@pytest.mark.parametrize("nbytes", range(LINE_NBYTES - 3, LINE_NBYTES + 3))
def test_a_line_is_cut_to_one_write(capfd, character, nbytes):
    write_line("x" * (nbytes % 4) + character * nbytes)
    text = capfd.readouterr().err
    assert text.endswith(character + "\n") and text.count("\n") == 1
    assert LINE_NBYTES - 4 < len(text.encode()) <= LINE_NBYTES


def test_a_line_is_one_write(monkeypatch):
    writes = []
    monkeypatch.setattr(os, "write", lambda fd, data: writes.append((fd, data)))
    write_line("one line")
    assert writes == [(2, b"one line\n")]


def test_status_when_standard_error_is_closed(monkeypatch):
    def closed(fd, data):
        raise BrokenPipeError

    monkeypatch.setattr(os, "write", closed)
    status("x")


def test_a_line_that_others_left_open_swallows_no_message(counters, capfd):
    os.write(2, b"half a line")
    counter("g", "n")
    counters.send()
    os.write(2, b"and another")
    status("here")
    assert lines(capfd) == ["half a line", "reporter:counter:g,n,1", "and another", "reporter:status:here"]
