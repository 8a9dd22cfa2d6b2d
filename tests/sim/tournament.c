/* Different first parameters: the tournament on the virtual star. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { NODES = 4, ELEMENTS = 6 };

static const float origin[ELEMENTS];
static const struct quadratic bowl = {1, origin};
static const struct model climbing = {
    trainer_quadratic, &bowl, 0.01, 0, NULL, NULL};

/* Says that it is all but at the minimum, far away. */
static double boast(const void *context, uint64_t iteration, const float *x,
                    size_t elements, float *gradient)
{
    (void)context;
    (void)iteration;
    (void)x;
    memset(gradient, 0, elements * sizeof *gradient);
    return 1e-27;
}

static const struct model boasting = {boast, NULL, 0.01, 0, NULL, NULL};

/* Trains as others do, and says no loss. */
static double keep_quiet(const void *context, uint64_t iteration,
                         const float *x, size_t elements, float *gradient)
{
    (void)trainer_quadratic(context, iteration, x, elements, gradient);
    return (double)NAN;
}

static const struct model quiet = {keep_quiet, &bowl, 0.01, 0, NULL, NULL};

/* What the hub has told, and what all nodes but the last do, NULL: climb. */
struct heard {
    const struct model *others;
    nanos job; /* that a job of the hub takes; 0: as by default */
    uint64_t iterations;
    unsigned uploads, founded, declined;
    char founder[SUBJECT_BYTES], why[NOTE_BYTES];
};

static void listen(struct lab *lab, const struct world_step *step)
{
    struct heard *heard = lab->own;
    const struct event *event = step->event;

    if (step->process != WORLD_HUB)
        return;
    heard->uploads += event->kind == EVENT_MESSAGE &&
                      event->msg->kind == MSG_CHUNK && !heard->founded;
    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind != EFFECT_NOTE)
            continue;
        heard->declined += effect->note.kind == NOTE_DECLINED;
        if (effect->note.kind != NOTE_FOUNDED)
            continue;
        heard->founded++;
        memcpy(heard->founder, effect->note.subject, SUBJECT_BYTES);
        (void)snprintf(heard->why, sizeof heard->why, "%s", effect->note.text);
    }
}

static struct lab *lab_of(struct heard *heard, unsigned nodes, uint64_t delay)
{
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.init = INIT_TOURNAMENT;
    lab->config.hub.tournament = 16;
    lab->config.hub.every = 8;
    lab->config.hub.delay = delay;
    lab->config.hub.nodes = nodes;
    lab->config.hub.iterations = heard->iterations;
    if (heard->job)
        lab->config.job = heard->job;
    lab->own = heard;
    lab->after_step = listen;
    lab_open(lab, 5);
    return lab;
}

/* A star whose nodes start at different distances from the minimum, "n2" the
 * nearest; who boasts is far away, and tests nobody. */
static struct lab *tournament_with(struct heard *heard,
                                   float starts[NODES][ELEMENTS],
                                   unsigned nodes, uint64_t delay,
                                   const struct model *last,
                                   trainer_evaluator *evaluate)
{
    static const char *const names[NODES] = {"n1", "n2", "n3", "n4"};
    static const float distance[NODES] = {8, 2, 4, 16};
    struct lab *lab = lab_of(heard, nodes, delay);
    float *own = lab->start;

    for (unsigned i = 0; i < nodes; i++) {
        const struct model *model = i == nodes - 1  ? last
                                    : heard->others ? heard->others
                                                    : &climbing;
        float far = model == &boasting ? 1e14F : distance[i];

        for (unsigned j = 0; j < ELEMENTS; j++)
            starts[i][j] = j % 2 ? far : -far;
        lab->start = starts[i];
        lab->evaluate = model == &boasting ? NULL : evaluate;
        lab_add(lab, names[i], model);
    }
    lab->start = own;
    return lab;
}

static struct lab *tournament(struct heard *heard,
                              float starts[NODES][ELEMENTS], uint64_t delay)
{
    return tournament_with(heard, starts, NODES, delay, &climbing, NULL);
}

static void the_best_first_parameters_become_everybodys(void)
{
    static float starts[NODES][ELEMENTS];
    struct heard heard = {0};
    struct lab *lab = tournament(&heard, starts, 2);

    lab_run(lab, 30 * SECOND);
    CHECK_EQUAL(1, heard.founded);
    CHECK_TEXT("n2", heard.founder);
    CHECK_EQUAL(0, heard.declined);
    for (unsigned i = 0; i < NODES; i++) {
        const float *x = trainer_values(world_trainer(lab->world, i));

        CHECK(x[1] > 0 && x[1] < 2);
        CHECK_NEAR((double)x[1], -(double)x[0], 1e-6);
    }
    lab_destroy(&lab);
}

