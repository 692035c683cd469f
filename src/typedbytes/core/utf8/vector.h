/* Loops over vectors as the compiler writes them, for every processor. See utf8.h. */
#ifndef TYPEDBYTES_UTF8_VECTOR_H
#define TYPEDBYTES_UTF8_VECTOR_H

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include "core/byteorder.h"
#include "core/utf8/plain.h"

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)

typedef uint8_t utf8_u8x4 __attribute__((vector_size(4)));
typedef uint8_t utf8_u8x8 __attribute__((vector_size(8)));
typedef uint8_t utf8_u8x16 __attribute__((vector_size(16)));
typedef int8_t utf8_i8x16 __attribute__((vector_size(16)));
typedef uint16_t utf8_u16x4 __attribute__((vector_size(8)));
typedef uint16_t utf8_u16x8 __attribute__((vector_size(16)));
typedef uint32_t utf8_u32x4 __attribute__((vector_size(16)));
typedef int32_t utf8_i32x4 __attribute__((vector_size(16)));
typedef uint64_t utf8_u64x2 __attribute__((vector_size(16)));

/* TO of N bytes or characters from p on. */
#define TB_WIDENED(FROM, TO, p) \
    (__extension__({ FROM tb_part; memcpy(&tb_part, p, sizeof tb_part); __builtin_convertvector(tb_part, TO); }))
/* Where the mask is set THEN, else OTHERWISE. */
#define TB_SELECT(mask, then, otherwise) (((then) & (mask)) | ((otherwise) & ~(mask)))

enum { UTF8_STEP = 16, UTF8_BLOCK = 64 };    /* bytes or characters */

#if defined(__SSE2__)
/* How many of the `nbytes` at p, 16, 32 or 64, are ASCII before the first that is not. */
static inline int ascii_before(const unsigned char *p, int nbytes) {
    uint64_t others = 0;    /* a bit for each byte */
    for (int i = 0; i < nbytes; i += 16) {
        __m128i part;
        memcpy(&part, p + i, sizeof part);
        others |= (uint64_t)(unsigned)_mm_movemask_epi8(part) << i;
    }
    return others ? __builtin_ctzll(others) : nbytes;
}
#else
static inline int ascii_before_in_step(const unsigned char *p) {
    uint64_t first, second;
    memcpy(&first, p, 8);
    memcpy(&second, p + 8, 8);
    first &= 0x8080808080808080u;
    second &= 0x8080808080808080u;
    if (!(first | second)) return UTF8_STEP;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (first ? __builtin_clzll(first) : 64 + __builtin_clzll(second)) / 8;
#else
    return (first ? __builtin_ctzll(first) : 64 + __builtin_ctzll(second)) / 8;
#endif
}

/* The same, as processors without such a mask have it. */
static inline int ascii_before(const unsigned char *p, int nbytes) {
    int n = 0, nascii = UTF8_STEP;
    if (nbytes == UTF8_BLOCK && is_ascii_block(p)) return UTF8_BLOCK;
    for (; n < nbytes && nascii == UTF8_STEP; n += nascii) nascii = ascii_before_in_step(p + n);
    return n;
}
#endif

/* ASCII bytes at the start of the text: those before the first other one,
 * or fewer where the text ends within 16 bytes. */
static ptrdiff_t ascii_prefix(const unsigned char *p, ptrdiff_t nbytes) {
    ptrdiff_t n = 0;
    while (nbytes - n >= UTF8_STEP) {
        const int part = nbytes - n >= UTF8_BLOCK ? UTF8_BLOCK : UTF8_STEP, nascii = ascii_before(p + n, part);
        n += nascii;
        if (nascii < part) break;
    }
    return n;
}

