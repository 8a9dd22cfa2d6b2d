/* What people and judges see of the hub. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "hub/review.h"
#include "hub/state.h"

const float *hub_centre(const struct hub *hub, uint32_t chunk,
                        uint64_t *version)
{
    if (chunk >= hub->centre.count || !hub->centre.chunk[chunk].theta)
        return NULL;
    *version = hub->centre.chunk[chunk].version;
    return blob_floats(hub->centre.chunk[chunk].theta);
}

const float *hub_sent(const struct hub *hub, uint32_t chunk)
{
    return blob_floats(last_sent_of(&hub->centre.chunk[chunk]));
}

/* How long exchanges have taken on average, in seconds. */
static double exchange_takes(const struct hub *hub)
{
    const struct hub_durations *all = &hub->offers.durations;
    uint64_t count = 0;

    for (unsigned i = 0; i <= HUB_DURATION_COUNT; i++)
        count += all->within[i];
    return count ? all->seconds / (double)count : NAN;
}

/* U = k t / (k t + stall), stall = max(0, T - d t): equations (5) and (6) of
 * sim/study/plan.h, where T is the mean exchange that was seen, waits for
 * others included, and a round trip. Only who waits for results stalls. */
static double foresee_use(const struct hub *hub, const struct member *member)
{
    double rate = member->stats.rate, t = rate > 0 ? 1 / rate : NAN;
    double k = (double)member->every * t, d = (double)member->delay * t;
    double takes =
        exchange_takes(hub) + patience_seconds(member->stats.round_trip);
    double stall =
        hub->config.miss == MISS_WAIT || member->delay == 0 ? takes - d : 0;

    if (!isfinite(k) || !isfinite(stall) || !(k > 0))
        return NAN;
    return k / (k + (stall > 0 ? stall : 0));
}

static void look_at_time(const struct hub *hub, const struct member *member,
                         struct hub_node_view *view)
{
    struct msg_ping all = member->past;

    counts_add(&all, &member->stats);
    view->missed = all.missed;
    view->waited = all.waited;
    view->spent[SPENT_COMPUTE] = all.compute;
    view->spent[SPENT_NET_WAIT] = all.net_wait;
    view->spent[SPENT_DATA_WAIT] = all.data_wait;
    view->spent[SPENT_OPTIMIZER] = all.optimizer;
    view->spent[SPENT_IDLE] = all.idle;
    view->foreseen = foresee_use(hub, member);
}

static void look_at(const struct hub *hub, const struct member *member,
                    struct hub_node_view *view)
{
    memcpy(view->name, member->name, sizeof view->name);
    memcpy(view->why, member->why, sizeof view->why);
    view->iteration = member->iteration;
    view->before = member->before;
    view->moved = member_moved(member);
    view->rate = member->stats.rate;
    view->every = member->every;
    view->delay = member->delay;
    view->loss = member->stats.loss;
    view->accuracy = member->stats.accuracy;
    view->told = member->stats.sent != 0;
    look_at_time(hub, member, view);
    view->round_trip = member->stats.round_trip;
    view->activity = member->stats.activity;
    /* 0: it has none yet, since it has just come. */
    view->lag =
        member->base_version ? members_lag(hub, member->base_version) : 0;
    if (view->lag > hub->centre.version)
        view->lag = hub->centre.version;
    memcpy(view->fates, member->fates, sizeof view->fates);
    view->preempted = member->preempted;
    view->up_rate = member_is_here(member) ? member->up.mean : 0;
    view->down_rate = member_is_here(member) ? member->down.mean : 0;
    view->link_up = traffic_up(member);
    view->link_down = traffic_down(member);
    view->busy = traffic_busy(member);
    view->down_limit = member->delivery.bucket.rate;
    view->silent = member->state == MEMBER_SILENT;
    view->quarantined = quarantine_holds(member);
    view->best = false;
    view->gone = !member_is_here(member);
    if (member->patience.spent)
        (void)snprintf(view->why, sizeof view->why,
                       "too slow: rounds do not wait for it");
    view->left = view->gone && member->left;
    view->drained = member->drained;
    view->pinned = hub->run.pinned == member->place;
}

