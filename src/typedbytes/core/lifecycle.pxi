# What a call in a wrong state raises; see lifecycle.pxd.
#
# Invariant: an object that is in use refuses a second call, and one that has failed every call.

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject

from typedbytes.core.cpython cimport warn_of_resource
from typedbytes.core.threads cimport claim_state, lock_writers
from typedbytes.core.refs cimport Py_REFCNT, PyErr_SetObject, PyErr_WriteUnraisable

import atexit
import os

cdef int refuse_call(object owner, State state, object failure, str role) except -1:
    if state == HAS_FAILED:
        raise failure.with_traceback(None)
    if state == CLOSED:
        raise ValueError(f"I/O operation on a closed {role}")
    return raise_in_use(owner)


cdef int raise_in_use(object owner) except -1:
    raise RuntimeError(f"this {type(owner).__name__} is in use: re-entered from a hook, or used by two threads")


cdef int claim_to_close(object owner, State* state) except -1:
    if claim_state(state, OPEN, BUSY):
        return OPEN
    if claim_state(state, HAS_FAILED, BUSY):
        return HAS_FAILED
    return CLOSED if state[0] == CLOSED else raise_in_use(owner)


cdef int raise_inherited(object owner) except -1:
    raise RuntimeError(f"this {type(owner).__name__} belongs to the process that created it")

include "lifecycle/exit.pxi"
