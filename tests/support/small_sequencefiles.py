"""Small SequenceFiles: as bytes with a sync marker that is known, their pairs, and the vectors' own Writables."""

import io

from typedbytes import sequencefile

MARKER = bytes(range(100, 116))
FORMS = [("none", "default"), ("record", "default"), ("block", "zstd")]
NUMBERS = [(i, f"value {i}") for i in range(1000)]


def written(pairs, **options):
    """Return the bytes of a file of these pairs."""
    sink = io.BytesIO()
    with sequencefile.Writer(sink, **{"sync_marker": MARKER, **options}) as writer:
        writer.writes(pairs)
    return sink.getvalue()


def pairs_of(path, **options):
    """Return the pairs of a file or of a split."""
    with sequencefile.Reader(path, **options) as reader:
        return reader.read_all()


def map_file(folder, data, index, key_class="IntWritable", value_class="Text", **options):
    """Write a MapFile: `index` says of which records, by number, or which offset in `data` a key shall have."""
    offsets, sink = [], io.BytesIO()
    with sequencefile.Writer(
        sink, key_class=key_class, value_class=value_class, sync_marker=MARKER, **options
    ) as writer:
        for pair in data:
            offsets.append(writer.offset)
            (writer.write_raw if type(pair[0]) is bytes else writer.write)(*pair)
    (folder / "data").write_bytes(sink.getvalue())
    entries = [(data[each][0], offsets[each]) if type(each) is int else each for each in index]
    with sequencefile.Writer(
        folder / "index", key_class=key_class, value_class="LongWritable", sync_marker=MARKER
    ) as writer:
        for pair in entries:
            (writer.write_raw if type(pair[0]) is bytes else writer.write)(*pair)
    return offsets


def text_array(data):
    """Decode the tests' own ArrayWritable of Text, short ones only."""
    items, rest = (), data[4:]
    while rest:
        items += (rest[1 : 1 + rest[0]].decode(),)
        rest = rest[1 + rest[0] :]
    assert len(items) == int.from_bytes(data[:4], "big")
    return items


DECODERS = {"org.typedbytes.vectors.TextArray": text_array}
