#include "hub/hub.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hub/state.h"

/* A tick that comes so late is one after a sleep. */
#define SLEEP SECOND

/* What a message of each kind does to a peer in each state. What is absent is
 * an offence; only this file drops peers for it. */
typedef void handler(struct hub *hub, struct peer *peer,
                     const struct msg *msg, struct blob *payload);

/* All that a peer of the group says is for the coordinator, from the first
 * word. */
static void hub_on_group(struct hub *hub, struct peer *peer,
                         const struct msg *msg, struct blob *payload)
{
    (void)hub;
    (void)msg;
    (void)payload;
    peer->state = PEER_GROUP;
}

static handler *const handlers[PEER_STATES][MSG_KINDS] = {
    [PEER_STRANGER] = {[MSG_HELLO] = hub_on_hello,
                       [MSG_JOIN] = hub_on_group},
    [PEER_STRANGER_BULK] = {[MSG_ATTACH] = hub_on_attach,
                            [MSG_KEPT] = hub_on_stray,
                            [MSG_SIT] = hub_on_group,
                            [MSG_HELLO] = hub_on_misled,
                            [MSG_ENROL] = hub_on_misled,
                            [MSG_JOIN] = hub_on_misled,
                            [MSG_ARRIVING] = hub_on_stray,
                            [MSG_CHUNK] = hub_on_stray},
    [PEER_MEMBER] = {[MSG_HELLO] = hub_on_hello,
                     [MSG_OFFER] = hub_on_offer,
                     [MSG_CREDIT] = hub_on_credit,
                     [MSG_CLOSE] = hub_on_close,
                     [MSG_WAIVE] = hub_on_waive,
                     [MSG_PING] = hub_on_ping,
                     [MSG_BYE] = hub_on_bye,
                     [MSG_ROOM] = hub_on_room,
                     [MSG_REPORT] = hub_on_report,
                     [MSG_REVIEWED] = hub_on_reviewed},
    [PEER_MEMBER_BULK] = {[MSG_CHUNK] = hub_on_chunk,
                          [MSG_ARRIVING] = hub_on_arriving,
                          [MSG_KEPT] = hub_on_kept},
    [PEER_OPERATOR_STATE] = {[MSG_STOP] = hub_on_stop,
                             [MSG_ORDER] = hub_on_order,
                             [MSG_ADMITTED] = hub_on_admitted,
                             [MSG_KNOWN] = hub_on_known,
                             [MSG_REVOKED] = hub_on_revoked},
    [PEER_ENROLLER] = {[MSG_ENROL] = hub_on_enrol},
};

/* Collectives travel in segments of a chunk's size. */
static struct coordinator *new_coordinator(const struct hub_config *config,
                                           struct pool *pool)
{
    struct coordinator_config made = {.run = config->run ? config->run : 1,
                                      .limit = GROUP_LIMIT};
    uint64_t bytes = (uint64_t)config->chunk_elements * sizeof(float) / 8 * 8;

    made.segment_bytes = bytes >= 8 ? (uint32_t)bytes : 8;
    made.window = GROUP_WINDOW;
    if (config->window && config->window / made.segment_bytes < GROUP_WINDOW)
        made.window = (uint32_t)(config->window / made.segment_bytes);
    if (!made.window)
        made.window = 1;
    return coordinator_new(&made, pool);
}

struct hub *hub_new(const struct hub_config *config, struct pool *pool)
{
    struct hub *hub = calloc(1, sizeof *hub);

    if (!hub)
        abort();
    hub->config = *config;
    if (!hub->config.most || hub->config.most > HUB_MAX_NODES)
        hub->config.most = HUB_MAX_NODES;
    hub->pool = pool;
    hub->policy = &hub->config.policy;
    hub->coordinator = new_coordinator(config, pool);
    hub->next_job = hub->next_session = 1;
    hub->epoch = config->life << 32;
    hub->founder = hub->pinned = -1;
    hub->saved_version = NO_VERSION;
    snapshot_unscored(hub);
    if (config->init == INIT_TOURNAMENT)
        contest_open(hub);
    ledger_init(&hub->ledger, config->tasks, config->epochs, config->seed,
                config->task_time);
    return hub;
}

void hub_destroy(struct hub **reference)
{
    struct hub *hub = *reference;
    struct round *next;

    *reference = NULL;
    if (!hub)
        return;
    for (struct round *round = hub->rounds; round; round = next) {
        next = round->next;
        for (unsigned i = 0; i < round->count; i++)
            contribution_destroy(hub, &round->list[i]);
        round_destroy(hub, &round);
    }
    roll_free(hub);
    centre_free(hub);
    ledger_free(&hub->ledger);
    coordinator_destroy(&hub->coordinator);
    free(hub);
}

struct member *hub_member(struct hub *hub, const struct peer *peer)
{
    assert(peer->member >= 0);
    return hub->members[peer->member];
}

unsigned hub_planes(const struct hub *hub)
{
    const struct policy *policy = &hub->config.policy;

    return policy->merge->planes ? policy->merge->planes(&policy->numbers)
                                 : 0;
}

void hub_job(struct hub *hub, struct job *job)
{
    job->id = hub->next_job++;
    hub->jobs++;
    effects_job(hub->out, job);
}

/* A peer that says what it must not: a member is gone, a bulk connection of
 * nobody's is cut. A member from before the hub's restart is told to say HELLO.
 */
