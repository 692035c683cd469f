"""Output on a terminal: colours for JSON, and tables that fit its width.

The given text must hold no control characters; without a terminal, or with NO_COLOR, none are added.
"""

import os
import re
import unicodedata

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
COLOURS = {"name": "\x1b[34;1m", "string": "\x1b[32m", "word": "\x1b[36m"}
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\[\]|{}|[][{},:\n]|[^][{},:"\s]+')
_TOKEN = re.compile(r'(?P<name>"(?:[^"\\]|\\.)*"(?=:))|(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[-\w.+]+)')


def wants_colours(output):
    """Return whether a CommandOutput is shown in colours."""
    return output.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def coloured(text):
    r"""Return lines of JSON in colours.

    >>> coloured('["a", 1]')
    '[\x1b[32m"a"\x1b[0m, \x1b[36m1\x1b[0m]'
    """
    return _TOKEN.sub(lambda found: f"{COLOURS[str(found.lastgroup)]}{found[0]}{PLAIN}", text)


def indented(text):
    """Return lines of JSON with each member and item on a line of its own; no token changes.

    >>> print(indented('{"a": [1, []]}'))
    {
      "a": [
        1,
        []
      ]
    }
    """
    pieces, depth, before = [], 0, ""
    for found in _PIECE.finditer(text):
        piece = found[0]
        depth -= piece in ("]", "}")
        if piece in ("]", "}") or before in (",", "[", "{"):
            pieces.append("\n" + "  " * depth)
        pieces.append(": " if piece == ":" else piece)
        depth += piece in ("[", "{")
        before = piece
    return "".join(pieces)


def columns(output):
    """Return the number of characters in a line of a CommandOutput, None if unlimited."""
    if not output.is_terminal:
        return None
    try:
        return os.get_terminal_size(output.fileno()).columns or None
    except OSError:
        return None


def table(rows, max_width=None, is_bold=False):
    """Return the lines of a table of dicts, numbers to the right; lines longer than `max_width` characters are cut.

    >>> table([{"word": "a", "n": 10}, {"word": "bc", "n": 5}])
    ['word   n', 'a     10', 'bc     5']
    """
    heads = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(head)) for head in heads] for row in rows]
    widths = [max(map(_width, column)) for column in zip(heads, *cells)]
    right = [all(type(row.get(head)) in (int, float, type(None)) for row in rows) for head in heads]
    lines = [_line(each, widths, right, max_width) for each in [heads, *cells]]
    return [f"{BOLD}{lines[0]}{PLAIN}", *lines[1:]] if is_bold else lines


def _line(cells, widths, right, max_width):
    padded = [" " * (width - _width(cell)) for cell, width in zip(cells, widths)]
    line = "  ".join(
        space + cell if to_right else cell + space for cell, space, to_right in zip(cells, padded, right)
    ).rstrip()
    if max_width is None or _width(line) <= max_width:
        return line
    while _width(line) > max_width - 1:
        line = line[:-1]
    return line + "…"


def _cell(value):
    if value is None:
        return ""
    if type(value) is float:
        return f"{value:.6g}"
    if type(value) is bool:
        return "yes" if value else "no"
    if isinstance(value, (list, dict)):
        import json

        return json.dumps(value)
    return str(value)


def _width(text):
    return len(text) + (0 if text.isascii() else sum(unicodedata.east_asian_width(each) in "WF" for each in text))
