"""How tasks end: 0 for all of the work done, and for anything else a code and a report."""

import os
import pathlib
import shlex
import signal
import subprocess
import sys

import pytest

from support.streaming_support import encode, environment, finish, read_message, run_script, start, write_script

ROOT = pathlib.Path(__file__).parents[2]

COPY = "run(lambda key, value: [(key, value)], lambda key, values: [(key, value) for value in values])"
GOOD = encode(("a", 1), ("a", 2), ("b", 3))
LARGE = encode(*[("key", "x" * 1000)] * 1000)
ATTEMPT = {"mapreduce_task_attempt_id": "attempt_1_0001_m_000003_0", "mapreduce_map_input_file": "hdfs://host/in.tb"}


# 1: user code.


def test_a_file_that_fails_again_when_the_output_is_dropped(tmp_path):
    """A SequenceFile that a task writes itself raises the error of its codec again."""
    script = """
import zlib
def fail(data):
    raise RuntimeError("worn out")
zlib.compress = fail
run(lambda key, value: [(key, bytes(2_000_000))])
"""
    compression = {"compress": "true", "compress_type": "BLOCK"}
    environ = {f"mapreduce_output_fileoutputformat_{name}": text for name, text in compression.items()}
    outcome = run_script(tmp_path, script, "map", data=GOOD, environ={"stream_map_output": "split", **environ})
    assert outcome.code == 1 and outcome.messages.count("RuntimeError: worn out") == 1


@pytest.mark.parametrize("role, read", [("map", "3 records, 33 bytes"), ("reduce", "2 records, 28 bytes")])
def test_exception_in_user_code(tmp_path, role, read):
    script = """
def job(key, value):
    if key == "b":
        raise KeyError("not\\nhere")
    return [(key, 1)]
run(job, job)
"""
    outcome = run_script(tmp_path, script, role, data=GOOD, environ=ATTEMPT)
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.details() == {
        "task failed": "user code failed (exit code 1)",
        "attempt": "attempt_1_0001_m_000003_0",
        "input file": "hdfs://host/in.tb",
        "input read": read,
        "key": f"'b' ({encode(('b',)).hex()})",
        **({"value": f"3 ({encode((3,)).hex()})"} if role == "map" else {}),  # that of a reducer is an iterator
    }
    assert outcome.lines[len(outcome.details())] == "Traceback (most recent call last):"
    assert outcome.lines[-1] == "KeyError: 'not\\nhere'"


@pytest.mark.parametrize("role", ["map", "reduce"])
def test_damaged_input_shows_a_traceback_where_user_code_ran(tmp_path, role):
    script = """
def mapper(key, value):
    return [(key, value)]
def reducer(key, values):
    return [(key, sum(values))]
run(mapper, reducer)
"""
    outcome = run_script(tmp_path, script, role, data=encode(("a", 1), ("a", 2))[:-1])
    assert (outcome.code, outcome.output) == (65, b"")
    shown = "Traceback (most recent call last):" in outcome.lines
    assert shown == (role == "reduce"), outcome.lines
    assert not shown or any("sum(values)" in line for line in outcome.lines)
    assert outcome.details()["reason"].startswith("input ends inside INT")


def test_long_key_in_a_report_is_cut(tmp_path):
    outcome = run_script(tmp_path, "run(lambda key, value: 1 / 0)", "map", data=encode(("k" * 10_000, "k" * 10_000)))
    for name in ("key", "value"):
        assert outcome.details()[name] == f"'{'k' * 199} ({encode(('k' * 10_000,))[:64].hex()})"


def test_the_value_in_a_report_is_that_of_the_record_that_failed(tmp_path):
    script = """
def mapper(key, value):
    yield key, value
    if value == 3:
        raise ValueError
run(mapper)
"""
    outcome = run_script(tmp_path, script, "map", data=encode((0, 1), (1, 3), (2, 5)))
    assert outcome.details()["value"].startswith("3 (")
    outcome = run_script(tmp_path, script, "map", data=encode((0, 1)) + b"\x07\x00\x00\x00\x02\xc3\x28")
    assert outcome.code == 65 and "value" not in outcome.details()


