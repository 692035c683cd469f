# While many items are decoded, the cyclic collector is paused; while many are decoded or encoded, signals are checked.

cdef enum:
    FIRST_INTERVAL = 1024      # items before the collector is paused


cdef int maybe_pause_gc(Decoding* d) except -1:
    # A record of many items would have the collector run repeatedly and find nothing, so it is paused for the rest of
    # the record, except while a source is read. With hooks or trusted pickles it stays on: they run the user's code.
    keep_freed(record_nbytes_read(d))
    d.work_count = 0
    d.check_interval = SIGNAL_MASK    # the next check is due when work_count exceeds it
    if not d.paused and d.may_pause:
        d.paused = pause_collector()
    return check_signals()


cdef bint resume_if_paused(Decoding* d) noexcept:
    # Return whether it was paused.
    cdef bint paused = d.paused
    if paused:
        resume_collector()
    d.paused = False
    return paused


# True while the collector is off because this module paused it. If the user's code disables it meanwhile, it stays off.
cdef bint PAUSED_BY_US = False


cdef bint pause_collector() noexcept:
    global PAUSED_BY_US
    if NO_GIL:
        return False
    cdef bint was_on = gc_pause()
    PAUSED_BY_US |= was_on
    return was_on


cdef bint resume_collector() noexcept:
    global PAUSED_BY_US
    if NO_GIL:
        return False
    cdef bint was_ours = PAUSED_BY_US
    gc_resume(was_ours)
    PAUSED_BY_US = False
    return was_ours


cdef int check_signals() except -1:
    # Run signal handlers with the collector as the user has set it; after an exception it stays so.
    cdef bint was_ours = resume_collector()
    PyErr_CheckSignals()
    if was_ours:
        pause_collector()
    return 0


# Signals are checked after 16,384 items at most, in one container or in many small ones.

cdef inline int check_signals_at(Py_ssize_t index) except -1:
    if unlikely(index & SIGNAL_MASK == 0):
        return check_signals()
    return 0


cdef inline Py_ssize_t until_check(Py_ssize_t index) noexcept:
    # The number of items until signals have to be checked again.
    return SIGNAL_MASK + 1 - (index & SIGNAL_MASK)


cdef inline int count_work(Py_ssize_t* work_count, Py_ssize_t nitems) except -1:
    work_count[0] += nitems + 1
    if unlikely(work_count[0] > SIGNAL_MASK):
        work_count[0] = 0
        PyErr_CheckSignals()
    return 0
