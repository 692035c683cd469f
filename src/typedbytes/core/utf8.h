/* Layer 0. UTF-8 to and from the interpreter's three widths of characters, and nothing else.
 *
 * Goal: text that is not ASCII at a small multiple of the speed of memory. Plan: measure first (characters, greatest byte), so
 * that the string is made once in its final width; then transcode and check in one pass. Three kinds of loops:
 *
 * plain   a character at a time, the definition of what is right; fast where the next character's width can be predicted
 * vector  in the compiler's own vectors, on every processor: the code point is computed at every byte as if a character
 *         started there, and stored there; the output advances where one does. No branch depends on the text
 * wide    AVX-512 with VBMI2, asked at run time: the same with 32 bytes or 16 characters at once, compressed together
 *
 * Rejected: simdutf, a C++ library without a package that every platform's build could depend on; shuffle tables, 16 KiB that
 * the cache needs for data.
 *
 * A kernel reports only that text is not UTF-8; the interpreter's own decoder then says where and why. */
#ifndef TYPEDBYTES_UTF8_H
#define TYPEDBYTES_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TYPEDBYTES_PORTABLE)
#include <immintrin.h>
#define TB_WIDE_VECTORS 1
#define TB_WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))
static inline int has_wide_vectors(void) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi")
        && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
}
#else
#define TB_WIDE_VECTORS 0
#endif

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)
#define TB_VECTORS 1
#else
#define TB_VECTORS 0
#endif

enum { UTF8_SLACK = 64 };    /* vector stores may go this far beyond the text */

static ptrdiff_t utf8_measure(const unsigned char *p, ptrdiff_t nbytes, unsigned char *greatest) {
    ptrdiff_t nchars = 0;
    unsigned char most = 0;
    while (nbytes > 0) {
        /* Counted in bytes for 255 vectors at most, so that compilers keep the sums narrow. */
        ptrdiff_t part = nbytes < 192 ? nbytes : 192;
        unsigned char starts = 0;
        for (ptrdiff_t i = 0; i < part; i++) {
            starts += (signed char)p[i] > (signed char)0xbf;    /* not a continuation byte */
            most = p[i] > most ? p[i] : most;
        }
        nchars += starts;
        p += part;
        nbytes -= part;
    }
    *greatest = most;
    return nchars;
}

#define TB_CONTINUES(b) (((b) & 0xc0) == 0x80)

/* The plain decoder from *pp on; both pointers move. 1: all is decoded. */
#define TB_UTF8_DECODER(NAME, UNIT)                                                                                           \
    static int NAME(const unsigned char *p, const unsigned char *end, UNIT *out, const UNIT *out_end) {                       \
        while (p < end) {                                                                                                      \
            uint32_t c = *p;                                                                                                   \
            if (c < 0x80) {                                                                                                    \
                p += 1;                                                                                                        \
            } else if (c < 0xe0) {                                                                                             \
                if (c < 0xc2 || end - p < 2 || !TB_CONTINUES(p[1])) return 0;                                                  \
                c = (c & 0x1f) << 6 | (p[1] & 0x3f);                                                                           \
                p += 2;                                                                                                        \
            } else if (c < 0xf0) {                                                                                             \
                if (end - p < 3 || !TB_CONTINUES(p[1]) || !TB_CONTINUES(p[2])) return 0;                                       \
                c = (c & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);                                           \
                if (c < 0x800 || (c & 0xf800) == 0xd800) return 0;                                                             \
                p += 3;                                                                                                        \
            } else {                                                                                                           \
                if (end - p < 4 || !TB_CONTINUES(p[1]) || !TB_CONTINUES(p[2]) || !TB_CONTINUES(p[3])) return 0;                \
                c = (c & 0x0f) << 18 | (uint32_t)(p[1] & 0x3f) << 12 | (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);           \
                if (c < 0x10000 || c > 0x10ffff || *p > 0xf4) return 0;                                                       \
                p += 4;                                                                                                        \
            }                                                                                                                  \
            if (out == out_end || c > (UNIT)-1) return 0;                                                                     \
            *out++ = (UNIT)c;                                                                                                  \
        }                                                                                                                      \
        return out == out_end;                                                                                                 \
    }

TB_UTF8_DECODER(plain_to_ucs1, uint8_t)
TB_UTF8_DECODER(plain_to_ucs2, uint16_t)
TB_UTF8_DECODER(plain_to_ucs4, uint32_t)

