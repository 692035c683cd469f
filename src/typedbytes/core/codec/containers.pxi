# VECTOR LIST MAP, both ways.

cdef enum:
    MAX_RUN = 1024    # items of a run for which capacity is reserved at once
    SPILL = 8192      # items of a LIST that are kept on the stack before they move to their list


cdef inline int open_container(Decoding* d, PathFrame* frame, int code) except -1:
    # The cursor is at the type code.
    if unlikely(d.depth >= d.max_depth):
        raise_depth(d, code)
    d.depth += 1
    frame.parent = d.frame
    frame.key = NULL
    frame.index = 0
    frame.role = ITEM
    frame.code = code
    d.frame = frame
    return 0


cdef inline int close_container(Decoding* d, PathFrame* frame) except -1:
    d.depth -= 1
    d.frame = frame.parent
    return count_items(d, (frame.index & SIGNAL_MASK) + 1)


cdef inline int count_items(Decoding* d, Py_ssize_t nitems) except -1:
    d.work_count += nitems
    if unlikely(d.work_count > d.check_interval):
        return maybe_pause_gc(d)
    return 0


cdef inline int push(Decoding* d, PyObject* item) except -1:
    if unlikely(d.nstack == d.stack_capacity):
        enlarge_stack(d, item)
    d.stack[d.nstack] = item
    d.nstack += 1
    return 0


cdef int enlarge_stack_for(Decoding* d, Py_ssize_t nitems) except -1:
    cdef Py_ssize_t capacity = max(64, 2 * d.stack_capacity)
    cdef PyObject** stack
    capacity = max(capacity, d.nstack + nitems)
    stack = <PyObject**>PyMem_Realloc(NULL if d.stack == d.initial_stack else d.stack, capacity * sizeof(PyObject*))
    if stack == NULL:
        raise MemoryError
    if d.nstack > 0 and d.stack == d.initial_stack:
        memcpy(stack, d.stack, d.nstack * sizeof(PyObject*))
    d.stack = stack
    d.stack_capacity = capacity
    return 0


cdef int enlarge_stack(Decoding* d, PyObject* item) except -1:
    # For the item, which is lost with an error.
    try:
        return enlarge_stack_for(d, 1)
    except MemoryError:
        decref(item)
        raise


# Runs: consecutive items of one type code. Lists of numbers consist of them; a loop for each code keeps cursor and
# stack in registers and needs no dispatch. A container looks for a run after its first item; if there is none, again at
# twice that index, and so on: with mixed types, a check after each item would be mispredicted each time.

cdef inline Py_ssize_t first_run_check(Py_ssize_t count) noexcept:
    return 1 if count > 3 else 0    # 0: no index matches, so no run is looked for


cdef inline Py_ssize_t next_run_check(Py_ssize_t index, Py_ssize_t nfound) noexcept:
    return index + nfound + 1 if nfound else 2 * index


cdef inline int code_ahead(const Decoding* d) noexcept:
    return d.buf.cursor[0] if d.buf.cursor < d.buf.end else -1


cdef inline Py_ssize_t try_run(Decoding* d, int code, Py_ssize_t max_items, Py_ssize_t* run_check) except -1:
    # Decode up to `max_items` further items that have the type code of the previous item; return their number.
    cdef Py_ssize_t nfound = 0
    if d.buf.cursor == d.buf.end:
        run_check[0] += 1    # the next type code is not in the buffer yet: try one item later
        return 0
    if d.buf.cursor[0] == code and (BOOL <= code <= DOUBLE and code != FLOAT or code == PICKLE):
        nfound = decode_run(d, max_items)
    elif code == BOOL and d.buf.cursor[0] == PICKLE or code == PICKLE and d.buf.cursor[0] == BOOL:
        nfound = decode_flag_run(d, max_items)
    run_check[0] = next_run_check(run_check[0], nfound)
    return nfound


