#include "node/log.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "node/state.h"

struct log_line {
    struct msg_log said;
    struct log_line *next;
};

static void drop_first(struct node_log *log)
{
    struct log_line *line = log->first;

    log->first = line->next;
    log->count--;
    free(line);
}

void node_log_free(struct node_log *log)
{
    while (log->count)
        drop_first(log);
}

static void send_lines(struct node *node)
{
    struct node_log *log = &node->log;

    if (node->hub == HUB_MEMBER && node->welcome.protocol < PROTOCOL_TOLD)
        node_log_free(log); /* an older hub keeps no lines */
    while (node->hub == HUB_MEMBER && log->count && log->sent < LOG_AT_ONCE) {
        struct msg msg = {.kind = MSG_LOG};

        msg.log = log->first->said;
        msg.log.left_out = log->left_out;
        log->left_out = 0;
        drop_first(log);
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
    struct log_line *line = need_memory(1, sizeof *line);

    line->said = (struct msg_log){.time = said->time, .level = said->level};
    memcpy(line->said.event, said->event, sizeof line->said.event);
    memcpy(line->said.text, said->text, sizeof line->said.text);
    memcpy(line->said.rest, said->rest, sizeof line->said.rest);
    if (log->count == LOG_WAITING) {
        drop_first(log);
        log->left_out++;
    }
    if (log->count)
        log->last->next = line;
    else
        log->first = line;
    log->last = line;
    log->count++;
    send_lines(node);
}
