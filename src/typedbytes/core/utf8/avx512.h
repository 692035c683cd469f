/* Loops over vectors of 512 bits, compressed by VBMI2. See utf8.h. */
#ifndef TYPEDBYTES_UTF8_AVX512_H
#define TYPEDBYTES_UTF8_AVX512_H

#include "core/utf8/plain.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TYPEDBYTES_PORTABLE)
#include <immintrin.h>

#define TB_WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

static inline int has_wide_vectors(void) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
           && __builtin_cpu_supports("avx512vbmi")
        && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
}

TB_WIDE static ptrdiff_t wide_measure(const unsigned char *p, ptrdiff_t nbytes, unsigned char *greatest) {
    /* of the continuation bytes, which are the least as signed numbers */
    const __m512i last = _mm512_set1_epi8((char)0xbf);
    __m512i most = _mm512_setzero_si512();
    ptrdiff_t nchars = 0;
    unsigned char found[64];
    for (; nbytes >= 64; nbytes -= 64, p += 64) {
        const __m512i b = _mm512_loadu_si512(p);
        most = _mm512_max_epu8(most, b);
        nchars += _mm_popcnt_u64(_mm512_cmpgt_epi8_mask(b, last));
    }
    if (nbytes > 0) {
        const __mmask64 rest = ~(uint64_t)0 >> (64 - nbytes);
        const __m512i b = _mm512_maskz_loadu_epi8(rest, p);
        most = _mm512_max_epu8(most, b);
        nchars += _mm_popcnt_u64(_mm512_mask_cmpgt_epi8_mask(rest, b, last));
    }
    _mm512_storeu_si512(found, most);
    *greatest = 0;
    measure_part(found, 64, greatest);
    return nchars;
}

/* 32 bytes a step; what is left, up to 34 bytes, is the plain loop's. A character may begin in one step and end
 * in the next: `due` holds the positions at which the next step must begin with continuation bytes. The text has
 * no byte from 0xf0 on. */
TB_WIDE static uint16_t *wide_to_ucs2(const unsigned char *p, const unsigned char *end, uint16_t *out,
                                      const uint16_t *out_end) {
    const __m512i low6 = _mm512_set1_epi16(0x3f);
    uint64_t due = 0;
    __mmask32 wrong = 0;
    while (end - p >= 34 && out_end - out >= 32) {
        const __m256i b = _mm256_loadu_si256((const __m256i *)p);
        __m512i b0 = _mm512_cvtepu8_epi16(b);
        if (!(_mm256_movepi8_mask(b) | due)) {
            _mm512_storeu_si512(out, b0);
            out += 32;
            p += 32;
            continue;
        }
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
    if (wrong) return NULL;
    /* The plain loop starts at a character: after the bytes that are still due, two at most,
     * which every step leaves. */
    for (; due; due >>= 1, p++)
        if (!TB_CONTINUES(*p)) return NULL;
    return plain_to_ucs2(p, end, out, out_end);
}

TB_WIDE static uint8_t *wide_to_ucs1(const unsigned char *p, const unsigned char *end, uint8_t *out,
                                     const uint8_t *out_end) {
    uint64_t due = 0, wrong = 0;
    while (end - p >= 65 && out_end - out >= 64) {
        __m512i b0 = _mm512_loadu_si512(p);
        uint64_t high = _mm512_movepi8_mask(b0);
        if (!(high | due)) {
            _mm512_storeu_si512(out, b0);
            out += 64;
            p += 64;
            continue;
        }
        __m512i b1 = _mm512_loadu_si512(p + 1);
        uint64_t leads = _mm512_cmpge_epu8_mask(b0, _mm512_set1_epi8((char)0xc0));
        uint64_t c3 = _mm512_cmpeq_epu8_mask(b0, _mm512_set1_epi8((char)0xc3));
        uint64_t continuations = high & ~leads;
        wrong |= (leads << 1 | due) ^ continuations;
        wrong |= _mm512_mask_cmpneq_epu8_mask(leads, _mm512_and_si512(b0, _mm512_set1_epi8((char)0xfe)),
                                              _mm512_set1_epi8((char)0xc2));
        if (wrong) return NULL;
        due = leads >> 63;
        __m512i c = _mm512_mask_mov_epi8(b0, leads, b1);
        c = _mm512_mask_add_epi8(c, c3, b1, _mm512_set1_epi8(0x40));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(~continuations, c));
        out += _mm_popcnt_u64(~continuations);
        p += 64;
    }
    if (due && !TB_CONTINUES(*p)) return NULL;    /* every step leaves one byte at least */
    p += due;
    return plain_to_ucs1(p, end, out, out_end);
}

