# Sort keys: values as LISTs of LONGs whose encoded bytes, which Hadoop compares, have the order of the values.
#
# Here: the bytes that sort, and the LONGs that hold them. Not here: streams, files, jobs.
# Invariant: no sort key's bytes are the beginning of another's, so that the MARKER at the end
# of a LIST decides nothing.
#
# The plan. BYTES and STRINGs sort by their length first, VECTORs and MAPs by their count, numbers by sign bits. A
# LIST has neither: its bytes are a type code, the items, a MARKER. LONGs are the densest items of fixed length, eight
# bytes after a type code that is always the same, so a LIST of LONGs sorts as the bytes inside them. The first of
# each eight is 1: no such LONG fits an INT, so any library that reads a key and writes it again writes the same
# bytes. The other seven are the key's. Rejected: LISTs of BYTEs, twice the bytes; BYTES of one length for all keys,
# which users would have to guarantee.

from cpython.bytes cimport PyBytes_FromObject
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_FromLongLong
from cpython.object cimport PyObject_RichCompare
from cpython.ref cimport Py_INCREF
from libc.math cimport INFINITY, floor, nextafter
from libc.string cimport memcpy, memset

from typedbytes._core cimport WriteBuffer, drop, finish, reserve, start_scratch, written
from typedbytes.core.byteorder cimport load_f64, load_i64, store_f64, store_i64
from typedbytes.core.cpython cimport reraise_memory_error
from typedbytes.core.refs cimport PyLong_AsLongLongAndOverflow, PyLong_AsUnsignedLongLong
from typedbytes.core.sort_key cimport (
    KEY_BINARY, KEY_BOOLEAN, KEY_END, KEY_FLOATING, KEY_INTEGER, KEY_MASK, KEY_NAN_BITS, KEY_NEGATIVE_ZERO,
    KEY_NONE_FIRST, KEY_NONE_LAST, KEY_NUMBER, KEY_NUMBER_NBYTES, KEY_TEXT, KEY_TUPLE, LONG_PAYLOAD, double_below,
    store_key_bytes, store_key_number,
)

from typedbytes._types import Ext, Writable
from typedbytes.errors import EncodeTypeError, EncodeValueError, FormatError, LimitError

cdef enum:
    MAX_DEPTH = 256
    SCRATCH = 192


cdef class Descending:
    "Descending(value)\n--\n\n" \
        """Reverse the order of a part of a sort key, and of the value in it for Python's own sorting.

    Raises TypeError for the Descending of a Descending, which would be the value itself.

    >>> from typedbytes.sortkey import Descending
    >>> sorted([(1, Descending(5)), (1, Descending(7))])
    [(1, Descending(7)), (1, Descending(5))]
    """

    cdef readonly object value

    def __init__(self, value):
        if isinstance(value, Descending):
            raise TypeError("a Descending holds a value, not another Descending")
        self.value = value

    def __richcmp__(self, other, int op):
        if not isinstance(other, Descending):
            return NotImplemented
        return PyObject_RichCompare((<Descending>other).value, (<Descending>self).value, op)

    def __hash__(self):
        return hash((Descending, self.value))

    def __repr__(self):
        return f"Descending({self.value!r})"


# -- encode -------------------------------------------------------------------------------------------------

cdef struct Key:
    WriteBuffer order                  # what sorts
    WriteBuffer kinds                  # a byte for each number, in their order
    unsigned char mask                 # 0, or 0xff inside a descending part
    unsigned char none                 # KEY_NONE_FIRST, KEY_NONE_LAST; KEY_END: refused
    int depth
    Py_ssize_t path[MAX_DEPTH]         # the index that leads on in each open TUPLE


