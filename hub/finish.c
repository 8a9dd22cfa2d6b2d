/* How a run ends: a reason, a last call, a last score and save, goodbye. */
#include <stdio.h>
#include <string.h>

#include "hub/state.h"

static void begin(struct hub *hub, const char *reason)
{
    struct msg msg = {.kind = MSG_STOP};

    if (hub->ending)
        return;
    hub->ending = true;
    hub->last_call = hub->now + LAST_CALL;
    (void)snprintf(hub->reason, sizeof hub->reason, "%s", reason);
    (void)snprintf(msg.stop.reason, sizeof msg.stop.reason, "%s", reason);
    effects_note(hub->out, NOTE_ENDING, "", "%s", reason);
    for (int i = 0; i < hub->member_count; i++)
        member_send(hub, hub->members[i], &msg);
    rounds_advance(hub);
}

void hub_on_stop(struct hub *hub, struct peer *peer, const struct msg *msg,
                 struct blob *payload)
{
    (void)peer;
    (void)payload;
    begin(hub, msg->stop.reason[0] ? msg->stop.reason : "stopped by hand");
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

static void goodbye(struct hub *hub)
{
    struct msg bye = {.kind = MSG_BYE};

    if (hub->unsaved)
        say_unsaved(hub);
    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%s", hub->reason);
    bye.bye.farewell = FAREWELL_DONE;
    for (int i = 0; i < hub->member_count; i++)
        member_send(hub, hub->members[i], &bye);
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

void finish_advance(struct hub *hub)
{
    if (!hub->closing || hub->ended || hub->rounds || hub->evaluating ||
        hub->saving)
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
    return hub->tally.awaited || hub->rounds;
}

static bool goal_reached(const struct hub *hub)
{
    const struct hub_config *config = &hub->config;

    if (config->goal == GOAL_ACCURACY)
        return hub->accuracy >= config->goal_value;
    return config->goal == GOAL_LOSS && hub->score <= config->goal_value;
}

static bool iterations_done(const struct hub *hub)
{
    return hub->tally.done > 0;
}

void finish_judge(struct hub *hub)
{
    char reason[MSG_TEXT_BYTES];

    if (hub->ending) {
        if (!hub->closing && !anybody_left(hub)) {
            hub->closing = true;
            finish_advance(hub);
        }
        return;
    }
    if (goal_reached(hub)) {
        if (hub->config.goal == GOAL_ACCURACY)
            (void)snprintf(reason, sizeof reason,
                           "goal reached: %.2f %% right",
                           100 * hub->accuracy);
        else
            (void)snprintf(reason, sizeof reason, "goal reached: loss %.4f",
                           hub->score);
        begin(hub, reason);
    } else if (iterations_done(hub)) {
        (void)snprintf(reason, sizeof reason, "%llu iterations done",
                       (unsigned long long)hub->config.iterations);
        begin(hub, reason);
    } else if (ledger_over(&hub->ledger)) {
        (void)snprintf(reason, sizeof reason, "%llu epochs done",
                       (unsigned long long)hub->config.epochs);
        begin(hub, reason);
    }
}

void finish_tick(struct hub *hub)
{
    finish_judge(hub);
    if (!hub->ending && hub->config.time &&
        hub->now - hub->started >= hub->config.time)
        begin(hub, "the time is over");
    if (hub->ending && !hub->closing && hub->now >= hub->last_call) {
        hub->closing = true;
        rounds_advance(hub);
        for (int i = 0; i < hub->member_count; i++)
            rounds_forget(hub, i, VERDICT_EXPIRED, false);
    }
    finish_advance(hub);
}
