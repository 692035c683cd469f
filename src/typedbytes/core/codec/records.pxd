# Types as the core runs them; see core/codec/records/program.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from cpython.object cimport PyObject, PyTypeObject

from typedbytes.core.instances cimport attribute_layout

cdef enum TypeKind:
    ANY_TYPE
    INT_TYPE
    FLOAT_TYPE
    STR_TYPE
    BOOL_TYPE
    RECORD_TYPE
    LIST_TYPE
    VARIADIC_TUPLE_TYPE
    TUPLE_TYPE
    DICT_TYPE
    SET_TYPE
    FROZENSET_TYPE
    DATETIME_TYPE_KIND
    DATE_TYPE_KIND
    TIME_TYPE_KIND
    DELTA_TYPE_KIND
    DECIMAL_TYPE_KIND
    UUID_TYPE_KIND
    ENUM_TYPE
    LITERAL_TYPE
    BYTES_TYPE
    BYTEARRAY_TYPE
    MEMORYVIEW_TYPE
    NDARRAY_TYPE
    NONE_TYPE
    UNION_TYPE

cdef enum RecordForm:
    MAP_FORM
    VECTOR_FORM

cdef enum MakeKind:
    MAKE_TUPLE
    MAKE_SLOTS
    MAKE_DICT
    MAKE_STRUCT
    MAKE_TYPEDDICT
    MAKE_CALL

# A STRING as it is encoded: type code, length, UTF-8. Two words of it decide about most;
# equal up to 16 bytes if both are.
cdef struct EncodedName:
    const unsigned char* p
    Py_ssize_t nbytes
    Py_ssize_t nheld          # bytes that must be there for both words: `nbytes`, or 8 if that is more
    Py_ssize_t last_offset    # offset of the second word in the STRING
    uint64_t mask             # a set bit for each bit that counts, in both words
    uint64_t first
    uint64_t last

# Encoded STRINGs by their bytes.
cdef struct NameTable:
    EncodedName* names
    uint32_t* slots           # index of a name + 1; 0: none
    int shift                 # 64 - log2 of the number of slots
    Py_ssize_t max_nbytes     # bytes of the longest name

# What an Enum or Literal may be; all borrowed from the program.
cdef struct ValueTable:
    int64_t first_number
    Py_ssize_t nnumbers
    PyObject** numbers        # by number - first_number; NULL: no value
    NameTable texts
    PyObject** text_values    # by index of the text
    PyObject* others          # dict: (type, value) to the value

# Members of an Enum as they are encoded, by their addresses.
cdef struct MemberSlot:
    PyObject* member          # borrowed; NULL: none
    const unsigned char* encoded
    Py_ssize_t nbytes

cdef struct TypeNode:
    TypeKind kind
    bint allows_none
    int balance               # of hits and misses of this field's strings in the string cache; it alone changes later
    int unit                  # of a date type: microseconds in one of the numbers that are written
    int width                 # type code that is written; -1: as the number needs
    bint is_text              # values are written as text
    bint is_utc
    bint by_name              # members of an Enum are written by name
    Py_ssize_t nitems         # length of `items`: the types of a tuple, or the members of a union
    TypeNode** items
    TypeNode* item            # type of the items of a list or set, or of the keys of a dict
    TypeNode* value           # type of the values of a dict
    RecordType* record
    ValueTable* table
    bint has_missing          # an Enum with a _missing_ of the user's
    PyObject* names           # borrowed: dict, an Enum's members by name
    MemberSlot* members       # 2**member_bits slots, for an Enum whose values are text and ints
    int member_bits
    unsigned char* by_code    # union: 1 + index of the member by type code, 0: none; then again for types not strict
    PyTypeObject* cls         # borrowed: the class of an Enum, or of the instances of an int or float; NULL: plain ones
    PyObject* shown           # borrowed: str, the type as errors name it

cdef struct RecordType:
    RecordForm form
    MakeKind make
    Py_ssize_t nfields
    Py_ssize_t nrequired      # fields up to the last one that is required
    TypeNode** nodes          # the types of the fields; all arrays here have an entry for each field
    Py_ssize_t* offsets       # offsets of the slots in an instance
    PyObject** attributes     # interned names, borrowed
    PyObject** defaults       # borrowed; NULL: none
    PyObject** factories      # borrowed; NULL: none
    PyObject** absents        # borrowed: values that are left out of a MAP; NULL: none
    bint* required
    bint* written
    NameTable keys
    PyTypeObject* cls         # borrowed
    PyObject* arguments       # borrowed: tuple of the constructor's keywords
    PyObject* name            # borrowed: str
    bint forbids_unknown
    bint allows_extra_items
    bint omits_defaults
    bint has_post_init
    bint reads_slots          # encoding takes values from their slots
    bint is_tuple
    Py_ssize_t norder         # length of `order`, the numbers of the fields to be written; nfields stands for the tag
    Py_ssize_t* order
    Py_ssize_t* sorted_order  # the numbers in `order`, sorted by the encoded keys
    bint has_gc
    bint has_simple_memory
    attribute_layout layout   # where instances without slots have their attributes
    EncodedName* tag_key      # NULL: no tag
    PyObject* tag             # borrowed: str or int
    PyObject* tag_name        # borrowed: key of the tag

# What the values of a Decoding or Encoding have to be; NULL: anything.
cdef struct RecordTypes:
    TypeNode* value
    TypeNode* pair_key
    TypeNode* pair_value
    bint is_strict
    bint omits_none
