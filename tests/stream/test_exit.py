"""Writers that are open when the interpreter ends: every kind, every way to end, and sinks that refuse.

One child for each way to end has a writer of every kind, all open;
what is in their files afterwards is looked at kind by kind.
"""

import gzip
import os
import re
import subprocess
import sys
import textwrap

import pytest

import typedbytes as tb
from support.subprocess_runs import SECONDS, run_fresh
from typedbytes import sequencefile
from typedbytes.block import BlockReader

pytestmark = pytest.mark.quick

PAIRS = [("key", number) for number in range(50)]
VALUES = [number for _, number in PAIRS]

START = f"""
import asyncio, atexit, gc, gzip, io, os, sys, threading, time
import typedbytes as tb
from typedbytes import columns, sequencefile
from typedbytes.block import AsyncCoalescingWriter, BlockWriter, CoalescingWriter
PAIRS = {PAIRS!r}
VALUES = {VALUES!r}
"""

# What makes a writer over `path`, writes the values or pairs, and leaves the writer open.
KINDS = {
    "Writer": "w = tb.Writer(path); w.writes(VALUES)",
    "PairWriter": "w = tb.PairWriter(path); w.writes(PAIRS)",
    "Writer_descriptor": "w = tb.Writer(os.open(path, os.O_WRONLY | os.O_CREAT)); w.writes(VALUES)",
    "Writer_buffered": "w = tb.Writer(open(path, 'wb')); w.writes(VALUES)",
    "Writer_gzip": "w = tb.Writer(gzipped(path)); w.writes(VALUES)",
    "Writer_cycle": (
        "w = tb.Writer(path); w.writes(VALUES); gc.disable(); cycle = [w]; cycle.append(cycle); w = cycle = None"
    ),
    "columns": "w = tb.PairWriter(path); columns.write(w, {'key': [k for k, _ in PAIRS], 'value': VALUES})",
    "Output": "w = tb.Output(open(path, 'wb')); w.writes(VALUES)",
    "PairedOutput": "w = tb.PairedOutput(open(path, 'wb')); w.writes(PAIRS)",
    "sequencefile_none": "w = sequencefile.Writer(path); w.writes(PAIRS)",
    "sequencefile_record": "w = sequencefile.Writer(path, compression='record'); w.writes(PAIRS)",
    "sequencefile_block": "w = sequencefile.Writer(path, compression='block'); w.writes(PAIRS)",
    "sequencefile_buffered": "w = sequencefile.Writer(open(path, 'wb'), compression='block'); w.writes(PAIRS)",
    "BlockWriter": "w = BlockWriter(open(path, 'wb'), 'native', buffer_size=65536); w.writes([[v] for v in VALUES])",
    "BlockWriter_plain": (
        "w = BlockWriter(open(path, 'wb', buffering=0), 'native', buffer_size=65536); w.writes([[v] for v in VALUES])"
    ),
    "CoalescingWriter": """
        w = CoalescingWriter(open(path, 'wb', buffering=0), 'native', max_delay=None)
        for v in VALUES: w.write([v])
    """,
    "CoalescingWriter_age": """
        w = CoalescingWriter(open(path, 'wb', buffering=0), 'native', max_delay=1000)
        for v in VALUES: w.write([v])
    """,
    "AsyncCoalescingWriter": """
        file = open(path, 'wb', buffering=0)
        os.set_blocking(file.fileno(), False)
        async def main():
            w = AsyncCoalescingWriter(file, 'native', max_delay=1000)
            for v in VALUES: await w.write([v])
            return w
        w = asyncio.run(main())
    """,
}
RAISES_AT_ONCE = {"columns", "Writer_gzip"}  # where a sink refuses
# a child of fork has what such a sink holds, whichever process writes to it
HELD_BY_SINKS = {"Writer_gzip", "Output", "PairedOutput"}


def function_of(name):
    body = textwrap.dedent(KINDS[name]).strip()
    return f"def make_{name}(path):\n{textwrap.indent(body, '    ')}\n    return w\n"


MAKERS = (
    START
    + "".join(map(function_of, KINDS))
    + textwrap.dedent(f"""
    def make(*names):
        return [globals()["make_" + name](os.path.join(folder, name)) for name in names]
    KINDS, HELD_BY_SINKS = {list(KINDS)!r}, {HELD_BY_SINKS!r}
    folder = sys.argv[1]
    def gzipped(path):
        files.append(gzip.open(path, "wb"))
        return files[-1]
    files = []
    def close_files():
        for file in files:
            file.close()
    atexit.register(close_files)    # before the first writer is made, so it runs after they have written
""")
)

