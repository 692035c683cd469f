# Doubles as text; see shortest.h.

cdef extern from "_report/shortest.h":
    enum: SHORTEST_NCHARS
    int shortest_text(double value, char* out) noexcept
