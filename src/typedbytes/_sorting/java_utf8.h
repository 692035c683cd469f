/* What Java's decoder of UTF-8 takes for a character, and how many bytes it replaces where there is none.
 *
 * The rules are those of sun.nio.cs.UTF_8 as a CharsetDecoder, by which Hadoop's Text turns bytes into a String: they
 * differ from Python's for surrogates, of which Java replaces all three bytes at once. */
#ifndef TYPEDBYTES_JAVA_UTF8_H
#define TYPEDBYTES_JAVA_UTF8_H

#include <stddef.h>

static inline int continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/* Whether the second byte of three or four can follow the first. */
static inline int follows_lead_of_3(unsigned char lead, unsigned char byte) {
    return continues(byte) && !(lead == 0xe0 && byte < 0xa0);
}

static inline int follows_lead_of_4(unsigned char lead, unsigned char byte) {
    return lead <= 0xf4 && continues(byte) && !(lead == 0xf0 && byte < 0x90) && !(lead == 0xf4 && byte > 0x8f);
}

/* The size of the character at p, of nbytes > 0 that are left; negative:
 * the number of bytes that one U+FFFD replaces. */
static inline ptrdiff_t java_character(const unsigned char *p, ptrdiff_t nbytes) {
    unsigned char lead = p[0];
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return -1;
    if (lead < 0xe0) return nbytes > 1 && continues(p[1]) ? 2 : -1;
    if (nbytes == 1) return -1;
    if (lead < 0xf0) {
        if (!follows_lead_of_3(lead, p[1])) return -1;
        if (nbytes == 2 || !continues(p[2])) return -2;
        return lead == 0xed && p[1] >= 0xa0 ? -3 : 3;
    }
    if (!follows_lead_of_4(lead, p[1])) return -1;
    if (nbytes == 2 || !continues(p[2])) return -2;
    return nbytes == 3 || !continues(p[3]) ? -3 : 4;
}

#endif
