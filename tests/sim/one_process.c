/* With k=1, d=0 and gradients, a star equals one process that averages the
 * same microbatch gradients in rank order. */
#include <math.h>
#include <string.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

enum {
    INPUTS = 5,
    HIDDEN = 7,
    WEIGHTS = HIDDEN * INPUTS + 2 * HIDDEN + 1, /* biases included */
    ROWS = 48,
    BATCH = 8,
    MOST_NODES = 4,
    ROUNDS = 300
};
#define RATE 0.0625

/* One node's data for a small network of one hidden layer. */
struct shard {
    float inputs[ROWS][INPUTS], wanted[ROWS];
};

static void fill(struct shard *shard, uint64_t seed)
{
    struct prng prng;

    prng_seed(&prng, seed);
    for (unsigned i = 0; i < ROWS; i++) {
        double sum = 0;

        for (unsigned j = 0; j < INPUTS; j++) {
            shard->inputs[i][j] = (float)(2 * prng_unit(&prng) - 1);
            sum += (double)shard->inputs[i][j] * (j + 1);
        }
        shard->wanted[i] = (float)(sin(sum) + 0.1 * prng_unit(&prng));
    }
}

/* Adds the gradient of one row's squared error; returns half the error. */
static double add_row(const float *x, const float *input, float wanted,
                      float *gradient)
{
    const float *first = x, *bias = x + (size_t)HIDDEN * INPUTS;
    const float *second = bias + HIDDEN;
    float out = second[HIDDEN], hidden[HIDDEN], error;

    for (unsigned h = 0; h < HIDDEN; h++) {
        float sum = bias[h];

        for (unsigned j = 0; j < INPUTS; j++)
            sum += first[h * INPUTS + j] * input[j];
        hidden[h] = sum / (1 + fabsf(sum));
        out += second[h] * hidden[h];
    }
    error = out - wanted;
    for (unsigned h = 0; h < HIDDEN; h++) {
        float slope = 1 - fabsf(hidden[h]);
        float back = error * second[h] * slope * slope;

        for (unsigned j = 0; j < INPUTS; j++)
            gradient[h * INPUTS + j] += back * input[j] / BATCH;
        gradient[HIDDEN * INPUTS + h] += back / BATCH;
        gradient[HIDDEN * INPUTS + HIDDEN + h] += error * hidden[h] / BATCH;
    }
    gradient[WEIGHTS - 1] += error / BATCH;
    return 0.5 * (double)error * (double)error;
}

static double network_gradient(const void *context, uint64_t iteration,
                               const float *x, size_t elements, float *gradient)
{
    const struct shard *shard = context;
    double loss = 0;

    memset(gradient, 0, elements * sizeof *gradient);
    for (unsigned i = 0; i < BATCH; i++) {
        uint64_t row = (iteration * BATCH + i) % ROWS;

        loss += add_row(x, shard->inputs[row], shard->wanted[row], gradient);
    }
    return loss / BATCH;
}

/* One iteration of the one process. */
static void descend(float *x, uint64_t iteration, const struct shard *shards,
                    unsigned nodes)
{
    float gradient[WEIGHTS];
    double sum[WEIGHTS] = {0};

    for (unsigned n = 0; n < nodes; n++) {
        (void)network_gradient(&shards[n], iteration, x, WEIGHTS, gradient);
        for (unsigned i = 0; i < WEIGHTS; i++)
            sum[i] += (double)gradient[i];
    }
    for (unsigned i = 0; i < WEIGHTS; i++)
        x[i] = (float)((double)x[i] - RATE * (sum[i] / nodes));
}

static void random_start(float *x, uint64_t seed)
{
    struct prng prng;

    prng_seed(&prng, seed);
    for (unsigned i = 0; i < WEIGHTS; i++)
        x[i] = (float)(prng_unit(&prng) - 0.5);
}

static struct lab *lab_of(unsigned nodes, const struct shard *shards)
{
    static const char *const names[] = {"n1", "n2", "n3", "n4"};
    struct lab *lab = lab_new(WEIGHTS);

    random_start(lab->start, 77);
    lab->config.hub.policy.exchange = EXCHANGE_GRADIENT;
    lab->config.hub.policy.numbers.outer_lr = RATE;
    lab->config.hub.nodes = nodes;
    lab_open(lab, nodes);
    for (unsigned i = 0; i < nodes; i++) {
        struct model model = {
            network_gradient, &shards[i], RATE, 0, NULL, NULL};

        lab_add(lab, names[i], &model);
    }
    return lab;
}

static void check_nodes(unsigned nodes)
{
    struct shard shards[MOST_NODES];
    float x[WEIGHTS];
    struct lab *lab;
    unsigned differing = 0;

    for (unsigned i = 0; i < nodes; i++)
        fill(&shards[i], i + 1);
    lab = lab_of(nodes, shards);
    random_start(x, 77);
    if (lab_run_rounds(lab, ROUNDS))
        for (unsigned i = 0; i < ROUNDS; i++) {
            descend(x, i, shards, nodes);
            differing += lab_differing(lab, i + 1, x);
        }
    CHECK_EQUAL(0, differing);
    lab_destroy(&lab);
}

static void t21_gradients_of_3_nodes_equal_one_process_bit_for_bit(void)
{
    check_nodes(3);
}

static void t21_gradients_of_4_nodes_equal_one_process_bit_for_bit(void)
{
    check_nodes(4);
}

void add_sim_one_process_tests(CU_pSuite suite)
{
    TEST(t21_gradients_of_3_nodes_equal_one_process_bit_for_bit);
    TEST(t21_gradients_of_4_nodes_equal_one_process_bit_for_bit);
}
