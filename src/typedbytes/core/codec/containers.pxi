# Containers, and the dispatch by type code and by Python type that ties everything together.

cdef enum:
    FIRST_PATIENCE = 1024   # items before the collector is paused
    MOST_PATIENCE = 0x3fff  # items before signals are looked at
    MAX_REPLACED = 256      # default= calls within one another
    HEAVY = 2048            # bytes of keys that may share one hash value, before that is looked into
    MOST_AT_ONCE = 1024     # items of a run for which room is made
    SPILL = 8192            # items of a LIST that wait on the stack before they move to their list


# Keys of one MAP at one place of the table that counts them.
cdef struct Crowd:
    Py_ssize_t nkeys
    Py_ssize_t weight


cdef inline int open_container(Decoding* d, PathFrame* frame, int code) except -1:
    # The cursor stands at the type code.
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
    d.ticks += (frame.index & 0x3fff) + 1
    if unlikely(d.ticks > d.patience):
        return take_stock(d)
    return 0


cdef int take_stock(Decoding* d) except -1:
    # Many items in one record: from here on the collector would run again and again and find nothing. Not while a source is
    # waited for, and not under anybody's code.
    d.ticks = 0
    d.patience = MOST_PATIENCE
    if not d.paused and d.ext_hook == NULL and d.pickle != TRUST:
        d.paused = pause_collector()
    return hear_signals()


cdef bint wake_collector(Decoding* d) noexcept:
    # Whether it was paused.
    cdef bint paused = d.paused
    if paused:
        resume_collector()
    d.paused = False
    return paused


# Whether the collector is off because of us. Others may switch it off while their code runs; then it is theirs, and stays off.
cdef bint COLLECTOR_IS_OURS = False


cdef bint pause_collector() noexcept:
    global COLLECTOR_IS_OURS
    cdef bint was_on = gc_pause()
    COLLECTOR_IS_OURS |= was_on
    return was_on


cdef bint resume_collector() noexcept:
    global COLLECTOR_IS_OURS
    cdef bint was_ours = COLLECTOR_IS_OURS
    gc_resume(was_ours)
    COLLECTOR_IS_OURS = False
    return was_ours


cdef int hear_signals() except -1:
    # What handles them finds the collector as its users have it; after an exception it stays so.
    cdef bint was_ours = resume_collector()
    PyErr_CheckSignals()
    if was_ours:
        pause_collector()
    return 0


cdef inline int push(Decoding* d, PyObject* item) except -1:
    if unlikely(d.nstack == d.stack_room):
        enlarge_stack(d, item)
    d.stack[d.nstack] = item
    d.nstack += 1
    return 0


cdef int enlarge_stack(Decoding* d, PyObject* item) except -1:
    cdef Py_ssize_t room = max(64, 2 * d.stack_room)
    cdef PyObject** stack = <PyObject**>PyMem_Realloc(NULL if d.stack == d.lent_stack else d.stack, room * sizeof(PyObject*))
    if stack == NULL:
        decref(item)
        raise MemoryError
    if d.nstack > 0 and d.stack == d.lent_stack:
        memcpy(stack, d.stack, d.nstack * sizeof(PyObject*))
    d.stack = stack
    d.stack_room = room
    return 0


# A signal is looked at after 16,384 items at most, in one container or in many small ones.

cdef inline int check_signals(Py_ssize_t index) except -1:
    if unlikely(index & 0x3fff == 0):
        return hear_signals()
    return 0


cdef inline Py_ssize_t until_check(Py_ssize_t index) noexcept:
    # Items that may come before signals are to be looked at again.
    return 0x4000 - (index & 0x3fff)


cdef inline int count_ticks(Py_ssize_t* ticks, Py_ssize_t nitems) except -1:
    ticks[0] += nitems + 1
    if unlikely(ticks[0] > MOST_PATIENCE):
        ticks[0] = 0
        PyErr_CheckSignals()
    return 0


# Runs: items of one type code, one behind the other. Lists of numbers are made of little else; a loop for each code keeps
# cursor and stack in registers, and takes the branches of no other code. A container looks for one behind its first item, and
# when there is none at twice that index, and so on: where kinds are mixed, asking each time would be mispredicted each time.

cdef inline Py_ssize_t first_look(Py_ssize_t count) noexcept:
    return 1 if count > 3 else 0    # never


cdef inline Py_ssize_t next_look(Py_ssize_t index, Py_ssize_t nfound) noexcept:
    return index + nfound + 1 if nfound else 2 * index


cdef inline int code_ahead(const Decoding* d) noexcept:
    return d.buf.cursor[0] if d.buf.cursor < d.buf.end else -1


