"""RCFiles by the command: named, their rows as values, and as tables by a schema.

Not here: the format. Invariant: the files are Hive's own, and the rows those that Hive reads.
"""

import io
import json
import os

import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import typedbytes as tb
from support import rcfiles
from support.commands import bad, good, run
from support.vectors import read_jsonl
from typedbytes import columns

SOME = ["groups/text", "none/text", "gzip/text/old", "wider schema"]
FILES = {each["name"]: each for each in read_jsonl("sequencefile/rcfiles.jsonl")}
SCHEMA = "id: long, name: string, x: double"


@pytest.fixture
def rcfile(file):
    return lambda name: file(bytes.fromhex(FILES[name]["hex"]))


@pytest.fixture
def warehouse(tmp_path):
    """A folder of RCFiles, as a table of Hive is one."""
    folder = tmp_path / "warehouse"
    folder.mkdir()
    for number, name in enumerate(SOME):
        (folder / f"00000{number}_0").write_bytes(bytes.fromhex(FILES[name]["hex"]))
    (folder / "_SUCCESS").touch()
    return folder


def table_of(path):
    return pyarrow.dataset.dataset(path).to_table()


def rows(name):
    return eval(FILES[name]["rows"], {"__builtins__": {}}, {})


def test_sniff_shows_the_header(rcfile):
    for name, version in (("gzip/text", 1), ("gzip/text/old", 0)):
        (row,) = map(json.loads, good("sniff", rcfile(name)).splitlines())
        assert (row["format"], row["holds"], row["version"], row["columns"]) == ("rcfile", "rows", version, 3)
        assert row["codec"] == "org.apache.hadoop.io.compress.GzipCodec"
        assert row["metadata"] == {"hive.io.rcfile.column.number": "3", "made by": "Hive"}


@pytest.mark.parametrize("name", ["groups/text", "none/text/old"])
def test_rows_are_vectors_of_text(name, rcfile):
    expected = [tuple(None if cell is None else str(cell) for cell in row) for row in rows(name)]
    assert list(tb.Reader(good("cat", rcfile(name)))) == expected
    assert list(tb.Reader(good("head", "-n", "7", rcfile(name)))) == expected[:7]
    assert int(good("count", rcfile(name))) == len(expected)


@pytest.mark.parametrize("name", ["groups/text", "groups/binary", "snappy/text/old", "empty"])
def test_a_schema_gives_parquet_its_columns(name, rcfile, tmp_path):
    out = tmp_path / "rows.parquet"
    good("convert", "--schema", SCHEMA, "--serde", FILES[name]["serde"], "-o", str(out), rcfile(name))
    table = pyarrow.parquet.read_table(out)
    assert [str(field.type) for field in table.schema] == ["int64", "string", "double"]
    assert [list(row.values()) for row in table.to_pylist()] == rows(name)


def test_chosen_columns_and_fields_are_written(rcfile, tmp_path):
    out = tmp_path / "rows.csv"
    how = ("--schema", "ints: list<int>, counts: map<string, long>, pair: row<a: int, b: string>")
    good("convert", *how, "--columns", "pair.b,pair.a", "-o", str(out), rcfile("nested/text"))
    assert out.read_text("utf-8").splitlines()[:2] == ['"pair.b","pair.a"', '"seven",7']


def test_rows_become_json_with_the_names_of_their_columns(rcfile):
    data = good("convert", "--schema", SCHEMA, "--structs", "map", "--to", "typedbytes", rcfile("default/text"))
    assert next(iter(tb.Reader(io.BytesIO(data)))) == {"id": 0, "x": 0.0}


@pytest.mark.parametrize(
    "schema, message",
    [
        ("id", "column 'id': expected a colon after the name, and then a type"),
        ("id: long, ti tinyint", "column 'ti': expected a colon after the name, and then a type"),
        ("id: long, ti: tinyint", "column 'ti': 'tinyint' is not a column type: it is byte here"),
        ("v: VARCHAR(20), n: int", "column 'v': 'VARCHAR' is not a column type: it is string here"),
        ("d: decimal(20,4)", "column 'd': 'decimal' is not a column type: it is decimal<precision, scale> here"),
        ("t: timestamp", "column 't': 'timestamp' is not a column type: it is timestamp<us> here"),
        ("a: list<smallint>", "column 'a': 'smallint' is not a column type: it is short here"),
        ("a: INT", "column 'a': 'INT' is not a column type: it is int here"),
        ("a: int b: int", "column 'a': expected a comma, or the end, after int"),
        ("a: int> b: int", "column 'a': expected a comma, or the end, after int"),
        ("a: int, a: int", "two columns 'a'"),
        ("a: int, ", "expected the name of a column, found the end"),
        ("1: int", "expected the name of a column, found 1"),
        ("a: number", "column 'a': 'number' is not a column type: byte, "),
    ],
)
def test_a_schema_that_is_none_is_refused_with_the_wrong_word(schema, message):
    assert f"--schema: {message}" in bad(64, "convert", "--schema", schema, "--to", "arrow", "-")[1]


