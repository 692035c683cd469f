/* The elements of sets, read and added without calls for each; part of cpython.h. */
#ifndef TYPEDBYTES_CPYTHON_SETS_H
#define TYPEDBYTES_CPYTHON_SETS_H

#if TB_KNOWN_SHARED
/* Where the elements are in the table is random: a branch for each entry would be mispredicted. */
static inline void load_elements(PyObject *set, PyObject **items, Py_ssize_t nitems) {
    const setentry *entry = ((const PySetObject *)set)->table;
    for (Py_ssize_t n = 0; n < nitems; entry++) {
        items[n] = entry->key;
        n += (entry->key != NULL) & (entry->hash != -1);    /* -1: a key that was removed */
    }
}
#endif

/* The elements of a set, as a tuple. */
static PyObject *set_elements(PyObject *set) {
#if TB_KNOWN_SHARED
    Py_ssize_t nitems = PySet_GET_SIZE(set);
    PyObject *elements = PyTuple_New(nitems);    /* the collector may run meanwhile, and change the set */
    if (elements == NULL) return NULL;
    if (PySet_GET_SIZE(set) == nitems) {
        PyObject **items = ((PyTupleObject *)elements)->ob_item;
        load_elements(set, items, nitems);
        for (Py_ssize_t n = 0; n < nitems; n++) Py_INCREF(items[n]);
        return elements;
    }
    Py_DECREF(elements);
#endif
    PyObject *copy = PyFrozenSet_New(set);    /* which no other code has: iterating over it may run the collector */
    PyObject *tuple = copy == NULL ? NULL : PySequence_Tuple(copy);
    Py_XDECREF(copy);
    return tuple;
}

/* The elements of a set of `capacity` at most, borrowed; -1: it has more, or this build cannot see them. */
static inline Py_ssize_t few_elements(PyObject *set, PyObject **items, Py_ssize_t capacity) {
#if TB_KNOWN_SHARED
    Py_ssize_t nitems = PySet_GET_SIZE(set);
    if (nitems > capacity) return -1;
    load_elements(set, items, nitems);
    return nitems;
#else
    (void)set; (void)items; (void)capacity;
    return -1;
#endif
}

/* Give a new, empty set a table for `nitems` elements: growing in steps takes as long as adding them. */
static inline void set_reserve(PyObject *set, Py_ssize_t nitems) {
#if TB_KNOWN_LAYOUT
    PySetObject *o = (PySetObject *)set;
    Py_ssize_t nentries = PySet_MINSIZE;
    while (nentries - 1 <= nitems * 5 / 3) nentries *= 2;    /* it grows when three fifths are full */
    if (nentries > PySet_MINSIZE) {
        setentry *table = (setentry *)PyMem_Calloc((size_t)nentries, sizeof(setentry));
        if (table == NULL) return;
        o->table = table;
        o->mask = nentries - 1;
    }
#else
    (void)set; (void)nitems;
#endif
}

/* Add an element to a set that only we hold; steals the element, also on failure. */
static inline int set_add_stolen(PyObject *set, PyObject *item) {
#if TB_KNOWN_LAYOUT
    PySetObject *o = (PySetObject *)set;
    Py_hash_t hash = PyObject_Hash(item);
    if (hash != -1) {
        setentry *entry = &o->table[(size_t)hash & (size_t)o->mask];    /* where every search begins */
        if (entry->key == NULL && (o->fill + 1) * 5 < o->mask * 3) {
            entry->key = item;
            entry->hash = hash;
            o->fill++;
            o->used++;
            return 0;
        }
    }
#endif
    int outcome = PySet_Add(set, item);
    Py_DECREF(item);
    return outcome;
}

#endif
