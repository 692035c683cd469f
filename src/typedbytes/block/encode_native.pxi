# Encoding in the native format.

# wire    native: head of 24 bytes, entries of 16, bodies at their alignment, the checksum if flagged.
# python  see docs/block-format.md; nested TypedBytes for values that have no type here.
# errors  EncodeValueError: more than 2^32-1 values, a number out of range for its type.
# source  docs/block-format.md, the native format.

cdef int append_native_message(BlockEncoder encoder, object args, uint32_t id, bint reply) except -1:
    cdef Py_ssize_t count = len(args)
    cdef Py_ssize_t base = written(&encoder.buf)
    cdef Py_ssize_t nexternal = encoder.nexternal
    cdef Py_ssize_t body
    cdef unsigned char* head
    check_limit(count, "values", MAX_ENTRIES)
    reserve(&encoder.buf, HEAD_SIZE + count * ENTRY_SIZE)
    encoder.buf.cursor += HEAD_SIZE + count * ENTRY_SIZE
    encoder.body_start = written(&encoder.buf) + encoder.external_nbytes
    encoder.append_values(args, count, base + HEAD_SIZE)
    body = written(&encoder.buf) + encoder.external_nbytes - encoder.body_start
    head = encoder.buf.start + base
    store_i32(head, <int32_t>NATIVE_MAGIC)
    head[4] = <unsigned char>(encoder.flags | (REPLY_WANTED if reply else 0))
    head[5] = ALIGNMENT_LOG2
    head[6] = head[7] = 0
    store_i32(head + 8, <int32_t>count)
    store_i32(head + 12, <int32_t>id)
    store_i64(head + 16, body)
    if encoder.flags & CHECKSUM:
        append_checksum(encoder, base, nexternal)
    return 0


cdef int append_checksum(BlockEncoder encoder, Py_ssize_t base, Py_ssize_t first_part) except -1:
    cdef uint32_t crc = 0
    cdef Py_ssize_t at = base
    cdef Py_ssize_t i
    reserve(&encoder.buf, 4)
    for i in range(first_part, encoder.nexternal):
        crc = crc32c(crc, encoder.buf.start + at, encoder.external_parts[i].at - at)
        with nogil:
            crc = crc32c(crc, encoder.external_parts[i].p, encoder.external_parts[i].nbytes)
        at = encoder.external_parts[i].at
    crc = crc32c(crc, encoder.buf.start + at, written(&encoder.buf) - at)
    store_i32(encoder.buf.cursor, <int32_t>crc)
    encoder.buf.cursor += 4
    return 0


cdef int append_entry(BlockEncoder encoder, Value* v, object owner, Py_ssize_t at) except -1:
    cdef unsigned char* entry
    cdef Py_ssize_t nbytes = 0
    cdef Py_ssize_t nshape = 0
    cdef int i
    if is_inline(v.code):
        v.ndim = v.element = 0
    else:
        if v.code != ARRAY:
            v.ndim = v.element = 0
        nshape = 8 * v.ndim
        nbytes = nshape + v.nbytes
        align_body(encoder)
        reserve(&encoder.buf, nshape)
        for i in range(v.ndim):
            store_i64(encoder.buf.cursor, v.shape[i])
            encoder.buf.cursor += 8
        encoder.append_bytes(v.p, v.nbytes, owner)
    entry = encoder.buf.start + at
    store_i32(entry, v.code << 24 | v.element << 16 | v.ndim << 8)
    store_i32(entry + 4, 0)
    if v.code == DOUBLE or v.code == FLOAT:
        if v.code == FLOAT and not store_f32(entry + 8, v.real):
            raise EncodeValueError("number is too large for a FLOAT")
        store_f64(entry + 8, v.real)
    else:
        store_i64(entry + 8, v.number if is_inline(v.code) else nbytes)
    return 0


cdef int align_body(BlockEncoder encoder) except -1:
    cdef Py_ssize_t npad = -(written(&encoder.buf) + encoder.external_nbytes - encoder.body_start) & (ALIGNMENT - 1)
    reserve(&encoder.buf, ALIGNMENT)
    store_i64(encoder.buf.cursor, 0)
    encoder.buf.cursor += npad
    return 0
