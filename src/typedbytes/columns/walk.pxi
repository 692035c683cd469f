# The walk: decode values of any size into columns, one after the other.
#
# A value that its column cannot hold is passed to the Builder, which applies the policy; the walk goes on with the
# column as it is then. The cursor of a Walk is at the first byte of a value, or after the last complete one.

cdef enum Outcome:
    APPENDED
    INCOMPLETE    # the bytes end inside the record
    OTHER_TYPE    # the value is of another type than its column
    INVALID       # not a valid value, or too deep: decoding it raises the error
    COLUMN_FULL   # the column cannot hold more: see max_held
    REFUSED       # the value is of another type than its column, and the policy refuses it
    CONVERTED     # the value has been appended in another form
    RESTARTED     # the record has to be walked again: a column that has values of it holds encoded ones now
    FAILED        # an exception is set
    NO_MEMORY

cdef enum:
    # Bytes that a null may take in a column and its children; encoded it has 1, 9 or 42. Nulls of STRUCTs and of typed
    # columns may take more: they are counted as missing fields are.
    MAX_NULL_NBYTES = 128

cdef enum Fault:
    NO_FAULT
    MISSING                   # a field without a default
    NOT_A_RECORD              # for a key that is not a field, for too many or too few items
    UNFIT                     # a number or text of the right kind that the column cannot hold

cdef struct Walk:
    const unsigned char* p
    const unsigned char* end
    PyObject* builder         # borrowed
    bint widens
    const Null* null          # the encoding that is read as a null, beside a NullWritable
    Py_ssize_t max_held       # bytes of data, and items, of one column: offsets are int32
    Py_ssize_t missing_nbytes    # memory that missing fields take in this batch; at most MAX_MISSING_NBYTES
    bint checks_each          # append values one by one, to find the first that is not valid
    bint checks_each_text     # check that each STRING is UTF-8 as it is appended
    Py_ssize_t depth
    Py_ssize_t max_depth
    Skipping skipping
    Column* mismatched        # the column of the outcome OTHER_TYPE or REFUSED
    Py_ssize_t mismatched_item    # number of an item of an ARRAY, see mismatched_at(); -1: the count of items
    Fault fault               # what is wrong with the value of a typed column
    const Column* missing     # the field that a record lacks
    bint converts             # the bytes are what a value was converted to


cdef inline const Null* null_of(bint hive) noexcept nogil:
    # The encoding that is read as a null in a dialect: Hive's own, or the pickle of None that this library
    # and the older ones write.
    return &HIVE_NULL if hive else &PICKLED_NULL


cdef inline bint starts_with(const Null* null, const unsigned char* p, const unsigned char* end) noexcept nogil:
    return end - p >= null.nbytes and memcmp(p, null.data, null.nbytes) == 0


cdef const Null* encoded_null(const Null* null, const unsigned char* p, const unsigned char* end) noexcept nogil:
    # The null that is next, which is this one or a NullWritable; NULL: another value.
    if starts_with(null, p, end):
        return null
    return &NULL_WRITABLE if starts_with(&NULL_WRITABLE, p, end) else NULL


cdef Py_ssize_t null_size(const Column* c) noexcept nogil:
    # Bytes that a null takes in a column and its children.
    cdef Py_ssize_t i
    cdef Py_ssize_t total = value_size(c)
    if has_offsets(c):
        return sizeof(int32_t)
    for i in range(c.nchildren):
        total += null_size(c.children[i])
    return total


cdef Outcome append_null(Column* c, const Null* null) noexcept nogil:
    # Append a null, to the children too; as the fields of a STRUCT, missing ones.
    cdef const Null* null_of_children = null
    cdef Py_ssize_t i, nbytes
    cdef Outcome outcome
    if not is_kept(c):
        return APPENDED
    if has_fixed_size(c):
        nbytes = value_size(c)
        if not reserve_data(c, c.used + nbytes):
            return NO_MEMORY
        memset(c.data + c.used, 0, nbytes)
        c.used += nbytes
    elif has_offsets(c):
        if not reserve_offsets(c, c.n + 1):
            return NO_MEMORY
        c.offsets[c.n + 1] = c.offsets[c.n]
    elif has_children_per_value(c):
        if c.kind == STRUCT:
            null_of_children = &MISSING_FIELD
        for i in range(c.nchildren):
            outcome = append_null(c.children[i], null_of_children)
            if outcome != APPENDED:
                return outcome
    if c.kind != UNKNOWN and not c.refuses_nulls and not mark_null(c, c.n):
        return NO_MEMORY
    set_kind_of_null(c, null)
    c.n += 1
    return APPENDED


