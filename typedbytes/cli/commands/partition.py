"""The command partition."""

from __future__ import annotations

import os
from contextlib import contextmanager

from typedbytes._base.atomic import atomic_folder
from typedbytes._sorting import external
from typedbytes._sorting._native import Sorter
from typedbytes.cli.arguments import CHECK_UNDECIDED, add_memory_argument, add_stream_arguments, positive
from typedbytes.cli.failure import USAGE, Failure
from typedbytes.cli.output.files import OutputError
from typedbytes.cli.query.sort_inputs import Inputs

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of partition."""
    add_stream_arguments(parser)
    parser.set_defaults(pair_check=CHECK_UNDECIDED)
    add_memory_argument(parser)
    parser.add_argument("-n", type=positive, required=True, metavar="N", dest="npartitions", help="the number of reducers")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", dest="folder", help="the folder for part-00000 and so on")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Write each record to the file of the reducer that Hadoop's HashPartitioner sends its key to.

    The files FOLDER/part-00000 and so on hold typed bytes, with records in the order of the input.
    FOLDER appears only on success; it may exist before only if it is empty.

    examples:
      typedbytes partition -n 8 --pairs pairs.tb -o by-reducer
    """
    inputs = Inputs(options)
    with inputs.name_failures(), _replace_folder(options.folder) as folder:
        _partition_into(folder, inputs, options)


def _partition_into(folder, inputs, options):
    sources, nparts = inputs.sources()
    how = {
        "nparts": nparts,
        "npartitions": options.npartitions,
        "memory": external.memory_for_records(options.memory),
        "dialect": options.dialect,
    }
    try:
        sorter = Sorter(by="partition", **how)
    except ValueError as error:
        raise Failure(USAGE, f"argument -n: {error}") from None
    for source in sources:
        while sorter.fill(source):
            _append(sorter, folder)
    _append(sorter, folder)


def _append(sorter, folder):
    """Append the records read so far to the files of a folder."""
    for number in range(len(sorter.sort())):
        with open(os.path.join(folder, f"part-{number:05}"), "ab", buffering=0) as file:
            sorter.write(number, file)
    sorter.clear()


@contextmanager
def _replace_folder(path):
    try:
        with atomic_folder(path) as folder:
            yield folder
    except OSError as error:
        raise OutputError(path, error) from None
