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


cdef inline int encode_instance(Encoding* e, const RecordType* record, PyObject* obj) except -1:
    if unlikely(record.is_tuple and PyTuple_GET_SIZE(obj) != record.nfields):
        raise EncodeTypeError(f"{<str>record.name}: expected {count_text(record.nfields, record.nfields)}, "
                              f"found {PyTuple_GET_SIZE(obj)}", path_of(e.frame))
    if record.form == VECTOR_FORM:
        return encode_as_vector(e, record, obj)
    return encode_as_map(e, record, obj)


cdef inline const Py_ssize_t* slots_of(const RecordType* record, PyObject* obj) noexcept:
    # NULL: values are not taken from slots; a subclass may have a property in place of one.
    return record.offsets if record.reads_slots and Py_TYPE(obj) == record.cls else NULL


cdef inline PyObject* field_at(const RecordType* record, const Py_ssize_t* slots, PyObject* obj,
                               Py_ssize_t i) noexcept:
    # Borrowed; NULL: to be looked up. `slots` is slots_of(record, obj), which a loop over fields reads once: each byte
    # that is written may be a part of the record for all that the compiler knows.
    if slots != NULL:
        return slot_at(obj, slots[i])[0]
    if record.is_tuple:
        return PyTuple_GET_ITEM(obj, i) if likely(i < PyTuple_GET_SIZE(obj)) else NULL
    if Py_TYPE(obj) == record.cls:
        return attribute_at(&record.layout, obj, i)
    return NULL


cdef bint encode_held_field(Encoding* e, const RecordType* record, PyObject* obj, Py_ssize_t i) except -1:
    # A field of any type, found in any way; False: it is left out. Code of the user's may run, so the value is held.
    cdef PyObject* value
    if record.make == MAKE_TYPEDDICT:
        held = (<dict>obj).get(<object>record.attributes[i], NOTHING)
        if held is NOTHING:
            return False
    else:
        value = field_at(record, slots_of(record, obj), obj, i)
        held = attribute_of_field(e, record, obj, i) if value == NULL else <object>value
    if record.form == MAP_FORM:
        if is_omitted(e, record, i, <PyObject*>held):
            return False
        store_name(e, &record.keys.names[i])
    encode_typed(e, record.nodes[i], <PyObject*>held)
    return True


cdef object attribute_of_field(Encoding* e, const RecordType* record, PyObject* obj, Py_ssize_t i):
    try:
        return getattr(<object>obj, <object>record.attributes[i])
    except AttributeError as error:
        reraise_memory_error(error)
        raise EncodeTypeError(f"{<str>record.name}: no value of {<str>record.attributes[i]}: {error}",
                              path_of(e.frame)) from error


cdef int encode_as_map(Encoding* e, const RecordType* record, PyObject* obj) except -1:
    cdef PathFrame frame
    cdef Py_ssize_t n, i, start
    cdef Py_ssize_t nfields = record.nfields
    cdef Py_ssize_t nwritten = record.norder
    cdef const Py_ssize_t* order = record.sorted_order if e.sort_keys else record.order
    cdef const Py_ssize_t* slots = slots_of(record, obj)
    cdef TypeNode** nodes = record.nodes
    cdef PyObject** absents = record.absents
    cdef const EncodedName* names = record.keys.names
    cdef PyObject* value
    # The kinds of fields that are written here.
    cdef bint omits = record.omits_defaults or (e.types != NULL and e.types.omits_none)
    cdef int last_kind = -1 if NO_GIL or omits else BOOL_TYPE
    kept = <object>obj
    start = written(&e.buf)
    open_counted(e, &frame, MAP, 0)
    frame.key = <PyObject*>record
    frame.role = FIELD
    for n in range(record.norder):
        i = order[n]
        if unlikely(i == nfields):
            encode_tag(e, record)
            continue
        frame.index = i
        value = field_at(record, slots, obj, i)
        if likely(value != NULL and value != absents[i] and <int>nodes[i].kind <= last_kind):
            store_name(e, &names[i])
            encode_plain(e, nodes[i], value)
        elif not encode_held_field(e, record, obj, i):
            nwritten -= 1
    store_i32(e.buf.start + start + 1, <int32_t>nwritten)
    frame.index = nwritten
    if record.make == MAKE_TYPEDDICT:
        e.frame = frame.parent
        check_keys(e, record, obj, nwritten)
        e.frame = &frame
    return close_encoded(e, &frame)


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
    cdef const Py_ssize_t* slots = slots_of(record, obj)
    cdef TypeNode** nodes = record.nodes
    cdef PyObject* value
    kept = <object>obj
    open_counted(e, &frame, VECTOR, record.nfields + (record.tag_key != NULL))
    frame.key = <PyObject*>record
    frame.role = FIELD
    if record.tag_key != NULL:
        encode_value(e, record.tag)
    for i in range(record.nfields):
        frame.index = i
        value = field_at(record, slots, obj, i)
        if likely(value != NULL and not NO_GIL and nodes[i].kind <= BOOL_TYPE):
            encode_plain(e, nodes[i], value)
        else:
            encode_held_field(e, record, obj, i)
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
# By the address of a class, as classes may be equal to others: the class, which keeps its address, and its
# TypeProgram, or its family and `at`.
cdef dict NATIVE_PROGRAMS = {}


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
    kept = NATIVE_PROGRAMS.get(<size_t>kind)
    if kept is None:
        kept = cls, native_program(cls) or family_of(obj)
        if len(NATIVE_PROGRAMS) >= MAX_NATIVE:
            memset(NATIVE, 0, sizeof(NATIVE))
            NATIVE_PROGRAMS.clear()
        kept = NATIVE_PROGRAMS.setdefault(<size_t>kind, kept)
    found = kept[1]
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


cdef inline int encode_native(Encoding* e, PyObject* program, object obj) except -1:
    kept = <TypeProgram>program    # the fields may be of code that has the cache emptied
    if likely(kept.root.kind == RECORD_TYPE):
        return encode_instance(e, kept.root.record, <PyObject*>obj)
    return encode_typed(e, kept.root, <PyObject*>obj)
