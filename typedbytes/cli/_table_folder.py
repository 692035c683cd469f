"""A folder of Arrow or Parquet files, one for each split of the inputs.

Here: what is to be done and what is done already, and the threads that do the rest. Invariant: all files have one schema, and the folder
gets its name when they are complete; until then FOLDER.unfinished holds those that are, and the same command goes on with the others.
"""

from __future__ import annotations

import json
import os
import threading
from collections import namedtuple
from contextlib import contextmanager

from typedbytes import columns
from typedbytes._atomic import atomic_file, name_folder, sync
from typedbytes.cli._failure import BAD_DATA, IO_ERROR, NO_INPUT, USAGE, Failure, reason_of, say
from typedbytes.cli._inputs import check_for_pairs, names, opened, recognised
from typedbytes.cli._output import OutputError
from typedbytes.cli._tables import imported_pyarrow, table_writer
from typedbytes.columns import _tables
from typedbytes.errors import DecodeError
from typedbytes.sequencefile import _locations

__all__ = ["SPLIT_NBYTES", "is_folder", "write_folder"]

SPLIT_NBYTES = 128 << 20
PLAN = "_conversion.json"

# The splits, by the names of their files; the Schema; and how columns are read.
Plan = namedtuple("Plan", "splits schema structure")


def is_folder(options):
    """Return whether -o is a folder: one that exists, a name with a slash at its end, or without a suffix if an input is a folder."""
    name = options.output or ""
    if name.endswith("/") or os.path.isdir(name):
        return True
    return bool(name) and not os.path.exists(name) and not os.path.splitext(name)[1] and any(map(os.path.isdir, options.files))


def write_folder(options):
    """Convert the inputs to files in the folder -o."""
    folder = options.output.rstrip("/")
    _check(options, folder)
    imported_pyarrow()
    plan = _plan(options)
    unfinished = f"{folder}.unfinished"
    with _as_output_failure(folder), _begun(unfinished, _description(plan, options)):
        done = {name for name in plan.splits if os.path.exists(os.path.join(unfinished, name))}
        if done:
            say(f"typedbytes: {len(done)} of {len(plan.splits)} files are in {unfinished} already")
        try:
            _convert({name: split for name, split in plan.splits.items() if name not in done}, unfinished, plan, options)
        except BaseException:
            n = sum(os.path.exists(os.path.join(unfinished, name)) for name in plan.splits)
            say(f"typedbytes: {n} of {len(plan.splits)} files are in {unfinished}: the same command goes on with the others")
            raise
        open(os.path.join(unfinished, "_SUCCESS"), "wb").close()
        name_folder(unfinished, folder, over_empty=True)


def _check(options, folder):
    """Raise Failure for options that a folder does not have, and for one that is there."""
    if "://" in folder:
        raise Failure(USAGE, f"{folder}: a folder is written on this machine only")
    for name, given in (("--from", options.from_), ("--max-bytes", options.max_bytes)):
        if given is not None:
            raise Failure(USAGE, f"{name} is not for a folder: its inputs are SequenceFiles and typed bytes")
    if os.path.isdir(folder) and os.listdir(folder):
        raise Failure(USAGE, f"{folder}: the folder is not empty")


def _plan(options):
    files = names(options)
    kinds = [_kind(name, options) for name in files]
    if len({*kinds}) > 1 and not options.pairs:
        raise Failure(USAGE, "SequenceFiles beside typed bytes: --pairs reads the latter as pairs too")
    structure = {"pairs": bool(options.pairs or "sequencefile" in kinds), "dialect": options.dialect}
    with _as_input_failure():
        splits = columns.splits(files, options.split_size or SPLIT_NBYTES)
        schema = _tables.infer_schema(files, True, structure)
    if schema is None:
        raise Failure(BAD_DATA, "there are no records to take the columns from")
    return Plan({f"part-{number:05}.{options.to}": split for number, split in enumerate(splits)}, schema, structure)


def _kind(name, options):
    """Return the format of an input; raise Failure for one that is not read by splits, or seems to hold pairs."""
    if name == "-":
        raise Failure(USAGE, "standard input cannot become a folder: give -o a file")
    with opened(name) as source:
        kind, source = recognised(source, options)
        if kind not in ("sequencefile", "typedbytes"):
            raise Failure(USAGE, f"{name}: {kind} cannot become a folder: give -o a file")
        check_for_pairs(source, kind, name, options)
    return kind


def _description(plan, options):
    """Return what two commands must have in common for one to go on with what the other began."""
    paths = dict.fromkeys(os.fsdecode(split.path) for split in plan.splits.values())
    inputs = {path: [_locations.size(path), None if "://" in path else os.stat(path).st_mtime_ns] for path in paths}
    return {
        "to": options.to,
        "codec": options.codec or "none",
        **plan.structure,
        "schema": str(plan.schema.arrow),
        "inputs": inputs,
        "splits": {name: [os.fsdecode(path), *part] for name, (path, *part) in plan.splits.items()},
    }


@contextmanager
def _begun(unfinished, description):
    """Make the folder, or go on with one whose description is the same, while no other process does."""
    os.makedirs(unfinished, exist_ok=True)
    path = os.path.join(unfinished, PLAN)
    with _locked(unfinished):
        if not os.path.exists(path):
            with atomic_file(path) as raw, raw:
                raw.write(json.dumps(description, indent=1).encode())
        if _read(path) != description:
            raise Failure(USAGE, f"{unfinished}: of other inputs, or with other options: remove it to start again")
        for name in os.listdir(unfinished):
            if name.endswith(".partial"):  # of a process that was killed
                os.unlink(os.path.join(unfinished, name))
        yield


def _read(path):
    with open(path, "rb") as file:
        return json.load(file)


@contextmanager
def _locked(folder):
    """Hold the lock of a folder, where the system has such locks."""
    try:
        import fcntl
    except ModuleNotFoundError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise Failure(USAGE, f"{folder}: another process writes to it") from None
    finally:
        os.close(descriptor)


def _convert(splits, folder, plan, options):
    """Write the files of splits, several at a time; the first failure ends all."""
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

    stop = threading.Event()
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        futures = [pool.submit(_write_part, os.path.join(folder, name), split, plan, options, stop) for name, split in splits.items()]
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    sync(folder)


def _write_part(path, split, plan, options, stop):
    with atomic_file(path) as raw, raw, table_writer(raw, plan.schema.arrow, options) as writer:
        for batch in _batches(split, plan):
            if stop.is_set():
                raise InterruptedError
            writer.write_batch(batch)


def _batches(split, plan):
    with _as_input_failure(split.path):
        yield from _tables.batches_of(split, plan.schema, plan.structure)


@contextmanager
def _as_input_failure(path=None):
    """Turn errors of reading into Failure; those in the data name their file."""
    try:
        yield
    except (DecodeError, _tables.SchemaError) as error:
        raise Failure(BAD_DATA, str(error)) from None
    except FileNotFoundError as error:
        raise Failure(NO_INPUT, f"{error.filename or path}: {reason_of(error)}") from None
    except OSError as error:
        raise Failure(IO_ERROR, f"{path or error.filename}: {reason_of(error)}") from None


@contextmanager
def _as_output_failure(folder):
    try:
        yield
    except OSError as error:
        raise OutputError(folder, error) from None
