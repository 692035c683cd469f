/* The sizes of scalars, by their first bytes alone. */
#ifndef TYPEDBYTES_SCALARS_H
#define TYPEDBYTES_SCALARS_H

#include "core/byteorder.h"

/* BYTE, BOOL, INT, LONG, FLOAT, DOUBLE, with the type code; 0: a code whose size is not fixed. */
static const unsigned char FIXED_NBYTES[] = {0, 2, 2, 5, 9, 5, 9};

/* How many of the nheld bytes at p are one whole value of these codes, or BYTES (0) or STRING (7); 0: no such value, or not all of it. */
static inline ptrdiff_t scalar_nbytes(const unsigned char *p, ptrdiff_t nheld) {
    ptrdiff_t nbytes = 0;
    if (nheld < 2) return 0;
    if (p[0] - 1u < sizeof(FIXED_NBYTES) - 1) {
        nbytes = FIXED_NBYTES[p[0]];
    } else if ((p[0] == 0 || p[0] == 7) && nheld >= 5) {
        int32_t length = load_i32(p + 1);
        if (length < 0 || length > nheld - 5) return 0;
        nbytes = (ptrdiff_t)5 + length;
    }
    return nbytes <= nheld ? nbytes : 0;
}

#endif
