"""The Hadoop that is installed here: its command, its streaming jar, its configuration.

Here: HADOOP_HOME, PATH and the folders of distributions. Not here: jobs.
"""

from __future__ import annotations

import glob
import os
import shutil

from typedbytes.jobs.errors import SubmitError
from typedbytes.jobs.messages import option_named

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Where the streaming jar is, below Hadoop's home, and in the packages of distributions and clouds.
JAR_PATTERNS = (
    "share/hadoop/tools/lib/hadoop-streaming*.jar",
    "hadoop-streaming*.jar",
    "contrib/streaming/hadoop-streaming*.jar",
)
JAR_FOLDERS = ("/usr/lib/hadoop-mapreduce", "/usr/lib/hadoop", "/opt/hadoop/share/hadoop/tools/lib")


def find_command(name: str = "hadoop", environ: Mapping[str, str] = os.environ) -> str:
    """Return the path of one of Hadoop's commands: under HADOOP_HOME, or else on PATH. Raises SubmitError."""
    home = environ.get("HADOOP_HOME")
    path = os.path.join(home, "bin") if home else environ.get("PATH", "")
    command = shutil.which(name, path=path)
    if command:
        return command
    if home:
        raise SubmitError(
            f"HADOOP_HOME is {home}, but it has no bin/{name}: correct it, or unset it and put {name} on PATH"
        )
    raise SubmitError(
        f"there is no Hadoop here: put its bin folder, with the command {name}, on PATH or its home into HADOOP_HOME",
        hint=option_named("--dry-run")
        + " and "
        + option_named("--target")
        + " print a job without it, and typedbytes run runs it on this machine without Hadoop",
    )


def find_jar(command: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return the path of the streaming jar that belongs to the command ``hadoop``. Raises SubmitError."""
    homes = [environ.get("HADOOP_HOME"), os.path.dirname(os.path.dirname(os.path.realpath(command)))]
    for folder in [*filter(None, homes), *JAR_FOLDERS]:
        for pattern in JAR_PATTERNS:
            found = sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))
            jars = [jar for jar in found if not jar.endswith(("-sources.jar", "-tests.jar", "-javadoc.jar"))]
            if jars:
                return jars[-1]
    raise SubmitError(
        f"Hadoop's streaming jar was not found beside {command}: give its path as "
        + option_named("jar")
        + "; it is called hadoop-streaming-VERSION.jar and is in share/hadoop/tools/lib of a Hadoop"
    )


def default_file_system(environ: Mapping[str, str] = os.environ) -> str:
    """Return the URL of the default file system, "file:///" if none is configured, "" if only Hadoop knows it."""
    tree = _configuration("core-site.xml", environ)
    if tree is None:
        return "file:///" if environ.get("HADOOP_CONF_DIR") else ""  # the configuration may be anywhere else
    values = _properties(tree)
    found = values.get("fs.defaultFS") or values.get("fs.default.name") or "file:///"
    return "" if "${" in found or any(item.tag.endswith("}include") for item in tree.iter()) else found


def aggregates_logs(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether log aggregation is enabled in YARN's configuration."""
    tree = _configuration("yarn-site.xml", environ)
    return tree is not None and _properties(tree).get("yarn.log-aggregation-enable") == "true"


def _configuration(name, environ):
    """Return a file of HADOOP_CONF_DIR, or None."""
    from xml.etree import ElementTree

    from typedbytes._base.name_nodes import configuration_folder

    folder = configuration_folder(environ) or "/etc/hadoop/conf"
    try:
        return ElementTree.parse(os.path.join(folder, name))
    except (OSError, ElementTree.ParseError):
        return None


def _properties(tree):
    return {item.findtext("name", ""): item.findtext("value", "") for item in tree.iter("property")}
