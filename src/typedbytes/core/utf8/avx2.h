/* Loops over vectors of 256 bits, with the bit gathering of BMI2 to compress them. See utf8.h.
 *
 * In the decoders `due` holds the positions at which the next step must begin with continuation bytes, and `wrong`
 * whatever was found wrong; what is left after the last step is decoded by the plain loop. */
#ifndef TYPEDBYTES_UTF8_AVX2_H
#define TYPEDBYTES_UTF8_AVX2_H

#include "core/utf8/plain.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TYPEDBYTES_PORTABLE)
#include <immintrin.h>

#define TB_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* The processors of which some had BMI2 and took hundreds of cycles to gather bits are left to
 * the compiler's vectors. */
static inline int has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("popcnt") && !__builtin_cpu_is("amdfam15h") && !__builtin_cpu_is("amdfam17h");
}

TB_AVX2 static ptrdiff_t avx2_measure(const unsigned char *p, ptrdiff_t nbytes, unsigned char *greatest) {
    const __m256i zero = _mm256_setzero_si256(), last = _mm256_set1_epi8((char)0xbf);
    __m256i most = zero, sums = zero;
    unsigned char found[32];
    for (ptrdiff_t nblocks = nbytes / 32; nblocks > 0;) {
        ptrdiff_t n = nblocks < 255 ? nblocks : 255;    /* a lane counts no further */
        __m256i starts = zero;
        nblocks -= n;
        for (; n > 0; n--, p += 32) {
            const __m256i b = _mm256_loadu_si256((const __m256i *)p);
            most = _mm256_max_epu8(most, b);
            starts = _mm256_sub_epi8(starts, _mm256_cmpgt_epi8(b, last));
        }
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(starts, zero));
    }
    const __m128i halves = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    const ptrdiff_t nchars = (ptrdiff_t)(_mm_cvtsi128_si64(halves) + _mm_extract_epi64(halves, 1));
    _mm256_storeu_si256((__m256i *)found, most);
    *greatest = 0;
    measure_part(found, 32, greatest);
    return nchars + measure_part(p, nbytes % 32, greatest);
}

/* The bytes of `from` that are marked in `used`, side by side from `out` on; up to 8 bytes a quarter are written. */
#define TB_GATHER(out, from, used, UNIT)                                                                               \
    do {                                                                                                               \
        const uint64_t tb_used[4] = {(uint64_t)_mm256_extract_epi64(used, 0), (uint64_t)_mm256_extract_epi64(used, 1), \
                                     (uint64_t)_mm256_extract_epi64(used, 2), (uint64_t)_mm256_extract_epi64(used,     \
                                                                                                             3)};      \
        const uint64_t tb_from[4] = {(uint64_t)_mm256_extract_epi64(from, 0), (uint64_t)_mm256_extract_epi64(from, 1), \
                                     (uint64_t)_mm256_extract_epi64(from, 2), (uint64_t)_mm256_extract_epi64(from,     \
                                                                                                             3)};      \
        for (int tb_i = 0; tb_i < 4; tb_i++) {                                                                         \
            const uint64_t tb_part = _pext_u64(tb_from[tb_i], tb_used[tb_i]);                                          \
            memcpy(out, &tb_part, 8);                                                                                  \
            out += (unsigned)_mm_popcnt_u64(tb_used[tb_i]) / (8 * sizeof(UNIT));                                       \
        }                                                                                                              \
    } while (0)

/* Runs of characters of one length, at a character's start: *c and 1, or 0 where the bytes are anything else. */
TB_AVX2 static inline int avx2_run_of_2(const unsigned char *p, __m256i *c) {    /* 16 characters in 16-bit lanes */
    const __m256i b = _mm256_loadu_si256((const __m256i *)p);
    const __m256i wrong = _mm256_and_si256(_mm256_xor_si256(b, _mm256_set1_epi16((short)0x80c0)),
                                           _mm256_set1_epi16((short)0xc0e0));
    const __m256i overlong = _mm256_cmpeq_epi16(_mm256_and_si256(b, _mm256_set1_epi16(0x1e)), _mm256_setzero_si256());
    const __m256i refused = _mm256_or_si256(wrong, overlong);
    if (!_mm256_testz_si256(refused, refused)) return 0;
    *c = _mm256_or_si256(_mm256_slli_epi16(_mm256_and_si256(b, _mm256_set1_epi16(0x1f)), 6),
                         _mm256_and_si256(_mm256_srli_epi16(b, 8), _mm256_set1_epi16(0x3f)));
    return 1;
}

