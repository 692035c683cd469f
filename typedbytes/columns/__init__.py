"""Columns: streams of like-shaped records straight into NumPy and Arrow, and back, without an object for each value.

    for batch in read("pairs.tb"):        # any source that a Reader takes
        keys = batch.column("key")        # a NumPy array over the batch's memory
        polars.DataFrame(batch)           # or whatever else speaks Arrow's C data interface

    write(sink, {"key": words, "value": counts})    # NumPy arrays, Arrow data, data frames

What belongs here: where bytes come from and go to, the policies, NumPy. The loops are compiled and know none of it. NumPy
is imported when an array is asked for, and nothing else ever is.
"""

import itertools
import os
import queue
import threading

from typedbytes.columns import _native as _columns
from typedbytes.columns import _type_strings
from typedbytes import _core
from typedbytes._core import Encoder
from typedbytes.errors import DecodeError, EncodeTypeError, EncodeValueError, FormatError, LimitError
from typedbytes.files import PairReader, Reader, Writer

__all__ = ["Batch", "BatchReader", "MismatchError", "read", "write"]

_READ_NBYTES = 1 << 20
_WRITE_NBYTES = 1 << 20
_RUN_NBYTES = 16 << 20  # that a thread decodes before it is asked again, and a batch at least
_SAMPLE = 256  # records whose mean size is taken for that of all
_FAULTS = ("limit", "mismatch", "split", "broken")  # states of a builder: what is next is for one thread to look at
_POLICIES = ("error", "widen", "split")
_SEQUENCE_FILE = b"SEQ"
_AS_THEY_ARE = {"exact": True, "pickle": "raw", "map_pairs": True}  # how a record is decoded for its error


class MismatchError(DecodeError):
    """Report a value of another kind than its column; `offset`, `record`, `code` and `path` say which.

    >>> import typedbytes
    >>> list(read(typedbytes.dumps(1) + typedbytes.dumps("a"), schema=["int"], pairs=False))
    Traceback (most recent call last):
    typedbytes.columns.MismatchError: STRING in column 'value', which holds int, at offset 5, record 1
    """


# -- batches ------------------------------------------------------------------------------------------------------------


