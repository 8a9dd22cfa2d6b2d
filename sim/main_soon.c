/* What is not there yet: each goes away with its command. */
#include <stdio.h>

#include "core/status.h"
#include "sim/main.h"

static int soon(const char *name)
{
    (void)fprintf(stderr, "starswitch-sim: %s is not there yet\n", name);
    return status_exit_code(STATUS_UNAVAILABLE);
}

#define SOON(name)                                                             \
    int sim_##name(int count, char **words)                                    \
    {                                                                          \
        (void)count;                                                           \
        return soon(words[0]);                                                 \
    }


SOON(soak)
