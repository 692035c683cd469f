/* What threads share in an interpreter without the GIL; with it these are plain variables,
 * and functions that do nothing. */
#ifndef TYPEDBYTES_THREADS_H
#define TYPEDBYTES_THREADS_H

#include <Python.h>

#ifdef Py_GIL_DISABLED
#define TB_NO_GIL 1
#if defined(_MSC_VER)
#define TB_OF_THREAD __declspec(thread)
#else
#define TB_OF_THREAD _Thread_local
#endif
#else
#define TB_NO_GIL 0
#define TB_OF_THREAD
#endif

/* A state that one thread at a time may claim. */
#if TB_NO_GIL && !defined(_MSC_VER)
typedef _Atomic int shared_state;
#elif TB_NO_GIL
typedef volatile long shared_state;
#else
typedef int shared_state;
#endif

/* Change *state from `from` to `to`; return whether it was `from`. */
static inline int claim_state(shared_state *state, int from, int to) {
#if TB_NO_GIL && !defined(_MSC_VER)
    return __atomic_compare_exchange_n((int *)state, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#elif TB_NO_GIL
    return _InterlockedCompareExchange(state, to, from) == from;
#else
    if (*state != from) return 0;
    *state = to;
    return 1;
#endif
}

/* Change both, or neither; return whether both were `from`. */
static inline int claim_states(shared_state *first, shared_state *second, int from, int to) {
    if (!claim_state(first, from, to)) return 0;
    if (claim_state(second, from, to)) return 1;
    *first = from;
    return 0;
}

/* The list of open writers is used by one thread at a time. */
static inline void lock_writers(int locked) {
#if TB_NO_GIL
    static PyMutex mutex;
    if (locked) PyMutex_Lock(&mutex);
    else PyMutex_Unlock(&mutex);
#else
    (void)locked;
#endif
}

/* Have release() called when this thread, or its use of Python, ends; if registering it fails for lack of memory, at
 * once or never. A thread may begin to use Python again: then it registers again. */
#if TB_NO_GIL
static void release_strings_of_thread(PyObject *capsule) {
    *(int *)PyCapsule_GetPointer(capsule, NULL) = 0;
    ((PyCapsule_Destructor)PyCapsule_GetContext(capsule))(capsule);
}
#endif

static inline void free_strings_at_thread_end(PyCapsule_Destructor release) {
#if TB_NO_GIL
    static TB_OF_THREAD int is_registered;
    PyObject *objects = is_registered ? NULL : PyThreadState_GetDict(), *kind, *value, *trace;
    is_registered = 1;
    if (objects == NULL) return;
    PyErr_Fetch(&kind, &value, &trace);
    PyObject *capsule = PyCapsule_New(&is_registered, NULL, NULL);
    if (capsule == NULL || PyCapsule_SetContext(capsule, (void *)release) < 0
        || PyCapsule_SetDestructor(capsule, release_strings_of_thread) < 0
        || PyDict_SetItemString(objects, "typedbytes.strings", capsule) < 0) PyErr_Clear();
    Py_XDECREF(capsule);
    PyErr_Restore(kind, value, trace);
#else
    (void)release;
#endif
}

#endif
