/* What a program asks of its member, from ASK to TOLD. */
#include <inttypes.h>
#include <stdio.h>

#include "collectives/client_inside.h"

static bool is_elastic(const struct client *client)
{
    return client->config.manner == MANNER_ELASTIC;
}

/* ---- ending a request ---- */

static void tell(struct client *client, enum ending outcome, bool yes,
                 const char *text)
{
    struct msg msg = {.kind = MSG_TOLD};

    msg.told.request = client->ask.request;
    msg.told.outcome = outcome;
    msg.told.yes = yes;
    msg.told.bytes = outcome == ENDING_SUCCESS ? client->gained : 0;
    msg.told.epoch = client->epoch;
    msg.told.version = client->version;
    msg.told.averages = client->averages;
    msg.told.rank = client->rank;
    msg.told.size = client->size;
    msg.told.joined = client->joined;
    msg.told.exit = client->exit;
    (void)snprintf(msg.told.text, sizeof msg.told.text, "%s", text);
    effects_send(client->out, PEER_TRAINER, &msg, NULL);
    client->stage = STAGE_IDLE;
    upload_stop(&client->call);
    if (!client->model.number) /* it was asked for, and not given */
        client->model.wanted = false;
}

/* A collective did not come about: FTLib's abort of the communicator. */
static void fail(struct client *client, enum ending outcome, const char *text)
{
    if (is_elastic(client))
        client->built = false;
    tell(client, outcome, false, text);
}

static void give_up(struct client *client, const char *text)
{
    struct msg msg = {.kind = MSG_GIVE_UP};

    msg.give_up.era = is_elastic(client) ? client->epoch : client->version;
    (void)snprintf(msg.give_up.text, sizeof msg.give_up.text, "%s", text);
    client_say(client, &msg);
}

/* ---- the collective itself ---- */

static void come(struct client *client, bool again)
{
    struct msg msg = {.kind = MSG_CALL};

    client->stage = STAGE_CALL;
    client->ended = false;
    client->gained = 0;
    upload_start(&client->call, client->next_number++, again);
    msg.call.number = client->call.number;
    msg.call.era = is_elastic(client) ? client->epoch : client->version;
    msg.call.sequence = client->sequence;
    msg.call.collective = client->ask.collective;
    msg.call.scalar = client->ask.scalar;
    msg.call.reduction = client->ask.reduction;
    msg.call.root = client->ask.root;
    msg.call.bytes = client->ask.bytes;
    client_say(client, &msg);
    data_serve(client);
}

/* Of a patient group of one, the model is nobody else's business. */
static bool is_alone(const struct client *client)
{
    return !is_elastic(client) && client->config.size <= 1 &&
           client->ask.collective >= COLLECTIVE_CHECKPOINT;
}

static void do_alone(struct client *client)
{
    if (client->ask.collective != COLLECTIVE_LOAD) {
        client->version++;
        client->sequence = 0;
    }
    client->gained = 0;
    tell(client, ENDING_SUCCESS, false, "");
}

static void collective(struct client *client)
{
    if (client->newcomer && client->rank == 0 && is_elastic(client)) {
        give_up(client, "a new member has joined");
        fail(client, ENDING_FAIL, "a new member has joined");
        return;
    }
    come(client, false);
}

static void count_success(struct client *client)
{
    uint32_t what = client->ask.collective;

    if (what == COLLECTIVE_STOP) {
        client->built = false;
    } else if (is_elastic(client)) {
        client->averages = client->outcome.averages;
        client->took_part = true;
        client->sequence++;
    } else if (what >= COLLECTIVE_CHECKPOINT) {
        client->version = client->outcome.version;
        client->sequence = 0;
    } else {
        client->sequence++;
    }
}

void ask_look(struct client *client)
{
    if (!client->ended || client->gained < client->outcome.bytes)
        return;
    client->rank = client->outcome.rank;
    client->size = client->outcome.size;
    count_success(client);
    tell(client, ENDING_SUCCESS, false, "");
}