# How the process ends, and its exit code.
ENDS = {
    "end": ("writers = make(*KINDS)", 0),
    "sys.exit": ("writers = make(*KINDS); sys.exit(3)", 3),
    "exception": ("writers = make(*KINDS); raise LookupError", 1),
    "at exit": ("writers = [tb.Writer(os.devnull)]; atexit._run_exitfuncs(); writers += make(*KINDS); "
                "gc.enable(); close_files()", 0),
    "fork": (
        """
        writers = make(*[name for name in KINDS if name not in HELD_BY_SINKS])
        if os.fork() == 0:
            sys.exit()
        assert os.wait()[1] == 0
        writers += make(*HELD_BY_SINKS)
        if os.fork() == 0:
            os._exit(0)
        assert os.wait()[1] == 0
        """,
        0,
    ),
    "child": (
        """
        if os.fork() == 0:
            writers = make(*KINDS)
            sys.exit()
        assert os.wait()[1] == 0
        """,
        0,
    ),
    "daemon": (
        """
        def work():
            writers = make(*KINDS)
            made.set()
            threading.Event().wait()
        made = threading.Event()
        threading.Thread(target=work, daemon=True).start()
        made.wait()
        """,
        0,
    ),
}  # fmt: skip


def run(code, *arguments, start=MAKERS, warnings="ignore", **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": warnings}
    command = [sys.executable, "-c", start + textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, env=environment, stderr=subprocess.PIPE, timeout=SECONDS, **options)


def pairs_in(path, **options):
    with sequencefile.Reader(path, **options) as reader:
        return list(reader)


def records_of(kind, path):
    if kind == "Writer_gzip":
        return tb.Decoder().decode_all(gzip.decompress(path.read_bytes()))
    if kind.startswith("sequencefile"):
        return pairs_in(path)
    if kind.endswith(("BlockWriter", "BlockWriter_plain", "CoalescingWriter", "CoalescingWriter_age")):
        return [message[0] for message in BlockReader(path.read_bytes())]
    if kind in ("PairWriter", "PairedOutput", "columns"):
        return tb.Decoder().decode_pairs(path.read_bytes())
    return tb.Decoder().decode_all(path.read_bytes())


@pytest.fixture(scope="module", params=ENDS)
def ended(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ended")
    code, status = ENDS[request.param]
    child = run(code, folder)
    assert child.returncode == status, child.stderr.decode()
    assert (b"LookupError" in child.stderr) == (request.param == "exception")
    assert b"typedbytes:" not in child.stderr and b"ignored" not in child.stderr, child.stderr.decode()
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_every_writer_that_is_open_writes_what_it_holds_once(ended, kind):
    assert records_of(kind, ended / kind) == (PAIRS if kind.startswith(("Pair", "columns", "sequencefile")) else VALUES)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - RAISES_AT_ONCE))
def test_a_sink_that_refuses_at_the_end_is_reported_and_the_exit_code_is_120(kind):
    child = run(f"w = make_{kind}('/dev/full')\nsys.exit(3)", "")
    assert child.returncode == 120
    assert b"No space left on device" in child.stderr
    assert child.stderr.count(b"typedbytes: unclosed ") == 1 and b"Traceback" not in child.stderr, child.stderr.decode()


def test_standard_output_is_written_before_the_interpreter_flushes_it():
    code = "w = tb.Writer(sys.stdout.buffer); w.writes(VALUES)"
    child = run(code, start=START, stdout=subprocess.PIPE)
    assert (child.returncode, tb.Decoder().decode_all(child.stdout)) == (0, VALUES)


@pytest.mark.parametrize("sink", ["/dev/full", "pipe"])
def test_standard_output_that_refuses(sink):
    if sink == "pipe":
        theirs, ours = os.pipe()
        os.close(theirs)
    else:
        ours = os.open(sink, os.O_WRONLY)
    try:
        child = run("w = tb.Writer(sys.stdout.buffer); w.write(1)", start=START, stdout=ours)
    finally:
        os.close(ours)
    assert child.returncode == 120
    assert b"is lost: " + (b"BrokenPipeError" if sink == "pipe" else b"OSError") in child.stderr


