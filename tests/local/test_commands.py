"""Commands as mappers, combiners and reducers, and as filters: lines of text, as Hadoop Streaming has them."""

import functools
import sys

import pytest

from support.local_jobs import write_script
from support.streaming_support import run_module
from typedbytes import local
from typedbytes.streaming import Step

TEXT = "a bb b\nskip a\nbb a\xff\r\nb"
WORDS = "tr ' ' '\\n'"


command = functools.partial(run_module, "typedbytes")


@pytest.fixture
def folder(tmp_path):
    """Return a folder with an input."""
    (tmp_path / "in.txt").write_bytes(TEXT.encode("latin-1"))
    return tmp_path


def test_a_job_of_commands_gives_what_a_pipe_gives(folder):
    """A shell has sort in the place of Hadoop, which adds a TAB to a key without a value."""
    output, _ = command(folder, "run", "-q", "--mapper", WORDS, "--reducer", "uniq -c", "in.txt")
    assert output == b"      2 a\t\t\n      1 a\xff\t\t\n      2 b\t\t\n      2 bb\t\t\n      1 skip\t\t\n".replace(
        b"\t\t", b"\t"
    )


def test_plain_scripts_of_streaming_run_as_they_are(folder):
    write_script(
        folder, "import sys\nfor line in sys.stdin:\n    for word in line.split(): print(word, 1, sep='\\t')", "m.py"
    )
    write_script(
        folder,
        "import sys, itertools\nrows = (line.rstrip('\\n').split('\\t') for line in sys.stdin)\n"
        "for word, group in itertools.groupby(rows, lambda row: row[0]):\n"
        "    print(word, sum(int(n) for _, n in group), sep='\\t')",
        "r.py",
    )
    (folder / "in.txt").write_text("b a bb\nbb a\n")
    words = ["--mapper", f"{sys.executable} m.py", "--reducer", f"{sys.executable} r.py"]
    words += ["--combine-with", f"{sys.executable} r.py"]
    output, said = command(folder, "run", *words, "in.txt")
    assert output == b"a\t2\nb\t1\nbb\t2\n"
    assert "COMBINE_INPUT_RECORDS = 5" in said


def test_a_reducer_gets_whole_groups_in_the_order_of_bytes(folder):
    command(folder, "run", "-q", "-r", "3", "--mapper", WORDS, "--reducer", "cat", "in.txt", "-o", "out")
    parts = [path.read_bytes().splitlines() for path in sorted((folder / "out").glob("part-*"))]
    assert len(parts) == 3
    assert all(part == sorted(part) for part in parts)
    keys = [{*part} for part in parts]
    assert not (keys[0] & keys[1] or keys[1] & keys[2] or keys[0] & keys[2])


def test_a_filter_before_a_function_and_a_step_with_its_own_reducers(folder):
    script = write_script(
        folder,
        """
        from typedbytes.streaming import Step, run, task

        def words(offset, line):
            for word in line.split():
                yield word, 1

        def count(word, ones):
            yield word, sum(map(int, ones))

        def top(key, pairs):
            yield task().nreducers, max(pairs)[1]

        if __name__ == "__main__":
            run(steps=[
                Step(words, count, mapper_command="grep -v skip", reducers=3, properties={"a.b": "own"}),
                Step(lambda word, n: [(None, (n, task().params and n, word))], top, reducers=1),
            ])
        """,
    )
    (folder / "in.txt").write_text("a bb b\nskip a\nbb a\nb bb")
    result = local.run_script(script, inputs=folder / "in.txt", output=folder / "out", reducers=2, quiet=True)
    assert [step.nreducers for step in result.steps] == [3, 1]
    assert local.run_script is not None


