"""Columns of several files: folders of part files, patterns, lists; hidden names, errors that name the file."""

import pickle

import pyarrow
import pytest

import typedbytes as tb
from typedbytes import columns, sequencefile

pytestmark = pytest.mark.lowest

ROWS = [[(f"{part}{number}", number) for number in range(1000)] for part in "abc"]


@pytest.fixture(params=["typedbytes", "sequencefile", "gzip"])
def folder(request, tmp_path):
    suffix = ".gz" if request.param == "gzip" else ""
    for number, rows in enumerate(ROWS):
        open_writer = sequencefile.Writer if request.param == "sequencefile" else tb.PairWriter
        with open_writer(tmp_path / f"part-0000{number}{suffix}") as writer:
            for row in rows:
                writer.write(*row)
    for hidden in ("_SUCCESS", ".part-00000.crc"):
        (tmp_path / hidden).write_bytes(b"\x0e")
    return tmp_path


def rows_of(source, **how):
    return [
        row for batch in columns.read(source, **how) for row in zip(batch.column(0).tolist(), batch.column(1).tolist())
    ]


@pytest.mark.parametrize("how", [{}, {"batch_rows": 7}, {"threads": 2}, {"batch_rows": 1500, "threads": 2}], ids=repr)
def test_all_files_in_order(folder, how):
    expected = sum(ROWS, [])
    assert rows_of(folder, **how) == expected
    assert rows_of(str(folder / "*"), **how) == expected
    assert rows_of(f"file://{folder}", **how) == expected
    assert rows_of(sorted(folder.glob("part-*")), **how) == expected
    assert rows_of([f"{folder}/part-0000[12]*", folder / "part-*0*"][:1], **how) == sum(ROWS[1:], [])
    assert [len(batch) for batch in columns.read(folder, batch_rows=2500)] == [2500, 500]
    with columns.read(folder) as reader:
        assert reader.schema == {"key": "string", "value": "int"}


def test_no_files(tmp_path):
    assert list(columns.read(tmp_path)) == list(columns.read([])) == []
    with pytest.raises(FileNotFoundError, match="no file matches the pattern: '.*part-\\*'"):
        columns.read(tmp_path / "part-*")
    with pytest.raises(FileNotFoundError, match="no file matches the pattern"):
        sequencefile.read(str(tmp_path / "part-*"))
    (tmp_path / "_SUCCESS").touch()  # of a job without output
    assert list(columns.read(tmp_path)) == list(sequencefile.read(tmp_path)) == []
    (tmp_path / "inner").mkdir()
    with pytest.raises(IsADirectoryError, match="a folder among the part files"):
        columns.read(tmp_path)


def test_a_name_with_an_asterisk_is_a_file(tmp_path):
    (tmp_path / "a*").write_bytes(tb.Encoder().encode_pairs([("a", 1)]))
    (tmp_path / "ab").write_bytes(b"\x0e")
    assert rows_of(tmp_path / "a*") == [("a", 1)]


def test_sequencefile_read_takes_patterns(tmp_path):
    for name in ("part-0", "part-1", "_part-2"):
        with sequencefile.Writer(tmp_path / name) as writer:
            writer.write(name, 1)
    assert [key for key, _ in sequencefile.read(tmp_path / "*")] == ["part-0", "part-1"]
    assert [key for key, _ in sequencefile.read(str(tmp_path / "_*"))] == ["_part-2"]


@pytest.mark.parametrize(
    "data, kind, message",
    [
        (tb.Encoder().encode_pairs([("x", 1), ("y", 2)])[:-1], tb.TruncatedError,
         "input ends inside INT: at least 1 more bytes needed at offset 21, record 1"),
        (tb.Encoder().encode_pairs([("x", 1)]) + b"\x0e", tb.FormatError,
         "unknown type code 14 at offset 11, record 1"),
        (tb.Encoder().encode_pairs([("x", 1), ("y", "z")]), columns.MismatchError,
         "STRING in column 'value', which holds int"),
    ],
)  # fmt: skip
def test_an_error_names_the_file(tmp_path, data, kind, message):
    (tmp_path / "part-0").write_bytes(tb.Encoder().encode_pairs([("a", 1)]))
    (tmp_path / "part-1").write_bytes(data)
    reader = columns.read(tmp_path)
    assert next(reader).column(0).tolist() == ["a", "x"]
    for _ in range(2):
        with pytest.raises(kind) as caught:
            next(reader)
        assert str(caught.value).startswith(f"{tmp_path / 'part-1'}: {message}")
    assert reader.closed


def test_splits_hold_each_record_once(folder):
    expected = sum(ROWS, [])
    for size in (7, 100, 5000, 1 << 20):
        found = columns.splits(folder, size)
        assert [row for split in found for row in rows_of(pickle.loads(pickle.dumps(split)))] == expected, size
        if found[0].start is None:
            assert found == [columns.Split(str(path), None, None) for path in sorted(folder.glob("part-*"))]
        elif size < 1 << 20:
            assert len(found) > 3 and {split.start % size for split in found} == {0}
    assert columns.splits([folder / "part-*", str(folder)])[:3] == columns.splits(folder)


def test_a_split_has_the_schema_that_is_given(folder):
    first, *_ = columns.splits(folder)
    with columns.read(first, schema=["string", "long"], on_mismatch="widen") as reader:
        assert reader.schema == {"key": "string", "value": "long"}
    assert rows_of(first, threads=2) == rows_of(first)


def test_wrong_splits(tmp_path):
    with pytest.raises(ValueError, match="split_size must be at least 1, not 0"):
        columns.splits(tmp_path, 0)
    with pytest.raises(FileNotFoundError):
        columns.splits(tmp_path / "part-*")
    assert columns.splits(tmp_path) == []


def test_an_error_in_a_split_names_the_file(tmp_path):
    with sequencefile.Writer(tmp_path / "a.seq", sync_interval=100) as writer:
        writer.writes(ROWS[0])
    data = bytearray((tmp_path / "a.seq").read_bytes())
    data[-3:] = b""
    (tmp_path / "a.seq").write_bytes(data)
    first, *_, last = columns.splits(tmp_path / "a.seq", 10_000)
    assert sum(map(len, columns.read(first))) > 0
    with pytest.raises(tb.TruncatedError, match=f"^{tmp_path}/a.seq: ") as caught:
        list(columns.read(last))
    assert caught.value.record is None


def test_parts_of_records_of_which_there_are_none():
    with columns.read(b"", columns=["value.1", "key", "value.0.2"]) as reader:
        assert reader.schema == {"value.1": "unknown", "key": "unknown", "value.0.2": "unknown"}
    assert pyarrow.table(columns.read(b"", columns=["value.1"])).schema == pyarrow.schema([("value.1", pyarrow.null())])
