/* Conditions and the clock of POSIX. Waits use CLOCK_MONOTONIC: the wall clock may be set back, which would lengthen a
 * wait. */
#ifndef TYPEDBYTES_PTHREADS_H
#define TYPEDBYTES_PTHREADS_H

#include <pthread.h>
#include <time.h>

static inline long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void sleep_ns(long long ns) {
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&t, NULL);
}

#ifdef __APPLE__
static inline int start_condition(pthread_cond_t *condition) { return pthread_cond_init(condition, NULL); }
static inline void wait_at_most(pthread_cond_t *condition, pthread_mutex_t *mutex, long nanoseconds) {
    struct timespec t = {0, nanoseconds};
    pthread_cond_timedwait_relative_np(condition, mutex, &t);
}
#else
static inline int start_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    int failed = pthread_condattr_init(&attributes);
    if (failed) return failed;
    failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!failed) failed = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return failed;
}
static inline void wait_at_most(pthread_cond_t *condition, pthread_mutex_t *mutex, long nanoseconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += nanoseconds;
    if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
    pthread_cond_timedwait(condition, mutex, &t);
}
#endif

#endif
