/* Instances of record classes: memory that the interpreter lays out, filled without calling the class.
 *
 * Where the layout is not known, a slot has no offset, and its descriptor stores the value. */
#ifndef TYPEDBYTES_INSTANCES_H
#define TYPEDBYTES_INSTANCES_H

#include "core/cpython.h"
#include <structmember.h>

/* Where instances of `cls` have what this descriptor of a slot reads and writes; 0: not known. */
static Py_ssize_t slot_offset(PyTypeObject *cls, PyObject *descriptor) {
#if TB_KNOWN_LAYOUT
    const PyMemberDef *member;
    if (Py_TYPE(descriptor) != &PyMemberDescr_Type || !PyType_IsSubtype(cls, ((PyDescrObject *)descriptor)->d_type))
        return 0;
    member = ((PyMemberDescrObject *)descriptor)->d_member;
    if (member->type != T_OBJECT_EX || member->offset < (Py_ssize_t)sizeof(PyObject)
        || member->offset > cls->tp_basicsize - (Py_ssize_t)sizeof(PyObject *)
        || member->offset % sizeof(PyObject *) != 0)
        return 0;
    return member->offset;
#else
    return (void)cls, (void)descriptor, 0;
#endif
}

static inline PyObject **slot_at(PyObject *instance, Py_ssize_t offset) {
    return (PyObject **)((char *)instance + offset);
}

/* Whether the class makes its instances as object does. */
static int has_plain_memory(PyTypeObject *cls) {
    return cls->tp_alloc == PyType_GenericAlloc && !PyType_HasFeature(cls, Py_TPFLAGS_IS_ABSTRACT);
}

/* Whether all its bases but object are made in Python, so that an instance is no more than its slots and attributes. */
static int is_python_class(PyTypeObject *cls) {
#if !defined(PYPY_VERSION)
    for (PyTypeObject *base = cls; base != &PyBaseObject_Type; base = base->tp_base)
        if (base == NULL || base->tp_dealloc != cls->tp_dealloc || !PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE))
            return 0;
#endif
    return cls->tp_itemsize == 0;
}

/* The attributes of an instance of a class without slots are in an array, until its dict is asked for; which of them
 * a name is, is the same for all instances, as long as the class has the same keys. It is found out from an instance
 * that is made for it. */
#if TB_KNOWN_SHARED && PY_VERSION_HEX >= 0x030b0000
#define TB_KNOWN_VALUES 1
#if PY_VERSION_HEX >= 0x030d0000
#define TB_HAS_VALUES Py_TPFLAGS_INLINE_VALUES
#else
#define TB_HAS_VALUES Py_TPFLAGS_MANAGED_DICT
#endif
#else
#define TB_KNOWN_VALUES 0
#endif

#define MAX_ATTRIBUTES 28

typedef struct {
    void *keys;    /* NULL: not known */
    unsigned char index[MAX_ATTRIBUTES];
    unsigned char max_index;
} attribute_layout;

#if TB_KNOWN_VALUES
/* NULL: there is a dict. */
static inline PyObject **attribute_values(PyObject *instance) {
#if PY_VERSION_HEX >= 0x030d0000
    /* Capacity, size, whether embedded, whether valid. */
    unsigned char *head = (unsigned char *)instance + sizeof(PyObject);
    return head[3] ? (PyObject **)(head + sizeof(PyObject *)) : NULL;
#elif PY_VERSION_HEX >= 0x030c0000
    uintptr_t tagged = ((uintptr_t *)instance)[-3];
    return tagged & 1 ? (PyObject **)(tagged + 1) : NULL;
#else
    return ((PyObject ***)instance)[-4];
#endif
}

/* How many there are, and where their numbers are in the order in which they were set, which goes up or down. */
static inline unsigned char *attribute_count(PyObject **values) {
#if PY_VERSION_HEX >= 0x030d0000
    return (unsigned char *)values - sizeof(PyObject *) + 1;
#else
    return (unsigned char *)values - 2;
#endif
}

static inline unsigned char *attribute_order(PyObject **values, Py_ssize_t i) {
#if PY_VERSION_HEX >= 0x030d0000
    return (unsigned char *)(values + ((unsigned char *)values - sizeof(PyObject *))[0]) + i;
#else
    return (unsigned char *)values - 3 - i;
#endif
}

static inline int has_capacity(PyObject **values, const attribute_layout *layout) {
#if PY_VERSION_HEX >= 0x030d0000
    return layout->max_index < ((unsigned char *)values - sizeof(PyObject *))[0];
#else
    return (void)values, (void)layout, 1;    /* for all keys that there were when it was made */
#endif
}

/* The array, which the dict of an instance has taken over if it was asked for, and the dict has no other keys;
 * NULL: there is none. From 3.13 on it stays where it was. */
static inline PyObject **attribute_values_anywhere(const attribute_layout *layout, PyObject *instance) {
    PyObject **values = attribute_values(instance);
#if PY_VERSION_HEX < 0x030d0000
    if (values == NULL) {
        const PyDictObject *dict = ((PyDictObject **)instance)[-3];
        return dict != NULL && (void *)dict->ma_keys == layout->keys ? (PyObject **)dict->ma_values : NULL;
    }
#endif
    return values != NULL && has_capacity(values, layout) ? values : NULL;
}
#endif

/* Whether instances of the class have such an array, and can be made and freed without code of the class. */
static int has_attribute_array(PyTypeObject *cls) {
#if TB_KNOWN_VALUES
    return is_python_class(cls) && PyType_HasFeature(cls, TB_HAS_VALUES) && cls->tp_alloc == PyType_GenericAlloc
           && cls->tp_finalize == NULL && cls->tp_del == NULL && cls->tp_getattro == PyObject_GenericGetAttr;
#else
    return (void)cls, 0;
#endif
}