/* The plain encoder; bytes written, or -1 at a lone surrogate. */
#define TB_UTF8_ENCODER(NAME, UNIT)                                                                                           \
    static ptrdiff_t NAME(unsigned char *out, const UNIT *in, const UNIT *end) {                                              \
        unsigned char *start = out;                                                                                            \
        while (in < end) {                                                                                                     \
            uint32_t c = *in++;                                                                                                \
            if (c < 0x80) {                                                                                                    \
                *out++ = (unsigned char)c;                                                                                     \
            } else if (c < 0x800) {                                                                                            \
                *out++ = (unsigned char)(0xc0 | c >> 6);                                                                       \
                *out++ = (unsigned char)(0x80 | (c & 0x3f));                                                                   \
            } else if (c < 0x10000) {                                                                                          \
                if ((c & 0xf800) == 0xd800) return -1;                                                                         \
                *out++ = (unsigned char)(0xe0 | c >> 12);                                                                      \
                *out++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));                                                              \
                *out++ = (unsigned char)(0x80 | (c & 0x3f));                                                                   \
            } else {                                                                                                           \
                *out++ = (unsigned char)(0xf0 | c >> 18);                                                                      \
                *out++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));                                                             \
                *out++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));                                                              \
                *out++ = (unsigned char)(0x80 | (c & 0x3f));                                                                   \
            }                                                                                                                  \
        }                                                                                                                      \
        return out - start;                                                                                                    \
    }

TB_UTF8_ENCODER(plain_from_ucs1, uint8_t)
TB_UTF8_ENCODER(plain_from_ucs2, uint16_t)
TB_UTF8_ENCODER(plain_from_ucs4, uint32_t)

/* Bytes that the characters take; -1 where one is a surrogate. */
#define TB_UTF8_LENGTH(NAME, UNIT)                                                                                            \
    static ptrdiff_t NAME(const UNIT *text, ptrdiff_t nchars) {                                                               \
        ptrdiff_t nbytes = nchars;                                                                                            \
        int surrogates = 0;                                                                                                    \
        while (nchars > 0) {                                                                                                   \
            /* Counted in units for a while, so that compilers keep the sums narrow. */                                      \
            ptrdiff_t part = nchars < 64 ? nchars : 64;                                                                       \
            UNIT more = 0, found = 0;                                                                                         \
            for (ptrdiff_t i = 0; i < part; i++) {                                                                            \
                more = (UNIT)(more + (text[i] >= 0x80) + (sizeof(UNIT) > 1 && text[i] >= 0x800)                               \
                              + (sizeof(UNIT) > 2 && text[i] > 0xffff));                                                      \
                found |= (UNIT)(sizeof(UNIT) > 1 && (text[i] & 0xf800) == 0xd800);                                            \
            }                                                                                                                  \
            nbytes += more;                                                                                                    \
            surrogates |= found;                                                                                               \
            text += part;                                                                                                      \
            nchars -= part;                                                                                                    \
        }                                                                                                                      \
        return surrogates ? -1 : nbytes;                                                                                      \
    }

TB_UTF8_LENGTH(length_of_ucs1, uint8_t)
TB_UTF8_LENGTH(length_of_ucs2, uint16_t)
TB_UTF8_LENGTH(length_of_ucs4, uint32_t)

static ptrdiff_t utf8_length(int width, const void *text, ptrdiff_t nchars) {
    if (width == 1) return length_of_ucs1((const uint8_t *)text, nchars);
    if (width == 2) return length_of_ucs2((const uint16_t *)text, nchars);
    return length_of_ucs4((const uint32_t *)text, nchars);
}

#if TB_VECTORS

typedef uint8_t utf8_u8x4 __attribute__((vector_size(4)));
typedef uint8_t utf8_u8x8 __attribute__((vector_size(8)));
typedef uint8_t utf8_u8x16 __attribute__((vector_size(16)));
typedef uint16_t utf8_u16x4 __attribute__((vector_size(8)));
typedef uint16_t utf8_u16x8 __attribute__((vector_size(16)));
typedef uint32_t utf8_u32x4 __attribute__((vector_size(16)));
typedef int32_t utf8_i32x4 __attribute__((vector_size(16)));

