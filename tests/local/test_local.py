"""Jobs on this machine: what they read, what they write, and that they fail cleanly.

That they do the same as Hadoop's jobs is tested in test_beside_hadoop.py, faults at random moments in test_chaos.py.
"""

import bz2
import gzip
import io
import lzma
import os
import pathlib
import re
import stat
import subprocess
import sys

import pytest

import typedbytes as tb
from support import reference
from support.local_jobs import RUN, TASK_COUNTERS, WORD_COUNT, Longest, pairs_of, parts_of, run, upper, write_script
from support.streaming_support import environment
from typedbytes import local, sequencefile
from typedbytes._base.zstd import zstd
from typedbytes.jobs.tasks.inputs import Split, make_splits, open_split
from typedbytes.local import scheduler

pytestmark = pytest.mark.oldest_python

HAS_GROUPS = pytest.mark.skipif(sys.version_info < (3, 11), reason="ExceptionGroup came with Python 3.11")

# What is declared as text, and is not, and what is in front of it.
NO_TEXT = {
    "a.parquet": (b"PAR1\x15\x04" + b"a" * 9, "parquet"),
    "a.avro": (b"Obj\x01\x04\x14avro.codec", "avro"),
    "a.orc": (b"ORC\x82\x01", "orc"),
    "a.jar": (b"PK\x03\x04\x14", "zip"),
    "program": (b"\x7fELF\x02\x01", "program"),
    "pairs.bin": (tb.Encoder().encode_pairs([("a", 1)]), "binary data"),
    "pairs.tb.gz": (gzip.compress(tb.Encoder().encode_pairs([("a", 1)])), "binary data inside gzip"),
    "twice": (gzip.compress(gzip.compress(b"text\n")), "gzip inside gzip"),
    "late": (b"text\n" * 500 + b"\0", "binary data"),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_what_is_not_text_is_refused_as_text(name, tmp_path):
    data, found = NO_TEXT[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(
        local.InputError, match=f"{name}: cannot tell the format: {found}, .*input_format='pairs' .*input_format='text'"
    ):
        make_splits([str(tmp_path / name)])
    (split,) = make_splits([str(tmp_path / name)], "text")
    with open_split(split) as reader:
        reader.copy_to(io.BytesIO())
        assert reader.record > 0


STARTING_LIKE_BINARY = [
    b"ORCAS", b"ORC", "ORCHIDÉE\n".encode(), b"SEQUENCES", b"SEQ\tname\n", b"PAR1S of\n", b"ARROWS", b"ARROW1 a\n",
]  # fmt: skip


STARTING_LIKE_BINARY += [b"SEQ", b"\xef\xbb\xbfORC", b"a\x01b\x02c\n", b"\xff\xfe", b""]


@pytest.mark.parametrize("text", STARTING_LIKE_BINARY)
def test_text_that_starts_like_something_else_is_text(text, tmp_path):
    (tmp_path / "a").write_bytes(text)
    assert make_splits([str(tmp_path / "a")])[0].kind == "text"


@pytest.mark.parametrize("name", ["a.tb", "a"])
def test_a_sequence_file_is_known_whatever_its_name(name, tmp_path):
    with sequencefile.open(tmp_path / name, "w") as writer:
        writer.write("a", 1)
    assert make_splits([str(tmp_path / name)])[0].kind == "sequencefile"


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress, zstd.compress], ids=lambda function: function.__module__
)
def test_compressed_text_is_known_whatever_its_name(compress, tmp_path):
    (tmp_path / "a").write_bytes(compress(b"one\ntwo\n"))
    local.run("cat", inputs=tmp_path / "a", output=tmp_path / "out", split_size=3)
    assert pairs_of(tmp_path / "out") == [(0, "one"), (4, "two")]


def test_a_file_that_says_it_is_empty_is_read_to_its_end(tmp_path):
    path = f"/proc/{os.getpid()}/limits"
    lines = pathlib.Path(path).read_text().splitlines()
    assert os.path.getsize(path) == 0 and len(lines) > 10
    local.run("cat", inputs=path, output=tmp_path / "out", split_size=10)
    assert [line for _, line in pairs_of(tmp_path / "out")] == lines