cdef Outcome append_value(Walk* w, Column* c) noexcept nogil:
    # Append one value of any type. APPENDED: the cursor is after it.
    cdef Outcome outcome
    cdef Py_ssize_t nbytes
    cdef const Null* null
    if not is_kept(c):
        return skip_one(w)
    while True:
        if c.kind == ENCODED:
            return append_encoded(w, c)
        if w.p == w.end:
            return INCOMPLETE
        if c.kind == FIXED:
            outcome = append_fixed(w, c)
        elif c.kind == VARIABLE_LENGTH:
            outcome = append_variable(w, c)
        elif c.kind == UNKNOWN:
            outcome = OTHER_TYPE
        elif c.kind == DECIMAL or c.kind == FIXED_BYTES or c.kind == CHOICE:
            outcome = append_special(w, c)
        elif w.depth == w.max_depth:
            outcome = INVALID if w.p[0] == (VECTOR if c.kind == ARRAY else c.code) else OTHER_TYPE
        else:
            w.depth += 1
            if c.kind == ARRAY:
                outcome = append_array(w, c)
            elif c.typed != NULL and has_children_per_value(c):
                outcome = append_record(w, c)
            elif c.kind == TUPLE:
                outcome = append_tuple(w, c)
            elif c.kind == VARIABLE_LIST:
                outcome = append_list(w, c)
            elif c.kind == STRUCT:
                outcome = append_struct(w, c)
            else:
                outcome = append_map(w, c)
            w.depth -= 1
        if outcome != OTHER_TYPE:
            return outcome
        null = NULL
        if not c.refuses_nulls and not (c.typed != NULL and c.typed.refuses_none):
            null = encoded_null(w.null, w.p, w.end)
        if null != NULL:
            nbytes = null_size(c)
            if nbytes > MAX_NULL_NBYTES and (c.typed != NULL or c.kind == STRUCT):
                if count_missing(w, nbytes) != APPENDED:
                    return COLUMN_FULL
                nbytes = 0    # it has been counted
            if nbytes <= MAX_NULL_NBYTES:
                w.p += null.nbytes
                return append_null(c, null)
        if c.is_map_value and w.widens and c.kind != UNKNOWN and not widens_within(c, w.p[0]):
            return OTHER_TYPE    # reported for the whole MAP, which then becomes a STRUCT if possible
        w.mismatched = c
        outcome = resolve_mismatch(w)
        if outcome != APPENDED:
            return APPENDED if outcome == CONVERTED else outcome


cdef Outcome skip_one(Walk* w) noexcept nogil:
    cdef ReadBuffer buf
    cdef SkipOutcome outcome
    borrow(&buf, w.p, w.end - w.p)
    w.skipping.max_depth = w.max_depth - w.depth
    outcome = skip_value(&w.skipping, &buf)
    w.skipping.depth = w.skipping.tail = 0
    if outcome == SKIPPED:
        w.p = buf.cursor
        return APPENDED
    return INCOMPLETE if outcome == NEEDS_MORE else INVALID


cdef Outcome append_fixed(Walk* w, Column* c) noexcept nogil:
    if w.p[0] != c.code:
        return append_widened(w, c)
    if w.end - w.p <= c.width:
        return INCOMPLETE
    if not reserve_data(c, c.used + c.width):
        return NO_MEMORY
    store_fixed(c.data + c.used, w.p + 1, c.code, c.width)
    if unlikely(c.meaning == TIME) and not is_time_of_day(c, c.used):
        w.fault = UNFIT
        return OTHER_TYPE
    c.used += c.width
    c.n += 1
    w.p += 1 + c.width
    return APPENDED


cdef inline bint is_integer(int code) noexcept nogil:
    return code == INT or code == LONG


