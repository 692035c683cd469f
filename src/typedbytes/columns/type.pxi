# A column's type, from a description, from a value, back to a description.
#
# Descriptions are tuples: ("fixed", code), ("sized", code), ("raw",), ("array", code, nitems), ("tuple", (part, ...)),
# ("listed", LIST or VECTOR, item), ("map", key, value), ("unknown",). The text that users see is made of them elsewhere.

cdef Column* make_column(tuple described) except NULL:
    name = described[0]
    cdef Column* c
    if name == "fixed":
        return new_column(FIXED, described[1], 0)
    if name == "sized":
        return new_column(SIZED, described[1], 0)
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
    if name == "listed":
        return add_parts(new_column(LISTED, described[1], 1), (described[2],))
    return add_parts(new_column(PAIRED, MAP, 2), described[1:])


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
    if c.kind == SIZED:
        return "sized", c.code
    if c.kind == ENCODED:
        return ("raw",)
    if c.kind == UNKNOWN:
        return ("unknown",)
    if c.kind == ARRAY:
        return "array", c.code, c.nitems
    if c.kind == TUPLE:
        return "tuple", describe_all(c.parts, c.nparts)
    if c.kind == LISTED:
        return "listed", c.code, describe(c.parts[0])
    return "map", describe(c.parts[0]), describe(c.parts[1])


cdef tuple describe_all(Column** columns, Py_ssize_t n):
    cdef list found = []
    cdef Py_ssize_t i
    for i in range(n):
        found.append(describe(columns[i]))
    return tuple(found)


cdef tuple opened(tuple described, tuple path):
    # The same type with the items on the way of `path`, numbers of items of VECTORs, as columns of their own.
    if not path:
        return described
    if described[0] == "array":
        if described[2] > MOST_PARTS:
            raise LimitError(f"an item of a VECTOR of more than {MOST_PARTS} is no column of its own")
        described = ("tuple", (("fixed", described[1]),) * described[2])
    if described[0] != "tuple" or not 0 <= path[0] < len(described[1]):
        raise LookupError(f"there is no item {path[0]} to take as a column")
    parts = list(described[1])
    parts[path[0]] = opened(parts[path[0]], path[1:])
    return "tuple", tuple(parts)


cdef void want(Column* c, bint wanted) noexcept:
    cdef Py_ssize_t i
    c.wanted = wanted
    c.within = False
    for i in range(c.nparts):
        want(c.parts[i], wanted)


cdef struct Look:
    # At a value that was found whole, so that nothing asks whether its bytes are there.
    ReadBuffer buf
    Skipping* skipping
    Py_ssize_t level
    Py_ssize_t nparts         # of TUPLEs, so far


cdef tuple describe_value(Look* look):
    # Leaves the cursor behind the value.
    cdef const unsigned char* start
    cdef int code = look.buf.cursor[0]
    if code != VECTOR and code != LIST and code != MAP:
        start = look.buf.cursor
        skip_value(look.skipping, &look.buf)
        if width_of(code):
            return "fixed", code
        return ("raw",) if look.buf.cursor - start == 1 else ("sized", code)    # Hive's NULL and ENDOFRECORD are bare
    look.level += 1
    if look.level > MOST_LEVELS:
        raise LimitError(f"columns nest at most {MOST_LEVELS} deep; a schema may say raw")
    found = describe_vector(look) if code == VECTOR else describe_list(look) if code == LIST else describe_map(look)
    look.level -= 1
    return found


cdef tuple describe_values(Look* look, Py_ssize_t n):
    cdef list found = []
    for _ in range(n):
        found.append(describe_value(look))
    return tuple(found)


cdef tuple describe_vector(Look* look):
    cdef const unsigned char* p = look.buf.cursor + 5
    cdef Py_ssize_t nitems = load_i32(p - 4)
    cdef int width = width_of(p[0]) if nitems else 0
    if width and nitems <= (look.buf.end - p) // (1 + width) and not check_codes(p, 1 + width, p[0], nitems):
        look.buf.cursor = p + nitems * (1 + width)
        return "array", p[0], nitems
    look.nparts += nitems
    if look.nparts > MOST_PARTS:
        raise LimitError(f"VECTORs with more than {MOST_PARTS} items of different kinds are no columns; a schema may say raw")
    look.buf.cursor = p
    return "tuple", describe_values(look, nitems)


cdef tuple describe_list(Look* look):
    # The first item stands for all.
    cdef const unsigned char* start = look.buf.cursor
    cdef tuple item = ("unknown",)
    look.buf.cursor += 1
    if look.buf.cursor[0] != MARKER:
        item = describe_value(look)
    look.buf.cursor = start
    skip_value(look.skipping, &look.buf)
    return "listed", LIST, item


cdef tuple describe_map(Look* look):
    cdef const unsigned char* start = look.buf.cursor
    cdef tuple key = ("unknown",), value = ("unknown",)
    look.buf.cursor += 5
    if load_i32(start + 1):
        key = describe_value(look)
        value = describe_value(look)
    look.buf.cursor = start
    skip_value(look.skipping, &look.buf)
    return "map", key, value
