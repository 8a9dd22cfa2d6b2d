/* What reviews come to: medians of paired differences. */
#include <assert.h>
#include <stdlib.h>

#include "hub/review_inside.h"

/* Of an even number the higher one of the middle two: a contribution is not
 * good before most say so. */
static double median(double *values, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        double value = values[i];
        unsigned j = i;

        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
    return values[count / 2];
}

/* Room for a number of each member; the caller frees it. */
static double *numbers_of(const struct review *review)
{
    double *numbers = calloc((size_t)review->places, sizeof *numbers);

    if (!numbers)
        abort();
    return numbers;
}

static double centre_loss(const struct review *review)
{
    double *losses = numbers_of(review), loss = NO_SCORE;
    unsigned count = 0;

    for (int i = 0; i < review->places; i++)
        if (review->subject[0].by[i].stage == STAGE_MADE)
            losses[count++] = review->subject[0].by[i].loss;
    if (count)
        loss = median(losses, count);
    free(losses);
    return loss;
}

/* The centre's loss and the median of the differences to it. */
static struct reviewed score_of(const struct review *review,
                                const struct subject *subject, double centre)
{
    struct reviewed reviewed = {.loss = NO_SCORE};
    double *losses = numbers_of(review), *errors = numbers_of(review);

    for (int i = 0; i < review->places; i++) {
        const struct opinion *opinion = &subject->by[i];

        if (opinion->stage != STAGE_MADE)
            continue;
        losses[reviewed.answers] = opinion->loss;
        if (review->centred)
            losses[reviewed.answers] -= review->subject[0].by[i].loss;
        errors[reviewed.answers++] = opinion->error;
    }
    if (reviewed.answers) {
        reviewed.loss = median(losses, reviewed.answers);
        if (review->centred)
            reviewed.loss += centre;
        if (!score_known(reviewed.loss))
            reviewed.loss = NO_SCORE;
        reviewed.error = median(errors, reviewed.answers);
    }
    free(errors);
    free(losses);
    return reviewed;
}

static bool was_asked(const struct review *review,
                      const struct subject *subject)
{
    bool asked = false;

    for (int i = 0; i < review->places; i++)
        asked |= subject->by[i].stage != STAGE_NONE;
    return asked;
}

/* `asked`: some node should have evaluated it. */
static void tell(struct hub *hub, const struct contribution *contribution,
                 const struct reviewed *reviewed, double centre, bool asked)
{
    const char *name = hub->members[contribution->member]->name;
    unsigned long long exchange = contribution->offer.exchange;

    if (reviewed->answers)
        effects_note(hub->out, NOTE_REVIEWED, name,
                     "exchange %llu: loss %.4g by %u node%s; the "
                     "centre's: %.4g",
                     exchange, reviewed->loss, reviewed->answers,
                     plural(reviewed->answers), centre);
    else if (!hub->unreviewed && asked)
        effects_note(hub->out, NOTE_UNREVIEWED, name,
                     "exchange %llu: no other node could test it; what its "
                     "own node says of it counts, unless it is far better "
                     "than what all others say",
                     exchange);
    hub->unreviewed = !reviewed->answers;
}

void review_close(struct hub *hub, struct round *round,
                  struct judge_order *order)
{
    const struct review *review = round->review;
    unsigned at = 0;

    if (!review)
        return;
    order->centre = centre_loss(review);
    for (unsigned i = 1; i < review->count; i++) {
        const struct subject *subject = &review->subject[i];

        if (!subject->contribution->merges)
            continue; /* lost meanwhile */
        order->one[at].review = score_of(review, subject, order->centre);
        order->reviewed |= order->one[at].review.answers > 0;
        tell(hub, subject->contribution, &order->one[at++].review,
             order->centre, was_asked(review, subject));
    }
    assert(at == order->count);
    review_destroy(hub, &round->review);
}

void review_tell(const struct round *round, nanos now, struct text *out)
{
    const struct review *review = round->review;

    if (review)
        text_add(out, "; waits for %u test%s of parameters by nodes, for "
                 "%.0f s", review->open, plural(review->open),
                 (double)(now - review->began) / (double)SECOND);
}

void review_warn(struct hub *hub)
{
    for (const struct round *round = hub->rounds;
         round && !hub->slow_reviews; round = round->next) {
        if (!round->review ||
            hub->now - round->review->began < REVIEW_NOTICED)
            continue;
        hub->slow_reviews = true;
        effects_note(hub->out, NOTE_REVIEW_SLOW, "",
                     "nodes take more than %.0f s to test a round's "
                     "parameters. Start the hub with --model and --data, so "
                     "that it tests them itself, or with %s",
                     (double)REVIEW_NOTICED / (double)SECOND,
                     hub->contest ? "--init hub"
                                  : "a larger --every or --policy diloco");
    }
}

const char *review_check(const struct hub *hub)
{
    unsigned busy = 0, sent = 0;

    for (int i = 0; i < hub->member_count; i++)
        busy += hub->members[i]->reviewer.asked != 0;
    for (const struct round *round = hub->rounds; round; round = round->next) {
        unsigned open = 0;

        for (unsigned i = 0; round->review && i < round->review->count; i++)
            for (int j = 0; j < round->review->places; j++) {
                enum stage stage = round->review->subject[i].by[j].stage;

                open += stage == STAGE_OPEN || stage == STAGE_SENT;
                sent += stage == STAGE_SENT;
            }
        if (round->review && open != round->review->open)
            return "open reviews are counted wrong";
    }
    return busy == sent ? NULL : "a node has more than one review, or none";
}
