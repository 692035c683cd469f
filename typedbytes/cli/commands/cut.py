"""The command cut. A field keeps its encoded bytes."""

from __future__ import annotations

import typedbytes
from typedbytes.cli._arguments import RecordSettings, option
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import REFUSE
from typedbytes.cli._output.records import Records
from typedbytes.cli._query.fields import Fields
from typedbytes.cli._records.encoded import chunks, may_have_keys, nparts

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(RecordSettings):
    """The options of cut."""

    field: list[str] = option(
        "-f", "--field", action="append", default=[], metavar="PATH", help="a field to write, such as key or value[0]"
    )
    key: str | None = option(
        "-k", "--key", metavar="PATH", help="write pairs: the field at PATH is the key, the others are the value"
    )
    missing: str = option(
        "--missing", choices=("error", "null"), default="error", help="what to do if a record lacks a field (error)"
    )


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write the fields at given paths: of one PATH each value as it is, of several a VECTOR of them.

    A PATH is written as schema and error messages write it: key, value, value[0] for an item of a
    VECTOR or LIST, [-1] for the last one, value['name'] for the value of a MAP, and so on inside it.
    Of equal keys of a MAP the last one counts. value.name and value.0, as columns are named, are short
    for these; a path that begins with [ or a dot is one in the value. What is written are values byte
    for byte, or with --key pairs, for what compares or collects keys: sort, uniq, freq, aggregate, and
    jobs.

    examples:
      typedbytes cut -f value.user.id --values logs.tb | typedbytes freq
      typedbytes cut -k value.user.id -f value.size --values logs.tb | typedbytes aggregate --pairs
      typedbytes cut -f key -f 'value[1]' --pairs out | typedbytes to-text --csv
    """
    if not settings.field:
        raise Failure(USAGE, "needs a field: -f PATH (see typedbytes cut --help)")
    keys = [settings.key] if settings.key else []
    fields = Fields(settings.field, "-f", settings.dialect, settings.missing == "null", keys, "-k")
    inputs = Inputs(settings, REFUSE)
    kind = typedbytes.PairReader if settings.key else typedbytes.Reader
    with Records(settings, output) as records, records.writer(kind(b"")) as writer:
        for name in inputs:
            with inputs.reading(name) as reader:
                fields.check(may_have_keys(reader))
                for start, number, chunk in chunks(reader):
                    values, fault = fields.compiled.cut(chunk, nparts(reader))
                    writer.write_raw(values)
                    if fault:
                        offset, nbefore, path = fault
                        message = f"no {fields.paths[path]} in the record (--missing null writes null)"
                        raise typedbytes.FormatError(message, start + offset, record=number + nbefore)
