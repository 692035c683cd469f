# Lists, tuples, sets and dicts whose items have a type.


cdef inline bint makes_runs(const TypeNode* item, int code) noexcept:
    # Whether items of this type code may be decoded as a run: see decode_run().
    if item.cls != NULL:
        return False
    if item.kind == INT_TYPE:
        return code == INT or code == LONG
    return (item.kind == FLOAT_TYPE and code == DOUBLE) or (item.kind == BOOL_TYPE and code == BOOL)


cdef inline Py_ssize_t try_typed_run(Decoding* d, const TypeNode* item, int code, Py_ssize_t max_items,
                                     Py_ssize_t* run_check) except -1:
    # A run of bools may hold None.
    if makes_runs(item, code) and (item.allows_none or code_ahead(d) in (code, -1)):
        return try_run(d, code, max_items, run_check)
    run_check[0] *= 2
    return 0


cdef PyObject* decode_typed_list(Decoding* d, const TypeNode* node) except NULL:
    # The cursor is at a LIST.
    cdef PathFrame frame
    cdef const TypeNode* item = node.item
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t run_check = 1    # index at which a run is looked for next
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef list spilled = None
    cdef bint is_set = node.kind == SET_TYPE or node.kind == FROZENSET_TYPE
    cdef int code
    if node.kind == TUPLE_TYPE:
        return decode_listed_tuple(d, node)
    if node.kind == LIST_TYPE and item.kind == ANY_TYPE and d.in_key == 0:
        return decode_list(d)
    open_container(d, &frame, LIST)
    d.buf.cursor += 1
    while True:
        if unlikely(d.buf.cursor == d.buf.end):
            require(d, 1, LIST)
        code = d.buf.cursor[0]
        if code == MARKER:
            break
        if unlikely(is_set):
            push_hashable(d, node, item)
        else:
            push(d, decode_typed_inline(d, item))
        frame.index += 1
        check_signals_at(frame.index)
        if frame.index == run_check:
            frame.index += try_typed_run(d, item, code, min(SPILL - (d.nstack - base) % SPILL, until_check(run_check)),
                                         &run_check)
            check_signals_at(frame.index)
        if unlikely(d.nstack - base >= SPILL and node.kind == LIST_TYPE):
            spilled = spill(d, base, spilled)
    d.buf.cursor += 1
    close_container(d, &frame)
    if spilled is not None:
        spilled = spill(d, base, spilled)
        Py_INCREF(spilled)
        return <PyObject*>spilled
    return container_from_stack(d, node, base, offset)


cdef PyObject* decode_counted(Decoding* d, const TypeNode* node, Py_ssize_t count) except NULL:
    # The cursor is at a VECTOR of that many items.
    cdef PathFrame frame
    cdef const TypeNode* item = node.item
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t run_check = first_run_check(count)    # index at which a run is looked for next
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef bint is_set = node.kind == SET_TYPE or node.kind == FROZENSET_TYPE
    cdef int code = -1
    if node.kind == TUPLE_TYPE:
        return decode_fixed_tuple(d, node, count)
    if node.kind == VARIADIC_TUPLE_TYPE and item.kind == ANY_TYPE:
        return decode_vector(d, count)
    open_container(d, &frame, VECTOR)
    d.buf.cursor += 5
    while frame.index < count:
        if frame.index == run_check - 1:
            code = code_ahead(d)
        if unlikely(is_set):
            push_hashable(d, node, item)
        else:
            push(d, decode_typed_inline(d, item))
        frame.index += 1
        check_signals_at(frame.index)
        if frame.index == run_check and run_check < count:
            frame.index += try_typed_run(d, item, code, min(count - run_check, until_check(run_check)), &run_check)
            check_signals_at(frame.index)
    close_container(d, &frame)
    return container_from_stack(d, node, base, offset)


cdef PyObject* decode_fixed_tuple(Decoding* d, const TypeNode* node, Py_ssize_t count) except NULL:
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    check_depth(d, VECTOR)
    if count != node.nitems:
        return raise_count(d, <str>node.shown, node.nitems, node.nitems, str(count), VECTOR)
    open_container(d, &frame, VECTOR)
    d.buf.cursor += 5
    while frame.index < count:
        push(d, decode_typed_inline(d, node.items[frame.index]))
        frame.index += 1
    close_container(d, &frame)
    d.nstack = base
    return tuple_from_stolen(d.stack + base, count)


cdef PyObject* decode_listed_tuple(Decoding* d, const TypeNode* node) except NULL:
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    open_container(d, &frame, LIST)
    d.buf.cursor += 1
    while not at_marker(d):
        if frame.index == node.nitems:
            d.frame = frame.parent
            return raise_count_at(d, <str>node.shown, node.nitems, node.nitems, "more", offset, LIST)
        push(d, decode_typed_inline(d, node.items[frame.index]))
        frame.index += 1
    if frame.index < node.nitems:
        d.frame = frame.parent
        return raise_count_at(d, <str>node.shown, node.nitems, node.nitems, str(frame.index), offset, LIST)
    d.buf.cursor += 1
    close_container(d, &frame)
    d.nstack = base
    return tuple_from_stolen(d.stack + base, node.nitems)