/* 8 characters in 16-bit lanes; reads 28 bytes */
TB_AVX2 static inline int avx2_run_of_3(const unsigned char *p, __m128i *c) {
    const __m256i order = _mm256_setr_epi8(2, 1, 0, -1, 5, 4, 3, -1, 8, 7, 6, -1, 11, 10, 9, -1,
                                           2, 1, 0, -1, 5, 4, 3, -1, 8, 7, 6, -1, 11, 10, 9, -1);
    const __m128i low = _mm_loadu_si128((const __m128i *)p), high = _mm_loadu_si128((const __m128i *)(p + 12));
    const __m256i b = _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), order);
    const __m256i wrong = _mm256_and_si256(_mm256_xor_si256(b, _mm256_set1_epi32(0xe08080)),
                                           _mm256_set1_epi32(0xf0c0c0));
    const __m256i four = _mm256_or_si256(_mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(b, 4),
                                                                          _mm256_set1_epi32(0xf000)),
                                                         _mm256_and_si256(_mm256_srli_epi32(b, 2),
                                                                          _mm256_set1_epi32(0xfc0))),
                                         _mm256_and_si256(b, _mm256_set1_epi32(0x3f)));
    const __m256i top = _mm256_and_si256(four, _mm256_set1_epi32(0xf800));
    const __m256i unfit = _mm256_or_si256(_mm256_cmpeq_epi32(top, _mm256_setzero_si256()),
                                          _mm256_cmpeq_epi32(top, _mm256_set1_epi32(0xd800)));
    const __m256i refused = _mm256_or_si256(wrong, unfit);
    if (!_mm256_testz_si256(refused, refused)) return 0;
    *c = _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi32(four, four), 0x08));
    return 1;
}

TB_AVX2 static inline int avx2_run_of_4(const unsigned char *p, __m256i *c) {    /* 8 characters in 32-bit lanes */
    const __m256i b = _mm256_loadu_si256((const __m256i *)p), low6 = _mm256_set1_epi32(0x3f);
    const __m256i wrong = _mm256_and_si256(_mm256_xor_si256(b, _mm256_set1_epi32((int)0x808080f0)),
                                           _mm256_set1_epi32((int)0xc0c0c0f8));
    *c = _mm256_or_si256(_mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(b, _mm256_set1_epi32(7)), 18),
                                         _mm256_slli_epi32(_mm256_and_si256(_mm256_srli_epi32(b, 8), low6), 12)),
                         _mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(_mm256_srli_epi32(b, 16), low6), 6),
                                         _mm256_and_si256(_mm256_srli_epi32(b, 24), low6)));
    const __m256i unfit = _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(0x10000), *c),
                                          _mm256_cmpgt_epi32(*c, _mm256_set1_epi32(0x10ffff)));
    const __m256i refused = _mm256_or_si256(wrong, unfit);
    return _mm256_testz_si256(refused, refused);
}

/* Copy the ASCII characters at the start, by 128; return how many. */
TB_AVX2 static inline ptrdiff_t avx2_copy_ascii(uint8_t *out, const unsigned char *p, ptrdiff_t nbytes) {
    ptrdiff_t n = 0;
    for (; nbytes - n >= 128; n += 128) {
        const __m256i *in = (const __m256i *)(p + n);
        const __m256i b[4] = {_mm256_loadu_si256(in), _mm256_loadu_si256(in + 1), _mm256_loadu_si256(in + 2),
                              _mm256_loadu_si256(in + 3)};
        if (_mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(b[0], b[1]), _mm256_or_si256(b[2], b[3])))) break;
        for (int i = 0; i < 4; i++) _mm256_storeu_si256((__m256i *)(out + n) + i, b[i]);
    }
    return n;
}

