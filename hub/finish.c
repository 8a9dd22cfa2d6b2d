/* How a run ends: a reason, a last call, a last score and save, goodbye. And
 * how a hub ends whose run goes on later: a save, and no goodbye.
 *
 * While the hub recovers, or is given its first centre, the reason waits:
 * whoever is told that the run is done leaves with the centre that it keeps. */
#include <stdio.h>
#include <string.h>

#include "hub/state.h"

/* Whether somebody may still give the first parameters: before that nobody can
 * make a last offer, and all would leave with what they have learnt. */
static bool is_founding(struct hub *hub)
{
    if (hub->founded || hub->contest || !hub->tally.present)
        return false;
    if (!hub->found_until)
        hub->found_until = hub->now + LAST_CALL;
    return hub->now < hub->found_until;
}

void finish_call(struct hub *hub, struct member *member)
{
    struct msg msg = {.kind = MSG_STOP};

    (void)snprintf(msg.stop.reason, sizeof msg.stop.reason, "%s", hub->reason);
    member_send(hub, member, &msg);
}

/* There is a reason. What waits for others, in a round that has not closed,
 * goes back to the nodes: their last offers hold it. */
static void begin(struct hub *hub)
{
    if (hub->ending || hub->recovery.on || is_founding(hub))
        return;
    hub->ending = true;
    hub->last_call = hub->now + LAST_CALL;
    effects_note(hub->out, NOTE_ENDING, "", "%s", hub->reason);
    for (int i = 0; i < hub->member_count; i++) {
        finish_call(hub, hub->members[i]);
        if (gate_gathers(hub))
            offers_return(hub, hub->members[i]);
    }
    waits_end(hub);
    rounds_advance(hub);
}

void hub_on_stop(struct hub *hub, struct peer *peer, const struct msg *msg,
                 struct blob *payload)
{
    (void)peer;
    (void)payload;
    if (!hub->reason[0])
        (void)snprintf(hub->reason, sizeof hub->reason, "%s",
                       msg->stop.reason[0] ? msg->stop.reason
                                           : "ended by hand");
    begin(hub);
    finish_judge(hub);
    finish_advance(hub);
}

/* People and nodes are told what the run has come to. */
static void say_unsaved(struct hub *hub)
{
    uint64_t version = hub->saved_version == hub->version ? hub->best_version
                                                          : hub->version;
    char reason[MSG_TEXT_BYTES];

    memcpy(reason, hub->reason, sizeof reason);
    (void)snprintf(hub->reason, sizeof hub->reason,
                   "%.70s; version %llu is not saved", reason,
                   (unsigned long long)version);
}

void finish_resume(struct hub *hub)
{
    hub->ending = hub->closing = hub->freed = hub->late = false;
    if (hub->reason[0])
        begin(hub);
}

static void goodbye(struct hub *hub)
{
    struct msg bye = {.kind = MSG_BYE};

    if (hub->unsaved)
        say_unsaved(hub);
    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%s", hub->reason);
    bye.bye.farewell = FAREWELL_DONE;
    for (int i = 0; i < hub->member_count; i++) {
        delivery_end(hub, hub->members[i]);
        member_send(hub, hub->members[i], &bye);
    }
    effects_note(hub->out, NOTE_ENDED, "", "%s; version %llu",
                 hub->reason, (unsigned long long)hub->version);
    hub->ended = true;
}

/* What is to be saved before the end. */
static bool save_wanted(const struct hub *hub)
{
    return hub->founded && hub->config.save && !hub->unsaved &&
           (hub->saved_version != hub->version || hub->best);
}

/* Whether some chunks may have moved that others of their round have not. */
static bool is_merging(const struct hub *hub)
{
    for (const struct round *round = hub->rounds; round; round = round->next)
        if (round->closed)
            return true;
    return false;
}

/* Once all chunks are of one version again: saves it. Rounds that gather are
 * left: their nodes learn from the next hub that nothing has come of them. */
static void stop_advance(struct hub *hub)
{
    bool merging = is_merging(hub);

    if (hub->ended || hub->saving || (merging && hub->now < hub->last_call))
        return;
    if (hub->founded && hub->config.save && !hub->unsaved && !merging &&
        hub->saved_version != hub->version) {
        hub->want_save = !hub->save_until || hub->now >= hub->next_save;
        snapshot_try(hub);
        return;
    }
    effects_note(hub->out, NOTE_STOPPED, "", "version %llu; nodes train alone "
                 "until it is started again", (unsigned long long)hub->version);
    hub->ended = true;
}