def encode(value, *, none="error"):
    """Return a value's sort key: a list of ints that is written as a LIST of LONGs.

    `value` is an int from -2^63 to 2^64-1, a float, a bool, a str, a bytes-like object, None, a tuple of such
    values or a Descending of one. Hadoop's order of the keys is Python's order of the values, in which ints, floats
    and bools are compared as numbers; NaN comes after all of them. Where Python has no order, None comes before
    numbers (none="first"), after tuples (none="last") or is refused (none="error"), and numbers before bytes before
    texts before tuples. Values that are equal but of different types, like 1 and 1.0, have neighbouring keys.
    Raises EncodeTypeError for what cannot be part of a key, EncodeValueError for ints beyond 64 bits and tuples
    nested more than 256 deep.

    >>> from typedbytes import dumps
    >>> from typedbytes.sortkey import Descending, decode, encode
    >>> values = ["oslo", "", "rome", "os"]
    >>> sorted(values, key=lambda value: dumps(encode(value)))
    ['', 'os', 'oslo', 'rome']
    >>> decode(encode((1901, Descending(31.5))))
    (1901, 31.5)
    """
    cdef unsigned char order[SCRATCH]
    cdef unsigned char kinds[SCRATCH]
    cdef Key key
    if none not in ("error", "first", "last"):
        raise ValueError(f"none must be 'error', 'first' or 'last', not {none!r}")
    key.none = KEY_NONE_FIRST if none == "first" else KEY_NONE_LAST if none == "last" else KEY_END
    key.mask = key.depth = 0
    start_scratch(&key.order, order, SCRATCH)
    start_scratch(&key.kinds, kinds, SCRATCH)
    try:
        append_part(&key, value)
        append_kinds(&key)
        return pack_longs(key.order.start, written(&key.order))
    finally:
        drop(&key.order)
        drop(&key.kinds)


cdef int append_part(Key* key, object value) except -1:
    if isinstance(value, float):
        return append_float(key, value)
    if isinstance(value, bool):
        return append_number(key, 1.0 if value else 0.0, 0, KEY_BOOLEAN)
    if isinstance(value, int):
        return append_int(key, value)
    if isinstance(value, str):
        return append_bytes(key, KEY_TEXT, (<str>value).encode("utf-8", "surrogatepass"))
    if isinstance(value, tuple) and not isinstance(value, (Ext, Writable)):
        return append_tuple(key, value)
    if isinstance(value, Descending):
        key.mask ^= KEY_MASK
        append_part(key, (<Descending>value).value)
        key.mask ^= KEY_MASK
        return 0
    if value is None and key.none != KEY_END:
        return append_byte(key, key.none)
    return append_other(key, value)


cdef int append_other(Key* key, object value) except -1:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return append_bytes(key, KEY_BINARY, PyBytes_FromObject(value))    # its memory: bytes() would ask a subclass
    if value is not None and hasattr(type(value), "__index__"):
        return append_int(key, value.__index__())
    raise EncodeTypeError(f"a sort key cannot hold an object of type {type(value).__name__}", path_of(key))


cdef str path_of(Key* key):
    cdef str path = ""
    for i in range(key.depth):
        path += f"[{key.path[i]}]"
    return path


cdef inline int append_byte(Key* key, unsigned char byte) except -1:
    reserve(&key.order, 1)
    key.order.cursor[0] = byte ^ key.mask
    key.order.cursor += 1
    return 0


cdef int append_tuple(Key* key, object value) except -1:
    cdef tuple items = <tuple>value    # of a subclass too, such as a named tuple: the items that it stores
    cdef Py_ssize_t i
    if key.depth == MAX_DEPTH:
        raise EncodeValueError(f"tuples in a sort key nest deeper than {MAX_DEPTH}", path_of(key))
    append_byte(key, KEY_TUPLE)
    key.depth += 1
    for i in range(len(items)):
        key.path[key.depth - 1] = i
        append_part(key, items[i])
    key.depth -= 1
    return append_byte(key, KEY_END)


cdef int append_bytes(Key* key, unsigned char tag, bytes data) except -1:
    cdef const unsigned char* p = data
    reserve(&key.order, 2 * len(data) + 3)
    key.order.cursor = store_key_bytes(key.order.cursor, tag, p, p + len(data), key.mask)
    return 0


cdef int append_float(Key* key, double number) except -1:
    cdef unsigned char zero[8]
    if number == 0.0:
        store_f64(zero, number)
        return append_number(key, 0.0, 0, KEY_NEGATIVE_ZERO if zero[0] else KEY_FLOATING)
    return append_number(key, number, 0, KEY_FLOATING)


cdef int append_int(Key* key, object number) except -1:
    cdef int overflow
    cdef long long n = PyLong_AsLongLongAndOverflow(number, &overflow)
    cdef unsigned long long u
    cdef double below
    if overflow == 0:
        below = double_below(n)
        return append_number(key, below, <int>(n - <long long>below), KEY_INTEGER)
    if overflow < 0 or int.__rshift__(number, 64):
        raise EncodeValueError("an int in a sort key is at least -2^63 and less than 2^64", path_of(key))
    u = PyLong_AsUnsignedLongLong(number)
    below = <double>u
    if below >= 2.0 ** 64 or <unsigned long long>below > u:
        below = nextafter(below, -INFINITY)
    return append_number(key, below, <int>(u - <unsigned long long>below), KEY_INTEGER)


