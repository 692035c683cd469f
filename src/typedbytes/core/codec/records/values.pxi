# Decimals, UUIDs, Enums and Literals; values that code 100 or a hook has made;
# what is accepted where types are not strict.


cdef PyObject* decimal_from_ascii(const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    # NULL without an exception: decimal_of_text() is needed.
    return small_decimal(DECIMAL_TYPE, p, nbytes) if HAS_SMALL_DECIMALS else NULL


cdef PyObject* decimal_of_text(object decoded) except? NULL:
    # NULL without an exception: it is not a number.
    # Decimal() itself takes spaces, underscores and other digits besides.
    cdef str text = decoded
    if "_" in text or not text.isascii() or text != text.strip():
        return NULL
    try:
        value = decimal_from_text(text)
    except ArithmeticError as error:
        reraise_memory_error(error)
        return NULL
    Py_INCREF(value)
    return <PyObject*>value


cdef PyObject* decimal_from_integer(int64_t number) except NULL:
    value = Decimal(number)
    Py_INCREF(value)
    return <PyObject*>value


cdef PyObject* decimal_from_double(double number) except NULL:
    value = decimal_from_text(repr(number))
    Py_INCREF(value)
    return <PyObject*>value


cdef inline uint64_t load_u64_be(const unsigned char* p) noexcept:
    return <uint64_t>load_i64(p)


cdef PyObject* uuid_from_bytes(const unsigned char* p) except NULL:
    return uuid_from_words(load_u64_be(p), load_u64_be(p + 8))


cdef PyObject* uuid_from_words(uint64_t high, uint64_t low) except NULL:
    cdef PyObject* value = new_uuid()
    cdef PyObject* number = int_from_u128(high, low)
    if number == NULL:
        decref(value)
        raise_pending()
    try:
        finish_uuid(value, number, UNKNOWN_SAFETY)
    except:
        decref(value)
        raise
    return value


cdef int hex_value(unsigned char c) noexcept:
    if c'0' <= c <= c'9':
        return c - c'0'
    c |= 0x20
    return c - c'a' + 10 if c'a' <= c <= c'f' else -1


cdef PyObject* uuid_of_text(const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    # 32 hexadecimal digits, with hyphens at their places.
    cdef uint64_t words[2]
    cdef Py_ssize_t i
    cdef int n = 0, value
    words[0] = words[1] = 0
    if nbytes != 36:
        return NULL
    for i in range(nbytes):
        if i == 8 or i == 13 or i == 18 or i == 23:
            if p[i] != c'-':
                return NULL
            continue
        value = hex_value(p[i])
        if value < 0:
            return NULL
        words[n // 16] = words[n // 16] << 4 | <unsigned>value
        n += 1
    return uuid_from_words(words[0], words[1])


cdef inline PyObject* value_of_number(const ValueTable* table, int64_t number) noexcept:
    # A new reference; NULL: none.
    cdef PyObject* value
    if <uint64_t>number - <uint64_t>table.first_number >= <uint64_t>table.nnumbers:
        return NULL
    value = table.numbers[number - table.first_number]
    if value != NULL:
        incref(value)
    return value


cdef inline PyObject* value_of_text(const ValueTable* table, const unsigned char* p, Py_ssize_t nbytes) noexcept:
    # Of a STRING, from its type code on.
    cdef Py_ssize_t index = look_up_name(&table.texts, p, nbytes)
    if index < 0:
        return NULL
    incref(table.text_values[index])
    return table.text_values[index]


cdef PyObject* decode_table_value(Decoding* d, const TypeNode* node, int code) except NULL:
    # An Enum or Literal, in the general way: the value is decoded and looked up.
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef PyObject* made
    if not node.by_code[code] or (code in (SHORT, NULL_CODE) and not d.hive):
        return raise_misfit(d, node)
    value = object_from_stolen(decode_plain(d))
    made = look_up_value(d, node, value, offset, code)
    if made == NULL:
        return raise_misfit_at(d, node, shown_found(code, value), offset, code)
    return made


cdef PyObject* look_up_value(Decoding* d, const TypeNode* node, object value, long long offset, int code) except? NULL:
    # NULL without an exception: it is none of them.
    cdef dict others = <dict>node.table.others
    try:
        found = others.get((type(value), value), NOTHING)
    except TypeError:    # not hashable: it is none of them
        return NULL
    if found is NOTHING and node.kind == ENUM_TYPE and node.has_missing:
        for kind, _ in others:
            if kind is type(value):
                found = member_by_class(d, node, value, offset, code)
                break
    if found is NOTHING and node.kind == ENUM_TYPE and type(value) is str:
        found = (<dict>node.names).get(value, NOTHING)
    if found is NOTHING:
        return NULL
    Py_INCREF(found)
    return <PyObject*>found


cdef bint has_own_missing(object cls) except -1:
    from enum import Enum    # loaded by the class
    return cls._missing_.__func__ is not Enum._missing_.__func__


cdef object member_by_class(Decoding* d, const TypeNode* node, object value, long long offset, int code):
    # By the _missing_ of the user's.
    try:
        return (<object>node.cls)(value)
    except (TypeError, ValueError) as error:
        reraise_memory_error(error)
        if type(value) is str and value in <dict>node.names:
            return NOTHING
        raise_type_at(d, f"expected {<str>node.shown}, found {shown_found(code, value)}", offset, code, error)


# Values that are made without the type: of code 100, an array, or what a hook returns.

cdef PyObject* decode_application_value(Decoding* d, const TypeNode* node, int code) except NULL:
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef PyObject* made
    if (d.pickle == RAW or not may_be_pickled(d, node)) if code == PICKLE else \
            d.ext_hook == NULL and not (code == NDARRAY and may_be_array(node)):
        return raise_misfit(d, node)
    value = object_from_stolen(decode_plain(d))
    made = fitting(d, node, value, offset, code)
    if made == NULL:
        return raise_misfit_at(d, node, shown_found(code, value), offset, code)
    return made


cdef bint may_be_pickled(const Decoding* d, const TypeNode* node) noexcept:
    cdef Py_ssize_t i
    if node.kind == UNION_TYPE:
        for i in range(node.nitems):
            if may_be_pickled(d, node.items[i]):
                return True
    if node.kind == LITERAL_TYPE and not (node.by_code[INT] or node.by_code[BYTES] or node.by_code[NULL_CODE]):
        return d.pickle == TRUST
    return node.allows_none or d.pickle == TRUST or not (
        node.kind == STR_TYPE or node.kind == FLOAT_TYPE or node.kind == BOOL_TYPE
        or RECORD_TYPE <= node.kind <= DICT_TYPE or node.kind == NDARRAY_TYPE)


cdef bint may_be_array(const TypeNode* node) noexcept:
    cdef Py_ssize_t i
    if node.kind == UNION_TYPE:
        for i in range(node.nitems):
            if node.items[i].kind == NDARRAY_TYPE:
                return True
    return node.kind == NDARRAY_TYPE


cdef PyObject* fitting(Decoding* d, const TypeNode* node, object value, long long offset, int code) except? NULL:
    # The value as one of the type, a new reference; NULL without an exception: it does not fit.
    cdef TypeKind kind = node.kind
    cdef PyTypeObject* of = Py_TYPE(<PyObject*>value)
    cdef PyObject* made
    cdef Py_ssize_t i
    cdef bint fits = False
    if value is None and (node.allows_none or kind == NONE_TYPE):
        fits = True
    elif kind == UNION_TYPE:
        for i in range(node.nitems):
            made = fitting(d, node.items[i], value, offset, code)
            if made != NULL:
                return made
    elif kind == ANY_TYPE:
        fits = True
    elif kind == INT_TYPE:
        if of == &PyLong_Type and node.cls != NULL:
            return int_by_class(d, node, value, offset, code)
        fits = of == &PyLong_Type
    elif kind <= BOOL_TYPE and code == PICKLE and d.pickle != TRUST:
        return NULL    # they have type codes
    elif kind == FLOAT_TYPE:
        if of == &PyFloat_Type and node.cls != NULL:
            return new_float(node, value)
        fits = of == &PyFloat_Type
    elif kind == STR_TYPE:
        fits = of == &PyUnicode_Type
    elif kind == BOOL_TYPE:
        fits = of == &PyBool_Type
    elif kind == BYTES_TYPE:
        fits = of == &PyBytes_Type
    elif kind == BYTEARRAY_TYPE or kind == MEMORYVIEW_TYPE:
        if of == &PyBytes_Type:
            value = bytearray(value) if kind == BYTEARRAY_TYPE else memoryview(value)
            fits = True
    elif kind == DATETIME_TYPE_KIND:
        fits = of == DATETIME_TYPE and (value.utcoffset() is not None) == node.is_utc
    elif kind == TIME_TYPE_KIND:
        fits = of == TIME_TYPE and value.tzinfo is None
    elif kind == SET_TYPE or kind == FROZENSET_TYPE:
        return fitting_set(d, node, value, offset, code)
    elif kind == ENUM_TYPE or kind == LITERAL_TYPE:
        if kind == ENUM_TYPE and isinstance(value, <object>node.cls):
            fits = True
        else:
            return look_up_value(d, node, value, offset, code)
    elif kind == RECORD_TYPE:
        fits = isinstance(value, <object>node.record.cls) and node.record.make != MAKE_TYPEDDICT
    elif kind == NDARRAY_TYPE:
        fits = isinstance(value, loaded_type("numpy", "ndarray") or ())
    else:
        fits = (kind == DATE_TYPE_KIND and of == DATE_TYPE) or (kind == DELTA_TYPE_KIND and of == DELTA_TYPE) \
            or (kind == DECIMAL_TYPE_KIND and of == DECIMAL_TYPE) or (kind == UUID_TYPE_KIND and of == UUID_TYPE)
    if not fits:
        return NULL
    Py_INCREF(value)
    return <PyObject*>value


cdef PyObject* int_by_class(Decoding* d, const TypeNode* node, object number, long long offset, int code) except NULL:
    try:
        made = (<object>node.cls)(number)
    except (TypeError, ValueError) as error:
        reraise_memory_error(error)
        raise_type_at(d, f"expected {<str>node.shown}, found {shown_found(code, number)}, which is out of range",
                      offset, code, error)
    Py_INCREF(made)
    return <PyObject*>made


cdef PyObject* fitting_element(Decoding* d, const TypeNode* node, object item) except? NULL:
    # An element of a pickled set, as if it had been written by itself.
    cdef Decoding inner
    if node.kind == ANY_TYPE:
        Py_INCREF(item)
        return <PyObject*>item
    try:
        encoded = encoded_alone(item)
    except EncodeError as error:
        reraise_memory_error(error)
        return NULL
    memcpy(&inner, d, sizeof(Decoding))
    borrow(&inner.buf, <const unsigned char*>PyBytes_AS_STRING(encoded), PyBytes_GET_SIZE(encoded))
    inner.frame = NULL
    inner.stack = inner.initial_stack = NULL
    inner.nstack = inner.stack_capacity = inner.nhidden = inner.depth = inner.max_bytes = 0
    inner.paused = False
    inner.hive = False
    try:
        return decode_typed(&inner, node)
    except DecodeTypeError as error:
        reraise_memory_error(error)
        return NULL
    finally:
        abandon(&inner)


cdef PyObject* fitting_set(Decoding* d, const TypeNode* node, object value, long long offset, int code) except? NULL:
    cdef PyObject* made
    cdef list items = []
    if type(value) is not set and type(value) is not frozenset:
        return NULL
    for item in value:
        made = fitting_element(d, node.item, item)
        if made == NULL:
            return NULL
        items.append(object_from_stolen(made))
    found = set(items) if node.kind == SET_TYPE else frozenset(items)
    Py_INCREF(found)
    return <PyObject*>found


# STRING for types that have another form.

cdef PyObject* decode_text_form(Decoding* d, const TypeNode* node) except? NULL:
    # NULL without an exception: not such a text, and the cursor is at its type code.
    cdef Py_ssize_t length
    cdef const unsigned char* p
    cdef TypeKind kind = node.kind
    cdef PyObject* made = NULL
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    if not DATETIME_TYPE_KIND <= kind <= UUID_TYPE_KIND \
            and (d.types.is_strict or (kind != INT_TYPE and kind != FLOAT_TYPE)):
        return NULL
    length = require_payload(d, STRING)
    p = d.buf.cursor + 5
    if DATETIME_TYPE_KIND <= kind <= DELTA_TYPE_KIND:
        made = date_of_text(kind, node.is_utc, p, length)
    elif kind == UUID_TYPE_KIND:
        made = uuid_of_text(p, length)
    elif kind == DECIMAL_TYPE_KIND:
        made = decimal_from_ascii(p, length)
        if made == NULL:
            made = decimal_of_text(object_from_stolen(decode_string(d, p, length)))
    elif is_ascii(p, length) and length <= MAX_LAX_NBYTES:
        text = object_from_stolen(decode_ascii(p, length))
        made = number_of_text(d, node, text, offset)
    return NULL if made == NULL else consume(d, 5 + length, made)


# Where types are not strict.

cdef enum:
    MAX_LAX_NBYTES = 4300    # of the text of a number

cdef PyObject* number_of_text(Decoding* d, const TypeNode* node, object text, long long offset) except? NULL:
    cdef object number
    cdef PyObject* made
    try:
        if node.kind == INT_TYPE and "_" not in text and text.strip() == text:
            number = int(text)
        elif node.kind == FLOAT_TYPE and "_" not in text and text.strip() == text:
            number = float(text)
        else:
            return NULL
    except ValueError:
        return NULL
    return fitting(d, node, number, offset, STRING)


cdef PyObject* decode_lax_bool(Decoding* d, int code) except? NULL:
    cdef Py_ssize_t length
    cdef int64_t number
    cdef int truth = -1
    if is_integer_code(d, code):
        require(d, 2 if code == BYTE else 5 if code == INT else 9 if code == LONG else 3, code)
        start = d.buf.cursor
        number = take_integer(d, code)
        if number == 0 or number == 1:
            truth = number == 1
        else:
            d.buf.cursor = start
    elif code == STRING:
        length = require_payload(d, code)
        text = (<bytes>d.buf.cursor[5:5 + min(length, 5)]).lower() if length <= 5 else b""
        truth = {b"true": 1, b"1": 1, b"false": 0, b"0": 0}.get(text, -1)
        if truth >= 0:
            d.buf.cursor += 5 + length
    if truth < 0:
        return NULL
    incref(BOOLS[truth])
    return BOOLS[truth]


cdef PyObject* decode_whole_double(Decoding* d, const TypeNode* node, int code) except? NULL:
    # A DOUBLE or FLOAT without a fraction as an int.
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef double number
    require(d, 5 if code == FLOAT else 9, code)
    number = load_f32(d.buf.cursor + 1) if code == FLOAT else load_f64(d.buf.cursor + 1)
    found = number
    if not found.is_integer():
        return NULL
    d.buf.cursor += 5 if code == FLOAT else 9
    return fitting(d, node, int(found), offset, code)
