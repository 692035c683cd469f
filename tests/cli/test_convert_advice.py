"""What convert says of options that do not apply, and of data that it cannot write: each advice leads to an output.

Not here: formats of outputs. Invariant: no option that was given is ignored in silence.
"""

import os
import re
import shlex
import subprocess

import pyarrow
import pyarrow.parquet
import pytest

import typedbytes as tb
from support import rcfiles
from support.commands import PAIR_STREAM, bad, good, run
from support.vectors import read_jsonl
from typedbytes import sequencefile

RCFILES = {each["name"]: bytes.fromhex(each["hex"]) for each in read_jsonl("sequencefile/rcfiles.jsonl")}
LATIN = "caf\u00e9".encode("latin-1")
TB_LATIN = b"".join(tb.dumps(number) + b"\7\0\0\0\4" + LATIN for number in range(3))
ROWS = [{"key": number, "value": "caf\u00e9"} for number in range(3)]


@pytest.fixture
def latin(tmp_path):
    """A SequenceFile of Texts in Latin-1."""
    with sequencefile.Writer(tmp_path / "lat.seq", key_class="IntWritable", value_class="Text") as writer:
        for number in range(3):
            writer.write_raw(number.to_bytes(4, "big"), b"\4" + LATIN)
    return str(tmp_path / "lat.seq")


def rows_of(out):
    return pyarrow.parquet.read_table(out).to_pylist()


@pytest.mark.parametrize("words", [[], ["--widen"]])
@pytest.mark.parametrize("out", ["one.parquet", "folder/"])
def test_text_in_another_encoding_names_the_option(words, out, latin, tmp_path):
    """A repair was advised, which left no record."""
    convert = ["convert", *words, "--to", "parquet", latin, "-o", f"{tmp_path}/{out}"]
    said = run(*convert).stderr.decode()
    assert "not UTF-8" in said and " (--encoding latin-1, or another name, reads other text)" in said
    assert "--repair" not in said
    good(*convert, "--encoding", "latin-1")
    assert rows_of(tmp_path / out) == ROWS


def test_a_type_has_no_encoding(latin, tmp_path):
    convert = ["convert", "--to", "parquet", "--key-type", "builtins:int", "--type", "builtins:str", latin]
    for out in ("a.parquet", "a/"):
        said = run(*convert, "-o", f"{tmp_path}/{out}").stderr.decode()
        assert "not UTF-8" in said and "--encoding" not in said and "--repair" not in said


def test_messages_of_text_in_another_encoding_name_the_command(latin):
    """An option was named that convert does not have."""
    option = "typedbytes cat --to block --unicode-errors surrogateescape"
    assert f" ({option} accepts it) at offset" in bad(65, "convert", "--to", "block", latin)[1]
    good(*option.split()[1:], latin)


def test_the_text_of_typed_bytes_and_of_rcfiles_has_the_encoding(file, tmp_path):
    good("convert", "--pairs", "--encoding", "latin-1", file(TB_LATIN), "-o", f"{tmp_path}/a.parquet")
    assert rows_of(tmp_path / "a.parquet") == ROWS
    path = file(rcfiles.header(1) + rcfiles.group([[LATIN]]))
    assert "(Hive's default is --serde binary; --encoding latin-1, or" in bad(65, "convert", "--to", "csv", path)[1]
    said = bad(65, "convert", "--to", "json", path)[1]
    assert "--serde binary)" in said and "--encoding" not in said
    for out in ("b.parquet", "b/"):
        good("convert", "--to", "parquet", "--encoding", "latin-1", path, "-o", f"{tmp_path}/{out}")
        assert rows_of(tmp_path / out) == [{"0": "caf\u00e9"}]


