#include "hub/logs.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"

static struct logs_node *find(const struct logs *logs, const char *name)
{
    for (unsigned i = 0; i < logs->count; i++)
        if (strcmp(logs->nodes[i]->name, name) == 0)
            return logs->nodes[i];
    return NULL;
}

const struct logs_node *logs_of(const struct logs *logs, const char *name)
{
    return find(logs, name);
}

/* A place for another node: a new one, or the one that was silent longest. */
static struct logs_node *place(struct logs *logs)
{
    struct logs_node *oldest = logs->nodes[0];

    if (logs->count < LOGS_NODES) {
        oldest = need_memory(1, sizeof *oldest);
        logs->nodes[logs->count++] = oldest;
    }
    for (unsigned i = 0; i < logs->count && oldest->next; i++)
        if (logs->nodes[i]->heard < oldest->heard)
            oldest = logs->nodes[i];
    memset(oldest, 0, sizeof *oldest);
    oldest->first = oldest->next = 1;
    return oldest;
}

/* Whether there is room for one more in this second. */
static bool has_room(struct logs_node *node, nanos now)
{
    if (now - node->since >= SECOND) {
        node->since = now;
        node->taken = 0;
    }
    return node->taken++ < LOGS_RATE;
}

void hub_on_log(struct hub *hub, const struct incoming *in)
{
    struct logs_node *node = find(&hub->logs, in->member->name);
    uint64_t left_out = in->msg->log.left_out;
    struct msg_log *line;

    if (!node) {
        node = place(&hub->logs);
        memcpy(node->name, in->member->name, sizeof node->name);
        node->since = hub->now;
    }
    node->heard = hub->now;
    node->left_out += left_out < UINT32_MAX ? left_out : UINT32_MAX;
    if (!has_room(node, hub->now)) {
        node->left_out++;
        return;
    }
    line = &node->lines[node->next++ % LOGS_LINES];
    *line = in->msg->log;
    line->left_out = node->left_out;
    node->left_out = 0;
    if (node->next - node->first > LOGS_LINES)
        node->first = node->next - LOGS_LINES;
}

const struct logs *hub_logs(const struct hub *hub)
{
    return &hub->logs;
}

void logs_free(struct hub *hub)
{
    for (unsigned i = 0; i < hub->logs.count; i++)
        free(hub->logs.nodes[i]);
}
