# Pairs that are typed bytes already, copied into records; the structure of each value is checked. It is decoded only
# for another class, where its bytes are not those of the Writable after the type code.

cdef int copy_pairs(Writer writer, const unsigned char* p, Py_ssize_t nbytes) except -1:
    cdef DecodeOptions options = DecodeOptions(dialect="hive" if writer.options.template.hive else "hadoop",
                                               max_depth=writer.options.template.max_depth)
    cdef Decoding d = options.template
    cdef Skipping skipping
    borrow(&d.buf, p, nbytes)
    start_skipping(&skipping, &d)
    try:
        while held(&d.buf):
            if not writer.is_typed_uncompressed or not copy_scalars_plain(writer, &d.buf):
                copy_pair(writer, &d, &skipping)
            writer.count_record()
    finally:
        abandon(&d)
        stop_skipping(&skipping)
    return 0


cdef int copy_pair(Writer writer, Decoding* d, Skipping* skipping) except -1:
    cdef const unsigned char* key = d.buf.cursor
    cdef const unsigned char* value
    d.record_index = writer.nrecords
    pass_value(d, skipping)
    value = d.buf.cursor
    pass_value(d, skipping)
    if writer.key_writable.kind != TYPED_BYTES or writer.value_writable.kind != TYPED_BYTES:
        return copy_converted(writer, d, key, value)
    if writer.compression_type == NONE:
        return copy_plain(writer, key, value - key, d.buf.cursor - value)
    if writer.compression_type == BLOCK:
        return copy_to_block(writer, key, value - key, d.buf.cursor - value)
    return writer.add_record(as_writable(key, value - key), as_writable(value, d.buf.cursor - value), True)


cdef inline Py_ssize_t copy_scalars_plain(Writer writer, ReadBuffer* pairs) noexcept:
    # Copy pairs of two scalars while no sync marker is due and the buffer has room. Return how many;
    # the last is left to be counted.
    cdef WriteBuffer* b = &writer.out.buf
    cdef const unsigned char* p = pairs.cursor
    cdef unsigned char* out = b.cursor
    cdef unsigned char* end = out + min(b.end - out, WRITE_CAPACITY)    # so that the lengths fit a record
    # A record that ends here or later is the last: then a marker is due, or the buffer is sent,
    # where signals are looked for.
    cdef unsigned char* last = out + min(writer.send_threshold - written(b),
                                         writer.sync_interval - (writer.position() - writer.last_sync))
    cdef Py_ssize_t nkey, nvalue
    cdef Py_ssize_t count = 0
    while out < last:
        nkey = scalar_nbytes(p, pairs.end - p)
        nvalue = scalar_nbytes(p + nkey, pairs.end - p - nkey) if nkey else 0
        if not nvalue or end - out < nkey + nvalue + 16:
            break
        out = store_plain(out, p, nkey, nvalue)
        p += nkey + nvalue
        count += 1
    pairs.cursor = p
    b.cursor = out
    if count:
        writer.nrecords += count - 1
    return count


cdef inline unsigned char* store_plain(unsigned char* out, const unsigned char* key, Py_ssize_t nkey,
                                       Py_ssize_t nvalue) noexcept:
    # A record, the value directly after the key; returns its end.
    store_lengths(out, nkey, nvalue)
    copy_short(out + 12, key, nkey)
    copy_short(out + 16 + nkey, key + nkey, nvalue)
    return out + nkey + nvalue + 16


cdef inline int copy_plain(Writer writer, const unsigned char* key, Py_ssize_t nkey, Py_ssize_t nvalue) except -1:
    writer.begin_record()
    check_record(nkey + nvalue + 8)
    reserve(&writer.out.buf, nkey + nvalue + 16)
    writer.out.buf.cursor = store_plain(writer.out.buf.cursor, key, nkey, nvalue)
    return 0


cdef inline int copy_to_block(Writer writer, const unsigned char* key, Py_ssize_t nkey, Py_ssize_t nvalue) except -1:
    writer.begin_in_block()
    append_counted(&writer.block_keys.buf, key, nkey)
    append_counted(&writer.value_buffer.buf, key + nkey, nvalue)
    return writer.finish_in_block()


cdef int copy_converted(Writer writer, Decoding* d, const unsigned char* key, const unsigned char* value) except -1:
    cdef const unsigned char* end = d.buf.cursor
    key_bytes = converted(writer.key_writable, writer, d, key, value, "key")
    value_bytes = converted(writer.value_writable, writer, d, value, end, "value")
    d.buf.cursor = end
    return writer.add_other(key_bytes, value_bytes, True)


cdef bytes converted(WritableClass writable, Writer writer, Decoding* d, const unsigned char* p,
                     const unsigned char* end, str part):
    # The bytes of the Writable that the typed bytes of one value become.
    cdef Py_ssize_t nbytes = end - p
    cdef int code = p[0]
    cdef Encoding e
    cdef PyObject* obj
    if writable.kind == TYPED_BYTES:
        return as_writable(p, nbytes)
    if code == CODES[writable.kind] and NBYTES[writable.kind] in (-1, nbytes - 1):
        return PyBytes_FromStringAndSize(<const char*>p + 1, nbytes - 1)
    if code == STRING and writable.kind == TEXT:
        return text_writable(p + 5, nbytes - 5)
    if code == WRITABLE and holds_class(writable, p, nbytes):
        return PyBytes_FromStringAndSize(<const char*>p + 9 + load_i32(p + 5), nbytes - 9 - load_i32(p + 5))
    d.buf.cursor = p
    e = writer.options.template
    start_owned(&e.buf, 64)
    try:
        obj = decode_first(d) if part == "key" else decode_record(d)
        encode_by_class(writable, &e, object_from_stolen(obj))
        return finish(&e.buf)
    except EncodeError as error:
        reraise_memory_error(error)
        raise relocated(error, f"{part} of record {writer.nrecords}: {error.message}", error.path) from None
    finally:
        drop(&e.buf)


cdef bytes text_writable(const unsigned char* p, Py_ssize_t nbytes):
    cdef unsigned char length[9]
    cdef int size = store_vint(length, nbytes)
    cdef bytes data = PyBytes_FromStringAndSize(NULL, size + nbytes)
    memcpy(PyBytes_AS_STRING(data), length, size)
    memcpy(PyBytes_AS_STRING(data) + size, p, nbytes)
    return data


cdef bint holds_class(WritableClass writable, const unsigned char* p, Py_ssize_t nbytes):
    # Whether the value with code 50 at `p` has this class.
    cdef Py_ssize_t nname = load_i32(p + 5) if nbytes >= 9 else -1
    return 0 <= nname <= nbytes - 9 and p[9:9 + nname] == writable.class_name.encode("utf-8")
