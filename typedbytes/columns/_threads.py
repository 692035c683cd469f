"""Threads that decode batches of a BatchReader whose bytes are in memory.

Here: dividing the bytes among threads, and taking over their batches in order. Not here: sources, errors, policies; whatever a thread
cannot decode is left to the reader.
"""

import queue
import threading

from typedbytes import _core
from typedbytes.columns._batch import Batch
from typedbytes.errors import LimitError

__all__ = ["Parallel"]

_RUN_NBYTES = 16 << 20  # that a thread decodes before it is asked again, and a batch at least
_SAMPLE = 256  # records whose mean size is taken for that of all
_FAULTS = ("limit", "mismatch", "split", "broken")  # states of a builder: what is next is for one thread to look at


class _Workers:
    """Be the threads that runs are decoded on: started when they are first wanted, and there for all readers from then on.

    A thread costs as much as decoding a batch when it starts, and as much again until its memory is warm.
    """

    def __init__(self):
        self._threads = []
        self._calls = None

    def start(self, n):
        """Have so many threads; in the child of a fork those of its parent are gone."""
        alive = [thread for thread in self._threads if thread.is_alive()]
        if not alive:
            self._calls = queue.SimpleQueue()
        while len(alive) < n:
            alive.append(threading.Thread(target=_answer, args=(self._calls,), name="columns", daemon=True))
            alive[-1].start()
        self._threads = alive

    def call(self, function, *args):
        """Have a thread call a function as soon as one is free."""
        self._calls.put((function, args))


def _answer(calls):
    while True:
        function, args = calls.get()
        function(*args)
        del function, args    # nothing is held while waiting


_workers = _Workers()


