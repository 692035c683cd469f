"""Every iterator that users get, and what becomes of it when something breaks in.

Here: finding the iterators among the public names, breaking into each in every way there is, and tasks whose user code
catches what came. Invariant: after an error an iterator says it again or goes on without loss; it never says "end"
before all has come. A new iterator fails the first test until it has a recipe here.
"""

import ast
import concurrent.futures
import contextlib
import functools
import inspect
import io
import itertools
import os
import pathlib
import pickle
import re
import signal
import sys

import pytest

import typedbytes as tb
from support.public_classes import public_modules
from support.streaming_support import encode, run_script, start
from typedbytes import block, columns, hadoop, hive, rmr2, sequencefile
from typedbytes._core import END, PairIterator, RecordGroups, RecordLoop, WrappedIterator
from typedbytes._sorting._native import LineReader
from typedbytes.streaming import Step, _descriptors, _reporter, _run, _sidefiles, lib
from typedbytes.streaming.formats.raw_bytes import RawBytesInput
from typedbytes.streaming.formats.text import TextInput
from typedbytes.streaming.task_environment import NAMES

PACKAGE = pathlib.Path(tb.__file__).parent
MAX_STEPS = 100_000  # steps of any iterator here


class Broken(Exception):
    """What breaks in."""


# -- finding them -------------------------------------------------------------------------------------------


def typed_sources(module):
    """Return the files with the types of a public module: its stub, or itself with what a package shows."""
    path = pathlib.Path(module.__file__)
    if path.with_suffix(".pyi").exists():
        return [path.with_suffix(".pyi")]
    return sorted(path.parent.glob("*.py")) if path.stem == "__init__" else [path]


def is_iterator(found):
    """Return whether a class is one of ours that can be iterated over, by its own doing."""
    if not isinstance(found, type):
        return False
    definer = next((base for base in found.__mro__ if "__iter__" in vars(base) or "__next__" in vars(base)), object)
    return definer.__module__.startswith("typedbytes")