/* TO of N bytes or characters from p on. */
#define TB_WIDENED(FROM, TO, p) (__extension__({ FROM tb_part; memcpy(&tb_part, p, sizeof tb_part); __builtin_convertvector(tb_part, TO); }))
/* Where the mask is set THEN, else OTHERWISE. */
#define TB_SELECT(mask, then, otherwise) (((then) & (mask)) | ((otherwise) & ~(mask)))

enum { UTF8_STEP = 16 };    /* bytes or characters */

/* Each lead must be followed by its continuation bytes; that there are no others, and no character longer than it need be,
 * is detected by the length that the decoded text must have. `odd` gathers bytes that ought to be below 0x40. */
#define TB_VECTOR_DECODER(NAME, UNIT, BYTES, VECTOR, PLAIN, LENGTH)                                                           \
    static int NAME(const unsigned char *p, const unsigned char *end, UNIT *out, const UNIT *out_end) {                       \
        const ptrdiff_t nbytes = end - p, nchars = out_end - out;                                                             \
        VECTOR odd = {0};                                                                                                      \
        for (; end - p >= UTF8_STEP + 2; p += UTF8_STEP) {                                                                    \
            UNIT c[UTF8_STEP];                                                                                                \
            for (int i = 0; i < UTF8_STEP; i += (int)(sizeof(VECTOR) / sizeof(UNIT))) {                                      \
                const VECTOR b0 = TB_WIDENED(BYTES, VECTOR, p + i);                                                           \
                const VECTOR b1 = TB_WIDENED(BYTES, VECTOR, p + i + 1) ^ 0x80, leads = (VECTOR)(b0 >= 0xc0);                  \
                VECTOR here = TB_SELECT(leads, (b0 & 0x1f) << 6 | (b1 & 0x3f), b0);                                           \
                odd |= b1 & leads;                                                                                            \
                if (sizeof(UNIT) > 1) {                                                                                       \
                    const VECTOR b2 = TB_WIDENED(BYTES, VECTOR, p + i + 2) ^ 0x80, leads3 = (VECTOR)(b0 >= 0xe0);             \
                    here = TB_SELECT(leads3, (b0 & 0x0f) << (sizeof(UNIT) > 1 ? 12 : 0) | (b1 & 0x3f) << 6 | (b2 & 0x3f), here); \
                    odd |= b2 & leads3;                                                                                        \
                }                                                                                                              \
                odd |= (VECTOR)(b0 >= (sizeof(UNIT) > 1 ? 0xf0 : 0xc4)) & 0x40;                                               \
                memcpy(c + i, &here, sizeof here);                                                                            \
            }                                                                                                                  \
            for (int i = 0; i < UTF8_STEP; i++) {                                                                             \
                *out = c[i];    /* the terminating zero is at out_end, and is set again */                            \
                out += !TB_CONTINUES(p[i]);                                                                                   \
            }                                                                                                                  \
        }                                                                                                                      \
        for (int i = 0; i < (int)(sizeof(VECTOR) / sizeof(UNIT)); i++)                                                        \
            if (odd[i] >= 0x40) return 0;                                                                                     \
        while (p < end && TB_CONTINUES(*p)) p++;    /* of the last character, or else the length is not right */            \
        if (!PLAIN(p, end, out, out_end)) return 0;                                                                           \
        *(UNIT *)out_end = 0;                                                                                                 \
        return LENGTH(out_end - nchars, nchars) == nbytes;                                                                    \
    }

TB_VECTOR_DECODER(vector_to_ucs1, uint8_t, utf8_u8x16, utf8_u8x16, plain_to_ucs1, length_of_ucs1)
TB_VECTOR_DECODER(vector_to_ucs2, uint16_t, utf8_u8x8, utf8_u16x8, plain_to_ucs2, length_of_ucs2)

static inline void store_low_first(unsigned char *p, uint32_t value) {
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) value = __builtin_bswap32(value);
    memcpy(p, &value, 4);
}