def test_without_reduce_tasks_the_lines_of_the_mapper_are_the_output(folder):
    output, _ = command(folder, "run", "-q", "-r", "0", "--mapper", WORDS, "--reducer", "uniq -c", "in.txt")
    assert output == command(folder, "run", "-q", "--mapper", WORDS, "in.txt")[0]
    assert output.startswith(b"a\t\nbb\t\nb\t\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mapper", "cat", "--reducers", "2"], "--reducers 2 needs --reducer COMMAND"),
        (["--mapper", "cat", "-D", "mapreduce.job.reduces=2"], "-D mapreduce.job.reduces=2 needs --reducer COMMAND"),
        (["--mapper", "cat", "--combine-with", "cat"], "--combine-with needs --reducer COMMAND"),
        (["--combine-with", "cat"], "--combine-with needs --reducer COMMAND"),
        (
            ["--mapper", "cat", "--combiner", "uniq -c", "--reducer", "cat"],
            "--combiner is a switch for scripts: --combine-with COMMAND gives the command that combines",
        ),
        (["--mapper", " ", "--reducer", "cat"], "--mapper needs a command, not ' '"),
        (["--mapper", "cat", "--arg", "x"], "--arg is for scripts, not for commands"),
        (["--mapper", "cat", "--as", "mrjob"], "--as is for scripts, not for commands"),
    ],
)
def test_what_commands_need_is_said_in_the_words_of_the_user(folder, words, message):
    for name, *more in (("run",), ("submit", "--no-bundle", "--dry-run")):
        _, said = command(folder, name, *more, *words, "in.txt", "-o", "out", code=64)
        assert said == f"typedbytes {name}: {message}\n"
    assert not (folder / "out").exists()


@pytest.mark.parametrize("inline", [[], ["--inline"]])
@pytest.mark.parametrize("words", [["--mapper", "grep nothing"], ["--mapper", "sh -c 'cat; exit 3'"]])
def test_a_command_that_fails_fails_the_job(folder, words, inline):
    """Its exit code and its words say all that is known."""
    _, said = command(folder, "run", "-q", *words, "in.txt", *inline, code=1)
    assert "the command ended with exit code" in said.splitlines()[-1]
    assert words[1] in said.splitlines()[-1]
    assert "Traceback" not in said
    assert "typedbytes: called:" not in said


def test_a_filter_may_find_nothing(folder):
    script = write_script(
        folder,
        "from typedbytes.streaming import Step, run\n"
        "run(steps=[Step(lambda key, line: [(line, 1)], mapper_command='grep nothing')])",
    )
    output, _ = command(folder, "run", "-q", script, "in.txt")
    assert output == b""


def test_a_command_may_leave_lines_unread(folder):
    (folder / "in.txt").write_text("line\n" * 200_000)
    output, _ = command(folder, "run", "-q", "--mapper", "head -n 2", "in.txt")
    assert output == b"line\t\nline\t\n"


@pytest.mark.parametrize(
    "options, message",
    [
        ({"mapper_command": "", "reducers": None}, "mapper_command must be a line for a shell"),
        ({"mapper_command": "cat", "batch": True}, "are for functions: leave out the commands"),
        ({"mapper_command": "cat", "reducers": 2}, "reducers=2 needs a reducer"),
        ({"mapper_command": "cat", "combiner_command": "cat"}, "combiner= needs reducer="),
        ({"mapper_command": "cat", "inputs": []}, "inputs are numbers of steps"),
    ],
)
def test_a_step_with_commands_that_cannot_be(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Step(**options)


def test_a_script_that_prints_lines_is_told_what_it_is(folder):
    write_script(folder, "import sys\nfor line in sys.stdin:\n    print('hello', 1, sep='\\t')", "plain.py")
    _, said = command(folder, "run", "-q", "plain.py", "in.txt", code=1)
    assert "a script that reads lines and prints lines is a command: typedbytes run --mapper 'python plain.py'" in said


def test_a_program_in_the_current_folder_is_found_as_on_hadoop(folder):
    (folder / "mapper.py").write_text(f"#!{sys.executable}\nimport sys\nsys.stdout.writelines(sys.stdin)\n")
    (folder / "mapper.py").chmod(0o755)
    expected, _ = command(folder, "run", "-q", "--mapper", "cat", "in.txt")
    for inline in ([], ["--inline"]):
        assert command(folder, "run", "-q", "--mapper", "mapper.py", *inline, "in.txt")[0] == expected != b""


@pytest.mark.parametrize("words, said", [
    (["-mapper", "cat"], "Hadoop's -mapper is --mapper here"),
    (["-reducer", "cat"], "Hadoop's -reducer is --reducer here"),
    (["--mapper", "cat", "-output", "out"], "Hadoop's -output is --output here"),
    (["-input", "in.txt"], "inputs are words without -input here"),
])  # fmt: skip
def test_options_of_hadoop_are_named_in_ours(folder, words, said):
    for name in ("run", "submit"):
        assert command(folder, name, *words, "in.txt", code=64)[1] == f"typedbytes {name}: {said}\n"
