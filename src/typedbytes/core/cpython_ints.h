/* The digits of an int; part of cpython.h. */
#ifndef TYPEDBYTES_CPYTHON_INTS_H
#define TYPEDBYTES_CPYTHON_INTS_H

#include "core/byteorder.h"

#if TB_KNOWN_LAYOUT && PYLONG_BITS_IN_DIGIT == 30
#define TB_KNOWN_DIGITS 1
#if PY_VERSION_HEX >= 0x030c0000
/* lv_tag holds the number of digits above three flag bits; the two lowest say 0 positive, 1 zero, 2 negative. */
#define TB_DIGITS(o) (((PyLongObject *)(o))->long_value.ob_digit)
#define TB_DIGITS_OFFSET offsetof(PyLongObject, long_value.ob_digit)
#define TB_NDIGITS(o) ((Py_ssize_t)(((PyLongObject *)(o))->long_value.lv_tag >> 3))
#define TB_NEGATIVE(o) ((((PyLongObject *)(o))->long_value.lv_tag & 3) == 2)
#define TB_POSITIVE_OF(o, n) ((((PyLongObject *)(o))->long_value.lv_tag & ~(uintptr_t)4) == (uintptr_t)(n) << 3)
#define TB_SET_SIZE(o, n, negative) \
    (((PyLongObject *)(o))->long_value.lv_tag = (uintptr_t)(n) << 3 | ((n) == 0 ? 1 : (negative) ? 2 : 0))
#else
/* ob_size holds the number of digits, negated for a negative number. */
#define TB_DIGITS(o) (((PyLongObject *)(o))->ob_digit)
#define TB_DIGITS_OFFSET offsetof(PyLongObject, ob_digit)
#define TB_NDIGITS(o) (Py_SIZE(o) < 0 ? -Py_SIZE(o) : Py_SIZE(o))
#define TB_NEGATIVE(o) (Py_SIZE(o) < 0)
#define TB_POSITIVE_OF(o, n) (Py_SIZE(o) == (n))
#define TB_SET_SIZE(o, n, negative) Py_SET_SIZE((PyVarObject *)(o), (negative) ? -(n) : (n))
#endif
#else
#define TB_KNOWN_DIGITS 0
#endif

#if TB_KNOWN_DIGITS
static inline PyLongObject *new_int(Py_ssize_t ndigits) {
#ifdef Py_REF_DEBUG
    return _PyLong_New(ndigits);
#else
    PyLongObject *number = (PyLongObject *)PyObject_Malloc(TB_DIGITS_OFFSET + (size_t)ndigits * sizeof(digit));
    if (number == NULL) return (PyLongObject *)PyErr_NoMemory();
    init_object((PyObject *)number, &PyLong_Type);
    return number;
#endif
}
#endif

#if TB_KNOWN_DIGITS
/* For a number of at most one digit that was encoded in more bytes than it needed: it may be one that is shared. */
static PyObject *shared_if_small(PyLongObject *number, Py_ssize_t ndigits, int negative) {
    long value = ndigits ? (long)TB_DIGITS(number)[0] : 0;
    Py_DECREF(number);
    return PyLong_FromLong(negative ? -value : value);
}
#endif

static inline PyObject *int_from_i64(int64_t value) {
#if TB_KNOWN_DIGITS
    /* No branches: on numbers of every size they would be mispredicted. */
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int wide = size >> 60 != 0;
    PyLongObject *number = new_int(2 + wide);    /* one digit takes the allocator's step of two */
    if (number == NULL) return NULL;
    digit *digits = TB_DIGITS(number);
    digits[0] = (digit)(size & PyLong_MASK);
    digits[1] = (digit)(size >> 30 & PyLong_MASK);
    digits[1 + wide] = (digit)(size >> (wide ? 60 : 30) & PyLong_MASK);
    TB_SET_SIZE(number, (size != 0) + (size >> 30 != 0) + wide, value < 0);
    return (PyObject *)number;
#else
    return PyLong_FromLongLong(value);
#endif
}

/* Of 2**63 or more. */
static inline PyObject *int_from_u64(uint64_t value) {
#if TB_KNOWN_DIGITS
    PyLongObject *number = new_int(3);
    digit *digits;
    if (number == NULL) return NULL;
    digits = TB_DIGITS(number);
    digits[0] = (digit)(value & PyLong_MASK);
    digits[1] = (digit)(value >> 30 & PyLong_MASK);
    digits[2] = (digit)(value >> 60);
    TB_SET_SIZE(number, 3, 0);
    return (PyObject *)number;
#else
    return PyLong_FromUnsignedLongLong(value);
#endif
}

