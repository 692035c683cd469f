/* Messages through the two sides of a ring, in C: as fast as the ring is, each verified by its number and its bytes.
 *
 * As a library, for tests/soak/block_ring.py and bench/ring.py: one side of a ring whose memories Python has agreed on.
 * As a program, `ring_driver COUNT [SECONDS]`: both sides as threads of one process, for ThreadSanitizer and other
 * processors; SECONDS is how long a wait may last.
 * Not here: the ring. Invariant: what ends well has seen every byte in its place; what hangs ends by a timeout. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <poll.h>

/* A wait that ran out has its time once more: the machine, or the other side, may have stood still meanwhile, without
 * having rung yet. Where a wake-up is lost no bell comes in that time either. */
static int poll_twice(struct pollfd *descriptors, nfds_t count, int milliseconds) {
    int found = poll(descriptors, count, milliseconds);
    return found ? found : poll(descriptors, count, milliseconds);
}
#define poll poll_twice

#include "block/ring.h"

enum { POOL = 1 << 17, LARGEST = 1 << 16, BUFFER = 1 << 16, HEAD = 16 };
enum { RIGHT, HUNG, ENDED, BROKEN, CHANGED };    /* results */

static unsigned char pool[POOL];
static int timeout_ms = 300000;    /* the machine may stand still for a while */

static uint64_t mixed(uint64_t n) {    /* splitmix64 */
    n += 0x9e3779b97f4a7c15u;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    return n ^ n >> 31;
}

__attribute__((constructor)) static void fill_pool(void) {
    for (uint64_t i = 0; i < POOL; i++) pool[i] = (unsigned char)mixed(i);
}

/* The body of a message: mostly small, some of hundreds of bytes, few around and above the capacity. */
static const unsigned char *body_of(uint64_t number, uint64_t capacity, uint32_t *nbytes) {
    uint64_t h = mixed(number), size = h >> 16 & 0xffffff;
    uint64_t largest = 2 * capacity < LARGEST ? 2 * capacity : LARGEST;
    *nbytes = (uint32_t)(size % ((h & 1023) == 0 ? largest : (h & 1023) < 128 ? 512 : 64));
    return pool + (h >> 40) % (POOL - LARGEST);
}

