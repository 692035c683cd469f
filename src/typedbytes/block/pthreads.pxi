# Mutexes, conditions and the clock of POSIX, without the GIL: used by coalesce_threads.pxi.
#
# Invariant: no wait depends on the time of day.

cdef extern from *:
    """
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
    /* Waits use CLOCK_MONOTONIC: the wall clock may be set back, which would lengthen a wait. */
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
    """
    ctypedef struct pthread_mutex_t:
        pass
    ctypedef struct pthread_cond_t:
        pass
    int pthread_mutex_init(pthread_mutex_t*, void*) nogil
    int pthread_mutex_destroy(pthread_mutex_t*) nogil
    int pthread_mutex_lock(pthread_mutex_t*) nogil
    int pthread_mutex_trylock(pthread_mutex_t*) nogil
    int pthread_mutex_unlock(pthread_mutex_t*) nogil
    int pthread_cond_destroy(pthread_cond_t*) nogil
    int pthread_cond_wait(pthread_cond_t*, pthread_mutex_t*) nogil
    int pthread_cond_broadcast(pthread_cond_t*) nogil
    long long now_ns() nogil
    void sleep_ns(long long ns) nogil
    int start_condition(pthread_cond_t*) nogil    # returns an errno
    # nanoseconds must be less than 10**9.
    void wait_at_most(pthread_cond_t*, pthread_mutex_t*, long nanoseconds) nogil

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() nogil
