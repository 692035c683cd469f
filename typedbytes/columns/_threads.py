"""Threads that decode batches of an Assembly whose bytes are in memory, and that decompress blocks of SequenceFiles.

Here: dividing the bytes among threads, and taking over their batches in order. Not here: sources, errors, policies;
whatever a thread cannot decode is left to the reader.
"""

from __future__ import annotations

import os
import queue
import threading

from typedbytes import _core
from typedbytes.columns._batch import Batch
from typedbytes.errors import FormatError, LimitError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["BlocksAhead", "Parallel"]

_RUN_NBYTES = 16 << 20  # size of a run; a run is one batch at least
_SAMPLE = 256  # records from which the mean size is estimated
# states of a builder after which one thread has to decode the next record
_FAULTS = ("limit", "mismatch", "split", "broken")


class _Workers:
    """The threads that decode runs: started when first needed, and shared by all readers from then on.

    Starting a thread costs as much as decoding a batch, and as much again until its memory is warm.
    """

    def __init__(self):
        self._threads = []
        self._calls: Any = None

    def start(self, n):
        """Have at least n threads running; after a fork, the child has none of its parent's."""
        alive = [thread for thread in self._threads if thread.is_alive()]
        if not alive:
            self._calls = queue.SimpleQueue()
        while len(alive) < n:
            alive.append(threading.Thread(target=_run_calls, args=(self._calls,), name="columns", daemon=True))
            alive[-1].start()
        self._threads = alive

    def call(self, function, *args):
        """Call a function on the next thread that is free."""
        self._calls.put((function, args))


def _run_calls(calls):
    while True:
        function, args = calls.get()
        function(*args)
        del function, args  # keep nothing alive while waiting


_workers = _Workers()


