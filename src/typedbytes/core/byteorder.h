/* Byte order, float bits, short words and columns of numbers, and nothing else.
 *
 * Byte order and unaligned access are solved here once: every number is moved by memcpy and swapped on little-endian
 * machines; no pointer is ever cast to read a number. Compilers turn each function into one or two instructions. */
#ifndef TYPEDBYTES_BYTEORDER_H
#define TYPEDBYTES_BYTEORDER_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#include <stdlib.h>
#define TB_SWAP16 _byteswap_ushort
#define TB_SWAP32 _byteswap_ulong
#define TB_SWAP64 _byteswap_uint64
#define TB_BIG_ENDIAN 0
#else
#define TB_SWAP16 __builtin_bswap16
#define TB_SWAP32 __builtin_bswap32
#define TB_SWAP64 __builtin_bswap64
#define TB_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#endif

static inline uint16_t tb_be16(uint16_t v) { return TB_BIG_ENDIAN ? v : (uint16_t)TB_SWAP16(v); }
static inline uint32_t tb_be32(uint32_t v) { return TB_BIG_ENDIAN ? v : (uint32_t)TB_SWAP32(v); }
static inline uint64_t tb_be64(uint64_t v) { return TB_BIG_ENDIAN ? v : (uint64_t)TB_SWAP64(v); }
static inline uint32_t tb_le32(uint32_t v) { return TB_BIG_ENDIAN ? (uint32_t)TB_SWAP32(v) : v; }
static inline uint64_t tb_le64(uint64_t v) { return TB_BIG_ENDIAN ? (uint64_t)TB_SWAP64(v) : v; }

static inline int16_t load_i16(const unsigned char *p) { uint16_t v; memcpy(&v, p, 2); return (int16_t)tb_be16(v); }
static inline int32_t load_i32(const unsigned char *p) { uint32_t v; memcpy(&v, p, 4); return (int32_t)tb_be32(v); }
static inline int64_t load_i64(const unsigned char *p) { uint64_t v; memcpy(&v, p, 8); return (int64_t)tb_be64(v); }

static inline void store_i16(unsigned char *p, int16_t value) {
    uint16_t v = tb_be16((uint16_t)value);
    memcpy(p, &v, 2);
}
static inline void store_i32(unsigned char *p, int32_t value) {
    uint32_t v = tb_be32((uint32_t)value);
    memcpy(p, &v, 4);
}
static inline void store_i64(unsigned char *p, int64_t value) {
    uint64_t v = tb_be64((uint64_t)value);
    memcpy(p, &v, 8);
}

/* Of pickles, which are little-endian. */
static inline uint32_t load_u32_le(const unsigned char *p) { uint32_t v; memcpy(&v, p, 4); return tb_le32(v); }
static inline void store_u32_le(unsigned char *p, uint32_t value) { value = tb_le32(value); memcpy(p, &value, 4); }
static inline uint64_t load_u64_le(const unsigned char *p) { uint64_t v; memcpy(&v, p, 8); return tb_le64(v); }
static inline void store_u64_le(unsigned char *p, uint64_t value) { value = tb_le64(value); memcpy(p, &value, 8); }

