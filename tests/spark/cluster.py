"""A cluster of Spark, a master and two workers as processes; executors are killed while they read and write.

`make spark` runs these tests. Each kill comes when the job has done a part of its work and not all:
the files that its tasks write say so.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from support.local_jobs import pairs_of, write_script, write_words
from support.portable_jobs import JOBS, lay_out
from support.streaming_support import environment
from typedbytes import sequencefile, spark as typedbytes_spark

SPARK_CLASS = os.path.join(os.path.dirname(pyspark.__file__), "bin", "spark-class")
DEPLOY = "org.apache.spark.deploy"
SECONDS = 120
PAIRS = [(f"word {i}", i) for i in range(20_000)]


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wait_for(condition, what):
    end = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < end, f"no {what} within {SECONDS} s"
        time.sleep(0.05)
    return found


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def executors():
    """Return the numbers of the processes that run tasks."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words:
            found.append(int(folder.name))
    return sorted(found)


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("cluster"), free_port()
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_HOSTNAME="127.0.0.1")
    url = f"spark://127.0.0.1:{port}"
    worker = ["worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir"]
    commands = [["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]]
    commands += [[*worker, str(folder / name), url] for name in "ab"]
    processes = []
    try:
        for name, command in zip(("master", "a", "b"), commands):
            with open(folder / f"{name}.log", "wb") as log:
                words = [SPARK_CLASS, f"{DEPLOY}.{command[0]}", *command[1:]]
                processes.append(subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True))
            if name == "master":
                wait_for(lambda: accepts(port), "master")
        yield url
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def spark(master):
    builder = (
        SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    )
    builder = (
        builder.config("spark.executor.memory", "512m")
        .config("spark.executor.cores", "1")
        .config("spark.task.maxFailures", "8")
    )
    session = builder.config("spark.log.level", "OFF").getOrCreate()
    typedbytes_spark.register(session)
    wait_for(lambda: len(executors()) == 2, "second executor")
    yield session
    session.stop()


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.seq"
    with sequencefile.open(path, "w", codec="default", block_size=1000) as writer:
        writer.writes(PAIRS)
    return str(path)


def slowed(frame, marks):
    """Return a frame whose tasks take a while, and leave a file in a folder when they end."""

    def wait(batches):
        for batch in batches:
            time.sleep(0.1)
            yield batch
        with open(f"{marks}/{os.getpid()}-{time.monotonic_ns()}", "w"):
            pass

    return frame.mapInArrow(wait, frame.schema)


class Killer(threading.Thread):
    """Kill an executor when some tasks have ended, and then the other one."""

    def __init__(self, marks):
        super().__init__()
        self._marks = marks
        self.killed = []
        self.start()

    def run(self):
        for ntasks in (4, 10):
            wait_for(lambda: len(os.listdir(self._marks)) >= ntasks, "task")
            one = next(pid for pid in executors() if pid not in self.killed)
            os.kill(one, signal.SIGKILL)
            self.killed.append(one)


@pytest.fixture
def marks(tmp_path):
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


def load(spark, path):
    frame = spark.read.format("typedbytes").option("splitSize", "4k").load(str(path))
    assert frame.rdd.getNumPartitions() > 30
    return frame


def test_workers_with_a_bare_python_get_the_package_by_a_bundle(master, tmp_path):
    # The first test: its session ends before there is another, which would have all processors.
    python = os.path.realpath(sys.executable)
    assert subprocess.run([python, "-c", "import typedbytes"], cwd=tmp_path, stderr=subprocess.DEVNULL).returncode == 1
    lay_out(tmp_path, "medians")
    words = [sys.executable, "-m", "typedbytes", "submit", "--engine", "spark", "--master", master, "--python", python]
    words += [*JOBS["medians"].submit_options, "medians.py", "in.txt", "-o", "out", "--reducers", "2"]
    environ = {**environment(), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(words, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True, timeout=3 * SECONDS)
    assert done.returncode == 0, done.stderr
    assert sorted(pairs_of(tmp_path / "out")) == JOBS["medians"].output


def test_both_workers_read_and_every_record_is_there_once(spark, source, marks):
    assert sorted(map(tuple, slowed(load(spark, source), marks).collect())) == sorted(PAIRS)
    assert len({name.partition("-")[0] for name in os.listdir(marks)}) >= 2


def test_killed_executors_lose_and_double_nothing_that_is_read(spark, source, marks):
    killer = Killer(marks)
    found = sorted(map(tuple, slowed(load(spark, source), marks).collect()))
    killer.join()
    assert len(killer.killed) == 2 and found == sorted(PAIRS)


def test_killed_executors_lose_and_double_nothing_that_is_written(spark, source, marks, tmp_path):
    killer = Killer(marks)
    out = tmp_path / "out"
    slowed(load(spark, source), marks).write.format("typedbytes").mode("append").save(str(out))
    killer.join()
    assert len(killer.killed) == 2
    assert sorted(sequencefile.read(str(out))) == sorted(PAIRS)
    names = sorted(os.listdir(out))
    assert names[0] == "_SUCCESS" and all(name.startswith("part-") for name in names[1:])


def test_killed_executors_lose_and_double_nothing_of_a_job(spark, marks, tmp_path):
    script = write_script(
        tmp_path,
        f"""
        import os, time
        from typedbytes import streaming
        from typedbytes.streaming import lib

        class Mapper:
            def __call__(self, offset, line):
                streaming.counter("lines", "read")
                for word in line.split():
                    yield word, 1

            def close(self):
                time.sleep(0.3)
                open(f"{marks}/{{os.getpid()}}-{{time.monotonic_ns()}}", "w").close()

        streaming.run(Mapper, lib.sumreducer)
        """,
    )
    counted = write_words(tmp_path / "in.txt", 20_000)
    nlines = (tmp_path / "in.txt").read_text("utf-8").count("\n")
    killer = Killer(marks)
    done = typedbytes_spark.run_script(
        spark, script, inputs=tmp_path / "in.txt", output=tmp_path / "out", reducers=3, split_size=5000, quiet=True
    )
    killer.join()
    assert len(killer.killed) == 2 and done.nmaps > 20
    assert dict(pairs_of(tmp_path / "out")) == counted
    assert done.counters["lines"]["read"] == nlines
    assert sorted(os.listdir(tmp_path / "out")) == ["_SUCCESS", "part-00000", "part-00001", "part-00002"]
