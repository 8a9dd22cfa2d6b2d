/* The tournament when things go wrong in it: however it goes, it ends with one
 * lineage that all have, and training together begins. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

/* Three chunks, and room for one in a window. */
enum { ELEMENTS = 11, NODES = 4, MOST = 6, LENGTH = 16, EVERY = 8 };

/* A bowl; the loss it reports is `lie` times its own, and in the iteration
 * before `sick` the gradient is NaN. */
struct climber {
    double lie;
    uint64_t sick;
};

static double climb(const void *context, uint64_t iteration, const float *x,
                    size_t elements, float *gradient)
{
    static const float origin[ELEMENTS];
    static const struct quadratic bowl = {1, origin};
    const struct climber *climber = context;
    double loss = trainer_quadratic(&bowl, iteration, x, elements, gradient);

    if (climber->sick == iteration + 1)
        gradient[0] = NAN;
    return loss * climber->lie;
}

static const struct climber honest = {1, 0};

/* What the hub has told, and when it was asked for what. */
struct heard {
    unsigned founded, offences;
    char founder[SUBJECT_BYTES];
    unsigned victim; /* node that is to die when it uploads, or MOST */
    bool dead;
    unsigned described, asked;
    float first;
};

static void listen(struct lab *lab, const struct world_step *step)
{
    struct heard *heard = lab->own;

    for (unsigned i = 0; step->process == WORLD_HUB && i < step->effects->count;
         i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind != EFFECT_NOTE)
            continue;
        heard->offences += effect->note.kind == NOTE_OFFENCE;
        if (effect->note.kind != NOTE_FOUNDED)
            continue;
        heard->founded++;
        memcpy(heard->founder, effect->note.subject, SUBJECT_BYTES);
    }
}

static void kill_victim(void *context, struct world *world)
{
    struct heard *heard = ((struct lab *)context)->own;

    world_crash(world, heard->victim, false);
}

/* The victim dies behind its second chunk. */
static void strike(void *context, const struct world_message *message,
                   struct world_fate *fate)
{
    struct lab *lab = context;
    struct heard *heard = lab->own;

    (void)fate;
    if (heard->dead || message->node != heard->victim ||
        message->msg->kind != MSG_CHUNK || message->msg->chunk.chunk != 1)
        return;
    heard->dead = true;
    world_at(lab->world, world_now(lab->world), kill_victim, lab);
}

/* What is asked first is the best: nothing beats the first halving round's
 * winner. */
static void first_is_best(void *context, const float *theta, size_t elements,
                          double *loss, double *accuracy)
{
    struct heard *heard = ((struct lab *)context)->own;

    (void)elements;
    if (!heard->asked++)
        heard->first = theta[1];
    *loss = theta[1] < heard->first || theta[1] > heard->first;
    *accuracy = -1;
}

static struct lab *tournament(struct heard *heard)
{
    struct lab *lab = lab_new(ELEMENTS);
    struct hub_config *hub = &lab->config.hub;

    *heard = (struct heard){.victim = MOST};
    hub->init = INIT_TOURNAMENT;
    hub->tournament = LENGTH;
    hub->every = EVERY;
    hub->delay = 2;
    hub->nodes = NODES;
    hub->window = 1;
    lab->own = heard;
    lab->after_step = listen;
    lab->config.hooks.filter = strike;
    return lab;
}

/* Node "n2" starts nearest to the minimum, then "n3". */
static unsigned describe(struct lab *lab, const struct climber *climber)
{
    static const char *const names[MOST] = {"n1", "n2", "n3", "n4", "n5", "n6"};
    static const float far[MOST] = {8, 2, 4, 16, 1, 1};
    static float starts[MOST][ELEMENTS];
    struct heard *heard = lab->own;
    unsigned number = heard->described++;
    struct model model = {climb, climber, 0.01, 0, NULL, NULL};
    float *own = lab->start;

    for (unsigned j = 0; j < ELEMENTS; j++)
        starts[number][j] = j % 2 ? far[number] : -far[number];
    lab->start = starts[number];
    (void)lab_describe(lab, names[number], &model);
    lab->start = own;
    return number;
}

