"""What the tests of SequenceFiles share."""

import pytest

from support.small_sequencefiles import FORMS, written


@pytest.fixture
def folder(tmp_path):
    """Make a folder as a job leaves it: three part files, and files that are not data."""
    parts = [[(f"{part} {i}", i) for i in range(1500)] for part in range(3)]
    for part, pairs in enumerate(parts):
        compression, codec = FORMS[part]
        data = written(pairs, compression=compression, codec=codec, sync_interval=500, block_size=500)
        (tmp_path / f"part-{part:05}").write_bytes(data)
    for name in ("_SUCCESS", ".part-00000.crc", "_logs"):
        (tmp_path / name).write_bytes(b"no data")
    (tmp_path / "_temporary").mkdir()
    return tmp_path, sum(parts, [])
