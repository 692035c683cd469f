"""Deliberate bugs, one at a time, and whether the gate named for each finds it.

    python tests/gates/faults.py                 all faults, a line each, and "caught n of n"
    python tests/gates/faults.py --list          their names and gates
    python tests/gates/faults.py NAME ...        these only

A fault is a text that occurs once in one file of src/ and its replacement. It is put into a copy under build/, of which
only the extensions affected are built again, with little optimisation; then the gate runs in the copy. A gate that ends
well has missed the fault. Faults that only a sanitizer can see for sure go into a copy that is built with one.

Here: the faults, their gates, the drill. Not here: what gates look for. Invariant: every gate ends well on the copy
without a fault, which the drill looks at first.
"""

import argparse
import collections
import pathlib
import resource
import shutil
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from gates import build_copies, figures, sanitize  # noqa: E402

SECONDS = 300  # for one gate; one that takes longer has found that something does not end
# of memory for one gate, where no sanitizer needs more: a fault may ask for more and more, and a test maps 8 GiB
NBYTES = 10 << 30

Fault = collections.namedtuple("Fault", "name file gate old new")


def tests(*words):
    """Return the gate that is some of the tests."""
    return ("-m", "pytest", "-x", "-q", "-p", "no:randomly", *(f"tests/{words[0]}", *words[1:]))


def fuzz(target, executions=30_000):
    """Return the gate that is a target of fuzzing, on the same inputs every time."""
    return ("tests/fuzz/run.py", "--targets", target, "--executions", executions, "--seed", 1, "--timeout", 10)


def ring(name):
    """Return the gate that is some of the tests of rings."""
    return tests("block/test_ring.py", "-m", "not hadoop", "-k", name)


LEAKS = ("tests/gates/leaks.py",)
RACES = ring("no_race")
WAKE_UPS = ("tests/soak/block_ring.py", 8_000_000, "threads")
JAVA_WAKE_UPS = ("tests/soak/block_ring.py", 2_000_000, "java wake-ups")
JAVA_RING = "../java/src/main/java/org/typedbytes/block/SharedRing.java"
VECTORS = tests("core/test_vectors.py")
MEMORY = tests("core/test_allocation.py")

