#include "hub/hub.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"

/* Segments in flight per member of the group; bytes of results and checkpoints
 * of it that are kept. */
enum { GROUP_WINDOW = 16 };
#define GROUP_LIMIT ((uint64_t)2 << 30)

/* A tick that comes so late is one after a sleep. */
#define SLEEP SECOND

/* A stage is run a few times in a step, and for each round that merges nothing:
 * that is over at once, and the next offer of a member may make another. */
enum { STAGE_RUNS = 16 };

/* All that a peer of the group says is for the coordinator, from the first
 * word. */
static void hub_on_group(struct hub *hub, const struct incoming *in)
{
    (void)hub;
    in->peer->state = PEER_GROUP;
}

/* What a former session sent before it knew that it was over. */
static void hub_on_stray(struct hub *hub, const struct incoming *in)
{
    (void)hub;
    (void)in;
}

/* What a message of each kind does to a peer in each state. What is absent is
 * an offence; only this file drops peers for it. */
static handler *const handlers[PEER_STATES][MSG_KINDS] = {
    [PEER_STRANGER] = {[MSG_HELLO] = hub_on_hello,
                       [MSG_JOIN] = hub_on_group,
                       [MSG_PROBE] = hub_on_probe},
    [PEER_STRANGER_BULK] = {[MSG_ATTACH] = hub_on_attach,
                            [MSG_KEPT] = hub_on_stray,
                            [MSG_SIT] = hub_on_group,
                            [MSG_HELLO] = hub_on_misled,
                            [MSG_ENROL] = hub_on_misled,
                            [MSG_JOIN] = hub_on_misled,
                            [MSG_PROBE] = hub_on_misled,
                            [MSG_FILL] = hub_on_fill,
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
                     [MSG_REVIEWED] = hub_on_reviewed,
                     [MSG_LOG] = hub_on_log},
    [PEER_MEMBER_BULK] = {[MSG_CHUNK] = hub_on_chunk,
                          [MSG_ARRIVING] = hub_on_arriving,
                          [MSG_KEPT] = hub_on_kept},
    [PEER_OPERATOR_STATE] = {[MSG_STOP] = hub_on_stop,
                             [MSG_ORDER] = hub_on_order,
                             [MSG_LOCAL_ENROLLED] = hub_on_admitted,
                             [MSG_KNOWN] = hub_on_known,
                             [MSG_REVOKED] = hub_on_revoked,
                             [MSG_LOCAL_CLOCK] = hub_on_clock},
    [PEER_ENROLLER] = {[MSG_ENROL] = hub_on_enrol, [MSG_PROBE] = hub_on_probe},
    [PEER_ENROLLER_BULK] =
        {[MSG_ENROL] = hub_on_misled, [MSG_PROBE] = hub_on_misled},
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
    struct hub *hub = need_memory(1, sizeof *hub);

    hub->config = *config;
    if (!hub->config.most || hub->config.most > HUB_MAX_NODES)
        hub->config.most = HUB_MAX_NODES;
    hub->pool = pool;
    hub->policy = &hub->config.policy;
    adapt_init(hub);
    hub->coordinator = new_coordinator(config, pool);
    hub->next_job = hub->roll.next_session = 1;
    hub->roll.epoch = config->life << 32;
    hub->centre.state_source = hub->run.pinned = -1;
    hub->memory.saved_version = NO_VERSION;
    snapshot_unscored(hub);
    if (config->init == INIT_TOURNAMENT)
        tournament_open(hub);
    ledger_init(&hub->run.ledger, (uint32_t)config->tasks, config->epochs,
                config->seed, config->task_time);
    return hub;
}

static void member_free(struct hub *hub, struct member *member)
{
    delivery_clear(&member->delivery);
    norm_history_forget(member);
    for (unsigned i = 0; i < member->waiting_count; i++)
        update_destroy(hub, &member->waiting[i]);
    updates_forget(hub, member);
    free(member->sketch);
    free(member);
}