@pytest.mark.parametrize("words", ["one.parquet", "folder/", "rows.tb --to typedbytes --dialect hive"])
def test_cells_of_hives_default_serialization_name_the_option(words, rcfile, tmp_path):
    """They were nulls."""
    out, *words = words.split()
    path = rcfile("default/binary")
    words = ("convert", "--to", "parquet", *words, "--schema", SCHEMA, path, "-o", f"{tmp_path}/{out}")
    message = "the cells of column 'id' are binary, not text (Hive's default is --serde binary) at offset"
    assert message in bad(65, *words)[1]
    assert [*tmp_path.glob("*.unfinished"), *tmp_path.glob(out)] == []
    good(*words, "--serde", "binary")


def test_text_that_is_not_utf8_names_the_option(file):
    path = file(rcfiles.header(1) + rcfiles.group([[b"\xbf"]]))
    assert "not UTF-8" in (message := bad(65, "convert", "--to", "csv", path)[1])
    assert "(Hive's default is --serde binary; --encoding latin-1, or another name, reads other text)" in message


def test_a_repair_goes_on_after_damage_and_reports_all_of_the_loss(file, tmp_path):
    cells = [b"row %d" % number for number in range(300)]
    group = rcfiles.group([cells])
    damaged = group[:60] + bytes(3) + group[63:]
    data = rcfiles.header(1) + group + damaged + group + damaged + group
    path, out = file(data), tmp_path / "rows.tb"
    done = run("validate", "--repair", str(out), path)
    row = json.loads(done.stdout)
    nlost = 2 * (len(group) - 4 - len(rcfiles.MARKER))
    assert done.returncode == 65
    assert (row["ok"], row["records"], row["bad"], row["lost bytes"]) == (False, 900, 2, nlost)
    assert row["bytes"] == len(data)
    assert list(tb.Reader(out.read_bytes())) == 3 * [(cell.decode(),) for cell in cells]
    start = data.index(damaged) + 4 + len(rcfiles.MARKER)
    assert [each["offset"] for each in row["faults"]] == [start, data.rindex(damaged) + 4 + len(rcfiles.MARKER)]
    first = row["faults"][0]
    assert bytes.fromhex(first["window"]) == data[first["window offset"] : start + 32]
    done = run("validate", path)
    assert done.returncode == 65 and json.loads(done.stdout)["bad"] == 2
    assert json.loads(good("validate", file(rcfiles.header(1) + group)))["ok"] is True


def test_rcfiles_of_several_widths_need_a_schema_for_one_file(warehouse, tmp_path):
    (warehouse / "000003_0").rename(warehouse / "0")  # the narrow one first
    for name in ("rows.csv", "rows.parquet"):
        message = bad(65, "convert", str(warehouse), "-o", f"{tmp_path}/{name}")[1]
        assert message == (
            f"{warehouse}/000000_0: the columns are 0, 1, 2, and those of {warehouse}/0 0, 1 "
            "(--schema gives all RCFiles the same columns)"
        )
        good("convert", "--schema", SCHEMA, str(warehouse), "-o", f"{tmp_path}/{name}")


def test_an_rcfile_may_be_named_as_one(rcfile, tmp_path):
    good("convert", "--from", "rcfile", "--schema", SCHEMA, rcfile("none/text"), "-o", f"{tmp_path}/rows.parquet")
    assert [list(row.values()) for row in table_of(tmp_path / "rows.parquet").to_pylist()] == rows("none/text")
    assert "looks like text" in bad(65, "convert", "--from", "rcfile", "--to", "csv", __file__)[1]


# -- folders ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["300", "128M"])
def test_a_folder_of_rcfiles_becomes_one_of_tables(size, warehouse, tmp_path):
    out = tmp_path / "tables"
    how = ("--to", "parquet", "--schema", SCHEMA, "--split-size", size)
    good("convert", *how, "-o", str(out), str(warehouse))
    table = table_of(out)
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("id", "int64"), ("name", "string"), ("x", "double"),
    ]  # fmt: skip
    whole = [row for name in SOME for row in rows(name)]
    assert [list(row.values()) for row in table.to_pylist()] == whole
    good("convert", *how, "--columns", "x,name", "-o", f"{tmp_path}/some", str(warehouse))
    found = [list(row.values()) for row in table_of(tmp_path / "some").to_pylist()]
    assert found == [[x, name] for _, name, x in whole]


@pytest.mark.parametrize("words", [(), ("--widen",)])
def test_without_a_schema_tables_have_the_columns_of_the_widest_file(words, warehouse, tmp_path):
    (warehouse / "000003_0").rename(warehouse / "0")  # the narrow one first
    good("convert", *words, "--to", "parquet", "-o", f"{tmp_path}/tables", str(warehouse))
    found = table_of(tmp_path / "tables").to_pylist()
    assert list(found[0]) == ["0", "1", "2"] and len(found) == sum(len(rows(name)) for name in SOME)
    good("convert", "--widen", "-o", f"{tmp_path}/one.parquet", str(warehouse))
    assert pyarrow.parquet.read_table(tmp_path / "one.parquet").to_pylist() == found


