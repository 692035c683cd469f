# Dispatch by Python type: exact types by pointer, in likely order; subclasses, hooks and the rest out of line.


cdef enum:
    MAX_NESTED_REPLACEMENTS = 256    # default= calls within one another


cdef inline int encode_value(Encoding* e, PyObject* obj) except -1:
    cdef PyTypeObject* kind = Py_TYPE(obj)
    if kind == &PyLong_Type:
        return encode_int(e, obj)
    if kind == &PyUnicode_Type:
        return encode_str(e, obj)
    if kind == &PyFloat_Type:
        return encode_double(e, obj)
    if kind == &PyBool_Type:
        return encode_bool(e, obj)
    if kind == &PyBytes_Type:
        return encode_bytes(e, obj)
    if obj == Py_None:
        return encode_none(e)
    # Containers are not left to encode_other: a second call per level would overflow the processor's
    # return-address stack sooner.
    if kind == &PyTuple_Type:
        return encode_tuple(e, <object>obj)
    if kind == &PyList_Type:
        if PyList_GET_SIZE(obj) == 0 and likely(e.depth < e.max_depth):
            return encode_empty_list(e)
        return encode_list(e, <object>obj)
    if kind == &PyDict_Type:
        if PyDict_GET_SIZE(obj) == 0 and likely(e.depth < e.max_depth):
            return encode_head(e, MAP, 0)
        return encode_dict(e, <object>obj)
    return encode_other(e, <object>obj)


cdef int encode_other(Encoding* e, object obj) except -1:
    # `kept` owns the object while Python code may run, which could drop the caller's reference.
    cdef PyTypeObject* kind = Py_TYPE(<PyObject*>obj)
    cdef NativeSlot* slot = native_slot(kind)
    if not NO_GIL and slot.kind == kind:
        if slot.program == NULL:
            if slot.family <= SUB_STR:
                return encode_scalar_of_class(e, slot.family, <PyObject*>obj)
            return encode_family(e, slot, obj)
        if e.pickle != TRUST:
            return encode_native(e, slot.program, obj)
    if kind == &PyByteArray_Type and not NO_GIL:
        return encode_payload(e, BYTES, PyByteArray_AS_STRING(<PyObject*>obj), PyByteArray_GET_SIZE(<PyObject*>obj))
    if kind != DECIMAL_TYPE and kind != UUID_TYPE and e.pickle != RAW and encode_template(e, kind, <PyObject*>obj):
        return 0
    kept = obj
    if NO_GIL and kind == &PyByteArray_Type:
        return encode_buffer(e, obj)    # so that no other thread can resize it
    if is_value_type(kind):
        return encode_value_type(e, obj)
    return encode_by_kind(e, obj)


cdef inline int encode_empty_list(Encoding* e) except -1:
    reserve(&e.buf, 2)
    e.buf.cursor[0] = LIST
    e.buf.cursor[1] = MARKER
    e.buf.cursor += 2
    return 0


cdef int encode_by_kind(Encoding* e, object obj) except -1:
    kind = type(obj)
    if PyBytes_Check(obj):
        return encode_bytes(e, <PyObject*>obj)
    if kind is Byte:
        return encode_byte(e, <PyObject*>obj)
    if kind is Float:
        return encode_float(e, obj)
    if kind is Ext:
        return encode_ext(e, obj)
    if kind is Writable:
        return encode_writable(e, obj)
    if kind is Long:
        return encode_long(e, <PyObject*>obj)
    if e.pickle != TRUST:
        program = find_native(obj)
        if program is not None:
            return encode_native(e, <PyObject*>program, obj)
    if kind is memoryview:
        return encode_buffer(e, obj)
    if PyLong_Check(obj):
        return encode_int(e, <PyObject*>obj)
    if PyFloat_Check(obj):
        return encode_double(e, <PyObject*>obj)
    if PyUnicode_Check(obj):
        return encode_str(e, <PyObject*>obj)
    if PyTuple_Check(obj):
        return encode_tuple(e, obj)
    if PyList_Check(obj):
        return encode_list(e, obj)
    if PyDict_Check(obj):
        return encode_items(e, list(obj.items()))
    if kind is loaded_type("array", "array"):
        return encode_buffer(e, obj)
    if "numpy" in sys.modules and encode_numpy(e, obj):
        return 0
    if kind.__module__ in ("decimal", "datetime", "uuid"):
        return encode_value_type(e, obj)
    return encode_unknown(e, obj)


cdef object loaded_type(str module, str name):
    # A type of a module that is not imported here: while nothing has imported it, there is no object of the type.
    return getattr(sys.modules.get(module), name, None)


cdef inline Py_ssize_t store_none(unsigned char* p) noexcept:
    memcpy(p, PICKLED_NONE, PICKLED_NONE_NBYTES)    # also where pickles are trusted
    return PICKLED_NONE_NBYTES


cdef inline int encode_none(Encoding* e) except -1:
    if unlikely(e.hive or e.pickle == RAW):
        return encode_null(e) if e.hive else encode_unknown(e, None)
    reserve(&e.buf, PICKLED_NONE_NBYTES)
    e.buf.cursor += store_none(e.buf.cursor)
    return 0


cdef inline bint is_value_type(PyTypeObject* kind) noexcept:
    # Types of modules that were encoded before; the first object of each is recognised by the module of its type.
    return kind == DECIMAL_TYPE or kind == UUID_TYPE or kind == DATETIME_TYPE or kind == DATE_TYPE \
        or kind == &PySet_Type or kind == &PyFrozenSet_Type or kind == TIME_TYPE or kind == DELTA_TYPE \
        or kind == ZONE_TYPE or kind == &PyComplex_Type


