/* How a run ends: a reason, a last call, a last score and save, goodbye. And
 * how a hub ends whose run goes on later: a save, and no goodbye.
 *
 * While the hub recovers, or is given its first centre, the reason waits:
 * whoever is told that the run is done leaves with the centre that it keeps. */
#include <stdio.h>
#include <string.h>

#include "hub/state.h"

/* Whether some chunks may have moved that others of their round have not. */
static bool is_merging(const struct hub *hub)
{
    EACH_ROUND(hub, round)
        if (round->state == ROUND_SETTLED)
            return true;
    return false;
}

/* Whether somebody may still give the first parameters: before that nobody can
 * make a last offer, and all would leave with what they have learnt. Those of a
 * tournament's round that has closed are being judged, and what nodes have
 * learnt since departs from them. */
static bool is_founding(struct hub *hub)
{
    if (tournament_goes_on(hub))
        return hub->rounds.undecided || is_merging(hub);
    if (centre_is_founded(hub) || !hub->roll.tally.present)
        return false;
    if (!hub->run.found_until)
        hub->run.found_until = hub->now + LAST_CALL;
    return hub->now < hub->run.found_until;
}

/* There is a reason. What waits for others, in a round that has not closed,
 * goes back to the nodes: their last offers hold it. */
static void begin(struct hub *hub)
{
    if (is_founding(hub))
        return;
    hub->run.phase = PHASE_CALLED;
    hub->run.last_call = hub->now + LAST_CALL;
    effects_note(hub->out, NOTE_ENDING, "", "%s", hub->run.reason);
    EACH_MEMBER(hub, member) {
        member_call(hub, member, hub->run.reason);
        if (gate_gathers(hub))
            offers_return(hub, member);
    }
    waits_end(hub);
    hub->dirty |= DIRTY_PHASE | DIRTY_ROUNDS;
}

void finish_order(struct hub *hub, const char *reason)
{
    if (!hub->run.reason[0])
        (void)snprintf(hub->run.reason, sizeof hub->run.reason, "%s",
                       reason[0] ? reason : "ended by hand");
    hub->dirty |= DIRTY_PHASE;
}

void hub_on_stop(struct hub *hub, const struct incoming *in)
{
    finish_order(hub, in->msg->stop.reason);
}

/* People and nodes are told what the run has come to. */
static void say_unsaved(struct hub *hub)
{
    uint64_t version = hub->memory.saved_version == hub->centre.version
                           ? hub->memory.best_version
                           : hub->centre.version;
    char reason[MSG_TEXT_BYTES];

    memcpy(reason, hub->run.reason, sizeof reason);
    (void)snprintf(hub->run.reason, sizeof hub->run.reason,
                   "%.70s; version %llu is not saved", reason,
                   (unsigned long long)version);
}

void finish_resume(struct hub *hub)
{
    if (hub->run.reason[0])
        begin(hub);
}

static void goodbye(struct hub *hub)
{
    if (hub->memory.unsaved)
        say_unsaved(hub);
    EACH_MEMBER(hub, member) {
        delivery_end(hub, member);
        if (member_is_here(member))
            bye_to(hub, member->control, FAREWELL_DONE, hub->run.reason);
    }
    effects_note(hub->out, NOTE_ENDED, "", "%s; it ends at version %llu",
                 hub->run.reason, (unsigned long long)hub->centre.version);
    hub->run.phase = PHASE_ENDED;
}

/* What is to be saved before the end. */
static bool save_wanted(const struct hub *hub)
{
    return centre_is_founded(hub) && hub->config.save && !hub->memory.unsaved &&
           snapshot_is_behind(hub);
}

/* Once all chunks are of one version again: saves it. That waits for nobody.
 * Rounds that gather or are being judged are left: their nodes learn from the
 * next hub that nothing has come of them. */
