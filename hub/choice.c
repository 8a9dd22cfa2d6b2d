/* Whom a closed round asks for data, what it makes of them, and who gets what.
 *
 * Offers come without data. Where the policy takes everything, each is granted
 * at once; else the round asks for data when it closes: of those the policy
 * wants, in its order, and of donors. A STAGED rule then judges what has come
 * as a whole; for each one it refuses the next in order is asked. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/need.h"
#include "core/score.h"
#include "hub/state.h"

/* For so many rounds a test says what a claim is worth, times the nodes: a
 * quarter of an upload more a round at most. */
enum { BOAST_ROUNDS = 4 };

bool choice_grants_all(const struct hub *hub)
{
    const struct policy *policy = hub->policy;

    return policy->select == &select_all && !policy->receive->donors;
}

/* Nothing is merged of it; it may still be given something. */
static void decline(struct hub *hub, struct update *update,
                    enum verdict verdict)
{
    update->merges = false;
    update->refused |= verdict != VERDICT_DECLINED;
    update_end(hub, update, verdict);
}

/* Asks for the next ones in the policy's order until so many are to be
 * merged. */
static void ask(struct hub *hub, struct round *round)
{
    unsigned merging = 0;

    EACH_OFFER(round, one)
        merging += one->merges;
    while (merging < round->wanted && round->next_choice < round->choices) {
        struct update *update = round->list[round->order[round->next_choice++]];

        update->merges = true;
        update_grant(hub, update);
        merging++;
    }
}

/* The list of contributors and what is merged of them are final. */
static void settle(struct hub *hub, struct round *round)
{
    review_destroy(hub, &round->review); /* if all that it was about is lost */
    hub->rounds.undecided--;
    round->empty = true;
    EACH_OFFER(round, update) {
        if (update->merges)
            round->empty = false;
        else if (!update->donates)
            decline(hub, update, VERDICT_DECLINED);
    }
    round->empty = round->discarded || (round->empty && !round->takes_all);
    round_gather(hub, round);
}

static bool is_lost(const struct hub *hub, const struct update *update)
{
    for (uint32_t i = 0; i < hub->centre.count; i++)
        if (update->chunks[i].state != CHUNK_CLOSED)
            return false;
    return true;
}

/* What a node gives must have passed, where a rule judges; else the best that
 * has takes its place. RECEIVE_NOTHING: none has. In a tournament only the last
 * winner has to pass. */
static int donor_of(const struct hub *hub, const struct round *round, int donor)
{
    int best = RECEIVE_NOTHING;

    if (donor < 0 || tournament_goes_on(hub) ||
        !round->policy->reduce->by_loss || round->list[donor]->merges)
        return donor;
    for (unsigned i = 0; i < round->count; i++)
        if (round->list[i]->merges &&
            (best < 0 || round->list[i]->candidate.score <
                             round->list[best]->candidate.score))
            best = (int)i;
    return best;
}

/* Nobody has tested it, where what others say counts, and it says too much. */
static bool boasts(const struct hub *hub, const struct round *round,
                   const struct update *update)
{
    const struct candidate *one = &update->candidate;

    return !round->takes_all && !one->verified &&
           hub->run.pinned != (int)one->node &&
           claims_boast(&round->claims, one,
                        round->policy->exchange == EXCHANGE_PARAMETERS);
}

/* Who gets whose, now that it is known who has been refused: by what the nodes
 * have said, since only some have been tested. */
static void choose_donors(struct hub *hub, struct round *round)
{
    struct policy_context context = hub_policy_context(hub, round->live);
    struct candidate *list = need_memory(round->count, sizeof *list);
    int *donor = need_memory(round->count, sizeof *donor);

    for (unsigned i = 0; i < round->count; i++) {
        const struct update *update = round->list[i];

        list[i] = update->candidate;
        list[i].score = update->offer.score;
        if (update->refused || is_lost(hub, update) ||
            boasts(hub, round, update))
            list[i].score = NO_SCORE;
    }
    round->policy->receive->donors(list, round->count, &context, donor);
    for (unsigned i = 0; i < round->count; i++) {
        int from = donor_of(hub, round, donor[i]);

        round->list[i]->donor = from == (int)i ? RECEIVE_NOTHING : from;
        if (round->list[i]->donor >= 0)
            round->list[from]->donates = true;
    }
    free(donor);
    free(list);
}

/* Asks the donors for their data; whether all of it that will come is here. */
static bool donors_are_here(struct hub *hub, struct round *round)
{
    bool here = true;

    if (!round->policy->receive->donors)
        return true;
    if (!round->gives) {
        round->gives = true;
        choose_donors(hub, round);
    }
    EACH_OFFER(round, update) {
        if (update->donates)
            update_grant(hub, update);
        here &= !update->donates || update->delivered >= hub->centre.count ||
                !round->policy->reduce->judge;
    }
    return here;
}

/* Puts those of whose offers something can still come into the policy's
 * order. */
