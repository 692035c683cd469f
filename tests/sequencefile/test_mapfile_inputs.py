"""MapFiles as inputs, a folder of them, one itself and patterns: the records of `data`, by all that reads files.

Hadoop's SequenceFileInputFormat takes `data` of each folder inside an input (listStatus). Of a MapFile that is itself
an input it reads `index` too, as records, which no job wants: here the index is read only by its own path.
"""

import os

import pytest

import typedbytes as tb
from support.commands import bad, good
from support.local_jobs import pairs_of as output_of, write_script
from support.small_sequencefiles import map_file, written
from typedbytes import columns, hadoop, local, sequencefile
from typedbytes._base import locations
from typedbytes.spark import _splits

pytestmark = pytest.mark.lowest

RECORDS = [[(f"{part}-{i:03}", i) for i in range(40)] for part in range(2)]


@pytest.fixture
def folder(tmp_path):
    """Make the output of a job with MapFileOutputFormat, one of its MapFiles with a filter."""
    for part, records in enumerate(RECORDS):
        one = tmp_path / "out" / f"part-r-{part:05}"
        one.mkdir(parents=True)
        map_file(one, records, range(0, 40, 8), key_class="Text", value_class="IntWritable")
    (one / "bloom").write_bytes(b"\0\1\2")
    (tmp_path / "out" / "_SUCCESS").touch()
    return tmp_path / "out"


LOCATIONS = {
    "{}": RECORDS, "{}/": RECORDS, "{}/*": RECORDS, "{}/part-r-*": RECORDS, "{}/*/*": RECORDS,
    "{}/part-r-00001": RECORDS[1:], "{}/part-r-00000/*": RECORDS[:1], "{}/part-r-00001/data": RECORDS[1:],
}  # fmt: skip


@pytest.mark.parametrize(
    "location, scheme", [*((each, "") for each in LOCATIONS), ("{}", "file://"), ("{}/*", "file://")]
)
def test_every_way_of_reading_files(location, scheme, folder, tmp_path):
    expected = sum(LOCATIONS[location], [])
    path = scheme + location.format(folder)
    assert list(sequencefile.read(path)) == list(sequencefile.read([path])) == expected
    with columns.read(path) as reader:
        assert [row for batch in reader for row in zip(batch.column(0).tolist(), batch.column(1).tolist())] == expected
    assert sum(len(batch) for split in columns.splits(path, 500) for batch in columns.read(split)) == len(expected)
    options = _splits.Options({})
    batches = [
        _splits.batches_of(split, options, _splits.infer_schema(path, options))
        for split in _splits.make_splits(path, options)
    ]
    assert [row for batch in sum(map(list, batches), []) for row in zip(*batch.to_pydict().values())] == expected
    assert good("count", path) == b"%d\n" % len(expected)
    assert tb.Decoder().decode_pairs(good("cat", "--to", "typedbytes", path)) == expected
    if not scheme:
        local.run("cat", inputs=path, output=tmp_path / "copy", quiet=True)
        assert output_of(tmp_path / "copy") == expected


