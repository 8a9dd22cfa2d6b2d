/* Nodes with trainers of their own, as starswitch-node has one. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/study/compute.h"
#include "sim/study/local_learner.h"
#include "train/trainer.h"

struct school {
    struct local_learner *judge; /* the hub's */
    struct local_learner **learners;
    float **starts;
};

/* As starswitch-node has it. */
enum { REVIEWED_SAMPLES = 512 };

/* As starswitch-node of this name chooses. */
static enum status open_learner(struct computing *computing, unsigned node,
                                struct why *why)
{
    struct school *school = computing->self;
    struct trainer_choice choice = trainer_choose(computing->options);
    char name[16];
    enum status status;

    (void)snprintf(name, sizeof name, "n%u", node + 1);
    choice.seed = trainer_seed_of(computing->seed, name);
    choice.shard = node;
    choice.shards = computing->nodes;
    status = local_learner_open(&choice, &school->learners[node], why);
    if (status == STATUS_OK)
        school->starts[node] = local_learner_start(school->learners[node]);
    return status;
}

static enum status open_judge(struct computing *computing, struct why *why)
{
    struct trainer_choice choice = trainer_choose(computing->options);
    struct school *school = computing->self;
    enum status status;

    if (!choice.model && !choice.plugin)
        return because(why, STATUS_USAGE,
                       "--compute real: what is to be trained? Give --model "
                       "mlp:784-128-10 and --data, or --trainer FILE.so");
    status = local_learner_open(&choice, &school->judge, why);
    if (status != STATUS_OK)
        return status;
    computing->schema = local_learner_schema(school->judge);
    computing->elements = local_learner_elements(school->judge);
    computing->samples = local_learner_batch(school->judge);
    computing->accuracy = true;
    return STATUS_OK;
}

static enum status real_open(struct computing *computing, struct why *why)
{
    struct school *school = calloc(1, sizeof *school);
    enum status status;

    if (!school)
        abort();
    computing->self = school;
    school->learners = calloc(computing->nodes, sizeof(struct local_learner *));
    school->starts = calloc(computing->nodes, sizeof(float *));
    if (!school->learners || !school->starts)
        abort();
    status = open_judge(computing, why);
    for (unsigned i = 0; status == STATUS_OK && i < computing->nodes; i++)
        status = open_learner(computing, i, why);
    return status;
}

static void real_close(struct computing *computing)
{
    struct school *school = computing->self;

    if (!school)
        return;
    for (unsigned i = 0; i < computing->nodes; i++) {
        local_learner_close(&school->learners[i]);
        free(school->starts[i]);
    }
    local_learner_close(&school->judge);
    free(school->learners);
    free(school->starts);
    free(school);
}

static const float *real_start(struct computing *computing, unsigned node)
{
    const struct school *school = computing->self;

    return school->starts[node];
}

static double real_gradient(struct computing *computing, unsigned node,
                            uint64_t iteration, const float *x, float *gradient)
{
    const struct school *school = computing->self;

    (void)iteration;
    return local_learner_gradient(school->learners[node], x, gradient);
}

static void real_step(struct computing *computing, unsigned node, float *x,
                      const float *gradient, size_t first, size_t count)
{
    const struct school *school = computing->self;

    local_learner_step(school->learners[node], x, gradient, first, count);
}

static void real_judge(struct computing *computing, const float *x,
                       double *loss, double *accuracy)
{
    const struct school *school = computing->self;
    double error;

    local_learner_evaluate(school->judge, x, 0, loss, accuracy, &error);
}

static void real_shard(struct computing *computing, unsigned node,
                       uint32_t shard, uint32_t shards)
{
    const struct school *school = computing->self;

    local_learner_set_shard(school->learners[node], shard, shards);
}

static void real_forget(struct computing *computing, unsigned node)
{
    const struct school *school = computing->self;

    local_learner_forget(school->learners[node]);
}

static bool real_review(struct computing *computing, unsigned node,
                        const float *x, double *loss, double *error)
{
    const struct school *school = computing->self;
    double accuracy;

    local_learner_evaluate(school->learners[node], x, REVIEWED_SAMPLES, loss,
                           &accuracy, error);
    return true;
}

const struct compute_type compute_real = {.kind = COMPUTE_REAL,
                                          .open = real_open,
                                          .close = real_close,
                                          .start = real_start,
                                          .gradient = real_gradient,
                                          .step = real_step,
                                          .judge = real_judge,
                                          .shard = real_shard,
                                          .forget = real_forget,
                                          .review = real_review};