def returned_iterators(path, classes):
    """Return the functions and methods of a stub or module that return iterators, as dotted names."""
    tree = ast.parse(path.read_text())
    aliases = {
        node.targets[0].id: ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    words = re.compile(rf"\b(Iterator|Iterable|Generator|{'|'.join(classes)})\b")

    def returns(node, also=()):
        text = ast.unparse(node.returns) if node.returns else ""
        for _ in aliases:
            text = re.sub(r"\b_\w+\b", lambda found: aliases.get(found[0], found[0]), text)
        return bool(words.search(text)) or text in also

    # Overloads are for type checkers alone.
    for node in [*tree.body, *(each for branch in tree.body if isinstance(branch, ast.If) for each in branch.body)]:
        if isinstance(node, ast.FunctionDef) and returns(node):
            yield node.name
        if isinstance(node, ast.ClassDef):
            also = ("Self",) if node.name in classes else ()
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("__") and returns(method, also):
                    yield f"{node.name}.{method.name}"


DATA_FRAME = "typedbytes.spark.read"  # returns one, and has the name of functions that return iterators


def found_iterators():
    """Return the public iterators: classes, and functions and methods that return iterators; each by one name."""
    modules = public_modules()
    public = [(f"{name}.{each}", getattr(module, each)) for name, module in modules.items() for each in module.__all__]
    classes = {found.__name__ for _, found in public if is_iterator(found) and hasattr(found, "__next__")}
    stubs = [path for module in modules.values() for path in typed_sources(module)] + [
        PACKAGE / "_core.pyi",
        PACKAGE / "block" / "_native.pyi",
    ]
    declared = {dotted for path in stubs for dotted in returned_iterators(path, classes)}
    found = {}
    for name, each in public:
        if is_iterator(each) or name.rpartition(".")[2] in declared or inspect.isgeneratorfunction(each):
            found.setdefault(each, name)
        for method, function in inspect.getmembers(each, callable) if isinstance(each, type) else ():
            named = {f"{base.__name__}.{method}" for base in each.__mro__}
            if not method.startswith("_") and (named & declared or inspect.isgeneratorfunction(function)):
                found.setdefault(function, f"{name}.{method}")
    return set(found.values()) - {DATA_FRAME}


# -- breaking in --------------------------------------------------------------------------------------------


class Tools:
    """What a recipe makes its iterator of: files, hooks and values, one of which breaks at a step, once."""

    def __init__(self, folder, error=None, at=None, change=None):
        self.folder = folder
        self.nsteps = 0
        self.whole = b""  # what the iterator reads
        self._error = error
        self._at = at
        self._change = change
        self.is_changed = change is not None
        self._npaths = 0
        self._open = contextlib.ExitStack()

    def step(self):
        """Break when it is time."""
        self.nsteps += 1
        if self.nsteps - 1 == self._at:
            if self._error is signal.SIGALRM:
                signal.raise_signal(signal.SIGALRM)
                return
            raise self._error

    def data(self, data):
        self.whole = data
        return self._change(data) if self._change else data

    def file(self, data, kind=None):
        return (kind or Into)(self, self.data(data))

    def path(self, data, name=None):
        self._npaths += 1
        path = self.folder / (name or f"file-{self._npaths}")
        path.parent.mkdir(exist_ok=True)
        write_new(path, self.data(data))
        return str(path)

    def opened(self, manager):
        return self._open.enter_context(manager)

    def close(self):
        self._open.close()

    def hook(self, *arguments):
        self.step()
        return arguments[-1]

    def values(self, *values):
        return Values(self, values)


def write_new(path, data):
    """Write a file unless it has these bytes: to replace one waits for the disk."""
    if not path.exists() or path.read_bytes() != data:
        path.unlink(missing_ok=True)
        path.write_bytes(data)


class Into:
    """A file that gives seven bytes at a time."""

    def __init__(self, tools, data):
        self._tools = tools
        self._data = io.BytesIO(data)

    def readinto(self, target):
        self._tools.step()
        return self._data.readinto(memoryview(target)[:7])


class Plain(Into):
    """One that has only read()."""

    def read(self, nbytes=-1):
        self._tools.step()
        return self._data.read(nbytes)

    readinto = None


class Seekable(Plain):
    """One that can go back."""

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        return self._data.seek(offset, whence)


class Raw(io.RawIOBase):
    """One to be buffered."""

    def __init__(self, tools, data):
        self._into = Into(tools, data)

    def readable(self):
        return True

    def readinto(self, target):
        return self._into.readinto(target)


def buffered(tools, data):
    return io.BufferedReader(Raw(tools, data), 16)


class Values:
    """An iterator that breaks, and goes on."""

    def __init__(self, tools, values):
        self._tools = tools
        self._values = list(values)

    def __iter__(self):
        return self

    def __next__(self):
        self._tools.step()
        if not self._values:
            raise StopIteration
        return self._values.pop(0)


class Then:
    """An iterator, and what its owner says at the end."""

    def __init__(self, iterator, last):
        self._iterator = iterator
        self._last = last

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self._iterator)
        except StopIteration:
            self._last()
            raise


class Executor:
    """An executor without processes, so that what they do can be broken into."""

    def __init__(self, processes):
        pass

    def submit(self, function, *arguments):
        future = concurrent.futures.Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait, cancel_futures):
        pass


def drive(make, tools):
    """Return the items of an iterator, of groups all items, what it raised, and if it said it was at its end."""
    with contextlib.closing(tools):
        try:
            iterator = make(tools)
        except BaseException as error:
            return [], [error], False
        return drive_made(iterator)


def drive_made(iterator):
    items, errors = [], []

    def step(iterator):
        for _ in range(3):
            try:
                return next(iterator)
            except StopIteration:
                return END
            except BaseException as error:
                errors.append(error)
        return None

    for _ in range(MAX_STEPS):
        item = step(iterator)
        if item is END or item is None:
            return items, errors, item is END
        if isinstance(item, tuple) and len(item) == 2 and is_group(item[1]):
            values = item[1]
            while (value := step(values)) is not END and value is not None:
                items.append((item[0], value))
        elif isinstance(item, columns.Batch):
            items += zip(item.column("key").tolist(), item.column("value").tolist())
        else:
            items.append(item)
    raise AssertionError("it comes to no end")