static void stop_advance(struct hub *hub)
{
    if (hub->memory.saving || is_merging(hub))
        return;
    if (save_wanted(hub)) {
        hub->memory.want_save =
            !hub->memory.save_until || hub->now >= hub->memory.next_save;
        hub->dirty |= DIRTY_MEMORY;
        return;
    }
    effects_note(hub->out, NOTE_STOPPED, "",
                 "version %llu; nodes train alone "
                 "until it is started again",
                 (unsigned long long)hub->centre.version);
    hub->run.phase = PHASE_STOPPED;
}

void finish_stop(struct hub *hub)
{
    if (hub->run.phase >= PHASE_CALLED)
        return;
    if (hub->run.phase == PHASE_RECOVERING) {
        hub->run.phase =
            PHASE_STOPPED; /* what the disk has not, the nodes keep */
        return;
    }
    hub->run.phase = PHASE_STOPPING;
    EACH_ROUND(hub, round)
        if (round->state == ROUND_SETTLED)
            EACH_OFFER(round, one)
                update_cut(hub, one, VERDICT_EXPIRED, false);
    EACH_MEMBER(hub, member)
        member_changes(hub, member, CHANGE_SILENT);
    hub->dirty |= DIRTY_PHASE | DIRTY_MEMORY | DIRTY_ROUNDS;
}

/* Goes on with the end: last score, last save, goodbye. */
static void advance(struct hub *hub)
{
    if (hub->run.phase == PHASE_STOPPING)
        stop_advance(hub);
    if (hub->run.phase != PHASE_CLOSING || hub->rounds.first ||
        hub->memory.evaluating || hub->memory.saving)
        return;
    if (centre_is_founded(hub) && hub->config.evaluate &&
        hub->memory.scored_version != hub->centre.version) {
        hub->memory.want_evaluate = true;
    } else if (save_wanted(hub)) {
        hub->memory.want_save =
            !hub->memory.save_until || hub->now >= hub->memory.next_save;
    } else {
        goodbye(hub);
        return;
    }
    hub->dirty |= DIRTY_MEMORY;
}

static bool is_last_call(const struct hub *hub)
{
    return hub->run.phase >= PHASE_CALLED && hub->run.phase <= PHASE_LATE;
}

/* Whether some node still has its last offer to make. */
static bool anybody_left(const struct hub *hub)
{
    return hub->roll.tally.awaited || hub->rounds.first || members_return(hub);
}

/* ---- what nodes say of themselves ---- */

/* Nobody can check it: of two or more no one alone ends the run. One that is
 * alone has nobody beside it: what it says must fit the versions that the run
 * has. */
enum {
    ALONE_TIMES = 2,    /* k iterations that a version stands for, at most */
    ALONE_VERSIONS = 10 /* before what it tells can be the goal */
};

static bool is_alone(const struct hub *hub)
{
    return hub->roll.tally.present < 2;
}

/* Whether a score may be that of the goal: it was tested, or told by more than
 * one, or by one that has trained for a while. */
static bool told_goal(const struct hub *hub)
{
    return hub->config.evaluate || !is_alone(hub) ||
           hub->centre.version >= ALONE_VERSIONS;
}

/* Versions that the run must have before iterations are believed to be done;
 * none where nobody offers by itself. */
static uint64_t versions_due(const struct hub *hub)
{
    uint64_t every = hub->adapt.longest;

    return every ? hub->config.iterations / ALONE_TIMES / every : 0;
}

/* Whether more than half of the nodes that are here say that they have done
 * the iterations of the run; and if one is alone, the run has as many versions
 * as that takes, give or take half. */
static bool told_done(const struct hub *hub)
{
    return 2 * hub->roll.tally.done > hub->roll.tally.present &&
           (!is_alone(hub) || hub->centre.version >= versions_due(hub));
}

/* ---- is it over? ---- */

static bool goal_reached(const struct hub *hub)
{
    const struct hub_config *config = &hub->config;

    if (config->goal == GOAL_ACCURACY)
        return hub->memory.accuracy >= config->goal_value;
    return config->goal == GOAL_LOSS &&
           hub->memory.score <= config->goal_value && told_goal(hub);
}