@pytest.mark.parametrize("stderr", ["None", "open('/dev/full', 'w')", "io.TextIOWrapper(io.BytesIO())"])
def test_the_exit_code_says_it_where_standard_error_cannot(stderr):
    child = run(f"w = tb.Writer('/dev/full'); w.write(1); sys.stderr = {stderr}", start=START)
    assert child.returncode == 120


def test_a_file_that_was_closed_before_its_writer_is_reported(tmp_path):
    code = """
        for name in sys.argv[1:3]:
            with open(name, "wb", buffering=0) as file:
                w = (tb.Writer if name.endswith("1") else tb.Output)(file)
                w.write(1)
                globals()["w" + name[-1]] = w
        with open(sys.argv[3], "wb") as file:
            done = tb.Writer(file); done.write(1); done.flush()
    """
    child = run(code, tmp_path / "1", tmp_path / "2", tmp_path / "3", start=START)
    assert child.returncode == 120
    assert child.stderr.count(b"typedbytes: unclosed Writer:") == child.stderr.count(b"typedbytes:") == 1


def test_a_socket_that_was_closed_before_its_writer_is_reported_and_no_other_file_gets_the_bytes(tmp_path):
    code = """
        import socket
        ours, theirs = socket.socketpair()
        w = BlockWriter(ours, buffer_size=100); w.write([1])
        c = CoalescingWriter(ours, max_delay=None); c.write([1])
        number = ours.fileno()
        ours.close()
        other = open(sys.argv[1], "wb")
        assert other.fileno() == number
    """
    child = run(code, tmp_path / "other", start=START)
    assert child.returncode == 120
    assert child.stderr.count(b"Bad file descriptor") == 2
    assert (tmp_path / "other").read_bytes() == b""


BUSY = """
    class Slow(io.FileIO):
        def write(self, data):
            inside.set()
            until()
            return super().write(data)
    inside = threading.Event()
    writers = [tb.Writer(Slow(sys.argv[1], "w")), sequencefile.Writer(Slow(sys.argv[2], "w")),
               BlockWriter(Slow(sys.argv[3], "w"), buffer_size=65536)]
    def work(writer, records):
        writer.writes(records)
        writer.flush()
        writer.writes(records)    # it is never flushed
        threading.Event().wait()
    for writer, records in zip(writers, [VALUES, PAIRS, [[v] for v in VALUES]]):
        inside.clear()
        threading.Thread(target=work, args=(writer, records), daemon=True).start()
        inside.wait()
"""


def test_a_daemon_thread_in_the_middle_of_a_write_is_waited_for(tmp_path):
    paths = [tmp_path / "values", tmp_path / "pairs", tmp_path / "messages"]
    waits = """
    def until():
        while "typedbytes._base.unflushed" not in sys.modules:    # the end waits
            time.sleep(0.001)
    """
    child = run(textwrap.dedent(waits) + textwrap.dedent(BUSY), *paths, start=START)
    assert (child.returncode, child.stderr) == (0, b"")
    values, messages = tb.Decoder().decode_all(paths[0].read_bytes()), list(BlockReader(paths[2].read_bytes(), "bytes"))
    pairs = pairs_in(paths[1])
    # The first are there; of the second, those that a thread came to write.
    assert values[:50] == VALUES and values[50:] == VALUES[: len(values) - 50]
    assert pairs[:50] == PAIRS and pairs[50:] == PAIRS[: len(pairs) - 50]
    assert [each[0] for each in messages[:50]] == VALUES


@pytest.mark.parametrize("kind", ["stream", "sequencefile", "block"])
def test_a_daemon_thread_cannot_begin_a_write_while_its_writer_is_flushed(kind, tmp_path):
    code = """
        import warnings
        def hook(value):
            begun.set()
            release.wait()
        def write():
            try:
                writer.write(*[object()] * (2 if sys.argv[2] == "sequencefile" else 1))
            except RuntimeError:    # it is in use
                begun.set()
        def show(*warning):
            threading.Thread(target=write, daemon=True).start()
            begun.wait()
        begun, release, warnings.showwarning = threading.Event(), threading.Event(), show
        warnings.simplefilter("always")
        sink = open(sys.argv[1], "wb")
        if sys.argv[2] == "stream":
            writer = tb.Writer(sink, default=hook)
            writer.write("value")
        elif sys.argv[2] == "sequencefile":
            writer = sequencefile.Writer(sink, default=hook)
            writer.write("key", "value")
        else:
            writer = BlockWriter(sink, default=hook, buffer_size=1000)
            writer.write(["value"])
    """
    child = run(code, tmp_path / "file", kind, start=START)
    assert (child.returncode, child.stderr) == (0, b"")


