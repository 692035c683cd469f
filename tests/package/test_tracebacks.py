"""A failing call has one frame of compiled code in its traceback, whatever it went through."""

import inspect
import pickle

import pytest

import typedbytes as tb
from support.public_classes import callables_of

pytestmark = pytest.mark.quick

MODULES = ("", ".block", ".columns", ".hive", ".records", ".rmr2", ".sequencefile", ".sortkey")
NESTED = [[{"a": ([object()],)}]]
DEEP = tb.dumps([[{"a": ([1, "text"],)}]])
FAILING = {
    "dumps": lambda: tb.dumps(NESTED),
    "loads": lambda: tb.loads(DEEP[:-6]),
    "Encoder.encode_pairs": lambda: tb.Encoder().encode_pairs([(1, NESTED)]),
    "Decoder.decode_all": lambda: tb.Decoder().decode_all(DEEP + DEEP[:-6]),
    "Reader": lambda: list(tb.Reader(DEEP + DEEP[:-6])),
    "PairReader": lambda: list(tb.PairReader(DEEP + DEEP[:-6])),
    "typed decoding": lambda: tb.Decoder(type=dict[str, int]).decode(DEEP),
    "typed encoding": lambda: tb.Encoder(type=dict[str, list[int]]).encode({"a": [1, "b"]}),
}


def compiled_frames(call):
    """Return the names of the compiled functions in the traceback of a call; None if it does not fail."""
    try:
        call()
    except Exception as error:
        names, traceback = [], error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            names += [code.co_name] if code.co_filename.endswith((".pyx", ".pxi", ".pxd")) else []
            traceback = traceback.tb_next
        return names
    return None


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_call_has_one_compiled_frame(name):
    assert len(compiled_frames(FAILING[name])) == 1


def test_an_error_that_compiled_code_caught_and_chained_keeps_its_traceback():
    error = pytest.raises(tb.FormatError, tb.loads, b"\x07\0\0\0\1\xff").value
    assert error.__traceback__ is not None and error.__cause__.__traceback__ is not None
    assert pickle.loads(pickle.dumps(error)).args == error.args


def test_so_has_each_public_function_for_wrong_arguments():
    nfailed = 0
    for name, function in callables_of(MODULES):
        if inspect.iscoroutinefunction(function):
            continue
        for arguments in ((), (object(),), (object(), object())):
            frames = compiled_frames(lambda: function(*arguments))
            nfailed += frames is not None
            assert len(frames or ()) <= 1, (name, frames)
    assert nfailed > 200


def test_what_a_hook_raises_has_the_frames_of_the_hook():
    def default(obj):
        raise KeyError(obj)

    with pytest.raises(KeyError) as caught:
        tb.dumps(NESTED, default=default)
    assert [each.name for each in caught.traceback][-1] == "default"
    assert compiled_frames(lambda: tb.dumps(NESTED, default=default)) == []
