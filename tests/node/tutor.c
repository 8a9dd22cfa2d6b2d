#include "tests/node/tutor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "tests/hand.h"

enum { CHUNK_ELEMENTS = 4 };

static struct tutor *the_tutor; /* a toy has no room for it; one at a time */

static void take_in(struct tutor *tutor, peer_id peer, struct effects *out)
{
    struct msg msg = {.kind = MSG_WELCOME};

    tutor->control = peer;
    msg.welcome = tutor->welcome;
    effects_send(out, peer, &msg, NULL);
}

/* Grants all that was offered; exchanges are numbered from 1. */
static void grant(struct tutor *tutor, struct effects *out)
{
    struct msg msg = {.kind = MSG_GRANT};

    msg.grant.credit = UINT64_MAX;
    while (!tutor->mute && tutor->granted < tutor->last_offer) {
        msg.grant.exchange = ++tutor->granted;
        effects_send(out, tutor->control, &msg, NULL);
    }
}

/* Has all parameters `value` evaluated. */
static void show(struct tutor *tutor, uint64_t review, struct effects *out)
{
    struct msg msg = {.kind = MSG_REVIEW};

    msg.review.review = review;
    for (; msg.review.chunk < TUTOR_CHUNKS; msg.review.chunk++) {
        struct blob *chunk = hand_floats(
            tutor->toy->pool,
            chunk_length(TUTOR_ELEMENTS, CHUNK_ELEMENTS, msg.review.chunk),
            tutor->value);

        msg.review.checksum = chunk->checksum;
        effects_send(out, tutor->bulk, &msg, chunk);
        blob_unref(&chunk);
    }
}

static void take_review(struct tutor *tutor,
                        const struct msg_reviewed *reviewed,
                        struct effects *out)
{
    tutor->reviewed++;
    tutor->made += reviewed->made;
    tutor->loss = reviewed->loss;
    tutor->mute = false;
    grant(tutor, out);
}

static void take_offer(struct tutor *tutor, const struct msg_offer *offer,
                       struct effects *out)
{
    const struct msg stop = {.kind = MSG_STOP};
    uint64_t exchange = offer->exchange;

    tutor->last_offer = exchange;
    tutor->heard[exchange % TUTOR_HEARD].offer = *offer;
    if (tutor->shows)
        show(tutor, exchange, out);
    grant(tutor, out);
    if (tutor->calls)
        effects_send(out, tutor->control, &stop, NULL);
}

static void take_ping(struct tutor *tutor, peer_id peer, struct effects *out)
{
    struct msg pong = {.kind = MSG_PONG};

    effects_send(out, peer, &pong, NULL);
    grant(tutor, out);
}

static void give_task(struct tutor *tutor, struct effects *out)
{
    struct msg msg = {.kind = MSG_TASK};

    msg.task.task = ++tutor->asked;
    msg.task.part = (uint32_t)(tutor->asked % 8);
    msg.task.parts = 8;
    effects_send(out, tutor->control, &msg, NULL);
}

static void take_report(struct tutor *tutor, const struct msg_report *report)
{
    tutor->reported++;
    tutor->done += report->done;
}

static void answer(struct tutor *tutor, const struct msg_chunk *chunk,
                   struct blob *payload, struct effects *out)
{
    size_t first = (size_t)chunk->chunk * CHUNK_ELEMENTS;
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *result =
        hand_floats(tutor->toy->pool,
                    chunk_length(TUTOR_ELEMENTS, CHUNK_ELEMENTS, chunk->chunk),
                    tutor->value + tutor->rise * (double)chunk->exchange);

    tutor->chunks++;
    tutor->offered = hand_float(payload, 0);
    if (payload->size <= (TUTOR_ELEMENTS - first) * sizeof(float))
        memcpy(&tutor->heard[chunk->exchange % TUTOR_HEARD].values[first],
               payload->bytes, payload->size);
    msg.result.exchange = chunk->exchange;
    msg.result.chunk = chunk->chunk;
    msg.result.verb = tutor->verb;
    msg.result.weight = tutor->weight;
    msg.result.version = msg.result.base = chunk->exchange;
    msg.result.checksum = result->checksum;
    effects_send(out, tutor->bulk, &msg, result);
    blob_unref(&result);
}

static void teach(struct toy *toy, const struct event *event,
                  struct effects *out)
{
    struct tutor *tutor = the_tutor;

    (void)toy;
    if (event->kind != EVENT_MESSAGE)
        return;
    if (event->msg->kind == MSG_HELLO)
        take_in(tutor, event->peer, out);
    else if (event->msg->kind == MSG_ATTACH)
        tutor->bulk = event->peer;
    else if (event->msg->kind == MSG_OFFER)
        take_offer(tutor, &event->msg->offer, out);
    else if (event->msg->kind == MSG_CHUNK)
        answer(tutor, &event->msg->chunk, event->payload, out);
    else if (event->msg->kind == MSG_PING)
        take_ping(tutor, event->peer, out);
    else if (event->msg->kind == MSG_BYE)
        tutor->goodbyes++;
    else if (event->msg->kind == MSG_ROOM)
        give_task(tutor, out);
    else if (event->msg->kind == MSG_REPORT)
        take_report(tutor, &event->msg->report);
    else if (event->msg->kind == MSG_REVIEWED)
        take_review(tutor, &event->msg->reviewed, out);
}

struct tutor *tutor_new(void)
{
    struct tutor *tutor = calloc(1, sizeof *tutor);

    if (!tutor || the_tutor)
        abort();
    tutor->welcome = (struct msg_welcome){.protocol = PROTOCOL_MAX,
                                          .run = 7,
                                          .session = 1,
                                          .lineage = 5,
                                          .every = 2,
                                          .delay = 2,
                                          .chunk_elements = CHUNK_ELEMENTS,
                                          .window = 8};
    tutor->value = 10;
    tutor->weight = 1;
    tutor->toy = toy_new(true);
    tutor->toy->react = teach;
    the_tutor = tutor;
    return tutor;
}

void tutor_start(struct tutor *tutor)
{
    toy_start(tutor->toy);
    (void)snprintf(tutor->hub, sizeof tutor->hub, "127.0.0.1:%u",
                   tutor->toy->config.port);
}

void tutor_speak(struct tutor *tutor)
{
    (void)pthread_mutex_lock(&tutor->toy->lock);
    tutor->mute = false;
    (void)pthread_mutex_unlock(&tutor->toy->lock);
}

double tutor_offered(struct tutor *tutor)
{
    double offered;

    (void)pthread_mutex_lock(&tutor->toy->lock);
    offered = tutor->offered;
    (void)pthread_mutex_unlock(&tutor->toy->lock);
    return offered;
}

bool tutor_wait(struct tutor *tutor, const uint64_t *counter, uint64_t at_least)
{
    return toy_wait_number(tutor->toy, counter, at_least);
}

void tutor_destroy(struct tutor **reference)
{
    struct tutor *tutor = *reference;

    *reference = NULL;
    toy_stop(tutor->toy);
    (void)tutor_offered(tutor); /* TSan sees the lock, but not the join */
    toy_destroy(&tutor->toy);
    the_tutor = NULL;
    free(tutor);
}