TB_AVX2 static uint8_t *avx2_to_ucs1(const unsigned char *p, const unsigned char *end, uint8_t *out,
                                     const uint8_t *out_end) {
    const __m256i lead = _mm256_set1_epi8((char)0xc0);
    uint64_t due = 0;
    uint32_t wrong = 0;
    while (end - p >= 33 && out_end - out >= 32) {
        const __m256i b0 = _mm256_loadu_si256((const __m256i *)p);
        const uint32_t high = (uint32_t)_mm256_movemask_epi8(b0);
        if (!(high | due)) {
            _mm256_storeu_si256((__m256i *)out, b0);
            out += 32;
            p += 32;
            const ptrdiff_t nascii = avx2_copy_ascii(out, p, end - p < out_end - out ? end - p : out_end - out);
            out += nascii;
            p += nascii;
            continue;
        }
        const __m256i b1 = _mm256_loadu_si256((const __m256i *)(p + 1));
        const __m256i leads = _mm256_cmpeq_epi8(_mm256_max_epu8(b0, lead), b0);
        const __m256i starts = _mm256_cmpgt_epi8(b0, _mm256_set1_epi8((char)0xbf));
        due |= (uint64_t)(uint32_t)_mm256_movemask_epi8(leads) << 1;
        wrong |= (uint32_t)due ^ ~(uint32_t)_mm256_movemask_epi8(starts);
        due >>= 32;
        const __m256i c2_or_c3 = _mm256_cmpeq_epi8(_mm256_and_si256(b0, _mm256_set1_epi8((char)0xfe)),
                                                   _mm256_set1_epi8((char)0xc2));
        if (!_mm256_testc_si256(c2_or_c3, leads)) return NULL;
        const __m256i two = _mm256_or_si256(b1, _mm256_slli_epi16(_mm256_and_si256(b0, _mm256_set1_epi8(1)), 6));
        const __m256i c = _mm256_blendv_epi8(b0, two, leads);
        TB_GATHER(out, c, starts, uint8_t);
        p += 32;
    }
    if (wrong) return NULL;
    if (due && !TB_CONTINUES(*p)) return NULL;    /* every step leaves one byte at least */
    return plain_to_ucs1(p + due, end, out, out_end);
}

