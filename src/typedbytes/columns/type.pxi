# A column's type: from a description, from a value, back to a description.
#
# Descriptions are tuples: ("fixed", code), ("variable", code), ("raw",), ("array", code, nitems), ("tuple", (part, ...)),
# ("list", LIST or VECTOR, item), ("map", key, value), ("unknown",). _type_strings.py converts them to and from text.

cdef Column* make_column(tuple described) except NULL:
    name = described[0]
    cdef Column* c
    if name == "fixed":
        return new_column(FIXED, described[1], 0)
    if name == "variable":
        return new_column(VARIABLE_LENGTH, described[1], 0)
    if name == "raw":
        return new_column(ENCODED, -1, 0)
    if name == "unknown":
        return new_column(UNKNOWN, -1, 0)
    if name == "array":
        c = new_column(ARRAY, described[1], 0)
        c.nitems = described[2]
        return c
    if name == "tuple":
        return add_parts(new_column(TUPLE, VECTOR, len(described[1])), described[1])
    if name == "list":
        return add_parts(new_column(VARIABLE_LIST, described[1], 1), (described[2],))
    c = add_parts(new_column(MAP_ENTRIES, MAP, 2), described[1:])
    c.parts[0].refuses_nulls = True
    return c


cdef Column* add_parts(Column* c, tuple described) except NULL:
    cdef Py_ssize_t i
    try:
        for i in range(len(described)):
            c.parts[i] = make_column(described[i])
        return c
    except BaseException:
        free_column(c)
        raise


cdef tuple describe(const Column* c):
    if c.kind == FIXED:
        return "fixed", c.code
    if c.kind == VARIABLE_LENGTH:
        return "variable", c.code
    if c.kind == ENCODED:
        return ("raw",)
    if c.kind == UNKNOWN:
        return ("unknown",)
    if c.kind == ARRAY:
        return "array", c.code, c.nitems
    if c.kind == TUPLE:
        return "tuple", describe_all(c.parts, c.nparts)
    if c.kind == VARIABLE_LIST:
        return "list", c.code, describe(c.parts[0])
    return "map", describe(c.parts[0]), describe(c.parts[1])


cdef tuple describe_all(Column** columns, Py_ssize_t n):
    cdef list found = []
    cdef Py_ssize_t i
    for i in range(n):
        found.append(describe(columns[i]))
    return tuple(found)


cdef tuple with_items_as_columns(tuple described, tuple path):
    # The same type, with an ARRAY on `path` (item numbers of nested VECTORs) made a TUPLE, so that each of its items is a column.
    if not path:
        return described
    if described[0] == "array":
        if described[2] > MAX_PARTS:
            raise LimitError(f"cannot make a column of one item of a VECTOR with more than {MAX_PARTS} items")
        described = ("tuple", (("fixed", described[1]),) * described[2])
    if described[0] != "tuple" or not 0 <= path[0] < len(described[1]):
        raise LookupError(f"no item {path[0]} to use as a column")
    parts = list(described[1])
    parts[path[0]] = with_items_as_columns(parts[path[0]], path[1:])
    return "tuple", tuple(parts)


cdef void set_wanted(Column* c, bint wanted) noexcept:
    cdef Py_ssize_t i
    c.wanted = wanted
    c.has_wanted_part = False
    for i in range(c.nparts):
        set_wanted(c.parts[i], wanted)


cdef struct TypeInference:
    # The buffer holds a complete, valid value, so that its bounds need no checks.
    ReadBuffer buf
    Skipping* skipping
    Py_ssize_t level
    Py_ssize_t nparts         # of all TUPLEs so far


cdef tuple describe_value(TypeInference* inference):
    # Leaves the cursor after the value.
    cdef const unsigned char* start
    cdef int code = inference.buf.cursor[0]
    if code != VECTOR and code != LIST and code != MAP:
        start = inference.buf.cursor
        if is_encoded_null(null_of(inference.skipping.hive), start, inference.buf.end):
            skip_value(inference.skipping, &inference.buf)
            return ("unknown",)
        skip_value(inference.skipping, &inference.buf)
        if width_of(code):
            return "fixed", code
        return ("raw",) if inference.buf.cursor - start == 1 else ("variable", code)    # Hive's NULL and ENDOFRECORD are bare
    inference.level += 1
    if inference.level > MAX_LEVELS:
        raise LimitError(f"columns nest at most {MAX_LEVELS} levels: pass a schema with raw for deeper values")
    found = describe_vector(inference) if code == VECTOR else describe_list(inference) if code == LIST else describe_map(inference)
    inference.level -= 1
    return found


cdef tuple describe_key(TypeInference* inference):
    # A key of a MAP is never null: what is null elsewhere is a value.
    cdef int code = inference.buf.cursor[0]
    found = describe_value(inference)
    if found != ("unknown",):
        return found
    return ("raw",) if inference.skipping.hive else ("variable", code)


cdef tuple describe_values(TypeInference* inference, Py_ssize_t n):
    cdef list found = []
    for _ in range(n):
        found.append(describe_value(inference))
    return tuple(found)


cdef tuple describe_vector(TypeInference* inference):
    cdef const unsigned char* p = inference.buf.cursor + 5
    cdef Py_ssize_t nitems = load_i32(p - 4)
    cdef int width = width_of(p[0]) if nitems else 0
    if width and nitems <= (inference.buf.end - p) // (1 + width) and not check_codes(p, 1 + width, p[0], nitems):
        inference.buf.cursor = p + nitems * (1 + width)
        return "array", p[0], nitems
    inference.nparts += nitems
    if inference.nparts > MAX_PARTS:
        raise LimitError(f"VECTORs with more than {MAX_PARTS} items of different types cannot be columns: pass a schema with raw for them")
    inference.buf.cursor = p
    return "tuple", describe_values(inference, nitems)


cdef tuple describe_list(TypeInference* inference):
    # The type of the first item is that of the column.
    cdef const unsigned char* start = inference.buf.cursor
    cdef tuple item = ("unknown",)
    inference.buf.cursor += 1
    if inference.buf.cursor[0] != MARKER:
        item = describe_value(inference)
    inference.buf.cursor = start
    skip_value(inference.skipping, &inference.buf)
    return "list", LIST, item


cdef tuple describe_map(TypeInference* inference):
    cdef const unsigned char* start = inference.buf.cursor
    cdef tuple key = ("unknown",), value = ("unknown",)
    inference.buf.cursor += 5
    if load_i32(start + 1):
        key = describe_key(inference)
        value = describe_value(inference)
    inference.buf.cursor = start
    skip_value(inference.skipping, &inference.buf)
    return "map", key, value
