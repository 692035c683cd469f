"""The command validate."""

from __future__ import annotations

import os
from contextlib import contextmanager

from typedbytes.cli.arguments import CHECK_UNDECIDED, add_report_arguments, add_unicode_argument, integer
from typedbytes.cli.failure import BAD_DATA, OK, USAGE, Failure, escaped
from typedbytes.cli.input import formats
from typedbytes.cli.input.inputs import check_for_pairs, display_name, input_names, opened, recognised
from typedbytes.cli.output.files import replace_file
from typedbytes.cli.output.reports import is_table, report
from typedbytes.cli.records.decoding import decoder_options
from typedbytes.cli.records.encoded import unit
from typedbytes.cli.records.fault_finder import FaultFinder, RecentBytesReader, dump

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of validate."""
    add_report_arguments(parser)
    add_unicode_argument(parser)
    parser.add_argument("--pickle", choices=("safe", "raw"), default="safe", help="raw accepts any pickle without decoding it")
    parser.add_argument("--repair", metavar="OUT", help="copy every intact record of one input to OUT")
    parser.add_argument("-n", type=integer, default=10, metavar="N", dest="nfaults", help="report the first N faults of an input (10)")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Decode everything and report for each input whether it is good, or where it is bad.

    An input is good if typedbytes.Reader accepts it with its default options: the whole format,
    STRINGs in UTF-8, keys of a MAP that Python can hash, pickles of the safe types only. Data of
    Python 2 often has text in Latin-1: --unicode-errors surrogateescape accepts it. The report has
    the first faults: offset, record, path and the bytes around. The first fault of an input is also
    written to stderr, the other inputs are still read, and the exit code is that of the first bad
    one.

    --repair copies the intact records: of a SequenceFile also those after damage, of a stream those
    around values that are complete but wrong, and those before its structure breaks.

    examples:
      typedbytes validate part-0*.tb
      typedbytes validate --repair good.seq bad.seq
      hadoop jar hadoop-streaming.jar dumptb out | typedbytes validate --pairs
    """
    if options.repair is not None:
        _check_repair(options)
    options.pair_check = CHECK_UNDECIDED if options.repair is not None else None
    status = OK
    rows: list = []
    for name in input_names(options):
        try:
            found = _validated(name, options, rows)
        except Failure as failure:
            found = failure.report()
            if found == BAD_DATA:
                rows.append({"input": display_name(name), "ok": False, "records": 0, "unit": None, "bytes": None, "message": str(failure)})
        status = status or found
        if not is_table(options, output):
            report(rows, options, output)
            rows = []
    if rows:
        _write_tables(rows, options, output)
    return status


def _check_repair(options):
    if len(input_names(options)) != 1:
        raise Failure(USAGE, "--repair takes one FILE (see typedbytes validate --help)")
    if not options.files and os.path.exists(options.repair):  # it may be the file to repair
        message = f"--repair {options.repair} needs an input: typedbytes validate --repair OUT FILE, or - for standard input"
        raise Failure(USAGE, message)


def _validated(name, options, rows):
    """Validate an input, append its row of the report, and return the exit code."""
    with opened(name) as source:
        form, source = recognised(source, options)
        source = check_for_pairs(source, form, name, options)
        recent = RecentBytesReader(source if form == "sequencefile" else formats.source_of(source, form, display_name(name), options))
        if form == "sequencefile" and options.repair is not None:
            from typedbytes.cli.records.repair import repair  # imported lazily: start-up time

            return repair(recent, name, options)
        with _repaired_file(options.repair) as keep:
            finder = FaultFinder(recent, options, keep)
            if form == "sequencefile":
                with formats.sequence_file_reader(recent, options, resync=True, **decoder_options(options)) as reader:
                    finder.run_sequence_file(reader)
            else:
                with formats.reader_of(recent, "typedbytes", display_name(name), options, raw=True) as reader:
                    finder.run(reader)
        row = {
            "input": display_name(name),
            "ok": not finder.nfaults,
            "records": finder.nintact,
            "unit": unit(reader),
            "bytes": finder.nbytes,
        }
        if keep:
            row["lost bytes"] = recent.drain() - finder.nkept
    rows.append(row)
    if not finder.nfaults:
        return OK
    row["bad"] = finder.nfaults
    row["faults"] = [_fault(*each) for each in finder.faults[: options.nfaults]]
    return Failure(BAD_DATA, f"{display_name(name)}: {finder.faults[0][0]}").report()


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


def _write_tables(rows, options, output):
    faults = [(row["input"], each) for row in rows for each in row.pop("faults", ())]
    report(rows, options, output)
    for name, fault in faults:
        location = f"record {fault['record']}" + (f", path {fault['path']}" if fault["path"] else "")
        output.line(f"\n{escaped(name)}: offset {fault['offset']}, {location}: {fault['message']}")
        for line in dump(bytes.fromhex(fault["window"]), fault["window offset"], fault["offset"]):
            output.line(line)
