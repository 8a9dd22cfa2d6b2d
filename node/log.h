/* Lines of this node's log on their way to the hub, which keeps the last ones
 * (`starswitch-hub logs`).
 *
 * They go over the control connection, LOG_AT_ONCE in half a second at most,
 * behind PING; while the node has no hub they wait. Where there are more than
 * LOG_WAITING the oldest are left out, and counted. */
#ifndef NODE_LOG_H
#define NODE_LOG_H

#include "codec/msg.h"

enum { LOG_WAITING = 32, LOG_AT_ONCE = 10 };

struct node;

struct log_line;

struct node_log {
    struct log_line *first, *last; /* with a count of 0: none */
    unsigned count;
    unsigned sent; /* since the last tick */
    uint64_t left_out;
};

void node_log_free(struct node_log *log);
/* Another half second begins. */
void node_log_tick(struct node *node);

#endif
