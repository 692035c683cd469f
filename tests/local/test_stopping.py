"""Jobs and filters ended from outside: by a signal, by many, by one that cannot be handled, by a closed terminal.

What jobs leave at random moments is tested by tests/soak/chaos.py. Invariant: a test waits for events, and what it
looks for is looked for until it is there or gone.
"""

import contextlib
import fcntl
import functools
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.local_jobs import RUN, pairs_of, write_script
from support.namespaces import WITHOUT_PROC, needs_no_proc
from support.other_processes import is_running, until
from support.streaming_support import environment
from support.subprocess_runs import SECONDS
from typedbytes import local
from typedbytes.jobs.tasks import pipes, processes as job_processes, standard_error
from typedbytes.jobs.tasks.caretaker import Caretaker

#: Every process that the job starts writes its process ID into a file of its own;
#: the mapper then waits for the file "go".
WAITING = """
    import os, subprocess, sys, time
    from pathlib import Path
    from typedbytes import streaming

    HERE = Path(__file__).parent

    def note(name, pid):
        (HERE / f"new-{name}").write_text(str(pid))
        (HERE / f"new-{name}").rename(HERE / f"pid-{name}")

    def mapper(key, value):
        note("child", subprocess.Popen(["sleep", "600"]).pid)
        note("task", os.getpid())
        while not (HERE / "go").exists():
            time.sleep(0.01)
        yield key, value

    if __name__ == "__main__":
        streaming.run(mapper)
"""
#: One that waits before it does anything, so that the question which roles it has is not answered.
HANGING = """
    import os, time
    from pathlib import Path

    new = Path(__file__).parent / f"pid-new-{os.getpid()}"
    new.write_text(str(os.getpid()))
    new.rename(new.parent / "pid-task")
    time.sleep(600)
"""


def children_of(pid):
    return [
        int(each)
        for task in os.listdir(f"/proc/{pid}/task")
        for each in Path(f"/proc/{pid}/task/{task}/children").read_text().split()
    ]


def caretaker_of(job):
    """Return the ID of the process that looks after a job."""
    (found,) = (pid for pid in children_of(job.pid) if b"caretaker.py" in Path(f"/proc/{pid}/cmdline").read_bytes())
    return found


