#include <time.h>

#include "net/net.h"

static nanos read_clock(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (nanos)now.tv_sec * SECOND + now.tv_nsec;
}

nanos net_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

nanos net_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}