def test_a_daemon_thread_that_never_returns_is_reported(tmp_path):
    stuck = """
    from typedbytes._base import unflushed
    unflushed.TIMEOUT = 0.02
    def until():
        threading.Event().wait()
    """
    child = run(textwrap.dedent(stuck) + textwrap.dedent(BUSY), *(tmp_path / name for name in "abc"), start=START)
    assert child.returncode == 120
    assert child.stderr.count(b"is lost: TimeoutError: another thread was using it") == 3


def test_a_signal_ends_the_waiting_for_daemon_threads(tmp_path):
    interrupts = """
    import signal
    def until():
        while "typedbytes._base.unflushed" not in sys.modules:    # the end waits
            time.sleep(0.001)
        if first.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait()
    first = threading.Lock()
    """
    child = run(textwrap.dedent(interrupts) + textwrap.dedent(BUSY), *(tmp_path / name for name in "abc"), start=START)
    assert child.returncode == 120
    assert child.stderr.count(b"is lost: KeyboardInterrupt") == 3


def test_daemon_threads_in_the_middle_of_a_message_are_waited_for(tmp_path):
    code = """
        def slow(obj):
            inside.release()
            while "typedbytes._base.unflushed" not in sys.modules:    # the end waits
                time.sleep(0.001)
            return 2
        inside = threading.Semaphore(0)
        files = [open(path, "wb", buffering=0) for path in sys.argv[1:]]
        os.set_blocking(files[1].fileno(), False)
        writer = CoalescingWriter(files[0], max_delay=None, default=slow)
        def work():
            for value in 1, object(): writer.write([value])
            threading.Event().wait()
        async def main():
            writers.append(AsyncCoalescingWriter(files[1], max_delay=1000, default=slow))
            for value in 1, object(): await writers[0].write([value])
            threading.Event().wait()
        writers = []
        for target in work, lambda: asyncio.run(main()):
            threading.Thread(target=target, daemon=True).start()
            inside.acquire()
    """
    child = run(code, tmp_path / "a", tmp_path / "b", start=START)
    assert (child.returncode, child.stderr) == (0, b"")
    for name in "ab":  # the first is there; the second if its thread came to write it
        assert [each[0] for each in BlockReader((tmp_path / name).read_bytes())] in ([1], [1, 2])


def test_a_writer_that_another_writer_s_sink_closes_at_the_end(tmp_path):
    code = """
        older = tb.Writer(sys.argv[1]); older.writes(VALUES)
        class Sink(io.FileIO):
            def write(self, data):
                older.close()
                return super().write(data)
        newer = tb.Writer(Sink(sys.argv[2], "w")); newer.writes(VALUES)
    """
    child = run(code, tmp_path / "1", tmp_path / "2", start=START)
    assert (child.returncode, child.stderr) == (0, b"")
    for name in "12":
        assert tb.Decoder().decode_all((tmp_path / name).read_bytes()) == VALUES


@pytest.mark.parametrize(
    ("last", "code", "message"),
    [
        ("", 120, b"unclosed AsyncCoalescingWriter: what it held for socket"),
        ("w = None; gc.collect()", 0, b"BlockingIOError: [Errno 11] the rest cannot be sent"),
    ],
    ids=["at the end", "forgotten"],
)
def test_a_socket_that_is_full_is_reported(last, code, message):
    fill = """
        import socket
        from typedbytes._base import unflushed
        unflushed.TIMEOUT = 0.02
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        async def main():
            w = AsyncCoalescingWriter(ours, buffer_size=1 << 22)
            for _ in range(1000): await w.write([bytes(4000)])
            return w
        w = asyncio.run(main())
    """
    child = run(textwrap.dedent(fill) + last, start=START)
    assert child.returncode == code
    assert message in child.stderr