cdef int append_number(Key* key, double below, int above, unsigned char kind) except -1:
    reserve(&key.order, KEY_NUMBER_NBYTES)
    key.order.cursor = store_key_number(key.order.cursor, below, above, key.mask)
    reserve(&key.kinds, 1)
    key.kinds.cursor[0] = kind
    key.kinds.cursor += 1
    return 0


cdef int append_kinds(Key* key) except -1:
    cdef Py_ssize_t n = written(&key.kinds)
    reserve(&key.order, n)
    memcpy(key.order.cursor, key.kinds.start, n)
    key.order.cursor += n
    return 0


cdef list pack_longs(const unsigned char* p, Py_ssize_t nbytes):
    cdef Py_ssize_t nlongs = (nbytes + LONG_PAYLOAD - 1) // LONG_PAYLOAD
    cdef list longs = PyList_New(nlongs)
    cdef unsigned char eight[8]
    cdef Py_ssize_t i
    for i in range(nlongs):
        memset(eight, 0, 8)
        eight[0] = 1
        memcpy(eight + 1, p + LONG_PAYLOAD * i, min(LONG_PAYLOAD, nbytes - LONG_PAYLOAD * i))
        item = PyLong_FromLongLong(load_i64(eight))
        Py_INCREF(item)
        PyList_SET_ITEM(longs, i, item)
    return longs


# -- decode -------------------------------------------------------------------------------------------------

cdef struct Parts:
    const unsigned char* start
    const unsigned char* p             # the next part
    const unsigned char* end
    const unsigned char* kind          # of the next number; NULL in the first pass
    int depth


def decode(key):
    """Return the value that a sort key was made of: bytes-like parts as bytes, descending ones as they are.

    `key` is a list or tuple of ints. Raises TypeError for another object, FormatError for what is not a sort key and
    LimitError for tuples nested more than 256 deep.

    >>> from typedbytes.sortkey import decode, encode
    >>> decode(encode(("a", 1, 1.0, True)))
    ('a', 1, 1.0, True)
    """
    cdef Parts parts
    cdef Py_ssize_t nnumbers
    if not isinstance(key, (list, tuple)):
        raise TypeError(f"a sort key is a list of ints, not {type(key).__name__}")
    data = unpack_longs(key)
    parts.start = parts.p = data
    parts.end = parts.start + len(data)
    parts.kind = NULL
    parts.depth = 0
    nnumbers = parse_part(&parts, 0)    # first pass: count the numbers, because their kinds follow the last part
    kinds = parts.p
    read_bytes(&parts, nnumbers)
    check_padding(&parts)
    parts.p, parts.kind = parts.start, kinds
    return parse_part(&parts, 0)


cdef bytes unpack_longs(object key):
    # Memory grows with the items that come: a subclass's own methods decide how many that is, not its len().
    cdef unsigned char scratch[SCRATCH]
    cdef WriteBuffer data
    start_scratch(&data, scratch, SCRATCH)
    try:
        for item in key:
            append_long(&data, item)
        return finish(&data)
    finally:
        drop(&data)


cdef int append_long(WriteBuffer* data, object item) except -1:
    # The number is read as the interpreter stores it, so an int of a subclass runs no code.
    cdef unsigned char eight[8]
    cdef int overflow
    cdef long long number = PyLong_AsLongLongAndOverflow(item, &overflow) if isinstance(item, int) else 0
    if number >> 8 * LONG_PAYLOAD != 1:
        raise FormatError(f"a sort key is a list of ints from 2^56 to 2^57-1, not {item!r:.40}")
    store_i64(eight, number)
    reserve(data, LONG_PAYLOAD)
    memcpy(data.cursor, eight + 1, LONG_PAYLOAD)
    data.cursor += LONG_PAYLOAD
    return 0


cdef int check_padding(Parts* parts) except -1:
    cdef const unsigned char* p = parts.p
    while p < parts.end and p[0] == 0:
        p += 1
    if p < parts.end or parts.end - parts.p >= LONG_PAYLOAD:
        raise not_a_key(parts, "there is more than a value")
    return 0


