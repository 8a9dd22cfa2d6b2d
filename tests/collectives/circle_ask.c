/* The members of a circle, and what their programs do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/collectives/circle.h"

static unsigned add_member(struct circle *circle, enum manner manner,
                           unsigned size)
{
    unsigned place = circle->count++;
    struct circle_member *member = &circle->members[place];

    (void)snprintf(member->name, sizeof member->name, "n%u", place);
    member->config = (struct client_config){.name = member->name,
                                            .low = place + 1,
                                            .incarnation = 1,
                                            .manner = manner,
                                            .size = size,
                                            .patience = 30 * SECOND};
    member->connect_at = NEVER;
    return place;
}

struct circle *circle_new(enum manner manner, unsigned count)
{
    struct circle *circle = calloc(1, sizeof *circle);

    if (!circle)
        abort();
    circle->pool = pool_new();
    circle->config =
        (struct coordinator_config){.run = 7,
                                    .segment_bytes = CIRCLE_SEGMENT,
                                    .window = 2,
                                    .limit = 1 << 20};
    circle->coordinator = coordinator_new(&circle->config, circle->pool);
    circle->machine = coordinator_machine(circle->coordinator);
    circle->now = SECOND;
    circle->coordinator_wake = circle->now;
    circle->latency = MILLISECOND;
    circle->next_peer = 10;
    prng_seed(&circle->prng, 1);
    history_init(&circle->history);
    for (unsigned i = 0; i < count; i++)
        (void)add_member(circle, manner, count);
    return circle;
}

void circle_start(struct circle *circle, unsigned place)
{
    struct circle_member *member = &circle->members[place];

    member->config.incarnation++;
    member->client = client_new(&member->config, circle->pool);
    member->connect_at = circle->now;
}

void circle_start_all(struct circle *circle)
{
    for (unsigned i = 0; i < circle->count; i++)
        circle_start(circle, i);
}

unsigned circle_newcomer(struct circle *circle)
{
    const struct client_config *first = &circle->members[0].config;
    unsigned place = add_member(circle, first->manner, first->size);

    circle->members[place].config.active = first->active;
    circle_start(circle, place);
    return place;
}

static void give(struct circle *circle, unsigned place,
                 const struct msg_want *want)
{
    struct circle_member *member = &circle->members[place];
    size_t size = want->model ? member->model_bytes : member->in_bytes;
    struct msg msg = {.kind = MSG_GIVE, .give = {want->request, want->model}};
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = PEER_TRAINER,
                          .channel = CHANNEL_LOCAL,
                          .msg = &msg,
                          .payload = blob_new(circle->pool, size)};

    memcpy(event.payload->bytes, want->model ? member->model : member->in,
           size);
    if (want->model)
        member->served++;
    else
        member->prepared++;
    circle_post(circle, place, circle->now, &event);
    blob_unref(&event.payload);
}

void circle_hear(struct circle *circle, unsigned place,
                 const struct effect *effect)
{
    struct circle_member *member = &circle->members[place];

    if (effect->msg.kind == MSG_WANT) {
        give(circle, place, &effect->msg.want);
    } else if (effect->msg.kind == MSG_GAIN) {
        memcpy(member->out + effect->msg.gain.offset, effect->payload->bytes,
               effect->payload->size);
    } else if (effect->msg.kind == MSG_TOLD) {
        member->told = effect->msg.told;
        member->asking = false;
    } else if (effect->msg.kind == MSG_MAIL) {
        member->mail = effect->msg.mail;
        member->mails++;
    } else if (effect->msg.kind == MSG_WITHDRAW) {
        member->mails--;
    } else if (effect->msg.kind == MSG_DELIVERED) {
        member->delivered = effect->msg.delivered;
        member->deliveries++;
    }
}

void circle_give(struct circle *circle, unsigned place, const void *bytes,
                 size_t size)
{
    memcpy(circle->members[place].in, bytes, size);
    circle->members[place].in_bytes = size;
}

void circle_floats(struct circle *circle, unsigned place, unsigned count,
                   double value)
{
    float *values = (float *)(void *)circle->members[place].in;

    for (unsigned i = 0; i < count; i++)
        values[i] = (float)value;
    circle->members[place].in_bytes = count * sizeof *values;
}

void circle_request(struct circle *circle, unsigned place,
                    const struct msg_ask *ask)
{
    struct circle_member *member = &circle->members[place];
    struct msg msg = {.kind = MSG_ASK, .ask = *ask};
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = PEER_TRAINER,
                          .channel = CHANNEL_LOCAL,
                          .msg = &msg};

    msg.ask.request = ++member->request;
    if (!msg.ask.limit)
        msg.ask.limit = 60 * SECOND;
    member->asking = true;
    circle_step(circle, place, &event);
}

void circle_ask(struct circle *circle, unsigned place, enum ask what)
{
    struct msg_ask ask = {.ask = what};

    circle_request(circle, place, &ask);
}

void circle_call(struct circle *circle, unsigned place,
                 enum collective collective)
{
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = collective,
                          .scalar = SCALAR_F32,
                          .reduction = REDUCTION_MEAN,
                          .bytes = circle->members[place].in_bytes};

    if (collective == COLLECTIVE_BARRIER || collective == COLLECTIVE_STOP ||
        collective == COLLECTIVE_LOAD)
        ask.bytes = 0;
    circle_request(circle, place, &ask);
}

void circle_ask_all(struct circle *circle, enum ask what)
{
    for (unsigned i = 0; i < circle->count; i++)
        if (circle->members[i].client)
            circle_ask(circle, i, what);
}

float circle_float(const struct circle *circle, unsigned place, unsigned at)
{
    float value;

    memcpy(&value, circle->members[place].out + at * sizeof value,
           sizeof value);
    return value;
}

struct coordinator_view circle_view(const struct circle *circle)
{
    struct coordinator_view view;

    coordinator_look(circle->coordinator, &view);
    return view;
}
