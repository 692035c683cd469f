"""The command cut. A field keeps its encoded bytes; only keys of MAPs are decoded."""

from __future__ import annotations

import re
from ast import literal_eval

import typedbytes
from typedbytes import TypeCode
from typedbytes.cli._arguments import add_picking_arguments
from typedbytes.cli._encoded_records import is_pairs, split
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._inputs import names, reading
from typedbytes.cli._record_output import Records

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli._output import CommandOutput

STEP = r"""\[(?:0|-?[1-9]\d{0,8}|'(?:[^'\\]|\\[\\'"nrtxuU])*'|"(?:[^"\\]|\\[\\'"nrtxuU])*")\]"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of cut."""
    add_picking_arguments(parser)
    parser.add_argument("-f", "--field", action="append", default=[], metavar="PATH", help="a field to write, such as key or value[0]")
    parser.add_argument("--missing", choices=("error", "null"), default="error", help="what a field is that a record lacks (error)")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Write the fields at given paths: of one PATH each value as it is, of several a VECTOR of them.

    A PATH is written as schema and error messages write it: key, value, value[0] for an item of a
    VECTOR or LIST, [-1] for the last one, value['name'] for the value of a MAP, and so on inside it.
    What is written are values, not pairs, byte for byte.

    examples:
      typedbytes cut -f "value['user']['id']" --values logs.tb | typedbytes freq
      typedbytes cut -f key -f 'value[1]' --pairs out | typedbytes to-text --csv
    """
    if not options.field:
        raise Failure(USAGE, "cut needs a field: -f PATH (see typedbytes cut --help)")
    fields = _Fields(options)
    with Records(options, output) as records, records.writer(typedbytes.Reader(b"")) as writer:
        for name in names(options):
            with reading(name, options, raw=True) as reader:
                fields.check(is_pairs(reader))
                start = 0
                for number, record in enumerate(reader):
                    try:
                        writer.write_raw(fields.of(record))
                    except LookupError as error:
                        message = f"no {error.args[0]} in the record (--missing null writes null)"
                        raise typedbytes.FormatError(message, start, record=number) from None
                    start = reader.offset


class _Fields:
    """Find the values at the paths that options give."""

    def __init__(self, options):
        self._paths = [(path, *_parsed(path)) for path in options.field]
        self._dialect = options.dialect
        self._null = typedbytes.Encoder(dialect=options.dialect).encode(None) if options.missing == "null" else None
        self._decoder = typedbytes.Decoder(dialect=options.dialect, pickle="raw", unicode_errors="surrogateescape")

    def check(self, pairs):
        """Raise Failure if values are asked for a key."""
        if not pairs and any(part == "key" for _, part, _ in self._paths):
            raise Failure(USAGE, "argument -f: values have no key (see --pairs)")

    def of(self, record):
        """Return the encoded fields of a record; raise LookupError with the first path that it lacks."""
        found = [self._field(record, *each) for each in self._paths]
        if len(found) == 1:
            return found[0]
        return b"".join([bytes([TypeCode.VECTOR]), len(found).to_bytes(4, "big"), *found])

    def _field(self, record, path, part, steps):
        value = record if type(record) is not tuple else record[part == "value"]
        for step in steps:
            value = self._inside(value, step)
            if value is None:
                break
        if value is None and self._null is None:
            raise LookupError(path)
        return self._null if value is None else value

    def _inside(self, value, step):
        """Return the encoded item of a VECTOR or LIST, or the value of a MAP for a key; None if there is none."""
        if value[0] in (TypeCode.VECTOR, TypeCode.LIST) and type(step) is int:
            items = list(split(value[5:] if value[0] == TypeCode.VECTOR else value[1:-1], 1, self._dialect))
            return items[step] if -len(items) <= step < len(items) else None
        if value[0] == TypeCode.MAP:
            for pair in split(value[5:], 2, self._dialect):
                size = typedbytes.index(pair, dialect=self._dialect)[1]
                if self._is_key(pair[:size], step):
                    return pair[size:]
        return None

    def _is_key(self, encoded, step):
        try:
            key = self._decoder.decode(encoded)
        except typedbytes.DecodeError:
            return False
        return type(key) is type(step) and key == step


def _parsed(path):
    """Return "key" or "value", and the steps from there."""
    try:
        if path and re.fullmatch(f"(?:key|value)?(?:{STEP})*", path):
            return "key" if path.startswith("key") else "value", [literal_eval(step)[0] for step in re.findall(STEP, path)]
    except SyntaxError:  # an escape without its digits
        pass
    raise Failure(USAGE, f"argument -f: expected a path such as key, value[0] or value['name'], not {path!r}")