void hub_destroy(struct hub **reference)
{
    struct hub *hub = *reference;
    struct round *next;

    *reference = NULL;
    if (!hub)
        return;
    for (struct round *round = hub->rounds.first; round; round = next) {
        next = round->next;
        EACH_OFFER(round, one)
            update_destroy(hub, &one);
        round_destroy(hub, &round);
    }
    for (int i = 0; i < hub->roll.count; i++)
        member_free(hub, hub->roll.members[i]);
    roll_free(hub);
    probes_free(hub);
    logs_free(hub);
    known_free(hub);
    centre_free(hub);
    ledger_free(&hub->run.ledger);
    coordinator_destroy(&hub->coordinator);
    free(hub);
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
        member_offends(hub, hub->roll.members[peer->member],
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
    struct peer *peer =
        event->peer == PEER_OPERATOR ? &orders : peer_find(hub, event->peer);
    struct member *member;
    handler *handle;

    if (!peer)
        return;
    member = peer->member < 0 ? NULL : hub->roll.members[peer->member];
    handle = handlers[peer->state][event->msg->kind];
    if (peer->state != PEER_GROUP &&
        (!handle || (msg_info(event->msg->kind)->payload && !event->payload))) {
        offence(hub, peer, event);
        return;
    }
    if (member)
        member_heard(hub, member);
    assert(member ||
           (peer->state != PEER_MEMBER && peer->state != PEER_MEMBER_BULK));
    if (handle)
        handle(hub,
               &(struct incoming){peer, member, event->msg, event->payload});
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
    if (job->work->done) {
        job->work->done(hub, job);
    } else if (job->work == hub->config.evaluate) {
        snapshot_scored(hub, job);
    } else {
        snapshot_saved(hub, job);
        orders_saved(hub, (struct save_job *)job);
    }
}

static void on_wake(struct hub *hub)
{
    struct event wake = {.now = hub->now, .kind = EVENT_WAKE};
    nanos span = hub->now - hub->waited;

    hub->waited = hub->now;
    if (span > 2 * HUB_TICK)
        span = 2 * HUB_TICK;
    coordinator_step(hub, &wake);
    flow_tick(hub);
    strangers_tick(hub);
    members_tick(hub);
    superseded_tick(hub);
    review_tick(hub, span);
    review_warn(hub);
    waits_tick(hub, span);
    tasks_tick(hub);
    snapshot_tick(hub);
    adapt_tick(hub);
    orders_tick(hub);
    finish_tick(hub);
    foresee_tick(hub);
    hub->next_tick = hub->now + HUB_TICK;
}

/* ---- the settle pass ---- */

/* What it has under way here ends: offers, results, tasks, founding. */
static void lose(struct hub *hub, struct member *member)
{
    delivery_clear(&member->delivery);
    offers_forget(hub, member, VERDICT_LOST, true);
    tasks_lost(hub, member);
    if (hub->centre.state_source == member->place)
        hub->centre.state_source = -1;
    hub->roll.view_due = true;
    hub->dirty |= DIRTY_PHASE | DIRTY_ROUNDS;
}

/* What waits is turned down, what has not come is not waited for; what was good
 * and is here is merged. */
static void turn_down(struct hub *hub, struct member *member)
{
    offers_withdraw_all(hub, member, VERDICT_QUARANTINED);
    tasks_withdraw(hub, member);
    offers_forget(hub, member, VERDICT_QUARANTINED, false);
}

/* For its last offer, which it may not have heard of, or not made. */
static void call_again(struct hub *hub, struct member *member)
{
    if (run_is_ending(hub))
        member_call(hub, member, hub->run.reason);
    else if (member->drained && hub->run.phase != PHASE_RECOVERING)
        orders_call(hub, member);
}

static void enter(struct hub *hub, struct member *member)
{
    /* While the hub recovers it is not known what the centre has. */
    if (hub->run.phase != PHASE_RECOVERING)
        rounds_recall(hub, member);
    member_welcome(hub, member);
    call_again(hub, member);
    hub->roll.view_due = true;
}

/* Carries on what has become of a member. */
static void settle_member(struct hub *hub, struct member *member)
{
    unsigned changes = member->changes;

    member->changes = 0;
    if (changes & CHANGE_LOST)
        lose(hub, member);
    if (changes & CHANGE_LEFT)
        state_transfer_forget(hub, member);
    if (changes & CHANGE_TAKES)
        offers_forget(hub, member, VERDICT_SUPERSEDED, true);
    if (changes & CHANGE_QUARANTINED)
        turn_down(hub, member);
    if (changes & ~(unsigned)CHANGE_ENTERED)
        review_forget(hub, member->place);
    if (changes & CHANGE_ENTERED)
        enter(hub, member);
}

static void settle_roll(struct hub *hub)
{
    for (int i = bitset_next(&hub->roll.changed, 0); i >= 0;
         i = bitset_next(&hub->roll.changed, i + 1)) {
        bitset_set(&hub->roll.changed, i, false);
        settle_member(hub, hub->roll.members[i]);
    }
    if (hub->roll.tally.present <= VIEW_AT_ONCE)
        view_tick(hub);
}

/* Where the hub stands: it looks for its centre, is given one, or ends. */
static void settle_phase(struct hub *hub)
{
    if (recover_settle(hub)) {
        orders_resume(hub);
        finish_resume(hub);
    }
    state_transfer_settle(hub);
    finish_settle(hub);
}

static void settle_centre(struct hub *hub)
{
    merge_ready(hub);
    rounds_finish(hub);
}

static const struct {
    enum dirty dirty;
    void (*settle)(struct hub *hub);
} stages[] = {
    {DIRTY_ROLL, settle_roll},       {DIRTY_PHASE, settle_phase},
    {DIRTY_MEMORY, snapshot_settle}, {DIRTY_ROUNDS, rounds_settle},
    {DIRTY_CENTRE, settle_centre},   {DIRTY_DELIVERY, delivery_settle},
};

/* Runs the first stage that has something to do until none has: members before
 * all that asks for them, a version that is complete before the rounds that
 * would change it, and what goes out once all else is settled. */
static void settle(struct hub *hub)
{
    uint64_t most = STAGE_RUNS * (1 + (uint64_t)hub->roll.count * MAX_OFFERS);

    for (uint64_t runs = 0; hub->dirty; runs++) {
        unsigned i = 0;

        assert(runs < most);
        while (!(hub->dirty & stages[i].dirty))
            i++;
        hub->dirty &= ~(unsigned)stages[i].dirty;
        stages[i].settle(hub);
    }
}

/* When training together began, and when the run was over. */
static void note_times(struct hub *hub)
{
    if (!hub->first_round_at && hub->rounds.here)
        hub->first_round_at = hub->now;
    if (!hub->ended_at && hub->run.phase >= PHASE_ENDED)
        hub->ended_at = hub->now;
}

/* A hub that was stopped, or whose PC has slept, has heard nobody meanwhile:
 * what has come since is still to be read, and nobody was silent, or not there,
 * for that long. */
static void look_at_clock(struct hub *hub)
{
    nanos late = hub->now - hub->next_tick;

    if (!hub->next_tick || late <= SLEEP)
        return;
    recover_slept(hub, late);
    members_slept(hub, late);
    finish_slept(hub, late);
}

static void step(void *self, const struct event *event, struct effects *out)
{
    struct hub *hub = self;

    if (!hub->running) {
        hub->running = true;
        hub->started_at = event->now;
        hub->memory.next_save = event->now + hub->config.save_interval;
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
        hub->dirty |= DIRTY_ROUNDS; /* a gate's time may have come */
        break;
    case EVENT_KINDS:
        break;
    }
    if (hub->run.phase == PHASE_RECOVERING)
        hub->dirty |= DIRTY_PHASE;
    if (hub->flow.wake <= hub->now)
        hub->dirty |= DIRTY_DELIVERY;
    settle(hub);
    if (hub->now >= hub->next_tick) {
        on_wake(hub);
        settle(hub);
    }
    note_times(hub);
    hub->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct hub *hub = self;

    return gate_deadline(hub, hub->running && hub->flow.wake < hub->next_tick
                                  ? hub->flow.wake
                                  : hub->next_tick);
}

struct machine hub_machine(struct hub *hub)
{
    return (struct machine){hub, "hub", step, deadline};
}

bool hub_ended(const struct hub *hub)
{
    return hub->run.phase >= PHASE_ENDED;
}

uint64_t hub_longest_payload(const struct hub *hub)
{
    bool looks = hub->running ? hub->run.phase == PHASE_RECOVERING
                              : hub->config.recovery > 0;

    return looks && !hub->memory.recovery.resumed ? 0 : hub_chunk_bytes(hub);
}

const struct schema *hub_schema(const struct hub *hub)
{
    return hub->centre.schema;
}

const struct ledger *hub_ledger(const struct hub *hub)
{
    return &hub->run.ledger;
}
