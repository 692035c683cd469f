# A record's limit is kept by hiding what lies beyond it, so that no inner loop has to ask.

cdef void hide_beyond_limit(Decoding* d) noexcept:
    cdef long long allowed = d.record_offset + d.max_bytes - offset_of(&d.buf, d.buf.cursor)
    allowed = max(allowed, 0)
    if held(&d.buf) > allowed:
        d.nhidden = held(&d.buf) - <Py_ssize_t>allowed
        d.buf.end -= d.nhidden


cdef void show_hidden(Decoding* d) noexcept:
    d.buf.end += d.nhidden
    d.nhidden = 0


cdef void end_record(Decoding* d) noexcept:
    if unlikely(d.nhidden > 0):
        show_hidden(d)
    if unlikely(d.patience != FIRST_PATIENCE):
        d.patience = FIRST_PATIENCE
        wake_collector(d)
