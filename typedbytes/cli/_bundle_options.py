"""What goes into a bundle, as options of the commands bundle and submit."""

from __future__ import annotations

import shlex
import sys

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    import argparse

#: An option, the keyword of hadoop.bundle, its metavar and its help.
OPTIONS = [
    ("module", "modules", "PATH", "a Python file or package folder of the job"),
    ("wheel", "wheels", "FILE", "a wheel, of any version and platform"),
    ("require", "requirements", "PACKAGE", "a package, fetched with pip as wheels"),
    ("python-version", "python_versions", "X.Y", "the Python of the nodes, to fetch wheels for; may be repeated"),
    ("platform", "platforms", "TAG", "fetch wheels for this platform, like manylinux2014_x86_64"),
    ("find-links", "find_links", "PATH", "a further folder or URL where pip looks for wheels"),
]


def add_bundle_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what goes into a bundle."""
    for option, keyword, metavar, text in OPTIONS:
        parser.add_argument(f"--{option}", dest=keyword, action="append", default=[], metavar=metavar, help=text)


def bundle_settings(options: argparse.Namespace) -> dict:
    """Return the keywords of hadoop.bundle."""
    found = {keyword: getattr(options, keyword) for _, keyword, _, _ in OPTIONS}
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if set(found["python_versions"]) == {here} and not found["platforms"]:
        found["python_versions"] = []  # the package that runs here is for it: none is fetched
    return found


def bundle_command(options: argparse.Namespace, target: str) -> str:
    """Return the command that makes the same bundle, for a shell."""
    words = [word for option, keyword, _, _ in OPTIONS for each in getattr(options, keyword) for word in (f"--{option}", each)]
    return shlex.join(["typedbytes", "bundle", target, *words])
