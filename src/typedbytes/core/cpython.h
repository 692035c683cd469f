/* With its parts, cpython_*.h, the only file that knows the interpreter's own layout, beyond the structs that its
 * public headers define.
 *
 * Each function has a portable form, which TYPEDBYTES_PORTABLE selects everywhere, so that the tests can run both. The
 * fast forms hold for CPython 3.9 to 3.15 with the layouts named below; anything else gets the portable form. */
#ifndef TYPEDBYTES_CPYTHON_H
#define TYPEDBYTES_CPYTHON_H

#include <Python.h>
#include <frameobject.h>
#include <stdint.h>
#include <string.h>

#if defined(TYPEDBYTES_PORTABLE) || defined(PYPY_VERSION) || PY_VERSION_HEX >= 0x03100000
#define TB_KNOWN_LAYOUT 0
#elif defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030e0000    /* not tried */
#define TB_KNOWN_LAYOUT 0
#else
#define TB_KNOWN_LAYOUT 1
#endif

/* Whether that may also be read of objects that other threads can change: only with the GIL. */
#ifdef Py_GIL_DISABLED
#define TB_KNOWN_SHARED 0
#else
#define TB_KNOWN_SHARED TB_KNOWN_LAYOUT
#endif

/* Since 3.10 the hash value of a NaN is made from its address, as it is equal to no other. */
#if PY_VERSION_HEX < 0x030a0000 || defined(PYPY_VERSION)
#define TB_NANS_HASH_ALIKE 1
#else
#define TB_NANS_HASH_ALIKE 0
#endif

#if TB_KNOWN_LAYOUT && PY_VERSION_HEX >= 0x030d0000
PyAPI_FUNC(PyObject *) _PyDict_FromItems(PyObject *const *keys, Py_ssize_t keys_offset, PyObject *const *values,
                                         Py_ssize_t values_offset, Py_ssize_t npairs);
PyAPI_FUNC(Py_hash_t) _Py_HashBytes(const void *p, Py_ssize_t nbytes);
#endif

/* Make an object of a builtin class of fresh memory. It may hold the count of an immortal object, which Py_SET_REFCNT
 * would keep: the count is stored directly. */
static inline void init_object(PyObject *object, PyTypeObject *type) {
#if defined(Py_GIL_DISABLED)
    PyObject_Init(object, type);
#else
#if PY_VERSION_HEX >= 0x030e0000 && SIZEOF_VOID_P > 4
    object->ob_refcnt_full = 1;    /* with the flags beside the count */
#else
    object->ob_refcnt = 1;
#endif
    Py_SET_TYPE(object, type);
#endif
}

/* The frame of a compiled function for a traceback: of the innermost alone, and of none where the exception comes from
 * Python code. Cython asks for one in each function that fails; NULL without an error of its own makes it go on
 * without. Its except clauses need a traceback, so that one stays. Builds with debug information keep all. */
#ifndef TYPEDBYTES_DEBUG
static PyFrameObject *innermost_frame(PyThreadState *state, PyCodeObject *code, PyObject *globals, PyObject *locals) {
    PyObject *kind, *error, *traceback;
    PyErr_Fetch(&kind, &error, &traceback);
    PyErr_Restore(kind, error, traceback);
    return traceback == NULL ? PyFrame_New(state, code, globals, locals) : NULL;
}
#define PyFrame_New innermost_frame
#endif

#include "core/cpython_ints.h"
#include "core/cpython_decimal.h"
#include "core/cpython_dicts.h"
#include "core/cpython_sets.h"

/* For many at once: the interpreter's free list is soon empty, and then checking it is wasted time. */
static inline PyObject *float_from_f64(double value) {
#if TB_KNOWN_LAYOUT && !defined(Py_REF_DEBUG)
    PyFloatObject *number = (PyFloatObject *)PyObject_Malloc(sizeof(PyFloatObject));
    if (number == NULL) return PyErr_NoMemory();
    init_object((PyObject *)number, &PyFloat_Type);
    number->ob_fval = value;
    return (PyObject *)number;
#else
    return PyFloat_FromDouble(value);
#endif
}

