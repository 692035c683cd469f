/* The sizes of scalars, by their first bytes alone. */
#ifndef TYPEDBYTES_SCALARS_H
#define TYPEDBYTES_SCALARS_H

#include "core/byteorder.h"

/* Sizes by type code, that code included: of BYTE, BOOL, INT, LONG, FLOAT and DOUBLE,
 * which are 1 to 6; BYTES (0) has none. */
static const unsigned char FIXED_NBYTES[] = {0, 2, 2, 5, 9, 5, 9};

/* The size of the value at p, if it has one of these codes or is BYTES or STRING (7),
 * and all of it is among the nheld bytes; else 0. */
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