static void offence(struct hub *hub, struct peer *peer,
                    const struct event *event)
{
    struct msg bye = {.kind = MSG_BYE};
    const char *said = msg_info(event->msg->kind)->name;

    if (peer->state == PEER_STRANGER) {
        bye.bye.farewell = FAREWELL_STRANGER;
        effects_send(hub->out, peer->id, &bye, NULL);
        return;
    }
    if (peer->member >= 0) {
        member_offends(hub, hub->members[peer->member],
                       "%s makes no sense here", said);
        return;
    }
    effects_note(hub->out, NOTE_OFFENCE, "", "%s makes no sense here", said);
    effects_drop(hub->out, peer->id);
    peer_remove(hub, peer);
}

static void coordinator_step(struct hub *hub, const struct event *event)
{
    struct machine coordinator = coordinator_machine(hub->coordinator);

    coordinator.step(coordinator.self, event, hub->out);
}

/* The coordinator asks whose key it is with each message. */
static void coordinator_hears(struct hub *hub, const struct peer *peer,
                              const struct event *event)
{
    struct event heard = *event;

    heard.key = peer->key;
    coordinator_step(hub, &heard);
}

static void on_message(struct hub *hub, const struct event *event)
{
    struct peer orders = {
        .id = PEER_OPERATOR, .state = PEER_OPERATOR_STATE, .member = -1};
    struct peer *peer = event->peer == PEER_OPERATOR
                            ? &orders
                            : peer_find(hub, event->peer);
    handler *handle;

    if (!peer)
        return;
    handle = handlers[peer->state][event->msg->kind];
    if (peer->state != PEER_GROUP &&
        (!handle ||
         (msg_info(event->msg->kind)->payload && !event->payload))) {
        offence(hub, peer, event);
        return;
    }
    if (peer->member >= 0)
        member_heard(hub, hub->members[peer->member]);
    if (handle)
        handle(hub, peer, event->msg, event->payload);
    if (peer->state == PEER_GROUP)
        coordinator_hears(hub, peer, event);
}

static void on_done(struct hub *hub, const struct event *event)
{
    struct job *job = event->job;

    if (coordinator_does(job->work)) {
        coordinator_step(hub, event);
        return;
    }
    hub->jobs--;
    if (job->work == &work_check)
        gather_checked(hub, job);
    else if (job->work == &work_merge)
        merge_done(hub, job);
    else if (job->work == &work_shade)
        merge_shaded(hub, job);
    else if (job->work == &work_kept)
        gift_checked(hub, job);
    else if (job->work == &work_proof)
        recover_proved(hub, job);
    else if (job->work == &work_manifest)
        keeping_made(hub, job);
    else if (job->work == &work_judge)
        choice_judged(hub, job);
    else if (job->work == &work_form)
        review_formed(hub, job);
    else if (job->work == hub->config.evaluate || job->work == &work_hint)
        snapshot_scored(hub, job);
    else if (job->work == hub->config.save)
        snapshot_saved(hub, job);
}

static void on_wake(struct hub *hub)
{
    struct event wake = {.now = hub->now, .kind = EVENT_WAKE};

    coordinator_step(hub, &wake);
    flow_tick(hub);
    strangers_tick(hub);
    members_tick(hub);
    superseded_tick(hub);
    waits_tick(hub);
    tasks_tick(hub);
    snapshot_tick(hub);
    orders_tick(hub);
    finish_tick(hub);
    hub->next_tick = hub->now + HUB_TICK;
}

/* When training together began, and when the run was over. */
static void note_times(struct hub *hub)
{
    if (!hub->began && hub->rounds_here)
        hub->began = hub->now;
    if (!hub->finished && hub->ended)
        hub->finished = hub->now;
}

/* A hub that was stopped, or whose PC has slept, has heard nobody meanwhile:
 * what has come since is still to be read. */
static void look_at_clock(struct hub *hub)
{
    nanos late = hub->now - hub->next_tick;

    if (hub->next_tick && late > SLEEP)
        recover_slept(hub, late);
}

static void step(void *self, const struct event *event, struct effects *out)
{
    struct hub *hub = self;

    if (!hub->begun) {
        hub->begun = true;
        hub->started = event->now;
        hub->next_save = event->now + hub->config.save_interval;
        hub->now = event->now;
        flow_begin(hub);
        recover_begin(hub);
    }
    hub->now = event->now;
    hub->out = out;
    look_at_clock(hub);
    switch (event->kind) {
    case EVENT_JOIN:
        peer_joins(hub, event);
        break;
    case EVENT_LEAVE:
        coordinator_step(hub, event);
        peer_leaves(hub, event->peer);
        break;
    case EVENT_MESSAGE:
        on_message(hub, event);
        break;
    case EVENT_DONE:
        on_done(hub, event);
        break;
    case EVENT_WAKE:
    case EVENT_KINDS:
        break;
    }
    if (hub->now >= hub->next_tick)
        on_wake(hub);
    recover_advance(hub);
    rounds_sweep(hub);
    flow_advance(hub);
    note_times(hub);
    hub->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct hub *hub = self;

    return gate_deadline(hub, hub->begun && hub->flow.wake < hub->next_tick
                                  ? hub->flow.wake
                                  : hub->next_tick);
}

struct machine hub_machine(struct hub *hub)
{
    return (struct machine){hub, "hub", step, deadline};
}

bool hub_ended(const struct hub *hub)
{
    return hub->ended;
}

uint64_t hub_chunk_bytes(const struct hub *hub)
{
    return (uint64_t)hub->config.chunk_elements * sizeof(float);
}

uint64_t hub_longest_payload(const struct hub *hub)
{
    bool looks = hub->begun ? hub->recovery.on : hub->config.recovery > 0;

    return looks && !hub->recovery.resumed ? 0 : hub_chunk_bytes(hub);
}

const struct schema *hub_schema(const struct hub *hub)
{
    return hub->schema;
}

const struct ledger *hub_ledger(const struct hub *hub)
{
    return &hub->ledger;
}
