"""Tasks that are forked from a process which has imported the script: no script and no user can tell.

Each job has more tasks than start before a server is ready. What a task's parent is says how it was started.
"""

import contextlib
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.local_jobs import RUN, TASK_COUNTERS, WORD_COUNT, pairs_of, run, write_script
from support.other_processes import is_running, until
from support.streaming_support import environment
from support.subprocess_runs import SECONDS
from typedbytes.jobs.errors import JobError
from typedbytes.jobs.tasks import forked_task

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="tasks are forked on Linux, which has descriptors of processes"),
    pytest.mark.every_python,
]

NFILES = 40
PARENTS = """
    {before}
    import os
    from typedbytes import streaming

    LAST = "39"

    def is_forked():
        return "fork_server" in open(f"/proc/{{os.getppid()}}/cmdline").read()

    def mapper(key, value):
        {inside}
        yield os.getppid(), value

    if __name__ == "__main__":
        streaming.run(mapper)
"""


@pytest.fixture
def files(tmp_path):
    """A folder of small files with one line each, more than there are tasks at a time."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(NFILES):
        (folder / f"{number:02}.txt").write_text(f"{number:02}\n")
    return folder


def parents(tmp_path, files, before="", inside="", **options):
    """Return the parents of a job's tasks, by the process ID; the job has all that is to come out."""
    script = write_script(tmp_path, PARENTS.format(before=before, inside=inside))
    run(script, files, tmp_path / "out", reducers=0, processes=2, **options)
    pairs = pairs_of(tmp_path / "out")
    assert sorted(int(value) for _, value in pairs) == list(range(NFILES))
    return {parent for parent, _ in pairs}


def test_most_tasks_are_forked_from_one_process(tmp_path, files):
    found = parents(tmp_path, files)
    assert os.getpid() in found  # the first ones
    assert len(found) == 2
    (server,) = found - {os.getpid()}
    assert not Path(f"/proc/{server}").exists()


def test_none_is_forked_where_the_job_says_so(tmp_path, files):
    assert parents(tmp_path, files, fork=False) == {os.getpid()}


TOLD = {
    "a variable of a task": "import os; FILE = os.environ.get('mapreduce_map_input_file')",
    "all variables": "import os; BEFORE = dict(os.environ)",
    "a file": "HERE = open(__file__)",
    "a message": "import sys; print('loading', file=sys.stderr)",
    "a thread": "import threading, time; threading.Thread(target=time.sleep, args=[60], daemon=True).start()",
    "random numbers": "import random; random.Random(1)",
    "a temporary file": "import tempfile",
    "the process ID": "import os; ID = os.getpid()",
    "a timer": "import signal; signal.setitimer(signal.ITIMER_REAL, 60)",
    "a timer of its own time": "import signal; signal.setitimer(signal.ITIMER_PROF, 60)",
    "the time": "import time; NOW = time.time()",
    "a child process": "import subprocess; CHILD = subprocess.run(['true'], stdin=subprocess.DEVNULL)",
    "a file that it closes": "import sys; open(sys.argv[0] + '.log', 'a').close()",
    "the end of child processes": "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "memory of several processes": "import mmap; SHARED = mmap.mmap(-1, 8)",
    "a process to start": "import multiprocessing; PROCESS = multiprocessing.Process()",
    "a limit of its time": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (600, 600))",
    "a profiler": "import sys; sys.setprofile(lambda *event: None)",
    "random numbers of an installed module": "import site_packages_like; GENERATOR = site_packages_like.GENERATOR",
}


@pytest.mark.parametrize("told", TOLD)
def test_a_script_that_could_tell_gets_a_process_for_each_task(tmp_path, files, told):
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "site_packages_like.py").write_text("import random\nGENERATOR = random.Random()\n")
    path = os.pathsep.join([str(installed), environment()["PYTHONPATH"]])
    assert parents(tmp_path, files, before=TOLD[told], environ={"PYTHONPATH": path}) == {os.getpid()}