class Batch(_columns.Batch):
    """Hold the columns of some records; made by `read`, and never changed.

    len() gives the number of rows. Arrow's consumers take a Batch by its `__arrow_c_array__` or `__arrow_c_stream__`, as often as
    they like; arrays and exports keep its memory alive.

    >>> import typedbytes
    >>> (batch,) = read(typedbytes.Encoder().encode_pairs([("a", 1.5), ("b", 2.5)]))
    >>> len(batch), batch.schema
    (2, {'key': 'string', 'value': 'double'})
    """

    __slots__ = ()

    @property
    def schema(self):
        """Give the type of each column as text, by name.

        >>> import typedbytes
        >>> next(read(typedbytes.dumps((1, 2)), pairs=False)).schema
        {'value': 'vector<int * 2>'}
        """
        return dict(zip(self.names, map(_type_strings.spell, self._types)))

    def column(self, place):
        """Return a column as a NumPy array, read-only, over the memory of the batch.

        place: the number of a column, its name, or a path of names such as "value.0" to a part of it. Numbers and BOOLs are one
        array of int8, bool, int16, int32, int64, float32 or float64; VECTORs of one arity and one kind of number are an array
        of shape (rows, items), other VECTORs a tuple of arrays, one for each item. A LIST column is a tuple of int32 offsets
        (rows + 1) and the column of all items; MAPs are offsets, keys, values. STRINGs and all else are made anew, as an
        array of str or bytes objects. Raises LookupError where there is no such column, ImportError without NumPy.

        >>> import typedbytes
        >>> batch = next(read(typedbytes.Encoder().encode_pairs([("a", (1, 2.5)), ("b", (3, 4.5))])))
        >>> batch.column("value.1").tolist(), batch.column(0).tolist()
        ([2.5, 4.5], ['a', 'b'])
        """
        number, path, described, item = self._find(place)
        found = self._array(number, path, described)
        return found if item is None else found[:, item]

    def buffers(self, place):
        """Return the memory of a column as memoryviews by name; NumPy is not needed.

        Numbers have "data"; STRINGs, BYTES and raw columns "offsets" (int32, rows + 1) and "data"; LISTs and MAPs "offsets" and the
        buffers of their parts by name, VECTORs those of their items.

        >>> import typedbytes
        >>> held = next(read(typedbytes.dumps("ab") + typedbytes.dumps("c"), pairs=False)).buffers("value")
        >>> bytes(held["data"]), held["offsets"].tolist()
        (b'abc', [0, 2, 3])
        """
        number, path, described, item = self._find(place)
        if item is not None:
            raise LookupError(f"the items of {_type_strings.spell(described)} have one memory")
        return self._buffers(number, path, described)

    def __arrow_c_stream__(self, requested_schema=None):
        """Export the batch as a capsule "arrow_array_stream" of one array."""
        return _columns.arrow_stream(_Stream(iter((self,)), self))

    def _find(self, place):
        """Return the number of a column, the way to a part, the part's type, and the number of an ARRAY's item or None."""
        number, names = self._place(place)
        described, path = self._types[number], []
        for level, name in enumerate(names, 1):
            if level == len(names) and described[0] == "array" and _is_number(name) and int(name) < described[2]:
                return number, path, described, int(name)
            within = _type_strings.parts(described)
            if name not in within:
                raise LookupError(f"there is no {name!r} in {_type_strings.spell(described)}")
            path.append(list(within).index(name))
            described = within[name]
        return number, path, described, None

    def _place(self, place):
        if isinstance(place, int):
            if not 0 <= place < len(self.names):
                raise LookupError(f"there is no column {place} among {len(self.names)}")
            return place, []
        found = _split_name(place, self.names)
        if found is None:
            raise LookupError(f"there is no column {place!r}, but {', '.join(map(repr, self.names))}")
        return found

    def _array(self, number, path, described):
        import numpy

        kind = described[0]
        if kind in ("fixed", "array"):
            return numpy.asarray(self._column_memory(number, path, "data"))
        if kind in ("variable", "raw"):
            return _objects(numpy, *self._sized(number, path), described == ("variable", 7))
        if kind == "unknown":
            return numpy.empty(0, object)
        within = _type_strings.parts(described)
        arrays = [self._array(number, [*path, index], part) for index, part in enumerate(within.values())]
        return tuple(arrays) if kind == "tuple" else (numpy.asarray(self._column_memory(number, path, "offsets")), *arrays)

    def _sized(self, number, path):
        return self._column_memory(number, path, "offsets"), self._column_memory(number, path, "data")

    def _buffers(self, number, path, described):
        kind = described[0]
        found = {}
        if kind in ("variable", "raw", "list", "map"):
            found["offsets"] = self._column_memory(number, path, "offsets")
        if kind in ("fixed", "array", "variable", "raw"):
            found["data"] = self._column_memory(number, path, "data")
        for index, (name, part) in enumerate(_type_strings.parts(described).items()):
            found[name] = self._buffers(number, [*path, index], part)
        return found


def _split_name(place, names):
    """Return the number of the column that a path starts with, and the names behind it; None where there is none."""
    for number, name in enumerate(names):
        if place == name:
            return number, []
    for number, name in enumerate(names):
        if place.startswith(name + "."):
            return number, place[len(name) + 1 :].split(".")
    return None


def _is_number(name):
    return name.isascii() and name.isdecimal()


def _objects(numpy, offsets, data, is_text):
    """Return an array of the str or bytes between offsets."""
    ends = offsets.tolist()
    whole = bytes(data)
    if is_text and whole.isascii():
        whole, is_text = whole.decode("ascii"), False
    values = [whole[start:end] for start, end in zip(ends, ends[1:])]
    if is_text:
        values = [value.decode("utf-8") for value in values]
    array = numpy.empty(len(values), object)
    array[:] = values
    return array


@_core.step_as_base
class _Stream(_core.RecordIterator):
    """Be what a stream of Arrow's asks: iterate over batches of one schema."""

    def __init__(self, batches, first):
        self._batches = batches
        self._first = first

    def arrow_schema(self):
        """Return the schema of all batches."""
        return self._first.__arrow_c_schema__()

    def _step(self):
        batch = next(self._batches, _core.END)
        if batch is not _core.END and batch._types != self._first._types:
            raise ValueError(f"the schema became {batch.schema} after {self._first.schema}: a stream has one; schema= can say it first")
        return batch


