/* By what the hub's own held-out data say; without any, all are kept.
 *
 *     soup      in the order of their losses, each update is added to the
 *               running average A if L(A with it) <= L(A): 2N evaluations
 *     verified  each is kept if L(it) <= L(centre) + margin SE(it): N + 1
 *
 * From different first parameters the soup takes only the best one at first,
 * since others raise its loss, and averages once all descend from that one. It
 * also leaves out whoever is poisoned. Source: Wortsman et al. 2022, "Model
 * soups", recipe 1 (greedy soup). */
#include <math.h>
#include <stdlib.h>

#include "policies/order.h"

/* Writes each one's held-out loss to the list, and weights of 0. */
static void taste(const struct pile *pile, struct candidate *list,
                  double *weight, double *error)
{
    for (unsigned i = 0; i < pile->count; i++)
        weight[i] = 0;
    for (unsigned i = 0; i < pile->count; i++) {
        double loss;

        weight[i] = 1;
        loss = pile->loss(pile, weight, &error[i]);
        weight[i] = 0;
        list[i].score = score_known(loss) ? loss : NO_SCORE;
        list[i].verified = true;
    }
}

/* Adds the others in order to the best one, as long as none raises its loss. */
static void stir(const struct pile *pile, const unsigned *order, unsigned able,
                 double best, double *weight)
{
    weight[order[0]] = 1;
    for (unsigned i = 1; i < able; i++) {
        double loss, error;

        weight[order[i]] = 1;
        loss = pile->loss(pile, weight, &error);
        if (loss <= best)
            best = loss;
        else
            weight[order[i]] = 0;
    }
}

static void judge_soup(const struct pile *pile, struct candidate *list,
                       const struct policy_context *context, double *weight)
{
    unsigned *order, able;
    double *error;

    if (!pile->has_loss)
        return;
    order = scratch_of(pile->count, sizeof *order);
    error = scratch_of(pile->count, sizeof *error);
    taste(pile, list, weight, error);
    able = candidates_order(list, pile->count, context, order);
    if (able)
        stir(pile, order, able, list[order[0]].score, weight);
    free(error);
    free(order);
}

static void judge_verified(const struct pile *pile, struct candidate *list,
                           const struct policy_context *context, double *weight)
{
    double *error, centre, unused;

    if (!pile->has_loss)
        return;
    error = scratch_of(pile->count, sizeof *error);
    taste(pile, list, weight, error);
    centre = pile->loss(pile, weight, &unused);
    for (unsigned i = 0; i < pile->count; i++)
        weight[i] = score_known(list[i].score) &&
                            list[i].score <=
                                centre + context->numbers->margin * error[i]
                        ? 1
                        : 0;
    free(error);
}

const struct reduce_rule reduce_soup = {
    .name = "soup",
    .doc = "The mean of those that, added one by one, do not raise the loss on "
           "held-out data.",
    .judge = judge_soup,
    .refusal = "on held-out data it was not good enough",
    .by_loss = true,
};
const struct reduce_rule reduce_verified = {
    .name = "verified",
    .doc = "The mean of those whose loss on held-out data is not worse than "
           "the centre's.",
    .judge = judge_verified,
    .refusal = "on held-out data it was not good enough",
    .by_loss = true,
};
