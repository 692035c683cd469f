# Classes that are neither of the exact builtin types nor records: what an object of one is, found once for each class.
#
# Invariant: a family says what encode_by_kind() would find, for every object of the class. The table of native.kind
# holds the class, so that no other one has its address.

cdef enum Family:
    BY_KIND                   # encode_by_kind() finds out, each time
    SUB_INT                   # scalars, up to SUB_STR
    SUB_FLOAT
    SUB_STR
    SUB_TUPLE
    SUB_LIST
    SUB_DICT                  # with dict's own items() and order
    SUB_ORDERED               # with those of OrderedDict
    BUFFER                    # memoryview, array.array
    WITHOUT_CODE              # default= and pickles are what is left
    NUMPY_ARRAY               # exactly an ndarray
    NUMPY_BOOL                # a scalar of NumPy, whose number is at `at`
    NUMPY_I8, NUMPY_I16, NUMPY_I32, NUMPY_I64
    NUMPY_U8, NUMPY_U16, NUMPY_U32, NUMPY_U64
    NUMPY_F32

cdef dict NUMPY_FAMILIES = {
    ("b", 1): NUMPY_BOOL, ("i", 1): NUMPY_I8, ("i", 2): NUMPY_I16, ("i", 4): NUMPY_I32, ("i", 8): NUMPY_I64,
    ("u", 1): NUMPY_U8, ("u", 2): NUMPY_U16, ("u", 4): NUMPY_U32, ("u", 8): NUMPY_U64, ("f", 4): NUMPY_F32,
}


cdef tuple family_of(object obj):
    # The family of the class of an object that is not bytes, and the offset of the number in a scalar of NumPy. In the
    # order of encode_by_kind().
    kind = type(obj)
    if kind is memoryview or kind is loaded_type("array", "array"):
        return BUFFER, 0
    if issubclass(kind, int):
        return SUB_INT, 0
    if issubclass(kind, float):
        return SUB_FLOAT, 0
    if issubclass(kind, str):
        return SUB_STR, 0
    if issubclass(kind, tuple):
        return SUB_TUPLE, 0
    if issubclass(kind, list):
        return SUB_LIST, 0
    if issubclass(kind, dict):
        if kind.items is dict.items and kind.__iter__ is dict.__iter__:
            return SUB_DICT, 0
        return SUB_ORDERED if is_ordered(kind) and not NO_GIL else BY_KIND, 0
    if kind is loaded_type("numpy", "ndarray"):
        return NUMPY_ARRAY, 0
    if issubclass(kind, loaded_type("numpy", "generic") or ()):
        return numpy_family_of(obj)
    return BY_KIND if is_decided_by_object(kind) else WITHOUT_CODE, 0


cdef bint is_ordered(object kind) except -1:
    ordered = loaded_type("collections", "OrderedDict")
    return issubclass(kind, ordered or ()) and kind.items is ordered.items and kind.__iter__ is ordered.__iter__ \
        and kind.__getitem__ is ordered.__getitem__


cdef bint is_decided_by_object(object kind) except -1:
    # Whether objects of the class may be of a family of their own: a proxy says what it is by its __class__.
    if issubclass(kind, loaded_type("numpy", "ndarray") or ()) or kind.__module__ in ("decimal", "datetime", "uuid"):
        return True
    if kind.__getattribute__ is not object.__getattribute__:
        return True
    for cls in kind.__mro__:
        if cls is not object and "__class__" in vars(cls):
            return True
    return False


cdef tuple numpy_family_of(object scalar):
    # The number of a scalar is in the object itself: its buffer says where.
    cdef Py_buffer view
    cdef Py_ssize_t offset
    family = NUMPY_FAMILIES.get((scalar.dtype.kind, scalar.dtype.itemsize))
    if family is None:
        return BY_KIND, 0
    PyObject_GetBuffer(scalar, &view, PyBUF_CONTIG_RO)
    offset = <const char*>view.buf - <const char*><PyObject*>scalar
    is_inside = 0 < offset <= scalar.__sizeof__() - view.len and view.len == scalar.dtype.itemsize
    PyBuffer_Release(&view)
    return family if is_inside else BY_KIND, offset if is_inside else 0


cdef int encode_scalar_of_class(Encoding* e, int family, PyObject* obj) except -1:
    if family == SUB_INT:
        return encode_int(e, obj)
    if family == SUB_FLOAT:
        return encode_double(e, obj)
    return encode_str(e, obj)


cdef int encode_family(Encoding* e, const NativeSlot* slot, object obj) except -1:
    # `kept` as in encode_other().
    cdef int family = slot.family
    kept = obj
    if family == SUB_TUPLE:
        return encode_tuple(e, obj)
    elif family == SUB_LIST:
        return encode_list(e, obj)
    elif family == SUB_DICT:
        return encode_shared_dict(e, obj)
    elif family == SUB_ORDERED:
        return encode_shared_dict(e, obj) if is_in_order(obj) else encode_items(e, list(obj.items()))
    elif family == BUFFER:
        return encode_buffer(e, obj)
    elif family == WITHOUT_CODE:
        return encode_unknown(e, obj)
    elif family == NUMPY_ARRAY:
        return 0 if encode_plain_array(e, obj) else encode_by_kind(e, obj)
    elif family == BY_KIND:
        return encode_by_kind(e, obj)
    return encode_numpy_number(e, family, <const unsigned char*><PyObject*>obj + slot.at, obj)


cdef bint is_in_order(object ordered) except -1:
    # Whether the dict that an OrderedDict is has its order: else an entry was moved.
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    cdef int known = has_own_order(ordered)
    if known >= 0:
        return known
    for each in ordered:
        if not dict_next(<PyObject*>ordered, &position, &key, &value) or key != <PyObject*>each:
            return False
        check_signals_at(position)
    return True


cdef int encode_numpy_number(Encoding* e, int family, const unsigned char* p, object obj) except -1:
    # The widths are those of encode_numpy_scalar(), which the rest is left to.
    cdef int64_t number = p[0]
    cdef int32_t signed_32
    cdef uint32_t unsigned_32
    cdef int16_t signed_16
    cdef uint16_t unsigned_16
    cdef float real
    if family == NUMPY_I64 or family == NUMPY_U64:
        memcpy(&number, p, 8)
        if family == NUMPY_U64 and number < 0:
            return encode_numpy_scalar(e, obj)
    elif family == NUMPY_I32:
        memcpy(&signed_32, p, 4)
        number = signed_32
    elif family == NUMPY_I16:
        memcpy(&signed_16, p, 2)
        number = signed_16
    elif family == NUMPY_U16:
        memcpy(&unsigned_16, p, 2)
        number = unsigned_16
    elif family == NUMPY_U32:
        memcpy(&unsigned_32, p, 4)
        number = unsigned_32
    reserve(&e.buf, 9)
    if family == NUMPY_BOOL or family == NUMPY_I8:
        e.buf.cursor[0] = BOOL if family == NUMPY_BOOL else BYTE
        e.buf.cursor[1] = p[0] if family == NUMPY_I8 else p[0] != 0
        e.buf.cursor += 2
    elif family == NUMPY_F32:
        memcpy(&real, p, 4)
        return encode_float(e, real)
    elif e.int_width != 0:
        return encode_numpy_scalar(e, obj)
    elif family == NUMPY_I64 or family == NUMPY_U32 or family == NUMPY_U64:
        e.buf.cursor[0] = LONG
        store_i64(e.buf.cursor + 1, number)
        e.buf.cursor += 9
    else:
        e.buf.cursor += store_int(e.buf.cursor, number)
    return 0
