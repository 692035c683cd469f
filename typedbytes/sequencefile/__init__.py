"""Hadoop SequenceFiles without a JVM: versions 4 to 6, record and block compression, all of Hadoop's codecs.

    open(file, mode), Reader, Writer      one file: a path, a URL (with fsspec), a file object, bytes; mode r, w or a
    read(paths, processes=n)              many files and folders of part files, read in parallel by splits
    MapFile                               look up keys in a sorted file and its index
    register_codec                        functions for a codec of one's own
    decode, encode                        a single key or value, for records read with raw=True

Classes that are described in a line of text (classes=) are read and written as Hadoop's own are.

>>> import io
>>> file = io.BytesIO()
>>> with open(file, "w", value_class="Text", compression="block") as writer:
...     writer.writes([((1, "a"), "one"), ((2, "b"), "two")])
2
>>> with open(file.getvalue()) as reader:
...     reader.value_class, list(reader)
('org.apache.hadoop.io.Text', [((1, 'a'), 'one'), ((2, 'b'), 'two')])
"""

from typedbytes.sequencefile._codecs import register_codec
from typedbytes.sequencefile._files import Reader, Writer, decode, encode, open
from typedbytes.sequencefile._mapfile import MapFile
from typedbytes.sequencefile._native import Skipped
from typedbytes.sequencefile._parallel import read

__all__ = ["MapFile", "Reader", "Skipped", "Writer", "decode", "encode", "open", "read", "register_codec"]


def __dir__() -> list[str]:
    return __all__