cdef inline bint takes_narrower(const Column* c, int code) noexcept nogil:
    # Whether a column of wider numbers can hold numbers of this type code;
    # a LONG that a DOUBLE cannot represent exactly is refused later.
    if c.typed != NULL:
        return c.code == c.typed.declared \
            and (is_number(code) if is_real(c.code) else is_any_integer(c.code) and is_any_integer(code))
    if c.code == LONG:
        return code == INT
    return c.code == DOUBLE and (code == FLOAT or (is_integer(code) and not c.is_map_value))


cdef inline bint is_exact_double(int64_t number) noexcept nogil:
    # A DOUBLE represents every integer up to 2**53 exactly. Some larger ones too, but which type a column gets does not
    # depend on the last digits of a number.
    return -(<int64_t>1 << 53) <= number <= (<int64_t>1 << 53)


cdef inline bint is_real(int code) noexcept nogil:
    return code == FLOAT or code == DOUBLE


cdef inline bint is_any_integer(int code) noexcept nogil:
    return code == INT or code == LONG or code == BYTE or code == SHORT


cdef inline bint is_number(int code) noexcept nogil:
    return is_real(code) or is_any_integer(code)


cdef inline bint store_wider(unsigned char* out, const unsigned char* p, int code, int wider) noexcept nogil:
    # Store the number at p, of type code `code`, as one of another, which may be narrower in typed columns.
    # False: it would lose something.
    cdef int64_t number
    cdef double real
    cdef float narrow_real
    cdef int32_t narrow
    if is_real(code):
        real = load_f32(p) if code == FLOAT else load_f64(p)
    else:
        number = load_i32(p) if code == INT else load_i64(p) if code == LONG else load_i16(p) if code == SHORT \
            else <int8_t>p[0]
        if wider == LONG:
            memcpy(out, &number, 8)
            return True
        if wider == INT:
            narrow = <int32_t>number
            memcpy(out, &narrow, 4)
            return narrow == number
        if wider == BYTE:
            out[0] = <unsigned char>number
            return <int8_t>number == number
        if not is_exact_double(number):
            return False
        real = <double>number
    if wider == FLOAT:
        narrow_real = <float>real
        memcpy(out, &narrow_real, 4)
        return narrow_real == real or real != real
    memcpy(out, &real, 8)
    return True


cdef Outcome append_widened(Walk* w, Column* c) noexcept nogil:
    cdef int code = w.p[0]
    cdef Py_ssize_t width
    if c.typed != NULL and c.meaning != PLAIN and code == STRING:
        return append_time_text(w, c)
    if not (w.widens or c.typed != NULL) or not takes_narrower(c, code) or prefers_other_form(c, code):
        return OTHER_TYPE
    width = width_of(code)
    if w.end - w.p <= width:
        return INCOMPLETE
    if not reserve_data(c, c.used + c.width):
        return NO_MEMORY
    if not store_wider(c.data + c.used, w.p + 1, code, c.code) or (c.meaning == TIME and not is_time_of_day(c, c.used)):
        w.fault = UNFIT
        return OTHER_TYPE
    c.used += c.width
    c.n += 1
    w.p += 1 + width
    return APPENDED


