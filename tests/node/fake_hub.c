#include "tests/node/fake_hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "tests/hand.h"

enum { CHUNK_ELEMENTS = 4 };

static struct fake_hub *the_hub; /* a fake machine has no room for it; one at a
                                    time */

static void take_in(struct fake_hub *hub, peer_id peer, struct effects *out)
{
    struct msg msg = {.kind = MSG_WELCOME};

    hub->control = peer;
    msg.welcome = hub->welcome;
    effects_send(out, peer, &msg, NULL);
}

/* Grants all that was offered; exchanges are numbered from 1. */
static void grant(struct fake_hub *hub, struct effects *out)
{
    struct msg msg = {.kind = MSG_GRANT};

    msg.grant.credit = UINT64_MAX;
    while (!hub->mute && hub->granted < hub->last_offer) {
        msg.grant.exchange = ++hub->granted;
        effects_send(out, hub->control, &msg, NULL);
    }
}

/* Has all parameters `value` evaluated. */
static void show(struct fake_hub *hub, uint64_t review, struct effects *out)
{
    struct msg msg = {.kind = MSG_REVIEW};

    msg.review.review = review;
    for (; msg.review.chunk < FAKE_HUB_CHUNKS; msg.review.chunk++) {
        struct blob *chunk = hand_floats(
            hub->fake->pool,
            chunk_length(FAKE_HUB_ELEMENTS, CHUNK_ELEMENTS, msg.review.chunk),
            hub->value);

        msg.review.checksum = chunk->checksum;
        effects_send(out, hub->bulk, &msg, chunk);
        blob_unref(&chunk);
    }
}

static void take_review(struct fake_hub *hub,
                        const struct msg_reviewed *reviewed,
                        struct effects *out)
{
    hub->reviewed++;
    hub->made += reviewed->made;
    hub->loss = reviewed->loss;
    hub->mute = false;
    grant(hub, out);
}

static void take_offer(struct fake_hub *hub, const struct msg_offer *offer,
                       struct effects *out)
{
    const struct msg stop = {.kind = MSG_STOP};
    uint64_t exchange = offer->exchange;

    hub->last_offer = exchange;
    hub->heard[exchange % FAKE_HUB_HEARD].offer = *offer;
    if (hub->shows)
        show(hub, exchange, out);
    grant(hub, out);
    if (hub->calls)
        effects_send(out, hub->control, &stop, NULL);
}

static void take_ping(struct fake_hub *hub, peer_id peer, struct effects *out)
{
    struct msg pong = {.kind = MSG_PONG};

    effects_send(out, peer, &pong, NULL);
    grant(hub, out);
}

static void give_task(struct fake_hub *hub, struct effects *out)
{
    struct msg msg = {.kind = MSG_TASK};

    msg.task.task = ++hub->asked;
    msg.task.part = (uint32_t)(hub->asked % 8);
    msg.task.parts = 8;
    effects_send(out, hub->control, &msg, NULL);
}

static void take_report(struct fake_hub *hub, const struct msg_report *report)
{
    hub->reported++;
    hub->done += report->what == TASK_REPORT_DONE;
}

static void answer(struct fake_hub *hub, const struct msg_chunk *chunk,
                   struct blob *payload, struct effects *out)
{
    size_t first = (size_t)chunk->chunk * CHUNK_ELEMENTS;
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *result = hand_floats(
        hub->fake->pool,
        chunk_length(FAKE_HUB_ELEMENTS, CHUNK_ELEMENTS, chunk->chunk),
        hub->value + hub->rise * (double)chunk->exchange);

    hub->chunks++;
    hub->offered = hand_float(payload, 0);
    if (payload->size <= (FAKE_HUB_ELEMENTS - first) * sizeof(float))
        memcpy(&hub->heard[chunk->exchange % FAKE_HUB_HEARD].values[first],
               payload->bytes, payload->size);
    msg.result.exchange = chunk->exchange;
    msg.result.chunk = chunk->chunk;
    msg.result.verb = hub->verb;
    msg.result.weight = hub->weight;
    msg.result.version = msg.result.base = chunk->exchange;
    msg.result.checksum = result->checksum;
    effects_send(out, hub->bulk, &msg, result);
    blob_unref(&result);
}

static void teach(struct fake_machine *fake, const struct event *event,
                  struct effects *out)
{
    struct fake_hub *hub = the_hub;

    (void)fake;
    if (event->kind != EVENT_MESSAGE)
        return;
    if (event->msg->kind == MSG_HELLO)
        take_in(hub, event->peer, out);
    else if (event->msg->kind == MSG_ATTACH)
        hub->bulk = event->peer;
    else if (event->msg->kind == MSG_OFFER)
        take_offer(hub, &event->msg->offer, out);
    else if (event->msg->kind == MSG_CHUNK)
        answer(hub, &event->msg->chunk, event->payload, out);
    else if (event->msg->kind == MSG_PING)
        take_ping(hub, event->peer, out);
    else if (event->msg->kind == MSG_BYE)
        hub->goodbyes++;
    else if (event->msg->kind == MSG_ROOM)
        give_task(hub, out);
    else if (event->msg->kind == MSG_REPORT)
        take_report(hub, &event->msg->report);
    else if (event->msg->kind == MSG_REVIEWED)
        take_review(hub, &event->msg->reviewed, out);
}

struct fake_hub *fake_hub_new(void)
{
    struct fake_hub *hub = calloc(1, sizeof *hub);

    if (!hub || the_hub)
        abort();
    hub->welcome = (struct msg_welcome){.protocol = PROTOCOL_MAX,
                                        .run = 7,
                                        .session = 1,
                                        .lineage = 5,
                                        .every = 2,
                                        .delay = 2,
                                        .chunk_elements = CHUNK_ELEMENTS,
                                        .window = 8};
    hub->value = 10;
    hub->weight = 1;
    hub->fake = fake_new(true);
    hub->fake->react = teach;
    the_hub = hub;
    return hub;
}

void fake_hub_start(struct fake_hub *hub)
{
    fake_start(hub->fake);
    (void)snprintf(hub->address, sizeof hub->address, "127.0.0.1:%u",
                   hub->fake->config.port);
}

void fake_hub_speak(struct fake_hub *hub)
{
    (void)pthread_mutex_lock(&hub->fake->lock);
    hub->mute = false;
    (void)pthread_mutex_unlock(&hub->fake->lock);
}

double fake_hub_offered(struct fake_hub *hub)
{
    double offered;

    (void)pthread_mutex_lock(&hub->fake->lock);
    offered = hub->offered;
    (void)pthread_mutex_unlock(&hub->fake->lock);
    return offered;
}

bool fake_hub_wait(struct fake_hub *hub, const uint64_t *counter,
                   uint64_t at_least)
{
    return fake_wait_number(hub->fake, counter, at_least);
}

void fake_hub_destroy(struct fake_hub **reference)
{
    struct fake_hub *hub = *reference;

    *reference = NULL;
    fake_stop(hub->fake);
    (void)fake_hub_offered(hub); /* TSan sees the lock, but not the join */
    fake_destroy(&hub->fake);
    the_hub = NULL;
    free(hub);
}
