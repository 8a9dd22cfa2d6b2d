/* mean's step, once an update that goes another way than the centre has been
 * going is corrected, tensor by tensor. With m the momentum, turned so that it
 * points to where the centre goes, c = cos(u, m) and
 * q = |u| / (|u| + |m|):
 *
 *     c >= 1/2        u stays
 *     0 <= c < 1/2    u <- |u| t / |t|,  t = (1 - l) u / |u| + l m / |m|,
 *                     l = q (1 - 2 c): it turns, and is as long
 *     c < 0           u <- u - b c |u| m / |m|,  b = -c q: of what goes against
 *                     m a part is taken away
 *
 * A late update of a slow node has been measured from a centre that the others
 * have left; what of it goes against their way is for the greater part that. So
 * it is for gates that do not gather: async. Source: HeLoCo (Al Asif et al.
 * 2026, 2606.00271), its strengths 1, and l so that nothing jumps at 1/2. */
#include <math.h>

#include "policies/policy.h"

#define ALIGNED 0.5

/* Sums over a tensor. */
struct products {
    double uu, mm, um;
};

static struct products multiply(const double *update, const float *momentum,
                                size_t count)
{
    struct products sum = {0, 0, 0};

    for (size_t i = 0; i < count; i++) {
        double m = (double)momentum[i];

        sum.uu += update[i] * update[i];
        sum.mm += m * m;
        sum.um += update[i] * m;
    }
    return sum;
}

static void correct(const float *momentum, size_t count, double sign,
                    double *update)
{
    struct products sum = multiply(update, momentum, count);
    double u = sqrt(sum.uu), m = sqrt(sum.mm), q = u / (u + m);
    double c = -sign * sum.um / (u * m), keeps = 1, takes = -c * -c * q;

    if (!(u > 0) || !(m > 0) || c >= ALIGNED)
        return;
    if (c >= 0) {
        double turn = q * (1 - c / ALIGNED), stay = 1 - turn;
        double length = sqrt(stay * stay + turn * turn + 2 * stay * turn * c);

        keeps = stay / length;
        takes = turn / length;
    }
    takes *= -sign * u / m;
    for (size_t i = 0; i < count; i++)
        update[i] = keeps * update[i] + takes * (double)momentum[i];
}

const struct merge_rule merge_heloco = {
    .name = "heloco",
    .doc = "mean's step, once what goes against the momentum is corrected.",
    .takes = 1u << EXCHANGE_DELTA | 1u << EXCHANGE_GRADIENT,
    .slots = merge_slots,
    .correct = correct,
    .step = merge_step,
    .verb = VERB_REBASE,
};
