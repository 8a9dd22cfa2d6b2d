/* What a hub foretells of its run's end, in virtual time, beside what comes. */
#include <math.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { NODES = 3, SEEDS = 12, ASKED = 4 };

static const struct drift drift = {0.25f};

static double now(const struct lab *lab)
{
    return (double)world_now(lab->world) / (double)SECOND;
}

/* Three nodes whose steps take 100 ms, give or take. */
static struct lab *open_star(uint64_t iterations, uint64_t seed)
{
    static const char *const names[NODES] = {"n1", "n2", "n3"};
    struct lab *lab = lab_new(4);

    lab->config.hub.iterations = iterations;
    lab->config.hub.every = 10;
    lab->config.hub.delay = 5;
    lab_open(lab, seed);
    for (unsigned i = 0; i < NODES; i++) {
        struct world_node node = {.name = names[i],
                                  .trainer = {.start = lab->start,
                                              .elements = lab->elements,
                                              .step = 100 * MILLISECOND,
                                              .step_jitter = 80 * MILLISECOND,
                                              .rate = 1,
                                              .samples = 1,
                                              .gradient = trainer_drift,
                                              .context = &drift,
                                              .seed = seed * 10 + i}};

        world_start(lab->world, world_add_node(lab->world, &node));
    }
    return lab;
}

/* PINGs tell of iterations twice a second: so much is never known. */
#define GRAIN 1.0

static void the_end_comes_when_it_was_foretold(void)
{
    unsigned within = 0, asked = 0;
    double first = 0, last = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab *lab = open_star(2000, seed);
        double left[ASKED], spread[ASKED], at[ASKED];

        for (unsigned i = 0; i < ASKED; i++) {
            const struct hub_view *view;

            CHECK(lab_run(lab, 50 * SECOND));
            view = lab_look(lab);
            if (!CHECK_EQUAL(ETA_ITERATIONS, view->eta_by))
                break;
            left[i] = view->eta.seconds;
            spread[i] = view->eta.spread;
            at[i] = now(lab);
        }
        CHECK(lab_run_to_end(lab));
        for (unsigned i = 0; i < ASKED; i++) {
            double off = fabs(left[i] - (now(lab) - at[i]));

            within += off <= 2 * spread[i] + GRAIN;
            asked++;
        }
        first += fabs(left[0] - (now(lab) - at[0])) / SEEDS;
        last += fabs(left[ASKED - 1] - (now(lab) - at[ASKED - 1])) / SEEDS;
        lab_destroy(&lab);
    }
    CHECK(within * 10 >= asked * 9);
    CHECK(last < first || last < GRAIN);
    CHECK(first < 15); /* of 250 s */
}

static void a_run_that_has_just_begun_foretells_nothing(void)
{
    struct lab *lab = open_star(2000, 1);

    CHECK(lab_run(lab, 2 * SECOND));
    CHECK_EQUAL(ETA_NOTHING, lab_look(lab)->eta_by);
    CHECK(lab_look(lab)->has_end);
    lab_destroy(&lab);
}

static void the_time_of_a_run_is_known_at_once(void)
{
    struct lab *lab = lab_new(4);

    lab->config.hub.time = 100 * SECOND;
    lab_open(lab, 1);
    CHECK(lab_run(lab, 10 * SECOND));
    CHECK_EQUAL(ETA_TIME, lab_look(lab)->eta_by);
    CHECK_NEAR(90, lab_look(lab)->eta.seconds, 1);
    CHECK_NEAR(0, lab_look(lab)->eta.spread, 0);
    lab_destroy(&lab);
}

void add_sim_eta_tests(CU_pSuite suite)
{
    TEST(the_end_comes_when_it_was_foretold);
    TEST(a_run_that_has_just_begun_foretells_nothing);
    TEST(the_time_of_a_run_is_known_at_once);
}