/* The text has no byte from 0xf0 on. */
TB_AVX2 static uint16_t *avx2_to_ucs2(const unsigned char *p, const unsigned char *end, uint16_t *out,
                                      const uint16_t *out_end) {
    const __m256i low6 = _mm256_set1_epi16(0x3f);
    const __m128i lead = _mm_set1_epi8((char)0xc0), lead3 = _mm_set1_epi8((char)0xe0);
    __m256i wrong3 = _mm256_setzero_si256();
    __m128i wrong2 = _mm_setzero_si128();
    uint32_t due = 0, wrong = 0;
    while (end - p >= 34 && out_end - out >= 16) {
        const __m128i b = _mm_loadu_si128((const __m128i *)p), next = _mm_loadu_si128((const __m128i *)(p + 16));
        const __m256i b0 = _mm256_cvtepu8_epi16(b);
        const uint32_t high = (uint32_t)_mm_movemask_epi8(b);
        if (!(high | due) && !_mm_movemask_epi8(next) && out_end - out >= 32) {
            _mm256_storeu_si256((__m256i *)out, b0);
            _mm256_storeu_si256((__m256i *)(out + 16), _mm256_cvtepu8_epi16(next));
            out += 32;
            p += 32;
            continue;
        }
        if (__builtin_expect(high == 0xffff, 0) && _mm_movemask_epi8(next) == 0xffff && end - p >= 36
            && all_continue(p, due)) {
            const unsigned char *start = p + _mm_popcnt_u32(due);
            __m256i chars;
            __m128i half;
            if (avx2_run_of_2(start, &chars)) {
                _mm256_storeu_si256((__m256i *)out, chars);
                out += 16;
                p = start + 32;
                due = 0;
                continue;
            }
            if (avx2_run_of_3(start, &half)) {
                _mm_storeu_si128((__m128i *)out, half);
                out += 8;
                p = start + 24;
                due = 0;
                continue;
            }
        }
        const __m256i b1 = _mm256_and_si256(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(p + 1))), low6);
        const __m256i b2 = _mm256_and_si256(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(p + 2))), low6);
        const uint32_t leads = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(b, lead), b));
        const uint32_t leads3 = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(b, lead3), b));
        due |= leads << 1 | leads3 << 2;
        wrong |= (due & 0xffff) ^ (high & ~leads);
        due >>= 16;
        wrong2 = _mm_or_si128(wrong2, _mm_cmpeq_epi8(_mm_and_si128(b, _mm_set1_epi8((char)0xfe)), lead));
        const __m256i is2 = _mm256_cmpgt_epi16(b0, _mm256_set1_epi16(0xbf)),
                      is3 = _mm256_cmpgt_epi16(b0, _mm256_set1_epi16(0xdf));
        const __m256i two = _mm256_or_si256(_mm256_slli_epi16(_mm256_and_si256(b0, _mm256_set1_epi16(0x1f)), 6), b1);
        const __m256i three = _mm256_or_si256(_mm256_or_si256(_mm256_slli_epi16(b0, 12), _mm256_slli_epi16(b1, 6)), b2);
        const __m256i top = _mm256_and_si256(three, _mm256_set1_epi16((short)0xf800));
        const __m256i refused = _mm256_or_si256(_mm256_cmpeq_epi16(top, _mm256_setzero_si256()),
                                                _mm256_cmpeq_epi16(top, _mm256_set1_epi16((short)0xd800)));
        wrong3 = _mm256_or_si256(wrong3, _mm256_and_si256(is3, refused));
        const __m256i c = _mm256_blendv_epi8(_mm256_blendv_epi8(b0, two, is2), three, is3);
        const __m256i starts = _mm256_cvtepi8_epi16(_mm_cmpgt_epi8(b, _mm_set1_epi8((char)0xbf)));
        TB_GATHER(out, c, starts, uint16_t);
        p += 16;
    }
    if (wrong || _mm_movemask_epi8(wrong2) || _mm256_movemask_epi8(wrong3)) return NULL;
    for (; due; due >>= 1, p++)    /* two bytes at most, which every step leaves */
        if (!TB_CONTINUES(*p)) return NULL;
    return plain_to_ucs2(p, end, out, out_end);
}

