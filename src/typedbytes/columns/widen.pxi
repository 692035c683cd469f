# Change the type of a column that meets a value of another: wider numbers, VECTORs of any length, MAPs as STRUCTs,
# more fields, encoded values.

cdef bint find_path(Column* c, Column* wanted, list steps) except -1:
    # Find the path to a column through its value, as in the paths of errors.
    cdef Py_ssize_t i
    if c == wanted:
        return True
    for i in range(c.nchildren):
        steps.append(step_to(c, i))
        if find_path(c.children[i], wanted, steps):
            return True
        steps.pop()
    return False


cdef str step_to(const Column* c, Py_ssize_t i):
    cdef Py_ssize_t index
    if c.typed != NULL and has_names(c):
        return f".{encoded_name(c.children[i]).decode('utf-8')}"
    if has_names(c):
        return f"[{encoded_name(c.children[i]).decode('utf-8')!r}]"
    index = c.children[i].n - c.offsets[c.n] if has_offsets(c) and c.offsets_capacity \
        else c.children[i].n if has_offsets(c) else i
    return f"[{index}]" if c.kind != MAP_ENTRIES else f".key({index})" if i == 0 else f".value({index})"


cdef void replace_column(Column* c, Column* other) noexcept:
    # Replace a column by another, which is freed; what it is to its parent stays.
    cdef bint wanted = c.wanted
    cdef bint refuses_nulls = c.refuses_nulls
    cdef bint is_map_value = c.is_map_value
    cdef unsigned char* key = c.key
    cdef Py_ssize_t key_nbytes = c.key_nbytes
    free_children(c)
    free_memory(c)
    free_nulls(c)
    free_column(c.choices)
    PyMem_RawFree(c.children)
    PyMem_RawFree(c.steps)
    c[0] = other[0]
    c.wanted = wanted
    c.refuses_nulls = refuses_nulls
    c.is_map_value = is_map_value
    c.key = key
    c.key_nbytes = key_nbytes
    PyMem_RawFree(other)


cdef void move_nulls(Column* to, Column* c) noexcept:
    to.valid = to.bits = c.bits
    to.nbits = c.nbits
    to.bits_capacity = c.bits_capacity
    to.null = c.null
    c.bits = NULL


cdef bint widen(Column* c, Walk* w) except -1:
    # Make a column able to hold the value at the cursor too; the values it holds stay equal.
    cdef int code = w.p[0]
    cdef int wider = -1
    if c.kind == FIXED:
        wider = wider_code(c, code)
    elif c.kind == ARRAY and code == VECTOR:
        if w.mismatched_item < 0:
            return widen_arity(c, w.max_held)
        wider = wider_code(c, mismatched_at(w)[0])
    if wider >= 0:
        return widen_numbers(c, wider)
    if c.kind == MAP_ENTRIES and code == MAP:    # a value in it is of another type
        if not convert_map_to_struct(c, w):
            c.children[1].is_map_value = False    # they are widened by themselves, then
        return True
    if c.kind == STRUCT and code == MAP and add_fields(c, w):
        return True
    encode_column(c, w.max_held)
    return True


cdef bint convert_map_to_struct(Column* c, Walk* w) except -1:
    # From MAPs of few different STRINGs to a STRUCT. False: it is not possible, and nothing has changed.
    cdef Column* values = c.children[1]
    cdef Column* fields
    cdef list items = []
    cdef list others = keys_at(w)
    cdef list described = []
    cdef dict names = {}
    cdef Py_ssize_t missing_nbytes = w.missing_nbytes
    if others is None or c.children[0].kind != VARIABLE_LENGTH or not find_fields(c, names, items):
        return False
    if len(names.keys() | others) > MAX_FIELDS:
        return False
    if count_missing(w, null_size(values) * (len(names) * c.n - len(items))) != APPENDED:
        w.missing_nbytes = missing_nbytes    # the STRUCT is not made
        return False
    value_type = describe(values)
    for name in names:
        described.append((name, value_type))
    fields = make_struct(tuple(described), STRUCT)
    try:
        fill_struct(fields, c, items)
    except BaseException:
        free_column(fields)
        raise
    replace_column(c, fields)
    return True


