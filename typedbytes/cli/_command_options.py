"""The options of all commands as their parsers declare them, for the man page and the completion of shells."""

from typedbytes.cli import COMMANDS, parser_of


def command_options():
    """Yield (command, its options as argparse has them)."""
    for name in COMMANDS:
        yield name, [action for action in parser_of(name)._actions if action.option_strings]


def takes_value(action):
    return action.nargs != 0


def value_name(action):
    return action.metavar or "|".join(action.choices or [action.dest.upper()])