/* The items of a list, one after the other. */
static inline PyObject **list_items(PyObject *list) {
#if defined(PYPY_VERSION)
    return PySequence_Fast_ITEMS(list);
#else
    return ((PyListObject *)list)->ob_item;
#endif
}

static inline Py_ssize_t set_table_nbytes(PyObject *set) {
#if defined(PYPY_VERSION)
    return PySet_GET_SIZE(set) * 32;
#else
    const PySetObject *o = (const PySetObject *)set;
    return o->table == o->smalltable ? 0 : (o->mask + 1) * (Py_ssize_t)sizeof(setentry);
#endif
}

/* Have memory brought into the cache, without waiting for it. */
static inline void prefetch(const void *p) {
#ifdef __GNUC__
    __builtin_prefetch(p);
#endif
}

/* The hash of bytes as an object of that type has it, with the interpreter's secret; -1: an exception is set. */
static inline Py_hash_t hash_bytes(const unsigned char *p, Py_ssize_t nbytes) {
#if PY_VERSION_HEX >= 0x030e0000 && !defined(PYPY_VERSION)
    return Py_HashBuffer(p, nbytes);
#elif TB_KNOWN_LAYOUT
    return _Py_HashBytes(p, nbytes);
#else
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)p, nbytes);
    Py_hash_t hash = bytes == NULL ? -1 : PyObject_Hash(bytes);
    Py_XDECREF(bytes);
    return hash;
#endif
}

static inline void prefetch_set_entry(PyObject *set, Py_hash_t hash) {
#if !defined(PYPY_VERSION)
    const PySetObject *o = (const PySetObject *)set;
    prefetch(&o->table[(size_t)hash & (size_t)o->mask]);
#endif
}

/* The characters of a compact ASCII str: unlike PyUnicode_DATA, without looking again at what kind of str it is. */
static inline void *ascii_data(PyObject *text) {
#if TB_KNOWN_LAYOUT
    return (PyASCIIObject *)text + 1;
#else
    return PyUnicode_DATA(text);
#endif
}

#if TB_KNOWN_LAYOUT && !defined(Py_REF_DEBUG)
static inline PyObject *ascii_in(void *memory, Py_ssize_t nchars) {
    PyASCIIObject *text = (PyASCIIObject *)memory;
    if (text == NULL) return PyErr_NoMemory();
    memset(text, 0, sizeof(PyASCIIObject));
    init_object((PyObject *)text, &PyUnicode_Type);
    text->length = nchars;
    text->hash = -1;
    text->state.kind = PyUnicode_1BYTE_KIND;
    text->state.compact = 1;
    text->state.ascii = 1;
#if PY_VERSION_HEX < 0x030c0000
    text->state.ready = 1;
#endif
    ((char *)(text + 1))[nchars] = 0;
    return (PyObject *)text;
}
#endif

static inline PyObject *new_ascii(Py_ssize_t nchars) {
#if TB_KNOWN_LAYOUT && !defined(Py_REF_DEBUG)
    if (nchars > 0)    /* the empty one is shared */
        return ascii_in(PyObject_Malloc(sizeof(PyASCIIObject) + (size_t)nchars + 1), nchars);
#endif
    return PyUnicode_New(nchars, 127);
}

/* The same for a cache, whose strings outlive others: memory for many of up to POOLED_LENGTH characters is allocated
 * together, at first for few. The allocator frees an arena when nothing is left in it, and a cached string in each of
 * them would keep them all. */
#define POOLED_LENGTH 24
#define MAX_POOLED 2048u

static inline PyObject *new_pooled_ascii(Py_ssize_t nchars) {
#if TB_KNOWN_SHARED && !defined(Py_REF_DEBUG)
    static void *blocks[MAX_POOLED];
    static unsigned nblocks, nallocated = 4;
    if (nchars > 0 && nchars <= POOLED_LENGTH) {
        if (nblocks == 0) {
            void *block = NULL;
            if (nallocated < MAX_POOLED) nallocated *= 8;
            while (nblocks < nallocated
                   && (block = PyObject_Malloc(sizeof(PyASCIIObject) + POOLED_LENGTH + 1)) != NULL)
                blocks[nblocks++] = block;
            if (nblocks == 0) return PyErr_NoMemory();
        }
        return ascii_in(blocks[--nblocks], nchars);
    }
#endif
    return new_ascii(nchars);
}