static inline int int_to_i64(PyObject *number, int64_t *value) {
#if TB_KNOWN_DIGITS
    const digit *digits = TB_DIGITS(number);
    uint64_t size;
    switch (TB_NDIGITS(number)) {
    case 0: *value = 0; return 1;
    case 1: size = digits[0]; break;
    case 2: size = digits[0] | (uint64_t)digits[1] << 30; break;
    case 3:
        if (digits[2] > 8) return 0;
        size = digits[0] | (uint64_t)digits[1] << 30 | (uint64_t)digits[2] << 60;
        if (size > (uint64_t)INT64_MAX + TB_NEGATIVE(number)) return 0;
        break;
    default: return 0;
    }
    *value = (int64_t)(TB_NEGATIVE(number) ? 0 - size : size);
    return 1;
#else
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(number, &overflow);
    return !overflow;
#endif
}

/* The same for many in a row, whose sizes cannot be predicted: no branch depends on them. A digit that is not
 * there is read as the first one and counted as zero. For single numbers it takes longer than the branches, which
 * are mostly predicted. */
static inline int int_to_i64_branchless(PyObject *number, int64_t *value) {
#if TB_KNOWN_DIGITS
    const digit *digits = TB_DIGITS(number);
    Py_ssize_t ndigits = TB_NDIGITS(number);
    uint64_t negative = TB_NEGATIVE(number) ? ~(uint64_t)0 : 0;
    uint64_t first = digits[0] & (0 - (uint64_t)(ndigits > 0));
    uint64_t second = digits[ndigits > 1] & (0 - (uint64_t)(ndigits > 1));
    uint64_t third = digits[ndigits > 2 ? 2 : 0] & (0 - (uint64_t)(ndigits > 2));
    uint64_t size = first | second << 30 | third << 60;
    if (ndigits > 3 || third > 8 || size > (uint64_t)INT64_MAX - negative) return 0;
    *value = (int64_t)((size ^ negative) - negative);
    return 1;
#else
    return int_to_i64(number, value);
#endif
}

#if TB_KNOWN_DIGITS && defined(__GNUC__)
/* Three to five digits and at most 128 bits; writes 17 bytes and returns how many of them the number needs. */
static inline Py_ssize_t two_words_to_bytes_le(const digit *digits, Py_ssize_t ndigits, int negative,
                                               unsigned char *out) {
    uint64_t fourth = ndigits > 3 ? digits[3] : 0, fifth = ndigits > 4 ? digits[4] : 0;
    uint64_t low = digits[0] | (uint64_t)digits[1] << 30 | (uint64_t)digits[2] << 60;
    uint64_t high = digits[2] >> 4 | fourth << 26 | fifth << 56;
    uint64_t sign = negative ? ~(uint64_t)0 : 0;
    low = (low ^ sign) - sign;
    high = (high ^ sign) + (sign & (low == 0));
    memcpy(out, &low, 8);
    memcpy(out + 8, &high, 8);
    out[16] = (unsigned char)sign;
    /* bits that differ from the sign, and the sign itself */
    if (high != sign) return (128 - __builtin_clzll(high ^ sign)) / 8 + 1;
    return (64 - __builtin_clzll((low ^ sign) | 1)) / 8 + 1;
}
#endif

/* Of an int that needs all 64 bits, without a sign; 0: it is another one, or this is not known here. */
static inline int int_to_u64(PyObject *number, uint64_t *value) {
#if TB_KNOWN_DIGITS
    const digit *digits = TB_DIGITS(number);
    /* in one comparison: no branch on a sign that is random */
    if (!TB_POSITIVE_OF(number, 3) || digits[2] - 8 >= 8) return 0;
    *value = digits[0] | (uint64_t)digits[1] << 30 | (uint64_t)digits[2] << 60;
    return 1;
#else
    (void)number; (void)value;
    return 0;
#endif
}

