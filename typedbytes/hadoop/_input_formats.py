"""The format of a job's inputs, where they can be looked at from here.

Here: the first bytes of local files. Not here: Hadoop's options and classes. Invariant: a given format is not checked; inputs
visible only to the cluster are assumed to be text, and a message says so.
"""

import glob
import os

from typedbytes import _magic
from typedbytes.hadoop._installed import default_file_system
from typedbytes.hadoop._submit_errors import SubmitError

__all__ = ["find_format"]


def find_format(given, inputs, say):
    """Return the format of the inputs: the given one, or for "auto" what they hold. Raises SubmitError for inputs of both kinds."""
    if given != "auto":
        return given
    kinds = {_magic.is_sequence_file(head): path for each in inputs for path, head in _heads(each)}
    if len(kinds) > 1:
        raise SubmitError(f"{kinds[True]} is a SequenceFile and {kinds[False]} is not: give the inputs of one kind, in two jobs")
    if not kinds:
        say("the inputs are read as lines of text; for SequenceFiles give --input-format sequencefile")
    return "sequencefile" if True in kinds else "text"


def _heads(path):
    """Yield (path, first bytes) of each file of an input, if it is on this machine."""
    scheme, colon, rest = path.partition(":")
    is_url = colon and "/" not in scheme
    if scheme != "file" if is_url else not default_file_system().startswith("file:"):
        return
    for found in glob.glob("/" + rest.lstrip("/") if is_url else path):
        for each in glob.glob(os.path.join(glob.escape(found), "[!_]*")) if os.path.isdir(found) else [found]:  # no names with a dot
            if os.path.isfile(each) and os.access(each, os.R_OK):
                with open(each, "rb") as file:
                    yield each, file.read(4)
