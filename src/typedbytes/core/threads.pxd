# What threads share in an interpreter without the GIL; see threads.h.

cdef extern from "core/threads.h":
    # A constant, so that nothing is left of `if NO_GIL` in other interpreters.
    const bint NO_GIL "TB_NO_GIL"
    ctypedef int shared_state
    # Change it from `before` to `after`; return whether it was `before`.
    bint claim_state(shared_state* state, int before, int after) noexcept
    # Change both, or neither; return whether both were `before`.
    bint claim_states(shared_state* first, shared_state* second, int before, int after) noexcept
    # The list of open writers is used by one thread at a time.
    void lock_writers(bint locked) noexcept
    # Have a function called by this thread when its use of Python ends.
    void free_strings_at_thread_end(void (*release)(object capsule) noexcept) noexcept
