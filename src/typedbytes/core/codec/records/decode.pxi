# Values that have to be of a type. What a type is usually written as is decoded inline, by its type code; everything
# else (other forms, None, what is not in the buffer yet, errors) out of line.


cdef PyObject* decode_typed(Decoding* d, const TypeNode* node) except NULL:
    return decode_typed_inline(d, node)


cdef inline PyObject* decode_field_string(Decoding* d, int* balance, const unsigned char* p,
                                          Py_ssize_t nbytes) except NULL:
    # As decode_short_string(), with a balance for each field: the words of one repeat,
    # and the names of another never do.
    cdef short_words words
    cdef CachedString* slot
    cdef PyObject* text
    if NO_GIL:
        return decode_short_string(d, p, nbytes)
    if nbytes > CACHED_LENGTH or not d.use_string_cache or not should_look_up(balance):
        return decode_string(d, p, nbytes)
    words = load_short(p, nbytes)
    slot = cache_slot(&words, nbytes)
    text = find_cached(slot, &words, nbytes)
    if text == NULL:
        balance[0] -= 1
        return decode_and_cache(d, slot, &words, p, nbytes)
    balance[0] += balance[0] < MAX_BALANCE
    incref(text)
    return text


cdef inline PyObject* decode_typed_inline(Decoding* d, const TypeNode* node) except NULL:
    cdef const unsigned char* p = d.buf.cursor
    cdef Py_ssize_t left = d.buf.end - p
    cdef Py_ssize_t length
    cdef TypeKind kind = node.kind
    if likely(left >= 5):
        if kind == INT_TYPE:
            if p[0] == INT and likely(node.cls == NULL):
                d.buf.cursor = p + 5
                return int_object(load_i32(p + 1))
            if p[0] == LONG and likely(left >= 9 and node.cls == NULL):
                d.buf.cursor = p + 9
                return int_object(load_i64(p + 1))
        elif kind == STR_TYPE:
            if likely(p[0] == STRING):
                length = load_length(p + 1)
                if likely(0 <= length <= left - 5):
                    d.buf.cursor = p + 5 + length
                    return decode_field_string(d, &(<TypeNode*>node).balance, p + 5, length)
        elif kind == FLOAT_TYPE:
            if likely(p[0] == DOUBLE and left >= 9 and node.cls == NULL):
                d.buf.cursor = p + 9
                return float_from_f64(load_f64(p + 1))
        elif kind == BOOL_TYPE:
            if likely(p[0] == BOOL):
                d.buf.cursor = p + 2
                return decode_bool(p + 1)
        elif kind == RECORD_TYPE:
            length = load_length(p + 1)
            if p[0] == MAP and likely(length >= 0):
                return decode_map_record(d, node.record, length)
            if p[0] == VECTOR and likely(length >= 0 and node.record.make != MAKE_TYPEDDICT):
                return decode_vector_record(d, node.record, length)
        elif kind == LIST_TYPE:
            if likely(p[0] == LIST):
                return decode_typed_list(d, node)
        elif kind == ANY_TYPE:
            return decode_value(d)
        else:
            return decode_converted(d, node, p, left)
    return decode_unusual(d, node)


cdef PyObject* decode_converted(Decoding* d, const TypeNode* node, const unsigned char* p, Py_ssize_t left) except NULL:
    # The types that have no code of their own, in the form that they are written in; and the rarer containers.
    cdef TypeKind kind = node.kind
    cdef Py_ssize_t length = load_length(p + 1)
    cdef PyObject* value = NULL
    if kind == DATETIME_TYPE_KIND:
        if p[0] == LONG and left >= 9:
            value = datetime_from_number(node, load_i64(p + 1))
            length = 4
    elif kind == DATE_TYPE_KIND:
        if p[0] == INT:
            value = date_from_days(length)
            length = 0
    elif kind == DECIMAL_TYPE_KIND:
        if p[0] == STRING and 0 <= length <= left - 5:
            value = decimal_from_ascii(p + 5, length)
    elif kind == UUID_TYPE_KIND:
        if p[0] == BYTES and length == 16 and left >= 21:
            value = uuid_from_bytes(p + 5)
    elif kind == ENUM_TYPE or kind == LITERAL_TYPE:
        if p[0] == INT:
            value = value_of_number(node.table, length)
            length = 0
        elif p[0] == STRING and 0 <= length <= left - 5:
            value = value_of_text(node.table, p, 5 + length)
    elif kind == BYTES_TYPE:
        if p[0] == BYTES and 0 <= length <= left - 5:
            value = decode_bytes(p + 5, length)
    elif kind == TUPLE_TYPE or kind == VARIADIC_TUPLE_TYPE:
        if p[0] == VECTOR and length >= 0:
            return decode_counted(d, node, length)
    elif kind == DICT_TYPE:
        if p[0] == MAP and length >= 0:
            return decode_typed_dict(d, node, length)
    elif kind == UNION_TYPE:
        return decode_union(d, node)
    elif (kind == SET_TYPE or kind == FROZENSET_TYPE) and p[0] == LIST:
        return decode_typed_list(d, node)
    elif kind == DELTA_TYPE_KIND or kind == TIME_TYPE_KIND:
        if p[0] == LONG and left >= 9:
            value = delta_from_number(node, load_i64(p + 1)) if kind == DELTA_TYPE_KIND \
                else time_from_number(node, load_i64(p + 1))
            length = 4
    if likely(value != NULL):
        return consume(d, 5 + length, value)
    return decode_unusual(d, node)


