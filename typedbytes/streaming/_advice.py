"""What to do about the input of a task that was started by hand, in a pipe: imported only by a task that has failed."""

import os
import sys

from typedbytes.streaming._task import Task

# Text of Python 2, which dumbo and hadoopy wrote: under Hadoop too.
NOT_UTF8 = (
    'options = {"unicode_errors": "surrogateescape"}; run(..., read_options=options, write_options=options) keeps the bytes of such text'
)


def advice_on(role, error, environ):
    """Return what to do about text that is not UTF-8, or by hand about input that is not typed bytes; None where nothing is known.

    >>> class Error:
    ...     record = 0
    >>> advice_on("reduce", Error, {})
    'sort pairs with "typedbytes sort --pairs", sort alone takes them apart; for lines of text set stream_reduce_input=text'
    """
    if "is not UTF-8" in str(error):
        return NOT_UTF8
    if Task(environ).job_id:
        return None
    if role == "map":
        script = os.path.basename(sys.argv[0])
        advice = f'for lines of text: "cat FILE | stream_map_input=text python {script} map", or "typedbytes run {script} FILE -o FOLDER"'
        return None if error.record else advice
    return 'sort pairs with "typedbytes sort --pairs", sort alone takes them apart; for lines of text set stream_reduce_input=text'