def is_group(value):
    return type(value).__name__ in ("ReaderGroupValues", "RecordGroupValues", "Traced")


def check(make, tools, expected):
    """Break into an iterator, and see that it loses nothing in silence; return whether anything was raised."""
    items, errors, ended = drive(make, tools)
    if ended and errors:
        assert items == expected, "the end came before all records"
    # a line can be shorter, and not wrong
    assert items == expected[: len(items)] or tools.whole == TEXT and tools.is_changed
    if not ended:
        said = {(type(error), str(error)) for error in errors[-3:]}
        assert len(said) == 1, "another error, and not the end"
        assert not isinstance(errors[-1], StopIteration)
    return errors


#: What a task does before its first record, and when it has failed.
NOT_TRACED = {
    "<module>", "__init__", "start", "open", "run", "_open", "_fail", "_drop_output", "_note", "_key_details",
    "find_separator", "find_composite_keys",
}  # fmt: skip


class Trace:
    """Raise at an opcode of the package's own Python code."""

    def __init__(self, at, folder=PACKAGE):
        self._left = at
        self._start = str(folder)
        self.raised = False

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *exception):
        sys.settrace(self._before)

    def _called(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(self._start) or frame.f_code.co_name in NOT_TRACED:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._stepped

    def _stepped(self, frame, event, argument):
        if event == "opcode":
            self._left -= 1
            if self._left < 0 and not self.raised:
                self.raised = True
                raise Broken("at an opcode")
        return self._stepped


# -- the recipes --------------------------------------------------------------------------------------------

PAIRS = [(key, f"value {n}") for n, key in enumerate(["a", "a", "b", "c", "c", "c"])]
TYPED = encode(*PAIRS)
MARKED = b"".join(b"\x78\x00\x00\x00\x01" + bytes([65 + n]) for n in range(6))  # values of an application's code
LETTERS = [bytes([65 + n]) for n in range(6)]
TEXT = b"".join(f"{key}\t{value}\n".encode() for key, value in PAIRS)
RAW = b"".join(len(item).to_bytes(4, "big") + item.encode() for pair in PAIRS for item in pair)
MESSAGES = [[n, f"message {n}"] for n in range(6)]
BLOCKS = b"".join(block.BlockEncoder("native").encode(message) for message in MESSAGES)


def sequence_file(compression="none", value_class="Text"):
    file = io.BytesIO()
    with sequencefile.Writer(
        file, key_class="Text", value_class=value_class, compression=compression, sync_interval=40,
        sync_marker=bytes(range(16)), encoders={"Mine": str.encode},
    ) as writer:  # fmt: skip
        writer.writes(PAIRS)
    return file.getvalue()


SEQUENCE = sequence_file()
OWN_CLASS = sequence_file(value_class="Mine")


def own_class(tools):
    return {"decoders": {"Mine": lambda data: tools.hook(bytes(data).decode())}}


def map_file(tools):
    folder = pathlib.Path(tools.path(SEQUENCE, "map/data")).parent
    index = io.BytesIO()
    with sequencefile.Writer(index, key_class="Text", value_class="LongWritable") as writer:
        writer.write("a", sequencefile.Reader(SEQUENCE).offset)
    write_new(folder / "index", index.getvalue())
    return iter(tools.opened(sequencefile.MapFile(folder)))


def output_folder(tools):
    return str(pathlib.Path(tools.path(SEQUENCE, "output/part-00000")).parent)


def legacy(kind, data, file, way=iter):
    def make(tools):
        return way(kind(tools.file(data, file)))

    return make


def with_handler(tools):
    source = tb.Input(tools.file(MARKED, Plain))
    source.register(0x78, lambda source: tools.hook(source.read_bytes()))
    return iter(source)


def fed(tools):
    decoder = tb.Decoder(ext_hook=tools.hook)
    decoder.feed(tools.data(MARKED))
    return Then(decoder, decoder.close)


def in_splits(**options):
    def make(tools):
        return sequencefile.read(tools.path(OWN_CLASS), split_size=64, **own_class(tools), **options)

    return make


def lib_mapper(make):
    def made(tools):
        mapper = make(tools)
        getattr(mapper, "configure", lambda: None)()
        return mapper.map("key", "value")

    return made


def multi(tools):
    mapper = lib.MultiMapper()
    for _ in range(2):
        mapper.add("", lambda key, value: tools.values((key, 1), (key, 2)))
    mapper.configure()
    return mapper


class Ending:
    """A mapper with pairs at its end."""

    def __init__(self, tools):
        self._tools = tools

    def map(self, key, value):
        return self._tools.values(("a", 1), ("b", 1), ("c", 2))

    close = functools.partialmethod(map, None, None)


def ending_of_many(tools):
    mapper = lib.MultiMapper()
    mapper.add("", Ending(tools))
    mapper.configure()
    return mapper.close()


def reduced(reducer, *values):
    return lambda tools: reducer("key", tools.values(*(values or (3, 1, 2))))


# where input may end: after each value, or each message
BOUNDARIES = {
    TYPED: set(itertools.accumulate(len(tb.dumps(item)) for pair in PAIRS for item in pair)),
    MARKED: range(0, len(MARKED), 6),
    RAW: set(itertools.accumulate(len(key) + len(value) + 8 for key, value in PAIRS)),
    BLOCKS: set(itertools.accumulate(len(block.BlockEncoder("native").encode(message)) for message in MESSAGES)),
}

ROWS = bytes.fromhex("0300000001b107000000016101 02b10cb1")  # of Hive
BOUNDARIES[ROWS] = {6, 15}

# name -> ways to make one
RECIPES = {
    "typedbytes.Reader": [lambda tools: tb.Reader(tools.file(MARKED), ext_hook=tools.hook)],
    "typedbytes.iter_load": [lambda tools: tb.iter_load(tools.file(MARKED), ext_hook=tools.hook, read_ahead=False)],
    "typedbytes.PairReader": [
        lambda tools: tb.PairReader(tools.file(TYPED)),
        lambda tools: tb.PairReader(tools.file(TYPED), raw=True),
        lambda tools: tb.PairReader(tools.file(MARKED), ext_hook=tools.hook),
    ],
    "typedbytes.PairReader.groups": [
        lambda tools: tb.PairReader(tools.file(TYPED)).groups(),
        lambda tools: tb.PairReader(tools.file(MARKED), ext_hook=tools.hook).groups(),
    ],
    "typedbytes.Decoder": [fed],
    "typedbytes.Input": [legacy(tb.Input, TYPED, file) for file in (Plain, Seekable, buffered)] + [with_handler],
    "typedbytes.PairedInput": [legacy(tb.PairedInput, TYPED, file) for file in (Plain, Seekable, buffered)],
    "typedbytes.Input.reads": [legacy(tb.Input, TYPED, buffered, tb.Input.reads)],
    "typedbytes.block.BlockReader": [lambda tools: block.BlockReader(tools.file(BLOCKS, Plain), "native")],
    "typedbytes.columns.BatchReader": [
        lambda tools: columns.BatchReader(tools.file(TYPED), 2),
        lambda tools: columns.BatchReader(sequencefile.Reader(tools.file(SEQUENCE, Plain)), 2),
    ],
    "typedbytes.columns.read": [lambda tools: columns.read(tools.data(TYPED), 2, threads=2)],
    "typedbytes.columns.BatchReader.groups": [lambda tools: columns.read(tools.file(TYPED), 2).groups()],
    "typedbytes.rmr2.read": [lambda tools: rmr2.read(tools.path(SEQUENCE))],
    "typedbytes.hive.read_rows": [lambda tools: hive.read_rows(tools.file(ROWS))],
    "typedbytes.hadoop.read_output": [lambda tools: hadoop.read_output(output_folder(tools), {})],
    "typedbytes.sequencefile.Reader": [
        lambda tools: sequencefile.Reader(tools.file(OWN_CLASS, Plain), **own_class(tools)),
        lambda tools: sequencefile.Reader(tools.file(sequence_file("block"), Plain)),
    ],
    "typedbytes.sequencefile.open": [lambda tools: sequencefile.open(tools.file(SEQUENCE, Plain))],
    "typedbytes.sequencefile.read": [in_splits(), in_splits(processes=2, ordered=True)],
    "typedbytes.sequencefile.MapFile": [map_file],
    "typedbytes.streaming.lib.identitymapper": [lambda tools: lib.identitymapper("key", "value")],
    "typedbytes.streaming.lib.countmapper": [lambda tools: lib.countmapper("key", "value")],
    "typedbytes.streaming.lib.distinctmapper": [lambda tools: lib.distinctmapper("key", "value")],
    "typedbytes.streaming.lib.identityreducer": [reduced(lib.identityreducer)],
    "typedbytes.streaming.lib.sumreducer": [reduced(lib.sumreducer)],
    "typedbytes.streaming.lib.sumsreducer": [reduced(lib.sumsreducer, (1, 2), (3, 4))],
    "typedbytes.streaming.lib.distinctreducer": [reduced(lib.distinctreducer)],
    "typedbytes.streaming.lib.nlargestreducer": [reduced(lib.nlargestreducer(2))],
    "typedbytes.streaming.lib.nsmallestreducer": [reduced(lib.nsmallestreducer(2))],
    "typedbytes.streaming.lib.statscombiner": [reduced(lib.statscombiner)],
    "typedbytes.streaming.lib.statsreducer": [reduced(lib.statsreducer)],
    "typedbytes.streaming.lib.MultiMapper.map": [lib_mapper(multi)],
    "typedbytes.streaming.lib.MultiMapper.close": [ending_of_many],
    "typedbytes.streaming.lib.JoinCombiner.reduce": [
        lambda tools: lib.JoinCombiner().reduce(("key", True), tools.values(1, 2, 3)),
    ],
    "typedbytes.streaming.lib.JoinReducer.reduce": [
        lambda tools: lib.JoinReducer().reduce(("key", False), tools.values(1, 2, 3)),
    ],
    "typedbytes.streaming.lib.JoinCombiner.primary": [reduced(lib.JoinCombiner().primary)],
    "typedbytes.streaming.lib.JoinCombiner.secondary": [reduced(lib.JoinCombiner().secondary)],
    "typedbytes.streaming.lib.Combining.map": [lib_mapper(lambda tools: lib.Combining(Ending(tools), nkeys=2))],
    "typedbytes.streaming.lib.Combining.close": [lambda tools: lib.Combining(Ending(tools)).close()],
}  # fmt: skip

# Values that are all there, whose iterator is that of a tuple.
WHOLE = {"typedbytes.block.Message": lambda: block.BlockDecoder().feed(block.BlockEncoder().encode([1, 2]))[0]}

# What tasks iterate over, which is not public.
INSIDE = {
    "text": [lambda tools: TextInput(tools.file(TEXT), b"\t").pairs()],
    "lines": [
        lambda tools: TextInput(tools.file(TEXT)).pairs(),
        lambda tools: TextInput(tools.file(TEXT), b"\t", raw=True).raw_pairs(),
    ],
    "text in groups": [lambda tools: TextInput(tools.file(TEXT), b"\t").groups()],
    "raw bytes": [lambda tools: RawBytesInput(tools.file(RAW)).pairs()],
    "raw bytes in groups": [lambda tools: RawBytesInput(tools.file(RAW)).groups()],
    "group_by": [
        lambda tools: RecordGroups(tb.PairReader(tools.file(TYPED)), tools.hook),
        lambda tools: RecordGroups(TextInput(tools.file(TEXT), b"\t").pairs(), tools.hook),
        lambda tools: RecordGroups(
            tb.PairReader(TYPED), key_of=lambda key, value: tools.hook(key), value_of=tools.hook
        ),
    ],
    "kept": [lambda tools: WrappedIterator(pair for pair in tools.values(*PAIRS))],
    "lines of a split": [
        lambda tools: iter(LineReader(tools.file(TEXT)).read_typed, b""),
        lambda tools: PairIterator(LineReader(tools.file(TEXT))),
    ],
    "pairs of a split": [lambda tools: PairIterator(sequencefile.Reader(tools.file(SEQUENCE)))],
}

ALL = [
    pytest.param(make, id=f"{name}-{number}")
    for name, makes in {**RECIPES, **INSIDE}.items()
    for number, make in enumerate(makes)
]
ERRORS = [
    Broken("here"), OSError("here"), StopIteration(), MemoryError(), KeyboardInterrupt(), GeneratorExit(),
    signal.SIGALRM,
]  # fmt: skip


@pytest.fixture(autouse=True)
def alarms_and_processes(monkeypatch):
    def alarm(signum, frame):
        raise Broken("an alarm")

    before = signal.signal(signal.SIGALRM, alarm)
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Executor)
    yield
    signal.signal(signal.SIGALRM, before)


