"""Classes that are described in a line of text: where the descriptions come from, and their programs.

Here: those that a caller, a file or this library describes. Not here: the language, bytes.
"""

from __future__ import annotations

import functools
import os
import re
import threading

from typedbytes.sequencefile._class_language import parse
from typedbytes.sequencefile._native import KINDS, ClassProgram
from typedbytes.sequencefile._writables import AVRO, CLASSES_FILE

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CLASSES_FILE", "Classes", "classes_of", "is_simple", "may_hide_class", "parse_file", "texts_of"]

_CHECKING = threading.RLock()  # the other threads wait for classes that are checked
_ENTRY = re.compile(r"(?![0-9])([\w$]+(?:\.[\w$]+)*)\s*:\s*(.*)", re.ASCII | re.DOTALL)


class Classes:
    """Described classes by name; their programs are made when they are first asked for."""

    def __init__(
        self, texts: Mapping[str, str], outer: Classes | None = None, *, where: str = "", is_checked: bool = False
    ) -> None:
        self._texts = texts
        self._outer = outer  # for classes that these do not describe
        self._where = where  # the file that messages name
        self._is_checked = is_checked
        self._programs: dict[str, ClassProgram] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._texts or (self._outer is not None and name in self._outer)

    def check(self) -> Classes:
        """Raise ValueError for a description that is wrong; return the classes.

        A description may need a class that is known by default. It is looked for in all classes, these among them, so
        that this calls itself; they are not checked twice.
        """
        with _CHECKING:
            if not self._is_checked:
                self._is_checked = True
                try:
                    for name in self._texts:
                        self.program(name)
                except ValueError as error:
                    self._is_checked = False
                    if not self._where:
                        raise
                    raise ValueError(f"{self._where}: {error}") from None
        return self

    def program(self, name: str) -> ClassProgram | None:
        """Return the program of a class; None if it is not described."""
        if name not in self:
            return None
        if name not in self._programs:
            self._programs[name] = ClassProgram(name, self.tree(name), self.tree)
        return self._programs[name]

    def tree(self, name: str) -> tuple:
        """Return the tree of a described class."""
        if name in self._texts:
            return parse(name, self._texts[name], self)
        if self._outer is None or name not in self._outer:
            raise ValueError(f"{name} is not described")
        return self._outer.tree(name)

    def has_choice(self, name: str) -> bool:
        """Return whether a class holds one of several, which typed bytes do not name."""
        trees, seen = [self.tree(name)], {name}
        while trees:
            kind, _, _, items, _, value = trees.pop()
            if kind == "choice" and len(items) > 1:
                return True
            if kind == "class" and value not in seen:
                seen.add(value)
                items = (self.tree(value),)
            trees += items
        return False


def parse_file(text: str, where: str) -> dict[str, str]:
    """Return the descriptions in the text of a file by class name.

    An entry is `class name: description`; lines that start with a blank continue it, and # begins a comment.
    """
    entries: list[list] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].rstrip()
        if not line:
            continue
        if line[0] in " \t":
            if not entries:
                raise ValueError(f"{where}, line {number}: a line that continues nothing")
            entries[-1][1] += f" {line.strip()}"
        else:
            entries.append([number, line])
    descriptions: dict[str, str] = {}
    for number, line in entries:
        match = _ENTRY.fullmatch(line)
        if match is None:
            raise ValueError(f"{where}, line {number}: expected 'class name: description', found {line[:60]!r}")
        if match.group(1) in descriptions:
            raise ValueError(f"{where}, line {number}: class {match.group(1)} is described twice")
        descriptions[match.group(1)] = match.group(2)
    return descriptions


def _read_file(path):
    with open(path, encoding="utf-8-sig") as file:
        return parse_file(file.read(), os.fspath(path))


@functools.lru_cache(maxsize=64)
def _compiled(entries: tuple[tuple[str, str], ...], outer: Classes) -> Classes:
    return Classes(dict(entries), outer).check()


def classes_of(classes) -> Classes:
    """Return classes as a caller gives them: a mapping, the path of a file, or None for those that are known anyhow."""
    if classes is None:
        return _ours_and_users()
    if isinstance(classes, Classes):
        return classes
    return _compiled(tuple(texts_of(classes).items()), _ours_and_users())


def texts_of(classes) -> dict[str, str]:
    """Return the descriptions that a caller gives: a mapping, or the path of a file."""
    texts = _read_file(classes) if isinstance(classes, (str, os.PathLike)) else dict(classes)
    for name, text in texts.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise TypeError(f"classes are descriptions by class name, both str, not {name!r:.40}: {text!r:.40}")
    return texts


def is_simple(name: str) -> bool:
    """Return whether a class is one whose bytes its typed bytes give again."""
    return name in KINDS


def may_hide_class(name: str, part: str, metadata: Mapping[str, str]) -> bool:
    """Return whether typed bytes may not say which of several classes is in the keys or values of a file."""
    if is_simple(name):
        return False
    if name.startswith(AVRO):
        from typedbytes.sequencefile._avro import has_choice

        return has_choice(name, part, metadata)
    classes = classes_of(None)
    return name in classes and classes.has_choice(name)


def _ours_and_users():
    path = os.environ.get(CLASSES_FILE)
    try:
        return _with_users(path, os.environ.get("XDG_CONFIG_HOME"), os.environ.get("HOME")).check()
    except ValueError:
        _with_users.cache_clear()  # the file may be mended
        raise


@functools.lru_cache(maxsize=8)
def _with_users(path, config_home, home):
    if path is None:
        folder = config_home or (os.path.join(home, ".config") if home else None)
        path = folder and os.path.join(folder, "typedbytes", "classes")
        path = path if path and os.path.isfile(path) else ""
    from typedbytes.sequencefile._class_library import TEXTS

    ours = Classes(TEXTS, is_checked=True)
    return Classes(_read_file(path), ours, where=path) if path else ours
