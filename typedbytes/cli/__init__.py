"""The command ``typedbytes``: filters over streams of values and of pairs.

The list of commands, and the exit code of every error. The module of a command (typedbytes.cli.commands) is imported when
that command runs, and so is argparse. Commands import helpers, the modules beside this one; helpers import no command.
Only __main__, _command_options, completion and man import names of this file.
Data goes to stdout and everything else to stderr; 0 means that all input was read and all output written.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module

from typedbytes._base.atomic import remove_unfinished
from typedbytes._base.exit_codes import (
    BAD_DATA,
    BROKEN_PIPE,
    FAILED,
    HANGUP,
    INTERNAL,
    INTERRUPTED,
    IO_ERROR,
    NO_INPUT,
    OK,
    TERMINATED,
    UNAVAILABLE,
    USAGE,
)  # fmt: skip
from typedbytes._base.secrets import remember_secrets
from typedbytes.cli._failure import Failure, forget_unwritable_stderr, nearest, without_secrets_of
from typedbytes.cli._output import CommandOutput, OutputError, replace_file
from typedbytes.cli._signals import Stoppable, Stopped

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typedbytes.cli._parser import Parser

# command: what it does; its module is of the same name, in typedbytes.cli.commands
COMMANDS = {
    "cat": "copy whole records",
    "head": "copy the first records",
    "tail": "copy the last records",
    "slice": "copy the records of a range",
    "sample": "copy records drawn at random",
    "count": "print the number of records",
    "stats": "report sizes, types, the largest and the smallest",
    "schema": "report the type at each path",
    "freq": "count how often each key occurs",
    "aggregate": "report count, sum, minimum, maximum and mean by key",
    "sniff": "report the format of an input",
    "validate": "decode everything and report what is wrong",
    "diff": "report where two inputs differ",
    "grep": "copy the records that contain a text",
    "cut": "write the fields at given paths",
    "sort": "sort by encoded key, as Hadoop does",
    "partition": "split by the reducer that Hadoop would choose",
    "uniq": "copy records without repetitions",
    "to-json": "write records as lines of JSON, without loss",
    "from-json": "write the records that lines of JSON describe",
    "to-text": "write records as lines of text, CSV or TSV",
    "from-text": "write the records that lines of text, CSV or TSV are",
    "dumptb": "write the pairs of SequenceFiles",
    "loadtb": "read pairs and write a SequenceFile",
    "convert": "convert between containers, codecs and formats",
    "run": "run the job of a script on this machine",
    "submit": "run a job on Hadoop, or print its command",
    "bundle": "write an archive of this package for Hadoop's nodes",
    "bench": "measure the codec on your own records",
    "completion": "write the completion script of a shell",
    "man": "write the man page",
    "block": "binary block messages: encode, decode, echo, peer",
}

EXIT_CODES = {
    OK: "done",
    FAILED: "a job failed; diff: the inputs differ; grep: nothing was found",
    USAGE: "the command line is wrong",
    BAD_DATA: "bad data",
    NO_INPUT: "an input cannot be opened",
    UNAVAILABLE: "a library is not installed; submit and bundle: a job cannot be submitted as it is",
    INTERNAL: "out of memory, or an error of this command itself",
    IO_ERROR: "reading or writing failed",
    HANGUP: "the terminal was closed",
    INTERRUPTED: "interrupted",
    BROKEN_PIPE: "stdout was closed early",
    TERMINATED: "terminated",
}

# Options that several commands share may precede the name of the command.
OPTIONS_WITH_VALUE = ("--dialect", "--max-bytes", "--from", "--to", "-o", "--output", "--unicode-errors")
OPTIONS_WITHOUT_VALUE = ("--pairs", "--values", "--json", "--table", "--plain", "--pretty")

HELP = """\
usage: typedbytes COMMAND [OPTION...] [FILE...]

Read streams of Hadoop TypedBytes from FILEs or stdin and write to stdout.

commands:
{commands}

A record is a value, or with --pairs a key and a value; a SequenceFile holds pairs. Commands that
copy only some records, or reorder them, refuse input that looks like pairs until --pairs or
--values, or TYPEDBYTES_RECORDS in the environment, says which it is.
"typedbytes help COMMAND" describes a command, as "typedbytes COMMAND --help" does.

