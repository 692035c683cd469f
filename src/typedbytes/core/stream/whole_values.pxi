# One value, or all that memory holds, in one call: dumps, loads, and what Encoder and Decoder share with them.

# Most calls are for one scalar or small container. The caller holds both references, and the short paths use neither
# after a step that may run Python code (before 3.12, making a list or dict may start the collector), so they are not
# counted again. The general path holds the options: a hook may call the __init__ of its Encoder, which frees them. So
# may another thread, without the GIL, while a container is awaited.

cdef inline object encode_object(PyObject* options, PyObject* obj):
    cdef PyObject* encoded
    cdef EncodeOptions kept
    if may_be_container(obj):
        if NO_GIL:
            kept = <EncodeOptions>options
        encoded = bytes_of_small_container(&(<EncodeOptions>options).template, obj)
    else:
        encoded = bytes_of_scalar(&(<EncodeOptions>options).template, obj)
    if encoded != NULL:
        return object_from_stolen(encoded)
    kept = <EncodeOptions>options
    return encode_whole_object(kept, <object>obj)


cdef inline object encode_by_options(PyObject* options, PyObject* obj):
    # The same with a type or without.
    if unlikely((<EncodeOptions>options).template.types != NULL):
        return encode_whole_object(<EncodeOptions>options, <object>obj)
    return encode_object(options, obj)


cdef inline bint may_be_container(PyObject* obj) noexcept:
    # Or an instance of a subclass: one test for all scalars.
    return PyType_HasFeature(
        Py_TYPE(obj), Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS)


cdef bytes encode_whole_object(EncodeOptions options, object obj):
    # The general path of encode_object.
    cdef Encoding e
    cdef unsigned char scratch[SCRATCH]
    kept = options
    memcpy(&e, &options.template, sizeof(Encoding))
    lend_scratch(&e.buf, scratch, SCRATCH)
    try:
        encode_record(&e, <PyObject*>obj)
        return finish_output(options, &e)
    finally:
        drop(&e.buf)


cdef bytes finish_output(EncodeOptions options, Encoding* e):
    if not NO_GIL and e.buf.owner != NULL:
        options.template.buf.expected = next_expected(&e.buf)
    return finish(&e.buf)


cdef inline Py_ssize_t next_expected(const WriteBuffer* b) noexcept:
    # Each small output that reserved what a large one needed halves that, until it is forgotten.
    if written(b) > LARGE_OUTPUT:
        return written(b)
    return b.expected // 2 if b.expected <= MAX_AT_ONCE else b.expected


# dumps and loads name their options one by one: collecting them in a dict would cost more than a small value does. An
# option left out is recognised by identity with its default.

cdef object AUTO = "auto"
cdef object SAFE_NAME = "safe"
cdef object STRICT = "strict"
cdef object HADOOP = "hadoop"
cdef object DEPTH = DEFAULT_DEPTH

def dumps(obj, *, int_width="auto", pickle="safe", default=None, sort_keys=False, unicode_errors="strict",
          dialect="hadoop", max_depth=256, type=None, omit_none=False):
    """Encode one object as TypedBytes.

    Takes the options of `Encoder`. Returns bytes. Raises EncodeTypeError for a type without a type code and
    EncodeValueError for a value that the format cannot hold; both say where in `obj` it sits.

    >>> dumps((1, "a")).hex()
    '08000000020300000001070000000161'
    """
    if int_width is AUTO and pickle is SAFE_NAME and default is None and sort_keys is False \
            and unicode_errors is STRICT and dialect is HADOOP and max_depth is DEPTH and omit_none is False:
        if type is None:
            return encode_object(<PyObject*>DEFAULT_ENCODE, <PyObject*>obj)
        return encode_whole_object(<EncodeOptions>options_of_type(type, False), obj)
    options = EncodeOptions(int_width=int_width, pickle=pickle, default=default, sort_keys=sort_keys,
                            unicode_errors=unicode_errors, dialect=dialect, max_depth=max_depth, type=type,
                            omit_none=omit_none)
    return encode_by_options(<PyObject*>options, <PyObject*>obj)


def loads(data, *, pickle="safe", exact=False, map_pairs=False, ext_hook=None, unicode_errors="strict",
          dialect="hadoop", max_depth=256, max_bytes=None, type=None, strict=True):
    """Decode the one TypedBytes value that `data`, any bytes-like object, holds.

    Takes the options of `Decoder`. Raises TruncatedError when the bytes end early (no bytes at all included),
    FormatError for anything malformed and for bytes after the value, LimitError for input beyond a limit.

    >>> loads(bytes.fromhex("08000000020300000001070000000161"))
    (1, 'a')
    """
    if pickle is SAFE_NAME and exact is False and map_pairs is False and ext_hook is None and unicode_errors is STRICT \
            and dialect is HADOOP and max_depth is DEPTH and max_bytes is None and strict is True:
        options = DEFAULT_DECODE if type is None else <DecodeOptions>options_of_type(type, True)
        return decode_one(<PyObject*>options, <PyObject*>data)
    options = DecodeOptions(pickle=pickle, exact=exact, map_pairs=map_pairs, ext_hook=ext_hook,
                            unicode_errors=unicode_errors, dialect=dialect, max_depth=max_depth, max_bytes=max_bytes,
                            type=type, strict=strict)
    return decode_one(<PyObject*>options, <PyObject*>data)


# The options for a type alone; making them takes longer than a small record. They hold the type.

cdef object TYPE_NAME = "type"
cdef enum:
    MAX_TYPES = 256
