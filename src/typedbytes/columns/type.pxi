# A column's type: from a description, from a value, back to a description.
#
# Descriptions are tuples: ("fixed", code), ("variable", code), ("raw",), ("array", code, nitems),
# ("tuple", (child, ...)), ("list", LIST or VECTOR, item), ("map", key, value), ("struct", ((name, child), ...)),
# ("unknown",); numbers and texts with a meaning: ("date",), ("time", unit), ("timestamp", unit, is it UTC),
# ("duration", unit), ("decimal", precision, scale), ("uuid",), ("enum", (value, ...)); ("row", ((name, child), ...)),
# a VECTOR whose items have names. type_strings.py converts them to and from text.
#
# ("typed", description, {...}) is what a class says of a value; _typed.py makes them. A Batch has plain ones.

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
        return add_children(new_column(TUPLE, VECTOR, len(described[1])), described[1])
    if name == "list":
        return add_children(new_column(VARIABLE_LIST, described[1], 1), (described[2],))
    if name == "struct" or name == "row":
        return make_struct(described[1], STRUCT if name == "struct" else TUPLE)
    if name == "typed":
        return make_typed(described[1], described[2])
    if name in MEANINGS:
        return make_times(described)
    if name == "decimal":
        c = new_column(DECIMAL, STRING, 0)
        c.precision, c.scale = described[1:]
        c.width = 16 if c.precision <= 38 else MAX_DECIMAL_WIDTH
        return c
    if name == "uuid":
        c = new_column(FIXED_BYTES, BYTES, 0)
        c.width = 16
        return c
    if name == "enum":
        return make_choice(described[1])
    c = add_children(new_column(MAP_ENTRIES, MAP, 2), described[1:])
    c.children[0].refuses_nulls = True
    c.children[1].is_map_value = c.children[0].code == STRING
    return c


cdef dict MEANINGS = {"date": DATE, "time": TIME, "timestamp": TIMESTAMP, "duration": DURATION}
cdef dict UNITS = {"s": SECONDS, "ms": MILLISECONDS, "us": MICROSECONDS}
cdef dict UNIT_NAMES = {SECONDS: "s", MILLISECONDS: "ms", MICROSECONDS: "us"}


cdef Column* make_times(tuple described) except NULL:
    cdef Column* c = new_column(FIXED, INT if described[0] == "date" else LONG, 0)
    c.meaning = MEANINGS[described[0]]
    if c.meaning != DATE:
        c.unit = UNITS[described[1]]
    if c.meaning == TIMESTAMP and described[2]:
        c.meaning = TIMESTAMP_UTC
    return c


cdef tuple describe_times(const Column* c):
    if c.meaning == DATE:
        return ("date",)
    unit = UNIT_NAMES[c.unit]
    if c.meaning == TIME:
        return "time", unit
    return ("duration", unit) if c.meaning == DURATION else ("timestamp", unit, c.meaning == TIMESTAMP_UTC)


cdef Column* make_choice(tuple values) except NULL:
    # The values are str, or ints: they are STRINGs, or LONGs of which the narrower ones may come as INTs and BYTEs.
    cdef Column* c = new_column(CHOICE, STRING if type(values[0]) is str else LONG, 0)
    cdef const unsigned char* p
    cdef bytes text
    cdef int64_t number
    c.width = sizeof(int32_t)
    try:
        c.choices = new_column(VARIABLE_LENGTH if c.code == STRING else FIXED, c.code, 0)
        if not reserve_offsets(c.choices, len(values)):
            raise MemoryError
        for value in values:
            if c.code == STRING:
                text = value.encode("utf-8")
                if not reserve_data(c.choices, c.choices.used + len(text)):
                    raise MemoryError
                memcpy(c.choices.data + c.choices.used, PyBytes_AS_STRING(text), len(text))
                c.choices.used += len(text)
                c.choices.offsets[c.choices.n + 1] = <int32_t>c.choices.used
            else:
                number = value
                if not reserve_data(c.choices, c.choices.used + 8):
                    raise MemoryError
                memcpy(c.choices.data + c.choices.used, &number, 8)
                c.choices.used += 8
            c.choices.n += 1
    except BaseException:
        free_column(c)
        raise
    return c


