"""The archive that brings our package, and what else a job imports, to nodes that have a bare Python.

Belongs here: what goes into the archive and where. What this file must not know: names that an archive may not hold, jobs,
Hadoop's command line. Always true: the archive is a zip of what an import needs and nothing else; the same files give the same
bytes; a module for one version of Python or one platform carries that in its name, so that those for several stand side by side.

Our own package is one tree for all versions. A package from elsewhere may be another release on each, so each version has a
folder of its own, cp311 and so on, and a sitecustomize.py puts the running Python's on the path.
"""

import glob
import io
import os
import re
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
import zlib

from typedbytes._whole import whole_file
from typedbytes.hadoop._archive import Archive
from typedbytes.hadoop._errors import SubmitError

__all__ = ["bundle"]

#: Where our own package comes from, in messages.
OURS = "the typedbytes that runs here"

SITECUSTOMIZE = b'''\
"""Puts the packages for this version of Python on the path."""
import os, sys
_folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cp%d%d" % sys.version_info[:2])
if os.path.isdir(_folder):
    sys.path.insert(1, _folder)
'''


def bundle(
    target, *, modules=(), wheels=(), requirements=(), python_versions=(), platforms=(), find_links=(), say=lambda line: None
):
    """Write the archive `target`, a .zip, and return the number of files in it.

    It holds our package as it runs here, `modules` (paths of files and folders, which are imported by their names), and
    `wheels`. With `python_versions` ("3.9") or `platforms` ("manylinux2014_x86_64") the wheels of our package, and of
    `requirements`, for those are fetched with pip, from its index or from the folders `find_links`. Raises SubmitError for
    what is not there, and for what would not be on the nodes as it is here.

    Hidden files, backups of editors and virtual environments in folders are left out, and `say` is called with a line that
    names them; caches and what belongs to version control are left out too. A link in a folder may lead to what is in that
    folder, and nowhere else.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bundle(os.path.join(folder, "bundle.zip")) > 50
    True
    """
    if not target.endswith(".zip"):
        raise SubmitError(f"a bundle is a .zip file, which Hadoop unpacks by that name, not {target}")
    archive = Archive()
    _add_package(archive)
    for path in modules:
        _add_module(archive, path)
    if archive.left_out:
        say(f"left out of the bundle: {', '.join(archive.left_out)}")
    with tempfile.TemporaryDirectory() as folder:
        for wheel in wheels:
            _add_wheel(archive, wheel, _folders_for(wheel))
        for wheel, version in _fetched(folder, requirements, python_versions, platforms, find_links):
            _add_wheel(archive, wheel, [f"cp{version.replace('.', '')}/"])
    data = archive.zipped()
    try:
        with whole_file(target) as file, io.BufferedWriter(file) as buffer:
            buffer.write(data)
    except OSError as error:
        raise SubmitError(f"the bundle {target} cannot be written: {error.strerror}") from None
    return len(archive)


def versions_in(target):
    """Return the versions of Python that a bundle's own modules were compiled for, like "3.11"; raises SubmitError."""
    try:
        with zipfile.ZipFile(target) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        raise SubmitError(f"the bundle {target} cannot be read ({error}): make it with typedbytes bundle {target}") from None
    tags = {found for name in names for found in re.findall(r"^typedbytes/_core\.cpython-3(\d+)", name)}
    return {f"3.{tag}" for tag in tags}


def differences(target, path):
    """Return the names of the files that a module, the file or folder `path`, would bring and that a bundle has not as they are."""
    archive = Archive()
    _add_module(archive, path)
    with zipfile.ZipFile(target) as zipped:
        names = filter(archive.__contains__, zipped.namelist())
        return archive.differences({name: zipped.read(name) for name in names})


def _add_package(archive):
    import typedbytes

    root = os.path.dirname(typedbytes.__file__)
    for here, folders, files in os.walk(root):  # installers make links of files, wherever they lead
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        inside = "typedbytes" + here[len(root) :].replace(os.sep, "/")
        for file in sorted(files):
            if not file.startswith(".") and not file.endswith((".pyc", ".pyi", ".c", ".html", "~")):
                archive.add_file(os.path.join(here, file), f"{inside}/{file}", OURS)


def _add_module(archive, path):
    path = os.path.abspath(path)
    name = os.path.basename(path)
    if archive.holds(name):
        raise SubmitError(f"{path} cannot be put into a bundle: there is a {name} in it already")
    if os.path.isdir(path):
        archive.add_folder(path, name)
    else:
        archive.add_file(path, name)


def _folders_for(wheel):
    """Return the folders that a wheel's files belong into: of each version of Python that it is for, or the archive's own."""
    tags, abi, _ = _tags(wheel)
    is_for_one = all(tag.startswith("cp") for tag in tags) and abi != "abi3"
    return [f"{tag}/" for tag in tags] if is_for_one else [""]


def _tags(wheel):
    name, suffix = os.path.splitext(os.path.basename(wheel))
    parts = name.split("-")
    if suffix != ".whl" or len(parts) < 5:
        raise SubmitError(f"{wheel} is not a wheel: its name is not like NAME-VERSION-py3-none-any.whl")
    return parts[-3].split("."), parts[-2], parts[-1]


def _add_wheel(archive, path, folders):
    ours = os.path.basename(path).startswith("typedbytes-")
    for name, data in _files_of(path):
        for folder in [""] if ours else folders:
            # A wheel for the nodes' platform brings the same modules as are compiled here.
            archive.add(folder + name, data, path, replaces=ours and archive.source_of(name) == OURS and name.endswith((".so", ".pyd")))
            if folder:
                archive.add("sitecustomize.py", SITECUSTOMIZE, "typedbytes bundle")


def _files_of(path):
    """Yield (name, bytes) of what an import needs of a wheel."""
    try:
        with zipfile.ZipFile(path) as wheel:
            seen = set()
            for item in wheel.infolist():
                name = item.orig_filename
                kind = stat.S_IFMT(item.external_attr >> 16)
                if name in seen or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise SubmitError(f"{path} cannot go into a bundle: {name!r} is there twice, or is a link")
                seen.add(name)
                name = re.sub(r"^[^/]+\.data/(?:purelib|platlib)/", "", name)
                if not name.endswith(("/", ".pyi")) and not re.search(r"\.(?:dist-info|data)/", name):
                    yield name, wheel.read(item)
    except (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error) as error:  # RuntimeError: it is encrypted
        raise SubmitError(f"{path} is not a wheel: {error}") from None


def _fetched(folder, requirements, python_versions, platforms, find_links):
    if not (requirements or python_versions or platforms):
        return []
    import typedbytes

    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for version in python_versions or [here]:
        into = os.path.join(folder, version)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        command += ["--python-version", version, "--dest", into]
        command += [word for platform in platforms or [_platform()] for word in ("--platform", platform)]
        command += [word for place in find_links for word in ("--find-links", place)]
        ours = [f"typedbytes=={typedbytes.__version__}"] if python_versions or platforms else []
        done = subprocess.run([*command, *ours, *requirements], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise SubmitError(
                f"pip found no wheels for Python {version}: name a folder that holds them with --find-links, as made by pip wheel "
                f"on such a node\n{done.stdout.strip()}"
            )
    wheels = sorted(glob.glob(os.path.join(glob.escape(folder), "*", "*.whl")))
    return [(wheel, os.path.basename(os.path.dirname(wheel))) for wheel in wheels]


def _platform():
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
