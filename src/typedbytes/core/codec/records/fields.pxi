# Records: their fields from a MAP by name, or from a VECTOR or LIST in order.
#
# The values wait on the decoding's stack in the order of the fields, NULL where there is none yet,
# and abandon() finds them there.


cdef inline int open_record(Decoding* d, PathFrame* frame, const RecordType* record, int code) except -1:
    open_container(d, frame, code)
    frame.key = <PyObject*>record
    frame.role = FIELD
    return 0


cdef inline int reserve_fields(Decoding* d, Py_ssize_t nfields) except -1:
    # Places for that many on the stack, without values.
    if unlikely(d.nstack + nfields > d.stack_capacity):
        enlarge_stack_for(d, nfields)
    memset(d.stack + d.nstack, 0, nfields * sizeof(PyObject*))
    d.nstack += nfields
    return 0


cdef PyObject* decode_map_record(Decoding* d, const RecordType* record, Py_ssize_t npairs) except NULL:
    # Goal: a record with its fields in their order takes neither strings nor hashes of its keys. Plan: the encoded key
    # of the field expected next is compared by two words; another one is looked up in a table of encoded keys.
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t nfields = record.nfields
    cdef Py_ssize_t nfilled = 0, next_field = 0, npairs_read = 0
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef PyObject* value
    cdef PyObject* before
    open_record(d, &frame, record, MAP)
    d.buf.cursor += 5
    reserve_fields(d, nfields)
    while npairs_read < npairs:
        npairs_read += 1
        check_signals_at(npairs_read)
        if likely(next_field < nfields
                  and starts_with(&record.keys.names[next_field], d.buf.cursor, d.buf.end - d.buf.cursor)):
            frame.index = next_field
            d.buf.cursor += record.keys.names[next_field].nbytes
        elif not take_key(d, record, &frame, npairs_read - 1, offset):
            continue
        next_field = frame.index + 1
        value = decode_typed_inline(d, record.nodes[frame.index])
        before = d.stack[base + frame.index]
        d.stack[base + frame.index] = value
        if likely(before == NULL):
            nfilled += 1
        else:
            decref(before)    # the last of equal keys wins
    frame.index = npairs_read
    close_container(d, &frame)
    if unlikely(nfilled < nfields):
        fill_missing(d, record, base, offset, MAP)
    return make_instance(d, record, base, offset, MAP)


cdef bint take_key(Decoding* d, const RecordType* record, PathFrame* frame, Py_ssize_t index,
                   long long offset) except -1:
    # Take a key that is not the expected one, and find its field; False: there is none, and the pair has been skipped.
    cdef Py_ssize_t length, found
    frame.index = index
    frame.role = KEY
    require(d, 1, -1)
    if d.buf.cursor[0] == STRING:
        require(d, 5, STRING)
        length = load_length(d.buf.cursor + 1)
        if length < 0:
            raise_negative(d, length, STRING)
        if length <= record.keys.max_nbytes - 5 or record.tag_key != NULL or record.forbids_unknown:
            require(d, 5 + min(length, PY_SSIZE_T_MAX - 5), STRING)
            found = look_up_name(&record.keys, d.buf.cursor, 5 + length)
            if found >= 0:
                d.buf.cursor += 5 + length
                frame.role = FIELD
                frame.index = found
                return True
            if record.tag_key != NULL and starts_with(record.tag_key, d.buf.cursor, held(&d.buf)) \
                    and record.tag_key.nbytes == 5 + length:
                d.buf.cursor += 5 + length
                check_tag(d, record, frame)
                frame.role = FIELD
                return False
            if record.forbids_unknown:
                return raise_unknown_field(d, record, frame, length, offset)
    if record.forbids_unknown:
        skip_quietly(d)
        raise_unknown_field(d, record, frame, -1, offset)
    skip_pair(d, frame)
    frame.role = FIELD
    return False


cdef int check_tag(Decoding* d, const RecordType* record, PathFrame* frame) except -1:
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef int code
    frame.role = FIELD
    frame.index = record.nfields    # the name of the tag is after those of the fields
    require(d, 1, -1)
    code = d.buf.cursor[0]
    if code != STRING if type(<object>record.tag) is str else code not in (INT, LONG, BYTE, SHORT):
        raise_other_than(d, shown_value(<object>record.tag))    # before its payload is read
    found = scalar_ahead(d, code)
    if type(found) is not type(<object>record.tag) or found != <object>record.tag:
        raise_type_at(d, f"expected {shown_value(<object>record.tag)}, found {shown_found(code, found)}", offset, code,
                      None)
    return 0


cdef int skip_pair(Decoding* d, PathFrame* frame) except -1:
    # A field that the record does not have: the structure of its key and value is checked.
    cdef PyObject* record = frame.key
    skip_quietly(d)
    frame.role = MAPPED
    frame.key = NULL    # no path leads to what has no name
    skip_quietly(d)
    frame.key = record
    return 0


