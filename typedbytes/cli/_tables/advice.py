"""What messages of a conversion advise: options by their names on the command line, and the repair of an input.

Invariant: what is advised works for the input that the message names.
"""

from __future__ import annotations

import shlex
from contextlib import contextmanager

from typedbytes import columns
from typedbytes._base import locations
from typedbytes._base.codes import STRING
from typedbytes._base.magic import SEQUENCE_FILE_NBYTES, is_sequence_file
from typedbytes.cli._failure import BAD_DATA, Failure, display_name
from typedbytes.errors import DecodeError, LimitError, with_hint
from typedbytes.sequencefile._files import check_readable, header_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TO_TYPED_BYTES", "name_option", "repair_advice", "repair_advised", "widen_advice"]

#: By format, the command that makes typed bytes of what --widen cannot read twice.
TO_TYPED_BYTES = {"json": "typedbytes from-json", "block": "typedbytes cat"}
_JOINED = "another SequenceFile starts here"
_ENCODING = "text in another encoding (--encoding latin-1, or its name)"


def name_option(error: DecodeError) -> None:
    """Have the message of a DecodeError name the option of convert by which what is refused is read in a table."""
    if error.option == "serde":
        other = f", or {_ENCODING}" if error.code == STRING else ""
        with_hint(error, f" (Hive's default is --serde binary){other}")
    elif error.option == "unicode_errors" and error.hint:  # that of columns.read; there is none with a type
        with_hint(error, f": {_ENCODING}")


def widen_advice(form: str) -> str:
    """Return what a message says of a column with values of several types, of an input in this format."""
    command = TO_TYPED_BYTES.get(form)
    return f" ({f'{command} makes typed bytes, of which ' if command else ''}--widen finds a type for all)"


@contextmanager
def repair_advised(name: str, has_limit: bool, target: str = "") -> Iterator[None]:
    """Turn an error in the data of an input into a Failure that names it, if there is a command that repairs it.

    has_limit: larger records are no damage. target: the format of the output, if it is not a table.
    """
    try:
        yield
    except DecodeError as error:
        if target == "block" and error.option == "unicode_errors":
            with_hint(error, " (typedbytes cat --to block --unicode-errors surrogateescape accepts it)")
        advice = "" if has_limit and isinstance(error, LimitError) else repair_advice(error, name)
        if not advice:
            raise
        raise Failure(BAD_DATA, f"{display_name(name)}: {error}{advice}") from None


def repair_advice(error: DecodeError, path: str | None) -> str:
    """Return advice to replace a damaged file by its intact records, if validate can repair it in place.

    Nothing is said of files that were joined, nor where a description of a class, a codec, or an option may be what is
    wrong: the repair would drop intact records.
    """
    if error.option is not None or isinstance(error, columns.MismatchError):
        return ""
    is_remote = bool(path) and locations.is_url(path)
    if not path or is_remote and ("::" in path or path.startswith("http")):  # what is in an archive is only read
        return ""
    try:
        with locations.opened_to_recognise(path) if is_remote else open(path, "rb") as file:
            if not is_sequence_file(file.read(SEQUENCE_FILE_NBYTES)):
                return ""
            file.seek(0)
            header = header_of(file)
            check_readable(header)
    except Exception:  # each file system has errors of its own
        return ""
    if error.message.startswith((f"{header.key_class}: ", f"{header.value_class}: ", _JOINED)):
        return ""
    quoted = shlex.quote(path)
    return f" (copy it, then typedbytes validate --repair {quoted} {quoted} keeps only the intact records)"