def test_an_installed_module_may_have_what_is_seeded_again(tmp_path, files):
    """As NumPy's own numbers are: no two tasks have the same."""
    pytest.importorskip("numpy")
    script = write_script(
        tmp_path,
        """
        import os
        import numpy
        from typedbytes import streaming
        getattr(numpy, "ran" "dom").standard_normal()  # is there from now on

        def mapper(key, value):
            yield os.getppid(), float(getattr(numpy, "ran" "dom").standard_normal())

        if __name__ == "__main__":
            streaming.run(mapper)
        """,
    )
    run(script, files, tmp_path / "out", reducers=0)
    pairs = pairs_of(tmp_path / "out")
    assert len({value for _, value in pairs}) == NFILES
    assert len({parent for parent, _ in pairs}) == 2  # and OpenBLAS's threads keep none from being forked


def test_a_task_has_its_own_variables_and_arguments(tmp_path, files):
    """Its child processes have them too."""
    script = write_script(
        tmp_path,
        """
        import os, subprocess, sys
        from typedbytes import streaming

        def mapper(key, value):
            task = streaming.task()
            names = "mapreduce_task_attempt_id", "mapreduce_map_input_file"
            of_child = subprocess.run(["printenv", names[0]], capture_output=True, text=True).stdout.strip()
            assert of_child == os.environ[names[0]] == os.environb[names[0].encode()].decode() == task.attempt_id
            assert dict(os.environ)[names[1]] == task.input_file
            assert sys.argv[1:] == ["map", "argument"] and os.readlink("/proc/self") == str(os.getsid(0))
            yield os.getppid(), (value, task.input_file, task.partition, task.attempt_id)

        if __name__ == "__main__":
            streaming.run(mapper)
        """,
    )
    run(script, files, tmp_path / "out", arguments=["argument"], reducers=0)
    pairs = pairs_of(tmp_path / "out")
    assert len({parent for parent, _ in pairs}) == 2
    values = [value for _, value in pairs]
    assert all(file == f"file:{files}/{int(number):02}.txt" for number, file, *_ in values)
    assert sorted(partition for _, _, partition, _ in values) == list(range(NFILES))
    assert len({name for *_, name in values}) == NFILES


def test_the_combiner_runs_in_the_map_task_and_is_counted_the_same(tmp_path, files):
    for file in files.iterdir():
        file.write_text("a b a\nb a c\n" * 5)
    script = write_script(tmp_path, WORD_COUNT)
    results = [run(script, files, tmp_path / str(fork), fork=fork, processes=2) for fork in (True, False)]
    forked, apart = ([sorted(pairs_of(tmp_path / str(fork)))] for fork in (True, False))
    assert forked == apart == [[("a", NFILES * 15), ("b", NFILES * 10), ("c", NFILES * 5)]]
    ours, theirs = (result.counters[TASK_COUNTERS] for result in results)
    assert ours == theirs
    assert ours["COMBINE_INPUT_RECORDS"] == ours["MAP_OUTPUT_RECORDS"] == NFILES * 30
    assert ours["COMBINE_OUTPUT_RECORDS"] == NFILES * 3


def test_each_step_is_forked_with_its_own_code(tmp_path, files):
    script = write_script(
        tmp_path,
        """
        import os
        from typedbytes import streaming
        from typedbytes.streaming import Step

        def first(key, value):
            yield value, (1, os.getppid())

        def second(key, values):
            yield key, (2, os.getppid(), *values)

        if __name__ == "__main__":
            streaming.run(steps=[Step(first, second, reducers=20), Step(lambda key, value: [(key, value)])])
        """,
    )
    run(script, files, tmp_path / "out", processes=2)
    values = [value for _, value in pairs_of(tmp_path / "out")]
    assert len(values) == NFILES
    assert len({parent for _, parent, _ in values}) == 2 == len({parent for _, _, (_, parent) in values})


LEFT_OPEN = """
    import atexit, os, zipfile
    from pathlib import Path
    from typedbytes import streaming

    HERE = Path({folder!r})
    atexit.register(lambda: (HERE / f"{{os.getsid(0)}}.ended").write_text("ended"))
    OPEN = []

    class Deleted:
        def __init__(self, path):
            self.path = path
        def __del__(self):
            self.path.touch()

    def mapper(key, value):
        global archive, text, deleted
        text = open(HERE / f"{{os.getsid(0)}}.txt", "w")
        text.write(value)
        archive = zipfile.ZipFile(HERE / f"{{os.getsid(0)}}.zip", "w")
        archive.writestr("value", value)
        deleted = Deleted(HERE / f"{{os.getsid(0)}}.deleted")
        yield os.getppid(), os.getsid(0)

    if __name__ == "__main__":
        streaming.run(mapper)
"""


