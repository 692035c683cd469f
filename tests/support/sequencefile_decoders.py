"""Decoders of the Writables that the vectors alone have."""


def text_array(data):
    """Decode the tests' own ArrayWritable of Text, short ones only."""
    items, rest = (), data[4:]
    while rest:
        items += (rest[1 : 1 + rest[0]].decode(),)
        rest = rest[1 + rest[0] :]
    assert len(items) == int.from_bytes(data[:4], "big")
    return items


DECODERS = {"org.typedbytes.vectors.TextArray": text_array}