/* The same of an int beyond 64 bits; 0: it has more than 128, or this is not known here. */
static inline Py_ssize_t wide_int_to_bytes_le(PyObject *number, unsigned char *out) {
#if TB_KNOWN_DIGITS && defined(__GNUC__)
    const digit *digits = TB_DIGITS(number);
    Py_ssize_t ndigits = TB_NDIGITS(number);
    if (PY_LITTLE_ENDIAN && ndigits >= 3 && (ndigits < 5 || (ndigits == 5 && digits[4] < 256)))
        return two_words_to_bytes_le(digits, ndigits, TB_NEGATIVE(number), out);
#else
    (void)number; (void)out;
#endif
    return 0;
}

#if TB_KNOWN_DIGITS
/* Four digits are 15 bytes: two overlapping words. `sign` is all ones for a negative number, whose bits are inverted on
 * the way; the one that two's complement adds to them comes afterwards. */
static inline void four_digits_to_bytes(const digit *digits, uint64_t sign, unsigned char *out) {
    store_u64_le(out, (digits[0] | (uint64_t)digits[1] << 30 | (uint64_t)digits[2] << 60) ^ sign);
    store_u64_le(out + 7, (digits[1] >> 26 | (uint64_t)digits[2] << 4 | (uint64_t)digits[3] << 34) ^ sign);
}

static inline void four_digits_from_bytes(digit *digits, uint64_t sign, const unsigned char *p) {
    uint64_t low = load_u64_le(p) ^ sign, high = load_u64_le(p + 7) ^ sign;
    digits[0] = (digit)(low & PyLong_MASK);
    digits[1] = (digit)(low >> 30 & PyLong_MASK);
    digits[2] = (digit)(high >> 4 & PyLong_MASK);
    digits[3] = (digit)(high >> 34);
}
#endif

static Py_ssize_t int_to_bytes_le(PyObject *number, unsigned char *out, Py_ssize_t capacity) {
#if TB_KNOWN_DIGITS
    const digit *digits = TB_DIGITS(number);
    digit last_digits[4] = {0, 0, 0, 0};
    unsigned char last_bytes[15];
    /* the last byte is of the sign */
    Py_ssize_t ndigits = TB_NDIGITS(number), nbytes = ndigits * 30 / 8 + 2, i, nfull = 0;
    int negative = TB_NEGATIVE(number);
    uint64_t sign = negative ? ~(uint64_t)0 : 0;
    if (nbytes > capacity) return -1;
    if (capacity >= 17 && (i = wide_int_to_bytes_le(number, out)) != 0) return i;
    for (i = 0; i + 4 <= ndigits; i += 4, nfull += 15) four_digits_to_bytes(digits + i, sign, out + nfull);
    memcpy(last_digits, digits + i, (size_t)(ndigits - i) * sizeof(digit));
    four_digits_to_bytes(last_digits, sign, last_bytes);
    memcpy(out + nfull, last_bytes, (size_t)(nbytes - nfull));
    if (negative) for (i = 0; ++out[i] == 0; i++) {}
    while (nbytes > 1 && out[nbytes - 1] == (unsigned char)sign && out[nbytes - 2] >> 7 == negative) nbytes--;
    return nbytes;
#else
    (void)number; (void)out; (void)capacity;
    return -1;
#endif
}

#if TB_KNOWN_DIGITS
/* The five digits of 128 bits without a sign. */
static inline void store_two_words(digit *digits, uint64_t high, uint64_t low) {
    digits[0] = (digit)(low & PyLong_MASK);
    digits[1] = (digit)(low >> 30 & PyLong_MASK);
    digits[2] = (digit)((low >> 60 | high << 4) & PyLong_MASK);
    digits[3] = (digit)(high >> 26 & PyLong_MASK);
    digits[4] = (digit)(high >> 56);
}

/* 9 to 16 bytes: hashes, keys and sums of 128 bits, the ints that are pickled most. */
static PyObject *int_from_two_words(const unsigned char *p, Py_ssize_t nbytes) {
    uint64_t low, high, negative;
    PyLongObject *number;
    digit *digits;
    Py_ssize_t ndigits = 5;
    memcpy(&low, p, 8);
    memcpy(&high, p + nbytes - 8, 8);    /* its lowest bytes are of `low`, and shifted out, with the sign */
    high = (uint64_t)((int64_t)high >> (128 - 8 * nbytes));
    negative = (uint64_t)((int64_t)high >> 63);
    low = (low ^ negative) - negative;
    high = (high ^ negative) + (negative & (low == 0));
    number = new_int(ndigits);
    if (number == NULL) return NULL;
    digits = TB_DIGITS(number);
    store_two_words(digits, high, low);
    while (ndigits > 0 && digits[ndigits - 1] == 0) ndigits--;
    TB_SET_SIZE(number, ndigits, negative != 0);
    if (ndigits <= 1) return shared_if_small(number, ndigits, negative != 0);
    return (PyObject *)number;
}
#endif

