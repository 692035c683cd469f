"""Read many files: threads decompress blocks ahead, or processes decode splits for decoders in Python.

Here: dividing files into splits and distributing them. Not here: the records of a split. Invariant: at most two blocks
or splits per worker are in progress, which bounds memory; every record is returned once.
"""

from __future__ import annotations

import os
import sys
from collections import deque

from typedbytes._base import locations
from typedbytes._core import WrappedIterator
from typedbytes.errors import DecodeError
from typedbytes.sequencefile._files import Reader

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    _Path = str | os.PathLike[str]

__all__ = ["read"]


def read(
    paths: _Path | Sequence[_Path], *, processes: int = 1, ordered: bool = False,
    progress: Callable[[int, int], Any] | None = None, split_size: int = 1 << 24, recursive: bool = False,
    **options: Any,
) -> Iterator[tuple[Any, Any]]:  # fmt: skip
    """Iterate over the (key, value) pairs of files and folders of part files.

    - paths: a path, URL or pattern such as `out/part-*`, or several. The files of a folder are read in the order of
      their names, except those whose names start with _ or a dot; if it has `part-...` files, what tasks wrote beside
      them, such as `log-r-00000`, is left out too; of a MapFile its data; any other folder inside it raises
      IsADirectoryError, unless recursive=True reads its files too.
    - processes: how many do the work that can be divided. Without `decoders` that is the decompression of blocks, up to
      twice as many ahead, which threads of this process do; records keep their order. With `decoders`, which must be
      picklable, processes decode whole splits, or threads where there is no GIL.
    - ordered: keep the order there too; otherwise splits are returned as they are ready.
    - progress: called with (bytes done, total bytes) after each split.
    - split_size: bytes.

    Other options as for `Reader`. Errors in the data name the file and are raised after the records before them. Any
    other error in a process loses the records of its split; if it cannot be pickled, a RuntimeError names it. With
    resync=True each skipped part of a file is reported by a RuntimeWarning.

    >>> import os, tempfile
    >>> from typedbytes.sequencefile import Writer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Writer(os.path.join(folder, "part-00000"), key_class="Text", value_class="IntWritable") as writer:
    ...         writer.write("a", 1)
    ...     list(read(folder))
    [('a', 1)]
    """
    if processes < 1 or split_size < 1:
        raise ValueError(f"processes and split_size must be at least 1, not {processes} and {split_size}")
    for path in paths if isinstance(paths, (list, tuple)) else [paths]:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"sequencefile.read takes paths, not a {type(path).__name__}: "
                "sequencefile.open reads bytes and binary files"
            )
    splits = list(_make_splits(locations.files(paths, recursive), split_size))
    if processes > 1 and options.get("decoders"):
        results = _read_in_pool(splits, options, processes, ordered)
    else:
        results = _read_in_order(splits, options, processes)
    return WrappedIterator(_with_progress(results, sum(length for _, _, length in splits), progress))


def _make_splits(files, split_size):
    for file in files:
        nbytes = locations.size(file) or 0
        # A file of size 0, or of one that its server does not say, is one split; reading an empty one
        # reports the missing header.
        for start in range(0, nbytes, split_size) or (0,):
            yield file, start, min(split_size, nbytes - start)


def _with_progress(results, total, progress):
    done = 0
    try:
        for nbytes, records in results:
            yield from records
            done += nbytes
            if progress is not None:
                progress(done, total)
    finally:
        results.close()  # an error's traceback would keep its threads


def _read_in_order(splits, options, nthreads):
    pool = None
    is_finalizing = sys.is_finalizing  # the module may have lost its names by then
    if nthreads > 1:
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(nthreads, thread_name_prefix="sequencefile")
    try:
        for split in splits:
            skipped: list = []
            yield (
                split[2],
                _records_and_warnings(split[0], _records_of(split, options, skipped, pool, nthreads), skipped),
            )
    finally:
        # Not waited for: the garbage collector may run this in a thread of the pool.
        # When the interpreter ends they have ended already.
        if pool is not None and not is_finalizing():
            pool.shutdown(wait=False, cancel_futures=True)


def _records_of(split, options, skipped, pool=None, nthreads=1):
    """Yield the records of a split, decompressed by the pool, and append skipped parts to a list.

    Errors name the file.
    """
    path, start, length = split
    try:
        with Reader(path, start=start, length=length or None, **options) as reader:
            if pool is not None:
                reader.__decompress_ahead__(pool.submit, 2 * nthreads)
            yield from reader
            skipped += reader.skipped
    except DecodeError as error:
        # The index of the record in the file is known in the first split only.
        record = None if start else error.record
        raise type(error)(f"{path}: {error.message}", error.offset, error.code, error.path, record) from None


def _records_and_warnings(path, records, skipped, error=None):
    yield from records
    for part in skipped:
        import warnings

        warnings.warn(
            f"{path}: skipped {part.nbytes} bytes at offset {part.offset}"
            f"{'' if part.nrecords is None else f', {part.nrecords} records'}: {part.error.message}",
            RuntimeWarning,
            stacklevel=3,
        )
    if error is not None:
        raise error


def _read_split(split, options):
    """Return the records of a split, its skipped parts, and the error that ended it; runs in a worker."""
    records: list = []
    skipped: list = []
    try:
        records.extend(_records_of(split, options, skipped))
    except DecodeError as error:
        return records, skipped, error
    except Exception as error:
        if _is_portable(error):
            raise
        raise RuntimeError(f"{type(error).__name__}: {error}") from None
    return records, skipped, None


def _is_portable(error):
    """Return whether an exception survives pickling; one that does not would break the pool."""
    import pickle

    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True


def _new_pool(nworkers):
    from concurrent import futures

    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return futures.ProcessPoolExecutor(nworkers) if has_gil else futures.ThreadPoolExecutor(nworkers)


def _read_in_pool(splits, options, processes, ordered):
    from concurrent.futures import FIRST_COMPLETED, wait
    from threading import Thread

    is_finalizing = sys.is_finalizing  # as above
    waiting = deque(splits)
    running: dict = {}
    pool = _new_pool(processes)
    try:
        while waiting or running:
            while waiting and len(running) < 2 * processes:
                split = waiting.popleft()
                running[pool.submit(_read_split, split, options)] = split
            first = next(iter(running)) if ordered else wait(running, return_when=FIRST_COMPLETED).done.pop()
            split = running.pop(first)
            yield split[2], _records_and_warnings(split[0], *first.result())
    except GeneratorExit:
        # The garbage collector may run this in any thread, even one of the pool, which cannot join itself, nor drop
        # the last reference to the pool: the pool's threads would wait for one another. When the interpreter ends
        # they have ended already.
        if not is_finalizing():
            Thread(target=pool.shutdown, args=(True,), kwargs={"cancel_futures": True}).start()
        raise
    except BaseException:
        pool.shutdown(True, cancel_futures=True)
        raise
    pool.shutdown(True, cancel_futures=True)