cdef tuple describe_choice(const Column* c):
    cdef list values = []
    cdef Py_ssize_t i
    for i in range(c.choices.n):
        if c.code == STRING:
            values.append(c.choices.data[c.choices.offsets[i]:c.choices.offsets[i + 1]].decode("utf-8"))
        else:
            values.append((<int64_t*>c.choices.data)[i])
    return "enum", tuple(values)


cdef Column* make_typed(tuple described, dict facts) except NULL:
    cdef Column* c = make_column(described)
    cdef Typed* typed = <Typed*>PyMem_RawCalloc(1, sizeof(Typed))
    try:
        if typed == NULL:
            raise MemoryError
        c.typed = typed
        typed.number = facts["number"]
        typed.declared = c.code
        typed.is_record = described[0] == "row" or described[0] == "struct"
        typed.is_required = facts.get("required", False)
        typed.refuses_none = facts.get("refuses_none", False)
        typed.forbids_unknown = facts.get("forbids_unknown", False)
        typed.allows_extra = facts.get("allows_extra", False)
        c.refuses_nulls = not facts.get("nullable", False)
        typed.fallback = copy_bytes(facts.get("fallback"), &typed.fallback_nbytes)
        typed.name = copy_bytes(facts.get("name"), &typed.name_nbytes)
    except BaseException:
        free_column(c)
        raise
    return c


cdef unsigned char* copy_bytes(bytes data, Py_ssize_t* nbytes) except? NULL:
    cdef unsigned char* copied
    if data is None:
        return NULL
    nbytes[0] = len(data)
    copied = <unsigned char*>PyMem_RawMalloc(len(data) + 1)
    if copied == NULL:
        raise MemoryError
    memcpy(copied, PyBytes_AS_STRING(data), len(data))
    return copied


cdef inline bint has_names(const Column* c) noexcept nogil:
    # Whether its children are fields.
    return c.kind == STRUCT or (c.kind == TUPLE and c.nchildren and c.children[0].key != NULL)


cdef Column* make_struct(tuple fields, Kind kind) except NULL:
    cdef Py_ssize_t i
    cdef list types = []
    for _, described in fields:
        types.append(described)
    cdef Column* c = add_children(new_column(kind, MAP if kind == STRUCT else VECTOR, len(fields)), tuple(types))
    try:
        for i in range(len(fields)):
            name, described = fields[i]
            set_key(c.children[i], described[2].get("key", name) if described[0] == "typed" else name)
    except BaseException:
        free_column(c)
        raise
    return c


cdef int set_key(Column* c, str name) except -1:
    # Make the column a field of this name.
    cdef bytes text = name.encode("utf-8")
    cdef Py_ssize_t nbytes = len(text)
    c.key = <unsigned char*>PyMem_RawMalloc(5 + nbytes)
    if c.key == NULL:
        raise MemoryError
    c.key_nbytes = 5 + nbytes
    c.key[0] = STRING
    store_i32(c.key + 1, <int32_t>nbytes)
    memcpy(c.key + 5, PyBytes_AS_STRING(text), nbytes)
    return 0


cdef bytes encoded_name(const Column* c):
    # The name of a field; on the wire its key may be another.
    if c.typed != NULL and c.typed.name != NULL:
        return c.typed.name[:c.typed.name_nbytes]
    return c.key[5:c.key_nbytes]


cdef Column* add_children(Column* c, tuple described) except NULL:
    cdef Py_ssize_t i
    try:
        for i in range(len(described)):
            c.children[i] = make_column(described[i])
        return c
    except BaseException:
        free_column(c)
        raise


cdef tuple describe(const Column* c):
    if c.kind == FIXED:
        return ("fixed", c.code) if c.meaning == PLAIN else describe_times(c)
    if c.kind == VARIABLE_LENGTH:
        return "variable", c.code
    if c.kind == ENCODED:
        return ("raw",)
    if c.kind == UNKNOWN:
        return ("unknown",)
    if c.kind == ARRAY:
        return "array", c.code, c.nitems
    if c.kind == DECIMAL:
        return "decimal", c.precision, c.scale
    if c.kind == FIXED_BYTES:
        return ("uuid",)
    if c.kind == CHOICE:
        return describe_choice(c)
    if c.kind == TUPLE and has_names(c):
        return "row", tuple(zip(field_names(c), describe_all(c.children, c.nchildren)))
    if c.kind == TUPLE:
        return "tuple", describe_all(c.children, c.nchildren)
    if c.kind == VARIABLE_LIST:
        return "list", c.code, describe(c.children[0])
    if c.kind == STRUCT:
        return "struct", tuple(zip(field_names(c), describe_all(c.children, c.nchildren)))
    return "map", describe(c.children[0]), describe(c.children[1])


