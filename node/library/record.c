/* What a link's machine was told and did: its recording, with the times of the
 * network's thread, how much has travelled, and how far the run is. */
#include "node/library/inside.h"

static void complain(void *self, const char *sentence)
{
    struct star_link *link = self;

    shell_tell(&link->shell, STAR_ERROR, "record_failed", sentence);
}

enum status link_record(struct star_link *link, struct why *why)
{
    const char *path = link->options.record;

    if (!path || !path[0])
        return STATUS_OK;
    return record_open_node(path, link->shell.identity.name,
                            (struct spool_complaint){complain, link},
                            &link->record, why);
}

/* Whether the hub says something of an exchange. */
static bool is_sign(const struct event *event)
{
    return event->kind == EVENT_MESSAGE && event->peer != PEER_TRAINER &&
           (event->msg->kind == MSG_GRANT || event->msg->kind == MSG_CREDIT ||
            event->msg->kind == MSG_VERDICT || event->msg->kind == MSG_RESULT);
}

/* How far the run is, for star_look. */
static void note_run(struct star_link *link)
{
    struct node_run run = node_run(link->node);

    link->samples = run.samples;
    link->version = run.version;
    link->members = run.members;
}

void link_watch(void *self, const struct event *event,
                const struct effects *effects)
{
    struct star_link *link = self;

    if (event->kind == EVENT_MESSAGE && event->peer != PEER_TRAINER &&
        event->payload)
        link->bytes_down += event->payload->size;
    for (unsigned i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->list[i];

        if (effect->kind == EFFECT_SEND && effect->peer != PEER_TRAINER &&
            effect->payload)
            link->bytes_up += effect->payload->size;
    }
    note_run(link);
    link_note_centre(link);
    link->gives = node_gives(link->node);
    if (is_sign(event))
        link->taken = net_now();
    record_step(link->record, event, effects);
}
