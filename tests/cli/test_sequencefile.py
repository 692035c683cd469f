"""SequenceFiles on the command line: recognised by content, dumped, loaded, repaired."""

import io
import json
import os
import resource
import signal
import subprocess

import pytest

import typedbytes as tb
from support.commands import COMMAND, bad, fine, good, rows, run
from support.sequencefiles import IO, files
from support.streaming_support import NO_BYTECODE
from typedbytes import sequencefile
from typedbytes.cli import main

MARKER = bytes(range(16))
PAIRS = [(f"key {i}", [i, "a\udcff" if i == 500 else i / 3]) for i in range(1000)]
LOSSY = {"unicode_errors": "surrogateescape"}


def written(pairs=PAIRS, **options):
    """Return the bytes of a SequenceFile."""
    sink = io.BytesIO()
    with sequencefile.Writer(sink, sync_marker=MARKER, **{**LOSSY, **options}) as writer:
        writer.writes(pairs)
    return sink.getvalue()


STREAM = tb.Encoder(**LOSSY).encode_pairs(PAIRS)
SEQUENCE = written()


@pytest.fixture
def file(file):
    """Name a file of these bytes as a SequenceFile, when nothing else is said."""
    return lambda data, name="a.seq": file(data, name)


@pytest.mark.parametrize(
    "data",
    [SEQUENCE, written(compression="record"), written(compression="block", codec="zstd")],
    ids=["none", "record", "block"],
)
def test_commands_take_a_sequence_file_for_a_stream_of_pairs(file, data):
    for arguments, stdin in (((file(data),), b""), ((), data)):
        assert good("cat", *arguments, stdin=stdin) == STREAM
        assert good("cat", "--pairs", *arguments, stdin=stdin) == STREAM
        assert good("head", "-n", "3", *arguments, stdin=stdin) == tb.Encoder().encode_pairs(PAIRS[:3])
        assert good("count", *arguments, stdin=stdin) == b"1000\n"
        assert good("to-json", *arguments, stdin=stdin) == good("to-json", "--pairs", stdin=STREAM)
        stdout, message = bad(65, "validate", *arguments, stdin=stdin)
        assert "STRING is not UTF-8" in message and "record 500, path [1]" in message


def test_streams_and_sequence_files_together(file):
    pair = tb.dumps("value") * 2
    assert good("cat", "--pairs", file(pair, "a.tb"), file(SEQUENCE), "-", stdin=pair) == pair + STREAM + pair
    assert good("count", "--pairs", file(pair, "a.tb"), file(SEQUENCE)) == b"1001\n"
    lines = good("to-json", "--pairs", file(pair, "a.tb"), file(files()["none/null-null"])).splitlines()
    assert lines[0] == b'["value", "value"]' and lines[1].startswith(b'[{"writable":')


def test_validate():
    data = written(PAIRS[:500])
    assert rows(good("validate", stdin=data)) == [fine("standard input", 500, len(data), "pairs")]


def test_a_stream_that_starts_like_a_sequence_file():
    value = tb.Ext(83, b"E" * 20)
    data = tb.dumps(value)
    assert data[:1] == b"S"
    assert good("cat", stdin=data) == data
    assert good("count", stdin=data + data) == b"2\n"
    stdout, message = bad(65, "cat", stdin=b"SE")
    assert "input ends inside type code 83" in message


@pytest.mark.parametrize(
    "command, written_before", [("cat", True), ("head", True), ("count", False), ("validate", False)]
)
def test_damage(command, written_before):
    stdout, message = bad(65, command, *(["-n", "9999"] if command == "head" else []), stdin=SEQUENCE[:-1])
    assert (
        "the file ends" in message and f"offset {len(SEQUENCE) - 1}, record 999" in message or "record 500" in message
    )
    assert (stdout != b"" and STREAM.startswith(stdout)) == written_before


