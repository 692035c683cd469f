# Flush open writers when the interpreter exits; mark them as inherited in a forked child.
#
# Goal: no record is lost silently because a writer was not closed. Plan: writers are in a list as long as they are
# open. One function, which the interpreter calls when it ends, while modules, daemon threads and sinks are still there,
# has each of them write and flush what it holds, and write each later record at once. It stays open, since functions
# that the interpreter calls later, and daemon threads, may use it. Newest first: a writer may write into an older one.
# A failure is reported on stderr, and the process ends with exit code 120. Rejected: a set of weak references, which
# costs more than the rest of making a writer; closing, after which those functions could not write their last records.
#
# Invariant: a writer is in the list from the end of its __init__ until it is closed or gone. The list is used with the
# GIL held and without a call into Python, by register_writer, unregister_writer, _mark_all_inherited and
# open_writers alone. Without the GIL the first two hold a mutex; the others run in a child with one thread, and at
# the end of the interpreter.

cdef PyObject* NEWEST = NULL
cdef bint IS_REGISTERED = False
cdef bint IS_FINALIZING = False


cdef class OpenWriter:
    cdef int flush_at_exit(self) except -1:
        raise NotImplementedError

    cdef object release_target(self):
        raise NotImplementedError

    cdef void mark_inherited(self) noexcept:
        pass


cdef int register_writer(OpenWriter writer) except -1:
    global NEWEST
    register_at_exit()
    if writer.is_listed:    # its sink has called __init__ again meanwhile
        return IS_FINALIZING
    lock_writers(True)
    writer.is_listed = True
    writer.older = NEWEST
    if NEWEST != NULL:
        (<OpenWriter>NEWEST).newer = <PyObject*>writer
    NEWEST = <PyObject*>writer
    lock_writers(False)
    return IS_FINALIZING


cdef void unregister_writer(OpenWriter writer) noexcept:
    global NEWEST
    if not writer.is_listed:
        return
    lock_writers(True)
    if writer.newer != NULL:
        (<OpenWriter>writer.newer).older = writer.older
    else:
        NEWEST = writer.older
    if writer.older != NULL:
        (<OpenWriter>writer.older).newer = writer.newer
    writer.newer = writer.older = NULL
    writer.is_listed = False
    lock_writers(False)


cdef int register_at_exit() except -1:
    global IS_REGISTERED
    if not IS_REGISTERED:
        atexit.register(_flush_all)
        IS_REGISTERED = True
    return 0


cdef int adopt_writer(OpenWriter writer) except -1:
    writer.is_inherited = False
    return register_at_exit()


def _mark_all_inherited():
    # In a child: what its parent's writers hold is the parent's to write. Functions registered with atexit may be gone,
    # as they are in children of multiprocessing.
    global IS_REGISTERED
    cdef PyObject* writer = NEWEST
    IS_REGISTERED = False
    while writer != NULL:
        (<OpenWriter>writer).is_inherited = True
        (<OpenWriter>writer).mark_inherited()
        writer = (<OpenWriter>writer).older


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_all_inherited)


cdef list open_writers():
    cdef PyObject* writer = NEWEST
    cdef list found = []
    while writer != NULL:
        if Py_REFCNT(writer) > 0:    # 0 while it is being deleted
            found.append(<object>writer)
        writer = (<OpenWriter>writer).older
    return found


def _flush_all():
    # Called at the end of the interpreter.
    global IS_FINALIZING
    IS_FINALIZING = True
    waiting = unflushed(open_writers())
    if not waiting:
        return
    try:
        from time import monotonic, sleep
        from typedbytes._base.unflushed import TIMEOUT    # lazy import: only where writing failed
        deadline = monotonic() + TIMEOUT
        while waiting and monotonic() < deadline:
            sleep(0.001)    # daemon threads go on meanwhile
            PyErr_CheckSignals()    # another thread may have received the signal
            waiting = unflushed(waiting)
        error = TimeoutError(f"another thread was using it, or the sink took nothing, for {TIMEOUT} s")
    except BaseException as interruption:    # by a signal's handler
        error = interruption
    for writer in waiting:
        report_unwritten(writer, error)


cdef list unflushed(list waiting):
    # Those that still have something to write: another thread uses them, or their sinks take nothing for now.
    cdef list found = []
    for writer in waiting:
        if not flush_or_report(writer):
            found.append(writer)
    return found


cdef bint flush_or_report(OpenWriter writer):
    # False: another thread uses it, or its sink takes nothing for now.
    if not writer.is_listed:
        return True    # closed meanwhile
    try:
        return writer.flush_at_exit()
    except BaseException as error:    # of the sink
        report_unwritten(writer, error)
        return True


cdef int report_unwritten(OpenWriter writer, object error) except -1:
    from typedbytes._base.unflushed import report    # lazy import: only where writing failed
    report(type(writer).__name__, writer.release_target(), error)
    unregister_writer(writer)
    return 0


cdef int warn_unclosed(object writer, str what) except -1:
    text = f"unclosed {type(writer).__name__} {what}"
    if warn_of_resource(<PyObject*>writer, <PyObject*>text) < 0:
        PyErr_WriteUnraisable(<PyObject*>writer)    # warnings are errors
    return 0


cdef int report_unraisable(object writer, object error) except -1:
    # Not left to Cython, which would print it twice and end the process for a SystemExit.
    kind = type(error)
    PyErr_SetObject(<PyObject*>kind, <PyObject*>error)
    PyErr_WriteUnraisable(<PyObject*>writer)
    return 0


cdef class FlushedAtExit(OpenWriter):
    """Have flush() called at the end of the interpreter, for a class whose records wait in its file only."""

    def __init__(self):
        if not self.is_listed:
            register_writer(self)

    def __dealloc__(self):
        unregister_writer(self)

    cdef int flush_at_exit(self) except -1:
        if not self.is_inherited and not is_closed(self.file):
            self.flush()
        return 1

    cdef object release_target(self):
        return self.file


cdef bint is_closed(object file) except -1:
    return getattr(file, "closed", False) is True
