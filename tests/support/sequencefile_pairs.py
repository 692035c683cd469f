"""Pairs, forms and folders that the tests of SequenceFiles share."""

from typedbytes import sequencefile

FORMS = [("none", "default"), ("record", "default"), ("block", "zstd")]


def pairs_of(path, **options):
    """Return the pairs of a file or of a split."""
    with sequencefile.Reader(path, **options) as reader:
        return reader.read_all()


NUMBERS = [(i, f"value {i}") for i in range(1000)]