@pytest.mark.parametrize("delay", ["0.0001", "None"])
def test_an_error_of_a_peer_that_no_call_has_raised_is_reported(delay):
    code = f"""
        import socket
        ours, theirs = socket.socketpair()
        w = CoalescingWriter(ours, max_delay={delay}); theirs.close(); w.write([1])
        while w.stats["by_age"] == 0 and {delay}: time.sleep(0.001)
    """
    child = run(code, start=START)
    assert child.returncode == 120
    assert b"BrokenPipeError" in child.stderr


def test_functions_that_run_at_the_end_may_write(tmp_path):
    code = """
        @atexit.register
        def finish():
            for (w, how), records in zip(writers.items(), [VALUES, PAIRS, PAIRS, [[v] for v in VALUES]]):
                w.writes(records)
            for v in VALUES: c.write([v])
            writers["late"] = late = tb.Writer(sys.argv[1] + "/late")
            late.writes(VALUES)
            os._exit(0)    # they are not used again
        folder = sys.argv[1] + "/"
        writers = {tb.Writer(open(folder + "values", "wb")): 0, tb.PairWriter(folder + "pairs"): 0,
                   sequencefile.Writer(open(folder + "block", "wb"), compression="block"): 0,
                   BlockWriter(open(folder + "messages", "wb"), buffer_size=65536): 0}
        c = CoalescingWriter(open(folder + "coalesced", "wb", buffering=0), max_delay=None)
    """
    child = run(code, tmp_path, start=START)
    assert (child.returncode, child.stderr) == (0, b"")
    assert tb.Decoder().decode_all((tmp_path / "values").read_bytes()) == VALUES
    assert tb.Decoder().decode_all((tmp_path / "late").read_bytes()) == VALUES
    assert tb.Decoder().decode_pairs((tmp_path / "pairs").read_bytes()) == PAIRS
    assert pairs_in(tmp_path / "block") == PAIRS
    for name in ("messages", "coalesced"):
        assert [message[0] for message in BlockReader((tmp_path / name).read_bytes(), "bytes")] == VALUES


def test_a_writer_that_writes_to_another_writes_first(tmp_path):
    code = """
        class Through:
            def __init__(self, writer): self.writer = writer
            def write(self, data): self.writer.write_raw(data)
        w = tb.Writer(sys.argv[1])
        for _ in range(3):
            w = tb.Writer(Through(w))
        w.writes(VALUES)
    """
    assert run(code, tmp_path / "file", start=START).returncode == 0
    assert tb.Decoder().decode_all((tmp_path / "file").read_bytes()) == VALUES


def test_a_file_of_another_kind_that_the_writer_opened_is_closed(tmp_path):
    code = """
        from typedbytes.sequencefile import _native as _sequence
        from typedbytes import _core
        class Upload(io.BytesIO):
            def __init__(self, path): super().__init__(); self.path = path
            def close(self):
                import shutil    # what cannot be imported later
                with open(self.path, "wb") as file: file.write(self.getvalue())
                super().close()
        w = _core.Writer(Upload(sys.argv[1]), owns=True); w.writes(VALUES)
        s = _sequence.Writer(Upload(sys.argv[2]), owns=True, key_class="a.B", value_class="a.B", sync_marker=bytes(16))
        s.write(b"key", b"value")
    """
    child = run(code, tmp_path / "1", tmp_path / "2", start=START)
    assert (child.returncode, child.stderr) == (0, b"")
    assert tb.Decoder().decode_all((tmp_path / "1").read_bytes()) == VALUES
    assert len(pairs_in(tmp_path / "2", raw=True)) == 1


def test_a_child_of_fork_cannot_use_the_sequence_file_of_its_parent(tmp_path):
    code = """
        with sequencefile.Writer(sys.argv[1]) as w:
            w.writes(PAIRS)
            if os.fork() == 0:
                for use in (lambda: w.write(1, 2), w.flush, w.sync):
                    try:
                        use()
                    except RuntimeError as error:
                        print(error, flush=True)
                sys.exit()
            os.wait()
    """
    child = run(code, tmp_path / "file", start=START, stdout=subprocess.PIPE)
    assert (child.returncode, child.stderr) == (0, b"")
    assert child.stdout == b"this Writer belongs to the process that created it\n" * 3
    assert pairs_in(tmp_path / "file") == PAIRS


