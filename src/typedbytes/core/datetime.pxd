# The C interface of the datetime module, which is imported by its first use.

from cpython.object cimport PyObject, PyTypeObject

cdef extern from "datetime.h":
    ctypedef struct PyDateTime_CAPI:
        PyTypeObject* DateType
        PyTypeObject* DateTimeType
        PyTypeObject* TimeType
        PyTypeObject* DeltaType
        PyObject* TimeZone_UTC
        PyObject* (*Date_FromDate)(int year, int month, int day, PyTypeObject* kind) except NULL
        PyObject* (*DateTime_FromDateAndTimeAndFold)(
            int year, int month, int day, int hour, int minute, int second, int microsecond, PyObject* zone, int fold,
            PyTypeObject* kind) except NULL
        PyObject* (*Time_FromTimeAndFold)(
            int hour, int minute, int second, int microsecond, PyObject* zone, int fold, PyTypeObject* kind) except NULL
        PyObject* (*Delta_FromDelta)(int days, int seconds, int microseconds, int normalize,
                                     PyTypeObject* kind) except NULL
        PyObject* (*TimeZone_FromTimeZone)(PyObject* offset, PyObject* name) except NULL
    PyDateTime_CAPI* PyDateTimeAPI
    int PyDateTime_GET_YEAR(PyObject* o) noexcept
    int PyDateTime_GET_MONTH(PyObject* o) noexcept
    int PyDateTime_GET_DAY(PyObject* o) noexcept
    int PyDateTime_DATE_GET_HOUR(PyObject* o) noexcept
    int PyDateTime_DATE_GET_MINUTE(PyObject* o) noexcept
    int PyDateTime_DATE_GET_SECOND(PyObject* o) noexcept
    int PyDateTime_DATE_GET_MICROSECOND(PyObject* o) noexcept
    int PyDateTime_DATE_GET_FOLD(PyObject* o) noexcept
    int PyDateTime_TIME_GET_HOUR(PyObject* o) noexcept
    int PyDateTime_TIME_GET_MINUTE(PyObject* o) noexcept
    int PyDateTime_TIME_GET_SECOND(PyObject* o) noexcept
    int PyDateTime_TIME_GET_MICROSECOND(PyObject* o) noexcept
    int PyDateTime_TIME_GET_FOLD(PyObject* o) noexcept
    int PyDateTime_DELTA_GET_DAYS(PyObject* o) noexcept
    int PyDateTime_DELTA_GET_SECONDS(PyObject* o) noexcept
    int PyDateTime_DELTA_GET_MICROSECONDS(PyObject* o) noexcept

cdef extern from *:
    """
    static void import_datetime_api(void) { PyDateTime_IMPORT; }
    /* The zone of a time or datetime, borrowed; the macros for it came with Python 3.10. */
    #if defined(PYPY_VERSION)
    static PyObject *zone_of_time(PyObject *o) { return PyDateTime_TIME_GET_TZINFO(o); }
    static PyObject *zone_of_datetime(PyObject *o) { return PyDateTime_DATE_GET_TZINFO(o); }
    #else
    static PyObject *zone_of_time(PyObject *o) {
        return ((_PyDateTime_BaseTime *)o)->hastzinfo ? ((PyDateTime_Time *)o)->tzinfo : Py_None;
    }
    static PyObject *zone_of_datetime(PyObject *o) {
        return ((_PyDateTime_BaseTime *)o)->hastzinfo ? ((PyDateTime_DateTime *)o)->tzinfo : Py_None;
    }
    #endif
    """
    void import_datetime_api() noexcept    # leaves PyDateTimeAPI NULL when it fails
    PyObject* zone_of_time(PyObject* o) noexcept
    PyObject* zone_of_datetime(PyObject* o) noexcept