static uint32_t sum_of(const unsigned char *p, size_t nbytes) {
    uint64_t sum = nbytes, word;
    for (; nbytes >= 8; nbytes -= 8, p += 8) {
        memcpy(&word, p, 8);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    while (nbytes--) sum = (sum ^ *p++) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(sum >> 32);
}

/* As ring.pxi waits, or as an event loop does; returns a result. */
static int await(ring *r, int for_data, int is_polled) {
    ring_guard *guard = for_data ? &r->reading : &r->writing;
    long long now = now_ns();
    if (r->spin_ns && now >= guard->paused_until) {
        int ready = ring_spin(r, for_data, now + r->spin_ns);
        ring_spun(r, guard, ready);
        if (ready) return RIGHT;
    }
    for (;;) {
        int failed = 0, ended;
        if (is_polled) {
            struct pollfd one = {r->descriptor, POLLIN, 0};
            if (!ring_poll(r) && poll(&one, 1, timeout_ms) == 0) failed = ETIMEDOUT;
        } else {
            failed = ring_sleep(r, for_data, timeout_ms);
        }
        if (failed == ETIMEDOUT) return HUNG;    /* also where bytes have come: the wake-up was lost */
        ended = ring_get(&r->ended);
        if (ring_ready(r, for_data)) return RIGHT;
        if (ring_get(&r->fault)) return BROKEN;
        if (ended) return ENDED;
    }
}

static int write_all(ring *r, const unsigned char *p, size_t nbytes) {
    while (nbytes) {
        int failed = ring_ready(r, 0) ? RIGHT : await(r, 0, 0);
        size_t n;
        if (failed) return failed;
        n = ring_write(r, p, nbytes);
        p += n;
        nbytes -= n;
    }
    return RIGHT;
}

static int read_some(ring *r, unsigned char *p, size_t capacity, int is_polled, size_t *nread) {
    int failed = ring_ready(r, 1) ? RIGHT : await(r, 1, is_polled);
    if (!failed) *nread = ring_read(r, p, capacity);
    return failed;
}

typedef struct {
    ring *ring;
    uint64_t nsent, nread;
    int is_polled, even;    /* even: the bytes of each message, without pauses; 0: of all sizes */
    int result;
} side;

static int send_all(side *s) {
    unsigned char message[HEAD + LARGEST];
    for (uint64_t number = 0; number < s->nsent; number++) {
        uint32_t nbytes, sum;
        const unsigned char *body = body_of(number, s->ring->capacity, &nbytes);
        int failed;
        if (s->even) {
            nbytes = (uint32_t)s->even - HEAD;
        } else if (number % 4096 == 0) {    /* around the moment when the other side falls asleep */
            long long until = now_ns() + (long long)(mixed(~number) % 100000);
            while (now_ns() < until) ring_pause();
        }
        sum = sum_of(body, nbytes);
        memcpy(message, &number, 8);
        memcpy(message + 8, &nbytes, 4);
        memcpy(message + 12, &sum, 4);
        memcpy(message + HEAD, body, nbytes);
        failed = write_all(s->ring, message, HEAD + nbytes);
        if (failed) return failed;
    }
    return RIGHT;
}

static int verify_all(side *s) {
    static __thread unsigned char buffer[BUFFER + HEAD + LARGEST];
    size_t held = 0, at = 0, n;
    for (uint64_t number = 0; number < s->nread; number++) {
        uint64_t found;
        uint32_t expected, nbytes = 0, sum = 0;
        const unsigned char *body = body_of(number, s->ring->capacity, &expected);
        if (s->even) expected = (uint32_t)s->even - HEAD;
        while (held - at < HEAD + (size_t)expected) {
            int failed;
            if (at + HEAD + LARGEST > sizeof buffer) {
                memmove(buffer, buffer + at, held - at);
                held -= at;
                at = 0;
            }
            failed = read_some(s->ring, buffer + held, sizeof buffer - held, s->is_polled, &n);
            if (failed) return failed;
            held += n;
        }
        memcpy(&found, buffer + at, 8);
        memcpy(&nbytes, buffer + at + 8, 4);
        memcpy(&sum, buffer + at + 12, 4);
        if (found != number || nbytes != expected || sum != sum_of(buffer + at + HEAD, nbytes)
                || memcmp(buffer + at + HEAD, body, nbytes)) return CHANGED;
        at += HEAD + nbytes;
        if (at == held) at = held = 0;
    }
    return RIGHT;
}

static void *send_in_thread(void *s) {
    ((side *)s)->result = send_all(s);
    return NULL;
}

/* Send and verify, both at once; returns a result. */
static int run_side(side *s) {
    pthread_t thread;
    if (s->nsent && s->nread) {
        int result;
        if (pthread_create(&thread, NULL, send_in_thread, s)) return BROKEN;
        result = verify_all(s);
        pthread_join(thread, NULL);
        return result ? result : s->result;
    }
    return s->nsent ? send_all(s) : verify_all(s);
}

/* One side of a ring, for as long as the process lives; NULL where there is no memory. */
ring *open_side(unsigned char *mine, const unsigned char *theirs, uint64_t capacity, int descriptor,
                long long spin_ns) {
    ring *r = malloc(sizeof *r);
    return r && !ring_start(r, mine, theirs, capacity, descriptor, spin_ns) ? r : NULL;
}

/* Send and verify; `positions` becomes how far the ring has come. */
int drive(ring *r, uint64_t nsent, uint64_t nread, int is_polled, int even, uint64_t *positions) {
    side s = {r, nsent, nread, is_polled, even, RIGHT};
    int result = run_side(&s);
    positions[0] = r->tail;
    positions[1] = r->head;
    ring_publish_head(r);    /* the other side may wait for space */
    ring_ring(r);
    return result;
}

/* Send bytes that come back, and note how long each took, in nanoseconds. `latest`: up to that many pass before
 * each is read, so that the other side often publishes just when this one falls asleep; a wait for ever ends soon. */
int time_echoes(ring *r, size_t nbytes, size_t count, uint32_t latest, uint32_t *times) {
    static unsigned char buffer[BUFFER];
    const int usual_ms = timeout_ms;
    int result = RIGHT;
    if (latest) timeout_ms = 20000;
    for (size_t i = 0; i < count && !result; i++) {
        long long started = now_ns();
        size_t n = 0;
        result = write_all(r, pool, nbytes);
        while (latest && now_ns() < started + (long long)(mixed(i) % latest)) continue;
        for (size_t got = 0; got < nbytes && !result; got += n)
            result = read_some(r, buffer, nbytes - got, 0, &n);
        times[i] = (uint32_t)(now_ns() - started);
    }
    timeout_ms = usual_ms;
    return result;
}

/* The nanoseconds that a cache line takes to another processor and back, in the mean: what a ring cannot go below. */
static _Alignas(128) uint64_t there, back;
static void *answer_line(void *count) {
    for (uint64_t i = 1; i <= *(uint64_t *)count; i++) {
        while (__atomic_load_n(&there, __ATOMIC_ACQUIRE) != i) ring_pause();
        __atomic_store_n(&back, i, __ATOMIC_RELEASE);
    }
    return NULL;
}
double time_cache_line(uint64_t count) {
    pthread_t thread;
    long long started;
    there = back = 0;
    if (pthread_create(&thread, NULL, answer_line, &count)) return -1;
    started = now_ns();
    for (uint64_t i = 1; i <= count; i++) {
        __atomic_store_n(&there, i, __ATOMIC_RELEASE);
        while (__atomic_load_n(&back, __ATOMIC_ACQUIRE) != i) ring_pause();
    }
    pthread_join(thread, NULL);
    return (double)(now_ns() - started) / (double)count;
}

/* ---- both sides in one process */

static void *run_in_thread(void *s) {
    ((side *)s)->result = run_side(s);
    shutdown(((side *)s)->ring->descriptor, SHUT_RDWR);    /* a side that fails ends the other */
    return NULL;
}

/* Calls that come at about the moment when the other side, which does not spin, falls asleep: before or after, since
 * both wait for a while. */
static void *echo_in_thread(void *data) {
    side *s = data;
    uint64_t number;
    for (uint64_t i = 0; i < s->nread && !s->result; i++) {
        long long until = now_ns() + (long long)(mixed(~i) % 2000);
        size_t n;
        while (now_ns() < until) continue;
        s->result = read_some(s->ring, (unsigned char *)&number, 8, 0, &n);
        if (!s->result) s->result = write_all(s->ring, (unsigned char *)&number, n);
    }
    return NULL;
}

/* As poll_twice. */
static int spin_twice(ring *r) {
    for (int i = 0; i < 2; i++) {
        long long until = now_ns() + timeout_ms * 1000000LL;
        while (now_ns() < until) {
            if (ring_ready(r, 1)) return 1;
            ring_pause();
        }
    }
    return ring_ready(r, 1);
}

static int call_all(side *s) {
    int result = RIGHT;
    uint64_t found = 0;
    for (uint64_t number = 0; number < s->nsent && !result; number++) {
        long long until = now_ns() + (long long)(mixed(number) % 2000);
        size_t n = 0;
        while (now_ns() < until) continue;
        result = write_all(s->ring, (unsigned char *)&number, 8);
        /* Awake to the end: a side that falls asleep publishes what it has read, and so wakes the other one up. */
        if (!result && !spin_twice(s->ring)) result = HUNG;
        if (!result) result = read_some(s->ring, (unsigned char *)&found, 8, 0, &n);
        if (!result && (n != 8 || found != number)) result = CHANGED;
    }
    return result;
}

static int run_both(uint64_t capacity, long long spin_ns, uint64_t there, uint64_t back, int is_polled, int are_calls) {
    int sockets[2], result;
    unsigned char *memory[2];
    ring rings[2];
    pthread_t thread;
    side ours = {&rings[0], there, back, 0, 0, RIGHT}, theirs = {&rings[1], back, there, is_polled, 0, RIGHT};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) return BROKEN;
    for (int i = 0; i < 2; i++) {
        if (posix_memalign((void **)&memory[i], 4096, RING_DATA + capacity)) return BROKEN;
        memset(memory[i], 0, RING_DATA);
    }
    for (int i = 0; i < 2; i++)
        if (ring_start(&rings[i], memory[i], memory[1 - i], capacity, sockets[i], spin_ns)) return BROKEN;
    if (pthread_create(&thread, NULL, are_calls ? echo_in_thread : run_in_thread, &theirs)) return BROKEN;
    result = are_calls ? call_all(&ours) : run_side(&ours);
    if (result) shutdown(sockets[0], SHUT_RDWR);
    pthread_join(thread, NULL);
    printf("%lld bytes, spin %lld ns, %lld there, %lld back%s: %d %d, %lld wraps\n", (long long)capacity, spin_ns,
           (long long)there, (long long)back, is_polled ? ", polled" : are_calls ? ", calls" : "", result,
           theirs.result, (long long)((rings[0].tail + rings[1].tail) / capacity));
    for (int i = 0; i < 2; i++) {
        ring_stop(&rings[i]);
        free(memory[i]);
        close(sockets[i]);
    }
    return result ? result : theirs.result;
}

int main(int argc, char **argv) {
    uint64_t each = argc > 1 ? strtoull(argv[1], NULL, 10) / 16 + 1 : 1000;
    int failed;
    if (argc > 2) timeout_ms = 1000 * atoi(argv[2]);
    failed = run_both(4096, 0, each, each, 0, 1);
    for (uint64_t capacity = 4096; capacity <= 262144 && !failed; capacity *= 64)
        for (long long spin = 0; spin <= 50000 && !failed; spin += 50000) {
            failed = run_both(capacity, spin, each, 0, 0, 0) || run_both(capacity, spin, each, 0, 1, 0)
                     || run_both(capacity, spin, each, each, 0, 0);
        }
    return failed;
}
