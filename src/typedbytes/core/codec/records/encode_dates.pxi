# Dates and times as numbers since 1970, or as ISO 8601 text.


cdef enum:
    MAX_DAYS = 106_000_000    # the microseconds of so many fit a LONG


cdef int encode_date_type(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    cdef TypeKind kind = node.kind
    cdef int offset = 0
    kept = <object>obj
    if not takes(node, obj, True):
        return raise_unfit(e, node, kept)
    if kind == DATE_TYPE_KIND:
        return encode_date(e, node, obj)
    if kind == DELTA_TYPE_KIND:
        return encode_delta(e, node, obj)
    if kind == TIME_TYPE_KIND:
        if zone_of_time(obj) != Py_None:
            return raise_encode_value(
                e, f"expected a time without a zone, found one of zone {<object>zone_of_time(obj)!r:.80}")
        return encode_time(e, node, obj)
    if not node.is_utc:
        if zone_of_datetime(obj) != Py_None:
            return raise_encode_value(
                e, "expected a naive datetime, found an aware one: Annotated[datetime, records.UTC] takes it")
    elif zone_of_datetime(obj) != PyDateTimeAPI.TimeZone_UTC:
        offset = seconds_from_utc(e, kept)
    return encode_datetime(e, node, obj, offset)


cdef int seconds_from_utc(Encoding* e, object moment) except? -1:
    cdef PyObject* offset
    found = moment.utcoffset()
    offset = <PyObject*>found
    if found is None:
        raise_encode_value(e, "expected an aware datetime, found a naive one")
    if not isinstance(found, <type>DELTA_TYPE):    # of a subclass
        raise_encode_value(e, f"expected a datetime whose utcoffset() is a timedelta, found {found!r:.80}")
    if PyDateTime_DELTA_GET_MICROSECONDS(offset):
        raise_encode_value(e, "the zone of a datetime differs from UTC by a fraction of a second")
    return PyDateTime_DELTA_GET_DAYS(offset) * 86400 + PyDateTime_DELTA_GET_SECONDS(offset)


cdef int encode_units(Encoding* e, const TypeNode* node, int64_t days, int64_t microseconds) except -1:
    # As a LONG in the unit of the type; the microseconds are those after the days.
    cdef int64_t units_of_day, most, rest
    cdef bint fits
    if likely(node.unit == 1 and -MAX_DAYS < days < MAX_DAYS):
        reserve(&e.buf, 9)
        e.buf.cursor[0] = LONG
        store_i64(e.buf.cursor + 1, days * MICROSECONDS_OF_DAY + microseconds)
        e.buf.cursor += 9
        return 0
    units_of_day = MICROSECONDS_OF_DAY // node.unit
    if microseconds % node.unit:
        return raise_encode_value(e, f"{node_text(node)} is not a whole number of "
                                     f"{'seconds' if node.unit == 1000000 else 'milliseconds'}")
    most = INT64_MAX // units_of_day
    rest = microseconds // node.unit
    if days < 0:    # from the end of the day: its start may be below the least LONG
        days += 1
        rest -= units_of_day
        fits = days >= -most and days * units_of_day >= -INT64_MAX - 1 - rest
    else:
        fits = days <= most and days * units_of_day <= INT64_MAX - rest
    if not fits:
        return raise_encode_value(e, f"{node_text(node)} does not fit a LONG of 64 bits")
    reserve(&e.buf, 9)
    e.buf.cursor[0] = LONG
    store_i64(e.buf.cursor + 1, days * units_of_day + rest)
    e.buf.cursor += 9
    return 0


cdef int encode_text_of(Encoding* e, const unsigned char* start, const unsigned char* end) except -1:
    return encode_payload(e, STRING, start, end - start)


cdef int encode_date(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    cdef unsigned char text[40]
    cdef int year = PyDateTime_GET_YEAR(obj), month = PyDateTime_GET_MONTH(obj), day = PyDateTime_GET_DAY(obj)
    if node.is_text:
        return encode_text_of(e, text, put_date(text, year, month, day))
    reserve(&e.buf, 5)
    e.buf.cursor[0] = INT
    store_i32(e.buf.cursor + 1, <int32_t>days_from_civil(year, month, day))
    e.buf.cursor += 5
    return 0


cdef inline int64_t microseconds_of(int hour, int minute, int second, int microsecond) noexcept:
    return (<int64_t>(hour * 60 + minute) * 60 + second) * 1000000 + microsecond


cdef int encode_time(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    cdef unsigned char text[40]
    cdef int hour = PyDateTime_TIME_GET_HOUR(obj), minute = PyDateTime_TIME_GET_MINUTE(obj)
    cdef int second = PyDateTime_TIME_GET_SECOND(obj), microsecond = PyDateTime_TIME_GET_MICROSECOND(obj)
    if node.is_text:
        return encode_text_of(e, text, put_clock(text, hour, minute, second, microsecond))
    return encode_units(e, node, 0, microseconds_of(hour, minute, second, microsecond))


cdef int encode_datetime(Encoding* e, const TypeNode* node, PyObject* obj, int offset) except -1:
    # offset: the seconds that the wall clock is ahead of UTC.
    cdef int year = PyDateTime_GET_YEAR(obj), month = PyDateTime_GET_MONTH(obj), day = PyDateTime_GET_DAY(obj)
    cdef int hour = PyDateTime_DATE_GET_HOUR(obj), minute = PyDateTime_DATE_GET_MINUTE(obj)
    cdef int second = PyDateTime_DATE_GET_SECOND(obj), microsecond = PyDateTime_DATE_GET_MICROSECOND(obj)
    cdef int64_t microseconds, days
    cdef civil_time c
    days = days_from_civil(year, month, day)
    microseconds = microseconds_of(hour, minute, second, microsecond) - <int64_t>offset * 1000000
    if microseconds < 0 or microseconds >= MICROSECONDS_OF_DAY:
        days += floor_div(microseconds, MICROSECONDS_OF_DAY)
        microseconds -= floor_div(microseconds, MICROSECONDS_OF_DAY) * MICROSECONDS_OF_DAY
    if (offset or node.is_text) and not civil_from_days(days, &c):    # nor could it be read
        return raise_encode_value(e, "a datetime is out of range in UTC")
    if node.is_text:
        return encode_datetime_text(e, &c, microseconds, node.is_utc)
    return encode_units(e, node, days, microseconds)


cdef int encode_datetime_text(Encoding* e, civil_time* c, int64_t microseconds, bint is_utc) except -1:
    cdef unsigned char text[40]
    cdef unsigned char* p
    clock_from_microseconds(microseconds, c)
    p = put_date(text, c.year, c.month, c.day)
    p[0] = c"T"
    p = put_clock(p + 1, c.hour, c.minute, c.second, c.microsecond)
    if is_utc:
        p[0] = c"Z"
        p += 1
    return encode_text_of(e, text, p)


cdef int encode_delta(Encoding* e, const TypeNode* node, PyObject* obj) except -1:
    cdef int64_t days = PyDateTime_DELTA_GET_DAYS(obj)
    cdef int64_t microseconds = <int64_t>PyDateTime_DELTA_GET_SECONDS(obj) * 1000000 \
        + PyDateTime_DELTA_GET_MICROSECONDS(obj)
    if not node.is_text:
        return encode_units(e, node, days, microseconds)
    text = duration_text(days, microseconds)
    return encode_str(e, <PyObject*>text)


cdef str duration_text(int64_t days, int64_t microseconds):
    # P1DT3.5S; what is negative has one sign in front.
    cdef str sign = "", seconds
    if days < 0:
        sign = "-"
        days = -days
        if microseconds:
            days -= 1
            microseconds = MICROSECONDS_OF_DAY - microseconds
    seconds = str(microseconds // 1000000)
    if microseconds % 1000000:
        seconds += f".{microseconds % 1000000:06}".rstrip("0")
    return f"{sign}P{days}D" + (f"T{seconds}S" if microseconds else "")
