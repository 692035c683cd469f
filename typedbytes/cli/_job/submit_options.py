"""The options of the command submit, and the bundle that they name or that is made."""

from __future__ import annotations

import os

from typedbytes.cli._arguments import option, switch
from typedbytes.cli._failure import USAGE, Failure, say_lines
from typedbytes.cli._job.bundle_options import BundleSettings, bundle_settings
from typedbytes.cli._job.options import JobSettings

__all__ = ["SubmitSettings", "bundle_of"]


class SubmitSettings(JobSettings, BundleSettings):
    """The options of submit."""

    command = "submit"
    engine: str = option(
        "--engine",
        choices=("hadoop", "spark"),
        default="hadoop",
        help="run the job on Hadoop or on Spark, which needs PySpark on this machine (hadoop)",
    )
    master: str | None = option(
        "--master",
        metavar="URL",
        help="spark: the cluster, as spark://host:7077, yarn or local[4] (default: from Spark's configuration)",
    )
    bundle: str | None = option(
        "--bundle",
        group="bundle",
        metavar="ZIP",
        help="an archive made with typedbytes bundle (default: one is made, with the options above)",
    )
    no_bundle: bool = option(
        "--no-bundle", group="bundle", action="store_true", help="the nodes have typedbytes installed"
    )
    streaming_jar: str | None = option(
        "--streaming-jar", metavar="JAR", help="Hadoop's streaming jar, if it is not found"
    )
    read: bool = switch("--read", help="write the output of the job to stdout as pairs")
    dry_run: bool = switch("--dry-run", help="print the commands, passwords and keys included, instead of running them")
    target: str = option(
        "--target",
        choices=("hadoop", "emr", "dataproc"),
        default="hadoop",
        help="for emr and dataproc the job is printed, not run",
    )
    staging: str | None = option("--staging", metavar="URL", help="the folder in the cloud for the job's files")
    cluster: str = option("--cluster", default="CLUSTER", help="the cluster's id or name, for emr and dataproc")
    region: str = option("--region", default="REGION", help="the cluster's region, for dataproc")


def bundle_of(settings: SubmitSettings, folder: str, made: str = "") -> str | None:
    """Return the path of the bundle, which is made in a folder unless one is given; None if the nodes need none.

    made: the path of the bundle of commands that are printed. An earlier one is used if it is there and no options say
    what another should hold; else one is made that is only looked at.
    """
    contents = bundle_settings(settings)
    if settings.bundle or settings.no_bundle:
        if any(given for name, given in contents.items() if name != "python_versions"):
            message = (
                "--module, --wheel, --require, --platform and --find-links apply only when submit makes the bundle"
            )
            raise Failure(USAGE, f"{message}: leave them out, or leave out --bundle / --no-bundle")
        return settings.bundle
    if os.path.exists(made) and not any(contents.values()):
        return made
    from typedbytes import hadoop

    path = os.path.join(folder, "typedbytes-bundle.zip")
    hadoop.bundle(path, compress=not made, say=say_lines, **contents)
    return path