/* The greater one of each two bytes: compilers do not see that processors have this. */
static inline utf8_u8x16 greater_bytes(utf8_u8x16 a, utf8_u8x16 b) {
#if defined(__SSE2__)
    return (utf8_u8x16)_mm_max_epu8((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
    return (utf8_u8x16)vmaxq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
    return TB_SELECT((utf8_u8x16)(a > b), a, b);
#endif
}

static ptrdiff_t vector_measure(const unsigned char *p, ptrdiff_t nbytes, unsigned char *greatest) {
    utf8_u8x16 most = {0};
    ptrdiff_t nchars = 0;
    while (nbytes >= 16) {
        utf8_u8x16 starts = {0};
        /* a lane counts no further */
        for (int n = nbytes / 16 < 255 ? (int)(nbytes / 16) : 255; n > 0; n--, p += 16, nbytes -= 16) {
            utf8_u8x16 b;
            memcpy(&b, p, sizeof b);
            most = greater_bytes(most, b);
            starts -= (utf8_u8x16)((utf8_i8x16)b > (signed char)0xbf);    /* not a continuation byte */
        }
        for (int i = 0; i < 16; i++) nchars += starts[i];
    }
    *greatest = 0;
    for (int i = 0; i < 16; i++) *greatest = most[i] > *greatest ? most[i] : *greatest;
    return nchars + measure_part(p, nbytes, greatest);
}

/* Runs of characters of one length, at a character's start: *c and 1, or 0 where the bytes are anything else. */
static inline int vector_run_of_2(const unsigned char *p, utf8_u16x8 *c) {
    utf8_u16x8 b;
    uint64_t refused[2];
    memcpy(&b, p, sizeof b);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) b = b << 8 | b >> 8;
    const utf8_u16x8 found = ((b ^ 0x80c0) & 0xc0e0) | (utf8_u16x8)((b & 0x1e) == 0);
    *c = (b & 0x1f) << 6 | (b >> 8 & 0x3f);
    memcpy(refused, &found, sizeof found);
    return !(refused[0] | refused[1]);
}

/* Text that was not measured may hold others. */
static inline int all_latin(utf8_u16x8 c) {
    uint64_t words[2];
    memcpy(words, &c, sizeof c);
    return !((words[0] | words[1]) & 0xff00ff00ff00ff00u);
}

static inline uint32_t load_high_first(const unsigned char *p) {
    uint32_t value;
    memcpy(&value, p, 4);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? value : __builtin_bswap32(value);
}

static inline int vector_run_of_3(const unsigned char *p, utf8_u32x4 *c) {    /* reads 13 bytes */
    const utf8_u32x4 b = {load_high_first(p), load_high_first(p + 3), load_high_first(p + 6), load_high_first(p + 9)};
    uint64_t refused[2];
    *c = (b >> 12 & 0xf000) | (b >> 10 & 0xfc0) | (b >> 8 & 0x3f);
    const utf8_u32x4 found = ((b ^ 0xe0808000) & 0xf0c0c000) | (utf8_u32x4)((*c & 0xf800) == 0)
                             | (utf8_u32x4)((*c & 0xf800) == 0xd800);
    memcpy(refused, &found, sizeof found);
    return !(refused[0] | refused[1]);
}

static inline int vector_run_of_4(const unsigned char *p, utf8_u32x4 *c) {
    const utf8_u32x4 b = {load_high_first(p), load_high_first(p + 4), load_high_first(p + 8), load_high_first(p + 12)};
    uint64_t refused[2];
    *c = (b >> 6 & 0x1c0000) | (b >> 4 & 0x3f000) | (b >> 2 & 0xfc0) | (b & 0x3f);
    const utf8_u32x4 found = ((b ^ 0xf0808080) & 0xf8c0c0c0) | (utf8_u32x4)(*c < 0x10000) | (utf8_u32x4)(*c > 0x10ffff);
    memcpy(refused, &found, sizeof found);
    return !(refused[0] | refused[1]);
}

/* Store lanes as characters, in vectors, as compilers see. */
#define TB_STORE(UNIT, out, lanes, nlanes)                                                \
    do {                                                                                  \
        UNIT tb_chars[nlanes];                                                            \
        for (int tb_i = 0; tb_i < (nlanes); tb_i++) tb_chars[tb_i] = (UNIT)(lanes)[tb_i]; \
        memcpy(out, tb_chars, sizeof tb_chars);                                           \
        (out) += (nlanes);                                                                \
    } while (0)

/* Text that is mostly ASCII: that is copied 64 or 32 bytes at a time; runs of characters of one length are taken
 * together, others a character at a time. */
#define TB_STEP_DECODER(NAME, UNIT, PLAIN)                                                                             \
    static UNIT *NAME(const unsigned char *p, const unsigned char *end, UNIT *out, const UNIT *out_end) {              \
        while (end - p >= UTF8_STEP && out_end - out >= UTF8_STEP) {                                                   \
            /* More are stored than there are: what follows is stored over the rest. */                                \
            enum { PART = UTF8_BLOCK / (sizeof(UNIT) > 1 ? 2 : 1) };                                                   \
            const int is_part = end - p >= PART && out_end - out >= PART, nbytes = is_part ? PART : UTF8_STEP;         \
            int nascii;                                                                                                \
            if (is_part) {                                                                                             \
                nascii = ascii_before(p, PART);                                                                        \
                TB_STORE(UNIT, out, p, PART);                                                                          \
            } else {                                                                                                   \
                nascii = ascii_before(p, UTF8_STEP);                                                                   \
                TB_STORE(UNIT, out, p, UTF8_STEP);                                                                     \
            }                                                                                                          \
            p += nascii;                                                                                               \
            out += nascii - nbytes;                                                                                    \
            if (nascii == nbytes) continue;                                                                            \
            for (int nruns = 0; p < end && *p >= 0x80 && out < out_end; nruns++) {                                     \
                uint32_t c;                                                                                            \
                utf8_u16x8 twos;                                                                                       \
                utf8_u32x4 others;                                                                                     \
                const int may_be_run = nruns && end - p >= UTF8_STEP && out_end - out >= 8;                            \
                if (may_be_run && *p < 0xe0 && vector_run_of_2(p, &twos) && (sizeof(UNIT) > 1 || all_latin(twos))) {   \
                    TB_STORE(UNIT, out, twos, 8);                                                                      \
                    p += 16;                                                                                           \
                } else if (sizeof(UNIT) > 1 && may_be_run && *p >= 0xe0 && *p < 0xf0 && vector_run_of_3(p, &others)) { \
                    TB_STORE(UNIT, out, others, 4);                                                                    \
                    p += 12;                                                                                           \
                } else if (sizeof(UNIT) > 2 && may_be_run && *p >= 0xf0 && vector_run_of_4(p, &others)) {              \
                    TB_STORE(UNIT, out, others, 4);                                                                    \
                    p += 16;                                                                                           \
                } else {                                                                                               \
                    const int taken = plain_character(p, end, &c);                                                     \
                    if (!taken || c > (UNIT)-1) return NULL;                                                           \
                    *out++ = (UNIT)c;                                                                                  \
                    p += taken;                                                                                        \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        return PLAIN(p, end, out, out_end);                                                                            \
    }

TB_STEP_DECODER(step_to_ucs1, uint8_t, plain_to_ucs1)
TB_STEP_DECODER(step_to_ucs2, uint16_t, plain_to_ucs2)
TB_STEP_DECODER(step_to_ucs4, uint32_t, plain_to_ucs4)

/* Mixed text, without a branch that depends on it but the one for runs. Each lead must be followed by its continuation
 * bytes; that there are no others, and no character longer than it need be, is detected by the length that the decoded
 * text must have. `odd` gathers bytes that ought to be below 0x40. */
#define TB_VECTOR_DECODER(NAME, UNIT, BYTES, VECTOR, PLAIN, LENGTH)                                               \
    static UNIT *NAME(const unsigned char *p, const unsigned char *end, UNIT *out, const UNIT *out_end) {         \
        const ptrdiff_t nbytes = end - p, nchars = out_end - out;                                                 \
        VECTOR odd = {0};                                                                                         \
        for (; end - p >= UTF8_STEP + 2; p += UTF8_STEP) {                                                        \
            UNIT c[UTF8_STEP];                                                                                    \
            utf8_u16x8 twos;                                                                                      \
            const int is_inside = TB_CONTINUES(*p);                                                               \
            if (out_end - out >= 8 && vector_run_of_2(p + is_inside, &twos)) {                                    \
                TB_STORE(UNIT, out, twos, 8);                                                                     \
                p += is_inside;                                                                                   \
                continue;                                                                                         \
            }                                                                                                     \
            for (int i = 0; i < UTF8_STEP; i += (int)(sizeof(VECTOR) / sizeof(UNIT))) {                           \
                const VECTOR b0 = TB_WIDENED(BYTES, VECTOR, p + i);                                               \
                const VECTOR b1 = TB_WIDENED(BYTES, VECTOR, p + i + 1) ^ 0x80, leads = (VECTOR)(b0 >= 0xc0);      \
                VECTOR here = TB_SELECT(leads, (b0 & 0x1f) << 6 | (b1 & 0x3f), b0);                               \
                odd |= b1 & leads;                                                                                \
                if (sizeof(UNIT) > 1) {                                                                           \
                    const VECTOR b2 = TB_WIDENED(BYTES, VECTOR, p + i + 2) ^ 0x80, leads3 = (VECTOR)(b0 >= 0xe0); \
                    here = TB_SELECT(leads3, (b0 & 0x0f) << (sizeof(UNIT) > 1 ? 12 : 0) | (b1 & 0x3f) << 6        \
                                     | (b2 & 0x3f), here);                                                        \
                    odd |= b2 & leads3;                                                                           \
                }                                                                                                 \
                odd |= (VECTOR)(b0 >= (sizeof(UNIT) > 1 ? 0xf0 : 0xc4)) & 0x40;                                   \
                memcpy(c + i, &here, sizeof here);                                                                \
            }                                                                                                     \
            for (int i = 0; i < UTF8_STEP; i++) {                                                                 \
                *out = c[i];    /* the terminating zero is at out_end, and is set again */                        \
                out += !TB_CONTINUES(p[i]);                                                                       \
            }                                                                                                     \
        }                                                                                                         \
        for (int i = 0; i < (int)(sizeof(VECTOR) / sizeof(UNIT)); i++)                                            \
            if (odd[i] >= 0x40) return NULL;                                                                      \
        while (p < end && TB_CONTINUES(*p)) p++;    /* of the last character, or else the length is not right */  \
        if (PLAIN(p, end, out, out_end) != out_end) return NULL;                                                  \
        *(UNIT *)out_end = 0;                                                                                     \
        return LENGTH(out_end - nchars, nchars) == nbytes ? (UNIT *)out_end : NULL;                               \
    }

TB_VECTOR_DECODER(vector_to_ucs1, uint8_t, utf8_u8x16, utf8_u8x16, plain_to_ucs1, length_of_ucs1)
TB_VECTOR_DECODER(vector_to_ucs2, uint16_t, utf8_u8x8, utf8_u16x8, plain_to_ucs2, length_of_ucs2)

static inline void store_low_first(unsigned char *p, uint32_t value) {
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) value = __builtin_bswap32(value);
    memcpy(p, &value, 4);
}

/* 1: the 16 characters were ASCII, and are stored as bytes. */
#define TB_STORE_ASCII(NAME, UNIT)                                                     \
    static inline int NAME(unsigned char *out, const UNIT *in) {                       \
        utf8_u64x2 parts[sizeof(UNIT)], all = {0};                                     \
        memcpy(parts, in, sizeof parts);                                               \
        for (size_t i = 0; i < sizeof(UNIT); i++) all |= parts[i];                     \
        if ((all[0] | all[1]) & (UINT64_MAX / (UNIT)-1) * (UNIT)~(UNIT)0x7f) return 0; \
        UNIT part[UTF8_STEP];                                                          \
        unsigned char narrowed[UTF8_STEP];                                             \
        memcpy(part, in, sizeof part);                                                 \
        for (int i = 0; i < UTF8_STEP; i++) narrowed[i] = (unsigned char)part[i];      \
        memcpy(out, narrowed, sizeof narrowed);                                        \
        return 1;                                                                      \
    }

TB_STORE_ASCII(vector_from_ucs1_ascii, uint8_t)
TB_STORE_ASCII(vector_from_ucs2_ascii, uint16_t)
TB_STORE_ASCII(vector_from_ucs4_ascii, uint32_t)

/* 1: the eight characters take two bytes each, and are stored. */
#define TB_STORE_TWOS(NAME, UNIT, PART)                                                                                \
    static inline int NAME(unsigned char *out, const UNIT *in) {                                                       \
        const utf8_u16x8 c = TB_WIDENED(PART, utf8_u16x8, in), other = (utf8_u16x8)((c & 0xff80) == 0) | (c & 0xf800); \
        uint64_t refused[2];                                                                                           \
        memcpy(refused, &other, sizeof other);                                                                         \
        if (refused[0] | refused[1]) return 0;                                                                         \
        utf8_u16x8 twos = (c >> 6 | 0xc0) | (c & 0x3f) << 8 | 0x8000;                                                  \
        if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) twos = twos << 8 | twos >> 8;                                      \
        memcpy(out, &twos, sizeof twos);                                                                               \
        return 1;                                                                                                      \
    }

TB_STORE_TWOS(vector_from_ucs1_twos, uint8_t, utf8_u8x8)
TB_STORE_TWOS(vector_from_ucs2_twos, uint16_t, utf8_u16x8)

/* text with emoji has few such runs */
static inline int vector_from_ucs4_twos(unsigned char *out, const uint32_t *in) {
    (void)out, (void)in;
    return 0;
}

/* A 32-bit lane holds the up to four bytes of a character, the first one lowest. */
#define TB_VECTOR_ENCODER(NAME, UNIT, PART, PLAIN)                                                                    \
    static ptrdiff_t NAME(unsigned char *out, const UNIT *in, const UNIT *end) {                                      \
        unsigned char *start = out;                                                                                   \
        utf8_i32x4 surrogates = {0};                                                                                  \
        for (; end - in >= UTF8_STEP; in += UTF8_STEP) {                                                              \
            if (NAME##_ascii(out, in)) {                                                                              \
                out += UTF8_STEP;                                                                                     \
                continue;                                                                                             \
            }                                                                                                         \
            if (NAME##_twos(out, in)) {                                                                               \
                out += UTF8_STEP;                                                                                     \
                in -= UTF8_STEP / 2;                                                                                  \
                continue;                                                                                             \
            }                                                                                                         \
            int32_t lanes[UTF8_STEP], lengths[UTF8_STEP];                                                             \
            for (int i = 0; i < UTF8_STEP; i += 4) {                                                                  \
                const utf8_i32x4 c = TB_WIDENED(PART, utf8_i32x4, in + i), last = (c & 0x3f) | 0x80, two = c >= 0x80; \
                utf8_i32x4 lane = TB_SELECT(two, c >> 6 | 0xc0 | last << 8, c), length = 1 - two;                     \
                if (sizeof(UNIT) > 1) {                                                                               \
                    const utf8_i32x4 second = (c >> 6 & 0x3f) | 0x80, three = c >= 0x800;                             \
                    lane = TB_SELECT(three, c >> 12 | 0xe0 | second << 8 | last << 16, lane);                         \
                    length -= three;                                                                                  \
                    surrogates |= (c & ~0x7ff) == 0xd800;                                                             \
                }                                                                                                     \
                if (sizeof(UNIT) > 2) {                                                                               \
                    const utf8_i32x4 second = (c >> 6 & 0x3f) | 0x80, third = (c >> 12 & 0x3f)                        \
                                              | 0x80, four = c >= 0x10000;                                            \
                    lane = TB_SELECT(four, c >> 18 | 0xf0 | third << 8 | second << 16 | last << 24, lane);            \
                    length -= four;                                                                                   \
                }                                                                                                     \
                memcpy(lanes + i, &lane, sizeof lane);                                                                \
                memcpy(lengths + i, &length, sizeof length);                                                          \
            }                                                                                                         \
            for (int i = 0; i < UTF8_STEP; i++) {                                                                     \
                store_low_first(out, (uint32_t)lanes[i]);                                                             \
                out += lengths[i];                                                                                    \
            }                                                                                                         \
        }                                                                                                             \
        if (surrogates[0] | surrogates[1] | surrogates[2] | surrogates[3]) return -1;                                 \
        const ptrdiff_t rest = PLAIN(out, in, end);                                                                   \
        return rest < 0 ? -1 : out - start + rest;                                                                    \
    }

TB_VECTOR_ENCODER(vector_from_ucs1, uint8_t, utf8_u8x4, plain_from_ucs1)
TB_VECTOR_ENCODER(vector_from_ucs2, uint16_t, utf8_u16x4, plain_from_ucs2)
TB_VECTOR_ENCODER(vector_from_ucs4, uint32_t, utf8_u32x4, plain_from_ucs4)

/* Text of characters of nearly one width goes better by the loops that predict it. */
static inline int is_mixed(ptrdiff_t nbytes, ptrdiff_t nchars) {
    return nbytes - nchars > nchars / 8 && nbytes < nchars * 2 + nchars / 2;
}

static uint8_t *narrow_to_ucs1(const unsigned char *p, const unsigned char *end, uint8_t *out, const uint8_t *out_end) {
    return is_mixed(end - p, out_end - out) ? vector_to_ucs1(p, end, out, out_end) : step_to_ucs1(p, end, out, out_end);
}

static uint16_t *narrow_to_ucs2(const unsigned char *p, const unsigned char *end, uint16_t *out,
                                const uint16_t *out_end) {
    return is_mixed(end - p, out_end - out) ? vector_to_ucs2(p, end, out, out_end) : step_to_ucs2(p, end, out, out_end);
}

#define narrow_to_ucs4 step_to_ucs4
#define narrow_measure vector_measure

#else
static ptrdiff_t narrow_measure(const unsigned char *p, ptrdiff_t nbytes, unsigned char *greatest) {
    ptrdiff_t nchars = 0;
    *greatest = 0;
    for (; nbytes >= 192; nbytes -= 192, p += 192) nchars += measure_part(p, 192, greatest);
    return nchars + measure_part(p, nbytes, greatest);
}

#define step_to_ucs1 plain_to_ucs1
#define narrow_to_ucs1 plain_to_ucs1
#define narrow_to_ucs2 plain_to_ucs2
#define narrow_to_ucs4 plain_to_ucs4
#define vector_from_ucs1 plain_from_ucs1
#define vector_from_ucs2 plain_from_ucs2
#define vector_from_ucs4 plain_from_ucs4

static ptrdiff_t ascii_prefix(const unsigned char *p, ptrdiff_t nbytes) {
    ptrdiff_t n = 0;
    while (n < nbytes && p[n] < 0x80) n++;
    return n;
}

static inline int is_mixed(ptrdiff_t nbytes, ptrdiff_t nchars) {
    (void)nbytes, (void)nchars;
    return 0;
}
#endif

#endif