cdef int encode_value_type(Encoding* e, object obj) except -1:
    # A value type without a code of its own.
    cdef Py_ssize_t offset = written(&e.buf)
    if e.pickle == RAW:
        return encode_unknown(e, obj)
    if likely((<pickle_function>encode_safe_pickle)(e, obj) >= 0):    # a try would take a third of the time
        return 0
    return encode_refused(e, obj, offset)

ctypedef int (*pickle_function)(Encoding* e, object obj) noexcept    # negative: an exception is set


cdef int encode_refused(Encoding* e, object obj, Py_ssize_t offset) except -1:
    # With the exception that is set.
    try:
        return encode_trusted(e, obj, offset)
    except EncodeError:
        raise
    except Exception as error:
        reraise_memory_error(error)
        e.buf.cursor = e.buf.start + offset
        if e.default != NULL:
            return encode_default(e, obj)
        raise EncodeTypeError(f"cannot encode an object of type {name_of_type(obj)}: {error}",
                              path_of(e.frame)) from error


cdef int encode_trusted(Encoding* e, object obj, Py_ssize_t offset) except -1:
    # Where that was a TypeError. Plain values get the same bytes under both policies; Python's own pickles of them
    # depend on the decimal context and the hash seed.
    try:
        raise_pending()
    except TypeError as error:
        reraise_memory_error(error)
        if e.pickle != TRUST:
            raise
        e.buf.cursor = e.buf.start + offset
    return encode_ready_pickle(e, trusted_pickle_of(obj))


cdef int encode_unknown(Encoding* e, object obj) except -1:
    kept = obj    # as in encode_other, which wide ints do not come through
    if e.default != NULL:
        return encode_default(e, obj)
    if e.pickle == TRUST:
        try:
            data = trusted_pickle_of(obj)
        except Exception as error:
            reraise_memory_error(error)
            hint = "; pass default="
            refused = EncodeTypeError(f"cannot pickle an object of type {name_of_type(obj)}: {error}{hint}",
                                      path_of(e.frame))
            refused.option, refused.hint = "default", hint
            raise refused from error
        return encode_ready_pickle(e, data)
    return raise_encode_type(e, obj)


cdef int encode_default(Encoding* e, object obj) except -1:
    # Replacements of replacements are counted, so that a default= that always returns another object fails.
    if e.nreplaced == MAX_NESTED_REPLACEMENTS:
        return raise_encode_value(e, f"default= returned {MAX_NESTED_REPLACEMENTS} replacements within one another")
    replacement = (<object>e.default)(obj)
    e.nreplaced += 1
    encode_value(e, <PyObject*>replacement)
    e.nreplaced -= 1
    return 0


# Records. After a failure the cursor, depth and path are as before the record.

ctypedef int (*encode_function)(Encoding* e, PyObject* a, PyObject* b) noexcept    # negative: an exception is set


cdef inline int encode_record_value(Encoding* e, PyObject* obj, PyObject* ignored) except -1:
    return encode_value(e, obj)


cdef inline int encode_record_pair(Encoding* e, PyObject* key, PyObject* value) except -1:
    encode_value(e, key)
    return encode_value(e, value)


cdef inline int encode_or_roll_back(Encoding* e, encode_function encode, PyObject* a, PyObject* b) except -1:
    cdef Py_ssize_t offset = written(&e.buf)
    if unlikely(encode(e, a, b) < 0):
        return roll_back(e, offset)
    return 0


cdef inline int roll_back(Encoding* e, Py_ssize_t offset) noexcept:
    e.buf.cursor = e.buf.start + offset
    e.depth = e.nreplaced = 0
    e.frame = NULL
    return -1


cdef int encode_untyped_record(Encoding* e, PyObject* obj) except -1:
    return encode_or_roll_back(e, <encode_function>encode_record_value, obj, NULL)


cdef int encode_untyped_pair(Encoding* e, PyObject* key, PyObject* value) except -1:
    return encode_or_roll_back(e, <encode_function>encode_record_pair, key, value)


# Pairs with gaps before key and value, for lengths that are known only afterwards; bench: SequenceFiles, write.

ctypedef Py_ssize_t (*spaced_pair_function)(Encoding* e, PyObject* key, PyObject* value, Py_ssize_t before,
                                      Py_ssize_t between) noexcept    # negative: an exception is set


cdef inline Py_ssize_t encode_both(Encoding* e, PyObject* key, PyObject* value, Py_ssize_t before,
                                   Py_ssize_t between) except -1:
    cdef Py_ssize_t offset = written(&e.buf) + before
    cdef Py_ssize_t nkey
    reserve(&e.buf, before)
    e.buf.cursor += before
    encode_value(e, key) if e.types == NULL or e.types.pair_key == NULL else encode_typed(e, e.types.pair_key, key)
    nkey = written(&e.buf) - offset
    reserve(&e.buf, between)
    e.buf.cursor += between
    encode_value(e, value) if e.types == NULL or e.types.pair_value == NULL \
        else encode_typed(e, e.types.pair_value, value)
    return nkey


cdef Py_ssize_t encode_spaced_pair(Encoding* e, PyObject* key, PyObject* value, Py_ssize_t before,
                                   Py_ssize_t between) except -1:
    cdef Py_ssize_t offset = written(&e.buf)
    cdef Py_ssize_t nkey = (<spaced_pair_function>encode_both)(e, key, value, before, between)
    if unlikely(nkey < 0):
        return roll_back(e, offset)
    return nkey