/* The node with the lowest reported loss. */
static void mark_best(struct hub_view *view)
{
    struct hub_node_view *best = NULL;

    for (unsigned i = 0; i < view->count; i++) {
        struct hub_node_view *node = &view->nodes[i];

        if (!node->gone && node->iteration && score_known(node->loss) &&
            (!best || node->loss < best->loss))
            best = node;
    }
    if (best)
        best->best = true;
}

/* How much of an upload is here, and how long the rest will take. Chunks that
 * have not come are as long as those that have, or as they are raw. */
static void say_progress(const struct hub *hub, nanos now,
                         const struct update *one, struct text *out)
{
    const struct upload_credit *credit = &one->credit;
    const struct arrival *arrival = &hub->roll.members[one->member]->arrival;
    struct extent extent = centre_extent(hub, 0);
    double chunk = (double)payload_wire_bytes(&extent, hub->config.codec_up);
    double here = (double)credit->bytes + (double)arrival->bytes;
    double took = (double)(now - one->began) / (double)SECOND, whole;

    if (credit->came)
        chunk = (double)credit->bytes / credit->came;
    else if (arrival->whole)
        chunk = (double)arrival->whole;
    whole = (double)credit->bytes + (double)credit->left * chunk;
    if (here <= 0 || here >= whole || took < 1)
        return;
    text_add(out, ": %.0f %% is here, the rest takes %.0f s",
             100 * here / whole, (whole - here) * took / here);
}

/* The first of a closed round that is still to upload, or NULL. */
static const struct update *upload_of(const struct hub *hub,
                                      const struct round *round)
{
    if (round->state == ROUND_OPEN)
        return NULL;
    EACH_OFFER(round, one)
        if (waits_uploads(hub, one))
            return one;
    return NULL;
}

/* Whom the oldest round waits for, if it does for long enough to be noticed.
 */
static void say_awaited(const struct hub *hub, nanos now, struct text *out)
{
    const struct round *round = hub->rounds.first;
    const struct update *upload = NULL;
    const struct member *member = NULL;
    nanos since;

    if (!round || now - round->opened < SECOND)
        return;
    if (round->review) {
        review_tell(round, now, out);
        return;
    }
    upload = upload_of(hub, round);
    since = upload ? upload->began : round->opened;
    if (upload)
        member = hub->roll.members[upload->member];
    for (int i = 0; i < hub->roll.count && !member; i++)
        if (waits_for(hub, round, hub->roll.members[i]))
            member = hub->roll.members[i];
    if (!member)
        return;
    text_add(out, "; waits for %s to %s, for %.0f s", member->name,
             round->state != ROUND_OPEN ? "upload"
             : member->delivery.out     ? "take what it is sent"
                                        : "offer",
             (double)(now - since) / (double)SECOND);
    if (upload)
        say_progress(hub, now, upload, out);
}

static void say_offered(const struct hub *hub, nanos now, unsigned offered,
                        struct hub_view *view)
{
    unsigned live = members_live(hub);
    struct text out;

    text_init(&out, view->state, sizeof view->state);
    text_add(&out, "%s%u of %u node%s %s offered",
             tournament_goes_on(hub) ? "tournament of first parameters: " : "",
             offered, live, plural(live), live == 1 ? "has" : "have");
    say_awaited(hub, now, &out);
}

/* What the hub does or waits for as long as the run goes on. */
static void say_work(const struct hub *hub, nanos now, struct hub_view *view)
{
    unsigned live = members_live(hub), wanted = gate_nodes(hub), offered = 0;

    EACH_ROUND(hub, round)
        offered += round->count;
    if (!hub->roll.tally.present)
        (void)snprintf(view->state, sizeof view->state,
                       "waiting for nodes (training starts with the first)");
    else if (!tournament_goes_on(hub) && !centre_is_founded(hub))
        (void)snprintf(view->state, sizeof view->state,
                       "waiting for the first parameters");
    else if (live < wanted)
        (void)snprintf(view->state, sizeof view->state,
                       "waiting for %u more node%s; those here train",
                       wanted - live, plural(wanted - live));
    else
        say_offered(hub, now, offered, view);
}

