#include "keys/enrol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/hubs.h"
#include "net/station.h"
#include "net/trouble.h"

#define FIRST_TRY (2 * SECOND)
#define LONGEST_TRY (16 * SECOND)

struct enrol {
    struct net_config config; /* where the hubs are, and with which keys */
    struct hubs hubs;
    struct key node;
    char name[MSG_TEXT_BYTES];
    struct pool *pool;
    struct station *station; /* of the try under way, or NULL */
    nanos until, patience;   /* of the try under way */
    bool refused;            /* the enrolment key, in this try */
    struct net_trouble trouble;
};

enum status enrol_open(const struct enrol_plan *plan, struct enrol **out,
                       struct why *why)
{
    struct enrol *enrol = calloc(1, sizeof *enrol);
    enum status status;

    if (!enrol)
        return because(why, STATUS_NO_MEMORY, "no memory to enrol");
    enrol->config.hubs = plan->hubs;
    enrol->config.keys.on = true;
    enrol->config.keys.own = plan->enrolment;
    enrol->config.keys.hub = plan->hub;
    enrol->node = plan->node;
    (void)snprintf(enrol->name, sizeof enrol->name, "%s", plan->name);
    enrol->patience = FIRST_TRY / 2;
    enrol->pool = pool_new();
    status = enrol->pool
                 ? hubs_open(&enrol->hubs, &enrol->config, net_now(), why)
                 : because(why, STATUS_NO_MEMORY, "no memory to enrol");
    if (status == STATUS_OK)
        trouble_look_up(&enrol->trouble, hubs_address(&enrol->hubs));
    if (status == STATUS_OK)
        *out = enrol;
    else
        enrol_close(&enrol);
    return status;
}

void enrol_close(struct enrol **reference)
{
    struct enrol *enrol = *reference;

    *reference = NULL;
    if (!enrol)
        return;
    station_close(&enrol->station);
    pool_destroy(&enrol->pool);
    explicit_bzero(enrol, sizeof *enrol);
    free(enrol);
}

static void try_next(struct enrol *enrol, nanos now)
{
    struct channel_plan plan;

    station_close(&enrol->station);
    if (!enrol->refused)
        enrol->hubs.refused[enrol->hubs.at] = 0;
    enrol->refused = false;
    if (enrol->until)
        enrol->hubs.at = (enrol->hubs.at + 1) % enrol->hubs.count;
    if (enrol->patience < LONGEST_TRY)
        enrol->patience *= 2;
    enrol->until = now + enrol->patience;
    plan = channel_plan(&enrol->config, CHANNEL_CONTROL, false,
                        hubs_address(&enrol->hubs), &enrol->config.keys);
    plan.held = false;
    (void)!station_open(&plan, enrol->pool, NULL, NULL, &enrol->station, NULL);
}

static uint64_t word_of(const struct key *key, unsigned word)
{
    uint64_t value = 0;

    for (unsigned i = 8; i-- > 0;)
        value = value << 8 | key->bytes[8 * word + i];
    return value;
}

static void ask(struct enrol *enrol, uint64_t number)
{
    struct msg msg = {.kind = MSG_ENROL};
    unsigned char bytes[MSG_MAX_BYTES];
    size_t size;

    msg.enrol.key0 = word_of(&enrol->node, 0);
    msg.enrol.key1 = word_of(&enrol->node, 1);
    msg.enrol.key2 = word_of(&enrol->node, 2);
    msg.enrol.key3 = word_of(&enrol->node, 3);
    memcpy(msg.enrol.name, enrol->name, sizeof msg.enrol.name);
    size = msg_encode(&msg, bytes);
    station_send(enrol->station, number, bytes, size, NULL);
}

static enum enrol_state read_answer(const struct msg *msg, struct why *why)
{
    if (msg->kind == MSG_ENROLLED)
        return ENROL_DONE;
    if (msg->kind != MSG_BYE || (msg->bye.farewell != FAREWELL_KEY &&
                                 msg->bye.farewell != FAREWELL_PORT))
        return ENROL_WAITS;
    explain(why, "%s", msg->bye.text);
    return msg->bye.farewell == FAREWELL_PORT ? ENROL_MISLED : ENROL_REFUSED;
}

static enum enrol_state look(struct enrol *enrol, const struct notice *notice,
                             struct why *why)
{
    unsigned *refused = &enrol->hubs.refused[enrol->hubs.at];

    if (notice->kind == NOTICE_FAILED) {
        trouble_add(&enrol->trouble, notice, hubs_address(&enrol->hubs));
        if (notice->hindrance == HINDRANCE_REFUSES_KEY) {
            enrol->refused = true;
            (*refused)++;
        }
    } else if (notice->kind == NOTICE_READY) {
        *refused = 0;
        memset(&enrol->trouble, 0, sizeof enrol->trouble);
        ask(enrol, notice->number);
    } else if (notice->kind == NOTICE_MESSAGE) {
        return read_answer(&notice->msg, why);
    }
    return ENROL_WAITS;
}

static enum enrol_state hear(struct enrol *enrol, struct why *why)
{
    enum enrol_state state = ENROL_WAITS;
    struct notice *notice;

    while (state == ENROL_WAITS &&
           (notice = station_pop(enrol->station)) != NULL) {
        state = look(enrol, notice, why);
        notice_destroy(&notice);
    }
    return state;
}

const struct net_trouble *enrol_trouble(const struct enrol *enrol)
{
    return &enrol->trouble;
}

enum enrol_state enrol_step(struct enrol *enrol, nanos now, struct why *why)
{
    enum enrol_state state = ENROL_WAITS;

    if (enrol->station)
        state = hear(enrol, why);
    if (state == ENROL_WAITS && hubs_all_refuse(&enrol->hubs)) {
        explain(why, "the hub does not know this key for nodes any more: ask "
                     "for the one that starswitch-hub keygen prints now");
        return ENROL_REFUSED;
    }
    if (state == ENROL_WAITS && now >= enrol->until)
        try_next(enrol, now);
    return state;
}
