"""Signals that arrive while a source is waited for."""

import contextlib
import io
import signal
import threading

import pytest

import typedbytes as tb
from reader_sources import DATA, ENDS, LIVE, VALUES, live


@contextlib.contextmanager
def alarm(seconds, handler):
    """Have a real signal delivered again and again."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", LIVE)
def test_a_signal_does_not_disturb_a_read(kind):
    seen = []
    with live(kind) as (source, send):
        sender = threading.Timer(0.2, send, [DATA[: ENDS[9]]])
        sender.start()
        with alarm(0.02, lambda *_: seen.append(1)):
            reader = tb.Reader(source)
            assert [reader.read() for _ in range(10)] == VALUES[:10]
        sender.join()
    assert seen


@pytest.mark.parametrize("kind", LIVE)
def test_a_signal_handler_that_raises_ends_a_read_for_good(kind):
    def interrupt(*_):
        raise KeyboardInterrupt

    with live(kind) as (source, send):
        reader = tb.Reader(source)
        send(DATA[:3])
        assert reader.read() is True
        with pytest.raises(KeyboardInterrupt), alarm(0.05, interrupt):
            reader.read()
        send(DATA[3:7])
        with pytest.raises(KeyboardInterrupt):
            reader.read()


def test_a_signal_handler_may_use_another_reader():
    seen = []
    with live("raw_file") as (source, send):
        sender = threading.Timer(0.1, send, [DATA[:2]])
        sender.start()
        with alarm(0.02, lambda *_: seen.append(list(tb.Reader(io.BytesIO(DATA))) == VALUES)):
            assert tb.Reader(source).read() is True
        sender.join()
    assert seen and all(seen)
