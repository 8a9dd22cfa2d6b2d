/* A model offered in fragments, each with its own turn within k. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 12, CHUNKS = 3, EVERY = 6 };

static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};

/* What the hub gets: how many offers and chunks of each fragment. */
struct counts {
    unsigned offers[CHUNKS], chunks[CHUNKS], whole;
};

static void count(struct lab *lab, const struct world_step *step)
{
    struct counts *counts = lab->own;
    const struct msg *msg = step->event->msg;

    if (step->process != WORLD_HUB || step->event->kind != EVENT_MESSAGE)
        return;
    if (msg->kind == MSG_OFFER && msg->offer.fragment < CHUNKS)
        counts->offers[msg->offer.fragment]++;
    else if (msg->kind == MSG_OFFER)
        counts->whole++;
    if (msg->kind == MSG_CHUNK && msg->chunk.exchange)
        counts->chunks[msg->chunk.chunk]++;
}

static struct lab *star(struct counts *counts, unsigned nodes, uint64_t delay)
{
    static const char *const names[] = {"n1", "n2", "n3"};
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.every = EVERY;
    lab->config.hub.delay = delay;
    lab->config.hub.fragments = CHUNKS;
    lab->config.hub.iterations = 60;
    lab->own = counts;
    lab->after_step = count;
    lab_open(lab, 7 + delay);
    for (unsigned i = 0; i < nodes; i++)
        lab_add(lab, names[i], &drifting);
    return lab;
}

static void each_fragment_travels_alone_and_once_in_k(void)
{
    struct counts counts = {.whole = 0};
    struct lab *lab = star(&counts, 1, 2);

    CHECK(lab_run_to_end(lab));
    for (unsigned i = 0; i < CHUNKS; i++) {
        CHECK(counts.offers[i] >= 9 && counts.offers[i] <= 11);
        CHECK_EQUAL(counts.offers[i] + counts.whole, counts.chunks[i]);
    }
    CHECK_EQUAL(1, counts.whole);
    lab_destroy(&lab);
}

/* The centre is exactly a * T in every chunk for one node, whatever d is. */
static void ap_06_fragments_lose_nothing(void)
{
    static const uint64_t delays[] = {0, 1, EVERY / 2, EVERY, 5 * EVERY / 2};

    for (unsigned i = 0; i < sizeof delays / sizeof *delays; i++) {
        struct counts counts = {.whole = 0};
        struct lab *lab = star(&counts, 1, delays[i]);
        uint64_t done;

        CHECK(lab_run_to_end(lab));
        done = trainer_iteration(world_trainer(lab->world, 0));
        for (unsigned j = 0; j < ELEMENTS; j++)
            CHECK_NEAR(0.25 * (double)done,
                       (double)world_saved(lab->world)->theta[j], 0);
        lab_destroy(&lab);
    }
}

static void several_nodes_merge_fragment_by_fragment(void)
{
    struct counts counts = {.whole = 0};
    struct lab *lab = star(&counts, 3, 2);
    const float *theta;

    CHECK(lab_run_to_end(lab));
    theta = world_saved(lab->world)->theta;
    for (unsigned j = 0; j < ELEMENTS; j++)
        CHECK(theta[j] > 0.25f * 55 && theta[j] < 0.25f * 70);
    for (unsigned i = 0; i < CHUNKS; i++)
        CHECK(counts.offers[i] >= 27);
    lab_destroy(&lab);
}

static void a_node_that_skips_a_fragment_holds_nobody_up(void)
{
    struct counts counts = {.whole = 0};
    struct lab *lab = star(&counts, 3, 2);

    lab_run(lab, 2 * SECOND);
    world_crash(lab->world, 1, false);
    lab_run(lab, 150 * MILLISECOND);
    world_start(lab->world, 1);
    CHECK(lab_run_to_end(lab));
    CHECK(counts.offers[0] > 20 && counts.offers[2] > 20);
    lab_destroy(&lab);
}

/* That stand in the centre. */
static double samples_learnt(const struct lab *lab)
{
    static const char key[] = "\nsamples ";
    const char *at = strstr(world_saved(lab->world)->state, key);

    return CHECK(at != NULL) ? strtod(at + sizeof key - 1, NULL) : NAN;
}

static double trained(const struct lab *lab)
{
    return (double)(trainer_iteration(world_trainer(lab->world, 0)) +
                    3 * trainer_iteration(world_trainer(lab->world, 1)));
}

/* One of two trains on a quarter of the samples, however many fragments an
 * iteration has: it moves each of them by a quarter of what it learns. */
static void fragments_of_one_iteration_weigh_the_same(void)
{
    static const struct drift rest = {0};
    static const struct model resting = {trainer_drift, &rest, 1, 0,
                                         NULL,          NULL};

    for (uint64_t every = 1; every < 6; every++) {
        struct lab *lab = lab_new(ELEMENTS);

        lab->config.hub.every = every;
        lab->config.hub.fragments = CHUNKS;
        lab->config.hub.iterations = 200;
        lab_open(lab, every);
        lab_add(lab, "n1", &drifting);
        lab->samples = 3;
        lab_add(lab, "n2", &resting);
        CHECK(lab_run_to_end(lab));
        for (unsigned j = 0; j < ELEMENTS; j++)
            CHECK_NEAR(0.25 * 200 / 4,
                       (double)world_saved(lab->world)->theta[j], 1.5);
        CHECK_NEAR(trained(lab), (double)lab_look(lab)->moved.samples, 4);
        CHECK_NEAR(trained(lab), samples_learnt(lab), 4);
        lab_destroy(&lab);
    }
}

void add_sim_fragments_tests(CU_pSuite suite)
{
    TEST(each_fragment_travels_alone_and_once_in_k);
    TEST(ap_06_fragments_lose_nothing);
    TEST(several_nodes_merge_fragment_by_fragment);
    TEST(a_node_that_skips_a_fragment_holds_nobody_up);
    TEST(fragments_of_one_iteration_weigh_the_same);
}
