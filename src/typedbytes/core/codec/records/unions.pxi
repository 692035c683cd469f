# Unions: the type code decides which member a value is of; several tagged records are told apart by their tag.

cdef enum:
    BY_TAG = 255    # in a union's table of type codes


cdef tuple INTEGER_CODES = (INT, LONG, BYTE, SHORT)
cdef tuple ALL_CODES = tuple(range(256))
# Type codes that a type is written as, and those that it is read from besides.
cdef dict WRITTEN_CODES = {
    "any": ALL_CODES, "none": (NULL_CODE,), "bool": (BOOL,), "int": INTEGER_CODES, "float": (DOUBLE, FLOAT),
    "str": (STRING,), "bytes": (BYTES, BYTESTRING), "bytearray": (BYTES, BYTESTRING),
    "memoryview": (BYTES, BYTESTRING), "decimal": (STRING,), "ndarray": (NDARRAY,), "list": (LIST,), "set": (LIST,),
    "frozenset": (LIST,), "variadic_tuple": (VECTOR,), "tuple": (VECTOR,), "dict": (MAP,),
}
cdef dict READABLE_CODES = {
    "float": INTEGER_CODES, "decimal": INTEGER_CODES + (DOUBLE, FLOAT), "date": INTEGER_CODES + (STRING,),
    "datetime": INTEGER_CODES + (STRING,), "time": INTEGER_CODES + (STRING,), "timedelta": INTEGER_CODES + (STRING,),
    "uuid": (BYTES, STRING), "list": (VECTOR,), "set": (VECTOR,), "frozenset": (VECTOR,), "variadic_tuple": (LIST,),
    "tuple": (LIST,), "record": (MAP, VECTOR, LIST), "enum": (STRING,),
}
# Those of types that are not strict.
cdef dict LAX_CODES = {"bool": INTEGER_CODES + (STRING,), "int": (DOUBLE, FLOAT, STRING), "float": (STRING,)}
cdef dict CODES_OF_VALUES = {
    int: INTEGER_CODES, str: (STRING,), bool: (BOOL,), bytes: (BYTES, BYTESTRING), float: (DOUBLE, FLOAT),
    type(None): (NULL_CODE,),
}


def written_codes(node):
    """Return the type codes that values of a type are written as."""
    kind = node.kind
    if kind in WRITTEN_CODES:
        return WRITTEN_CODES[kind]
    if kind == "record":
        return (MAP,) if node.record.form == "MAP" else (VECTOR,)
    if kind == "uuid":
        return (STRING,) if node.text else (BYTES,)
    if kind == "literal":
        keys = list({i: getattr(value, "_value_", value) for i, value in enumerate(node.values)}.values())
    elif kind == "enum":
        keys = list(node.names if node.by_name else node.by_value)
    elif kind == "union":
        return tuple({code for member in node.members for code in written_codes(member)})
    else:
        return (STRING,) if node.text else INTEGER_CODES
    return tuple({code for key in keys for code in CODES_OF_VALUES.get(type(key), ())})


def readable_codes(node):
    """Return further type codes that values of a type are read from."""
    if node.kind == "record" and node.record.make == "typeddict":
        return ()
    if node.kind == "union":
        return tuple({code for member in node.members for code in readable_codes(member)})
    if node.kind == "enum" and node.by_name:
        return (STRING,) + tuple({code for key in node.by_value for code in CODES_OF_VALUES.get(type(key), ())})
    return READABLE_CODES.get(node.kind, ())


def codes_if_not_strict(node):
    """Return further type codes that values of a type are read from where types are not strict."""
    return LAX_CODES.get(node.kind, ())


cdef PyObject* decode_union(Decoding* d, const TypeNode* node) except NULL:
    cdef int code, member
    require(d, 1, -1)
    code = d.buf.cursor[0]
    if node.allows_none and try_none(d, code, node):
        return decode_null()
    member = node.by_code[code]
    if member == 0 and not d.types.is_strict:
        member = node.by_code[256 + code]
    if member == BY_TAG:
        member = member_by_tag(d, node, code)
    if member:
        return decode_typed(d, node.items[member - 1])
    if FIRST_APPLICATION <= code <= LAST_APPLICATION and code != BYTESTRING:
        return decode_application_value(d, node, code)
    return raise_misfit(d, node)


cdef int member_by_tag(Decoding* d, const TypeNode* node, int code) except 0:
    # 1 + the index of the record with the tag that is found ahead; the cursor stays.
    # What is read on the way is kept in the buffer.
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef bint is_marked = d.buf.mark != NULL
    if not is_marked:
        d.buf.mark = d.buf.cursor
    try:
        tag = find_tag(d, node, code)
        d.buf.cursor = d.buf.start + (offset - d.buf.start_offset)
    finally:
        if not is_marked:
            d.buf.mark = NULL
    if tag is NOTHING:
        raise_type_at(d, f"{<str>node.shown}: missing field {quoted(tag_name_of(node))}", offset, code, None)
    found = (<dict>node.table.others).get((type(tag), tag))
    if found is None:
        raise_misfit_at(d, node, f"{name_of(code)} with {tag_name_of(node)} {shown_value(tag)}", offset, code)
    return found


cdef str tag_name_of(const TypeNode* node):
    cdef Py_ssize_t i
    for i in range(node.nitems):
        if node.items[i].kind == RECORD_TYPE and node.items[i].record.tag_key != NULL:
            return <str>node.items[i].record.tag_name


cdef object find_tag(Decoding* d, const TypeNode* node, int code):
    # NOTHING: there is none.
    cdef PathFrame frame
    cdef Py_ssize_t count = 1
    cdef bint is_tag
    cdef bytes key = encoded_name(tag_name_of(node))
    if code != LIST:
        count = require_count(d, code)
    open_container(d, &frame, code)
    d.buf.cursor += 1 if code == LIST else 5
    tag = NOTHING
    if code != MAP:
        frame.role = MAPPED    # without a name: no path leads to a tag
        if count > 0 and not (code == LIST and at_marker(d)):
            require(d, 1, code)
            tag = scalar_ahead(d, d.buf.cursor[0])
    else:
        while tag is NOTHING and frame.index < count:
            frame.role = KEY
            require(d, 1, code)
            is_tag = False
            if d.buf.cursor[0] == STRING:
                require(d, 5, STRING)
                if load_length(d.buf.cursor + 1) == len(key) - 5:
                    require(d, len(key), STRING)
                    is_tag = memcmp(d.buf.cursor, PyBytes_AS_STRING(key), len(key)) == 0
            skip_quietly(d)
            frame.role = MAPPED
            require(d, 1, code)
            if is_tag:
                tag = scalar_ahead(d, d.buf.cursor[0])
            else:
                skip_quietly(d)
            frame.index += 1
            check_signals_at(frame.index)
    d.frame = frame.parent
    d.depth -= 1
    return tag


cdef object scalar_ahead(Decoding* d, int code):
    # A value that may be a tag, at its type code; () for a container.
    if BYTE <= code <= STRING or code == SHORT or SIZES[d.hive][code] in (UNKNOWN, IS_MARKER):
        return object_from_stolen(decode_plain(d))    # or FormatError
    return ()