/* Bytes that the caller fills in; the checks of PyBytes_FromStringAndSize take longer than writing a small value. */
static inline PyObject *new_uninitialized_bytes(Py_ssize_t nbytes) {
#if TB_KNOWN_LAYOUT && !defined(Py_REF_DEBUG) && defined(__GNUC__)
    if (nbytes > 1) {    /* shorter ones are shared */
        PyBytesObject *bytes = (PyBytesObject *)PyObject_Malloc(offsetof(PyBytesObject, ob_sval) + (size_t)nbytes + 1);
        if (bytes == NULL) return PyErr_NoMemory();
        init_object((PyObject *)bytes, &PyBytes_Type);
        Py_SET_SIZE((PyVarObject *)bytes, nbytes);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        bytes->ob_shash = -1;
#pragma GCC diagnostic pop
        bytes->ob_sval[nbytes] = 0;
        return (PyObject *)bytes;
    }
#endif
    return PyBytes_FromStringAndSize(NULL, nbytes);
}

/* The UTF-8 form that the interpreter has made of a str before, NULL when it has not. */
static inline const char *known_utf8(PyObject *text, Py_ssize_t *nbytes) {
#if TB_KNOWN_SHARED
    const PyCompactUnicodeObject *compact = (const PyCompactUnicodeObject *)text;
    *nbytes = compact->utf8_length;
    return compact->utf8;
#else
    (void)text; (void)nbytes;
    return NULL;
#endif
}

/* A dict presized for alternating keys and values; it holds the first *nfilled pairs of them. */
static inline PyObject *start_dict(PyObject **items, Py_ssize_t npairs, Py_ssize_t *nfilled) {
#if TB_KNOWN_LAYOUT && PY_VERSION_HEX >= 0x030d0000
    /* _PyDict_FromItems looks at the keys first: a dict of str keys gets the smaller table for them,
     * a presized dict never. */
    *nfilled = npairs < 1024 ? npairs : 1024;
    return _PyDict_FromItems(items, 2, items + 1, 2, *nfilled);
#else
    (void)items;
    *nfilled = 0;
#if TB_KNOWN_LAYOUT
    if (npairs > 5) return _PyDict_NewPresized(npairs);
#endif
    return PyDict_New();
#endif
}

/* A class made in Python looks up the __next__ of its Cython base at each step, instead of inheriting the
 * slot. Measured: with the slot, iterating values takes 0.44 to 0.6 of the time, pairs 0.63 to 0.73. The class
 * must not define __next__. */
static inline void inherit_next(PyObject *type) {
    ((PyTypeObject *)type)->tp_iternext = ((PyTypeObject *)type)->tp_base->tp_iternext;
}

static inline PyObject *tuple_from_stolen(PyObject **items, Py_ssize_t nitems) {
    PyObject *tuple = PyTuple_New(nitems);
    if (tuple == NULL) {
        while (nitems > 0) Py_DECREF(items[--nitems]);
        return NULL;
    }
    if (nitems == 0) return tuple;
    int untracked = 1;
    Py_ssize_t i = 0;
    do {
        PyTuple_SET_ITEM(tuple, i, items[i]);
        if (PyType_HasFeature(Py_TYPE(items[i]), Py_TPFLAGS_HAVE_GC)) untracked = 0;
    } while (++i < nitems);
    if (untracked) PyObject_GC_UnTrack(tuple);
    return tuple;
}