/* Why the run is over; false, and empty: it is not. */
static bool find_reason(const struct hub *hub, char reason[MSG_TEXT_BYTES])
{
    const size_t size = MSG_TEXT_BYTES;
    bool reached = goal_reached(hub);

    reason[0] = '\0';
    if (reached && hub->config.goal == GOAL_ACCURACY)
        (void)snprintf(reason, size,
                       "goal reached: test accuracy %.2f %% at version %llu",
                       100 * hub->memory.accuracy,
                       (unsigned long long)hub->memory.scored_version);
    else if (reached)
        (void)snprintf(reason, size, "goal reached: loss %.4f at version %llu",
                       hub->memory.score,
                       (unsigned long long)hub->memory.scored_version);
    else if (told_done(hub))
        (void)snprintf(reason, size, "%llu iteration%s done",
                       (unsigned long long)hub->config.iterations,
                       plural(hub->config.iterations));
    else if (ledger_over(&hub->run.ledger))
        (void)snprintf(reason, size, "%llu epoch%s done",
                       (unsigned long long)hub->config.epochs,
                       plural(hub->config.epochs));
    else if (hub->config.time && hub_time(hub) >= hub->config.time)
        (void)snprintf(reason, size, "the time is over");
    else if (hub->config.idle && hub->run.seen &&
             hub->now - hub->run.seen >= hub->config.idle)
        (void)snprintf(reason, size, "no node has been there for %.0f s",
                       (double)hub->config.idle / (double)SECOND);
    return reason[0] != '\0';
}

bool finish_is_due(const struct hub *hub)
{
    char reason[MSG_TEXT_BYTES];

    return hub->run.reason[0] || find_reason(hub, reason);
}

/* Is it over? */
static void judge(struct hub *hub)
{
    /* A centre that a node keeps may still come. */
    if (hub->run.phase != PHASE_RECOVERING)
        hub->run.reached |= goal_reached(hub);
    if (hub->run.phase == PHASE_RUNNING) {
        if (hub->run.reason[0] || find_reason(hub, hub->run.reason))
            begin(hub);
    } else if (is_last_call(hub) && !anybody_left(hub)) {
        hub->run.phase = PHASE_CLOSING;
        hub->dirty |= DIRTY_MEMORY;
    }
}

void finish_settle(struct hub *hub)
{
    judge(hub);
    advance(hub);
}

/* The time for last offers is over. Members may never finish: what they have
 * offered before keeps the others from theirs, who have as long from then on;
 * and where the policy chooses among last offers, those that have come are
 * granted only now, and looked at in the next tick. */
static void time_is_up(struct hub *hub)
{
    if (hub->run.phase == PHASE_CALLED) {
        hub->run.phase = PHASE_FREED;
        if (waits_free(hub))
            hub->run.last_call = hub->now + LAST_CALL;
    }
    if (hub->now < hub->run.last_call)
        return;
    hub->dirty |= DIRTY_ROUNDS;
    if (hub->run.phase != PHASE_LATE || waits_bring(hub)) { /* on slow links */
        hub->run.phase = PHASE_LATE;
        return;
    }
    hub->run.phase = PHASE_CLOSING;
    EACH_MEMBER(hub, member) {
        offers_forget(hub, member, VERDICT_EXPIRED, false);
        member_changes(hub, member, CHANGE_SILENT);
    }
}

void finish_slept(struct hub *hub, nanos time)
{
    postpone(&hub->run.seen, time);
    postpone(&hub->run.last_call, time);
    postpone(&hub->run.found_until, time);
}

void finish_tick(struct hub *hub)
{
    hub->dirty |= DIRTY_PHASE;
    if (hub->roll.tally.present || (!hub->run.seen && centre_is_founded(hub)))
        hub->run.seen = hub->now;
    if (is_last_call(hub) && hub->now >= hub->run.last_call)
        time_is_up(hub);
}
