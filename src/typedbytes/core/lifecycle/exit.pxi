# Flush open writers when the interpreter exits; mark them as inherited in a forked child.
#
# Goal: no record is lost silently because a writer was not closed. Plan: writers are in a list as long as they are open.
# One function, which the interpreter calls when it ends, while modules, daemon threads and sinks are still there, has each of
# them write and flush what it holds, and write each later record at once. It stays open, since functions that the
# interpreter calls later, and daemon threads, may use it. Newest first: a writer may write into an older one.
# A failure is reported on stderr, and the process ends with exit code 120. Rejected: a set of weak references, which costs more than the
# rest of making a writer; closing, after which those functions could not write their last records.
#
# Invariant: a writer is in the list from the end of its __init__ until it is closed or gone. The list is used with the
# GIL held and without a call into Python, by register_writer, unregister_writer, _mark_all_inherited and open_writers alone. Without
# the GIL the first two hold a mutex; the others run in a child with one thread, and at the end of the interpreter.

cdef OpenWriter* NEWEST = NULL
cdef bint IS_REGISTERED = False
cdef bint IS_FINALIZING = False


cdef int register_writer(OpenWriter* entry, object writer, const WriterKind* kind) except -1:
    global NEWEST
    register_at_exit()
    if entry.writer != NULL:    # its sink has called __init__ again meanwhile
        return IS_FINALIZING
    entry.writer = <PyObject*>writer
    entry.kind = kind
    lock_writers(True)
    entry.older = NEWEST
    if NEWEST != NULL:
        NEWEST.newer = entry
    NEWEST = entry
    lock_writers(False)
    return IS_FINALIZING


cdef void unregister_writer(OpenWriter* entry) noexcept:
    global NEWEST
    if entry.writer == NULL:
        return
    lock_writers(True)
    if entry.newer != NULL:
        entry.newer.older = entry.older
    else:
        NEWEST = entry.older
    if entry.older != NULL:
        entry.older.newer = entry.newer
    entry.newer = entry.older = NULL
    entry.writer = NULL
    lock_writers(False)


cdef int register_at_exit() except -1:
    global IS_REGISTERED
    if not IS_REGISTERED:
        atexit.register(_flush_all)
        IS_REGISTERED = True
    return 0


cdef int adopt_writer(OpenWriter* entry) except -1:
    entry.is_inherited = False
    return register_at_exit()


def _mark_all_inherited():
    # In a child: what its parent's writers hold is the parent's to write. Functions registered with atexit may be gone, as they are
    # in children of multiprocessing.
    global IS_REGISTERED
    cdef OpenWriter* entry = NEWEST
    IS_REGISTERED = False
    while entry != NULL:
        entry.is_inherited = True
        if entry.kind.mark_inherited != NULL:
            entry.kind.mark_inherited(entry.writer)
        entry = entry.older


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_all_inherited)


cdef list open_writers():
    cdef OpenWriter* entry = NEWEST
    cdef list found = []
    while entry != NULL:
        if Py_REFCNT(entry.writer) > 0:    # 0 while it is being deleted
            found.append((<object>entry.writer, <size_t>entry))
        entry = entry.older
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
            PyErr_CheckSignals()    # which another thread may have received
            waiting = unflushed(waiting)
        error = TimeoutError(f"another thread was using it, or the sink took nothing, for {TIMEOUT} s")
    except BaseException as interruption:    # by a signal's handler
        error = interruption
    for item in waiting:
        report_unwritten(item, error)


cdef list unflushed(list waiting):
    # Those that still have something to write: another thread uses them, or their sinks take nothing for now.
    cdef list found = []
    for item in waiting:
        if not flush_or_report(item):
            found.append(item)
    return found


cdef bint flush_or_report(tuple item):
    # False: another thread uses it, or its sink takes nothing for now.
    cdef OpenWriter* entry = <OpenWriter*><size_t>item[1]    # a part of the writer, as the list holds it
    if entry.writer == NULL:
        return True    # closed meanwhile
    try:
        return entry.kind.flush_at_exit(item[0])
    except BaseException as error:    # of the sink
        report_unwritten(item, error)
        return True


cdef int report_unwritten(tuple item, object error) except -1:
    cdef OpenWriter* entry = <OpenWriter*><size_t>item[1]
    from typedbytes._base.unflushed import report    # lazy import: only where writing failed
    report(type(item[0]).__name__, entry.kind.release_target(item[0]), error)
    unregister_writer(entry)
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


cdef class FlushedAtExit:
    """Have flush() called at the end of the interpreter, for a class whose records wait in its file only."""

    cdef OpenWriter entry

    def __init__(self):
        if self.entry.writer == NULL:
            register_writer(&self.entry, self, &FLUSHED)

    def __dealloc__(self):
        unregister_writer(&self.entry)


cdef int call_flush(object writer) except -1:
    if not (<FlushedAtExit>writer).entry.is_inherited and not is_closed(writer.file):
        writer.flush()
    return 1


cdef object file_of(object writer):
    return writer.file

cdef WriterKind FLUSHED = WriterKind(flush_at_exit=call_flush, release_target=file_of, mark_inherited=NULL)


cdef bint is_closed(object file) except -1:
    return getattr(file, "closed", False) is True
