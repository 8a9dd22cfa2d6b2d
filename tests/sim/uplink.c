/* Stars whose nodes encode what they offer. */
#include <math.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { NODES = 3 };

static const char *const names[NODES] = {"n1", "n2", "n3"};

/* ---- learning ---- */

enum { ELEMENTS = 2048, ROUNDS = 120 };

struct star {
    float centre[NODES][ELEMENTS]; /* what each node wants */
    struct quadratic wants[NODES];
    uint64_t bytes; /* that were uploaded in chunks of exchanges */
};

static void weigh(struct lab *lab, const struct world_step *step)
{
    struct star *star = lab->own;
    const struct event *event = step->event;

    if (step->process == WORLD_HUB && event->kind == EVENT_MESSAGE &&
        event->msg->kind == MSG_CHUNK && event->msg->chunk.exchange)
        star->bytes += event->payload->wire_bytes;
}

static void draw(struct star *star)
{
    struct prng prng;

    prng_seed(&prng, 20);
    for (unsigned i = 0; i < NODES; i++) {
        for (unsigned j = 0; j < ELEMENTS; j++)
            star->centre[i][j] = (float)prng_normal(&prng);
        star->wants[i] = (struct quadratic){1, star->centre[i]};
    }
    star->bytes = 0;
}

/* The part of the loss at the start, above the least there is, that is left;
 * all nodes together want the mean of what they want. */
static double left(const struct star *star, const float *theta)
{
    double from = 0, to = 0;

    for (unsigned j = 0; j < ELEMENTS; j++) {
        double mean = 0;

        for (unsigned i = 0; i < NODES; i++)
            mean += (double)star->centre[i][j] / NODES;
        from += mean * mean;
        to += (mean - (double)theta[j]) * (mean - (double)theta[j]);
    }
    return to / from;
}

/* `share` is a codec's bytes of those of raw. */
static double learn(enum codec_id codec, uint64_t delay, double *share)
{
    static struct star star;
    struct lab *lab = lab_new(ELEMENTS);
    double rest = 1;

    draw(&star);
    lab->own = &star;
    lab->after_step = weigh;
    lab->config.hub.chunk_elements = 1024;
    lab->config.hub.nodes = NODES;
    lab->config.hub.every = 4;
    lab->config.hub.delay = delay;
    lab->config.hub.codec_up = codec;
    lab_open(lab, 1);
    for (unsigned i = 0; i < NODES; i++) {
        const struct model model = {
            trainer_quadratic, &star.wants[i], 0.05, 0, NULL, NULL};

        lab_add(lab, names[i], &model);
    }
    if (lab_run_rounds(lab, ROUNDS))
        rest = left(&star, lab_values(lab, ROUNDS));
    *share = (double)star.bytes /
             ((double)ROUNDS * NODES * ELEMENTS * sizeof(float));
    lab_destroy(&lab);
    return rest;
}

/* Without feedback what a top-k codec leaves out would never come, and nothing
 * but the few largest values would be learnt. */
static void t20_a_star_with_any_codec_comes_to_what_all_want(void)
{
    static const uint64_t delays[] = {0, 2, 8};
    static const double most[CODEC_COUNT] = {
        [CODEC_RAW] = 1e-12, [CODEC_F16] = 1e-8,   [CODEC_BF16] = 1e-6,
        [CODEC_INT8] = 1e-5, [CODEC_INT4] = 0.001, [CODEC_E3M0] = 0.002,
        [CODEC_SIGN] = 0.1,  [CODEC_TOP1] = 0.5,   [CODEC_TOP10] = 0.1,
        [CODEC_SPARSE] = 0.5};

    for (unsigned i = 0; i < 3; i++)
        for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
            double share;
            double rest = learn((enum codec_id)codec, delays[i], &share);

            CHECK_NEAR(0, rest, most[codec]);
            CHECK_NEAR(codecs[codec].bits / 32, share, 0.02);
        }
}

/* ---- what springs conserve ---- */

static const struct drift drift = {0.25f};

/* Nodes step at 1 s, 1.02 s and so on, and exchanges take some milliseconds:
 * half a second later nothing is on its way. */
static void check_conserved(enum codec_id codec)
{
    const struct model model = {trainer_drift, &drift, 1, SECOND, NULL, NULL};
    struct lab *lab = lab_new(6);
    float start[NODES][6];

    lab->config.hub.policy = preset_find("easgd-async")->policy;
    lab->config.hub.init = INIT_ELASTIC;
    lab->config.hub.codec_up = codec;
    lab->config.hub.save_interval = 100 * MILLISECOND;
    lab_open(lab, 8);
    for (unsigned i = 0; i < NODES; i++) {
        float *zero = lab->start;

        for (unsigned j = 0; j < 6; j++)
            start[i][j] = (float)(1u << i) / 3;
        lab->start = start[i];
        lab_add(lab, names[i], &model);
        lab->start = zero;
    }
    CHECK(lab_run(lab, 500 * MILLISECOND));
    for (unsigned second = 1; second < 30; second++) {
        double own = (1 + 2 + 4 + 1) / 3.0, sum;

        CHECK(lab_run(lab, SECOND));
        sum = (double)world_saved(lab->world)->theta[0];
        for (unsigned i = 0; i < NODES; i++) {
            struct trainer *trainer = world_trainer(lab->world, i);

            own += 0.25 * (double)trainer_iteration(trainer);
            sum += (double)trainer_values(trainer)[0];
        }
        CHECK_NEAR(own, sum, 1e-4);
    }
    lab_destroy(&lab);
}

static void t20_elastic_pulls_conserve_the_sum_whatever_the_codec(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++)
        if (codecs[codec].use == CODEC_FOR_ALL)
            check_conserved((enum codec_id)codec);
}

void add_sim_uplink_tests(CU_pSuite suite)
{
    TEST(t20_a_star_with_any_codec_comes_to_what_all_want);
    TEST(t20_elastic_pulls_conserve_the_sum_whatever_the_codec);
}