def unbroken(make, folder):
    tools = Tools(folder)
    items, errors, ended = drive(make, tools)
    assert ended and not errors and items, errors
    return items, tools.whole


def test_every_iterator_has_a_recipe():
    assert found_iterators() == RECIPES.keys() | WHOLE.keys()


@pytest.mark.parametrize("name", WHOLE)
def test_whole_values_are_iterated_over_as_a_tuple(name):
    assert type(iter(WHOLE[name]())) is type(iter(()))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: getattr(error, "name", type(error).__name__))
@pytest.mark.parametrize("make", ALL)
def test_what_a_source_or_a_hook_raises(make, error, tmp_path):
    expected, whole = unbroken(make, tmp_path)
    if not whole and isinstance(error, StopIteration):
        error = Broken("values that end early are no mistake")
    for at in range(MAX_STEPS):
        tools = Tools(tmp_path, error, at)
        errors = check(make, tools, expected)
        if not errors:
            break
    assert tools.nsteps <= at


@pytest.mark.parametrize("make", ALL)
def test_input_that_is_cut(make, tmp_path):
    expected, whole = unbroken(make, tmp_path)
    for cut in range(1, len(whole)):
        tools = Tools(tmp_path, change=lambda data: data[:cut])
        errors = check(make, tools, expected)
        assert errors or cut in BOUNDARIES.get(whole, range(cut + 1))