static inline double load_f64(const unsigned char *p) {
    uint64_t bits = (uint64_t)load_i64(p);
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static inline void store_f64(unsigned char *p, double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    store_i64(p, (int64_t)bits);
}

/* The processor's own conversion sets the quiet bit of a signalling NaN; moving the bits keeps every NaN as it is. */
static inline double load_f32(const unsigned char *p) {
    uint32_t bits = (uint32_t)load_i32(p);
    if ((bits & 0x7f800000u) == 0x7f800000u) {
        uint64_t wide = ((uint64_t)(bits & 0x80000000u) << 32) | 0x7ff0000000000000u
                        | ((uint64_t)(bits & 0x7fffffu) << 29);
        double value;
        memcpy(&value, &wide, 8);
        return value;
    }
    float value;
    memcpy(&value, &bits, 4);
    return (double)value;
}

static inline int store_f32(unsigned char *p, double value) {
    uint32_t bits;
    if (isnan(value)) {
        uint64_t wide;
        memcpy(&wide, &value, 8);
        bits = (uint32_t)(wide >> 32 & 0x80000000u) | 0x7f800000u | (uint32_t)(wide >> 29 & 0x7fffffu);
        if (!(bits & 0x7fffffu)) bits |= 0x400000u;   /* the payload was in the low bits only: stay a NaN */
    } else {
        float narrow = (float)value;
        if (isinf(narrow) && !isinf(value)) return 0;
        memcpy(&bits, &narrow, 4);
    }
    store_i32(p, (int32_t)bits);
    return 1;
}

/* Whether 64 bytes are ASCII: a compiler checks them in a few steps. */
static inline int is_ascii_block(const unsigned char *p) {
    uint64_t words[8], all = 0;
    memcpy(words, p, sizeof words);
    for (int i = 0; i < 8; i++) all |= words[i];
    return !(all & 0x8080808080808080u);
}

/* Return the end of the ASCII blocks at the start. Not inline, as is_ascii() is part of the paths of short texts. */
#ifdef __GNUC__
__attribute__((noinline))
#endif
static const unsigned char *ascii_blocks_end(const unsigned char *p, ptrdiff_t nbytes) {
    for (; nbytes >= 64 && is_ascii_block(p); p += 64) nbytes -= 64;
    return p;
}

/* Eight bytes a step; the tail is one overlapping word, so from eight bytes on no byte is checked by itself. */
static inline int is_ascii(const unsigned char *p, ptrdiff_t nbytes) {
    const uint64_t high = 0x8080808080808080u;
    uint64_t word, seen = 0;
    if (nbytes >= 8) {
        const unsigned char *last = p + nbytes - 8;
        if (nbytes >= 256) p = ascii_blocks_end(p, nbytes);
        for (; p < last; p += 8) {
            memcpy(&word, p, 8);
            seen |= word;
            if (seen & high) return 0;
        }
        memcpy(&word, last, 8);
        return !((seen | word) & high);
    }
    for (; nbytes > 0; nbytes--) seen |= *p++;
    return !(seen & 0x80);
}

/* Copy 64 bytes at least, and return whether all are ASCII; the last block overlaps the one before. */
static inline int copy_ascii(unsigned char *out, const unsigned char *p, ptrdiff_t nbytes) {
    uint64_t words[8];    /* `p` and `out` may be the same for all that a compiler knows */
    for (ptrdiff_t at = 0; at < nbytes; at += 64) {
        if (at > nbytes - 64) at = nbytes - 64;
        memcpy(words, p + at, 64);
        memcpy(out + at, words, 64);
        if (!is_ascii_block((const unsigned char *)words)) return 0;
    }
    return 1;
}

/* Whether two stretches of a constant size, eight bytes at least, are the same: no call, and one branch. */
static inline int same_fixed(const void *a, const void *b, ptrdiff_t nbytes) {
    uint64_t x, y, different = 0;
    for (ptrdiff_t i = 0; i + 8 < nbytes; i += 8) {
        memcpy(&x, (const unsigned char *)a + i, 8);
        memcpy(&y, (const unsigned char *)b + i, 8);
        different |= x ^ y;
    }
    memcpy(&x, (const unsigned char *)a + nbytes - 8, 8);
    memcpy(&y, (const unsigned char *)b + nbytes - 8, 8);
    return (different | (x ^ y)) == 0;
}

/* memcpy for sizes that are mostly small: no call, and no byte beyond either end. */
static inline void copy_short(void *to, const void *from, ptrdiff_t nbytes) {
    unsigned char *out = (unsigned char *)to;
    const unsigned char *in = (const unsigned char *)from;
    if (nbytes > 32) {
        memcpy(out, in, (size_t)nbytes);
    } else if (nbytes >= 16) {
        unsigned char first[16], last[16];
        memcpy(first, in, 16);
        memcpy(last, in + nbytes - 16, 16);
        memcpy(out, first, 16);
        memcpy(out + nbytes - 16, last, 16);
    } else if (nbytes >= 8) {
        uint64_t first, last;
        memcpy(&first, in, 8);
        memcpy(&last, in + nbytes - 8, 8);
        memcpy(out, &first, 8);
        memcpy(out + nbytes - 8, &last, 8);
    } else if (nbytes >= 4) {
        uint32_t first, last;
        memcpy(&first, in, 4);
        memcpy(&last, in + nbytes - 4, 4);
        memcpy(out, &first, 4);
        memcpy(out + nbytes - 4, &last, 4);
    } else if (nbytes > 0) {
        unsigned char middle = in[nbytes / 2], last = in[nbytes - 1];
        out[0] = in[0];
        out[nbytes / 2] = middle;
        out[nbytes - 1] = last;
    }
}

/* Columns of numbers. On the wire a column's values are `stride` bytes apart, each a type code and a big-endian
 * payload; in memory they are `step` bytes apart in native byte order. Loading checks the codes and swaps the payloads
 * in one pass: the differences of the codes are collected in one byte, so that the loop has no branch; if it is not
 * zero, the caller looks for the row. Not needed: clones for wider vectors. Memory is the limit already; bench:
 * columns, ints and doubles. */

/* Nonzero: some code is not `code`, and what was stored is useless. */
#define TB_COLUMN_LOADER(NAME, UNIT, FROM_WIRE)                                                                        \
    static inline unsigned char NAME(const unsigned char *p, ptrdiff_t stride, unsigned char code, unsigned char *out, \
                              ptrdiff_t step, ptrdiff_t n) {                                                           \
        unsigned char wrong = 0;                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++, p += stride, out += step) {                                                  \
            UNIT v;                                                                                                    \
            wrong |= p[0] ^ code;                                                                                      \
            memcpy(&v, p + 1, sizeof v);                                                                               \
            v = FROM_WIRE(v);                                                                                          \
            memcpy(out, &v, sizeof v);                                                                                 \
        }                                                                                                              \
        return wrong;                                                                                                  \
    }

