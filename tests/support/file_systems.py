"""SequenceFiles on other file systems, each with a server of its own: HDFS (also over HTTP), S3, Google's storage.

    make test-file-systems

HDFS is Hadoop's own, in a small cluster; S3 and GCS are servers that speak as these do. Here: the servers, and one
check that all must pass. Invariant: fsspec gets no options beyond a user's environment.
"""

import getpass
import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test_vectors" / "java"))

import jars
import pyarrow.parquet

import typedbytes
from typedbytes import columns, sequencefile
from typedbytes._base import locations
from typedbytes._base.folders import exists, names_in
from typedbytes.cli import main as main_of_command

PARTS = [("none", "default"), ("record", "gzip"), ("block", "zstd")]
PAIRS = [[(f"part {part}", (number, number / 3)) for number in range(5000)] for part in range(len(PARTS))]
ALL = sum(PAIRS, [])
JOB = """
from typedbytes import streaming
from typedbytes.streaming import lib

def mapper(key, value):
    yield key, value[0]

streaming.run(mapper, lib.sumreducer)
"""


def check(folder):
    """Write part files into a folder and read them whole, split, in parallel, and by key."""
    for number, (compression, codec) in enumerate(PARTS):
        with sequencefile.open(
            f"{folder}/out/part-{number:05}", "w", compression=compression, codec=codec, sync_interval=1000
        ) as writer:
            writer.writes(PAIRS[number])
    with sequencefile.open(f"{folder}/out/_SUCCESS", "w"):
        pass
    with sequencefile.open(f"{folder}/out/part-00001") as reader:
        assert reader.skip(4000) == 4000 and reader.read_all() == PAIRS[1][4000:]
    done = []
    assert list(sequencefile.read(f"{folder}/out", progress=lambda *now: done.append(now))) == ALL
    assert done[-1][0] == done[-1][1] > 100_000
    assert list(sequencefile.read(f"{folder}/out", processes=2, ordered=True, split_size=20_000)) == ALL
    check_map_file(f"{folder}/map")
    check_columns(f"{folder}/out/part-00002")
    check_conversion(folder)
    check_job(folder)
    try:
        sequencefile.open(f"{folder}/none")
    except FileNotFoundError:
        return
    raise AssertionError("a file that is not there was opened")


def check_conversion(folder):
    """Convert the folder to one of Parquet files beside it."""
    for again in range(2):
        status = main_of_command(["convert", "--to", "parquet", f"{folder}/out", "-o", f"{folder}/tables/"])
        assert status == (64 if again else 0), "the folder is not empty"
    found = []
    for number in range(len(PARTS)):
        with locations.opened(f"{folder}/tables/part-{number:05}.parquet", "r")[0] as file:
            found += pyarrow.parquet.read_table(io.BytesIO(file.read())).column("key").to_pylist()
    assert found == [key for key, _ in ALL]


def check_job(folder):
    """Run a job from there to there, again in place of its output, and one whose input is not there."""
    with tempfile.TemporaryDirectory() as here:
        script = Path(here) / "sums.py"
        script.write_text(JOB)
        words = ["run", "--quiet", str(script), f"{folder}/out", "--reducers", "2", "-o", f"{folder}/sums"]
        for again, expected in (([], 0), ([], 64), (["--overwrite"], 0)):
            assert main_of_command([*words, *again]) == expected
            assert sorted(sequencefile.read(f"{folder}/sums")) == [(key, 12_497_500) for key, _ in ALL[::5000]]
        assert _names(folder) == ["map", "out", "sums", "tables"]
        assert _names(f"{folder}/sums") == ["_SUCCESS", "part-00000", "part-00001"]
        assert main_of_command([*words[:3], f"{folder}/none", "-o", f"{folder}/other"]) == 66
        assert not exists(f"{folder}/other")


def _names(url):
    return sorted(filter(None, names_in(url)))