static void add(struct lab *lab, const struct climber *climber)
{
    world_start(lab->world, describe(lab, climber));
}

/* One node is `odd`, the others are honest. */
static void open_with(struct lab *lab, unsigned count, unsigned which,
                      const struct climber *odd)
{
    lab_open(lab, 5);
    for (unsigned i = 0; i < count; i++)
        add(lab, i == which ? odd : &honest);
}

/* The first `nodes` train together, whoever gave the first parameters (NULL:
 * anybody): they have the same parameters but for what
 * each has learnt since, nearer to the minimum than at the start. */
static void check_together(struct lab *lab, const char *founder, unsigned nodes)
{
    const struct heard *heard = lab->own;
    const float *first = trainer_values(world_trainer(lab->world, 0));

    CHECK_EQUAL(1, heard->founded);
    if (founder)
        CHECK_TEXT(founder, heard->founder);
    CHECK_EQUAL(0, heard->offences);
    for (unsigned i = 0; i < nodes; i++) {
        const float *x = trainer_values(world_trainer(lab->world, i));

        CHECK_NEAR((double)first[1], (double)x[1], 2e-3);
        CHECK_NEAR(0, (double)x[0] + (double)x[1], 1e-5);
    }
}

static void check_ends_well(struct lab *lab, const char *founder,
                            unsigned nodes)
{
    (void)lab_run(lab, 60 * SECOND);
    check_together(lab, founder, nodes);
    lab_destroy(&lab);
}

static void one_node_alone_wins_at_once(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hub.nodes = 1;
    open_with(lab, 1, 0, &honest);
    (void)lab_run(lab, SECOND);
    CHECK_EQUAL(1, heard.founded);
    check_ends_well(lab, "n1", 1);
}

/* An upload takes longer than a halving round: offers wait for the next one. */
static void what_was_offered_for_a_halving_round_is_not_taken_for_progress(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hub.delay = 20;
    lab->config.link.up = lab->config.link.down = 400;
    open_with(lab, NODES, 0, &honest);
    check_ends_well(lab, "n2", NODES);
}

static void nodes_may_come_while_it_goes_on_and_after_it(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hub.tournament = 64;
    open_with(lab, NODES, 0, &honest);
    (void)lab_run(lab, 2 * SECOND);
    CHECK_EQUAL(0, heard.founded);
    add(lab, &honest);
    (void)lab_run(lab, 30 * SECOND);
    CHECK_EQUAL(1, heard.founded);
    add(lab, &honest);
    check_ends_well(lab, "n5", MOST);
}

static void it_goes_on_without_a_node_that_dies(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hub.tournament = 64;
    open_with(lab, NODES, 0, &honest);
    (void)lab_run(lab, 2 * SECOND);
    world_crash(lab->world, 3, true);
    (void)lab_run(lab, 30 * SECOND);
    CHECK_EQUAL(1, heard.founded);
    world_start(lab->world, 3);
    check_ends_well(lab, "n2", NODES);
}

static void the_next_best_wins_if_the_best_dies_while_it_uploads(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hub.tournament = 4;
    heard.victim = 1;
    open_with(lab, NODES, 0, &honest);
    (void)lab_run(lab, 20 * SECOND);
    CHECK(heard.dead);
    CHECK_EQUAL(1, heard.founded);
    world_start(lab->world, 1);
    check_ends_well(lab, "n3", NODES);
}

static void it_begins_again_with_a_hub_that_is_started_again(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hub.tournament = 64;
    open_with(lab, NODES, 0, &honest);
    (void)lab_run(lab, 2500 * MILLISECOND);
    CHECK_EQUAL(0, heard.founded);
    world_crash(lab->world, WORLD_HUB, false);
    (void)lab_run(lab, SECOND);
    world_start(lab->world, WORLD_HUB);
    check_ends_well(lab, "n2", NODES);
}

/* What has won the first halving round stays, and the others go on from there.
 */
