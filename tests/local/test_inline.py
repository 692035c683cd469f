"""Jobs in one process: the same output, and errors, breakpoints and functions where the user is."""

import os
import subprocess
import sys

import pytest

from support.local_jobs import WORD_COUNT, pairs_of, write_script, write_words
from support.streaming_support import environment, run_module
from typedbytes import local, sequencefile
from typedbytes.streaming import Step, counter, lib, testing


@pytest.mark.parametrize("reducers", [1, 3])
def test_the_output_is_that_of_tasks_in_processes(tmp_path, reducers):
    write_words(tmp_path / "in.txt", 2000)
    script = write_script(tmp_path, WORD_COUNT)
    options = {"inputs": tmp_path / "in.txt", "reducers": reducers, "split_size": 4000, "quiet": True}
    one = local.run_script(script, output=tmp_path / "one", inline=True, **options)
    many = local.run_script(script, output=tmp_path / "many", **options)
    assert pairs_of(tmp_path / "one") == pairs_of(tmp_path / "many")
    assert one.counters == many.counters and one.nmaps == many.nmaps > 1


def test_functions_that_no_other_process_finds(tmp_path):
    seen = []

    def mapper(key, line):
        seen.append(line)
        counter("lines", "seen")
        yield line, 1

    result = local.run(
        mapper, lib.sumreducer, inputs=[(0, "a"), (1, "b"), (2, "a")], output=tmp_path / "out", inline=True, quiet=True
    )
    assert sorted(pairs_of(tmp_path / "out")) == [("a", 2), ("b", 1)]
    assert seen == ["a", "b", "a"] and result.counters["lines"] == {"seen": 3}
    local.run(mapper, inputs=[(0, "c")], output=tmp_path / "map", inline=True, quiet=True)
    assert pairs_of(tmp_path / "map") == [("c", 1)]


def test_an_error_is_the_cause_of_that_of_the_job(tmp_path, capfd):
    def mapper(key, line):
        raise KeyError("as asked")

    with pytest.raises(local.JobError, match="the map task 0 failed: KeyError: 'as asked'") as caught:
        local.run(mapper, inputs=[(0, "a")], output=tmp_path / "out", inline=True)
    assert isinstance(caught.value.__cause__, KeyError)
    assert 'raise KeyError("as asked")' in capfd.readouterr().err
    assert [*tmp_path.iterdir()] == []


def test_breakpoint_stops_in_a_task(tmp_path):
    script = write_script(tmp_path, WORD_COUNT.replace("for word in line", "breakpoint()\n        for word in line"))
    (tmp_path / "in.txt").write_text("a b\n")
    command = [sys.executable, "-m", "typedbytes", "run", "--inline", "-q", script, tmp_path / "in.txt"]
    done = subprocess.run(command, input=b"p line\nc\n", capture_output=True, env=environment())
    assert done.returncode == 0, done.stderr
    assert b"'a b'" in done.stderr
    assert done.stdout == b"a\t1\nb\t1\n"


def test_a_whole_job_in_a_unit_test(tmp_path):
    steps = [
        Step(lambda key, line: [(word, 1) for word in line.split()], lib.sumreducer, lib.sumreducer),
        Step(lambda word, n: [(None, (n, word))], lambda key, pairs: [(key, max(pairs))]),
    ]
    assert testing.run_job([(0, "a b a")], steps=steps) == [(None, (2, "a"))]
    with pytest.raises(TypeError, match="steps have functions and options of their own"):
        testing.run_job([], lib.sumreducer, steps=steps)
    script = write_script(
        tmp_path,
        """
        import sys
        from typedbytes.streaming import Step, counter, run, task

        def mapper(key, line):
            counter("lines", "seen")
            yield line, sys.argv[2] + task().params["x"]

        def reducer(line, values):
            yield line, list(values)

        if __name__ == "__main__":
            run(steps=[Step(mapper, reducer)])
        """,
    )
    with testing.counted() as amounts:
        assert testing.run_script(script, [(0, "a")], ["one"], params={"x": "two"}) == [("a", ["onetwo"])]
    assert amounts == {("lines", "seen"): 1}


