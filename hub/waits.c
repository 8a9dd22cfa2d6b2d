/* Whom rounds wait for: offers that do not come, uploads that are behind. What
 * each node may cost the others is in patience.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hub/state.h"
#include "policies/order.h"
#include "policies/pace.h"

/* Of a last offer that was granted something comes in so long, or it is not
 * waited for. */
#define FIRST_BYTES LAST_CALL
/* And of one of which something has come this long at least: links are away for
 * some seconds now and then. */
#define NEXT_BYTES (5 * SECOND)
/* All of it may take so long, or three times as long as its node's link has
 * been seen to need for all parameters as they are; but nobody holds up the end
 * of a run for longer than that. */
#define LAST_UPLOAD (120 * SECOND)
#define LAST_MOST (1800 * SECOND)

/* ---- what nodes need ---- */

void waits_offered(struct member *member)
{
    member->patience.offers = true;
}

static double steps_time(const struct member *member)
{
    return member->stats.rate > 0 ? (double)member->every / member->stats.rate
                                  : 0;
}

static double fetch_time(const struct member *member)
{
    return member->patience.fetch;
}

static double upload_rate(const struct member *member)
{
    return member->patience.rate;
}

/* ---- offers ---- */

bool waits_for(const struct hub *hub, const struct round *round,
               const struct member *member)
{
    return round->state == ROUND_OPEN && gate_gathers(hub) &&
           member_live(member) && !member->waiting_count &&
           !round_has(round, member);
}

static bool is_fetching(const struct member *member)
{
    return member->delivery.out || member->delivery.first;
}

/* Nothing of what it is sent has arrived for as long as a chunk may take. */
static bool is_stuck(const struct hub *hub, const struct member *member)
{
    return hub->now - member->delivery.moved >= LEASE;
}

/* Seconds that a round may wait for its offer, before that counts. */
static double offer_time(const struct hub *hub, const struct member *member,
                         const struct sorted_values *steps,
                         const struct sorted_values *fetch)
{
    double own = OWN_TIMES * steps_time(member), most;

    if (patience_is_shared(hub, member))
        return 0;
    if (is_fetching(member)) {
        most = SLOWER * median_of_others(fetch, fetch_time(member));
        if (most > 0)
            return most;
        return is_stuck(hub, member) ? 0 : HUGE_VAL;
    }
    most = OTHERS_TIMES * median_of_others(steps, steps_time(member));
    if (!(most > 0))
        return own > 0 ? own : patience_seconds(STUCK);
    return own > 0 && own < most ? own : most;
}

void waits_sent(struct hub *hub, struct member *member, bool all)
{
    struct patience *patience = &member->patience;

    if (all) {
        patience->ended = hub->now;
        patience->fetch = patience_seconds(patience_took(hub, patience->began));
        traffic_fetched(hub, member, patience->began);
    } else {
        patience->began = hub->now;
        traffic_sending(member);
    }
}

static nanos awaited_since(const struct hub *hub, const struct round *round,
                           const struct member *member)
{
    nanos ended = member->patience.ended;

    if (patience_is_shared(hub, member))
        return round->opened;
    return !is_fetching(member) && ended > round->opened ? ended
                                                         : round->opened;
}

static void look_at_offers(struct hub *hub, nanos span)
{
    const struct round *round = hub->rounds.open;
    struct sorted_values steps, fetch;

    if (!round || round->state != ROUND_OPEN || !round->count ||
        run_is_ending(hub) || members_live(hub) < gate_nodes(hub))
        return;
    steps = values_of(hub, steps_time);
    fetch = values_of(hub, fetch_time);
    EACH_MEMBER(hub, member) {
        if (waits_for(hub, round, member) &&
            patience_seconds(hub->now - awaited_since(hub, round, member)) >
                offer_time(hub, member, &steps, &fetch))
            (void)patience_use(hub, member, span, "it offers nothing");
    }
    free(steps.list);
    free(fetch.list);
}

/* ---- uploads ---- */

bool waits_uploads(const struct hub *hub, const struct update *one)
{
    return one->granted && one->delivered < hub->centre.count;
}

/* Which of a member's the others are sent behind; NULL: it uploads nothing. */
static const struct update *oldest_upload(const struct hub *hub,
                                          const struct member *member)
{
    const struct update *one = member->in_rounds;

    while (one && !waits_uploads(hub, one))
        one = one->next;
    return one;
}

/* Whether others wait for this upload, behind the fence of a snapshot, and
 * nothing comes of what else is under way. */
