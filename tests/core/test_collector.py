"""The garbage collector is as it was, after decoding and inside hooks."""

import codecs
import gc
import signal

import pytest

import typedbytes as tb
from support.decoding_values import EXT, exts, many
from support.signal_checks import raising

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]


def test_decoding_leaves_the_collector_as_it_was():
    data = many(5000, b"\3\7\0\0\0")()
    assert gc.isenabled()
    for bad in (data[:-1], data[:-1] + b"\x0b", data + b"\2"):
        with pytest.raises(tb.DecodeError):
            tb.loads(bad)
        assert gc.isenabled()
    gc.disable()
    try:
        tb.loads(data)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.fixture
def collector():
    """Have the collector on, before and after."""
    assert gc.isenabled()
    yield
    gc.enable()


def test_a_collector_that_a_handler_of_text_switches_off_stays_off(collector):
    seen = []

    def handle(error):
        seen.append(gc.isenabled())
        gc.disable()
        return "?", error.end

    codecs.register_error("typedbytes-switches-off", handle)
    data = b"\x09" + b"\2\1" * 20_000 + b"\7\0\0\0\1\xff" * 2 + b"\2\1" * 20_000 + b"\xff"
    for decode in (tb.loads, lambda data, **options: next(tb.Reader(data, **options))):
        gc.enable()
        assert decode(data, unicode_errors="typedbytes-switches-off")[20_000:20_002] == ["?", "?"]
        assert not gc.isenabled()
    assert seen == [True, False] * 2


@pytest.mark.parametrize("form", ["one value", "many"])
def test_a_collector_that_a_signal_switches_off_stays_off(form, collector):
    seen = []

    def handle(*_):
        seen.append(gc.isenabled())
        gc.disable()

    data = b"\2\1" * 100_000 + EXT + b"\2\1" * 100_000
    decoder = tb.Decoder(ext_hook=raising(signal.SIGALRM))
    before = signal.signal(signal.SIGALRM, handle)
    try:
        decoder.decode_all(data) if form == "many" else decoder.decode(b"\x09" + data + b"\xff")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [True] and not gc.isenabled()


def test_a_hook_runs_with_the_collector_as_it_was():
    seen = []
    data = exts(2000)
    tb.loads(data, ext_hook=lambda code, data: seen.append(gc.isenabled()))
    assert all(seen)
