"""Commands that read and write nothing but what they found out: count, sniff, validate and diff."""

from contextlib import contextmanager
from itertools import islice

from typedbytes.cli import _formats
from typedbytes.cli._failure import BAD_DATA, DIFFERENT, OK, USAGE, Failure, escaped
from typedbytes.cli._output import replacing
from typedbytes.cli._parser import add_report_arguments, natural
from typedbytes.cli._record_output import joined
from typedbytes.cli._reports import is_table, report
from typedbytes.cli._inputs import names, opened, reading, recognised, shown, unit, unless_pairs, within

SKIP_NRECORDS = 1 << 16

count_arguments = add_report_arguments


def count(options, output):
    """Print the number of values in all inputs, or of pairs with --pairs.

    Values are skipped by their structure, not decoded. With --pairs a key without a value is an
    error. With --json or --table a line for each input.

    examples:
      typedbytes count part-0*.tb
      typedbytes count --pairs < part-00000.tb
      typedbytes count --table out
    """
    rows = (_counted(name, options) for name in names(options))
    if options.json or options.table:
        report(rows, options, output)
    else:
        output.line(sum(row["records"] for row in rows))


def _counted(name, options):
    total = 0
    with reading(name, options) as reader:
        while nrecords := reader.skip(SKIP_NRECORDS):
            total += nrecords
        return {"input": shown(name), "records": total, "unit": unit(reader), "bytes": reader.offset}


sniff_arguments = add_report_arguments


def sniff(options, output):
    """Tell what each input is, by its first bytes and its first values.

    The format; whether its values look like pairs, which the bytes do not say; the types of the
    first values; of a SequenceFile what its header tells. The rest is not looked at, and a bad
    input is no error here.

    examples:
      typedbytes sniff out
      typedbytes sniff < unknown.bin
    """
    from typedbytes.cli.commands.sniff import about  # its users only

    report((about(name, options) for name in names(options)), options, output)


def validate_arguments(parser):
    """Declare the arguments of validate."""
    add_report_arguments(parser)
    parser.add_argument("--repair", metavar="OUT", help="copy every intact record of one input to OUT")
    parser.add_argument("-n", type=natural, default=10, metavar="N", dest="nfaults", help="tell the first N faults of an input (10)")


def validate(options, output):
    """Decode everything and report for each input that it is good, or where it is bad.

    Good is what typedbytes.Reader accepts as it stands: the format in full, STRINGs in UTF-8, keys
    of a MAP that Python can hash, pickles of the safe types only. The report has the first faults:
    offset, record, path and the bytes around. The first of an input is told on stderr too, the
    other inputs are still read, and the exit code is that of the first bad one.

    --repair copies the intact records: of a SequenceFile also those behind damage, of a stream
    those around values that are whole but wrong, and those before its structure breaks.

    examples:
      typedbytes validate part-0*.tb
      typedbytes validate --repair good.seq bad.seq
      hadoop jar hadoop-streaming.jar dumptb out | typedbytes validate --pairs
    """
    if options.repair is not None and len(names(options)) != 1:
        raise Failure(USAGE, "--repair takes one FILE (see typedbytes validate --help)")
    options.picks = options.repair is not None
    status, rows = OK, []
    for name in names(options):
        try:
            found = _validated(name, options, rows)
        except Failure as failure:
            found = failure.report()
        status = status or found
        if not is_table(options, output):
            report(rows, options, output)
            rows = []
    if rows:
        _tell_in_a_table(rows, options, output)
    return status


def _validated(name, options, rows):
    """Validate an input, append what there is to report, and return the exit code."""
    from typedbytes.cli._faults import Check, Memory  # its users only

    with opened(name) as source:
        form, source = recognised(source, options)
        source = unless_pairs(source, form, name, options)
        memory = Memory(source if form == "sequencefile" else _formats.source_of(source, form, shown(name), options))
        if form == "sequencefile":
            from typedbytes.cli import _sequencefile_output  # its users only

            if options.repair is not None:
                return _sequencefile_output.repair(memory, name, options)
        with _keeping(options.repair) as keep:
            check = Check(memory, options, keep)
            if form == "sequencefile":
                with _sequencefile_output.reader(memory, options, resync=True) as reader:
                    check.run_sequence_file(reader)
            else:
                with _formats.reader_of(memory, "typedbytes", shown(name), options, raw=True) as reader:
                    check.run(reader)
        row = {"input": shown(name), "ok": not check.nfaults, "records": check.nintact, "unit": unit(reader), "bytes": check.nbytes}
        if keep:
            row["lost bytes"] = memory.drain() - check.nkept
    rows.append(row)
    if not check.nfaults:
        return OK
    row["bad"] = check.nfaults
    row["faults"] = [_fault(*each) for each in check.faults[: options.nfaults]]
    return Failure(BAD_DATA, f"{shown(name)}: {check.faults[0][0]}").report()


@contextmanager
def _keeping(name):
    """Give the function that writes to the file of this name, or None without a name."""
    if name is None:
        yield None
    else:
        with replacing(name) as file:
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


def _tell_in_a_table(rows, options, output):
    from typedbytes.cli._faults import dump  # its users only

    faults = [(row["input"], each) for row in rows for each in row.pop("faults", ())]
    report(rows, options, output)
    for name, fault in faults:
        place = f"record {fault['record']}" + (f", path {fault['path']}" if fault["path"] else "")
        output.line(f"\n{escaped(name)}: offset {fault['offset']}, {place}: {fault['message']}")
        for line in dump(bytes.fromhex(fault["window"]), fault["window offset"], fault["offset"]):
            output.line(line)


def diff_arguments(parser):
    """Declare the arguments of diff."""
    add_report_arguments(parser)
    parser.add_argument("--unordered", action="store_true", help="compare how often each record is there, wherever it stands")
    parser.add_argument("-n", type=natural, default=10, metavar="N", dest="ndifferences", help="tell the first N differences (10)")


def diff(options, output):
    """Compare two inputs record by record, and report where they differ.

    The exit code is 0 when they hold the same records, byte for byte in typed bytes, and 1 when
    not. --unordered is for outputs of jobs, whose records come in any order: it counts digests of
    the records in memory.

    examples:
      typedbytes diff before.tb after.tb
      typedbytes diff --pairs --unordered out-of-hadoop out-of-here
    """
    if len(options.files) != 2:
        raise Failure(USAGE, "diff compares two inputs (see typedbytes diff --help)")
    from typedbytes.cli.commands import diff as _comparing  # its users only

    options.picks = options.unordered
    find = _comparing.counted if options.unordered else _comparing.in_order
    differences = find(*(_records_of(place, options) for place in options.files), options)
    shown_rows = list(islice(differences, options.ndifferences))
    report(shown_rows, options, output)
    return DIFFERENT if shown_rows or next(differences, None) else OK


def _records_of(place, options):
    """Yield the encoded records of an input, or of the part files of a folder."""
    for name in within(place):
        with reading(name, options, raw=True) as reader:
            for record in reader:
                yield joined(record)
