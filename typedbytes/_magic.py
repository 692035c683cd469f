"""The first bytes of files of known formats.

Here: the marks, and the names of what they mark. Not here: reading any of it, and what becomes of a file that is of another format
than was expected, which its reader decides: files, _compression, sequencefile.
"""

__all__ = [
    "BLOCK_MESSAGE",
    "BYTE_ORDER_MARKS",
    "COMPRESSIONS",
    "FOREIGN",
    "SEQUENCE_FILE",
    "compression_of",
    "described",
    "is_sequence_file",
    "name_of",
]

SEQUENCE_FILE = b"SEQ"
BLOCK_MESSAGE = b"\xf5BB"

# No typed bytes start like these: what could be a value with an application code would be long, with bzip2's three bytes 1.5 GB, with
# those of a frame of Zstandard that is skipped, first in what pzstd writes, 700 MB.
COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    **{bytes([first]) + b"\x2a\x4d\x18": "zstd" for first in range(0x50, 0x60)},
    **{b"BZh%d" % level + start: "bzip2" for level in range(1, 10) for start in (b"1AY&SY", b"\x17rE8P\x90")},
}

# Formats given by mistake; typed bytes that start so would have a first value of 1 GB or more, or none.
FOREIGN = {
    b"PAR1": "parquet", b"ARROW": "arrow-file", b"\xff\xff\xff\xff": "arrow", b"Obj\x01": "avro", b"ORC": "orc", b"RCF": "rcfile", b"PK\x03\x04": "zip",
    b"\x7fELF": "program",
}  # fmt: skip
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}

_NAMES = {SEQUENCE_FILE: "sequencefile", BLOCK_MESSAGE: "block", **FOREIGN}


def compression_of(head):
    r"""Return the name of the compression of a file that starts with these bytes, or None.

    >>> compression_of(b"\x1f\x8b\x08"), compression_of(b"text")
    ('gzip', None)
    """
    return _marked(head, COMPRESSIONS)


def name_of(head):
    r"""Return the name of the format of a file that starts with these bytes, compressed or not, or None.

    >>> name_of(b"PAR1\x15"), name_of(b"text")
    ('parquet', None)
    """
    return _marked(head, COMPRESSIONS) or _marked(head, _NAMES)


def is_sequence_file(head):
    r"""Return whether a file that starts with these bytes is a SequenceFile.

    >>> is_sequence_file(b"SEQ\x06"), is_sequence_file(b"SEQUENCE")
    (True, False)
    """
    return head.startswith(SEQUENCE_FILE) and head[3:4] < b" "  # a version


_DESCRIPTIONS = {
    "sequencefile": "a SequenceFile, which typedbytes.sequencefile reads", "block": "a block message, which typedbytes.block reads",
    "parquet": "a Parquet file, not typed bytes", "arrow-file": "an Arrow file, not typed bytes", "avro": "an Avro file, not typed bytes",
    "orc": "an ORC file, not typed bytes", "rcfile": "an RCFile, not typed bytes", "zip": "a ZIP archive, not typed bytes",
    "program": "a program, not typed bytes",
}  # fmt: skip
_TEXT = frozenset((*b"\t\n\r", *range(0x20, 0x7F), *range(0x80, 0x100)))
_MIN_TEXT_NBYTES = 5  # a type code and a length of printable characters: 150 MB or more


def described(head):
    r"""Return what a message says of input that is not typed bytes and starts with these, or None if the format is not known.

    >>> described(b"SEQ\x06"), described(b"\x1f\x8b\x08")
    ('a SequenceFile, which typedbytes.sequencefile reads', 'gzip data, to be decompressed first, as a Reader of a path does')
    """
    compression = compression_of(head)
    if compression:
        return f"{compression} data, to be decompressed first, as a Reader of a path does"
    encoding = _marked(head, BYTE_ORDER_MARKS)
    if encoding:
        return f"text in {encoding}, not typed bytes"
    if _is_text(head):
        return "JSON, not typed bytes" if head.lstrip()[:1] in (b"{", b"[") else "text, not typed bytes"
    return _DESCRIPTIONS.get(_marked(head, _NAMES))


def _is_text(head):
    if not _TEXT.issuperset(head) or head[:1] in (b"", b"\t", b"\n") or head[0] >= 0x7F:  # TAB and LF are the codes of LIST and MAP
        return False
    return len(head) >= _MIN_TEXT_NBYTES or (len(head) > 2 and head.endswith(b"\n"))


def _marked(head, marks):
    return next((name for mark, name in marks.items() if head.startswith(mark)), None)