cdef PyObject* decode_unusual(Decoding* d, const TypeNode* node) except NULL:
    # Everything else: what is not in the buffer as a whole, None, the other forms of a type, what does not fit.
    cdef int code
    cdef PyObject* value
    require(d, 1, -1)
    code = d.buf.cursor[0]
    if node.kind == ANY_TYPE:
        return decode_value(d)
    if (node.allows_none or node.kind == NONE_TYPE) and try_none(d, code, node):
        return decode_null()
    if node.kind == UNION_TYPE:
        return decode_union(d, node)
    if code == PICKLE or code == WRITABLE or code == NDARRAY \
            or (FIRST_APPLICATION <= code <= LAST_APPLICATION and code != BYTESTRING):
        return decode_application_value(d, node, code)
    if node.kind == RECORD_TYPE:
        return decode_unusual_record(d, node, code)
    if LIST_TYPE <= node.kind <= FROZENSET_TYPE:
        return decode_unusual_container(d, node, code)
    if node.kind == ENUM_TYPE or node.kind == LITERAL_TYPE:
        return decode_table_value(d, node, code)
    value = decode_scalar_form(d, node, code)
    if value != NULL:
        return value
    return raise_misfit(d, node)


cdef bint try_none(Decoding* d, int code, const TypeNode* node) except -1:
    # Whether None is there; it is consumed.
    cdef Py_ssize_t length
    if code == PICKLE:
        if d.pickle == RAW:
            return False
        require(d, 5, code)
        length = load_length(d.buf.cursor + 1)
        if not 4 <= length <= 9:
            return False
        require(d, 5 + length, code)
        if not is_pickled_none(d.buf.cursor) and not (
                length == 4 and d.buf.cursor[5] == OP_PROTO and 2 <= d.buf.cursor[6] <= 5 and d.buf.cursor[7] == OP_NONE
                and d.buf.cursor[8] == OP_STOP):
            return False
        d.buf.cursor += 5 + length
        return True
    if code == NULL_CODE and d.hive:
        d.buf.cursor += 1
        return True
    if code == STRING and not d.types.is_strict and may_be_null(node):
        require(d, 5, code)
        if load_length(d.buf.cursor + 1) == 4:
            require(d, 9, code)
            if (<bytes>d.buf.cursor[5:9]).lower() == b"null":
                d.buf.cursor += 9
                return True
    return False


cdef bint may_be_null(const TypeNode* node) noexcept:
    # Whether the text "null" is None where types are not strict: not where text is a value of the type.
    if node.kind == UNION_TYPE:
        return not node.by_code[STRING] or node.items[node.by_code[STRING] - 1].kind != STR_TYPE
    return node.kind != STR_TYPE


cdef inline bint is_integer_code(const Decoding* d, int code) noexcept:
    return code == INT or code == LONG or code == BYTE or (code == SHORT and d.hive)


cdef int64_t take_integer(Decoding* d, int code) except? -1:
    cdef int64_t number
    require(d, 2 if code == BYTE else 5 if code == INT else 9 if code == LONG else 3, code)
    if code == BYTE:
        number = <signed char>d.buf.cursor[1]
        d.buf.cursor += 2
    elif code == INT:
        number = load_i32(d.buf.cursor + 1)
        d.buf.cursor += 5
    elif code == LONG:
        number = load_i64(d.buf.cursor + 1)
        d.buf.cursor += 9
    else:
        number = load_i16(d.buf.cursor + 1)
        d.buf.cursor += 3
    return number


cdef double take_double(Decoding* d, int code) except? -1.0:
    cdef double number
    require(d, 5 if code == FLOAT else 9, code)
    number = load_f32(d.buf.cursor + 1) if code == FLOAT else load_f64(d.buf.cursor + 1)
    d.buf.cursor += 5 if code == FLOAT else 9
    return number


cdef Py_ssize_t require_payload(Decoding* d, int code) except -1:
    # The length of a STRING or BYTES, all of which is in the buffer now; the cursor stays at its type code.
    cdef Py_ssize_t length
    require(d, 5, code)
    length = load_length(d.buf.cursor + 1)
    if length < 0:
        raise_negative(d, length, code)
    require(d, 5 + min(length, PY_SSIZE_T_MAX - 5), code)
    return length