/* 16 characters of four bytes each, at a character's start: *c and 1, or 0 where the bytes are anything else. */
TB_WIDE static inline int wide_run_of_4(const unsigned char *p, __m512i *c) {
    const __m512i b = _mm512_loadu_si512(p), low6 = _mm512_set1_epi32(0x3f);
    const __m512i wrong = _mm512_and_si512(_mm512_xor_si512(b, _mm512_set1_epi32((int)0x808080f0)),
                                           _mm512_set1_epi32((int)0xc0c0c0f8));
    *c = _mm512_or_si512(_mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(b, _mm512_set1_epi32(7)), 18),
                                         _mm512_slli_epi32(_mm512_and_si512(_mm512_srli_epi32(b, 8), low6), 12)),
                         _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(_mm512_srli_epi32(b, 16), low6), 6),
                                         _mm512_and_si512(_mm512_srli_epi32(b, 24), low6)));
    return !(_mm512_test_epi32_mask(wrong, wrong) | _mm512_cmplt_epu32_mask(*c, _mm512_set1_epi32(0x10000))
             | _mm512_cmpgt_epu32_mask(*c, _mm512_set1_epi32(0x10ffff)));
}

TB_WIDE static uint32_t *wide_to_ucs4(const unsigned char *p, const unsigned char *end, uint32_t *out,
                                      const uint32_t *out_end) {
    const __m512i low6 = _mm512_set1_epi32(0x3f), low4 = _mm512_set1_epi32(0x0f);
    uint32_t due = 0, wrong = 0;
    while (end - p >= 19 && out_end - out >= 16) {
        const __m128i b = _mm_loadu_si128((const __m128i *)p);
        const __m512i b0 = _mm512_cvtepu8_epi32(b);
        const uint32_t high = _mm_movepi8_mask(b);
        if (!(high | due)) {
            _mm512_storeu_si512(out, b0);
            out += 16;
            p += 16;
            continue;
        }
        if (high == 0xffff && end - p >= 67 && all_continue(p, due)) {
            const unsigned char *start = p + _mm_popcnt_u32(due);
            __m512i chars;
            if (wide_run_of_4(start, &chars)) {
                _mm512_storeu_si512(out, chars);
                out += 16;
                p = start + 64;
                due = 0;
                continue;
            }
        }
        const __m512i b1 = _mm512_and_si512(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p + 1))), low6);
        const __m512i b2 = _mm512_and_si512(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p + 2))), low6);
        const __m512i b3 = _mm512_and_si512(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p + 3))), low6);
        const __mmask16 leads = _mm512_cmpge_epu32_mask(b0, _mm512_set1_epi32(0xc0));
        const __mmask16 leads3 = _mm512_cmpge_epu32_mask(b0, _mm512_set1_epi32(0xe0));
        const __mmask16 leads4 = _mm512_cmpge_epu32_mask(b0, _mm512_set1_epi32(0xf0));
        const uint32_t continuations = high & ~(uint32_t)leads;
        due |= (uint32_t)leads << 1 | (uint32_t)leads3 << 2 | (uint32_t)leads4 << 3;
        wrong |= (due & 0xffff) ^ continuations;
        due >>= 16;
        const __m512i two = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(b0, _mm512_set1_epi32(0x1f)), 6), b1);
        const __m512i three = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(b0, low4), 12),
                                              _mm512_or_si512(_mm512_slli_epi32(b1, 6), b2));
        const __m512i four = _mm512_or_si512(
            _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(b0, low4), 18), _mm512_slli_epi32(b1, 12)),
            _mm512_or_si512(_mm512_slli_epi32(b2, 6), b3));
        wrong |= _mm512_mask_cmplt_epu32_mask(leads & ~leads3, two, _mm512_set1_epi32(0x80));
        wrong |= _mm512_mask_cmplt_epu32_mask(leads3 & ~leads4, three, _mm512_set1_epi32(0x800));
        wrong |= _mm512_mask_cmplt_epu32_mask(leads4, four, _mm512_set1_epi32(0x10000));
        wrong |= _mm512_mask_cmpgt_epu32_mask(leads4, four, _mm512_set1_epi32(0x10ffff));
        wrong |= _mm512_mask_cmpeq_epu32_mask(leads3 & ~leads4, _mm512_and_si512(three, _mm512_set1_epi32(0xf800)),
                                              _mm512_set1_epi32(0xd800));
        __m512i c = _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(b0, leads, two), leads3, three);
        c = _mm512_mask_mov_epi32(c, leads4, four);
        const __mmask16 starts = (__mmask16)~continuations;
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(starts, c));
        out += _mm_popcnt_u32(starts);
        p += 16;
    }
    if (wrong) return NULL;
    for (; due; due >>= 1, p++)    /* three bytes at most, which every step leaves */
        if (!TB_CONTINUES(*p)) return NULL;
    return plain_to_ucs4(p, end, out, out_end);
}

