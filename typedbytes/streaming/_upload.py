"""Files of this machine into a folder of Hadoop's file systems, from inside a task, by Hadoop's own shell.

A container of YARN has all that is needed in its environment: a Java, the class path, the tokens. Where that is missing
the command ``hadoop`` must be on PATH or under HADOOP_HOME.
"""

import os
import shutil
import subprocess


def upload(paths, folder):
    """Copy files into a folder, which is created if needed; raises OSError with Hadoop's message."""
    shell = _shell()
    for words in (["-mkdir", "-p", folder], ["-put", "-f", *paths, folder]):
        done = subprocess.run(
            [*shell, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode:
            said = done.stdout.decode("utf-8", "replace").strip()
            raise OSError(f"side files were not copied to {folder}: {said or f'code {done.returncode}'}")


def _shell():
    java = shutil.which("java", path=os.path.join(os.environ.get("JAVA_HOME", ""), "bin")) or shutil.which("java")
    if java and os.environ.get("CLASSPATH"):
        return [java, "-Xmx256m", "org.apache.hadoop.fs.FsShell"]
    homes = [os.environ[name] for name in ("HADOOP_HOME", "HADOOP_COMMON_HOME") if name in os.environ]
    folders = [os.path.join(home, "bin") for home in homes] + [os.environ.get("PATH", "")]
    hadoop = shutil.which("hadoop", path=os.pathsep.join(folders))
    if hadoop is None:
        raise OSError("side files need Hadoop's shell, but neither CLASSPATH nor HADOOP_HOME nor PATH has it")
    return [hadoop, "fs"]