/* A 32-bit lane holds the up to four bytes of a character, the first one lowest. */
#define TB_VECTOR_ENCODER(NAME, UNIT, PART, PLAIN)                                                                            \
    static ptrdiff_t NAME(unsigned char *out, const UNIT *in, const UNIT *end) {                                              \
        unsigned char *start = out;                                                                                            \
        utf8_i32x4 surrogates = {0};                                                                                          \
        for (; end - in >= UTF8_STEP; in += UTF8_STEP) {                                                                      \
            int32_t lanes[UTF8_STEP], lengths[UTF8_STEP];                                                                     \
            for (int i = 0; i < UTF8_STEP; i += 4) {                                                                          \
                const utf8_i32x4 c = TB_WIDENED(PART, utf8_i32x4, in + i), last = (c & 0x3f) | 0x80, two = c >= 0x80;         \
                utf8_i32x4 lane = TB_SELECT(two, c >> 6 | 0xc0 | last << 8, c), length = 1 - two;                             \
                if (sizeof(UNIT) > 1) {                                                                                       \
                    const utf8_i32x4 second = (c >> 6 & 0x3f) | 0x80, three = c >= 0x800;                                     \
                    lane = TB_SELECT(three, c >> 12 | 0xe0 | second << 8 | last << 16, lane);                                 \
                    length -= three;                                                                                          \
                    surrogates |= (c & ~0x7ff) == 0xd800;                                                                    \
                }                                                                                                              \
                if (sizeof(UNIT) > 2) {                                                                                       \
                    const utf8_i32x4 second = (c >> 6 & 0x3f) | 0x80, third = (c >> 12 & 0x3f) | 0x80, four = c >= 0x10000;   \
                    lane = TB_SELECT(four, c >> 18 | 0xf0 | third << 8 | second << 16 | last << 24, lane);                    \
                    length -= four;                                                                                           \
                }                                                                                                              \
                memcpy(lanes + i, &lane, sizeof lane);                                                                        \
                memcpy(lengths + i, &length, sizeof length);                                                                  \
            }                                                                                                                  \
            for (int i = 0; i < UTF8_STEP; i++) {                                                                             \
                store_low_first(out, (uint32_t)lanes[i]);                                                                     \
                out += lengths[i];                                                                                            \
            }                                                                                                                  \
        }                                                                                                                      \
        if (surrogates[0] | surrogates[1] | surrogates[2] | surrogates[3]) return -1;                                         \
        const ptrdiff_t rest = PLAIN(out, in, end);                                                                           \
        return rest < 0 ? -1 : out - start + rest;                                                                            \
    }

TB_VECTOR_ENCODER(vector_from_ucs1, uint8_t, utf8_u8x4, plain_from_ucs1)
TB_VECTOR_ENCODER(vector_from_ucs2, uint16_t, utf8_u16x4, plain_from_ucs2)
TB_VECTOR_ENCODER(vector_from_ucs4, uint32_t, utf8_u32x4, plain_from_ucs4)

#else
#define vector_to_ucs1 plain_to_ucs1
#define vector_to_ucs2 plain_to_ucs2
#define vector_from_ucs1 plain_from_ucs1
#define vector_from_ucs2 plain_from_ucs2
#define vector_from_ucs4 plain_from_ucs4
#endif

#if TB_WIDE_VECTORS

/* 32 bytes a step; what is left, up to 34 bytes, is the plain loop's. A character may begin in one step and end in the next:
 * `due` holds the positions at which the next step must begin with continuation bytes. The text has no byte from 0xf0 on. */
TB_WIDE static int wide_to_ucs2(const unsigned char *p, const unsigned char *end, uint16_t *out, const uint16_t *out_end) {
    const __m512i low6 = _mm512_set1_epi16(0x3f);
    uint64_t due = 0;
    __mmask32 wrong = 0;
    while (end - p >= 34 && out_end - out >= 32) {
        __m512i b0 = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p));
        __m512i b1 = _mm512_and_si512(_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(p + 1))), low6);
        __m512i b2 = _mm512_and_si512(_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(p + 2))), low6);
        __mmask32 high = _mm512_cmpge_epu16_mask(b0, _mm512_set1_epi16(0x80));
        __mmask32 leads = _mm512_cmpge_epu16_mask(b0, _mm512_set1_epi16(0xc0));
        __mmask32 leads3 = _mm512_cmpge_epu16_mask(b0, _mm512_set1_epi16(0xe0));
        __mmask32 leads2 = leads & ~leads3;
        __mmask32 continuations = high & ~leads;
        due |= (uint64_t)leads << 1 | (uint64_t)leads3 << 2;
        wrong |= (__mmask32)due ^ continuations;
        due >>= 32;
        __m512i two = _mm512_or_si512(_mm512_slli_epi16(_mm512_and_si512(b0, _mm512_set1_epi16(0x1f)), 6), b1);
        __m512i three = _mm512_or_si512(_mm512_or_si512(_mm512_slli_epi16(b0, 12), _mm512_slli_epi16(b1, 6)), b2);
        wrong |= _mm512_mask_cmplt_epu16_mask(leads2, b0, _mm512_set1_epi16(0xc2));
        wrong |= _mm512_mask_cmplt_epu16_mask(leads3, three, _mm512_set1_epi16(0x800));
        wrong |= _mm512_mask_cmpeq_epu16_mask(leads3, _mm512_and_si512(three, _mm512_set1_epi16((short)0xf800)),
                                              _mm512_set1_epi16((short)0xd800));
        __m512i c = _mm512_mask_mov_epi16(_mm512_mask_mov_epi16(b0, leads2, two), leads3, three);
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(~continuations, c));
        out += _mm_popcnt_u32(~continuations);
        p += 32;
    }
    if (wrong) return 0;
    /* The plain loop starts at a character: after the bytes that are still due, two at most, which every step leaves. */
    for (; due; due >>= 1, p++)
        if (!TB_CONTINUES(*p)) return 0;
    return plain_to_ucs2(p, end, out, out_end);
}

