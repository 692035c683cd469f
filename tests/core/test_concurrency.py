"""Decoders, readers, outputs and values among threads, processes and interpreters."""

import contextlib
import itertools
import sys
import threading

import pytest

import typedbytes as tb
from support.decoding_values import DATA, PARTS, VALUES, exts
from support.subprocess_runs import SECONDS, in_threads, run_fresh

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

# -- threads ----------------------------------------------------------------------------------------------


def test_threads_may_share_the_decode_methods():
    decoder, found = tb.Decoder(ext_hook=lambda code, data: (code, len(data))), []

    def work():
        for _ in range(30):
            found.append(
                decoder.decode_all(DATA + exts(50)) == [*VALUES[:12], (144, 20), *VALUES[13:], [(144, 1)] * 50]
            )

    in_threads(work, [()] * 4)
    assert found == [True] * 120


def test_a_fed_decoder_refuses_a_second_thread():
    inside, go_on = threading.Event(), threading.Event()

    def hook(code, data):
        inside.set()
        go_on.wait(SECONDS)
        return 1

    decoder, found = tb.Decoder(ext_hook=hook), []
    decoder.feed(exts(1))
    thread = threading.Thread(target=lambda: found.extend(decoder))
    thread.start()
    assert inside.wait(SECONDS)
    for use in (lambda: decoder.feed(b"\2\1"), lambda: next(decoder), decoder.close):
        with pytest.raises(RuntimeError, match="in use"):
            use()
    go_on.set()
    thread.join()
    assert found == [[1]]


@pytest.mark.parametrize("kind", ["BytesIO", "buffered", "raw"])
def test_threads_that_share_an_output_lose_no_record(kind, tmp_path):
    code = """
        import io, sys, threading
        from typedbytes import PairedInput, PairedOutput
        def work(number):
            start.wait()
            for count in range(5_000):
                output.write((number, "text" * (count % 50)))
        kind, path = sys.argv[1:]
        buffering = -1 if kind == "buffered" else 0
        with io.BytesIO() if kind == "BytesIO" else open(path, "w+b", buffering=buffering) as file:
            output, start = PairedOutput(file), threading.Barrier(4)
            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            of_thread = [[], [], [], []]
            file.seek(0)
            for number, text in PairedInput(file):
                of_thread[number].append(text)
        print(of_thread == [["text" * (count % 50) for count in range(5_000)]] * 4)
    """
    assert run_fresh(code, kind, tmp_path / "records") == "True"


def test_threads_that_share_an_input_get_whole_pairs_or_an_error():
    code = """
        import io, sys, threading
        import typedbytes as tb
        from typedbytes import PairedInput
        def work():
            start.wait()
            try:
                while (pair := source.read()) is not None:
                    found.append(pair)
            except RuntimeError as error:
                refused.append(str(error))
        sys.setswitchinterval(1e-6)
        source = PairedInput(io.BytesIO(tb.Encoder().encode_pairs((number, str(number)) for number in range(20_000))))
        found, refused, start = [], [], threading.Barrier(4)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print([pair for pair in found if pair[1] != str(pair[0])], all("in use" in error for error in refused))
    """
    assert run_fresh(code) == "[] True"


def test_threads_that_share_a_sequencefile_get_each_pair_once_or_an_error():
    code = """
        import io, sys, threading
        from typedbytes import sequencefile
        def work():
            start.wait()
            while True:
                try:
                    pair = next(reader)
                except RuntimeError as error:
                    refused.add(str(error))
                except StopIteration:
                    return
                else:
                    found.append(pair)
        sys.setswitchinterval(1e-6)
        file = io.BytesIO()
        with sequencefile.Writer(file) as writer:
            writer.writes((number, str(number)) for number in range(20_000))
        reader = sequencefile.Reader(file.getvalue())
        found, refused, start = [], set(), threading.Barrier(4)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        right = [(number, str(number)) for number in range(20_000)]
        print(sorted(found) == right, all("in use" in error for error in refused))
    """
    assert run_fresh(code) == "True True"


@pytest.mark.parametrize("kind", ["stream", "sequencefile", "block"])
def test_closing_what_another_thread_uses_is_refused_or_leaves_it_closed(kind):
    # Only an interpreter without the GIL can show the bug: with it no thread runs between the check in
    # close() and what that releases.
    code = """
        import io, sys, threading
        from typedbytes import PairReader, PairWriter, block, sequencefile
        reader_of, writer_of, read, write = {
            "stream": (PairReader, PairWriter, next, lambda writer, pair: writer.write(*pair)),
            "sequencefile": (sequencefile.Reader, sequencefile.Writer, next, lambda writer, pair: writer.write(*pair)),
            "block": (
                block.BlockReader, block.BlockWriter,
                lambda reader: reader.read(), lambda writer, pair: writer.write(pair),
            ),
        }[sys.argv[1]]

        def use(call, counts):
            start.wait()
            try:
                for _ in range(50_000):
                    try:
                        call()
                    except RuntimeError:    # the other thread is closing it
                        continue
                    counts.append(1)
            except (StopIteration, ValueError):
                pass

        def close_while_used(one, call):
            counts = []
            thread = threading.Thread(target=use, args=(call, counts))
            thread.start()
            start.wait()
            while not one.closed:
                try:
                    one.close()
                except RuntimeError:    # in use
                    pass
            thread.join()
            assert one.closed
            return len(counts)

        start = threading.Barrier(2)
        has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
        for _ in range(20 if has_gil else 1000):
            sink = io.BytesIO()
            writer = writer_of(sink)
            written = close_while_used(writer, lambda: write(writer, (b"key", b"value")))
            with reader_of(sink.getvalue()) as reader:
                assert sum(1 for _ in reader) == written
            with writer_of(sink := io.BytesIO()) as writer:
                for _ in range(2000):
                    write(writer, (b"key", b"value"))
            reader = reader_of(sink.getvalue())
            close_while_used(reader, lambda: read(reader))
        print("closed")
    """
    assert run_fresh(code, kind) == "closed"


