"""The command man: the man page, made of the parsers of all commands."""

from __future__ import annotations

import typedbytes
from typedbytes.cli import _arguments as arguments
from typedbytes.cli._arguments import OUTPUT
from typedbytes.cli._parser import takes_value, value_name
from typedbytes.cli.registry import EXIT_CODES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput
    from typedbytes.cli._parser import Parser


class Settings(arguments.Settings):
    """The options of man."""

    output: str | None = OUTPUT


def run(settings: Settings, output: CommandOutput, parsers: dict[str, Parser]) -> int | None:
    """Write the man page.

    examples:
      typedbytes man | man -l -
      typedbytes man -o ~/.local/share/man/man1/typedbytes.1
    """
    lines = [
        f'.TH TYPEDBYTES 1 "" "typedbytes {typedbytes.__version__}"',
        ".SH NAME",
        "typedbytes \\- streams of Hadoop TypedBytes",
    ]
    lines += [".SH SYNOPSIS", ".B typedbytes", ".I COMMAND", "[\\fIOPTION\\fR...] [\\fIFILE\\fR...]", ".SH COMMANDS"]
    for name, parser in parsers.items():
        lines += _man_of(name, parser)
    lines += [".SH EXIT STATUS"]
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", f".B {code}", _roff(meaning)]
    lines += [".SH ENVIRONMENT", ".TP", ".B NO_COLOR", "no colours, when it is set to anything"]
    output.write("".join(f"{line}\n" for line in lines).encode())


def _man_of(name, parser):
    text, _, examples = (parser.description or "").partition("\nexamples:\n")
    files = [str(action.metavar) for action in parser.positionals()]
    lines = [f".SS {name} \\fI{' '.join(files)}\\fR"]
    for paragraph in text.strip().split("\n\n"):
        lines += [_roff(" ".join(paragraph.split())), ".PP"]
    for action in parser.options():
        if action.dest != "help":
            value = f" \\fI{value_name(action)}\\fR" if takes_value(action) else ""
            lines += [
                ".TP",
                ", ".join(f"\\fB{_roff(each)}\\fR" for each in action.option_strings) + value,
                _roff(action.help),
            ]
    return [*lines, ".PP", ".nf", *map(_roff, examples.rstrip().splitlines()), ".fi"]


def _roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text