TB_WIDE static int wide_to_ucs1(const unsigned char *p, const unsigned char *end, uint8_t *out, const uint8_t *out_end) {
    uint64_t due = 0, wrong = 0;
    while (end - p >= 65 && out_end - out >= 64) {
        __m512i b0 = _mm512_loadu_si512(p);
        __m512i b1 = _mm512_loadu_si512(p + 1);
        uint64_t high = _mm512_movepi8_mask(b0);
        uint64_t leads = _mm512_cmpge_epu8_mask(b0, _mm512_set1_epi8((char)0xc0));
        uint64_t c3 = _mm512_cmpeq_epu8_mask(b0, _mm512_set1_epi8((char)0xc3));
        uint64_t continuations = high & ~leads;
        wrong |= (leads << 1 | due) ^ continuations;
        wrong |= _mm512_mask_cmplt_epu8_mask(leads, b0, _mm512_set1_epi8((char)0xc2));
        due = leads >> 63;
        __m512i c = _mm512_mask_mov_epi8(b0, leads, b1);
        c = _mm512_mask_add_epi8(c, c3, b1, _mm512_set1_epi8(0x40));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(~continuations, c));
        out += _mm_popcnt_u64(~continuations);
        p += 64;
    }
    if (wrong) return 0;
    if (due && !TB_CONTINUES(*p)) return 0;    /* every step leaves one byte at least */
    p += due;
    return plain_to_ucs1(p, end, out, out_end);
}

/* 16 characters: up to four bytes each are made in a 32-bit lane, first byte lowest, and the lanes' bytes in use compressed. */
TB_WIDE static inline unsigned char *wide_encode(unsigned char *out, __m512i c) {
    const __m512i low6 = _mm512_set1_epi32(0x3f), mark = _mm512_set1_epi32(0x80);
    __mmask16 two = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x80));
    __mmask16 three = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x800));
    __mmask16 four = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x10000));
    __m512i last = _mm512_or_si512(_mm512_and_si512(c, low6), mark);
    __m512i second = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(c, 6), low6), mark);
    __m512i third = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(c, 12), low6), mark);
    __m512i lanes = c;
    lanes = _mm512_mask_or_epi32(lanes, two, _mm512_slli_epi32(last, 8),
                                 _mm512_or_si512(_mm512_srli_epi32(c, 6), _mm512_set1_epi32(0xc0)));
    lanes = _mm512_mask_or_epi32(lanes, three, _mm512_or_si512(_mm512_slli_epi32(last, 16), _mm512_slli_epi32(second, 8)),
                                 _mm512_or_si512(_mm512_srli_epi32(c, 12), _mm512_set1_epi32(0xe0)));
    lanes = _mm512_mask_or_epi32(lanes, four,
                                 _mm512_or_si512(_mm512_slli_epi32(last, 24), _mm512_slli_epi32(second, 16)),
                                 _mm512_or_si512(_mm512_slli_epi32(third, 8),
                                                 _mm512_or_si512(_mm512_srli_epi32(c, 18), _mm512_set1_epi32(0xf0))));
    uint64_t used = 0x1111111111111111u | _pdep_u64(two, 0x2222222222222222u) | _pdep_u64(three, 0x4444444444444444u)
                    | _pdep_u64(four, 0x8888888888888888u);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(used, lanes));
    return out + _mm_popcnt_u64(used);
}

