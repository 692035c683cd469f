# The life of what reads and writes: open, in use, failed or closed; in a forked child; when the interpreter ends.
#
# Here: the states, what a call in a wrong one raises, the list of open writers. Not here: buffers,
# values, files.

from cpython.object cimport PyObject

from typedbytes.core.threads cimport shared_state

ctypedef shared_state State    # OPEN is 0, as new objects are

cdef enum:
    OPEN
    BUSY          # in a call: another one comes from a hook, or from a second thread
    # Every call raises the first error again. The Writer of a stream is never in this state:
    # nothing that it holds is lost by an error, and it goes on.
    HAS_FAILED
    CLOSED

# Raise what a call in any state but OPEN raises. failure: the error to raise again; role: "reader", "writer".
cdef int refuse_call(object owner, State state, object failure, str role) except -1
cdef int raise_in_use(object owner) except -1
# For close(), whatever the state: returns the one before, and what was OPEN or HAS_FAILED is BUSY now. Nothing is
# released before this: without the GIL another thread may be inside, or closing it.
cdef int claim_to_close(object owner, State* state) except -1
# For a writer in a forked child, where what it holds is not to be sent.
cdef int raise_inherited(object owner) except -1


# The base of the writers, which are in a list while they are open:
# for when this process forks, or the interpreter ends; see core/lifecycle/exit.pxi.
cdef class OpenWriter:
    cdef PyObject* newer          # in the list, borrowed; NULL: none
    cdef PyObject* older
    cdef bint is_listed
    cdef bint is_inherited        # this process is a forked child: what the writer holds is its parent's to write

    # 1: everything was written and the sink flushed, and later records are written at once; 0: not yet.
    # Raises what the sink raises.
    cdef int flush_at_exit(self) except -1
    # Close it without a write, unless it is in use; returns the sink.
    cdef object release_target(self)
    # Called in a forked child, where it must not call into Python;
    # as a rule a writer looks at is_inherited when it is used.
    cdef void mark_inherited(self) noexcept

# 1: the interpreter is ending already, and has looked at the list.
cdef int register_writer(OpenWriter writer) except -1
# Does nothing for what is not in the list. Called by each writer's __dealloc__, before its sink may run Python code.
cdef void unregister_writer(OpenWriter writer) noexcept
# For a writer that a forked child uses: what it holds from here on is the child's to write.
cdef int adopt_writer(OpenWriter writer) except -1
cdef int warn_unclosed(object writer, str what) except -1
# Report an error of closing a writer in its finalizer, where no caller can catch it.
cdef int report_unraisable(object writer, object error) except -1
cdef bint is_closed(object file) except -1
