"""The command bundle."""

from __future__ import annotations

from typedbytes.cli._arguments import option
from typedbytes.cli._failure import USAGE, Failure, say_lines
from typedbytes.cli._job.bundle_options import BundleSettings, bundle_settings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(BundleSettings):
    """The options of bundle."""

    files: list[str] = option(nargs="*", default=[], metavar="ZIP", help="the archive to write")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write an archive that brings this package to nodes with a bare Python.

    Hadoop unpacks it on each node, and a task finds it by PYTHONPATH: no compiler, no network and no
    installation. The default is for the Python version and the platform of this process.

    examples:
      typedbytes bundle bundle.zip
      typedbytes bundle bundle.zip --python-version 3.9 --platform manylinux2014_x86_64
    """
    from typedbytes import hadoop

    if len(settings.files) != 1:
        raise Failure(USAGE, "needs the name of one ZIP to write (see typedbytes bundle --help)")
    try:
        hadoop.bundle(settings.files[0], say=say_lines, **bundle_settings(settings))
    except hadoop.SubmitError as error:
        from typedbytes.cli._job.submit_failure import failure_of

        raise failure_of(error) from None