cdef int skip_quietly(Decoding* d) except -1:
    # One value, without making it.
    cdef Skipping s
    cdef SkipOutcome outcome
    cdef Py_ssize_t size
    require(d, 1, -1)
    size = SIZES[d.hive][d.buf.cursor[0]]
    if size > 0:
        require(d, size, d.buf.cursor[0])
        d.buf.cursor += size
        return 0
    start_skipping(&s, d)
    s.max_depth = d.max_depth - d.depth
    try:
        while True:
            outcome = skip_value(&s, &d.buf)
            if outcome == SKIPPED:
                return 0
            if outcome != NEEDS_MORE:
                raise_skip_outcome(d, &s, outcome)
            if d.max_bytes:
                check_limit_of_skipping(d, &s, outcome)
            if not refill_record(d, min(wanted_nbytes(&s, &d.buf, outcome), held(&d.buf) + LARGE_BYTES_NBYTES)):
                raise_skip_outcome(d, &s, NEEDS_MORE)
    finally:
        stop_skipping(&s)


cdef PyObject* decode_vector_record(Decoding* d, const RecordType* record, Py_ssize_t count) except NULL:
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t nfields = record.nfields
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    if unlikely(count != nfields or record.tag_key != NULL):
        return decode_uneven_record(d, record, count)
    open_record(d, &frame, record, VECTOR)
    d.buf.cursor += 5
    if unlikely(d.nstack + nfields > d.stack_capacity):
        enlarge_stack_for(d, nfields)
    while frame.index < nfields:
        push(d, decode_typed_inline(d, record.nodes[frame.index]))
        frame.index += 1
    close_container(d, &frame)
    return make_instance(d, record, base, offset, VECTOR)


cdef inline int check_depth(Decoding* d, int code) except -1:
    if unlikely(d.depth >= d.max_depth):
        raise_depth(d, code)
    return 0


cdef PyObject* decode_uneven_record(Decoding* d, const RecordType* record, Py_ssize_t count) except NULL:
    # A VECTOR or LIST (then the count is -1) that has a tag, or another number of items than the record has fields.
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t ntags = record.tag_key != NULL
    cdef Py_ssize_t nread = 0
    cdef int code = LIST if count < 0 else VECTOR
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    check_depth(d, code)
    if count >= 0 and (count < record.nrequired + ntags
                       or (count > record.nfields + ntags and not record.allows_extra_items)):
        return raise_count(d, <str>record.name, record.nrequired + ntags, record.nfields + ntags, str(count), code)
    open_record(d, &frame, record, code)
    d.buf.cursor += 1 if count < 0 else 5
    reserve_fields(d, record.nfields)
    while True:
        enter_item(&frame, record, nread, ntags)
        if at_marker(d) if count < 0 else nread == count:
            break
        if nread < ntags:
            check_tag(d, record, &frame)
        elif nread - ntags < record.nfields:
            d.stack[base + frame.index] = decode_typed(d, record.nodes[frame.index])
        elif record.allows_extra_items:
            skip_quietly(d)
        else:
            d.frame = frame.parent
            return raise_count_at(d, <str>record.name, record.nrequired + ntags, record.nfields + ntags, "more", offset,
                                  code)
        nread += 1
        check_signals_at(nread)
    if nread < record.nrequired + ntags:
        d.frame = frame.parent
        return raise_count_at(d, <str>record.name, record.nrequired + ntags, record.nfields + ntags, str(nread), offset,
                              code)
    if count < 0:
        d.buf.cursor += 1
    frame.index = nread
    close_container(d, &frame)
    if nread < record.nfields + ntags:
        fill_missing(d, record, base, offset, code)
    return make_instance(d, record, base, offset, code)


cdef inline void enter_item(PathFrame* frame, const RecordType* record, Py_ssize_t nread, Py_ssize_t ntags) noexcept:
    # The path of this item of a VECTOR or LIST: the tag, whose name is after those of the fields, a field, or one more.
    frame.role = FIELD if nread - ntags < record.nfields else ITEM
    frame.index = record.nfields if nread < ntags else nread - ntags if frame.role == FIELD else nread


cdef PyObject* decode_unusual_record(Decoding* d, const TypeNode* node, int code) except NULL:
    cdef const RecordType* record = node.record
    cdef Py_ssize_t count
    if record.make == MAKE_TYPEDDICT and code != MAP:
        return raise_misfit(d, node)
    if code == LIST:
        return decode_uneven_record(d, record, -1)
    if code != VECTOR and code != MAP:
        return raise_misfit(d, node)
    count = require_count(d, code)
    return decode_map_record(d, record, count) if code == MAP else decode_vector_record(d, record, count)


cdef int fill_missing(Decoding* d, const RecordType* record, Py_ssize_t base, long long offset, int code) except -1:
    # Defaults for the fields that have no value. The constructor and a TypedDict have their own.
    cdef Py_ssize_t i
    for i in range(record.nfields):
        if d.stack[base + i] != NULL:
            continue
        if record.required[i]:
            raise_missing(d, record, i, offset, code)
        if record.make == MAKE_CALL or record.make == MAKE_TYPEDDICT:
            continue
        if record.defaults[i] != NULL:
            incref(record.defaults[i])
            d.stack[base + i] = record.defaults[i]
        elif record.factories[i] != NULL:
            d.stack[base + i] = default_of_factory(d, record, i, offset, code)
    return 0


cdef PyObject* default_of_factory(Decoding* d, const RecordType* record, Py_ssize_t i, long long offset,
                                  int code) except NULL:
    try:
        made = (<object>record.factories[i])()
    except (TypeError, ValueError) as error:
        reraise_memory_error(error)
        raise_by_user(d, record, f"the default of {<str>record.attributes[i]}", offset, code, error)
    Py_INCREF(made)
    return <PyObject*>made