/* As zip does: the pair returned last is reused if the caller holds its only reference. */
static inline PyObject *pair_from_stolen(PyObject *pair, PyObject *first, PyObject *second) {
    PyObject *items[2] = {first, second};
#if defined(Py_GIL_DISABLED)
    return tuple_from_stolen(items, 2);    /* another thread may be reading it */
#endif
    if (Py_REFCNT(pair) != 1) return tuple_from_stolen(items, 2);
    items[0] = PyTuple_GET_ITEM(pair, 0);
    items[1] = PyTuple_GET_ITEM(pair, 1);
    PyTuple_SET_ITEM(pair, 0, first);
    PyTuple_SET_ITEM(pair, 1, second);
#if PY_VERSION_HEX >= 0x030e0000
    ((PyTupleObject *)pair)->ob_hash = -1; /* of what it held before */
#endif
    if ((Py_TYPE(first)->tp_flags | Py_TYPE(second)->tp_flags) & Py_TPFLAGS_HAVE_GC && !PyObject_GC_IsTracked(pair))
        PyObject_GC_Track(pair);
    Py_INCREF(pair);
    Py_DECREF(items[0]);
    Py_DECREF(items[1]);
    return pair;
}

static inline PyObject *object_from_stolen(PyObject *o) { return o; }

#ifdef __GNUC__
__attribute__((noinline))
#endif
static PyObject *list_without_memory(PyObject *list, PyObject **items, Py_ssize_t nitems) {
    Py_XDECREF(list);
    while (nitems > 0) Py_DECREF(items[--nitems]);
    return PyErr_NoMemory();
}

static inline PyObject *list_from_stolen(PyObject **items, Py_ssize_t nitems) {
#if TB_KNOWN_SHARED
    PyObject *list = PyList_New(0);    /* PyList_New(nitems) would zero the memory of the items first */
    PyObject **kept;
    if (list == NULL) return list_without_memory(list, items, nitems);
    if (nitems == 0) return list;
    kept = (PyObject **)PyMem_Malloc((size_t)nitems * sizeof(PyObject *));
    if (kept == NULL) return list_without_memory(list, items, nitems);
    for (Py_ssize_t i = 0; i < nitems; i++) kept[i] = items[i];
    ((PyListObject *)list)->ob_item = kept;
    ((PyListObject *)list)->allocated = nitems;
    Py_SET_SIZE((PyVarObject *)list, nitems);
#else
    PyObject *list = PyList_New(nitems);
    if (list == NULL) return list_without_memory(list, items, nitems);
    for (Py_ssize_t i = 0; i < nitems; i++) PyList_SET_ITEM(list, i, items[i]);
#endif
    return list;
}

/* Leave `nchars` characters of a Latin-1 string to which we hold the only reference; *text may move. Up to an eighth of
 * them stays reserved, since giving it back costs more. 0, or -1 with an exception. */
static inline int shorten_latin(PyObject **text, Py_ssize_t nchars) {
#if TB_KNOWN_LAYOUT && !defined(Py_REF_DEBUG)
    if (PyUnicode_GET_LENGTH(*text) - nchars <= nchars / 8) {
        ((PyASCIIObject *)*text)->length = nchars;
        PyUnicode_1BYTE_DATA(*text)[nchars] = 0;
        return 0;
    }
#endif
    return PyUnicode_Resize(text, nchars);
}

/* _PyBytes_Resize frees the object when it fails; here it is kept, as it may contain whole records. */
static int bytes_resize(PyObject **bytes, Py_ssize_t nbytes) {
#if TB_KNOWN_LAYOUT && !defined(Py_TRACE_REFS)
    PyObject *moved = (PyObject *)PyObject_Realloc(*bytes, offsetof(PyBytesObject, ob_sval) + 1 + (size_t)nbytes);
    if (moved == NULL) { PyErr_NoMemory(); return -1; }
    Py_SET_SIZE((PyVarObject *)moved, nbytes);
    PyBytes_AS_STRING(moved)[nbytes] = 0;
#else
    PyObject *moved = PyBytes_FromStringAndSize(NULL, nbytes);
    if (moved == NULL) return -1;
    memcpy(PyBytes_AS_STRING(moved), PyBytes_AS_STRING(*bytes),
           (size_t)(nbytes < PyBytes_GET_SIZE(*bytes) ? nbytes : PyBytes_GET_SIZE(*bytes)));
    Py_DECREF(*bytes);
#endif
    *bytes = moved;
    return 0;
}

