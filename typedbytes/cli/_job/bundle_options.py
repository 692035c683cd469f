"""What goes into a bundle, as options of the commands bundle and submit."""

from __future__ import annotations

import shlex
import sys

from typedbytes.cli._arguments import Settings, option


def _repeatable(flag, metavar, text):
    return option(flag, action="append", default=[], metavar=metavar, help=text)


class BundleSettings(Settings):
    """What goes into a bundle: the keywords of hadoop.bundle."""

    modules: list[str] = _repeatable("--module", "PATH", "a Python file or package folder of the job")
    wheels: list[str] = _repeatable("--wheel", "FILE", "a wheel, of any version and platform")
    requirements: list[str] = _repeatable("--require", "PACKAGE", "a package, fetched with pip as wheels")
    python_versions: list[str] = _repeatable(
        "--python-version", "X.Y", "the Python of the nodes, to fetch wheels for; may be repeated"
    )
    platforms: list[str] = _repeatable("--platform", "TAG", "fetch wheels for this platform, like manylinux2014_x86_64")
    find_links: list[str] = _repeatable("--find-links", "PATH", "a further folder or URL where pip looks for wheels")


def _given(settings):
    """Yield (keyword, option, values) of what goes into a bundle."""
    for keyword in BundleSettings.__annotations__:
        yield keyword, vars(BundleSettings)[keyword].spellings[0][0][0], vars(settings)[keyword]


def bundle_settings(settings: BundleSettings) -> dict:
    """Return the keywords of hadoop.bundle."""
    keywords = {keyword: values for keyword, _, values in _given(settings)}
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if set(keywords["python_versions"]) == {here} and not keywords["platforms"]:
        keywords["python_versions"] = []  # the package that runs here is for it: none is fetched
    return keywords


def bundle_command(settings: BundleSettings, target: str) -> str:
    """Return the command that makes the same bundle, for a shell."""
    words = [word for _, flag, values in _given(settings) for each in values for word in (flag, each)]
    return shlex.join(["typedbytes", "bundle", target, *words])