void finish_stop(struct hub *hub)
{
    if (hub->ending || hub->stopping)
        return;
    hub->stopping = true;
    hub->last_call = hub->now + LAST_CALL;
    if (hub->recovery.on) {
        hub->ended = true; /* what the disk has not, the nodes keep */
        return;
    }
    for (const struct round *round = hub->rounds; round; round = round->next)
        for (unsigned i = 0; round->closed && i < round->count; i++)
            contribution_cut(hub, round->list[i], VERDICT_EXPIRED, false);
    for (int i = 0; i < hub->member_count; i++)
        review_forget(hub, i);
    rounds_settle(hub);
    merge_try_all(hub);
    snapshot_try(hub);
    stop_advance(hub);
}

void finish_advance(struct hub *hub)
{
    if (hub->stopping) {
        stop_advance(hub);
        return;
    }
    if (!hub->closing || hub->ended || hub->rounds || hub->evaluating ||
        hub->saving || hub->recovery.on)
        return;
    if (hub->founded && hub->config.evaluate &&
        hub->scored_version != hub->version) {
        hub->want_evaluate = true;
    } else if (save_wanted(hub)) {
        hub->want_save = !hub->save_until || hub->now >= hub->next_save;
    } else {
        goodbye(hub);
        return;
    }
    snapshot_try(hub);
}

/* Whether some node still has its last offer to make. */
static bool anybody_left(const struct hub *hub)
{
    return hub->tally.awaited || hub->rounds || members_return(hub);
}

static bool goal_reached(const struct hub *hub)
{
    const struct hub_config *config = &hub->config;

    if (config->goal == GOAL_ACCURACY)
        return hub->accuracy >= config->goal_value;
    return config->goal == GOAL_LOSS && hub->score <= config->goal_value &&
           told_goal(hub);
}

/* Why the run is over, its time left aside; false, and empty: it is not. */
static bool find_reason(const struct hub *hub, char reason[MSG_TEXT_BYTES])
{
    const size_t size = MSG_TEXT_BYTES;
    bool reached = goal_reached(hub);

    reason[0] = '\0';
    if (reached && hub->config.goal == GOAL_ACCURACY)
        (void)snprintf(reason, size, "goal reached: test accuracy %.2f %%",
                       100 * hub->accuracy);
    else if (reached)
        (void)snprintf(reason, size, "goal reached: loss %.4f", hub->score);
    else if (told_done(hub))
        (void)snprintf(reason, size, "%llu iteration%s done",
                       (unsigned long long)hub->config.iterations,
                       plural(hub->config.iterations));
    else if (ledger_over(&hub->ledger))
        (void)snprintf(reason, size, "%llu epoch%s done",
                       (unsigned long long)hub->config.epochs,
                       plural(hub->config.epochs));
    return reason[0] != '\0';
}

nanos hub_time(const struct hub *hub)
{
    return hub->former + (hub->begun ? hub->now - hub->started : 0);
}

static bool is_time_over(const struct hub *hub)
{
    return hub->config.time && hub_time(hub) >= hub->config.time;
}

bool finish_is_due(const struct hub *hub)
{
    char reason[MSG_TEXT_BYTES];

    return hub->reason[0] || find_reason(hub, reason) || is_time_over(hub);
}

void finish_judge(struct hub *hub)
{
    hub->reached |= goal_reached(hub);
    if (hub->recovery.on || hub->stopping)
        return;
    if (!hub->ending) {
        if (hub->reason[0] || find_reason(hub, hub->reason))
            begin(hub);
    } else if (!hub->closing && !anybody_left(hub)) {
        hub->closing = true;
        finish_advance(hub);
    }
}

/* The time for last offers is over. Members may never finish: what they have
 * offered before keeps the others from theirs, who have as long from then on;
 * and where the policy chooses among last offers, those that have come are
 * granted only now. */
static void time_is_up(struct hub *hub)
{
    if (!hub->freed) {
        hub->freed = true;
        if (waits_free(hub))
            hub->last_call = hub->now + LAST_CALL;
    }
    if (hub->now < hub->last_call)
        return;
    hub->late = true;
    rounds_advance(hub);
    if (waits_bring(hub)) /* links may be slow */
        return;
    hub->closing = true;
    for (int i = 0; i < hub->member_count; i++)
        rounds_forget(hub, i, VERDICT_EXPIRED, false);
}

void finish_tick(struct hub *hub)
{
    if (hub->recovery.on)
        return;
    finish_judge(hub);
    if (!hub->ending && !hub->stopping && is_time_over(hub)) {
        (void)snprintf(hub->reason, sizeof hub->reason, "the time is over");
        begin(hub);
    }
    if (hub->ending && !hub->closing && hub->now >= hub->last_call)
        time_is_up(hub);
    finish_advance(hub);
}
