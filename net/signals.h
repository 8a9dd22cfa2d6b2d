/* Signals as something to read, for programs; a library has none.
 *
 * A signalfd, which gets the signals that every thread blocks. Libraries such
 * as OpenBLAS start threads before main() that block nothing: so there is a
 * handler as well, which makes the thread it interrupts block the signal, and
 * sends it again. */
#ifndef NET_SIGNALS_H
#define NET_SIGNALS_H

#include <signal.h>

#include "core/status.h"

struct signals {
    int fd; /* to poll; -1 if there is none */
    sigset_t set;
    struct sigaction before[NSIG]; /* what they did before, of those in set */
};

/* The caller blocks the signals. With an empty set, nothing is done. */
enum status signals_open(struct signals *signals, const sigset_t *set,
                         struct why *why) MUST_CHECK;
/* Gives the signals back the actions that they had. */
void signals_close(struct signals *signals);
/* The number of one that has come, or 0. */
int signals_next(const struct signals *signals);

#endif