static void choose(struct hub *hub, struct round *round)
{
    struct policy_context context = hub_policy_context(hub, round->live);
    size_t most = round->count ? round->count : 1;
    struct candidate *list = need_memory(most, sizeof *list);
    unsigned *place = need_memory(most, sizeof *place), count = 0;

    round->order = need_memory(most, sizeof *round->order);
    for (unsigned i = 0; i < round->count; i++) {
        if (is_lost(hub, round->list[i]))
            continue;
        list[count] = round->list[i]->candidate;
        place[count++] = i;
    }
    round->claims = claims_of(list, count);
    for (unsigned i = 0; !round->policy->reduce->by_loss && i < count; i++)
        if (boasts(hub, round, round->list[place[i]]))
            list[i].score = NO_SCORE;
    round->choices = round->policy->select->choose(
        list, count, &context, round->order, &round->wanted);
    for (unsigned i = 0; i < round->choices; i++)
        round->order[i] = place[round->order[i]];
    free(place);
    free(list);
}

void choice_make(struct hub *hub, struct round *round)
{
    assert(round->state == ROUND_CLOSED && round->count);
    round->policy = hub->policy;
    round->takes_all = choice_grants_all(hub);
    EACH_OFFER(round, one) {
        one->donor = RECEIVE_CENTRE;
        one->merges = false;
    }
    choose(hub, round);
    ask(hub, round);
    choice_advance(hub, round);
}

/* ---- judging ---- */

/* A judge's job: its verdict is awaited on these updates. */
static bool is_to_be_judged(const struct hub *hub, const struct update *update)
{
    return update->merges && !update->judged &&
           update->delivered >= hub->centre.count;
}

static bool is_whole(const struct hub *hub, const struct update *update)
{
    for (uint32_t i = 0; i < hub->centre.count; i++)
        if (update->chunks[i].state != CHUNK_DELIVERED)
            return false;
    return true;
}

/* Says once, until there are enough again, that nothing can be compared. */
static void say_too_few(struct hub *hub, const struct round *round,
                        unsigned count)
{
    const struct reduce_rule *reduce = round->policy->reduce;
    unsigned least = reduce->least ? reduce->least(&round->policy->numbers) : 1;

    if (count < least && !hub->rounds.too_few)
        effects_note(hub->out, NOTE_TOO_FEW, "",
                     "--reduce %s compares %u updates at least, and "
                     "there are %u: all are merged, a bad one too, until more "
                     "nodes are here",
                     reduce->name, least, count);
    hub->rounds.too_few = count < least;
}

static struct round *round_of(struct hub *hub, uint64_t number)
{
    struct round *round = hub->rounds.first;

    while (round && round->number != number)
        round = round->next;
    return round;
}

static void boast_note(struct member *member, const struct round *round,
                       double boast)
{
    member->boast = fmax(0, boast);
    member->boasted = round->number;
}

/* What it claims too little, as long as that is known of late: now and then
 * each is tested again. */
static double boast_of(const struct member *member, const struct round *round)
{
    return round->number - member->boasted >
                   (uint64_t)BOAST_ROUNDS * round->count
               ? 0
               : member->boast;
}

static void take_judgement(struct hub *hub, const struct round *round,
                           struct update *update,
                           const struct candidate *candidate, double weight)
{
    struct member *member = hub->roll.members[update->member];

    update->judged = true;
    update->candidate = *candidate;
    if (candidate->verified && score_known(candidate->score) &&
        score_known(update->offer.score))
        boast_note(member, round, candidate->score - update->offer.score);
    if (weight > 0)
        return;
    effects_note(hub->out, NOTE_DECLINED, member->name, "exchange %llu: %s",
                 (unsigned long long)update->offer.exchange,
                 boasts(hub, round, update)
                     ? "nobody could test it, and it is far beyond all others"
                     : round->policy->reduce->refusal);
    decline(hub, update, VERDICT_REFUTED);
}

/* Nobody is to blame for it: all that were to be judged are offered again. */
static void say_unjudged(struct hub *hub, enum status status)
{
    effects_note(hub->out, NOTE_NO_MEMORY, "",
                 "what nodes have offered could not be judged: %s; they offer "
                 "it again",
                 status_words(status));
}

static void judged(void *machine, struct job *job)
{
    struct hub *hub = machine;
    const struct judge_order *order =
        (const struct judge_order *)(const void *)job->in[0].blob->bytes;
    struct round *round = round_of(hub, order->round);
    unsigned at = 0;

    if (!round)
        return;
    round->state = ROUND_CLOSED;
    if (job->status != STATUS_OK)
        say_unjudged(hub, job->status);
    EACH_OFFER(round, update) {
        if (!is_to_be_judged(hub, update) || at == order->count ||
            order->one[at].candidate.node != update->candidate.node)
            continue;
        if (job->status == STATUS_OK)
            take_judgement(hub, round, update, &order->one[at].candidate,
                           order->one[at].weight);
        else
            decline(hub, update, VERDICT_LOST);
        at++;
    }
    hub->dirty |= DIRTY_ROUNDS;
}

