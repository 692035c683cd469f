# Keys of one MAP whose hash values are equal: what comparing them may cost.

cdef enum:
    MAX_BUCKET_NBYTES = 2048    # of the keys in one bucket, before they are compared


# The keys of one MAP that fall into one bucket.
cdef struct Bucket:
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
    # Goal: comparing keys of equal hash must not cost out of proportion to the MAP's bytes. Plan: count keys and their bytes
    # in a table with a bucket for each key, selected by hash and a secret; keys are compared only when a bucket is full.
    # Rejected: a dict by hash value, whose own keys could be made to collide.
    cdef Py_ssize_t nbuckets = 64
    cdef Py_ssize_t i
    cdef uint64_t number
    cdef Bucket* buckets
    cdef int shift = 64 - 6
    while nbuckets < d.nstack - base:
        nbuckets *= 2
        shift -= 1
    buckets = <Bucket*>PyMem_Calloc(nbuckets, sizeof(Bucket))
    if buckets == NULL:
        raise MemoryError
    try:
        for i in range(base, d.nstack, 2):
            check_signals_at(i - base)
            if has_weak_hash(d.stack[i]):
                number = <uint64_t>PyObject_Hash(d.stack[i]) * SECRET >> shift
                buckets[number].nkeys += 1
                buckets[number].weight += weight_of(<object>d.stack[i])
                if buckets[number].nkeys > 32 or (buckets[number].nkeys > 1 and buckets[number].weight > MAX_BUCKET_NBYTES):
                    return refuse_unequal(d, base, offset)
    finally:
        PyMem_Free(buckets)
    return 0


cdef Py_ssize_t weight_of(object key) except -1:
    # Stops at the limit: a key may be as long as the input.
    cdef Py_ssize_t weight = 0
    cdef list rest = [key]
    while rest and weight <= MAX_BUCKET_NBYTES:
        item = rest.pop()
        if type(item) is not tuple:
            weight += sys.getsizeof(item)
        elif len(<tuple>item) > MAX_BUCKET_NBYTES:
            return MAX_BUCKET_NBYTES + 1
        else:
            weight += 8
            rest.extend(item)
    return weight


cdef int refuse_unequal(Decoding* d, Py_ssize_t base, long long offset) except -1:
    # The exact check. Equal keys may repeat without limit; they are recognised by their encodings, unless they contain a NaN.
    from typedbytes._collisions import Collisions
    cdef dict met = {}
    cdef Py_ssize_t i
    cdef long long nbytes_of_map = offset_of(&d.buf, d.buf.cursor) - offset
    collisions = Collisions()
    for i in range(base, d.nstack, 2):
        check_signals_at(i - base)
        if has_weak_hash(d.stack[i]):
            key = <object>d.stack[i]
            encoded = encoded_key(key)
            if encoded in met and are_equal(met[encoded], key):
                continue
            met[encoded] = key
            if collisions.are_many(key, len(encoded), nbytes_of_map):
                raise_colliding(d, offset)
    return 0


cdef bint are_equal(object a, object b) except -1:
    if a is b:
        return True
    try:
        return a == b
    except RecursionError:
        return True    # building the dict raises it again, and reports it


cdef bytes encoded_key(object key):
    cdef Encoding e
    memset(&e, 0, sizeof(Encoding))
    e.max_depth = HIGHEST_DEPTH
    start_owned(&e.buf, 64)
    try:
        encode_record(&e, <PyObject*>key)
        return finish(&e.buf)
    except EncodeError:
        return b"%d" % id(key)    # made by a hook: only the object itself can compare
    finally:
        drop(&e.buf)