@pytest.mark.parametrize("make", ALL)
def test_input_that_is_damaged(make, tmp_path):
    _, whole = unbroken(make, tmp_path)
    for at in range(len(whole)):
        items, errors, ended = drive(make, Tools(tmp_path, change=lambda data: data[:at] + b"\xff" + data[at + 1 :]))
        assert not (ended and errors)
        assert len({(type(error), str(error)) for error in errors}) < 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file that had not reached its owner
@pytest.mark.parametrize("make", ALL)
def test_what_breaks_in_at_any_opcode(make, tmp_path):
    expected, _ = unbroken(make, tmp_path)
    for at in range(MAX_STEPS):
        trace = Trace(at)
        check(lambda tools: Traced(make(tools), trace), Tools(tmp_path), expected)
        if not trace.raised:
            break
    assert at < MAX_STEPS - 1


@pytest.mark.parametrize("file", [Plain, buffered])
def test_what_breaks_in_between_a_key_and_its_value(file, tmp_path):
    for at in range(MAX_STEPS):
        source, trace, pairs = tb.PairedInput(Tools(tmp_path).file(TYPED, file)), Trace(at), []
        with contextlib.suppress(Broken):
            with trace:
                pairs.append(source.read())
        with contextlib.suppress(Broken):
            pairs += iter(source.read, None)
        assert set(pairs) <= set(PAIRS)
        if not trace.raised:
            break
    assert 3 < at < MAX_STEPS - 1 and pairs == PAIRS