def test_dumptb(file, tmp_path):
    assert (
        good("dumptb", file(SEQUENCE))
        == good("dumptb", "-", stdin=SEQUENCE)
        == good("dumptb", stdin=SEQUENCE)
        == STREAM
    )
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ("part-00000", "part-00001", "_SUCCESS", ".hidden"):
        (folder / name).write_bytes(SEQUENCE if name.startswith("part") else b"")
    assert good("dumptb", str(folder), file(SEQUENCE)) == STREAM * 3
    assert good("dumptb", f"file://{folder}") == STREAM * 2
    assert bad(66, "dumptb", str(tmp_path / "no"))[1].endswith("no: No such file or directory")
    assert "not a SequenceFile" in bad(65, "dumptb", stdin=STREAM)[1]


def test_loadtb(tmp_path):
    path = tmp_path / "out"
    assert good("loadtb", str(path), stdin=STREAM) == b""
    with sequencefile.Reader(path, **LOSSY) as reader:
        assert (reader.compression, reader.codec) == ("record", "org.apache.hadoop.io.compress.DefaultCodec")
        assert reader.read_all() == PAIRS
    good("loadtb", "--overwrite", "--compression", "block", "--codec", "zstd", str(path), stdin=STREAM)
    with sequencefile.Reader(path) as reader:
        assert (reader.compression, reader.codec) == ("block", "org.apache.hadoop.io.compress.ZStandardCodec")
        assert reader.read_typed(1 << 30) == STREAM
    good("loadtb", "--overwrite", str(path), stdin=b'["a", 1]\n')
    with sequencefile.Reader(path) as reader:
        assert reader.read_all() == [("a", 1)]
    assert "text that is neither" in bad(65, "loadtb", str(tmp_path / "none"), stdin=b"Dear reader")[1]
    assert not (tmp_path / "none").exists()
    good("loadtb", "--overwrite", str(path))
    with sequencefile.Reader(path) as reader:
        assert reader.read_all() == []


def test_loadtb_of_damaged_pairs(tmp_path):
    path = tmp_path / "out"
    _, message = bad(65, "loadtb", str(path), stdin=STREAM[:-1])
    assert message.startswith("standard input: ") and "record 999" in message
    path.write_bytes(b"before")
    bad(65, "loadtb", "--overwrite", str(path), stdin=STREAM[:-1])
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["out"]