def test_pairs_in_files_that_say_they_are_empty(tmp_path):
    pairs = [(f"key {number}", number) for number in range(1000)]
    for kind, writer in (("sequencefile", sequencefile.Writer), ("pairs", tb.PairWriter)):
        with writer(tmp_path / kind) as file:
            file.writes(pairs)
        sink = io.BytesIO()
        with open_split(Split(str(tmp_path / kind), kind, 0, 0)) as reader:
            reader.copy_to(sink)
        assert sink.getvalue() == tb.Encoder().encode_pairs(pairs)


# -- a job ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "nreducers"),
    [
        ({}, 1),
        ({"reducers": 7, "split_size": 5000}, 7),
        ({"reducers": 2, "combiner": False, "output_format": "pairs"}, 2),
        ({"reducers": 3, "combiner": False, "split_size": 9000, "codec": "zlib", "processes": 1, "memory": 1 << 20}, 3),
    ],
)
def test_words_are_counted_however_the_job_is_cut(words, tmp_path, options, nreducers):
    path, script, counts = words
    result = run(script, path, tmp_path / "out", **options)
    assert dict(pairs_of(tmp_path / "out")) == counts
    assert len(parts_of(tmp_path / "out")) == result.nreducers == nreducers
    for number, part in enumerate(parts_of(tmp_path / "out")):
        keys = [key for key, _ in part]
        assert keys == sorted(keys)
        assert {reference.partition(key, nreducers) for key in keys} <= {number}
    tasks = result.counters[TASK_COUNTERS]
    assert tasks["MAP_OUTPUT_RECORDS"] == sum(counts.values())
    assert tasks["REDUCE_OUTPUT_RECORDS"] == len(counts)
    assert tasks["MAP_INPUT_RECORDS"] == path.read_text("utf-8").count("\n")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py", "out"]
    assert (tmp_path / "out" / "_SUCCESS").read_bytes() == b""


