/* Nodes that judge each other, on the virtual star: the hub has no data. All
 * descend to the origin from 8; "n4" offers what leads away from it. */
#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { NODES = 5, ELEMENTS = 6, POISONED = 3 };

static const float origin[ELEMENTS];
static const struct quadratic bowl = {1, origin};

static const struct model descending = {
    trainer_quadratic, &bowl, 0.05, 0, NULL, NULL};
static const struct model climbing = {
    trainer_quadratic, &bowl, -0.5, 0, NULL, NULL};

static bool lie(const void *context, const float *x, size_t elements,
                double *loss, double *error)
{
    bool made = lab_tell_truth(context, x, elements, loss, error);

    *loss = -*loss;
    return made;
}

/* What the hub has told and sent. */
struct heard {
    unsigned reviews, answers, refuted, refuted_others, alone, late;
};

static bool is_of_poisoned(const struct note *note)
{
    return strcmp(note->subject, "n4") == 0;
}

static void listen(struct lab *lab, const struct world_step *step)
{
    struct heard *heard = lab->own;

    if (step->process != WORLD_HUB)
        return;
    heard->answers += step->event->kind == EVENT_MESSAGE &&
                      step->event->msg->kind == MSG_REVIEWED;
    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];
        const struct note *note = &effect->note;

        if (effect->kind == EFFECT_SEND) {
            heard->reviews += effect->msg.kind == MSG_REVIEW;
            continue;
        }
        if (effect->kind != EFFECT_NOTE)
            continue;
        heard->late += note->kind == NOTE_REVIEW_LATE;
        heard->alone += note->kind == NOTE_UNREVIEWED;
        heard->refuted += note->kind == NOTE_DECLINED && is_of_poisoned(note);
        heard->refuted_others +=
            note->kind == NOTE_DECLINED && !is_of_poisoned(note);
    }
}

static struct lab *lab_of(struct heard *heard, const char *policy,
                          uint64_t delay)
{
    struct lab *lab = lab_new(ELEMENTS);

    *heard = (struct heard){0};
    lab->config.hub.policy = preset_find(policy)->policy;
    lab->config.hub.every = 4;
    lab->config.hub.delay = delay;
    lab->evaluate = lab_tell_truth;
    lab->own = heard;
    lab->after_step = listen;
    for (unsigned i = 0; i < ELEMENTS; i++)
        lab->start[i] = 8;
    return lab;
}

static const char *const names[NODES] = {"n1", "n2", "n3", "n4", "n5"};

/* A star of `nodes`, the fourth of them poisoned, the fifth as it is told. */
static struct lab *star_of(struct heard *heard, unsigned nodes, uint64_t delay,
                           trainer_evaluator *last)
{
    struct lab *lab = lab_of(heard, "verified", delay);

    lab->config.hub.nodes = nodes;
    lab_open(lab, 5);
    for (unsigned i = 0; i < nodes; i++) {
        if (i == 4)
            lab->evaluate = last;
        lab_add(lab, names[i], i == POISONED ? &climbing : &descending);
    }
    return lab;
}

static void poison_is_refused_without_data_at_the_hub(void)
{
    static const uint64_t delays[] = {0, 2, 4, 6};

    for (unsigned i = 0; i < 4; i++) {
        struct heard heard;
        struct lab *lab = star_of(&heard, 4, delays[i], NULL);

        lab_run_rounds(lab, 12);
        CHECK(heard.refuted >= 11);
        CHECK_EQUAL(0, heard.refuted_others);
        CHECK(fabs(lab_value(lab, 12)) < 1);
        lab_destroy(&lab);
    }
}

/* Without the reviews the same poison wins. */
static void without_reviewers_the_same_poison_is_taken(void)
{
    struct heard heard;
    struct lab *lab = lab_of(&heard, "verified", 4);

    lab->evaluate = NULL;
    lab->config.hub.nodes = 4;
    lab_open(lab, 5);
    for (unsigned i = 0; i < 4; i++)
        lab_add(lab, names[i], i == POISONED ? &climbing : &descending);
    lab_run_rounds(lab, 12);
    CHECK_EQUAL(0, heard.refuted);
    CHECK(heard.alone > 0);
    CHECK(!(fabs(lab_value(lab, 12)) < 8));
    lab_destroy(&lab);
}

static void a_lying_reviewer_is_outvoted(void)
{
    struct heard heard;
    struct lab *lab = star_of(&heard, NODES, 4, lie);

    lab_run_rounds(lab, 12);
    CHECK(heard.refuted >= 11);
    CHECK_EQUAL(0, heard.refuted_others);
    CHECK(fabs(lab_value(lab, 12)) < 1);
    lab_destroy(&lab);
}

