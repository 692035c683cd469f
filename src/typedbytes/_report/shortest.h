/* The shortest digits that read back as the same double, for numbers of usual size: exact, in 128 bits. */
#ifndef TYPEDBYTES_SHORTEST_H
#define TYPEDBYTES_SHORTEST_H

#include <stdint.h>
#include <string.h>

#define SHORTEST_NCHARS 24

/* Write a number as Python's repr does, into SHORTEST_NCHARS bytes; return how many, 0: not from 1e-4 to 1e15.
 *
 * Between the middles to both neighbours, value * 10^k is searched for the whole number with most zeros at its end, and
 * among those for the nearest. k is such that it has 17 digits or 18, so that there is always one; then value * 10^k is
 * mantissa * 5^k / 2^shift, of which the mantissa has 55 bits with two more for the middles, and 5^k 49 or less. */
static int shortest_text(double value, char *out) {
#ifdef __SIZEOF_INT128__
    uint64_t bits, five = 1, low, high, near, unit = 1;
    int negative, exponent, k, shift, ndigits, point, n = 0, first = 24;
    char digits[24];
    memcpy(&bits, &value, 8);
    negative = (int)(bits >> 63);
    bits &= ~((uint64_t)1 << 63);
    memcpy(&value, &bits, 8);
    if (!(value >= 1e-4 && value < 1e15)) return 0;
    exponent = (int)(bits >> 52) - 1075;
    bits = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    k = 16 - ((exponent + 52) * 1233 - ((exponent + 52) < 0 ? 4095 : 0)) / 4096;    /* log10(2) is about 1233 / 4096 */
    for (int i = 0; i < k; i++) five *= 5;
    shift = 2 - exponent - k;
    {
        const unsigned __int128 exact = (unsigned __int128)(4 * bits) * five;
        const unsigned __int128 below = exact - (bits == (uint64_t)1 << 52 ? five : 2 * five), above = exact + 2 * five;
        const unsigned __int128 mask = ((unsigned __int128)1 << shift) - 1, half = (unsigned __int128)1 << (shift - 1);
        const int is_odd = bits & 1;    /* a text in the middle is read as the even neighbour */
        low = (uint64_t)((below + mask) >> shift) + (is_odd && (below & mask) == 0);
        high = (uint64_t)(above >> shift) - (is_odd && (above & mask) == 0);
        near = (uint64_t)(exact >> shift);
        while ((low + 9) / 10 <= high / 10) low = (low + 9) / 10, high /= 10, unit *= 10;
        if (unit == 1) {
            const unsigned __int128 rest = exact & mask;
            near += rest > half || (rest == half && (near & 1));
        } else {
            const uint64_t rest = near % unit;
            const int is_more = (exact & mask) != 0;
            near /= unit;
            near += rest > unit / 2 || (rest == unit / 2 && (is_more || (near & 1)));
        }
    }
    if (near < low) near = low;
    if (near > high) near = high;
    for (; unit > 1; unit /= 10) k--;
    do digits[--first] = (char)('0' + near % 10); while (near /= 10);
    ndigits = 24 - first;
    point = ndigits - k;    /* digits before it */
    if (negative) out[n++] = '-';
    if (point <= 0) {
        memcpy(out + n, "0.000", 5);
        n += 2 - point;
        point = 0;
    } else {
        const int nwhole = point < ndigits ? point : ndigits;
        memcpy(out + n, digits + first, (size_t)nwhole);
        memset(out + n + nwhole, '0', (size_t)(point - nwhole));
        n += point;
        first += nwhole;
        out[n++] = '.';
        if (first == 24) out[n++] = '0';
    }
    memcpy(out + n, digits + first, (size_t)(24 - first));
    return n + 24 - first;
#else
    (void)value, (void)out;
    return 0;
#endif
}
#endif