cdef Outcome append_variable(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t nbytes
    if w.p[0] != c.code:
        return OTHER_TYPE
    if w.end - w.p < 5:
        return INCOMPLETE
    nbytes = load_i32(w.p + 1)
    if nbytes < 0:
        return INVALID
    if nbytes > w.end - w.p - 5:
        return INCOMPLETE
    if w.checks_each_text and c.code == STRING and not is_text(w.p + 5, nbytes):
        return INVALID
    return append_payload(w, c, w.p + 5, nbytes)


cdef Outcome append_payload(Walk* w, Column* c, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    if nbytes > w.max_held - c.used:
        return COLUMN_FULL
    if not reserve_payload(c, c.used + nbytes, w.max_held) or not reserve_offsets(c, c.n + 1):
        return NO_MEMORY
    memcpy(c.data + c.used, p, nbytes)
    c.used += nbytes
    c.n += 1
    c.offsets[c.n] = <int32_t>c.used
    w.p = p + nbytes
    return APPENDED


cdef Outcome append_encoded(Walk* w, Column* c) noexcept nogil:
    cdef const unsigned char* start = w.p
    cdef Outcome outcome = skip_one(w)
    return outcome if outcome != APPENDED else append_payload(w, c, start, w.p - start)


cdef Outcome read_count(Walk* w, int code, Py_ssize_t* count) noexcept nogil:
    if w.p[0] != code:
        return OTHER_TYPE
    if w.end - w.p < 5:
        return INCOMPLETE
    count[0] = load_i32(w.p + 1)
    return INVALID if count[0] < 0 else APPENDED


cdef Outcome append_array(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count, i
    cdef Py_ssize_t nbytes = c.nitems * c.width
    cdef const unsigned char* p = w.p + 5
    cdef unsigned char* out
    cdef Outcome outcome = read_count(w, VECTOR, &count)
    w.mismatched_item = -1    # its count
    if outcome == APPENDED and count != c.nitems:
        outcome = OTHER_TYPE
    if outcome != APPENDED:
        return outcome
    if w.end - p < c.nitems:
        return INCOMPLETE
    if not reserve_data(c, c.used + nbytes):
        return NO_MEMORY
    out = c.data + c.used
    for i in range(c.nitems):
        if p == w.end:
            return INCOMPLETE
        if p[0] == c.code:
            if w.end - p <= c.width:
                return INCOMPLETE
            store_fixed(out, p + 1, c.code, c.width)
            p += 1 + c.width
        elif (w.widens or c.typed != NULL) and takes_narrower(c, p[0]) and not prefers_other_form(c, p[0]):
            if w.end - p <= width_of(p[0]):
                return INCOMPLETE
            if not store_wider(out, p + 1, p[0], c.code):
                w.mismatched_item = i
                w.fault = UNFIT
                return OTHER_TYPE
            p += 1 + width_of(p[0])
        else:
            w.mismatched_item = i
            return OTHER_TYPE
        out += c.width
    c.used += nbytes
    c.n += 1
    w.p = p
    return APPENDED


cdef const unsigned char* mismatched_at(Walk* w) noexcept nogil:
    # The item that an ARRAY cannot hold of the complete VECTOR at the cursor. It is searched for: an address kept from
    # the last walk may be one in what a value had been converted to, which is freed.
    cdef const unsigned char* start = w.p
    cdef const unsigned char* at
    w.p += 5
    for _ in range(w.mismatched_item):
        if skip_one(w) != APPENDED:
            break
    at = w.p
    w.p = start
    return at


cdef Outcome append_tuple(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count, i
    cdef Outcome outcome = read_count(w, VECTOR, &count)
    if outcome == APPENDED and count != c.nchildren:
        outcome = OTHER_TYPE
    if outcome != APPENDED:
        return outcome
    w.p += 5
    for i in range(c.nchildren):
        outcome = append_value(w, c.children[i])
        if outcome != APPENDED:
            return outcome
    c.n += 1
    return APPENDED


cdef Outcome append_list(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count = 0
    cdef Outcome outcome
    if c.typed != NULL and (w.p[0] == LIST or w.p[0] == VECTOR):
        c.code = w.p[0]
    if c.code == LIST:
        if w.p[0] != LIST:
            return OTHER_TYPE
        w.p += 1
        while True:
            if w.p == w.end:
                return INCOMPLETE
            if w.p[0] == MARKER:
                w.p += 1
                break
            outcome = append_value(w, c.children[0])
            if outcome != APPENDED:
                return outcome
    else:
        outcome = read_count(w, VECTOR, &count)
        if outcome != APPENDED:
            return outcome
        w.p += 5
        for _ in range(count):
            outcome = append_value(w, c.children[0])
            if outcome != APPENDED:
                return outcome
    return end_items(w, c)


cdef inline bint widens_within(const Column* c, int code) noexcept nogil:
    # Whether a column of a MAP's values may hold this type code too, without becoming encoded values. Integers and real
    # numbers together are more likely the fields of a STRUCT.
    if c.kind == FIXED:
        return (c.code == INT and code == LONG) or (c.code == FLOAT and code == DOUBLE)
    return c.kind == ENCODED or code == (VECTOR if c.kind == ARRAY else c.code)


cdef Outcome append_map(Walk* w, Column* c) noexcept nogil:
    cdef const unsigned char* start = w.p
    cdef Py_ssize_t count
    cdef Outcome outcome = read_count(w, MAP, &count)
    if outcome != APPENDED:
        return outcome
    if count and c.children[0].kind == UNKNOWN:
        return OTHER_TYPE    # the first pair decides the type
    w.p += 5
    for _ in range(count):
        outcome = append_value(w, c.children[0])
        if outcome == APPENDED:
            outcome = append_value(w, c.children[1])
        if outcome == OTHER_TYPE:
            w.p = start
            set_length(c, c.n)
        if outcome != APPENDED:
            return outcome
    return end_items(w, c)


cdef Outcome append_struct(Walk* w, Column* c) noexcept nogil:
    # OTHER_TYPE: a key that is not a field, one that comes twice, or a missing field whose null may be too large. If
    # only some fields are wanted, pairs with other keys are skipped.
    cdef const unsigned char* start = w.p
    cdef const unsigned char* key
    cdef Py_ssize_t count
    cdef Py_ssize_t field = -1
    cdef Outcome outcome = read_count(w, MAP, &count)
    if outcome != APPENDED:
        return outcome
    w.p += 5
    for _ in range(count):
        key = w.p
        outcome = find_field(w, c, &field)
        if outcome == APPENDED:
            outcome = append_value(w, c.children[field])
        elif outcome == OTHER_TYPE and w.p == key and c.has_wanted_child and not c.wanted:
            outcome = skip_pair(w)
        if outcome != APPENDED:
            break
    if outcome == APPENDED:
        outcome = append_missing_fields(w, c)
    if outcome == OTHER_TYPE:
        w.p = start
        set_length(c, c.n)
    if outcome == APPENDED:
        c.n += 1
    return outcome


cdef Outcome skip_pair(Walk* w) noexcept nogil:
    cdef Outcome outcome = skip_one(w)
    return skip_one(w) if outcome == APPENDED else outcome


cdef Outcome find_field(Walk* w, const Column* c, Py_ssize_t* field) noexcept nogil:
    # Read a key, and find the field of that name that has no value yet; the one after the last found is
    # tried first. OTHER_TYPE: there is none, and the cursor is at the key; or the field has a value, and the
    # cursor is after the key.
    cdef Py_ssize_t i, nbytes
    cdef const Column* child
    cdef const unsigned char* p = w.p
    if p == w.end:
        return INCOMPLETE
    if p[0] != STRING:
        return OTHER_TYPE
    if w.end - p < 5:
        return INCOMPLETE
    nbytes = load_i32(p + 1)
    if nbytes < 0:
        return INVALID
    if nbytes > w.end - p - 5:
        return INCOMPLETE
    i = field[0]
    for _ in range(c.nchildren):
        i = i + 1 if i + 1 < c.nchildren else 0
        child = c.children[i]
        if child.key_nbytes == 5 + nbytes and memcmp(child.key + 5, p + 5, nbytes) == 0:
            field[0] = i
            w.p = p + 5 + nbytes
            return APPENDED if child.n == c.n else OTHER_TYPE
    return OTHER_TYPE


cdef Outcome append_missing_fields(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t i
    cdef Outcome outcome
    cdef Column* child
    for i in range(c.nchildren):
        child = c.children[i]
        if child.n == c.n:
            outcome = count_missing(w, null_size(child))
            if outcome == APPENDED:
                outcome = append_null(child, &MISSING_FIELD)
            if outcome != APPENDED:
                return outcome
    return APPENDED


cdef Outcome count_missing(Walk* w, Py_ssize_t nbytes) noexcept nogil:
    if nbytes > MAX_MISSING_NBYTES - w.missing_nbytes:
        w.missing_nbytes = MAX_MISSING_NBYTES + 1
        return COLUMN_FULL
    w.missing_nbytes += nbytes
    return APPENDED


cdef Outcome end_items(const Walk* w, Column* c) noexcept nogil:
    if c.children[0].n > w.max_held:
        return COLUMN_FULL
    if not reserve_offsets(c, c.n + 1):
        return NO_MEMORY
    c.n += 1
    c.offsets[c.n] = <int32_t>c.children[0].n
    return APPENDED


cdef Outcome resolve_mismatch(Walk* w) noexcept with gil:
    # The cursor is at a value that the column `mismatched` cannot hold. FAILED: an exception is set.
    cdef Builder builder = <Builder>w.builder
    return (<resolve_function>builder.resolve_mismatch)(builder)