FAULTS = [
    # Bounds.
    Fault("INT of three bytes", "core/codec/decode.pxi", fuzz("bytes"),
          "    if code == INT:\n        if likely(left >= 5):", "    if code == INT:\n        if likely(left >= 4):"),
    Fault("STRING one byte beyond the end", "core/codec/decode.pxi", fuzz("bytes"),
          "            if likely(0 <= length <= left - 5):\n                d.buf.cursor = p + 5 + length\n"
          "                return decode_short_string",
          "            if likely(0 <= length <= left - 4):\n                d.buf.cursor = p + 5 + length\n"
          "                return decode_short_string"),
    Fault("BYTES wraps round", "core/codec/decode.pxi", VECTORS,
          "            if likely(0 <= length <= left - 5):\n                d.buf.cursor = p + 5 + length\n"
          "                return decode_bytes",
          "            if likely(<uint64_t>(length + 5) <= <uint64_t>left):\n"
          "                d.buf.cursor = p + 5 + length\n                return decode_bytes"),
    Fault("LIST looks for its MARKER after the end", "core/codec/containers.pxi", fuzz("bytes"),
          "        if unlikely(d.buf.cursor == d.buf.end):\n            require(d, 1, LIST)", "        pass"),
    Fault("class name into what follows the WRITABLE", "core/codec/application.pxi", fuzz("reference"),
          "    if not 0 <= nname <= nbytes - 4:", "    if not 0 <= nname <= nbytes:"),
    Fault("pickled int longer than its PICKLE", "core/codec/pickle/recognise.pxi", tests("core/test_pickle.py"),
          "    if p[2] == OP_LONG1 and nbytes == 5 + p[3]:", "    if p[2] == OP_LONG1 and nbytes >= 5:"),
    Fault("group's key compared beyond the end", "core/stream/groups.pxi", fuzz("pieces"),
          "        while memcmp(buf.cursor, key, min(held(buf), nkey)) == 0:",
          "        while memcmp(buf.cursor, key, nkey) == 0:"),
    Fault("encode_into beyond the buffer", "core/stream.pxi", tests("core/test_encoder.py"),
          "            if not 0 <= offset <= view.len - nbytes:", "            if not 0 <= offset <= view.len:"),
    Fault("index grows by half of what it needs", "core/structure.pxi",
          sanitize.tests("core/test_decoder.py", "-k", "scanned"),
          "PyMem_Realloc(offsets, capacity * sizeof(long long))", "PyMem_Realloc(offsets, capacity * sizeof(int))"),
    Fault("freed memory goes back to the system", "core/heap.h", tests("core/test_page_faults.py"),
          "malloc((size_t)(2 * wanted))", "malloc(1)"),
    # Lengths.
    Fault("negative length accepted", "core/codec/decode.pxi", VECTORS,
          "        if length < 0:\n            return raise_negative(d, length, code)\n        return decode_payload",
          "        return decode_payload"),
    Fault("negative count accepted", "core/codec/decode.pxi", VECTORS,
          "        if length < 0:\n            return raise_negative(d, length, code)\n        return decode_vector",
          "        return decode_vector"),
    Fault("skip accepts a negative length", "core/codec/skip.pxi", fuzz("bytes"),
          "                if unlikely(length < 0):\n                    return BAD_LENGTH\n                p += 5\n"
          "                if unlikely(length > end - p):",
          "                p += 5\n                if unlikely(length > end - p):"),
    Fault("a pickled int in a run read without its last bytes", "core/codec/pickle/recognise.pxi",
          tests("core/test_pickle.py", "-k", "in_a_row"),
          " and p[16] >= 0x80 and p[17] == 0", ""),
    Fault("a pickled int in a run read beyond the end", "core/codec/containers.pxi",
          tests("core/test_pickle.py", "-k", "in_a_row"),
          "end - p >= UNSIGNED_NBYTES", "end - p >= 9"),
    Fault("skip takes pairs for values", "core/codec/skip.pxi", VECTORS,
          "(length * 2 if s.code == MAP else length)", "length"),
    Fault("limit of a record off by one", "core/codec/limits.pxi", VECTORS,
          "max(d.max_bytes - record_nbytes_read(d), 0)", "max(d.max_bytes - record_nbytes_read(d) + 1, 0)"),
    # Depth.
    Fault("one level too many", "core/codec/containers.pxi", VECTORS,
          "    if unlikely(d.depth >= d.max_depth):", "    if unlikely(d.depth > d.max_depth):"),
    Fault("closing does not count", "core/codec/containers.pxi", VECTORS,
          "    d.depth -= 1\n    d.frame = frame.parent\n    return count_items",
          "    d.frame = frame.parent\n    return count_items"),
    Fault("skip's depth off by one", "core/codec/skip.pxi", fuzz("bytes"),
          "            elif size == HAS_MARKER:\n                if unlikely(s.depth == s.max_depth):",
          "            elif size == HAS_MARKER:\n                if unlikely(s.depth > s.max_depth):"),
    # Numbers and text.
    Fault("-2^31 as LONG", "core/codec/scalars.pxi", VECTORS,
          "    if number == <int32_t>number:", "    if number == <int32_t>number and number != INT32_MIN:"),
    Fault("signalling NaN made quiet", "core/byteorder.h", VECTORS,
          "    if ((bits & 0x7f800000u) == 0x7f800000u) {", "    if (bits == 0x7f800000u) {"),
    Fault("hash of unsigned bytes", "core/java_hash.h", tests("core/test_reference.py"),
          "(uint32_t)(int32_t)(signed char)byte", "(uint32_t)byte"),
    Fault("surrogate accepted", "core/utf8/plain.h", fuzz("reference"),
          "return *c < 0x800 || (*c & 0xf800) == 0xd800 ? 0 : 3;", "return *c < 0x800 ? 0 : 3;"),
    Fault("overlong character accepted", "core/utf8/plain.h", VECTORS,
          "if (lead < 0xc2 || end - p < 2", "if (lead < 0xc0 || end - p < 2"),
    Fault("strings of two lengths taken for one", "core/codec/strings.pxi", tests("core/test_memory.py"),
          "    return slot.nbytes == nbytes and same_short(&slot.words, words)",
          "    return same_short(&slot.words, words)"),
    # References and memory.
    Fault("items of a failed container leak", "core/codec/decode.pxi", LEAKS,
          "        d.nstack -= 1\n        Py_XDECREF(d.stack[d.nstack])\n", "        d.nstack -= 1\n"),
    Fault("large BYTES leak when the source fails", "core/codec/bytes.pxi", LEAKS,
          "    except:\n        Py_XDECREF(result)\n        raise", "    except:\n        raise"),
    Fault("shared int given without a reference", "core/codec/scalars.pxi", LEAKS,
          "    cdef PyObject* shared = SHARED_INTS[<signed char>p[0] - MIN_SHARED]\n    incref(shared)",
          "    cdef PyObject* shared = SHARED_INTS[<signed char>p[0] - MIN_SHARED]"),
    Fault("unchecked realloc", "core/codec/containers.pxi", MEMORY,
          "    if stack == NULL:\n        raise MemoryError", "    pass"),
    Fault("item leaks when the stack cannot grow", "core/codec/containers.pxi", LEAKS,
          "    except MemoryError:\n        decref(item)\n        raise", "    except MemoryError:\n        raise"),
    Fault("tuple with a slot never filled", "core/codec/containers.pxi", VECTORS,
          "    return tuple_from_stolen(d.stack + base, count)",
          "    return tuple_from_stolen(d.stack + base, count + (count > 0))"),
    Fault("mark left in memory that is gone", "core/buffer.pxi", fuzz("pieces"),
          "    b.end = storage + nkept\n    if b.mark != NULL:\n        b.mark = storage",
          "    b.end = storage + nkept"),
    Fault("buffer read after it was freed", "core/buffer.pxi", sanitize.tests("stream/test_large_values.py"),
          "    memcpy(smaller, b.cursor, nheld)\n    b.start_offset += b.cursor - b.start\n    PyMem_Free(b.storage)",
          "    PyMem_Free(b.storage)\n    memcpy(smaller, b.cursor, nheld)\n    b.start_offset += b.cursor - b.start"),
    Fault("buffer released while a Reader looks at it", "core/stream/reader.pxi", fuzz("reading"),
          "        borrow(&self.d.buf, <const unsigned char*>view.buf, view.len)\n        return 0\n\n"
          "    def __dealloc__",
          "        borrow(&self.d.buf, <const unsigned char*>view.buf, view.len)\n        self.memory = None\n"
          "        return 0\n\n    def __dealloc__"),
    Fault("part of a feed kept when memory ends", "core/buffer.pxi", MEMORY,
          "    except MemoryError:\n        b.end -= done\n        raise", "    except MemoryError:\n        raise"),
    Fault("collector left switched off", "core/cpython.h", fuzz("bytes"),
          "    if (was_on) PyGC_Enable();", "    (void)was_on;"),
    # Errors and state.
    Fault("error points one byte too far", "core/codec/strings.pxi", VECTORS,
          "                             offset_of(&d.buf, p) - 5, STRING, error)",
          "                             offset_of(&d.buf, p) - 4, STRING, error)"),
    Fault("error of close() only printed", "core/stream.pxi", tests("core/test_decoder.py"),
          "    cdef int check_rest(self) except -1:", "    cdef int check_rest(self) noexcept:"),
    Fault("failed Reader goes on", "core/stream/reader.pxi", fuzz("reading"),
          "            self.failure = as_failure(error)\n            self.state = HAS_FAILED\n"
          "        raise self.failure",
          "            self.failure = as_failure(error)\n            self.state = OPEN\n        raise self.failure"),
    Fault("busy Reader lets a hook in", "core/stream/reader.pxi", fuzz("reading"),
          "        if unlikely(self.value_due or not claim_state(&self.state, OPEN, BUSY)):\n"
          "            return self.refuse()",
          "        if self.state == HAS_FAILED or self.state == CLOSED or self.value_due:\n"
          "            return self.refuse()\n        self.state = BUSY"),
    Fault("depth kept after an error of encoding", "core/codec/encode.pxi", fuzz("writing"),
          "    e.depth = e.nreplaced = 0\n", ""),
    Fault("hook ends an iteration by StopIteration", "core/cpython.pxd", tests("core/test_hostile.py"),
          "    if not isinstance(error, StopIteration):", "    if True:"),
    Fault("iterator that failed says that it is at its end", "core/stream/iterate.pxi",
          tests("package/test_iterators.py", "-k", "sequencefile"),
          "        self.failure = as_failure(error)\n        self.state = OPEN\n        raise self.failure",
          "        self.state = OPEN\n        raise as_failure(error)"),
    Fault("dict changed while it is encoded", "core/codec/containers.pxi", tests("core/test_changing_objects.py"),
          "    if unlikely(frame.index != npairs or PyDict_GET_SIZE(mapping) != npairs):", "    if False:"),
    # Sources and sinks.
    Fault("reads beyond the value it returns", "core/buffer.pxi", tests("stream/test_reader.py"),
          "        if not b.read_ahead and free > wanted - have:\n            free = wanted - have", "        pass"),
    Fault("more bytes than asked for", "core/fileio.pxi", fuzz("reading"),
          "        if view.len > capacity:", "        if False:"),
    Fault("write error swallowed", "core/stream/writer.pxi", tests("stream/test_failing_sinks.py"),
          "                self.failure = error\n                raise\n            PyErr_CheckSignals()",
          "                self.failure = error\n                return 0\n            PyErr_CheckSignals()"),
    Fault("writer left out at the end", "core/stream/writer.pxi", tests("stream/test_exit.py"),
          "        if register_writer(self):", "        if False:"),
    Fault("closed writer stays in the list", "core/lifecycle/exit.pxi",
          sanitize.tests("stream/test_exit.py", "-k", "leave_the_list"),
          "        (<OpenWriter>writer.newer).older = writer.older\n", "        pass\n"),
    Fault("daemon thread not waited for", "core/lifecycle/exit.pxi", tests("stream/test_exit.py", "-k", "daemon"),
          "        while waiting and monotonic() < deadline:", "        while False:"),
    Fault("partial write ignored", "core/stream/writer.pxi", fuzz("writing"),
          "        self.unsent_start += nbytes\n", "        self.unsent_start = self.unsent_end\n"),
    Fault("records passed over before they are kept", "core/stream/writer.pxi", MEMORY,
          "                self.append(reader.d.buf.cursor, nbytes)\n"
          "                reader.consume_records(nbytes, nrecords)\n",
          "                reader.consume_records(nbytes, nrecords)\n"
          "                self.append(reader.d.buf.cursor - nbytes, nbytes)\n"),
    Fault("failed pair leaves its key", "core/stream/writer.pxi", tests("stream/test_writer.py"),
          "                self.e.buf.cursor = self.e.buf.start + before\n"
          "                raise", "                raise"),
    # Columns.
    Fault("number of a column beyond the end", "columns/load.pxi", fuzz("columns"),
          "    if unlikely(end - p <= width or p[0] != c.code", "    if unlikely(end - p < width or p[0] != c.code"),
    Fault("end of a struct's number not looked for", "columns/load.pxi", fuzz("columns"),
          "max(step.head_nbytes + payload_size(step) + needed, HEAD_NBYTES)",
          "max(step.head_nbytes + needed, HEAD_NBYTES)"),
    Fault("field taken for another whose name begins as its own", "columns/load.pxi", tests("columns/test_structs.py"),
          "& step.head_mask != 0):", "& <uint32_t>step.head_mask != 0):"),
    Fault("texts of a column that are UTF-8 only together", "columns/text.pxi",
          tests("columns/test_columns.py", "-k", "utf8"),
          "            if start < c.used and c.data[start] & 0xc0 == 0x80:", "            if False:"),
    Fault("column holds more than its offsets can say", "columns/memory.pxi",
          tests("columns/test_reader.py", "-k", "wrap"),
          "    c.capacity = min(c.capacity, max_held)\n", ""),
    Fault("offsets of a slice from the start of its array", "columns/import_arrow.pxi",
          tests("columns/test_arrow.py", "-k", "strings_of_all_kinds"),
          "        c.offsets = <int32_t*>array.buffers[1] + offset", "        c.offsets = <int32_t*>array.buffers[1]"),
    Fault("kept memory that two are given", "core/memory.h", tests("columns/test_reader.py", "-k", "one_owner"),
          "        void *block = exchange(&kept[i], NULL);", "        void *block = kept[i];"),
    Fault("export that does not own its memory", "columns/export.pxi",
          sanitize.tests("columns/test_arrow.py", "-k", "outlive"),
          "    add_owner(&table.nowners)\n", ""),
    Fault("export that releases nothing", "columns/export.pxi",
          tests("columns/test_columns.py", "-k", "left_allocated"),
          "    release_table(private.table)\n", ""),
    Fault("column without memory for its data", "columns/memory.pxi", tests("core/test_allocation.py", "-k", "columns"),
          "    larger = enlarge_kept(c.data, c.capacity + PADDING, &size)\n"
          "    if larger == NULL:\n        return False\n",
          "    larger = enlarge_kept(c.data, c.capacity + PADDING, &size)\n"),
    Fault("item released twice when its list cannot grow", "columns/type.pxi",
          tests("core/test_allocation.py", "-k", "columns"),
          "    for i in range(n):\n        found.append(describe(columns[i]))\n    return tuple(found)",
          "    return tuple([describe(columns[i]) for i in range(n)])"),
    Fault("rows before an interrupt are kept", "columns/build.pxi",
          tests("columns/test_reader.py", "-k", "takes_nothing"),
          "            self.set_row_count(before)\n            raise", "            raise"),
    # Blocks.
    Fault("checksum not compared", "block/parse_native.pxi", tests("block/test_messages.py", "-k", "flipped"),
          "    if found != right:", "    if False:"),
    Fault("value longer than the body of its message", "block/parse_native.pxi", fuzz("native"),
          "        if not 0 <= number <= parser.body_nbytes - parser.body_expected:", "        if number < 0:"),
    Fault("value beyond the end of its frame", "block/parse.pxi", fuzz("layouts"),
          "        if self.frame_left >= 0 and nbytes > self.frame_left:\n            return True\n", ""),
    Fault("array larger than its bytes", "block/_native.pyx",
          tests("block/test_messages.py", "-k", "as_large_as_its_bytes"),
          "        if array.shape[i] > PY_SSIZE_T_MAX // stride:    # also where another length is 0: "
          "NumPy rejects such an array\n"
          "            raise ValueError(\"the dimensions of an array come to more than 2^63-1 bytes\")\n", ""),
    Fault("writer continues after a partial write", "block/writer.pxi",
          tests("block/test_socket_peers.py", "-k", "stalls_while_we_write"),
          "            if self.sink.sent or self.sink.may_have_sent:\n                self.failure = error\n"
          "            raise", "            raise"),
    Fault("message follows a large value that was sent in part", "block/coalesce_threads.pxi",
          tests("block/test_coalescing.py", "-k", "follows_a_large_value"),
          "            if self.failure is not None:\n                self.failed = EPIPE    # nothing may follow a "
          "partial message\n", ""),
    Fault("table of a message is written beyond its end", "block/encoder.pxi",
          tests("block/test_messages.py", "-k", "after_its_table"),
          "            while i < count and i < PySequence_Fast_GET_SIZE(args):\n                value = args[i]\n",
          "            while i < len(args):\n                value = args[i]\n"),
    Fault("partial send taken for all", "block/sockets.pxi", tests("block/test_sockets.py", "-k", "partial"),
          "                pieces.iov_base = <char*>pieces.iov_base + ntaken\n", ""),
    Fault("partial send by a method taken for all", "block/sockets.pxi",
          tests("block/test_sockets.py", "-k", "partial"),
          "                piece.p += n\n", ""),
    Fault("values of a message leak", "block/parse.pxi", LEAKS,
          "        Py_XDECREF(values)\n        message.number", "        message.number"),
    Fault("error that there was no memory for", "block/encoder.pxi", tests("core/test_allocation.py", "-k", "block"),
          "        except EncodeError as error:\n            reraise_memory_error(error)\n",
          "        except EncodeError as error:\n"),
    Fault("large value that fails is kept for the next message", "block/encoder.pxi",
          tests("block/test_sockets.py", "-k", "fails_to_encode"),
          "            self.buf.cursor = self.buf.start + base\n            self.drop_external_parts(nexternal)\n"
          "            raise",
          "            self.buf.cursor = self.buf.start + base\n            raise"),
    # Rings.
    Fault("bytes of a ring that cannot be there", "block/ring.h", ring("cannot_be_there"),
          "if (tail - r->head > r->capacity) {", "if (0) {"),
    Fault("tail of a ring that goes back", "block/ring.h", ring("tail_that_goes_back"),
          "tail - r->head > r->capacity", "(int64_t)(tail - r->head) > (int64_t)r->capacity"),
    Fault("head of a ring beyond its tail", "block/ring.h", ring("head_beyond"),
          "if (head - r->freed > r->tail - r->freed) {", "if (0) {"),
    Fault("head of a ring that goes back", "block/ring.h", ring("head_that_goes_back"),
          "head - r->freed > r->tail - r->freed", "head > r->tail"),
    Fault("bells for no sleep", "block/ring.h", ring("bells_for_no_sleep"),
          "if (r->nbells > (r->wait + 1) / 2)", "if (0)"),
    Fault("position read back from shared memory", "block/ring.h", ring("read_back"),
          "    r->tail += nbytes;\n", "    r->tail = ring_load(r->mine + RING_TAIL) + nbytes;\n"),
    Fault("many bells for one sleep", "block/ring.h", ring("costs_one_bell"),
          "(wait & 1) || (int64_t)(wait - __atomic_load_n(&r->answered, __ATOMIC_RELAXED)) <= 0) return;\n"
          "    pthread_mutex_lock(&r->mutex);\n    if ((int64_t)(wait - r->answered) > 0) {",
          "(wait & 1)) return;\n    pthread_mutex_lock(&r->mutex);\n    {"),
    Fault("bell for an earlier sleep than the last", "block/ring.h", WAKE_UPS,
          "    if ((int64_t)(wait - r->answered) > 0) {", "    if (wait != r->answered) {"),
    Fault("bell waits for a socket that is full", "block/ring.h", ring("costs_one_bell"),
          "MSG_DONTWAIT | MSG_NOSIGNAL", "MSG_NOSIGNAL"),
    Fault("publisher without its fence", "block/ring.h", WAKE_UPS,
          "    ssize_t n;\n    ring_fence();\n", "    ssize_t n;\n"),
    Fault("sleeper without its fence", "block/ring.h", WAKE_UPS,
          "    /* even: one that polls has slept */\n        ring_fence();\n", "\n"),
    Fault("publisher in Java without its fence", JAVA_RING, JAVA_WAKE_UPS,
          "        SharedWords.fence();\n        long theirWait", "        long theirWait"),
    Fault("sleeper that does not look again", "block/ring.h", WAKE_UPS,
          "        if (!ring_ready(r, for_data) && !ring_get(&r->ended) && !ring_get(&r->fault)) {\n"
          "            pthread_mutex_unlock",
          "        if (!ring_get(&r->ended) && !ring_get(&r->fault)) {\n            pthread_mutex_unlock"),
    Fault("position published without an order", "block/ring.h", RACES,
          "ring_order(value), __ATOMIC_RELEASE", "ring_order(value), __ATOMIC_RELAXED"),
    Fault("position loaded without an order", "block/ring.h", RACES,
          "(const uint64_t *)word, __ATOMIC_ACQUIRE", "(const uint64_t *)word, __ATOMIC_RELAXED"),
    Fault("bytes that are published before they are written", "block/ring.h", RACES,
          "    first = r->capacity - at < nbytes ? r->capacity - at : nbytes;\n    memcpy(r->mine",
          "    ring_store(r->mine + RING_TAIL, r->tail + nbytes);\n"
          "    first = r->capacity - at < nbytes ? r->capacity - at : nbytes;\n    memcpy(r->mine"),
    Fault("bytes that are freed before they are read", "block/ring.h", RACES,
          "    first = r->capacity - at < nbytes ? r->capacity - at : nbytes;\n    memcpy(target",
          "    ring_store(r->mine + RING_HEAD, r->head + nbytes);\n"
          "    first = r->capacity - at < nbytes ? r->capacity - at : nbytes;\n    memcpy(target"),
    Fault("bytes that wrap round a ring from its middle", "block/ring.h", ring("many_comes"),
          "    memcpy(target + first, r->theirs + RING_DATA, nbytes - first);",
          "    memcpy(target + first, r->theirs + RING_DATA + at, nbytes - first);"),
    Fault("sleep after a poll that does not ask for a bell", "block/ring.h",
          tests("block/test_async_calls.py", "-k", "are_awaited"),
          "r->wait += 1 + (r->wait & 1)", "++r->wait"),
    # SequenceFiles.
    Fault("sync marker not compared", "sequencefile/frames.pxi", tests("sequencefile/test_damage.py"),
          "            if memcmp(b.cursor, self.escaped_marker, ESCAPED_NBYTES) != 0:", "            if False:"),
    Fault("key longer than its record", "sequencefile/frames.pxi", fuzz("sequences"),
          "        if length < 0 or not 0 <= self.nkey <= length:", "        if length < 0 or self.nkey < 0:"),
    Fault("lengths of a block not counted", "sequencefile/frames.pxi", fuzz("sequences"),
          "        if left or nlengths != self.declared_count:", "        if left:"),
    Fault("length in a block longer than what is left", "sequencefile/frames.pxi",
          tests("sequencefile/test_damage.py", "-k", "wraps"),
          "            if not 0 <= length <= left:", "            if length < 0:"),
    Fault("key leaks when its value fails", "sequencefile/reader.pxi", LEAKS,
          "    if value[0] == NULL:\n        xdecref(key[0])\n        return -1",
          "    if value[0] == NULL:\n        return -1"),
    Fault("two scalars taken, of which one is no scalar", "sequencefile/reader.pxi",
          tests("sequencefile/test_sequencefile.py", "-k", "by_a_task"),
          "    if not (may_be_scalar(key, nkey) and may_be_scalar(value, nvalue)):\n",
          "    if not may_be_scalar(value, nvalue):\n"),
    Fault("value leaks when its key is no scalar", "sequencefile/reader.pxi", LEAKS,
          "    xdecref(made_value[0])\n    PyErr_Clear()", "    PyErr_Clear()"),
    Fault("a marker that is due between copied pairs", "sequencefile/copy_pairs.pxi",
          tests("sequencefile/test_misuse.py", "-k", "as_their_values"),
          "writer.sync_interval - (writer.position() - writer.last_sync)", "writer.sync_interval"),
    Fault("record that fails leaves its key", "sequencefile/writer.pxi",
          tests("sequencefile/test_sequencefile.py", "-k", "leaves_nothing"),
          "        self.out.buf.cursor = self.out.buf.start + self.written_before[0]\n", ""),
    Fault("partial write of a file taken for all", "sequencefile/writer.pxi",
          tests("sequencefile/test_misuse.py", "-k", "takes_a_part"),
          "            n = write_part(self.method, full, ntaken, nwritten, self.is_raw)\n",
          "            write_part(self.method, full, ntaken, nwritten, self.is_raw)\n"
          "            n = nwritten - ntaken\n"),
    Fault("skipping begins after the blocks ahead", "sequencefile/reader.pxi",
          tests("sequencefile/test_many_files.py", "-k", "moves_as_before"),
          "        self.forget_ahead()\n        while True:", "        while True:"),
    Fault("an exception of the source is forgotten", "sequencefile/frames.pxi",
          tests("sequencefile/test_many_files.py", "-k", "source_raises"),
          "            self.failure_ahead = error", "            pass"),
    # Sorting, and lines.
    Fault("a key that ended is lost with what a sorter leaves to the next one", "_sorting/sorter.pxi",
          tests("sorting/test_external.py", "-k", "little_memory"),
          "            self.key_end = -1\n        finally:", "        finally:"),
    Fault("of equal keys the later run goes first", "_sorting/merge.pxi", tests("sorting/test_external.py"),
          "difference == 0 and i < j", "difference == 0 and i > j"),
    Fault("a key's window reaches into the value", "_sorting/order.pxi", tests("sorting/test_external.py"),
          "return window >> (64 - 8 * nbytes) << (64 - 8 * nbytes) if nbytes > 0 else 0", "return window"),
    Fault("a length of 255 is taken for a short one", "_sorting/order.pxi", tests("sorting/test_external.py"),
          "if length < MIN_LONG_LENGTH:", "if length <= MIN_LONG_LENGTH:"),
    Fault("the first bytes that differ are passed over", "_sorting/order.pxi", tests("sorting/test_external.py"),
          "return at + (64 - nbits - partition_bits) // 8", "return at + (64 - nbits - partition_bits) // 8 + 1"),
    Fault("where a key ended is lost with the records before it", "_sorting/sorter.pxi",
          tests("sorting/test_external.py"),
          "        self.key_end -= start if self.key_end >= 0 else 0\n", ""),
    Fault("a turn keeps what the one before it needed", "_sorting/sorter.pxi",
          tests("sorting/test_external.py", "-k", "memory_follows"),
          "if touched <= max(", "if True or touched <= max("),
    Fault("CR LF ends two lines", "_sorting/text_input.pxi", tests("sorting/test_text_input.py"),
          "2 if carriage + 1 == feed and feed < held(&self.buf) else 1", "1"),
    Fault("CR at the end goes beyond it", "_sorting/text_input.pxi", tests("sorting/test_text_input.py"),
          "carriage + 1 == feed and feed < held(&self.buf)", "carriage + 1 == feed"),
    Fault("more bytes than fit into a file's buffer", "core/fileio.pxi",
          tests("sorting/test_external.py", "-k", "source_that_lies"),
          "not 0 <= count <= capacity:", "count < 0:"),
    # Sort keys.
    Fault("a NUL inside a text ends it", "core/sort_key.h", tests("sorting/test_sortkey.py", "-k", "come_back"),
          "        if (*data == 0) *p++ = 0xff ^ mask;\n", ""),
    Fault("an int is the double below it", "core/sort_key.h",
          tests("sorting/test_sortkey.py", "-k", "beside_one_another"),
          "p[10] = (unsigned char)above;", "p[10] = 0;"),
    Fault("a part goes on after its key", "_sorting/sortkey.pxi", fuzz("keys"),
          "    if parts.end - p < nbytes:", "    if False:"),
    Fault("two keys for one int", "_sorting/sortkey.pxi", tests("sorting/test_sortkey.py", "-k", "no_key or not_a_key"),
          "above < nextafter(below, INFINITY) - below", "True"),
    # Lines of JSON, and statistics.
    Fault("escapes beyond the end of a line", "_report/json.pxi",
          sanitize.tests("cli/test_json_form.py", "-k", "escapes"),
          "reserve(&w.out, 6 + (end - p) + 1)", "reserve(&w.out, (end - p) + 1)"),
    Fault("a name taken for one that begins with it", "_report/json.pxi",
          tests("cli/test_json_form.py", "-k", "beginning"),
          "memcmp(keys[j] + 1, p + 1, 4) == 0 and ", ""),
    Fault("more visited than was skipped over", "_report/statistics.pxi", fuzz("report"),
          "self.visit(self.part, start, buf.cursor - start,", "self.visit(self.part, start, buf.end - start,"),
    Fault("a SHORT one byte too short in a walk", "_report/statistics.pxi", fuzz("report"),
          "        return 3\n", "        return 2\n"),
    Fault("a character cut where a payload is left out", "_report/whole_records.pxi",
          tests("cli/test_large_values.py", "-k", "not_held"),
          "self.out.cursor -= nbroken", "pass"),
    Fault("NaN in a mean", "_report/statistics.pxi", tests("cli/test_stats.py"),
          "        if isnan(point):\n            return\n", ""),
    # JSON to records, records that are chosen, types of columns.
    Fault("half a surrogate pair in JSON", "_report/json_records.pxi", tests("report/test_json_records.py"),
          "if unit < 0 or 0xdc00 <= unit < 0xe000:", "if unit < 0:"),
    Fault("a control character in a word of JSON", "_report/json_records.pxi",
          tests("report/test_json_records.py"),
          "if (word | (word - <uint64_t>0x2020202020202020)", "if (word"),
    Fault("a name twice among many", "_report/json_values.pxi", tests("report/test_json_records.py"),
          "is_again = is_again or key in many", "pass"),
    Fault("a record that repeats one of an earlier chunk", "_report/distinct.pxi", tests("report/test_chosen.py"),
          "        if self.kept is not None:\n", "        if False:\n"),
    Fault("the sign of kelvin is no letter", "_report/matching.pxi", tests("cli/test_grep.py"),
          "literal[i] == c\"k\" and end - p >= 3", "False"),
    Fault("a DOUBLE that loses a digit", "_report/column_types.pxi", tests("report/test_column_types.py"),
          "exact < half;", "1;"),
]  # fmt: skip


