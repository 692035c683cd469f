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
    #include "core/cpython.h"
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

    static inline void set_date_bytes(unsigned char *data, int year, int month, int day) {
        data[0] = (unsigned char)(year >> 8);
        data[1] = (unsigned char)year;
        data[2] = (unsigned char)month;
        data[3] = (unsigned char)day;
    }

    static inline void set_clock_bytes(unsigned char *data, int hour, int minute, int second, int microsecond) {
        data[0] = (unsigned char)hour;
        data[1] = (unsigned char)minute;
        data[2] = (unsigned char)second;
        data[3] = (unsigned char)(microsecond >> 16);
        data[4] = (unsigned char)(microsecond >> 8);
        data[5] = (unsigned char)microsecond;
    }

    /* The numbers of a date, time or datetime without fold and zone, most significant byte first, as pickles have
       them. PyPy keeps them in another form, and `space` takes them. */
    #if defined(PYPY_VERSION)
    static const unsigned char *date_bytes(PyObject *o, unsigned char *space) {
        set_date_bytes(space, PyDateTime_GET_YEAR(o), PyDateTime_GET_MONTH(o), PyDateTime_GET_DAY(o));
        return space;
    }
    static const unsigned char *time_bytes(PyObject *o, unsigned char *space) {
        set_clock_bytes(space, PyDateTime_TIME_GET_HOUR(o), PyDateTime_TIME_GET_MINUTE(o),
                        PyDateTime_TIME_GET_SECOND(o), PyDateTime_TIME_GET_MICROSECOND(o));
        return space;
    }
    static const unsigned char *datetime_bytes(PyObject *o, unsigned char *space) {
        set_clock_bytes(space + 4, PyDateTime_DATE_GET_HOUR(o), PyDateTime_DATE_GET_MINUTE(o),
                        PyDateTime_DATE_GET_SECOND(o), PyDateTime_DATE_GET_MICROSECOND(o));
        return date_bytes(o, space);
    }
    #else
    #define date_bytes(o, space) ((void)(space), (const unsigned char *)((PyDateTime_Date *)(o))->data)
    #define time_bytes(o, space) ((void)(space), (const unsigned char *)((PyDateTime_Time *)(o))->data)
    #define datetime_bytes(o, space) ((void)(space), (const unsigned char *)((PyDateTime_DateTime *)(o))->data)
    #endif

    /* The year is 1 to 9999, and the rest is in range as well. */
    static inline PyObject *new_date(PyTypeObject *type, int year, int month, int day) {
    #if TB_KNOWN_LAYOUT && !defined(Py_REF_DEBUG)
        PyDateTime_Date *made = (PyDateTime_Date *)PyObject_Malloc(sizeof(PyDateTime_Date));
        if (made == NULL) return PyErr_NoMemory();
        init_object((PyObject *)made, type);
        made->hashcode = -1;
        made->hastzinfo = 0;
        set_date_bytes(made->data, year, month, day);
        return (PyObject *)made;
    #else
        return PyDateTimeAPI->Date_FromDate(year, month, day, type);
    #endif
    }

    static inline PyObject *new_datetime(PyTypeObject *type, int year, int month, int day, int hour, int minute,
                                         int second, int microsecond, PyObject *zone) {
    #if TB_KNOWN_LAYOUT && !defined(Py_REF_DEBUG)
        PyDateTime_DateTime *made = (PyDateTime_DateTime *)PyObject_Malloc(
            zone == Py_None ? sizeof(_PyDateTime_BaseDateTime) : sizeof(PyDateTime_DateTime));
        if (made == NULL) return PyErr_NoMemory();
        init_object((PyObject *)made, type);
        made->hashcode = -1;
        made->hastzinfo = zone != Py_None;
        set_date_bytes(made->data, year, month, day);
        set_clock_bytes(made->data + 4, hour, minute, second, microsecond);
        made->fold = 0;
        if (made->hastzinfo) {
            Py_INCREF(zone);
            made->tzinfo = zone;
        }
        return (PyObject *)made;
    #else
        return PyDateTimeAPI->DateTime_FromDateAndTimeAndFold(year, month, day, hour, minute, second, microsecond, zone,
                                                              0, type);
    #endif
    }
    """
    void import_datetime_api() noexcept    # leaves PyDateTimeAPI NULL when it fails
    const unsigned char* date_bytes(PyObject* o, unsigned char* space) noexcept
    const unsigned char* time_bytes(PyObject* o, unsigned char* space) noexcept
    const unsigned char* datetime_bytes(PyObject* o, unsigned char* space) noexcept
    PyObject* zone_of_time(PyObject* o) noexcept
    PyObject* zone_of_datetime(PyObject* o) noexcept
    PyObject* new_date(PyTypeObject* kind, int year, int month, int day) except NULL
    PyObject* new_datetime(PyTypeObject* kind, int year, int month, int day, int hour, int minute, int second,
                           int microsecond, PyObject* zone) except NULL
