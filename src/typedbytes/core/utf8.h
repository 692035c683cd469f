/* UTF-8 to and from the interpreter's three widths of characters, and nothing else.
 *
 * Goal: text that is not ASCII at a small multiple of the speed of memory. Plan: measure first (characters, greatest
 * byte), so that the string is made once in its final width; then transcode and check in one pass. Four kinds of loops,
 * a file each; all but the first copy runs of ASCII by whole vectors:
 *
 * plain   a character at a time, the definition of what is right;
 *         fast where the next character's width can be predicted
 * vector  in the compiler's own vectors, on every processor: the code point is computed at every byte as if a character
 *         started there, and stored there; the output advances where one does. No branch depends on the text
 * avx2    asked at run time: the same with 32 bytes at once, compressed by BMI2
 * avx512  with VBMI2, asked at run time: the same with 64 bytes or 16 characters at once, compressed together
 *
 * Where all the bytes of a step are above ASCII, vector and avx2 first try characters of one length, which need no
 * compressing. Compressing is cheap with VBMI2, so avx512 does this for characters of four bytes alone.
 *
 * Rejected: simdutf, a C++ library without a package that every platform's build could depend on;
 * shuffle tables, 16 KiB that the cache needs for data.
 *
 * A kernel reports only that text is not UTF-8; the interpreter's own decoder then says where and why. */
#ifndef TYPEDBYTES_UTF8_H
#define TYPEDBYTES_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/utf8/plain.h"
#include "core/utf8/vector.h"

enum { UTF8_SLACK = 64 };    /* vector stores may go this far beyond the text */

enum { VECTORS_ANY, VECTORS_AVX2, VECTORS_AVX512 };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TYPEDBYTES_PORTABLE)
#include "core/utf8/avx2.h"
#include "core/utf8/avx512.h"

static int vectors_used = -1;    /* not yet asked; tests and benchmarks set it lower */

/* Use the greatest kind of loops that the processor has, `limit` at most, from now on; the kind that is used. */
static int limit_vectors(int limit) {
    if (limit >= VECTORS_AVX512 && has_wide_vectors()) return vectors_used = VECTORS_AVX512;
    if (limit >= VECTORS_AVX2 && has_avx2()) return vectors_used = VECTORS_AVX2;
    return vectors_used = VECTORS_ANY;
}

static inline int vectors(void) {
    return vectors_used >= 0 ? vectors_used : limit_vectors(VECTORS_AVX512);
}

#define TB_CHOOSE(NAME, OTHER, ...)                         \
    (vectors() == VECTORS_AVX512 ? wide_##NAME(__VA_ARGS__) \
     : vectors() == VECTORS_AVX2 ? avx2_##NAME(__VA_ARGS__) : OTHER##_##NAME(__VA_ARGS__))
#else
static int limit_vectors(int limit) {
    (void)limit;
    return VECTORS_ANY;
}

static inline int vectors(void) {
    return VECTORS_ANY;
}

#define TB_CHOOSE(NAME, OTHER, ...) OTHER##_##NAME(__VA_ARGS__)
#endif

static ptrdiff_t utf8_measure(const unsigned char *p, ptrdiff_t nbytes, unsigned char *greatest) {
    return TB_CHOOSE(measure, narrow, p, nbytes, greatest);
}

/* Without measuring it first: text whose first character beyond ASCII is one of Latin-1,
 * as most likely are the others. */
static int may_be_latin(const unsigned char *p, ptrdiff_t nbytes) {
    enum { SAMPLE = 192 };
    const ptrdiff_t nascii = ascii_prefix(p, nbytes);
    unsigned char greatest = 0;
    if (nascii == nbytes || (p[nascii] & 0xfe) != 0xc2 || nbytes - nascii < SAMPLE) return 0;
    return vectors() != VECTORS_ANY || !is_mixed(SAMPLE, measure_part(p + nascii, SAMPLE, &greatest));
}

/* The number of characters; -1: it has others than Latin-1's, or is not UTF-8.
 * The capacity of `out` is nbytes characters. */
static ptrdiff_t utf8_to_latin(const unsigned char *p, ptrdiff_t nbytes, void *out) {
    const uint8_t *out_end = TB_CHOOSE(to_ucs1, step, p, p + nbytes, (uint8_t *)out, (uint8_t *)out + nbytes);
    return out_end == NULL ? -1 : out_end - (uint8_t *)out;
}

static int utf8_to_ucs1(const unsigned char *p, ptrdiff_t nbytes, void *out, ptrdiff_t nchars) {
    return TB_CHOOSE(to_ucs1, narrow, p, p + nbytes, (uint8_t *)out, (uint8_t *)out + nchars)
           == (uint8_t *)out + nchars;
}

static int utf8_to_ucs2(const unsigned char *p, ptrdiff_t nbytes, void *out, ptrdiff_t nchars) {
    return TB_CHOOSE(to_ucs2, narrow, p, p + nbytes, (uint16_t *)out, (uint16_t *)out + nchars)
           == (uint16_t *)out + nchars;
}

static int utf8_to_ucs4(const unsigned char *p, ptrdiff_t nbytes, void *out, ptrdiff_t nchars) {
    return TB_CHOOSE(to_ucs4, narrow, p, p + nbytes, (uint32_t *)out, (uint32_t *)out + nchars)
           == (uint32_t *)out + nchars;
}

static ptrdiff_t utf8_from_ucs1(unsigned char *out, const void *text, ptrdiff_t nchars) {
    return TB_CHOOSE(from_ucs1, vector, out, (const uint8_t *)text, (const uint8_t *)text + nchars);
}

static ptrdiff_t utf8_from_ucs2(unsigned char *out, const void *text, ptrdiff_t nchars) {
    return TB_CHOOSE(from_ucs2, vector, out, (const uint16_t *)text, (const uint16_t *)text + nchars);
}

static ptrdiff_t utf8_from_ucs4(unsigned char *out, const void *text, ptrdiff_t nchars) {
    return TB_CHOOSE(from_ucs4, vector, out, (const uint32_t *)text, (const uint32_t *)text + nchars);
}

static ptrdiff_t utf8_length(int width, const void *text, ptrdiff_t nchars) {
    if (width == 1) return length_of_ucs1((const uint8_t *)text, nchars);
    if (width == 2) return length_of_ucs2((const uint16_t *)text, nchars);
    return length_of_ucs4((const uint32_t *)text, nchars);
}

#endif