def test_key_that_cannot_be_encoded_again_is_shown_as_a_value(tmp_path):
    script = "run(lambda key, value: 1 / 0, read_options={'ext_hook': lambda code, data: object()})"
    outcome = run_script(tmp_path, script, "map", data=bytes.fromhex("3300000000 0300000001"))
    assert outcome.code == 1
    assert outcome.details()["key"].startswith("<object object at 0x") and "input read" in outcome.details()


def test_messages_longer_than_a_line_are_cut(tmp_path):
    outcome = run_script(tmp_path, "def f(*pair): raise ValueError('x' * 10000)\nrun(f)", "map", data=GOOD)
    assert outcome.code == 1
    assert max(map(len, outcome.lines)) == 4095


@pytest.mark.parametrize(
    "failure",
    [
        "1 / 0", "next(iter(()))", "key.nothing", "open('/nowhere/at/all')", "os.write(99, b'')", "tb.loads(b'')",
        "[(object(), 1)]", "counter('g', 'n', 0.5)", "bytes(2**62)",
    ],
)  # fmt: skip
def test_any_failure_of_user_code_is_its_own(tmp_path, failure):
    outcome = run_script(tmp_path, f"run(lambda key, value: {failure})", "map", data=GOOD)
    assert (outcome.code, outcome.output) == (1, b"")


@pytest.mark.parametrize("method", ["__init__", "configure", "map", "close"])
@pytest.mark.parametrize(
    "error", ["AttributeError('x')", "StopIteration", "SystemExit(0)", "SystemExit", "GeneratorExit"]
)
def test_failure_at_any_position(tmp_path, method, error):
    script = f"""
class Job:
    def map(self, key, value):
        return [(key, value)]
def fail(*arguments):
    raise {error}
Job.{method} = fail
run(Job)
"""
    outcome = run_script(tmp_path, script, "map", data=GOOD)
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.details()["task failed"] == "user code failed (exit code 1)"
    assert ("input read" in outcome.details()) == (method == "map")
    assert ("StopEarly" in outcome.messages) == error.startswith("SystemExit")


def test_what_is_not_an_iterable_of_pairs_is_named(tmp_path):
    outcome = run_script(tmp_path, "run(lambda key, value: 7)", "map", data=GOOD)
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.details()["returned"] == "int, expected pairs of key and value: yield them, or return a list"


@pytest.mark.parametrize("exit_call", ["sys.exit(0)", "sys.exit()", "exit(0)", "sys.exit('done')"])
def test_exit_inside_user_code_is_a_failure(tmp_path, exit_call):
    script = f"def job(key, value):\n    yield key, value\n    {exit_call}\nrun(job)"
    outcome = run_script(tmp_path, script, "map", data=GOOD)
    assert (outcome.code, outcome.output) == (1, b"")
    assert "StopEarly" in outcome.details()["exit"]


LATE = """
class Job:
    seen = 0
    def map(self, key, value):
        self.seen += 1
        yield key, value
        if self.seen == 3 or self.seen == 900:
            {leave}
run(Job)
"""
WAYS_OUT = {
    "os._exit": "os._exit(0)",
    "os._exit that wraps to 0": "os._exit(256)",
    "os._exit in a thread": "__import__('_thread').start_new_thread(os._exit, (0,)); time.sleep(60)",
    "another program": "os.execv('/bin/true', ['true'])",
    "another program by name": "os.execlp('true', 'true')",
    "another program with an environment": "os.execve(path='/bin/true', argv=['true'], env={})",
}


