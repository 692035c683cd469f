/* The loops that take a character at a time: what is UTF-8 is what they accept. See utf8.h. */
#ifndef TYPEDBYTES_UTF8_PLAIN_H
#define TYPEDBYTES_UTF8_PLAIN_H

#include <stddef.h>
#include <stdint.h>

/* Characters in `nbytes` bytes, 192 at most so that compilers keep the sum narrow. */
static inline unsigned char measure_part(const unsigned char *p, ptrdiff_t nbytes, unsigned char *greatest) {
    unsigned char starts = 0, most = *greatest;
    for (ptrdiff_t i = 0; i < nbytes; i++) {
        starts += (signed char)p[i] > (signed char)0xbf;    /* not a continuation byte */
        most = p[i] > most ? p[i] : most;
    }
    *greatest = most;
    return starts;
}

#define TB_CONTINUES(b) (((b) & 0xc0) == 0x80)

/* Whether the bytes at p continue a character as far as `due` has a bit for each; three are there to be read. */
static inline int all_continue(const unsigned char *p, uint64_t due) {
    return !due || (TB_CONTINUES(p[0]) && (due < 2 || (TB_CONTINUES(p[1]) && (due < 4 || TB_CONTINUES(p[2])))));
}

/* Bytes of the character at p, stored in *c; 0: there is none. */
static inline int plain_character(const unsigned char *p, const unsigned char *end, uint32_t *c) {
    const uint32_t lead = *p;
    if (lead < 0x80) {
        *c = lead;
        return 1;
    }
    if (lead < 0xe0) {
        if (lead < 0xc2 || end - p < 2 || !TB_CONTINUES(p[1])) return 0;
        *c = (lead & 0x1f) << 6 | (p[1] & 0x3f);
        return 2;
    }
    if (lead < 0xf0) {
        if (end - p < 3 || !TB_CONTINUES(p[1]) || !TB_CONTINUES(p[2])) return 0;
        *c = (lead & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        return *c < 0x800 || (*c & 0xf800) == 0xd800 ? 0 : 3;
    }
    if (lead > 0xf4 || end - p < 4 || !TB_CONTINUES(p[1]) || !TB_CONTINUES(p[2]) || !TB_CONTINUES(p[3])) return 0;
    *c = (lead & 0x0f) << 18 | (uint32_t)(p[1] & 0x3f) << 12 | (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
    return *c < 0x10000 || *c > 0x10ffff ? 0 : 4;
}

/* Decoders fill `out` up to out_end at most and return where the text ends there; NULL:
 * it is not UTF-8, or does not fit. */
#define TB_UTF8_DECODER(NAME, UNIT)                                                                       \
    static UNIT *NAME(const unsigned char *p, const unsigned char *end, UNIT *out, const UNIT *out_end) { \
        while (p < end) {                                                                                 \
            uint32_t c;                                                                                   \
            const int nbytes = plain_character(p, end, &c);                                               \
            if (!nbytes || out == out_end || c > (UNIT)-1) return NULL;                                   \
            *out++ = (UNIT)c;                                                                             \
            p += nbytes;                                                                                  \
        }                                                                                                 \
        return out;                                                                                       \
    }

TB_UTF8_DECODER(plain_to_ucs1, uint8_t)
TB_UTF8_DECODER(plain_to_ucs2, uint16_t)
TB_UTF8_DECODER(plain_to_ucs4, uint32_t)

/* The plain encoder; bytes written, or -1 at a lone surrogate. */
#define TB_UTF8_ENCODER(NAME, UNIT)                                              \
    static ptrdiff_t NAME(unsigned char *out, const UNIT *in, const UNIT *end) { \
        unsigned char *start = out;                                              \
        while (in < end) {                                                       \
            uint32_t c = *in++;                                                  \
            if (c < 0x80) {                                                      \
                *out++ = (unsigned char)c;                                       \
            } else if (c < 0x800) {                                              \
                *out++ = (unsigned char)(0xc0 | c >> 6);                         \
                *out++ = (unsigned char)(0x80 | (c & 0x3f));                     \
            } else if (c < 0x10000) {                                            \
                if ((c & 0xf800) == 0xd800) return -1;                           \
                *out++ = (unsigned char)(0xe0 | c >> 12);                        \
                *out++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));                \
                *out++ = (unsigned char)(0x80 | (c & 0x3f));                     \
            } else {                                                             \
                *out++ = (unsigned char)(0xf0 | c >> 18);                        \
                *out++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));               \
                *out++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));                \
                *out++ = (unsigned char)(0x80 | (c & 0x3f));                     \
            }                                                                    \
        }                                                                        \
        return out - start;                                                      \
    }

TB_UTF8_ENCODER(plain_from_ucs1, uint8_t)
TB_UTF8_ENCODER(plain_from_ucs2, uint16_t)
TB_UTF8_ENCODER(plain_from_ucs4, uint32_t)

/* Bytes that the characters take; -1 where one is a surrogate. */
#define TB_UTF8_LENGTH(NAME, UNIT)                                                              \
    static ptrdiff_t NAME(const UNIT *text, ptrdiff_t nchars) {                                 \
        ptrdiff_t nbytes = nchars;                                                              \
        int surrogates = 0;                                                                     \
        while (nchars > 0) {                                                                    \
            /* Counted in units for a while, so that compilers keep the sums narrow. */         \
            ptrdiff_t part = nchars < 64 ? nchars : 64;                                         \
            UNIT more = 0, found = 0;                                                           \
            for (ptrdiff_t i = 0; i < part; i++) {                                              \
                more = (UNIT)(more + (text[i] >= 0x80) + (sizeof(UNIT) > 1 && text[i] >= 0x800) \
                              + (sizeof(UNIT) > 2 && text[i] > 0xffff));                        \
                found |= (UNIT)(sizeof(UNIT) > 1 && (text[i] & 0xf800) == 0xd800);              \
            }                                                                                   \
            nbytes += more;                                                                     \
            surrogates |= found;                                                                \
            text += part;                                                                       \
            nchars -= part;                                                                     \
        }                                                                                       \
        return surrogates ? -1 : nbytes;                                                        \
    }

TB_UTF8_LENGTH(length_of_ucs1, uint8_t)
TB_UTF8_LENGTH(length_of_ucs2, uint16_t)
TB_UTF8_LENGTH(length_of_ucs4, uint32_t)

#endif
