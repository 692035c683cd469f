"""Standard input and output in the hands of the task alone."""

import contextlib
import os
import subprocess
import sys

import pytest

from support.streaming_support import encode, environment, run_script
from typedbytes.streaming._descriptors import InputDescriptor, OutputDescriptor, open_descriptors

COPY = """
def mapper(key, value):
    %s
    yield key, value

run(mapper)
"""
PAIRS = encode(("a", 1), ("b", 2))


def standard_files():
    return [(found.st_dev, found.st_ino) for found in map(os.fstat, (0, 1))]


@contextlib.contextmanager
def taken_over():
    """Take standard input and output over for the length of a with block, which a task never leaves."""
    saved, stdout = (os.dup(0), os.dup(1)), sys.stdout
    source, sink = open_descriptors()
    try:
        yield source, sink
    finally:
        os.close(source.fileno())
        sink.close()
        for number, copy in enumerate(saved):
            os.dup2(copy, number)
            os.close(copy)
        sys.stdout = stdout


def test_a_task_has_standard_input_and_output_for_itself():
    before = standard_files()
    with taken_over() as (source, sink):
        assert standard_files() != before and sys.stdout is sys.stderr
        assert os.fstat(source.fileno()).st_ino == before[0][1]
        assert os.fstat(sink.fileno()).st_ino == before[1][1]
        assert not os.get_inheritable(source.fileno()) and not os.get_inheritable(sink.fileno())
        assert os.read(0, 1) == b""


@pytest.mark.parametrize(
    "noise",
    [
        "print('noise')", "print('noise', flush=True)", "sys.stdout.write('noise'); sys.stdout.flush()",
        "sys.__stdout__.write('noise'); sys.__stdout__.flush()",
        "sys.stdout.buffer.write(b'noise'); sys.stdout.buffer.flush()", "os.write(1, b'noise')",
        "os.system('echo noise')", "__import__('subprocess').run(['echo', 'noise'], check=True)",
        "__import__('ctypes').CDLL(None).puts(b'noise'); __import__('ctypes').CDLL(None).fflush(None)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_noise_goes_to_standard_error(tmp_path, noise, unbuffered):
    outcome = run_script(tmp_path, COPY % noise, "map", data=PAIRS, environ={"PYTHONUNBUFFERED": unbuffered})
    assert (outcome.code, outcome.output) == (0, PAIRS)
    assert outcome.messages.count("noise") == 2


def test_what_was_printed_before_is_not_a_record(tmp_path):
    outcome = run_script(tmp_path, "print('noise')\n" + COPY % "pass", "map", data=PAIRS)
    assert (outcome.code, outcome.output, outcome.messages) == (0, PAIRS, "noise\n")


@pytest.mark.parametrize(
    "reading", ["sys.stdin.read()", "os.read(0, 10)", "__import__('subprocess').check_output(['cat']).decode()"]
)
def test_no_other_process_reads_the_input(tmp_path, reading):
    outcome = run_script(tmp_path, COPY % f"status(len({reading}))", "map", data=PAIRS)
    assert (outcome.code, outcome.output) == (0, PAIRS)
    assert outcome.lines == ["reporter:status:0"] * 2


def test_children_inherit_no_records(tmp_path):
    listing = "status(__import__('subprocess').check_output(['ls', '/proc/self/fd']).decode().split())"
    outcome = run_script(tmp_path, COPY % listing, "map", data=PAIRS)
    assert outcome.lines[0] == "reporter:status:['0', '1', '2', '3']"  # 3 is the folder that ls reads


@pytest.mark.parametrize("closed, code", [("<&-", 74), (">&-", 74), ("2>&-", 0), (">&- 2>&-", 74), ("<&- 2>&-", 74)])
def test_closed_from_the_start(tmp_path, closed, code):
    script = tmp_path / "job.py"
    script.write_text("from typedbytes.streaming import run\nrun(lambda key, value: [(key, value)])\n")
    command = ["sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, str(script), "map"]
    done = subprocess.run(command, input=PAIRS, env=environment(), capture_output=True)
    assert (done.returncode, done.stdout) == (code, b"" if code else PAIRS)


def pipe(file_class, end, mode):
    descriptors = os.pipe()
    os.set_blocking(descriptors[end], False)
    return file_class(descriptors[end], mode), descriptors[1 - end]


def test_source_without_blocking_is_not_at_its_end():
    source, other = pipe(InputDescriptor, 0, "rb")
    with source:
        with pytest.raises(BlockingIOError) as caught:
            source.readinto(bytearray(1))
    os.close(other)
    assert source.error is caught.value


def test_sink_without_blocking_loses_nothing():
    sink, other = pipe(OutputDescriptor, 1, "wb")
    with sink:
        with pytest.raises(BlockingIOError) as caught:
            while True:
                sink.write(bytes(65536))
    os.close(other)
    assert sink.error is caught.value


def test_sink_remembers_that_closing_failed():
    sink, other = pipe(OutputDescriptor, 1, "wb")
    os.close(sink.fileno())
    os.close(other)
    with pytest.raises(OSError) as caught:
        sink.close()
    assert sink.error is caught.value
