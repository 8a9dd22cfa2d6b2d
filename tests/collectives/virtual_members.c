/* The members of a virtual group, and what their programs do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/collectives/virtual_group.h"

static unsigned add_member(struct virtual_group *group, enum manner manner,
                           unsigned size)
{
    unsigned place = group->count++;
    struct virtual_member *member = &group->members[place];

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

struct virtual_group *virtual_new(enum manner manner, unsigned count)
{
    struct virtual_group *group = calloc(1, sizeof *group);

    if (!group)
        abort();
    group->pool = pool_new();
    group->config =
        (struct coordinator_config){.run = 7,
                                    .segment_bytes = VIRTUAL_SEGMENT,
                                    .window = 2,
                                    .limit = 1 << 20};
    group->coordinator = coordinator_new(&group->config, group->pool);
    group->machine = coordinator_machine(group->coordinator);
    group->now = SECOND;
    group->coordinator_wake = group->now;
    group->latency = MILLISECOND;
    group->next_peer = 10;
    prng_seed(&group->prng, 1);
    history_init(&group->history);
    for (unsigned i = 0; i < count; i++)
        (void)add_member(group, manner, count);
    return group;
}

void virtual_start(struct virtual_group *group, unsigned place)
{
    struct virtual_member *member = &group->members[place];

    member->config.incarnation++;
    member->client = client_new(&member->config, group->pool);
    member->connect_at = group->now;
}

void virtual_start_all(struct virtual_group *group)
{
    for (unsigned i = 0; i < group->count; i++)
        virtual_start(group, i);
}

unsigned virtual_newcomer(struct virtual_group *group)
{
    const struct client_config *first = &group->members[0].config;
    unsigned place = add_member(group, first->manner, first->size);

    group->members[place].config.active = first->active;
    virtual_start(group, place);
    return place;
}

static void give(struct virtual_group *group, unsigned place,
                 const struct msg_want *want)
{
    struct virtual_member *member = &group->members[place];
    size_t size = want->model ? member->model_bytes : member->in_bytes;
    struct msg msg = {.kind = MSG_GIVE, .give = {want->request, want->model}};
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = PEER_TRAINER,
                          .channel = CHANNEL_LOCAL,
                          .msg = &msg,
                          .payload = blob_new(group->pool, size)};

    memcpy(event.payload->bytes, want->model ? member->model : member->in,
           size);
    if (want->model)
        member->served++;
    else
        member->prepared++;
    virtual_post(group, place, group->now, &event);
    blob_unref(&event.payload);
}

void virtual_hear(struct virtual_group *group, unsigned place,
                  const struct effect *effect)
{
    struct virtual_member *member = &group->members[place];

    if (effect->msg.kind == MSG_WANT) {
        give(group, place, &effect->msg.want);
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

void virtual_give(struct virtual_group *group, unsigned place,
                  const void *bytes, size_t size)
{
    memcpy(group->members[place].in, bytes, size);
    group->members[place].in_bytes = size;
}

void virtual_floats(struct virtual_group *group, unsigned place, unsigned count,
                    double value)
{
    float *values = (float *)(void *)group->members[place].in;

    for (unsigned i = 0; i < count; i++)
        values[i] = (float)value;
    group->members[place].in_bytes = count * sizeof *values;
}

void virtual_request(struct virtual_group *group, unsigned place,
                     const struct msg_ask *ask)
{
    struct virtual_member *member = &group->members[place];
    struct msg msg = {.kind = MSG_ASK, .ask = *ask};
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = PEER_TRAINER,
                          .channel = CHANNEL_LOCAL,
                          .msg = &msg};

    msg.ask.request = ++member->request;
    if (!msg.ask.limit)
        msg.ask.limit = 60 * SECOND;
    member->asking = true;
    virtual_step(group, place, &event);
}

void virtual_ask(struct virtual_group *group, unsigned place, enum ask what)
{
    struct msg_ask ask = {.ask = what};

    virtual_request(group, place, &ask);
}

void virtual_call(struct virtual_group *group, unsigned place,
                  enum collective collective)
{
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = collective,
                          .scalar = SCALAR_F32,
                          .reduction = REDUCTION_MEAN,
                          .bytes = group->members[place].in_bytes};

    if (collective == COLLECTIVE_BARRIER || collective == COLLECTIVE_STOP ||
        collective == COLLECTIVE_LOAD)
        ask.bytes = 0;
    virtual_request(group, place, &ask);
}

void virtual_ask_all(struct virtual_group *group, enum ask what)
{
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].client)
            virtual_ask(group, i, what);
}

float virtual_float(const struct virtual_group *group, unsigned place,
                    unsigned at)
{
    float value;

    memcpy(&value, group->members[place].out + at * sizeof value, sizeof value);
    return value;
}

struct coordinator_view virtual_view(const struct virtual_group *group)
{
    struct coordinator_view view;

    coordinator_look(group->coordinator, &view);
    return view;
}

const struct msg_told *virtual_told(const struct virtual_group *group,
                                    unsigned member)
{
    return &group->members[member].told;
}
