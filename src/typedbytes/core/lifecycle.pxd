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
    # Every call raises the first error again. The Writer of a stream is never in this state: nothing that it holds is lost by an error,
    # and it goes on.
    HAS_FAILED
    CLOSED

# Raise what a call in any state but OPEN raises. failure: the error to raise again; role: "reader", "writer".
cdef int refuse_call(object owner, State state, object failure, str role) except -1
cdef int raise_in_use(object owner) except -1
# For close(), whatever the state: returns the one before, and what was OPEN or HAS_FAILED is BUSY now. Nothing is released before this:
# without the GIL another thread may be inside, or closing it.
cdef int claim_to_close(object owner, State* state) except -1
# For a writer in a forked child, where what it holds is not to be sent.
cdef int raise_inherited(object owner) except -1


# Writers that are open when this process forks, or when the interpreter ends; see core/lifecycle/exit.pxi.
cdef struct WriterKind:
    # 1: everything was written and the sink flushed, and later records are written at once; 0: not yet. Raises what the sink raises.
    int (*flush_at_exit)(object writer) except -1
    # Close it without a write, unless it is in use; returns the sink.
    object (*release_target)(object writer)
    # Called in a forked child, where it must not call into Python; NULL: the writer looks at entry.is_inherited when it is used.
    void (*mark_inherited)(PyObject* writer) noexcept

cdef struct OpenWriter:           # zero as long as it is in no list
    OpenWriter* newer
    OpenWriter* older
    PyObject* writer              # borrowed
    const WriterKind* kind
    bint is_inherited             # this process is a forked child: what the writer holds is its parent's to write

# 1: the interpreter is ending already, and has looked at the list.
cdef int register_writer(OpenWriter* entry, object writer, const WriterKind* kind) except -1
# Does nothing for what is not in the list.
cdef void unregister_writer(OpenWriter* entry) noexcept
# For a writer that a forked child uses: what it holds from here on is the child's to write.
cdef int adopt_writer(OpenWriter* entry) except -1
cdef int warn_unclosed(object writer, str what) except -1
# Report an error of closing a writer in its finalizer, where no caller can catch it.
cdef int report_unraisable(object writer, object error) except -1
cdef bint is_closed(object file) except -1
