/* An operation: what a program asks of its member, from ASK to TOLD. */
#include <inttypes.h>
#include <stdio.h>

#include "collectives/client_state.h"

static bool is_elastic(const struct client *client)
{
    return client->config.manner == MANNER_ELASTIC;
}

/* The group has to be built before the next collective. */
static void unbuild(struct client *client)
{
    if (client->group.build == BUILD_DONE)
        client->group.build = BUILD_NONE;
}

/* ---- ending an operation ---- */

static void tell(struct client *client, enum ending outcome, bool yes,
                 const char *text)
{
    const struct group_view *group = &client->group;
    struct operation *operation = &client->operation;
    struct msg msg = {.kind = MSG_TOLD};

    msg.told.request = operation->ask.request;
    msg.told.outcome = outcome;
    msg.told.yes = yes;
    msg.told.bytes = outcome == ENDING_SUCCESS ? operation->gained : 0;
    msg.told.epoch = group->epoch;
    msg.told.version = group->version;
    msg.told.averages = group->averages;
    msg.told.rank = group->rank;
    msg.told.size = group->size;
    msg.told.joined = is_joined(client);
    msg.told.exit = group->exit;
    (void)snprintf(msg.told.text, sizeof msg.told.text, "%s", text);
    effects_send(client->out, PEER_TRAINER, &msg, NULL);
    operation->stage = STAGE_IDLE;
    data_stop(client);
}

/* A collective did not come about: FTLib's abort of the communicator. */
static void fail(struct client *client, enum ending outcome, const char *text)
{
    if (is_elastic(client))
        unbuild(client);
    tell(client, outcome, false, text);
}

static uint64_t era_of(const struct client *client)
{
    return is_elastic(client) ? client->group.epoch : client->group.version;
}

static void give_up(struct client *client, const char *text)
{
    struct msg msg = {.kind = MSG_GIVE_UP};

    msg.give_up.era = era_of(client);
    (void)snprintf(msg.give_up.text, sizeof msg.give_up.text, "%s", text);
    connection_say(client, &msg);
}

/* ---- the collective itself ---- */

static void come(struct client *client, bool again)
{
    struct operation *operation = &client->operation;
    struct msg msg = {.kind = MSG_CALL};

    operation->stage = STAGE_CALL;
    operation->ended = false;
    operation->gained = 0;
    upload_start(&client->data.input, client->next_number++, again);
    msg.call.number = client->data.input.number;
    msg.call.era = era_of(client);
    msg.call.sequence = client->group.sequence;
    msg.call.collective = operation->ask.collective;
    msg.call.scalar = operation->ask.scalar;
    msg.call.reduction = operation->ask.reduction;
    msg.call.root = operation->ask.root;
    msg.call.bytes = operation->ask.bytes;
    connection_say(client, &msg);
}

/* Of a patient group of one, the model is nobody else's business. */
static bool is_alone(const struct client *client)
{
    return !is_elastic(client) && client->config.size <= 1 &&
           client->operation.ask.collective >= COLLECTIVE_CHECKPOINT;
}

static void do_alone(struct client *client)
{
    if (client->operation.ask.collective != COLLECTIVE_LOAD) {
        client->group.version++;
        client->group.sequence = 0;
    }
    tell(client, ENDING_SUCCESS, false, "");
}

static void collective(struct client *client)
{
    if (client->group.newcomer && client->group.rank == 0 &&
        is_elastic(client)) {
        give_up(client, "a new member has joined");
        fail(client, ENDING_FAIL, "a new member has joined");
        return;
    }
    come(client, false);
}

static void count_success(struct client *client)
{
    const struct operation *operation = &client->operation;
    uint32_t collective = operation->ask.collective;
    struct group_view *group = &client->group;

    group->rank = operation->outcome.rank;
    group->size = operation->outcome.size;
    if (collective == COLLECTIVE_STOP) {
        unbuild(client);
    } else if (is_elastic(client)) {
        group->averages = operation->outcome.averages;
        group->took_part = true;
        group->sequence++;
    } else if (collective >= COLLECTIVE_CHECKPOINT) {
        group->version = operation->outcome.version;
        group->sequence = 0;
    } else {
        group->sequence++;
    }
}

/* Whether the outcome is here, and all of the result. */
static bool is_complete(const struct operation *operation)
{
    return operation->stage == STAGE_CALL && operation->ended &&
           operation->gained >= operation->outcome.bytes;
}

