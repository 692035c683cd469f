# Keys of one MAP, or elements of a typed set, whose hash values are equal: what comparing them may cost.
# Elements of pickled sets are in pickle/sets.pxi.

cdef enum:
    MAX_BUCKET_NKEYS = 32       # keys in one bucket, before they are compared
    MAX_BUCKET_NBYTES = 2048    # bytes of the keys in one bucket
    SCALAR_NBYTES = 32          # bytes of an object without the part that varies in length


# The keys of one MAP that fall into one bucket.
cdef struct Bucket:
    int32_t first       # index on the stack of the first of them, which is weighed when there is a second
    uint16_t nkeys
    uint16_t weight


cdef inline bint has_forgeable_hash(PyObject* key) noexcept:
    # str and bytes have keyed hashes; of the ints of 64 bits ten at most share a hash value,
    # of finite floats some tens.
    cdef PyTypeObject* kind = Py_TYPE(key)
    if kind == &PyUnicode_Type or kind == &PyBytes_Type or kind == &PyBool_Type:
        return False
    if kind == &PyLong_Type:
        return is_wide(key)
    if kind == &PyFloat_Type:
        return NANS_HASH_ALIKE and PyFloat_AS_DOUBLE(key) != PyFloat_AS_DOUBLE(key)
    return True


cdef inline bint is_wide(PyObject* number) noexcept:
    cdef int64_t ignored
    return not int_to_i64(number, &ignored)


cdef int check_collisions(Decoding* d, Py_ssize_t base, int step, long long offset) except -1:
    # Of every second object on the stack, the keys of a MAP, or of each: the elements of a set.
    # Goal: comparing keys of equal hash must not cost out of proportion to the MAP's bytes. Plan: count keys and
    # their weight in a table with a bucket for each key, selected by hash and a secret; keys are compared only when a
    # bucket is full. Rejected: a dict by hash value, whose own keys could be made to collide; weighing every key,
    # which takes as long as decoding it.
    cdef Py_ssize_t nbuckets = 64
    cdef Py_ssize_t i
    cdef Bucket* buckets
    cdef int shift = 64 - 6
    while nbuckets < d.nstack - base:
        nbuckets *= 2
        shift -= 1
    buckets = <Bucket*>PyMem_Calloc(nbuckets, sizeof(Bucket))
    if buckets == NULL:
        raise MemoryError
    try:
        for i in range(base, d.nstack, step):
            check_signals_at(i - base)
            if has_forgeable_hash(d.stack[i]) and fills_bucket(
                    &buckets[<uint64_t>PyObject_Hash(d.stack[i]) * SECRET >> shift], d.stack + base, i - base):
                return check_collisions_exactly(d, base, step, offset)
    except RecursionError:    # PyPy's, where tuples nest deeply
        raise_deep_keys(d)
    finally:
        PyMem_Free(buckets)
    return 0


cdef inline bint fills_bucket(Bucket* bucket, PyObject** objects, Py_ssize_t index) except -1:
    # Add objects[index] to its bucket; return whether the keys in it may take long to compare.
    bucket.nkeys += 1
    if bucket.nkeys == 1:
        bucket.first = <int32_t>index
        return False
    if bucket.nkeys == 2:
        bucket.weight = <uint16_t>weight_of(objects[bucket.first], MAX_BUCKET_NBYTES)
    bucket.weight += <uint16_t>weight_of(objects[index], MAX_BUCKET_NBYTES)
    return bucket.nkeys > MAX_BUCKET_NKEYS or bucket.weight > MAX_BUCKET_NBYTES


cdef Py_ssize_t weight_of(PyObject* key, Py_ssize_t limit) except -1:
    # About the bytes that a comparison reads, or `limit` + 1: a key may be as long as the input. Each level of tuples
    # weighs something, so `limit` bounds the recursion as well.
    cdef PyTypeObject* kind = Py_TYPE(key)
    cdef Py_ssize_t weight = 8
    cdef Py_ssize_t i
    if kind == &PyTuple_Type:
        if PyTuple_GET_SIZE(key) > limit:
            return limit + 1
        for i in range(PyTuple_GET_SIZE(key)):
            if weight > limit:
                break
            weight += weight_of(PyTuple_GET_ITEM(key, i), limit - weight)
    elif kind == &PyUnicode_Type:
        weight = SCALAR_NBYTES + PyUnicode_GET_LENGTH(key) * PyUnicode_KIND(key)
    elif kind == &PyBytes_Type:
        weight = SCALAR_NBYTES + bytes_size(key)
    elif kind == &PyFloat_Type or kind == &PyBool_Type or kind == &PyLong_Type and not is_wide(key):
        weight = SCALAR_NBYTES
    else:
        weight = memory_nbytes(<object>key)
    return min(weight, limit + 1)


cdef int check_collisions_exactly(Decoding* d, Py_ssize_t base, int step, long long offset) except -1:
    # The exact check. Equal keys may repeat without limit; they are recognised by their encodings,
    # unless they contain a NaN.
    from typedbytes._base.collisions import Collisions
    cdef dict met = {}
    cdef Py_ssize_t i
    cdef long long nbytes_of_map = offset_of(&d.buf, d.buf.cursor) - offset
    collisions = Collisions()
    for i in range(base, d.nstack, step):
        check_signals_at(i - base)
        if has_forgeable_hash(d.stack[i]):
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
    try:
        return encoded_alone(key)
    except EncodeError:
        return b"%d" % id(key)    # made by a hook: only the object itself can compare


cdef bytes encoded_alone(object key):
    cdef Encoding e
    memset(&e, 0, sizeof(Encoding))
    e.max_depth = DEPTH_LIMIT
    start_owned(&e.buf, 64)
    try:
        encode_untyped_record(&e, <PyObject*>key)
        return finish(&e.buf)
    finally:
        drop(&e.buf)