def test_what_a_task_leaves_open_is_closed_at_its_end(tmp_path, files):
    left = tmp_path / "left"
    left.mkdir()
    run(write_script(tmp_path, LEFT_OPEN.format(folder=str(left))), files, tmp_path / "out", reducers=0)
    pairs = pairs_of(tmp_path / "out")
    assert len({parent for parent, _ in pairs}) == 2
    for _, pid in pairs:
        assert (left / f"{pid}.ended").read_text() == "ended"
        assert (left / f"{pid}.deleted").exists()
        with zipfile.ZipFile(left / f"{pid}.zip") as archive:
            assert archive.read("value").decode() == (left / f"{pid}.txt").read_text()
    assert len(list(left.iterdir())) == 4 * NFILES


LEFT = {
    "an archive in a class": """
        import zipfile
        Left.archive = zipfile.ZipFile(f"{folder}/{os.getsid(0)}.zip", "w")
        Left.archive.writestr("value", value)
    """,
    "a thread that reads": """
        import subprocess, threading
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=child.stdout.read, daemon=True).start()
        kept.append(child)
        open(f"{folder}/{os.getsid(0)}.zip", "w").write("written")
    """,
}


@pytest.mark.parametrize("left", LEFT)
def test_what_has_an_end_of_its_own_has_it_in_a_forked_task(tmp_path, files, left):
    folder = tmp_path / "left"
    folder.mkdir()
    before = f"""
    kept, folder = [], {str(folder)!r}
    class Left:
        path = None
        def __del__(self, open=open):
            if self.path: open(self.path, "w").write("deleted")
    """
    inside = LEFT[left].strip()
    assert len(parents(tmp_path, files, before=before.strip(), inside=inside)) == 2
    found = [*folder.iterdir()]
    assert len([path for path in found if path.stat().st_size]) == NFILES
    assert left != "an archive in a class" or all(map(zipfile.is_zipfile, found))


def test_an_object_from_before_the_fork_has_its_end_too(tmp_path, files):
    folder = tmp_path / "left"
    folder.mkdir()
    script = write_script(
        tmp_path,
        f"""
        import os
        from typedbytes import streaming

        class Mapper:
            def __init__(self):
                self.me, self.is_called = self, False
            def __call__(self, key, value):
                self.is_called = True
                yield os.getppid(), value
            def __del__(self):
                if self.is_called:
                    open({str(folder)!r} + f"/{{os.getsid(0)}}", "w").close()

        if __name__ == "__main__":
            streaming.run(Mapper())
        """,
    )
    run(script, files, tmp_path / "out", reducers=0)
    assert len({parent for parent, _ in pairs_of(tmp_path / "out")}) == 2
    assert len(list(folder.iterdir())) == NFILES


def test_a_script_of_two_calls_is_none_of_two_tasks(tmp_path, files):
    script = write_script(
        tmp_path,
        """
        import os
        from typedbytes import streaming

        def mapper(key, value):
            yield os.getppid(), value

        if __name__ == "__main__":
            try:
                streaming.run(mapper)
            except SystemExit:
                pass
            streaming.run(mapper)
        """,
    )
    run(script, files, tmp_path / "out", reducers=0)
    pairs = pairs_of(tmp_path / "out")
    assert len(pairs) == NFILES
    assert len({parent for parent, _ in pairs}) == 2


def test_a_script_that_has_read_its_input_gets_a_process_for_each_task(tmp_path, files):
    """It has no records then, as a task of its own."""
    script = write_script(
        tmp_path,
        """
        import sys
        from typedbytes import streaming
        FIRST = sys.stdin.buffer.peek(1)
        if __name__ == "__main__":
            streaming.run(lambda key, value: [(1, value)])
        """,
    )
    run(script, files, tmp_path / "out", reducers=0)
    assert not pairs_of(tmp_path / "out")


