"""Functions that scripts of mrjob use."""

from __future__ import annotations

import ast
import logging
import os
import random
import re
import shlex
import shutil
import sys
from contextlib import contextmanager, suppress

from typedbytes.streaming.capture import environment_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any


NullHandler = logging.NullHandler


def random_identifier() -> str:
    """Return 16 hexadecimal digits."""
    return f"{random.getrandbits(64):016x}"


def save_current_environment() -> AbstractContextManager[None]:
    """Have the environment after the block as before it."""
    return environment_of({**os.environ})


@contextmanager
def save_cwd() -> Iterator[None]:
    """Have the current folder after the block as before it."""
    before = os.getcwd()
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def save_sys_path() -> Iterator[None]:
    """Have sys.path after the block as before it."""
    before = sys.path[:]
    try:
        yield
    finally:
        sys.path = before


@contextmanager
def save_sys_std() -> Iterator[None]:
    """Have the standard streams after the block as before it, flushed on the way."""
    before = sys.stdin, sys.stdout, sys.stderr
    try:
        _flush_streams()
        yield
        _flush_streams()
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def _flush_streams():
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # mrjob too takes any object for a stream
            stream.flush()


def unarchive(archive_path: str, dest: str) -> None:
    """Unpack an archive into a folder."""
    kinds = (("tar", "gztar", "bztar", "zip"), (".tar", ".tar.gz", ".tar.bz2", ".zip"))
    found = next((kind for kind, end in zip(*kinds) if archive_path.endswith(end)), None)
    shutil.unpack_archive(archive_path, dest, found or ("zip" if archive_path.endswith(".jar") else "gztar"))


def safeeval(expr: str | bytes, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None) -> Any:
    """Return the value of literals, of names that are given, and of calls of these and of some types.

    Raises ValueError for any other expression, and NameError for an unknown name.
    """
    text = expr.decode("utf-8") if isinstance(expr, bytes) else expr
    try:
        if _NOT_LITERALS.search(_ATOM.sub(" 0 ", text)):
            raise SyntaxError("more than literals, names and calls")
        return _value(ast.parse(text.strip(), mode="eval").body, {**(globals or {}), **(locals or {})})
    except (SyntaxError, TypeError, RecursionError, MemoryError) as error:  # no memory for deep nesting, in the parser
        raise ValueError(f"no value can be read: {error}") from None


# Before 3.11 ast.parse crashes on a million of "1+", ".a" or "()", which nest without brackets; brackets it counts.
_NUMBER = r"(?:\d\w*(?:\.\w*)?|\.\d\w*)(?:(?<=[eE])[-+]\w+)?"
_STRING = r"""[bBrRuU]{0,2}(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")"""
_ATOM = re.compile(rf"{_STRING}|(?:[-+]\s*)?{_NUMBER}(?:\s*[-+]\s*{_NUMBER}(?<=[jJ]))?|[^\W\d]\w*", re.DOTALL)
_NOT_LITERALS = re.compile(r"[^0\s,:()\[\]{}]|0\s*[0\[{]|[)\]}]\s*[0(\[{]")

# The types that data may name, and of what it may make them: of nothing that is smaller than the result.
_TYPES: dict[str, tuple[Any, Any]] = {
    "set": (set, (list, tuple, set)), "frozenset": (frozenset, (list, tuple, set)), "bytearray": (bytearray, bytes),
    "range": (range, int), "xrange": (range, int), "float": (float, (str, int, float)),
    "complex": (complex, (str, int, float, complex)),
}  # fmt: skip


def _value(node, names):
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        kind = {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)]
        return kind([_value(item, names) for item in node.elts])
    if isinstance(node, ast.Dict):
        return {_value(key, names): _value(value, names) for key, value in zip(node.keys, node.values)}
    name = getattr(node.func if isinstance(node, ast.Call) else node, "id", None)
    if name is None:
        return ast.literal_eval(node)
    if name not in names and (name not in _TYPES or isinstance(node, ast.Name)):
        raise NameError(f"name {name!r} is not defined")
    if isinstance(node, ast.Name):
        return names[name]
    arguments = [_value(argument, names) for argument in node.args]
    function, types = (names[name], object) if name in names else _TYPES[name]
    if not all(isinstance(argument, types) for argument in arguments):
        raise TypeError(f"{name} of another type")
    return function(*arguments)


def to_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines, with their ends, of bytes in pieces; an empty piece ends a line, as between two files."""
    held = b""
    for chunk in chunks:
        if held and not chunk:
            yield held
            held = b""
        *lines, held = (held + chunk).split(b"\n") if b"\n" in chunk else (held + chunk,)
        for line in lines:
            yield line + b"\n"
    if held:
        yield held


def cmd_line(args: Sequence[Any]) -> str:
    """Return words as a line for a shell."""
    return " ".join(shlex.quote(str(each)) for each in args)


def bash_wrap(cmd_str: str) -> str:
    """Return a line for a shell that has bash run another line; of mrjob before 0.6."""
    escaped = cmd_str.replace("'", "'\\''")
    return f"bash -c '{escaped}'"


def shlex_split(s: str) -> list[str]:
    """Return the words of a line of a shell."""
    return shlex.split(s)


def expand_path(path: str | None) -> str | None:
    """Return a path with variables and ~ replaced."""
    return None if path is None else os.path.expanduser(os.path.expandvars(path))


def file_ext(filename: str) -> str:
    """Return the extension of a file's name, such as ".tar.gz"."""
    name = os.path.basename(filename).lstrip(".")
    return name[name.index(".") :] if "." in name else ""


def log_to_stream(
    name: str | None = None,
    stream: Any = None,
    format: str | None = None,
    level: int | None = None,
    debug: bool = False,
) -> None:
    """Have what is logged written to a stream."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(logging.Formatter(format or "%(message)s"))
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if debug else level or logging.INFO)


def log_to_null(name: str | None = None) -> None:
    """Have what is logged dropped."""
    logging.getLogger(name).addHandler(logging.NullHandler())


def unique(items: Iterable[Any]) -> Iterator[Any]:
    """Yield items in their order, each once."""
    return iter(dict.fromkeys(items))


def which(cmd: str, path: str | None = None) -> str | None:
    """Return where a command is."""
    return shutil.which(cmd, path=path)