@pytest.mark.parametrize("cat", ["cat", ["cat"]])
def test_commands_are_processes_one_after_the_other(tmp_path, cat):
    """They read and write pairs, as without inline."""
    for inline in (False, True):
        local.run(
            cat, cat, inputs=[(0, "a"), (1, "b")], output=tmp_path / f"out{inline}", reducers=2, inline=inline,
            quiet=True,
        )  # fmt: skip
    assert pairs_of(tmp_path / "outTrue") == pairs_of(tmp_path / "outFalse")
    assert sorted(pairs_of(tmp_path / "outTrue")) == [(0, "a"), (1, "b")]
    with pytest.raises(local.OptionError, match="inline is not for functions beside commands, such as .*cat"):
        local.run(lambda *pair: [pair], cat, inputs=[(0, "a")], output=tmp_path / "mixed", inline=True)


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_an_error_before_the_job_is_shown_with_its_line(tmp_path, quiet):
    (tmp_path / "job.py").write_text("import os\nfrom typedbytes import streaming\nstreaming.run(os.environ['NONE'])\n")
    (tmp_path / "in").write_text("x\n")
    _, said = run_module("typedbytes", tmp_path, "run", "--inline", *quiet, "job.py", "in", code=64)
    assert f'  File "{tmp_path}/job.py", line 3, in <module>\n' in said
    assert said.endswith("job.py fails before it reads any input: KeyError: 'NONE'\n")


def test_the_current_folder_is_the_earlier_one_after_a_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def mapper(key, value):
        os.chdir("/")
        yield key, value

    local.run(mapper, inputs=[(1, 2)], output=tmp_path / "out", inline=True, quiet=True)
    assert os.getcwd() == str(tmp_path)


def test_tasks_in_one_process_have_one_attempt(tmp_path):
    """What a failed attempt has left in modules would be there in the next one."""
    for functions in ([lib.identitymapper], ["cat"]):
        with pytest.raises(local.OptionError, match="inline=True tries each task once: leave out attempts=3"):
            local.run(*functions, inputs=[(0, "a")], output=tmp_path / "out", inline=True, attempts=3)
    script = write_script(tmp_path, WORD_COUNT)
    (tmp_path / "in").write_text("x\n")
    _, said = run_module("typedbytes", tmp_path, "run", "--inline", "--attempts", "3", script, "in", code=64)
    assert said == "typedbytes run: --inline tries each task once: leave out --attempts 3\n"
    run_module("typedbytes", tmp_path, "run", "--inline", "--attempts", "1", "--quiet", script, "in")


def run_inline(tmp_path, text, *words):
    script = write_script(tmp_path, text)
    (tmp_path / "in.txt").write_text("a\nb\n")
    command = [sys.executable, "-m", "typedbytes", "run", "--inline", script, tmp_path / "in.txt", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=tmp_path)


CHILDREN = """
import ctypes, os, subprocess, sys
from typedbytes.streaming import run

first = sys.stdout
print("in the script")
subprocess.run(["echo", "at the start"])

def mapper(key, line):
    subprocess.run(["echo", "from echo"])
    os.system("echo from a shell")
    os.write(1, b"by a descriptor\\n")
    ctypes.CDLL(None).puts(b"from C")
    sys.__stdout__.write("by the first stream\\n")
    print("by print")
    yield line, 1

run(mapper)
"""


