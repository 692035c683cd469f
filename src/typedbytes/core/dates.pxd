# Days since 1970, civil dates, ISO 8601 text; see dates.h.

from libc.stdint cimport int64_t

cdef extern from "core/dates.h" nogil:
    ctypedef struct civil_time:
        int year, month, day, hour, minute, second, microsecond
        bint has_zone
        int zone_minutes
    int64_t MICROSECONDS_OF_DAY
    int64_t floor_div(int64_t number, int64_t divisor) noexcept
    int64_t days_from_civil(int year, int month, int day) noexcept
    bint civil_from_days(int64_t days, civil_time* c) noexcept
    int days_of_month(int year, int month) noexcept
    void clock_from_microseconds(int64_t microseconds, civil_time* c) noexcept
    bint parse_iso_date(const unsigned char* p, Py_ssize_t nbytes, civil_time* c) noexcept
    bint parse_iso_time(const unsigned char* p, Py_ssize_t nbytes, civil_time* c) noexcept
    bint parse_iso_datetime(const unsigned char* p, Py_ssize_t nbytes, civil_time* c) noexcept
    bint parse_iso_duration(const unsigned char* p, Py_ssize_t nbytes, int64_t* days, int64_t* seconds,
                            int* microsecond) noexcept
    unsigned char* put_date(unsigned char* out, int year, int month, int day) noexcept
    unsigned char* put_clock(unsigned char* out, int hour, int minute, int second, int microsecond) noexcept
    unsigned char* put_digits(unsigned char* out, int number, int n) noexcept
