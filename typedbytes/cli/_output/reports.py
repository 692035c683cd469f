"""Reports of commands: a table for people, or lines of JSON for programs.

A row is a dict of JSON values, some of them given as JSON already, and one line of JSON; a table shows the same.
"""

from math import isfinite

import typedbytes
from typedbytes._base.secrets import without_secrets
from typedbytes.cli._failure import escaped

MAX_CHARACTERS = 200
MESSAGES = ("fault", "message")  # the columns of a report that hold errors, which may quote a URL


class Json(str):
    """The JSON of a value: a report in JSON holds the value, and a table this text, cut when it is long."""


def is_table(form, output):
    """Return whether reports are tables: on a terminal, or with --table. form: a ReportForm."""
    return form.table or (output.is_terminal and not form.json)


def report(rows, form, output):
    """Write rows as a table or as lines of JSON."""
    rows = (
        {name: without_secrets(value) if name in MESSAGES and value else value for name, value in row.items()}
        for row in rows
    )
    if is_table(form, output):
        _write_table(list(rows), output)
    else:
        _write_json(rows, output)


def _write_json(rows, output):
    for row in rows:
        output.line(line(row))


def line(row):
    """Return a row as a line of JSON without its end."""
    from json import dumps

    members = (f"{dumps(name)}: {_json(value, dumps)}" for name, value in row.items() if value is not None)
    return f"{{{', '.join(members)}}}"


def _json(value, dumps):
    if type(value) is Json:
        return value
    # JSON has neither infinities nor NaN; a parser would refuse the line.
    return dumps(str(value) if isinstance(value, float) and not isfinite(value) else value)


def _write_table(rows, output):
    from typedbytes.cli._output import terminal

    if rows:
        shown = [{name: _cell(value) for name, value in row.items()} for row in rows]
        for line in terminal.table(shown, terminal.columns(output), terminal.wants_colours(output)):
            output.line(line)


def _cell(value):
    if type(value) is Json and len(value) > MAX_CHARACTERS:
        value = value[: MAX_CHARACTERS - 1] + "…"
    return escaped(value) if isinstance(value, str) else value


def json_of(record, dialect):
    """Return the Json of an encoded value or pair, without loss."""
    from typedbytes import _report

    is_pair = typedbytes.count(record, dialect=dialect) == 2
    return Json(_report.lines(record, pairs=is_pair, dialect=dialect).decode()[:-1])


def report_sections(sections, form, output):
    """Write named sections of rows: as tables one below the other, or as lines of JSON with the name of the section."""
    if is_table(form, output):
        for number, (name, rows) in enumerate(sections.items()):
            output.line(f"\n{name}" if number else name)
            report(rows, form, output)
    else:
        report(({"section": name, **row} for name, rows in sections.items() for row in rows), form, output)