class BlocksAhead:
    """Threads that decompress the blocks of one SequenceFile after the other, while their reader uses earlier ones."""

    def __init__(self, threads):
        self._nthreads = threads
        self._pool: Any = None

    def start(self, reader):
        """Have the blocks of this Reader decompressed from now on."""
        if self._nthreads == 1 or reader.compression != "block":
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._nthreads, thread_name_prefix="columns-blocks")
        reader.__decompress_ahead__(self._pool.submit, 2 * self._nthreads)

    def close(self):
        """Let the threads end after the blocks that they are working on."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


class Parallel:
    """Decode runs of batches on several threads, in order.

    The calling thread decodes the run that starts at the reader's offset. Each worker decodes one that starts where the
    run before it is expected to end: a number of records further on, found by a multiplication if records have one
    size, and otherwise by a scan of their structure. If the source is in memory, workers continue while the caller uses
    batches. The last worker has the longest scan, so it is stopped, even within a batch, when the caller needs its run.
    A run is used only if the run before it ended at its start with the same types, and is discarded otherwise: the
    batches are those that one thread would have made.

    memory: a view of the whole source, None if that has to be read.
    """

    def __init__(self, threads, assembly, memory):
        self._nworkers = threads - 1
        self._assembly = assembly
        self._memory = memory
        self._own_run: Any = None  # of the calling thread
        self._runs = []  # of the workers, in order, after the own run
        self._process: Any = None  # the one whose workers have these runs
        self._builders = []  # empty, for reuse
        self._error: BaseException | None = None  # of a run; raised after the batches before it

    def close(self):
        """Wait until no run is being decoded, and discard all; the threads stay."""
        self._stop_and_wait()
        self._runs = []

    def decode(self, view, offset):
        """Decode from the start of the view, which has this offset in the source; return bytes and records used."""
        in_memory = self._memory is not None
        view, start = (self._memory, offset) if in_memory else (view, 0)
        end, nrecords = start, 0
        if self._own_run is None:
            end, nrecords = self._adopt_runs(end, nrecords)
            if self._error is None:
                self._start_runs(view, end)
        if self._own_run is not None and not self._assembly.ready:
            end, n = self._continue_own_run(1 if in_memory else self._own_run.nbatches)
            nrecords += n
        if not in_memory:
            end, nrecords = self._adopt_runs(end, nrecords)
        if self._error is not None and not self._assembly.ready:
            raise self._error
        return end - start, nrecords

    def _start_runs(self, view, start):
        """Start the own run here and workers after it, unless a fault is next or one thread has all that is left."""
        assembly = self._assembly
        first = assembly.builder
        types = None if first.state in _FAULTS else _types(first, view, start)
        if types is None:
            return
        nbatches = _nbatches(assembly, view, start, (len(view) - start) // (1 + self._nworkers))
        own = _Run(assembly, first, types, start, 0, nbatches + (first.nrows > 0))
        nbefore = own.nbatches
        same = [builder for builder in self._builders if builder.described == types]
        min_nbytes = min(assembly.batch_rows * first.min_record_nbytes, assembly.batch_nbytes)  # of a batch
        while len(self._runs) < self._nworkers and start + (nbefore - 1) * min_nbytes < len(view):
            builder = same.pop() if same else assembly.new_builder(types)
            self._runs.append(_Run(assembly, builder, types, start, nbefore, nbatches, (first.nrows, first.nbytes)))
            nbefore += nbatches
        self._builders = same
        self._process = os.getpid()
        if self._runs:
            own.view = view
            self._own_run = own
            self._runs[-1].nbatches += 1  # the caller also spends time using batches
            _workers.start(len(self._runs))
        for run in self._runs:
            run.view = memoryview(view)
            _workers.call(run.decode_on_worker)

    def _continue_own_run(self, nbatches):
        """Decode nbatches of the own run, or what is left of it; one at a time if the source is in memory."""
        run = self._own_run
        before = run.nrecords
        try:
            run.decode(nbatches)
        except Exception as error:
            self._error = error
        self._assembly.ready += run.batches
        run.nbatches -= len(run.batches)
        if len(run.batches) < nbatches or not run.nbatches:
            self._own_run = None
        run.batches = []
        return run.end, run.nrecords - before

    def _adopt_runs(self, end, nrecords):
        """Add the batches of the runs that follow from `end` on; rows go to the builder of the last of them."""
        self._stop_and_wait()
        for run in self._runs:
            builder = self._assembly.builder
            # Rows without a batch remain before a record that was refused, and if there was no memory for the batch.
            if run.start != end or builder.nrows or builder.described != run.types:
                break
            self._assembly.ready += run.batches
            end, nrecords = run.end, nrecords + run.nrecords
            self._builders.append(builder)
            self._assembly.builder = run.builder
            if run.error is not None:
                self._error = run.error
                break
        self._runs = []
        return end, nrecords

    def _stop_and_wait(self):
        """Stop the last worker, and wait for all; in a forked child, which has no workers, discard the runs."""
        if self._process != os.getpid():
            self._runs = []
        if not self._runs:
            return
        last = self._runs[-1].builder
        last.request_stop(True)
        for run in self._runs:
            run.finish()
        last.request_stop(False)


class _Run:
    """Batches to be decoded by one thread: those of one builder, starting `nbefore` batches after an offset in a view.

    begun: the rows and bytes before that offset that the first of these batches already has. A worker has a view for
    itself, which the reader makes and releases: without the GIL, threads that use one view miscount its users.

    The first to claim a run owns it: the worker that decodes it, or the reader, which then knows that no worker
    ever will. An exception from a signal handler may come between any two instructions of the main thread, at the
    exit of a with statement too, so the reader holds no lock that another thread needs, and `finish` can be called
    again after any interruption.
    """

    def __init__(self, assembly, builder, types, offset, nbefore, nbatches, begun=(0, 0)):
        self._assembly = assembly
        self.builder = builder
        self.types = types
        self.view: Any = None
        self.nbatches = nbatches
        self.batches = []
        self.nrecords = 0
        self.start = self.end = None  # unknown, or outside the view
        self._offset = offset
        self._nbefore = nbefore
        self._begun = begun
        self._claim = {}  # "owner": set once, atomically
        self.error: BaseException | None = None  # what ended the decoding on a worker, and is the reader's to raise
        self._is_done = False  # set before _done is released
        self._done = threading.Lock()
        self._done.acquire()  # released by the worker

    def decode_on_worker(self):
        """Decode all batches, unless the reader no longer wants them."""
        if self._claim.setdefault("owner", "worker") != "worker":
            return
        try:
            self.decode(self.nbatches)
        except BaseException as error:  # of a class's own code, for example: a thread has no caller that it could reach
            self.error = error
        finally:
            self._is_done = True
            self._done.release()

    def finish(self):
        """Wait for the worker that decodes the run; if none has started, none will. Release the view."""
        if self._claim.setdefault("owner", "reader") == "worker" and not self._is_done:
            self._done.acquire()
        if self.view is not None:
            self.view.release()

    def decode(self, nbatches):
        """Decode nbatches, or those before the first incomplete one, whose rows stay in the builder."""
        assembly = self._assembly
        try:
            if self.start is None:
                self.start = self.end = _after_batches(
                    assembly, self.builder, self.view, self._offset, self._nbefore, *self._begun
                )
            while (
                self.end is not None
                and len(self.batches) < nbatches
                and self._fill(assembly.batch_rows, assembly.batch_nbytes)
            ):
                self.batches.append(self.builder.finish(Batch, assembly.visible))
        except (LimitError, MemoryError, FormatError):
            pass  # no record was appended, or no batch made: the reader continues from here and meets the error again

    def _fill(self, batch_rows, batch_nbytes):
        """Append records until there is a whole batch, and return whether there is."""
        nbytes, nrecords = self.builder.append_records(self.view, batch_rows, batch_nbytes, self.end)
        self.end += nbytes
        self.nrecords += nrecords
        return self.builder.nrows == batch_rows or self.builder.nbytes >= batch_nbytes


def _types(builder, view, start):
    """Return the types of a builder, or of the first record; None if that is incomplete or cannot be a row."""
    if builder.described is None:
        try:
            builder.append_records(view, 0, start=start)
        except LimitError:
            return None
    return builder.described


def _nbatches(assembly, view, start, share):
    """Return the number of batches of a run, if each thread's share of the view is `share` bytes."""
    end = _core.advance(view, start, _SAMPLE * len(assembly.names), **assembly.structure)
    if end is None:
        return 1
    return max(
        1, int(min(_RUN_NBYTES, share) // min((end - start) / _SAMPLE * assembly.batch_rows, assembly.batch_nbytes))
    )


def _after_batches(assembly, builder, view, start, nbatches, nrows, nbytes):
    """Return the offset after a number of batches, None if it is outside the view.

    The first batch already has some rows and bytes.
    """
    for _ in range(nbatches):
        max_rows, min_nbytes = assembly.batch_rows - nrows, assembly.batch_nbytes - nbytes
        nrows = nbytes = 0
        if max_rows <= 0 or min_nbytes <= 0:  # a read ended with its last record
            continue
        if builder.stride:
            start += min(max_rows, -(-min_nbytes // builder.stride)) * builder.stride
            continue
        start = _core.advance(
            view,
            start,
            max_rows * len(assembly.names),
            min_nbytes=min_nbytes,
            step=len(assembly.names),
            **assembly.structure,
        )
        if start is None:
            return None
    return start if start <= len(view) else None