# -- reading ------------------------------------------------------------------------------------------------------------


def read(
    source, batch_rows=65536, schema=None, *, columns=None, pairs=True, on_mismatch="error", threads=1, dialect="hadoop", max_depth=256
):
    """Read a stream of like-shaped pairs, or of values, as batches of columns.

    source: whatever a Reader takes; the path or the bytes of a SequenceFile, or a Reader of one. batch_rows: rows of a batch,
    fewer in the last one and before a column would pass 2^31-1 bytes or items. schema: a type for each value of a record, by
    name or in order ({"word": "string", "n": "long"}); None: that of the first record. columns: the names, or paths such as
    "value.1", of those wanted; the others are walked over. pairs: whether records are pairs, named key and value, or single
    values. on_mismatch: what happens at a value of another kind than its column: "error" raises MismatchError after the rows
    before it; "widen" makes the column one that holds both (INT to LONG, FLOAT to DOUBLE, VECTORs of one arity to VECTORs of
    any, all else to raw: encoded values); "split" ends the batch and takes a new schema from that record. threads: that
    decode, a batch or 16 MiB each at a time. dialect, max_depth: as for Reader.

    Returns a BatchReader. Iterating raises TruncatedError, FormatError and LimitError as a Reader does. In a SequenceFile the
    offset of an error is where the record starts, or its block.

    >>> import typedbytes
    >>> data = typedbytes.Encoder().encode_pairs([(1, 0.5), (2, 1.5), (3, 2.5)])
    >>> [batch.column("value").tolist() for batch in read(data, batch_rows=2)]
    [[0.5, 1.5], [2.5]]
    """
    return BatchReader(
        source, batch_rows, schema, columns=columns, pairs=pairs, on_mismatch=on_mismatch, threads=threads, dialect=dialect,
        max_depth=max_depth,
    )  # fmt: skip


