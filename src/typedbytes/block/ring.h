/* Two rings of bytes in memory that two processes share, one for each direction; docs/block-format.md describes them.
 *
 * Each side writes one memory and maps the other's to read it. Nothing read from the other's is trusted: a position is
 * loaded once, compared, and only then used. This side's positions are kept here, and never read back from its memory,
 * since the other side may have kept a way to change that.
 *
 * Why no wake-up is lost: a publisher stores a position, fences, and loads the other side's `wait`; a side about to
 * sleep stores an odd `wait`, fences, and loads the position. One of the two fences is the first. Either the sleeper
 * sees the position, or the publisher sees the odd number and rings: a byte on the socket, which stays there until it
 * is read. `wait` counts, so each odd value is answered by one bell at most, by whichever thread.
 *
 * One thread may read while another writes. What both use is under `mutex`; of the threads that sleep one listens to
 * the socket, and the others wait for it. */
#ifndef TYPEDBYTES_RING_H
#define TYPEDBYTES_RING_H

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "block/pthreads.h"

enum {
    RING_TAIL = 128,      /* offsets in a memory: bytes published in this memory */
    RING_HEAD = 256,      /* bytes consumed of the other one */
    RING_WAIT = 384,      /* odd while its owner sleeps */
    RING_RUNG = 512,      /* bells that its owner has sent */
    RING_DATA = 4096,
    RING_PART = 16384,    /* bytes that are published at once: the other side copies them meanwhile */
    RING_POLLS = 32       /* looks between two looks at the clock */
};
#define RING_LONGEST_PAUSE 16000000LL
#define RING_SLICE 50000000LL

enum { RING_SOUND, RING_BAD_TAIL, RING_BAD_HEAD, RING_BAD_BELLS };    /* what the other side did */

/* The limit on spinning, for one direction: after three waits that spun in vain, waits sleep at once for a while. */
typedef struct {
    int nvain;
    long long pause_ns;
    long long paused_until;
} ring_guard;

typedef struct {
    unsigned char *mine;
    const unsigned char *theirs;
    uint64_t capacity;          /* a power of two */
    int descriptor;             /* of the socket for the bells */
    long long spin_ns;          /* 0: never */
    /* the thread that writes */
    uint64_t tail;
    uint64_t freed;             /* the other side's head, when it was last seen */
    ring_guard writing;
    /* the thread that reads */
    uint64_t head;
    uint64_t published_head;
    uint64_t filled;            /* the other side's tail, when it was last seen */
    ring_guard reading;
    /* both: atomic, or under the mutex */
    pthread_mutex_t mutex;
    pthread_cond_t changed;    /* bells were read, or the connection has ended */
    uint64_t wait;
    uint64_t nrung;
    uint64_t nbells;
    uint64_t answered;          /* the other side's latest odd `wait` that was rung for */
    int listening;
    int ended;                  /* the other side has closed, or is gone */
    int fault;
} ring;

static inline uint64_t ring_order(uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

#if UINTPTR_MAX > 0xffffffffu
static inline uint64_t ring_load(const unsigned char *word) {
    return ring_order(__atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE));
}
static inline void ring_store(unsigned char *word, uint64_t value) {
    __atomic_store_n((uint64_t *)word, ring_order(value), __ATOMIC_RELEASE);
}
#define RING_IS_SUPPORTED 1
#else    /* loads and stores of 64 bits are not atomic: no ring is made */
static inline uint64_t ring_load(const unsigned char *word) { return *(const volatile uint64_t *)word; }
static inline void ring_store(unsigned char *word, uint64_t value) { *(volatile uint64_t *)word = value; }
#define RING_IS_SUPPORTED 0
#endif

static inline void ring_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

static inline void ring_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