cdef PyObject* decode_scalar_form(Decoding* d, const TypeNode* node, int code) except? NULL:
    # A scalar in any of the forms of its type; NULL without an exception:
    # it has none of them, and the cursor is at its type code.
    cdef const unsigned char* start
    cdef TypeKind kind = node.kind
    cdef PyObject* value = NULL
    if kind == STR_TYPE:
        if code == STRING:
            return decode_other(d)
        return NULL
    if kind == BYTES_TYPE or kind == BYTEARRAY_TYPE or kind == MEMORYVIEW_TYPE:
        if code == BYTES or code == BYTESTRING:
            return decode_bytes_form(d, kind, code)
        return NULL
    if kind == NDARRAY_TYPE or kind == NONE_TYPE:
        return NULL
    if kind == BOOL_TYPE:
        if code == BOOL:
            return decode_other(d)
        return NULL if d.types.is_strict else decode_lax_bool(d, code)
    if is_integer_code(d, code) and (kind <= FLOAT_TYPE or DATETIME_TYPE_KIND <= kind <= DECIMAL_TYPE_KIND):
        offset = offset_of(&d.buf, d.buf.cursor)
        return value_of_integer(d, node, take_integer(d, code), offset, code)
    if code == DOUBLE or code == FLOAT:
        if kind == FLOAT_TYPE:
            return new_float(node, take_double(d, code))
        if kind == DECIMAL_TYPE_KIND:
            return decimal_from_double(take_double(d, code))
        if kind == INT_TYPE and not d.types.is_strict:
            return decode_whole_double(d, node, code)
        return NULL
    if code == BYTES and kind == UUID_TYPE_KIND:
        if require_payload(d, code) == 16:
            value = uuid_from_bytes(d.buf.cursor + 5)
            return consume(d, 21, value)
        return NULL
    if code == STRING:
        return decode_text_form(d, node)
    return NULL


cdef PyObject* decode_bytes_form(Decoding* d, TypeKind kind, int code) except NULL:
    cdef PyObject* made
    cdef Py_ssize_t length
    if code == BYTES and kind == BYTES_TYPE:
        return decode_other(d)    # it reads large ones straight into their object
    length = require_payload(d, code)
    made = decode_bytes(d.buf.cursor + 5, length)
    d.buf.cursor += 5 + length
    if kind == BYTES_TYPE:
        return made
    data = object_from_stolen(made)
    converted = bytearray(data) if kind == BYTEARRAY_TYPE else memoryview(data)
    Py_INCREF(converted)
    return <PyObject*>converted


cdef PyObject* new_float(const TypeNode* node, double number) except NULL:
    if node.cls == NULL:
        return PyFloat_FromDouble(number)
    made = (<object>node.cls)(number)
    Py_INCREF(made)
    return <PyObject*>made


cdef inline bint is_held_by_double(int64_t number) noexcept:
    # Whether a DOUBLE holds an integer as it is. The largest are rounded to 2**63, which is no int64.
    cdef double real = <double>number
    return real < 9223372036854775808.0 and <int64_t>real == number


cdef PyObject* value_of_integer(Decoding* d, const TypeNode* node, int64_t number, long long offset,
                                int code) except NULL:
    cdef TypeKind kind = node.kind
    cdef PyObject* value = NULL
    if kind == INT_TYPE:
        if node.cls == NULL:
            return int_object(number)
        value = int_of_class(node, number)
    elif kind == FLOAT_TYPE:
        if unlikely(not is_held_by_double(number)):
            return raise_misfit_at(d, node, f"{name_of(code)} {number}, which is not exactly a float", offset, code)
        return new_float(node, <double>number)
    elif kind == DATETIME_TYPE_KIND:
        value = datetime_from_number(node, number)
    elif kind == DATE_TYPE_KIND:
        value = date_from_days(number)
    elif kind == TIME_TYPE_KIND:
        value = time_from_number(node, number)
    elif kind == DELTA_TYPE_KIND:
        value = delta_from_number(node, number)
    else:
        return decimal_from_integer(number)
    if value == NULL:
        return raise_misfit_at(d, node, f"{name_of(code)} {number}, which is out of range", offset, code)
    return value


cdef PyObject* int_of_class(const TypeNode* node, int64_t number) except? NULL:
    # NULL without an exception: out of range.
    cdef type cls = <type>node.cls
    if node.width == BYTE and not -128 <= number <= 127:
        return NULL
    if node.width == INT and not INT32_MIN <= number <= INT32_MAX:
        return NULL
    return exact_int(cls, number)


# Records are governed by types: see decode_rest() and decode_pair().

cdef PyObject* decode_governed(Decoding* d, const TypeNode* node) except NULL:
    cdef PyObject* value
    if d.max_bytes > 0:
        hide_beyond_limit(d)
    value = decode_value(d) if node == NULL else decode_typed(d, node)
    end_record(d)
    return value


cdef int decode_governed_pair(Decoding* d, PyObject** key, PyObject** value) except -1:
    cdef const TypeNode* key_type = NULL if d.types == NULL else d.types.pair_key
    cdef const TypeNode* value_type = NULL if d.types == NULL else d.types.pair_value
    if d.max_bytes > 0:
        hide_beyond_limit(d)
    push(d, decode_key(d, False) if key_type == NULL else decode_typed(d, key_type))
    value[0] = decode_value(d) if value_type == NULL else decode_typed(d, value_type)
    d.nstack -= 1
    key[0] = d.stack[d.nstack]
    end_record(d)
    return 0