def test_what_is_written_to_descriptor_1_is_no_part_of_the_result(tmp_path):
    done = run_inline(tmp_path, CHILDREN)
    assert (done.returncode, done.stdout) == (0, "a\t1\nb\t1\n"), done.stderr
    said = "in the script", "at the start", "from echo", "from a shell", "by a descriptor", "from C", "by the first"
    assert all(each in done.stderr for each in (*said, "by print"))
    done = run_inline(tmp_path, CHILDREN, "-o", "out")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_standard_error_that_is_closed_takes_nothing(tmp_path):
    script = write_script(tmp_path, CHILDREN.replace("    yield", '    os.write(2, b"more")\n    yield', 1))
    (tmp_path / "in.txt").write_text("a\n")
    line = f'exec "{sys.executable}" -m typedbytes run --inline -q "{script}" "{tmp_path}/in.txt" 2>&-'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment())
    assert done.stdout == "a\t1\n"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("os._exit(0)", "os._exit(0) before the job was done"),
        ("_exit(256)", "os._exit(256) before the job was done"),
        ("os.execvp('true', ['true'])", "a task cannot exec another program; start a child process"),
        ("threading.Thread(target=os._exit, args=[0]).start(); time.sleep(9)", "os._exit(0) before the job was done"),
        ("sys.exit(0)", "SystemExit"),
    ],
)
@pytest.mark.parametrize("place", ["mapper", "script"])
def test_a_task_does_not_end_the_command_as_if_all_was_done(tmp_path, statement, said, place):
    text = f"""
        import os, sys, threading, time
        from os import _exit
        from typedbytes.streaming import run

        def end():
            {statement}

        def mapper(key, line):
            {"end()" if place == "mapper" else "pass"}
            yield line, 1

        {"end()" if place == "script" else "pass"}
        run(mapper)
        """
    done = run_inline(tmp_path, text, "-o", "out")
    assert done.returncode and said in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "end", ["pass", "sys.exit(0)", "os._exit(0)", "raise ValueError", "os.execvp('true', ['true'])"]
)
def test_a_process_that_a_task_has_forked_leaves_the_job_to_it(tmp_path, end):
    done = run_inline(
        tmp_path,
        f"""
        import os, sys
        from typedbytes.streaming import run

        def mapper(key, line):
            pid = os.fork()
            if not pid:
                {end}
            else:
                os.waitpid(pid, 0)
            yield line, 1

        run(mapper)
        """,
    )
    assert (done.returncode, done.stdout) == (0, "a\t1\nb\t1\n"), done.stderr


def test_functions_of_this_process_are_its_own_again(tmp_path):
    before = os._exit, os.execv, os.execve

    def mapper(key, line):
        assert os._exit is not before[0]
        os._exit(0)

    with pytest.raises(
        local.JobError, match=r"the map task 0 failed: SystemExit: os\._exit\(0\) before the job was done"
    ):
        local.run(mapper, inputs=[(0, "a")], output=tmp_path / "out", inline=True, quiet=True)
    assert (os._exit, os.execv, os.execve) == before


def test_functions_that_a_tool_has_replaced_are_put_back(tmp_path, monkeypatch):
    exit_of_system = sys.modules[os.name]._exit

    def exit_of_tool(status):
        exit_of_system(status)

    monkeypatch.setattr(os, "_exit", exit_of_tool)
    local.run(lambda key, line: [(line, 1)], inputs=[(0, "a")], output=tmp_path / "out", inline=True, quiet=True)
    assert (os._exit, sys.modules[os.name]._exit) == (exit_of_tool, exit_of_system)


def test_a_process_that_a_task_has_forked_takes_no_records(tmp_path, monkeypatch):
    monkeypatch.setattr("typedbytes.local.inline.SPOOLED_NBYTES", 16)  # of a file, both have one offset
    forked = []

    def mapper(key, line):
        if not forked:
            forked.append(os.fork())
            if forked[0]:
                os.waitpid(forked[0], 0)
        yield line, 1

    records = [(number, f"{number:0100}") for number in range(5000)]
    result = local.run(mapper, inputs=records, output=tmp_path / "out", inline=True, quiet=True)
    assert result.records_in == len(records)
    assert len(list(sequencefile.read(tmp_path / "out"))) == len(records)


class Odd(Exception):
    def __str__(self):
        raise AttributeError("no text")


def test_an_error_without_a_text_is_an_error_of_the_task(tmp_path):
    def mapper(key, line):
        raise Odd

    with pytest.raises(local.JobError, match="the map task 0 failed: Odd: <exception str.. failed>"):
        local.run(mapper, inputs=[(0, "a")], output=tmp_path / "out", inline=True, quiet=True)
    odd = "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\n"
    done = run_inline(
        tmp_path, odd + "def mapper(key, line):\n    raise Odd\nimport typedbytes.streaming as s\ns.run(mapper)\n"
    )
    assert done.returncode == 1 and "map task 0 failed: Odd: <exception str() failed>" in done.stderr
    done = run_inline(tmp_path, f"{odd}raise Odd\n")
    assert done.returncode == 64 and "fails before it reads any input: Odd: <exception str() failed>" in done.stderr
    bad = "def mapper(key, line):\n    if key:\n        raise Odd\n    yield line, 1\n"
    done = run_inline(tmp_path, odd + bad + "import typedbytes.streaming as s\ns.run(mapper, max_bad=1)\n")
    assert (done.returncode, done.stdout) == (0, "a\t1\n") and "Odd: <exception str() failed>" in done.stderr