void operation_on_outcome(struct client *client, const struct event *event)
{
    const struct msg_outcome *outcome = &event->msg->outcome;
    struct operation *operation = &client->operation;

    if (outcome->number && outcome->number == client->data.model.number) {
        upload_stop(&client->data.model);
        return;
    }
    if (operation->stage != STAGE_CALL ||
        outcome->number != client->data.input.number)
        return;
    operation->outcome = *outcome;
    if (outcome->outcome == ENDING_SUCCESS) {
        operation->ended = true;
        return;
    }
    if (!is_elastic(client)) {
        client->group.rank = outcome->rank;
        client->group.size = outcome->size;
    }
    if (outcome->outcome == ENDING_NO_NEED)
        tell(client, ENDING_NO_NEED, false, outcome->text);
    else
        fail(client, outcome->outcome, outcome->text);
}

/* ---- who is in the group ---- */

static void confirm(struct client *client, enum stage stage)
{
    struct group_view *group = &client->group;
    struct msg msg = {.kind = MSG_WHO};

    client->operation.stage = stage;
    msg.who.number = ++group->confirm;
    msg.who.averages = group->took_part ? group->averages : 0;
    msg.who.reports = !group->reported;
    connection_say(client, &msg);
}

static void answer(struct client *client)
{
    const struct group_view *group = &client->group;
    bool yes = client->operation.ask.ask == ASK_SKIP
                   ? group->build == BUILD_ALONE
                   : group->build == BUILD_DONE && !group->newcomer;

    tell(client, ENDING_SUCCESS, yes, "");
}

/* After the probe, if there was one. */
static void advance(struct client *client)
{
    switch ((enum ask)client->operation.ask.ask) {
    case ASK_INITIALIZED:
    case ASK_SKIP:
        answer(client);
        break;
    case ASK_BUILD:
        confirm(client, STAGE_BUILD);
        break;
    case ASK_COLLECTIVE:
        if (client->group.build == BUILD_ALONE)
            tell(client, ENDING_NO_NEED, false, "this is the only member");
        else if (is_elastic(client) && client->group.build != BUILD_DONE)
            confirm(client, STAGE_BUILD);
        else
            collective(client);
        break;
    default:
        tell(client, ENDING_SUCCESS, false, "");
    }
}

