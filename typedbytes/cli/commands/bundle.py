"""The command bundle."""

from __future__ import annotations

from typedbytes.cli._failure import UNAVAILABLE, USAGE, Failure, say_lines

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli._output import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of bundle."""
    add = parser.add_argument
    add("files", nargs="*", default=[], metavar="ZIP", help="the archive to write")
    add("--module", action="append", default=[], metavar="PATH", help="a Python file or package folder of the job")
    add("--wheel", action="append", default=[], metavar="FILE", help="a wheel, of any version and platform")
    add("--require", action="append", default=[], metavar="PACKAGE", help="a package, fetched with pip as wheels")
    add("--python-version", action="append", default=[], metavar="X.Y", help="fetch wheels for this Python of the nodes; may be repeated")
    add("--platform", action="append", default=[], metavar="TAG", help="fetch wheels for this platform, like manylinux2014_x86_64")
    add("--find-links", action="append", default=[], metavar="PATH", help="a further folder or URL where pip looks for wheels")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Write an archive that brings this package to nodes with a bare Python.

    Hadoop unpacks it on each node, and a task finds it by PYTHONPATH: no compiler, no network and no
    installation. The default is for the Python version and the platform of this process.

    examples:
      typedbytes bundle bundle.zip
      typedbytes bundle bundle.zip --python-version 3.9 --platform manylinux2014_x86_64
    """
    from typedbytes import hadoop

    if len(options.files) != 1:
        raise Failure(USAGE, "bundle writes one ZIP (see typedbytes bundle --help)")
    try:
        hadoop.bundle(
            options.files[0],
            modules=options.module,
            wheels=options.wheel,
            requirements=options.require,
            python_versions=options.python_version,
            platforms=options.platform,
            find_links=options.find_links,
            say=say_lines,
        )
    except hadoop.SubmitError as error:
        raise Failure(UNAVAILABLE, str(error)) from None
