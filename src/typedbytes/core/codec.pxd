# What other modules see of the codec.

from libc.stdint cimport int64_t
from cpython.object cimport PyObject


# What a container is reading or writing right now. Frames live on the C stack, linked from the innermost outwards; a
# path is made of them only when an error is built.
cdef enum Role:
    ITEM
    KEY
    MAPPED    # the value of a MAP's pair
    FIELD     # a field of a record

cdef struct PathFrame:
    PathFrame* parent
    PyObject* key             # borrowed: the key of the pair, when the role is MAPPED; the RecordType, when it is FIELD
    Py_ssize_t index          # number of the item, pair or field
    Role role
    int code                  # type code of the container

cdef enum:
    SIGNAL_MASK = 0x3fff    # signals are checked where these bits of a count of items or records are 0

cdef enum PicklePolicy:
    SAFE
    TRUST
    RAW

ctypedef unsigned char flag

cdef struct Decoding:
    ReadBuffer buf
    PathFrame* frame          # innermost open container, NULL at the top level
    PyObject** stack          # owned references to the items of open containers
    Py_ssize_t nstack
    Py_ssize_t stack_capacity
    PyObject** initial_stack  # the caller's memory, where the stack is until it grows; NULL: none
    Py_ssize_t depth          # number of open containers
    Py_ssize_t work_count     # number of items since signals were last checked
    Py_ssize_t check_interval    # number of items from one check of signals to the next
    Py_ssize_t max_depth
    Py_ssize_t max_bytes      # limit for the bytes of one record; 0: no limit
    Py_ssize_t nhidden        # bytes held beyond the limit of a record, cut off buf.end while it is decoded
    long long record_offset   # offset in the input at which the record starts
    long long record_index    # number of the record in a stream, from 0; -1: not a stream
    void* last_map_key        # slot of the last MAP key in the string cache
    PyObject* ext_hook        # borrowed, NULL: none
    const char* unicode_errors    # borrowed, NULL: strict
    const RecordTypes* types  # borrowed, NULL: none
    int in_key                # number of MAP keys that are open: unhashable values are refused inside them
    PicklePolicy pickle
    bint paused               # the collector was on, and is off for the rest of the record
    bint use_string_cache     # share repeated short STRINGs; set where more than one value is decoded
    flag governed             # max_bytes or types are set: records are not decoded by decode_value() alone
    flag may_pause            # the collector may be switched off: no code of the user runs meanwhile
    flag exact
    flag map_pairs
    flag hive

cdef inline long long record_nbytes_read(const Decoding* d) noexcept nogil:
    return offset_of(&d.buf, d.buf.cursor) - d.record_offset

cdef class DecodeOptions:
    cdef Decoding template    # with an empty buffer
    cdef RecordTypes types
    cdef object ext_hook
    cdef bytes unicode_errors
    cdef object programs      # hold what `types` points to

    cdef int use_types(self, value_type, pair_key_type, pair_value_type, strict) except -1

# New references. A record is one value, or a key and its value; limits of a record hold for it.
cdef PyObject* decode_record(Decoding* d) except NULL
# The rest of a record whose start is known already: its last value.
cdef PyObject* decode_rest(Decoding* d) except NULL
# A record's first value, where the rest of it is decoded apart: the key of a group.
cdef PyObject* decode_first(Decoding* d) except NULL
# A single scalar, the most common message, without a Decoding of its own. NULL without an exception:
# another value, or options that need more.
cdef PyObject* decode_single_scalar(const Decoding* options, const unsigned char* p, Py_ssize_t nbytes,
                                    bint is_key) except? NULL
cdef int decode_pair(Decoding* d, PyObject** key, PyObject** value) except -1
# A str of UTF-8; NULL without an exception: it is not UTF-8.
cdef PyObject* text_from_utf8(const unsigned char* p, Py_ssize_t nbytes) except? NULL
# Release what a decoding owns besides its buffer; safe after every outcome.
cdef void abandon(Decoding* d) noexcept
# Switch the cyclic collector off; True if it was on, and then resume_collector() has to follow. That leaves it off, and
# returns False, if other code switched it off meanwhile.
cdef bint pause_collector() noexcept
cdef bint resume_collector() noexcept
cdef int raise_trailing(Decoding* d, str hint) except -1
cdef int raise_record_limit(Decoding* d) except -1
cdef int raise_skipped(Decoding* d, Skipping* s, SkipOutcome outcome) except -1

