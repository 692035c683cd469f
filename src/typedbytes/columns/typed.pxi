# Columns that a class describes: their values come in several forms, and each is checked.
#
# The fast path loads the form that a column has at present. Here: the first value decides which that is; other forms
# one by one; records by name and by position, with defaults for missing fields; back to the declared form in a Batch.
# Pickles and other rare forms are converted in Python: see resolve_typed.

cdef int64_t MAX_DURATION_DAYS = 106_751_991    # of int64 microseconds
cdef int64_t MAX_DURATION_SECONDS = 9_223_372_036_854


cdef inline bint prefers_other_form(const Column* c, int code) noexcept nogil:
    # Whether a column without values should take numbers of this type code as they are,
    # to widen all of them at once later.
    if c.typed == NULL or c.n or c.typed.is_settled or c.code != c.typed.declared:
        return False
    return (c.code == LONG and code == INT) or (c.code == DOUBLE and (code == INT or code == FLOAT))


cdef bint adapt(Column* c, Walk* w) except -1:
    # Give a typed column another form in which it holds the value at the cursor too, or values like it.
    # False: there is none.
    cdef int code = w.p[0]
    if c.kind == ARRAY and code == VECTOR and w.mismatched_item >= 0:
        code = mismatched_at(w)[0]
    if c.kind == FIXED or c.kind == ARRAY:
        if c.code != c.typed.declared:
            c.typed.is_settled = True
            return widen_numbers(c, c.typed.declared)
        if not prefers_other_form(c, code):
            return False
        c.code = code
        c.width = width_of(code)
        return True
    if c.n or not c.typed.is_record or code != (MAP if c.kind == TUPLE else VECTOR) or w.fault != NO_FAULT:
        return False
    c.kind = STRUCT if code == MAP else TUPLE
    c.code = code
    return True


cdef void adapt_as(Column* c, const Column* last) noexcept:
    # Start with the forms that the last batch had.
    cdef Py_ssize_t i
    if c.typed != NULL and c.kind != CHOICE:
        c.kind = last.kind
        c.code = last.code
        if c.kind == FIXED or c.kind == ARRAY:
            c.width = last.width
    for i in range(c.nchildren):
        adapt_as(c.children[i], last.children[i])


cdef void want_if_all_are(Column* c) noexcept:
    # A typed column of which every part is wanted by itself is loaded as a whole.
    cdef Py_ssize_t i
    cdef bint all_are = c.nchildren > 0
    for i in range(c.nchildren):
        want_if_all_are(c.children[i])
        all_are = all_are and c.children[i].wanted
    if c.typed != NULL and c.has_wanted_child and all_are:
        c.wanted = True
        c.has_wanted_child = False


cdef bint declare_all(const Table* table, Py_ssize_t nvalues, const Null* null) except -1:
    # Give all columns their declared forms. False: there is no memory for it, and they have the same values.
    cdef Py_ssize_t i
    try:
        for i in range(nvalues):
            declare(table.roots[i], null)
    except MemoryError:
        return False
    return True


cdef int declare(Column* c, const Null* null) except -1:
    # Give a column and all in it their declared forms.
    cdef Py_ssize_t i
    for i in range(c.nchildren):
        declare(c.children[i], null)
    if c.typed == NULL or c.code == c.typed.declared:
        return 0
    if c.kind == FIXED or c.kind == ARRAY:
        widen_numbers(c, c.typed.declared)
    elif c.typed.is_record:
        c.kind = STRUCT if c.typed.declared == MAP else TUPLE
        for i in range(c.nchildren if c.kind == TUPLE else 0):
            if c.children[i].null == &MISSING_FIELD:    # a VECTOR cannot leave a field out
                c.children[i].null = null
    c.code = c.typed.declared
    return 0