#define TB_COLUMN_STORER(NAME, UNIT, TO_WIRE)                                                                \
    static inline void NAME(unsigned char *p, ptrdiff_t stride, unsigned char code, const unsigned char *in, \
                            ptrdiff_t step,                                                                  \
                     ptrdiff_t n) {                                                                          \
        for (ptrdiff_t i = 0; i < n; i++, p += stride, in += step) {                                         \
            UNIT v;                                                                                          \
            memcpy(&v, in, sizeof v);                                                                        \
            v = TO_WIRE(v);                                                                                  \
            p[0] = code;                                                                                     \
            memcpy(p + 1, &v, sizeof v);                                                                     \
        }                                                                                                    \
    }

#define TB_AS_IS(v) (v)
#define TB_AS_BOOL(v) ((v) != 0)

TB_COLUMN_LOADER(load_bytes, uint8_t, TB_AS_IS)
TB_COLUMN_LOADER(load_bools, uint8_t, TB_AS_BOOL)
TB_COLUMN_LOADER(load_16s, uint16_t, tb_be16)
TB_COLUMN_LOADER(load_32s, uint32_t, tb_be32)
TB_COLUMN_LOADER(load_64s, uint64_t, tb_be64)
TB_COLUMN_STORER(store_bytes, uint8_t, TB_AS_IS)
TB_COLUMN_STORER(store_bools, uint8_t, TB_AS_BOOL)
TB_COLUMN_STORER(store_16s, uint16_t, tb_be16)
TB_COLUMN_STORER(store_32s, uint32_t, tb_be32)
TB_COLUMN_STORER(store_64s, uint64_t, tb_be64)

/* Nonzero: some row has another code there. */
static inline unsigned char check_codes(const unsigned char *p, ptrdiff_t stride, unsigned char code, ptrdiff_t n) {
    unsigned char wrong = 0;
    for (ptrdiff_t i = 0; i < n; i++, p += stride) wrong |= p[0] ^ code;
    return wrong;
}

/* Nonzero: some row has another code or another count there. */
static inline unsigned char check_heads(const unsigned char *p, ptrdiff_t stride, unsigned char code, int32_t count,
                                        ptrdiff_t n) {
    uint32_t wrong = 0, wanted = tb_be32((uint32_t)count);
    for (ptrdiff_t i = 0; i < n; i++, p += stride) {
        uint32_t found;
        memcpy(&found, p + 1, 4);
        wrong |= (found ^ wanted) | (uint32_t)(p[0] ^ code);
    }
    return wrong != 0;
}

#endif