TB_AVX2 static uint32_t *avx2_to_ucs4(const unsigned char *p, const unsigned char *end, uint32_t *out,
                                      const uint32_t *out_end) {
    const __m256i low6 = _mm256_set1_epi32(0x3f);
    __m256i wrong_characters = _mm256_setzero_si256();
    uint32_t due = 0, wrong = 0;
    while (end - p >= 19 && out_end - out >= 8) {
        const __m128i b = _mm_loadu_si128((const __m128i *)p);
        const __m256i b0 = _mm256_cvtepu8_epi32(b);
        if (!((uint32_t)_mm_movemask_epi8(b) | due) && out_end - out >= 16) {
            _mm256_storeu_si256((__m256i *)out, b0);
            _mm256_storeu_si256((__m256i *)(out + 8), _mm256_cvtepu8_epi32(_mm_srli_si128(b, 8)));
            out += 16;
            p += 16;
            continue;
        }
        if (_mm_movemask_epi8(b) == 0xffff && end - p >= 35 && all_continue(p, due)) {
            const unsigned char *start = p + _mm_popcnt_u32(due);
            __m256i chars;
            if (avx2_run_of_4(start, &chars)) {
                _mm256_storeu_si256((__m256i *)out, chars);
                out += 8;
                p = start + 32;
                due = 0;
                continue;
            }
        }
        const __m256i b1 = _mm256_and_si256(_mm256_cvtepu8_epi32(_mm_srli_si128(b, 1)), low6);
        const __m256i b2 = _mm256_and_si256(_mm256_cvtepu8_epi32(_mm_srli_si128(b, 2)), low6);
        const __m256i b3 = _mm256_and_si256(_mm256_cvtepu8_epi32(_mm_srli_si128(b, 3)), low6);
        const __m256i is2 = _mm256_cmpgt_epi32(b0, _mm256_set1_epi32(0xbf)),
                      is3 = _mm256_cmpgt_epi32(b0, _mm256_set1_epi32(0xdf));
        const __m256i is4 = _mm256_cmpgt_epi32(b0, _mm256_set1_epi32(0xef));
        const uint32_t starts = (uint32_t)_mm_movemask_epi8(_mm_cmpgt_epi8(b, _mm_set1_epi8((char)0xbf))) & 0xff;
        due |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is2)) << 1
               | (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is3)) << 2
             | (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is4)) << 3;
        wrong |= (due & 0xff) ^ (starts ^ 0xff);
        due >>= 8;
        /* The least character of each length, in the lanes of its leads. */
        __m256i c = b0, least = _mm256_setzero_si256();
        const __m256i two = _mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(b0, _mm256_set1_epi32(0x1f)), 6), b1);
        const __m256i three = _mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(b0, _mm256_set1_epi32(0x0f)), 12),
                                              _mm256_or_si256(_mm256_slli_epi32(b1, 6), b2));
        const __m256i four = _mm256_or_si256(
            _mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(b0, _mm256_set1_epi32(0x0f)), 18),
                            _mm256_slli_epi32(b1, 12)),
            _mm256_or_si256(_mm256_slli_epi32(b2, 6), b3));
        c = _mm256_blendv_epi8(_mm256_blendv_epi8(_mm256_blendv_epi8(c, two, is2), three, is3), four, is4);
        least = _mm256_blendv_epi8(_mm256_and_si256(is2, _mm256_set1_epi32(0x80)), _mm256_set1_epi32(0x800), is3);
        least = _mm256_blendv_epi8(least, _mm256_set1_epi32(0x10000), is4);
        const __m256i surrogate = _mm256_cmpeq_epi32(_mm256_and_si256(c, _mm256_set1_epi32(~0x7ff)),
                                                     _mm256_set1_epi32(0xd800));
        wrong_characters = _mm256_or_si256(_mm256_or_si256(wrong_characters, _mm256_cmpgt_epi32(least, c)),
                                           _mm256_or_si256(surrogate,
                                                           _mm256_cmpgt_epi32(c, _mm256_set1_epi32(0x10ffff))));
        const uint64_t lanes = _pext_u64(0x0706050403020100u, _pdep_u64(starts, 0x0101010101010101u) * 0xff);
        c = _mm256_permutevar8x32_epi32(c, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)lanes)));
        _mm256_storeu_si256((__m256i *)out, c);
        out += _mm_popcnt_u32(starts);
        p += 8;
    }
    if (wrong || _mm256_movemask_epi8(wrong_characters)) return NULL;
    for (; due; due >>= 1, p++)    /* three bytes at most, which every step leaves */
        if (!TB_CONTINUES(*p)) return NULL;
    return plain_to_ucs4(p, end, out, out_end);
}

TB_AVX2 static ptrdiff_t avx2_from_ucs1(unsigned char *out, const uint8_t *in, const uint8_t *end) {
    const unsigned char *start = out;
    while (end - in >= 32) {
        const __m256i b = _mm256_loadu_si256((const __m256i *)in);
        if (!_mm256_movemask_epi8(b)) {
            _mm256_storeu_si256((__m256i *)out, b);
            out += 32;
            in += 32;
            continue;
        }
        const __m256i c = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(b)),
                      is2 = _mm256_cmpgt_epi16(c, _mm256_set1_epi16(0x7f));
        const __m256i first = _mm256_or_si256(_mm256_srli_epi16(c, 6), _mm256_set1_epi16(0xc0));
        const __m256i second = _mm256_or_si256(_mm256_and_si256(c, _mm256_set1_epi16(0x3f)), _mm256_set1_epi16(0x80));
        const __m256i lanes = _mm256_blendv_epi8(c, _mm256_or_si256(first, _mm256_slli_epi16(second, 8)), is2);
        TB_GATHER(out, lanes, _mm256_or_si256(is2, _mm256_set1_epi16(0xff)), uint8_t);
        in += 16;
    }
    return out - start + plain_from_ucs1(out, in, end);
}