void ask_on_outcome(struct client *client, const struct msg_outcome *outcome)
{
    if (transfer_on_outcome(client, outcome))
        return;
    if (outcome->number && outcome->number == client->model.number) {
        upload_stop(&client->model);
        return;
    }
    if (client->stage != STAGE_CALL || outcome->number != client->call.number)
        return;
    client->outcome = *outcome;
    if (outcome->outcome == ENDING_SUCCESS) {
        client->ended = true;
        ask_look(client);
        return;
    }
    if (!is_elastic(client)) {
        client->rank = outcome->rank;
        client->size = outcome->size;
    }
    if (outcome->outcome == ENDING_NO_NEED)
        tell(client, ENDING_NO_NEED, false, outcome->text);
    else
        fail(client, outcome->outcome, outcome->text);
}

/* ---- who is there ---- */

static void confirm(struct client *client, enum stage stage)
{
    struct msg msg = {.kind = MSG_WHO};

    client->stage = stage;
    msg.who.number = ++client->confirm;
    msg.who.averages = client->took_part ? client->averages : 0;
    msg.who.reports = !client->reported;
    client_say(client, &msg);
}

static void answer(struct client *client)
{
    bool yes = client->ask.ask == ASK_SKIP ? client->skip
                                           : client->built && !client->newcomer;

    tell(client, ENDING_SUCCESS, yes, "");
}

/* After the probe, if there was one. */
static void advance(struct client *client)
{
    switch ((enum ask)client->ask.ask) {
    case ASK_INITIALIZED:
    case ASK_SKIP:
        answer(client);
        break;
    case ASK_BUILD:
        confirm(client, STAGE_BUILD);
        break;
    case ASK_COLLECTIVE:
        if (client->skip)
            tell(client, ENDING_NO_NEED, false, "this is the only member");
        else if (is_elastic(client) && !client->built)
            confirm(client, STAGE_BUILD);
        else
            collective(client);
        break;
    default:
        tell(client, ENDING_SUCCESS, false, "");
    }
}

/* Whether the roster can be worked with; ends the request if not. */
static bool roster_fits(struct client *client, const struct msg_roster *roster)
{
    char text[MSG_TEXT_BYTES];

    if (client->took_part && client->averages < roster->averages) {
        client->exit = EXIT_BEHIND;
        (void)snprintf(text, sizeof text,
                       "it has done %" PRIu64 " collectives, the group %" PRIu64
                       ": start it again",
                       client->averages, roster->averages);
        tell(client, ENDING_ABORT, false, text);
        return false;
    }
    if (roster->rank < roster->size)
        return true;
    tell(client, ENDING_ABORT, false, "the group's roster is without us");
    return false;
}

static void probed(struct client *client, const struct msg_roster *roster)
{
    bool alone = roster->size == 1;

    if (roster->epoch != client->epoch || alone)
        client->built = false;
    client->skip = alone;
    advance(client);
}

/* FTLib's rebuild: nothing has changed until it is known to be possible. */
static void built(struct client *client, const struct msg_roster *roster)
{
    if (is_elastic(client) && client->epoch != roster->epoch)
        client->sequence = 0;
    client->epoch = roster->epoch;
    client->rank = roster->rank;
    client->size = roster->size;
    client->averages = roster->averages;
    client->newcomer = false;
    client->skip = is_elastic(client) && roster->size == 1;
    client->built = !client->skip;
    if (client->skip)
        tell(client, ENDING_NO_NEED, false, "this is the only member");
    else if (client->ask.ask == ASK_BUILD)
        tell(client, ENDING_SUCCESS, false, "");
    else
        collective(client);
}

void ask_on_roster(struct client *client, const struct msg_roster *roster)
{
    if (!roster->number) {
        client->newcomer = true;
        client->skip = false;
        return;
    }
    if (roster->number != client->confirm ||
        (client->stage != STAGE_PROBE && client->stage != STAGE_BUILD))
        return;
    client->reported = true;
    if (!roster_fits(client, roster))
        return;
    if (client->stage == STAGE_PROBE)
        probed(client, roster);
    else
        built(client, roster);
}