const struct work work_judge = {"judge", judge_whole, judged};

static void judge_start(struct hub *hub, struct round *round, unsigned count)
{
    uint64_t inputs = 1 + (uint64_t)hub->centre.count * (1 + count);
    struct job *job = job_new(&work_judge, hub->pool, (unsigned)inputs);
    struct judge_order *order;
    unsigned at = 1;

    assert(inputs <= UINT32_MAX); /* memory for all of it ends before */
    job->in[0].blob =
        blob_need(hub->pool, sizeof *order + count * sizeof *order->one);
    order = (struct judge_order *)(void *)job->in[0].blob->bytes;
    *order = (struct judge_order){
        .round = round->number,
        .policy = round->policy,
        .context = hub_policy_context(hub, round->live),
        .evaluate = hub->config.evaluate,
        .evaluate_context = hub->config.evaluate_context,
        .chunks = hub->centre.count,
        .chunk_elements = hub->config.chunk_elements,
        .displacements = round->policy->exchange == EXCHANGE_DELTA};
    for (uint32_t i = 0; i < hub->centre.count; i++)
        job->in[at++].blob = blob_ref(hub->centre.chunk[i].theta);
    EACH_OFFER(round, update) {
        if (!is_to_be_judged(hub, update))
            continue;
        order->one[order->count++] =
            (struct judged){.candidate = update->candidate,
                            .boasts = boasts(hub, round, update)};
        for (uint32_t j = 0; j < hub->centre.count; j++)
            job->in[at++] = (struct input){blob_ref(update->chunks[j].payload),
                                           1, update->chunks[j].codec};
    }
    review_close(hub, round, order);
    job->extent.exempt = hub->centre.exempt;
    job->extent.elements = (size_t)hub->centre.schema->elements;
    round->state = ROUND_JUDGING;
    say_too_few(hub, round, count);
    hub_job(hub, job);
}

/* Whether there is an answer for everybody who was asked: all has come, or it
 * will not come any more. Counts those who are to be judged; who is not whole
 * is declined. */
static bool have_answered(struct hub *hub, struct round *round, unsigned *ready)
{
    *ready = 0;
    EACH_OFFER(round, update) {
        if (!update->merges || update->judged)
            continue;
        if (update->delivered < hub->centre.count)
            return false;
        if (is_whole(hub, update))
            ++*ready;
        else
            decline(hub, update, VERDICT_LOST);
    }
    return true;
}

static bool is_awaited(const struct round *round)
{
    EACH_OFFER(round, one)
        if (one->merges && !one->judged)
            return true;
    return false;
}

static void keep_only(struct hub *hub, struct round *round, int best)
{
    for (unsigned i = 0; best >= 0 && i < round->count; i++)
        if ((int)i != best && round->list[i]->merges)
            decline(hub, round->list[i], VERDICT_REFUTED);
}

/* Whether one alone is to be merged, and tests say which. */
static bool takes_best(const struct hub *hub, const struct round *round)
{
    return round->policy->select == &select_best &&
           round->policy->reduce->by_loss && !tournament_goes_on(hub) &&
           hub->run.pinned < 0;
}

/* The lowest loss that those who have not been asked can be expected to have:
 * what they claim, and what they claimed too little the last time. */
static double promised(const struct hub *hub, const struct round *round)
{
    double least = NO_SCORE;

    for (unsigned i = round->next_choice; i < round->choices; i++) {
        const struct update *one = round->list[round->order[i]];
        double score = one->offer.score;

        if (!score_known(score) || is_lost(hub, one))
            continue;
        score += boast_of(hub->roll.members[one->member], round);
        least = score < least ? score : least;
    }
    return least;
}

/* How many are to be merged or tested. Of one alone the best test decides, and
 * not the boldest claim, which costs its node nothing: the next one is tested,
 * too, as long as somebody can be expected to have a lower loss than the best
 * one has in truth. */
static unsigned wanted(struct hub *hub, struct round *round)
{
    int best;

    if (!takes_best(hub, round))
        return tournament_wants(hub, round);
    best = round_best(round, true);
    keep_only(hub, round, best);
    return best >= 0 &&
                   promised(hub, round) < round->list[best]->candidate.score
               ? 2
               : 1;
}

void choice_advance(struct hub *hub, struct round *round)
{
    unsigned ready;

    if (round->state != ROUND_CLOSED)
        return;
    if (!round->policy->reduce->judge) {
        if (donors_are_here(hub, round))
            settle(hub, round);
        return;
    }
    if (!have_answered(hub, round, &ready))
        return;
    if (ready) {
        if (review_done(hub, round))
            judge_start(hub, round, ready);
        return;
    }
    round->wanted = wanted(hub, round);
    ask(hub, round);
    if (is_awaited(round))
        return;
    keep_only(hub, round, tournament_best(hub, round));
    if (donors_are_here(hub, round))
        settle(hub, round);
}