def test_a_child_cannot_use_a_writer_of_its_parent_s_tasks(tmp_path):
    code = """
        w = make_AsyncCoalescingWriter(sys.argv[1])
        if os.fork() == 0:
            try:
                w.write([1])
            except RuntimeError as error:
                print(error, flush=True)
            sys.exit()
        os.wait()
    """
    child = run(code, tmp_path / "file", stdout=subprocess.PIPE)
    assert (child.returncode, child.stderr) == (0, b"")
    assert child.stdout == b"this AsyncCoalescingWriter belongs to the process that created it\n"
    assert records_of("CoalescingWriter", tmp_path / "file") == VALUES


# What makes a writer over `path` with default=fork, and what writes one value.
FORKING = {
    "Writer": ("tb.Writer(path, default=fork)", "w.write(value)"),
    "Writer_buffered": ("tb.Writer(open(path, 'wb'), default=fork)", "w.write(value)"),
    "BlockWriter": ("BlockWriter(open(path, 'wb'), 'native', buffer_size=65536, default=fork)", "w.write([value])"),
    "CoalescingWriter": (
        "CoalescingWriter(open(path, 'wb', buffering=0), 'native', buffer_size=1 << 21, max_delay=None, default=fork)",
        "w.write([value])",
    ),
    "sequencefile": ("sequencefile.Writer(path, default=fork)", "w.write('key', value)"),
}


@pytest.mark.parametrize("kind", FORKING)
def test_a_child_that_was_forked_inside_a_record_writes_none_of_its_parent_s(kind, tmp_path):
    make, write = FORKING[kind]
    code = f"""
        def fork(obj):
            global child
            child = child or os.fork()
            return list(range(50_000))    # more than waits in a buffer
        def write(value):
            {write}
        path, child = sys.argv[1], None
        w = {make}
        write(1)
        try:
            write(object())
            w.flush()
        except RuntimeError as error:
            print(child == 0, error, flush=True)
        if child:
            os.wait()
            write(2)
            w.close()
    """
    child = run(code, tmp_path / kind, start=START, stdout=subprocess.PIPE)
    assert (child.returncode, child.stderr) == (0, b"")
    name = "Writer" if kind == "sequencefile" else kind.split("_")[0]
    assert child.stdout.decode() == f"True this {name} belongs to the process that created it\n"
    records = (
        [value for _, value in pairs_in(tmp_path / kind)]
        if kind == "sequencefile"
        else records_of(kind, tmp_path / kind)
    )
    assert records == [1, list(range(50_000)), 2]


def test_what_a_child_of_fork_adds_to_the_writers_of_its_parent_is_written(tmp_path):
    code = """
        w = tb.Writer(sys.argv[1]); w.writes(VALUES)
        b = BlockWriter(open(sys.argv[2], "wb"), buffer_size=65536); b.write([1])
        if os.fork() == 0:
            atexit._clear()    # as multiprocessing does
            w.write("child"); b.write([2])
            sys.exit()
        os.wait()
    """
    assert run(code, tmp_path / "1", tmp_path / "2", start=START).returncode == 0
    assert tb.Decoder().decode_all((tmp_path / "1").read_bytes()) == ["child", *VALUES]
    assert [message[0] for message in BlockReader((tmp_path / "2").read_bytes(), "bytes")] == [2, 1]


