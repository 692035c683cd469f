# Objects that have to be of a type: each is checked, and written in the form that the type has.

# negative: an exception is set
ctypedef int (*typed_function)(Encoding* e, const TypeNode* node, PyObject* obj) noexcept


cdef int encode_typed(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    # The caller holds a reference to the object.
    if node.kind <= BOOL_TYPE:
        return encode_plain(e, node, obj)
    if node.kind == RECORD_TYPE:
        if likely(obj != Py_None):
            return encode_typed_instance(e, node, obj)
    elif node.kind == LIST_TYPE:
        if likely(Py_TYPE(obj) == &PyList_Type):
            return encode_typed_list(e, node, obj)
    return encode_converted(e, node, obj)


cdef inline int encode_plain(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    # Of the kinds up to BOOL_TYPE. The caller need not hold a reference: see encode_value().
    cdef PyTypeObject* of = Py_TYPE(obj)
    cdef TypeKind kind = node.kind
    if kind == ANY_TYPE:
        return encode_value(e, obj)
    if kind == INT_TYPE:
        if likely(of == &PyLong_Type and node.width < 0):
            return encode_int(e, obj)
    elif kind == STR_TYPE:
        if likely(of == &PyUnicode_Type):
            return encode_str(e, obj)
    elif kind == FLOAT_TYPE:
        if likely(of == &PyFloat_Type and node.width < 0):
            return encode_double(e, obj)
    elif kind == BOOL_TYPE:
        if likely(of == &PyBool_Type):
            return encode_bool(e, obj)
    return encode_converted(e, node, obj)


cdef int encode_converted(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    # The types that have no code of their own: first the exact classes.
    cdef PyTypeObject* of = Py_TYPE(obj)
    cdef TypeKind kind = node.kind
    cdef MemberSlot* slot
    if kind == ENUM_TYPE:
        if of == node.cls and node.members != NULL and e.int_width == 0:
            slot = member_slot(node, obj)
            if likely(slot.member != NULL):
                reserve(&e.buf, slot.nbytes)
                copy_short(e.buf.cursor, slot.encoded, slot.nbytes)
                e.buf.cursor += slot.nbytes
                return 0
    elif kind == DATETIME_TYPE_KIND:
        if of == DATETIME_TYPE and zone_of_datetime(obj) == (PyDateTimeAPI.TimeZone_UTC if node.is_utc else Py_None):
            return encode_datetime(e, node, obj, 0)
    elif kind == DATE_TYPE_KIND:
        if of == DATE_TYPE:
            return encode_date(e, node, obj)
    elif kind == DECIMAL_TYPE_KIND:
        if of == DECIMAL_TYPE:
            return encode_decimal(e, obj)
    elif kind == UUID_TYPE_KIND:
        if of == UUID_TYPE and not node.is_text and encode_uuid_number(e, obj):
            return 0
    return encode_other_type(e, node, obj)


cdef int encode_other_type(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    cdef PyTypeObject* of = Py_TYPE(obj)
    cdef TypeKind kind = node.kind
    kept = <object>obj
    if obj == Py_None and (node.allows_none or kind == NONE_TYPE):
        return encode_none(e)
    if DATETIME_TYPE_KIND <= kind <= DELTA_TYPE_KIND:
        return encode_date_type(e, node, obj)
    if kind == ENUM_TYPE:
        if isinstance(kept, <object>node.cls):
            return encode_member(e, node, kept)
    elif kind == DECIMAL_TYPE_KIND:
        if isinstance(kept, Decimal):
            return encode_decimal(e, obj)
    elif kind == UUID_TYPE_KIND:
        if isinstance(kept, UUID):
            return encode_uuid(e, node, kept)
    elif kind == UNION_TYPE:
        return encode_union(e, node, obj)
    elif kind == LITERAL_TYPE:
        if is_literal(node, kept):
            if is_member(kept):
                kept = kept._value_
            return encode_value(e, <PyObject*>kept)
    elif kind == INT_TYPE:
        if is_number(kept):
            return encode_width(e, node.width, obj)
    elif kind == FLOAT_TYPE:
        if is_number(kept) or (PyFloat_Check(kept) and not is_member(kept)):
            return encode_number_as_float(e, node, kept)
    elif kind == STR_TYPE:
        if PyUnicode_Check(kept):
            return encode_str(e, obj)
    elif BYTES_TYPE <= kind <= MEMORYVIEW_TYPE:
        if PyBytes_Check(kept):
            return encode_bytes(e, obj)
        if isinstance(kept, (bytearray, memoryview)):
            return encode_buffer(e, kept)
    elif kind == NDARRAY_TYPE:
        if isinstance(kept, loaded_type("numpy", "ndarray") or ()):
            return encode_value(e, obj)
    elif kind == LIST_TYPE:
        if PyList_Check(kept):
            return encode_typed_list(e, node, obj)
        if PyTuple_Check(kept):
            return encode_typed_items(e, node, kept, LIST)
    elif kind == TUPLE_TYPE or kind == VARIADIC_TUPLE_TYPE:
        if PyTuple_Check(kept):
            return encode_typed_items(e, node, kept, VECTOR)
    elif kind == DICT_TYPE:
        if PyDict_Check(kept):
            return encode_typed_dict(e, node, kept)
    elif kind == SET_TYPE or kind == FROZENSET_TYPE:
        if isinstance(kept, (set, frozenset)):
            return encode_typed_set(e, node, kept)
    return raise_unfit(e, node, kept)


cdef bint is_member(object value) except -1:
    # Of an Enum; the module is imported by the first that there is.
    return isinstance(value, loaded_type("enum", "Enum") or ())


cdef bint is_number(object value) except -1:
    # An int that is neither a bool nor a member of an IntEnum.
    return PyLong_Check(value) and type(value) is not bool and (type(value) is int or not is_member(value))


cdef int encode_width(Encoding* e, int width, PyObject* obj) except -1:
    cdef int64_t number
    if width == LONG:
        return encode_long(e, obj)
    if width == BYTE:
        return encode_byte(e, obj)
    if width == INT:
        if not int_to_i64(obj, &number) or not INT32_MIN <= number <= INT32_MAX:
            return raise_encode_value(e, "int does not fit an INT of 32 bits")
        reserve(&e.buf, 5)
        e.buf.cursor += store_int(e.buf.cursor, number)
        return 0
    return encode_int(e, obj)


cdef bint is_equal_double(object number, double value) except -1:
    # Whether an int has been rounded to a finite number: those of 64 bits are compared without another object.
    cdef int64_t narrow
    if int_to_i64(<PyObject*>number, &narrow):
        return is_held_by_double(narrow) and <double>narrow == value
    return int.__eq__(int(value), number)


cdef int encode_number_as_float(Encoding* e, const TypeNode* node, object number) except -1:
    cdef double value
    try:
        value = number
    except OverflowError as error:
        reraise_memory_error(error)
        raise EncodeValueError(f"int is too large for a {'FLOAT' if node.width == FLOAT else 'DOUBLE'}",
                               path_of(e.frame)) from error
    if node.width == FLOAT:
        return encode_float(e, value)
    if PyLong_Check(number) and not is_equal_double(number, value):
        return raise_encode_value(e, "int is not exactly a DOUBLE")
    reserve(&e.buf, 9)
    e.buf.cursor[0] = DOUBLE
    store_f64(e.buf.cursor + 1, value)
    e.buf.cursor += 9
    return 0


cdef int encode_member(Encoding* e, const TypeNode* node, object member) except -1:
    if node.by_name:
        name = member._name_
        if type(name) is not str or name not in type(member)._member_map_:    # a Flag of several members
            return raise_encode_value(e, f"{node_text(node)} {member!r:.80} has no name")
        return encode_str(e, <PyObject*>name)
    value = member._value_
    return encode_value(e, <PyObject*>value)


cdef bint is_literal(const TypeNode* node, object value) except -1:
    try:
        if is_member(value):
            found = (<dict>node.table.others).get((type(value._value_), value._value_), NOTHING)
            return found is value
        return (<dict>node.table.others).get((type(value), value), NOTHING) is not NOTHING
    except TypeError:    # unhashable
        return False


cdef int encode_decimal(Encoding* e, PyObject* obj) except -1:
    # Whatever the thread's decimal context says of "e" or "E".
    cdef Py_ssize_t nchars
    cdef void* exponent
    text = object_from_stolen(PyObject_Str(obj))
    encode_str(e, <PyObject*>text)
    nchars = len(<str>text)
    exponent = memchr(e.buf.cursor - nchars, c"e", nchars)
    if exponent != NULL:
        (<unsigned char*>exponent)[0] = c"E"
    return 0


cdef bint encode_uuid_number(Encoding* e, PyObject* obj) except -1:
    # False: its number is not to be had directly.
    cdef uint64_t high, low
    cdef bint known
    number = object_from_stolen(PyObject_GetAttr(obj, <PyObject*>"int"))
    known = type(number) is int and int_to_u128(<PyObject*>number, &high, &low)
    if known:
        reserve(&e.buf, 21)
        e.buf.cursor[0] = BYTES
        store_i32(e.buf.cursor + 1, 16)
        store_i64(e.buf.cursor + 5, <int64_t>high)
        store_i64(e.buf.cursor + 13, <int64_t>low)
        e.buf.cursor += 21
    return known


cdef int encode_uuid(Encoding* e, const TypeNode* node, object value) except -1:
    cdef unsigned char* p
    cdef bytes data
    if node.is_text:
        text = UUID.__str__(value)
        return encode_str(e, <PyObject*>text)
    data = UUID.bytes.__get__(value)
    return encode_payload(e, BYTES, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


# Unions.

cdef int encode_union(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    # An object of a class derived from several is written as the most derived of them.
    cdef Py_ssize_t i
    cdef bint is_exact
    cdef const TypeNode* item
    cdef const TypeNode* found = NULL
    for is_exact in (True, False):
        for i in range(node.nitems):
            item = node.items[i]
            if not takes(item, obj, is_exact):
                continue
            if item.kind != RECORD_TYPE or Py_TYPE(obj) == item.record.cls:
                return encode_typed(e, item, obj)
            if found == NULL or (item.record.cls != found.record.cls
                                 and PyType_IsSubtype(item.record.cls, found.record.cls)):
                found = item
        if found != NULL:
            return encode_typed(e, found, obj)
    return raise_unfit(e, node, <object>obj)


cdef bint takes(const TypeNode* node, PyObject* obj, bint is_exact) except -1:
    # Whether the object is of the type; is_exact: without what the type takes besides, such as an int for a float.
    cdef TypeKind kind = node.kind
    cdef PyTypeObject* of = Py_TYPE(obj)
    kept = <object>obj
    if kind == ANY_TYPE:
        return not is_exact
    if obj == Py_None:
        return node.allows_none or kind == NONE_TYPE
    if kind == RECORD_TYPE:
        if node.record.make == MAKE_TYPEDDICT:
            return PyDict_Check(kept)
        return PyType_IsSubtype(of, node.record.cls)
    if kind == INT_TYPE:
        return is_number(kept)
    if kind == FLOAT_TYPE:
        return (PyFloat_Check(kept) and not is_member(kept)) or (not is_exact and is_number(kept))
    if kind == STR_TYPE:
        return PyUnicode_Check(kept)
    if kind == BOOL_TYPE:
        return of == &PyBool_Type
    if kind == LIST_TYPE:
        return PyList_Check(kept) or (not is_exact and PyTuple_Check(kept))
    if kind == TUPLE_TYPE or kind == VARIADIC_TUPLE_TYPE:
        return PyTuple_Check(kept)
    if kind == DICT_TYPE:
        return PyDict_Check(kept)
    if kind == SET_TYPE or kind == FROZENSET_TYPE:
        return isinstance(kept, set if (kind == SET_TYPE) == is_exact else frozenset)
    if kind == DATETIME_TYPE_KIND:
        return PyType_IsSubtype(of, DATETIME_TYPE)
    if kind == DATE_TYPE_KIND:
        return PyType_IsSubtype(of, DATE_TYPE) and not PyType_IsSubtype(of, DATETIME_TYPE)
    if kind == TIME_TYPE_KIND:
        return PyType_IsSubtype(of, TIME_TYPE)
    if kind == DELTA_TYPE_KIND:
        return PyType_IsSubtype(of, DELTA_TYPE)
    if kind == DECIMAL_TYPE_KIND:
        return PyType_IsSubtype(of, DECIMAL_TYPE)
    if kind == UUID_TYPE_KIND:
        return PyType_IsSubtype(of, UUID_TYPE)
    if kind == ENUM_TYPE:
        return PyType_IsSubtype(of, node.cls)
    if kind == LITERAL_TYPE:
        return is_literal(node, kept)
    if kind == NDARRAY_TYPE:
        return isinstance(kept, loaded_type("numpy", "ndarray") or ())
    if BYTES_TYPE <= kind <= MEMORYVIEW_TYPE:
        return PyBytes_Check(kept) or isinstance(kept, (bytearray, memoryview))
    return False


# Containers.

cdef inline bint is_of_run(const TypeNode* item, PyTypeObject* kind) noexcept:
    return item.width < 0 and ((item.kind == INT_TYPE and kind == &PyLong_Type)
                               or (item.kind == FLOAT_TYPE and kind == &PyFloat_Type)
                               or (item.kind == BOOL_TYPE and kind == &PyBool_Type))


cdef int encode_typed_list(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    # The size is read at each step: see encode_held_list().
    cdef PathFrame frame
    cdef const TypeNode* item = node.item
    cdef PyTypeObject* kind
    cdef PyObject* value
    cdef Py_ssize_t run_check = first_run_check(PyList_GET_SIZE(obj))
    cdef int outcome
    if NO_GIL:
        return encode_typed_items(e, node, tuple(<object>obj), LIST)
    kept = <object>obj
    open_encoded(e, &frame, LIST)
    reserve(&e.buf, 1)
    e.buf.cursor[0] = LIST
    e.buf.cursor += 1
    while frame.index < PyList_GET_SIZE(obj):
        value = PyList_GET_ITEM(obj, frame.index)
        kind = Py_TYPE(value)
        incref(value)
        outcome = (<typed_function>encode_typed)(e, item, value)
        decref(value)
        if unlikely(outcome < 0):
            raise_pending()
        frame.index += 1
        if frame.index == run_check and run_check < PyList_GET_SIZE(obj):
            if not is_of_run(item, kind):
                run_check = 0
            elif item.allows_none or Py_TYPE(PyList_GET_ITEM(obj, run_check)) == kind:    # a run of bools may hold None
                frame.index += try_encode_run(e, kind, list_items(obj) + run_check,
                                              min(PyList_GET_SIZE(obj) - run_check, until_check(run_check)), &run_check)
            else:
                run_check = next_run_check(run_check, 0)
        check_signals_at(frame.index)
    return close_list(e, &frame)


cdef inline int close_list(Encoding* e, PathFrame* frame) except -1:
    reserve(&e.buf, 1)
    e.buf.cursor[0] = MARKER
    e.buf.cursor += 1
    return close_encoded(e, frame)


cdef int encode_typed_items(Encoding* e, const TypeNode* node, object items, int code) except -1:
    # A tuple's, as a LIST or VECTOR.
    cdef PathFrame frame
    cdef PyObject* obj = <PyObject*>items
    cdef Py_ssize_t count = PyTuple_GET_SIZE(obj)
    kept = items
    if node.kind == TUPLE_TYPE and count != node.nitems:
        raise EncodeTypeError(f"{node_text(node)}: expected {count_text(node.nitems, node.nitems)}, found {count}",
                              path_of(e.frame))
    if code == LIST:
        open_encoded(e, &frame, LIST)
        reserve(&e.buf, 1)
        e.buf.cursor[0] = LIST
        e.buf.cursor += 1
    else:
        open_counted(e, &frame, VECTOR, count)
    while frame.index < count:
        encode_typed(e, node.items[frame.index] if node.kind == TUPLE_TYPE else node.item,
                     PyTuple_GET_ITEM(obj, frame.index))
        frame.index += 1
        check_signals_at(frame.index)
    return close_list(e, &frame) if code == LIST else close_encoded(e, &frame)


cdef int encode_typed_set(Encoding* e, const TypeNode* node, object elements) except -1:
    # Sorted by their bytes with sort_keys.
    cdef PathFrame frame
    cdef Py_ssize_t* starts = NULL
    cdef Py_ssize_t count
    items = tuple(elements) if NO_GIL or type(elements) not in (set, frozenset) \
        else object_from_stolen(set_elements(<PyObject*>elements))
    count = PyTuple_GET_SIZE(<PyObject*>items)
    open_encoded(e, &frame, LIST)
    reserve(&e.buf, 1)
    e.buf.cursor[0] = LIST
    e.buf.cursor += 1
    if e.sort_keys and count > 1:
        starts = <Py_ssize_t*>PyMem_Malloc(count * sizeof(Py_ssize_t))
        if starts == NULL:
            raise MemoryError
    try:
        while frame.index < count:
            if starts != NULL:
                starts[frame.index] = written(&e.buf)
            encode_typed(e, node.item, PyTuple_GET_ITEM(<PyObject*>items, frame.index))
            frame.index += 1
            check_signals_at(frame.index)
        if starts != NULL:
            sort_elements(e, starts, count)
    finally:
        PyMem_Free(starts)
    return close_list(e, &frame)


cdef int encode_typed_dict(Encoding* e, const TypeNode* node, object mapping) except -1:
    cdef PathFrame frame
    cdef Py_ssize_t npairs, position = 0
    cdef PyObject* key
    cdef PyObject* value
    if type(mapping) is not dict:
        return encode_typed_pairs(e, node, list(mapping.items()))
    if NO_GIL or e.sort_keys:
        return encode_typed_pairs(e, node, list(PyDict_Copy(mapping).items()))
    kept = mapping
    npairs = PyDict_GET_SIZE(<PyObject*>mapping)
    open_counted(e, &frame, MAP, npairs)
    while frame.index < npairs and dict_next(<PyObject*>kept, &position, &key, &value):
        encode_typed_pair(e, node, &frame, <object>key, <object>value)
        check_signals_at(frame.index)
    if unlikely(frame.index != npairs or PyDict_GET_SIZE(<PyObject*>kept) != npairs):
        raise_changed_size()
    return close_encoded(e, &frame)


cdef int encode_typed_pair(Encoding* e, const TypeNode* node, PathFrame* frame, object key, object value) except -1:
    kept_key, kept_value = key, value
    frame.role = KEY
    encode_typed(e, node.item, <PyObject*>kept_key)
    frame.role = MAPPED
    frame.key = <PyObject*>kept_key
    encode_typed(e, node.value, <PyObject*>kept_value)
    frame.key = NULL
    frame.index += 1
    return 0


cdef int encode_typed_pairs(Encoding* e, const TypeNode* node, list items) except -1:
    cdef PathFrame frame
    for pair in items:
        if type(pair) is not tuple or len(<tuple>pair) != 2:
            return raise_no_pair(e, pair)
    open_counted(e, &frame, MAP, len(items))
    if e.sort_keys and items:
        sort_by_encoded_key(e, &frame, items, node.item)
    for pair in items:
        encode_typed_pair(e, node, &frame, (<tuple>pair)[0], (<tuple>pair)[1])
        check_signals_at(frame.index)
    return close_encoded(e, &frame)


# Errors.

cdef str node_text(const TypeNode* node):
    return <str>node.shown


cdef str count_text(Py_ssize_t least, Py_ssize_t most):
    return f"{most} item{'' if most == 1 else 's'}" if least == most else f"{least} to {most} items"


cdef int raise_unfit(Encoding* e, const TypeNode* node, object obj) except -1:
    cdef str shown = ""
    if obj is not None and type(obj) in (int, float, bool, str, bytes):
        shown = repr(obj[:MAX_FOUND + 1] if isinstance(obj, (str, bytes)) else obj)
    shown = f" {shown}" if shown and len(shown) <= MAX_FOUND + 2 else ""
    found = "None" if obj is None else f"{name_of_type(obj)}{shown}"
    raise EncodeTypeError(f"expected {node_text(node)}, found {found}", path_of(e.frame))


# Records are governed by types: see encode_record() and encode_pair() of core/codec.pxd.

cdef inline int encode_governed_value(Encoding* e, PyObject* obj, PyObject* ignored) except -1:
    return encode_value(e, obj) if e.types.value == NULL else encode_typed(e, e.types.value, obj)


cdef int encode_governed_pair(Encoding* e, PyObject* key, PyObject* value) except -1:
    encode_value(e, key) if e.types.pair_key == NULL else encode_typed(e, e.types.pair_key, key)
    return encode_value(e, value) if e.types.pair_value == NULL else encode_typed(e, e.types.pair_value, value)


cdef int encode_typed_record(Encoding* e, PyObject* obj) except -1:
    return encode_or_roll_back(e, <encode_function>encode_governed_value, obj, NULL)


cdef int encode_typed_record_pair(Encoding* e, PyObject* key, PyObject* value) except -1:
    return encode_or_roll_back(e, <encode_function>encode_governed_pair, key, value)
