/* CRC-32C (Castagnoli), and nothing else: by the processor's own instruction where it has one, by a table elsewhere.
 *
 * The instruction takes eight bytes in a cycle but has its result after three, so long input is walked in
 * three lanes; the lanes are joined by shifting a checksum over the bytes after it, which is a product in
 * GF(2) done once a block. */
#ifndef TYPEDBYTES_CRC32C_H
#define TYPEDBYTES_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CRC32C_POLYNOMIAL 0x82f63b78u    /* reflected */

static uint32_t crc32c_table[256];

static void crc32c_fill_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? CRC32C_POLYNOMIAL : 0);
        crc32c_table[byte] = crc;
    }
}

static uint32_t crc32c_by_table(uint32_t crc, const unsigned char *p, ptrdiff_t nbytes) {
    for (; nbytes > 0; nbytes--) crc = crc >> 8 ^ crc32c_table[(crc ^ *p++) & 0xff];
    return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#ifdef __clang__    /* counts the instruction apart from SSE 4.2; gcc before 11 does not know it so */
#define CRC32C_TARGET __attribute__((target("sse4.2,crc32")))
#else
#define CRC32C_TARGET __attribute__((target("sse4.2")))
#endif
#define CRC32C_8(crc, word) ((uint32_t)_mm_crc32_u64((crc), (word)))
#define CRC32C_1(crc, byte) _mm_crc32_u8((crc), (byte))
static int crc32c_has_instruction(void) { __builtin_cpu_init(); return __builtin_cpu_supports("sse4.2"); }
#elif defined(__AARCH64EL__) && defined(__GNUC__) && (defined(__ARM_FEATURE_CRC32) || defined(__linux__))
#include <arm_acle.h>
#ifdef __ARM_FEATURE_CRC32    /* all that this is compiled for have it */
#define CRC32C_TARGET
static int crc32c_has_instruction(void) { return 1; }
#else
#include <sys/auxv.h>
#ifdef __clang__
#define CRC32C_TARGET __attribute__((target("crc")))
#else
#define CRC32C_TARGET __attribute__((target("+crc")))
#endif
/* HWCAP_CRC32, which older headers lack */
static int crc32c_has_instruction(void) { return (getauxval(AT_HWCAP) & 1 << 7) != 0; }
#endif
#define CRC32C_8(crc, word) __crc32cd((crc), (word))
#define CRC32C_1(crc, byte) __crc32cb((crc), (byte))
#endif

#ifdef CRC32C_8
#define CRC32C_LANE 4096

/* What a checksum becomes when CRC32C_LANE zero bytes follow, for each of its four bytes. */
static uint32_t crc32c_shift[4][256];

static void crc32c_fill_shift(void) {
    static const unsigned char zeros[CRC32C_LANE];
    uint32_t of_bit[32];
    for (int bit = 0; bit < 32; bit++) of_bit[bit] = crc32c_by_table((uint32_t)1 << bit, zeros, CRC32C_LANE);
    for (int k = 0; k < 4; k++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t sum = 0;
            for (int bit = 0; bit < 8; bit++) if (byte >> bit & 1) sum ^= of_bit[8 * k + bit];
            crc32c_shift[k][byte] = sum;
        }
}

static inline uint32_t crc32c_over_lane(uint32_t crc) {
    return crc32c_shift[0][crc & 0xff] ^ crc32c_shift[1][crc >> 8 & 0xff] ^ crc32c_shift[2][crc >> 16 & 0xff]
           ^ crc32c_shift[3][crc >> 24];
}

CRC32C_TARGET static uint32_t crc32c_by_instruction(uint32_t crc, const unsigned char *p, ptrdiff_t nbytes) {
    uint64_t a, b, c;
    for (; nbytes >= 3 * CRC32C_LANE; nbytes -= 3 * CRC32C_LANE) {
        uint32_t second = 0, third = 0;
        for (const unsigned char *end = p + CRC32C_LANE; p < end; p += 8) {
            memcpy(&a, p, 8);
            memcpy(&b, p + CRC32C_LANE, 8);
            memcpy(&c, p + 2 * CRC32C_LANE, 8);
            crc = CRC32C_8(crc, a);
            second = CRC32C_8(second, b);
            third = CRC32C_8(third, c);
        }
        p += 2 * CRC32C_LANE;
        crc = crc32c_over_lane(crc32c_over_lane(crc) ^ second) ^ third;
    }
    for (; nbytes >= 8; nbytes -= 8, p += 8) {
        memcpy(&a, p, 8);
        crc = CRC32C_8(crc, a);
    }
    for (; nbytes > 0; nbytes--) crc = CRC32C_1(crc, *p++);
    return crc;
}
#endif

static uint32_t (*crc32c_way)(uint32_t, const unsigned char *, ptrdiff_t) = crc32c_by_table;

/* Before the first use. */
static void crc32c_start(int plain) {
    crc32c_fill_table();
    crc32c_way = crc32c_by_table;
#ifdef CRC32C_8
    crc32c_fill_shift();
    if (!plain && crc32c_has_instruction()) crc32c_way = crc32c_by_instruction;
#else
    (void)plain;
#endif
}

/* The checksum of bytes after others whose checksum is `crc`; 0: there were none. */
static inline uint32_t crc32c(uint32_t crc, const unsigned char *p, ptrdiff_t nbytes) {
    return ~crc32c_way(~crc, p, nbytes);
}

#endif
