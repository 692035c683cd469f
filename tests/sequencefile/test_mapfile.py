"""Map files: keys looked up by an index, whatever the index says."""

import datetime as dt
import gc
import hashlib
import shutil
import struct
from decimal import Decimal

import pytest

import typedbytes as tb
from support.small_sequencefiles import NUMBERS, map_file, written
from typedbytes import sequencefile

pytestmark = [pytest.mark.newest_python, pytest.mark.lowest]

ORDERED = {
    "Text": ["", "a", "ab", "é", "€", "\uffff", "😀"],
    "BytesWritable": [b"", b"\0", b"a", b"a\xff", b"\xff"],
    "TypedBytesWritable": [b"", False, True, 1, -1, 2**40, "", "b", "aa"],
    "IntWritable": [-(2**31), -1, 0, 2**31 - 1],
    "LongWritable": [-(2**63), -1, 0, 2**63 - 1],
    "VIntWritable": [-(2**31), -1, 0, 300],
    "VLongWritable": [-(2**63), -1, 0, 2**40],
    "ShortWritable": [-5, 0, 5],
    "ByteWritable": [-5, 0, 5],
    "FloatWritable": [float("-inf"), -1.5, -0.0, 0.0, 1.5, float("inf"), float("nan")],  # as Float.compare has them
    "DoubleWritable": [float("-inf"), -1.5, -0.0, 0.0, 1.5, float("inf"), float("nan")],
    "BooleanWritable": [False, True],
    "MD5Hash": [bytes(16), b"\x7f" * 16, b"\x80" * 16],
}


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("step", [1, 2, 10])
def test_map_files_of_every_order(name, step, tmp_path):
    (tmp_path / "map").mkdir()
    keys = ORDERED[name]
    with sequencefile.Writer(tmp_path / "map" / "data", key_class=name, value_class="Text") as data:
        with sequencefile.Writer(
            tmp_path / "map" / "index", key_class=name, value_class="LongWritable", compression="block"
        ) as index:
            for i, key in enumerate(keys):
                if i % step == 0:
                    index.write(key, data.offset)
                data.write(key, repr(key))
    with sequencefile.MapFile(tmp_path / "map") as file:
        for key in keys:
            assert file[key] == repr(key) and key in file
        assert [repr(key) for key, _ in file] == [value for _, value in file] == list(map(repr, keys))


def test_types_are_those_of_look_ups_too(tmp_path):
    day = dt.date(2026, 5, 1)
    with sequencefile.Writer(tmp_path / "data", key_class="IntWritable", value_class="Text") as data:
        data.write(20574, "1.50")
    with sequencefile.Writer(tmp_path / "index", key_class="IntWritable", value_class="LongWritable"):
        pass
    with sequencefile.MapFile(tmp_path, key_type=dt.date, value_type=Decimal) as file:
        assert list(file) == [(day, Decimal("1.50"))]
        assert file[day] == file.get(day) == Decimal("1.50") and type(file[day]) is Decimal and day in file
    with sequencefile.MapFile(tmp_path, value_type=dt.date) as file:
        with pytest.raises(tb.DecodeTypeError, match="expected date"):
            file[20574]
    with sequencefile.MapFile(tmp_path, value_type=float, strict=False) as file:
        assert file[20574] == 1.5


def test_keys_that_a_function_decodes_are_looked_up_only_by_the_bytes_that_it_decodes_to_them(tmp_path):
    map_file(tmp_path, [(b"\x02\xd6\xd0", b"\0\0\0\1")], [], key_class="Text", value_class="IntWritable")
    for name in ("Text", "org.apache.hadoop.io.Text"):
        with sequencefile.MapFile(tmp_path, decoders={name: lambda body: body[1:].decode("gbk")}) as file:
            assert list(file) == [("\u4e2d", 1)]
            with pytest.raises(TypeError, match=r"cannot look up '\u4e2d'.*does not decode to it"):
                file.get("\u4e2d")
            assert file.get("a") is None
    with sequencefile.MapFile(tmp_path, unicode_errors="surrogateescape", decoders={"IntWritable": bytes.hex}) as file:
        assert list(file) == [("\udcd6\udcd0", "00000001")] and file["\udcd6\udcd0"] == "00000001"


