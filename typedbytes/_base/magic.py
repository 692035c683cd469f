"""The first bytes of files of known formats.

Here: signatures, the names of the formats, what could be text or JSON, and the sentence that an error says about input
of another format. Not here: reading any of them, and raising the error.
"""

__all__ = [
    "BLOCK_MESSAGE", "BYTE_ORDER_MARKS", "COMPRESSIONS", "DECOMPRESS_FIRST", "FOREIGN", "OLD_RCFILE_KEY",
    "OTHER_COMPRESSIONS", "SEQUENCE_FILE", "SEQUENCE_FILE_NBYTES", "compression_of", "description_of", "format_of",
    "is_ambiguous", "is_json", "is_sequence_file", "is_text", "kind_of", "may_be_json", "may_be_text", "name_of",
    "not_a_sequence_file",
]  # fmt: skip

SEQUENCE_FILE = b"SEQ"
SEQUENCE_FILE_NBYTES = 4  # with the version: what is_sequence_file needs
BLOCK_MESSAGE = b"\xf5BB"

# Read as typed bytes these are invalid, or a value of an application code with a huge length: bzip2 1.5 GB, lzop
# 1.3 GB, Zstandard's skippable frame (which pzstd writes first) 700 MB.
COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x89LZO\0\r\n\x1a\n": "lzop",
    b"\x28\xb5\x2f\xfd": "zstd",
    **{bytes([first]) + b"\x2a\x4d\x18": "zstd" for first in range(0x50, 0x60)},
    **{b"BZh%d" % level + start: "bzip2" for level in range(1, 10) for start in (b"1AY&SY", b"\x17rE8P\x90")},
}

# Compressions that are not read here. The magic number of LZ4 frames starts like a LONG: the two bytes after it, the
# version and the size of blocks, leave one LONG in 2^33.
OTHER_COMPRESSIONS = {
    **{b"\x04\x22\x4d\x18" + bytes([flags, size]): "lz4"
       for flags in range(0x40, 0x80) if not flags & 2 for size in (0x40, 0x50, 0x60, 0x70)},
    b"\xff\x06\0\0sNaPpY": "snappy",
}  # fmt: skip

# An RCFile of Hive's first version has the version and the class names of a SequenceFile, and then records of its own.
OLD_RCFILE_KEY = "org.apache.hadoop.hive.ql.io.RCFile$KeyBuffer"

