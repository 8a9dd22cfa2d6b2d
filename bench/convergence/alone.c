/* Arms without a hub: nodes that train on their own part of the data, each for
 * itself, to be compared with. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/convergence/outcome.h"
#include "sim/study/local_learner.h"

/* An arm under way. */
struct alone {
    const struct task *task;
    struct local_learner *examiner, *judge; /* with the hub's data, with ours */
    size_t elements;
    float *gradient;
};

static void note_curve(const struct alone *alone, const float *x,
                       uint64_t iteration, double *curve)
{
    double accuracy, error;

    for (unsigned i = 0; i < CURVE; i++)
        if (iteration == alone->task->iterations >> (CURVE - 1 - i))
            local_learner_evaluate(alone->judge, x, 0, &curve[i], &accuracy,
                                   &error);
}

/* The parameters that a node ends with; the caller's. curve may be NULL. */
static float *train(const struct alone *alone, unsigned node, double *curve)
{
    struct local_learner *learner = task_learner(alone->task, OF_NODES, node);
    float *x = local_learner_start(learner);

    for (uint64_t i = 1; i <= alone->task->iterations; i++) {
        (void)local_learner_gradient(learner, x, alone->gradient);
        local_learner_step(learner, x, alone->gradient, 0, alone->elements);
        if (curve)
            note_curve(alone, x, i, curve);
    }
    local_learner_close(&learner);
    return x;
}

static double scored(const struct alone *alone, const float *x)
{
    double loss, accuracy, error;

    local_learner_evaluate(alone->examiner, x, 0, &loss, &accuracy, &error);
    return loss;
}

/* The parameters of the best of so many nodes, by the hub's data. */
static float *best(const struct alone *alone, unsigned nodes, double *curve)
{
    float *kept = train(alone, 0, curve);

    for (unsigned i = 1; i < nodes; i++) {
        float *x = train(alone, i, NULL), *other = kept;

        if (scored(alone, x) < scored(alone, kept)) {
            kept = x;
            x = other;
        }
        free(x);
    }
    return kept;
}

static float *average(const struct alone *alone, unsigned nodes)
{
    float *sum = train(alone, 0, NULL);

    for (unsigned n = 1; n < nodes; n++) {
        float *x = train(alone, n, NULL);

        for (size_t i = 0; i < alone->elements; i++)
            sum[i] += x[i];
        free(x);
    }
    for (size_t i = 0; i < alone->elements; i++)
        sum[i] /= (float)nodes;
    return sum;
}

void alone_run(const struct task *task, struct outcome *out)
{
    const struct arm *arm = task->arm;
    unsigned nodes = arm->kind == ALONE ? 1 : arm->nodes;
    struct alone alone = {.task = task,
                          .examiner = task_learner(task, OF_HUB, 0),
                          .judge = task_learner(task, OF_JUDGE, 0)};
    double error;
    float *x;

    alone.elements = local_learner_elements(alone.judge);
    alone.gradient = calloc(alone.elements, sizeof *alone.gradient);
    if (!alone.gradient)
        abort();
    x = arm->kind == AVERAGE ? average(&alone, nodes)
                             : best(&alone, nodes, out->curve);
    local_learner_evaluate(alone.judge, x, 0, &out->loss, &out->accuracy,
                           &error);
    out->tuning = scored(&alone, x);
    out->duration = arm_pace(arm, 0) * (double)task->iterations;
    out->iterations = nodes * task->iterations;
    out->done = 1;
    free(x);
    free(alone.gradient);
    local_learner_close(&alone.judge);
    local_learner_close(&alone.examiner);
}