cdef list field_names(const Column* c):
    cdef list names = []
    cdef Py_ssize_t i
    for i in range(c.nchildren):
        names.append(encoded_name(c.children[i]).decode("utf-8"))
    return names


cdef tuple describe_all(Column** columns, Py_ssize_t n):
    cdef list found = []
    cdef Py_ssize_t i
    for i in range(n):
        found.append(describe(columns[i]))
    return tuple(found)


cdef tuple project(tuple described, list paths):
    # The type of a value of which only these parts are stored, each with a column of its own: items of a
    # VECTOR by their number, fields of a MAP by their key. A path is the names of parts within parts; the
    # empty one is the whole value.
    cdef dict within = {}
    cdef bint is_whole = () in paths
    for path in paths:
        if path:
            within.setdefault(path[0], []).append(path[1:])
    if not within:
        return described
    if described[0] == "typed":
        return "typed", project(described[1], paths), described[2]
    if is_whole:
        for parts in within.values():
            parts.append(())
    if described[0] == "row":
        return "row", project_whole_struct(described, within)[1]
    if described[0] in ("array", "tuple"):
        return project_items(described, within)
    if described[0] == "struct" and is_whole:
        return project_whole_struct(described, within)
    if described[0] == "struct" and described[1] and described[1][0][1][0] == "typed":
        return project_whole_struct(described, within)    # all of it is known, and checked
    if is_whole or described[0] not in ("struct", "map", "unknown"):
        raise no_part_error(next(iter(within)), described)
    return project_fields(dict(described[1]) if described[0] == "struct" else {}, within)


cdef tuple project_items(tuple described, dict within):
    if described[0] == "array":
        if described[2] > MAX_CHILDREN:
            raise LimitError(f"cannot make a column of one item of a VECTOR with more than {MAX_CHILDREN} items")
        described = ("tuple", (("fixed", described[1]),) * described[2])
    children = list(described[1])
    for name, paths in within.items():
        if not (name.isascii() and name.isdigit() and int(name) < len(children)):
            raise no_part_error(name, described)
        children[int(name)] = project(children[int(name)], paths)
    return "tuple", tuple(children)


cdef tuple project_whole_struct(tuple described, dict within):
    fields = dict(described[1])
    for name, paths in within.items():
        if name not in fields:
            raise no_part_error(name, described)
        fields[name] = project(fields[name], paths)
    return "struct", tuple(fields.items())


cdef tuple project_fields(dict known, dict within):
    # A field that is not known takes its type from the first record that has it.
    cdef list fields = []
    for name, paths in within.items():
        fields.append((name, project(known.get(name, ("unknown",)), paths)))
    return "struct", tuple(fields)


cdef object no_part_error(str name, tuple described):
    if described[0] in ("map", "struct"):
        value = "a MAP of which all is wanted too"
    elif described[0] in ("array", "tuple"):
        value = f"a VECTOR of {described[2] if described[0] == 'array' else len(described[1])} items"
    else:
        value = "a value that is neither a VECTOR nor a MAP"
    return LookupError(f"no part {name!r} to use as a column in {value}")


cdef Py_ssize_t part_number(const Column* c, str name) except -1:
    # The child that is this part of a VECTOR or a MAP, which has it.
    return field_names(c).index(name) if has_names(c) else int(name)


cdef void set_wanted(Column* c, bint wanted) noexcept:
    cdef Py_ssize_t i
    c.wanted = wanted
    c.has_wanted_child = False
    for i in range(c.nchildren):
        set_wanted(c.children[i], wanted)


cdef void mark_all_wanted(Column* c) noexcept:
    cdef Py_ssize_t i
    c.wanted = True
    for i in range(c.nchildren):
        mark_all_wanted(c.children[i])


