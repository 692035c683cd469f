"""Signals that arrive while a source is waited for."""

import contextlib
import io
import signal

import pytest

import typedbytes as tb
from support.reader_sources import DATA, ENDS, LIVE, VALUES, live

pytestmark = [pytest.mark.oldest_python, pytest.mark.debug, pytest.mark.quick]


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

    def handle(*_):
        seen.append(1)
        if len(seen) == 5:
            send(DATA[: ENDS[9]])

    with live(kind) as (source, send):
        reader = tb.Reader(source)
        with alarm(0.02, handle):
            assert [reader.read() for _ in range(10)] == VALUES[:10]
    assert len(seen) >= 5


@pytest.mark.parametrize("kind", LIVE)
def test_a_signal_handler_that_raises_ends_a_read_for_good(kind):
    is_reading = False

    def interrupt(*_):
        nonlocal is_reading
        if is_reading:  # a signal that is early does nothing, and the next one follows
            is_reading = False
            raise KeyboardInterrupt

    with live(kind) as (source, send):
        reader = tb.Reader(source)
        send(DATA[:3])
        assert reader.read() is True
        with pytest.raises(KeyboardInterrupt), alarm(0.02, interrupt):
            is_reading = True
            reader.read()
        send(DATA[3:7])
        with pytest.raises(KeyboardInterrupt):
            reader.read()


def test_a_signal_handler_may_use_another_reader():
    seen = []

    def handle(*_):
        seen.append(list(tb.Reader(io.BytesIO(DATA))) == VALUES)
        if len(seen) == 3:
            send(DATA[:2])

    with live("raw_file") as (source, send):
        reader = tb.Reader(source)
        with alarm(0.02, handle):
            assert reader.read() is True
    assert len(seen) >= 3 and all(seen)