cdef Py_ssize_t decode_run(Decoding* d, Py_ssize_t max_items) except -1:
    # Decode the buffered items that have the type code at the cursor, as far as the stack has capacity.
    cdef const unsigned char* p = d.buf.cursor
    cdef const unsigned char* end = d.buf.end
    cdef PyObject** item = d.stack + d.nstack
    cdef PyObject** stop = item + min(max_items, d.stack_capacity - d.nstack)
    cdef int code = p[0]
    cdef Py_ssize_t nfound
    cdef bint failed = False
    if code == INT:
        while item < stop and end - p >= 5 and p[0] == INT and not failed:
            item[0] = int_or_null(load_i32(p + 1))
            failed = item[0] == NULL
            item += 1
            p += 5
    elif code == DOUBLE:
        while item < stop and end - p >= 9 and p[0] == DOUBLE and not failed:
            item[0] = float_from_f64(load_f64(p + 1))
            failed = item[0] == NULL
            item += 1
            p += 9
    elif code == BOOL:
        while item < stop and end - p >= 2 and p[0] == BOOL:
            item[0] = decode_bool(p + 1)
            item += 1
            p += 2
    elif code == LONG and not d.exact:
        while item < stop and end - p >= 9 and p[0] == LONG and not failed:
            item[0] = int_or_null(load_i64(p + 1))
            failed = item[0] == NULL
            item += 1
            p += 9
    elif code == PICKLE and d.pickle != RAW and not d.exact:
        return decode_pickle_run(d, max_items)
    if unlikely(failed):
        d.nstack = item - 1 - d.stack
        return -1
    nfound = item - d.stack - d.nstack
    d.buf.cursor = p
    d.nstack += nfound
    return nfound


cdef Py_ssize_t decode_pickle_run(Decoding* d, Py_ssize_t max_items) except -1:
    # The same for None and for ints of 64 bits without a sign, such as hash values.
    # Apart, so that the loops of decode_run keep their registers.
    cdef const unsigned char* p = d.buf.cursor
    cdef const unsigned char* end = d.buf.end
    cdef PyObject** item = d.stack + d.nstack
    cdef PyObject** stop = item + min(max_items, d.stack_capacity - d.nstack)
    cdef Py_ssize_t nfound
    while item < stop and end - p >= 9 and is_pickled_none(p):
        item[0] = decode_null()
        item += 1
        p += 9
    while item < stop and end - p >= UNSIGNED_NBYTES and is_pickled_unsigned(p):
        item[0] = int_from_u64(load_u64_le(p + 9))
        if unlikely(item[0] == NULL):
            d.nstack = item - d.stack
            return -1
        item += 1
        p += UNSIGNED_NBYTES
    nfound = item - d.stack - d.nstack
    d.buf.cursor = p
    d.nstack += nfound
    return nfound


cdef Py_ssize_t decode_flag_run(Decoding* d, Py_ssize_t max_items) noexcept:
    # The same for BOOL and None in any order: flags that may be missing.
    cdef const unsigned char* p = d.buf.cursor
    cdef const unsigned char* end = d.buf.end
    cdef PyObject** item = d.stack + d.nstack
    cdef PyObject** stop = item + min(max_items, d.stack_capacity - d.nstack)
    cdef bint reads_none = d.pickle != RAW and not d.exact
    cdef Py_ssize_t nfound
    while item < stop and end - p >= 2:
        if p[0] == BOOL:
            item[0] = decode_bool(p + 1)
            p += 2
        elif reads_none and end - p >= PICKLED_NONE_NBYTES and is_pickled_none(p):
            item[0] = decode_null()
            p += PICKLED_NONE_NBYTES
        else:
            break
        item += 1
    nfound = item - d.stack - d.nstack
    d.buf.cursor = p
    d.nstack += nfound
    return nfound


# wire    8 VECTOR: i32 count, that many values.
# python  tuple both ways, of every count.
# errors  FormatError at the type code: negative count; at a MARKER in place of a value. LimitError: too deep.
# source  Hadoop TypedBytesOutput.writeVector; vectors vector_*.

