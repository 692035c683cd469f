/* The parts of a sort key. typedbytes.sortkey makes them of Python's values, the command of encoded ones. */

#ifndef TYPEDBYTES_SORT_KEY_H
#define TYPEDBYTES_SORT_KEY_H

#include <math.h>
#include <stdint.h>

#include "core/byteorder.h"

enum {
    /* What a part begins with. Each is below 0x80, so a first byte from there on is that of a descending part, which
       is the ascending one with every bit inverted. */
    KEY_END = 0x00,           /* of a tuple */
    KEY_NONE_FIRST = 0x01,
    KEY_NUMBER = 0x02,        /* 8 bytes: the greatest double that is not above it, then 2: how much an int is above */
    KEY_BINARY = 0x03,        /* the bytes, each 00 as 00 ff, then 00 00 */
    KEY_TEXT = 0x04,          /* the same of its UTF-8 */
    KEY_TUPLE = 0x05,         /* parts, then KEY_END */
    KEY_NONE_LAST = 0x06,

    /* True, 1 and 1.0 are equal to Python, so what distinguishes them comes after all that sorts: a byte for each
       number. */
    KEY_INTEGER = 0,
    KEY_FLOATING = 1,
    KEY_BOOLEAN = 2,
    KEY_NEGATIVE_ZERO = 3,

    KEY_NUMBER_NBYTES = 11,   /* with what it begins with */
    KEY_MASK = 0xff,          /* of a descending part */
    LONG_PAYLOAD = 7          /* bytes of a key in a LONG */
};

#define KEY_NAN_BITS INT64_C(0x7ff8000000000000)

static inline double double_below(int64_t number) {
    double below = (double)number;    /* the nearest double, which may be above */
    return below >= 9223372036854775808.0 || (int64_t)below > number ? nextafter(below, -INFINITY) : below;
}

static inline unsigned char *store_key_number(unsigned char *p, double below, int above, unsigned char mask) {
    /* Doubles of one sign are ordered as their bits. With all bits of negative ones inverted, and the sign of the
       others, all are. */
    p[0] = KEY_NUMBER;
    if (below == below) store_f64(p + 1, below);
    else store_i64(p + 1, KEY_NAN_BITS);
    unsigned char inverted = p[1] & 0x80 ? 0xff : 0;
    for (int i = 1; i < 9; i++) p[i] ^= inverted;
    p[1] ^= 0x80 ^ (inverted & 0x80);
    p[9] = (unsigned char)(above >> 8);
    p[10] = (unsigned char)above;
    for (int i = 0; i < KEY_NUMBER_NBYTES; i++) p[i] ^= mask;
    return p + KEY_NUMBER_NBYTES;
}

/* At most two bytes for each that is given, and three. */
static inline unsigned char *store_key_bytes(unsigned char *p, unsigned char tag, const unsigned char *data,
                                             const unsigned char *end, unsigned char mask) {
    *p++ = tag ^ mask;
    for (; data < end; data++) {
        *p++ = *data ^ mask;
        if (*data == 0) *p++ = 0xff ^ mask;
    }
    *p++ = mask;
    *p++ = mask;
    return p;
}

#endif