def test_loadtb_replaces_nothing_unasked(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    for name in (str(path), f"file://{path}"):
        assert bad(64, "loadtb", name, stdin=STREAM)[1] == f"{name}: file exists (--overwrite replaces it)"
        assert path.read_bytes() == b"before"
        good("loadtb", "--overwrite", name, stdin=STREAM)
        assert good("dumptb", name) == STREAM and os.listdir(tmp_path) == ["out"]
        path.write_bytes(b"before")
    assert sequencefile.Reader(good("loadtb", "/dev/stdout", stdin=STREAM)).read_typed(1 << 30) == STREAM


@pytest.mark.parametrize("url", ["", "file://"])
def test_loadtb_that_is_interrupted_leaves_no_file(url, tmp_path):
    path = tmp_path / "out"
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([*COMMAND, "loadtb", f"{url}{path}"], **pipes)
    process.stdin.write(STREAM * 20)  # more than a pipe holds: some of it has been read and written
    process.send_signal(signal.SIGINT)
    _, message = process.communicate()
    assert (process.returncode, message, os.listdir(tmp_path)) == (130, b"", [])


def test_loadtb_that_cannot_write(tmp_path):
    assert bad(64, "loadtb", stdin=STREAM)[1].startswith("needs one FILE to write")
    assert (
        "unknown codec 'none'; known: default, gzip, bzip2"
        in bad(64, "loadtb", "--codec", "none", str(tmp_path / "f"))[1]
    )
    assert bad(74, "loadtb", str(tmp_path), stdin=STREAM)[1].endswith("Is a directory")
    assert bad(74, "loadtb", "/dev/full", stdin=STREAM * 20)[1] == "/dev/full: No space left on device"


SIMPLE = {
    "Text": ["", "a", "\u4e00" * 200],
    "BytesWritable": [b"", b"\0\xff"],
    "IntWritable": [-(2**31), 7],
    "LongWritable": [-(2**63), 7],
    "VIntWritable": [-(2**31), -113, -112, 127, 128, 2**31 - 1],
    "VLongWritable": [-(2**63), -113, 127, 2**63 - 1],
    "ShortWritable": [-(2**15), 7],
    "ByteWritable": [-128, 7],
    "FloatWritable": [-0.0, 1.5],
    "DoubleWritable": [float("inf"), 1e300],
    "BooleanWritable": [True, False],
    "NullWritable": [None],
    "TypedBytesWritable": [[1, "a"], b""],
    "com.example.Event": [b"", b"some bytes"],
}


def raw_pairs(data):
    """Return the classes, the metadata, and the bytes of all pairs of a SequenceFile."""
    with sequencefile.Reader(data, raw=True) as reader:
        return reader.key_class, reader.value_class, reader.metadata, reader.read_all()


@pytest.mark.parametrize("name", SIMPLE)
def test_a_sequence_file_keeps_its_classes_and_metadata(name, file, tmp_path):
    path, out = (
        file(
            written(
                [(thing, thing) for thing in SIMPLE[name]], key_class=name, value_class=name, metadata={"made by": "me"}
            )
        ),
        tmp_path / "out",
    )
    key_class, value_class, metadata, pairs = raw_pairs(path)
    assert key_class == value_class and key_class.endswith(name) and metadata == {"made by": "me"}
    for command in (
        ["convert", "--codec", "zstd"],
        ["cat"],
        ["head"],
        ["tail"],
        ["slice"],
        ["sample"],
        ["grep", "-v", "nowhere"],
        ["uniq"],
    ):
        assert main([*command, "--to", "sequencefile", "-o", str(out), path]) == 0
        assert raw_pairs(out) == (key_class, value_class, metadata, pairs)
    assert main(["sort", "--to", "sequencefile", "-o", str(out), path]) == 0
    kept = raw_pairs(out)
    assert kept[:3] == (key_class, value_class, metadata) and sorted(kept[3]) == sorted(pairs)


def test_a_sequence_file_keeps_bytes_that_are_wrong_in_python():
    sink = io.BytesIO()
    with sequencefile.Writer(sink, key_class="Text", value_class="DoubleWritable") as writer:
        writer.write_raw(b"\x02a\xff", b"\x7f\xf0\0\0\0\0\0\x01")
    assert raw_pairs(good("convert", "--to", "sequencefile", stdin=sink.getvalue())) == raw_pairs(sink.getvalue())


def test_a_map_keeps_its_classes_or_is_refused():
    data = files()["none/text-map"]
    before = raw_pairs(data)
    assert before[1].endswith("MapWritable") and before[3]
    for command in ("convert", "cat"):
        assert raw_pairs(good(command, "--to", "sequencefile", stdin=data)) == before
    for command in ("head", "sort"):
        _, message = bad(64, command, "--to", "sequencefile", stdin=data)
        assert message == (
            "the class org.apache.hadoop.io.MapWritable cannot be made from typed bytes "
            "(typedbytes convert copies its records, unless it changes a class)"
        )


def test_a_map_is_not_made_of_other_bytes():
    for options in (["--key-class", "BytesWritable"], ["--key-class", "FloatWritable"]):
        bad(64, "convert", "--to", "sequencefile", *options, stdin=files()["none/text-map"])
    for data in (written([("a", 1)], value_class="IntWritable"), tb.dumps("a") + tb.dumps(1)):
        _, message = bad(64, "convert", "--pairs", "--to", "sequencefile", "--value-class", "MapWritable", stdin=data)
        assert message.startswith("the class org.apache.hadoop.io.MapWritable cannot be made")


CLICK, PURCHASE = ({"type": "record", "name": name, "fields": [{"name": "id", "type": "long"}]} for name in "CP")
RESULT = "310a160a01721201661a017120072804320576616c75653a000a130a01721201661a036f6c642006280c32003a0020002800"


@pytest.mark.parametrize(("name", "data", "schema"), [
    ("org.apache.avro.mapred.AvroValue", b"\2\n", [CLICK, PURCHASE]),
    ("org.apache.avro.mapred.AvroValue", b"\2\2\4\n\0", ["null", {"type": "array", "items": [CLICK, PURCHASE]}]),
    ("org.apache.avro.mapred.AvroValue", b"\2\0", ["string", {"type": "enum", "name": "E", "symbols": ["a"]}]),
    ("com.example.Choice", b"\1\0\0\0\5", None),
    ("com.example.Holder", b"\0\0\0\1\1\0\0\0\5", None),
    ("org.apache.hadoop.hbase.client.Result", bytes.fromhex(RESULT), None),
])  # fmt: skip
def test_bytes_of_which_typed_bytes_do_not_say_all_are_copied(file, name, data, schema):
    """GenericWritable and a union of Avro write the number of a class; a Result is read, not written."""
    sink, value_class = io.BytesIO(), name
    metadata = {} if schema is None else {"avro.value.schema": json.dumps(schema)}
    how = {"key_class": "IntWritable", "value_class": value_class, "metadata": metadata}
    with sequencefile.Writer(sink, **how, encoders={name: bytes}) as writer:
        writer.write_raw(bytes(4), data)
    choices = "com.example.Choice: GenericWritable<LongWritable, IntWritable>\n"
    classes = ["--classes", file(f"{choices}com.example.Holder: list<com.example.Choice>\n".encode(), "my.classes")]
    for command in ("convert", "cat"):
        copied = good(command, "--to", "sequencefile", *classes, stdin=sink.getvalue())
        assert raw_pairs(copied)[3] == [(bytes(4), data)]
    code, expected = (65, "written") if "hbase" in name else (64, f"the class {name} cannot be made from typed bytes ")
    assert expected in bad(code, "head", "--to", "sequencefile", *classes, stdin=sink.getvalue())[1]


def test_a_union_whose_members_differ_in_typed_bytes_is_made_again():
    sink, schema = io.BytesIO(), ["null", "long", "string", CLICK, {"type": "array", "items": "int"}]
    how = {"key_class": "IntWritable", "value_class": "org.apache.avro.mapred.AvroValue"}
    with sequencefile.Writer(sink, **how, metadata={"avro.value.schema": json.dumps(schema)}) as writer:
        for data in (b"\0", b"\2\n", b"\4\2a", b"\6\n", b"\b\2\n\0"):
            writer.write_raw(bytes(4), data)
    assert raw_pairs(good("head", "--to", "sequencefile", stdin=sink.getvalue())) == raw_pairs(sink.getvalue())


def test_sequence_files_of_different_classes_are_not_one(file, tmp_path, capfd):
    texts, out = file(written([("a", "b")], value_class="Text")), str(tmp_path / "out")
    for command in ("convert", "sort", "slice"):
        for other in (file(SEQUENCE, "b.seq"), file(STREAM, "c.tb")):
            for inputs in ((texts, other), (other, texts)):
                assert main([command, "--pairs", "--to", "sequencefile", "-o", out, *inputs]) == 64
                assert "inputs of different classes, TypedBytesWritable/T" in capfd.readouterr().err
    other = file(written([("a", "b")], value_class="Text", metadata={"a": "b"}), "d.seq")
    assert "different metadata" in bad(64, "convert", "--to", "sequencefile", "-o", out, texts, other)[1]
    assert not os.path.exists(out)
    good("convert", "--to", "sequencefile", "-o", out, texts, texts)
    assert good("count", out) == b"2\n"


def test_classes_are_chosen_by_name(file, tmp_path):
    pairs, out = [("a", 1), ("b", -(1 << 40))], str(tmp_path / "out.seq")
    stream = tb.Encoder().encode_pairs(pairs)
    names = ("--key-class", "Text", "--value-class", "LongWritable")
    expected = [(b"\1a", (1).to_bytes(8, "big")), (b"\1b", (-(1 << 40)).to_bytes(8, "big", signed=True))]
    good("loadtb", *names, out, stdin=stream)
    good("convert", "--to", "sequencefile", "--pairs", *names, "-o", out, file(stream, "a.tb"))
    with sequencefile.Reader(out, raw=True) as reader:
        assert (reader.key_class, reader.value_class) == (f"{IO}Text", f"{IO}LongWritable")
        assert list(reader) == expected
    # Inputs of different classes become one file; what is not named stays as it is.
    mixed = file(written([("c", 5)], value_class="IntWritable"), "c.seq"), out
    data = good("convert", "--to", "sequencefile", *names, *mixed)
    assert sequencefile.Reader(data, raw=True).read_all() == [(b"\1c", (5).to_bytes(8, "big")), *expected]
    data = good("convert", "--to", "sequencefile", "--value-class", "DoubleWritable", out)
    assert sequencefile.Reader(data).key_class == f"{IO}Text"
    assert list(sequencefile.Reader(data)) == [("a", 1.0), ("b", -(2.0**40))]


def test_values_that_a_class_cannot_hold_are_refused(tmp_path):
    stream, out = tb.Encoder().encode_pairs([("a", 1), ("b", "x")]), str(tmp_path / "out.seq")
    for command in (("loadtb", out), ("convert", "--pairs", "--to", "sequencefile", "-o", out)):
        words = (command[0], "--value-class", "IntWritable", *command[1:])
        _, message = bad(65, *words, stdin=stream)
        assert message == "cannot write the value of record 1: an IntWritable cannot hold an object of type str"
        assert not os.path.exists(out)
    _, message = bad(64, "loadtb", "--key-class", "Txt", out, stdin=stream)
    assert "unknown class 'Txt': is it Text?" in message
    _, message = bad(64, "convert", "--to", "json", "--key-class", "Text", stdin=stream)
    assert message == "--key-class and --value-class are for a SequenceFile, not for json"


def test_a_sequence_file_without_records_keeps_its_classes():
    data = written([], key_class="Text")
    assert raw_pairs(good("convert", "--to", "sequencefile", stdin=data))[:2] == raw_pairs(data)[:2]


@pytest.mark.parametrize(
    "command", ["cat", "uniq", "sort", "sample -p 0", "sample -n 5", "tail", "top", "head -n 0",
                "slice -r 5:", "slice -r :0", "slice -r -3:"],
)  # fmt: skip
def test_an_output_without_records_has_the_classes_of_the_input(command, tmp_path):
    data = written([], key_class="Text", value_class="IntWritable", metadata={"made by": "me"})
    path = tmp_path / "part-00000"
    path.write_bytes(data)
    good(*command.split(), "--to", "sequencefile", "-o", str(path), str(path))
    assert raw_pairs(path.read_bytes()) == raw_pairs(data)


@pytest.mark.parametrize(
    "command", ["head -n 0", "tail -n 0", "top -n 0", "sample -n 0", "slice -r :0", "slice -r -2:-3"]
)
def test_a_choice_of_no_records_has_the_classes_of_the_input(command):
    data = written([("a", 1), ("b", 2)], key_class="Text", value_class="IntWritable", metadata={"made by": "me"})
    assert raw_pairs(good(*command.split(), "--to", "sequencefile", stdin=data)) == (*raw_pairs(data)[:3], [])


@pytest.mark.parametrize("command", ["tail -n 1", "top -n 1 --by key", "slice -r -1:"])
def test_inputs_of_which_nothing_is_copied_may_have_other_classes(command, file):
    others = file(written([("a", "b")], key_class="Text", value_class="Text"), "a.seq")
    data = written([("a", 1), ("b", 2)], key_class="Text", value_class="IntWritable", metadata={"made by": "me"})
    copied = raw_pairs(good(*command.split(), "--to", "sequencefile", others, file(data, "b.seq")))
    assert copied[:3] == raw_pairs(data)[:3] and len(copied[3]) == 1


def damaged():
    """Return a file with two blocks damaged, and the pairs of the others."""
    whole = written(PAIRS, compression="block", block_size=400)
    offsets = []
    at = whole.index(MARKER) + 16
    while (at := whole.find(MARKER, at)) >= 0:
        offsets.append(at)
        at += 1
    data = bytearray(whole)
    for offset in (offsets[5], offsets[20]):
        data[offset + 25] ^= 0xFF
    pairs = sequencefile.Reader(bytes(data), resync=True, **LOSSY).read_all()
    assert 900 < len(pairs) < 1000
    return bytes(data), pairs


def test_dumptb_after_damage(file):
    data, pairs = damaged()
    stdout, message = bad(65, "dumptb", stdin=data)
    assert STREAM.startswith(stdout) and stdout
    done = run("dumptb", "--resync", file(data))
    assert done.returncode == 65
    assert done.stdout == tb.Encoder(**LOSSY).encode_pairs(pairs)
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 2 and all("skipped" in line and "records: " in line for line in lines)


def test_repair(file, tmp_path):
    data, pairs = damaged()
    out = tmp_path / "good"
    done = run("validate", "--repair", str(out), file(data))
    assert done.returncode == 65 and len(done.stderr.splitlines()) == 3
    kept = [pair for pair in pairs if pair != PAIRS[500]]
    with sequencefile.Reader(out) as reader:
        assert (reader.compression, reader.version) == ("block", 6)
        assert reader.read_all() == kept
    (row,) = rows(done.stdout)
    assert (row["ok"], row["records"], row["unit"], row["bytes"]) == (False, len(kept), "pairs", len(data))
    skipped = [int(line.split(b"skipped ")[1].split()[0]) for line in done.stderr.splitlines()]
    assert (row["lost bytes"], row["bad"], len(row["faults"])) == (sum(skipped), 3, 3)
    (row,) = rows(good("validate", "--repair", str(tmp_path / "again"), str(out)))
    assert row == {**fine(str(out), len(kept), out.stat().st_size, "pairs"), "lost bytes": 0}
    with sequencefile.Reader(tmp_path / "again", raw=True) as one, sequencefile.Reader(out, raw=True) as other:
        assert one.read_all() == other.read_all()
    assert "takes one FILE" in bad(64, "validate", "--repair", str(out), "a", "b")[1]


def without(module, *arguments, stdin=b""):
    """Run a command where a library is not installed."""
    script = (
        f"import sys; sys.modules['{module}'] = None; from typedbytes.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run([*COMMAND[:-2], "-c", script, *arguments], input=stdin, capture_output=True)


NEEDS_CRAMJAM = (
    "{}: org.apache.hadoop.io.compress.SnappyCodec needs the library cramjam: pip install 'typedbytes[snappy]'"
)


def test_a_library_that_is_missing(file):
    path = file(written(compression="block", codec="snappy"))
    done = without("cramjam", "cat", path)
    assert (done.returncode, done.stderr.decode()) == (69, f"typedbytes cat: {NEEDS_CRAMJAM.format(path)}\n")
    done = without("cramjam", "sniff", path, "-", stdin=STREAM)
    assert (done.returncode, done.stderr) == (0, b"")
    first, second = rows(done.stdout)
    assert (first["format"], first["fault"]) == ("sequencefile", NEEDS_CRAMJAM.format(path)[len(path) + 2 :])
    assert second["format"] == "typedbytes"


def test_a_library_that_is_missing_for_writing(tmp_path):
    out = str(tmp_path / "out")
    done = without("cramjam", "loadtb", "--codec", "snappy", out, stdin=STREAM)
    assert (done.returncode, done.stderr.decode()) == (69, f"typedbytes loadtb: {NEEDS_CRAMJAM.format(out)}\n")
    done = without("cramjam", "convert", "--pairs", "--to", "sequencefile", "--codec", "snappy", stdin=STREAM)
    message = f"typedbytes convert: {NEEDS_CRAMJAM.format('standard output')}\n"
    assert (done.returncode, done.stderr.decode()) == (69, message)
    done = without("fsspec", "loadtb", "memory://out", stdin=STREAM)
    assert done.returncode == 69 and b"a URL needs the library fsspec" in done.stderr


@pytest.mark.parametrize("command", [["cat"], ["convert"], ["grep", "key"]], ids=lambda command: command[0])
def test_a_sequence_file_that_cannot_be_written(command):
    arguments = [*command, "--pairs", "--to", "sequencefile"]
    assert bad(74, *arguments, "-o", "/dev/full", stdin=STREAM * 20) == (b"", "/dev/full: No space left on device")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *arguments], input=STREAM * 20, stdout=full, stderr=subprocess.PIPE)
    message = f"typedbytes {command[0]}: standard output: No space left on device\n"
    assert (done.returncode, done.stderr.decode()) == (74, message)
    source, sink = os.pipe()
    os.close(source)
    done = subprocess.run([*COMMAND, *arguments], input=STREAM * 20, stdout=sink, stderr=subprocess.PIPE)
    os.close(sink)
    assert (done.returncode, done.stderr) == (141, b"")


