"""A folder of Arrow or Parquet files, one for each split of the inputs.

Here: what is to be done and what is done already, and the threads that do the rest. Invariant: all files have one
schema, each has its name when it is complete, and the same command goes on with the others. On this machine the folder
gets its name when they are all complete, until then it is FOLDER.unfinished; at a URL, where a renamed folder may be a
copy, it has its name from the start, and _SUCCESS when it is complete, as the output of a job.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedWriter

from typedbytes._base import locations
from typedbytes._base.atomic import atomic_file, locked_folder, name_folder, sync
from typedbytes._base.folders import exists, make_folder, names_in, remove, rename
from typedbytes.cli._failure import USAGE, Failure, display_name, say_message
from typedbytes.cli._input.rereadable import Rereadable, can_be_read_twice
from typedbytes.cli._output.files import as_output_error
from typedbytes.cli._tables.arrow import as_data_failure, imported_pyarrow
from typedbytes.cli._tables.plan import batches_of, bytes_done, make_plan
from typedbytes.cli._tables.writers import Groups, table_writer, write_group

__all__ = ["is_folder", "write_folder"]

_MIN_SPLIT_NBYTES, _MAX_SPLIT_NBYTES = 16 << 20, 128 << 20  # unless --split-size is given
MAX_NTHREADS = 8  # each holds about 40 MiB
PLAN = "_conversion.json"
# Of a description, what a repair of an input or another --split-size changes.
_CHANGING: dict = {"inputs": {}, "splits": {}, "split size": 0}


def is_folder(name, files):
    """Return whether -o is a folder: it exists, ends with a slash, or has no suffix and an input is a folder."""
    if name in (None, "-"):
        return False
    if name.endswith("/") or os.path.isdir(name):
        return True
    return not os.path.exists(name) and not os.path.splitext(name)[1] and any(map(_is_folder, files))


def _is_folder(name):
    if not locations.is_url(name):
        return os.path.isdir(name)
    with suppress(Exception):  # reading it reports the error
        fs, path = locations.file_system(name)
        return fs.isdir(path)
    return False


def write_folder(folder, inputs, form, codec, split_size, widen, shape, types):
    """Convert Inputs to files in a folder; types: those that --type and --key-type name."""
    folder = folder.rstrip("/")
    _check(folder, inputs)
    imported_pyarrow()
    sources = _rereadables(inputs)
    is_remote = locations.is_url(folder)
    unfinished = folder if is_remote else f"{folder}.unfinished"
    split_size = split_size or _split_size_of(unfinished) or _split_nbytes(sources)
    plan = make_plan(inputs, sources, split_size, widen, types)
    parts = {f"part-{number:05}.{form}": split for number, split in enumerate(plan.splits)}
    description = {**_description(parts, plan, form, codec, shape), "split size": split_size}
    with as_output_error(folder), _begun(unfinished, description):
        done = parts.keys() & {*names_in(unfinished)}
        if done:
            say_message(f"{len(done)} of {len(parts)} files are in {unfinished} already")
        try:
            missing = {name: split for name, split in parts.items() if name not in done}
            _convert(missing, unfinished, plan, form, codec, shape)
        except BaseException:
            with suppress(Exception):  # the first error goes on
                n = len(parts.keys() & {*names_in(unfinished)})
                already = f"{n} of {len(parts)} files are in {unfinished}"
                say_message(f"{already}: the same command goes on with the others")
            raise
        locations.opened(f"{unfinished}/{locations.MARK}", "w")[0].close()
        if not is_remote:
            name_folder(unfinished, folder, over_empty=True)


def _check(folder, inputs):
    """Raise Failure for options that a folder does not have, and for one that is there."""
    if inputs.format is not None:
        message = (
            "--from cannot be used when the output is a folder: its inputs are recognised, SequenceFiles, RCFiles or "
            "typed bytes"
        )
        raise Failure(USAGE, message)
    if inputs.max_bytes is not None:
        raise Failure(USAGE, "--max-bytes cannot be used when the output is a folder")
    with as_output_error(folder):
        names = names_in(folder)
    if names and not (locations.is_url(folder) and PLAN in names and locations.MARK not in names):
        raise Failure(USAGE, f"{display_name(folder)}: the folder is not empty")


def _rereadables(inputs):
    """Return the inputs, none of them a copy: an interrupted conversion could not go on with what a pipe held."""
    names = list(inputs)
    for name in names:
        if not can_be_read_twice(name):
            raise Failure(USAGE, f"{display_name(name)} can be read only once: give -o a file")
    return [Rereadable(name, name) for name in names]


def _split_size_of(unfinished):
    """Return the bytes of a split in a folder that another machine may have begun, None without one."""
    path = f"{unfinished}/{PLAN}"
    with as_output_error(unfinished):
        return _read(path).get("split size") if exists(path) else None


def _split_nbytes(sources):
    """Return the bytes of a split with which each thread gets the same number of splits of one large file."""
    sizes = [locations.size(source.path) for source in sources]
    if None in sizes:
        return _MAX_SPLIT_NBYTES
    nsplits = _nthreads() * -(-sum(sizes) // (_nthreads() * _MAX_SPLIT_NBYTES)) or 1
    return max(_MIN_SPLIT_NBYTES, -(-sum(sizes) // nsplits))


def _nthreads():
    return min(os.cpu_count() or 1, MAX_NTHREADS)


def _description(parts, plan, form, codec, shape):
    """Return what two commands must have in common for one to go on with what the other began."""
    paths = dict.fromkeys(os.fsdecode(split.path) for split in plan.splits)
    inputs = {
        display_name(path): [locations.size(path), None if locations.is_url(path) else os.stat(path).st_mtime_ns]
        for path in paths
    }
    return {
        "to": form,
        "codec": codec or "none",
        **{name: value if isinstance(value, (str, bool)) else repr(value) for name, value in plan.structure.items()},
        "types": [list(each) for each in plan.schema.types.items()],
        "schema": str(shape.schema(plan.schema.arrow)),
        "inputs": inputs,
        "splits": {name: [display_name(os.fsdecode(path)), *part] for name, (path, *part) in parts.items()},
    }


@contextmanager
def _begun(unfinished, description):
    """Make the folder, or go on with one that has the same options and inputs, while no other process does."""
    make_folder(unfinished)
    path = f"{unfinished}/{PLAN}"
    with ExitStack() as stack:
        try:
            if not locations.is_url(unfinished):
                stack.enter_context(locked_folder(unfinished))
        except BlockingIOError:
            raise Failure(USAGE, f"{unfinished}: another process writes to it") from None
        if not exists(path):
            _write(path, description)
        _keep_what_holds(unfinished, _read(path), description)
        for name in names_in(unfinished):
            if name.endswith(".partial"):  # of a process that was killed
                remove(f"{unfinished}/{name}")
        yield


def _keep_what_holds(unfinished, before, description):
    """Remove the parts of inputs that have changed since, as by a repair; raise Failure for other inputs or options.

    The other parts hold: each has the same part of an input that is as it was.
    """
    if before == description:
        return
    if {**before, **_CHANGING} != {**description, **_CHANGING} or before["inputs"].keys() != description[
        "inputs"
    ].keys():
        raise Failure(
            USAGE, f"{unfinished}: left by an unfinished run with other inputs or options: remove it to start again"
        )
    present = {*names_in(unfinished)}
    for name, (path, *part) in before["splits"].items():
        is_same = before["inputs"][path] == description["inputs"][path]
        if name in present and not (is_same and description["splits"].get(name) == [path, *part]):
            remove(f"{unfinished}/{name}")
    path = f"{unfinished}/{PLAN}"
    if locations.is_url(path):  # where nothing is renamed over a file; the parts that are left hold
        remove(path)
    _write(path, description)


def _write(path, description):
    with _complete_file(path) as file:
        file.write(json.dumps(description, indent=1).encode())


def _read(path):
    with locations.opened(path, "r")[0] as file:
        return json.loads(file.read())


@contextmanager
def _complete_file(path):
    """Yield a file that has its name when it is complete."""
    if not locations.is_url(path):
        with atomic_file(path) as raw, BufferedWriter(raw) as file:  # pyarrow does not ask how much a raw one took
            yield file
        return
    folder, _, name = path.rpartition("/")
    partial = f"{folder}/.{name}.{os.urandom(4).hex()}.partial"
    try:
        with locations.opened(partial, "w")[0] as file:
            yield file
        rename(partial, path)
    except BaseException:
        with suppress(Exception):  # the first error goes on
            remove(partial)
        raise


def _convert(splits, folder, plan, form, codec, shape):
    """Write the files of splits, several at a time; the first failure ends all."""
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

    stop = threading.Event()
    done = bytes_done(splits.values())
    pool = ThreadPoolExecutor(_nthreads())
    try:
        futures = [
            pool.submit(_write_part, f"{folder}/{name}", split, plan, form, codec, shape, stop, done)
            for name, split in splits.items()
        ]
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    if not locations.is_url(folder):
        sync(folder)


def _write_part(path, split, plan, form, codec, shape, stop, done):
    name, schema, groups = plan.names.get(split.path, split.path), shape.schema(plan.schema.arrow), Groups(form)
    with (
        _complete_file(path) as file,
        as_data_failure(name),
        table_writer(file, schema, form, codec) as writer,
    ):
        for batch in batches_of(split, plan):
            if stop.is_set():
                raise InterruptedError
            for group in groups.after(name, shape.arranged(batch)):
                write_group(writer, group)
        for group in groups.rest():
            write_group(writer, group)
    done(split)