@pytest.mark.parametrize(
    "words, message",
    [
        ("--encoding latin-1 p.tb --to json", "--encoding is for arrow, parquet, csv, tsv, not for json"),
        ("--encoding latin-1 c.csv --to arrow", "c.csv: --encoding is for typedbytes, sequencefile, rcfile, and "
         "this is csv"),
        ("--encoding latin-1 j.jsonl --to csv", "j.jsonl: --encoding is for typedbytes, sequencefile, rcfile, and this "
         "is json"),
        ("--encoding latin-1 --type builtins:int p.tb --to arrow",
         "--encoding cannot be used with --type, which says what values are"),
        ("--encoding rot13 p.tb --to arrow", "argument --encoding: 'rot13' is not an encoding of text"),
        ("--encoding latin-9x p.tb --to arrow", "argument --encoding: unknown encoding: latin-9x"),
        ("--serde binary c.csv -o x.csv", "c.csv: --schema and --serde are for rcfile, and this is csv"),
        ("--serde text p.tb --to json", "p.tb: --schema and --serde are for rcfile, and this is typedbytes"),
        ("--structs map --pairs p.tb --to json", "p.tb: --structs is for arrow, parquet, arrow-file, rcfile, csv, tsv, "
         "and this is typedbytes"),
        ("--schema a:int p.tb --to parquet -o folder/", "p.tb: --schema and --serde are for rcfile, and this is "
         "typedbytes"),
        ("--codec gzip c.csv -o x.csv", "--codec is for sequencefile and parquet, not for csv: -o x.csv.gz is "
         "compressed by its name"),
        ("--codec gzip c.csv --to json", "--codec is for sequencefile and parquet, not for json: -o OUT.gz is "
         "compressed by its name"),
        ("--codec gzip --pairs p.tb --to csv -o folder/", "--codec is for sequencefile and parquet, not for csv"),
        ("--codec zstd c.csv -o x.csv.zst", "--codec is for sequencefile and parquet, not for csv: -o x.csv.zst is "
         "compressed by its name"),
        ("--codec gzip c.csv --to csv -o -", "--codec is for sequencefile and parquet, not for csv: -o OUT.gz is "
         "compressed by its name"),
        ("--compression record c.csv -o x.parquet", "--compression is for sequencefile, not for parquet"),
        ("--compression record c.csv -o x.csv", "--compression is for sequencefile, not for csv"),
        ("--compression record --pairs p.tb -o x.seq", "--compression needs a --codec, such as gzip"),
    ],
)  # fmt: skip
def test_an_option_that_does_not_apply_is_refused(words, message, tmp_path, monkeypatch):
    """Each was ignored."""
    (tmp_path / "p.tb").write_bytes(PAIR_STREAM)
    (tmp_path / "c.csv").write_text("a,b\n1,2\n")
    (tmp_path / "j.jsonl").write_text('"caf\u00e9"\n', "utf-8")
    names = [f"{tmp_path}/{word}" if re.match(r"\w+(\.\w+|/)$", word) else word for word in words.split()]
    said = bad(64, "convert", *names)[1].replace(f"{tmp_path}/", "")
    assert said.removesuffix(" (see typedbytes convert --help)") == message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.csv", "j.jsonl", "p.tb"]


def test_an_option_applies_to_the_inputs_that_have_it(file, tmp_path):
    """What has it is found among several, whose names need not say what they are."""
    rows, path = file(b"a,b\nx,y\n", "c.csv"), file(rcfiles.header(2) + rcfiles.group([[LATIN], [b"b"]]), "r.rc")
    for inputs in ([rows, path], [path, rows]):
        good("convert", "--schema", "a: string, b: string", "--encoding", "latin-1", *inputs, "-o", f"{tmp_path}/o.csv")
        lines = (tmp_path / "o.csv").read_text("utf-8").splitlines()
        assert sorted(lines[1:]) == ['"caf\u00e9","b"', '"x","y"']
    said = bad(64, "convert", "--serde", "text", rows, rows, "--to", "csv")[1]
    assert "c.csv: --schema and --serde are for rcfile" in said


def test_options_that_change_nothing_are_no_mistake(file, tmp_path):
    good("convert", "--codec", "none", "--pairs", file(PAIR_STREAM), "-o", f"{tmp_path}/a.jsonl")
    good("convert", "--serde", "text", file(RCFILES["none/text"]), file(b"", "empty"), "-o", f"{tmp_path}/a.csv")


def damaged(path):
    """Write a SequenceFile of which a record has a wrong length."""
    with sequencefile.Writer(path, key_class="Text", value_class="IntWritable") as writer:
        writer.writes((f"key {number}", number) for number in range(3))
    data = path.read_bytes()
    start = len(data) - 18
    path.write_bytes(data[: start + 4] + b"\x7f" + data[start + 5 :])


@pytest.mark.parametrize("to", ["parquet", "json", "sequencefile", "typedbytes"])
def test_the_repair_of_an_input_is_in_every_message(to, tmp_path):
    """One file as output said nothing."""
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "part-00000"
    damaged(path)
    convert = ["convert", "--to", to, f"{tmp_path}/in", "-o", f"{tmp_path}/out.x"]
    said = bad(65, *convert)[1]
    repair = f"typedbytes validate --repair {path} {path}"
    assert said.startswith(f"{path}: ") and said.endswith(f" (copy it, then {repair} keeps only the intact records)")
    assert run(*shlex.split(repair)[1:]).returncode == 65
    good(*convert)


@pytest.mark.parametrize("words", [["--to", "json"], ["--to", "parquet"], ["--widen", "--to", "parquet"]])
def test_what_cannot_be_read_twice_has_no_repair(words, tmp_path, monkeypatch):
    """A pipe whose writer has ended was waited for; a copy that is gone was to be repaired, and a file of this name."""
    monkeypatch.chdir(tmp_path)
    damaged(tmp_path / "-")
    data = (tmp_path / "-").read_bytes()
    assert "--repair" not in bad(65, "convert", *words, "-o", "out", stdin=data)[1]
    os.mkfifo("pipe")
    with subprocess.Popen(["cp", "./-", "pipe"]) as writer:
        assert "--repair" not in bad(65, "convert", *words, "pipe", "-o", "out")[1]
    assert writer.returncode == 0


