"""Copy the intact records of a damaged SequenceFile."""

import typedbytes
from typedbytes import sequencefile
from typedbytes.cli._output.files import replace_file
from typedbytes.cli._output.sequencefile import open_sequencefile
from typedbytes.cli._records.decoding import is_refused_value, name_option


def repair(damaged, target, decoding, key_type=None, value_type=None, type=None):
    """Copy intact records to another SequenceFile of the same classes and codec; return how many, and what was skipped.

    key_type, value_type: what keys and values must fit, None for anything.
    """
    names = "key_class", "value_class", "version", "compression", "metadata"
    options = {name: getattr(damaged, name) for name in names}
    nkept, bad, places = 0, [], []
    # The input may be the file to replace: the copy gets its name when it is complete.
    with replace_file(target) as file, open_sequencefile(file, codec=damaged.codec or "default", **options) as writer:
        for index, (start, key, value) in enumerate(_with_starts(damaged)):
            part = "key"
            try:
                sequencefile.decode(damaged.key_class, key, type=key_type, **decoding)
                part = "value"
                sequencefile.decode(damaged.value_class, value, type=value_type, **decoding)
            except typedbytes.DecodeError as error:
                places.append(f", byte {error.offset} of the {part}")
                error.offset, error.record = start, index
                bad.append(sequencefile.Skipped(start, len(key) + len(value), 1, error))
            else:
                writer.write_raw(key, value)
                nkept += 1
    is_damaged = bool(damaged.skipped) or not all(is_refused_value(skipped.error) for skipped in bad)
    for skipped, where in zip(bad, places):
        name_option(skipped.error, is_damaged).message += where
    return nkept, sorted(damaged.skipped + bad, key=lambda skipped: skipped.offset)


def _with_starts(damaged):
    """Yield (offset, key, value); the offset is that of the record, its block, or the sync marker before them."""
    start = end = damaged.offset
    for key, value in damaged:
        if damaged.offset != end:
            start, end = max([end, *(each.offset + each.nbytes for each in damaged.skipped[-1:])]), damaged.offset
        yield start, key, value