/* Where nothing is said, the hub works: say_work. */
static const char *const phase_words[] = {
    [PHASE_RECOVERING] = "asking the nodes for the newest centre",
    [PHASE_CALLED] = "waiting for the nodes' last offers",
    [PHASE_FREED] = "waiting for the nodes' last offers",
    [PHASE_LATE] = "waiting for the nodes' last offers",
    [PHASE_STOPPING] = "saving the model",
    [PHASE_CLOSING] = "saving the model",
    [PHASE_ENDED] = "done",
    [PHASE_STOPPED] = "stopped",
    [PHASE_SUPERSEDED] = "another hub has taken the run over",
};

static void say_state(const struct hub *hub, nanos now, struct hub_view *view)
{
    const char *words = phase_words[hub->run.phase];

    if (hub->run.phase == PHASE_RECOVERING && !hub->roll.tally.present)
        words = "waiting for a node, which may keep a newer centre";
    if (hub->memory.save_until && hub->run.phase < PHASE_ENDED)
        words = "the model cannot be saved: it is tried again";
    if (words)
        (void)snprintf(view->state, sizeof view->state, "%s", words);
    else
        say_work(hub, now, view);
}

/* Bytes of payload that have come of an upload and are not merged. */
static uint64_t bytes_held(const struct hub *hub, const struct update *one)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < hub->centre.count; i++)
        if (one->chunks[i].state == CHUNK_CHECKING ||
            one->chunks[i].state == CHUNK_DELIVERED)
            bytes += one->chunks[i].bytes;
    return bytes;
}

/* Chunks that were offered and have no verdict yet. */
static uint64_t chunks_open(const struct hub *hub)
{
    uint64_t open = 0;

    EACH_ROUND(hub, round)
        EACH_OFFER(round, one)
            for (uint32_t j = 0; j < hub->centre.count; j++)
                open += one->chunks[j].state != CHUNK_CLOSED;
    EACH_MEMBER(hub, member)
        for (unsigned j = 0; j < member->waiting_count; j++)
            open += hub->centre.count - member->waiting[j]->foreign;
    return open;
}

void hub_look_at_uploads(const struct hub *hub, struct hub_uploads *out)
{
    *out = (struct hub_uploads){.open = chunks_open(hub)};
    for (const struct round *round = hub->rounds.first; round;
         round = round->next, out->rounds++)
        EACH_OFFER(round, one) {
            uint64_t held = bytes_held(hub, one);

            out->held += held;
            out->partial += held > 0;
        }
}

static void look_at_tasks(const struct hub *hub, struct hub_view *view)
{
    view->task_epoch = hub->run.ledger.epoch;
    view->tasks = hub->run.ledger.parts;
    view->tasks_doing = hub->run.ledger.count[TASK_DOING];
    view->tasks_done = hub->run.ledger.count[TASK_DONE];
}

static void look_at_times(const struct hub *hub, nanos now,
                          struct hub_view *view)
{
    nanos until = hub->ended_at ? hub->ended_at : now;

    if (hub->running)
        view->pending = (hub->first_round_at ? hub->first_round_at : until) -
                        hub->started_at;
    if (hub->first_round_at)
        view->training = until - hub->first_round_at;
    view->run_time = hub_time(hub);
    view->former = hub->run.former;
}

