"""The command bench: the speed of the codec on the user's records in memory, so that no disk is measured."""

from __future__ import annotations

import time

import typedbytes
from typedbytes import _report
from typedbytes.cli._arguments import ReportSettings, option, positive
from typedbytes.cli._failure import BAD_DATA, USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import NOTE
from typedbytes.cli._output.files import refuse_path_of_output, replace_file
from typedbytes.cli._output.reports import report
from typedbytes.cli._records.encoded import is_empty, is_pairs

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

SECONDS = 0.5  # for each operation


class Settings(ReportSettings):
    """The options of bench."""

    megabytes: int = option(
        "--megabytes", type=positive, default=64, metavar="N", help="how much of the input to use (64)"
    )
    plot: str | None = option("--plot", metavar="OUT", help="write a bar chart to OUT, in SVG")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Measure how fast the records of the input are skipped, decoded, encoded and written as JSON.

    Whole records are read into memory first. Each figure is the best of many runs.

    examples:
      typedbytes bench --pairs part-00000.tb
      typedbytes bench --plot speed.svg part-00000.tb
    """
    if settings.plot:
        refuse_path_of_output("--plot", settings.plot, settings.output)
    data, pairs = _read_records(Inputs(settings, NOTE), settings.megabytes * 1_000_000)
    if not data:
        raise Failure(USAGE, "the input has no records to measure")
    try:
        rows = list(_measure_all(data, pairs, settings.dialect))
    except typedbytes.DecodeError as error:  # reading has checked only the structure
        raise Failure(BAD_DATA, f"the records to measure: {error}") from None
    if settings.plot:
        with replace_file(settings.plot) as file:
            file.write(_bar_chart(rows).encode())
    report(rows, settings, output)


class _EnoughError(Exception):
    """Raised to stop reading."""


class _Collector:
    def __init__(self, max_nbytes):
        self.data = bytearray()
        self._max_nbytes = max_nbytes

    def write(self, records):
        """Keep whole records, until there are enough."""
        if len(self.data) >= self._max_nbytes:
            raise _EnoughError
        self.data += records


def _read_records(inputs, max_nbytes):
    collector, pairs = _Collector(max_nbytes), False
    for name in inputs:
        with inputs.reading(name) as reader:
            if is_empty(reader):
                continue
            pairs = is_pairs(reader)
            try:
                with typedbytes.Writer(collector) as writer:
                    writer.copy(reader)
            except _EnoughError:
                break
    return bytes(collector.data), pairs


def _measure_all(data, pairs, dialect):
    decoder, encoder = typedbytes.Decoder(dialect=dialect, pickle="raw"), typedbytes.Encoder(dialect=dialect)
    decode, encode = (decoder.decode_pairs, encoder.encode_pairs) if pairs else (decoder.decode_all, encoder.encode_all)
    records = decode(data)
    operations = {
        "walk": lambda: typedbytes.count(data, dialect=dialect),
        "decode": lambda: decode(data),
        "encode": lambda: encode(records),
        "to JSON": lambda: _report.lines(data, pairs=pairs, dialect=dialect),
    }
    for name, operation in operations.items():
        seconds = _best_seconds(operation)
        yield {
            "operation": name,
            "records": len(records),
            "bytes": len(data),
            "MB/s": round(len(data) / seconds / 1e6, 1),
            "ns a record": round(seconds / len(records) * 1e9, 1),
        }


def _best_seconds(operation):
    best, end = float("inf"), time.perf_counter() + SECONDS
    while True:
        start = time.perf_counter()
        operation()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() > end:
            return best


def _bar_chart(rows):
    """Return an SVG bar chart of the rates."""
    highest = max(row["MB/s"] for row in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{40 * len(rows) + 20}" font-family="sans-serif" '
        'font-size="14">'
    ]
    for number, row in enumerate(rows):
        y, width = 40 * number + 15, 400 * row["MB/s"] / highest
        parts.append(f'<text x="10" y="{y + 17}">{row["operation"]}</text>')
        parts.append(f'<rect x="100" y="{y}" width="{width:.1f}" height="24" fill="#4878a8"/>')
        parts.append(f'<text x="{width + 108:.1f}" y="{y + 17}">{row["MB/s"]:,.0f} MB/s</text>')
    return "\n".join([*parts, "</svg>", ""])