def check_map_file(url):
    """Look up keys, which seeks."""
    with sequencefile.open(f"{url}/index", "w", key_class="IntWritable", value_class="LongWritable") as index:
        with sequencefile.open(f"{url}/data", "w", key_class="IntWritable", value_class="Text") as data:
            for number in range(3000):
                if number % 128 == 0:
                    index.write(number, data.offset)
                data.write(number, f"value {number}")
    with sequencefile.MapFile(url) as found:
        assert [found[number] for number in (2999, 0, 1234)] == ["value 2999", "value 0", "value 1234"]
        assert found.get(3000) is None


def check_columns(url):
    """Read a part as columns."""
    with sequencefile.open(url) as reader:
        numbers = [
            number for batch in columns.read(reader, 1000) for number in batch.buffers("value.0")["data"].tolist()
        ]
    assert numbers == [number for _, (number, _) in PAIRS[2]]


def check_hdfs(folder, cluster, jars_folder):
    """Have names that a URL of the web would cut, errors of one line, and a cluster that stands still."""
    for name, values in (("part-00000", [1]), ("part-00000#old", [2, 3]), ("part-1?a;b%20[c] *wörd", [4])):
        with locations.opened(f"{folder}/names/{name}", "w")[0] as file:
            file.write(b"".join(map(typedbytes.dumps, values)))
    assert run_command("count", f"{folder}/names") == (0, "4\n", "")
    assert run_command("count", f"{folder}/names/part-00000#old") == (0, "2\n", "")
    assert run_command("count", f"{folder}/names/part-1?a;b%20[c] *wörd") == (0, "1\n", "")
    for _ in range(2):
        assert run_command("cat", f"{folder}/names/part-00000#old", "-o", f"{folder}/names/part-00000#new")[0] == 0
    assert run_command("count", f"{folder}/names/part-00000") == (0, "1\n", "")
    check_hdfs_errors(folder, jars_folder)
    check_name_nodes(folder)
    os.kill(cluster.pid, signal.SIGSTOP)
    try:
        begin = time.monotonic()
        try:
            locations.size(f"{folder}/names/part-00000")
        except TimeoutError as error:
            assert "no longer answer" in str(error) and 20 < time.monotonic() - begin < 40
        else:
            raise AssertionError("a cluster that stands still has answered")
    finally:
        os.kill(cluster.pid, signal.SIGCONT)


def check_name_nodes(folder):
    """Read by the second name node of a cluster whose first one is silent."""
    root, _, path = folder.removeprefix("hdfs://").partition("/")
    with tempfile.TemporaryDirectory() as here, socket.create_server(("127.0.0.1", 0)) as silent:
        properties = {
            "dfs.ha.namenodes.pair": "nn1,nn2",
            "dfs.namenode.rpc-address.pair.nn1": f"127.0.0.1:{silent.getsockname()[1]}",
            "dfs.namenode.rpc-address.pair.nn2": root,
        }
        rows = [f"<property><name>{each}</name><value>{properties[each]}</value></property>" for each in properties]
        for name in ("core-site.xml", "hdfs-site.xml"):
            Path(here, name).write_text(f"<configuration>{''.join(rows)}</configuration>")
        environ = {**os.environ, "HADOOP_CONF_DIR": here}
        assert run_command("count", f"hdfs://pair/{path}/names", environ=environ) == (0, "6\n", "")


