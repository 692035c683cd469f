"""Jobs on columns whose input is parsed, or whose output is lines: the same records as plain Python makes."""

import csv
import json

import pytest

from support.local_jobs import pairs_of, run, write_script
from typedbytes import local

pytest.importorskip("pyarrow")

VISITS = [
    {"user": f"u{i % 7}", "ms": i * 10**7 if i % 5 else i / 4, "at": None if i % 11 == 3 else i} for i in range(3000)
]
DOUBLE = """
    import pyarrow
    import pyarrow.compute as pc
    from typedbytes.streaming import run

    def mapper(batch):
        visits = pyarrow.record_batch(batch)["value"]
        user, ms = pc.struct_field(visits, "user"), pc.struct_field(visits, "ms")
        return pyarrow.table({"key": user, "value": pc.multiply(pc.cast(ms, pyarrow.float64()), 2.0)})

    run(mapper, batch=True)
"""
EXPECTED = sorted((visit["user"], visit["ms"] * 2.0) for visit in VISITS)


@pytest.fixture
def visits(tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(visit)}\n" for visit in VISITS))
    return tmp_path / "in.jsonl"


@pytest.mark.parametrize("output_format", ["sequencefile", "json", "csv", "text", "values", "parquet"])
def test_columns_of_json_become_rows_and_lines(tmp_path, visits, output_format):
    script = write_script(tmp_path, DOUBLE)
    result = run(script, visits, tmp_path / "out", input_format="json", output_format=output_format)
    assert result.records_in == result.records_out == len(VISITS)
    path = tmp_path / "out" / ("part-00000.parquet" if output_format == "parquet" else "part-00000")
    if output_format == "sequencefile":
        found = pairs_of(tmp_path / "out")
    elif output_format == "parquet":
        import pyarrow.parquet

        found = [(row["key"], row["value"]) for row in pyarrow.parquet.read_table(path).to_pylist()]
    elif output_format == "values":
        assert sorted(map(float, path.read_text().split())) == sorted(value for _, value in EXPECTED)
        return
    elif output_format == "text":
        found = [(line.split("\t")[0], float(line.split("\t")[1])) for line in path.read_text().splitlines()]
    else:
        with open(path, newline="") as file:
            rows = [*(map(json.loads, file) if output_format == "json" else csv.DictReader(file))]
        found = [(row["key"], float(row["value"])) for row in rows]
    assert sorted(found) == EXPECTED


def test_rows_have_the_columns_that_were_returned(tmp_path, visits):
    script = write_script(
        tmp_path, DOUBLE.replace('{"key": user, ', '{"user": user, "at": pc.struct_field(visits, "at"), ')
    )
    run(script, visits, tmp_path / "out", input_format="json", output_format="json")
    with open(tmp_path / "out" / "part-00000") as file:
        rows = [json.loads(line) for line in file]
    assert rows == [{"user": each["user"], "at": each["at"], "value": each["ms"] * 2.0} for each in VISITS]


def test_columns_go_into_the_folders_of_their_keys(tmp_path, visits):
    script = write_script(
        tmp_path, DOUBLE.replace('"key": user,', '"key": pyarrow.StructArray.from_arrays([user, ms], ["f", "k"]),')
    )
    options = {"input_format": "json", "output_format": "csv", "output_by_key": True}
    result = run(script, visits, tmp_path / "out", **options)
    assert result.records_out == len(VISITS)
    with open(tmp_path / "out" / "u3" / "part-00000", newline="") as file:
        found = [(float(row["key"]), float(row["value"])) for row in csv.DictReader(file)]
    assert found == [(float(each["ms"]), each["ms"] * 2.0) for each in VISITS if each["user"] == "u3"]


BATCH = "from typedbytes.streaming import run\nrun(lambda batch: batch, batch=True)\n"
MIXED = [
    [{"a": 1}, {"a": "x"}], [[1, "x"], [True, {"b": []}]], [True, 1], [1, 2**70],
    [{"x": 1, "y": 2}, {"x": 3}], [{"x": 1, "y": "a"}, {"x": {"z": [None, {}]}}],
]  # fmt: skip


