#include "hub/adapt.h"

#include <math.h>
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"
#include "policies/order.h"
#include "policies/pace.h"
#include "policies/tempo.h"

/* What comes with another k, and the first results, are not as later ones. */
enum { SKIPPED = 2 };
/* The first look takes so many rounds, later ones so many, or fewer in a longer
 * time. */
enum { FIRST_ROUNDS = 6, ROUNDS = 8, FEW_ROUNDS = 3, LEAST_SAMPLES = 4 };
#define FIRST_LOOK SECOND
#define LOOK (5 * SECOND)
#define LONG_LOOK (15 * SECOND)
#define CHANGES_AFTER (60 * SECOND)

void adapt_init(struct hub *hub)
{
    hub->adapt = (struct adapt){.every = hub->config.every,
                                .delay = hub->config.delay,
                                .longest = hub->config.every};
}

static bool adapts(const struct hub *hub)
{
    const struct hub_config *config = &hub->config;

    return (config->free_every || config->free_delay) &&
           hub->policy->exchange == EXCHANGE_DELTA &&
           !tournament_goes_on(hub) && centre_is_founded(hub) &&
           !run_is_ending(hub);
}

/* So many of the rounds that do not count are over. */
static void look_anew(struct hub *hub, unsigned skipped)
{
    struct adapt *adapt = &hub->adapt;

    adapt->began = hub->now;
    adapt->skipped = skipped;
    adapt->rounds = 0;
    adapt->samples = 0;
    EACH_MEMBER(hub, member)
        member->traffic =
            (struct traffic){.down_before = member->here.down_bytes};
}

/* ---- what is seen ---- */

void adapt_heard(struct hub *hub, struct member *member,
                 const struct msg_ping *ping)
{
    const struct msg_ping *before = &member->stats;
    struct traffic *traffic = &member->traffic;
    uint64_t results = ping->results - before->results;

    if (member->start != START_GO || ping->results <= before->results ||
        ping->taken < before->taken || ping->exchanging < before->exchanging)
        return;
    hub->adapt.samples++;
    traffic->took[traffic->samples++ % TRAFFIC_TOOK] =
        (double)(ping->taken - before->taken) / (double)results;
    traffic->results += results;
    traffic->exchanging +=
        ((double)ping->exchanging - (double)before->exchanging) /
        (double)SECOND;
}

void adapt_round(struct hub *hub)
{
    struct adapt *adapt = &hub->adapt;

    if (!adapts(hub))
        return;
    adapt->rounds++;
    if (adapt->skipped < SKIPPED && adapt->rounds == SKIPPED)
        look_anew(hub, SKIPPED);
}

/* ---- what follows ---- */

/* Seconds per upload of so many bytes at a rate; 0: it is not limited. */
static double limited(double bytes, uint64_t rate)
{
    return rate ? bytes / (double)rate : 0;
}

/* How long one exchange keeps the member's link busy, and adds its bytes. */
static double busy_of(const struct member *member, double *up, double *down)
{
    const struct traffic *traffic = &member->traffic;
    double count = (double)traffic->uploads;
    double sent =
        (double)(member->here.down_bytes - traffic->down_before) / count;
    double most = patience_seconds(traffic->up > traffic->down ? traffic->up
                                                               : traffic->down);

    *up += (double)traffic->up_bytes / count;
    *down += sent;
    return fmax(most / count, limited(sent, member->delivery.bucket.rate));
}

/* Iterations a second: of the slowest node where rounds wait for it, or as
 * rounds come, if that is faster. With --dylu of the fastest, and how many they
 * do in one of the slowest's, if rounds wait for it. Returns the fastest's. */
static double see_speeds(const struct hub *hub, double period,
                         struct tempo_seen *seen)
{
    struct sorted_values speeds = speeds_of(hub);
    double fastest = pace_reference(speeds.list, speeds.count);
    double slowest = speeds.count ? speeds.list[0] : 0;
    bool dylu = hub->config.dylu;

    free(speeds.list);
    seen->rate = fastest;
    if (!gate_gathers(hub))
        return fastest;
    if (dylu && slowest > 0)
        seen->spread = fmin(fastest / slowest, PACE_FASTER);
    seen->rate = fmax(dylu ? fastest : slowest,
                      period > 0 ? (double)hub->adapt.every / period : 0);
    return fastest;
}

/* Of the iterations that a result took with a member, in those that k is for:
 * they are counted as whole ones, and the last may have been the beginning of
 * one only, so that it counts as the least that it can be. */
static double took_of(double took, double share)
{
    return took > 1 ? (took - 1) / share + 1 : took;
}

/* What results took, in iterations of those that k is for. All members count
 * alike, however much each has told: one that says it often must not set k for
 * all. */
static void see_results(const struct hub *hub, double fastest,
                        struct tempo_seen *seen)
{
    struct tempo_value *took =
        need_memory((size_t)hub->roll.count * TRAFFIC_TOOK, sizeof *took);
    double reference = hub->config.dylu ? fastest : 0;
    unsigned count = 0;

