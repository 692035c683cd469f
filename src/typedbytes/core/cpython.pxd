# The interpreter's own layout, where knowing it pays; see cpython.h.

from libc.stdint cimport int64_t, uint64_t
from cpython.object cimport PyObject, PyTypeObject

cdef extern from *:
    # Branch hints: macros that Cython defines in every file it generates.
    bint likely(bint condition) noexcept nogil
    bint unlikely(bint condition) noexcept nogil

cdef extern from "core/cpython.h":
    bint NANS_HASH_ALIKE "TB_NANS_HASH_ALIKE"    # every NaN has the same hash value
    # New references; NULL: an exception is set.
    PyObject* int_from_i64(int64_t value) noexcept
    PyObject* float_from_f64(double value) noexcept
    bint has_buffer(object obj) noexcept    # as PyObject_CheckBuffer
    int has_own_order(object ordered) noexcept    # of an OrderedDict: its dict has its order; -1: not known here
    bint is_open_view(object view) noexcept    # False: a memoryview was released, or it is not known here
    # 0, or -1: an exception is set, as warnings are errors.
    int warn_of_resource(PyObject* source, PyObject* text) noexcept
    PyObject* int_from_u64(uint64_t value) noexcept    # of 2**63 or more
    # 1: stored in *value; 0: beyond 64 bits. The object is an int (or of a subclass).
    bint int_to_i64(PyObject* number, int64_t* value) noexcept
    # The same for many in a row, whose sizes cannot be predicted.
    bint int_to_i64_branchless(PyObject* number, int64_t* value) noexcept
    # Two's complement little-endian, the shortest form, as in pickle's LONG1. Length, or -1:
    # too long, or no such API here.
    Py_ssize_t int_to_bytes_le(PyObject* number, unsigned char* out, Py_ssize_t capacity) noexcept
    # 1: a number from 2**63 to 2**64 - 1, stored in *value; 0: another one, or not known here.
    bint int_to_u64(PyObject* number, uint64_t* value) noexcept
    # As int_to_bytes_le, of an int beyond 64 bits, up to 17 bytes; 0: longer, or not known here.
    Py_ssize_t wide_int_to_bytes_le(PyObject* number, unsigned char* out) noexcept
    # False: another number, or not known here
    bint int_to_u128(PyObject* number, uint64_t* high, uint64_t* low) noexcept
    PyObject* int_from_u128(uint64_t high, uint64_t low) noexcept    # without a sign
    PyObject* int_from_bytes_le(const unsigned char* p, Py_ssize_t nbytes) except NULL
    # Decimals of few digits, while Decimal("-12345678901234567.89") is as expected;
    # NULL without an exception: not such a text.
    bint knows_decimals(PyObject* made) noexcept
    PyObject* small_decimal(PyTypeObject* kind, const unsigned char* text, Py_ssize_t nchars) except? NULL
    # The number of digits of 30 bits; the bytes of a set's table outside the object.
    Py_ssize_t ndigits_of(PyObject* number) noexcept
    Py_ssize_t set_table_nbytes(PyObject* o) noexcept
    PyObject** list_items(PyObject* o) noexcept
    # A new tuple of a set's elements; reserve capacity in a new set;
    # add an element, whose reference the set takes over.
    PyObject* set_elements(PyObject* o) except NULL
    Py_ssize_t few_elements(PyObject* o, PyObject** items, Py_ssize_t capacity) noexcept
    void set_reserve(PyObject* o, Py_ssize_t nitems) noexcept
    int set_add_stolen(PyObject* o, PyObject* item) except -1
    # Have memory brought into the cache without waiting for it; the entry of a set where the search
    # for that hash value begins.
    void prefetch(const void* p) noexcept nogil
    void prefetch_set_entry(PyObject* o, Py_hash_t hash) noexcept
    # The hash of a bytes object of these bytes.
    Py_hash_t hash_bytes(const unsigned char* p, Py_ssize_t nbytes) except -1
    # A bytes object whose nbytes, 2**31 + 4 at most, the caller fills in.
    PyObject* new_uninitialized_bytes(Py_ssize_t nbytes) except NULL
    # The characters of a compact ASCII str.
    void* ascii_data(PyObject* text) noexcept
    # A str of nchars ASCII characters, which the caller fills in.
    PyObject* new_ascii(Py_ssize_t nchars) except NULL
    # The same for a string that is cached: short ones lie together in memory.
    PyObject* new_pooled_ascii(Py_ssize_t nchars) except NULL
    # The UTF-8 form that a str that is not ASCII carries already, NULL: none.
    const char* known_utf8(PyObject* text, Py_ssize_t* nbytes) noexcept
    # As PyDict_Next.
    bint dict_next(PyObject* o, Py_ssize_t* position, PyObject** key, PyObject** value) noexcept
    # A dict presized for npairs, with the first *nfilled of them.
    PyObject* start_dict(PyObject** items, Py_ssize_t npairs, Py_ssize_t* nfilled) noexcept
    # Let a class made in Python, without a __next__ of its own, inherit the tp_iternext of its compiled base.
    void inherit_next(object new_class) noexcept
    # New tuple that takes over the references in items[0:n]; not tracked by the collector when it holds only atoms.
    PyObject* tuple_from_stolen(PyObject** items, Py_ssize_t nitems) except NULL
    # A pair that steals both references, also on failure: `last` again if the caller holds its only
    # reference; None: no last pair.
    PyObject* pair_from_stolen(PyObject* last, PyObject* first, PyObject* second) except NULL
    # The object of an owned pointer, whose reference it takes over.
    object object_from_stolen(PyObject* o)
    # New list that takes over the references in items[0:n].
    PyObject* list_from_stolen(PyObject** items, Py_ssize_t nitems) except NULL
    # Append to a list, taking over the references, also on failure.
    int list_extend_stolen(PyObject* target, PyObject** items, Py_ssize_t nitems) except -1
    # Switch the cyclic collector off; 1 when it was on. gc_resume(was_on) undoes it.
    bint gc_pause() noexcept
    void gc_resume(bint was_on) noexcept
    # Change the length of a bytes object that only we hold; on failure it stays as it is.
    int bytes_resize(PyObject** bytes_object, Py_ssize_t nbytes) except -1
    # The same for fewer bytes, in place: the memory after them stays allocated, where the layout is known.
    int bytes_shorten(PyObject** bytes_object, Py_ssize_t nbytes) except -1
    # Leave the first characters of a string of Latin-1 that only we hold; -1 with an exception set: it stays as it is.
    int shorten_latin(PyObject** text, Py_ssize_t nchars) noexcept
    # What bytes_shorten took off; False: not possible.
    bint bytes_restore(PyObject* bytes_object, Py_ssize_t nbytes) noexcept
    # The same bytes as a new instance of a subclass that has no attributes and no constructor of its own.
    object bytes_as_subclass(bytes bytes_object, type subclass)
    # Replace the C function of a builtin function or method with keywords;
    # returns the original one, NULL: nothing was changed.
    ctypedef object (*keyword_function)(PyObject* owner, PyObject* const* args, Py_ssize_t nargs, PyObject* names)
    keyword_function replace_calls(object function, keyword_function quick) noexcept


# Cython may replace the exception that it matched by a MemoryError while it enters the except
# clause; if so, raise that.
cdef inline int reraise_memory_error(object error) except -1:
    if isinstance(error, MemoryError):
        raise error
    return 0


# Raise the pending exception, set by a function declared noexcept.
cdef inline int raise_pending() except -1:
    return -1


cdef inline object as_failure(object error):
    # A StopIteration out of a hook or a source would pass for the end of input.
    if not isinstance(error, StopIteration):
        return error
    failure = RuntimeError("a hook or a source raised StopIteration")
    failure.__cause__ = error
    return failure