def test_a_script_finds_its_loader(tmp_path, files):
    inside = "assert __loader__.get_data(__file__) and __cached__ is None"
    assert len(parents(tmp_path, files, inside=inside)) == 2


def test_functions_for_the_end_of_any_process_are_called(tmp_path, files):
    """Those that were registered before a server could be."""
    site, ended = tmp_path / "site", tmp_path / "ended"
    site.mkdir()
    ended.mkdir()
    (site / "sitecustomize.py").write_text(
        "import atexit, os\n"
        f"HERE = {str(ended)!r}\n"
        "atexit.register(lambda: 'mapreduce_task_id' in os.environ and os.mkdir(f'{HERE}/{os.getsid(0)}'))\n"
    )
    path = os.pathsep.join([str(site), environment()["PYTHONPATH"]])
    assert len(parents(tmp_path, files, environ={"PYTHONPATH": path})) == 2
    assert len(list(ended.iterdir())) == NFILES


def test_modules_are_those_beside_the_file_that_a_script_is_a_link_to(tmp_path, files):
    for name in ("real", "link"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "beside.py").write_text(f"NAME = {name!r}\n")
    script = write_script(
        tmp_path / "real",
        """
        import os
        import beside
        from typedbytes import streaming

        def mapper(key, value):
            yield os.getppid(), beside.NAME

        if __name__ == "__main__":
            streaming.run(mapper)
        """,
    )
    (tmp_path / "link" / "job.py").symlink_to(script)
    run(tmp_path / "link" / "job.py", files, tmp_path / "out", reducers=0)
    pairs = pairs_of(tmp_path / "out")
    assert len({parent for parent, _ in pairs}) == 2
    assert {name for _, name in pairs} == {"real"}


# An interpreter that has a module in itself, as some have select, looks for no file of its name.
SHADOWING = {"socket": "socket.py", "select": "select.py", "resource": "resource/__init__.py"}


@pytest.mark.parametrize("module", [each for each in SHADOWING if each not in sys.builtin_module_names])
def test_a_module_of_the_script_may_have_the_name_of_one_of_python(tmp_path, files, module):
    path = tmp_path / SHADOWING[module]
    path.parent.mkdir(exist_ok=True)
    path.write_text("OURS = True\n")
    parents(tmp_path, files, inside=f"import {module}; assert {module}.OURS")


