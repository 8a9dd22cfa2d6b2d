/* How long a small message takes to the hub and back while bulk data move.
 *
 * A process of its own that pings, waits for the answer, and rests for 2 ms.
 * To our hub it is a node that has joined with HELLO and sends PING over the
 * control channel, and never attaches a bulk channel; to the raw hub it is a
 * second TCP connection. It shares the link of node 0. */
#ifndef BENCH_KIT_PINGER_H
#define BENCH_KIT_PINGER_H

#include "bench/kit/process_star.h"

struct pinger {
    pid_t process;
    int orders;
    struct pings *pings; /* shared with the process */
};

/* `work` is pinger_of_raw or pinger_of_star. */
void pinger_start(struct pinger *pinger, const struct process_star *star,
                  void (*work)(const struct post *));
void pinger_of_raw(const struct post *post);
void pinger_of_star(const struct post *post);

/* Pings between these two; afterwards the round trips in seconds, their number
 * is returned. They stay valid until the next begin. */
void pinger_begin(struct pinger *pinger);
size_t pinger_end(struct pinger *pinger, double **took);

#endif
