"""The file of descriptions that --classes names, and the classes of inputs that nothing describes."""

from __future__ import annotations

import os
from contextlib import contextmanager

from typedbytes.cli._failure import NO_INPUT, USAGE, Failure, display_name, reason_of, say_message
from typedbytes.sequencefile._classes import CLASSES_FILE, classes_of
from typedbytes.sequencefile._writables import is_known

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["classes_in_use", "note_unknown_classes"]


@contextmanager
def classes_in_use(path: str | None) -> Iterator[None]:
    """Have the Readers of this process, and of those that it starts, know the classes of a file meanwhile.

    path: None for the one in the variable, which is only checked.
    """
    before = os.environ.get(CLASSES_FILE)
    where, path = "--classes" if path else CLASSES_FILE, path or before or ""
    try:
        classes_of(path)
    except OSError as error:
        raise Failure(NO_INPUT, f"{where}: {display_name(path)}: {reason_of(error)}") from None
    except ValueError as error:
        raise Failure(USAGE, f"{where}: {error}") from None
    os.environ[CLASSES_FILE] = os.path.abspath(path)
    try:
        yield
    finally:
        if before is None:
            del os.environ[CLASSES_FILE]
        else:
            os.environ[CLASSES_FILE] = before


def note_unknown_classes(file: Any, noted: set[str]) -> None:
    """Say once which classes of a SequenceFile are not known. noted: those said before."""
    for name in (file.key_class, file.value_class):
        if name not in noted and not is_known(name):
            noted.add(name)
            say_message(
                f"note: {name} is not known: its bytes are left as they are; --classes FILE describes it "
                '(docs: "Classes of your own")'
            )
