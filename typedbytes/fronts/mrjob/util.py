"""Functions that scripts of mrjob use."""

from __future__ import annotations

import ast
import logging
import os
import random
import shlex
import shutil
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any


NullHandler = logging.NullHandler


def random_identifier() -> str:
    """Return 16 hexadecimal digits."""
    return f"{random.getrandbits(64):016x}"


@contextmanager
def save_current_environment() -> Iterator[None]:
    """Have the environment after the block as before it."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


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
        with suppress(Exception):  # as mrjob, which takes any object for a stream
            stream.flush()


def unarchive(archive_path: str, dest: str) -> None:
    """Unpack an archive into a folder."""
    kinds = (("tar", "gztar", "bztar", "zip"), (".tar", ".tar.gz", ".tar.bz2", ".zip"))
    found = next((kind for kind, end in zip(*kinds) if archive_path.endswith(end)), None)
    shutil.unpack_archive(archive_path, dest, found or ("zip" if archive_path.endswith(".jar") else "gztar"))


def safeeval(expr: str | bytes, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None) -> Any:
    """Return the value of an expression of literals, and of names that are given or harmless."""
    text = expr.decode("utf-8") if isinstance(expr, bytes) else expr
    try:
        return ast.literal_eval(text)
    except ValueError:
        names = {"__builtins__": {}, "set": set, "frozenset": frozenset, "range": range, "xrange": range,
                 "bytearray": bytearray, "complex": complex, "float": float, "open": _refused}  # fmt: skip
        return eval(text, {**names, **(globals or {})}, locals)


def _refused(*arguments: Any) -> Any:
    raise NameError("name 'open' is not defined")


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