@pytest.mark.parametrize(
    "key_class, raw, key, options",
    [
        ("Text", b"\x01\xff", "\udcff", {"unicode_errors": "surrogateescape"}),
        ("TypedBytesWritable", b"\0\0\0\6\x07\0\0\0\1\xff", "\udcff", {"unicode_errors": "surrogateescape"}),
        ("TypedBytesWritable", b"\0\0\0\1\x0c", None, {"dialect": "hive"}),
    ],
    ids=["Text", "STRING", "Hive's NULL"],
)
def test_a_map_file_looks_keys_up_as_its_reader_gives_them(tmp_path, key_class, raw, key, options):
    map_file(tmp_path, [(raw, b"\x02ok")], [], key_class)
    with sequencefile.MapFile(tmp_path, **options) as file:
        assert list(file) == [(key, "ok")]
        assert file[key] == file.get(key) == "ok" and key in file


def test_a_map_file_is_looked_up_while_it_is_iterated(tmp_path):
    map_file(tmp_path, NUMBERS, range(0, 1000, 100))
    with sequencefile.MapFile(tmp_path) as file:
        found = []
        for pair in file:
            found.append(pair)
            assert file[999 - pair[0]] == NUMBERS[999 - pair[0]][1]
            assert next(iter(file)) == NUMBERS[0]
        assert found == NUMBERS
    for use in (lambda: next(iter(file)), lambda: file[5], lambda: 5 in file):
        with pytest.raises(ValueError, match="closed"):
            use()


@pytest.mark.parametrize("index", [[], [500], range(300, 1000, 7)])
def test_an_index_that_knows_too_little(index, tmp_path):
    """Hadoop looks from the first record on, too."""
    map_file(tmp_path, NUMBERS, index)
    with sequencefile.MapFile(tmp_path) as file:
        for key in (0, 1, 299, 300, 301, 500, 999):
            assert file[key] == f"value {key}"
        assert -1 not in file and 1000 not in file


@pytest.mark.parametrize("offset", [-1, 0, 10, 2**40, 2**63 - 1])
@pytest.mark.parametrize("last", [0, 1])
def test_an_index_that_leads_out_of_its_data(offset, last, tmp_path):
    map_file(tmp_path, NUMBERS[:20], [*[0] * last, (NUMBERS[10][0], offset)])
    with pytest.raises(tb.FormatError, match=f"its offset {offset} is outside of the data file of") as caught:
        sequencefile.MapFile(tmp_path)
    with sequencefile.Reader(tmp_path / "index") as index:
        index.skip(last)
        assert caught.value.offset == index.offset


def test_an_index_that_is_not_in_order(tmp_path):
    offsets = map_file(tmp_path, NUMBERS, [0, 500, 100])
    with pytest.raises(tb.FormatError, match="not in order"):
        sequencefile.MapFile(tmp_path)
    map_file(tmp_path, NUMBERS, [0, (3, offsets[5]), (2, offsets[5])])
    with pytest.raises(tb.FormatError, match="not in order"):
        sequencefile.MapFile(tmp_path)
    map_file(tmp_path, NUMBERS, [0, (1, offsets[5]), (2, offsets[1])])
    with pytest.raises(tb.FormatError, match="not in order"):
        sequencefile.MapFile(tmp_path)


@pytest.mark.parametrize("name", [name for name in ORDERED if name not in ("BytesWritable", "TypedBytesWritable")])
def test_keys_of_a_map_file_that_are_refused(name, tmp_path):
    for where in ("data", "index"):
        key = b"\xff" * 11 if where == "data" else sequencefile.encode(name, ORDERED[name][-1])
        offsets = map_file(tmp_path, [(key, b"")], [], name, "NullWritable")
        if where == "index":
            map_file(tmp_path, [(key, b"")], [(b"\xff" * 11, struct.pack(">q", offsets[0]))], name, "NullWritable")
        with pytest.raises(tb.DecodeError) as caught, sequencefile.MapFile(tmp_path) as file:
            file.get(ORDERED[name][-1])
        with sequencefile.Reader(tmp_path / where) as reader:
            assert caught.value.offset == reader.offset


def test_a_value_of_a_map_file_that_is_refused(tmp_path):
    data = [(struct.pack(">i", key), b"\1\xff" if key == 3 else b"\1a") for key in range(5)]
    offsets = map_file(tmp_path, data, [])
    file = sequencefile.MapFile(tmp_path)
    assert file[2] == file[4] == "a"
    with pytest.raises(tb.FormatError, match="not UTF-8") as caught:
        file[3]
    assert caught.value.offset == offsets[3]
    with pytest.raises(tb.FormatError, match="not UTF-8"):
        list(file)
    file.close()
    with sequencefile.MapFile(tmp_path, resync=True) as file:
        assert [key for key, _ in file] == [0, 1, 2, 4]
        assert [each.offset for each in file.skipped] == [offsets[3]]


