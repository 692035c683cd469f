# The table of strings that repeat; see strings.h and codec/strings.pxi.

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t

cdef extern from "core/strings.h":
    # At most 24 bytes, loaded to compare and to hash them.
    ctypedef struct short_words:
        uint64_t a, b, c
    short_words load_short(const unsigned char* p, Py_ssize_t nbytes) noexcept
    # More than 24, of which the words are no more than a hash.
    short_words load_long(const unsigned char* p, Py_ssize_t nbytes) noexcept
    bint same_short(const short_words* x, const short_words* y) noexcept
    uint64_t mix_short(const short_words* words, Py_ssize_t nbytes) noexcept
    uint32_t hash_short(const short_words* words, Py_ssize_t nbytes) noexcept
    uint64_t sample_of(const void* data, Py_ssize_t nbytes) noexcept

    enum:
        CACHED_STRINGS
        FIRST_BALANCE
    ctypedef struct CachedString:
        short_words words
        Py_ssize_t nbytes
        PyObject* text
        CachedString* next_key
    CachedString* CACHE "string_table"
    int STRING_BALANCE "string_balance"
    int LONG_KEY_BALANCE "long_key_balance"
    int SHORT_KEY_BALANCE "short_key_balance"
    # Where the slot of the last MAP key is kept: in the decoding, or in this thread.
    void** last_key_slot(void** of_decoding) noexcept