def test_a_conversion_of_rcfiles_goes_on_with_the_same_columns_only(warehouse, tmp_path):
    last = warehouse / "000002_0"
    whole, stamp = last.read_bytes(), last.stat().st_mtime_ns

    def set_last(data):
        last.write_bytes(data)
        os.utime(last, ns=(stamp, stamp))

    words = ("convert", "--to", "parquet", "--columns", "id", "-o", f"{tmp_path}/tables", str(warehouse))
    set_last(whole[:-150] + bytes(150))
    done = run(*words, "--schema", SCHEMA)
    assert done.returncode == 65 and b"000002_0: " in done.stderr
    set_last(whole)
    other = "name: string, id: long, x: double"  # another column, with the same name and type
    assert "with other inputs or options" in bad(64, *words, "--schema", other)[1]
    done = run(*words, "--schema", SCHEMA)
    assert done.returncode == 0 and b" of 4 files are in " in done.stderr
    assert table_of(tmp_path / "tables").to_pylist() == [{"id": row[0]} for name in SOME for row in rows(name)]


@pytest.mark.parametrize(
    "words, message",
    [
        (["--columns", "nope"], "no column 'nope'"),
        (["--schema", "id: raw"], "no column of this type: raw"),
        (["--type", "builtins:int"], "--type is not for RCFiles"),
    ],
)
def test_what_the_columns_of_a_folder_cannot_be_is_refused(words, message, warehouse, tmp_path):
    assert message in bad(64, "convert", "--to", "parquet", *words, "-o", f"{tmp_path}/tables", str(warehouse))[1]


def test_a_column_that_is_not_there_is_refused(rcfile):
    assert "no column 'nope'" in bad(64, "convert", "--columns", "nope", "--to", "arrow", rcfile("none/text"))[1]


def test_rcfiles_and_other_files_are_not_one_table(warehouse, tmp_path):
    (warehouse / "other").write_bytes(tb.dumps(1))
    words = ("convert", "--to", "parquet", "-o", f"{tmp_path}/tables", str(warehouse))
    assert "RCFiles and other inputs cannot be written to one table" in bad(64, *words)[1]


@pytest.mark.parametrize("out", ["rows.csv", "rows.json", "folder/"])
def test_columns_that_only_folders_have_are_named(out, tmp_path):
    for ti, b in ((1, "true"), (2, "false")):
        folder = tmp_path / "table" / f"ti={ti}" / f"b={b}"
        folder.mkdir(parents=True)
        (folder / "000000_0").write_bytes(bytes.fromhex(FILES["none/text"]["hex"]))
    to = () if "." in out else ("--to", "parquet")
    words = ("convert", *to, "--dialect", "hive", "--recursive", str(tmp_path / "table"), "-o", f"{tmp_path}/{out}")
    done = run(*words)
    assert done.returncode == 0
    message = b"note: the columns ti, b are in the names of folders alone, and not in the output\n"
    assert done.stderr == b"typedbytes convert: " + message
    done = run("convert", "--to", "csv", str(folder.parent / "b=false"))
    assert done.stderr == b"typedbytes convert: " + message
    with_one = tmp_path / "ti=3"
    with_one.mkdir()
    (with_one / "a").write_bytes(tb.dumps(1))
    done = run("convert", "--to", "json", str(with_one / "a"))
    assert b"the column ti is in the names" in done.stderr


def test_files_without_bytes_among_rcfiles(warehouse, tmp_path):
    convert = "convert", "--to", "parquet", str(warehouse), "-o"
    good(*convert, f"{tmp_path}/alone/")
    for name in ("000000_", "000001_0x"):
        (warehouse / name).touch()
    good(*convert, f"{tmp_path}/table/")
    assert table_of(tmp_path / "table") == table_of(tmp_path / "alone")
    some = [str(warehouse / name) for name in ("000000_", "000000_0", "000001_0x", "000001_0")]
    assert pyarrow.table(columns.read(some)) == pyarrow.table(columns.read(some[1::2]))


@pytest.mark.parametrize("name", [name for name, each in FILES.items() if each["serde"] == "binary"])
def test_cells_of_hives_default_serialization_are_valid(name, rcfile, tmp_path):
    """They were called text that is not UTF-8, and a repair left their rows out."""
    path, out = rcfile(name), str(tmp_path / "rows.tb")
    expected = [tuple(each.values()) for each in pyarrow.table(columns.read(path, serde="binary")).to_pylist()]
    for words in ([], ["--serde", "binary"]):
        (row,) = map(json.loads, good("validate", *words, "--repair", out, path).splitlines())
        assert (row["ok"], row["records"], row["lost bytes"]) == (True, len(expected), 0)
    with open(out, "rb") as file:
        assert list(tb.Reader(file)) == expected


def test_the_serialization_of_cells_is_for_rcfiles(file):
    message = bad(64, "validate", "--serde", "binary", path := file(tb.dumps(1)))[1]
    assert message == f"{path}: --serde is for rcfile, and this is typedbytes"