@pytest.mark.parametrize("kind", ["Writer", "BlockWriter_plain"])
def test_a_child_of_fork_without_memory_can_try_again(kind, tmp_path):
    make, value = (
        ("tb.Writer(path)", "'{}'")
        if kind == "Writer"
        else ("BlockWriter(open(path, 'wb'), buffer_size=1000)", "['{}']")
    )
    code = f"""
        import _testcapi
        path = sys.argv[1]
        w, nrefused, is_written = {make}, 0, False
        w.write({value.format("parent")})
        if os.fork() == 0:
            while not is_written:
                _testcapi.set_nomemory(nrefused, nrefused + 1)
                try:
                    w.write({value.format("child")})
                    is_written = True
                except MemoryError:
                    nrefused += 1
                finally:
                    _testcapi.remove_mem_hooks()
            sys.exit(nrefused)
        sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    child = run(code, tmp_path / "1", start=START)
    # there atexit keeps a list, which may have room
    least = 0 if kind == "Writer" and sys.version_info >= (3, 14) else 1
    assert child.returncode in range(least, 100), child.stderr
    assert sorted(records_of(kind, tmp_path / "1")) == ["child", "parent"]


@pytest.mark.parametrize("kind", ["BlockWriter_plain", "CoalescingWriter", "Writer", "sequencefile_block"])
def test_a_forgotten_writer_writes_what_it_holds(kind, tmp_path):
    code = f"make_{kind}(sys.argv[1] + '/{kind}'); gc.collect(); os._exit(0)"
    child = run(code, tmp_path)
    assert (child.returncode, child.stderr) == (0, b"")
    assert len(records_of(kind, tmp_path / kind)) == 50


@pytest.mark.parametrize(
    "kind", ["BlockWriter_plain", "CoalescingWriter", "AsyncCoalescingWriter", "Writer", "sequencefile_block"]
)
def test_an_unclosed_writer_whose_sink_refuses_is_reported_on_standard_error(kind):
    child = run(f"make_{kind}('/dev/full'); gc.collect()", "")
    assert child.returncode == 0
    expected = (
        rf"Exception ignored in: <typedbytes\.\w+(\.\w+)*\.{kind.split('_')[0]} object .*>\nTraceback .*Error: .*\n"
    )
    assert re.fullmatch(expected.replace("sequencefile", "Writer"), child.stderr.decode(), re.DOTALL), (
        child.stderr.decode()
    )


@pytest.mark.parametrize("end", ["", "w = None; gc.collect()"])
def test_a_warning_that_is_an_error_loses_nothing(end, tmp_path):
    child = run(
        f"w = tb.Writer(sys.argv[1]); w.writes(VALUES); {end}",
        tmp_path / "file",
        start=START,
        warnings="error::ResourceWarning",
    )
    assert child.returncode == 0
    assert child.stderr.count(b"ResourceWarning: unclosed Writer with unwritten records") == 1
    assert tb.Decoder().decode_all((tmp_path / "file").read_bytes()) == VALUES


def test_importing_again_and_other_interpreters_harm_nothing(tmp_path):
    code = """
        import importlib
        w = tb.Writer(sys.argv[1]); w.writes(VALUES)
        for name in [name for name in sys.modules if name.startswith("typedbytes")]:
            del sys.modules[name]
        import typedbytes as again
        v = again.Writer(sys.argv[2]); v.writes(VALUES)
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        inner = interpreters.create()
        try:
            interpreters.run_string(inner, "import typedbytes")
        except Exception:
            pass    # Cython's modules are for one interpreter
        interpreters.destroy(inner)
    """
    child = run(code, tmp_path / "1", tmp_path / "2", start=START)
    assert (child.returncode, child.stderr) == (0, b"")
    for name in "12":
        assert tb.Decoder().decode_all((tmp_path / name).read_bytes()) == VALUES


def test_writers_that_are_closed_or_gone_leave_the_list():
    code = """
        import gc, io, typedbytes as tb
        from typedbytes import sequencefile
        from typedbytes.block import BlockWriter
        keep = []
        for make in (tb.Writer, tb.Output, sequencefile.Writer, BlockWriter):
            writers = [make(io.BytesIO()) for _ in range(30)]
            for writer in writers[::3]: writer.close(); writer.close()
            keep += writers[::2]
            del writers[::2]
            for writer in writers[::4]: writer.close()
            del writer, writers
            gc.collect()
        print(len(keep))
    """
    assert run_fresh(code, warnings="ignore") == "60"


@pytest.mark.parametrize("kind", ["tb.Writer", "sequencefile.Writer", "BlockWriter"])
def test_a_sink_that_makes_its_writer_again_is_in_the_list_once(kind):
    code = f"""
        import gc, io, typedbytes as tb
        from typedbytes import sequencefile
        from typedbytes.block import BlockWriter
        class Sink:
            @property
            def write(self):
                global again
                if again:
                    again = False
                    writer.__init__(io.BytesIO())
                return len
        again = True
        writer = {kind}.__new__({kind})
        try: writer.__init__(Sink())
        except RuntimeError: pass
        writer.close()
        del writer
        gc.collect()
        held = [bytearray(b"A" * size) for size in range(50, 900, 4) for _ in range(40)]
        {kind}(io.BytesIO()).close()
        print(again)
    """
    assert run_fresh(code, warnings="ignore") == "False"
