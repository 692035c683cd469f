# Mutexes, conditions and the clock of POSIX, without the GIL: used by coalesce_threads.pxi, ring.pxi and calls.pxi.
#
# Invariant: no wait depends on the time of day.

cdef extern from "block/pthreads.h":
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
    int pthread_cond_signal(pthread_cond_t*) nogil
    long long now_ns() nogil
    void sleep_ns(long long ns) nogil
    int start_condition(pthread_cond_t*) nogil    # returns an errno
    # nanoseconds must be less than 10**9.
    void wait_at_most(pthread_cond_t*, pthread_mutex_t*, long nanoseconds) nogil

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() nogil
