"""Many files at once: splits, processes, the order of what comes back.

Here: cutting files into splits and handing them out. Not here: what a split holds. Always true: no more splits are under way than
twice the processes, so memory is bounded by them; every record comes once.
"""

import pickle
import warnings
from collections import deque

from typedbytes._core import Kept
from typedbytes.errors import DecodeError
from typedbytes.sequencefile import _locations
from typedbytes.sequencefile._files import Reader

__all__ = ["read"]


def read(places, *, processes=1, ordered=False, progress=None, split_size=1 << 24, **options):
    """Iterate over the (key, value) pairs of files and folders of part files, read by several processes.

    places: a path or URL, or several. Of a folder its files are read in the order of their names, but for those that start
    with _ or a dot; a folder in there with any other name raises IsADirectoryError. processes: 1 reads here, in order.
    ordered: with more, keep the order of places and records; without it splits come as they are ready. progress: called with
    (bytes done, bytes in all) after each split. split_size: bytes. Other options as for `Reader`, decoders that can be pickled
    among them. Errors in the bytes name the file and come after the records before them; any other error of a process takes
    the records of its split along, and is a RuntimeError that names it where it cannot be pickled. With resync=True what was
    passed over is told in a RuntimeWarning each.

    >>> import os, tempfile
    >>> from typedbytes.sequencefile import Writer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Writer(os.path.join(folder, "part-00000"), key_class="Text", value_class="IntWritable") as writer:
    ...         writer.write("a", 1)
    ...     list(read(folder))
    [('a', 1)]
    """
    if processes < 1 or split_size < 1:
        raise ValueError("processes and split_size are at least 1")
    if isinstance(places, (list, tuple)):
        files = [file for place in places for file in _locations.parts(place)]
    else:
        files = _locations.parts(places)
    splits = list(_cut(files, split_size))
    answers = _in_turn(splits, options) if processes == 1 else _in_parallel(splits, options, processes, ordered)
    return Kept(_delivered(answers, sum(length for _, _, length in splits), progress))


def _cut(files, split_size):
    for file in files:
        nbytes = _locations.size(file) or 0
        # Without bytes, as it seems, one split of all there is: a server may not know, and an empty file has a header missing, which is to be said.
        for start in range(0, nbytes, split_size) or (0,):
            yield file, start, min(split_size, nbytes - start)


def _delivered(answers, total, progress):
    done = 0
    for nbytes, records in answers:
        yield from records
        done += nbytes
        if progress is not None:
            progress(done, total)


def _in_turn(splits, options):
    for split in splits:
        skipped = []
        yield split[2], _answered(split[0], _records(split, options, skipped), skipped)


def _records(split, options, skipped):
    """Yield the records of a split, and put what was passed over into a list; errors name the file."""
    place, start, length = split
    try:
        with Reader(place, start=start, length=length or None, **options) as reader:
            yield from reader
            skipped += reader.skipped
    except DecodeError as error:
        # Which record of the file it is, only the first split knows.
        record = None if start else error.record
        raise type(error)(f"{place}: {error.message}", error.offset, error.code, error.path, record) from None


def _answered(place, records, skipped, error=None):
    yield from records
    for each in skipped:
        warnings.warn(
            f"{place}: passed over {each.nbytes} bytes at offset {each.offset}"
            f"{'' if each.nrecords is None else f', {each.nrecords} records'}: {each.error.message}",
            RuntimeWarning,
            stacklevel=3,
        )
    if error is not None:
        raise error


def _work(split, options):
    """Return the records of a split, what was passed over, and the error that ended it, in a process of its own."""
    records, skipped = [], []
    try:
        records.extend(_records(split, options, skipped))
    except DecodeError as error:
        return records, skipped, error
    except Exception as error:
        if _is_portable(error):
            raise
        raise RuntimeError(f"{type(error).__name__}: {error}") from None
    return records, skipped, None


def _is_portable(error):
    """Tell whether an exception can be handed over to another process, which one that it cannot make again would break."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True


def _in_parallel(splits, options, processes, ordered):
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait    # its users only

    waiting, under_way = deque(splits), {}
    pool, waits = ProcessPoolExecutor(processes), True
    try:
        while waiting or under_way:
            while waiting and len(under_way) < 2 * processes:
                split = waiting.popleft()
                under_way[pool.submit(_work, split, options)] = split
            first = next(iter(under_way)) if ordered else wait(under_way, return_when=FIRST_COMPLETED).done.pop()
            split = under_way.pop(first)
            yield split[2], _answered(split[0], *first.result())
    except GeneratorExit:
        waits = False    # a thread that waits for itself: any may collect what nobody has finished, the pool's own too
        raise
    finally:
        pool.shutdown(waits, cancel_futures=True)
