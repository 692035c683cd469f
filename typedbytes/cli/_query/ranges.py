"""Copying the records of a range, counted over all inputs: head and slice."""

import sys
from collections import deque
from itertools import groupby
from operator import itemgetter

from typedbytes import _core, _report
from typedbytes.cli._records.encoded import CHUNK_NBYTES, joined, nparts


def copy_range(inputs, records, wanted):
    """Copy the records whose numbers are in a range to Records."""
    here, due = 0, wanted.start
    for name in inputs:
        if due >= wanted.stop and not records.needs_reader:
            return
        with inputs.reading(name) as reader, records.writer(reader) as writer:
            while due < wanted.stop:
                here += reader.skip(due - here)
                before = reader.record
                chunk = reader.__read_records__(CHUNK_NBYTES) if here == due else b""
                if not chunk:
                    break  # go on in the next input
                here += reader.record - before
                if here > wanted.stop:
                    nvalues = (wanted.stop - due) * nparts(reader)
                    chunk = chunk[: _core.advance(chunk, 0, nvalues, dialect=inputs.dialect)]
                if wanted.step > 1:
                    chosen = _report.ChosenRecords(nparts(reader), dialect=inputs.dialect)
                    chunk = chosen.take(chunk, step=wanted.step)
                writer.write_raw(chunk)
                due += -(-(min(here, wanted.stop) - due) // wanted.step) * wanted.step


def copy_from_end(inputs, records, wanted):
    """Copy the records of a slice that counts from the end to Records."""
    for reader, chosen in groupby(_chosen_from_end(inputs, records, wanted), itemgetter(0)):
        with records.writer(reader) as writer:
            for _, record in chosen:
                writer.write_raw(record)


def _chosen_from_end(inputs, records, wanted):
    """Yield (reader, record); as many records are held as the negative numbers may mean."""
    max_held = -min(wanted.start, wanted.stop)
    before = range(wanted.start, sys.maxsize, wanted.step) if wanted.start >= 0 else ()
    held: deque = deque()
    total = 0
    for name in inputs:
        with inputs.reading(name) as reader:
            records.meet(reader)
            for record in reader:
                total += 1
                held.append((reader, joined(record)))
                if len(held) > max_held:
                    oldest = held.popleft()
                    if total - 1 - max_held in before:
                        yield oldest
    last = range(total)[wanted]
    for number, each in enumerate(held, total - len(held)):
        if number in last:
            yield each
