/* The table of strings that repeat; see codec/strings.pxi. Each thread has one where there is no GIL. */
#ifndef TYPEDBYTES_STRINGS_H
#define TYPEDBYTES_STRINGS_H

#include "core/byteorder.h"
#include "core/threads.h"

/* At most 24 bytes as three words, overlapping where there are fewer:
 * with equal lengths, equal words mean equal bytes. */
typedef struct { uint64_t a, b, c; } short_words;

static inline short_words load_short(const unsigned char *p, ptrdiff_t nbytes) {
    short_words w = {0, 0, 0};
    if (nbytes >= 8) {
        memcpy(&w.a, p, 8);
        memcpy(&w.c, p + nbytes - 8, 8);
        if (nbytes > 16) memcpy(&w.b, p + 8, 8);
    } else if (nbytes >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4);
        memcpy(&last, p + nbytes - 4, 4);
        w.a = first | (uint64_t)last << 32;
    } else if (nbytes > 0) {
        w.a = (uint64_t)p[0] | (uint64_t)p[nbytes / 2] << 8 | (uint64_t)p[nbytes - 1] << 16;
    }
    return w;
}

/* More than 24 bytes: both ends, and a hash of what lies between. Equal words do not mean equal bytes. */
static inline short_words load_long(const unsigned char *p, ptrdiff_t nbytes) {
    short_words w = {0, 0, 0};
    memcpy(&w.a, p, 8);
    memcpy(&w.c, p + nbytes - 8, 8);
    for (ptrdiff_t i = 8; i < nbytes - 8; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, 8);
        w.b = (w.b ^ word) * 0x9e3779b97f4a7c15u;
        w.b ^= w.b >> 32;
    }
    return w;
}

static inline int same_short(const short_words *x, const short_words *y) {
    return ((x->a ^ y->a) | (x->b ^ y->b) | (x->c ^ y->c)) == 0;
}

/* The products do not depend on one another; the topmost bits of each depend on all of its word. */
static inline uint64_t mix_short(const short_words *w, ptrdiff_t nbytes) {
    return (w->a + (uint64_t)nbytes) * 0x9e3779b97f4a7c15u ^ w->b * 0xff51afd7ed558ccdu
           ^ w->c * 0xc4ceb9fe1a85ec53u;
}

static inline uint32_t hash_short(const short_words *w, ptrdiff_t nbytes) {
    return (uint32_t)(mix_short(w, nbytes) >> 51);    /* thirteen bits, for 8,192 slots */
}

/* A number for bytes at some address: of their length, both ends and the middle. */
static inline uint64_t sample_of(const void *data, ptrdiff_t nbytes) {
    const unsigned char *p = (const unsigned char *)data;
    short_words w = load_short(p, nbytes);
    if (nbytes > 24) memcpy(&w.b, p + nbytes / 2, 8);
    return mix_short(&w, nbytes) + (uint64_t)(uintptr_t)data;
}

#define CACHED_STRINGS 8192
#define FIRST_BALANCE 32

typedef struct CachedString {
    /* a key longer than CACHED_LENGTH that has a text: where its bytes are, see long_bytes */
    short_words words;
    Py_ssize_t nbytes;
    PyObject *text;                  /* owned, NULL: met once, or an empty slot */
    struct CachedString *next_key;   /* where the MAP key after this one was found last, NULL: not known */
} CachedString;

static TB_OF_THREAD CachedString string_table[CACHED_STRINGS];
static TB_OF_THREAD int string_balance = FIRST_BALANCE;
static TB_OF_THREAD int long_key_balance = FIRST_BALANCE;    /* of the long keys */
static TB_OF_THREAD int short_key_balance = CACHED_STRINGS;    /* of the other MAP keys */

/* The slot of the last MAP key: of the decoding, which may go on in another thread where each has a table. */
static inline void **last_key_slot(void **of_decoding) {
#if TB_NO_GIL
    static TB_OF_THREAD void *of_thread;
    (void)of_decoding;
    if (of_thread == NULL) of_thread = string_table;
    return &of_thread;
#else
    return of_decoding;
#endif
}

#endif
