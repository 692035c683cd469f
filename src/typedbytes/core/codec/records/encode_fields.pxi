# Records: each field of an instance by its slot, or as an attribute; the keys are encoded already.


cdef inline int encode_typed_instance(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    cdef const RecordType* record = node.record
    if unlikely(Py_TYPE(obj) != record.cls) and not is_instance_of(record, obj):
        return raise_unfit(e, node, <object>obj)
    return encode_instance(e, record, obj)


cdef bint is_instance_of(const RecordType* record, PyObject* obj) noexcept:
    if record.make == MAKE_TYPEDDICT:
        return PyDict_Check(<object>obj)
    return PyType_IsSubtype(Py_TYPE(obj), record.cls)


cdef int encode_instance(Encoding* e, const RecordType* record, PyObject* obj) except -1:
    if record.form == VECTOR_FORM:
        return encode_as_vector(e, record, obj)
    return encode_as_map(e, record, obj)


cdef inline PyObject* value_of_field(Encoding* e, const RecordType* record, PyObject* obj, Py_ssize_t i,
                                     PyObject** held) except? NULL:
    # NULL without an exception: a key that a TypedDict does not have. `held` is the reference to the value that the
    # caller releases; NULL: none is needed, as for the items of lists in encode_value().
    cdef PyObject* value = NULL
    held[0] = NULL
    if record.reads_slots:
        value = slot_at(obj, record.offsets[i])[0]
    elif record.is_tuple:
        if likely(i < PyTuple_GET_SIZE(obj)):
            return PyTuple_GET_ITEM(obj, i)
    elif record.make == MAKE_TYPEDDICT:
        held[0] = item_of_field(record, obj, i)
        return held[0]
    elif Py_TYPE(obj) == record.cls:
        value = attribute_at(&record.layout, obj, i)
    if unlikely(value == NULL):
        value = held[0] = attribute_of_field(e, record, obj, i)
    elif NO_GIL or record.nodes[i].kind > BOOL_TYPE:
        incref(value)
        held[0] = value
    return value


cdef PyObject* item_of_field(const RecordType* record, PyObject* obj, Py_ssize_t i) except? NULL:
    found = (<dict>obj).get(<object>record.attributes[i], NOTHING)
    if found is NOTHING:
        return NULL
    Py_INCREF(found)
    return <PyObject*>found


cdef PyObject* attribute_of_field(Encoding* e, const RecordType* record, PyObject* obj, Py_ssize_t i) except NULL:
    cdef PyObject* value = (<attribute_function>PyObject_GetAttr)(obj, record.attributes[i])
    if likely(value != NULL):
        return value
    try:
        raise_pending()
    except AttributeError as error:
        reraise_memory_error(error)
        raise EncodeTypeError(f"{<str>record.name}: no value of {<str>record.attributes[i]}: {error}",
                              path_of(e.frame)) from error

ctypedef PyObject* (*attribute_function)(PyObject* obj, PyObject* name) noexcept    # NULL: an exception is set


cdef int encode_as_map(Encoding* e, const RecordType* record, PyObject* obj) except -1:
    cdef PathFrame frame
    cdef Py_ssize_t n, i, start
    cdef Py_ssize_t nwritten = 0
    cdef const Py_ssize_t* order = record.sorted_order if e.sort_keys else record.order
    cdef const EncodedName* name
    cdef PyObject* value
    cdef PyObject* held
    cdef int outcome
    kept = <object>obj
    start = written(&e.buf)
    open_counted(e, &frame, MAP, 0)
    frame.key = <PyObject*>record
    frame.role = FIELD
    for n in range(record.norder):
        i = order[n]
        if unlikely(i == record.nfields):
            encode_tag(e, record)
            nwritten += 1
            continue
        frame.index = i
        value = value_of_field(e, record, obj, i, &held)
        if unlikely(value == NULL):
            continue
        if unlikely(record.may_omit or (e.types != NULL and e.types.omits_none)) and is_omitted(e, record, i, value):
            xdecref(held)
            continue
        name = &record.keys.names[i]
        outcome = (<name_function>store_name)(e, name)
        if likely(outcome == 0):
            outcome = (<typed_function>encode_typed_inline)(e, record.nodes[i], value)
        xdecref(held)
        if unlikely(outcome < 0):
            raise_pending()
        nwritten += 1
    store_i32(e.buf.start + start + 1, <int32_t>nwritten)
    frame.index = nwritten
    if record.make == MAKE_TYPEDDICT:
        e.frame = frame.parent
        check_keys(e, record, obj, nwritten)
        e.frame = &frame
    return close_encoded(e, &frame)

ctypedef int (*name_function)(Encoding* e, const EncodedName* name) noexcept


cdef inline int store_name(Encoding* e, const EncodedName* name) except -1:
    reserve(&e.buf, name.nbytes + 9)
    copy_short(e.buf.cursor, name.p, name.nbytes)
    e.buf.cursor += name.nbytes
    return 0


cdef int encode_tag(Encoding* e, const RecordType* record) except -1:
    store_name(e, record.tag_key)
    return encode_value(e, record.tag)


cdef bint is_omitted(Encoding* e, const RecordType* record, Py_ssize_t i, PyObject* value) except -1:
    cdef PyObject* default = record.defaults[i]
    cdef PyTypeObject* of = Py_TYPE(value)
    if record.absents[i] == value:
        return True
    if e.types != NULL and e.types.omits_none and value == Py_None and default == Py_None:
        return True
    if not record.omits_defaults:
        return False
    if default != NULL:
        return default == value    # the same object: msgspec's own rule
    # A new, empty container is what its type makes.
    return record.factories[i] == <PyObject*>of and (
        (of == &PyList_Type and PyList_GET_SIZE(value) == 0) or (of == &PyDict_Type and PyDict_GET_SIZE(value) == 0)
        or (of == &PySet_Type and len(<set>value) == 0))


cdef int check_keys(Encoding* e, const RecordType* record, PyObject* obj, Py_ssize_t nwritten) except -1:
    # Of a TypedDict: no required key is missing, and there are no others.
    cdef Py_ssize_t i
    cdef dict mapping = <dict>obj
    names = set()
    for i in range(record.nfields):
        name = <object>record.attributes[i]
        names.add(name)
        if record.required[i] and name not in mapping:
            raise EncodeTypeError(f"{<str>record.name}: missing field {quoted(name)}", path_of(e.frame))
    for key in mapping if nwritten != len(mapping) else ():
        if key not in names:
            raise EncodeTypeError(f"{<str>record.name}: unknown field {shown_value(key) or type(key).__name__}",
                                  path_of(e.frame))
    return 0


cdef int encode_as_vector(Encoding* e, const RecordType* record, PyObject* obj) except -1:
    cdef PathFrame frame
    cdef Py_ssize_t i
    cdef PyObject* value
    cdef PyObject* held
    cdef int outcome
    kept = <object>obj
    if record.is_tuple and PyTuple_GET_SIZE(obj) != record.nfields:
        raise EncodeTypeError(f"{<str>record.name}: expected {count_text(record.nfields, record.nfields)}, "
                              f"found {PyTuple_GET_SIZE(obj)}", path_of(e.frame))
    open_counted(e, &frame, VECTOR, record.nfields + (record.tag_key != NULL))
    frame.key = <PyObject*>record
    frame.role = FIELD
    if record.tag_key != NULL:
        encode_value(e, record.tag)
    for i in range(record.nfields):
        frame.index = i
        value = value_of_field(e, record, obj, i, &held)
        outcome = (<typed_function>encode_typed_inline)(e, record.nodes[i], value)
        xdecref(held)
        if unlikely(outcome < 0):
            raise_pending()
    frame.index = record.nfields
    return close_encoded(e, &frame)


# Instances that are encoded without a type: dataclasses, classes of attrs, Structs and Enums, found by their class.

cdef enum:
    MAX_NATIVE = 512
    NATIVE_SLOTS = 64

cdef struct NativeSlot:
    PyTypeObject* kind
    PyObject* program         # borrowed from NATIVE_PROGRAMS, NULL: none
    int family                # then, of the class: see families.pxi
    Py_ssize_t at             # of a scalar of NumPy

cdef NativeSlot NATIVE[NATIVE_SLOTS]
cdef dict NATIVE_PROGRAMS = {}    # class to its TypeProgram, or to its family and `at`


cdef inline NativeSlot* native_slot(PyTypeObject* kind) noexcept:
    return &NATIVE[(<size_t>kind >> 5) % NATIVE_SLOTS]


cdef inline TypeProgram find_native(object obj):
    cdef NativeSlot* slot = native_slot(Py_TYPE(<PyObject*>obj))
    if not NO_GIL and likely(slot.kind == Py_TYPE(<PyObject*>obj)):
        return None if slot.program == NULL else <TypeProgram>slot.program
    return look_up_native(obj)


cdef TypeProgram look_up_native(object obj):
    cdef PyTypeObject* kind = Py_TYPE(<PyObject*>obj)
    cdef NativeSlot* slot = native_slot(kind)
    cls = <object>kind
    found = NATIVE_PROGRAMS.get(cls, NOTHING)
    if found is NOTHING:
        found = native_program(cls)
        if found is None:
            found = family_of(obj)
        if len(NATIVE_PROGRAMS) >= MAX_NATIVE:
            memset(NATIVE, 0, sizeof(NATIVE))
            NATIVE_PROGRAMS.clear()
        found = NATIVE_PROGRAMS.setdefault(cls, found)
    is_native = type(found) is TypeProgram
    if not NO_GIL and (is_native or found[0] != BY_KIND):
        slot.kind = kind
        slot.program = <PyObject*>found if is_native else NULL
        if not is_native:
            slot.family, slot.at = found
    return found if is_native else None


cdef tuple NATIVE_MARKS = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__", "__members__")


cdef object native_program(cls):
    for mark in NATIVE_MARKS:
        if hasattr(cls, mark):
            from typedbytes._records import native_of    # lazy import: start-up time
            node = native_of(cls)
            return None if node is None else TypeProgram(node)
    return None


cdef int encode_native(Encoding* e, TypeProgram program, object obj) except -1:
    kept_program = program    # the fields may be of code that has the cache emptied
    if program.root.kind == RECORD_TYPE:
        return encode_instance(e, program.root.record, <PyObject*>obj)
    return encode_typed(e, program.root, <PyObject*>obj)