static bool is_last(const struct hub *hub, const struct update *slow)
{
    bool some = false;

    for (int i = 0; i < hub->roll.count && hub->memory.fence; i++) {
        const struct member *member = hub->roll.members[i];
        const struct update *one = oldest_upload(hub, member);

        if (i == slow->member ? one != slow
                              : one && !member_is_skipped(member) &&
                                    flow_still(hub, one) < SECOND)
            return false;
        some |= member_live(member) && !one;
    }
    return some;
}

/* How far a round's offers are that count: granted, and waited for. */
struct progress {
    unsigned uploads; /* of all offers, under way */
    unsigned granted; /* that count */
    /* The least, of those that count and are under way, that an upload must be
     * behind to be behind it: chunks delivered, less a window. The next is that
     * of all others. */
    int64_t least, next;
    const struct update *last; /* whose the least is */
};

static bool counts(const struct hub *hub, const struct update *one)
{
    return one->granted && !(waits_uploads(hub, one) &&
                             member_is_skipped(hub->roll.members[one->member]));
}

static void add_progress(const struct hub *hub, const struct update *one,
                         struct progress *out)
{
    int64_t at;

    out->uploads += waits_uploads(hub, one);
    if (!counts(hub, one))
        return;
    out->granted++;
    if (one->delivered >= hub->centre.count)
        return;
    at = (int64_t)one->delivered -
         flow_chunks_ahead(hub, hub->roll.members[one->member]);
    if (at < out->least) {
        out->next = out->least;
        out->least = at;
        out->last = one;
    } else if (at < out->next) {
        out->next = at;
    }
}

static struct progress progress_of(const struct hub *hub,
                                   const struct round *round)
{
    struct progress progress = {.least = INT64_MAX, .next = INT64_MAX};

    EACH_OFFER(round, one)
        add_progress(hub, one, &progress);
    return progress;
}

/* What looking at uploads goes by; it is counted again after a cut. */
struct watch {
    nanos span;
    struct sorted_values rates;
    struct progress progress; /* of the round that is looked at */
    unsigned uploads;         /* of all rounds */
};

/* Whether all others of the round that send anything are through, or a window
 * ahead, or all wait for it. */
static bool is_behind(const struct hub *hub, const struct progress *progress,
                      const struct update *slow)
{
    int64_t least = progress->last == slow ? progress->next : progress->least;

    if (least < (int64_t)slow->delivered)
        return false;
    return progress->granted > (unsigned)counts(hub, slow) ||
           is_last(hub, slow);
}

/* Seconds that an upload may take while others wait for it; if none has been
 * seen yet, as long as its chunks are not stuck. */
static double upload_time(const struct hub *hub, const struct update *one,
                          const struct sorted_values *rates)
{
    const struct upload_credit *credit = &one->credit;
    struct extent extent = centre_extent(hub, 0);
    double chunk = credit->came
                       ? (double)credit->bytes / credit->came
                       : (double)payload_wire_bytes(&extent, CODEC_RAW);
    double chunks = hub->centre.count - one->foreign;
    double median =
        median_of_others(rates, upload_rate(hub->roll.members[one->member]));

    return median > 0 ? SLOWER * chunks * chunk / median : HUGE_VAL;
}

static double whole_time(const struct hub *hub, double rate)
{
    double bytes = 0;

    for (uint32_t i = 0; i < hub->centre.count; i++) {
        struct extent extent = centre_extent(hub, i);

        bytes += (double)payload_wire_bytes(&extent, CODEC_RAW);
    }
    return rate > 0 ? SLOWER * bytes / rate : HUGE_VAL;
}

double waits_whole(const struct hub *hub, const struct member *member)
{
    struct sorted_values rates = values_of(hub, upload_rate);
    double median = median_of_others(&rates, upload_rate(member));

    free(rates.list);
    return whole_time(hub, median);
}

static double own_time(const struct hub *hub, const struct member *member)
{
    return whole_time(hub, upload_rate(member));
}

/* With --miss cut a node ends its uploads itself, before d of its iterations
 * are over. */
static bool ends_itself(const struct hub *hub, const struct update *one)
{
    const struct member *member = hub->roll.members[one->member];
    double rate = member->stats.rate;
    double steps = OWN_TIMES * (double)member->delay;
    double most = patience_seconds(STUCK);

    if (!one->credit.prompt)
        return false;
    if (rate > 0 && steps / rate + 1 < most)
        most = steps / rate + 1;
    return patience_seconds(hub->now - one->began) <= most;
}

/* Others wait, for longer than they needed; or all do, and send nothing. */
static bool holds_up(const struct hub *hub, const struct round *round,
                     const struct update *slow, bool behind,
                     const struct watch *watch)
{
    nanos age = hub->now - slow->began;

    if (behind ? slow->behind <= age - slow->behind
               : round->count == 1 || watch->progress.uploads > 1)
        return false;
    if (ends_itself(hub, slow))
        return false;
    return patience_seconds(age) > upload_time(hub, slow, &watch->rates);
}