cdef bint find_fields(const Column* c, dict names, list items) except -1:
    # Give each key of the MAPs a number, and each pair that of its key. False: the keys cannot be names of fields.
    cdef Py_ssize_t i, item, number, start, nbytes
    cdef const Column* keys = c.children[0]
    cdef list last_row = []
    for i in range(c.n):
        for item in range(c.offsets[i], c.offsets[i + 1]):
            start = keys.offsets[item]
            nbytes = keys.offsets[item + 1] - start
            if not is_text(keys.data + start, nbytes) or memchr(keys.data + start, 0, nbytes) != NULL:
                return False
            number = names.setdefault(keys.data[start:start + nbytes].decode("utf-8"), len(names))
            if number == len(last_row):
                last_row.append(-1)
            if last_row[number] == i or number == MAX_FIELDS:
                return False
            last_row[number] = i
            items.append(number)
    return True


cdef int fill_struct(Column* fields, const Column* c, list items) except -1:
    # Append the MAPs of a column to a STRUCT, whose field `items[k]` has the value k.
    cdef Py_ssize_t i, item, number
    for i in range(c.n):
        if is_null(c, i):
            if append_null(fields, c.null) != APPENDED:
                raise MemoryError
            continue
        for item in range(c.offsets[i], c.offsets[i + 1]):
            number = items[item]
            if not copy_rows(fields.children[number], c.children[1], item, item + 1):
                raise MemoryError
        append_empty(fields)
    return 0


cdef int append_empty(Column* c) except -1:
    # Append a MAP: without pairs, or with the fields that have a value already.
    cdef Py_ssize_t i
    if c.kind == STRUCT:
        for i in range(c.nchildren):
            if c.children[i].n == c.n and append_null(c.children[i], &MISSING_FIELD) != APPENDED:
                raise MemoryError
    else:
        if not reserve_offsets(c, c.n + 1):
            raise MemoryError
        c.offsets[c.n + 1] = c.offsets[c.n]
    c.n += 1
    return 0


cdef bint add_fields(Column* c, Walk* w) except -1:
    # Add the keys of the MAP at the cursor to a STRUCT. False: they cannot be fields, or all are.
    cdef list keys = keys_at(w)
    cdef list names = []
    cdef Column** larger
    cdef Column* child
    if keys is None:
        return False
    known = set(field_names(c))
    for name in keys:
        if name not in known:
            names.append(name)
    if not names or c.nchildren + len(names) > MAX_FIELDS:
        return False
    larger = <Column**>enlarge(c.children, (c.nchildren + len(names)) * sizeof(Column*))
    if larger == NULL:
        raise MemoryError
    c.children = larger
    for name in names:
        child = new_column(UNKNOWN, -1, 0)
        child.n = c.n
        child.null = &MISSING_FIELD
        try:
            set_key(child, name)
        except BaseException:
            free_column(child)
            raise
        c.children[c.nchildren] = child
        c.nchildren += 1
    return True


cdef list keys_at(Walk* w):
    # As read_keys, for the complete MAP at the cursor.
    w.skipping.max_depth = w.max_depth - w.depth
    try:
        return read_keys(&w.skipping, w.p, w.end)
    finally:
        w.skipping.depth = w.skipping.tail = 0


cdef object column_limit_error(Py_ssize_t max_held):
    return LimitError(f"a column can hold at most {max_held} bytes or items")


cdef int wider_code(const Column* c, int code) noexcept:
    # The type code of numbers that holds those of a column and one of this code, without loss; -1: there is none.
    cdef int wider = LONG if is_integer(c.code) and is_integer(code) else DOUBLE
    if c.meaning != PLAIN or not (is_integer(c.code) or is_real(c.code)) or not (is_integer(code) or is_real(code)) \
            or wider == c.code:
        return -1
    return wider if c.code != LONG or all_are_exact_doubles(c) else -1


