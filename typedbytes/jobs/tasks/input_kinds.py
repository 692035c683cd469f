"""The kinds of a job's input files, and which one a file is.

Here: what a name, the first bytes and the format that the job gives say of a file. Not here: splits, and reading them.
Invariant: no binary data is read as text, JSON or CSV, except as the format text, and compressed files are recognised
under any name.

A SequenceFile is known by its first bytes, a file of typed bytes by its name, .tb or .typedbytes, and anything else is
lines of text, compressed if its name or its first bytes say so: .gz, .bz2, .zst, .xz, .lzo, .deflate, .snappy, .lz4,
.lzo_deflate.
"""

from __future__ import annotations

import io

from typedbytes._base import magic
from typedbytes._base.compression import compression_of_text, decompressed_as, put_back
from typedbytes.errors import DecodeError
from typedbytes.jobs import remote
from typedbytes.jobs.errors import InputError
from typedbytes.jobs.messages import option_named

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "AUTO", "BZIP2", "CSV", "FILE", "JSON", "PAIRS", "RAW_TEXT", "SEQUENCE_FILE", "TEXT", "decompressed", "kind_of",
]  # fmt: skip

TEXT, PAIRS, SEQUENCE_FILE = "text", "pairs", "sequencefile"
JSON, CSV, FILE = "json", "csv", "file"  # lines and rows, which tasks parse; a whole file
AUTO = "auto"  # a file of any kind but JSON, CSV and FILE, by what is in it
RAW_TEXT = "raw text"  # the lines of a text, not pairs
BZIP2 = "bzip2"  # files of bzip2 can be split

HEAD_NBYTES = 1 << 12  # read to recognise the format of a file
UTF_16 = tuple(mark for mark, encoding in magic.BYTE_ORDER_MARKS.items() if encoding == "UTF-16")


def kind_of(path: str, format_name: str) -> tuple[str, str | None]:
    """Return the kind and the compression of a file; raises InputError for binary data that would be read as text."""
    if format_name == FILE:
        _check_name(path)
    if format_name in (FILE, SEQUENCE_FILE):
        return format_name, None
    with remote.opened_to_recognise(path) as file:
        head = file.read(HEAD_NBYTES)
    if format_name == AUTO and magic.is_sequence_file(head):
        return SEQUENCE_FILE, None
    codec = _codec_named(path) or magic.compression_of(head)
    if format_name == PAIRS or (format_name == AUTO and path.endswith((".tb", ".typedbytes"))):
        return PAIRS, codec
    kind = TEXT if format_name == AUTO else format_name
    if codec:
        try:
            with remote.opened(path) as raw, io.BufferedReader(decompressed(raw, codec)) as file:
                head = file.read(HEAD_NBYTES)
        except (OSError, DecodeError):
            return kind, codec  # the task that reads it reports the error
        except ModuleNotFoundError as error:
            raise InputError(f"{path}: {error}") from None
    if format_name != TEXT:
        _check_text(path, format_name, head, codec)
    return kind, codec


def _codec_named(path):
    try:
        return compression_of_text(path)
    except DecodeError as error:
        raise InputError(f"{path}: {error}") from None


def _check_name(path):
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{path}: the name is not UTF-8, which the key of a whole file has to be: rename the file"
        ) from None


def _check_text(path, format_name, head, codec):
    """Raise InputError if the first bytes are binary data: they contain a NUL, or are those of another format."""
    name = magic.name_of(head)
    if not name and b"\0" not in head:
        return
    inside = f" inside {codec}" if codec else ""
    if not name and head.startswith(UTF_16):
        raise InputError(f"{path}: text in UTF-16{inside}", hint="convert it to UTF-8: iconv -f UTF-16 -t UTF-8")
    what = f"{name or 'binary data'}{inside}"
    convert = "; typedbytes convert makes records of a table" if name in ("parquet", "arrow", "arrow-file") else ""
    if format_name != AUTO:
        raise InputError(
            f"{path}: {what}, not {'CSV' if format_name == CSV else 'lines of JSON'}",
            hint="correct it, or give another format with " + option_named("input_format") + convert,
        )
    raise InputError(
        f"{path}: cannot tell the format: {what}, not text, not a SequenceFile, not named .tb",
        hint=option_named("input_format", "pairs")
        + " reads it as typed bytes, "
        + option_named("input_format", "text")
        + f" as lines{convert}",
    )


def decompressed(file: Any, codec: str | None) -> Any:
    """Return a source of what a file holds, at its start if there is a codec.

    An empty file is empty however it is called. Not by bz2 and lzma,
    which take damage at the start of a later stream for the end of the file.
    """
    head = file.read(1) if codec else b""
    return decompressed_as(put_back(head, file), codec) if head else file
