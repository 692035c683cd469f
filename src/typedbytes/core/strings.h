/* The table of strings that repeat; see codec/strings.pxi. Each thread has one where there is no GIL. */
#ifndef TYPEDBYTES_STRINGS_H
#define TYPEDBYTES_STRINGS_H

#include "core/byteorder.h"
#include "core/threads.h"

#define CACHED_STRINGS 8192
#define FIRST_BALANCE 32

typedef struct CachedString {
    short_words words;               /* a key longer than CACHED_LENGTH that has a text: where its bytes are, see long_bytes */
    Py_ssize_t nbytes;
    PyObject *text;                  /* owned, NULL: met once, or an empty slot */
    struct CachedString *next_key;   /* where the MAP key after this one was found last, NULL: not known */
} CachedString;

static TB_OF_THREAD CachedString string_table[CACHED_STRINGS];
static TB_OF_THREAD int hit_balance = FIRST_BALANCE;
static TB_OF_THREAD int long_balance = FIRST_BALANCE;    /* of the long keys */
static TB_OF_THREAD int key_balance = CACHED_STRINGS;    /* of the other MAP keys */

/* The slot of the last MAP key: of the decoding, which may go on in another thread where each has a table. */
#if TB_NO_GIL
static TB_OF_THREAD void *last_map_key;
#define LAST_MAP_KEY(d) ((last_map_key == NULL ? (last_map_key = string_table, &last_map_key) : &last_map_key))
#else
#define LAST_MAP_KEY(d) (&(d)->last_map_key)
#endif

#endif
