"""The command validate."""

from __future__ import annotations

import os
from contextlib import contextmanager

from typedbytes.cli._arguments import KEY_TYPE, SERDE, TYPE, UNICODE_ERRORS, ReportSettings, integer, option
from typedbytes.cli._failure import BAD_DATA, OK, USAGE, Failure, display_name, escaped
from typedbytes.cli._input import formats
from typedbytes.cli._input.inputs import Inputs, opened, report_skipped
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED
from typedbytes.cli._output.files import refuse_path_of_output, replace_file
from typedbytes.cli._output.reports import is_table, report
from typedbytes.cli._records.encoded import Encoded, unit
from typedbytes.cli._records.fault_finder import FaultFinder, RecentBytesReader, dump

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes.cli._output.files import CommandOutput


class Settings(ReportSettings):
    """The options of validate."""

    unicode_errors: str = UNICODE_ERRORS
    pickle: str = option(
        "--pickle", choices=("safe", "raw"), default="safe", help="raw accepts any pickle without decoding it"
    )
    type: str | None = TYPE
    key_type: str | None = KEY_TYPE
    serde: str | None = SERDE
    repair: str | None = option("--repair", metavar="OUT", help="copy every intact record of one input to OUT")
    nfaults: int = option(
        "-n", type=integer, default=10, metavar="N", help="report the first N faults of an input (10)"
    )

    def decoding(self) -> dict[str, str]:
        """Return the options of a Decoder."""
        return {"dialect": self.dialect, "pickle": self.pickle, "unicode_errors": self.unicode_errors}

    def types(self) -> dict[str, Any]:
        """Return the types that keys and values must have, as options of a Decoder."""
        if self.type is None and self.key_type is None:
            return {}
        from typedbytes.cli._records.record_type import types_of

        return types_of(self.type, self.key_type)


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Decode everything and report for each input whether it is good, or where it is bad.

    An input is good if typedbytes.Reader accepts it with its default options: the whole format,
    STRINGs in UTF-8, keys of a MAP that Python can hash, pickles of the safe types only. Data of
    Python 2 often has text in Latin-1: --unicode-errors surrogateescape accepts it. The cells of an
    RCFile may be any bytes. The report has the first faults: offset, record, path and the bytes
    around. The first fault of an input is also written to stderr, the other inputs are still read,
    and the exit code is that of the first bad one.

    With --type each value must also fit a record class; what does not is a fault with its path.

    --repair copies the intact records: of a SequenceFile also those after damage, of a stream those
    around values that are complete but wrong, and those before its structure breaks. Of an RCFile
    the rows before and after damaged groups become typed bytes, of BYTES with --serde binary. The
    report says how many there were, and how many bytes are lost. OUT may be FILE.

    examples:
      typedbytes validate part-0*.tb
      typedbytes validate --repair good.seq bad.seq
      typedbytes validate --type visits:Visit visits.tb
      hadoop jar hadoop-streaming.jar dumptb out | typedbytes validate --pairs
    """
    only_for = {"--serde is": ("rcfile",)} if settings.serde else None
    inputs = Inputs(settings, CHECK_UNDECIDED if settings.repair is not None else None, only_for=only_for)
    if settings.repair is not None:
        _check_repair(settings.repair, inputs, settings.output)
    types = settings.types()
    status = OK
    rows: list = []
    for name in inputs:
        try:
            code = _validated(name, inputs, settings, types, rows)
        except Failure as failure:
            code = failure.report()
            if code == BAD_DATA:
                rows.append(_row(name, False, 0, None, None, message=str(failure)))
        status = status or code
        if not is_table(settings, output):
            report(rows, settings, output)
            rows = []
    if rows:
        _write_tables(rows, settings, output)
    return status


def _check_repair(target, inputs, output):
    if len(list(inputs)) != 1:
        raise Failure(USAGE, "--repair takes one FILE (see typedbytes validate --help)")
    refuse_path_of_output("--repair", target, output)
    if not inputs.files and os.path.exists(target):  # the target may be the file to repair
        message = f"--repair {target} needs an input: typedbytes validate --repair OUT FILE, or - for standard input"
        raise Failure(USAGE, message)


def _validated(name, inputs, settings, types, rows):
    """Validate an input, append its row of the report, and return the exit code."""
    with opened(name) as source:
        form, source = inputs.recognised(source, name)
        source = inputs.check_for_pairs(source, form, name)
        opening = formats.Opening(display_name(name), settings.pairs, settings.dialect, settings.max_bytes)
        if form == "rcfile":
            return _validated_rows(name, source, opening, settings, types, rows)
        if form != "sequencefile":
            source = formats.source_of(source, form, opening)
        recent = RecentBytesReader(source)
        if form == "sequencefile" and settings.repair is not None:
            from typedbytes.cli._output.repair import repair

            with formats.sequence_file_reader(
                recent, settings.dialect, settings.max_bytes, raw=True, resync=True
            ) as damaged:
                nkept, skipped = repair(damaged, settings.repair, settings.decoding(), **types)
                rows.append(_repaired_row(name, nkept, skipped, damaged.offset, recent, settings.nfaults))
            return report_skipped(name, skipped)
        with _repaired_file(settings.repair) as keep:
            decoding = {**settings.decoding(), **types}
            finder = FaultFinder(recent, settings.nfaults, settings.max_bytes, decoding, keep)
            if form == "sequencefile":
                options = {**decoding, "max_bytes": settings.max_bytes}
                options.pop("type", None)
                with formats.sequence_file_reader(recent, resync=True, **options) as reader:
                    finder.run_sequence_file(reader)
            else:
                with formats.reader_of(recent, "typedbytes", opening, True) as reader:
                    finder.run(reader)
        row = _row(name, not finder.nfaults, finder.nintact, unit(reader), finder.nbytes)
        if keep and not finder.failure:  # how many typed bytes would have been made of the rest is not known
            row["lost bytes"] = recent.drain() - finder.nkept
    rows.append(row)
    return _reported(name, row, finder, settings)


def _validated_rows(name, source, opening, settings, types, rows):
    """Validate an RCFile as _validated does; after damage reading goes on at the next sync marker."""
    recent = RecentBytesReader(source)
    windows: list[tuple[bytes, int]] = []  # around what was skipped
    file = formats.rows_of_rcfile(recent, opening, resync=True, serde=settings.serde or "text")
    # Which serde wrote the cells is not in the file: any bytes may be right.
    decoding = {**settings.decoding(), "unicode_errors": "surrogateescape", **types}

    def pieces():
        data = True
        while data:
            data, _ = file.__read_encoded__(formats.CHUNK_NBYTES)
            windows.extend(recent.window(part.error.offset) for part in file.skipped[len(windows) :])
            yield from filter(None, [data])

    with _repaired_file(settings.repair) as keep:
        encoded = RecentBytesReader(Encoded(pieces()))
        finder = FaultFinder(encoded, settings.nfaults, settings.max_bytes, decoding, keep)
        with formats.reader_of(encoded, "typedbytes", opening, True) as reader:
            finder.run(reader)
    row = _row(name, not (finder.nfaults or file.skipped), finder.nintact, unit(reader), file.offset)
    if keep:  # of the file, and of rows that are read but wrong, as typed bytes
        row["lost bytes"] = sum(part.nbytes for part in file.skipped) + encoded.drain() - finder.nkept
    finder.add_damage(file.skipped, windows)
    rows.append(row)
    return _reported(name, row, finder, settings)


def _row(name, is_intact, nrecords, what, nbytes, **more):
    return {"input": display_name(name), "ok": is_intact, "records": nrecords, "unit": what, "bytes": nbytes, **more}


def _reported(name, row, finder, settings):
    """Add the faults to the row of a report, write the first to stderr, and return the exit code."""
    if finder.failure:
        row.update(ok=False, message=str(finder.failure))
    if not finder.nfaults:
        return finder.failure.report() if finder.failure else OK
    row["bad"] = finder.nfaults
    row["faults"] = [_fault(*each) for each in finder.faults[: settings.nfaults]]
    return Failure(BAD_DATA, f"{display_name(name)}: {finder.faults[0][0]}").report()


def _repaired_row(name, nkept, skipped, nbytes, recent, nfaults):
    """Return the row of the report on a repaired SequenceFile."""
    row = _row(name, not skipped, nkept, "pairs", nbytes)
    row["lost bytes"] = sum(part.nbytes for part in skipped)
    if skipped:
        row["bad"] = len(skipped)
        row["faults"] = [_fault(part.error, *recent.window(part.error.offset)) for part in skipped[: max(1, nfaults)]]
    return row


@contextmanager
def _repaired_file(name):
    """Yield the function that writes to the file of this name, or None without a name."""
    if name is None:
        yield None
    else:
        with replace_file(name) as file:
            yield file.write


def _fault(error, window, start):
    return {
        "error": type(error).__name__,
        "message": escaped(error.message),
        "offset": error.offset,
        "record": error.record,
        "path": escaped(error.path),
        "window": window.hex(),
        "window offset": start,
    }


def _write_tables(rows, settings, output):
    faults = [(row["input"], each) for row in rows for each in row.pop("faults", ())]
    report(rows, settings, output)
    for name, fault in faults:
        location = "".join(
            f", {part} {fault[part]}" for part in ("record", "path") if fault[part] is not None and fault[part] != ""
        )
        output.line(f"\n{escaped(name)}: offset {fault['offset']}{location}: {fault['message']}")
        for line in dump(bytes.fromhex(fault["window"]), fault["window offset"], fault["offset"]):
            output.line(line)