@pytest.mark.parametrize(
    "command",
    [
        ("cat",), ("head", "-n", "99"), ("tail", "-n", "3"), ("slice", "-r", "3:70"),
        ("sample", "-n", "9", "--seed", "1"), ("count",), ("freq",), ("uniq",), ("sort",), ("cut", "-f", "key"),
        ("grep", "1-00"), ("schema",), ("stats",), ("to-json",), ("to-text",), ("validate", "--values"), ("dumptb",),
        ("convert", "--to", "arrow"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_every_command_reads_what_it_reads_of_the_files_of_data(command, folder):
    assert good(*command, folder) == good(
        *command, *(folder / name / "data" for name in sorted(os.listdir(folder)) if name[0] != "_")
    )


def test_the_index_by_its_own_path(folder):
    assert len(list(sequencefile.read(folder / "part-r-00000" / "index"))) == 5


def test_the_output_of_a_job_in_map_files(folder):
    assert list(hadoop.read_output(str(folder), {"PATH": ""})) == sum(RECORDS, [])
    assert list(hadoop.read_output(f"file://{folder}", {})) == sum(RECORDS, [])


def test_a_folder_inside_an_input_without_a_sequencefile_of_data(folder):
    """Hadoop's errors are "File .../data does not exist" and "not a SequenceFile"."""
    (folder / "part-r-00002").mkdir()
    for data in (None, b"lines\n"):
        if data:
            (folder / "part-r-00002" / "data").write_bytes(data)
        with pytest.raises(IsADirectoryError, match="a folder among the part files: .*/part-r-00002"):
            sequencefile.read(folder)
        assert "a folder among the part files" in bad(66, "count", folder)[1]
        with pytest.raises(
            local.InputError, match=r"a folder among the part files: .*/part-r-00002 \(recursive reads it too\)"
        ):
            local.run("cat", inputs=folder, output=folder / "copy", quiet=True)


def test_files_named_as_those_of_a_map_file(tmp_path):
    """An index is not known by its name: other files of that name are data, in any format."""
    for name in ("data", "index"):
        (tmp_path / name).write_text(f"{name}\n")
    local.run("cat", inputs=tmp_path, output=tmp_path / "_text", quiet=True)
    assert sorted(value for _, value in output_of(tmp_path / "_text")) == ["data", "index"]
    (tmp_path / "data").write_bytes(written([("a", 1)], key_class="Text", value_class="LongWritable"))
    for key_class, value_class, pair in (("Text", "IntWritable", ("b", 2)), ("IntWritable", "LongWritable", (2, 2))):
        (tmp_path / "index").write_bytes(written([pair], key_class=key_class, value_class=value_class))
        for path in (tmp_path, tmp_path / "*"):
            assert list(sequencefile.read(path)) == [("a", 1), pair]
    (tmp_path / "index").write_bytes(b"SEQ\6")
    with pytest.raises(tb.TruncatedError, match="index"):
        list(sequencefile.read(tmp_path))


@pytest.mark.parametrize("nbytes", [1, 127, 128, 255, 256, 3000])
def test_a_map_file_with_keys_of_any_class(nbytes, tmp_path):
    """Lengths as Hadoop's WritableUtils.writeVInt writes them: up to 127 in one byte, then in two or three."""
    length = {127: b"\x7f", 128: b"\x8f\x80", 255: b"\x8f\xff", 256: b"\x8e\1\0", 3000: b"\x8e\x0b\xb8"}.get(
        nbytes, b"\1"
    )
    key_class = length + b"K" * nbytes
    (tmp_path / "data").write_bytes(b"SEQ\6" + key_class + b"\x04Text" + bytes(22))
    index = b"SEQ\6" + key_class + b"\x21org.apache.hadoop.io.LongWritable"
    for end in range(len(index)):
        (tmp_path / "index").write_bytes(index[:end])
        assert not locations.is_map_file(str(tmp_path))
    (tmp_path / "index").write_bytes(index + bytes(22))
    assert locations.is_map_file(str(tmp_path))
    assert locations.parts(str(tmp_path)) == [str(tmp_path / "data")]


def test_submit_refuses_what_hadoop_would_read_with_its_index(folder, tmp_path, monkeypatch):
    (tmp_path / "core-site.xml").write_text("<configuration/>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    script = str(write_script(tmp_path, "from typedbytes import streaming\nstreaming.run(lambda key, value: [])"))
    for given in ("auto", "sequencefile"):
        plan = hadoop.Plan(script, [str(folder)], str(tmp_path / "new"), input_format=given)
        assert hadoop.check(plan).input_format == "sequencefile"
        for path in (folder / "part-r-00000", folder / "*", folder / "*" / "*", f"file://{folder}/part-r-00000"):
            with pytest.raises(
                hadoop.SubmitError,
                match=(
                    "part-r-00000 is a MapFile, whose index Hadoop would read as records: give the folder that holds it"
                ),
            ):
                hadoop.check(hadoop.Plan(script, [str(path)], str(tmp_path / "new"), input_format=given))
        assert (
            hadoop.check(
                hadoop.Plan(script, [str(folder / "part-r-00000" / "data")], "new", input_format=given)
            ).input_format
            == "sequencefile"
        )


def test_spark_replaces_no_map_files(folder):
    """The files of a MapFile are one thing: an output that replaces what is in its folder refuses them, as before."""
    from typedbytes.spark._output import Output

    for path in (folder, folder / "part-r-00000"):
        output = Output(str(path), {}, overwrite=True)
        names = sorted(os.listdir(folder / "part-r-00000"))
        if path == folder:
            with pytest.raises(IsADirectoryError):
                output.commit([])
            assert sorted(os.listdir(folder / "part-r-00000")) == names
        else:
            output.commit([])
            assert os.listdir(path) == ["_SUCCESS"]


NESTED = ["a/part-0", "b/part-0", "b/deep/er/part-0", "b/deep/er/part-1", "part-0"]


@pytest.fixture
def nested(tmp_path):
    """Make folders inside folders, some hidden, and a MapFile deep inside."""
    root = tmp_path / "nested"
    for number, name in enumerate(NESTED):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written([(name, number)], key_class="Text", value_class="IntWritable"))
    for hidden in ("_logs/x", ".git/y", "b/_temporary/part-0", "a/_SUCCESS", "b/deep/.crc"):
        path = root / hidden
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"not a SequenceFile")
    (root / "c" / "map").mkdir(parents=True)
    map_file(root / "c" / "map", [("map", 9)], [0], key_class="Text", value_class="IntWritable")
    return root


IN_ORDER = [
    ("a/part-0", 0), ("b/deep/er/part-0", 2), ("b/deep/er/part-1", 3), ("b/part-0", 1), ("map", 9), ("part-0", 4),
]  # fmt: skip


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_folders_inside_folders_on_request(nested, scheme, tmp_path):
    """As Hadoop's input.dir.recursive: hidden names at any depth are left out, and so is the index of a MapFile."""
    path = f"{scheme}{nested}"
    assert list(sequencefile.read(path, recursive=True)) == IN_ORDER
    table = columns.read(path, recursive=True).to_arrow()
    assert list(zip(*table.to_pydict().values())) == IN_ORDER
    assert sum(len(b) for split in columns.splits(path, recursive=True) for b in columns.read(split)) == len(IN_ORDER)
    assert columns.scan_polars(path, recursive=True).collect().rows() == IN_ORDER
    options = _splits.Options({"recursiveFileLookup": "true"})
    assert len(_splits.make_splits(path, options)) == len(IN_ORDER)
    assert tb.Decoder().decode_pairs(good("cat", "--recursive", "--to", "typedbytes", path)) == IN_ORDER
    good("convert", "--to", "parquet", "--recursive", path, "-o", tmp_path / "one.parquet")
    good("convert", "--to", "parquet", "--recursive", path, "-o", f"{tmp_path}/tables/")
    for read in (lambda: list(sequencefile.read(path)), lambda: columns.read(path), lambda: columns.splits(path)):
        with pytest.raises(IsADirectoryError, match="recursive reads it too"):
            read()
    assert "recursive reads it too" in bad(66, "count", path)[1]


@pytest.mark.parametrize("how", ["option", "property", "old"])
def test_jobs_read_folders_inside_folders(nested, tmp_path, how):
    options = {
        "option": {"recursive": True},
        "property": {"properties": {"mapreduce.input.fileinputformat.input.dir.recursive": "true"}},
        "old": {"properties": {"mapred.input.dir.recursive": "true"}},
    }[how]
    local.run("cat", inputs=nested, output=tmp_path / "copy", quiet=True, **options)
    assert sorted(output_of(tmp_path / "copy")) == sorted(IN_ORDER)
    plan = hadoop.Plan("job.py", [str(nested)], "out", recursive=True)
    assert plan.all_properties()["mapreduce.input.fileinputformat.input.dir.recursive"] == "true"


def test_a_job_without_it_is_told_of_the_option(nested, tmp_path):
    with pytest.raises(local.InputError, match=r"nested/[abc].* \(recursive reads it too\)"):
        local.run("cat", inputs=nested, output=tmp_path / "copy", quiet=True)
    with pytest.raises(local.InputError, match=r"nested/[abc].* \(recursive reads it too\)"):
        local.run("cat", inputs=f"file://{nested}", output=tmp_path / "copy", quiet=True)
    run = ("run", "-q", "--mapper", "cat", "-o", tmp_path / "copy")
    assert "(--recursive reads it too)" in bad(66, *run, nested)[1]
    assert "(--recursive reads it too)" in bad(66, *run, f"file://{nested}")[1]
