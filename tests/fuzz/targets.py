"""The targets by name: each a function of bytes that returns when all is well, and how its inputs are made.

Here: names and makers. Not here: engines. Invariant: a target documents what may be raised by catching it;
whatever comes out of it is a finding.
"""

import ctypes
import gc
import time

from fuzz import (
    blocks,
    calls,
    chosen,
    classes,
    columns,
    commands,
    compressed,
    decoding,
    encoding,
    json_text,
    keys,
    older,
    pickles,
    rcfiles,
    records,
    report,
    sequences,
    streams,
)
from fuzz.guard import Guard


class Target:
    """A check of bytes, and the shape of the bytes it wants."""

    def __init__(self, check, shape):
        self.check = check
        self.shape = shape


def wire_after(nbytes):
    """Return a shape: `nbytes` bytes that choose, then a stream."""
    return lambda maker: maker.rng.randbytes(nbytes) + maker.wire()


def wire_before_program(maker):
    """Return a stream after its length, and then bytes that decide what is done with it."""
    wire = maker.wire()[:60_000]
    return len(wire).to_bytes(2, "big") + wire + maker.program()


TARGETS = {
    "bytes": Target(decoding.check_buffer, wire_after(1)),
    "reference": Target(decoding.check_reference, wire_after(1)),
    "pieces": Target(streams.check_pieces, wire_after(streams.HEAD)),
    "columns": Target(columns.check_columns, columns.shape),
    "reading": Target(calls.check_reading, wire_before_program),
    "writing": Target(calls.check_writing, lambda maker: maker.program()),
    "objects": Target(encoding.check_object, lambda maker: maker.program()),
    "older": Target(older.check_older, wire_before_program),
    "layouts": Target(blocks.check_layouts, blocks.layouts_shape),
    "native": Target(blocks.check_native, blocks.native_shape),
    "sequences": Target(sequences.check_sequence, sequences.shape),
    "classes": Target(classes.check_class, classes.shape),
    "rcfile": Target(rcfiles.check_rcfile, rcfiles.shape),
    "compressed": Target(compressed.check_compressed, compressed.shape),
    "keys": Target(keys.check_key, keys.shape),
    "pickles": Target(pickles.check_pickle, pickles.shape),
    "records": Target(records.check_typed, records.spoiled_shape),
    "typed": Target(records.check_alone, records.spoiled_shape),
    "commands": Target(commands.check_commands, commands.shape),
    "chosen": Target(chosen.check_chosen, chosen.shape),
    "json": Target(json_text.check_json, json_text.shape),
    "report": Target(report.check_report, wire_after(report.HEAD)),
}


# What the engine's own tests look for.

DAWDLED_SECONDS = 0.1  # an engine is told that a target which takes longer is slow


def _raise(data):
    raise AssertionError("planted")


def _die(data):
    ctypes.string_at(1)


def _hang(data):
    while True:
        time.sleep(1)


def _dawdle(data):
    end = time.process_time() + 1.1 * DAWDLED_SECONDS
    while time.process_time() < end:
        pass


_ONCE = iter((_dawdle,))


def _dawdle_once(data):
    next(_ONCE, len)(data)


def _switch_collector_off(data):
    gc.disable()


def _look_beyond(data):
    view = GUARD.put(data)
    ctypes.string_at(ctypes.addressof(ctypes.c_char.from_buffer(view)), len(data) + 1)


GUARD = Guard()
PLANTED = {
    f"planted-{check.__name__[1:]}": Target(check, wire_after(1))
    for check in (_raise, _die, _hang, _dawdle, _dawdle_once, _switch_collector_off, _look_beyond)
}