class Parallel:
    """Decode runs of a reader's batches on several threads, in order.

    The calling thread decodes a run from where the reader stands, each of the others one from where the run before should end: so
    many records further on, which is a multiplication where records have one size, and a scan of structure where not. Where
    the bytes stay, the others go on while batches are used. The last of them, who scans the longest, stops when its turn has
    come, in the middle of a batch. A run counts when the one before ended where it starts and with the types that it has: what
    one thread would not have made is thrown away.
    """

    def __init__(self, threads):
        self._nothers = threads - 1
        self._own = None    # the run of the calling thread
        self._runs = []    # of the others, behind it
        self._builders = []    # empty ones

    def close(self):
        """Let the runs come to their ends; the threads stay."""
        self._wait()
        self._runs = []

    def take(self, reader, view):
        """Decode from the start of the view, and return how many bytes and records were taken; whole batches are ready then."""
        stays = reader._memory is not None
        view, start = (reader._memory, reader._start) if stays else (view, 0)
        end, nrecords = start, 0
        if self._own is None:
            end, nrecords = self._collect(reader, end, nrecords)
            self._begin(reader, view, end)
        if self._own is not None and not reader._ready:
            end, n = self._go_on(reader, view, 1 if stays else self._own.nbatches)
            nrecords += n
        if not stays:
            end, nrecords = self._collect(reader, end, nrecords)
        return end - start, nrecords

    def _begin(self, reader, view, start):
        """Let the others begin behind the run from there; not where one thread has to look, or has all that is left."""
        first, batch_rows = reader._builder, reader._batch_rows
        types = None if first.state in _FAULTS else _types(first, view, start)
        if types is None:
            return
        nbatches = _nbatches(reader, view, start, (len(view) - start) // (1 + self._nothers))
        own = _Run(first, types, start, 0, nbatches + (first.nrows > 0))
        nbefore = own.nbatches * batch_rows - first.nrows
        same = [builder for builder in self._builders if builder.described == types]
        while len(self._runs) < self._nothers and start + nbefore * first.least < len(view):
            builder = same.pop() if same else reader._new_builder(types)
            self._runs.append(_Run(builder, types, start, nbefore, nbatches))
            nbefore += nbatches * batch_rows
        self._builders = same
        if self._runs:
            self._own = own
            self._runs[-1].nbatches += 1    # the caller has batches to use besides
            _workers.start(len(self._runs))
        for run in self._runs:
            _workers.call(run.decode, reader, view, run.nbatches)

    def _go_on(self, reader, view, nbatches):
        """Decode so many batches of the own run, or what is left of it; where the bytes stay each is used before the next is made."""
        run, before = self._own, self._own.nrecords
        run.decode(reader, view, nbatches)
        reader._ready += run.batches
        run.nbatches -= len(run.batches)
        if len(run.batches) < nbatches or not run.nbatches:
            self._own = None
        run.batches = []
        return run.end, run.nrecords - before

    def _collect(self, reader, end, nrecords):
        """Take over what follows from there on; the reader goes on with the builder of the last run that counts."""
        self._wait()
        for run in self._runs:
            builder = reader._builder
            # Rows without a batch are there behind a record that was refused, and where there was no memory for the batch.
            if run.start != end or builder.nrows or builder.described != run.types:
                break
            reader._ready += run.batches
            end, nrecords = run.end, nrecords + run.nrecords
            self._builders.append(builder)
            reader._builder = run.builder
        self._runs = []
        return end, nrecords

    def _wait(self):
        """Let the last of the others stop, and wait for all."""
        if not self._runs:
            return
        last = self._runs[-1].builder
        last.stop(True)
        for run in self._runs:
            run.wait()
        last.stop(False)


class _Run:
    """Hold what one thread decodes: batches of one builder, some records behind a place in a view."""

    def __init__(self, builder, types, place, nbefore, nbatches):
        self.builder = builder
        self.types = types
        self.nbatches = nbatches
        self.batches = []
        self.nrecords = 0
        self.start = self.end = None    # not known, or outside the view
        self._place = place
        self._nbefore = nbefore
        self._lock = threading.Lock()    # while decoding
        self._has_ended = False

    def decode(self, reader, view, nbatches):
        """Decode so many batches, or those before the first that is not whole, whose rows stay in the builder."""
        with self._lock:
            if not self._has_ended:
                self._decode(reader, view, nbatches)

    def wait(self):
        """Wait until nothing is decoded any more; what has not begun never does."""
        self._has_ended = True
        with self._lock:
            pass

    def _decode(self, reader, view, nbatches):
        try:
            if self.start is None:
                self.start = self.end = _advance(reader, self.builder, view, self._place, self._nbefore)
            while self.end is not None and len(self.batches) < nbatches and self._take(view, reader._batch_rows):
                self.batches.append(self.builder.finish(Batch, reader._shown))
        except (LimitError, MemoryError):
            pass    # nothing was taken then: whoever goes on from here meets it

    def _take(self, view, batch_rows):
        """Take records until there is a whole batch, and tell whether there is."""
        with view[self.end :] as rest:
            nbytes, nrecords = self.builder.append_records(rest, batch_rows)
        self.end += nbytes
        self.nrecords += nrecords
        return self.builder.nrows == batch_rows


def _types(builder, view, start):
    """Return the types of a builder, or else those of the first record; None: that is not whole, or no row."""
    if builder.described is None:
        try:
            with view[start:] as rest:
                builder.append_records(rest, 0)
        except LimitError:
            return None
    return builder.described


def _nbatches(reader, view, start, share):
    """Return how many batches make a run, when each thread's share of the view is so many bytes."""
    end = _advance(reader, reader._builder, view, start, _SAMPLE)
    return 1 if end is None else max(1, min(_RUN_NBYTES, share) * _SAMPLE // ((end - start) * reader._batch_rows))


def _advance(reader, builder, view, start, nrecords):
    """Return where so many records from there on end if they are of the builder's types, None when that is outside the view."""
    if builder.stride:
        end = start + nrecords * builder.stride
        return end if end <= len(view) else None
    return _core.advance(view, start, nrecords * len(reader._names), **reader._structure)
