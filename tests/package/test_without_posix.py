"""Where the system is not POSIX, as Windows: what works there, and what says in one line what it needs."""

import pytest

import typedbytes as tb
from support.subprocess_runs import run_fresh

# A system without POSIX: its modules cannot be imported, its functions are missing,
# and the module with its system calls is not built.
WITHOUT_POSIX = """
    import _signal, os, signal, sys

    for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "typedbytes.block._native"):
        sys.modules[name] = None
    for name in "fork killpg memfd_create posix_fallocate register_at_fork setsid O_CLOEXEC O_PATH".split():
        delattr(os, name)
    for module in (_signal, signal):
        for name in ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "setitimer", "pthread_sigmask"):
            delattr(module, name)
"""


def run_without_posix(code, *arguments):
    """Run lines in a fresh interpreter without POSIX; return what they printed."""
    return run_fresh(WITHOUT_POSIX + code, *arguments)


def test_every_module_but_two_packages():
    code = """
    import importlib, pkgutil
    import typedbytes

    sys.modules["pyspark"] = None    # whether or not it is installed

    def find(package):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if module.name.endswith(("__main__", "hook-typedbytes")):    # PyInstaller's
                continue
            try:
                found = importlib.import_module(module.name)
            except ImportError as error:
                print(type(error).__name__, error)
            else:
                if module.ispkg:
                    find(found)

    find(typedbytes)
    """
    assert set(run_without_posix(code).splitlines()) == {
        f"ImportError {part} needs a POSIX system, and this one has no fcntl: run it on Linux, on Windows in WSL"
        for part in ("typedbytes.block", "typedbytes.local")
    } | {
        "ModuleNotFoundError typedbytes.spark needs PySpark: pip install 'typedbytes[spark]'",
        "ModuleNotFoundError typedbytes.spark.register needs PySpark 4: pip install 'typedbytes[spark]'",
    }


COMMAND = """
    from typedbytes.cli import main

    sys.stderr = sys.stdout
    status = main(sys.argv[1:])
    print("exit code", status)
"""


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (["run", "job.py", "input", "-o", "output"], "typedbytes.local"),
        (["block", "encode"], "typedbytes.block"),
        (["block", "decode"], "typedbytes.block"),
        (["block", "echo"], "typedbytes.block"),
        (["cat", "--from", "block"], "typedbytes.block"),
        (["cat", "--to", "block"], "typedbytes.block"),
    ],
)
def test_commands_say_in_one_line_what_they_need(command, part, tmp_path):
    path = tmp_path / "input"
    path.write_bytes(b"1")  # no bytes need no part
    files = [] if command[0] == "run" else [str(path)]
    assert run_without_posix(COMMAND, *command, *files).splitlines() == [
        f"typedbytes {command[0]}: {part} needs a POSIX system, and this one has no fcntl: "
        "run it on Linux, on Windows in WSL",
        "exit code 69",
    ]


def test_commands_that_need_no_posix(tmp_path):
    path = tmp_path / "values"
    path.write_bytes(b"\x03\0\0\0\x05")
    assert run_without_posix(COMMAND, "to-json", "--values", path) == "5\nexit code 0"


@pytest.mark.parametrize("command", [["man"], ["completion", "bash"], ["block", "--help"], ["run", "--help"]])
def test_descriptions_of_all_commands(command):
    assert run_without_posix(COMMAND, *command).splitlines()[-1] == "exit code 0"


def test_a_task(tmp_path):
    path = tmp_path / "input"
    path.write_bytes(tb.dumps("a") + tb.dumps(1))
    code = """
    from typedbytes.streaming import run

    os.dup2(os.open(sys.argv.pop(), os.O_RDONLY), 0)
    sys.argv[1:] = ["map"]
    run(lambda key, value: [(key * 2, str(value) + chr(10))])
    """
    assert run_without_posix(code, path) + "\n" == (tb.dumps("aa") + tb.dumps("1\n")).decode()


def test_a_heartbeat_leaves_the_memory_out():
    code = """
    from typedbytes.streaming._heartbeat import Heartbeat

    sys.stderr.flush()
    os.dup2(1, 2)
    Heartbeat(iter([0, 5]).__next__).beat()
    """
    assert run_without_posix(code) == "\nreporter:status:5 records read"