cdef Outcome append_converted(Walk* w, Column* c, bytes converted, const unsigned char* after) except FAILED:
    # Append what the value at the cursor has been converted to; None: it cannot be.
    # Unless it is APPENDED, nothing has changed.
    cdef const unsigned char* at = w.p
    cdef const unsigned char* end = w.end
    cdef Outcome outcome
    if converted is None:
        return OTHER_TYPE
    w.converts = True
    w.p = <const unsigned char*>PyBytes_AS_STRING(converted)
    w.end = w.p + len(converted)
    outcome = append_value(w, c)
    w.converts = False
    w.p = after if outcome == APPENDED else at
    w.end = end
    if outcome == FAILED:
        raise_pending()
    return outcome


cdef tuple describe_fault(const Walk* w):
    if w.fault == MISSING:
        return "missing", encoded_name(w.missing).decode("utf-8")
    return None


cdef inline bint is_time_of_day(const Column* c, Py_ssize_t at) noexcept nogil:
    cdef int64_t number
    cdef int32_t narrow
    if c.width == 8:
        memcpy(&number, c.data + at, 8)
    else:
        memcpy(&narrow, c.data + at, 4)
        number = narrow
    return 0 <= number < units_of_a_day(c.unit)


cdef inline int64_t units_of_a_day(Unit unit) noexcept nogil:
    return MICROSECONDS_OF_DAY if unit == MICROSECONDS else MICROSECONDS_OF_DAY // 1000 if unit == MILLISECONDS \
        else MICROSECONDS_OF_DAY // 1_000_000


