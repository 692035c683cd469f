"""What to do about a task's input, user code's errors, or missing output: imported only when all is not well."""

from __future__ import annotations

import os
import sys

from typedbytes.errors import EncodeTypeError, EncodeValueError
from typedbytes.streaming._reporter import OWN_FILES
from typedbytes.streaming.task_environment import Task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

SHOWN_NCHARS, SHOWN_NBYTES = 200, 64  # of a key or a value in a report: as an object, and encoded
# Text of Python 2, which dumbo and hadoopy wrote: under Hadoop too.
NOT_UTF8 = (
    'options = {"unicode_errors": "surrogateescape"}; run(..., read_options=options, '
    "write_options=options) keeps the bytes of such text"
)
CALLED_ONCE = (
    "once, because it has a single parameter: with an iterator of all records, to be taken to the end; "
    "or raise StopEarly"
)


def advice_on(role: str, error: Any, environ: Mapping[str, str]) -> str | None:
    """Return what to do about text that is not UTF-8, or about other input that is not typed bytes; or None.

    >>> class Error:
    ...     record, option = 0, None
    >>> advice_on("reduce", Error, {}).split("; ")[1]
    'for lines of text set stream_reduce_input=text'
    """
    if error.option == "unicode_errors":
        return NOT_UTF8
    if Task(environ).job_id:
        return None
    if role == "map":
        script = os.path.basename(sys.argv[0])
        advice = (
            f'for lines of text: "cat FILE | stream_map_input=text python {script} map", '
            f'or "typedbytes run {script} FILE -o FOLDER"'
        )
        return None if error.record else advice
    return (
        'sort pairs with "typedbytes sort --pairs", sort alone takes them apart; '
        "for lines of text set stream_reduce_input=text"
    )


def details_of(error: Any) -> list[tuple[str, str]]:
    """Return what the report says of an error that user code raised, as pairs of a name and a text.

    >>> details_of(SystemExit(0))
    [('exit', 'the script called sys.exit(); to end a task early, raise StopEarly')]
    """
    if is_of_debugger(error):
        return [
            (
                "what to do",
                "a task has no terminal for a debugger: start the job by typedbytes run --inline, "
                "or call the function in a test",
            )
        ]
    if isinstance(error, SystemExit):
        return [("exit", "the script called sys.exit(); to end a task early, raise StopEarly")]
    if isinstance(error, EncodeTypeError) and error.option == "default":
        advice = (
            'pass run(..., write_options={"default": function}), '
            "where function(object) returns an object that can be encoded"
        )
        return [("what to do", advice)]
    if isinstance(error, EncodeValueError) and error.option == "nulls":
        return [("what to do", 'pass run(..., write_options={"nulls": "hive"}), or "value" with "null_value"')]
    return []


def is_of_debugger(error: Any) -> bool:
    """Return whether an error comes from Python's debugger, which finds the end of its input in a task and quits.

    >>> is_of_debugger(ValueError())
    False
    """
    while error is not None:
        traceback = error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_globals.get("__name__") in ("bdb", "pdb"):
                return True
            traceback = traceback.tb_next
        error = error.__context__
    return False


def details_of_call(process: Any) -> list[tuple[str, str]]:
    """Return what the report says of a function that was called once, if the user wrote it.

    >>> details_of_call(details_of_call)
    []
    """
    code = getattr(process if hasattr(process, "__code__") else process.__call__, "__code__", None)
    is_own = code is not None and code.co_filename.startswith(OWN_FILES)  # an older library's, or of commands
    return [] if is_own else [("called", CALLED_ONCE)]


def hint_at_no_output(name: str, nrecords: int) -> str:
    """Return what to look at where a mapper, a combiner or a reducer had input and wrote nothing; it may be right.

    >>> hint_at_no_output("mapper", 2).partition(":")[0]
    'the mapper read 2 records and wrote no pairs'
    """
    return (
        f"the {name} read {nrecords:,} record{'s' * (nrecords != 1)} and wrote no pairs: if that is not "
        "intended, yield pairs or return a list of them; what it prints goes to standard error"
    )


def details_of_item(name: str, item: object, encode: Callable[[object], bytes]) -> list[tuple[str, str]]:
    """Return what the report says of a key or a value: the object and its bytes, as far as the user's class lets it.

    >>> details_of_item("key", 1, bytes)
    [('key', '1 (00)')]
    """
    try:
        shown = repr(item)[:SHOWN_NCHARS]
    except Exception:
        return []  # of a class that is not ours
    try:
        return [(name, f"{shown} ({encode(item)[:SHOWN_NBYTES].hex()})")]
    except Exception:
        return [(name, shown)]  # decoded under options that encoding it again would need too


def details_of_returned(returned: object) -> list[tuple[str, str]]:
    """Return what the report says of what user code returned, as (name, text) pairs, if it cannot hold pairs.

    >>> details_of_returned(("a", 1))
    [('returned', 'tuple, expected pairs of key and value: yield them, or return a list')]
    """
    if isinstance(returned, tuple):
        may_hold_pairs = all(isinstance(each, (tuple, list)) for each in returned)
    else:
        may_hold_pairs = hasattr(returned, "__iter__") and not isinstance(returned, (str, bytes, dict))
    said = f"{type(returned).__name__}, expected pairs of key and value: yield them, or return a list"
    return [] if may_hold_pairs else [("returned", said)]