class Traced:
    """An iterator whose steps are traced, and those of the groups that it gives."""

    def __init__(self, iterator, trace):
        self._iterator = iterator
        self._trace = trace

    def __iter__(self):
        return self

    def __next__(self):
        with self._trace:
            item = next(self._iterator)
        if isinstance(item, tuple) and len(item) == 2 and is_group(item[1]):
            return item[0], Traced(item[1], self._trace)
        return item


# -- tasks whose user code catches everything ---------------------------------------------------------------


class Stubborn:
    """A job that takes what it can get of each group or record, and counts."""

    def map(self, key, value):
        yield key, 1

    def reduce(self, key, values):
        n = nerrors = 0
        while nerrors < 3:
            try:
                next(values)
            except StopIteration:
                break
            except Exception:
                nerrors += 1
            else:
                n += 1
        yield key, n


KEYS = [(0, 0), (0, 1), (1, 0)]
BY_TWO = encode(*((key, "value") for key in KEYS))
# name -> input, role, options, number of values
TASKS = {
    "typedbytes": (TYPED, "reduce", {}, 6),
    "text": (TEXT, "reduce", {}, 6),
    "rawbytes": (RAW, "reduce", {}, 6),
    "group_by": (BY_TWO, "reduce", {"group_by": lambda key: key[0]}, 3),
    "max_bad group_by": (BY_TWO, "reduce", {"max_bad": 100, "group_by": lambda key: key[0]}, 3),
    "max_bad text map": (TEXT[:20], "map", {"max_bad": 100}, 2),
}