static PyObject *int_from_bytes_le(const unsigned char *p, Py_ssize_t nbytes) {
#if TB_KNOWN_DIGITS
    Py_ssize_t ndigits = nbytes * 8 / 30 + 1, nd;
    int negative = nbytes > 0 && p[nbytes - 1] >> 7;
    uint64_t sign = negative ? ~(uint64_t)0 : 0;
    unsigned char last_bytes[15];
    digit last_digits[4];
    PyLongObject *number;
    digit *digits;
    if (nbytes <= 8) {            /* small ones are shared, and have no digits to trim */
        uint64_t value = sign;
        memcpy(&value, p, (size_t)nbytes);
        if (PY_LITTLE_ENDIAN) return PyLong_FromLongLong((int64_t)value);
    } else if (PY_LITTLE_ENDIAN && nbytes <= 16) {
        return int_from_two_words(p, nbytes);
    }
    number = new_int(ndigits);
    if (number == NULL) return NULL;
    digits = TB_DIGITS(number);
    for (nd = 0; nbytes >= 15; nd += 4, p += 15, nbytes -= 15) four_digits_from_bytes(digits + nd, sign, p);
    memset(last_bytes, (unsigned char)sign, sizeof(last_bytes));    /* the sign goes on */
    memcpy(last_bytes, p, (size_t)nbytes);
    four_digits_from_bytes(last_digits, sign, last_bytes);
    memcpy(digits + nd, last_digits, (size_t)(ndigits - nd) * sizeof(digit));
    if (negative) for (nd = 0; (digits[nd] = (digits[nd] + 1) & PyLong_MASK) == 0; nd++) {}
    while (ndigits > 0 && digits[ndigits - 1] == 0) ndigits--;
    TB_SET_SIZE(number, ndigits, negative);
    if (ndigits <= 1) return shared_if_small(number, ndigits, negative);
    return (PyObject *)number;
#else
    return _PyLong_FromByteArray(p, (size_t)nbytes, 1, 1);
#endif
}

/* Of 128 bits without a sign; 0: it is another number, or not known here. */
static int int_to_u128(PyObject *number, uint64_t *high, uint64_t *low) {
#if TB_KNOWN_DIGITS
    const digit *digits = TB_DIGITS(number);
    uint64_t all[5] = {0, 0, 0, 0, 0};
    Py_ssize_t ndigits = TB_NDIGITS(number);
    if (ndigits > 5 || TB_NEGATIVE(number)) return 0;
    for (Py_ssize_t i = 0; i < ndigits; i++) all[i] = digits[i];
    if (all[4] > 255) return 0;
    *low = all[0] | all[1] << 30 | all[2] << 60;
    *high = all[2] >> 4 | all[3] << 26 | all[4] << 56;
    return 1;
#else
    (void)number; (void)high; (void)low;
    return 0;
#endif
}

/* The int of 128 bits without a sign. */
static PyObject *int_from_u128(uint64_t high, uint64_t low) {
#if TB_KNOWN_DIGITS
    Py_ssize_t ndigits = 5;
    PyLongObject *number;
    digit *digits;
    if (high == 0) return PyLong_FromUnsignedLongLong(low);
    number = new_int(ndigits);
    if (number == NULL) return NULL;
    digits = TB_DIGITS(number);
    store_two_words(digits, high, low);
    while (digits[ndigits - 1] == 0) ndigits--;
    TB_SET_SIZE(number, ndigits, 0);
    return (PyObject *)number;
#else
    unsigned char bytes[16];
    store_i64(bytes, (int64_t)high);
    store_i64(bytes + 8, (int64_t)low);
    return _PyLong_FromByteArray(bytes, 16, 0, 0);
#endif
}

static inline Py_ssize_t ndigits_of(PyObject *number) {
#if TB_KNOWN_DIGITS
    return TB_NDIGITS(number);
#else
    return (Py_ssize_t)((_PyLong_NumBits(number) + 29) / 30);
#endif
}

#endif