exit codes:
{codes}
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; with argv=None this is the console script, and the process ends after it."""
    if argv is None:
        sys.unraisablehook = without_secrets_of(sys.unraisablehook)
    status = _status_of(argv)
    if argv is None and "pyarrow" in sys.modules:
        _end_at_once(status)
    return status


def _status_of(argv):
    try:
        with Stoppable(is_last=argv is None):
            return _exit_code(list(sys.argv[1:] if argv is None else argv))
    except Stopped as stopped:
        return stopped.status
    finally:
        if argv is None:
            forget_unwritable_stderr()


def _end_at_once(status):
    """End the process, and leave the interpreter as it is: while that ends, a thread of pyarrow that needs it would abort the process."""
    import atexit  # imported lazily: start-up time
    import os

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(status)


def _exit_code(arguments):
    try:
        return _run(arguments)
    except OutputError as error:
        return BROKEN_PIPE if error.is_broken_pipe else Failure(IO_ERROR, str(error)).report()
    except MemoryError:
        return Failure(INTERNAL, "out of memory").report()
    except ImportError as error:  # this system lacks what a part needs
        return Failure(UNAVAILABLE, str(error)).report()
    except KeyboardInterrupt as error:
        remove_unfinished()
        if isinstance(error, Stopped):
            raise
        return INTERRUPTED
    except Exception:  # a defect: Python's own exit code for it, 1, is a result of diff and grep
        without_secrets_of(sys.excepthook)(*sys.exc_info())
        return INTERNAL


def _run(arguments):
    remember_secrets(arguments)
    try:
        work, file = _parse_command(arguments)
        if file not in (None, "-"):
            with replace_file(file, compress=True) as output:
                return work(output) or OK
    except Failure as failure:
        return failure.report()
    with CommandOutput() as output:
        try:
            return work(output) or OK
        except Failure as failure:  # what was written before it is flushed
            return failure.report()


def _pop_command_name(arguments):
    """Remove the command's name, the first argument that is neither an option nor the value of a shared one, and return it."""
    option = None
    for index, argument in enumerate(arguments):
        if argument.startswith("-"):
            option = argument if "=" not in argument else None
        elif option in OPTIONS_WITH_VALUE:
            option = None
        elif argument in COMMANDS:
            return arguments.pop(index)
        elif option not in (None, "--", *OPTIONS_WITHOUT_VALUE):  # the argument may be its value
            message = f"option {option} must follow the command: typedbytes COMMAND {option} {argument} (see typedbytes --help)"
            raise Failure(USAGE, message)
        else:
            raise Failure(USAGE, f"no command {argument!r}{nearest(argument, COMMANDS)} (see typedbytes --help)")
    return None


def parser_of(name: str) -> Parser:
    """Return the parser of a command's arguments."""
    from typedbytes.cli import _parser

    command = _module(name)
    parser = _parser.Parser(name, command.run.__doc__)
    command.add_arguments(parser)
    return parser


def _module(name):
    return import_module(f"typedbytes.cli.commands.{name.replace('-', '_')}")


def _parse_command(arguments):
    """Return the work to do, a function of a CommandOutput, and the path given by --output, or None."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    name = _pop_command_name(arguments)
    if name is None:
        return lambda output: _run_without_command(arguments, output), None
    parser = parser_of(name)
    options = parser.parse(arguments)
    if options.help:
        return lambda output: output.write(parser.format_help().encode()), None
    command = _module(name)
    writes_folder = getattr(command, "writes_folder", lambda options: False)
    return lambda output: command.run(options, output), None if writes_folder(options) else getattr(options, "output", None)


def _run_without_command(arguments, output):
    if "--version" in arguments or "-V" in arguments:
        output.line(f"typedbytes {_version()}")
    elif "-h" in arguments or "--help" in arguments:
        commands = "\n".join(f"  {name:<11} {summary}" for name, summary in COMMANDS.items())
        codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())
        output.write(HELP.format(commands=commands, codes=codes).encode())
    else:
        raise Failure(USAGE, "no command (see typedbytes --help)")


def _version():
    import typedbytes

    return typedbytes.__version__
