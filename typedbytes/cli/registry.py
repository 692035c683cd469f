"""The commands, the exit codes, and the options before a command, in words: imports none of our modules."""

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
)

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
    "join": "join the pairs of two inputs by their keys",
    "sort": "sort by encoded key, as Hadoop does",
    "top": "copy the largest records",
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

# Words for what a command does, and how it is written.
OTHER_WORDS = {
    "from-csv": "from-text --csv",
    "info": "sniff, stats or schema",
    "merge": "cat, or sort for sorted inputs",
    "to-csv": "to-text --csv",
    "to-parquet": "convert --to parquet",
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
OPTIONS_WITH_VALUE = ("--dialect", "--max-bytes", "--from", "--to", "-o", "--output", "--unicode-errors", "--classes")
OPTIONS_WITHOUT_VALUE = ("--pairs", "--values", "--json", "--table", "--plain", "--pretty", "--recursive")

# Commands about commands: they are given the parsers of all.
NEEDS_ALL_PARSERS = ("completion", "man")
