/* The pairs of a dict one by one, as the interpreter stores them; a part of cpython.h. */
#ifndef TYPEDBYTES_CPYTHON_DICTS_H
#define TYPEDBYTES_CPYTHON_DICTS_H

#if TB_KNOWN_SHARED && PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030f0000
#define TB_KNOWN_DICTS
/* The table of a dict, up to its indices; after these come its entries, each without a hash where all keys are str. */
typedef struct {
    Py_ssize_t refcnt;
    uint8_t log2_size, log2_nbytes_of_indices, has_only_str;
    uint32_t version;
    Py_ssize_t nusable, nentries;
    char indices[];
} DictTable;

typedef struct {
    PyObject *key, *value;    /* NULL where a pair has been removed */
} DictEntry;
#endif

static inline int dict_next(PyObject *dict, Py_ssize_t *position, PyObject **key, PyObject **value) {
#ifdef TB_KNOWN_DICTS
    const DictTable *table = (const DictTable *)((PyDictObject *)dict)->ma_keys;
    if (table->has_only_str && ((PyDictObject *)dict)->ma_values == NULL) {
        const DictEntry *entries = (const DictEntry *)(table->indices + ((size_t)1 << table->log2_nbytes_of_indices));
        Py_ssize_t i = *position;
        while (i < table->nentries && entries[i].value == NULL) i++;
        if (i >= table->nentries) return 0;
        *position = i + 1;
        *key = entries[i].key;
        *value = entries[i].value;
        return 1;
    }
#endif
#if TB_KNOWN_LAYOUT && PY_VERSION_HEX < 0x030d0000
    return _PyDict_Next(dict, position, key, value, NULL);    /* PyDict_Next calls this */
#else
    return PyDict_Next(dict, position, key, value);
#endif
}

#if TB_KNOWN_SHARED && PY_VERSION_HEX < 0x030f0000
/* An entry in the list of an OrderedDict, of which the first is known right after the dict. */
typedef struct OrderedNode {
    PyObject *key;
    Py_hash_t hash;
    struct OrderedNode *next, *prev;
} OrderedNode;
#define ORDERED_NBYTES (sizeof(PyDictObject) + 8 * sizeof(void *))
#define MAX_WALK 4096    /* entries; of more, signals are handled on the way */
#endif

/* Whether the dict that an OrderedDict is has its order, not that of entries that were moved; -1: not known here. */
static inline int has_own_order(PyObject *ordered) {
#ifdef ORDERED_NBYTES
    if (PyODict_Check(ordered) && PyODict_Type.tp_basicsize == ORDERED_NBYTES && PyDict_GET_SIZE(ordered) <= MAX_WALK) {
        const OrderedNode *node = *(OrderedNode *const *)((PyDictObject *)ordered + 1);
        Py_ssize_t position = 0;
        PyObject *key, *value;
        for (; node != NULL; node = node->next)
            if (!dict_next(ordered, &position, &key, &value) || key != node->key) return 0;
        return 1;
    }
#endif
    (void)ordered;
    return -1;
}

#endif