def check_hdfs_errors(folder, jars_folder):
    """Read what is not there, write where that is not allowed, and beyond a quota: Python's errors, exit codes."""
    for act in (typedbytes.Reader, sequencefile.open, sequencefile.MapFile, columns.read, columns.splits):
        try:
            act(f"{folder}/none")
        except FileNotFoundError as error:
            assert f"{folder}/none" in str(error) and "\n" not in str(error), act
        else:
            raise AssertionError(f"{act} has opened a file that is not there")
    fs, path = locations.file_system(f"{folder}/private")
    fs.mkdir(path, permission=0o700)
    other = {**os.environ, "HADOOP_USER_NAME": "other"}
    for words, status in (
        (["count", f"{folder}/private"], 66), (["count", f"{folder}/priv*/*"], 66),
        (["cat", f"{folder}/names", "-o", f"{folder}/private/x"], 74),
    ):  # fmt: skip
        found, _, message = run_command(*words, environ=other)
        assert found == status and message.count("\n") == 1 and ": Permission denied: user=other, " in message, message
    fs.mkdir(f"{path}/quota")
    java = [jars.find_tool("java"), "-cp", f"{jars_folder}/*", "org.apache.hadoop.hdfs.tools.DFSAdmin"]
    words = ["-fs", folder.rpartition("/user/")[0], "-setSpaceQuota", "100k", f"{path}/quota"]
    subprocess.run([*java, *words], check=True, capture_output=True)
    with tempfile.TemporaryDirectory() as here:
        lines, script = Path(here) / "lines.txt", Path(here) / "sums.py"
        lines.write_text("".join(f"line {number}\n" for number in range(40_000)))
        script.write_text("from typedbytes import streaming\nstreaming.run(lambda key, value: [(key, value)])\n")
        for words in (
            ["cat", f"{folder}/out", "-o", f"{folder}/private/quota/x"],
            ["convert", "--to", "parquet", f"{folder}/out", "-o", f"{folder}/private/quota/x.parquet"],
            ["convert", "--to", "parquet", f"{folder}/out", "-o", f"{folder}/private/quota/tables/"],
            ["run", "--quiet", str(script), str(lines), "-o", f"{folder}/private/quota/job"],
        ):
            status, _, message = run_command(*words)
            assert status == 74 and "Traceback" not in message, message
            assert "The DiskSpace quota of " in message.splitlines()[-1], message


def run_command(*words, environ=None):
    """Return the exit code of a command, what it writes, and its messages."""
    done = subprocess.run([sys.executable, "-m", "typedbytes", *words], env=environ, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


# -- servers ----------------------------------------------------------------------------------------------


@contextmanager
def local():
    """Yield a folder here, named by a URL."""
    with tempfile.TemporaryDirectory() as folder:
        yield (f"file://{folder}",)


@contextmanager
def hdfs():
    """Start a NameNode and a DataNode; yield a folder by HTTP and by HDFS's own protocol."""
    with tempfile.TemporaryDirectory() as folder:
        command = jars.hdfs_command(folder)
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as cluster:
            http, rpc = int(cluster.stdout.readline()), int(cluster.stdout.readline())
            native = f"hdfs://localhost:{rpc}/user/native"
            yield f"webhdfs://{getpass.getuser()}@localhost:{http}/user/me", native
            check_hdfs(native, cluster, jars.BUILD / "hdfs-jars")
            print("hdfs: names, errors and waiting are right", flush=True)
            cluster.stdin.close()


@contextmanager
def s3():
    """Start moto's server."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(AWS_ENDPOINT_URL=f"http://{host}:{port}", AWS_ACCESS_KEY_ID="me", AWS_SECRET_ACCESS_KEY="mine")
    make_bucket("s3")
    yield ("s3://bucket/user/me",)
    server.stop()


@contextmanager
def gcs():
    """Start the emulator of Google's storage."""
    from gcp_storage_emulator.server import create_server

    server = create_server("localhost", 0, in_memory=True, default_bucket="bucket")
    server.start()
    port = server._api._httpd.server_address[1]
    os.environ.update(STORAGE_EMULATOR_HOST=f"http://localhost:{port}", FSSPEC_GS_TOKEN="anon")
    yield ("gs://bucket/user/me",)
    server.stop()


def make_bucket(protocol):
    """Make the bucket that a user would have."""
    import fsspec

    fsspec.filesystem(protocol).mkdir("bucket")


def main():
    for system in (local, hdfs, s3, gcs):
        with system() as folders:
            for folder in folders:
                check(folder)
                print(f"{folder.partition(':')[0]}: {len(ALL):,} records in {len(PARTS)} files agree", flush=True)


if __name__ == "__main__":
    main()