cdef bint all_are_exact_doubles(const Column* c) noexcept:
    cdef const int64_t* numbers = <const int64_t*>c.data
    cdef Py_ssize_t i
    for i in range(c.used // 8):
        if not is_exact_double(numbers[i]):
            return False
    return True


cdef bint widen_numbers(Column* c, int code) except -1:
    cdef Py_ssize_t n = c.used // c.width
    cdef Py_ssize_t i
    cdef size_t size = n * 8 + PADDING
    cdef unsigned char encoded[4]
    cdef unsigned char* wide = <unsigned char*>enlarge_kept(NULL, 0, &size)
    if wide == NULL:
        raise MemoryError
    if code == LONG:
        for i in range(n):
            (<int64_t*>wide)[i] = (<int32_t*>c.data)[i]
    elif c.code == INT:
        for i in range(n):
            (<double*>wide)[i] = (<int32_t*>c.data)[i]
    elif c.code == LONG:
        for i in range(n):
            (<double*>wide)[i] = <double>(<int64_t*>c.data)[i]
    else:
        for i in range(n):
            store_i32(encoded, (<int32_t*>c.data)[i])
            (<double*>wide)[i] = load_f32(encoded)    # unlike a cast, this keeps the bits of a NaN
    free_memory(c)
    c.data = wide
    c.used = n * 8
    c.capacity = size - PADDING
    c.code = code
    c.width = 8
    return True


cdef bint widen_arity(Column* c, Py_ssize_t max_held) except -1:
    # From VECTORs of one length to VECTORs of any.
    cdef Py_ssize_t i
    cdef Column* listed = new_column(VARIABLE_LIST, VECTOR, 1)
    try:
        if c.n * c.nitems > max_held:
            raise column_limit_error(max_held)
        listed.children[0] = new_column(FIXED, c.code, 0)
        if not reserve_offsets(listed, c.n):
            raise MemoryError
    except BaseException:
        free_column(listed)
        raise
    for i in range(c.n):
        listed.offsets[i + 1] = <int32_t>((i + 1) * c.nitems)
    listed.n = c.n
    move_nulls(listed, c)
    listed.children[0].data = c.data
    listed.children[0].used = c.used
    listed.children[0].capacity = c.capacity
    listed.children[0].n = c.n * c.nitems
    c.data = NULL
    replace_column(c, listed)
    return True


cdef int encode_column(Column* c, Py_ssize_t max_held) except -1:
    # From any type to the encoded bytes of its values.
    cdef Py_ssize_t i
    cdef unsigned char* out
    cdef WriteState state
    cdef Column* encoded = new_column(ENCODED, -1, 0)
    memset(&state, 0, sizeof(WriteState))
    try:
        if bound_of(c, 0, c.n, 0) > max_held:
            raise column_limit_error(max_held)
        if not reserve_offsets(encoded, c.n) or not reserve_payload(encoded, bound_of(c, 0, c.n, 0), max_held):
            raise MemoryError
        out = encoded.data
        for i in range(c.n):
            out = store_one_value(out, c, i, &state)
            if unlikely(out == NULL):
                raise SystemError("a null that has no encoding")
            encoded.offsets[i + 1] = <int32_t>(out - encoded.data)
    except BaseException:
        free_column(encoded)
        raise
    encoded.n = c.n
    encoded.used = out - encoded.data
    if c.null == &MISSING_FIELD:    # such a null has no bytes
        move_nulls(encoded, c)
    replace_column(c, encoded)
    return 0


cdef bint has_only_empty_maps(const Column* c, int code) noexcept:
    return c.kind == MAP_ENTRIES and code == MAP and c.children[0].kind == UNKNOWN


cdef str find_key_fault(const Column* c, Walk* w):
    # Why the MAP at the cursor is not a value of a STRUCT.
    cdef list names = keys_at(w)
    if names is None:
        return "MAP whose keys are not different STRINGs"
    known = set(field_names(c))
    return next(f"key {name!r}" for name in names if name not in known)