static inline int bytes_shorten(PyObject **bytes, Py_ssize_t nbytes) {
#if TB_KNOWN_LAYOUT && !defined(Py_TRACE_REFS)
    Py_SET_SIZE((PyVarObject *)*bytes, nbytes);
    PyBytes_AS_STRING(*bytes)[nbytes] = 0;
    return 0;
#else
    return bytes_resize(bytes, nbytes);
#endif
}

/* Give a bytes object that was shortened its allocated size back;
 * 0 where it is shared, or its memory may have been cut. */
static inline int bytes_restore(PyObject *bytes, Py_ssize_t nbytes) {
#if TB_KNOWN_LAYOUT && !defined(Py_TRACE_REFS)
    if (Py_REFCNT(bytes) != 1) return 0;
    Py_SET_SIZE((PyVarObject *)bytes, nbytes);
    return 1;
#else
    (void)bytes; (void)nbytes;
    return 0;
#endif
}

/* Bytes as a new instance of a subclass. Calling the subclass would look for a method
 * __bytes__, and copy them twice. */
static PyObject *bytes_as_subclass(PyObject *bytes, PyTypeObject *subclass) {
#if TB_KNOWN_LAYOUT
    PyObject *copy = subclass->tp_alloc(subclass, PyBytes_GET_SIZE(bytes));
    if (copy == NULL) return NULL;
    /* With the hash value, which is in front of them, and the zero after them. */
    memcpy((char *)copy + sizeof(PyVarObject), (char *)bytes + sizeof(PyVarObject),
           offsetof(PyBytesObject, ob_sval) - sizeof(PyVarObject) + (size_t)PyBytes_GET_SIZE(bytes) + 1);
    return copy;
#else
    return PyObject_CallFunctionObjArgs((PyObject *)subclass, bytes, NULL);
#endif
}

/* Append items to a list, taking over their references. PyList_Append would grow the list in many small steps. */
static int list_extend_stolen(PyObject *list, PyObject **items, Py_ssize_t nitems) {
#if TB_KNOWN_SHARED
    PyListObject *known = (PyListObject *)list;
    Py_ssize_t size = PyList_GET_SIZE(list);
    if (known->allocated - size < nitems) {
        Py_ssize_t capacity = size + nitems + size / 4;
        PyObject **moved = (PyObject **)PyMem_Realloc(known->ob_item, (size_t)capacity * sizeof(PyObject *));
        if (moved == NULL) {
            while (nitems > 0) Py_DECREF(items[--nitems]);
            PyErr_NoMemory();
            return -1;
        }
        known->ob_item = moved;
        known->allocated = capacity;
    }
    memcpy(known->ob_item + size, items, (size_t)nitems * sizeof(PyObject *));
    Py_SET_SIZE((PyVarObject *)list, size + nitems);
    return 0;
#else
    PyObject *more = list_from_stolen(items, nitems);
    if (more == NULL) return -1;
    int outcome = PyList_SetSlice(list, PyList_GET_SIZE(list), PyList_GET_SIZE(list), more);
    Py_DECREF(more);
    return outcome;
#endif
}

#if PY_VERSION_HEX < 0x030a0000 && !defined(PYPY_VERSION)
/* Before 3.10 there are only the functions of the gc module; once looked up, calling them takes no memory. */
static PyObject *gc_isenabled, *gc_disable, *gc_enable;

static int find_gc_functions(void) {
    PyObject *module = PyImport_ImportModule("gc");
    if (module != NULL) {
        gc_isenabled = PyObject_GetAttrString(module, "isenabled");
        gc_disable = PyObject_GetAttrString(module, "disable");
        gc_enable = PyObject_GetAttrString(module, "enable");
        Py_DECREF(module);
    }
    if (gc_isenabled && gc_disable && gc_enable) return 1;
    PyErr_Clear();
    Py_CLEAR(gc_isenabled);
    return 0;
}