/* Whether the roster can be worked with; ends the operation if not. */
static bool roster_fits(struct client *client, const struct msg_roster *roster)
{
    struct group_view *group = &client->group;
    char text[MSG_TEXT_BYTES];

    if (group->took_part && group->averages < roster->averages) {
        group->exit = EXIT_BEHIND;
        (void)snprintf(text, sizeof text,
                       "it has done %" PRIu64 " collectives, the group %" PRIu64
                       ": start it again",
                       group->averages, roster->averages);
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
    struct group_view *group = &client->group;

    if (roster->size == 1)
        group->build = BUILD_ALONE;
    else if (roster->epoch != group->epoch || group->build == BUILD_ALONE)
        group->build = BUILD_NONE;
    advance(client);
}

/* FTLib's rebuild: nothing has changed until it is known to be possible. */
static void built(struct client *client, const struct msg_roster *roster)
{
    struct group_view *group = &client->group;
    bool alone = is_elastic(client) && roster->size == 1;

    if (is_elastic(client) && group->epoch != roster->epoch)
        group->sequence = 0;
    group->epoch = roster->epoch;
    group->rank = roster->rank;
    group->size = roster->size;
    group->averages = roster->averages;
    group->newcomer = false;
    group->build = alone ? BUILD_ALONE : BUILD_DONE;
    if (alone)
        tell(client, ENDING_NO_NEED, false, "this is the only member");
    else if (client->operation.ask.ask == ASK_BUILD)
        tell(client, ENDING_SUCCESS, false, "");
    else
        collective(client);
}

/* A new member has reported: it is not alone any more. */
static void warn(struct group_view *group)
{
    group->newcomer = true;
    if (group->build == BUILD_ALONE)
        group->build = BUILD_NONE;
}

void operation_on_roster(struct client *client, const struct event *event)
{
    const struct msg_roster *roster = &event->msg->roster;
    enum stage stage = client->operation.stage;

    if (!roster->number) {
        warn(&client->group);
        return;
    }
    if (roster->number != client->group.confirm ||
        (stage != STAGE_PROBE && stage != STAGE_BUILD))
        return;
    client->group.reported = true;
    if (!roster_fits(client, roster))
        return;
    if (stage == STAGE_PROBE)
        probed(client, roster);
    else
        built(client, roster);
}

/* ---- an operation ---- */

/* Whether it asks for nothing but what is known of the group. */
static bool looks(const struct operation *operation)
{
    return operation->ask.ask == ASK_INITIALIZED ||
           operation->ask.ask == ASK_SKIP;
}

static void start(struct client *client)
{
    const struct operation *operation = &client->operation;

    if (is_elastic(client) && client->config.active &&
        (looks(operation) || operation->ask.ask == ASK_COLLECTIVE))
        confirm(client, STAGE_PROBE);
    else
        advance(client);
}

void operation_on_ask(struct client *client, const struct event *event)
{
    struct operation *operation = &client->operation;

    if (operation->stage == STAGE_CALL && is_joined(client) &&
        event->msg->ask.ask == ASK_FORGET)
        give_up(client, "the program interrupted the call");
    *operation = (struct operation){
        .stage = STAGE_HUB, .ask = event->msg->ask, .since = client->now};
    if (operation->ask.ask == ASK_LEAVE) {
        connection_leave(client);
        unbuild(client);
        tell(client, ENDING_SUCCESS, false, "");
    } else if (operation->ask.ask == ASK_FORGET) {
        unbuild(client);
        tell(client, ENDING_SUCCESS, false, "");
    } else if (operation->ask.ask == ASK_COLLECTIVE && is_alone(client)) {
        do_alone(client);
    } else if (client->connection.state == CONNECTION_REFUSED) {
        fail(client, ENDING_ABORT, client->connection.refusal);
    } else if (!client->config.active && looks(operation)) {
        answer(client);
    } else if (is_joined(client)) {
        start(client);
    }
}

/* ---- the settle pass ---- */

static void interrupt(struct client *client)
{
    enum stage stage = client->operation.stage;

    if (is_elastic(client))
        unbuild(client);
    if (is_elastic(client) && stage == STAGE_CALL)
        fail(client, ENDING_FAIL, "the connection to the hub was lost");
    else if (stage == STAGE_PROBE || stage == STAGE_BUILD)
        client->operation.stage = STAGE_HUB;
}

static void resume(struct client *client)
{
    if (client->operation.stage == STAGE_CALL)
        come(client, true);
    else if (client->operation.stage != STAGE_IDLE)
        start(client);
}

/* How long it may wait at all: a probe is answered at once, or never. */
static nanos limit_of(const struct client *client)
{
    const struct operation *operation = &client->operation;
    nanos limit = operation->ask.limit ? operation->ask.limit : NEVER;
    bool at_once = operation->stage == STAGE_PROBE || looks(operation);

    return at_once && limit > CONFIRM_LIMIT ? CONFIRM_LIMIT : limit;
}

nanos operation_deadline(const struct client *client)
{
    nanos limit = limit_of(client);

    return client->operation.stage == STAGE_IDLE || limit == NEVER
               ? NEVER
               : client->operation.since + limit;
}

/* The operation has waited for long enough: says for what. */
static void expire(struct client *client)
{
    static const char *const waits[] = {
        [STAGE_IDLE] = "nothing",
        [STAGE_HUB] = "the hub",
        [STAGE_PROBE] = "the hub to say who is in the group",
        [STAGE_BUILD] = "the members that the group begins with",
        [STAGE_CALL] = "the others to come to call"};
    double seconds = (double)limit_of(client) / (double)SECOND;
    enum stage stage = client->operation.stage;
    char text[MSG_TEXT_BYTES];

    if (stage != STAGE_CALL) {
        (void)snprintf(text, sizeof text, "waited %.1f s for %s", seconds,
                       waits[stage]);
        tell(client, ENDING_ABORT, false, text);
        return;
    }
    (void)snprintf(text, sizeof text, "waited %.1f s for %s %" PRIu64 ", %s",
                   seconds, waits[stage], client->group.sequence,
                   collective_words[client->operation.ask.collective].text);
    if (is_joined(client))
        give_up(client, text);
    fail(client, ENDING_FAIL, text);
}

void operation_settle(struct client *client)
{
    const struct connection_news *news = &client->connection.news;

    if (news->refused && client->operation.stage != STAGE_IDLE)
        fail(client, ENDING_ABORT, client->connection.refusal);
    if (news->lost)
        interrupt(client);
    if (news->joined)
        resume(client);
    if (is_complete(&client->operation)) {
        count_success(client);
        tell(client, ENDING_SUCCESS, false, "");
    }
    if (client->now >= operation_deadline(client))
        expire(client);
}