cdef PyObject* decode_vector(Decoding* d, Py_ssize_t count) except NULL:
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef int code = -1
    cdef Py_ssize_t run_check = first_run_check(count)    # index at which a run is looked for next
    open_container(d, &frame, VECTOR)
    d.buf.cursor += 5
    while frame.index < count:
        if frame.index == run_check - 1:
            code = code_ahead(d)
        push(d, decode_value(d))
        frame.index += 1
        check_signals_at(frame.index)
        if frame.index == run_check:
            frame.index += try_run(d, code, min(count - run_check, until_check(run_check)), &run_check)
            check_signals_at(frame.index)
    close_container(d, &frame)
    d.nstack = base
    return tuple_from_stolen(d.stack + base, count)


# wire    9 LIST: values up to a MARKER.
# python  list both ways.
# errors  TruncatedError: input ends before the MARKER. LimitError: too deep. FormatError: inside a MAP key.
# source  Hadoop TypedBytesOutput.writeList; vectors list_*.

cdef PyObject* decode_list(Decoding* d) except NULL:
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t nitems
    cdef list spilled = None
    cdef int code
    cdef Py_ssize_t run_check = 1    # index at which a run is looked for next
    open_container(d, &frame, LIST)
    d.buf.cursor += 1
    while True:
        if unlikely(d.buf.cursor == d.buf.end):
            require(d, 1, LIST)
        code = d.buf.cursor[0]
        if code == MARKER:
            break
        push(d, decode_value(d))
        frame.index += 1
        check_signals_at(frame.index)
        if frame.index == run_check:
            frame.index += try_run(d, code, min(SPILL - (d.nstack - base), until_check(run_check)), &run_check)
            check_signals_at(frame.index)
        if unlikely(d.nstack - base == SPILL):
            spilled = spill(d, base, spilled)
    d.buf.cursor += 1
    close_container(d, &frame)
    if spilled is None:
        nitems = d.nstack - base
        d.nstack = base
        return list_from_stolen(d.stack + base, nitems)
    spilled = spill(d, base, spilled)
    Py_INCREF(spilled)
    return <PyObject*>spilled


cdef list spill(Decoding* d, Py_ssize_t base, list target):
    # Items of a long LIST move to its list in steps, so that they are not on the stack and in the list at once.
    cdef Py_ssize_t nitems = d.nstack - base
    cdef PyObject* made
    d.nstack = base
    if target is not None:
        list_extend_stolen(<PyObject*>target, d.stack + base, nitems)
        return target
    made = list_from_stolen(d.stack + base, nitems)
    target = <list>made
    decref(made)
    return target


# wire    10 MAP: i32 count of pairs, key value key value ...
# python  dict both ways, order kept, the last of equal keys wins; map_pairs=True gives a list of pairs.
# errors  FormatError at the type code: negative count; at the LIST or MAP: an unhashable key. LimitError: too deep, or
#         more than 512 VECTOR or application keys with one hash value (equal hashes make a dict quadratic).
# source  Hadoop TypedBytesOutput.writeMap; vectors map_*.

cdef PyObject* decode_map(Decoding* d, Py_ssize_t npairs) except NULL:
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t nforgeable = 0
    cdef long long forgeable_nbytes = 0
    cdef long long key_offset
    cdef int as_dict = not d.map_pairs
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    open_container(d, &frame, MAP)
    d.buf.cursor += 5
    while frame.index < npairs:
        frame.role = KEY
        key_offset = offset_of(&d.buf, d.buf.cursor)
        d.in_key += as_dict
        push(d, decode_key(d, True))
        d.in_key -= as_dict
        if unlikely(has_forgeable_hash(d.stack[d.nstack - 1])):
            nforgeable += 1
            forgeable_nbytes += offset_of(&d.buf, d.buf.cursor) - key_offset
        frame.key = d.stack[d.nstack - 1]
        frame.role = MAPPED
        push(d, decode_value(d))
        frame.index += 1
        check_signals_at(frame.index)
    close_container(d, &frame)
    if d.map_pairs:
        return pairs_from_stack(d, base)
    if unlikely(nforgeable > MAX_BUCKET_NKEYS or (nforgeable > 1 and forgeable_nbytes > MAX_BUCKET_NBYTES)):
        check_collisions(d, base, 2, offset)
    return dict_from_stack(d, base)


