"""What all tests share: how long hypothesis may think, where the vectors lie, and files of bytes."""

import gc
import os
import re
import signal

import hypothesis
import pytest

from support import vectors
from support.streaming_support import run_script
from typedbytes import _core

# no deadline, nor one for making inputs: a shared machine may stop a test for a minute; no database: a run depends on
# the sources alone
hypothesis.settings.register_profile(
    "typedbytes", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], database=None, print_blob=True
)
hypothesis.settings.register_profile("brief", hypothesis.settings.get_profile("typedbytes"), max_examples=20)
hypothesis.settings.load_profile("typedbytes")


FILE_MARKS = (
    "codec", "free_threaded", "every_python", "oldest_python", "newest_python", "quick", "portable",
    "lowest", "hadoop", "every_hadoop", "debug", "untraced",
)  # fmt: skip


def pytest_configure(config):
    """Refuse names in -m that no test can have: "not" one of them would leave out nothing.

    A shell's background job ignores SIGINT, and so would what the tests start: it is put back.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    known = {re.match(r"\w+", line)[0] for line in config.getini("markers")}
    found = config.option.markexpr
    unknown = {*re.findall(r"\w+", found)} - known - {"and", "or", "not"}
    if unknown:
        raise pytest.UsageError(f"-m {found!r}: expected marks of pyproject.toml, found {', '.join(sorted(unknown))}")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the collector from looking again and again at all tests that have been found."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items):
    """Refuse a name that shows an address: the workers of a run compare the names that each of them has."""
    for item in items:
        if " at 0x" in item.name:
            raise pytest.UsageError(f"{item.nodeid}: a test's name is the same in every process; give it an id")


def pytest_ignore_collect(collection_path, config):
    """Leave out, unread, files without the marks that -m names: they may import what such a run does not have."""
    wanted = [mark for mark in FILE_MARKS if re.search(rf"(?<!not )\b{mark}\b", config.option.markexpr)]
    if (
        wanted
        and collection_path.suffix == ".py"
        and not re.search(rf"mark\.({'|'.join(wanted)})\b", collection_path.read_text("utf-8"))
    ):
        return True
    return None


@pytest.fixture(scope="module", autouse=True)
def few_objects():
    """Leave the collector only what the module's tests make: a full collection takes a tenth of the time."""
    gc.collect()
    if hasattr(gc, "freeze"):  # not on PyPy
        gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def kind_of_loops():
    """Transcode text by the loops that TYPEDBYTES_VECTORS names, 0 to 2, or by the best; see make test-dispatch."""
    _core._limit_vectors(int(os.environ.get("TYPEDBYTES_VECTORS", 2)))


@pytest.fixture(scope="session")
def vector_root():
    """Return the folder of the vectors."""
    assert vectors.ROOT.is_dir(), "the folder of the vectors is missing"
    return vectors.ROOT


@pytest.fixture
def file(tmp_path):
    """Return a function that makes a file of these bytes and returns its path."""

    def make(data, name="a.tb"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return make


@pytest.fixture
def run_here(tmp_path, monkeypatch):
    """Return run_script with the side files in the test's own folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments, **options: run_script(tmp_path, *arguments, **options)


def pytest_unconfigure():
    """Let the end of the process collect all modules; DuckDB's binding reports what is left as leaked."""
    if hasattr(gc, "unfreeze"):
        gc.unfreeze()
