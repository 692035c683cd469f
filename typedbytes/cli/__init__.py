"""The command ``typedbytes``: filters over streams of values and of pairs.

Here: the list of commands, and turning what went wrong into an exit code. Not here: argparse, readers and JSON; the
file of a command is imported when the command is asked for. It holds two functions named after the command:
``head_arguments(parser)`` declares its arguments, ``head(options, output)`` does the work and returns an exit code or
None for 0, and its docstring is the help.
Always true: data goes to stdout and everything else to stderr; 0 means that all input was read and all output written.
"""

import sys
from importlib import import_module

from typedbytes._whole import remove_unfinished
from typedbytes.cli._failure import BROKEN_PIPE, INTERNAL, INTERRUPTED, IO_ERROR, OK, USAGE, Failure
from typedbytes.cli._output import Output, Unwritten, replacing
from typedbytes.cli._signals import Stoppable, Stopped

# command: (file, what it does)
COMMANDS = {
    "cat": ("commands.sample", "copy whole records"),
    "head": ("commands.sample", "copy the first records"),
    "tail": ("commands.sample", "copy the last records"),
    "slice": ("commands.sample", "copy the records of a range"),
    "sample": ("commands.sample", "copy records drawn at random"),
    "count": ("commands.validate", "print the number of records"),
    "stats": ("commands.stats", "tell sizes, types, the largest and the smallest"),
    "schema": ("commands.stats", "tell which types stand where"),
    "freq": ("commands.stats", "count how often each key is there"),
    "sniff": ("commands.validate", "tell what an input is"),
    "validate": ("commands.validate", "decode everything and say whether it is good"),
    "diff": ("commands.validate", "tell where two inputs differ"),
    "grep": ("commands.grep", "copy the records that a text stands in"),
    "sort": ("commands.sort", "sort by encoded key, as Hadoop does"),
    "partition": ("commands.sort", "split up by the reducer that Hadoop would choose"),
    "uniq": ("commands.grep", "copy records without their repetitions"),
    "to-json": ("commands.from_json", "write records as lines of JSON, losing nothing"),
    "from-json": ("commands.from_json", "write the records that lines of JSON stand for"),
    "dumptb": ("_sequencefile_output", "write the pairs of SequenceFiles and folders of them"),
    "loadtb": ("_sequencefile_output", "read pairs and write a SequenceFile"),
    "convert": ("commands.convert", "change container, codec and format"),
    "run": ("commands.run", "run the job of a script on this machine"),
    "submit": ("commands.submit", "run a job on Hadoop, or print how"),
    "bundle": ("commands.submit", "write an archive of this package for Hadoop's nodes"),
    "bench": ("commands.bench", "measure the codec on your own records"),
    "completion": ("commands.completion", "write the completion script of a shell"),
    "man": ("commands.completion", "write the man page"),
    "block": ("commands.block", "binary block messages: encode, decode, echo, peer"),
}

EXIT_CODES = {
    0: "done",
    1: "a job failed; diff: there are differences; grep: nothing was found",
    64: "the command line is wrong",
    65: "bad data",
    66: "there is no such input",
    69: "a library is missing",
    70: "out of memory",
    74: "reading or writing failed",
    129: "the terminal was closed",
    130: "interrupted",
    141: "stdout was closed early",
    143: "terminated",
}

HELP = """\
usage: typedbytes COMMAND [OPTION...] [FILE...]

Read streams of Hadoop TypedBytes from FILEs or stdin and write to stdout.

commands:
{commands}

A record is a value, or with --pairs a key and a value; a SequenceFile holds pairs. Commands that
copy some records, or in another order, ask where values look like pairs: --pairs or --values, or
TYPEDBYTES_RECORDS in the environment, answers.
"typedbytes COMMAND --help" tells more.

exit codes:
{codes}
"""


def main(argv=None):
    """Run one command line and return its exit code."""
    try:
        with Stoppable(is_last=argv is None):
            return _ended(list(sys.argv[1:] if argv is None else argv))
    except Stopped as stopped:
        return stopped.status


def _ended(arguments):
    try:
        return _run(arguments)
    except Unwritten as error:
        return BROKEN_PIPE if error.is_broken_pipe else Failure(IO_ERROR, str(error)).report()
    except MemoryError:
        return Failure(INTERNAL, "out of memory").report()
    except KeyboardInterrupt as error:
        remove_unfinished()
        if isinstance(error, Stopped):
            raise
        return INTERRUPTED


def _run(arguments):
    try:
        work, file = _planned(arguments)
        if file not in (None, "-"):
            with replacing(file) as output:
                return work(output) or OK
    except Failure as failure:
        return failure.report()
    with Output() as output:
        try:
            return work(output) or OK
        except Failure as failure:  # what was written before it is flushed
            return failure.report()


def _take_name(arguments):
    """Remove the command's name, the first argument that is no option and no option's value, and return it."""
    is_value = False
    for index, argument in enumerate(arguments):
        if not is_value and not argument.startswith("-"):
            return arguments.pop(index)
        is_value = argument in ("--dialect", "--max-bytes", "--from", "--to", "-o", "--output")
    return None


def parser_of(name):
    """Return the parser of a command's arguments."""
    from typedbytes.cli._parser import Parser

    command, declare = _functions(name)
    parser = Parser(name, command.__doc__)
    declare(parser)
    return parser


def _functions(name):
    room = import_module(f"typedbytes.cli.{COMMANDS[name][0]}")
    function = name.replace("-", "_")
    return getattr(room, function), getattr(room, f"{function}_arguments")


def _planned(arguments):
    """Return what is to be done, a function of an Output, and the name of the file that the Output is to be, or None."""
    name = _take_name(arguments)
    if name is None:
        return lambda output: _run_none(arguments, output), None
    if name not in COMMANDS:
        raise Failure(USAGE, f"no command {name!r}{_suggested(name)} (see typedbytes --help)")
    parser = parser_of(name)
    options = parser.parse(arguments)
    if options.help:
        return lambda output: output.write(parser.format_help().encode()), None
    command, _ = _functions(name)
    return lambda output: command(options, output), getattr(options, "output", None)


def _suggested(name):
    from difflib import get_close_matches  # its users only

    return "".join(f"; is it {each}?" for each in get_close_matches(name, COMMANDS, 1))


def _run_none(arguments, output):
    if "--version" in arguments:
        output.line(f"typedbytes {_version()}")
    elif "-h" in arguments or "--help" in arguments:
        commands = "\n".join(f"  {name:<11} {summary}" for name, (_, summary) in COMMANDS.items())
        codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())
        output.write(HELP.format(commands=commands, codes=codes).encode())
    else:
        raise Failure(USAGE, "no command (see typedbytes --help)")


def _version():
    import typedbytes

    return typedbytes.__version__