@_core.step_as_base
class BatchReader(_core.RecordIterator):
    """Iterate over the batches of a stream; made by `read`.

    Arrow's consumers take what is left by `__arrow_c_stream__`, once. After an error it is raised again by every call. Iterating,
    `schema` and `close` raise RuntimeError while another thread, or the source, is in one of them; whoever was first goes on.

    >>> list(BatchReader(b""))
    []
    """

    def __init__(
        self, source, batch_rows=65536, schema=None, *, columns=None, pairs=True, on_mismatch="error", threads=1, dialect="hadoop",
        max_depth=256,
    ):  # fmt: skip
        if batch_rows < 1 or threads < 1:
            raise ValueError("batch_rows and threads are at least 1")
        if on_mismatch not in _POLICIES:
            raise ValueError(f'on_mismatch is "error", "widen" or "split", not {on_mismatch!r}')
        self._names, types = _schema(schema, pairs, dialect)
        self._shown, self._paths = _projection(columns, self._names)
        self._batch_rows = batch_rows
        self._policy = on_mismatch
        self._structure = structure = {"dialect": dialect, "max_depth": max_depth}
        self._builder = self._new_builder(types)
        self._is_new = types is None  # the types come from the next record
        self._in_file = _is_sequence_file(source)
        self._reader = (_sequence_file if self._in_file else _stream_reader)(source, pairs, structure)
        self._parallel = _Parallel(threads) if threads > 1 else None
        self._memory = _memory_of(source) if threads > 1 and not self._in_file else None
        self._ready = []
        self._source_failure = None  # waits for the rows before it
        self._has_ended = False
        self._most = batch_rows  # rows of the batch that is being filled
        self._whole_groups = False
        self._nrows = 0
        self._start = self._nheld = self._ntaken = self._taken = 0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def record(self):
        """Give the number of records handed out.

        >>> reader = read(b"\\x02\\x01" * 6, batch_rows=2); next(reader).names, reader.record
        (('key', 'value'), 2)
        """
        return self._nrows

    @property
    def offset(self):
        """Give the number of bytes taken from the source for records so far.

        >>> reader = read(b"\\x02\\x01" * 6, batch_rows=2); next(reader).names, reader.offset
        (('key', 'value'), 8)
        """
        return self._taken

    @property
    def failure(self):
        """Give the error that iterating failed with, None as long as it has not.

        >>> read(b"").failure is None
        True
        """
        return self._failure

    def groups(self):
        """Have batches end where a key ends, so that all records of a key are in one; return the reader.

        The records come sorted or grouped by key, as in a reducer; keys are compared by their encoded bytes. A batch has
        more than batch_rows rows when one key has. Not with threads, on_mismatch="split" or a projection.

        >>> import typedbytes
        >>> data = typedbytes.Encoder().encode_pairs([("a", 1), ("a", 2), ("b", 3), ("c", 4)])
        >>> [batch.column("value").tolist() for batch in read(data, batch_rows=3).groups()]
        [[1, 2], [3, 4]]
        """
        if self._parallel is not None or self._policy == "split" or self._paths is not None:
            raise ValueError("batches of whole groups need one thread, one schema and all columns")
        self._whole_groups = True
        return self

    @property
    def schema(self):
        """Give the type of each column as text, by name; the first batch is read for it.

        >>> read(b"").schema
        {'key': 'unknown', 'value': 'unknown'}
        """
        return self._call(self._peek).schema

    def __arrow_c_stream__(self, requested_schema=None):
        """Export all batches that are left as a capsule "arrow_array_stream"."""
        first = self._call(self._peek)
        return _columns.arrow_stream(_Stream(self, first))

    def close(self):
        """Let go of the source; it stays open unless it was opened from a path.

        >>> read(b"").close()
        """
        self._hold(self._close)

    def _close(self):
        if self._parallel is not None:
            self._parallel.close()
        if self._memory is not None:
            self._memory.release()    # a thread that is done may not have let go of it yet
        self._ready = []
        self._reader.close()

    def _new_builder(self, types):
        return _columns.Builder(types, len(self._names), self._paths, self._policy, **self._structure)

    def _peek(self):
        """Return the next batch, which stays the next one; an empty one at the end."""
        if not self._ready:
            batch = self._step()
            if batch is _core.END:
                return self._empty()
            self._ready.insert(0, batch)
            self._nrows -= len(batch)    # it is handed out later
        return self._ready[0]

    def _step(self):
        """Return the next batch, END at the end and from then on."""
        if self._has_ended:
            return _core.END
        try:
            batch = self._ready.pop(0) if self._ready else self._next()
        except BaseException:
            self._close()
            raise
        if batch is None:
            self._has_ended = True
            self._close()
            return _core.END
        self._nrows += len(batch)
        return batch

    def _empty(self):
        types = self._builder.described or (("unknown",),) * len(self._names)
        return self._new_builder(types).finish(Batch, self._shown)

    def _next(self):
        """Return the next batch, None at the end of input."""
        wanted = 1
        while self._hand(wanted):
            if self._ready:
                return self._ready.pop(0)
            state = self._builder.state
            if state == "more":
                ended = self._nheld < wanted
                wanted = 2 * self._nheld if self._ntaken == 0 else 1
                if not ended or self._ntaken:
                    continue
            if self._whole_groups and state in ("full", "limit"):
                batch = self._next_groups(state)
                if batch is None:
                    continue
                return batch
            if self._builder.nrows:
                return self._builder.finish(Batch, self._shown)
            if state == "mismatch" and self._policy == "split" and not self._is_new:
                self._forget_types()
                continue
            self._raise(state)
        return self._builder.finish(Batch, self._shown) if self._builder.nrows else None

    def _hand(self, wanted):
        """Let more bytes be taken; False at the end of input, and where the source's error waits for the rows before it."""
        if self._source_failure is not None:
            raise self._source_failure
        self._nheld = 0
        try:
            there = self._reader._hand(self._take, wanted)
        except Exception as error:
            if self._nheld or not self._builder.nrows:
                raise  # at once, when it was not the source's
            self._source_failure = error
            return False
        self._taken = self._reader.offset
        return there

    def _next_groups(self, state):
        """Return the groups that are whole; None when there is but one, which may go on: the batch grows."""
        start = self._builder.last_group()
        if start == 0:
            if state == "limit":
                message = "the records of one key are more than a batch can hold"
                raise LimitError(message, self._reader.offset, None, "", self._reader.record)
            self._most = 2 * self._builder.nrows
            return None
        self._most = self._batch_rows
        return self._builder.finish(Batch, self._shown, start)

    def _take(self, view):
        """Take records from the bytes that are held."""
        self._start, self._nheld = self._reader.offset, len(view)
        nbytes = nrecords = 0
        if self._parallel is not None:
            nbytes, nrecords = self._parallel.take(self, view)
            self._is_new = self._is_new and not nbytes
            if self._ready:
                return nbytes, nrecords
        if self._builder.state == "split" and not self._builder.nrows:
            self._forget_types()
        self._start += nbytes
        try:
            with view[nbytes:] as rest:
                self._ntaken, n = self._builder.append_records(rest, self._most)
        except LimitError as error:
            raise LimitError(error.message, self._start, None, "", self._reader.record) from None
        self._is_new = self._is_new and not self._ntaken
        self._ntaken += nbytes
        return self._ntaken, nrecords + n

    def _forget_types(self):
        self._builder.forget_types()
        self._is_new = True

    def _raise(self, state):
        """Say what is wrong with the record that is next."""
        builder = self._builder
        if state == "mismatch":
            name, found, wanted = self._names[builder.column], _code_name(builder.code), _type_strings.spell(builder.expected)
            offset = self._reader.offset if self._in_file else self._start + builder.place
            raise MismatchError(
                f"{found} in column {name!r}, which holds {wanted},", offset, builder.code, builder.path, self._reader.record
            )
        self._reader.read()
        raise FormatError("a record that decodes, but is no row", self._reader.offset)


