/* By score: the best, the m best, or those that beat the centre.
 *
 * With s_i the score of candidate i, s that of the centre and SE its standard
 * error: best = argmin s_i (one upload instead of N), top = the m lowest s_i,
 * better = {i: s_i < s - margin SE}, which may be empty. A candidate without a
 * score is passed over, unless none has one. Source: docs/ancestors.md, AP-9
 * and AP-11: "all, the better or the best of them". */
#include "policies/order.h"

static unsigned choose_top(const struct candidate *list, unsigned count,
                           const struct policy_context *context,
                           unsigned *order, unsigned *wanted)
{
    unsigned able = candidates_order(list, count, context, order);
    unsigned top = (unsigned)context->numbers->top;

    if (!able)
        able = count;
    *wanted = top < able ? top : able;
    return able;
}

static unsigned choose_best(const struct candidate *list, unsigned count,
                            const struct policy_context *context,
                            unsigned *order, unsigned *wanted)
{
    unsigned able = candidates_order(list, count, context, order);

    *wanted = count ? 1 : 0;
    return able ? able : count;
}

static unsigned choose_better(const struct candidate *list, unsigned count,
                              const struct policy_context *context,
                              unsigned *order, unsigned *wanted)
{
    double bound = context->score - context->numbers->margin * context->error;
    unsigned kept = 0;

    (void)candidates_order(list, count, context, order);
    for (unsigned i = 0; i < count; i++)
        if (list[order[i]].score < bound)
            order[kept++] = order[i];
    *wanted = kept;
    return kept;
}

const struct select_rule select_best = {
    "best", "Only the offer with the best score.", choose_best};
const struct select_rule select_top = {
    "top", "The m offers with the best scores.", choose_top};
const struct select_rule select_better = {
    "better", "The offers with a better score than the centre's.",
    choose_better};