@pytest.mark.parametrize("data", [GOOD, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("leave", WAYS_OUT.values(), ids=WAYS_OUT)
def test_no_way_out_looks_like_success(tmp_path, leave, data):
    outcome = run_script(tmp_path, LATE.format(leave=leave), "map", data=data)
    assert outcome.code == 1
    assert "os._exit" in outcome.lines[-1] or "cannot exec another program" in outcome.lines[-1]


# As coverage.py does.
REPLACED = (
    "import os\ndef wrapped(leave):\n    return lambda status: leave(status)\nos._exit = wrapped(os._exit)\n"
    "from posix import _exit"
)


@pytest.mark.parametrize(
    "binding", ["from os import _exit", "from posix import _exit", "from beside import leave as _exit", REPLACED]
)
def test_no_name_of_os_exit_looks_like_success(tmp_path, binding):
    (tmp_path / "beside.py").write_text("from os import _exit as leave\n")
    outcome = run_script(tmp_path, binding + LATE.format(leave="_exit(0)"), "map", data=GOOD)
    assert outcome.code == 1
    assert "os._exit(0)" in outcome.lines[-1]


@pytest.mark.parametrize("module", ["os", "posix"])
def test_another_program_is_refused_by_any_name(tmp_path, module):
    script = f"from {module} import execv" + LATE.format(leave="execv('/bin/true', ['true'])")
    outcome = run_script(tmp_path, script, "map", data=GOOD)
    assert outcome.code == 1
    assert "cannot exec another program" in outcome.lines[-1]


def test_an_exit_code_of_the_tasks_own_is_kept(tmp_path):
    assert run_script(tmp_path, LATE.format(leave="os._exit(7)"), "map", data=GOOD).code == 7


ENDS = {
    "SystemExit caught": "try:\n    {run}\nexcept SystemExit:\n    pass",
    "all caught": "try:\n    {run}\nexcept:\n    status('caught')",
    "its code read": (
        "try:\n    {run}\nexcept SystemExit as error:\n    print('ended with', error.code, file=sys.stderr)"
    ),
    "its code returned": (
        "def main():\n    try:\n        {run}\n    except SystemExit as error:\n        return error.code\nmain()"
    ),
    "run again": "try:\n    {run}\nexcept SystemExit:\n    run(lambda *pair: None)",
    "os._exit after it": "try:\n    {run}\nfinally:\n    os._exit(0)",
    "os._exit at the end": "import atexit; atexit.register(lambda: os._exit(0))\n{run}",
    "os._exit at the very end": "import atexit; atexit.register(lambda: os._exit(0))\ntry:\n    {run}\nexcept: pass",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_code_of_a_task_is_that_of_the_process(tmp_path, end):
    """Whatever the script does with the SystemExit of run()."""
    for task, data, words, code in [
        ("1 / 0", GOOD, ("map",), 1),
        ("None", GOOD[:-1], ("map",), 65),
        ("None", GOOD, ("mapp",), 64),
        ("None", GOOD, ("map",), 0),
    ]:
        outcome = run_script(tmp_path, end.format(run=f"run(lambda *pair: {task})"), *words, data=data)
        assert (outcome.code, outcome.output) == (code, b"")


def test_what_a_task_forks_leaves_as_it_likes(tmp_path):
    leave = "child = os.fork(); child or os._exit(0); assert os.waitpid(child, 0)[1] == 0"
    assert run_script(tmp_path, LATE.format(leave=leave), "map", data=GOOD).output == GOOD
    leave = "child = os.fork(); child or os.execv('/bin/true', ['true']); assert os.waitpid(child, 0)[1] == 0"
    assert run_script(tmp_path, LATE.format(leave=leave), "map", data=GOOD).output == GOOD


@pytest.mark.parametrize("data", [GOOD, LARGE], ids=["small", "large"])
def test_what_a_task_forks_reads_and_writes_no_records(tmp_path, data):
    script = LATE.format(leave="counter('g', 'n'); os.fork()")
    outcome = run_script(tmp_path, script, "map", data=data)
    assert (outcome.code, outcome.output) == (0, data)
    assert outcome.lines.count("reporter:counter:g,n,1") + outcome.lines.count("reporter:counter:g,n,2") == 1
    assert "not to one forked from it" in outcome.messages


def test_what_cannot_be_called(tmp_path):
    outcome = run_script(tmp_path, "run('mapper')", "map", data=GOOD)
    assert outcome.code == 1
    assert outcome.lines[-1] == "TypeError: mapper is 'mapper', which is not a function and has no method map()"


@pytest.mark.parametrize("options", ["read_options={'bogus': 1}", "write_options={'bogus': 1}"])
def test_options_that_do_not_exist(tmp_path, options):
    outcome = run_script(tmp_path, f"run(lambda *pair: [pair], {options})", "map", data=GOOD)
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.lines[-1].startswith("TypeError: ") and "bogus" in outcome.lines[-1]


def test_failure_of_a_hook_is_user_code(tmp_path):
    script = "run(lambda *pair: [pair], read_options={'ext_hook': lambda code, data: 1 / 0})"
    outcome = run_script(tmp_path, script, "map", data=GOOD + bytes.fromhex("3300000000 0300000001"))
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.lines[-1] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("environ", [{}, ATTEMPT])
def test_text_of_python_2_names_the_option_that_keeps_it(tmp_path, environ):
    data = bytes.fromhex("0700000002 63e9 0300000001")
    outcome = run_script(tmp_path, COPY, "map", data=data, environ=environ)
    assert outcome.code == 65 and outcome.output == b""
    advice = outcome.details()["what to do"]
    assert advice.startswith(
        'options = {"unicode_errors": "surrogateescape"}; run(..., read_options=options, write_options=options)'
    )
    options = '{"unicode_errors": "surrogateescape"}'
    kept = run_script(
        tmp_path, COPY[:-1] + f", read_options={options}, write_options={options})", "map", data=data, environ=environ
    )
    assert (kept.code, kept.output) == (0, data)


# 64: usage.


@pytest.mark.parametrize(
    "script, words, environ",
    [
        (COPY, (), {}),
        (COPY, ("mapp",), {"mapreduce_task_ismap": "true"}),
        ("run(print, print, print)", (), {"mapreduce_task_ismap": "true"}),
        (COPY, ("combine",), {}),
        ("run(None, print)", ("map",), {}),
        (COPY, ("map",), {"stream_map_input_writer_class": "com.example.Columns"}),
    ],
)
def test_usage(tmp_path, script, words, environ):
    outcome = run_script(tmp_path, script, *words, data=GOOD, environ=environ)
    assert (outcome.code, outcome.output) == (64, b"")
    assert outcome.lines[-1].endswith("job.py map|combine|reduce, or: typedbytes run job.py INPUT -o FOLDER")
    assert len(outcome.lines) == 2


# 65: bad input.


@pytest.mark.parametrize("role", ["map", "reduce"])
@pytest.mark.parametrize(
    "tail, offset",
    [
        (encode(("b",)), 6),  # a key without a value
        (encode(("b",))[:-1], 5),  # inside a key
        (encode(("b", "long value"))[:-1], 20),  # inside a value
        (b"\xff" + GOOD, 0),  # a marker for a key
        (encode(("b",)) + b"\xff" + GOOD, 6),  # a marker for a value
        (encode(("b",)) + b"\x09\x03\x00\x00\x00\x01", 12),  # a list without an end
        (b"hello", 0),  # text
        (b"\x07\x00\x00\x00\x01\xff" + b"\x02\x01", 0),  # not UTF-8
    ],
)
def test_bad_input(tmp_path, role, tail, offset):
    outcome = run_script(tmp_path, COPY, role, data=GOOD + tail, environ=ATTEMPT)
    assert (outcome.code, outcome.output) == (65, b"")
    details = outcome.details()
    assert details["task failed"] == "bad input (exit code 65)"
    assert details["attempt"] == ATTEMPT["mapreduce_task_attempt_id"]
    if tail != b"hello":
        assert details["bad record"] == f"3, at byte {len(GOOD) + offset}"


@pytest.mark.parametrize("after", ["pass", "raise ValueError from None", "raise StopEarly", "sys.exit(0)"])
def test_bad_input_cannot_be_talked_away(tmp_path, after):
    script = f"""
def reducer(key, values):
    try:
        list(values)
    except tb.DecodeError:
        {after}
run(None, reducer)
"""
    assert run_script(tmp_path, script, "reduce", data=GOOD[:-1]).code == 65


@pytest.mark.parametrize("role", ["map", "reduce"])
def test_bad_raw_bytes(tmp_path, role):
    environ = {"stream_map_input": "rawbytes", "stream_reduce_input": "rawbytes"}
    outcome = run_script(tmp_path, COPY, role, data=b"\x00\x00\x00\x01k", environ=environ)
    assert outcome.code == 65
    assert outcome.details()["bad record"] == "0, at byte 5"


TEXT = b"a rose is a rose\nis a rose\n"
WORDS = """
def mapper(number, line):
    for word in line.split():
        yield word, 1
def reducer(word, counts):
    yield word, sum(counts)
run(mapper, reducer)
"""


def pipe(folder, command):
    """Run a line of bash beside a script of word counting, over a text, and return its output and its last message."""
    write_script(folder, WORDS)
    (folder / "a.txt").write_bytes(TEXT)
    bins = (
        f'python() {{ {shlex.quote(sys.executable)} "$@"; }}; typedbytes() {{ python -m typedbytes "$@"; }}; '
        "set -o pipefail; "
    )
    done = subprocess.run(
        ["bash", "-c", bins + command], cwd=folder, env=environment({"LC_ALL": "C"}), capture_output=True
    )
    return done.returncode, done.stdout, done.stderr.decode().strip().splitlines()[-1:]


def test_a_pipe_of_text(tmp_path):
    by_hand = "cat a.txt | stream_map_input=text python job.py map | typedbytes sort --pairs | python job.py reduce"
    assert pipe(tmp_path, by_hand) == (0, encode(("a", 3), ("is", 2), ("rose", 3)), [])
    assert by_hand in (ROOT / "docs" / "streaming.md").read_text()


def test_a_pipe_of_what_is_no_typed_bytes_says_what_to_do(tmp_path):
    code, output, message = pipe(tmp_path, "cat a.txt | python job.py map")
    assert (code, output) == (65, b"")
    assert message[0].startswith(
        'typedbytes: what to do: for lines of text: "cat FILE | stream_map_input=text python job.py map"'
    )
    code, output, message = pipe(
        tmp_path, "cat a.txt | stream_map_input=text python job.py map | sort | python job.py reduce"
    )
    assert (code, output) == (65, b"")
    assert message[0].startswith(
        'typedbytes: what to do: sort pairs with "typedbytes sort --pairs", sort alone takes them apart'
    )
    for format_name, environ in (("typedbytes", {"mapreduce_job_id": "job_1_0001"}), ("rawbytes", {})):
        environ = {**environ, "stream_map_input": format_name}
        # no pipe by hand
        assert "what to do" not in run_script(tmp_path, WORDS, "map", data=TEXT, environ=environ).details()


# 70: ourselves.


def test_internal_error(tmp_path):
    script = "import typedbytes.streaming._run as inside\ninside.open_descriptors = lambda: 1 / 0\n" + COPY
    outcome = run_script(tmp_path, script, "map", data=GOOD)
    assert (outcome.code, outcome.output) == (70, b"")
    assert outcome.details()["task failed"] == "internal error (exit code 70)"


# 74: input and output.


@pytest.mark.parametrize("data", [GOOD, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("form", ["typedbytes", "text"])
def test_full_device(tmp_path, data, form):
    with open("/dev/full", "wb") as full:
        outcome = run_script(tmp_path, COPY, "map", data=data, stdout=full, environ={"stream_map_output": form})
    assert outcome.code == 74
    assert outcome.details()["task failed"] == "input or output failed (exit code 74)"
    assert "No space left" in outcome.lines[-1]


@pytest.mark.parametrize("data", [GOOD, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("form", ["typedbytes", "text"])
def test_output_that_is_not_read(tmp_path, data, form):
    child = start(tmp_path, COPY, "map", environ={"stream_map_output": form})
    child.stdout.close()
    child.stdout = None
    outcome = finish(child, data)
    assert outcome.code == 74
    assert "BrokenPipeError" in outcome.lines[-1]


def test_broken_pipe_is_an_error_whatever_the_script_did_to_the_signal(tmp_path):
    script = "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n" + COPY
    child = start(tmp_path, script, "map")
    child.stdout.close()
    child.stdout = None
    assert finish(child, GOOD).code == 74


@pytest.mark.parametrize("role", ["map", "reduce"])
@pytest.mark.parametrize("form", ["typedbytes", "text", "rawbytes"])
def test_input_that_cannot_be_read(tmp_path, role, form):
    environ = {"stream_map_input": form, "stream_reduce_input": form}
    with open(tmp_path / "write only", "wb") as file:
        outcome = run_script(tmp_path, COPY, role, stdin=file, data=None, environ=environ)
    assert (outcome.code, outcome.output) == (74, b"")


def test_descriptors_closed_by_user_code(tmp_path):
    outcome = run_script(tmp_path, "run(lambda key, value: os.closerange(3, 100) or [(key, value)])", "map", data=GOOD)
    assert (outcome.code, outcome.output) == (74, b"")


@pytest.mark.parametrize("data", [GOOD, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("before", ["os.closerange(3, 50)", "pass"], ids=["closed", "open"])
def test_descriptors_that_user_code_opens_again(tmp_path, before, data):
    other = (
        f"{before}; self.other = [os.dup2(os.open({str(tmp_path / 'other')!r}, os.O_RDWR | os.O_CREAT), "
        "n) for n in range(3, 10)]"
    )
    outcome = run_script(tmp_path, LATE.format(leave=other), "map", data=data)
    assert outcome.code == 74 or (data is LARGE and outcome.code == 65)
    assert outcome.output == b"" or data is LARGE
    assert (tmp_path / "other").read_bytes() == b""


# Signals.


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("doing", ["time.sleep(60)", "os.read(os.pipe()[0], 1)"])
def test_signals(tmp_path, number, code, doing):
    script = f"""
def mapper(key, value):
    yield key, value
    status("ready")
    try:
        {doing}
    except BaseException:
        yield key, value
run(mapper)
"""
    child = start(tmp_path, script, "map")
    child.stdin.write(GOOD)
    child.stdin.flush()
    assert read_message(child) == b"reporter:status:ready"
    child.send_signal(number)
    outcome = finish(child)
    assert (outcome.code, outcome.output) == (code, b"")
    assert outcome.lines == [f"typedbytes: stopped by {number.name}"]


def test_signal_while_waiting_for_input(tmp_path):
    child = start(tmp_path, "run(lambda key, value: status('ready'))", "map")
    child.stdin.write(encode((1, 1)))
    child.stdin.flush()
    assert read_message(child) == b"reporter:status:ready"
    child.send_signal(signal.SIGTERM)
    assert finish(child).code == 143


def test_interrupt_raised_by_user_code(tmp_path):
    outcome = run_script(tmp_path, "def f(*pair): raise KeyboardInterrupt\nrun(f)", "map", data=GOOD)
    assert (outcome.code, outcome.output) == (130, b"")


# 0: after all.


def test_nothing_is_reported_when_all_is_well(tmp_path):
    outcome = run_script(tmp_path, COPY, "map", data=LARGE)
    assert (outcome.code, outcome.output, outcome.messages) == (0, LARGE, "")


def test_messages_that_are_not_read(tmp_path):
    child = start(tmp_path, "run(lambda key, value: status('x') or [(key, value)])", "map")
    child.stderr.close()
    child.stderr = None
    outcome = finish(child, GOOD)
    assert (outcome.code, outcome.output) == (0, GOOD)


def test_file_instead_of_pipes(tmp_path):
    (tmp_path / "in").write_bytes(LARGE)
    with open(tmp_path / "in", "rb") as source, open(tmp_path / "out", "wb") as sink:
        outcome = run_script(tmp_path, COPY, "map", data=None, stdin=source, stdout=sink)
    assert outcome.code == 0
    assert (tmp_path / "out").read_bytes() == LARGE


def test_grandchild_does_not_hold_the_output(tmp_path):
    script = f"run(lambda key, value: os.system('sleep 600 & echo $! > {tmp_path}/sleeper') or [(key, value)])"
    outcome = run_script(tmp_path, script, "map", data=encode((1, 1)), stderr=subprocess.DEVNULL)
    os.kill(int((tmp_path / "sleeper").read_text()), signal.SIGKILL)  # it is still there
    assert (outcome.code, outcome.output) == (0, encode((1, 1)))


def test_a_traceback_starts_with_the_user_and_has_advice_that_fits(tmp_path):
    raised = run_script(
        tmp_path, "def mapper(key, value):\n    raise ValueError('boom')\nrun(mapper)", "map", data=GOOD
    )
    shown = raised.lines[raised.lines.index("Traceback (most recent call last):") + 1 :]
    assert "in mapper" in shown[0]
    assert shown[-1] == "ValueError: boom"
    assert not any("typedbytes/" in line for line in shown)
    for script in ("def mapper(key, value):\n    yield key\nrun(mapper)", "run(lambda key, value: [(key, value, 1)])"):
        wrong = run_script(tmp_path, script, "map", data=GOOD)
        assert wrong.code == 1
        assert "a pair is a tuple of" in wrong.lines[-1]
        assert "what to do" not in wrong.details()
        assert "Traceback (most recent call last):" not in wrong.lines
    unknown = run_script(tmp_path, "run(lambda key, value: [(key, object())])", "map", data=GOOD)
    assert "write_options" in unknown.details()["what to do"]