static void it_goes_on_when_all_leave_and_come_back(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hub.tournament = 64;
    open_with(lab, NODES, 0, &honest);
    (void)lab_run(lab, 2500 * MILLISECOND);
    CHECK_EQUAL(0, heard.founded);
    for (unsigned i = 0; i < NODES; i++)
        world_crash(lab->world, i, false);
    (void)lab_run(lab, SECOND);
    for (unsigned i = 0; i < NODES; i++)
        world_start(lab->world, i);
    check_ends_well(lab, "n2", NODES);
}

/* It waits for the end, and takes what has won. */
static void a_node_that_diverges_in_it_stops_nobody(void)
{
    static const struct climber sick = {1, 3};
    struct heard heard;
    struct lab *lab = tournament(&heard);

    open_with(lab, NODES, 1, &sick);
    check_ends_well(lab, "n3", NODES);
}

/* "n4" claims a loss somewhat below the best one, of the worst parameters. */
static const struct climber byzantine = {0.01, 0};

static void a_score_near_to_others_is_believed_where_nobody_tests_it(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    open_with(lab, NODES, 3, &byzantine);
    check_ends_well(lab, "n4", NODES);
}

static void the_best_so_far_stays_if_nobody_is_better(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hooks.evaluate = first_is_best;
    open_with(lab, NODES, 0, &honest);
    check_ends_well(lab, "", NODES);
}

static void equal_first_parameters_need_no_tournament(void)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);
    const struct model model = {climb, &honest, 0.01, 0, NULL, NULL};

    lab->config.hub.tournament = 400;
    for (unsigned j = 0; j < ELEMENTS; j++)
        lab->start[j] = j % 2 ? 4 : -4;
    lab_open(lab, 5);
    for (unsigned i = 0; i < NODES; i++) {
        static const char *const names[NODES] = {"n1", "n2", "n3", "n4"};

        world_start(lab->world, lab_describe(lab, names[i], &model));
    }
    (void)lab_run(lab, 12 * SECOND);
    CHECK_EQUAL(1, heard.founded);
    check_ends_well(lab, NULL, NODES);
}

/* Whatever the moment: all leave, and the best that there is has been saved. */
static void check_stopped(nanos after, const char *founder)
{
    struct heard heard;
    struct lab *lab = tournament(&heard);

    lab->config.hub.tournament = 32;
    open_with(lab, NODES, 0, &honest);
    (void)lab_run(lab, after);
    CHECK_EQUAL(0, heard.founded);
    world_leave(lab->world, WORLD_HUB);
    (void)lab_run_to_end(lab);
    (void)lab_run(lab, SECOND);
    CHECK_TEXT(founder, heard.founder);
    CHECK(world_saved(lab->world)->last);
    CHECK_NEAR(2, (double)world_saved(lab->world)->theta[1], 1);
    for (unsigned i = 0; i < NODES; i++)
        CHECK(node_ended(world_node(lab->world, i)));
    lab_destroy(&lab);
}

static void a_run_that_ends_in_it_keeps_the_best(void)
{
    check_stopped(450 * MILLISECOND, "n2");
    check_stopped(850 * MILLISECOND, "n2");
    check_stopped(1500 * MILLISECOND, "n2");
}

void add_sim_tournament_faults_tests(CU_pSuite suite)
{
    TEST(one_node_alone_wins_at_once);
    TEST(what_was_offered_for_a_halving_round_is_not_taken_for_progress);
    TEST(nodes_may_come_while_it_goes_on_and_after_it);
    TEST(it_goes_on_without_a_node_that_dies);
    TEST(the_next_best_wins_if_the_best_dies_while_it_uploads);
    TEST(it_begins_again_with_a_hub_that_is_started_again);
    TEST(it_goes_on_when_all_leave_and_come_back);
    TEST(a_node_that_diverges_in_it_stops_nobody);
    TEST(a_score_near_to_others_is_believed_where_nobody_tests_it);
    TEST(the_best_so_far_stays_if_nobody_is_better);
    TEST(equal_first_parameters_need_no_tournament);
    TEST(a_run_that_ends_in_it_keeps_the_best);
}