cdef enum SkipOutcome:
    SKIPPED         # the cursor is after one whole value
    NEEDS_MORE      # the value continues after the bytes held; call again with more
    BAD_CODE        # the cursor is at the type code
    BAD_LENGTH
    STRAY_MARKER
    TOO_DEEP

cdef struct Skipping:
    int64_t* pending          # owned: an entry for each open container
    Py_ssize_t depth
    Py_ssize_t max_depth
    int64_t tail              # payload bytes still to skip
    int code                  # innermost type code met
    bint hive

cdef int start_skipping(Skipping* s, const Decoding* d) except -1
cdef SkipOutcome skip_value(Skipping* s, ReadBuffer* buf) noexcept nogil
# The first of the values between the cursor and the end; scalars alone, faster; and their offsets, unless that is NULL.
cdef SkipOutcome skip_up_to(Skipping* s, ReadBuffer* buf, int64_t max_values, long long* offsets,
                            int64_t* nskipped) noexcept nogil
cdef int64_t skip_scalars(const Skipping* s, ReadBuffer* buf, int64_t max_values, long long* offsets) noexcept nogil
cdef int check_limit_of_skipping(Decoding* d, const Skipping* s, SkipOutcome outcome) except -1
cdef int64_t wanted_nbytes(const Skipping* s, const ReadBuffer* buf, SkipOutcome outcome) noexcept nogil
cdef void stop_skipping(Skipping* s) noexcept

# What encodes a record, with types or without.
ctypedef int (*encode_record_function)(Encoding* e, PyObject* obj) except -1
ctypedef int (*encode_pair_function)(Encoding* e, PyObject* key, PyObject* value) except -1

cdef struct Encoding:
    WriteBuffer buf
    PathFrame* frame
    Py_ssize_t depth
    Py_ssize_t work_count
    Py_ssize_t max_depth
    PyObject* default         # borrowed, NULL: none
    const char* unicode_errors    # borrowed, NULL: strict
    const RecordTypes* types  # borrowed, NULL: none
    encode_record_function record    # how records are encoded: the types decide, once for all records
    encode_pair_function pair
    int nreplaced             # number of calls of default= that are open, one within the result of another
    int int_width             # bits in which ints are written, 32 or 64; 0: as each number needs
    PicklePolicy pickle
    bint hive
    flag sort_keys
    flag is_general          # an option is set that bytes_of_small_container() does not know

# The limit that max_bytes= gives, 0 for none; raises ValueError.
cdef Py_ssize_t parse_max_bytes(max_bytes) except -1

cdef class EncodeOptions:
    cdef Encoding template    # with an empty buffer that knows the size of the last large output
    cdef RecordTypes types
    cdef object default
    cdef bytes unicode_errors
    cdef object programs      # hold what `types` points to

    cdef int use_types(self, value_type, pair_key_type, pair_value_type, omit_none) except -1

# The encoded bytes of one scalar, bytearray or None, a new reference; NULL without an exception:
# encode_record() is needed.
cdef PyObject* bytes_of_scalar(const Encoding* options, PyObject* obj) except? NULL
# The same of a small tuple, list or dict of scalars.
cdef PyObject* bytes_of_small_container(const Encoding* options, PyObject* obj) except? NULL
# Write one record at the cursor; when that fails the cursor is where it was.
cdef inline int encode_record(Encoding* e, PyObject* obj) except -1:
    return e.record(e, obj)

cdef inline int encode_pair(Encoding* e, PyObject* key, PyObject* value) except -1:
    return e.pair(e, key, value)

# As encode_pair, with `before` bytes left in front of the key and `between` bytes in front of the value, for the caller
# to fill. Return how many bytes the key takes.
cdef Py_ssize_t encode_spaced_pair(Encoding* e, PyObject* key, PyObject* value, Py_ssize_t before,
                                   Py_ssize_t between) except -1