static void cut(struct hub *hub, struct update *slow)
{
    if (slow->credit.came)
        patience_grow(&hub->roll.members[slow->member]->patience);
    update_cut(hub, slow, VERDICT_EXPIRED, false);
}

/* Something has come of it, and more may be on its way: three times as long as
 * its chunks have taken so far has not passed. */
static bool brings(const struct hub *hub, const struct update *one)
{
    nanos taken = one->progress - one->began;
    nanos still = flow_still(hub, one);

    if (!one->credit.came)
        return still < (taken ? STUCK : FIRST_BYTES);
    return still <= NEXT_BYTES || still <= 3 * taken / (nanos)one->credit.came;
}

/* How long all of it may take, by what its node, or else others, or else it
 * itself has needed. */
static nanos most_of(const struct hub *hub, const struct update *one)
{
    const struct member *member = hub->roll.members[one->member];
    double most = own_time(hub, member);

    if (most >= HUGE_VAL)
        most = waits_whole(hub, member);
    if (most >= HUGE_VAL && one->credit.came)
        most = SLOWER * patience_seconds(one->progress - one->began) *
               hub->centre.count / one->credit.came;
    if (!(most < patience_seconds(LAST_MOST)))
        return LAST_MOST;
    return most > patience_seconds(LAST_UPLOAD) ? (nanos)(most * (double)SECOND)
                                                : LAST_UPLOAD;
}

static bool still_comes(const struct hub *hub, const struct update *one)
{
    return brings(hub, one) && hub->now - one->began < most_of(hub, one);
}

static bool is_last_offer(const struct hub *hub, const struct update *one)
{
    return one->offer.last && still_comes(hub, one);
}

/* What its node cannot give again is not lost by some seconds of silence. */
static bool is_spared(const struct hub *hub, const struct update *one)
{
    return is_last_offer(hub, one) &&
           (run_is_ending(hub) ||
            !hub->roll.members[one->member]->patience.spent);
}

/* Nobody waits for whom there is no patience left; and with --miss cut
 * exchanges are bounded in time, but for a node's last one. */
static bool is_dropped(const struct hub *hub, const struct update *slow,
                       nanos still)
{
    const struct member *member = hub->roll.members[slow->member];

    if (is_spared(hub, slow))
        return false;
    return member->state == MEMBER_SILENT ||
           (slow->credit.prompt && !slow->offer.last && still >= SECOND) ||
           (member->patience.spent && !ends_itself(hub, slow));
}

static void count_uploads(const struct hub *hub, const struct round *round,
                          struct watch *watch)
{
    watch->uploads = 0;
    EACH_ROUND(hub, other) {
        struct progress progress = progress_of(hub, other);

        watch->uploads += progress.uploads;
        if (other == round)
            watch->progress = progress;
    }
}

static bool look_at_upload(struct hub *hub, const struct round *round,
                           struct update *slow, const struct watch *watch)
{
    struct member *member = hub->roll.members[slow->member];
    bool behind = is_behind(hub, &watch->progress, slow);
    nanos still = flow_still(hub, slow);

    slow->behind += behind ? watch->span : 0;
    if (still >= STUCK * (nanos)watch->uploads)
        (void)patience_use(hub, member, still, "nothing comes of its upload");
    else if (!(behind && is_dropped(hub, slow, still)) &&
             !(!run_is_ending(hub) &&
               holds_up(hub, round, slow, behind, watch) &&
               patience_use(hub, member, watch->span,
                            "its upload is too slow")))
        return false;
    cut(hub, slow);
    return true;
}

static void look_at_uploads(struct hub *hub, nanos span)
{
    struct watch watch = {.span = span, .rates = values_of(hub, upload_rate)};

    EACH_ROUND(hub, round) {
        if (round->state == ROUND_OPEN)
            continue;
        count_uploads(hub, round, &watch);
        EACH_OFFER(round, one)
            if (waits_uploads(hub, one) &&
                look_at_upload(hub, round, one, &watch))
                count_uploads(hub, round, &watch);
    }
    free(watch.rates.list);
}

/* It has done what it was asked for: where a policy chooses, most are asked for
 * nothing. */
void waits_round_over(struct hub *hub, const struct update *one)
{
    if (one->merged > one->foreign ||
        update_fate(one, one->part.first) == VERDICT_DECLINED)
        hub->roll.members[one->member]->patience.proved = true;
}