    EACH_MEMBER(hub, member) {
        const struct traffic *traffic = &member->traffic;
        double share = pace_share(member_speed(member), reference);
        unsigned own =
            traffic->samples < TRAFFIC_TOOK ? traffic->samples : TRAFFIC_TOOK;

        for (unsigned i = 0; i < own; i++)
            took[count++] = (struct tempo_value){
                took_of(traffic->took[i], share), 1 / (double)own};
    }
    seen->quick = tempo_percentile(took, count, 0.1);
    seen->usual = tempo_percentile(took, count, 0.5);
    free(took);
}

static struct tempo_seen see(struct hub *hub)
{
    const struct hub_config *config = &hub->config;
    const struct adapt *adapt = &hub->adapt;
    double *busy = need_memory((size_t)hub->roll.count, sizeof *busy);
    struct tempo_value *costs =
        need_memory((size_t)hub->roll.count, sizeof *costs);
    double span = patience_seconds(hub->now - adapt->began), up = 0, down = 0;
    unsigned links = 0, trainers = 0;
    struct tempo_seen seen = {0};
    double fastest = see_speeds(hub, span / adapt->rounds, &seen);

    EACH_MEMBER(hub, member) {
        const struct traffic *traffic = &member->traffic;

        traffic_count(hub, member);
        if (traffic->uploads)
            busy[links++] = busy_of(member, &up, &down);
        if (traffic->results)
            costs[trainers++] = (struct tempo_value){
                traffic->exchanging / (double)traffic->results, 1};
    }
    seen.busy =
        fmax(values_high(busy, links, NULL),
             fmax(limited(up, config->down), limited(down, config->up)));
    seen.exchanging = tempo_percentile(costs, trainers, 0.5);
    see_results(hub, fastest, &seen);
    free(busy);
    free(costs);
    return seen;
}

/* What has changed, and why. */
static void tell(struct hub *hub, uint64_t every, uint64_t delay,
                 const struct tempo_seen *seen)
{
    struct adapt *adapt = &hub->adapt;
    const char *bound;
    bool set = every == tempo_every(seen, &bound);

    effects_note(hub->out, NOTE_TEMPO, "",
                 "k %llu -> %llu, d %llu -> %llu: an exchange takes %.3g "
                 "iterations of %.3g ms, the quickest %.3g, keeps links busy "
                 "for %.3g s and trainers for %.3g s%s%s",
                 (unsigned long long)adapt->every, (unsigned long long)every,
                 (unsigned long long)adapt->delay, (unsigned long long)delay,
                 seen->usual, seen->rate > 0 ? 1000 / seen->rate : 0,
                 seen->quick, seen->busy, seen->exchanging,
                 set ? "; k is bound by " : "", set ? bound : "");
    adapt->every = every;
    adapt->delay = delay;
    if (every > adapt->longest)
        adapt->longest = every;
    members_tune(hub);
}

/* What to go over to: not to what is nearly the same as has been chosen. */
static uint64_t wanted(const struct adapt *adapt, uint64_t steps, uint64_t now)
{
    return adapt->chosen && !tempo_differs(steps, now) ? now : steps;
}

static bool may_change(const struct hub *hub)
{
    return !hub->adapt.chosen || hub->now - hub->adapt.changed >= CHANGES_AFTER;
}

static void choose(struct hub *hub)
{
    struct adapt *adapt = &hub->adapt;
    struct tempo_seen seen = see(hub);
    uint64_t every = adapt->every, delay = adapt->delay;
    bool may = may_change(hub);

    if (may && hub->config.free_every)
        every = wanted(adapt, tempo_every(&seen, NULL), every);
    if (may && hub->config.free_delay)
        delay = wanted(adapt, tempo_delay(&seen, every), delay);
    if (!adapt->chosen || every != adapt->every || delay != adapt->delay)
        adapt->changed = hub->now;
    adapt->chosen = true;
    if (every != adapt->every || delay != adapt->delay) {
        tell(hub, every, delay, &seen);
        look_anew(hub, 0);
    } else {
        look_anew(hub, SKIPPED);
    }
}

void adapt_tick(struct hub *hub)
{
    const struct adapt *adapt = &hub->adapt;
    nanos span = hub->now - adapt->began;

    if (!hub->config.free_every && !hub->config.free_delay)
        return;
    if (!adapts(hub)) {
        look_anew(hub, 0);
        return;
    }
    if (adapt->skipped < SKIPPED || adapt->samples < LEAST_SAMPLES)
        return;
    if (!adapt->chosen ? adapt->rounds >= FIRST_ROUNDS && span >= FIRST_LOOK
                       : (adapt->rounds >= ROUNDS && span >= LOOK) ||
                             (adapt->rounds >= FEW_ROUNDS && span >= LONG_LOOK))
        choose(hub);
}