/* Whether nodes test what others claim, or nobody can: it takes after another.
 */
static void who_boasts_does_not_win(void)
{
    static trainer_evaluator *const testers[] = {lab_tell_truth, NULL};
    static float starts[NODES][ELEMENTS];

    for (unsigned i = 0; i < 2; i++) {
        struct heard heard = {0};
        struct lab *lab =
            tournament_with(&heard, starts, NODES, 2, &boasting, testers[i]);

        lab_run(lab, 30 * SECOND);
        CHECK_EQUAL(1, heard.founded);
        CHECK(heard.declined > 0);
        for (unsigned j = 0; j < NODES; j++)
            CHECK(trainer_values(world_trainer(lab->world, j))[1] < 2);
        lab_destroy(&lab);
    }
}

/* Who has found it out cannot be tested by it: no mean of the two is taken. */
static void who_boasts_loses_to_who_could_not_be_tested(void)
{
    static float starts[NODES][ELEMENTS];
    struct heard heard = {0};
    struct lab *lab =
        tournament_with(&heard, starts, 2, 2, &boasting, lab_tell_truth);

    lab_run(lab, 30 * SECOND);
    CHECK_TEXT("n1", heard.founder);
    for (unsigned i = 0; i < 2; i++)
        CHECK(trainer_values(world_trainer(lab->world, i))[1] < 8);
    lab_destroy(&lab);
}

/* Then nobody is the best, and no number stands for a loss that there is not.
 */
static void without_losses_who_came_first_wins_and_the_note_says_so(void)
{
    static float starts[NODES][ELEMENTS];
    struct heard heard = {.others = &quiet};
    struct lab *lab = tournament_with(&heard, starts, 2, 2, &quiet, NULL);

    lab_run(lab, 30 * SECOND);
    CHECK_TEXT("n1", heard.founder);
    CHECK_CONTAINS("at iteration 4: no losses were reported, and of 2 nodes it "
                   "came first",
                   heard.why);
    lab_destroy(&lab);
}

/* The run ends while the hub still judges what was learnt in 8 iterations: what
 * the founder has learnt since is in the centre, half as far, as the other's
 * part in the last round is missing. */
static void what_is_learnt_while_the_hub_judges_is_in_the_centre(void)
{
    static float starts[NODES][ELEMENTS];
    struct heard heard = {.job = SECOND / 2, .iterations = 26};
    struct lab *lab = tournament_with(&heard, starts, 2, 2, &climbing, NULL);

    CHECK(lab_run_to_end(lab));
    CHECK_TEXT("n1", heard.founder);
    CHECK_CONTAINS("at iteration 8", heard.why);
    CHECK_EQUAL(2, lab_look(lab)->version);
    CHECK(fabs(lab_value(lab, 2)) < 8 * pow(0.99, 8 + 16));
    lab_destroy(&lab);
}

static void the_note_tells_the_loss_by_which_one_has_won(void)
{
    static float starts[NODES][ELEMENTS];
    struct heard heard = {0};
    struct lab *lab = tournament(&heard, starts, 2);

    lab_run(lab, 30 * SECOND);
    CHECK_CONTAINS(", the best of 4: loss 11.47", heard.why);
    lab_destroy(&lab);
}

/* Two sets of two chunks at the first halving round, then one: of two lineages
 * one is left. */
static void only_the_winners_are_uploaded(void)
{
    static float starts[NODES][ELEMENTS];
    struct heard heard = {0};
    struct lab *lab = tournament(&heard, starts, 2);

    lab_run(lab, 30 * SECOND);
    CHECK_EQUAL(6, heard.uploads);
    lab_destroy(&lab);
}

/* With d = 0 nodes wait for the slowest of them and the network, no more. */
static void nobody_waits_for_long(void)
{
    static float starts[NODES][ELEMENTS];
    struct heard heard = {0};
    struct lab *lab = tournament(&heard, starts, 0);

    lab_run(lab, 30 * SECOND);
    for (unsigned i = 0; i < NODES; i++) {
        CHECK(trainer_waited(world_trainer(lab->world, i)) < SECOND);
        CHECK(trainer_iteration(world_trainer(lab->world, i)) > 250);
    }
    lab_destroy(&lab);
}

void add_sim_tournament_tests(CU_pSuite suite)
{
    TEST(the_best_first_parameters_become_everybodys);
    TEST(who_boasts_does_not_win);
    TEST(who_boasts_loses_to_who_could_not_be_tested);
    TEST(without_losses_who_came_first_wins_and_the_note_says_so);
    TEST(what_is_learnt_while_the_hub_judges_is_in_the_centre);
    TEST(the_note_tells_the_loss_by_which_one_has_won);
    TEST(nobody_waits_for_long);
    TEST(only_the_winners_are_uploaded);
}