static inline int ring_get(const int *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void ring_set(int *flag, int value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }

static inline int ring_start(ring *r, unsigned char *mine, const unsigned char *theirs, uint64_t capacity,
                             int descriptor, long long spin_ns) {
    int failed;
    memset(r, 0, sizeof *r);
    r->mine = mine;
    r->theirs = theirs;
    r->capacity = capacity;
    r->descriptor = descriptor;
    r->spin_ns = spin_ns;
    r->reading.pause_ns = r->writing.pause_ns = 20 * spin_ns;
    failed = pthread_mutex_init(&r->mutex, NULL);
    return failed ? failed : start_condition(&r->changed);
}

static inline void ring_stop(ring *r) {
    pthread_mutex_destroy(&r->mutex);
    pthread_cond_destroy(&r->changed);
}

/* Whether there are bytes to read; also no when the ring has a fault. */
static inline int ring_readable(ring *r) {
    uint64_t tail;
    if (r->filled != r->head) return 1;
    tail = ring_load(r->theirs + RING_TAIL);
    if (tail - r->head > r->capacity) {    /* too many, or fewer than before */
        ring_set(&r->fault, RING_BAD_TAIL);
        return 0;
    }
    r->filled = tail;
    return tail != r->head;
}

/* Whether there is space to write. */
static inline int ring_writable(ring *r) {
    uint64_t head;
    if (r->tail - r->freed < r->capacity) return 1;
    head = ring_load(r->theirs + RING_HEAD);
    if (head - r->freed > r->tail - r->freed) {    /* more than was written, or less than before */
        ring_set(&r->fault, RING_BAD_HEAD);
        return 0;
    }
    r->freed = head;
    return r->tail - head < r->capacity;
}

static inline int ring_ready(ring *r, int for_data) { return for_data ? ring_readable(r) : ring_writable(r); }

/* After a position was published: ring, unless the other side is awake or was rung for its sleep. */
static inline void ring_ring(ring *r) {
    uint64_t wait;
    ssize_t n;
    ring_fence();
    wait = ring_load(r->theirs + RING_WAIT);
    if (!(wait & 1) || (int64_t)(wait - __atomic_load_n(&r->answered, __ATOMIC_RELAXED)) <= 0) return;
    pthread_mutex_lock(&r->mutex);
    if ((int64_t)(wait - r->answered) > 0) {    /* else another thread has rung for it, or for a later sleep */
        __atomic_store_n(&r->answered, wait, __ATOMIC_RELAXED);
        do n = send(r->descriptor, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        /* Afterwards: a bell that is counted is there to be read. */
        if (n == 1) ring_store(r->mine + RING_RUNG, ++r->nrung);
        else if (n < 0 && errno != EAGAIN) ring_set(&r->ended, 1);    /* EAGAIN: bells are waiting there already */
    }
    pthread_mutex_unlock(&r->mutex);
}

static inline void ring_publish_head(ring *r) {
    r->published_head = r->head;
    ring_store(r->mine + RING_HEAD, r->head);
}

/* Copy bytes out; there are some. */
static inline size_t ring_read(ring *r, unsigned char *target, size_t nbytes) {
    size_t at = r->head & (r->capacity - 1);
    size_t first;
    if (nbytes > r->filled - r->head) nbytes = r->filled - r->head;
    first = r->capacity - at < nbytes ? r->capacity - at : nbytes;
    memcpy(target, r->theirs + RING_DATA + at, first);
    memcpy(target + first, r->theirs + RING_DATA, nbytes - first);
    r->head += nbytes;
    if (r->head - r->published_head >= r->capacity / 4) {
        ring_publish_head(r);
        ring_ring(r);
    }
    return nbytes;
}

/* Copy bytes in and publish them; there is space. */
static inline size_t ring_write(ring *r, const unsigned char *p, size_t nbytes) {
    size_t at = r->tail & (r->capacity - 1);
    size_t first, space;
    if (nbytes > RING_PART) nbytes = RING_PART;
    space = r->capacity - (r->tail - r->freed);
    if (nbytes > space) nbytes = space;
    first = r->capacity - at < nbytes ? r->capacity - at : nbytes;
    memcpy(r->mine + RING_DATA + at, p, first);
    memcpy(r->mine + RING_DATA, p + first, nbytes - first);
    r->tail += nbytes;
    ring_store(r->mine + RING_TAIL, r->tail);
    ring_ring(r);
    return nbytes;
}

/* Look until it is ready or the time has come. */
static inline int ring_spin(ring *r, int for_data, long long until) {
    do {
        for (int i = 0; i < RING_POLLS; i++) {
            if (ring_ready(r, for_data)) return 1;
            ring_pause();
        }
    } while (now_ns() < until && !ring_get(&r->fault) && !ring_get(&r->ended));
    return 0;
}

static inline void ring_spun(ring *r, ring_guard *guard, int ready) {
    if (ready) {
        guard->nvain = 0;
        guard->pause_ns = 20 * r->spin_ns;
    } else if (++guard->nvain > 2) {
        guard->paused_until = now_ns() + guard->pause_ns;
        guard->pause_ns = guard->pause_ns > RING_LONGEST_PAUSE / 2 ? RING_LONGEST_PAUSE : 2 * guard->pause_ns;
    }
}

/* Read bells, or the end of the connection; returns an errno. Without the mutex. */
static inline int ring_listen(ring *r, int milliseconds, ssize_t *count) {
    char bells[512];
    struct pollfd one = {r->descriptor, POLLIN, 0};
    *count = -1;
    if (milliseconds < 0) {
        *count = recv(r->descriptor, bells, sizeof bells, 0);
        if (*count >= 0 || errno != EAGAIN) return *count < 0 ? errno : 0;
        /* something else has made it non-blocking */
    }
    if (milliseconds) {
        int found = poll(&one, 1, milliseconds);
        if (found <= 0) return found ? errno : ETIMEDOUT;
    }
    *count = recv(r->descriptor, bells, sizeof bells, MSG_DONTWAIT);
    return *count < 0 ? errno : 0;
}

/* Count the bells that were read; returns EINTR or ETIMEDOUT, or 0. With the mutex. */
static inline int ring_count(ring *r, ssize_t count, int failed) {
    if (count > 0) {
        r->nbells += (uint64_t)count;
        if (r->nbells > (r->wait + 1) / 2) ring_set(&r->fault, RING_BAD_BELLS);    /* one for each odd value, at most */
    } else if (count == 0 || (failed != EINTR && failed != EAGAIN && failed != ETIMEDOUT)) {
        ring_set(&r->ended, 1);
    }
    return failed == EINTR || failed == ETIMEDOUT ? failed : 0;
}

/* Sleep once, until something may have changed; -1 ms: without a limit. Returns EINTR, ETIMEDOUT or 0. */
static inline int ring_sleep(ring *r, int for_data, int milliseconds) {
    int result = 0;
    ssize_t count = -1;
    if (for_data && r->published_head != r->head) {
        ring_publish_head(r);
        ring_ring(r);
    }
    pthread_mutex_lock(&r->mutex);
    if (r->listening) {
        ring_fence();
        if (!ring_ready(r, for_data) && !ring_get(&r->ended) && !ring_get(&r->fault))
            wait_at_most(&r->changed, &r->mutex, RING_SLICE);
    } else {
        r->listening = 1;
        ring_store(r->mine + RING_WAIT, r->wait += 1 + (r->wait & 1));    /* even: one that polls has slept */
        ring_fence();
        if (!ring_ready(r, for_data) && !ring_get(&r->ended) && !ring_get(&r->fault)) {
            pthread_mutex_unlock(&r->mutex);
            result = ring_listen(r, milliseconds, &count);
            pthread_mutex_lock(&r->mutex);
            result = ring_count(r, count, result);
        } else if ((int64_t)(ring_load(r->theirs + RING_RUNG) - r->nbells) > 0) {
            result = ring_listen(r, 0, &count);
            result = ring_count(r, count, result);
        }
        ring_store(r->mine + RING_WAIT, ++r->wait);
        r->listening = 0;
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->mutex);
    return result;
}

/* Without waiting: whether there are bytes to read, the end, or a fault. If not, this side sleeps until it polls again,
 * and a bell will make the socket readable. No other thread may sleep. */
static inline int ring_poll(ring *r) {
    int ready;
    ssize_t count;
    if (r->published_head != r->head) {
        ring_publish_head(r);
        ring_ring(r);
    }
    pthread_mutex_lock(&r->mutex);
    if (r->wait & 1) {
        int failed = ring_listen(r, 0, &count);
        ring_count(r, count, failed);
        ring_store(r->mine + RING_WAIT, ++r->wait);
    }
    ring_store(r->mine + RING_WAIT, ++r->wait);
    ring_fence();
    ready = ring_ready(r, 1) || ring_get(&r->ended) || ring_get(&r->fault);
    if (ready) ring_store(r->mine + RING_WAIT, ++r->wait);
    pthread_mutex_unlock(&r->mutex);
    return ready;
}

#endif
