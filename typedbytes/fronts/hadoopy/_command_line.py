"""The end of a script: a task that an engine has started, or what its own command line asks for.

Here: the commands map, combine and reduce on lines of text, info and launch_frozen. Invariant: a word that is not done
ends the process with one line and an exit code that is not 0.
"""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout

from typedbytes.fronts.hadoopy._keywords import IDENTITY, named
from typedbytes.fronts.hadoopy._records import GroupedValues, called, counter
from typedbytes.fronts.refusals import BadLine, Refusal, text_without_options
from typedbytes.fronts.started import is_started_by_engine
from typedbytes.streaming.task_environment import NAMES, variable_of_property

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["run"]

COMMANDS = "map, combine, reduce, info or launch_frozen INPUT OUTPUT"


def run(
    mapper: Any = None, reducer: Any = None, combiner: Any = None, script_path: str | None = None, jobconfs: Any = (),
    **kw: Any,
) -> bool:  # fmt: skip
    """Run the task for which an engine has started the script, or what its first word asks for.

    jobconfs: properties of the job, unless it has them already. Without a word, doc= is printed, and True returned.
    """
    words = sys.argv[1:]
    if words[:1] == ["--log"]:
        words = words[2:]
    is_pipe = words[:1] == ["pipe"]
    words = words[1:] if is_pipe else words
    codes = {"map": mapper, "reduce": reducer, "combine": combiner}
    if is_started_by_engine([sys.argv[0], *words]):
        _run_task(codes, words, jobconfs)
    script = os.path.basename(sys.argv[0])
    if not words and kw.get("doc"):
        print(kw["doc"])
    elif not words:
        sys.exit(f"give {script} a command: {COMMANDS}")
    elif words[0] == "info":
        _print_information(codes, jobconfs, kw)
    elif words[0] == "launch_frozen":
        _launch(words[1:], os.path.abspath(script_path or sys.argv[0]))
    elif words[0] == "freeze":
        sys.exit("freeze is not supported: typedbytes bundle makes an archive of what tasks need")
    elif words[0] not in codes:
        sys.exit(f"{words[0]} is not a command of {script}: it has {COMMANDS.replace(' or', ' and')}")
    elif codes[words[0]] is None:
        sys.exit(f"{script} has no {NAMES[words[0]]}: give hadoopy.run() one")
    elif words[1:]:
        sys.exit(f"{words[0]} takes no more words, and reads standard input: leave out {' '.join(words[1:])}")
    elif os.environ.get("stream_map_input") == "typedbytes":  # noqa: SIM112, the name is Hadoop's
        _run_task(codes, words)
    else:
        with redirect_stdout(sys.stderr if is_pipe else sys.stdout):
            _run_on_lines(codes[words[0]], words[0])
    return not words


def _run_task(codes, words, jobconfs=()):
    """Run a task and end the process."""
    from typedbytes import streaming
    from typedbytes.streaming import lib

    mapper = lib.identitymapper if IDENTITY in os.environ else codes["map"] or lib.identitymapper
    combiner = codes["combine"] if codes["reduce"] else None
    step = streaming.Step(mapper, codes["reduce"], combiner, properties=_own_properties(jobconfs))
    streaming.run(steps=[step], argv=[sys.argv[0], *words[:1]])


def _own_properties(jobconfs):
    """Return the properties of the script that the job does not have already: those of a step would win over them."""
    from typedbytes.jobs.properties import REDUCERS

    has_reducers = any(variable_of_property(name) in os.environ for name in REDUCERS)
    return {
        name: value
        for name, value in named("jobconfs", jobconfs).items()
        if variable_of_property(name) not in os.environ and not (name in REDUCERS and has_reducers)
    }


def _print_information(codes, jobconfs, kw):
    import json

    found = {**kw, "tasks": [role for role, code in codes.items() if code is not None]}
    if jobconfs:
        found["jobconfs"] = jobconfs
    print(json.dumps(found, default=str))


def _launch(words, script):
    """Run the job of the script by the words of its command line."""
    from argparse import ArgumentParser

    from typedbytes.fronts.hadoopy._launch import launch_frozen
    from typedbytes.jobs.errors import JobError

    parser = ArgumentParser(prog=f"{os.path.basename(script)} launch_frozen")
    parser.add_argument("in_name")
    parser.add_argument("out_name")
    parser.add_argument("-jobconf", action="append", dest="jobconfs", default=[], metavar="NAME=VALUE")
    given = parser.parse_args(words)
    try:
        launch_frozen(given.in_name, given.out_name, script, jobconfs=given.jobconfs)
    except JobError as error:
        sys.exit(text_without_options(error))
    except (Refusal, ValueError) as error:
        sys.exit(str(error))


def _run_on_lines(code, role):
    """Run a task from the lines of standard input to those of standard output."""
    from typedbytes.streaming.testing import counted

    output = sys.__stdout__.buffer  # type: ignore[union-attr]
    lines = sys.stdin.buffer
    records: Any = _numbered(lines) if role == "map" else GroupedValues(map(_pair_of, lines))
    try:
        with counted() as amounts:
            for key, value in called(code, "map" if role == "map" else "reduce", records):
                output.write(f"{_text_of(key)}\t{_text_of(value)}\n".encode("utf-8", "surrogateescape"))
    except BadLine as error:
        sys.exit(str(error))
    output.flush()
    for (group, name), amount in amounts.items():
        counter(group, name, amount, sys.stderr.write)


def _numbered(lines: Any) -> Iterator[tuple[int, str]]:
    """Yield lines with their offsets."""
    offset = 0
    for line in lines:
        yield offset, _text_of(line.rstrip(b"\n"))
        offset += len(line)


def _pair_of(line):
    key, tab, value = _text_of(line.rstrip(b"\n")).partition("\t")
    if not tab:
        raise BadLine(f"a line must have a key, a TAB and a value, not {key!r:.80}")
    return key, value


def _text_of(item):
    return item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else str(item)