# Formats given by mistake. Read as typed bytes these are invalid, or a first value of 1 GB or more. A message of an
# Arrow stream has four bytes ff and then its length, a multiple of 8 in little-endian order.
FOREIGN = {
    **OTHER_COMPRESSIONS, SEQUENCE_FILE + b"\6" + bytes([len(OLD_RCFILE_KEY)]) + OLD_RCFILE_KEY.encode(): "rcfile",
    b"PAR1": "parquet", b"ARROW1\0\0": "arrow-file",
    **{b"\xff\xff\xff\xff" + bytes([low]): "arrow" for low in range(0, 256, 8)}, b"Obj\x01": "avro", b"ORC": "orc",
    b"RCF": "rcfile", b"PK\x03\x04": "zip", b"\x7fELF": "program",
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
    name = _name_by_signature(head, _FORMATS)
    if name is None and is_sequence_file(head):
        return "sequencefile"
    return None if name in _WORDS and _TEXT.issuperset(head[:_DECISIVE_NBYTES]) else name


def is_ambiguous(head):
    r"""Return whether these bytes may go on as text, or as the format whose signature is a word.

    >>> is_ambiguous(b"ORC\x8aF"), is_ambiguous(b"ORC\x8aF\0"), is_ambiguous(b"ORCHARDS")
    (True, False, False)
    """
    return len(head) < _DECISIVE_NBYTES and _name_by_signature(head, _FORMATS) in _WORDS and _TEXT.issuperset(head)


def is_sequence_file(head):
    r"""Return whether a file that starts with these bytes is a SequenceFile.

    >>> [is_sequence_file(head) for head in (b"SEQ\x06", b"SEQ", b"SEQUENCE", b"SEQ\tname")]
    [True, False, False, False]
    """
    return head.startswith(SEQUENCE_FILE) and not _TEXT.issuperset(head[3:4])  # a version


def is_text(head):
    r"""Return whether input that starts with these bytes, and is not typed bytes, is text.

    >>> is_text(b"one\n"), is_text(b"\tone"), is_text(b"one\0two")
    (True, False, False)
    """
    return may_be_text(head) and (len(head) >= _MIN_TEXT_NBYTES or (len(head) > 2 and head.endswith(b"\n")))


def may_be_text(head):
    """Return whether these bytes could be the first of text, in ASCII and not TAB, which is the code of LIST."""
    return _TEXT.issuperset(head) and head[:1] not in (b"", b"\t") and head[0] < 0x7F


_STARTS_OF_JSON = (*(bytes([each]) for each in b'{["-0123456789'), b"true", b"false", b"null")
_LONGEST_TOKEN = 6  # \uXXXX: what is cut inside a token is wrong where the token starts


def may_be_json(head):
    r"""Return whether text that starts with these bytes could be JSON.

    >>> may_be_json(b"[1]"), may_be_json(b" nul"), may_be_json(b"truck")
    (True, True, False)
    """
    start = head.lstrip()[:5]
    return start.startswith(_STARTS_OF_JSON) or any(start and each.startswith(start) for each in _STARTS_OF_JSON)


def is_json(head):
    r"""Return whether text that starts with these bytes is JSON.

    Its first line is then a value, arrays and objects, or the start of one that goes on.

    >>> is_json(b'{"a": 1}\n{'), is_json(b"[\n1"), is_json(b'{"a": "cut he'), is_json(b"[1] [2")
    (True, True, True, True)
    >>> is_json(b"[INFO] up\n"), is_json(b"1 2\n")
    (False, False)
    """
    if not may_be_json(head):
        return False
    import json

    line, newline, _ = head.lstrip().partition(b"\n")
    text = line.decode("utf-8", "replace").rstrip()
    decode, start, end = json.JSONDecoder().raw_decode, 0, 0
    try:
        while start < len(text):
            # numbers and words in a row are more likely text
            if end and not (text[end - 1] in "]}" and text[start] in "[{"):
                return False
            _, end = decode(text, start)
            start = end
            while text[start : start + 1].isspace():
                start += 1
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string"):
            return not newline  # no string has one
        return error.pos >= len(text) - (0 if newline else _LONGEST_TOKEN)
    except (ValueError, RecursionError):  # digits or brackets beyond a limit of Python's
        pass
    return True


_KINDS = {
    "sequencefile": "a SequenceFile", "block": "a block message", "parquet": "a Parquet file",
    "arrow-file": "an Arrow file", "arrow": "an Arrow stream", "avro": "an Avro file", "orc": "an ORC file",
    "rcfile": "an RCFile", "zip": "a ZIP archive", "program": "a program",
}  # fmt: skip
DECOMPRESS_FIRST = "to be decompressed first (typedbytes convert --to sequencefile FILE -o OUT does)"  # a SequenceFile
_OURS = {
    "sequencefile": "which typedbytes.sequencefile reads", "rcfile": "which typedbytes.columns reads",
    "block": "which typedbytes.block reads",
}  # fmt: skip


def kind_of(head):
    r"""Return what a message calls a file that starts with these bytes, or None if it is unknown.

    >>> kind_of(b"SEQ\x06"), kind_of(b"\x1f\x8b\x08"), kind_of(b"hello"), kind_of(b"\x02\x01")
    ('a SequenceFile', 'gzip data', 'text', None)
    """
    name = name_of(head)
    if name:
        return _KINDS.get(name) or f"{name} data"
    encoding = _name_by_signature(head, BYTE_ORDER_MARKS)
    if encoding:
        return f"text in {encoding}"
    if is_text(head):
        return "JSON" if head.lstrip()[:1] in (b"{", b"[") and is_json(head) else "text"
    return None


def description_of(head):
    r"""Return what a message says of input that is not typed bytes, by its first bytes; None if unknown.

    >>> description_of(b"SEQ\x06")
    'a SequenceFile, which typedbytes.sequencefile reads'
    >>> description_of(b"\x1f\x8b\x08")
    'gzip data, to be decompressed first, as a Reader of a path does'
    """
    kind, name = kind_of(head), name_of(head)
    if name in COMPRESSIONS.values():
        return f"{kind}, to be decompressed first, as a Reader of a path does"
    if name in OTHER_COMPRESSIONS.values():
        return f"{kind}, to be decompressed first"
    return kind and f"{kind}, {_OURS.get(name, 'not typed bytes')}"


def not_a_sequence_file(head):
    r"""Return what a message says of a file that should be a SequenceFile and starts with these bytes.

    >>> not_a_sequence_file(b"PAR1\x15\x04")
    'not a SequenceFile: the file does not start with SEQ and a version, and looks like a Parquet file'
    """
    kind = kind_of(head)
    cure = f", {DECOMPRESS_FIRST}" if compression_of(head) else ""
    return "not a SequenceFile: the file does not start with SEQ and a version" + (
        f", and looks like {kind}{cure}" if kind else ""
    )


def _name_by_signature(head, signatures):
    return next((name for signature, name in signatures.items() if head.startswith(signature)), None)
