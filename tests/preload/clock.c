/* Loaded before a program (LD_PRELOAD): its wall clock jumps back and forth by
 * three hours, every second and by the second, and starts where CLOCK_OFFSET
 * says (seconds). Monotonic clocks are left alone. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))

enum { JUMP = 3 * 3600 };

static int real(clockid_t clock, struct timespec *time)
{
    static int (*next)(clockid_t, struct timespec *);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    return next(clock, time);
}

SHOWN int clock_gettime(clockid_t clock, struct timespec *out)
{
    const char *offset = getenv("CLOCK_OFFSET");
    int failed = real(clock, out);

    if (failed || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return failed;
    out->tv_sec +=
        offset ? strtol(offset, NULL, 10) : (out->tv_sec % 3 - 1) * JUMP;
    return 0;
}

SHOWN int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    int failed = clock_gettime(CLOCK_REALTIME, &now);

    (void)zone;
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return failed;
}
