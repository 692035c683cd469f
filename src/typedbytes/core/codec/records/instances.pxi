# Instances of record classes, of the values on top of the decoding's stack; see core/instances.h.
#
# Between making an instance and filling it no code of the user's runs, and none can see it. Where filling may run such
# code (a property that came into the way), the stack keeps its references meanwhile.

from typedbytes.core.instances cimport *

cdef tuple NO_ARGUMENTS = ()


cdef inline PyObject* make_instance(Decoding* d, const RecordType* record, Py_ssize_t base, long long offset,
                                    int code) except NULL:
    if record.make == MAKE_TUPLE:
        d.nstack = base
        return tuple_instance(record.cls, record.has_simple_memory, d.stack + base, record.nfields)
    if record.make == MAKE_SLOTS:
        return fill_slots(d, record, base)
    return make_other(d, record, base, offset, code)


cdef inline PyObject* fill_slots(Decoding* d, const RecordType* record, Py_ssize_t base) except NULL:
    cdef PyObject* made = untracked_instance(record.cls, record.has_simple_memory)
    cdef PyObject** values = d.stack + base
    cdef Py_ssize_t i
    for i in range(record.nfields):
        slot_at(made, record.offsets[i])[0] = values[i]
    d.nstack = base
    if likely(record.has_gc):
        PyObject_GC_Track(made)
    return made


cdef PyObject* make_other(Decoding* d, const RecordType* record, Py_ssize_t base, long long offset,
                          int code) except NULL:
    if record.make == MAKE_DICT and not record.has_post_init:
        return fill_attributes(d, record, base)
    if record.make == MAKE_STRUCT:
        return fill_struct(d, record, base, offset, code)
    if record.make == MAKE_TYPEDDICT:
        return fill_typed_dict(d, record, base)
    if record.make == MAKE_DICT:
        made = object_from_stolen(fill_attributes(d, record, base))
        if record.has_post_init:
            call_post_init(d, record, made, offset, code)
    else:
        made = call_class(d, record, base, offset, code)
    Py_INCREF(made)
    return <PyObject*>made


cdef inline bint is_tracked_kind(PyObject* value) noexcept:
    return PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_HAVE_GC)


cdef PyObject* fill_struct(Decoding* d, const RecordType* record, Py_ssize_t base, long long offset,
                           int code) except NULL:
    # A Struct that holds nothing tracked is not tracked itself, until it is given something: msgspec's own rule.
    cdef PyObject* made = untracked_instance(record.cls, record.has_simple_memory)
    cdef PyObject** values = d.stack + base
    cdef bint holds_tracked = False
    cdef Py_ssize_t i
    for i in range(record.nfields):
        slot_at(made, record.offsets[i])[0] = values[i]
        if values[i] != NULL:
            holds_tracked |= is_tracked_kind(values[i])
    d.nstack = base
    if holds_tracked and record.has_gc:
        PyObject_GC_Track(made)
    if record.has_post_init:
        owner = object_from_stolen(made)
        call_post_init(d, record, owner, offset, code)
        Py_INCREF(owner)
    return made


cdef PyObject* fill_attributes(Decoding* d, const RecordType* record, Py_ssize_t base) except NULL:
    cdef Py_ssize_t i
    cdef PyObject* instance = plain_instance(record.cls, <PyObject*>NO_ARGUMENTS)
    if likely(store_attributes(&record.layout, instance, d.stack + base, record.nfields)):
        d.nstack = base
        return instance
    made = object_from_stolen(instance)
    for i in range(record.nfields):
        if d.stack[base + i] != NULL:
            PyObject_GenericSetAttr(<PyObject*>made, record.attributes[i], d.stack[base + i])
            release_item(&d.stack[base + i])
    d.nstack = base
    Py_INCREF(made)
    return <PyObject*>made


cdef PyObject* fill_typed_dict(Decoding* d, const RecordType* record, Py_ssize_t base) except NULL:
    cdef Py_ssize_t i
    made = object_from_stolen(PyDict_New())
    for i in range(record.nfields):
        if d.stack[base + i] != NULL:
            if PyDict_SetItem(<PyObject*>made, record.attributes[i], d.stack[base + i]) < 0:
                raise_pending()
            release_item(&d.stack[base + i])
    d.nstack = base
    Py_INCREF(made)
    return <PyObject*>made


cdef int call_post_init(Decoding* d, const RecordType* record, object made, long long offset, int code) except -1:
    try:
        made.__post_init__()
    except (TypeError, ValueError) as error:
        reraise_memory_error(error)
        raise_by_user(d, record, "__post_init__", offset, code, error)
    return 0


cdef object call_class(Decoding* d, const RecordType* record, Py_ssize_t base, long long offset, int code):
    # With keywords; the constructor knows the defaults of what is missing.
    cdef dict arguments = {}
    cdef Py_ssize_t i
    for i in range(record.nfields):
        if d.stack[base + i] != NULL:
            arguments[<object>PyTuple_GET_ITEM(record.arguments, i)] = <object>d.stack[base + i]
    try:
        made = (<object>record.cls)(**arguments)
    except (TypeError, ValueError) as error:
        reraise_memory_error(error)
        raise_by_user(d, record, None, offset, code, error)
    for i in range(record.nfields):
        xdecref(d.stack[base + i])
        d.stack[base + i] = NULL
    d.nstack = base
    return made
