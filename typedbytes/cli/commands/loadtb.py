"""The command loadtb, which Hadoop has under this name."""

from __future__ import annotations

import typedbytes
from typedbytes._base.codec_names import TO_WRITE
from typedbytes.cli.arguments import add_sequence_file_limits
from typedbytes.cli.failure import USAGE, Failure
from typedbytes.cli.input.inputs import reading
from typedbytes.cli.output.files import replace_file
from typedbytes.cli.output.records import UntilFailure
from typedbytes.cli.output.sequencefile import open_sequencefile

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of loadtb."""
    parser.add_argument("files", nargs="*", default=[], metavar="FILE", help="the SequenceFile: a path or URL")
    add_sequence_file_limits(parser)
    parser.add_argument("--compression", choices=("none", "record", "block"), default="record", help="compress values or blocks (record)")
    parser.add_argument("--codec", default="default", metavar="NAME", help=f"{', '.join(TO_WRITE)} (default)")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing FILE, only on success")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Read pairs from stdin, in any format, and write them to a SequenceFile, as Hadoop's loadtb does.

    Keys and values become TypedBytesWritables. Without options the file is compressed as by Hadoop's
    defaults. FILE appears only on success; an existing FILE is an error unless --overwrite is given.

    examples:
      typedbytes from-json --pairs pairs.json | typedbytes loadtb part-00000
      typedbytes loadtb --compression block --codec zstd --overwrite out.seq < pairs.tb
    """
    if len(options.files) != 1:
        raise Failure(USAGE, "loadtb writes one FILE and reads stdin: typedbytes loadtb FILE < pairs.tb")
    (name,) = options.files
    how = {"compression": options.compression, "codec": options.codec, "dialect": options.dialect}
    options.pairs = True
    with replace_file(name, options.overwrite) as file, reading("-", options, raw=True) as pairs, open_sequencefile(file, **how) as writer:
        with typedbytes.PairWriter(UntilFailure(writer.write_typed)) as copy:
            copy.copy(pairs)