cdef inline Py_ssize_t try_run(Decoding* d, int code, Py_ssize_t most, Py_ssize_t* look) except -1:
    # Decode `most` items at most while they are of the code of the one before; return how many.
    cdef Py_ssize_t nfound = 0
    if d.buf.cursor == d.buf.end:
        look[0] += 1    # nobody knows yet
        return 0
    if d.buf.cursor[0] == code and BOOL <= code <= DOUBLE and code != FLOAT:
        nfound = decode_run(d, most)
    look[0] = next_look(look[0], nfound)
    return nfound


cdef Py_ssize_t decode_run(Decoding* d, Py_ssize_t most) except -1:
    # Items of the code at the cursor, as far as they are held.
    cdef const unsigned char* p = d.buf.cursor
    cdef const unsigned char* end = d.buf.end
    cdef PyObject** item = d.stack + d.nstack
    cdef PyObject** stop = item + min(most, d.stack_room - d.nstack)
    cdef int code = p[0]
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
    if unlikely(failed):
        d.nstack = item - 1 - d.stack
        return -1
    most = item - d.stack - d.nstack
    d.buf.cursor = p
    d.nstack += most
    return most


# wire    8 VECTOR: i32 count, that many values.
# python  tuple both ways, of every count.
# errors  FormatError at the type code: negative count; at the MARKER: one inside. LimitError: too deep.
# source  Hadoop TypedBytesOutput.writeVector; vectors vector_*.

cdef PyObject* decode_vector(Decoding* d, Py_ssize_t count) except NULL:
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef int code = -1
    cdef Py_ssize_t look = first_look(count)    # for a run, at this index
    open_container(d, &frame, VECTOR)
    d.buf.cursor += 5
    while frame.index < count:
        if frame.index == look - 1:
            code = code_ahead(d)
        push(d, decode_value(d))
        frame.index += 1
        check_signals(frame.index)
        if frame.index == look:
            frame.index += try_run(d, code, min(count - look, until_check(look)), &look)
            check_signals(frame.index)
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
    cdef list spilled = None
    cdef int code
    cdef Py_ssize_t look = 1    # for a run, at this index
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
        check_signals(frame.index)
        if frame.index == look:
            frame.index += try_run(d, code, min(SPILL - (d.nstack - base), until_check(look)), &look)
            check_signals(frame.index)
        if unlikely(d.nstack - base == SPILL):
            spilled = spill(d, base, spilled)
    d.buf.cursor += 1
    close_container(d, &frame)
    if spilled is None:
        base, d.nstack = d.nstack - base, base
        return list_from_stolen(d.stack + d.nstack, base)
    spilled = spill(d, base, spilled)
    Py_INCREF(spilled)
    return <PyObject*>spilled


cdef list spill(Decoding* d, Py_ssize_t base, list target):
    # Long lists grow in steps, so that the stack does not double what the list itself takes.
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
# errors  FormatError at the type code: negative count; at the LIST or MAP: an unhashable key. LimitError: too deep, or more
#         than 512 VECTOR or application keys with one hash value (equal hashes make a dict quadratic).
# source  Hadoop TypedBytesOutput.writeMap; vectors map_*.

cdef PyObject* decode_map(Decoding* d, Py_ssize_t npairs) except NULL:
    cdef PathFrame frame
    cdef Py_ssize_t base = d.nstack
    cdef Py_ssize_t nweak = 0
    cdef long long weak_nbytes = 0
    cdef long long key_offset
    cdef int as_dict = not d.map_pairs
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef PyObject* result
    open_container(d, &frame, MAP)
    d.buf.cursor += 5
    while frame.index < npairs:
        frame.role = KEY
        key_offset = offset_of(&d.buf, d.buf.cursor)
        d.in_key += as_dict
        push(d, decode_key(d, True))
        d.in_key -= as_dict
        if unlikely(has_weak_hash(d.stack[d.nstack - 1])):
            nweak += 1
            weak_nbytes += offset_of(&d.buf, d.buf.cursor) - key_offset
        frame.key = d.stack[d.nstack - 1]
        frame.role = MAPPED
        push(d, decode_value(d))
        frame.index += 1
        check_signals(frame.index)
    close_container(d, &frame)
    if d.map_pairs:
        return pairs_from_stack(d, base)
    if unlikely(nweak > 32 or (nweak > 1 and weak_nbytes > HEAVY)):
        refuse_colliding(d, base, offset)
    return dict_from_stack(d, base)


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


cdef PyObject* dict_from_stack(Decoding* d, Py_ssize_t base) except NULL:
    # Every pair is there, so the dict gets its room at once, and never more than what came in.
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
        let_go(&d.stack[i])
        let_go(&d.stack[i + 1])
        check_signals(i - base)
    d.nstack = base
    incref(result)
    return result