cdef inline bint at_marker(Decoding* d) except -1:
    require(d, 1, LIST)
    return d.buf.cursor[0] == MARKER


cdef PyObject* container_from_stack(Decoding* d, const TypeNode* node, Py_ssize_t base, long long offset) except NULL:
    cdef Py_ssize_t nitems = d.nstack - base
    if node.kind == SET_TYPE or node.kind == FROZENSET_TYPE:
        return set_from_stack(d, node, base, offset)
    d.nstack = base
    if node.kind == LIST_TYPE:
        return list_from_stolen(d.stack + base, nitems)
    return tuple_from_stolen(d.stack + base, nitems)


cdef PyObject* set_from_stack(Decoding* d, const TypeNode* node, Py_ssize_t base, long long offset) except NULL:
    cdef Py_ssize_t i
    cdef Py_ssize_t nforgeable = 0
    for i in range(base, d.nstack):
        nforgeable += has_forgeable_hash(d.stack[i])
    if nforgeable > 1:
        check_collisions(d, base, 1, offset)
    made = object_from_stolen(PySet_New(NULL) if node.kind == SET_TYPE else PyFrozenSet_New(NULL))
    for i in range(base, d.nstack):
        PySet_Add(<PyObject*>made, d.stack[i])
        release_item(&d.stack[i])
        check_signals_at(i - base + 1)
    d.nstack = base
    Py_INCREF(made)
    return <PyObject*>made


cdef int push_hashable(Decoding* d, const TypeNode* node, const TypeNode* item) except -1:
    # An element of a set, or the key of a dict.
    cdef long long offset
    cdef int code
    require(d, 1, -1)
    offset = offset_of(&d.buf, d.buf.cursor)
    code = d.buf.cursor[0]
    d.in_key += may_hold_any(item)
    push(d, decode_typed(d, item))
    d.in_key -= may_hold_any(item)
    if not has_simple_hash(item):
        try:
            PyObject_Hash(d.stack[d.nstack - 1])
        except TypeError as error:
            reraise_memory_error(error)
            raise_type_at(d, f"{<str>node.shown}: {error}", offset, code, error)
    return 0


cdef inline int may_hold_any(const TypeNode* item) noexcept:
    # Whether values of any type in it are parts of a key.
    return item.kind == ANY_TYPE or item.kind == TUPLE_TYPE or item.kind == VARIADIC_TUPLE_TYPE \
        or item.kind == FROZENSET_TYPE


cdef inline bint has_simple_hash(const TypeNode* key) noexcept:
    return key.kind == STR_TYPE or key.kind == BYTES_TYPE or (key.kind == INT_TYPE and key.cls == NULL)


cdef PyObject* decode_typed_dict(Decoding* d, const TypeNode* node, Py_ssize_t npairs) except NULL:
    # As decode_map().
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t nforgeable = 0
    cdef const TypeNode* key_type = node.item
    cdef bint is_text = key_type.kind == STR_TYPE
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    open_container(d, &frame, MAP)
    d.buf.cursor += 5
    while frame.index < npairs:
        frame.role = KEY
        if is_text and d.buf.cursor < d.buf.end and likely(d.buf.cursor[0] == STRING):
            push(d, decode_key(d, True))
        else:
            push_hashable(d, node, key_type)
            nforgeable += has_forgeable_hash(d.stack[d.nstack - 1])
        frame.key = d.stack[d.nstack - 1]
        frame.role = MAPPED
        push(d, decode_typed_inline(d, node.value))
        frame.index += 1
        check_signals_at(frame.index)
    close_container(d, &frame)
    if unlikely(nforgeable > 1):
        check_collisions(d, base, 2, offset)
    return dict_from_stack(d, base)


cdef PyObject* decode_unusual_container(Decoding* d, const TypeNode* node, int code) except NULL:
    cdef Py_ssize_t count
    if code == LIST and node.kind != DICT_TYPE:
        return decode_typed_list(d, node)
    if not (code == MAP if node.kind == DICT_TYPE else code == VECTOR):
        return raise_misfit(d, node)
    count = require_count(d, code)
    return decode_typed_dict(d, node, count) if code == MAP else decode_counted(d, node, count)


cdef Py_ssize_t require_count(Decoding* d, int code) except -1:
    # The count of a VECTOR or MAP; the cursor stays at its type code.
    cdef Py_ssize_t count
    if d.depth >= d.max_depth:
        raise_depth(d, code)
    require(d, 5, code)
    count = load_length(d.buf.cursor + 1)
    if count < 0:
        raise_negative(d, count, code)
    return count
