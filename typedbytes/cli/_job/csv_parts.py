"""Part files of CSV put together: the names of their columns once, in front.

Here: what the parts begin with, and their rows, compressed or not. Not here: where they are, and which output they go
to. Invariant: a row is under the names of its own part; where those differ, nothing is written.
"""

from __future__ import annotations

import csv
import io
import os
from contextlib import contextmanager

from typedbytes._base.compression import compression_of_text, compressor
from typedbytes.jobs.tasks.input_kinds import decompressed

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typedbytes.cli._output.files import CommandOutput

__all__ = ["PartsError", "find_names", "write_rows"]

PIECE_NBYTES = 1 << 18
COMPRESSIONS = (None, "gzip", "bzip2", "deflate", "zstd")  # in which rows can be written again


class PartsError(ValueError):
    """The parts cannot be put together."""


def find_names(paths: Sequence[str]) -> list[str]:
    """Return the parts that begin with the names of columns: that of a task without rows is empty.

    Raises PartsError where the names differ, also by their order.
    """
    found: list[tuple[str, bytes]] = []
    for path in paths:
        kind = compression_of_text(path)
        if kind not in COMPRESSIONS:
            raise PartsError(f"part files compressed by {kind} cannot be put together: give --output FOLDER")
        try:
            with _opened(path, kind) as file:
                names = file.readline()
        except ModuleNotFoundError as error:
            raise PartsError(f"{error}; or give --output FOLDER") from None
        if not names:
            continue
        found.append((path, names))
        first, expected = found[0]
        if names != expected:
            raise PartsError(
                f"{os.path.basename(path)} has the columns {_columns_in(names)}, and {os.path.basename(first)} has "
                f"{_columns_in(expected)}: give --output FOLDER, or have each task begin with a row of the same "
                "columns in the same order"
            )
    return [path for path, _ in found]


def write_rows(path: str, output: CommandOutput) -> None:
    """Write a part without the names of its columns, compressed as it is."""
    kind = compression_of_text(path)
    packer = compressor(kind) if kind else None
    with _opened(path, kind) as file:
        file.readline()
        while data := file.read(PIECE_NBYTES):
            output.write(packer.compress(data) if packer else data)
    if packer:
        output.write(packer.flush())


@contextmanager
def _opened(path, kind):
    with open(path, "rb", buffering=0) as raw, io.BufferedReader(decompressed(raw, kind)) as file:
        yield file


def _columns_in(line):
    return ", ".join(next(csv.reader([line.decode("utf-8", "replace")])))