def test_repair_in_place(file):
    pairs = [(number, "x" * 1000 if number != 50 else "\udcff") for number in range(2000)]
    path = file(written(pairs, compression="none"))
    assert bad(65, "validate", "--repair", path, path)[1].startswith(f"{path}: skipped")
    assert good("cat", path) == tb.Encoder().encode_pairs(pairs[:50] + pairs[51:])


@pytest.mark.uncounted("the limit on files would cut those of the counters")
def test_repair_that_cannot_write_leaves_what_was_there(file, tmp_path):
    out = file(b"before", "out.seq")
    limit = {
        "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        "env": {**os.environ, **NO_BYTECODE},
    }
    assert bad(74, "validate", "--repair", out, "-", stdin=SEQUENCE, **limit)[1] == f"{out}: File too large"
    with open(out, "rb") as kept:
        assert kept.read() == b"before" and os.listdir(tmp_path) == ["out.seq"]


def test_repair_keeps_what_the_dialect_allows(file, tmp_path):
    data, out = written([("key", None)] * 3, dialect="hive"), tmp_path / "out.seq"
    assert rows(good("validate", "--dialect", "hive", "--repair", str(out), file(data)))[0]["records"] == 3
    assert good("cat", "--dialect", "hive", str(out)) == good("cat", "--dialect", "hive", stdin=data) != b""