cdef inline void let_go(PyObject** item) noexcept:
    decref(item[0])
    item[0] = NULL    # should the rest fail


cdef PyObject* pairs_from_stack(Decoding* d, Py_ssize_t base) except NULL:
    cdef list pairs = []
    cdef Py_ssize_t i
    for i in range(base, d.nstack, 2):
        pairs.append((<object>d.stack[i], <object>d.stack[i + 1]))
        let_go(&d.stack[i])
        let_go(&d.stack[i + 1])
    d.nstack = base
    Py_INCREF(pairs)
    return <PyObject*>pairs


# Dispatch by type code. What is common and held whole is decoded here; what is rare, wrong, cut off or not yet there takes the
# way out of line.

cdef inline PyObject* decode_value(Decoding* d) except NULL:
    cdef const unsigned char* p = d.buf.cursor
    cdef Py_ssize_t left = d.buf.end - p
    cdef Py_ssize_t length
    cdef int code
    if unlikely(left <= 0):
        return decode_near_end(d)
    code = p[0]
    if code == INT:
        if likely(left >= 5):
            d.buf.cursor = p + 5
            return int_object(load_i32(p + 1))
    elif code == STRING:
        if likely(left >= 5):
            length = load_length(p + 1)
            if likely(0 <= length <= left - 5):
                d.buf.cursor = p + 5 + length
                return decode_short_string(d, p + 5, length)
    elif code == LONG:
        if likely(left >= 9):
            d.buf.cursor = p + 9
            return decode_long(d, p + 1)
    elif code == DOUBLE:
        if likely(left >= 9):
            d.buf.cursor = p + 9
            return PyFloat_FromDouble(load_f64(p + 1))
    elif code == BOOL:
        if likely(left >= 2):
            d.buf.cursor = p + 2
            return decode_bool(p + 1)
    elif code == BYTE:
        if likely(left >= 2 and not d.exact):
            d.buf.cursor = p + 2
            return decode_byte(p + 1)
    elif code == BYTES:
        if likely(left >= 5):
            length = load_length(p + 1)
            if likely(0 <= length <= left - 5):
                d.buf.cursor = p + 5 + length
                return decode_bytes(p + 5, length)
    elif code == VECTOR:
        if likely(left >= 5):
            length = load_length(p + 1)
            if likely(length >= 0):
                return decode_vector(d, length)
    return decode_other(d)


cdef inline PyObject* decode_key(Decoding* d, bint in_map) except NULL:
    # A key is most likely a short string that was there before; in a MAP it also follows the one that it followed before.
    cdef const unsigned char* p = d.buf.cursor
    cdef Py_ssize_t left = d.buf.end - p
    cdef Py_ssize_t length
    if likely(left >= 5 and p[0] == STRING):
        length = load_length(p + 1)
        if likely(0 <= length <= left - 5):
            d.buf.cursor = p + 5 + length
            return decode_field(d, p + 5, length) if in_map else decode_key_string(d, p + 5, length)
    return decode_value(d)


cdef PyObject* decode_near_end(Decoding* d) except NULL:
    require(d, 1, -1)
    return decode_other(d)


cdef PyObject* decode_other(Decoding* d) except NULL:
    # At least the type code is held.
    cdef int code = d.buf.cursor[0]
    cdef Py_ssize_t length
    if code == LIST:
        refuse_in_key(d, code)
        return decode_list(d)
    if code < BYTE or code == STRING or FIRST_APPLICATION <= code <= LAST_APPLICATION:
        if code == ENDOFRECORD and d.hive:
            return take(d, 1, new_ext(code, NULL, 0))
        require(d, 5, code)
        length = load_length(d.buf.cursor + 1)
        if length < 0:
            return raise_negative(d, length, code)
        return decode_long_payload(d, code, length)
    if code == VECTOR or code == MAP:
        if code == MAP:
            refuse_in_key(d, code)
        if d.depth >= d.max_depth:
            return raise_depth(d, code)
        require(d, 5, code)
        length = load_length(d.buf.cursor + 1)
        if length < 0:
            return raise_negative(d, length, code)
        return decode_vector(d, length) if code == VECTOR else decode_map(d, length)
    return decode_fixed(d, code)


