"""The command partition."""

from __future__ import annotations

import os

from typedbytes._base.atomic import atomic_folder
from typedbytes._sorting import Sorter, external
from typedbytes.cli._arguments import MEMORY, StreamSettings, option, positive
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED
from typedbytes.cli._output.files import as_output_error
from typedbytes.cli._query.sort_inputs import SortInputs

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(StreamSettings):
    """The options of partition."""

    memory: int = MEMORY
    npartitions: int = option("-n", type=positive, required=True, metavar="N", help="the number of reducers")
    folder: str = option("-o", "--output", required=True, metavar="FOLDER", help="the folder for part-00000 and so on")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write each record to the file of the reducer that Hadoop's HashPartitioner sends its key to.

    The files FOLDER/part-00000 and so on hold typed bytes, with records in the order of the input.
    FOLDER appears only on success; it may exist before only if it is empty.

    examples:
      typedbytes partition -n 8 --pairs pairs.tb -o by-reducer
    """
    inputs = SortInputs(Inputs(settings, CHECK_UNDECIDED))
    with inputs.name_failures(), as_output_error(settings.folder), atomic_folder(settings.folder) as folder:
        sources, nparts = inputs.sources()
        memory = external.memory_for_records(settings.memory)
        try:
            sorter = Sorter(
                by="partition", nparts=nparts, npartitions=settings.npartitions, memory=memory, dialect=settings.dialect
            )
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
