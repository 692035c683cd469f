"""Run a command line: find the command, parse its arguments, do its work, and turn every error into an exit code.

The module of a command is imported when that command runs, and so is argparse. Commands import helpers, the modules in
the folders beside this one, and helpers import no command; nothing imports this module but the package, whose one name
`main` is. Data goes to stdout and everything else to stderr; 0 means that all input was read and all output written.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress
from importlib import import_module
from os import environ, getcwd

from typedbytes._base.atomic import remove_unfinished
from typedbytes._base.descriptors import open_stderr
from typedbytes._base.exit_codes import BROKEN_PIPE, INTERNAL, INTERRUPTED, IO_ERROR, OK, UNAVAILABLE, USAGE
from typedbytes._base.secrets import remember_secrets
from typedbytes.cli import _failure
from typedbytes.cli._failure import Failure, forget_unwritable_stderr, nearest, without_secrets_of
from typedbytes.cli._input.progress import Progress
from typedbytes.cli._output.files import CommandOutput, OutputError, replace_file
from typedbytes.cli._signals import Stoppable, Stopped
from typedbytes.cli.registry import (
    COMMANDS,
    EXIT_CODES,
    NEEDS_ALL_PARSERS,
    OPTIONS_WITH_VALUE,
    OPTIONS_WITHOUT_VALUE,
    OTHER_WORDS,
)

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typedbytes.cli._parser import Parser

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
    """Run a command line and return its exit code; with argv=None, as the console script, end the process."""
    if argv is None:
        open_stderr()
        sys.unraisablehook = without_secrets_of(sys.unraisablehook)
    status = _status_of(argv)
    if argv is None and not {"pyarrow", "hdfs_native"}.isdisjoint(sys.modules):
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
    """End the process and leave the interpreter as it is: a thread of either library would abort it while it ends."""
    import atexit
    import os

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(status)


def _exit_code(arguments):
    _failure.prefix = "typedbytes"
    try:
        return _run(arguments)
    except OutputError as error:
        return BROKEN_PIPE if error.is_broken_pipe else Failure(IO_ERROR, str(error)).report()
    except MemoryError:
        return Failure(INTERNAL, "out of memory").report()
    except ImportError as error:  # this system lacks what a part needs
        return Failure(UNAVAILABLE, str(error)).report()
    except KeyboardInterrupt as error:
        return _interrupted(error)
    except Exception as error:
        interruption = _interruption_behind(error)
        if interruption is not None:
            return _interrupted(interruption)
        if isinstance(error, FileNotFoundError) and not _has_current_folder():
            message = "the current folder does not exist any more: change to another one"
            return Failure(IO_ERROR, message).report()
        # A defect: Python's own exit code for it, 1, is a result of diff and grep.
        without_secrets_of(sys.excepthook)(*sys.exc_info())
        return INTERNAL


def _has_current_folder():
    try:
        getcwd()
    except FileNotFoundError:
        return False
    return True


def _interrupted(interruption):
    remove_unfinished()
    if isinstance(interruption, Stopped):
        raise interruption
    return INTERRUPTED


def _interruption_behind(error):
    """Return the signal that an error took the place of, if one did.

    argparse restores what it has not saved yet, and Python up to 3.11 wraps what is raised while a class is made.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _run(arguments):
    remember_secrets(arguments)
    try:
        work, file = _parse_command(arguments)
        if file not in (None, "-"):
            with Progress(), replace_file(file, compress=True) as output:
                return work(output) or OK
    except Failure as failure:
        return failure.report()
    with Progress(), CommandOutput() as output:
        try:
            return work(output) or OK
        except Failure as failure:  # what was written before it is flushed
            return failure.report()


def _pop_command_name(arguments):
    """Remove and return the command's name, the first argument that is not an option nor the value of one."""
    option = None
    for index, argument in enumerate(arguments):
        if argument.startswith("-"):
            option = argument if "=" not in argument else None
        elif option in OPTIONS_WITH_VALUE:
            option = None
        elif argument in COMMANDS:
            return arguments.pop(index)
        elif option not in (None, "--", *OPTIONS_WITHOUT_VALUE):  # the argument may be its value
            message = (
                f"option {option} must follow the command: typedbytes COMMAND {option} {argument} "
                "(see typedbytes --help)"
            )
            raise Failure(USAGE, message)
        else:
            known = OTHER_WORDS.get(argument)
            meant = f"; did you mean {known}?" if known else nearest(argument, COMMANDS)
            raise Failure(USAGE, f"no command {argument!r}{meant} (see typedbytes --help)")
    return None


def parser_of(name: str) -> Parser:
    """Return the parser of a command's arguments."""
    from typedbytes.cli._parser import Parser

    command = load(name)
    parser = Parser(name, command.run.__doc__)
    command.Settings.declare(parser)
    parser.about_unknown = command.Settings.about_unknown
    return parser


def load(name: str) -> Any:
    """Return the module of a command."""
    return import_module(f"typedbytes.cli.commands.{name.replace('-', '_')}")


def _parse_command(arguments):
    """Return the work to do, a function of a CommandOutput, and the path of the file that it becomes, or None."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    name = None if arguments == ["version"] else _pop_command_name(arguments)
    if name is None:
        return lambda output: _run_without_command(arguments, output), None
    _failure.prefix = f"typedbytes {name}"
    parser, command = parser_of(name), load(name)
    if parser.asks_for_help(arguments):
        return lambda output: output.write(parser.format_help().encode()), None
    words = parser.parse(command.Settings.with_defaults(arguments, parser))
    settings = command.Settings(words)
    more = [{each: parser_of(each) for each in COMMANDS}] if name in NEEDS_ALL_PARSERS else []

    def work(output):
        with _classes_in_use(settings.classes):
            return command.run(settings, output, *more)

    return work, settings.output_file()


def _classes_in_use(path):
    """Return a context in which the Readers of this process and its children know the classes of a file.

    path: given by --classes; None: the one in the variable TYPEDBYTES_CLASSES, if it is set.
    """
    if path is None and not environ.get("TYPEDBYTES_CLASSES"):
        return nullcontext()
    from typedbytes.cli._input.classes import classes_in_use

    return classes_in_use(path)


def _run_without_command(arguments, output):
    if not {"--version", "-V", "version"}.isdisjoint(arguments):
        output.line(f"typedbytes {_version()}")
    elif "-h" in arguments or "--help" in arguments:
        commands = "\n".join(f"  {name:<11} {summary}" for name, summary in COMMANDS.items())
        codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())
        output.write(HELP.format(commands=commands, codes=codes).encode())
    else:
        meant = nearest(arguments[0], ("--version", "--help")) if arguments else ""
        raise Failure(USAGE, f"no command{meant} (see typedbytes --help)")


def _version():
    import typedbytes

    return typedbytes.__version__