cdef PyObject* decode_fixed(Decoding* d, int code) except NULL:
    if code == BYTE:
        require(d, 2, code)
        if d.exact:
            return take(d, 2, exact_int(Byte, <signed char>d.buf.cursor[1]))
        return take(d, 2, decode_byte(d.buf.cursor + 1))
    if code == BOOL:
        require(d, 2, code)
        return take(d, 2, decode_bool(d.buf.cursor + 1))
    if code == INT:
        require(d, 5, code)
        return take(d, 5, int_object(load_i32(d.buf.cursor + 1)))
    if code == LONG:
        require(d, 9, code)
        return take(d, 9, decode_long(d, d.buf.cursor + 1))
    if code == FLOAT:
        require(d, 5, code)
        return take(d, 5, decode_float(d, d.buf.cursor + 1))
    if code == DOUBLE:
        require(d, 9, code)
        return take(d, 9, PyFloat_FromDouble(load_f64(d.buf.cursor + 1)))
    if code == MARKER:
        return raise_format(d, "MARKER outside a LIST", code)
    if d.hive and code == SHORT:
        require(d, 3, code)
        return take(d, 3, decode_short(d, d.buf.cursor + 1))
    if d.hive and code == NULL_CODE:
        return take(d, 1, decode_null())
    return raise_unknown(d, code)


cdef inline PyObject* take(Decoding* d, Py_ssize_t nbytes, PyObject* value) noexcept:
    d.buf.cursor += nbytes
    return value


cdef PyObject* decode_long_payload(Decoding* d, int code, Py_ssize_t length) except NULL:
    # The cursor stands at the type code, whose head is held; the payload may still have to come in.
    cdef PyObject* value
    if code == BYTES and length >= LARGE and length > held(&d.buf) - 5 and d.buf.fill != NULL and not d.max_bytes \
            and d.buf.mark == NULL:
        d.buf.cursor += 5
        return read_large_bytes(d, length)
    require(d, 5 + min(length, PY_SSIZE_T_MAX - 5), code)    # so much is never there
    if code == BYTES:
        value = decode_bytes(d.buf.cursor + 5, length)
    elif code == STRING:
        value = decode_string(d, d.buf.cursor + 5, length)
    else:
        value = decode_application(d, code, d.buf.cursor + 5, length)
    d.buf.cursor += 5 + length
    return value


cdef inline int refuse_in_key(Decoding* d, int code) except -1:
    if unlikely(d.in_key > 0):
        return raise_unhashable(d, code)
    return 0


cdef inline int require(Decoding* d, Py_ssize_t wanted, int code) except -1:
    if likely(held(&d.buf) >= wanted):
        return 0
    return fetch(d, wanted, code)


cdef int fetch(Decoding* d, Py_ssize_t wanted, int code) except -1:
    if d.max_bytes:
        if offset_of(&d.buf, d.buf.cursor) + wanted - d.record_offset > d.max_bytes:
            return raise_record_limit(d)
        show_hidden(d)
        if refill_awake(d, wanted):
            hide_beyond_limit(d)
            return 0
    elif refill_awake(d, wanted):
        return 0
    return raise_truncated(d, wanted, code)


cdef int refill_awake(Decoding* d, Py_ssize_t wanted) except -1:
    cdef bint paused = wake_collector(d)
    cdef int filled = refill(&d.buf, wanted)
    d.paused = paused and pause_collector()
    return filled


# A record's limit is kept by hiding what lies beyond it, so that no inner loop has to ask.

cdef void hide_beyond_limit(Decoding* d) noexcept:
    cdef long long allowed = d.record_offset + d.max_bytes - offset_of(&d.buf, d.buf.cursor)
    allowed = max(allowed, 0)
    if held(&d.buf) > allowed:
        d.nhidden = held(&d.buf) - <Py_ssize_t>allowed
        d.buf.end -= d.nhidden


cdef void show_hidden(Decoding* d) noexcept:
    d.buf.end += d.nhidden
    d.nhidden = 0


cdef void end_record(Decoding* d) noexcept:
    if unlikely(d.nhidden > 0):
        show_hidden(d)
    if unlikely(d.patience != FIRST_PATIENCE):
        d.patience = FIRST_PATIENCE
        wake_collector(d)


cdef PyObject* decode_record(Decoding* d) except NULL:
    d.record_offset = offset_of(&d.buf, d.buf.cursor)
    return decode_rest(d)


cdef PyObject* decode_rest(Decoding* d) except NULL:
    cdef PyObject* value
    if unlikely(d.max_bytes > 0):
        hide_beyond_limit(d)
    value = decode_value(d)
    end_record(d)
    return value


cdef PyObject* decode_lone(const Decoding* options, const unsigned char* p, Py_ssize_t nbytes, bint is_key) except? NULL:
    if nbytes < 2 or options.exact or options.max_bytes:
        return NULL
    if nbytes == 2:
        return decode_bool(p + 1) if p[0] == BOOL else decode_byte(p + 1) if p[0] == BYTE else NULL
    if nbytes == 5 and p[0] == INT:
        return int_object(load_i32(p + 1))
    if nbytes == 9 and p[0] == DOUBLE:
        return PyFloat_FromDouble(load_f64(p + 1))
    if nbytes == 9 and p[0] == LONG:
        return int_object(load_i64(p + 1))
    if nbytes >= 5 and load_length(p + 1) == nbytes - 5:
        if p[0] == BYTES:
            return decode_bytes(p + 5, nbytes - 5)
        if p[0] == STRING:
            if nbytes - 5 <= CACHED_LENGTH and options.remembers and (is_key or try_luck()):
                return find_string(p + 5, nbytes - 5, is_key)
            if is_ascii(p + 5, nbytes - 5):
                return decode_ascii(p + 5, nbytes - 5)
    return NULL


