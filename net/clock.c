#include <time.h>

#include "net/net.h"

nanos net_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (nanos)now.tv_sec * SECOND + now.tv_nsec;
}
