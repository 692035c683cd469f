/* Decimals of up to 19 digits, as amounts are, made without their constructor,
 * which takes three times as long; part of cpython.h. */
#ifndef TYPEDBYTES_CPYTHON_DECIMAL_H
#define TYPEDBYTES_CPYTHON_DECIMAL_H

#if TB_KNOWN_LAYOUT && SIZEOF_VOID_P == 8
#define TB_DECIMAL_NCHARS 19    /* fewer than 10**19 fit one word */

/* As Modules/_decimal has it, which has no header for others: knows_decimals() compares. */
typedef struct {
    PyObject_HEAD
    Py_hash_t hash;
    uint8_t flags;
    Py_ssize_t exponent, ndigits, nwords, nallocated;
    uint64_t *words;
    uint64_t own_words[4];
} DecimalLayout;

enum { DECIMAL_NEGATIVE = 1, DECIMAL_OWN_MEMORY = 48 };

static inline PyObject *new_small_decimal(PyTypeObject *kind, int negative, uint64_t number, Py_ssize_t ndigits,
                                          Py_ssize_t exponent) {
    DecimalLayout *decimal = (DecimalLayout *)PyType_GenericAlloc(kind, 0);
    if (decimal == NULL) return NULL;
    decimal->hash = -1;
    decimal->flags = (uint8_t)(DECIMAL_OWN_MEMORY | (negative ? DECIMAL_NEGATIVE : 0));
    decimal->exponent = exponent;
    decimal->ndigits = ndigits;
    decimal->nwords = 1;
    decimal->nallocated = 4;
    decimal->words = decimal->own_words;
    decimal->own_words[0] = number;
    return (PyObject *)decimal;
}
#endif

/* Whether `made`, Decimal("-12345678901234567.89"), is as it would be made here. */
static int knows_decimals(PyObject *made) {
#if TB_KNOWN_LAYOUT && SIZEOF_VOID_P == 8
    const DecimalLayout *decimal = (const DecimalLayout *)made;
    return Py_TYPE(made)->tp_basicsize == sizeof(DecimalLayout) && decimal->hash == -1
           && decimal->flags == (DECIMAL_OWN_MEMORY | DECIMAL_NEGATIVE) && decimal->exponent == -2
           && decimal->ndigits == 19
           && decimal->nwords == 1 && decimal->nallocated == 4 && decimal->words == decimal->own_words
           && decimal->own_words[0] == 1234567890123456789u;
#else
    (void)made;
    return 0;
#endif
}

/* The Decimal of a sign, digits and a point among them; NULL without an exception:
 * of any other text, or too many digits. */
static PyObject *small_decimal(PyTypeObject *kind, const unsigned char *text, Py_ssize_t nchars) {
#if TB_KNOWN_LAYOUT && SIZEOF_VOID_P == 8
    int negative = nchars > 0 && text[0] == '-';
    Py_ssize_t point = -1, ndigits = 0, i;
    uint64_t number = 0;
    text += negative;
    nchars -= negative;
    if (nchars > TB_DECIMAL_NCHARS) return NULL;
    for (i = 0; i < nchars; i++) {
        unsigned value = text[i] - (unsigned)'0';
        if (value <= 9) {
            number = 10 * number + value;
            ndigits += number != 0;
        } else if (text[i] == '.' && point < 0) {
            point = i;
        } else {
            return NULL;
        }
    }
    if (nchars <= (point >= 0)) return NULL;    /* no digit */
    return new_small_decimal(kind, negative, number, ndigits ? ndigits : 1, point < 0 ? 0 : point + 1 - nchars);
#else
    return (void)kind, (void)text, (void)nchars, (PyObject *)NULL;    /* never called: knows_decimals() says no */
#endif
}

#endif