static int call_gc(PyObject *function) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);    /* a pending exception stays */
    PyObject *result = PyObject_CallObject(function, NULL);
    int truth = result == Py_True;
    Py_XDECREF(result);
    PyErr_Restore(kind, value, trace);
    return truth;
}

static int PyGC_Disable(void) {
    if (gc_isenabled == NULL && !find_gc_functions()) return 0;
    int was_on = call_gc(gc_isenabled);
    if (was_on) call_gc(gc_disable);
    return was_on;
}

static void PyGC_Enable(void) { call_gc(gc_enable); }
#endif

/* In a build without the GIL, switching the collector off would affect all threads: it is left alone. */
static inline int gc_pause(void) {
#if !defined(PYPY_VERSION) && !defined(Py_GIL_DISABLED)
    return PyGC_Disable();
#else
    return 0;
#endif
}

static inline void gc_resume(int was_on) {
#if !defined(PYPY_VERSION)
    if (was_on) PyGC_Enable();
#else
    (void)was_on;
#endif
}

/* Whether it is a bytes-like object. PyPy's own types, such as io.BytesIO,
 * have the slot even where they export no buffer. */
static inline int has_buffer(PyObject *object) {
#if defined(PYPY_VERSION)
    Py_buffer view;
    if (!PyObject_CheckBuffer(object)) return 0;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) == 0) {
        PyBuffer_Release(&view);
        return 1;
    }
    /* it has a buffer that cannot be exported now; the later use raises the reason */
    int has_one = !PyErr_ExceptionMatches(PyExc_TypeError);
    PyErr_Clear();
    return has_one;
#else
    return PyObject_CheckBuffer(object);
#endif
}

#if defined(PYPY_VERSION)
/* What Cython calls before it frees an object. PyPy has called __del__ by then,
 * and ends the process when a function gets an object that is being freed. */
#undef PyObject_GC_IsFinalized
#define PyObject_GC_IsFinalized(object) 1
#undef PyObject_CallFinalizerFromDealloc
#define PyObject_CallFinalizerFromDealloc(object) 0
#endif

/* Whether the bytes of a memoryview are there, as far as its layout is known, with a lock that keeps them. */
static inline int is_open_view(PyObject *view) {
#if TB_KNOWN_SHARED
    const PyMemoryViewObject *v = (const PyMemoryViewObject *)view;
    return !(v->flags & _Py_MEMORYVIEW_RELEASED) && !(v->mbuf->flags & _Py_MANAGED_BUFFER_RELEASED);
#else
    (void)view;
    return 0;
#endif
}

/* Warn that `source` was not closed; imports nothing where the interpreter is ending. */
static inline int warn_of_resource(PyObject *source, PyObject *text) {
#if defined(PYPY_VERSION)
    (void)source;
    return PyErr_WarnFormat(PyExc_ResourceWarning, 1, "%U", text);
#else
    return PyErr_ResourceWarning(source, 1, "%U", text);
#endif
}

/* The C function of a builtin function that takes keywords. */
typedef PyObject *(*keyword_function)(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);

/* Replace the C function of a builtin function, or of a method of a compiled class, by `quick`; return the original
 * one, NULL: nothing was changed. whole_values.pxi says what it is worth. */
static inline keyword_function replace_calls(PyObject *function, keyword_function quick) {
#if TB_KNOWN_LAYOUT
    PyMethodDef *method = PyCFunction_Check(function) ? ((PyCFunctionObject *)function)->m_ml
                          : Py_IS_TYPE(function, &PyMethodDescr_Type) ? ((PyMethodDescrObject *)function)->d_method
                          : NULL;
    if (method != NULL && method->ml_flags == (METH_FASTCALL | METH_KEYWORDS)) {
        keyword_function before = (keyword_function)(void (*)(void))method->ml_meth;
        method->ml_meth = (PyCFunction)(void (*)(void))quick;
        return before;
    }
#endif
    return NULL;
}

#endif