cdef int decode_pair(Decoding* d, PyObject** key, PyObject** value) except -1:
    # The key waits on the stack, where abandon() finds it when the value fails.
    d.record_offset = offset_of(&d.buf, d.buf.cursor)
    if unlikely(d.max_bytes > 0):
        hide_beyond_limit(d)
    push(d, decode_key(d, False))
    value[0] = decode_value(d)
    d.nstack -= 1
    key[0] = d.stack[d.nstack]
    end_record(d)
    return 0


cdef void abandon(Decoding* d) noexcept:
    d.frame = NULL
    d.depth = 0
    d.in_key = 0
    end_record(d)
    while d.nstack > 0:
        d.nstack -= 1
        Py_XDECREF(d.stack[d.nstack])
    if d.stack != d.lent_stack:
        PyMem_Free(d.stack)
    d.stack = NULL
    d.stack_room = 0


# Dispatch by Python type: exact types by pointer, in likely order; subclasses, hooks and the rest out of line.

cdef inline int encode_value(Encoding* e, PyObject* obj) except -1:
    cdef PyTypeObject* kind = Py_TYPE(obj)
    if kind == &PyLong_Type:
        return encode_int(e, obj)
    if kind == &PyUnicode_Type:
        return encode_str(e, obj)
    if kind == &PyFloat_Type:
        return encode_double(e, obj)
    if kind == &PyBool_Type:
        return encode_bool(e, obj)
    if kind == &PyBytes_Type:
        return encode_bytes(e, obj)
    return encode_other(e, <object>obj)


cdef int encode_other(Encoding* e, object obj) except -1:
    # `kept` holds the object while Python code may run; whoever lent it could let go of it.
    kept = obj
    cdef PyTypeObject* kind = Py_TYPE(<PyObject*>obj)
    if kind == &PyTuple_Type:
        return encode_tuple(e, <PyObject*>obj)
    if kind == &PyList_Type:
        return encode_list(e, <PyObject*>obj)
    if kind == &PyDict_Type:
        return encode_dict(e, <PyObject*>obj)
    if obj is None:
        if e.hive:
            return encode_null(e)
        return encode_pickled_type(e, obj)
    return encode_by_kind(e, obj)


cdef int encode_by_kind(Encoding* e, object obj) except -1:
    kind = type(obj)
    if kind is Byte:
        return encode_byte(e, <PyObject*>obj)
    if kind is Float:
        return encode_float(e, obj)
    if kind is Ext:
        return encode_ext(e, obj)
    if kind is Writable:
        return encode_writable(e, obj)
    if kind is Long:
        return encode_long(e, <PyObject*>obj)
    if kind is bytearray or kind is memoryview or kind is loaded_type("array", "array"):
        return encode_buffer(e, obj)
    if PyLong_Check(obj):
        return encode_int(e, <PyObject*>obj)
    if PyFloat_Check(obj):
        return encode_double(e, <PyObject*>obj)
    if PyUnicode_Check(obj):
        return encode_str(e, <PyObject*>obj)
    if PyBytes_Check(obj):
        return encode_bytes(e, <PyObject*>obj)
    if PyTuple_Check(obj):
        return encode_tuple(e, <PyObject*>obj)
    if PyList_Check(obj):
        return encode_list(e, <PyObject*>obj)
    if PyDict_Check(obj):
        return encode_items(e, list(obj.items()))
    if "numpy" in sys.modules and encode_numpy(e, obj):
        return 0
    if kind in (set, frozenset, complex) or kind.__module__ in ("decimal", "datetime", "uuid"):
        return encode_pickled_type(e, obj)
    return encode_unknown(e, obj)


cdef object loaded_type(str module, str name):
    # A type of a module that is imported only where it is used: without it there is no object of the type.
    return getattr(sys.modules.get(module), name, None)


cdef int encode_pickled_type(Encoding* e, object obj) except -1:
    # A value type without a code of its own.
    if e.pickle == RAW:
        return encode_unknown(e, obj)
    try:
        data = pickle_of(e, obj)
    except (TypeError, ValueError) as error:
        raise_without_memory(error)
        if e.default != NULL:
            return encode_default(e, obj)
        raise EncodeTypeError(f"cannot encode an object of type {name_of_type(obj)}: {error}", path_of(e.frame)) from error
    return encode_pickled(e, data)