def source_of(fault, root=build_copies.ROOT):
    """Return the file that a fault changes."""
    return root / "src" / "typedbytes" / fault.file


def main(arguments=None):
    """Run the drill."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    chosen = [fault for fault in FAULTS if not options.names or fault.name in options.names]
    if options.list:
        for fault in chosen:
            print(f"{fault.name:<45}{described(fault.gate)}")
        return 0
    return drill(chosen)


def drill(faults):
    """Put in each fault and run its gate; return 0 when all were caught."""
    bases = {sanitized: make_base(sanitized) for sanitized in sorted({is_sanitized(fault.gate) for fault in faults})}
    for gate in sorted({fault.gate for fault in faults}, key=str):
        code, output = run_gate(gate, bases[is_sanitized(gate)])
        if code:
            print(f"{described(gate)} fails without a fault:\n{output}")
            return 1
    ncaught = 0
    for fault in faults:
        start = time.monotonic()
        code, output = attempt(fault, bases[is_sanitized(fault.gate)])
        ncaught += code != 0
        verdict = "caught" if code else "MISSED"
        print(f"{verdict}  {fault.name:<45}{described(fault.gate):<60}{time.monotonic() - start:5.0f} s", flush=True)
    print(f"caught {ncaught} of {len(faults)}")
    figures.report(faults=len(faults), caught=ncaught)
    return 0 if ncaught == len(faults) else 1


def is_sanitized(gate):
    """Return whether a gate wants a build with sanitizers."""
    return gate[0] == sanitize.NAME


def described(gate):
    """Return a gate as one types it."""
    return " ".join(str(word) for word in gate if word not in ("-m", "-x", "-q", "-p", "no:randomly"))


def make_base(sanitized):
    """Return a copy of the sources, built without a fault, and without much optimisation since that takes longer."""
    folder = build_copies.copy_sources(build_copies.BUILD / "faults" / ("sanitized" if sanitized else "plain"))
    setup = folder / "setup.py"
    setup.write_text(setup.read_text("utf-8").replace('"-O3"', '"-O1"'), "utf-8")
    build_copies.build(folder, **switches(sanitized))
    return folder


def switches(sanitized):
    """Return the switches of a build."""
    return sanitize.SWITCHES if sanitized else {}


def attempt(fault, base):
    """Build a copy of the base with a fault and run its gate there; a build that fails is the drill's own mistake."""
    folder = base.with_name(base.name + "-faulty")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base, folder)
    source = source_of(fault, folder)
    text = source.read_text("utf-8")
    if text.count(fault.old) != 1:
        raise RuntimeError(f"{fault.name}: the text occurs {text.count(fault.old)} times in {fault.file}")
    source.write_text(text.replace(fault.old, fault.new), "utf-8")
    build_copies.build(folder, **switches(is_sanitized(fault.gate)))
    return run_gate(fault.gate, folder)


def run_gate(gate, folder):
    """Run a gate in a copy; return its exit code, not 0 when it did not end, and the end of its output."""
    environment = sanitize.environment() if is_sanitized(gate) else {}
    limit = None if is_sanitized(gate) or gate == RACES else limit_memory
    words = gate[1:] if is_sanitized(gate) else gate
    command = [sys.executable, *map(str, words)]
    try:
        done = subprocess.run(
            command, cwd=folder, env=build_copies.environment_for(folder, **environment), capture_output=True,
            text=True, errors="replace", timeout=SECONDS, preexec_fn=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return -1, "it did not end"
    return done.returncode, (done.stdout + done.stderr)[-3000:]


def limit_memory():
    """Let this process and its children have no more memory than that."""
    resource.setrlimit(resource.RLIMIT_DATA, (NBYTES, NBYTES))


if __name__ == "__main__":
    sys.exit(main())