def test_bytes_that_another_thread_changes_cost_an_error_at_most():
    # A LIST with, 5,000 times, a STRING and a VECTOR of an INT; the other thread writes type codes and lengths over it.
    data, stop = bytearray(b"\x09" + b"\7\0\0\0\5abcde\x08\0\0\0\1\3\0\0\0\1" * 5000 + b"\xff"), threading.Event()
    clean = bytes(data)

    def work():
        replacements = itertools.cycle([0, 7, 8, 9, 255, 1])
        while not stop.is_set():
            for offset in range(0, len(data), 97):
                data[offset] = next(replacements)
            data[:] = clean

    thread = threading.Thread(target=work)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(50):
            with contextlib.suppress(tb.DecodeError):
                tb.count(data)
            with contextlib.suppress(tb.DecodeError):
                tb.loads(data, ext_hook=lambda code, data: None)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(before)


def test_values_hold_nothing_of_the_memory_they_came_from():
    data = bytearray(DATA)
    view = memoryview(data)
    reader = tb.Reader(view)
    values, raw = reader.read_all(), list(tb.Reader(view, raw=True))
    decoded = tb.Decoder().decode_all(view)
    reader.close()
    view.release()
    data[:] = b"\xff" * len(data)
    data.clear()
    assert (values, decoded, raw) == (VALUES, VALUES, PARTS)


# -- processes and interpreters ---------------------------------------------------------------------------


def test_another_interpreter_in_the_process_is_refused():
    code = """
        import typedbytes as tb
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        try:
            failure = interpreters.run_string(other, "import typedbytes")
            said = failure.msg if failure is not None else ""
        except Exception as error:
            said = str(error)
        interpreters.destroy(other)
        refusals = "Interpreter change detected", "does not support loading in subinterpreters"
        print(tb.loads(tb.dumps([1])), any(refusal in said for refusal in refusals))
    """
    assert run_fresh(code) == "[1] True"


# From 3.14 on CPython warns, at its end, of one that is left.
@pytest.mark.parametrize("leave", ["import warnings; warnings.simplefilter('ignore')", "interpreters.destroy(other)"])
def test_a_legacy_interpreter_that_imports_first_is_the_only_one(leave):
    """As in mod_wsgi: it shares the main one's GIL, so CPython itself does not refuse; docs/platforms.md says so."""
    code = """
        import sys
        try:
            import _interpreters as interpreters
            other = interpreters.create("legacy")
        except ImportError:
            import _xxsubinterpreters as interpreters
            other = interpreters.create(isolated=False)
        failure = interpreters.run_string(other, "import typedbytes as tb; print(tb.loads(tb.dumps([1])), flush=True)")
        assert failure is None, failure
        {leave}
        for _ in range(2):
            try:
                import typedbytes
            except ImportError as error:
                print("Interpreter change detected" in str(error), "typedbytes" in sys.modules)
    """
    assert run_fresh(code.replace("{leave}", leave)) == "[1]\nTrue False\nTrue False"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(method):
    code = f"""
        import multiprocessing, typedbytes as tb
        value = [list(range(1000)), {{"k": 2**70}}]
        data = tb.dumps(value)
        with multiprocessing.get_context("{method}").Pool(2) as pool:
            print(pool.map(tb.loads, [data] * 10) == [value] * 10, pool.map(tb.dumps, [value] * 10) == [data] * 10)
    """
    assert run_fresh(code) == "True True"


def test_a_fork_in_the_middle_of_a_decode():
    code = """
        import os, typedbytes as tb
        def hook(code, data):
            forked.append(os.fork())
            return len(forked)
        forked = []
        found = tb.loads(bytes.fromhex("09" + "900000000178" * 2 + "ff"), ext_hook=hook)
        again = tb.loads(tb.dumps([{"k": (1, 2)}]))
        if 0 in forked:
            os._exit(found != [1, 2] or again != [{"k": (1, 2)}])
        print(found, [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)])
    """
    assert run_fresh(code) == "[1, 2] [0, 0]"


def test_the_interpreter_ends_while_readers_and_threads_live():
    code = """
        import atexit, io, os, threading, typedbytes as tb
        def work():
            while True:
                tb.loads(data)
        data = tb.dumps(list(range(100_000)))
        reading, writing = os.pipe()
        reader, groups = tb.Reader(reading), tb.PairReader(io.BytesIO(tb.dumps(1) * 9)).groups()
        key, values = next(groups)
        decoder = tb.Decoder(ext_hook=lambda code, data: decoder)
        decoder.feed(bytes.fromhex("09" + "9000000000" * 3))
        threads = [threading.Thread(target=target, daemon=True) for target in (work, work, reader.read)]
        for thread in threads:
            thread.start()
        atexit.register(lambda: print(next(values), tb.loads(tb.dumps("done"))))
    """
    assert run_fresh(code) == "1 done"


def test_the_package_may_be_loaded_again():
    code = """
        import importlib, typedbytes as tb
        before = tb.Ext
        for module in (tb, tb.errors, tb._types):
            importlib.reload(module)
        print(tb.loads(tb.dumps(before(60, b"x"))) == before(60, b"x"), tb.loads(tb.dumps([tb.Ext(60, b"x")])))
        try:
            tb.loads(b"")
        except EOFError:
            print("missing")
    """
    assert run_fresh(code).splitlines() == ["True [Ext(60, b'x')]", "missing"]
