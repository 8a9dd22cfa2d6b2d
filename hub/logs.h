/* The last lines of each node's log, for `starswitch-hub logs`.
 *
 * A node that is gone leaves its lines here: they say why. What they take is
 * bounded: LOGS_LINES of each of LOGS_NODES names, of which the one that has
 * been silent longest makes room for another, and LOGS_RATE a second of each;
 * what is more is counted. Texts are as the node has sent them: who shows them
 * quotes them. */
#ifndef HUB_LOGS_H
#define HUB_LOGS_H

#include <stdint.h>

#include "codec/msg.h"
#include "core/time.h"
#include "hub/handler.h"

enum { LOGS_NODES = 64, LOGS_LINES = 128, LOGS_RATE = 50 };

/* Line n is at n % LOGS_LINES; those there are end before `next`. */
struct logs_node {
    char name[40];
    uint64_t first, next; /* 0 at first: the hub's first line is 1 */
    nanos heard, since;   /* last line; beginning of the second */
    unsigned taken;       /* in it */
    uint64_t left_out;    /* since the last line */
    struct msg_log lines[LOGS_LINES];
};

struct logs {
    struct logs_node *nodes[LOGS_NODES];
    unsigned count;
};

handler hub_on_log;
void logs_free(struct hub *hub);
/* NULL: nothing was heard of one of this name. */
const struct logs_node *logs_of(const struct logs *logs, const char *name);

#endif