def test_values_come_in_the_order_of_tasks_and_lines(tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes import streaming

        def mapper(offset, line):
            yield line[:1], offset

        def reducer(key, values):
            yield key, list(values)

        streaming.run(mapper, reducer)
        """,
    )
    (tmp_path / "in.txt").write_text("a1\nb2\n" * 3000)
    run(script, tmp_path / "in.txt", tmp_path / "out", split_size=6000, memory=8 << 20)
    assert pairs_of(tmp_path / "out") == [("a", list(range(0, 18000, 6))), ("b", list(range(3, 18000, 6)))]


def test_spills_and_combined_spills_change_nothing(words, tmp_path, monkeypatch):
    path, script, counts = words
    kept = []
    monkeypatch.setattr(scheduler, "MIN_MEMORY", 0)
    for number, options in enumerate([{}, {"codec": "zlib"}, {"combiner": False}, {"combiner": False, "codec": "lz4"}]):
        result = run(script, path, tmp_path / f"out{number}", memory=100_000, processes=1, reducers=2, **options)
        assert result.counters[TASK_COUNTERS]["SPILLED_RECORDS"] > len(counts)
        kept.append(parts_of(tmp_path / f"out{number}"))
    assert dict(pairs_of(tmp_path / "out0")) == counts
    assert kept[1:] == kept[:1] * 3


def test_a_script_is_asked_with_the_variables_of_its_tasks(words, tmp_path):
    path, _, counts = words
    write_script(tmp_path, WORD_COUNT.split("if __name__")[0], "of_the_job.py")
    (tmp_path / "scripts").mkdir()
    script = write_script(tmp_path / "scripts", "from of_the_job import *\nstreaming.run(mapper, reducer)")
    run(script, path, tmp_path / "out", environ={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])})
    assert dict(pairs_of(tmp_path / "out")) == counts


def test_functions_and_classes_are_jobs(tmp_path):
    (tmp_path / "in.txt").write_text("b\na\nb\n")
    local.run(upper, Longest, inputs=tmp_path / "in.txt", output=tmp_path / "out", quiet=True)
    assert pairs_of(tmp_path / "out") == [("A", 2), ("B", 4), ("keys", 2)]


def test_a_function_that_cannot_be_found_again_is_refused(tmp_path):
    (tmp_path / "in.txt").write_text("b\n")
    with pytest.raises(local.CommandError, match="has no name by which another process can import it"):
        local.run(lambda key, value: None, inputs=tmp_path / "in.txt", output=tmp_path / "out", quiet=True)
    assert os.listdir(tmp_path) == ["in.txt"]


def test_commands_are_jobs(tmp_path):
    (tmp_path / "in.txt").write_text("b\na\nb\n")
    local.run("cat", ["cat"], "cat -u", inputs=[tmp_path / "in.txt"], output=tmp_path / "out")
    assert pairs_of(tmp_path / "out") == [(0, "b"), (2, "a"), (4, "b")]


def test_without_a_reducer_there_is_a_part_for_each_split(tmp_path):
    (tmp_path / "in.txt").write_text("line\n" * 100)
    result = local.run("cat", inputs=tmp_path / "in.txt", output=tmp_path / "out", split_size=200)
    assert [len(part) for part in parts_of(tmp_path / "out")] == [41, 40, 19]
    assert (result.nmaps, result.nreducers) == (3, 0)


def test_text_output_is_what_the_task_writes(words, tmp_path):
    path, script, counts = words
    run(script, path, tmp_path / "out", output_format="text")
    lines = (tmp_path / "out" / "part-00000").read_text("utf-8").splitlines()
    assert dict(line.split("\t") for line in lines) == {word: str(count) for word, count in counts.items()}


@pytest.mark.parametrize("written, lines", [("", 0), ("a", 1), ("a\\n", 1), ("a\\nb", 2), ("a\\n\\n", 2)])
@pytest.mark.parametrize("nreducers, counter", [(0, "MAP_OUTPUT_RECORDS"), (1, "REDUCE_OUTPUT_RECORDS")])
def test_a_last_line_of_text_is_counted_and_ended(tmp_path, written, lines, nreducers, counter):
    (tmp_path / "in.txt").write_text("one\n")
    writer = ["sh", "-c", f"cat > /dev/null; printf '{written}'"]
    commands = ["cat", writer] if nreducers else [writer]
    result = local.run(*commands, inputs=tmp_path / "in.txt", output=tmp_path / "out", output_format="text")
    text = (tmp_path / "out" / "part-00000").read_text()
    assert (result.counters[TASK_COUNTERS][counter], text.count("\n")) == (lines, lines)
    assert text.startswith(written.replace("\\n", "\n")) and text[-1:] in ("", "\n")


def test_a_reducer_without_input_does_not_run(tmp_path):
    (tmp_path / "in.txt").write_text("one\n")
    script = write_script(tmp_path, WORD_COUNT.replace("yield word, sum(counts)", "yield word, 1; print('ran')"))
    run(script, tmp_path / "in.txt", tmp_path / "out", reducers=5, combiner=False)
    assert sorted(map(len, parts_of(tmp_path / "out"))) == [0, 0, 0, 0, 1]


# -- inputs -----------------------------------------------------------------------------------------------


def lines_of(inputs, folder, **options):
    result = local.run("cat", inputs=inputs, output=folder / "out", **options)
    return sorted(value for _, value in pairs_of(folder / "out")), result


def test_files_of_many_kinds_are_read(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "plain").write_bytes(b"plain\nbad \xff\n")
    with gzip.open(folder / "a.gz", "w") as file:
        file.write(b"gzip\n" * 2)
    with bz2.open(folder / "a.bz2", "w") as file:
        file.write(b"bzip2\r\n")
    (folder / "a.tb").write_bytes(tb.Encoder().encode_pairs([(1, "pairs")]))
    with sequencefile.Writer(
        folder / "part-00000", key_class="IntWritable", value_class="Text", compression="block"
    ) as writer:
        writer.write(1, "sequence file")
    (folder / "_SUCCESS").write_text("hidden\n")
    (folder / ".hidden").write_text("hidden\n")
    (folder / "empty").write_text("")
    expected = ["bad \ufffd", "bzip2", "gzip", "gzip", "pairs", "plain", "sequence file"]
    found, result = lines_of(folder, tmp_path, environ={})
    assert found == expected
    assert result.counters[TASK_COUNTERS]["MAP_INPUT_RECORDS"] == len(expected)


def test_zstd_is_read(tmp_path):
    (tmp_path / "a.zst").write_bytes(zstd.compress(b"zstd\n"))
    assert lines_of(tmp_path / "a.zst", tmp_path)[0] == ["zstd"]


def test_patterns_and_lists_are_read(tmp_path):
    for name in ("a1.txt", "a2.txt", "b1.txt"):
        (tmp_path / name).write_text(f"{name}\n")
    found, _ = lines_of([str(tmp_path / "a*.txt"), tmp_path / "b1.txt", tmp_path / "b1.txt"], tmp_path)
    assert found == ["a1.txt", "a2.txt", "b1.txt", "b1.txt"]


def test_the_output_of_a_job_is_the_input_of_another(words, tmp_path):
    path, script, counts = words
    run(script, path, tmp_path / "first", reducers=3)
    run(script, path, tmp_path / "second", reducers=2, output_format="pairs")
    total = write_script(
        tmp_path, "from typedbytes import streaming\nstreaming.run(lambda k, v: [(0, v)], lambda k, v: [(k, sum(v))])"
    )
    run(total, [tmp_path / "first", tmp_path / "second"], tmp_path / "out")
    assert pairs_of(tmp_path / "out") == [(0, 2 * sum(counts.values()))]


def test_standard_input_is_read(tmp_path):
    command = [*RUN, write_script(tmp_path, WORD_COUNT), "-", "-o", tmp_path / "out", "-q"]
    subprocess.run(command, input=b"a b\nb\n", check=True, env=environment())
    assert pairs_of(tmp_path / "out") == [("a", 1), ("b", 2)]


def test_files_are_cut_as_hadoop_cuts_them(tmp_path):
    for name, nbytes in (("a", 100), ("b", 111), ("c", 110), ("d", 0), ("e", 250)):
        (tmp_path / name).write_bytes(b"." * nbytes)
    splits = make_splits([str(tmp_path / name) for name in "abcde"], split_size=100)
    assert [(os.path.basename(split.path), split.start, split.length) for split in splits] == [
        *(
            ("c", 0, 110),
            ("a", 0, 100),
            ("b", 0, 100),
            ("e", 0, 100),
            ("e", 100, 100),
            ("e", 200, 50),
            ("b", 100, 11),
            ("d", 0, 0),
        )
    ]
    (tmp_path / "a.gz").write_bytes(gzip.compress(os.urandom(1000).hex().encode()))
    assert len(make_splits([str(tmp_path / "a.gz")], split_size=100)) == 1
    assert make_splits([str(tmp_path / "a")], "pairs", 10) == [Split(str(tmp_path / "a"), "pairs", 0, 100)]


# -- what a task sees -------------------------------------------------------------------------------------


def test_task_has_what_hadoop_passes_in_the_environment(tmp_path):
    script = write_script(
        tmp_path,
        """
        import os
        from typedbytes import streaming

        def attributes(role):
            task = streaming.task()
            names = "job_id task_id attempt_id is_map partition input_file input_start input_length".split()
            yield role, {name: getattr(task, name) for name in names}
            yield "mine", os.environ["mine"]
            yield "stream", sorted(name for name in os.environ if name.startswith("stream_"))

        def mapper(key, value):
            return attributes("map")

        def reducer(key, values):
            for value in values:
                yield key, value
            if key == "map":
                yield from attributes("reduce")

        streaming.run(mapper, reducer)
        """,
    )
    (tmp_path / "in.txt").write_text("one\n")
    run(script, tmp_path / "in.txt", tmp_path / "out", environ={"mine": "yes", "mapreduce_job_id": "job_of_another"})
    pairs = pairs_of(tmp_path / "out")
    on_map, on_reduce = dict(pairs)["map"], dict(pairs)["reduce"]
    number = on_map["job_id"].split("_")[1]
    assert on_map == {
        "job_id": f"job_{number}_0001",
        "task_id": f"task_{number}_0001_m_000000",
        "attempt_id": f"attempt_{number}_0001_m_000000_0",
        "is_map": True,
        "partition": 0,
        "input_file": f"file:{tmp_path / 'in.txt'}",
        "input_start": 0,
        "input_length": 4,
    }
    assert on_reduce == {
        "job_id": f"job_{number}_0001",
        "task_id": f"task_{number}_0001_r_000000",
        "attempt_id": f"attempt_{number}_0001_r_000000_0",
        "is_map": False,
        "partition": 0,
        "input_file": None,
        "input_start": None,
        "input_length": None,
    }
    assert ("mine", "yes") in pairs
    sides = [(side, way) for side in ("map", "reduce") for way in ("input", "output")]
    expected = [f"stream_{side}_{way}" for side, way in sides]
    expected += [f"stream_{side}_{way}_{'writer' if way == 'input' else 'reader'}_class" for side, way in sides]
    assert dict(pairs)["stream"] == sorted(expected)


@pytest.mark.parametrize("options, found", [({}, "job.py"), ({"name": "my own"}, "my own")])
def test_a_job_of_a_script_has_a_name(words, tmp_path, options, found):
    text = (
        "import os\nfrom typedbytes import streaming\nstreaming.run(lambda *pair: "
        "[(os.environ['mapreduce_job_name'], 0)])\n"
    )
    (tmp_path / "in.txt").write_text("one line\n")
    run(write_script(tmp_path, text), tmp_path / "in.txt", tmp_path / "out", **options)
    assert pairs_of(tmp_path / "out") == [(found, 0)]


def test_counters_are_added_up_over_tasks(words, tmp_path):
    path, _, counts = words
    script = write_script(
        tmp_path,
        """
        from typedbytes import streaming

        def mapper(key, value):
            streaming.counter("lines, all", "read")
            streaming.counter("lines, all", "words", len(value.split()))

        streaming.run(mapper)
        """,
    )
    result = run(script, path, tmp_path / "out", split_size=7000)
    assert result.counters["lines; all"] == {"read": path.read_text("utf-8").count("\n"), "words": sum(counts.values())}


def test_files_of_a_task_become_part_of_the_output(tmp_path):
    script = write_script(
        tmp_path,
        """
        import os
        from typedbytes import streaming

        def mapper(key, value):
            with open(os.path.join(os.environ["mapreduce_task_output_dir"], "side-" + value), "w") as file:
                file.write("done")

        streaming.run(mapper)
        """,
    )
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    run(script, tmp_path / "in.txt", tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["_SUCCESS", "part-00000", "side-one", "side-two"]


def test_each_task_begins_with_an_empty_folder_that_has_its_name(tmp_path):
    script = write_script(
        tmp_path,
        """
        import os
        from typedbytes import streaming

        def mapper(key, value):
            folder = os.environ["mapreduce_task_output_dir"]
            assert os.listdir(folder) == []
            assert os.path.basename(folder) == os.environ["mapreduce_task_attempt_id"]
            os.mkdir(os.path.join(folder, "side"))
            open(os.path.join(folder, "side", value), "w").close()
            if int(value) % 3:
                open(os.path.join(folder, value), "w").close()
            yield value, key

        def reducer(key, values):
            # the engine makes the part meanwhile
            assert set(os.listdir(os.environ["mapreduce_task_output_dir"])) <= {"part-00000"}
            return ()

        if __name__ == "__main__":
            streaming.run(mapper, reducer)
        """,
    )
    names = [f"{number:02}" for number in range(30)]
    (tmp_path / "in").mkdir()
    for name in names:
        (tmp_path / "in" / name).write_text(name)
    run(script, tmp_path / "in", tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out" / "side")) == names
    assert {name for name in os.listdir(tmp_path / "out") if name.isdigit()} == {
        name for name in names if int(name) % 3
    }
    assert sorted(os.listdir(tmp_path)) == ["in", "job.py", "out"]


# -- failures ---------------------------------------------------------------------------------------------


def failing(tmp_path, body, nlines=50, text="line", **options):
    """Run a job whose mapper fails, and return the error; nothing may be left of it."""
    script = write_script(
        tmp_path,
        f"""
        import os, signal, sys, time
        import typedbytes as tb
        from typedbytes import streaming

        def mapper(key, value):
            if value == "last":
                {body}
            yield value, key

        if __name__ == "__main__":
            streaming.run(mapper, lambda key, values: [(key, len(list(values)))])
        """,
    )
    (tmp_path / "in.txt").write_text(f"{text}\n" * nlines + "last\n")
    with pytest.raises(local.JobError) as raised:
        run(script, tmp_path / "in.txt", tmp_path / "out", **options)
    if not options.get("keep_failed"):
        assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]
    return raised.value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise LookupError('no such word')", "exit code 1: LookupError: no such word"),
        (r"raise LookupError('no such word\nin it')", "exit code 1: LookupError: no such word"),
        pytest.param(
            "raise ExceptionGroup('many records are wrong', [ValueError('one'), TypeError('two')])",
            "exit code 1: ExceptionGroup: many records are wrong (2 sub-exceptions)",
            marks=HAS_GROUPS,
        ),
        pytest.param(
            "raise ExceptionGroup('wrong', [ExceptionGroup('one', [ValueError('two')])]) from KeyError('three')",
            "exit code 1: ExceptionGroup: wrong (1 sub-exception)",
            marks=HAS_GROUPS,
        ),
        pytest.param(
            "raise KeyError('three') from ExceptionGroup('wrong', [ValueError('one')])",
            "exit code 1: KeyError: 'three'",
            marks=HAS_GROUPS,
        ),
        pytest.param(
            "raise ExceptionGroup('too long for what is kept', [ValueError('one\\n' * 9)] * 15)",
            "exit code 1: one",
            marks=HAS_GROUPS,
        ),
        ("os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGTERM)", "exit code 143"),
        ("os._exit(0)", "exit code 1"),
        ("[streaming.counter('many', str(n)) for n in range(101)]", "exit code 1"),
        (
            "os.write(2, b''.join(b'reporter:counter:many,%d,1\\n' % n for n in range(121)))",
            "121 counters, more than the 120 that Hadoop allows a job",
        ),
    ],
)
def test_a_mapper_that_fails_fails_the_job(tmp_path, body, said):
    error = failing(tmp_path, body)
    assert said in str(error)
    assert f"map task 0 ({tmp_path}/in.txt, bytes 0 to 255) failed" in str(error)


@pytest.mark.parametrize("role", ["map", "combine", "reduce"])
def test_a_configure_that_yields_fails_the_job(words, tmp_path, role):
    script = write_script(
        tmp_path,
        f"""
        from typedbytes import streaming
        from typedbytes.streaming import lib

        class Job:
            def configure(self):
                yield "header", 0
            def {"map" if role == "map" else "reduce"}(self, key, value):
                yield "line", 1

        if __name__ == "__main__":
            jobs = {{"map": lambda key, value: [(value, 1)], "combine": lib.sumreducer, "reduce": lib.sumreducer}}
            jobs["{role}"] = Job
            streaming.run(*[jobs[each] for each in ("map", "reduce", "combine")])
        """,
        "yielding.py",
    )
    with pytest.raises(
        local.JobError, match=re.escape("TypeError: configure() must return None, not an object of type generator")
    ):
        run(script, words[0], tmp_path / "out")


def test_an_exception_is_shown_with_its_traceback(tmp_path):
    error = failing(tmp_path, "raise LookupError('no such word')")
    assert error.tail[-1] == "LookupError: no such word"
    assert any("job.py" in line and "in mapper" in line for line in error.tail)


RAW = "import os, sys\nsys.stdin.buffer.read()\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (RAW + "os.write(1, b'hello')", "its output is truncated"),
        (RAW + "os.write(1, b'\\xff' * 10)", "not a stream of pairs: MARKER outside a LIST at offset 0, record 0"),
        (RAW + "os.write(1, b'\\x02\\x01\\x02')", "its output is truncated"),
        (RAW + "os.write(1, b'\\x09\\x02\\x01')", "its output is truncated"),
        (RAW + "os.write(1, b'\\x02\\x01' * 3)", "its output is truncated"),
        (RAW + "os.write(1, b'\\x0b' + b'x' * 10_000_000)", "not a stream of pairs: unknown type code 11"),
        ("import os; os.close(0)", "before it had read all of its input"),
        (RAW + "sys.exit(3)", "exit code 3"),
    ],
)
@pytest.mark.parametrize("reducers", [0, 1])
def test_output_that_is_not_a_stream_of_pairs_fails_the_job(tmp_path, script, said, reducers):
    path = write_script(tmp_path, script)
    (tmp_path / "in.txt").write_text("line\n" * 300_000)
    with pytest.raises(local.JobError, match=said):
        local.run(
            [sys.executable, path], "cat", inputs=tmp_path / "in.txt", output=tmp_path / "out", reducers=reducers,
            quiet=True,
        )  # fmt: skip
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


@pytest.mark.parametrize("script", ["", "import os; os.read(0, 3)", "import os; os.close(0); os.system('sleep 0.1')"])
@pytest.mark.parametrize("nlines", [1, 1000, 300_000])
def test_a_script_that_leaves_input_fails_the_job_however_short_that_is(tmp_path, script, nlines):
    path = write_script(tmp_path, script)
    (tmp_path / "in.txt").write_text("line\n" * nlines)
    with pytest.raises(local.JobError, match=r"before it had read all of its input; .* ends with streaming\.run"):
        run(path, tmp_path / "in.txt", tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_a_command_that_is_quicker_than_its_input_fails_the_job(tmp_path):
    (tmp_path / "in.txt").write_text("line\n")
    for _ in range(20):  # it ends before, while or after its input is written
        with pytest.raises(local.JobError, match="before it had read all of its input"):
            local.run("true", inputs=tmp_path / "in.txt", output=tmp_path / "out", quiet=True)


@pytest.mark.parametrize(("role", "message"), [("combine", "combiner failed"), ("reduce", "reduce task 0")])
def test_a_combiner_and_a_reducer_that_fail_fail_the_job(words, tmp_path, role, message):
    path, _, _ = words
    broken = WORD_COUNT.replace(
        "yield word, sum(counts)", f"import sys; assert sys.argv[1] != '{role}', 'broken'; yield word, 1"
    )
    with pytest.raises(local.JobError, match=message) as raised:
        run(write_script(tmp_path, broken), path, tmp_path / "out")
    assert "AssertionError: broken" in raised.value.tail
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_a_task_is_tried_again(tmp_path):
    body = (
        "path = os.path.join(os.path.dirname(__file__), 'tried'); tried = os.path.exists(path); "
        "open(path, 'w').close(); "
    )
    body += "streaming.counter('task', 'tries'); tried or os.kill(os.getpid(), signal.SIGKILL)"
    with pytest.raises(pytest.fail.Exception):
        failing(tmp_path, body, attempts=2)
    assert pairs_of(tmp_path / "out") == [("last", 1), ("line", 50)]
    again = failing(
        tmp_path / "again" if (tmp_path / "again").mkdir() else tmp_path / "again", "raise ValueError", attempts=3
    )
    assert "attempt" not in str(again)


def test_bad_input_is_named_and_not_tried_again(tmp_path):
    (tmp_path / "in.tb").write_bytes(b"\2\1\2\1\xff")
    with pytest.raises(local.JobError, match=r"in\.tb.*bad input: MARKER outside a LIST at offset 4, record 1"):
        local.run("cat", inputs=tmp_path / "in.tb", output=tmp_path / "out", attempts=3, quiet=True)
    damaged = {
        "cut.gz": gzip.compress(b"text\n" * 1000)[:-20],
        "bad.gz": gzip.compress(b"")[:10] + b"\xff" * 20,
        "bad.bz2": b"BZh9?",
        "bad.zst": b"x",
    }
    for name, data in damaged.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(local.JobError, match=rf"{name}.*reading the input failed: \w+"):
            local.run("cat", inputs=tmp_path / name, output=tmp_path / "out", quiet=True)


@pytest.mark.parametrize("theirs", [(), ("theirs",)], ids=["empty", "not empty"])
def test_an_output_that_another_has_made_meanwhile_is_left_alone(tmp_path, theirs):
    script = write_script(
        tmp_path,
        f"""
        import os, sys
        from typedbytes import streaming

        def mapper(key, value):
            os.makedirs(os.path.join(value, *{theirs}))

        if __name__ == "__main__":
            streaming.run(mapper)
        """,
    )
    (tmp_path / "in.txt").write_text(f"{tmp_path}/out\n")
    with pytest.raises(local.OutputError, match="cannot be created: "):
        run(script, tmp_path / "in.txt", tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py", "out"]
    assert os.listdir(tmp_path / "out") == list(theirs)


def test_what_failed_is_kept_when_asked_for(tmp_path):
    error = failing(tmp_path, "raise ValueError", keep_failed=True)
    assert os.path.isdir(error.kept)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"output": "in.txt"}, "already exists"),
        ({"output": "no/such/out"}, "there is no folder"),
        ({"inputs": "nothing*"}, "no such input: "),
        ({"inputs": "folder"}, "recursive reads it too"),
        ({"script": "nothing.py"}, "there is no script"),
        ({"script": "/proc/self/mem"}, "the script /proc/self/mem cannot be read: Input/output error"),
        ({"script": "killed.py"}, "killed.py was ended by SIGKILL when it was started without input"),
        ({"script": "terminated.py"}, "terminated.py was ended by SIGTERM when it was started without input"),
        (
            {"script": "broken.py"},
            "broken.py fails before it reads any input, with exit code 1: ModuleNotFoundError: .*; "
            "install the module for /.*",
        ),
        ({"script": "unported.py"}, "No module named 'dumbo'.*; typedbytes run --as dumbo runs the script as it is"),
        ({"script": "mapper.py", "reducers": 2}, "mapper.py has no reducer: .*leave out reducers=2"),
        ({"inputs": "fifo"}, "fifo is a pipe, .*give it as standard input"),
        ({"inputs": "*fo"}, "fifo is a pipe, "),
        ({"inputs": "so*"}, "socket is a socket, "),
        ({"inputs": "links"}, "links/broken: No such file or directory"),
        ({"inputs": "/dev/zero"}, "/dev/zero is a device, .*give it as standard input"),
        ({"tmp": "/no/such/folder"}, "/no/such/folder"),
    ],
)
def test_what_the_user_has_to_mend_is_said(words, tmp_path, change, said):
    path, script, _ = words
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    os.mkfifo(tmp_path / "fifo")
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    (tmp_path / "links").mkdir()
    (tmp_path / "unported.py").write_text("from dumbo.lib import sumreducer\n")
    (tmp_path / "links" / "broken").symlink_to("nowhere")
    write_script(tmp_path, "from typedbytes import streaming; streaming.run(list)", "mapper.py")
    write_script(tmp_path, "import no_such_module", "broken.py")
    write_script(tmp_path, "import os; os.kill(os.getpid(), 9)", "killed.py")
    write_script(tmp_path, "import sys; sys.exit(143)", "terminated.py")
    before = sorted(os.listdir(tmp_path))
    changed = {name: tmp_path / value if isinstance(value, str) else value for name, value in change.items()}
    arguments = {"script": script, "inputs": path, "output": tmp_path / "out", **changed}
    with pytest.raises(local.JobError, match=said) as raised:
        run(arguments.pop("script"), arguments.pop("inputs"), arguments.pop("output"), **arguments)
    if "broken.py" in change.values():
        assert raised.value.tail[-1] == "ModuleNotFoundError: No module named 'no_such_module'"
    assert sorted(os.listdir(tmp_path)) == before


def test_a_module_of_an_older_library_that_is_not_here_is_said(words, tmp_path):
    script = write_script(tmp_path, "import dumbo.cmd")
    with pytest.raises(local.JobError, match="No module named 'dumbo.cmd'; it is not among the modules of dumbo"):
        run(script, words[0], tmp_path / "out", front="dumbo")


@pytest.mark.parametrize(
    "wrong",
    [
        {"output_format": "xml"},
        {"input_format": "xml"},
        {"reducers": -1},
        {"attempts": 0},
        {"processes": 0},
        {"memory": 1},
        {"codec": "rar"},
    ],
)
def test_wrong_options_are_refused(words, tmp_path, wrong):
    path, script, _ = words
    with pytest.raises(ValueError, match="."):
        run(script, path, tmp_path / "out", **wrong)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


@pytest.mark.parametrize("wrong", ["bogus", "steps", "engine", "nprocesses", "paths"])
def test_an_option_that_is_not_there_is_reported_by_the_function_called(words, tmp_path, wrong):
    where = {"inputs": words[0], "output": tmp_path / "out", wrong: []}
    said = rf"got an unexpected keyword argument '{wrong}'(\. Did you mean '\w+'\?)?$"  # from 3.13.1 on
    with pytest.raises(TypeError, match=rf"^run\(\) {said}"):
        local.run(upper, **where)
    with pytest.raises(TypeError, match=rf"^run_script\(\) {said}"):
        local.run_script(words[1], **where)