void hub_look(const struct hub *hub, nanos now, struct hub_view *view)
{
    memset(view, 0, sizeof *view);
    view->run = hub->config.run;
    view->version = hub->centre.version;
    view->epoch = hub->roll.epoch;
    view->from = hub->memory.recovery.epoch;
    view->rounds = hub->rounds.done;
    view->rounds_here = hub->rounds.here;
    view->every = hub->adapt.every;
    view->delay = hub->adapt.delay;
    view->founded = centre_is_founded(hub);
    view->ending = run_is_ending(hub);
    view->stopping = run_is_stopping(hub);
    view->reached = hub->run.reached;
    view->ended = hub->run.phase >= PHASE_ENDED;
    view->recovering = hub->run.phase == PHASE_RECOVERING;
    view->superseded = hub->run.phase == PHASE_SUPERSEDED;
    view->saves_failed = hub->memory.saves_failed;
    view->unsaved = hub->memory.unsaved ? hub->memory.save_failure.text : NULL;
    view->tested = hub->config.evaluate != NULL;
    view->score = hub->memory.score;
    view->accuracy = hub->memory.accuracy;
    view->error = hub->memory.error;
    view->first_score = hub->memory.first;
    view->best_score = hub->memory.best_score;
    view->best_accuracy = hub->memory.best_accuracy;
    view->best_version = hub->memory.best_version;
    memcpy(view->verdicts, hub->offers.verdicts, sizeof view->verdicts);
    view->offered = hub->offers.offered;
    view->durations = hub->offers.durations;
    view->codec_up = hub->config.codec_up;
    view->codec_down = hub->config.codec_down;
    view->up_limit = hub->config.up;
    view->down_limit = hub->config.down;
    view->preempted = hub->rounds.preempted;
    view->rollbacks = hub->memory.back.count;
    memcpy(view->reason, hub->run.reason, sizeof view->reason);
    look_at_tasks(hub, view);
    look_at_times(hub, now, view);
    foresee_look(hub, now, view);
    view->moved = hub->run.left;
    view->nodes = hub->roll.shown;
    EACH_MEMBER(hub, member) {
        look_at(hub, member, &view->nodes[view->count]);
        moved_add(&view->moved, &view->nodes[view->count++].moved);
    }
    mark_best(view);
    say_state(hub, now, view);
}

/* What is merged of an update has been asked for, is what the round is
 * about, and descends from what the centre does. */
static const char *check_update(const struct hub *hub,
                                const struct round *round,
                                const struct update *one)
{
    enum exchange kind = round->policy->exchange;
    uint32_t merged = 0, open = 0;

    for (uint32_t i = 0; i < hub->centre.count; i++) {
        bool closed = one->chunks[i].state == CHUNK_CLOSED;

        merged += closed && one->chunks[i].verdict == VERDICT_MERGED;
        open += !closed;
    }
    if (merged != one->merged)
        return "an update's chunks are miscounted";
    if ((merged > one->foreign || (one->merges && open)) && !one->granted)
        return "what nobody was asked for is merged";
    if (merged > one->foreign && !one->merges)
        return "what was not chosen is merged";
    if (round->state == ROUND_SETTLED && open && !one->merges && !one->donates)
        return "what was not chosen has no verdict";
    if (one->merges && one->offer.kind != kind)
        return "what is merged is not what the policy works on";
    if (one->merges && kind != EXCHANGE_PARAMETERS &&
        one->offer.lineage != hub->centre.lineage)
        return "progress of another lineage is merged";
    return NULL;
}

static const char *check_rounds(const struct hub *hub)
{
    const char *words;

    EACH_ROUND(hub, round)
        EACH_OFFER(round, one)
            if (round->state != ROUND_OPEN &&
                (words = check_update(hub, round, one)) != NULL)
                return words;
    return NULL;
}

static const char *check_members(const struct hub *hub)
{
    EACH_MEMBER(hub, member) {
        if (member->waiting_count &&
            (!member_is_here(member) || member->start != START_GO))
            return "an offer of a node that takes no part waits for a round";
    }
    return NULL;
}

static const char *check_centre(const struct hub *hub)
{
    for (uint32_t i = 0; centre_is_founded(hub) && i < hub->centre.count; i++) {
        if (!hub->centre.chunk[i].theta)
            return "a chunk of the centre is missing";
        if (hub->centre.chunk[i].version < hub->centre.version)
            return "a chunk is older than the centre's version";
        if (hub->centre.chunk[i].change)
            return "a change of the centre is kept after it was sent";
    }
    if (tournament_goes_on(hub) && centre_is_founded(hub))
        return "the tournament goes on although the centre is there";
    return NULL;
}

const char *hub_check(const struct hub *hub)
{
    const char *words = check_rounds(hub);
    uint64_t closed = 0;

    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        closed += hub->offers.verdicts[i];
    if (hub->offers.offered != closed + chunks_open(hub))
        return "the ledger does not balance: offered chunks != verdicts + "
               "open ones";
    if (!words)
        words = check_centre(hub);
    if (!words)
        words = check_members(hub);
    if (!words)
        words = roll_check(hub);
    if (!words)
        words = review_check(hub);
    if (!words && hub->running && hub->dirty)
        words = "something was left to be settled";
    if (!words)
        words = ledger_check(&hub->run.ledger);
    return words ? words : coordinator_check(hub->coordinator);
}