def _is_sequence_file(source):
    """Tell whether a source is a Reader of a SequenceFile, or the path or the bytes of one."""
    if hasattr(source, "_read_typed"):
        return True
    if isinstance(source, (str, os.PathLike)):
        if not os.path.isfile(source):
            return False  # a pipe would lose what is looked at
        with open(source, "rb") as file:
            return file.read(len(_SEQUENCE_FILE)) == _SEQUENCE_FILE
    try:
        with memoryview(source) as view:
            return view.cast("B")[: len(_SEQUENCE_FILE)] == _SEQUENCE_FILE
    except (TypeError, ValueError):  # no buffer, or none of bytes in a row
        return False


def _memory_of(source):
    """Return a view of a source whose bytes stay where they are, None of one that is read."""
    try:
        with memoryview(source) as view:
            return view.cast("B") if view.c_contiguous else None
    except (TypeError, ValueError):  # no buffer, or none whose items are known
        return None


def _sequence_file(source, pairs, structure):
    """Return who hands over the pairs of a SequenceFile."""
    from typedbytes import sequencefile    # its users only
    from typedbytes.sequencefile._typed_pairs import TypedPairs

    if not pairs:
        raise ValueError("the records of a SequenceFile are pairs")
    ours = not hasattr(source, "_read_typed")
    reader = sequencefile.Reader(source, **structure) if ours else source
    return TypedPairs(reader, ours, **_AS_THEY_ARE, **structure)


def _stream_reader(source, pairs, structure):
    """Return who hands over the records of a stream."""
    return (PairReader if pairs else Reader)(source, buffer_size=_READ_NBYTES, **_AS_THEY_ARE, **structure)


def _code_name(code):
    from typedbytes._typecodes import TypeCode

    return TypeCode(code).name if code in TypeCode._value2member_map_ else f"type code {code}"


def _schema(schema, pairs, dialect):
    """Return the names of a record's values and their types, None: not known."""
    names = ("key", "value") if pairs else ("value",)
    if schema is None:
        return names, None
    if isinstance(schema, dict):
        texts, own = tuple(schema.values()), tuple(schema)
    else:
        texts, own = tuple(schema), names
    if len(texts) != len(names):
        raise ValueError(f"a schema has {len(names)} types here, not {len(texts)}")
    types = tuple(map(_type_strings.parse, texts))
    for text in map(_type_strings.spell, types):
        if ("ext<177>" if dialect == "hive" else "short") in text:
            raise ValueError(f"there are no values of {text!r} in the dialect {dialect!r}")
    return own, types


def _projection(columns, names):
    """Return the names of the columns shown, and the way to each through a record; None: all."""
    if columns is None:
        return names, None
    paths = []
    for place in columns:
        found = _split_name(place, names)
        if found is None or not all(map(_is_number, found[1])):
            raise LookupError(f"there is no column {place!r}; those of {', '.join(names)} and items of VECTORs can be wanted")
        paths.append((found[0], *map(int, found[1])))
    return tuple(columns), tuple(paths)


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


