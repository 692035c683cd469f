# The cyclic collector and signals: when long work pauses the one and looks at the others.


cdef enum:
    FIRST_PATIENCE = 1024   # items before the collector is paused
    MOST_PATIENCE = 0x3fff  # items before signals are looked at


cdef int take_stock(Decoding* d) except -1:
    # Many items in one record: from here on the collector would run again and again and find nothing. Not while a source is
    # waited for, and not under anybody's code.
    d.ticks = 0
    d.patience = MOST_PATIENCE
    if not d.paused and d.ext_hook == NULL and d.pickle != TRUST:
        d.paused = pause_collector()
    return hear_signals()


cdef bint wake_collector(Decoding* d) noexcept:
    # Whether it was paused.
    cdef bint paused = d.paused
    if paused:
        resume_collector()
    d.paused = False
    return paused


# Whether the collector is off because of us. Others may switch it off while their code runs; then it is theirs, and stays off.
cdef bint COLLECTOR_IS_OURS = False


cdef bint pause_collector() noexcept:
    global COLLECTOR_IS_OURS
    cdef bint was_on = gc_pause()
    COLLECTOR_IS_OURS |= was_on
    return was_on


cdef bint resume_collector() noexcept:
    global COLLECTOR_IS_OURS
    cdef bint was_ours = COLLECTOR_IS_OURS
    gc_resume(was_ours)
    COLLECTOR_IS_OURS = False
    return was_ours


cdef int hear_signals() except -1:
    # What handles them finds the collector as its users have it; after an exception it stays so.
    cdef bint was_ours = resume_collector()
    PyErr_CheckSignals()
    if was_ours:
        pause_collector()
    return 0


# A signal is looked at after 16,384 items at most, in one container or in many small ones.

cdef inline int check_signals(Py_ssize_t index) except -1:
    if unlikely(index & 0x3fff == 0):
        return hear_signals()
    return 0


cdef inline Py_ssize_t until_check(Py_ssize_t index) noexcept:
    # Items that may come before signals are to be looked at again.
    return 0x4000 - (index & 0x3fff)


cdef inline int count_ticks(Py_ssize_t* ticks, Py_ssize_t nitems) except -1:
    ticks[0] += nitems + 1
    if unlikely(ticks[0] > MOST_PATIENCE):
        ticks[0] = 0
        PyErr_CheckSignals()
    return 0
