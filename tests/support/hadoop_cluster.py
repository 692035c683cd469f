"""YARN on this machine, with or without HDFS, and the commands of a user of it.

Here: starting tests/cluster/Cluster.java, and jobs submitted to it by ``typedbytes submit``. Not here: what a job
should give. Invariant: each task of a job is a virtual machine and a process of its own, on a bare Python that has only
the bundle; all files are in the folder given; a command that fails raises ClusterError with what it said.
"""

import os
import subprocess
import sys
from pathlib import Path

from support.hadoop_home import make_home
from support.hadoop_support import ROOT, jars
from support.streaming_support import environment
from typedbytes import PairReader

HERE = ROOT / "tests" / "cluster"
BARE_PYTHON = Path(sys.base_prefix) / "bin" / "python{}.{}".format(*sys.version_info)
OPENED = "--add-opens=java.base/java.lang=ALL-UNNAMED"  # for the libraries of the resource manager
LOG4J = f"-Dlog4j.configuration=file:{HERE}/log4j.properties"


class ClusterError(Exception):
    """Report a cluster that does not start, or a command that fails; the message is what was said."""


class Cluster:
    """A running cluster with a number of node managers; without data nodes its files are this machine's."""

    def __init__(self, folder, nnodes=1, ndatanodes=0):
        self.folder = folder
        lib = jars.jars_of(HERE / "pom.xml", "cluster-jars")
        java = jars.find_tool("java")
        self._environ = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("PYTHON", "HADOOP", "VIRTUAL_ENV"))
            },
            "JAVA_HOME": str(Path(java).resolve().parents[1]),
            "HADOOP_CONF_DIR": str(folder / "conf"),
            "HADOOP_HOME": str(make_home(folder / "home", lib, java, LOG4J)),
        }
        command = [java, "-Xmx768m", *jars.QUICK_START, OPENED, LOG4J, "-cp", f"{lib}/*"]
        with open(folder / "cluster.log", "wb") as log:
            self._machine = subprocess.Popen(
                [*command, str(HERE / "Cluster.java"), str(folder), str(nnodes), str(ndatanodes)],
                env=self._environ, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        if self._machine.stdout.readline() != b"UP\n":
            self.close()
            raise ClusterError(
                f"the cluster did not start:\n{(folder / 'cluster.log').read_text('utf-8', 'replace')[-4000:]}"
            )

    def close(self):
        """Stop the cluster."""
        self._machine.communicate()

    def kill_node(self):
        """End a node of YARN that has tasks but no application master, and one of HDFS; return its containers."""
        self._machine.stdin.write(b"kill a node\n")
        self._machine.stdin.flush()
        return int(self._machine.stdout.readline())

    def fs(self, *words):
        """Run a command of Hadoop's file system shell."""
        home = Path(self._environ["HADOOP_HOME"])
        done = subprocess.run([home / "bin" / "hadoop", "fs", *map(str, words)], env=self._environ, capture_output=True)
        if done.returncode:
            raise ClusterError(f"hadoop fs {words} failed:\n{done.stderr.decode()}")
        return done.stdout

    def submit(self, script, *words, code=0):
        """Submit a job with ``typedbytes submit`` and return the pairs it wrote and what was said."""
        words = ["-m", "typedbytes", "submit", script, "--python", BARE_PYTHON, *words]
        output, said = self.run_python(*words, code=code)
        return list(PairReader(output)), said

    def run_python(self, *words, code=0):
        """Run this Python as a user of the cluster, and return what it wrote and what was said."""
        environ = {**self._environ, "PYTHONPATH": environment()["PYTHONPATH"]}
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True)
        said = done.stderr.decode("utf-8", "replace")
        if done.returncode != code:
            raise ClusterError(f"exit code {done.returncode}:\n{said[-6000:]}")
        return done.stdout, said
