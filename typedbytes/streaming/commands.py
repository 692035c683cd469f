"""Commands as mappers, combiners and reducers, and as filters before them: lines of text, as Hadoop Streaming has them.

A command reads lines and writes lines: a key, a TAB and a value. Here: a command as user code that takes all records,
and the form that text has between map and reduce. Not here: tasks. Invariant: keys of text are sorted there by their
bytes, whatever their length; a command that fails, or leaves lines unread, fails the task.
"""

from __future__ import annotations

import os
import subprocess
import threading

from typedbytes.errors import TypedBytesError
from typedbytes.sortkey import decode, encode
from typedbytes.streaming._user_code import NAMES, UserCode, pairs_of
from typedbytes.streaming.task_environment import find_format, find_output, has_text_keys, is_last

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

__all__ = ["lines_through", "text_of", "with_commands"]

NO_MATCH = 1  # the exit code of grep and its like that have found nothing


def with_commands(functions: Mapping[str, Any], commands: Mapping[str, str | None], is_plain: bool) -> dict[str, Any]:
    """Return the code of each role of a step with commands; is_plain: without the options that need typed bytes."""
    if not is_plain:
        raise TypeError("batch, max_bad, group_by and partition_by are for functions: leave out the commands")
    for role, command in commands.items():
        if command is not None and not (isinstance(command, str) and command.strip()):
            raise TypeError(f"{NAMES[role]}_command must be a line for a shell, not {command!r}")
    has_reducer = functions["reduce"] is not None or commands["reduce"] is not None
    is_command = {role: command is not None and functions[role] is None for role, command in commands.items()}
    # a filter changes only what its role reads
    is_text = has_reducer and (any(is_command.values()) or bool(commands["combine"] or commands["reduce"]))
    return {
        role: None if function is None and commands[role] is None else TextCode(role, function, commands[role], is_text)
        for role, function in functions.items()
    }


class TextCode:
    """The code of a role in a step with commands: called once, with all records."""

    def __init__(self, role: str, function: Any, command: str | None, is_text: bool) -> None:
        self._role, self._function, self._command = role, function, command
        self._reads_text = is_text and role != "map"
        self._writes_text = is_text and role != "reduce"
        if role == "map":
            self.map: Callable[[Iterator[Any]], Iterator[Any]] = self._process
        else:
            self.reduce: Callable[[Iterator[Any]], Iterator[Any]] = self._process

    def _process(self, records: Iterator[Any]) -> Iterator[Any]:
        if self._command is None:
            pairs = self._called(self._read(records))
        else:
            lines = lines_through(self._command, self._lines(records), is_filter=self._function is not None)
            if self._function is not None:
                pairs = self._called(self._filtered(lines))
            else:
                pairs = map(split_line, lines)
        if self._writes_text and not is_last(self._role, os.environ):
            for key, value in pairs:
                yield encode(text_of(key)), b"" if value is None and self._function is None else text_of(value)
        elif self._function is None and find_output(os.environ) == "values":
            for key, value in pairs:
                yield None, key if value is None else b"%b\t%b" % (key, value)
        elif self._function is None:
            for key, value in pairs:
                yield readable(key), readable(value or b"")
        else:
            yield from pairs

    def _read(self, records):
        if not self._reads_text:
            return records
        return ((readable(decode(key)), map(readable, values)) for key, values in records)

    def _lines(self, records):
        """Yield records as the lines that a command reads."""
        if self._role == "map":
            has_keys = self._has_keys()
            for key, value in records:
                yield joined(text_of(key), value) if has_keys else text_of(value)
            return
        for key, values in records:
            start = decode(key) if self._reads_text else text_of(key)
            for value in values:
                yield joined(start, value)

    def _has_keys(self):
        """Return whether a mapper's lines have keys: all but those of a text input."""
        return find_format("map", "input", os.environ) != "text" or has_text_keys("map", os.environ)

    def _filtered(self, lines):
        """Return what a filter wrote as the records of the role."""
        if self._role == "map" and not self._has_keys():
            return enumerate(map(readable, lines))
        pairs = ((readable(key), readable(value or b"")) for key, value in map(split_line, lines))
        if self._role == "map":
            return pairs
        from itertools import groupby
        from operator import itemgetter

        return ((key, map(itemgetter(1), group)) for key, group in groupby(pairs, itemgetter(0)))

    def _called(self, records):
        """Yield the pairs that user code makes of records."""
        user_code = UserCode(self._role, self._function)
        user_code.start()
        if user_code.takes_all:
            yield from pairs_of(user_code.process(records))
        else:
            for key, value in records:
                yield from pairs_of(user_code.process(key, value))
        yield from user_code.end()


def text_of(item: Any) -> bytes:
    """Return a key or a value as text."""
    return bytes(item) if isinstance(item, (bytes, bytearray)) else str(item).encode("utf-8", "surrogateescape")


def readable(item: bytes) -> Any:
    """Return text as str, or as bytes where it is not UTF-8."""
    try:
        return item.decode()
    except UnicodeDecodeError:
        return item


def joined(start: bytes, value: Any) -> bytes:
    """Return the line of a key and a value."""
    return b"%b\t%b" % (start, text_of(value))


def split_line(line: bytes) -> tuple[bytes, bytes | None]:
    """Return the key and the value of a line, None for the value if it has no TAB."""
    key, tab, value = line.partition(b"\t")
    return key, value if tab else None


def lines_through(command: str, lines: Iterable[bytes], is_filter: bool = False) -> Iterator[bytes]:
    """Yield the lines that a shell's command makes of lines. A filter may end with 1 if it writes nothing, as grep."""
    # Hadoop finds a program in the task's folder, too.
    environ = {**os.environ, "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), os.curdir])}
    process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
    failed: list[BaseException] = []
    feeder = threading.Thread(target=_feed, args=(process.stdin, lines, failed), daemon=True)
    feeder.start()
    nlines = 0
    try:
        for line in process.stdout or ():
            nlines += 1
            yield line[:-1] if line.endswith(b"\n") else line
        code = process.wait()
        feeder.join()
        if failed and not isinstance(failed[0], BrokenPipeError):
            raise failed[0]
        if code and not (is_filter and code == NO_MATCH and not nlines):
            # of our own classes: its traceback says nothing
            raise TypedBytesError(f"the command ended with exit code {code}: {command}")
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stdin):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass  # lines that it did not want


def _feed(pipe, lines, failed):
    try:
        for line in lines:
            pipe.write(line + b"\n")
        pipe.close()
    except BaseException as error:
        failed.append(error)
        if not isinstance(error, BrokenPipeError):
            pipe.close()
            return
        try:
            for _ in lines:  # what the command did not want, such as `head`, is read all the same
                pass
        except BaseException as later:
            failed[:] = [later]
