#include "node/state.h"

#include <stdio.h>

#define STARVED_WAIT (10 * SECOND) /* until that is said again */

void node_job(struct node *node, struct job *job)
{
    job->id = ++node->next_job;
    effects_job(node->out, job);
}

void node_to_hub(struct node *node, const struct msg *msg, struct blob *payload)
{
    bool bulk = msg_info(msg->kind)->channel == CHANNEL_BULK;

    if (bulk ? node->bulk_up : node->control_up)
        effects_send(node->out, bulk ? PEER_BULK : PEER_CONTROL, msg, payload);
}

void node_credit(struct node *node, uint64_t exchange,
                 const struct blob *payload)
{
    struct msg msg = {.kind = MSG_CREDIT};

    msg.credit.exchange = exchange;
    msg.credit.more = payload ? payload->wire_bytes : 0;
    if (msg.credit.more)
        node_to_hub(node, &msg, NULL);
}

void node_to_trainer(struct node *node, const struct msg *msg,
                     struct blob *payload)
{
    effects_send(node->out, PEER_TRAINER, msg, payload);
}

size_t node_chunk_length(const struct node *node, uint32_t chunk)
{
    return chunk_length(node->config.schema->elements, node->chunk_elements,
                        chunk);
}

struct extent node_extent(const struct node *node, uint32_t chunk)
{
    struct extent extent =
        extent_of(node->exempt, node->config.schema->elements,
                  node->chunk_elements, chunk);

    extent.scale = node->config.scale;
    return extent;
}

void node_hub_is_at(struct node *node, uint64_t version)
{
    if (version > node->hub_version)
        node->hub_version = version;
}

uint32_t node_fragments(const struct node *node, enum exchange kind)
{
    uint32_t fragments = node->welcome.fragments;

    if (kind == EXCHANGE_GRADIENT || fragments < 2)
        return 1;
    return fragments < node->chunks ? fragments : node->chunks;
}

void node_end(struct node *node, bool refused, enum farewell farewell,
              const char *text)
{
    struct msg msg = {.kind = MSG_LOCAL_BYE};

    if (node->hub == HUB_OVER)
        return;
    node->hub = HUB_OVER;
    msg.local_bye.refused = refused;
    msg.local_bye.farewell = farewell;
    msg.local_bye.final = 1;
    (void)snprintf(msg.local_bye.text, sizeof msg.local_bye.text, "%s", text);
    node_to_trainer(node, &msg, NULL);
    effects_note(node->out, refused ? NOTE_REFUSED : NOTE_ENDED, node->name,
                 "%s", text);
}

void node_starts(struct node *node)
{
    node->run = node->welcome.run;
    node->takes = 0;
    node->start = START_GO;
    node->diverged = false;
}

void node_lose(struct node *node, const char *why)
{
    node->dirty |= DIRTY_HUB;
    if (node->hub != HUB_MEMBER)
        return;
    node->hub = HUB_AWAY;
    node->lost = why;
}

void node_drop(struct node *node, const char *why)
{
    effects_drop(node->out, PEER_CONTROL);
    effects_drop(node->out, PEER_BULK);
    node->control_up = node->bulk_up = false;
    node_lose(node, why);
}

void node_starves(struct node *node)
{
    if (node->now < node->starved)
        return;
    node->starved = node->now + STARVED_WAIT;
    effects_note(node->out, NOTE_NO_MEMORY, node->name,
                 "there is not enough memory for what the hub and this node "
                 "exchange: what it learns meanwhile is offered later");
}

void node_drop_failed(struct node *node, const struct job *job, const char *why)
{
    if (job->status == STATUS_NO_MEMORY) {
        why = "there is no memory for what the hub sends";
        node_starves(node);
    }
    node_drop(node, why);
}
