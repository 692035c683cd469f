"""The command loadtb, which Hadoop has under this name."""

from __future__ import annotations

from functools import partial

import typedbytes
from typedbytes._base.codec_names import WRITABLE_CODECS
from typedbytes.cli._arguments import KEY_CLASS, VALUE_CLASS, SequenceFileSettings, option, switch
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._output.files import replace_file
from typedbytes.cli._output.records import UntilFailure
from typedbytes.cli._output.sequencefile import open_sequencefile, write_typed

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(SequenceFileSettings):
    """The options of loadtb."""

    files: list[str] = option(nargs="*", default=[], metavar="FILE", help="the SequenceFile: a path or URL")
    pairs: bool = True
    compression: str = option(
        "--compression",
        choices=("none", "record", "block"),
        default="record",
        help="compress values or blocks (record)",
    )
    codec: str = option("--codec", default="default", metavar="NAME", help=f"{', '.join(WRITABLE_CODECS)} (default)")
    key_class: str | None = KEY_CLASS
    value_class: str | None = VALUE_CLASS
    overwrite: bool = switch("--overwrite", help="replace an existing FILE, only on success")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Read pairs from stdin, in any format, and write them to a SequenceFile, as Hadoop's loadtb does.

    Keys and values become TypedBytesWritables, or with --key-class and --value-class other classes of
    Hadoop. Without options the file is compressed as by Hadoop's defaults. FILE appears only on
    success; an existing FILE is an error unless --overwrite is given.

    examples:
      typedbytes from-json --pairs pairs.json | typedbytes loadtb part-00000
      typedbytes loadtb --compression block --codec zstd --overwrite out.seq < pairs.tb
      typedbytes loadtb --key-class Text --value-class LongWritable counts.seq < counts.tb
    """
    if len(settings.files) != 1:
        raise Failure(USAGE, "needs one FILE to write, and pairs on stdin: typedbytes loadtb FILE < pairs.tb")
    (name,) = settings.files
    classes = {"key_class": settings.key_class, "value_class": settings.value_class}
    options = {
        "compression": settings.compression,
        "codec": settings.codec,
        "dialect": settings.dialect,
        **{name: given for name, given in classes.items() if given is not None},
    }
    with (
        replace_file(name, settings.overwrite) as file,
        Inputs(settings).reading("-") as pairs,
        open_sequencefile(file, **options) as writer,
    ):
        with typedbytes.PairWriter(UntilFailure(partial(write_typed, writer))) as copy:
            copy.copy(pairs)