@pytest.fixture
def in_a_task(tmp_path, monkeypatch):
    """Return a function from a name to one that runs its task here.

    That returns the exit code, and the numbers of values in its output and of bad records.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_run.Heartbeat, "start", lambda heartbeat: None)
    monkeypatch.setattr("typedbytes.streaming._task_failure.write_failure", lambda details, error: None)
    monkeypatch.setattr("typedbytes.streaming._bad_records.write_line", lambda text: None)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # half of the time, and no power fails here

    for module, word in ((_reporter, "counters"), (_run, "counters"), (_run, "side_files"), (_sidefiles, "side_files")):
        monkeypatch.setattr(module, word, None)  # each run has its own

    def prepare(name):
        data, role, options, _ = TASKS[name]
        form = next((word for word in ("text", "rawbytes") if word in name), "typedbytes")
        monkeypatch.setenv(f"stream_{role}_input", form)
        monkeypatch.setenv("stream_map_input_ignoreKey", "false")
        (tmp_path / "in").write_bytes(data)
        return functools.partial(run, role, options)

    def run(role, options):
        _reporter.counters = _run.counters = counted = Counted()
        _run.side_files = _sidefiles.side_files = _sidefiles.SideFiles()
        for path in {*tmp_path.iterdir()} - {tmp_path / "in"}:
            path.unlink()  # to replace a file is slow
        source = _descriptors.InputDescriptor(os.open("in", os.O_RDONLY), "rb")
        sink = _descriptors.OutputDescriptor(os.open("out", os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")
        with source:
            code = _run.TaskRun(role, Step(**{NAMES[role]: Stubborn()}, **options)).run(source, sink)
        with open("out", "rb") as output:
            return code, sum(value for _, value in tb.PairReader(output.read())), counted.nbad

    return prepare


class Counted:
    """Counters of a task."""

    nbad = 0

    def add(self, group, name, amount):
        self.nbad += amount

    def send(self):
        pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", TASKS)
def test_a_task_that_succeeds_has_passed_all_on(name, in_a_task):
    run, nvalues = in_a_task(name), TASKS[name][-1]
    assert run() == (0, nvalues, 0)
    codes = set()
    for at in range(MAX_STEPS):
        trace = Trace(at, PACKAGE / "streaming")
        try:
            with trace:
                code, n, nbad = run()
        except Broken:
            continue
        codes.add(code)
        assert code or n == nvalues or nbad, f"{nvalues - n} of {nvalues} values were lost at opcode {at}"
        if not trace.raised:
            break
    assert at < MAX_STEPS - 1 and codes > {0}


CATCHING = """
import signal
def reducer(key, values):
    n = 0
    try:
        for value in values:
            n += 1
            at(key, n)
    except ValueError:
        os.write(2, b"caught\\n")
    yield key, n