class _Parallel:
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


# -- writing ------------------------------------------------------------------------------------------------------------


def write(sink, columns, *, pairs=True, nulls="error", null_value=None):
    """Write columns as a stream of pairs, or of values, and return the number of rows.

    sink: whatever a Writer takes, or a Writer. columns: two of them, key and value, or with pairs=False one: a dict, a sequence, or
    anything with `__arrow_c_array__` or `__arrow_c_stream__`, such as a record batch, a table or a data frame; a Batch or a
    BatchReader, whose bytes come out as they came in.
    A column is a NumPy array or another buffer of numbers, an Arrow array, a sequence of Python objects, or a tuple of columns,
    which are the items of a VECTOR, as are the rows of an array of two dimensions. The bytes are those that the encoder
    writes for the same values; numbers keep their width, as NumPy's scalars do. nulls: "error", "hive" (Hive's NULL) or
    "value" (whatever null_value encodes to); None in a sequence of objects is a null, and so is what pandas marks as missing.

    Raises EncodeTypeError for columns without a type code, EncodeValueError for nulls that are refused and for columns of
    different lengths. Where a value is refused, some of the rows before it may have been written.

    >>> import array, io, typedbytes
    >>> sink = io.BytesIO()
    >>> write(sink, {"key": ["a", "b"], "value": array.array("d", [0.5, 1.5])})
    2
    >>> typedbytes.Decoder().decode_pairs(sink.getvalue())
    [('a', 0.5), ('b', 1.5)]
    """
    names = ("key", "value") if pairs else ("value",)
    null = _null(nulls, null_value)
    if isinstance(sink, _core.Writer):
        return _write(sink, columns, names, null)
    with Writer(sink) as writer:
        return _write(writer, columns, names, null)


def _write(writer, columns, names, null):
    nrows = 0
    for table in _tables(columns, names, null):
        for data, n in _encoded(table, null, nrows):
            writer._hand(data, n)
            nrows += n
    return nrows


def _null(nulls, null_value):
    """Return the bytes of a null, None to refuse them."""
    if nulls == "error":
        return None
    if nulls == "hive":
        return b"\x0c"
    if nulls == "value":
        return Encoder().encode(null_value)
    raise ValueError(f'nulls is "error", "hive" or "value", not {nulls!r}')


def _tables(columns, names, null):
    """Yield tables: for each column the list of its Rows."""
    if isinstance(columns, (dict, list, tuple)):
        found = list(columns.values()) if isinstance(columns, dict) else columns
        order = _order(list(columns) if isinstance(columns, dict) else range(len(columns)), names)
        yield [_rows(found[number], null) for number in order]
        return
    if isinstance(columns, (Batch, BatchReader)):
        for batch in columns if isinstance(columns, BatchReader) else (columns,):
            yield [[_columns.rows_of_batch(batch, number)] for number in _order(batch.names, names)]
        return
    for lent in _lent(columns):
        fields = _columns.arrow_names(lent)
        if fields is None:
            raise EncodeTypeError("a table of columns is needed; a column by itself stands in a list")
        yield [[_columns.rows_of_arrow(lent, number)] for number in _order(fields, names)]


def _order(found, names):
    """Return the numbers of the columns in the order in which they are written."""
    found = list(found)
    if len(found) != len(names):
        raise EncodeValueError(f"{len(names)} columns are needed, {' and '.join(names)}, not {len(found)}")
    return [found.index(name) for name in names] if set(found) == set(names) else range(len(found))


def _lent(column):
    """Iterate over the arrays that an object lends by Arrow's interface; EncodeTypeError when it has none."""
    if hasattr(column, "__arrow_c_array__"):
        return iter((_columns.ImportedArray(*column.__arrow_c_array__()),))
    if hasattr(column, "__arrow_c_stream__"):
        return iter(_columns.ImportedArrayStream(column.__arrow_c_stream__()))
    raise EncodeTypeError(f"cannot take columns from a {type(column).__name__}")


