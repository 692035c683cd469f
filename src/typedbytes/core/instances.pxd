# Instances of record classes, filled without calling the class; see instances.h.

from cpython.object cimport PyObject, PyTypeObject

cdef extern from "core/instances.h":
    enum:
        MAX_ATTRIBUTES
    ctypedef struct attribute_layout:
        void* keys
    Py_ssize_t slot_offset(PyTypeObject* cls, PyObject* descriptor) noexcept
    PyObject** slot_at(PyObject* instance, Py_ssize_t offset) noexcept
    bint KNOWS_SHARED_LAYOUT "TB_KNOWN_SHARED"
    bint is_python_class(PyTypeObject* cls) noexcept
    bint has_plain_memory(PyTypeObject* cls) noexcept
    bint has_simple_memory(PyTypeObject* cls) noexcept
    bint has_attribute_array(PyTypeObject* cls) noexcept
    void learn_attributes(attribute_layout* layout, PyObject* instance, PyObject** expected, Py_ssize_t n) noexcept
    bint store_attributes(const attribute_layout* layout, PyObject* instance, PyObject** items, Py_ssize_t n) noexcept
    PyObject* attribute_at(const attribute_layout* layout, PyObject* instance, Py_ssize_t i) noexcept
    PyObject* untracked_instance(PyTypeObject* cls, bint is_simple) except NULL
    PyObject* plain_instance(PyTypeObject* cls, PyObject* nothing) except NULL
    PyObject* tuple_instance(PyTypeObject* cls, bint is_simple, PyObject** items, Py_ssize_t nitems) except NULL