cdef dict DECODE_OPTIONS = {}
cdef dict ENCODE_OPTIONS = {}
# The last type and its options, in one object: at each assignment another thread may be switched to.
cdef tuple LAST_DECODED = (None, None)
cdef tuple LAST_ENCODED = (None, None)


cdef object options_of_type(wanted, bint decodes):
    global LAST_DECODED, LAST_ENCODED
    cdef tuple last = LAST_DECODED if decodes else LAST_ENCODED
    cdef dict known = DECODE_OPTIONS if decodes else ENCODE_OPTIONS
    if wanted is last[0]:
        return last[1]
    # Unions are equal whatever the order of their members, which decides what two of them could read.
    key = wanted if getattr(wanted, "__args__", None) is None else (wanted, repr(wanted))
    try:
        options = known.get(key)
    except TypeError:    # an annotation that cannot be hashed
        return DecodeOptions(type=wanted) if decodes else EncodeOptions(type=wanted)
    if options is None:
        options = DecodeOptions(type=wanted) if decodes else EncodeOptions(type=wanted)
        if len(known) >= MAX_TYPES:
            known.clear()
        known[key] = options
    if NO_GIL:    # there two threads may assign at one time
        return options
    if decodes:
        LAST_DECODED = (wanted, options)
    else:
        LAST_ENCODED = (wanted, options)
    return options


# Most calls give no options. Without these two, which skip parsing the keywords, dumps(7) takes 1.4 times as long and
# loads 1.5 times; for a dict of five it is 1.12 and 1.03 times.

cdef inline bint is_type_alone(PyObject* const* args, Py_ssize_t nargs, PyObject* names) noexcept:
    return nargs == 1 and PyTuple_GET_SIZE(names) == 1 and PyTuple_GET_ITEM(names, 0) == <PyObject*>TYPE_NAME \
        and args[1] != Py_None


cdef object dumps_without_options(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* names):
    if nargs == 1 and names == NULL:
        return encode_object(<PyObject*>DEFAULT_ENCODE, args[0])
    if is_type_alone(args, nargs, names):
        return encode_whole_object(<EncodeOptions>options_of_type(<object>args[1], False), <object>args[0])
    return dumps_with_options(module, args, nargs, names)


cdef object loads_without_options(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* names):
    if nargs == 1 and names == NULL:
        return decode_one(<PyObject*>DEFAULT_DECODE, args[0])
    if is_type_alone(args, nargs, names):
        options = options_of_type(<object>args[1], True)
        return decode_one(<PyObject*>options, args[0])
    return loads_with_options(module, args, nargs, names)

cdef keyword_function dumps_with_options = replace_calls(dumps, dumps_without_options)
cdef keyword_function loads_with_options = replace_calls(loads, loads_without_options)


cdef enum Form:
    VALUE        # exactly one
    VALUES       # a list of all
    PAIRS        # a list of (key, value)


cdef inline object decode_one(PyObject* options, PyObject* data):
    # References are borrowed as in encode_object().
    cdef PyObject* scalar
    cdef DecodeOptions kept
    if Py_TYPE(data) == &PyBytes_Type:
        scalar = decode_single_scalar(&(<DecodeOptions>options).template, <const unsigned char*>bytes_data(data),
                                      bytes_size(data), False)
        if scalar != NULL:
            return object_from_stolen(scalar)
    kept = <DecodeOptions>options
    return decode_whole(kept, <object>data, VALUE)


cdef object decode_whole(DecodeOptions options, object data, Form form):
    if PyBytes_CheckExact(data):
        return decode_memory(options, <const unsigned char*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), form)
    cdef Py_buffer view
    contiguous = get_view(data, &view)    # kept: it may own the memory
    try:
        return decode_memory(options, <const unsigned char*>view.buf, view.len, form)
    finally:
        PyBuffer_Release(&view)


cdef object decode_memory(DecodeOptions options, const unsigned char* p, Py_ssize_t nbytes, Form form):
    cdef Decoding d
    cdef PyObject* few[STACK_NITEMS]
    cdef bint paused = False
    memcpy(&d, &options.template, sizeof(Decoding))
    d.stack = d.initial_stack = few
    d.stack_capacity = STACK_NITEMS
    if nbytes >= MIN_PAUSED_NBYTES:
        keep_freed(nbytes)
        paused = d.may_pause and pause_collector()
    d.use_string_cache = form != VALUE or nbytes >= MIN_CACHED_NBYTES
    d.buf.start = d.buf.cursor = p
    d.buf.end = p + nbytes
    try:
        if form == VALUE:
            result = object_from_stolen(decode_record(&d))
            if held(&d.buf):
                raise_trailing(&d, ": iter_load reads several")
            return result
        d.record_index = 0
        return list_values(&d) if form == VALUES else list_pairs(&d)
    finally:
        if paused:
            resume_collector()
        if d.stack != few or d.nstack > 0 or d.paused:
            abandon(&d)


cdef list list_values(Decoding* d):
    cdef list values = []
    while held(&d.buf) or refill(&d.buf, 1):
        values.append(object_from_stolen(decode_record(d)))
        d.record_index += 1
        if not d.record_index & SIGNAL_MASK:
            check_signals()
    return values


cdef list list_pairs(Decoding* d):
    cdef list pairs = []
    while held(&d.buf) or refill(&d.buf, 1):
        pairs.append(object_from_stolen(new_pair(d)))
        d.record_index += 1
        if not d.record_index & SIGNAL_MASK:
            check_signals()
    return pairs


cdef PyObject* new_pair(Decoding* d) except NULL:
    cdef PyObject* pair[2]
    decode_pair(d, &pair[0], &pair[1])
    return tuple_from_stolen(pair, 2)