"""


def test_what_group_by_raises_fails_the_task(tmp_path):
    text = (
        "def at(key, n): pass\ndef group_by(key):\n    return key if key != 7 else int('seven')\n"
        "run(reducer=reducer, group_by=group_by)"
    )
    outcome = run_script(tmp_path, CATCHING + text, "reduce", data=encode(*((number, 1) for number in range(20))))
    assert outcome.code == 1 and "ValueError" in outcome.messages


@pytest.mark.parametrize("form, data", [("text", TEXT), ("rawbytes", RAW), ("typedbytes", TYPED)])
def test_an_alarm_while_a_group_is_read_fails_the_task(form, data, tmp_path):
    text = """
def alarm(signum, frame):
    if frame.f_code.co_name != "readinto":  # not waiting yet
        return signal.setitimer(signal.ITIMER_REAL, 0.01)
    raise ValueError("too slow")
signal.signal(signal.SIGALRM, alarm)
def at(key, n):
    if n == 2:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
run(reducer=reducer)
"""
    ahead, messages = len(data) * 2 // 3 + 3, b""
    with start(
        tmp_path, CATCHING + text, "reduce", environ={"stream_reduce_input": form, "stream_reduce_output": "typedbytes"}
    ) as child:
        child.stdin.write(data[:ahead])
        child.stdin.flush()
        while not messages.endswith(b"caught\n") and (line := child.stderr.readline()):
            messages += line
        with contextlib.suppress(BrokenPipeError):  # the rest comes when the alarm has, for a task that goes on
            child.stdin.write(data[ahead:])
            child.stdin.close()
        messages += child.stderr.read()
    assert child.returncode == 1 and b"ValueError: too slow" in messages


# -- what internal callers ask of an iterator -------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda: WrappedIterator(iter(())),
    lambda: PairIterator(LineReader(io.BytesIO())),
    lambda: RecordGroups(iter([(1, 2)]), lambda key: key),
    lambda: next(RecordGroups(iter([(1, 2)]), lambda key: key))[1],
    lambda: next(tb.PairReader(BY_TWO).groups())[1],
    lambda: tb.PairReader(BY_TWO).groups(),
    lambda: RecordLoop(tb.PairReader(BY_TWO), print, None),
], ids=["wrapped", "pairs", "pair groups", "values", "group values", "groups", "record loop"])  # fmt: skip
def test_an_iterator_cannot_be_pickled(make):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(make())


def test_an_iterator_that_has_not_reached_its_end_says_so():
    iterator = WrappedIterator(iter([1]))
    with pytest.raises(RuntimeError, match="the end of a WrappedIterator has not been reached: records may be left"):
        iterator._check_end()
    assert list(iterator) == [1]
    iterator._check_end()


def test_an_iterator_whose_call_failed_stays_failed():
    iterator = WrappedIterator(iter([1]))
    for call in (lambda: iterator._call(lambda: 1 / 0), iterator._check_end, lambda: next(iterator)):
        with pytest.raises(ZeroDivisionError):
            call()


def test_a_reader_that_has_not_read_its_input_says_so():
    reader = tb.Reader(BY_TWO)
    next(reader)
    with pytest.raises(RuntimeError, match="the end of the input of a Reader has not been read: records may be left"):
        reader._check_end()
    reader.close()
    with pytest.raises(ValueError, match="closed reader"):
        reader._check_end()


def test_what_was_never_initialised_is_over():
    for kind in (WrappedIterator, RecordGroups):
        assert list(kind.__new__(kind)) == []


@pytest.mark.parametrize("record", [(), (1,)])
def test_a_record_of_groups_has_a_key_and_a_value(record):
    with pytest.raises(ValueError, match="a record is"):
        next(RecordGroups(iter([record])))
