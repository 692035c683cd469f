# Keys of one MAP whose hash values are equal: what comparing them may cost.


cdef enum:
    HEAVY = 2048            # bytes of keys that may share one hash value, before that is looked into


# Keys of one MAP at one place of the table that counts them.
cdef struct Crowd:
    Py_ssize_t nkeys
    Py_ssize_t weight


cdef inline bint has_weak_hash(PyObject* key) noexcept:
    # str and bytes have keyed hashes; ints and bools of 64 bits share a hash value three at most, finite floats some tens.
    cdef PyTypeObject* kind = Py_TYPE(key)
    if kind == &PyUnicode_Type or kind == &PyBytes_Type or kind == &PyBool_Type:
        return False
    if kind == &PyLong_Type:
        return is_wide(key)
    if kind == &PyFloat_Type:
        return PyFloat_AS_DOUBLE(key) != PyFloat_AS_DOUBLE(key)    # before 3.10 every NaN hashes alike
    return True


cdef inline bint is_wide(PyObject* number) noexcept:
    cdef int64_t ignored
    return not int_to_i64(number, &ignored)


cdef int refuse_colliding(Decoding* d, Py_ssize_t base, long long offset) except -1:
    # Goal: comparing keys of equal hash must not cost out of proportion to the MAP's bytes. Plan: count keys and their weight
    # into a table with a place for each key, chosen by hash and a secret; only when a place is crowded, look closely.
    # Rejected: a dict by hash value, whose own keys could be made to collide.
    cdef Py_ssize_t room = 64
    cdef Py_ssize_t i
    cdef uint64_t place
    cdef Crowd* crowds
    cdef int shift = 64 - 6
    while room < d.nstack - base:
        room *= 2
        shift -= 1
    crowds = <Crowd*>PyMem_Calloc(room, sizeof(Crowd))
    if crowds == NULL:
        raise MemoryError
    try:
        for i in range(base, d.nstack, 2):
            check_signals(i - base)
            if has_weak_hash(d.stack[i]):
                place = <uint64_t>PyObject_Hash(d.stack[i]) * SECRET >> shift
                crowds[place].nkeys += 1
                crowds[place].weight += weight_of(<object>d.stack[i])
                if crowds[place].nkeys > 32 or (crowds[place].nkeys > 1 and crowds[place].weight > HEAVY):
                    return refuse_unequal(d, base, offset)
    finally:
        PyMem_Free(crowds)
    return 0


cdef Py_ssize_t weight_of(object key) except -1:
    # No further than needed: a key may be as long as the input.
    cdef Py_ssize_t weight = 0
    cdef list rest = [key]
    while rest and weight <= HEAVY:
        item = rest.pop()
        if type(item) is not tuple:
            weight += sys.getsizeof(item)
        elif len(<tuple>item) > HEAVY:
            return HEAVY + 1
        else:
            weight += 8
            rest.extend(item)
    return weight


cdef int refuse_unequal(Decoding* d, Py_ssize_t base, long long offset) except -1:
    # The same, exactly. Equal keys may repeat without limit; they are told by their encodings, but for a NaN in them.
    from typedbytes._clashes import Clashes
    cdef dict met = {}
    cdef Py_ssize_t i
    cdef long long nbytes_of_map = offset_of(&d.buf, d.buf.cursor) - offset
    clashes = Clashes()
    for i in range(base, d.nstack, 2):
        check_signals(i - base)
        if has_weak_hash(d.stack[i]):
            key = <object>d.stack[i]
            encoded = encoded_key(key)
            if encoded in met and are_equal(met[encoded], key):
                continue
            met[encoded] = key
            if clashes.are_many(key, len(encoded), nbytes_of_map):
                raise_colliding(d, offset)
    return 0


cdef bint are_equal(object a, object b) except -1:
    if a is b:
        return True
    try:
        return a == b
    except RecursionError:
        return True    # the dict will meet it too, and say so


cdef bytes encoded_key(object key):
    cdef Encoding e
    memset(&e, 0, sizeof(Encoding))
    e.max_depth = HIGHEST_DEPTH
    start_owned(&e.buf, 64)
    try:
        encode_record(&e, <PyObject*>key)
        return finish(&e.buf)
    except EncodeError:
        return b"%d" % id(key)    # a hook made it: nobody but it knows what it equals
    finally:
        drop(&e.buf)
