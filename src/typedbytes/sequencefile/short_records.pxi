# Short records as typed bytes, without the GIL: those in memory whole, of the classes that most files have.

cdef enum:
    NO_CODE = MARKER    # no value has it

# The type code that goes before the same bytes, by kind as NBYTES; NO_CODE: none, or other bytes.
cdef unsigned char[15] CODES = [
    NO_CODE, BYTES, NO_CODE, INT, LONG, NO_CODE, NO_CODE, NO_CODE, BYTE, FLOAT, DOUBLE, BOOL, NO_CODE, NO_CODE, NO_CODE,
]


cdef inline Py_ssize_t store_typed(int kind, const ClassNode* root, bint hive, const unsigned char* p,
                                   Py_ssize_t nbytes, unsigned char* out, Py_ssize_t capacity) noexcept nogil:
    # The fast path of copy_typed, for short Writables: returns the bytes stored. 0: nothing was done. root: of a class
    # that is described. The Texts and numbers of most files are stored without a call: .65 of the time of a Text
    # and a LongWritable; bench: to_parquet.
    if likely(capacity >= nbytes + ENCODED_NULL_WRITABLE_NBYTES):
        if kind == TEXT and 0 < nbytes <= MAX_SHORT_VINT and p[0] == nbytes - 1:
            out[0] = STRING
            store_i32(out + 1, <int32_t>(nbytes - 1))
            copy_short(out + 5, p + 1, nbytes - 1)
            return 4 + nbytes
        if nbytes == 8 and NBYTES[kind] == 8:
            out[0] = CODES[kind]
            memcpy(out + 1, p, 8)
            return 9
        if nbytes == 4 and NBYTES[kind] == 4:
            out[0] = CODES[kind]
            memcpy(out + 1, p, 4)
            return 5
    return store_other(kind, root, hive, p, nbytes, out, capacity)


cdef Py_ssize_t store_other(int kind, const ClassNode* root, bint hive, const unsigned char* p, Py_ssize_t nbytes,
                            unsigned char* out, Py_ssize_t capacity) noexcept nogil:
    # What store_typed does for all kinds and lengths.
    cdef Py_ssize_t size, nwritten
    if capacity < nbytes + ENCODED_NULL_WRITABLE_NBYTES or (NBYTES[kind] >= 0 and NBYTES[kind] != nbytes):
        return 0
    if kind == TYPED_BYTES:
        if not is_scalar(p, nbytes):
            return 0
        copy_short(out, p + 4, nbytes - 4)
        return nbytes - 4
    if kind == TEXT:
        size = vint_size(p[0]) if nbytes else 1
        if nbytes < size or load_vint(p) != nbytes - size:
            return 0
        out[0] = STRING
        store_i32(out + 1, <int32_t>(nbytes - size))
        copy_short(out + 5, p + size, nbytes - size)
        return 5 + nbytes - size
    if kind == VINT or kind == VLONG:
        if nbytes == 0 or vint_size(p[0]) != nbytes or kind == VINT and load_vint(p) != <int32_t>load_vint(p):
            return 0
        out[0] = INT if kind == VINT else LONG
        if kind == VLONG:
            store_i64(out + 1, load_vint(p))
            return 9
        store_i32(out + 1, <int32_t>load_vint(p))
        return 5
    if kind == NULL_WRITABLE:
        copy_short(out, ENCODED_NULL_WRITABLE, ENCODED_NULL_WRITABLE_NBYTES)
        return ENCODED_NULL_WRITABLE_NBYTES
    if root != NULL:
        size = nbytes
        nwritten = store_described(root, hive, p, &size, out, capacity, 0)
        return nwritten if size == nbytes else 0
    if CODES[kind] == NO_CODE or (kind == BYTES_WRITABLE and (nbytes < 4 or load_i32(p) != nbytes - 4)):
        return 0
    out[0] = CODES[kind]
    copy_short(out + 1, p, nbytes)
    if kind == BOOLEAN:
        out[1] = p[0] != 0
    return 1 + nbytes


