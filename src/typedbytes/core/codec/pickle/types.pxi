# The plain types that live in modules. They are bound on first use: the start of a task imports neither datetime nor
# decimal nor uuid, and as long as no code has imported them there is no value of theirs to encode.

from typedbytes.core.datetime cimport *
from typedbytes.core.refs cimport (
    Py_TPFLAGS_HAVE_GC, PyASCIIObject, PyCompactUnicodeObject, PyComplex_FromDoubles,
    PyComplex_ImagAsDouble, PyComplex_RealAsDouble, PyComplex_Type, PyFloat_FromString, PyFrozenSet_New,
    PyFrozenSet_Type, PyObject_GC_Track, PyObject_GC_UnTrack, PyObject_GenericSetAttr, PyObject_GetAttr, PyObject_Str,
    PySet_Add, PySet_New, PySet_Type, PyType_GenericAlloc, PyType_HasFeature, PyType_IsSubtype,
    PyUnicode_DecodeRawUnicodeEscape,
)

# NULL: not bound yet.
cdef PyTypeObject* DATE_TYPE
cdef PyTypeObject* TIME_TYPE
cdef PyTypeObject* DATETIME_TYPE
cdef PyTypeObject* DELTA_TYPE
cdef PyTypeObject* ZONE_TYPE
cdef PyTypeObject* DECIMAL_TYPE
cdef PyTypeObject* UUID_TYPE

cdef bint HAS_SMALL_DECIMALS = False

cdef object Timezone, Decimal, TRAPPING_CONTEXT, UUID, SAFE_UUID, UNKNOWN_SAFETY    # SAFE_UUID: the enum of is_safe


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
    global DECIMAL_TYPE, HAS_SMALL_DECIMALS, Decimal, TRAPPING_CONTEXT
    if DECIMAL_TYPE != NULL:
        return 0
    import decimal
    # Under the caller's context, which may trap nothing, bad text would become a NaN.
    TRAPPING_CONTEXT = decimal.Context(traps=[decimal.InvalidOperation])
    Decimal = decimal.Decimal
    DECIMAL_TYPE = <PyTypeObject*>Decimal
    probe = Decimal("-12345678901234567.89")
    HAS_SMALL_DECIMALS = knows_decimals(<PyObject*>probe)
    return 0


cdef object decimal_from_text(object text):
    # The flags of a context are set without a lock.
    return Decimal(text, TRAPPING_CONTEXT.copy() if NO_GIL else TRAPPING_CONTEXT)


cdef int bind_uuid() except -1:
    global UUID_TYPE, UUID, SAFE_UUID, UNKNOWN_SAFETY
    if UUID_TYPE != NULL:
        return 0
    import uuid
    SAFE_UUID = uuid.SafeUUID
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


if NO_GIL:    # bound once, before there are threads: at the first use several could bind them at one time
    bind_datetime()
    bind_decimal()
    bind_uuid()
