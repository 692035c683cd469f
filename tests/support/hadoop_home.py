"""A HADOOP_HOME with what a job needs of one: the commands hadoop and yarn, and the streaming jar.

Here: the folder, made of jars from Maven. Invariant: the commands run Hadoop's own classes, the ones that its own
scripts run; what is missing here is only what those scripts find out about a machine.
"""

import shutil
from pathlib import Path

#: Command and its first word -> Hadoop's class.
CLASSES = {
    ("hadoop", "jar"): "org.apache.hadoop.util.RunJar",
    ("hadoop", "fs"): "org.apache.hadoop.fs.FsShell",
    ("yarn", "logs"): "org.apache.hadoop.yarn.client.cli.LogsCLI",
}
#: Options of a job that make Hadoop's client notice its end soon.
QUICK = ["-D", "mapreduce.client.progressmonitor.pollinterval=20", "-D", "mapreduce.client.completion.pollinterval=20"]
JVM_OPTIONS = "-Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto"


def make_home(home, jars, java, *options, shared=None):
    """Make a HADOOP_HOME of a folder of jars and a Java, with the configuration of HADOOP_CONF_DIR; return it.

    shared: a file of the jars' classes, which Java takes where the class path begins with the jars.
    """
    home = Path(home)
    class_path = f"$HADOOP_CONF_DIR:{jars}/*"
    if shared is not None and shared.exists():
        class_path = f"{jars}/*:$HADOOP_CONF_DIR"
        options = (*options, f"-XX:SharedArchiveFile={shared}", "-Xlog:disable")
    lib = home / "share" / "hadoop" / "tools" / "lib"
    lib.mkdir(parents=True)
    (streaming,) = Path(jars).glob("hadoop-streaming-*.jar")
    shutil.copy(streaming, lib)
    (home / "bin").mkdir()
    for command in {command for command, _ in CLASSES}:
        cases = "".join(f"{word}) class={name};;\n" for (owner, word), name in CLASSES.items() if owner == command)
        path = home / "bin" / command
        path.write_text(
            f'#!/bin/sh\nword=$1\nshift\ncase "$word" in\n{cases}esac\n'
            f'exec "{java}" {JVM_OPTIONS} {" ".join(options)} -cp "{class_path}" "$class" "$@"\n'
        )
        path.chmod(0o755)
    return home
