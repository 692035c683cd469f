# The plain types that live in modules. They are bound on first use: the start of a task imports neither datetime nor decimal
# nor uuid, and as long as no code has imported them there is no value of theirs to encode.

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
        PyObject* (*Delta_FromDelta)(int days, int seconds, int microseconds, int normalize, PyTypeObject* kind) except NULL
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

cdef extern from "Python.h":
    PyTypeObject PyComplex_Type, PyFrozenSet_Type, PySet_Type
    double PyComplex_RealAsDouble(PyObject* o) noexcept
    double PyComplex_ImagAsDouble(PyObject* o) noexcept
    PyObject* PyComplex_FromDoubles(double real, double imag) except NULL
    PyObject* PySet_New(PyObject* items) except NULL
    PyObject* PyFrozenSet_New(PyObject* items) except NULL
    int PySet_Add(PyObject* o, PyObject* item) except -1
    PyObject* PyErr_Occurred() noexcept
    ctypedef struct PyASCIIObject:
        pass
    ctypedef struct PyCompactUnicodeObject:
        pass
    bint PyType_HasFeature(PyTypeObject* kind, unsigned long feature) noexcept
    unsigned long Py_TPFLAGS_HAVE_GC
    void PyObject_GC_UnTrack(void* o) noexcept
    PyObject* PyUnicode_DecodeRawUnicodeEscape(const char* p, Py_ssize_t nbytes, const char* errors) except NULL
    PyObject* PyFloat_FromString(PyObject* text) except NULL
    PyObject* PyObject_Str(PyObject* o) except NULL
    PyObject* PyObject_GenericGetAttr(PyObject* o, PyObject* name) except NULL
    int PyObject_GenericSetAttr(PyObject* o, PyObject* name, PyObject* value) except -1
    PyObject* PyType_GenericAlloc(PyTypeObject* kind, Py_ssize_t nitems) except NULL

# NULL: not bound yet.
cdef PyTypeObject* DATE_TYPE
cdef PyTypeObject* TIME_TYPE
cdef PyTypeObject* DATETIME_TYPE
cdef PyTypeObject* DELTA_TYPE
cdef PyTypeObject* ZONE_TYPE
cdef PyTypeObject* DECIMAL_TYPE
cdef PyTypeObject* UUID_TYPE

cdef bint HAS_SMALL_DECIMALS = False

cdef object Timezone, Decimal, TRAPPING, UUID, SAFETIES, UNKNOWN_SAFETY


cdef int bind_datetime() except -1:
    global DATE_TYPE, TIME_TYPE, DATETIME_TYPE, DELTA_TYPE, ZONE_TYPE, Timezone
    if ZONE_TYPE != NULL:
        return 0
    from datetime import timezone
    import_datetime_api()
    if PyDateTimeAPI == NULL:
        raise_pending()
    Timezone = timezone
    DATE_TYPE = PyDateTimeAPI.DateType
    TIME_TYPE = PyDateTimeAPI.TimeType
    DATETIME_TYPE = PyDateTimeAPI.DateTimeType
    DELTA_TYPE = PyDateTimeAPI.DeltaType
    ZONE_TYPE = <PyTypeObject*>timezone
    return 0


cdef int bind_decimal() except -1:
    global DECIMAL_TYPE, HAS_SMALL_DECIMALS, Decimal, TRAPPING
    if DECIMAL_TYPE != NULL:
        return 0
    import decimal
    # Under the caller's context, which may trap nothing, bad text would become a NaN.
    TRAPPING = decimal.Context(traps=[decimal.InvalidOperation])
    Decimal = decimal.Decimal
    DECIMAL_TYPE = <PyTypeObject*>Decimal
    probe = Decimal("-12345678901234567.89")
    HAS_SMALL_DECIMALS = knows_decimals(<PyObject*>probe)
    return 0


cdef int bind_uuid() except -1:
    global UUID_TYPE, UUID, SAFETIES, UNKNOWN_SAFETY
    if UUID_TYPE != NULL:
        return 0
    import uuid
    SAFETIES = uuid.SafeUUID
    UNKNOWN_SAFETY = uuid.SafeUUID.unknown
    UUID = uuid.UUID
    UUID_TYPE = <PyTypeObject*>UUID
    return 0


cdef bint bind_module_of(object kind) except -1:
    # Bind the plain types of the module that a type is from; whether that may have changed anything.
    module = kind.__module__
    if module == "datetime" and ZONE_TYPE == NULL:
        bind_datetime()
    elif module == "decimal" and DECIMAL_TYPE == NULL:
        bind_decimal()
    elif module == "uuid" and UUID_TYPE == NULL:
        bind_uuid()
    else:
        return False
    return True
