"""Small files that one map task reads together: what comes out is what a task for each gives."""

import gzip
import json

import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support.commands import good
from support.local_jobs import WORD_COUNT, pairs_of, run, write_script
from typedbytes import local, sequencefile
from typedbytes.jobs.tasks import inputs
from typedbytes.jobs.tasks.inputs import Split


@given(
    st.lists(st.tuples(st.sampled_from(["text", "pairs"]), st.integers(0, 50))),
    st.integers(1, 100),
)
def test_each_split_is_in_one_group_in_order(shapes, split_size):
    splits = [Split(f"/{number}", kind, 0, length) for number, (kind, length) in enumerate(shapes)]
    found = [[first, *first.others] for first in inputs._combined(splits, split_size)]
    assert sorted((each.path for group in found for each in group), key=lambda path: int(path[1:])) == [
        each.path for each in splits
    ]
    for group in found:
        assert len({each.kind for each in group}) == 1
        assert len(group) == 1 or group[0].nbytes <= split_size
        assert [int(each.path[1:]) for each in group] == sorted(int(each.path[1:]) for each in group)
    for kind in ("text", "pairs"):
        sizes = [group[0].nbytes for group in found if group[0].kind == kind]
        firsts = [group[0].length for group in found if group[0].kind == kind]
        assert all(size + first > split_size for size, first in zip(sizes, firsts[1:]))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"a{number} b\nc a{number}")  # without the end of a line
        (folder / f"{number}.txt.gz").write_bytes(gzip.compress(b"zipped b\n" * number))
        with tb.PairWriter(folder / f"{number}.tb") as writer:
            writer.write(number, "typed b")
        with sequencefile.Writer(folder / f"{number}.seq") as writer:
            writer.write(number, "sequence b")
    return folder


def test_a_job_gives_what_it_gives_with_a_task_for_each_file(folder, tmp_path):
    script = write_script(tmp_path, WORD_COUNT)
    counters = [
        run(script, folder, tmp_path / f"out{combines}", combine_files=combines).counters for combines in (False, True)
    ]
    assert dict(pairs_of(tmp_path / "outTrue")) == dict(pairs_of(tmp_path / "outFalse"))
    records = [counted["org.apache.hadoop.mapreduce.TaskCounter"]["MAP_INPUT_RECORDS"] for counted in counters]
    assert records == [6 * 2 + 15 + 12] * 2


def test_tasks_are_of_a_format_and_no_larger_than_a_split(folder, tmp_path):
    options = {"quiet": True, "combine_files": True}
    assert local.run("cat", inputs=folder, output=tmp_path / "out", **options).nmaps == 3
    job = {"inputs": str(folder / "*.tb"), "output": tmp_path / "pairs", "split_size": 40}  # of 17 bytes each
    assert local.run("cat", **job, **options).nmaps == 3


def test_lines_of_a_command_end_with_their_file(folder, tmp_path):
    for words in ([], ["--combine-files"]):
        output = tmp_path / f"out{len(words)}"
        good("run", "-q", "--mapper", "cat", *words, str(folder / "*.txt"), "-o", str(output))
        lines = "".join(part.read_text() for part in output.glob("part-*")).splitlines()
        assert sorted(lines) == sorted(f"{each}\t" for n in range(6) for each in (f"a{n} b", f"c a{n}"))


def test_rows_are_parsed_by_the_names_of_their_own_file(tmp_path):
    for number, names in enumerate(("a,b", "b,c")):
        (tmp_path / f"{number}.csv").write_text(f"{names}\n1,2\n")
        (tmp_path / f"{number}.json").write_text(json.dumps({names: number}))
    job = {"inputs": str(tmp_path / "?.*"), "input_format": "*.csv=csv,json", "quiet": True, "combine_files": True}
    assert local.run(rows, output=tmp_path / "out", **job).nmaps == 2
    rows_found = [{"a": "1", "b": "2"}, {"a,b": 0}, {"b": "1", "c": "2"}, {"b,c": 1}]
    assert sorted(map(str, (row for row, _ in pairs_of(tmp_path / "out")))) == sorted(map(str, rows_found))


def rows(offset, row):
    yield row, offset


def test_a_file_that_cannot_be_read_is_named(folder, tmp_path):
    (folder / "3.tb").write_bytes(b"\x07\x00\x00")
    with pytest.raises(local.JobError, match=r"0\.tb and 5 more\) failed: .*/3\.tb: bad input: .*validate"):
        local.run("cat", inputs=folder, output=tmp_path / "out", quiet=True, combine_files=True)


def test_a_task_of_several_files_has_no_input_file(folder, tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes import streaming

        def mapper(key, value):
            yield streaming.task().input_file, 1

        streaming.run(mapper)
        """,
    )
    run(script, str(folder / "*.txt"), tmp_path / "out", combine_files=True)
    assert {key for key, _ in pairs_of(tmp_path / "out")} == {None}