cdef object not_a_key(Parts* parts, str what):
    return FormatError(f"not a sort key: {what}", parts.p - parts.start)


cdef const unsigned char* read_bytes(Parts* parts, Py_ssize_t nbytes) except NULL:
    cdef const unsigned char* p = parts.p
    if parts.end - p < nbytes:
        raise not_a_key(parts, "it ends inside a part")
    parts.p += nbytes
    return p


cdef object parse_part(Parts* parts, unsigned char mask):
    # The value; in the first pass, the number of numbers in it.
    cdef unsigned char tag = read_bytes(parts, 1)[0] ^ mask
    if tag & 0x80:
        mask ^= KEY_MASK
        tag ^= KEY_MASK
    if tag == KEY_NUMBER:
        return parse_number(parts, mask)
    if tag == KEY_TEXT or tag == KEY_BINARY:
        return parse_bytes(parts, mask, tag == KEY_TEXT)
    if tag == KEY_TUPLE:
        return parse_tuple(parts, mask)
    if tag == KEY_NONE_FIRST or tag == KEY_NONE_LAST:
        return 0 if parts.kind == NULL else None
    parts.p -= 1
    raise not_a_key(parts, f"no part begins with {tag}")


cdef object parse_tuple(Parts* parts, unsigned char mask):
    cdef list items = []
    if parts.depth == MAX_DEPTH:
        raise LimitError(f"tuples in a sort key nest deeper than {MAX_DEPTH}", parts.p - parts.start)
    parts.depth += 1
    while read_bytes(parts, 1)[0] != KEY_END ^ mask:
        parts.p -= 1
        items.append(parse_part(parts, mask))
    parts.depth -= 1
    return sum(items) if parts.kind == NULL else tuple(items)


cdef object parse_bytes(Parts* parts, unsigned char mask, bint is_text):
    cdef bytearray data = bytearray()
    cdef const unsigned char* run = parts.p    # bytes without an escape
    cdef unsigned char escaped = 0xff
    while escaped:
        while read_bytes(parts, 1)[0] ^ mask:
            pass
        append_run(data, run, parts.p, mask)
        escaped = read_bytes(parts, 1)[0] ^ mask
        if escaped != 0 and escaped != 0xff:
            raise not_a_key(parts, "a 0 is followed by neither 0 nor 255")
        run = parts.p
    if parts.kind == NULL:
        return 0
    data.pop()
    return text_of(parts, data) if is_text else bytes(data)


cdef int append_run(bytearray data, const unsigned char* start, const unsigned char* end, unsigned char mask) except -1:
    cdef Py_ssize_t n = len(data)
    cdef Py_ssize_t i
    cdef unsigned char* p
    data.extend(start[: end - start])
    p = data
    for i in range(end - start):
        p[n + i] ^= mask
    return 0


cdef object text_of(Parts* parts, bytearray data):
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        reraise_memory_error(error)
        raise not_a_key(parts, f"a text is not UTF-8: {error.reason}") from None


cdef object parse_number(Parts* parts, unsigned char mask):
    cdef const unsigned char* p = read_bytes(parts, 10)
    cdef unsigned char number[10]
    cdef unsigned char inverted, kind
    cdef int i, above
    cdef double below
    if parts.kind == NULL:
        return 1
    for i in range(10):
        number[i] = p[i] ^ mask
    inverted = 0 if number[0] & 0x80 else KEY_MASK
    number[0] ^= 0x80 ^ (inverted & 0x80)
    for i in range(8):
        number[i] ^= inverted
    below = load_f64(number)
    above = number[8] << 8 | number[9]
    kind = parts.kind[0]
    parts.kind += 1
    if (below == 0.0 and number[0] != 0) or (below != below and load_i64(number) != KEY_NAN_BITS):
        raise not_a_key(parts, "a zero or NaN that no key has")
    if kind == KEY_INTEGER and -2.0 ** 63 <= below < 2.0 ** 64 and below == floor(below) \
            and above < nextafter(below, INFINITY) - below:
        return int(below) + above
    if above == 0:
        if kind == KEY_FLOATING:
            return below
        if kind == KEY_BOOLEAN and (below == 0.0 or below == 1.0):
            return below == 1.0
        if kind == KEY_NEGATIVE_ZERO and below == 0.0:
            return -0.0
    raise not_a_key(parts, "the kind byte does not fit the number")
