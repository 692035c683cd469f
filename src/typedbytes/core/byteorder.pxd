# Load and store big-endian numbers and UTF-8; see byteorder.h and utf8.h.

from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t

cdef extern from "core/byteorder.h" nogil:
    int16_t load_i16(const unsigned char* p) noexcept
    int32_t load_i32(const unsigned char* p) noexcept
    int64_t load_i64(const unsigned char* p) noexcept
    # Little-endian.
    uint32_t load_u32_le(const unsigned char* p) noexcept
    uint64_t load_u64_le(const unsigned char* p) noexcept
    void store_u32_le(unsigned char* p, uint32_t value) noexcept
    void store_u64_le(unsigned char* p, uint64_t value) noexcept
    double load_f32(const unsigned char* p) noexcept
    double load_f64(const unsigned char* p) noexcept
    void store_i16(unsigned char* p, int16_t value) noexcept
    void store_i32(unsigned char* p, int32_t value) noexcept
    void store_i64(unsigned char* p, int64_t value) noexcept
    void store_f64(unsigned char* p, double value) noexcept
    # 1: stored; 0: a finite number beyond what binary32 can hold.
    bint store_f32(unsigned char* p, double value) noexcept

    # Of a constant size, eight bytes at least.
    bint same_fixed(const void* a, const void* b, Py_ssize_t nbytes) noexcept
    void copy_short(void* to, const void* source, Py_ssize_t nbytes) noexcept
    bint is_ascii(const unsigned char* p, Py_ssize_t nbytes) noexcept
    bint copy_ascii(unsigned char* out, const unsigned char* p, Py_ssize_t nbytes) noexcept

    # Nonzero: one of the n has another code, and what is in `out` is useless.
    bint load_bytes(const unsigned char* p, Py_ssize_t stride, unsigned char code, unsigned char* out, Py_ssize_t step,
                    Py_ssize_t n) noexcept
    bint load_bools(const unsigned char* p, Py_ssize_t stride, unsigned char code, unsigned char* out, Py_ssize_t step,
                    Py_ssize_t n) noexcept
    bint load_16s(const unsigned char* p, Py_ssize_t stride, unsigned char code, unsigned char* out, Py_ssize_t step,
                  Py_ssize_t n) noexcept
    bint load_32s(const unsigned char* p, Py_ssize_t stride, unsigned char code, unsigned char* out, Py_ssize_t step,
                  Py_ssize_t n) noexcept
    bint load_64s(const unsigned char* p, Py_ssize_t stride, unsigned char code, unsigned char* out, Py_ssize_t step,
                  Py_ssize_t n) noexcept
    bint check_codes(const unsigned char* p, Py_ssize_t stride, unsigned char code, Py_ssize_t n) noexcept
    bint check_heads(const unsigned char* p, Py_ssize_t stride, unsigned char code, int count, Py_ssize_t n) noexcept
    void store_bytes(unsigned char* p, Py_ssize_t stride, unsigned char code, const unsigned char* source,
                     Py_ssize_t step, Py_ssize_t n) noexcept
    void store_bools(unsigned char* p, Py_ssize_t stride, unsigned char code, const unsigned char* source,
                     Py_ssize_t step, Py_ssize_t n) noexcept
    void store_16s(unsigned char* p, Py_ssize_t stride, unsigned char code, const unsigned char* source,
                   Py_ssize_t step, Py_ssize_t n) noexcept
    void store_32s(unsigned char* p, Py_ssize_t stride, unsigned char code, const unsigned char* source,
                   Py_ssize_t step, Py_ssize_t n) noexcept
    void store_64s(unsigned char* p, Py_ssize_t stride, unsigned char code, const unsigned char* source,
                   Py_ssize_t step, Py_ssize_t n) noexcept

cdef extern from "core/utf8/plain.h" nogil:
    # Bytes of the character at p, stored in `c`; 0: there is none.
    int plain_character(const unsigned char* p, const unsigned char* end, uint32_t* c) noexcept

# Named here so that a change of them compiles what uses them.
cdef extern from "core/utf8/vector.h":
    pass
cdef extern from "core/utf8/avx2.h":
    pass
cdef extern from "core/utf8/avx512.h":
    pass

cdef extern from "core/utf8.h" nogil:
    # Characters in the text, and its greatest byte: below 0xc4 a UCS1 string holds it,
    # below 0xf0 a UCS2 string, else UCS4.
    Py_ssize_t utf8_measure(const unsigned char* p, Py_ssize_t nbytes, unsigned char* greatest) noexcept
    # Whether text is likely to hold Latin-1 alone, so that it need not be measured; the number of its characters in
    # `out`, which has the capacity for one a byte, or -1: others are in it, or it is not UTF-8.
    bint may_be_latin(const unsigned char* p, Py_ssize_t nbytes) noexcept
    Py_ssize_t utf8_to_latin(const unsigned char* p, Py_ssize_t nbytes, void* out) noexcept
    # 1: the whole text is in `out`, which has the capacity for the characters measured; 0: it is not UTF-8.
    bint utf8_to_ucs1(const unsigned char* p, Py_ssize_t nbytes, void* out, Py_ssize_t nchars) noexcept
    bint utf8_to_ucs2(const unsigned char* p, Py_ssize_t nbytes, void* out, Py_ssize_t nchars) noexcept
    bint utf8_to_ucs4(const unsigned char* p, Py_ssize_t nbytes, void* out, Py_ssize_t nchars) noexcept
    # Bytes that text of characters of this width takes, or -1 when one of them is a lone surrogate.
    Py_ssize_t utf8_length(int width, const void* text, Py_ssize_t nchars) noexcept
    # Bytes written, or -1 at a lone surrogate. `out` has a capacity of that many, or of 2,
    # 3 or 4 a character, and UTF8_SLACK more.
    Py_ssize_t utf8_from_ucs1(unsigned char* out, const void* text, Py_ssize_t nchars) noexcept
    Py_ssize_t utf8_from_ucs2(unsigned char* out, const void* text, Py_ssize_t nchars) noexcept
    Py_ssize_t utf8_from_ucs4(unsigned char* out, const void* text, Py_ssize_t nchars) noexcept
    # Which kind of loops is used from now on: 0 for every processor's, 1 AVX2, 2 AVX-512,
    # `most` at most; -1: the best there is.
    int limit_vectors(int limit) noexcept
    enum:
        UTF8_SLACK
