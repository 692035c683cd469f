"""The command join."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter

import typedbytes
from typedbytes._sorting import external
from typedbytes.cli._arguments import MEMORY, RecordSettings, option
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs, refuse_stdin_twice
from typedbytes.cli._output.records import Records
from typedbytes.cli._query.sort_inputs import SortInputs

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from typedbytes.cli._output.files import CommandOutput

BOTH = b"\x08\x00\x00\x00\x02"  # a VECTOR of two


class Settings(RecordSettings):
    """The options of join."""

    memory: int = MEMORY
    keep: str = option(
        "--keep", choices=("matches", "left", "all"), default="matches",
        help="left, all: pairs of the first input, or of both, without a match too, beside a null (matches)",
    )  # fmt: skip


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Join the pairs of two inputs by their keys: key, then a VECTOR of a value of each.

    Keys are compared by their bytes, so that 1 as INT and as LONG differ, and the result has their
    order. Both inputs are sorted, in temporary files if they do not fit into memory; the values that
    the second has for one key are kept in memory.

    examples:
      typedbytes join users.tb visits.tb > visits-of-users.tb
      typedbytes join --keep left counts-of-today counts-of-yesterday | typedbytes to-json --pairs
    """
    if len(settings.files) != 2:
        raise Failure(USAGE, "needs two inputs (see typedbytes join --help)")
    refuse_stdin_twice(settings.files)
    if not settings.pairs and not settings.is_record_kind_unknown:
        raise Failure(USAGE, "join is for pairs: values have no key")
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile(buffering=0)) for _ in settings.files]
        first, second = (_groups(path, file, settings) for path, file in zip(settings.files, files))
        null = typedbytes.Encoder(dialect=settings.dialect).encode(None)
        with Records(settings, output) as records, records.writer(typedbytes.PairReader(b"")) as writer:
            for key, left, right in _matched(first, second):
                if left and right or settings.keep == "all" or left and settings.keep == "left":
                    others = list(right or [null])
                    for value in left or [null]:
                        for other in others:
                            writer.write_raw(key + BOTH + value + other)


def _groups(path, file, settings) -> Iterator[tuple]:
    """Sort the pairs of an input into a file, and return an iterator over the keys, each with one over its values."""
    sort_inputs = SortInputs(Inputs(type(settings)({**vars(settings), "files": [path], "pairs": True})))
    with sort_inputs.name_failures():
        sources, _ = sort_inputs.sources()
        external.sort(sources, file, nparts=2, dialect=settings.dialect, memory=settings.memory)
    file.seek(0)
    pairs = typedbytes.PairReader(file, dialect=settings.dialect, raw=True)
    return ((key, map(itemgetter(1), group)) for key, group in groupby(pairs, itemgetter(0)))


def _matched(first: Iterator[tuple], second: Iterator[tuple]) -> Iterator[tuple]:
    """Yield (key, values of the first, values of the second) in the order of keys; None where there are none."""
    left: Any = next(first, None)
    right: Any = next(second, None)
    while left or right:
        if not right or left and left[0] < right[0]:
            yield left[0], left[1], None
            left = next(first, None)
        elif not left or right[0] < left[0]:
            yield right[0], None, right[1]
            right = next(second, None)
        else:
            yield left[0], left[1], right[1]
            left, right = next(first, None), next(second, None)