ENDS = {
    "raise ValueError('no')": "ValueError: no",
    "os._exit(0)": r"os\._exit\(0\) before the task was done",
    "os.kill(os.getsid(0), 9)": "it was ended by SIGKILL",
    "os.abort()": "it was ended by SIGABRT",
    "os._exit(7)": "exit code 7",
    "raise SystemExit(3)": "exit code",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_forked_task_that_fails_fails_the_job(tmp_path, files, end):
    inside = f"if value == LAST and is_forked(): {end}"
    with pytest.raises(JobError, match=ENDS[end]):
        parents(tmp_path, files, inside=inside)
    assert not (tmp_path / "out").exists()


def test_another_attempt_of_a_forked_task_succeeds(tmp_path, files):
    marks = tmp_path / "marks"
    marks.mkdir()
    inside = f"p = '{marks}/' + value.strip()\n        if not os.path.exists(p): open(p, 'w').close(); os._exit(5)"
    found = parents(tmp_path, files, inside=inside, attempts=2)
    assert len(found) == 1 and os.getpid() not in found  # the second attempts of the first tasks among them


SLOW_SERVER = "import time\n    if 'fork_server' in open('/proc/self/cmdline').read(): time.sleep({})"


def test_a_job_that_fails_does_not_wait_for_a_server(tmp_path, files, monkeypatch):
    monkeypatch.setattr(forked_task, "START_SECONDS", SECONDS)
    inside = "if value == '01': time.sleep(.5); raise ValueError('no')"
    with pytest.raises(JobError, match="no"):
        parents(tmp_path, files, before=SLOW_SERVER.format(2 * SECONDS), inside=inside)


def test_tasks_are_started_while_a_server_takes_long(tmp_path, files, monkeypatch):
    monkeypatch.setattr(forked_task, "START_SECONDS", 0.1)
    assert os.getpid() in parents(tmp_path, files, before=SLOW_SERVER.format(1))


def test_a_job_whose_server_is_killed_fails(tmp_path, files):
    """The tasks that run then have lost their exit codes."""
    inside = "if value == LAST and is_forked(): os.kill(os.getppid(), 9)"
    with pytest.raises(JobError, match="was ended by SIGKILL"):
        parents(tmp_path, files, inside=inside)
    assert not (tmp_path / "out").exists()


def test_after_its_server_has_ended_tasks_are_started_as_any_process(tmp_path, files):
    inside = "if value == LAST and is_forked(): os.kill(os.getppid(), 9)"
    found = parents(tmp_path, files, inside=inside, attempts=3)
    assert os.getpid() in found


def test_a_server_that_never_gets_ready_keeps_no_job_waiting(tmp_path, files):
    before = "import sys, time; time.sleep(600 * ('fork_server' in open('/proc/self/cmdline').read()))"
    assert parents(tmp_path, files, before=before) == {os.getpid()}


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_that_is_ended_leaves_no_forked_task(tmp_path, files, signum):
    folder = tmp_path / "pids"
    folder.mkdir()
    inside = (
        f"open('{folder}/' + str(os.getsid(0)), 'w').close()\n"
        "        import subprocess, time; child = subprocess.Popen(['sleep', '600'])\n"
        f"        open('{folder}/' + str(child.pid), 'w').close()\n"
        "        time.sleep(600 * is_forked())"
    )
    script = write_script(tmp_path, PARENTS.format(before="", inside=inside))
    words = [*RUN, "-q", script, files, "-o", tmp_path / "out", "-r", "0", "--processes", "2"]
    job = subprocess.Popen(words, env=environment())

    def forked():
        found = []
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
                if b"fork_server" in Path(f"/proc/{parent}/cmdline").read_bytes():
                    found.append(int(parent))
        return found

    try:
        until(lambda: len(forked()) == 4)  # two tasks and their children
        servers = forked()
        job.send_signal(signum)
        assert job.wait(SECONDS) != 0
        until(lambda: not any(map(is_running, [*os.listdir(folder), *servers])))
        until(lambda: not [name for name in os.listdir(tmp_path) if name not in ("in", "job.py", "pids")])
    finally:
        job.kill()


def test_an_old_script_is_forked_too(tmp_path, files):
    script = write_script(
        tmp_path,
        """
        import os
        from mrjob.job import MRJob

        class Parents(MRJob):
            def mapper(self, _, line):
                yield os.getppid(), line

        if __name__ == "__main__":
            Parents.run()
        """,
    )
    run(script, files, tmp_path / "out", reducers=0, front="mrjob")
    assert len({parent for parent, _ in pairs_of(tmp_path / "out")}) == 2


def test_functions_are_forked_too(tmp_path, files):
    write_script(
        tmp_path,
        f"""
        import os, sys
        from typedbytes import local

        def mapper(key, value):
            yield os.getppid(), value

        if __name__ == "__main__":
            local.run(mapper, inputs={str(files)!r}, output=sys.argv[1], quiet=True)
        """,
    )
    subprocess.run([sys.executable, tmp_path / "job.py", tmp_path / "out"], env=environment(), check=True)
    assert len({parent for parent, _ in pairs_of(tmp_path / "out")}) == 2


def test_a_program_that_is_no_script_of_ours_is_never_forked(tmp_path, files):
    """It would run to its end, on no input."""
    script = write_script(
        tmp_path,
        f"""
        import sys
        open({str(tmp_path / "runs")!r}, "a").write("run ")
        sys.stdout.buffer.write(sys.stdin.buffer.read())
        """,
    )
    from typedbytes import local

    local.run([sys.executable, str(script)], inputs=files, output=tmp_path / "out", quiet=True)
    assert (tmp_path / "runs").read_text().split() == ["run"] * NFILES


def test_modules_of_the_current_folder_are_left_alone(tmp_path, files, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "socket.py").write_text("raise ImportError\n")
    monkeypatch.chdir(tmp_path / "here")
    assert len(parents(tmp_path, files)) == 2
