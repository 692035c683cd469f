"""Files at URLs are read in pieces of 1 MiB and more, the next one while one is used: what a web server was asked for.

Here: a server on this machine that counts, and holds answers back, behind a file system of fsspec. Not here: how a
split or a folder is read.
"""

import contextlib
import http.client
import io
import os
import random
import socketserver
import threading
import types
from http.server import BaseHTTPRequestHandler

import pytest
from fsspec import register_implementation
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

import typedbytes as tb
from typedbytes._base import locations
from typedbytes._base.locations import opened
from typedbytes._base.read_ahead import ReadAhead

MIB = 1 << 20
DATA = random.Random(3).randbytes(15 * MIB + 12_345)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Ranges of one file; `ranges` are those that were asked for, and `gate` holds that of one offset back."""

    daemon_threads = True
    data = DATA

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.ranges = []
        self.gate = threading.Event()
        self.held_at = None
        self.asked = threading.Semaphore(0)
        self.broken_at = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"ranges://{self.server_address[1]}"


class Ranges(AbstractFileSystem):
    """The file of the server at a port."""

    protocol = "ranges"
    cachable = False

    def info(self, path, **how):
        return {"name": path, "size": None, "type": "file"}

    def _open(self, path, mode="rb", block_size=None, **how):
        return File(self, path, mode, block_size or self.blocksize, size=len(Server.data), **how)


class File(AbstractBufferedFile):
    def _fetch_range(self, start, end):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(self.path))) as connection:
            connection.request("GET", "/", headers={"Range": f"bytes={start}-{end - 1}"})
            answer = connection.getresponse()
            data = answer.read()
        if answer.status != 206:
            raise FileNotFoundError(answer.reason)
        return data


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        start, end = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        self.server.ranges.append((start, end + 1))
        self.server.asked.release()
        if start == self.server.held_at:
            self.server.gate.wait(30)
        if start == self.server.broken_at:
            self.send_error(404)
            return
        part = self.server.data[start : end + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(self.server.data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *words):
        pass


@pytest.fixture
def server():
    register_implementation("ranges", Ranges, clobber=True)
    made = Server()
    yield made
    made.gate.set()
    for thread in threading.enumerate():
        if thread.name == "read ahead":
            thread.join(30)
    made.shutdown()
    made.server_close()


def lengths(ranges):
    return [(end - start) / MIB for start, end in ranges]


@pytest.mark.parametrize("nbytes", [100_000, MIB, 7 * MIB, -1])
def test_a_file_is_asked_for_once_in_pieces_that_grow(server, nbytes):
    with opened(server.url, "r")[0] as file:
        assert b"".join(iter(lambda: file.read(nbytes), b"")) == DATA
    ranges = sorted(server.ranges)
    assert [start for start, _ in ranges[1:]] == [end for _, end in ranges[:-1]]  # nothing twice, nothing left out
    assert lengths(ranges)[:-1] == [1, 2, 4, 4, 4] and ranges[-1][1] == len(DATA)


def test_the_next_piece_is_fetched_while_one_is_used(server):
    with opened(server.url, "r")[0] as file:
        file.read(MIB)
        assert server.ranges == [(0, MIB)]  # what looks at a first piece has no second one
        file.read(1)
        for _ in range(3):  # the third piece is asked for, although nothing of it is read
            assert server.asked.acquire(timeout=30)
        assert server.ranges[2] == (3 * MIB, 7 * MIB)
        assert file.read(2 * MIB - 1) == DATA[MIB + 1 : 3 * MIB]
        assert len(server.ranges) == 3
        assert file.read(1) == DATA[3 * MIB : 3 * MIB + 1]


def test_one_thread_reads_all_that_is_ahead():
    """Each thread has memory of its own for a piece, which a new one has to get from the system."""

    class Watched(io.BytesIO):
        def read(self, nbytes=-1):
            readers.append(threading.current_thread())
            return super().read(nbytes)

    readers = []
    with ReadAhead(Watched(DATA), MIB, MIB) as file:
        assert file.read() == DATA
    assert len(readers) == 17 and len(set(readers)) == 2  # the first two pieces are read without it
    readers[2].join(30)
    assert not readers[2].is_alive()


def test_a_search_fetches_no_more_than_its_pieces(server):
    with opened(server.url, "r")[0] as file:
        for offset in (9 * MIB, 5, 12 * MIB, 10 * MIB):
            file.seek(offset)
            assert file.read(10) == DATA[offset : offset + 10]
        assert lengths(server.ranges) == [1, 1, 1, 1]
        assert file.seek(-10, io.SEEK_END) == len(DATA) - 10
        assert file.read() == DATA[-10:]
        assert file.seek(-3, io.SEEK_CUR) == file.tell() == len(DATA) - 3
        assert file.read(5) == DATA[-3:] and file.read(1) == b""


def test_a_seek_while_a_piece_is_fetched_has_the_right_bytes(server):
    with opened(server.url, "r")[0] as file:
        server.held_at = 3 * MIB
        file.read(MIB + 1)
        timer = threading.Timer(0.2, server.gate.set)
        timer.start()
        file.seek(10 * MIB)
        assert file.read(MIB) == DATA[10 * MIB : 11 * MIB]
        file.seek(2)
        assert file.read(4 * MIB) == DATA[2 : 4 * MIB + 2]
        timer.join()


def test_an_error_of_the_piece_ahead_is_that_of_who_reads_it(server):
    server.broken_at = 3 * MIB
    with opened(server.url, "r")[0] as file:
        assert file.read(3 * MIB) == DATA[: 3 * MIB]
        with pytest.raises(FileNotFoundError):
            file.read(1)
        server.broken_at = None
        assert file.read(1) == DATA[3 * MIB : 3 * MIB + 1]


@pytest.mark.parametrize("nbytes", [0, 100_000, 2 * MIB, 4 * MIB])
def test_a_file_that_is_shorter_than_its_server_said_is_an_error(nbytes):
    class Shrunk(io.BytesIO):
        size = 5 * MIB

    with ReadAhead(Shrunk(DATA[:nbytes]), MIB, MIB) as file:
        assert file.read(nbytes) == DATA[:nbytes]
        for _ in range(2):
            with pytest.raises(OSError, match=f"^the file ends after {nbytes} of 5242880 bytes$"):
                file.read(1)
        with pytest.raises(OSError, match="the file ends after"):
            file.seek(0)
            file.read()


def test_closing_does_not_wait_for_the_piece_ahead(server):
    file = opened(server.url, "r")[0]
    server.held_at = 3 * MIB
    file.read(MIB + 1)
    file.close()
    assert not server.gate.is_set()
    with pytest.raises(ValueError, match="closed"):
        file.read(1)


def test_readers_take_what_a_server_has(server, monkeypatch):
    monkeypatch.setattr(Server, "data", tb.Encoder().encode_all([n, "x" * 1000] for n in range(4000)))
    with tb.Reader(server.url) as reader:
        assert sum(item[0] for item in reader) == sum(range(4000))
    assert lengths(sorted(server.ranges))[:-1] == [1, 2] and sorted(server.ranges)[-1][1] == len(server.data)


def test_a_forked_child_reads_on_without_the_thread():
    class Held(io.BytesIO):
        """A file whose third read waits, in the parent."""

        nreads = 0
        gate, waits = threading.Event(), threading.Event()

        def read(self, nbytes=-1):
            self.nreads += 1
            if self.nreads == 3:
                self.waits.set()
                self.gate.wait(30)
            return super().read(nbytes)

    file = ReadAhead(Held(DATA), MIB, MIB)
    assert file.read(MIB + 1) == DATA[: MIB + 1]
    assert Held.waits.wait(30)
    child = os.fork()
    if not child:
        status = 1
        try:
            status = file.read(3 * MIB) != DATA[MIB + 1 : 4 * MIB + 1]
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    Held.gate.set()
    assert file.read() == DATA[MIB + 1 :]


class RawFile:
    """What is below hdfs-native's own FileReader."""

    def __init__(self):
        self._file = io.BytesIO(DATA)
        self.seek, self.tell, self.read = self._file.seek, self._file.tell, self._file.read

    def file_length(self):
        return len(DATA)


def test_a_file_of_hdfs_is_read_without_the_buffer_of_its_library(monkeypatch):
    """That of hdfs-native 0.14 asks for a method that the file under it does not have."""
    native = pytest.importorskip("hdfs_native")
    hdfs = pytest.importorskip("hdfs_native.fsspec")
    # Asks no name node before a call; not kept, as its threads do not live on in the child of a fork.
    fs = hdfs.HdfsFileSystem("localhost", 9, skip_instance_cache=True)
    monkeypatch.setattr(fs, "client", types.SimpleNamespace(read=lambda path: native.FileReader(RawFile())))
    with locations.opened_in(fs, "/x") as file:
        assert file.seek(-5, io.SEEK_END) == len(DATA) - 5 and file.read() == DATA[-5:]
        assert file.seek(0) == 0 and file.read() == DATA
    monkeypatch.setattr(locations, "file_system", lambda url: (fs, "/x"))
    with locations.opened_to_recognise("hdfs://localhost:9/x") as file:
        assert file.read(64) == DATA[:64]