def defaults(ignored=()):
    """Put signals back: a shell's background job ignores some, and so would its children."""
    for signum in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN if signum in ignored else signal.SIG_DFL)


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the command over a script and gives it with its processes' numbers.

    Nothing outlives the test.
    """
    started = []

    def start(text=WAITING, names=("child", "task"), options=("-r", "0"), prepare=defaults, before=(), **more):
        script = write_script(tmp_path, text)
        (tmp_path / "in.txt").write_text("line\n")
        words = [*before, *RUN, "-q", script, tmp_path / "in.txt", "-o", tmp_path / "out", *options]
        job = subprocess.Popen(words, env=environment(), preexec_fn=prepare, **more)
        started.append(job.pid)
        until(lambda: all((tmp_path / f"pid-{name}").exists() for name in names) or job.poll() is not None)
        assert job.poll() is None
        pids = [int((tmp_path / f"pid-{name}").read_text()) for name in names]
        started.extend(pids)
        return job, pids

    yield start
    for pid in started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def left_in(folder):
    return sorted(
        name for name in os.listdir(folder) if not name.startswith("pid-") and name not in ("in.txt", "job.py", "go")
    )


NUMBERS = [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]


@pytest.mark.parametrize("how", [{}, {"text": HANGING, "names": ["task"], "options": []}], ids=["tasks", "probe"])
@pytest.mark.parametrize(("signum", "code"), NUMBERS)
def test_whatever_ends_a_job_no_file_and_no_process_is_left(start, tmp_path, signum, code, how):
    """In its tasks, or while the script is asked for its roles."""
    job, pids = start(**how)
    caretaker = caretaker_of(job)
    job.send_signal(signum)
    assert job.wait(SECONDS) == code
    if signum == signal.SIGKILL:
        until(lambda: not is_running(caretaker))
    assert left_in(tmp_path) == []
    until(lambda: not any(map(is_running, [*pids, caretaker])))


@needs_no_proc
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_a_job_nothing_is_left_without_proc(start, tmp_path, signum):
    """As on macOS, which has no signal for the death of a parent either."""
    job, pids = start(before=WITHOUT_PROC)
    caretaker = caretaker_of(job)
    job.send_signal(signum)
    job.wait(SECONDS)
    until(lambda: not any(map(is_running, [*pids, caretaker])))
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("first", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_more_signals_do_not_disturb_the_end(start, tmp_path, first):
    job, pids = start()
    job.send_signal(first)
    while job.poll() is None:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            job.send_signal(signum)
        time.sleep(0.001)
    assert left_in(tmp_path) == []
    until(lambda: not any(map(is_running, pids)))
    assert job.returncode in (129, 130, 143)


def test_a_terminal_that_is_closed_ends_the_job(start, tmp_path):
    ours, theirs = os.openpty()

    def own():
        defaults()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    job, pids = start(prepare=own, start_new_session=True, stdin=theirs)
    os.close(theirs)
    os.close(ours)
    assert job.wait(SECONDS) == 129
    assert left_in(tmp_path) == []
    until(lambda: not any(map(is_running, pids)))


@pytest.mark.parametrize("signum", [signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_was_ignored_stays_ignored(start, tmp_path, signum):
    job, pids = start(prepare=functools.partial(defaults, [signum]))
    job.send_signal(signum)
    (tmp_path / "go").touch()
    assert job.wait(SECONDS) == 0
    assert pairs_of(tmp_path / "out") == [(0, "line")]
    until(lambda: not any(map(is_running, pids)))


def test_a_job_goes_on_and_cleans_up_without_its_caretaker(start, tmp_path):
    job, pids = start()
    os.kill(caretaker_of(job), signal.SIGKILL)
    (tmp_path / "go").touch()
    assert job.wait(SECONDS) == 0
    assert left_in(tmp_path) == ["out"]
    until(lambda: not any(map(is_running, pids)))


def test_what_is_to_be_kept_is_kept_by_a_job_that_is_killed(start, tmp_path):
    job, pids = start(options=["-r", "0", "--keep-failed"])
    caretaker = caretaker_of(job)
    job.kill()
    job.wait()
    until(lambda: not is_running(caretaker))
    (kept,) = left_in(tmp_path)
    assert kept.startswith(".out-")
    until(lambda: not any(map(is_running, pids)))


def test_a_program_that_runs_a_job_leaves_nothing_when_it_is_killed(tmp_path):
    script = write_script(tmp_path, WAITING)
    (tmp_path / "in.txt").write_text("line\n")
    code = (
        "import sys; from typedbytes import local; local.run_script(sys.argv[1], inputs=sys.argv[2], "
        "output=sys.argv[3])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, script, tmp_path / "in.txt", tmp_path / "out"], env=environment()
    ) as program:
        try:
            until((tmp_path / "pid-task").exists)
            caretaker, pids = (
                caretaker_of(program),
                [int((tmp_path / f"pid-{name}").read_text()) for name in ("child", "task")],
            )
        finally:
            program.terminate()  # by a signal that it does not handle
    until(lambda: not is_running(caretaker))
    assert left_in(tmp_path) == []
    until(lambda: not any(map(is_running, pids)))


#: A program that forks while its job runs, from another thread than the job's; the child lives on.
FORKING = """
import os, sys, threading, time, warnings
from pathlib import Path
from typedbytes import local

script, source, output = map(Path, sys.argv[1:])
here = script.parent
options = dict(inputs=source, output=output, reducers=0, quiet=True)
job = threading.Thread(target=local.run_script, args=[script], kwargs=options)
job.start()
while not (here / "pid-task").exists():
    time.sleep(0.01)
warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
child = os.fork()
if child == 0:
    time.sleep(600)
    os._exit(0)
