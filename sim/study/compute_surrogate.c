/* A quadratic with noise in the place of a large model.
 *
 * f(x) = 1/2 sum_j a_j x_j^2, with a_j from 1 down to 1 / CONDITION in equal
 * steps of their logarithm. The start x_j = sqrt(2 / (n a_j)) has f = 1, to
 * which all eigenvalues contribute alike; a node's own is STRAY of that away
 * from it, at random. A node's data have their optimum not at 0 but at
 * c_i = --spread * |x_j| * N(0, 1), less the mean of all c_i. Its gradient
 * a_j (x_j - c_ij) + s e_j has noise e_j = +-1, with
 * s^2 n = --noise^2 |gradient at the start|^2; it descends with a rate of RATE.
 * So progress is fast at first and slow later, noise leaves a floor of about
 * RATE * noise^2 / 9 for one node, which the mean of N lowers to an Nth, and
 * many iterations between exchanges pull nodes apart.
 *
 * Signs of noise come 64 to a random number, so that an iteration costs some
 * 100 ns: a virtual day has millions. */
#include <math.h>
#include <stdlib.h>

#include "core/prng.h"
#include "policies/order.h"
#include "sim/study/compute.h"

enum { CONDITION = 100 };
#define RATE 0.05
#define STRAY 0.1

struct terrain {
    double *curvature;  /* elements */
    double noise;       /* of each value of a gradient */
    float *starts;      /* nodes * elements */
    float *optima;      /* nodes * elements */
    struct prng *prngs; /* of nodes */
};

static void shape_terrain(struct computing *computing)
{
    struct terrain *terrain = computing->self;
    size_t n = computing->elements;
    double steepness = 0; /* |gradient|^2 at the start */

    for (size_t j = 0; j < n; j++) {
        double part = n > 1 ? (double)j / (double)(n - 1) : 0;

        terrain->curvature[j] = pow(CONDITION, -part);
        steepness += 2 * terrain->curvature[j] / (double)n;
    }
    terrain->noise = computing->options->noise * sqrt(steepness / (double)n);
}

static void place_nodes(struct computing *computing)
{
    struct terrain *terrain = computing->self;
    size_t n = computing->elements;
    struct prng prng;

    for (unsigned i = 0; i < computing->nodes; i++) {
        prng_seed(&prng, prng_mix(computing->seed ^ prng_mix(i + 1)));
        for (size_t j = 0; j < n; j++) {
            double far = sqrt(2 / ((double)n * terrain->curvature[j]));

            terrain->starts[i * n + j] =
                (float)(far * (1 + STRAY * prng_normal(&prng)));
            terrain->optima[i * n + j] =
                (float)(computing->options->spread * far * prng_normal(&prng));
        }
        prng_seed(&terrain->prngs[i], prng_next(&prng));
    }
}

/* So that the mean of all data has its optimum at 0. */
static void centre_optima(struct computing *computing)
{
    struct terrain *terrain = computing->self;
    size_t n = computing->elements;

    for (size_t j = 0; j < n; j++) {
        double mean = 0;

        for (unsigned i = 0; i < computing->nodes; i++)
            mean += (double)terrain->optima[i * n + j] / computing->nodes;
        for (unsigned i = 0; i < computing->nodes; i++)
            terrain->optima[i * n + j] -= (float)mean;
    }
}

static enum status surrogate_open(struct computing *computing, struct why *why)
{
    struct terrain *terrain = scratch_of(1, sizeof *terrain);
    enum status status;
    size_t places;

    computing->self = terrain;
    status = computing_stand_in(computing, why);
    if (status != STATUS_OK)
        return status;
    places = computing->nodes * computing->elements;
    terrain->curvature = scratch_of(computing->elements, sizeof(double));
    terrain->starts = scratch_of(places, sizeof(float));
    terrain->optima = scratch_of(places, sizeof(float));
    terrain->prngs = scratch_of(computing->nodes, sizeof(struct prng));
    shape_terrain(computing);
    place_nodes(computing);
    centre_optima(computing);
    return STATUS_OK;
}

static void surrogate_close(struct computing *computing)
{
    struct terrain *terrain = computing->self;

    if (!terrain)
        return;
    free(terrain->curvature);
    free(terrain->starts);
    free(terrain->optima);
    free(terrain->prngs);
    free(terrain);
}

static const float *surrogate_start(struct computing *computing, unsigned node)
{
    const struct terrain *terrain = computing->self;

    return terrain->starts + node * computing->elements;
}

static double surrogate_gradient(struct computing *computing, unsigned node,
                                 uint64_t iteration, const float *x,
                                 float *gradient)
{
    const struct terrain *terrain = computing->self;
    const float *optimum = terrain->optima + node * computing->elements;
    double loss = 0;
    uint64_t signs = 0;

    (void)iteration;
    for (size_t j = 0; j < computing->elements; j++, signs >>= 1) {
        double away = (double)x[j] - (double)optimum[j];
        double pull = terrain->curvature[j] * away;

        if (j % 64 == 0)
            signs = prng_next(&terrain->prngs[node]);
        loss += 0.5 * pull * away;
        gradient[j] =
            (float)(signs & 1 ? pull + terrain->noise : pull - terrain->noise);
    }
    return loss;
}

static void surrogate_step(struct computing *computing, unsigned node, float *x,
                           const float *gradient, size_t first, size_t count)
{
    (void)computing;
    (void)node;
    for (size_t j = 0; j < count; j++)
        x[first + j] -= (float)(RATE * (double)gradient[j]);
}

static void surrogate_judge(struct computing *computing, const float *x,
                            double *loss, double *accuracy)
{
    const struct terrain *terrain = computing->self;

    *loss = 0;
    *accuracy = -1;
    for (size_t j = 0; j < computing->elements; j++)
        *loss += 0.5 * terrain->curvature[j] * (double)x[j] * (double)x[j];
}

const struct compute_type compute_surrogate = {.kind = COMPUTE_SURROGATE,
                                               .open = surrogate_open,
                                               .close = surrogate_close,
                                               .start = surrogate_start,
                                               .gradient = surrogate_gradient,
                                               .step = surrogate_step,
                                               .judge = surrogate_judge};