static void a_poisoned_last_offer_is_refused_too(void)
{
    struct heard heard;
    struct lab *lab = star_of(&heard, 4, 4, NULL);
    unsigned before;

    lab_run_rounds(lab, 12);
    before = heard.refuted;
    world_leave(lab->world, WORLD_HUB);
    lab_run_to_end(lab);
    CHECK(heard.refuted > before);
    CHECK_EQUAL(0, heard.refuted_others);
    CHECK(fabs((double)world_saved(lab->world)->theta[0]) < 1);
    lab_destroy(&lab);
}

static void who_is_alone_asks_nobody(void)
{
    struct heard heard;
    struct lab *lab = star_of(&heard, 1, 4, NULL);

    lab_run_rounds(lab, 12);
    CHECK_EQUAL(0, heard.reviews);
    CHECK_EQUAL(0, heard.alone);
    CHECK_EQUAL(0, heard.refuted_others);
    lab_destroy(&lab);
}

/* Nodes die one after the other, in the midst of their reviews. */
static void take_down(void *context, struct world *world)
{
    const unsigned *node = context;

    world_crash(world, *node, *node % 2);
}

static void reviewers_that_crash_hold_nothing_up(void)
{
    static unsigned victims[] = {4, 1, 2};
    struct heard heard;
    struct lab *lab = star_of(&heard, NODES, 4, lab_tell_truth);

    for (unsigned i = 0; i < 3; i++)
        world_at(lab->world, (nanos)(2 + 2 * i) * SECOND + 3 * MILLISECOND,
                 take_down, &victims[i]);
    lab_run(lab, 20 * SECOND);
    CHECK(lab->version > 30);
    CHECK(heard.refuted > 10);
    CHECK_EQUAL(0, heard.refuted_others);
    lab_destroy(&lab);
}

/* The answers of "n5" are lost: late once, it is not waited for again. */
static void swallow(void *context, const struct world_message *message,
                    struct world_fate *fate)
{
    (void)context;
    if (message->node == 4 && message->msg->kind == MSG_REVIEWED)
        fate->copies = 0;
}

static void a_reviewer_that_is_late_costs_one_round(void)
{
    struct heard heard;
    struct lab *lab = lab_of(&heard, "verified", 4);

    lab->config.hub.nodes = NODES;
    lab->config.hooks.filter = swallow;
    lab_open(lab, 5);
    for (unsigned i = 0; i < NODES; i++)
        lab_add(lab, names[i], i == POISONED ? &climbing : &descending);
    lab_run(lab, 20 * SECOND);
    CHECK_EQUAL(1, heard.late);
    CHECK(lab->version > 12);
    CHECK_EQUAL(0, heard.refuted_others);
    lab_destroy(&lab);
}

static void nobody_waits_for_long(void)
{
    struct heard heard;
    struct lab *lab = star_of(&heard, 4, 0, NULL);

    lab_run(lab, 20 * SECOND);
    for (unsigned i = 0; i < 4; i++)
        CHECK(trainer_waited(world_trainer(lab->world, i)) < 3 * SECOND);
    CHECK(heard.answers >= 16 * 30);
    lab_destroy(&lab);
}

/* Several rounds at once, each with its own reviews. */
static void rounds_of_one_each_are_reviewed_too(void)
{
    struct heard heard;
    struct lab *lab = lab_of(&heard, "verified", 4);

    lab->config.hub.policy.gate = &gate_async;
    lab_open(lab, 5);
    for (unsigned i = 0; i < 4; i++)
        lab_add(lab, names[i], i == POISONED ? &climbing : &descending);
    lab_run(lab, 20 * SECOND);
    CHECK(lab->version > 60);
    CHECK(heard.refuted > 20);
    CHECK(fabs(lab_value(lab, lab->version)) < 1);
    lab_destroy(&lab);
}

void add_sim_review_tests(CU_pSuite suite)
{
    TEST(poison_is_refused_without_data_at_the_hub);
    TEST(without_reviewers_the_same_poison_is_taken);
    TEST(a_lying_reviewer_is_outvoted);
    TEST(a_poisoned_last_offer_is_refused_too);
    TEST(who_is_alone_asks_nobody);
    TEST(reviewers_that_crash_hold_nothing_up);
    TEST(a_reviewer_that_is_late_costs_one_round);
    TEST(nobody_waits_for_long);
    TEST(rounds_of_one_each_are_reviewed_too);
}