/* After n attributes, different objects, were set in their order on a new instance. */
static void learn_attributes(attribute_layout *layout, PyObject *instance, PyObject **expected, Py_ssize_t n) {
#if TB_KNOWN_VALUES
    PyObject **values = attribute_values(instance);
    layout->keys = NULL;
    layout->max_index = 0;
    if (n == 0 || n > MAX_ATTRIBUTES || values == NULL || *attribute_count(values) != n) return;
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned index = *attribute_order(values, i);
        if (index >= MAX_ATTRIBUTES || values[index] != expected[i]) return;
        layout->index[i] = (unsigned char)index;
        if (index > layout->max_index) layout->max_index = (unsigned char)index;
    }
    layout->keys = ((PyHeapTypeObject *)Py_TYPE(instance))->ht_cached_keys;
#else
    (void)instance, (void)expected, (void)n;
    layout->keys = NULL;
#endif
}

/* Give a new instance its n attributes, whose references it takes over; 0: nothing was done. */
static inline int store_attributes(const attribute_layout *layout, PyObject *instance, PyObject **items, Py_ssize_t n) {
#if TB_KNOWN_VALUES
    PyObject **values;
    if (layout->keys == NULL || ((PyHeapTypeObject *)Py_TYPE(instance))->ht_cached_keys != layout->keys) return 0;
    values = attribute_values(instance);
    if (values == NULL || *attribute_count(values) != 0 || !has_capacity(values, layout)) return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        values[layout->index[i]] = items[i];
        *attribute_order(values, i) = layout->index[i];
    }
    *attribute_count(values) = (unsigned char)n;
    return 1;
#else
    return (void)layout, (void)instance, (void)items, (void)n, 0;
#endif
}

/* Attribute i, borrowed; NULL: it is to be looked up. */
static inline PyObject *attribute_at(const attribute_layout *layout, PyObject *instance, Py_ssize_t i) {
#if TB_KNOWN_VALUES
    PyObject **values;
    if (layout->keys == NULL || ((PyHeapTypeObject *)Py_TYPE(instance))->ht_cached_keys != layout->keys) return NULL;
    values = attribute_values_anywhere(layout, instance);
    return values != NULL ? values[layout->index[i]] : NULL;
#else
    return (void)layout, (void)instance, (void)i, (PyObject *)NULL;
#endif
}

/* Whether there is nothing before the memory of an instance, nor anything but slots or the items of a tuple in it. */
static int has_simple_memory(PyTypeObject *cls) {
#if TB_KNOWN_LAYOUT
    int is_plain = cls->tp_itemsize == 0
                   || (cls->tp_itemsize == PyTuple_Type.tp_itemsize && cls->tp_basicsize == PyTuple_Type.tp_basicsize);
    unsigned long others = 0;
#if PY_VERSION_HEX >= 0x030b0000
    others |= Py_TPFLAGS_MANAGED_DICT;
#endif
#if PY_VERSION_HEX >= 0x030c0000
    others |= Py_TPFLAGS_MANAGED_WEAKREF;
#endif
    return has_plain_memory(cls) && is_plain && PyType_HasFeature(cls, Py_TPFLAGS_HEAPTYPE)
           && !(cls->tp_flags & others);
#else
    return (void)cls, 0;
#endif
}

/* An instance whose slots the caller fills at once; it is not tracked by the collector.
 * `is_simple`: has_simple_memory() says so. */
static inline PyObject *untracked_instance(PyTypeObject *cls, int is_simple) {
    PyObject *made;
    if (is_simple && PyType_HasFeature(cls, Py_TPFLAGS_HAVE_GC)) {
        made = PyObject_GC_New(PyObject, cls);
        if (made != NULL) memset((char *)made + sizeof(PyObject), 0, (size_t)cls->tp_basicsize - sizeof(PyObject));
        return made;
    }
    made = PyType_GenericAlloc(cls, 0);
    if (made != NULL && PyType_HasFeature(cls, Py_TPFLAGS_HAVE_GC)) PyObject_GC_UnTrack(made);
    return made;
}

/* A new instance as object makes it, with the array of its attributes. `nothing` is the empty tuple. */
static inline PyObject *plain_instance(PyTypeObject *cls, PyObject *nothing) {
    return PyBaseObject_Type.tp_new(cls, nothing, NULL);
}

/* A new instance of a subclass of tuple, which takes over the references in items[0:n], also on failure.
 * `is_simple`: has_simple_memory() says so. */
static inline PyObject *tuple_instance(PyTypeObject *cls, int is_simple, PyObject **items, Py_ssize_t nitems) {
#if defined(PYPY_VERSION)
    PyObject *plain = tuple_from_stolen(items, nitems), *arguments, *made;
    (void)is_simple;
    if (plain == NULL) return NULL;
    arguments = PyTuple_Pack(1, plain);
    Py_DECREF(plain);
    if (arguments == NULL) return NULL;
    made = PyTuple_Type.tp_new(cls, arguments, NULL);
    Py_DECREF(arguments);
    return made;
#else
    PyObject *made = is_simple ? (PyObject *)PyObject_GC_NewVar(PyTupleObject, cls, nitems)
                               : PyType_GenericAlloc(cls, nitems);
    Py_ssize_t i;
    if (made == NULL) {
        while (nitems > 0) Py_DECREF(items[--nitems]);
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030e0000
    ((PyTupleObject *)made)->ob_hash = -1;
#endif
    for (i = 0; i < nitems; i++) PyTuple_SET_ITEM(made, i, items[i]);
    if (is_simple) PyObject_GC_Track(made);
    return made;
#endif
}

#endif