def test_a_decoder_of_a_map_file_raises_for_itself(tmp_path):
    data = written([(1, b"value")], key_class="IntWritable", value_class="my.Own")
    (tmp_path / "data").write_bytes(data)
    index = written([(1, sequencefile.Reader(data).offset)], key_class="IntWritable", value_class="LongWritable")
    (tmp_path / "index").write_bytes(index)
    with sequencefile.MapFile(tmp_path, decoders={"my.Own": {}.__getitem__}) as file:
        assert file.get(2, "none") == "none"
        with pytest.raises(KeyError, match="value"):
            file.get(1, "none")


def test_folders_that_are_not_map_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        sequencefile.MapFile(tmp_path)
    for name, key_class, value_class, error in (
        ("odd", "a.B", "LongWritable", TypeError),
        ("other", "Text", "IntWritable", tb.FormatError),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_bytes(written([], key_class=key_class))
        (tmp_path / name / "index").write_bytes(written([], key_class=key_class, value_class=value_class))
        with pytest.raises(error):
            sequencefile.MapFile(tmp_path / name)
    gc.collect()


# (class, key, its hashCode() in Hadoop 3.4.2)
HASH_CODES = [
    ("Text", "", 1), ("Text", "a", 128), ("Text", "word", 4578955), ("Text", "h\xe9llo", -488851262),
    ("Text", "key 17", -247231800), ("IntWritable", 0, 0), ("IntWritable", 1, 1), ("IntWritable", -1, -1),
    ("IntWritable", 123456, 123456), ("IntWritable", -2147483648, -2147483648), ("VIntWritable", -1, -1),
    ("VIntWritable", 123456, 123456), ("LongWritable", 5, 5), ("LongWritable", -5, -5),
    ("LongWritable", 1099511627777, 1), ("LongWritable", -1099511627777, -1), ("VLongWritable", 5, 5),
    ("VLongWritable", -1099511627777, -1), ("ShortWritable", 7, 7), ("ShortWritable", -7, -7),
    ("ShortWritable", 300, 300), ("ByteWritable", 7, 7), ("ByteWritable", -7, -7), ("FloatWritable", 0.5, 1056964608),
    ("FloatWritable", -2.0, -1073741824), ("DoubleWritable", 0.5, 0), ("DoubleWritable", -2.0, 0),
    ("DoubleWritable", 0.001, -755914244), ("BooleanWritable", True, 0), ("BooleanWritable", False, 1),
    ("BytesWritable", b"\x00\xffa", 29857), ("MD5Hash", hashlib.md5(b"a").digest(), 214005177),
    ("MD5Hash", hashlib.md5(b"b").digest(), -1830068226), ("MD5Hash", hashlib.md5(b"").digest(), -736260903),
]  # fmt: skip


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _, _ in HASH_CODES))
@pytest.mark.parametrize("nparts", [1, 7, 10])
def test_the_parts_of_a_job_by_hadoops_partitioner(tmp_path, name, nparts):
    """(hashCode() & Integer.MAX_VALUE) % numReduceTasks, as HashPartitioner: only that part is looked at."""
    keys = [(key, (code & 0x7FFFFFFF) % nparts) for each, key, code in HASH_CODES if each == name]
    for number in range(nparts):
        part = tmp_path / f"part-r-{number:05}"
        part.mkdir()
        pairs = sorted((key, f"in {number}") for key, found in keys if found == number)
        key_class_pairs(part, pairs, name)
    (tmp_path / "_SUCCESS").touch()
    with sequencefile.MapFile(tmp_path) as file:
        for key, number in keys:
            assert file[key] == file.get(key) == f"in {number}" and key in file
        assert sorted(key for key, _ in file) == sorted(key for key, _ in keys)
        assert file.skipped == [] and not file.closed
    assert file.closed
    shutil.move(tmp_path / "part-r-00000", tmp_path / "part-r-99999")
    if nparts == 10 and name == "Text":  # the numbers are those of the sorted names, as in MapFileOutputFormat
        with sequencefile.MapFile(tmp_path) as file:
            assert [key in file for key, _ in keys].count(True) < len(keys)


def key_class_pairs(folder, pairs, name):
    with sequencefile.Writer(folder / "data", key_class=name, value_class="Text") as data:
        with sequencefile.Writer(folder / "index", key_class=name, value_class="LongWritable") as index:
            for key, value in pairs:
                index.write(key, data.offset)
                data.write(key, value)


def test_what_is_no_folder_of_map_files(tmp_path):
    (tmp_path / "part-0").mkdir()
    key_class_pairs(tmp_path / "part-0", [("a", "x")], "Text")
    (tmp_path / "other").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match="data"):
        sequencefile.MapFile(tmp_path)
