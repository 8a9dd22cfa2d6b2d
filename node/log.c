#include "node/log.h"

#include <string.h>

#include "node/state.h"

static void send_lines(struct node *node)
{
    struct node_log *log = &node->log;

    if (node->hub == HUB_MEMBER && node->welcome.protocol < PROTOCOL_TOLD)
        log->count = 0; /* an older hub keeps no lines */
    while (node->hub == HUB_MEMBER && log->count && log->sent < LOG_AT_ONCE) {
        struct msg msg = {.kind = MSG_LOG};

        msg.log = log->lines[log->first];
        msg.log.left_out = log->left_out;
        log->left_out = 0;
        log->first = (log->first + 1) % LOG_WAITING;
        log->count--;
        log->sent++;
        node_to_hub(node, &msg, NULL);
    }
}

void node_log_tick(struct node *node)
{
    node->log.sent = 0;
    send_lines(node);
}

void node_on_local_log(struct node *node, const struct event *event)
{
    const struct msg_local_log *said = &event->msg->local_log;
    struct node_log *log = &node->log;
    struct msg_log *line;

    if (log->count == LOG_WAITING) {
        log->first = (log->first + 1) % LOG_WAITING;
        log->count--;
        log->left_out++;
    }
    line = &log->lines[(log->first + log->count++) % LOG_WAITING];
    *line = (struct msg_log){.time = said->time, .level = said->level};
    memcpy(line->event, said->event, sizeof line->event);
    memcpy(line->text, said->text, sizeof line->text);
    memcpy(line->rest, said->rest, sizeof line->rest);
    send_lines(node);
}