cdef int encode_unknown(Encoding* e, object obj) except -1:
    if e.default != NULL:
        return encode_default(e, obj)
    if e.pickle == TRUST:
        try:
            data = pickle_of(e, obj)
        except Exception as error:
            raise_without_memory(error)
            raise EncodeTypeError(f"cannot pickle an object of type {name_of_type(obj)}: {error}",
                                  path_of(e.frame)) from error
        return encode_pickled(e, data)
    return raise_encode_type(e, obj)


cdef int encode_default(Encoding* e, object obj) except -1:
    # Replacements of replacements are counted, so that a default that never comes to an end does.
    if e.nreplaced == MAX_REPLACED:
        return raise_encode_value(e, f"default= gave {MAX_REPLACED} replacements within one another")
    replacement = (<object>e.default)(obj)
    e.nreplaced += 1
    encode_value(e, <PyObject*>replacement)
    e.nreplaced -= 1
    return 0


cdef bint encode_numpy(Encoding* e, object obj) except -1:
    if isinstance(obj, loaded_type("numpy", "ndarray") or ()):
        from typedbytes._ndarray import dumps_array
        try:
            data = dumps_array(obj)
        except TypeError as error:
            raise_without_memory(error)
            raise EncodeTypeError(str(error), path_of(e.frame)) from error
        encode_payload(e, NDARRAY, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
        return True
    if not isinstance(obj, loaded_type("numpy", "generic") or ()):
        return False
    return encode_numpy_scalar(e, obj)


cdef bint encode_numpy_scalar(Encoding* e, object obj) except -1:
    # By kind and width: what fits the 8, 32 or 64 signed bits of BYTE, INT and LONG.
    cdef object number
    kind = obj.dtype.kind
    size = obj.dtype.itemsize
    if kind == "b":
        number = bool(obj)
        encode_bool(e, <PyObject*>number)
    elif kind == "f" and size <= 4:
        encode_float(e, float(obj))
    elif kind == "c" and size <= 16:
        encode_pickled_type(e, complex(obj))
    elif kind == "i" and size == 1:
        number = Byte(obj)
        encode_byte(e, <PyObject*>number)
    elif kind in "iu":
        number = int(obj)
        if e.int_width == 0 and (size == 8 or kind == "u" and size == 4) and number < 1 << 63:
            encode_long(e, <PyObject*>number)
        else:
            encode_int(e, <PyObject*>number)
    else:
        return False
    return True


cdef inline int deepen(Encoding* e) except -1:
    if unlikely(e.depth >= e.max_depth):
        return raise_encode_depth(e)
    e.depth += 1
    return 0


cdef inline int open_encoded(Encoding* e, PathFrame* frame, int code) except -1:
    deepen(e)
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
    return count_ticks(&e.ticks, frame.index & 0x3fff)


# Runs, as in decoding: items of one exact type, for which room is made at once. None of them runs Python code.

cdef inline Py_ssize_t try_encode_run(Encoding* e, PyTypeObject* kind, PyObject** items, Py_ssize_t most,
                                      Py_ssize_t* look) except -1:
    # Encode items[0:most] as far as they are of the type of the one before; return how many.
    cdef Py_ssize_t nfound = 0
    if Py_TYPE(items[0]) == kind and (kind == &PyLong_Type or kind == &PyFloat_Type or kind == &PyBool_Type):
        nfound = encode_run(e, items, most)
    look[0] = next_look(look[0], nfound)
    return nfound


cdef Py_ssize_t encode_run(Encoding* e, PyObject** items, Py_ssize_t most) except -1:
    cdef PyTypeObject* kind = Py_TYPE(items[0])
    cdef PyObject** item = items
    cdef PyObject** stop = items + min(most, MOST_AT_ONCE)
    cdef unsigned char* p
    cdef int64_t number
    reserve_for(e, 9 * (stop - items))
    p = e.buf.cursor
    if kind == &PyLong_Type and e.int_width == 0:
        while item < stop and Py_TYPE(item[0]) == kind and int_to_i64_evenly(item[0], &number):
            p += store_int(p, number)
            item += 1
    elif kind == &PyFloat_Type:
        while item < stop and Py_TYPE(item[0]) == kind:
            p += store_double(p, item[0])
            item += 1
    elif kind == &PyBool_Type:
        while item < stop and Py_TYPE(item[0]) == kind:
            p += store_bool(p, item[0])
            item += 1
    e.buf.cursor = p
    return item - items


cdef int encode_tuple(Encoding* e, PyObject* items) except -1:
    cdef PathFrame frame
    cdef Py_ssize_t count = PyTuple_GET_SIZE(items)
    cdef PyTypeObject* kind
    cdef Py_ssize_t look = first_look(count)    # for a run, at this index
    open_counted(e, &frame, VECTOR, count)
    while frame.index < count:
        kind = Py_TYPE(PyTuple_GET_ITEM(items, frame.index))
        encode_value(e, PyTuple_GET_ITEM(items, frame.index))
        frame.index += 1
        if frame.index == look and look < count:
            frame.index += try_encode_run(e, kind, (<PyTupleObject*>items).ob_item + look,
                                          min(count - look, until_check(look)), &look)
        check_signals(frame.index)
    close_encoded(e, &frame)
    return 0


cdef int encode_list(Encoding* e, PyObject* items) except -1:
    # The size is asked for at each step: hooks may change the list, and a LIST carries no count that could be wrong.
    cdef PathFrame frame
    cdef PyTypeObject* kind
    cdef Py_ssize_t look = first_look(PyList_GET_SIZE(items))    # for a run, at this index
    open_encoded(e, &frame, LIST)
    reserve_for(e, 1)
    e.buf.cursor[0] = LIST
    e.buf.cursor += 1
    while frame.index < PyList_GET_SIZE(items):
        kind = Py_TYPE(PyList_GET_ITEM(items, frame.index))
        encode_value(e, PyList_GET_ITEM(items, frame.index))
        frame.index += 1
        if frame.index == look and look < PyList_GET_SIZE(items):
            frame.index += try_encode_run(e, kind, (<PyListObject*>items).ob_item + look,
                                          min(PyList_GET_SIZE(items) - look, until_check(look)), &look)
        check_signals(frame.index)
    reserve_for(e, 1)
    e.buf.cursor[0] = MARKER
    e.buf.cursor += 1
    close_encoded(e, &frame)
    return 0


cdef int encode_dict(Encoding* e, PyObject* mapping) except -1:
    cdef PathFrame frame
    cdef Py_ssize_t npairs = PyDict_GET_SIZE(mapping)
    cdef Py_ssize_t position = 0
    cdef PyObject* key
    cdef PyObject* value
    if e.sort_keys and npairs > 1:
        return encode_items(e, list((<dict>mapping).items()))
    open_counted(e, &frame, MAP, npairs)
    while frame.index < npairs and dict_next(mapping, &position, &key, &value):
        encode_entry(e, &frame, <object>key, <object>value)
        check_signals(frame.index)
    if unlikely(frame.index != npairs or PyDict_GET_SIZE(mapping) != npairs):
        raise RuntimeError("dict changed size while it was encoded")
    close_encoded(e, &frame)
    return 0


cdef inline int encode_entry(Encoding* e, PathFrame* frame, object key, object value) except -1:
    # Both are held: encoding one may run Python code that takes the pair out of its dict.
    kept_key, kept_value = key, value
    frame.role = KEY
    encode_value(e, <PyObject*>kept_key)
    frame.role = MAPPED
    frame.key = <PyObject*>kept_key
    encode_value(e, <PyObject*>kept_value)
    frame.key = NULL
    frame.index += 1
    return 0


cdef int encode_items(Encoding* e, list items) except -1:
    cdef PathFrame frame
    for pair in items:
        if type(pair) is not tuple or len(<tuple>pair) != 2:
            return raise_no_pair(e, pair)
    open_counted(e, &frame, MAP, len(items))
    if e.sort_keys:
        sort_by_encoded_key(e, &frame, items)
    for pair in items:
        encode_entry(e, &frame, (<tuple>pair)[0], (<tuple>pair)[1])
        check_signals(frame.index)
    close_encoded(e, &frame)
    return 0


cdef struct KeyPlace:
    const unsigned char* start    # of the encoded key
    Py_ssize_t nbytes
    Py_ssize_t index


cdef int compare_keys(const void* a, const void* b) noexcept nogil:
    cdef const KeyPlace* x = <const KeyPlace*>a
    cdef const KeyPlace* y = <const KeyPlace*>b
    cdef int order = memcmp(x.start, y.start, min(x.nbytes, y.nbytes))
    if order == 0:
        order = (x.nbytes > y.nbytes) - (x.nbytes < y.nbytes)
    return order if order else (x.index > y.index) - (x.index < y.index)


cdef int sort_by_encoded_key(Encoding* e, PathFrame* frame, list items) except -1:
    # The keys are encoded side by side in a buffer of their own.
    cdef Py_ssize_t npairs = len(items)
    cdef Py_ssize_t i
    cdef WriteBuffer output = e.buf
    cdef KeyPlace* places = <KeyPlace*>PyMem_Malloc(max(npairs, 1) * sizeof(KeyPlace))
    if places == NULL:
        raise MemoryError
    frame.role = KEY
    try:
        start_owned(&e.buf, 16 * npairs + 64)
        for i in range(npairs):
            places[i].index = frame.index = i
            places[i].nbytes = written(&e.buf)
            encode_value(e, <PyObject*>(<tuple>items[i])[0])
            places[i].nbytes = written(&e.buf) - places[i].nbytes
            check_signals(i)
        places[0].start = e.buf.start
        for i in range(1, npairs):
            places[i].start = places[i - 1].start + places[i - 1].nbytes
        qsort(places, npairs, sizeof(KeyPlace), compare_keys)
        items[:] = [items[places[i].index] for i in range(npairs)]
    finally:
        drop(&e.buf)
        e.buf = output
        PyMem_Free(places)
    frame.index = 0
    return 0


cdef PyObject* encode_lone(const Encoding* options, PyObject* obj) except? NULL:
    cdef PyTypeObject* kind = Py_TYPE(obj)
    cdef PyObject* result
    cdef int64_t number
    if kind == &PyLong_Type and options.int_width == 0 and int_to_i64(obj, &number):
        result = new_filled_bytes(5 if number == <int32_t>number else 9)
        store_int(<unsigned char*>bytes_data(result), number)
        return result
    if kind == &PyUnicode_Type and PyUnicode_IS_COMPACT_ASCII(obj):
        return lone_payload(STRING, PyUnicode_DATA(obj), PyUnicode_GET_LENGTH(obj))
    if kind == &PyFloat_Type:
        result = new_filled_bytes(9)
        store_double(<unsigned char*>bytes_data(result), obj)
        return result
    if kind == &PyBool_Type:
        result = new_filled_bytes(2)
        store_bool(<unsigned char*>bytes_data(result), obj)
        return result
    if kind == &PyBytes_Type:
        return lone_payload(BYTES, bytes_data(obj), bytes_size(obj))
    return NULL


cdef inline PyObject* lone_payload(int code, const void* data, Py_ssize_t nbytes) except? NULL:
    cdef PyObject* result
    cdef unsigned char* p
    if nbytes > MAX_LENGTH:
        return NULL
    result = new_filled_bytes(5 + nbytes)
    p = <unsigned char*>bytes_data(result)
    p[0] = <unsigned char>code
    store_i32(p + 1, <int32_t>nbytes)
    copy_short(p + 5, data, nbytes)
    return result


# Records. A failed one leaves nothing behind: the cursor goes back, and so do depth and path.

ctypedef int (*encode_function)(Encoding* e, PyObject* a, PyObject* b) noexcept    # negative: an exception is set


cdef inline int encode_one(Encoding* e, PyObject* obj, PyObject* ignored) except -1:
    return encode_value(e, obj)


cdef inline int encode_two(Encoding* e, PyObject* key, PyObject* value) except -1:
    encode_value(e, key)
    return encode_value(e, value)


cdef inline int encode_whole(Encoding* e, encode_function encode, PyObject* a, PyObject* b) except -1:
    cdef Py_ssize_t offset = written(&e.buf)
    if unlikely(encode(e, a, b) < 0):
        return take_back(e, offset)
    return 0


cdef inline int take_back(Encoding* e, Py_ssize_t offset) noexcept:
    e.buf.cursor = e.buf.start + offset
    e.depth = e.nreplaced = 0
    e.frame = NULL
    return -1


cdef int encode_record(Encoding* e, PyObject* obj) except -1:
    return encode_whole(e, <encode_function>encode_one, obj, NULL)


cdef int encode_pair(Encoding* e, PyObject* key, PyObject* value) except -1:
    return encode_whole(e, <encode_function>encode_two, key, value)


# Pairs with gaps, for lengths that are known only afterwards: in one call, as those of a plain stream; bench: SequenceFiles, write.

ctypedef Py_ssize_t (*apart_function)(Encoding* e, PyObject* key, PyObject* value, Py_ssize_t before,
                                      Py_ssize_t between) noexcept    # negative: an exception is set


cdef inline Py_ssize_t encode_both(Encoding* e, PyObject* key, PyObject* value, Py_ssize_t before, Py_ssize_t between) except -1:
    cdef Py_ssize_t offset = written(&e.buf) + before
    cdef Py_ssize_t nkey
    reserve_for(e, before)
    e.buf.cursor += before
    encode_value(e, key)
    nkey = written(&e.buf) - offset
    reserve_for(e, between)
    e.buf.cursor += between
    encode_value(e, value)
    return nkey


cdef Py_ssize_t encode_apart(Encoding* e, PyObject* key, PyObject* value, Py_ssize_t before, Py_ssize_t between) except -1:
    cdef Py_ssize_t offset = written(&e.buf)
    cdef Py_ssize_t nkey = (<apart_function>encode_both)(e, key, value, before, between)
    if unlikely(nkey < 0):
        return take_back(e, offset)
    return nkey