cdef inline PyObject* dict_from_stack(Decoding* d, Py_ssize_t base) except NULL:
    # All pairs have been decoded: a dict that is presized never has more capacity than the input had pairs.
    cdef Py_ssize_t i
    cdef Py_ssize_t end = d.nstack
    cdef Py_ssize_t nfilled
    cdef PyObject* result = start_dict(&d.stack[base], (end - base) // 2, &nfilled)
    if unlikely(result == NULL):
        return raise_uncomparable(d)
    kept = <object>result
    decref(result)
    for i in range(base, end, 2):
        if i >= base + 2 * nfilled and unlikely(PyDict_SetItem(result, d.stack[i], d.stack[i + 1]) < 0):
            return raise_uncomparable(d)
        release_item(&d.stack[i])
        release_item(&d.stack[i + 1])
        check_signals_at(i - base + 2)
    d.nstack = base
    incref(result)
    return result


cdef inline void release_item(PyObject** item) noexcept:
    decref(item[0])
    item[0] = NULL    # abandon() must not release it again


cdef PyObject* pairs_from_stack(Decoding* d, Py_ssize_t base) except NULL:
    cdef list pairs = []
    cdef Py_ssize_t i
    for i in range(base, d.nstack, 2):
        pairs.append((<object>d.stack[i], <object>d.stack[i + 1]))
        release_item(&d.stack[i])
        release_item(&d.stack[i + 1])
        check_signals_at(i - base + 2)
    d.nstack = base
    Py_INCREF(pairs)
    return <PyObject*>pairs


cdef inline int enter_level(Encoding* e) except -1:
    if unlikely(e.depth >= e.max_depth):
        return raise_encode_depth(e)
    e.depth += 1
    return 0


cdef inline int open_encoded(Encoding* e, PathFrame* frame, int code) except -1:
    enter_level(e)
    frame.parent = e.frame
    frame.key = NULL
    frame.index = 0
    frame.role = ITEM
    frame.code = code
    e.frame = frame
    return 0


cdef inline int open_counted(Encoding* e, PathFrame* frame, int code, Py_ssize_t count) except -1:
    if unlikely(count > MAX_LENGTH):
        return raise_too_long(e, code, count)
    open_encoded(e, frame, code)
    encode_head(e, code, 0)
    store_i32(e.buf.cursor - 4, <int32_t>count)
    return 0


cdef inline int close_encoded(Encoding* e, PathFrame* frame) except -1:
    e.depth -= 1
    e.frame = frame.parent
    return count_work(&e.work_count, frame.index & SIGNAL_MASK)


# A function that iterates over a container owns it, in `kept`: Python code that it calls may
# drop the caller's reference.

cdef int encode_tuple(Encoding* e, object obj) except -1:
    cdef PathFrame frame
    cdef object kept = obj
    cdef PyObject* items = <PyObject*>kept
    cdef Py_ssize_t count = PyTuple_GET_SIZE(items)
    cdef PyTypeObject* kind
    cdef Py_ssize_t run_check = first_run_check(count)    # index at which a run is looked for next
    open_counted(e, &frame, VECTOR, count)
    while frame.index < count:
        kind = Py_TYPE(PyTuple_GET_ITEM(items, frame.index))
        encode_value(e, PyTuple_GET_ITEM(items, frame.index))
        frame.index += 1
        if frame.index == run_check and run_check < count:
            frame.index += try_encode_run(e, kind, (<PyTupleObject*>items).ob_item + run_check,
                                          min(count - run_check, until_check(run_check)), &run_check)
        check_signals_at(frame.index)
    close_encoded(e, &frame)
    return 0


cdef enum:
    FEW_ITEMS = 4

cdef bint are_doubles(PyObject* items) noexcept:
    cdef Py_ssize_t i
    for i in range(PyList_GET_SIZE(items)):
        if Py_TYPE(PyList_GET_ITEM(items, i)) != &PyFloat_Type:
            return False
    return True


cdef int encode_few_doubles(Encoding* e, PyObject* items) except -1:
    # A LIST, such as a point, that runs no Python code: it needs no frame.
    cdef Py_ssize_t i
    cdef Py_ssize_t count = PyList_GET_SIZE(items)
    cdef unsigned char* p
    if unlikely(e.depth >= e.max_depth):
        return raise_encode_depth(e)
    reserve(&e.buf, 2 + 9 * FEW_ITEMS)
    p = e.buf.cursor
    p[0] = LIST
    p += 1
    for i in range(count):
        p += store_double(p, PyList_GET_ITEM(items, i))
    p[0] = MARKER
    e.buf.cursor = p + 1
    return count_work(&e.work_count, count)


cdef inline int encode_list(Encoding* e, object obj) except -1:
    # Other threads may change the list: without the GIL they wait meanwhile, except while Python code runs.
    return encode_shared_list(e, obj) if NO_GIL else encode_held_list(e, obj)


cdef int encode_shared_list(Encoding* e, object obj) except -1:
    kept = obj
    with cython.critical_section(kept):
        return encode_held_list(e, kept)


cdef int encode_held_list(Encoding* e, object obj) except -1:
    # The size is read at each step: hooks may change the list, and a LIST has no count that could become wrong.
    cdef PathFrame frame
    if PyList_GET_SIZE(<PyObject*>obj) <= FEW_ITEMS and are_doubles(<PyObject*>obj):
        return encode_few_doubles(e, <PyObject*>obj)
    cdef object kept = obj
    cdef PyObject* items = <PyObject*>kept
    cdef PyTypeObject* kind
    cdef Py_ssize_t run_check = first_run_check(PyList_GET_SIZE(items))    # index at which a run is looked for next
    open_encoded(e, &frame, LIST)
    reserve(&e.buf, 1)
    e.buf.cursor[0] = LIST
    e.buf.cursor += 1
    while frame.index < PyList_GET_SIZE(items):
        kind = Py_TYPE(PyList_GET_ITEM(items, frame.index))
        encode_value(e, PyList_GET_ITEM(items, frame.index))
        frame.index += 1
        if frame.index == run_check and run_check < PyList_GET_SIZE(items):
            frame.index += try_encode_run(e, kind, list_items(items) + run_check,
                                          min(PyList_GET_SIZE(items) - run_check, until_check(run_check)), &run_check)
        check_signals_at(frame.index)
    reserve(&e.buf, 1)
    e.buf.cursor[0] = MARKER
    e.buf.cursor += 1
    close_encoded(e, &frame)
    return 0


cdef inline int encode_dict(Encoding* e, object obj) except -1:
    # Other threads may change the dict: without the GIL it is encoded as it was when its encoding began.
    return encode_shared_dict(e, obj) if NO_GIL else encode_whole_dict(e, obj)


cdef int encode_whole_dict(Encoding* e, object obj) except -1:
    cdef PathFrame frame
    cdef object kept = obj
    cdef PyObject* mapping = <PyObject*>kept
    cdef Py_ssize_t npairs = PyDict_GET_SIZE(mapping)
    cdef Py_ssize_t position = 0
    cdef PyObject* key
    cdef PyObject* value
    if e.sort_keys and npairs > 1:
        return encode_sorted_dict(e, kept)
    open_counted(e, &frame, MAP, npairs)
    while frame.index < npairs and dict_next(mapping, &position, &key, &value):
        encode_entry(e, &frame, <object>key, <object>value)
        check_signals_at(frame.index)
    if unlikely(frame.index != npairs or PyDict_GET_SIZE(mapping) != npairs):
        raise_changed_size()
    close_encoded(e, &frame)
    return 0


cdef int raise_changed_size() except -1:
    raise RuntimeError("dict changed size while it was encoded")


cdef enum:
    FEW_PAIRS = 4

cdef int encode_shared_dict(Encoding* e, object obj) except -1:
    # As the dict is now. Scalars are encoded while it is locked. What encodes any other object may release the lock, or
    # change the dict: pairs from the first such object on are kept, up to FEW_PAIRS on the C stack; of a dict with more
    # a copy is encoded.
    cdef PathFrame frame
    cdef PyObject* rest[2 * FEW_PAIRS]
    cdef Py_ssize_t nrest = 0, i
    cdef Py_ssize_t start = written(&e.buf)
    cdef bint fits
    kept = obj
    if e.sort_keys:
        return encode_whole_dict(e, PyDict_Copy(kept))
    try:
        fits = encode_first_pairs(e, &frame, kept, rest, &nrest)
        for i in range(0, nrest if fits else 0, 2):
            encode_owned_entry(e, &frame, rest[i], rest[i + 1])
    finally:
        for i in range(nrest):
            decref(rest[i])
    close_encoded(e, &frame)
    if fits:
        return 0
    e.buf.cursor = e.buf.start + start
    return encode_whole_dict(e, PyDict_Copy(kept))


cdef inline bint encode_first_pairs(Encoding* e, PathFrame* frame, object mapping, PyObject** rest,
                                    Py_ssize_t* nrest) except -1:
    # Up to the first object that is not a scalar; from there on keys and values are stored in `rest`, each a new
    # reference. False: there are too many.
    cdef Py_ssize_t npairs
    cdef Py_ssize_t position = 0
    cdef PyObject* key
    cdef PyObject* value
    # and of these none runs Python code
    cdef bint only_scalars = e.default == NULL and e.unicode_errors == NULL and e.pickle == SAFE
    with cython.critical_section(mapping):
        npairs = PyDict_GET_SIZE(<PyObject*>mapping)
        open_counted(e, frame, MAP, npairs)
        while dict_next(<PyObject*>mapping, &position, &key, &value):
            if only_scalars and is_scalar(key) and is_scalar(value):
                encode_owned_entry(e, frame, key, value)    # the lock keeps them in the dict
                check_signals_at(frame.index)
            elif nrest[0] == 2 * FEW_PAIRS or npairs - frame.index > FEW_PAIRS:
                return False
            else:
                only_scalars = False
                incref(key)
                incref(value)
                rest[nrest[0]], rest[nrest[0] + 1] = key, value
                nrest[0] += 2
        if unlikely(frame.index + nrest[0] // 2 != npairs):    # a signal's handler has changed it
            raise_changed_size()
    return True


cdef inline bint is_scalar(PyObject* obj) noexcept:
    cdef PyTypeObject* kind = Py_TYPE(obj)
    return kind == &PyUnicode_Type or kind == &PyLong_Type or kind == &PyFloat_Type or kind == &PyBool_Type \
        or kind == &PyBytes_Type or obj == Py_None


cdef inline int encode_entry(Encoding* e, PathFrame* frame, object key, object value) except -1:
    # Own both: encoding one may run Python code that removes the pair from its dict.
    kept_key, kept_value = key, value
    return encode_owned_entry(e, frame, <PyObject*>kept_key, <PyObject*>kept_value)


cdef inline int encode_owned_entry(Encoding* e, PathFrame* frame, PyObject* key, PyObject* value) except -1:
    frame.role = KEY
    encode_value(e, key)
    frame.role = MAPPED
    frame.key = key
    encode_value(e, value)
    frame.key = NULL
    frame.index += 1
    return 0


cdef int encode_items(Encoding* e, list items) except -1:
    cdef PathFrame frame
    cdef Py_ssize_t i
    for i, pair in enumerate(items):
        if type(pair) is not tuple or len(<tuple>pair) != 2:
            return raise_no_pair(e, pair)
        check_signals_at(i + 1)
    open_counted(e, &frame, MAP, len(items))
    if e.sort_keys:
        sort_by_encoded_key(e, &frame, items, NULL)
    for pair in items:
        encode_entry(e, &frame, (<tuple>pair)[0], (<tuple>pair)[1])
        check_signals_at(frame.index)
    close_encoded(e, &frame)
    return 0
