"""Copying the records of a range, counted over all inputs: head and slice."""

from typedbytes.cli._encoded_records import joined
from typedbytes.cli._inputs import names, reading
from typedbytes.cli._record_output import Records


def copy_range(options, output, wanted):
    """Copy the records whose numbers are in a range."""
    here, due = 0, wanted.start
    with Records(options, output) as records:
        for name in names(options):
            if due >= wanted.stop:
                return
            with reading(name, options, raw=True) as reader, records.writer(reader) as writer:
                while due < wanted.stop:
                    here += reader.skip(due - here)
                    record = next(reader, None) if here == due else None
                    if record is None:
                        break  # go on in the next input
                    writer.write_raw(joined(record))
                    here, due = due + 1, due + wanted.step
