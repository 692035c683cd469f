"""SequenceFiles as bytes, with a sync marker that is known."""

import io

from typedbytes import sequencefile

MARKER = bytes(range(100, 116))


def written(pairs, **options):
    """Return the bytes of a file of these pairs."""
    sink = io.BytesIO()
    with sequencefile.Writer(sink, **{"sync_marker": MARKER, **options}) as writer:
        writer.writes(pairs)
    return sink.getvalue()
