/* How long a simulated trainer's iterations take: distributions, pauses, and
 * what a trace says. */
#include <math.h>

#include "tests/check.h"
#include "tests/sim/lab.h"
#include "tests/sim/trace/trace_text.h"

enum { ITERATIONS = 20000 };

static const struct drift drift = {0.25F};

struct paces {
    nanos last;
    unsigned count, over[2];
    nanos limit[2];
    double sum, squares;
};

static void note(void *observer, const struct trainer_look *look)
{
    struct paces *paces = observer;
    nanos took = look->now - paces->last;

    if (look->moment != TRAINER_STEPPED || paces->count == ITERATIONS)
        return;
    paces->last = look->now;
    paces->count++;
    paces->sum += (double)took / (double)SECOND;
    paces->squares += pow((double)took / (double)SECOND, 2);
    for (int i = 0; i < 2; i++)
        paces->over[i] += took > paces->limit[i];
}

/* A node that trains for its own, and how long each of its iterations took. */
static struct lab *run(const struct trainer_config *how, struct paces *paces,
                       const struct trace *trace, nanos until)
{
    struct lab *lab = lab_new(1);
    struct world_node node = {.name = "n1", .trainer = *how};

    lab->config.hub.every = 1 << 30;
    lab->config.trace = trace;
    node.trainer.start = lab->start;
    node.trainer.elements = 1;
    node.trainer.samples = 1;
    node.trainer.gradient = trainer_drift;
    node.trainer.context = &drift;
    node.trainer.look = note;
    node.trainer.observer = paces;
    lab_open(lab, 3);
    world_start(lab->world, world_add_node(lab->world, &node));
    CHECK(lab_run(lab, until));
    return lab;
}

static double mean_of(const struct paces *paces)
{
    return paces->sum / paces->count;
}

static double deviation_of(const struct paces *paces)
{
    double mean = mean_of(paces);

    return sqrt(paces->squares / paces->count - mean * mean);
}

static void a_spread_keeps_the_mean(void)
{
    static const double spreads[] = {0.05, 0.5, 1};

    for (unsigned i = 0; i < 3; i++) {
        const struct trainer_config how = {.step = 100 * MILLISECOND,
                                           .step_cv = spreads[i]};
        struct paces paces = {.count = 0};
        struct lab *lab = run(&how, &paces, NULL, 2200 * SECOND);

        CHECK_EQUAL(ITERATIONS, paces.count);
        /* four standard errors */
        CHECK_NEAR(0.1, mean_of(&paces), 0.4 * spreads[i] / sqrt(ITERATIONS));
        CHECK_NEAR(0.1 * spreads[i], deviation_of(&paces),
                   0.1 * spreads[i] * (0.03 + 0.1 * spreads[i]));
        lab_destroy(&lab);
    }
}

/* P(pause > t) = (m / 2t)^2 of a pause with mean m. */
static void hiccups_are_rare_and_long(void)
{
    const struct trainer_config how = {
        .step = 100 * MILLISECOND, .hiccups = 0.02, .hiccup = 2 * SECOND};
    struct paces paces = {.limit = {1099 * MILLISECOND, 2100 * MILLISECOND}};
    struct lab *lab = run(&how, &paces, NULL, 4000 * SECOND);

    CHECK_EQUAL(ITERATIONS, paces.count);
    CHECK_NEAR(400, paces.over[0], 80); /* four deviations of the binomial */
    CHECK_NEAR(100, paces.over[1], 40);
    lab_destroy(&lab);
}

static void without_a_spread_a_step_takes_its_time(void)
{
    const struct trainer_config how = {.step = 100 * MILLISECOND};
    struct paces paces = {.limit = {100 * MILLISECOND}};
    struct lab *lab = run(&how, &paces, NULL, 100 * SECOND);

    CHECK_EQUAL(1000, paces.count);
    CHECK_EQUAL(0, paces.over[0]);
    lab_destroy(&lab);
}

static void an_iteration_takes_what_the_trace_says_when_it_begins(void)
{
    static const char text[] = "starswitch-trace 1\nspan 100s\n"
                               "10.05s n1 step 300ms\n40s * step 1ms\nend\n";
    const struct trainer_config how = {.step = 100 * MILLISECOND};
    struct paces paces = {.count = 0};
    struct trace *trace = trace_of(text);
    struct lab *lab = run(&how, &paces, trace, 10 * SECOND);

    CHECK_EQUAL(100, paces.count);
    CHECK(lab_run(lab, 90 * SECOND));
    CHECK_EQUAL(101 + 299, paces.count); /* 10.1 s and 299 times 0.3 s */
    CHECK(lab_run(lab, 10 * SECOND));    /* the span is over */
    CHECK_NEAR(500, paces.count, 2);
    lab_destroy(&lab);
    trace_destroy(&trace);
}

/* A node that comes back goes at the pace of now. */
static void a_restarted_trainer_follows_the_trace(void)
{
    static const char text[] = "starswitch-trace 1\nspan 100s\n"
                               "5s * step 500ms\nend\n";
    const struct trainer_config how = {.step = 100 * MILLISECOND};
    struct paces paces = {.count = 0};
    struct trace *trace = trace_of(text);
    struct lab *lab = run(&how, &paces, trace, 10 * SECOND);

    world_start(lab->world, 0);
    CHECK(lab_run(lab, 10 * SECOND));
    CHECK_EQUAL(20, trainer_iteration(world_trainer(lab->world, 0)));
    lab_destroy(&lab);
    trace_destroy(&trace);
}

void add_sim_paces_tests(CU_pSuite suite)
{
    TEST(a_spread_keeps_the_mean);
    TEST(hiccups_are_rare_and_long);
    TEST(without_a_spread_a_step_takes_its_time);
    TEST(an_iteration_takes_what_the_trace_says_when_it_begins);
    TEST(a_restarted_trainer_follows_the_trace);
}
