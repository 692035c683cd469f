"""The archive that brings our package, and what else a job imports, to nodes that have a bare Python.

Belongs here: what goes into the archive and where. What this file must not know: jobs, Hadoop's command line. Always true:
the archive is a zip of what an import needs and nothing else; the same files give the same bytes; a module for one
version of Python or one platform carries that in its name, so that those for several stand side by side.

Our own package is one tree for all versions. A package from elsewhere may be another release on each, so each version has a
folder of its own, cp311 and so on, and a sitecustomize.py puts the running Python's on the path.
"""

import glob
import io
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

from typedbytes._whole import whole_file
from typedbytes.hadoop._errors import SubmitError

__all__ = ["bundle"]

EPOCH = (1980, 1, 1, 0, 0, 0)
SKIPPED = ("__pycache__", ".dist-info", ".egg-info")

SITECUSTOMIZE = b'''\
"""Puts the packages for this version of Python on the path."""
import os, sys
_folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cp%d%d" % sys.version_info[:2])
if os.path.isdir(_folder):
    sys.path.insert(1, _folder)
'''


def bundle(target, *, modules=(), wheels=(), requirements=(), python_versions=(), platforms=(), find_links=()):
    """Write the archive `target`, a .zip, and return the number of files in it.

    It holds our package as it runs here, `modules` (paths of files and folders, which are imported by their names), and
    `wheels`. With `python_versions` ("3.9") or `platforms` ("manylinux2014_x86_64") the wheels of our package, and of
    `requirements`, for those are fetched with pip, from its index or from the folders `find_links`. Raises SubmitError for
    what is not there.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bundle(os.path.join(folder, "bundle.zip")) > 50
    True
    """
    if not target.endswith(".zip"):
        raise SubmitError(f"a bundle is a .zip file, which Hadoop unpacks by that name, not {target}")
    archive = {}
    _add_package(archive)
    for path in modules:
        _add_module(archive, path)
    with tempfile.TemporaryDirectory() as folder:
        for wheel in [*wheels, *_fetched(folder, requirements, python_versions, platforms, find_links)]:
            _add_wheel(archive, wheel)
    try:
        with whole_file(target) as file, io.BufferedWriter(file) as buffer:
            buffer.write(_zipped(archive))
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
    tags = {found for name in names for found in re.findall(r"^typedbytes/_stream\.cpython-3(\d+)", name)}
    return {f"3.{tag}" for tag in tags}


def _add_package(archive):
    import typedbytes

    root = os.path.dirname(typedbytes.__file__)
    _add_folder(archive, root, "typedbytes")


def _add_module(archive, path):
    path = os.path.abspath(path)
    if os.path.isdir(path):
        _add_folder(archive, path, os.path.basename(path))
    else:
        _add_file(archive, path, os.path.basename(path))


def _add_folder(archive, folder, name):
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.endswith(SKIPPED))
        inside = os.path.relpath(here, folder)
        for file in sorted(files):
            if not file.endswith((".pyc", ".pyi", ".c", ".html")):
                _add_file(archive, os.path.join(here, file), "/".join([name, *(() if inside == "." else inside.split(os.sep)), file]))


def _add_file(archive, path, name):
    try:
        with open(path, "rb") as file:
            archive[name] = file.read()
    except OSError as error:
        raise SubmitError(f"{path} cannot be put into a bundle: {error.strerror}") from None


def _add_wheel(archive, path):
    try:
        with zipfile.ZipFile(path) as wheel:
            ours = os.path.basename(path).startswith("typedbytes-")
            tag = os.path.basename(path).split("-")[-3].split(".")[0]
            folder = "" if ours else f"{tag}/" if tag.startswith("cp") else ""
            if folder:
                archive["sitecustomize.py"] = SITECUSTOMIZE
            for name in wheel.namelist():
                if not name.endswith(("/", ".pyi")) and ".dist-info/" not in name:
                    archive[folder + re.sub(r"^[^/]+\.data/(?:purelib|platlib)/", "", name)] = wheel.read(name)
    except (OSError, zipfile.BadZipFile, IndexError) as error:
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
    return sorted(glob.glob(os.path.join(folder, "*", "*.whl")))


def _platform():
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _zipped(archive):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name in sorted(archive):
            item = zipfile.ZipInfo(name, EPOCH)
            item.compress_type = zipfile.ZIP_DEFLATED
            item.external_attr = 0o644 << 16
            zipped.writestr(item, archive[name])
    return file.getvalue()
