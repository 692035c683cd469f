"""The first bytes of files of known formats.

Here: signatures, the names of the formats, what could be text, and the sentence that an error says about input of another format.
Not here: reading any of them, and raising the error.
"""

__all__ = [
    "BLOCK_MESSAGE",
    "BYTE_ORDER_MARKS",
    "COMPRESSIONS",
    "FOREIGN",
    "SEQUENCE_FILE",
    "compression_of",
    "description_of",
    "format_of",
    "is_ambiguous",
    "is_sequence_file",
    "is_text",
    "may_be_text",
    "name_of",
]

SEQUENCE_FILE = b"SEQ"
BLOCK_MESSAGE = b"\xf5BB"

# Read as typed bytes these are invalid, or a value of an application code with a huge length: bzip2 1.5 GB, Zstandard's skippable
# frame (which pzstd writes first) 700 MB.
COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    **{bytes([first]) + b"\x2a\x4d\x18": "zstd" for first in range(0x50, 0x60)},
    **{b"BZh%d" % level + start: "bzip2" for level in range(1, 10) for start in (b"1AY&SY", b"\x17rE8P\x90")},
}

# Formats given by mistake. Read as typed bytes these are invalid, or a first value of 1 GB or more. A message of an Arrow stream has four
# bytes ff and then its length, a multiple of 8 in little-endian order.
FOREIGN = {
    b"PAR1": "parquet", b"ARROW1\0\0": "arrow-file", **{b"\xff\xff\xff\xff" + bytes([low]): "arrow" for low in range(0, 256, 8)},
    b"Obj\x01": "avro", b"ORC": "orc", b"RCF": "rcfile", b"PK\x03\x04": "zip", b"\x7fELF": "program",
}  # fmt: skip
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}

# The bytes that text in UTF-8, or in an encoding that extends ASCII, may have.
_TEXT = frozenset((*b"\t\n\r", *range(0x20, 0x7F), *range(0x80, 0x100)))
_MIN_TEXT_NBYTES = 5  # a type code and a length of printable characters: 150 MB or more

_FORMATS = {BLOCK_MESSAGE: "block", **FOREIGN}
_WORDS = {name for signature, name in FOREIGN.items() if signature.isalnum()}  # a text may start with them
_DECISIVE_NBYTES = 8  # of a file that starts with such a word: it is text if all of them could be


def compression_of(head):
    r"""Return the name of the compression of a file that starts with these bytes, or None.

    >>> compression_of(b"\x1f\x8b\x08"), compression_of(b"text")
    ('gzip', None)
    """
    return _name_by_signature(head, COMPRESSIONS)


def name_of(head):
    r"""Return the name of the format of a file that starts with these bytes, compressed or not, or None.

    >>> name_of(b"PAR1\x15"), name_of(b"text")
    ('parquet', None)
    """
    return compression_of(head) or format_of(head)


def format_of(head):
    r"""Return the name of the format of a file that starts with these bytes and is not compressed, or None.

    >>> format_of(b"ORC\x08\x03"), format_of(b"ORCAS")
    ('orc', None)
    """
    if is_sequence_file(head):
        return "sequencefile"
    name = _name_by_signature(head, _FORMATS)
    return None if name in _WORDS and _TEXT.issuperset(head[:_DECISIVE_NBYTES]) else name


def is_ambiguous(head):
    r"""Return whether these bytes are too few to distinguish text that starts with a word from the format whose signature the word is.

    >>> is_ambiguous(b"ORC\x8aF"), is_ambiguous(b"ORC\x8aF\0"), is_ambiguous(b"ORCHARDS")
    (True, False, False)
    """
    return len(head) < _DECISIVE_NBYTES and _name_by_signature(head, _FORMATS) in _WORDS and _TEXT.issuperset(head)


def is_sequence_file(head):
    r"""Return whether a file that starts with these bytes is a SequenceFile.

    >>> is_sequence_file(b"SEQ\x06"), is_sequence_file(b"SEQ"), is_sequence_file(b"SEQUENCE"), is_sequence_file(b"SEQ\tname")
    (True, False, False, False)
    """
    return head.startswith(SEQUENCE_FILE) and not _TEXT.issuperset(head[3:4])  # a version


def is_text(head):
    r"""Return whether input that starts with these bytes, and is not typed bytes, is text.

    >>> is_text(b"one\n"), is_text(b"\tone"), is_text(b"one\0two")
    (True, False, False)
    """
    return may_be_text(head) and (len(head) >= _MIN_TEXT_NBYTES or (len(head) > 2 and head.endswith(b"\n")))


def may_be_text(head):
    """Return whether these bytes could be the first of text; not those that start with TAB, the code of LIST, or beyond ASCII."""
    return _TEXT.issuperset(head) and head[:1] not in (b"", b"\t") and head[0] < 0x7F


_DESCRIPTIONS = {
    "sequencefile": "a SequenceFile, which typedbytes.sequencefile reads", "block": "a block message, which typedbytes.block reads",
    "parquet": "a Parquet file, not typed bytes", "arrow-file": "an Arrow file, not typed bytes", "arrow": "an Arrow stream, not typed bytes",
    "avro": "an Avro file, not typed bytes", "orc": "an ORC file, not typed bytes", "rcfile": "an RCFile, not typed bytes",
    "zip": "a ZIP archive, not typed bytes", "program": "a program, not typed bytes",
}  # fmt: skip


def description_of(head):
    r"""Return what a message says of input that is not typed bytes and starts with these, or None if the format is not known.

    >>> description_of(b"SEQ\x06"), description_of(b"\x1f\x8b\x08")
    ('a SequenceFile, which typedbytes.sequencefile reads', 'gzip data, to be decompressed first, as a Reader of a path does')
    """
    compression = compression_of(head)
    if compression:
        return f"{compression} data, to be decompressed first, as a Reader of a path does"
    encoding = _name_by_signature(head, BYTE_ORDER_MARKS)
    if encoding:
        return f"text in {encoding}, not typed bytes"
    if is_text(head):
        return "JSON, not typed bytes" if head.lstrip()[:1] in (b"{", b"[") else "text, not typed bytes"
    return _DESCRIPTIONS.get(format_of(head))


def _name_by_signature(head, signatures):
    return next((name for signature, name in signatures.items() if head.startswith(signature)), None)
