"""What surrounds hdfs-native, without a name node: names, waiting, errors. tests/support/file_systems.py has one."""

import errno
import os
import socket

import pytest

from support.subprocess_runs import run_fresh

pytest.importorskip("hdfs_native")

from typedbytes._base import hdfs, name_nodes

NAMES = [
    "part-00000#old", "a?b", "a;b", "100%", "a%20b", "a b", "[1]", "*", "wörd", "a::b", "a://b", "hdfs://b", "a/b/", "",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [hdfs._Hdfs, hdfs._Viewfs])
def test_a_name_is_whole(kind, name):
    """hdfs-native parses it as a URL of the web: what was after # was lost, and another file was read or replaced."""
    assert kind._strip_protocol(f"{kind.protocol}://host:9000/in/{name}") == f"/in/{name}"
    assert kind._strip_protocol(f"/in/{name}") == f"/in/{name}"
    assert kind._strip_protocol(f"{kind.protocol}://host") == "/"


def test_servers_that_no_longer_answer_are_an_error():
    code = """
        import os, socket, time
        from typedbytes._base import hdfs
        silent = socket.create_server(("127.0.0.1", 0))
        fs = hdfs._Hdfs("127.0.0.1", silent.getsockname()[1])
        fs._seconds, hdfs.TIDYING_SECONDS, hdfs.LOST_SECONDS = 2, 0.1, 0.3
        begin = time.monotonic()
        for call in fs.info, fs.exists, fs.isdir, fs.isfile, fs.ls, fs.find, fs.rm_file, fs.open:
            try:
                call("/a#b")
            except TimeoutError as error:
                print(error.strerror, error.filename.rpartition(":")[2].partition("/")[2])
        print(2 < time.monotonic() - begin < 15, fs.is_lost())
        time.sleep(0.4)
        print(fs.is_lost(), flush=True)
        os._exit(0)  # no call returns while the interpreter ends
    """
    lines = run_fresh(code).splitlines()
    assert lines == ["the servers of HDFS no longer answer a#b"] * 8 + ["True False", "True"]


def test_a_signal_ends_the_wait_for_a_server_and_what_tidies_up_is_short():
    code = """
        import os, signal, socket, threading, time
        from typedbytes._base import hdfs
        silent = socket.create_server(("127.0.0.1", 0))
        fs = hdfs._Hdfs("127.0.0.1", silent.getsockname()[1])
        fs._seconds, hdfs.TIDYING_SECONDS = 500, 0.1
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            try:
                fs.info("/a")
            except KeyboardInterrupt:
                print("stopped")
                fs.rm_file("/b")
        except TimeoutError as error:
            print(error.filename.endswith("/b"), flush=True)
        os._exit(0)  # no call returns while the interpreter ends
    """
    assert run_fresh(code).splitlines() == ["stopped", "True"]


def rpc_error(name, message):
    """Return what hdfs-native raises when a server has refused a call."""
    stack = "\\n\\tat org.apache.hadoop.A.b(A.java:7)\\n\\tat c.D.e(D.java:8)\\n"
    return RuntimeError(f'RPCError("org.apache.hadoop.{name}", "{message}{stack}")')


DENIED = 'Permission denied: user=me, access=WRITE, inode="/a":root:supergroup:drwx------'
QUOTA = "The DiskSpace quota of /a is exceeded: quota = 3145728 B = 3 MB but diskspace consumed = 4194304 B = 4 MB"
MISSING = os.strerror(errno.ENOENT)


@pytest.mark.parametrize(
    ("error", "kind", "code", "reason"),
    [
        (FileNotFoundError("/a"), FileNotFoundError, errno.ENOENT, MISSING),
        (FileNotFoundError("File does not exist: /a\n\tat b.C.d(C.java:7)"), FileNotFoundError, errno.ENOENT, MISSING),
        (FileNotFoundError("Path is not a file\n\tat b.C.d"), FileNotFoundError, errno.ENOENT, "Path is not a file"),
        (FileExistsError("/b already exists\n\tat b.C.d"), FileExistsError, errno.EEXIST, "/b already exists"),
        (
            rpc_error("security.AccessControlException", DENIED.replace('"', '\\"')),
            PermissionError,
            errno.EACCES,
            DENIED,
        ),
        (rpc_error("hdfs.protocol.DSQuotaExceededException", QUOTA), OSError, errno.EDQUOT, QUOTA),
        (rpc_error("fs.ParentNotDirectoryException", "/a (is one)"), NotADirectoryError, errno.ENOTDIR, "/a (is one)"),
        (rpc_error("A$B", "no space"), OSError, errno.EIO, "no space"),
        (RuntimeError('DataTransferError("no nodes: [DatanodeInfo { a: 1 }]")'), OSError, errno.EIO, "no nodes"),
        (RuntimeError("Already mutably borrowed"), OSError, errno.EIO, "Already mutably borrowed"),
    ],
)
def test_an_error_is_one_of_the_system_in_one_line_with_the_url(error, kind, code, reason):
    made = hdfs.os_error(error, "hdfs://host:9000/a")
    assert type(made) is kind and (made.errno, made.strerror, made.filename) == (code, reason, "hdfs://host:9000/a")


def test_name_nodes_that_can_be_reached_are_tried_first(tmp_path, monkeypatch):
    """hdfs-native waits for the first for minutes."""
    monkeypatch.setattr(name_nodes, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ports = {"nn1": listening.getsockname()[1], "nn2": 9, "nn3": listening.getsockname()[1]}
        properties = {"dfs.ha.namenodes.mine": "nn1, nn2,nn3", "dfs.ha.namenodes.single": "nn1"}
        properties.update(
            {f"dfs.namenode.rpc-address.mine.{name}": f"127.0.0.1:{port}" for name, port in ports.items()}
        )
        rows = "".join(
            f"<property><name>{name}</name><value>{properties[name]}</value></property>" for name in properties
        )
        (tmp_path / "hdfs-site.xml").write_text(f"<configuration>{rows}</configuration>")
        (tmp_path / "core-site.xml").write_text(
            "<configuration><property><name>fs.defaultFS</name><value>hdfs://mine</value></property></configuration>"
        )
        monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
        for cluster in ("mine", None):
            assert name_nodes.name_node_options(cluster) == {"dfs.ha.namenodes.mine": "nn3,nn2,nn1"}
        assert name_nodes.name_node_options("single") == name_nodes.name_node_options("localhost") == {}
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "none"))
    assert name_nodes.name_node_options("mine") == {}


def test_a_configuration_in_the_current_folder_is_not_that_of_hadoop(tmp_path, monkeypatch):
    (tmp_path / "etc" / "hadoop").mkdir(parents=True)
    (tmp_path / "etc" / "hadoop" / "hdfs-site.xml").write_text(
        "<configuration><property><name>dfs.ha.namenodes.mine</name><value>a,b</value></property></configuration>"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    assert name_nodes.name_node_options("mine") == {}
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    assert name_nodes.name_node_options("mine") == {"dfs.ha.namenodes.mine": "b,a"}