(here / "new").write_text(str(child))
(here / "new").rename(here / "pid-forked")
job.join()
"""


@pytest.mark.parametrize("is_killed", [False, True], ids=["ends", "is killed"])
def test_a_process_that_the_program_forks_does_not_keep_the_job(tmp_path, is_killed):
    script = write_script(tmp_path, WAITING)
    (tmp_path / "in.txt").write_text("line\n")
    pids = []
    with subprocess.Popen(
        [sys.executable, "-c", FORKING, script, tmp_path / "in.txt", tmp_path / "out"], env=environment()
    ) as program:
        try:
            until((tmp_path / "pid-forked").exists)
            pids = [int((tmp_path / f"pid-{name}").read_text()) for name in ("forked", "child", "task")]
            caretaker = caretaker_of(program)
            program.kill() if is_killed else (tmp_path / "go").touch()
            assert program.wait(SECONDS) == (-signal.SIGKILL if is_killed else 0)
            until(lambda: not is_running(caretaker))
            assert is_running(pids[0]) and left_in(tmp_path) == ([] if is_killed else ["out"])
        finally:
            program.kill()
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def test_a_caretaker_ends_while_another_process_holds_its_pipe():
    caretaker = Caretaker()
    held = os.dup(caretaker._pipe.fileno())
    ending = threading.Thread(target=caretaker.finish, daemon=True)
    ending.start()
    ending.join(SECONDS)
    is_ended = not ending.is_alive()
    os.close(held)
    assert is_ended


def is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def exit_code_of_a_child(descriptor):
    """Fork a process that has the exit code 1 if its copy of a descriptor is open; return the code."""
    child = os.fork()
    if child == 0:
        os._exit(is_open(descriptor))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_true(processes):
    messages = SimpleNamespace(handle=lambda line, whole: None, tail=[], exceeded_limit=None)
    processes.run(["true"], os.environ, lambda sink: None, lambda source: None, messages)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("use", [lambda processes: Caretaker().finish(), run_true], ids=["caretaker", "task"])
def test_a_process_that_is_forked_while_a_pipe_is_made_has_no_copy(use, monkeypatch):
    make, forking, codes = os.pipe, [], []

    def make_and_fork():
        ends = make()
        if not forking:
            forking.append(threading.Thread(target=lambda: codes.append(exit_code_of_a_child(ends[1]))))
            forking[0].start()
            forking[0].join(0.5)  # no longer: it may have to wait until the pipe is made
        return ends

    with job_processes.Processes() as processes:
        monkeypatch.setattr(os, "pipe", make_and_fork)
        use(processes)
        forking[0].join()
    assert codes == [0]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_closes_its_copies_though_one_is_closed_already(monkeypatch):
    with contextlib.ExitStack() as stack:
        (_, closed), (_, pipe) = [[stack.enter_context(end) for end in pipes.make_pipe()] for _ in range(2)]
        monkeypatch.setattr(pipes, "_pipes", [closed, pipe])
        descriptor = closed.fileno()
        copy = os.dup(descriptor)
        os.close(descriptor)
        try:
            assert exit_code_of_a_child(pipe.fileno()) == 0
        finally:
            os.dup2(copy, descriptor)
            os.close(copy)


def test_a_process_can_be_forked_in_a_thread_that_makes_a_pipe():
    with pipes._lock:
        assert exit_code_of_a_child(0) == 1
        assert exit_code_of_a_child(0) == 1


# -- filters ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("signum", "code"), NUMBERS[:3])
@pytest.mark.parametrize("words", [["cat"], ["sort"], ["partition", "-n", "2"]], ids=lambda words: words[0])
def test_a_filter_that_is_ended_leaves_no_part_of_its_output(tmp_path, words, signum, code):
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-m", "typedbytes", *words, "-o", tmp_path / "out"]
    variables = environment({"TMPDIR": str(tmp_path / "tmp")})
    with subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, preexec_fn=defaults) as job:
        job.stdin.write(b"\2\1" * 10_000)
        job.stdin.flush()
        until(lambda: any(name.endswith(".partial") for name in os.listdir(tmp_path)))
        while job.poll() is None:  # a signal that comes just before a system call is handled after it
            job.send_signal(signum)
            time.sleep(0.01)
    assert job.returncode == code
    assert os.listdir(tmp_path) == ["tmp"]
    assert os.listdir(tmp_path / "tmp") == []


# -- signals of tasks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("offset", "said"), [(1, f"signal {signal.SIGRTMIN + 1} (SIGRTMIN+1)"), (0, "SIGRTMIN")])
def test_a_task_that_a_real_time_signal_ends_is_tried_again(tmp_path, offset, said):
    script = write_script(
        tmp_path,
        f"""
        import os, signal
        from typedbytes import streaming

        def mapper(key, value):
            with open(os.path.join(os.path.dirname(__file__), "tried"), "a") as file:
                file.write("once ")
            os.kill(os.getpid(), signal.SIGRTMIN + {offset})

        if __name__ == "__main__":
            streaming.run(mapper)
        """,
    )
    (tmp_path / "in.txt").write_text("line\n")
    words = [*RUN, "-q", script, tmp_path / "in.txt", "-o", tmp_path / "out", "-r", "0", "--attempts", "2"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True)
    assert done.returncode == 1
    assert f"failed: it was ended by {said}" in done.stderr
    assert (tmp_path / "tried").read_text() == "once once "


def test_a_script_that_a_real_time_signal_ends_is_reported(tmp_path):
    script = write_script(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGRTMIN + 1)")
    (tmp_path / "in.txt").write_text("line\n")
    with pytest.raises(
        local.JobError,
        match=rf"was ended by signal {signal.SIGRTMIN + 1} \(SIGRTMIN\+1\) when it was started without input",
    ):
        local.run_script(script, inputs=tmp_path / "in.txt", output=tmp_path / "out")


def exists(pid):
    """Return whether a process ID is in use, by a process that may have ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_only_numbers_that_are_still_its_processes_own_are_ended(monkeypatch):
    # A process that has ended keeps its ID until it is waited for; then the ID may become that of others.
    started, own, usual = [], [], os.killpg
    monkeypatch.setattr(os, "killpg", lambda group, signum: (own.append(exists(group)), usual(group, signum)))

    def fail_late(sink):
        until(lambda: started and not exists(started[0]))
        raise LookupError("late")

    messages = SimpleNamespace(handle=lambda line, whole: None, tail=[], exceeded_limit=None)
    command = [sys.executable, "-c", "import os; print(os.getpid())"]
    with job_processes.Processes() as processes:
        for feed, outcome in (
            (lambda sink: None, contextlib.nullcontext()),
            (fail_late, pytest.raises(LookupError, match="late")),
        ):
            with outcome:
                processes.run(command, os.environ, feed, lambda source: started.append(int(source.read())), messages)
            started.clear()
        assert processes.run_without_input([sys.executable, "-c", "raise SystemExit('no')"], os.environ, SECONDS) == (
            1,
            b"no\n",
        )
        with pytest.raises(subprocess.TimeoutExpired):
            processes.run_without_input(["sleep", "600"], os.environ, 0.01)
    assert len(own) >= 4 and all(own)