TB_WIDE static inline int wide_has_surrogate(__m512i c) {
    return _mm512_cmpeq_epu32_mask(_mm512_and_si512(c, _mm512_set1_epi32((int)0xfffff800u)), _mm512_set1_epi32(0xd800)) != 0;
}

#define TB_WIDE_ENCODER(NAME, UNIT, LOAD, PLAIN)                                       \
    TB_WIDE static ptrdiff_t NAME(unsigned char *out, const UNIT *in, const UNIT *end) { \
        unsigned char *start = out;                                                    \
        for (; end - in >= 16; in += 16) {                                             \
            __m512i c = LOAD;                                                          \
            if (sizeof(UNIT) > 1 && wide_has_surrogate(c)) return -1;                  \
            out = wide_encode(out, c);                                                 \
        }                                                                              \
        ptrdiff_t rest = PLAIN(out, in, end);                                          \
        return rest < 0 ? -1 : out - start + rest;                                     \
    }

TB_WIDE_ENCODER(wide_from_ucs1, uint8_t, _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)in)), plain_from_ucs1)
TB_WIDE_ENCODER(wide_from_ucs2, uint16_t, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)in)), plain_from_ucs2)
TB_WIDE_ENCODER(wide_from_ucs4, uint32_t, _mm512_loadu_si512(in), plain_from_ucs4)

#define TB_CHOOSE(WIDE, OTHER, ...) (has_wide_vectors() ? WIDE(__VA_ARGS__) : OTHER(__VA_ARGS__))
#else
#define TB_CHOOSE(WIDE, OTHER, ...) OTHER(__VA_ARGS__)
#endif

/* Text of characters of nearly one width goes better by the plain loop, which predicts it. */
static inline int is_mixed(ptrdiff_t nbytes, ptrdiff_t nchars) {
    return nbytes - nchars > nchars / 8 && nbytes < nchars * 2 + nchars / 2;
}

static int narrow_to_ucs1(const unsigned char *p, const unsigned char *end, uint8_t *out, const uint8_t *out_end) {
    return is_mixed(end - p, out_end - out) ? vector_to_ucs1(p, end, out, out_end) : plain_to_ucs1(p, end, out, out_end);
}

static int narrow_to_ucs2(const unsigned char *p, const unsigned char *end, uint16_t *out, const uint16_t *out_end) {
    return is_mixed(end - p, out_end - out) ? vector_to_ucs2(p, end, out, out_end) : plain_to_ucs2(p, end, out, out_end);
}

static int utf8_to_ucs1(const unsigned char *p, ptrdiff_t nbytes, void *out, ptrdiff_t nchars) {
    return TB_CHOOSE(wide_to_ucs1, narrow_to_ucs1, p, p + nbytes, (uint8_t *)out, (uint8_t *)out + nchars);
}

static int utf8_to_ucs2(const unsigned char *p, ptrdiff_t nbytes, void *out, ptrdiff_t nchars) {
    return TB_CHOOSE(wide_to_ucs2, narrow_to_ucs2, p, p + nbytes, (uint16_t *)out, (uint16_t *)out + nchars);
}

static int utf8_to_ucs4(const unsigned char *p, ptrdiff_t nbytes, void *out, ptrdiff_t nchars) {
    return plain_to_ucs4(p, p + nbytes, (uint32_t *)out, (uint32_t *)out + nchars);
}

static ptrdiff_t utf8_from_ucs1(unsigned char *out, const void *text, ptrdiff_t nchars) {
    return TB_CHOOSE(wide_from_ucs1, vector_from_ucs1, out, (const uint8_t *)text, (const uint8_t *)text + nchars);
}

static ptrdiff_t utf8_from_ucs2(unsigned char *out, const void *text, ptrdiff_t nchars) {
    return TB_CHOOSE(wide_from_ucs2, vector_from_ucs2, out, (const uint16_t *)text, (const uint16_t *)text + nchars);
}

static ptrdiff_t utf8_from_ucs4(unsigned char *out, const void *text, ptrdiff_t nchars) {
    return TB_CHOOSE(wide_from_ucs4, vector_from_ucs4, out, (const uint32_t *)text, (const uint32_t *)text + nchars);
}

#endif
