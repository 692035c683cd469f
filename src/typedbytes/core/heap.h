/* Memory that the C library keeps when it is freed. */
#ifndef TYPEDBYTES_HEAP_H
#define TYPEDBYTES_HEAP_H

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

/* The GNU C library gives back what is free at the end of its heap beyond 128 KiB, and a page that it takes again costs
 * a fault: decoding a list of 1,000 byte strings of 1,000 bytes, and releasing it, took seven times as long. It keeps
 * up to twice the size of the largest block that it has mapped by itself and freed. So one block, which is not filled,
 * tells it how much values need: four times their size, for the value before, the value, its buffer and what is made of
 * it. Called with the GIL. Without it nothing is done, as objects have another allocator. */
#if defined(__GLIBC__) && !defined(Py_GIL_DISABLED)
/* with 32 bits, it ignores blocks larger than 512 KiB */
#define MAX_VALUE_NBYTES ((Py_ssize_t)(sizeof(void *) == 8 ? 8 << 20 : 250 << 10))

static Py_ssize_t nbytes_kept_for = 32 << 10;
static int nattempts_left = 100;    /* another library may stand in for its malloc */

/* at the start of a page, after its size */
static inline int is_mapped(void *block) { return ((uintptr_t)block & 4095) == 2 * sizeof(size_t); }

static inline void keep_freed(Py_ssize_t value_nbytes) {
    if (value_nbytes > nbytes_kept_for && nbytes_kept_for < MAX_VALUE_NBYTES && nattempts_left > 0) {
        Py_ssize_t wanted = value_nbytes < MAX_VALUE_NBYTES / 2 ? 2 * value_nbytes : MAX_VALUE_NBYTES;
        void *volatile block = malloc((size_t)(2 * wanted));    /* volatile: the compiler would leave it out */
        if (is_mapped(block))
            /* otherwise malloc had free memory for it and keeps no more than before: try again later */
            nbytes_kept_for = wanted;
        free(block);
        nattempts_left--;
    }
}
#else
static inline void keep_freed(Py_ssize_t value_nbytes) { (void)value_nbytes; }
#endif

#endif