# -- processes that a task leaves running -----------------------------------------------------------------

#: A process in a session of its own, which is not ended with its task, that keeps what it has inherited open.
LEAVING = """
    import os, subprocess, sys
    from typedbytes import streaming

    def mapper(key, value):
        command = ["sh", "-c", sys.argv[2]]
        with open(os.path.join(os.path.dirname(__file__), "pid-child"), "w") as file:
            file.write(str(subprocess.Popen(command, start_new_session=True).pid))
        for number in range(100):
            print(number, "said by the task", file=sys.stderr)
        streaming.counter("lines", "read")
        yield key, value

    if __name__ == "__main__":
        streaming.run(mapper)
"""


@pytest.mark.parametrize(
    "command",
    ["exec sleep 20", "trap '' PIPE; for i in $(seq 400); do echo more >&2; sleep 0.05; done"],
    ids=["silent", "writing"],
)
def test_a_process_that_outlives_its_task_does_not_keep_the_job(tmp_path, command):
    (tmp_path / "in.txt").write_text("line\n")
    script = write_script(tmp_path, LEAVING)
    environ = {name: environment()[name] for name in ("PYTHONPATH", "PYTHONWARNINGS")}
    result = local.run_script(
        script, [command], inputs=tmp_path / "in.txt", output=tmp_path / "out", environ=environ, quiet=True
    )
    pid = int((tmp_path / "pid-child").read_text())
    try:
        assert is_running(pid)
        assert result.counters["lines"]["read"] == 1
        assert pairs_of(tmp_path / "out") == [(0, "line")]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


LEAVE = (
    "import subprocess, sys; child = subprocess.Popen({!r}, start_new_session=True, stdout=subprocess.DEVNULL); "
    "print(child.pid, file=sys.stderr); "
)


def test_a_process_that_outlives_a_question_does_not_keep_the_job():
    with job_processes.Processes() as processes:
        command = [sys.executable, "-c", LEAVE.format(["sleep", "20"]) + "raise SystemExit(3)"]
        code, messages = processes.run_without_input(command, os.environ, SECONDS)
    pid = int(messages)
    try:
        assert code == 3 and is_running(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_what_a_task_wrote_before_its_end_is_read_while_another_holds_its_standard_error(monkeypatch):
    monkeypatch.setattr(standard_error, "STDERR_SECONDS", 0)
    lines = []
    messages = SimpleNamespace(handle=lambda line, whole: lines.append(line), tail=[], exceeded_limit=None)
    # less than a pipe holds
    write = LEAVE.format(["sleep", "20"]) + "sys.stderr.write('a line of 25 characters \\n' * 2000)"
    with job_processes.Processes() as processes:
        processes.run(
            [sys.executable, "-c", write], os.environ, lambda sink: None, lambda source: source.read(), messages
        )
    os.kill(int(lines[0]), signal.SIGKILL)
    assert len(lines) == 2001


def test_a_process_that_holds_the_input_of_its_failed_task_does_not_keep_the_job():
    messages = SimpleNamespace(handle=lambda line, whole: None, tail=[], exceeded_limit=None)
    command = [
        sys.executable,
        "-c",
        LEAVE.format(["sleep", "20"]).replace("; print", "; sys.stdout.write(str(child.pid)); print") + "sys.exit(3)",
    ]
    pids = []

    def feed(sink):
        for _ in range(50):
            sink.write(bytes(1 << 20))

    with job_processes.Processes() as processes, pytest.raises(job_processes.TaskError, match="exit code 3"):
        processes.run(command, os.environ, feed, lambda source: pids.append(int(source.read())), messages)
    try:
        assert is_running(pids[0])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pids[0], signal.SIGKILL)