/* 16 characters: up to four bytes each are made in a 32-bit lane, first byte lowest,
 * and the lanes' bytes in use compressed. */
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
    lanes = _mm512_mask_or_epi32(lanes, three,
                                 _mm512_or_si512(_mm512_slli_epi32(last, 16), _mm512_slli_epi32(second, 8)),
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
    return _mm512_cmpeq_epu32_mask(_mm512_and_si512(c, _mm512_set1_epi32((int)0xfffff800u)),
                                   _mm512_set1_epi32(0xd800)) != 0;
}

/* Store the ASCII characters at the start, by whole vectors; return how many. */
TB_WIDE static inline ptrdiff_t wide_ascii_from_ucs1(unsigned char *out, const uint8_t *in, const uint8_t *end) {
    ptrdiff_t n = 0;
    for (; end - in - n >= 64; n += 64) {
        const __m512i c = _mm512_loadu_si512(in + n);
        if (_mm512_movepi8_mask(c)) break;
        _mm512_storeu_si512(out + n, c);
    }
    return n;
}

TB_WIDE static inline ptrdiff_t wide_ascii_from_ucs2(unsigned char *out, const uint16_t *in, const uint16_t *end) {
    ptrdiff_t n = 0;
    for (; end - in - n >= 32; n += 32) {
        const __m512i c = _mm512_loadu_si512(in + n);
        if (_mm512_test_epi16_mask(c, _mm512_set1_epi16((short)0xff80))) break;
        _mm256_storeu_si256((__m256i *)(out + n), _mm512_cvtepi16_epi8(c));
    }
    return n;
}

TB_WIDE static inline ptrdiff_t wide_ascii_from_ucs4(unsigned char *out, const uint32_t *in, const uint32_t *end) {
    ptrdiff_t n = 0;
    for (; end - in - n >= 16; n += 16) {
        const __m512i c = _mm512_loadu_si512(in + n);
        if (_mm512_test_epi32_mask(c, _mm512_set1_epi32(~0x7f))) break;
        _mm_storeu_si128((__m128i *)(out + n), _mm512_cvtepi32_epi8(c));
    }
    return n;
}

#define TB_WIDE_ENCODER(NAME, UNIT, ASCII, LOAD, LOAD_REST)                                          \
    TB_WIDE static ptrdiff_t NAME(unsigned char *out, const UNIT *in, const UNIT *end) {             \
        const unsigned char *start = out;                                                            \
        while (end - in >= 16) {                                                                     \
            const ptrdiff_t nascii = ASCII(out, in, end);                                            \
            out += nascii;                                                                           \
            in += nascii;                                                                            \
            const UNIT *part_end = end - in < 64 / (int)sizeof(UNIT) ? end : in + 64 / sizeof(UNIT); \
            for (; part_end - in >= 16; in += 16) {                                                  \
                const __m512i c = LOAD;                                                              \
                if (sizeof(UNIT) > 1 && wide_has_surrogate(c)) return -1;                            \
                out = wide_encode(out, c);                                                           \
            }                                                                                        \
        }                                                                                            \
        if (in < end) {    /* the other lanes are zeros, of a byte each */                           \
            const __mmask16 rest = (__mmask16)(0xffff >> (16 - (end - in)));                         \
            const __m512i c = LOAD_REST;                                                             \
            if (sizeof(UNIT) > 1 && wide_has_surrogate(c)) return -1;                                \
            out = wide_encode(out, c) - (16 - (end - in));                                           \
        }                                                                                            \
        return out - start;                                                                          \
    }

TB_WIDE_ENCODER(wide_from_ucs1, uint8_t, wide_ascii_from_ucs1,
                _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)in)),
                _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(rest, in)))
TB_WIDE_ENCODER(wide_from_ucs2, uint16_t, wide_ascii_from_ucs2,
                _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)in)),
                _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(rest, in)))
TB_WIDE_ENCODER(wide_from_ucs4, uint32_t, wide_ascii_from_ucs4, _mm512_loadu_si512(in),
                _mm512_maskz_loadu_epi32(rest, in))

#endif

#endif
