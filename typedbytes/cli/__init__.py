"""The command ``typedbytes``: filters over streams of values and of pairs.

Here: the list of commands, and turning what went wrong into an exit code. Not here: argparse, readers and JSON; the
file of a command is imported when the command is asked for. It holds two functions named after the command:
``head_arguments(parser)`` declares its arguments, ``head(options, output)`` does the work and returns an exit code or
None for 0, and its docstring is the help.
Always true: data goes to stdout and everything else to stderr; 0 means that all input was read and all output written.
"""

import sys
from importlib import import_module

from typedbytes.cli._manners import BROKEN_PIPE, INTERNAL, INTERRUPTED, IO_ERROR, OK, USAGE, Failure, because
from typedbytes.cli._streams import Output

# command: (file, what it does)
COMMANDS = {
    "cat": ("copying", "copy whole records"),
    "head": ("copying", "copy the first records"),
    "count": ("checking", "print the number of records"),
    "validate": ("checking", "decode everything and say whether it is good"),
    "to-json": ("json_lines", "write records as lines of JSON, losing nothing"),
    "from-json": ("json_lines", "write the records that lines of JSON stand for"),
    "dumptb": ("_sequence_files", "write the pairs of SequenceFiles and folders of them"),
    "loadtb": ("_sequence_files", "read pairs and write a SequenceFile"),
    "run": ("running", "run the job of a script on this machine"),
    "submit": ("submitting", "run a job on Hadoop, or print how"),
    "bundle": ("submitting", "write an archive of this package for Hadoop's nodes"),
    "block": ("blocks", "binary block messages: encode, decode, echo, peer"),
}

HELP = """\
usage: typedbytes COMMAND [OPTION...] [FILE...]

Read streams of Hadoop TypedBytes from FILEs or stdin and write to stdout.

commands:
{commands}

A record is a value, or with --pairs a key and a value; a SequenceFile holds pairs.
"typedbytes COMMAND --help" tells more.
Exit codes: 0 done, 1 a job failed, 64 wrong usage, 65 bad data, 66 no such input, 69 a library is missing,
74 read or write failed, 130 interrupted, 141 stdout closed early.
"""


def main(argv=None):
    """Run one command line and return its exit code."""
    try:
        with Output() as output:
            return _run(list(sys.argv[1:] if argv is None else argv), output)
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        return Failure(IO_ERROR, f"standard output: {because(error)}").report()
    except MemoryError:
        return Failure(INTERNAL, "out of memory").report()
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments, output):
    try:
        name = _take_name(arguments)
        return _run_command(name, arguments, output) if name else _run_none(arguments, output)
    except Failure as failure:
        return failure.report()


def _take_name(arguments):
    """Remove the command's name, the first argument that is no option and no option's value, and return it."""
    is_value = False
    for index, argument in enumerate(arguments):
        if not is_value and not argument.startswith("-"):
            return arguments.pop(index)
        is_value = argument in ("--dialect", "--max-bytes")
    return None


def _run_command(name, arguments, output):
    if name not in COMMANDS:
        raise Failure(USAGE, f"no command {name!r} (see typedbytes --help)")
    from typedbytes.cli._parser import Parser

    room = import_module(f"typedbytes.cli.{COMMANDS[name][0]}")
    function = name.replace("-", "_")
    command, declare = getattr(room, function), getattr(room, f"{function}_arguments")
    parser = Parser(name, command.__doc__)
    declare(parser)
    options = parser.parse(arguments)
    if options.help:
        output.write(parser.format_help().encode())
        return OK
    return command(options, output) or OK


def _run_none(arguments, output):
    if "--version" in arguments:
        output.line(f"typedbytes {_version()}")
    elif "-h" in arguments or "--help" in arguments:
        commands = "\n".join(f"  {name:<10} {summary}" for name, (_, summary) in COMMANDS.items())
        output.write(HELP.format(commands=commands).encode())
    else:
        raise Failure(USAGE, "no command (see typedbytes --help)")
    return OK


def _version():
    import typedbytes

    return typedbytes.__version__
