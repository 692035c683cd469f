"""The format of a job's inputs, where they can be looked at from here.

Here: the first bytes of local files. Not here: Hadoop's options and classes. Invariant: a given format is not checked;
inputs visible only to the cluster are assumed to be text, and a message says so.
"""

import glob
import os

from typedbytes._base import magic
from typedbytes.hadoop.installed import default_file_system
from typedbytes.jobs.errors import SubmitError

__all__ = ["find_format"]


def find_format(given, inputs, say):
    """Return the format of the inputs: the given one, or for "auto" what they hold.

    Raises SubmitError for inputs of both kinds, and for a MapFile whose index Hadoop would read as records.
    """
    if given not in ("auto", "sequencefile"):
        return given
    found = [path for each in inputs for path in _local_paths(each)]
    _check_indexes(found)
    if given != "auto":
        return given
    kinds = {magic.is_sequence_file(head): path for path, head in _heads(found)}
    if len(kinds) > 1:
        raise SubmitError(
            f"{kinds[True]} is a SequenceFile and {kinds[False]} is not: give the inputs of one kind, in two jobs"
        )
    if not kinds:
        say(
            "the inputs cannot be looked at from here, and are read as lines of text; for SequenceFiles give "
            "--input-format sequencefile"
        )
    return "sequencefile" if True in kinds else "text"


def _local_paths(path):
    """Return the files and folders of an input, if it is on this machine."""
    scheme, colon, rest = path.partition(":")
    is_url = colon and "/" not in scheme
    if scheme != "file" if is_url else not default_file_system().startswith("file:"):
        return []
    return glob.glob("/" + rest.lstrip("/") if is_url else path)


def _check_indexes(paths):
    """Raise SubmitError for a MapFile as an input: Hadoop takes `data` only of folders inside an input."""
    from typedbytes._base.locations import is_map_file

    for path in paths:
        folder, name = (path, "") if os.path.isdir(path) else os.path.split(path)
        data = os.path.join(folder, "data")
        if (not name or name == "index" and data in paths) and is_map_file(folder):
            raise SubmitError(
                f"{folder} is a MapFile, whose index Hadoop would read as records: "
                f"give the folder that holds it, or {data}"
            )


def _heads(paths):
    """Yield (path, first bytes) of each file that Hadoop reads of files and folders."""
    for path in paths:
        # no names with a dot
        for file_path in glob.glob(os.path.join(glob.escape(path), "[!_]*")) if os.path.isdir(path) else [path]:
            if os.path.isdir(file_path):
                file_path = os.path.join(file_path, "data")  # of a MapFile
            if os.path.isfile(file_path) and os.access(file_path, os.R_OK):
                with open(file_path, "rb") as file:
                    yield file_path, file.read(4)
