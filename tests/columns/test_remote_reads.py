"""What is read of files at URLs: how many requests, of how many bytes.

Here: files behind fsspec's own buffers, which ask a store that counts. Not here: stores of a cluster.
"""

import os

import pytest
from fsspec import register_implementation
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from typedbytes import columns, sequencefile

NBYTES = 12 << 20  # of a file


class CountedStore(AbstractFileSystem):
    """Ranges of the files of a folder, each a request."""

    protocol = "counted"
    root = ""
    requests: list = []  # (path, start, end)

    @classmethod
    def _strip_protocol(cls, path):
        return path.removeprefix("counted://").rstrip("/")

    def _info(self, name):
        path = os.path.join(self.root, name)
        is_folder = os.path.isdir(path)
        size = 0 if is_folder else os.path.getsize(path)
        return {"name": name, "size": size, "type": "directory" if is_folder else "file"}

    def info(self, path, **how):
        return self._info(self._strip_protocol(path))

    def ls(self, path, detail=True, **how):
        found = [self._info(f"{path}/{name}") for name in sorted(os.listdir(os.path.join(self.root, path)))]
        return found if detail else [each["name"] for each in found]

    def _open(self, path, mode="rb", block_size=None, **how):
        return CountedFile(self, path, mode, block_size or self.blocksize, **how)


class CountedFile(AbstractBufferedFile):
    def _fetch_range(self, start, end):
        self.fs.requests.append((self.path, start, end))
        with open(os.path.join(self.fs.root, self.path), "rb") as file:
            file.seek(start)
            return file.read(end - start)


@pytest.fixture
def store(tmp_path, monkeypatch):
    register_implementation("counted", CountedStore, clobber=True)
    monkeypatch.setattr(CountedStore, "root", str(tmp_path))
    monkeypatch.setattr(CountedStore, "requests", [])
    monkeypatch.setattr(CountedStore, "cachable", False)
    (tmp_path / "out").mkdir()
    with sequencefile.Writer(tmp_path / "out" / "part-00000") as writer:
        for number in range(NBYTES // 1000):
            writer.write(number, "x" * 960)
    for number in (1, 2):
        os.link(tmp_path / "out" / "part-00000", tmp_path / "out" / f"part-0000{number}")
    return CountedStore.requests


def total(requests):
    return sum(end - start for _, start, end in requests)


def test_splits_read_little_of_each_file(store):
    found = columns.splits("counted://out", 4 << 20)
    assert len(found) >= 9
    assert len(store) <= 6 and total(store) < 50_000, store


def test_a_folder_is_read_once_by_large_reads(store):
    nrows = sum(map(len, columns.read("counted://out")))
    assert nrows == 3 * (NBYTES // 1000)
    assert total(store) < 1.02 * 3 * NBYTES
    assert len(store) < 3 * (NBYTES // (1 << 20)) + 6


def test_a_split_reads_little_beyond_its_end(store):
    split = columns.splits("counted://out", 4 << 20)[1]
    del store[:]
    assert sum(map(len, columns.read(split)))
    assert total(store) < (4 << 20) + (7 << 20)