cdef inline Py_ssize_t store_record(const ShortRecords* s, const unsigned char* key, Py_ssize_t nkey,
                                    const unsigned char* value, Py_ssize_t nvalue, unsigned char* out,
                                    Py_ssize_t capacity) noexcept nogil:
    # A short record as typed bytes; 0: it is not of this form.
    cdef Py_ssize_t first = store_typed(s.key_kind, s.key_root, s.hive, key, nkey, out, capacity)
    cdef Py_ssize_t second = store_typed(s.value_kind, s.value_root, s.hive, value, nvalue, out + first,
                                         capacity - first) if first else 0
    return first + second if second else 0


cdef Py_ssize_t append_short_records(Reader reader, Py_ssize_t nbytes, WriteBuffer* offsets) noexcept nogil:
    # Append the records that are in memory whole, while keys and values are of common kinds, until `nbytes` are
    # written or a buffer is full. Return how many. The record at which signals are looked for is left to
    # next_record().
    cdef Py_ssize_t max_count = -reader.nrecords & SIGNAL_MASK
    cdef Py_ssize_t count = 0
    if offsets != NULL:
        max_count = min(max_count, (offsets.end - offsets.cursor) // <Py_ssize_t>sizeof(reader.record_offset))
    if reader.compression_type == BLOCK:
        count = append_records_of_block(reader, nbytes, min(reader.nblock, max_count))
        if offsets != NULL:
            for _ in range(count):
                store_offset(offsets, reader.record_offset)
    elif reader.compression_type == NONE:
        count = append_plain_records(reader, nbytes, max_count, offsets)
    reader.nrecords += count
    return count


cdef Py_ssize_t append_records_of_block(Reader reader, Py_ssize_t nbytes, Py_ssize_t max_count) noexcept nogil:
    cdef WriteBuffer* out = &reader.typed
    cdef const unsigned char* key_length = reader.block_cursors[0]
    cdef const unsigned char* key = reader.block_cursors[1]
    cdef const unsigned char* value_length = reader.block_cursors[2]
    cdef const unsigned char* value = reader.block_cursors[3]
    cdef unsigned char* p = out.cursor
    cdef unsigned char* end = out.start + min(nbytes, out.end - out.start)
    cdef Py_ssize_t nkey, nvalue, nwritten
    cdef Py_ssize_t count = 0
    while count < max_count and p < end:
        nkey = load_vint(key_length)
        nvalue = load_vint(value_length)
        nwritten = store_record(&reader.short, key, nkey, value, nvalue, p, out.end - p)
        if nwritten == 0:
            break
        p += nwritten
        key += nkey
        value += nvalue
        key_length += vint_size(key_length[0])
        value_length += vint_size(value_length[0])
        count += 1
    out.cursor = p
    reader.block_cursors[0] = key_length
    reader.block_cursors[1] = key
    reader.block_cursors[2] = value_length
    reader.block_cursors[3] = value
    reader.nblock -= count
    return count


cdef Py_ssize_t append_plain_records(Reader reader, Py_ssize_t nbytes, Py_ssize_t max_count,
                                     WriteBuffer* offsets) noexcept nogil:
    cdef WriteBuffer* out = &reader.typed
    cdef unsigned char* p = out.cursor
    cdef unsigned char* end = out.start + min(nbytes, out.end - out.start)
    cdef Py_ssize_t nkey, nvalue, nwritten
    cdef Py_ssize_t count = 0
    while count < max_count and p < end and has_buffered_record(reader, &nkey, &nvalue):
        nwritten = store_record(&reader.short, reader.file.cursor + 8, nkey, reader.file.cursor + 8 + nkey, nvalue, p,
                                out.end - p)
        if nwritten == 0:
            break
        p += nwritten
        if offsets != NULL:
            store_offset(offsets, reader.offset_here())
        reader.file.cursor += nkey + nvalue + 8
        count += 1
    out.cursor = p
    if count:
        reader.first_bad_offset = -1
    return count