/* 8 characters; 0: one is a surrogate. Up to four bytes each are made in a 32-bit lane, first byte lowest. */
TB_AVX2 static inline int avx2_encode(unsigned char **to, const __m256i c) {
    unsigned char *out = *to;
    const __m256i low6 = _mm256_set1_epi32(0x3f), mark = _mm256_set1_epi32(0x80);
    const __m256i surrogate = _mm256_cmpeq_epi32(_mm256_and_si256(c, _mm256_set1_epi32(~0x7ff)),
                                                 _mm256_set1_epi32(0xd800));
    if (!_mm256_testz_si256(surrogate, surrogate)) return 0;
    const __m256i is2 = _mm256_cmpgt_epi32(c, _mm256_set1_epi32(0x7f)),
                  is3 = _mm256_cmpgt_epi32(c, _mm256_set1_epi32(0x7ff));
    const __m256i is4 = _mm256_cmpgt_epi32(c, _mm256_set1_epi32(0xffff));
    const __m256i last = _mm256_or_si256(_mm256_and_si256(c, low6), mark);
    const __m256i second = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(c, 6), low6), mark);
    const __m256i third = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(c, 12), low6), mark);
    const __m256i two = _mm256_or_si256(_mm256_or_si256(_mm256_srli_epi32(c, 6), _mm256_set1_epi32(0xc0)),
                                        _mm256_slli_epi32(last, 8));
    const __m256i three = _mm256_or_si256(_mm256_or_si256(_mm256_srli_epi32(c, 12), _mm256_set1_epi32(0xe0)),
                                          _mm256_or_si256(_mm256_slli_epi32(second, 8), _mm256_slli_epi32(last, 16)));
    const __m256i four = _mm256_or_si256(
        _mm256_or_si256(_mm256_or_si256(_mm256_srli_epi32(c, 18), _mm256_set1_epi32(0xf0)),
                        _mm256_slli_epi32(third, 8)),
        _mm256_or_si256(_mm256_slli_epi32(second, 16), _mm256_slli_epi32(last, 24)));
    const __m256i lanes = _mm256_blendv_epi8(_mm256_blendv_epi8(_mm256_blendv_epi8(c, two, is2), three, is3), four,
                                             is4);
    const __m256i used = _mm256_or_si256(
        _mm256_or_si256(_mm256_set1_epi32(0xff), _mm256_and_si256(is2, _mm256_set1_epi32(0xff00))),
        _mm256_or_si256(_mm256_and_si256(is3, _mm256_set1_epi32(0xff0000)), _mm256_slli_epi32(is4, 24)));
    TB_GATHER(out, lanes, used, uint8_t);
    *to = out;
    return 1;
}

TB_AVX2 static ptrdiff_t avx2_from_ucs2(unsigned char *out, const uint16_t *in, const uint16_t *end) {
    const unsigned char *start = out;
    for (; end - in >= 16; in += 16) {
        const __m256i c = _mm256_loadu_si256((const __m256i *)in);
        const __m128i low = _mm256_castsi256_si128(c), high = _mm256_extracti128_si256(c, 1);
        if (_mm256_testz_si256(c, _mm256_set1_epi16((short)0xff80))) {
            _mm_storeu_si128((__m128i *)out, _mm_packus_epi16(low, high));
            out += 16;
        } else if (!avx2_encode(&out, _mm256_cvtepu16_epi32(low)) || !avx2_encode(&out, _mm256_cvtepu16_epi32(high))) {
            return -1;
        }
    }
    const ptrdiff_t rest = plain_from_ucs2(out, in, end);
    return rest < 0 ? -1 : out - start + rest;
}

TB_AVX2 static ptrdiff_t avx2_from_ucs4(unsigned char *out, const uint32_t *in, const uint32_t *end) {
    const unsigned char *start = out;
    for (; end - in >= 8; in += 8) {
        const __m256i c = _mm256_loadu_si256((const __m256i *)in);
        if (_mm256_testz_si256(c, _mm256_set1_epi32(~0x7f))) {
            const __m128i halves = _mm_packus_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));
            _mm_storel_epi64((__m128i *)out, _mm_packus_epi16(halves, halves));
            out += 8;
        } else if (!avx2_encode(&out, c)) {
            return -1;
        }
    }
    const ptrdiff_t rest = plain_from_ucs4(out, in, end);
    return rest < 0 ? -1 : out - start + rest;
}

#endif

#endif