void waits_delivered(struct hub *hub, const struct update *one)
{
    struct patience *patience = &hub->roll.members[one->member]->patience;
    nanos took = patience_took(hub, one->began);

    if (one->credit.bytes > 0) {
        patience->upload = patience_seconds(took);
        patience->rate = (double)one->credit.bytes / patience->upload;
    }
}

/* ---- what a round may wait ---- */

double member_speed(const struct member *member)
{
    unsigned count = member->rates_said < RATES ? member->rates_said : RATES;
    double rates[RATES];

    memcpy(rates, member->rates, sizeof rates);
    return values_median(rates, count);
}

static double speed(const struct member *member)
{
    return member_live(member) && !member->patience.spent ? member_speed(member)
                                                          : 0;
}

struct sorted_values speeds_of(const struct hub *hub)
{
    return values_of(hub, speed);
}

double reference_speed(const struct hub *hub)
{
    struct sorted_values rates = speeds_of(hub);
    double reference = pace_reference(rates.list, rates.count);

    free(rates.list);
    return reference;
}

static double exchange_time(const struct member *member)
{
    const struct patience *patience = &member->patience;

    return patience->upload > 0 ? patience->upload + patience->fetch : 0;
}

static double usual_exchange(const struct hub *hub)
{
    struct sorted_values times = values_of(hub, exchange_time);
    double usual = values_high(times.list, times.count, NULL);

    free(times.list);
    return usual;
}

nanos waits_slack(const struct hub *hub)
{
    double rate = reference_speed(hub), left;
    double exchange = usual_exchange(hub);

    if (!(rate > 0 && exchange > 0))
        return -1;
    left = (double)hub->adapt.delay / rate - exchange;
    if (left > patience_seconds(STUCK))
        return STUCK;
    return left > 0 ? (nanos)(left * (double)SECOND) : 0;
}

/* Nobody waits for whom there is no patience left. */
void waits_skip(struct hub *hub, const struct round *round)
{
    struct progress progress;

    if (!round || round->state == ROUND_OPEN || !hub->roll.tally.skipped)
        return;
    progress = progress_of(hub, round);
    EACH_OFFER(round, slow)
        if (waits_uploads(hub, slow) && !is_spared(hub, slow) &&
            member_is_skipped(hub->roll.members[slow->member]) &&
            !ends_itself(hub, slow) && is_behind(hub, &progress, slow)) {
            update_cut(hub, slow, VERDICT_EXPIRED, false);
            progress = progress_of(hub, round);
        }
}

/* ---- all of it ---- */

void waits_tick(struct hub *hub, nanos span)
{
    EACH_MEMBER(hub, member)
        patience_return(hub, member, span);
    hub->rounds.newcomers.used -= PATIENCE_BACK * patience_seconds(span);
    if (hub->rounds.newcomers.used < 0)
        hub->rounds.newcomers.used = 0;
    look_at_offers(hub, span);
    look_at_uploads(hub, span);
    hub->dirty |= DIRTY_ROUNDS;
}

/* ---- the end of a run ---- */

void waits_end(struct hub *hub)
{
    EACH_MEMBER(hub, member) {
        member->patience.used = 0;
        member->patience.spent = false;
        member_recount(hub, member);
    }
}

bool waits_bring(const struct hub *hub)
{
    EACH_ROUND(hub, round)
        EACH_OFFER(round, one)
            if (waits_uploads(hub, one) && still_comes(hub, one))
                return true;
    return false;
}

bool waits_free(struct hub *hub)
{
    bool any = false;

    EACH_ROUND(hub, round)
        EACH_OFFER(round, one) {
            if (one->offer.last || !waits_uploads(hub, one) ||
                (one->offer.kind == EXCHANGE_GRADIENT && brings(hub, one)))
                continue;
            update_cut(hub, one, VERDICT_EXPIRED, false);
            any = true;
        }
    return any;
}

/* ---- rounds that bring nothing ---- */

/* The link was too slow for it, or broke. */
static bool is_late(enum verdict verdict)
{
    return verdict == VERDICT_EXPIRED || verdict == VERDICT_LOST;
}

void waits_barren(struct hub *hub, const struct round *round, bool merged)
{
    bool late = false;

    EACH_OFFER(round, one)
        for (uint32_t j = 0; j < hub->centre.count; j++)
            late |= is_late(update_fate(one, j));
    if (merged)
        hub->rounds.barren = 0;
    else if (late && ++hub->rounds.barren % BARREN_ROUNDS == 0)
        effects_note(hub->out, NOTE_BARREN, "",
                     "%u rounds in a row have brought nothing in time: links "
                     "are too slow or break too often. Start the hub with a "
                     "larger --every, --codec-up int4 and --fragments 8%s",
                     hub->rounds.barren,
                     tournament_goes_on(hub) ? ", and --init hub" : "");
}
