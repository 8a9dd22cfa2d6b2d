/* Nodes whose parameters are too bad are told to take the centre. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"

enum { SLOPE_SHARE = 4 }; /* a new slope counts for 1/4 */

/* Follows a node's score: l(t) = A - beta ln t, t in samples. */
static void follow(struct trial *trial, const struct update *from)
{
    const struct candidate *candidate = &from->candidate;
    uint64_t before = trial->samples, done = from->offer.iteration;

    if (!trial->rounds || done < trial->since) /* or its process is another */
        trial->since = done > candidate->steps ? done - candidate->steps : 0;
    trial->samples += from->offer.samples;
    trial->rounds++;
    if (candidate->score >= NO_SCORE || !trial->samples)
        return;
    if (before && trial->score < NO_SCORE && trial->samples > before) {
        double slope = (trial->score - candidate->score) /
                       log((double)trial->samples / (double)before);

        trial->slope += (slope - trial->slope) / SLOPE_SHARE;
    }
    trial->score = candidate->score;
}

static struct preempt_candidate preempt_candidate_of(const struct hub *hub,
                                                     const struct update *from,
                                                     uint64_t least)
{
    const struct trial *trial = &hub->roll.members[from->member]->trial;
    struct preempt_candidate out = {.node = (unsigned)from->member,
                                    .score = from->candidate.score,
                                    .verified = from->candidate.verified,
                                    .trajectory = NO_SCORE,
                                    .slope = trial->slope,
                                    .samples = trial->samples,
                                    .remaining = UINT64_MAX,
                                    .rounds = trial->rounds,
                                    .strikes = trial->strikes};
    uint64_t done = from->offer.iteration, took;

    took = done > trial->since ? done - trial->since : 0;
    if (out.score < NO_SCORE && least && trial->samples)
        out.trajectory = out.score + trial->slope * log((double)trial->samples /
                                                        (double)least);
    if (hub->config.iterations > done && took)
        out.remaining =
            (uint64_t)fmin((double)trial->samples / (double)took *
                               (double)(hub->config.iterations - done),
                           0x1p63);
    return out;
}

static void replace(struct hub *hub,
                    const struct preempt_candidate *preempt_candidate,
                    double best)
{
    struct member *member = hub->roll.members[preempt_candidate->node];

    hub->roll.members[preempt_candidate->node]->trial =
        (struct trial){.score = NO_SCORE};
    hub->rounds.preempted++;
    member->preempted++;
    effects_note(hub->out, NOTE_PREEMPTED, member->name,
                 "its score %.4f is worse than %.4f: it takes the centre",
                 preempt_candidate->score, best);
    (void)snprintf(member->why, sizeof member->why, "preempted");
    member_start(hub, member, START_TAKE);
}

/* Whether the node is still there, with the parameters that it offered. */
static bool is_the_same(struct hub *hub, const struct update *from)
{
    const struct member *member = update_member(hub, from);

    return member && member->start == START_GO && !member->takes;
}

/* Follows all scores of the round, and lists who is under judgement. */
static void list_preempt_candidates(struct hub *hub, const struct round *round,
                                    struct preempt_candidate *list)
{
    uint64_t least = UINT64_MAX;

    EACH_OFFER(round, one) {
        struct trial *trial = &hub->roll.members[one->member]->trial;

        follow(trial, one);
        if (trial->samples && trial->samples < least)
            least = trial->samples;
    }
    for (unsigned i = 0; i < round->count; i++)
        list[i] = preempt_candidate_of(hub, round->list[i],
                                       least < UINT64_MAX ? least : 0);
}

void preempt_round(struct hub *hub, const struct round *round)
{
    const struct preempt_rule *rule = hub->policy->preempt;
    struct policy_context context = hub_policy_context(hub, round->live);
    struct preempt_candidate *list;
    double best = NO_SCORE;

    if (!rule->judge || tournament_goes_on(hub) || run_is_ending(hub))
        return;
    list = need_memory(round->count, sizeof *list);
    list_preempt_candidates(hub, round, list);
    rule->judge(list, round->count, &context);
    for (unsigned i = 0; i < round->count; i++)
        if (list[i].score < best)
            best = list[i].score;
    for (unsigned i = 0; i < round->count; i++) {
        struct trial *trial = &hub->roll.members[list[i].node]->trial;

        trial->strikes = list[i].bad ? trial->strikes + 1 : 0;
        if (list[i].replaced && is_the_same(hub, round->list[i]))
            replace(hub, &list[i], best);
    }
    free(list);
}
