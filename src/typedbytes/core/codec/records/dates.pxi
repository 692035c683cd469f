# Dates and times: numbers since 1970, and ISO 8601 text; see core/dates.h. A function that returns NULL without an
# exception has met what is out of range, or not such a text.

from typedbytes.core.dates cimport *


cdef inline int64_t days_of_number(const TypeNode* node, int64_t number, int64_t* microseconds) noexcept:
    # A number in the unit of the type as days, rounded down, and the microseconds after them.
    cdef int64_t units_of_day, days
    if likely(node.unit == 1):
        days = floor_div(number, MICROSECONDS_OF_DAY)
        microseconds[0] = number - days * MICROSECONDS_OF_DAY
        return days
    units_of_day = MICROSECONDS_OF_DAY // node.unit
    days = floor_div(number, units_of_day)
    microseconds[0] = (number - days * units_of_day) * node.unit
    return days


cdef PyObject* date_from_days(int64_t days) except? NULL:
    cdef civil_time c
    if not civil_from_days(days, &c):
        return NULL
    return new_date(DATE_TYPE, c.year, c.month, c.day)


cdef PyObject* datetime_from_number(const TypeNode* node, int64_t number) except? NULL:
    cdef civil_time c
    cdef int64_t microseconds
    if not civil_from_days(days_of_number(node, number, &microseconds), &c):
        return NULL
    clock_from_microseconds(microseconds, &c)
    return new_datetime(DATETIME_TYPE, c.year, c.month, c.day, c.hour, c.minute, c.second, c.microsecond,
                        PyDateTimeAPI.TimeZone_UTC if node.is_utc else Py_None)


cdef PyObject* time_from_number(const TypeNode* node, int64_t number) except? NULL:
    cdef civil_time c
    cdef int64_t microseconds
    if days_of_number(node, number, &microseconds) != 0:
        return NULL
    clock_from_microseconds(microseconds, &c)
    return PyDateTimeAPI.Time_FromTimeAndFold(c.hour, c.minute, c.second, c.microsecond, Py_None, 0, TIME_TYPE)


cdef PyObject* delta_from_number(const TypeNode* node, int64_t number) except? NULL:
    cdef int64_t microseconds
    cdef int64_t days = days_of_number(node, number, &microseconds)
    if not -(1 << 31) < days < 1 << 31:
        return NULL
    return new_delta(<int>days, <int>(microseconds // 1000000), <int>(microseconds % 1000000))


cdef PyObject* date_of_text(TypeKind kind, bint is_utc, const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    # A date, datetime, time or timedelta of ISO text.
    cdef civil_time c
    cdef int64_t days, seconds
    cdef int microsecond
    if kind == DATE_TYPE_KIND:
        if not parse_iso_date(p, nbytes, &c):
            return NULL
        return PyDateTimeAPI.Date_FromDate(c.year, c.month, c.day, DATE_TYPE)
    if kind == TIME_TYPE_KIND:
        if not parse_iso_time(p, nbytes, &c) or c.has_zone:
            return NULL
        return PyDateTimeAPI.Time_FromTimeAndFold(c.hour, c.minute, c.second, c.microsecond, Py_None, 0, TIME_TYPE)
    if kind == DATETIME_TYPE_KIND:
        if not parse_iso_datetime(p, nbytes, &c) or c.has_zone != is_utc:
            return NULL
        zone = zone_of_minutes(c.zone_minutes) if is_utc else None
        return PyDateTimeAPI.DateTime_FromDateAndTimeAndFold(
            c.year, c.month, c.day, c.hour, c.minute, c.second, c.microsecond, <PyObject*>zone, 0, DATETIME_TYPE)
    if not parse_iso_duration(p, nbytes, &days, &seconds, &microsecond):
        return NULL
    return delta_of_parts(days, seconds, microsecond)


cdef object zone_of_minutes(int minutes):
    if minutes == 0:
        return <object>PyDateTimeAPI.TimeZone_UTC
    offset = object_from_stolen(PyDateTimeAPI.Delta_FromDelta(0, minutes * 60, 0, 1, DELTA_TYPE))
    return Timezone(offset)


cdef PyObject* delta_of_parts(int64_t days, int64_t seconds, int microsecond) except? NULL:
    cdef int64_t carried
    if microsecond < 0:
        microsecond += 1000000
        seconds -= 1
    carried = floor_div(seconds, 86400)
    seconds -= carried * 86400
    if not -(1 << 31) < days < 1 << 31 or not -(1 << 31) < days + carried < 1 << 31:
        return NULL
    return new_delta(<int>(days + carried), <int>seconds, microsecond)