@pytest.mark.parametrize("output_format", ["json", "csv"])
@pytest.mark.parametrize("values", MIXED, ids=str)
def test_values_of_json_are_written_as_they_were_read(tmp_path, values, output_format):
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(value)}\n" for value in values))
    script = write_script(tmp_path, BATCH)
    run(script, tmp_path / "in.jsonl", tmp_path / "out", input_format="json", output_format=output_format)
    with open(tmp_path / "out" / "part-00000", newline="") as file:
        if output_format == "json":
            found = [json.loads(line)["value"] for line in file]
        else:
            found = [json.loads(row["value"]) for row in csv.DictReader(file)]
    assert list(map(repr, found)) == list(map(repr, values))


def test_fields_of_any_type_are_written_beside_those_of_declared_types(tmp_path):
    lines = [{"n": 1, "on": "2026-05-01", "more": {"a": {"b": 1}}}, {"n": "x", "on": "2026-05-02", "more": {}}]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    script = write_script(
        tmp_path,
        """
        import datetime, typing
        from typedbytes.streaming import run

        class Line(typing.NamedTuple):
            n: typing.Any
            on: datetime.date
            more: typing.Dict[str, typing.Dict[str, int]]

        run(lambda batch: batch, batch=True, read_options={"key_type": int, "value_type": Line})
        """,
    )
    run(script, tmp_path / "in.jsonl", tmp_path / "out", input_format="json", output_format="json")
    with open(tmp_path / "out" / "part-00000") as file:
        assert [json.loads(line)["value"] for line in file] == lines


def test_a_column_of_parquet_has_one_type(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"a": 1}\n{"a": "x"}\n')
    script = write_script(tmp_path, BATCH)
    with pytest.raises(local.JobError, match="the values of the column 'value' are not of one type"):
        run(script, tmp_path / "in.jsonl", tmp_path / "out", input_format="json", output_format="parquet")


@pytest.mark.parametrize("input_format", ["json", "csv"])
def test_a_class_gives_the_types_of_columns(tmp_path, visits, input_format):
    if input_format == "csv":
        with open(visits, "w", newline="") as file:
            writer = csv.DictWriter(file, ["user", "ms", "at"])
            writer.writeheader()
            writer.writerows(VISITS)
    script = write_script(
        tmp_path,
        """
        import typing
        from typedbytes.streaming import run

        class Visit(typing.NamedTuple):
            user: str
            ms: float
            at: typing.Optional[int]

        def mapper(batch):
            assert batch.schema["value"] == "row<user: string, ms: double, at: long>", batch.schema
            yield "rows", len(batch)
            yield "ms", float(batch.column("value.ms").sum())
            yield "at", int(batch.column("value.at").sum())

        run(mapper, batch=True, read_options={"key_type": int, "value_type": Visit})
        """,
    )
    run(script, visits, tmp_path / "out", input_format=input_format)
    found = {}
    for key, value in pairs_of(tmp_path / "out"):
        found[key] = found.get(key, 0) + value
    assert found["rows"] == len(VISITS) and found["at"] == sum(visit["at"] or 0 for visit in VISITS)
    assert found["ms"] == pytest.approx(sum(visit["ms"] for visit in VISITS))


def test_a_line_that_is_not_json_is_bad_input(tmp_path):
    script = write_script(tmp_path, "from typedbytes.streaming import run\nrun(lambda batch: batch, batch=True)\n")
    (tmp_path / "in.jsonl").write_text('{"a": 1}\n{"a": oops}\n')
    with pytest.raises(local.JobError, match="its input is bad") as caught:
        run(script, tmp_path / "in.jsonl", tmp_path / "out", input_format="json")
    assert any("not a line of JSON that fits" in line and "record 1" in line for line in caught.value.tail)