cdef struct TypeInference:
    # The buffer holds a complete, valid value, so that its bounds need no checks.
    ReadBuffer buf
    Skipping* skipping
    Py_ssize_t level
    Py_ssize_t nchildren      # items of all TUPLEs so far


cdef tuple describe_value(TypeInference* inference):
    # Leaves the cursor after the value.
    cdef const unsigned char* start
    cdef int code = inference.buf.cursor[0]
    if code != VECTOR and code != LIST and code != MAP:
        start = inference.buf.cursor
        if encoded_null(null_of(inference.skipping.hive), start, inference.buf.end) != NULL:
            skip_value(inference.skipping, &inference.buf)
            return ("unknown",)
        skip_value(inference.skipping, &inference.buf)
        if width_of(code):
            return "fixed", code
        # Hive's NULL and ENDOFRECORD are bare
        return ("raw",) if inference.buf.cursor - start == 1 else ("variable", code)
    inference.level += 1
    if inference.level > MAX_LEVELS:
        raise LimitError(f"columns nest at most {MAX_LEVELS} levels: pass a schema with raw for deeper values")
    found = describe_vector(inference) if code == VECTOR else describe_list(inference) if code == LIST \
        else describe_map(inference)
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
    inference.nchildren += nitems
    if inference.nchildren > MAX_CHILDREN:
        raise LimitError(f"VECTORs with more than {MAX_CHILDREN} items of different types cannot be columns: "
                         "pass a schema with raw for them")
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
    # A STRUCT, if the keys can be fields and the values are of several types;
    # otherwise the first pair has the types of all.
    cdef const unsigned char* start = inference.buf.cursor
    cdef tuple key = ("unknown",), value = ("unknown",)
    cdef Py_ssize_t n = load_i32(start + 1)
    cdef list names = read_keys(inference.skipping, start, inference.buf.end) if n <= MAX_FIELDS else None
    inference.buf.cursor += 5
    if n:
        key = describe_key(inference)
        value = describe_value(inference)
    found = describe_fields(inference, names, value) if names else None
    inference.buf.cursor = start
    skip_value(inference.skipping, &inference.buf)
    return ("map", key, value) if found is None else found


cdef tuple describe_fields(TypeInference* inference, list names, tuple first):
    # The cursor is after the first pair. None: the values have one type, or there are too many of them.
    cdef Py_ssize_t nchildren = inference.nchildren
    cdef Py_ssize_t level = inference.level
    cdef list types = [first]
    try:
        for _ in range(1, len(names)):
            skip_value(inference.skipping, &inference.buf)    # the key
            types.append(describe_value(inference))
        inference.nchildren += len(names)
        if inference.nchildren <= MAX_CHILDREN and len({family_of(described) for described in types} - {None}) > 1:
            return "struct", tuple(zip(names, types))
    except LimitError:
        inference.level = level
    inference.nchildren = nchildren
    return None


cdef object family_of(tuple described):
    # What the values have in common that one column of a MAP can hold, if it is widened; None: any.
    kind = described[0]
    if kind == "fixed":
        return LONG if described[1] == INT else DOUBLE if described[1] == FLOAT else described[1]
    if kind in ("array", "tuple"):
        return VECTOR
    if kind in ("map", "struct"):
        return MAP
    return None if kind == "unknown" else kind if kind == "raw" else described[1]


cdef list read_keys(Skipping* skipping, const unsigned char* p, const unsigned char* end):
    # The keys of a complete MAP at p as str, if they can be the names of a STRUCT's fields:
    # STRINGs, all different, as Arrow can have them. None: they cannot.
    cdef ReadBuffer buf
    cdef Py_ssize_t n = load_i32(p + 1)
    cdef list names = []
    borrow(&buf, p + 5, end - p - 5)
    for _ in range(n):
        p = buf.cursor
        skip_value(skipping, &buf)
        if p[0] != STRING or not is_text(p + 5, buf.cursor - p - 5) or memchr(p + 5, 0, buf.cursor - p - 5) != NULL:
            return None
        names.append(p[5:buf.cursor - p].decode("utf-8"))
        skip_value(skipping, &buf)
    return names if len(set(names)) == len(names) else None