@pytest.mark.parametrize("compression", ["none", "record", "block"])
def test_repair_says_where_a_record_is_wrong(compression, tmp_path):
    sink = io.BytesIO()
    with sequencefile.Writer(
        sink, key_class="Text", value_class="Text", compression=compression, sync_marker=MARKER
    ) as writer:
        offsets = []
        for number in range(5):
            if compression == "block":
                writer.sync()
            offsets.append(writer.offset)
            writer.write_raw(b"\x01k", b"\x02a\xff" if number in (1, 3) else b"\x02ok")
    done = run("validate", "--repair", str(tmp_path / "out"), stdin=sink.getvalue())
    message = "typedbytes validate: standard input: skipped 5 bytes, 1 records: Text is not UTF-8"
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 65 and len(lines) == 2
    for line, number in zip(lines, (1, 3)):
        assert line.startswith(message)
        assert line.endswith(f"byte 0 of the value at offset {offsets[number]}, record {number}")


@pytest.mark.parametrize("compression", ["none", "record", "block"])
def test_validate_goes_on_in_a_sequence_file(compression, file):
    wrong = (70, 700, 701, 1400)
    sink = io.BytesIO()
    with sequencefile.Writer(
        sink, key_class="Text", value_class="Text", compression=compression, block_size=500
    ) as writer:
        for number in range(1500):
            writer.write_raw(b"\x01k", b"\x02a\xff" if number in wrong else b"\x02ok")
    data = sink.getvalue()
    found = []
    for path in (file(data), "-"):
        done = run("validate", path, stdin=data)
        (row,) = rows(done.stdout)
        assert done.returncode == 65 and done.stderr.count(b"\n") == 1 and b"record 70\n" in done.stderr
        assert (row["ok"], row["records"], row["bad"], row["bytes"]) == (False, 1496, 4, len(data))
        assert [fault["record"] for fault in row["faults"]] == list(wrong)
        found.append(row["faults"])
    assert found[0] == found[1]
    for fault in found[0]:
        window = bytes.fromhex(fault["window"])
        assert data[fault["window offset"] :].startswith(window)
        assert fault["window offset"] <= fault["offset"] < fault["window offset"] + len(window)
        assert compression != "none" or data[fault["offset"] :].startswith(b"\x02a\xff")
    (row,) = rows(run("validate", "-n", "1", stdin=data).stdout)
    assert len(row["faults"]) == 1 and row["bad"] == 4


def test_validate_goes_on_after_damage():
    data, pairs = damaged()
    (row,) = rows(bad(65, "validate", stdin=data)[0])
    assert row["records"] == len(pairs) - 1 and row["bad"] == 3 and len(row["faults"]) == 3