def _rows(column, null):
    """Return the Rows of a column, one or more that follow each other."""
    if isinstance(column, (str, bytes, dict)):
        raise EncodeTypeError(f"a column is no {type(column).__name__}")
    if isinstance(column, tuple):
        return [_columns.rows_of_parts([_whole(part, null) for part in column])]
    if hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"):
        return [_columns.rows_of_arrow(lent) for lent in _lent(column)]
    if hasattr(column, "mask") and hasattr(column, "filled"):
        raise EncodeTypeError("cannot take a masked array: its mask would be lost")
    if hasattr(column, "__array__") and not hasattr(column, "__buffer__"):
        if _marks_nulls(column):
            return _marked(getattr(column, "array", column), null)
        column = column.__array__()
    if _is_numbers(column):
        return [_columns.rows_of_buffer(column)]
    if hasattr(column, "__array__") and column.ndim != 1:
        return [_of_columns(column.__array__(), null)]
    return [_encoded_objects(column, null)]


def _of_columns(grid, null):
    """Return the Rows of an array of two dimensions that holds no numbers."""
    if grid.ndim != 2:
        raise EncodeTypeError(f"cannot take an array of {grid.ndim} dimensions as a column")
    if not grid.shape[1]:
        return _encoded_objects([()] * len(grid), null)
    return _columns.rows_of_parts([_whole(column, null) for column in grid.T])


def _marks_nulls(column):
    """Tell whether a column is one of pandas's own types whose nulls are beside its values: not NaNs among floats, as in NumPy's."""
    dtype = getattr(column, "dtype", None)
    return hasattr(dtype, "na_value") and not (dtype.kind == "f" and isinstance(dtype.na_value, float))


def _marked(column, null):
    """Return the Rows of an array that marks its nulls: as a whole it may become floats, with NaNs for them."""
    lent = _lent_by_extension(column)
    if lent is not None:
        return _rows(lent, null)
    is_null = column.isna()
    if not is_null.any():
        return _rows(column.__array__(), null)
    values = iter(column[~is_null].__array__())
    return [_encoded_objects([None if missing else next(values) for missing in is_null], null)]


def _lent_by_extension(column):
    """Return the Arrow array of one of pandas's, None where it has none, or of a type that is more than its numbers, as a Period's."""
    try:
        lent = column.__arrow_array__()
    except (AttributeError, ImportError):  # pyarrow is not there
        return None
    return None if hasattr(lent.type, "extension_name") else lent


def _whole(part, null):
    """Return the Rows of a column that is a part of another."""
    rows = _rows(part, null)
    if len(rows) != 1:
        raise EncodeTypeError("a part of a VECTOR comes in several chunks; make it one")
    return rows[0]


def _is_numbers(column):
    """Tell whether a column is a buffer of numbers; one of text or of objects has no format, or one of several letters."""
    try:
        with memoryview(column) as view:
            return len(view.format.lstrip("@=<>!")) == 1 and view.format[-1] in "?bBhHiIlLqQnNefd"
    except (TypeError, ValueError, BufferError):
        return False


def _encoded_objects(column, null):
    encoder = Encoder()
    values = list(column)
    if not any(value is None for value in values):
        data = encoder.encode_all(values)
        return _columns.rows_of_encoded(data, _core.index(data))
    if null is None:
        place = next(number for number, value in enumerate(values) if value is None)
        raise EncodeValueError("value is null: pass nulls=... to say what to write", f"[{place}]")
    parts = [null if value is None else encoder.encode(value) for value in values]
    return _columns.rows_of_encoded(b"".join(parts), list(itertools.accumulate(map(len, parts[:-1]), initial=0)))


def _encoded(table, null, nbefore):
    """Yield the bytes of a table, so many rows behind the first, part by part, each with its number of rows."""
    if len({sum(map(len, chunks)) for chunks in table}) > 1:
        raise EncodeValueError("the columns differ in length")
    chunks = [iter(chunks) for chunks in table]
    rows = [next(some, None) for some in chunks]
    starts = [0] * len(rows)
    while True:
        for number, some in enumerate(chunks):
            while rows[number] is not None and starts[number] == len(rows[number]):
                rows[number], starts[number] = next(some, None), 0
        if None in rows:
            return
        n = min(len(some) - start for some, start in zip(rows, starts))
        data, n = _columns.encode_rows(rows, starts, n, _WRITE_NBYTES, null, nbefore)
        yield data, n
        nbefore += n
        starts = [start + n for start in starts]