@pytest.mark.parametrize("to", ["parquet", "json"])
def test_a_limit_that_was_given_is_no_damage(to, latin):
    said = bad(65, "convert", "--max-bytes", "3", "--to", to, latin)[1]
    assert "max_bytes=3" in said and "--repair" not in said


@pytest.mark.parametrize("words", [["--to", "json"], ["--to", "csv"], ["--to", "csv", "--widen"]])
def test_joined_sequencefiles_are_cut_and_not_repaired(words, latin, tmp_path):
    """The repair that was advised left out all records after the first file."""
    with open(latin, "rb") as file:
        data = file.read()
    path = tmp_path / "merged.seq"
    path.write_bytes(data + data)
    said = bad(65, "convert", *words, *(["--encoding", "latin-1"] if "csv" in words else []), str(path))[1]
    assert "another SequenceFile starts here" in said and "--repair" not in said
    offset = int(re.search(r"at offset (\d+)", said)[1])
    cut = f"tail -c +$(({offset}+1)) {path} > {tmp_path}/second.seq"
    subprocess.run(["bash", "-c", cut], check=True)
    assert (tmp_path / "second.seq").read_bytes() == data


def test_offsets_are_those_of_the_file(latin, tmp_path):
    """They were those in a stream of typed bytes."""
    messages = [run("convert", "--to", "parquet", latin, "-o", f"{tmp_path}/{out}") for out in ("a.parquet", "a/")]
    one, folder = (re.search(r"at offset \d+, record \d+", done.stderr.decode())[0] for done in messages)
    assert one == folder
    with sequencefile.Writer(tmp_path / "m.seq") as writer:
        writer.writes([("a", 1), ("b", 1 << 40)])
    said = bad(65, "convert", "--to", "parquet", f"{tmp_path}/m.seq")[1]
    assert int(re.search(r"at offset (\d+)", said)[1]) > 80


def test_another_type_in_json_names_what_finds_one_for_all(file, tmp_path):
    """--widen was named, and refused."""
    path = file(b'{"a": 1, "b": "x"}\n{"a": 1099511627776, "b": "y"}\n', "j.jsonl")
    out = f"{tmp_path}/j.csv"
    said = bad(65, "convert", "--flatten", path, "-o", out)[1]
    assert "LONG in column 'value', which holds int (typedbytes from-json makes typed bytes, of which --widen" in said
    said = bad(64, "convert", "--flatten", "--widen", path, "-o", out)[1]
    assert said.endswith("this is json: leave out --widen, or make typed bytes by typedbytes from-json")
    good("from-json", path, "-o", f"{tmp_path}/j.tb")
    good("convert", "--flatten", "--widen", "--values", f"{tmp_path}/j.tb", "-o", out)


def test_rows_for_a_sequencefile_name_what_makes_pairs_of_them(file, tmp_path):
    """--pairs was named, which failed, or to be left out, where it was not given."""
    path, out = file(RCFILES["none/text"]), f"{tmp_path}/out.seq"
    way = "typedbytes convert --to arrow --columns KEY,VALUE FILE | typedbytes convert --pairs --from arrow -o OUT"
    assert way in bad(65, "loadtb", out, stdin=RCFILES["none/text"])[1]
    assert way in bad(65, "cat", "--pairs", path)[1]
    assert "or the two columns of a table" in bad(64, "convert", path, "-o", out)[1]
    said = bad(65, "convert", "--pairs", path, "-o", out)[1]
    assert "expected 2 columns, key and value, not 3" in said and way in said
    path = file(rcfiles.header(3) + rcfiles.group([[b"a"], [b"b"], [b"c"]]))
    two = good("convert", "--to", "arrow", "--columns", "2,0", path)
    good("convert", "--pairs", "--from", "arrow", "-o", out, stdin=two)
    assert list(sequencefile.read(out)) == [("c", "a")]


def test_blanks_around_the_names_of_columns(file):
    path = file(RCFILES["none/text"])
    for words in (["--columns", "1, 0"], ["--columns", " b , a ", "--schema", "a: string, b: string"]):
        head = good("convert", "--to", "csv", *words, path).split(b"\n")[0]
        assert head.replace(b'"', b"") in (b"1,0", b"b,a")
    rows = file(b"a, b\n1,2\n", "c.csv")
    assert good("convert", "--to", "csv", "--columns", " b,a", rows) == b'" b","a"\n2,1\n'
    nested = tb.dumps(("k", ("x", 1)))
    assert good("convert", "--to", "csv", "--values", "--columns", "value.0, value.1.1", stdin=nested).endswith(b"1\n")
