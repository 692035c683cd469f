"""The archive with our package, and the other modules of a job, for nodes that have only Python.

Here: what goes into the archive and where. Not here: which names an archive may have, jobs, Hadoop's command line.
Invariant: the archive is a zip of exactly the files that imports need; its bytes depend on the files only; the name of
a compiled module has its Python version and platform, so that those for several can be in one folder.

Our own package is one tree for all versions. Other packages can have another release for each, so each version has a
folder of its own, cp311 and so on, and a sitecustomize.py adds the folder for the running Python to the path.
"""

from __future__ import annotations

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

from typedbytes._base.atomic import atomic_file
from typedbytes.hadoop._archive import Archive
from typedbytes.jobs.errors import OptionError, SubmitError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["bundle"]

#: The source of our own package, in messages.
OURS = "the typedbytes that runs here"

SITECUSTOMIZE = b'''\
"""Puts the packages for this version of Python on the path."""
import os, sys
_folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cp%d%d" % sys.version_info[:2])
if os.path.isdir(_folder):
    sys.path.insert(1, _folder)
'''


def bundle(
    target: str,
    *,
    modules: Iterable[str] = (),
    wheels: Iterable[str] = (),
    requirements: Iterable[str] = (),
    python_versions: Iterable[str] = (),
    platforms: Iterable[str] = (),
    find_links: Iterable[str] = (),
    compress: bool = True,
    say: Callable[[str], object] = lambda line: None,
) -> int:
    """Write the archive `target`, a .zip, and return the number of files in it.

    It contains our installed package, `modules` (paths of files and folders, imported by their names) and `wheels`.
    With `python_versions` ("3.9") or `platforms` ("manylinux2014_x86_64"), pip downloads the wheels of our package and
    of `requirements` for them, from its index or from the folders `find_links`. An archive that is only looked at is
    made much sooner without `compress`. Raises SubmitError for files that do not exist, and for names that would not
    reach the nodes unchanged.

    Hidden files, backups of editors and virtual environments in folders are left out, and `say` is called
    with a line that lists them; caches and files of version control are left out too. A link in a folder must
    point inside that folder.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bundle(os.path.join(folder, "bundle.zip")) > 50
    True
    """
    if not target.endswith(".zip"):
        raise OptionError(f"the name of a bundle must end with .zip, for Hadoop to unpack it, not {target}")
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
    data = archive.zipped(zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED)
    try:
        with atomic_file(target) as file, io.BufferedWriter(file) as buffer:
            buffer.write(data)
    except OSError as error:
        raise SubmitError(f"the bundle {target} cannot be written: {error.strerror}") from None
    return len(archive)


def versions_in(target: str) -> set[str]:
    """Return the Python versions that typedbytes in a bundle was compiled for, like "3.11". Raises SubmitError."""
    try:
        with zipfile.ZipFile(target) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        raise SubmitError(
            f"the bundle {target} cannot be read ({error}): make it with typedbytes bundle {target}"
        ) from None
    tags = {found for name in names for found in re.findall(r"^typedbytes/_core\.cpython-3(\d+)", name)}
    return {f"3.{tag}" for tag in tags}


def differences(target: str, path: str) -> list[str]:
    """Return the names of the files of a module (`path`, a file or folder) that differ in a bundle."""
    archive = Archive()
    _add_module(archive, path)
    with zipfile.ZipFile(target) as zipped:
        names = filter(archive.__contains__, zipped.namelist())
        return archive.differences({name: zipped.read(name) for name in names})


def _add_package(archive):
    import typedbytes

    root = os.path.dirname(typedbytes.__file__)
    for here, folders, files in os.walk(root):  # an installer can make links to files anywhere
        folders[:] = sorted(folder for folder in folders if folder != "__pycache__")
        inside = "typedbytes" + here[len(root) :].replace(os.sep, "/")
        for file in sorted(files):
            if not file.startswith(".") and not file.endswith((".pyc", ".pyi", ".c", ".html", "~")):
                archive.add_file(os.path.join(here, file), f"{inside}/{file}", OURS)


def _add_module(archive, path):
    path = os.path.abspath(path)
    name = os.path.basename(path)
    stem, suffix = os.path.splitext(name)
    of_same_import = f"{name}.py" if os.path.isdir(path) else f"{stem}/__init__.py" if suffix == ".py" else name
    for found in (name, of_same_import):
        if archive.holds(found):
            raise SubmitError(f"{path} cannot be put into a bundle: it already contains {found}")
    if os.path.isdir(path):
        archive.add_folder(path, name)
    else:
        archive.add_file(path, name)


def _folders_for(wheel):
    """Return the folders for a wheel's files: one for each of its Python versions, or the root of the archive."""
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
            # A wheel for the nodes' platform replaces the modules compiled on this machine.
            archive.add(
                folder + name,
                data,
                path,
                replaces=ours and archive.source_of(name) == OURS and name.endswith((".so", ".pyd")),
            )
            if folder:
                archive.add("sitecustomize.py", SITECUSTOMIZE, "typedbytes bundle")


def _files_of(path):
    """Yield (name, bytes) of the files in a wheel that imports need."""
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
    except (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        # RuntimeError: it is encrypted
        raise SubmitError(f"{path} is not a wheel: {error}") from None


def _fetched(folder, requirements, python_versions, platforms, find_links):
    if not (requirements or python_versions or platforms):
        return []
    import typedbytes

    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for version in python_versions or [here]:
        into = os.path.join(folder, version)
        command = [
            sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
        ]  # fmt: skip
        command += ["--python-version", version, "--dest", into]
        command += [word for platform in platforms or [_platform()] for word in ("--platform", platform)]
        command += [word for folder in find_links for word in ("--find-links", folder)]
        ours = [f"typedbytes=={typedbytes.__version__}"] if python_versions or platforms else []
        done = subprocess.run(
            [*command, *ours, *requirements], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            reason = "; ".join(line.removeprefix("ERROR: ") for line in done.stdout.splitlines() if line.strip())
            raise SubmitError(
                f"pip found no wheels for Python {version}: build them with pip wheel on such a node and give "
                f"their folder with --find-links; pip says: {reason}"
            )
    wheels = sorted(glob.glob(os.path.join(glob.escape(folder), "*", "*.whl")))
    return [(wheel, os.path.basename(os.path.dirname(wheel))) for wheel in wheels]


def _platform():
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
