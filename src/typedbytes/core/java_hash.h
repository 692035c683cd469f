/* Java's hash of bytes, by which Hadoop chooses a partition, and nothing else. */
#ifndef TYPEDBYTES_HASH_H
#define TYPEDBYTES_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t signed_byte(unsigned char byte) { return (uint32_t)(int32_t)(signed char)byte; }

/* BinaryComparable.hashCode: h = 1, then h = 31 h + byte, in Java's int, the bytes signed. Four bytes a step: their
 * products do not depend on one another. */
static inline uint32_t hash_after(uint32_t h, const unsigned char *p, ptrdiff_t nbytes) {
    for (; nbytes >= 4; nbytes -= 4, p += 4)
        h = h * 923521u + signed_byte(p[0]) * 29791u + signed_byte(p[1]) * 961u + signed_byte(p[2]) * 31u
            + signed_byte(p[3]);
    for (; nbytes > 0; nbytes--, p++) h = 31 * h + signed_byte(*p);
    return h;
}

static inline int32_t hash_of(const unsigned char *p, ptrdiff_t nbytes) { return (int32_t)hash_after(1, p, nbytes); }

/* Store seven bytes that bring the hash `h` of those before them to `wanted`:
 * its distance in base 31, which takes no more. */
static inline void store_hash_suffix(unsigned char *p, uint32_t h, uint32_t wanted) {
    uint32_t distance = wanted - h * 1742810335u;    /* the power 31^7, in Java's int */
    for (int i = 6; i >= 0; i--, distance /= 31) p[i] = (unsigned char)(distance % 31);
}

/* HashPartitioner's choice. */
static inline uint32_t partition_of_hash(uint32_t h, uint32_t npartitions) { return (h & 0x7fffffffu) % npartitions; }

static inline uint32_t partition_of(const unsigned char *p, ptrdiff_t nbytes, uint32_t npartitions) {
    return partition_of_hash(hash_after(1, p, nbytes), npartitions);
}

#endif
