# The interpreter's public API as the inner loops use it: with bare pointers, because they count references by hand.
#
# Here: each function and type declared once, under the name that our code has for it. Not here: what reaches into the
# interpreter's layout (cpython.pxd), and functions that Cython declares as we use them (cpython.bytes and its like).

from cpython.object cimport PyObject, PyTypeObject

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

    # References and types.
    void incref "Py_INCREF"(PyObject* o) noexcept
    void decref "Py_DECREF"(PyObject* o) noexcept
    void xdecref "Py_XDECREF"(PyObject* o) noexcept
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept
    PyTypeObject* Py_TYPE(PyObject* o) noexcept
    PyTypeObject PyBool_Type, PyByteArray_Type, PyBytes_Type, PyComplex_Type, PyDict_Type, PyFloat_Type
    PyTypeObject PyFrozenSet_Type, PyList_Type, PyLong_Type, PySet_Type, PyTuple_Type, PyUnicode_Type
    PyObject* Py_True
    PyObject* Py_False
    PyObject* Py_None
    bint PyType_HasFeature(PyTypeObject* kind, unsigned long feature) noexcept
    unsigned long Py_TPFLAGS_HAVE_GC
    unsigned long Py_TPFLAGS_TUPLE_SUBCLASS, Py_TPFLAGS_LIST_SUBCLASS, Py_TPFLAGS_DICT_SUBCLASS
    bint PyType_IsSubtype(PyTypeObject* kind, PyTypeObject* base) noexcept
    PyObject* PyType_GenericAlloc(PyTypeObject* kind, Py_ssize_t nitems) except NULL
    void PyObject_GC_UnTrack(void* o) noexcept
    void PyObject_GC_Track(void* o) noexcept
    bint PyLong_Check(object o) noexcept
    bint PyFloat_Check(object o) noexcept
    bint PyUnicode_Check(object o) noexcept
    bint PyBytes_Check(object o) noexcept
    bint PyTuple_Check(object o) noexcept
    bint PyList_Check(object o) noexcept
    bint PyDict_Check(object o) noexcept

    # Numbers.
    double PyFloat_AS_DOUBLE(PyObject* o) noexcept
    PyObject* PyFloat_FromDouble(double value) except NULL
    PyObject* PyFloat_FromString(PyObject* text) except NULL
    PyObject* PyLong_FromLong(long value) except NULL
    long long PyLong_AsLongLongAndOverflow(object n, int* overflow) except? -1
    unsigned long long PyLong_AsUnsignedLongLong(object n) except? -1
    double PyComplex_RealAsDouble(PyObject* o) noexcept
    double PyComplex_ImagAsDouble(PyObject* o) noexcept
    PyObject* PyComplex_FromDoubles(double real, double imag) except NULL
    double PyOS_string_to_double(const char* text, char** end, PyObject* overflow) except? -1.0
    char* double_text "PyOS_double_to_string"(double number, char form, int precision, int flags, int* kind) except NULL
    enum:
        ADD_DOT_0 "Py_DTSF_ADD_DOT_0"

    # Bytes and text.
    PyObject* new_bytes "PyBytes_FromStringAndSize"(const char* v, Py_ssize_t nbytes) except NULL
    char* bytes_data "PyBytes_AS_STRING"(PyObject* o) noexcept
    Py_ssize_t bytes_size "PyBytes_GET_SIZE"(PyObject* o) noexcept
    char* PyByteArray_AS_STRING(PyObject* o) noexcept
    Py_ssize_t PyByteArray_GET_SIZE(PyObject* o) noexcept
    PyObject* PyUnicode_New(Py_ssize_t nchars, Py_UCS4 widest) except NULL
    PyObject* PyUnicode_DecodeUTF8(const char* p, Py_ssize_t nbytes, const char* errors) except NULL
    object text_object "PyUnicode_DecodeUTF8"(const char* p, Py_ssize_t nbytes, const char* errors)
    PyObject* PyUnicode_DecodeRawUnicodeEscape(const char* p, Py_ssize_t nbytes, const char* errors) except NULL
    const char* PyUnicode_AsUTF8AndSize(PyObject* o, Py_ssize_t* nbytes) noexcept
    void* PyUnicode_DATA(PyObject* o) noexcept
    int PyUnicode_KIND(PyObject* o) noexcept
    int PyUnicode_READY(PyObject* o) except -1
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject* o) noexcept
    bint PyUnicode_IS_ASCII(PyObject* o) noexcept
    bint PyUnicode_IS_COMPACT_ASCII(PyObject* o) noexcept
    ctypedef struct PyASCIIObject:
        pass
    ctypedef struct PyCompactUnicodeObject:
        pass

    # Containers.
    Py_ssize_t PyTuple_GET_SIZE(PyObject* o) noexcept
    PyObject* PyTuple_GET_ITEM(PyObject* o, Py_ssize_t i) noexcept
    ctypedef struct PyTupleObject:
        PyObject** ob_item
    Py_ssize_t PyList_GET_SIZE(PyObject* o) noexcept
    PyObject* PyList_GET_ITEM(PyObject* o, Py_ssize_t i) noexcept
    Py_ssize_t PyDict_GET_SIZE(PyObject* o) noexcept
    PyObject* PyDict_New() except NULL
    object PyDict_Copy(object o)
    int PyDict_SetItem(PyObject* o, PyObject* key, PyObject* value) noexcept    # negative: an exception is set
    PyObject* PySet_New(PyObject* items) except NULL
    PyObject* PyFrozenSet_New(PyObject* items) except NULL
    int PySet_Add(PyObject* o, PyObject* item) except -1

    # Any object.
    Py_hash_t PyObject_Hash(PyObject* o) except? -1
    PyObject* PyObject_Str(PyObject* o) except NULL
    PyObject* PyObject_GetAttr(PyObject* o, PyObject* name) except NULL
    int PyObject_GenericSetAttr(PyObject* o, PyObject* name, PyObject* value) except -1
    PyObject* PyIter_Next(object iterator) except? NULL
    int Py_EnterRecursiveCall(const char* where) noexcept    # on failure any number but 0
    void Py_LeaveRecursiveCall() noexcept

    # Exceptions that are set.
    bint PyErr_ExceptionMatches(object kind) noexcept
    PyObject* PyErr_Occurred() noexcept    # borrowed
    void PyErr_Clear() noexcept
    void PyErr_Fetch(PyObject** kind, PyObject** value, PyObject** trace) noexcept
    void PyErr_NormalizeException(PyObject** kind, PyObject** value, PyObject** trace) noexcept
    int PyException_SetTraceback(PyObject* value, PyObject* trace) noexcept
    void PyErr_SetObject(PyObject* kind, PyObject* error) noexcept
    void PyErr_WriteUnraisable(PyObject* source) noexcept
    int run_signal_handlers "PyErr_CheckSignals"() noexcept    # negative: one has raised