cdef bint check_times(Column* c) noexcept nogil:
    # Whether all times of day held are within a day.
    cdef int64_t end = units_of_a_day(c.unit)
    cdef const int64_t* numbers = <const int64_t*>c.data
    cdef const int32_t* narrow = <const int32_t*>c.data
    cdef Py_ssize_t i
    cdef bint is_valid = True
    if c.width == 8:
        for i in range(c.checked // 8, c.used // 8):
            is_valid &= <uint64_t>numbers[i] < <uint64_t>end
    else:
        for i in range(c.checked // 4, c.used // 4):
            is_valid &= narrow[i] >= 0 and narrow[i] < end
    c.checked = c.used
    return is_valid


cdef Outcome append_time_text(Walk* w, Column* c) noexcept nogil:
    # ISO 8601 text, as dates.h reads it.
    cdef Py_ssize_t nbytes
    cdef int64_t number
    cdef int32_t narrow
    if c.code != c.typed.declared:
        return OTHER_TYPE    # see adapt()
    if w.end - w.p < 5:
        return INCOMPLETE
    nbytes = load_i32(w.p + 1)
    if nbytes < 0:
        return INVALID
    if nbytes > w.end - w.p - 5:
        return INCOMPLETE
    if w.checks_each_text and not is_text(w.p + 5, nbytes):
        return INVALID
    if not reserve_data(c, c.used + c.width):
        return NO_MEMORY
    if not parse_time(c, w.p + 5, nbytes, &number):
        w.fault = UNFIT
        return OTHER_TYPE
    narrow = <int32_t>number
    memcpy(c.data + c.used, &number if c.width == 8 else <const void*>&narrow, c.width)
    c.used += c.width
    c.n += 1
    w.p += 5 + nbytes
    return APPENDED


cdef bint parse_time(const Column* c, const unsigned char* p, Py_ssize_t nbytes, int64_t* number) noexcept nogil:
    # The days, or the number of the column's units, that a text is. False: it is none, or has a fraction of a unit.
    cdef civil_time civil
    cdef int64_t days = 0
    cdef int64_t seconds, unit
    if c.meaning == DATE:
        if not parse_iso_date(p, nbytes, &civil):
            return False
        number[0] = days_from_civil(civil.year, civil.month, civil.day)
        return True
    if c.meaning == DURATION:
        if not parse_iso_duration(p, nbytes, &days, &seconds, &civil.microsecond):
            return False
        if not -MAX_DURATION_DAYS <= days <= MAX_DURATION_DAYS \
                or not -MAX_DURATION_SECONDS < seconds < MAX_DURATION_SECONDS:
            return False
        seconds += 86400 * days
        if not -MAX_DURATION_SECONDS < seconds < MAX_DURATION_SECONDS:
            return False
    else:
        if not (parse_iso_time(p, nbytes, &civil) if c.meaning == TIME else parse_iso_datetime(p, nbytes, &civil)):
            return False
        if civil.has_zone != (c.meaning == TIMESTAMP_UTC):
            return False
        if c.meaning != TIME:
            days = days_from_civil(civil.year, civil.month, civil.day)
        seconds = 86400 * days + 3600 * civil.hour + 60 * (civil.minute - civil.zone_minutes) + civil.second
    number[0] = 1_000_000 * seconds + civil.microsecond
    unit = 1_000_000 if c.unit == SECONDS else 1000 if c.unit == MILLISECONDS else 1
    if number[0] % unit:
        return False
    number[0] //= unit
    return True


# ---- decimals, bytes of one length, choices ----

cdef Outcome append_special(Walk* w, Column* c) noexcept nogil:
    cdef const unsigned char* next
    cdef bint is_number_for_choice = c.kind == CHOICE and c.code == LONG and is_any_integer(w.p[0])
    if w.p[0] != c.code and not is_number_for_choice:
        return OTHER_TYPE
    if w.end - w.p < (1 + width_of(w.p[0]) if is_number_for_choice else 5):
        return INCOMPLETE
    if not is_number_for_choice:
        if load_i32(w.p + 1) < 0:
            return INVALID
        if load_i32(w.p + 1) > w.end - w.p - 5:
            return INCOMPLETE
        if c.code == STRING and w.checks_each_text and not is_text(w.p + 5, load_i32(w.p + 1)):
            return INVALID
    if not reserve_data(c, c.used + c.width):
        return NO_MEMORY
    next = load_special(c, c.n, w.p, w.end)
    if next == NULL:
        w.fault = UNFIT
        return OTHER_TYPE
    c.used += c.width
    c.n += 1
    w.p = next
    return APPENDED


cdef const unsigned char* load_special(const Column* c, Py_ssize_t i, const unsigned char* p,
                                       const unsigned char* end) noexcept nogil:
    # As the functions of load.pxi.
    cdef unsigned char* out = c.data + i * c.width
    cdef Py_ssize_t nbytes
    cdef int32_t number
    if unlikely(c.capacity - i * c.width < c.width or p == end):
        return NULL
    if c.kind == CHOICE and c.code == LONG:
        if not is_any_integer(p[0]) or end - p <= width_of(p[0]):
            return NULL
        number = find_number(c, p)
        memcpy(out, &number, 4)
        return p + 1 + width_of(p[0]) if number >= 0 else NULL
    if unlikely(end - p < 5 or p[0] != c.code):
        return NULL
    nbytes = load_i32(p + 1)
    p += 5
    if unlikely(nbytes < 0 or nbytes > end - p):
        return NULL
    if c.kind == DECIMAL:
        return p + nbytes if parse_decimal(out, c, p, nbytes) else NULL
    if c.kind == FIXED_BYTES:
        if nbytes != c.width:
            return NULL
        memcpy(out, p, nbytes)
        return p + nbytes
    number = find_text(c, p, nbytes)
    memcpy(out, &number, 4)
    return p + nbytes if number >= 0 else NULL


cdef int32_t find_text(const Column* c, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # The number of a text among the choices, -1: it is none of them.
    cdef const Column* choices = c.choices
    cdef Py_ssize_t choice
    for choice in range(choices.n):
        if choices.offsets[choice + 1] - choices.offsets[choice] == nbytes \
                and memcmp(choices.data + choices.offsets[choice], p, nbytes) == 0:
            return <int32_t>choice
    return -1


cdef int32_t find_number(const Column* c, const unsigned char* p) noexcept nogil:
    cdef const int64_t* choices = <const int64_t*>c.choices.data
    cdef Py_ssize_t choice
    cdef int64_t number
    store_wider(<unsigned char*>&number, p + 1, p[0], LONG)
    for choice in range(c.choices.n):
        if choices[choice] == number:
            return <int32_t>choice
    return -1


# ---- records, and VECTORs of a fixed length ----

cdef Outcome append_record(Walk* w, Column* c) noexcept nogil:
    cdef const unsigned char* start = w.p
    cdef Outcome outcome = OTHER_TYPE
    cdef int code = w.p[0]
    if c.n == 0 and c.typed.is_record and code == (MAP if c.kind == TUPLE else VECTOR):
        return OTHER_TYPE    # see adapt()
    if code == MAP and c.typed.is_record:
        outcome = append_by_name(w, c)
    elif code == VECTOR or code == LIST:
        outcome = append_by_position(w, c)
    if outcome == OTHER_TYPE:
        w.p = start
        set_length(c, c.n)
    return outcome


cdef inline Outcome not_a_record(Walk* w) noexcept nogil:
    w.fault = NOT_A_RECORD
    return OTHER_TYPE


cdef Outcome append_by_position(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t count = 0
    cdef bint is_list = w.p[0] == LIST
    cdef Outcome outcome
    if is_list:
        w.p += 1
    else:
        outcome = read_count(w, VECTOR, &count)
        if outcome != APPENDED:
            return outcome
        w.p += 5
    while True:
        if is_list:
            if w.p == w.end:
                return INCOMPLETE
            if w.p[0] == MARKER:
                w.p += 1
                break
        elif i == count:
            break
        outcome = append_value(w, c.children[i]) if i < c.nchildren else skip_one(w)
        if outcome != APPENDED:
            return outcome
        i += 1
    if i > c.nchildren and not c.typed.allows_extra:
        return not_a_record(w)
    if i < c.nchildren and not c.typed.is_record:
        return not_a_record(w)
    for count in range(i, c.nchildren):
        outcome = append_fallback(w, c.children[count])
        if outcome == OTHER_TYPE and w.fault == MISSING:
            return not_a_record(w)
        if outcome != APPENDED:
            return outcome
    c.n += 1
    return APPENDED


cdef Outcome append_by_name(Walk* w, Column* c) noexcept nogil:
    cdef const unsigned char* key
    cdef Py_ssize_t count, i
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
        elif outcome == OTHER_TYPE and w.p != key:    # the field has a value: the last one counts
            set_length(c.children[field], c.n)
            outcome = append_value(w, c.children[field])
        elif outcome == OTHER_TYPE and c.typed.forbids_unknown:
            return not_a_record(w)
        elif outcome == OTHER_TYPE:
            outcome = skip_pair(w)
        if outcome != APPENDED:
            return outcome
    for i in range(c.nchildren):
        if is_kept(c.children[i]) and c.children[i].n == c.n:
            outcome = append_fallback(w, c.children[i])
            if outcome != APPENDED:
                return outcome
    c.n += 1
    return APPENDED


cdef Outcome append_fallback(Walk* w, Column* c) noexcept nogil:
    # What a field is where it is missing. OTHER_TYPE: there is no default.
    cdef const unsigned char* p = w.p
    cdef const unsigned char* end = w.end
    cdef Outcome outcome
    if not is_kept(c):
        return APPENDED
    if c.typed.is_required:
        w.fault = MISSING
        w.missing = c
        return OTHER_TYPE
    outcome = count_missing(w, max(null_size(c), c.typed.fallback_nbytes))
    if outcome != APPENDED:
        return outcome
    if c.typed.fallback == NULL:
        return append_null(c, &MISSING_FIELD)
    w.p = c.typed.fallback
    w.end = w.p + c.typed.fallback_nbytes
    outcome = append_value(w, c)
    w.p = p
    w.end = end
    return outcome