/* ---- a request ---- */

static void start(struct client *client)
{
    uint32_t ask = client->ask.ask;
    bool looks = ask == ASK_INITIALIZED || ask == ASK_SKIP;

    if (is_elastic(client) && client->config.active &&
        (looks || ask == ASK_COLLECTIVE))
        confirm(client, STAGE_PROBE);
    else
        advance(client);
}

static void leave(struct client *client)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = FAREWELL_LEAVING;
    if (client->joined)
        client_say(client, &bye);
    client->left = true;
    client->joined = client->built = false;
    tell(client, ENDING_SUCCESS, false, "");
}

void ask_begin(struct client *client, const struct msg_ask *ask)
{
    client->ask = *ask;
    client->asked = client->now;
    client->stage = STAGE_HUB;
    client->gained = 0;
    if (ask->ask == ASK_LEAVE) {
        leave(client);
    } else if (ask->ask == ASK_FORGET) {
        client->built = false;
        tell(client, ENDING_SUCCESS, false, "");
    } else if (ask->ask == ASK_COLLECTIVE && is_alone(client)) {
        do_alone(client);
    } else if (client->refused) {
        fail(client, ENDING_ABORT, client->refusal);
    } else if (!client->config.active &&
               (ask->ask == ASK_INITIALIZED || ask->ask == ASK_SKIP)) {
        answer(client);
    } else if (client->joined) {
        start(client);
    }
}

void ask_resume(struct client *client)
{
    if (client->stage == STAGE_CALL)
        come(client, true);
    else if (client->stage != STAGE_IDLE)
        start(client);
}

void ask_interrupt(struct client *client)
{
    transfer_fail_all(client, "the connection to the hub was lost");
    upload_stop(&client->model);
    client->serve = 0;
    if (is_elastic(client)) {
        client->built = false;
        if (client->stage == STAGE_CALL)
            fail(client, ENDING_FAIL, "the connection to the hub was lost");
    }
    if (client->stage == STAGE_PROBE || client->stage == STAGE_BUILD)
        client->stage = STAGE_HUB;
}

void ask_refuse(struct client *client)
{
    if (client->stage != STAGE_IDLE)
        fail(client, ENDING_ABORT, client->refusal);
}

/* How long it may wait at all: a probe is answered at once, or never. */
static nanos limit_of(const struct client *client)
{
    nanos limit = client->ask.limit ? client->ask.limit : NEVER;
    bool looks = client->stage == STAGE_PROBE ||
                 client->ask.ask == ASK_INITIALIZED ||
                 client->ask.ask == ASK_SKIP;

    return looks && limit > CONFIRM_LIMIT ? CONFIRM_LIMIT : limit;
}

nanos ask_deadline(const struct client *client)
{
    nanos limit = limit_of(client);

    return client->stage == STAGE_IDLE || limit == NEVER
               ? NEVER
               : client->asked + limit;
}

/* The request has waited for long enough: says for what. */
void ask_tick(struct client *client)
{
    static const char *const waits[] = {
        [STAGE_IDLE] = "nothing",
        [STAGE_HUB] = "the hub",
        [STAGE_PROBE] = "the hub to say who is in the group",
        [STAGE_BUILD] = "the members that the group begins with",
        [STAGE_CALL] = "the others to come to call"};
    double seconds = (double)limit_of(client) / (double)SECOND;
    enum stage stage = client->stage;
    char text[MSG_TEXT_BYTES];

    if (client->now < ask_deadline(client))
        return;
    (void)snprintf(text, sizeof text, "waited %.1f s for %s", seconds,
                   waits[stage]);
    if (stage == STAGE_CALL)
        (void)snprintf(text, sizeof text,
                       "waited %.1f s for %s %" PRIu64 ", %s", seconds,
                       waits[stage], client->sequence,
                       collective_words[client->ask.collective].text);
    if (stage == STAGE_CALL && client->joined)
        give_up(client, text);
    if (stage == STAGE_CALL)
        fail(client, ENDING_FAIL, text);
    else
        tell(client, ENDING_ABORT, false, text);
}
