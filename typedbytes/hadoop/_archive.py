"""The files of an archive before it is written: names, contents, and the source of each.

Here: which names an archive may have, and which files of a folder go into it. Not here: wheels, pip, jobs. Invariant: a
name is a relative path of printable characters inside the archive's folder; no two names differ in case only; files
left out of a folder are listed in `left_out`, except those of no use in an archive.
"""

import fnmatch
import io
import os
import stat
import zipfile

from typedbytes.jobs.errors import SubmitError

__all__ = ["Archive"]

EPOCH = (1980, 1, 1, 0, 0, 0)

#: Left out without a message: of no use in an archive of modules.
IGNORED = (
    "__pycache__", "*.pyc", "*.pyo", "*.dist-info", "*.egg-info", ".DS_Store", ".git", ".gitignore", ".gitattributes",
    ".hg", ".svn", ".*_cache", ".tox", ".nox",
)  # fmt: skip
#: Left out with a message: hidden files, which can contain secrets, and backups of editors and merges.
LEFT_OUT = (".*", "*~", "#*#", "*.bak", "*.orig", "*.rej", "*.swo", "*.swp")


class Archive:
    """Files by their names in the archive."""

    def __init__(self):
        self.left_out = []  #: paths of files and folders
        self._data = {}
        self._sources = {}
        self._by_lower = {}

    def __len__(self):
        return len(self._data)

    def __contains__(self, name):
        return name in self._data

    def holds(self, name):
        """Return whether the archive has a file or folder of that name."""
        return any(path == name or path.startswith(f"{name}/") for path in self._data)

    def source_of(self, name):
        """Return the source of a file, or None."""
        return self._sources.get(name)

    def differences(self, names_and_data):
        """Return the names of files that are missing from a dict of contents by name, or differ in it."""
        return sorted(name for name, data in self._data.items() if names_and_data.get(name) != data)

    def add(self, name, data, source, *, replaces=False):
        """Add a file; `source` is its origin, for messages. Raises SubmitError for an invalid or duplicate name."""
        reason = _fault_of(name)
        if reason:
            raise SubmitError(f"{source} cannot go into a bundle: the name {name!r} {reason}")
        taken = self._by_lower.setdefault(name.lower(), name)
        if taken != name or (self._data.get(name, data) != data and not replaces):
            also = "" if taken == name else f", there as {taken}"
            raise SubmitError(f"{source} and {self._sources[taken]} both provide {name}{also}: leave one of them out")
        self._data[name] = data
        self._sources[name] = source

    def add_file(self, path, name, source=None):
        """Add a local file."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise SubmitError(f"{path} cannot be put into a bundle: it is neither a file nor a folder")
            with open(path, "rb") as file:
                self.add(name, file.read(), source or path)
        except OSError as error:
            raise SubmitError(f"{path} cannot be put into a bundle: {error.strerror}") from None

    def add_folder(self, folder, name):
        """Add the files of a folder and its subfolders; SubmitError for a link out of it, or to a folder above."""
        root = os.path.realpath(folder)
        for path, below in _files_below(root, (root,), name, self.left_out):
            self.add_file(path, below)

    def zipped(self, compression=zipfile.ZIP_DEFLATED):
        """Return the zip as bytes, which depend on the files only."""
        for name in self._data:
            parts = name.split("/")
            for length in range(1, len(parts)):
                folder = self._by_lower.get("/".join(parts[:length]).lower())
                if folder:
                    raise SubmitError(
                        f"{self._sources[name]} provides {name}, and {self._sources[folder]} the file {folder}: "
                        "leave one of them out"
                    )
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as zipped:
            for name in sorted(self._data):
                item = zipfile.ZipInfo(name, EPOCH)
                item.compress_type = compression
                item.external_attr = 0o644 << 16
                zipped.writestr(item, self._data[name])
        return file.getvalue()


def _fault_of(name):
    """Return what is wrong with a name, or None."""
    if name.startswith("/") or (name[1:2] == ":" and name[0].isalpha()):
        return "is absolute"
    if "\\" in name:
        return "has a backslash"
    if {"", ".", ".."} & set(name.split("/")):
        return "has an empty part, . or .."
    if any(char < " " or char == "\x7f" or "\ud800" <= char <= "\udfff" for char in name):
        return "has characters that are not text"
    return None


def _files_below(folder, above, name, left_out):
    """Yield (path, name in the archive) of the files in a folder and its subfolders.

    above: its parents, from the root on.
    """
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        raise SubmitError(f"{folder} cannot be put into a bundle: {error.strerror}") from None
    for entry in entries:
        path = os.path.join(folder, entry)
        if _matches(entry, IGNORED):
            continue
        if _matches(entry, LEFT_OUT) or os.path.exists(os.path.join(path, "pyvenv.cfg")):
            left_out.append(path)
            continue
        real = os.path.realpath(path)
        if os.path.commonpath([above[0], real]) != above[0]:
            raise SubmitError(
                f"{path} cannot be put into a bundle: it is a link to {real}, outside of {above[0]}: copy it, "
                "or remove the link"
            )
        if real in above:
            raise SubmitError(
                f"{path} cannot be put into a bundle: it is a link to {real}, which it is in: remove the link"
            )
        if os.path.isdir(real):
            yield from _files_below(real, (*above, real), f"{name}/{entry}", left_out)
        else:
            yield real, f"{name}/{entry}"


def _matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
