# max_bytes is enforced by hiding the bytes beyond it: the inner loops see a shorter buffer and
# need no check of their own.

cdef Py_ssize_t parse_max_bytes(max_bytes) except -1:
    if max_bytes is None:
        return 0
    if max_bytes < 1:
        raise ValueError(f"max_bytes must be at least 1, not {max_bytes}")
    return min(max_bytes, sys.maxsize // 2)    # half, so that adding an offset cannot overflow


cdef void hide_beyond_limit(Decoding* d) noexcept:
    cdef long long allowed = max(d.max_bytes - record_nbytes_read(d), 0)
    if held(&d.buf) > allowed:
        d.nhidden = held(&d.buf) - <Py_ssize_t>allowed
        d.buf.end -= d.nhidden


cdef void unhide(Decoding* d) noexcept:
    d.buf.end += d.nhidden
    d.nhidden = 0


cdef inline void end_record(Decoding* d) noexcept:
    # Undo what decoding has changed for the rest of the record: hidden bytes, a paused collector.
    if unlikely(d.nhidden > 0):
        unhide(d)
    if unlikely(d.check_interval != FIRST_INTERVAL):
        d.check_interval = FIRST_INTERVAL
        resume_if_paused(d)
