/* Selection and preemption by score, on the virtual star: docs/ancestors.md's
 * AP-9, AP-10, AP-11, AP-14 and T25. Nodes drift by an amount of their own and
 * report a score of their own, true or not. */
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 10, CHUNKS = 3, EVERY = 4, MOST = 8 };

/* x += amount each iteration; the loss it reports, and since when another. */
struct drifter {
    float amount;
    double loss, later;
    uint64_t from; /* iteration; 0: never */
};

static double drift(const void *context, uint64_t iteration, const float *x,
                    size_t elements, float *gradient)
{
    const struct drifter *drifter = context;

    (void)x;
    for (size_t i = 0; i < elements; i++)
        gradient[i] = -drifter->amount;
    return drifter->from && iteration >= drifter->from ? drifter->later
                                                       : drifter->loss;
}

/* What a star has shown. */
struct shown {
    unsigned rounds, preempted, refuted;
    uint64_t up_bytes; /* of chunks, the first parameters not counted */
    unsigned uploads[MOST], verdicts[MOST][VERDICT_COUNT];
    uint32_t optimizer; /* that nodes were told */
    char preemption[NOTE_BYTES], victim[SUBJECT_BYTES];
};

static void listen(struct lab *lab, const struct world_step *step)
{
    struct shown *shown = lab->own;

    for (unsigned i = 0; step->process == WORLD_HUB && i < step->effects->count;
         i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind != EFFECT_NOTE)
            continue;
        shown->rounds += effect->note.kind == NOTE_ROUND;
        if (effect->note.kind != NOTE_PREEMPTED)
            continue;
        shown->preempted++;
        memcpy(shown->victim, effect->note.subject, sizeof shown->victim);
        memcpy(shown->preemption, effect->note.text, sizeof shown->preemption);
    }
}

static void overhear(void *context, const struct world_message *message,
                     struct world_fate *fate)
{
    struct shown *shown = ((struct lab *)context)->own;
    const struct msg *msg = message->msg;

    (void)fate;
    if (msg->kind == MSG_CHUNK && msg->chunk.exchange) {
        shown->up_bytes += message->payload->size;
        shown->uploads[message->node] += msg->chunk.chunk == 0;
    } else if (msg->kind == MSG_RESULT && msg->result.exchange &&
               msg->result.chunk == 0) {
        shown->verdicts[message->node][msg->result.verdict]++;
    } else if (msg->kind == MSG_VERDICT && msg->verdict.first == 0) {
        shown->verdicts[message->node][msg->verdict.verdict]++;
    } else if (msg->kind == MSG_WELCOME) {
        shown->optimizer = msg->welcome.optimizer;
    }
}

/* Held-out data: how far it is from the first parameter to 1024. */
static void distance(void *context, const float *theta, size_t elements,
                     double *loss, double *accuracy)
{
    (void)context;
    (void)elements;
    *loss = 1024 > (double)theta[0] ? 1024 - (double)theta[0]
                                    : (double)theta[0] - 1024;
    *accuracy = -1;
}

static void two_and_a_half(void *context, const float *theta, size_t elements,
                           double *loss, double *accuracy)
{
    (void)context;
    (void)theta;
    (void)elements;
    *loss = 2.5;
    *accuracy = -1;
}

static struct lab *lab_of(const char *preset, struct shown *shown)
{
    struct lab *lab = lab_new(ELEMENTS);

    memset(shown, 0, sizeof *shown);
    lab->own = shown;
    lab->after_step = listen;
    lab->config.hooks.filter = overhear;
    lab->config.hub.policy = preset_find(preset)->policy;
    lab->config.hub.every = EVERY;
    return lab;
}

static void open_with(struct lab *lab, const struct drifter *drifters,
                      unsigned count)
{
    char name[8];

    lab->config.hub.nodes = count;
    lab_open(lab, 1);
    for (unsigned i = 0; i < count; i++) {
        const struct model model = {drift, &drifters[i], 1, 0, NULL, NULL};

        (void)snprintf(name, sizeof name, "n%u", i + 1);
        (void)lab_add(lab, name, &model);
    }
}

/* Where the policy has led the first parameter after so many rounds. */
static double led_to(struct lab *lab, const struct drifter *drifters,
                     unsigned count, uint64_t rounds)
{
    open_with(lab, drifters, count);
    return lab_run_rounds(lab, rounds) ? lab_value(lab, rounds) : 0;
}

static const struct drifter three[3] = {
    {1, 3, 0, 0}, {2, 1, 0, 0}, {4, 2, 0, 0}};

/* ---- AP-9 ---- */

static void ap_09_all_the_mean_of_what_all_have_contributed(void)
{
    struct shown shown;
    struct lab *lab = lab_of("mean", &shown);

    CHECK_NEAR(3. * EVERY * 7 / 3, led_to(lab, three, 3, 3), 1e-5);
    lab_destroy(&lab);
}

static void ap_09_best_what_the_node_with_the_best_score_has(void)
{
    struct shown shown;
    struct lab *lab = lab_of("best", &shown);

    CHECK_NEAR(3 * EVERY * 2, led_to(lab, three, 3, 3), 0);
    CHECK_EQUAL(3, shown.verdicts[1][VERDICT_MERGED]);
    CHECK_EQUAL(0, shown.verdicts[0][VERDICT_MERGED]);
    CHECK_EQUAL(0, shown.verdicts[2][VERDICT_MERGED]);
    lab_destroy(&lab);
}

static void ap_09_better_those_with_better_scores_than_the_centre(void)
{
    struct shown shown;
    struct lab *lab = lab_of("better", &shown);

    lab->config.hooks.evaluate = two_and_a_half;
    CHECK_NEAR(3 * EVERY * 3, led_to(lab, three, 3, 3), 0);
    CHECK_EQUAL(0, shown.verdicts[0][VERDICT_MERGED]);
    lab_destroy(&lab);
}

/* Nothing is applied, and nothing is lost: the first round that somebody wins
 * merges all that has been learnt since the start. */
static void ap_09_where_nobody_is_chosen_nothing_is_applied_or_lost(void)
{
    static const struct drifter late[2] = {{1, 3, 0.5, 30}, {1, 3, 0.5, 30}};
    struct shown shown;
    struct lab *lab = lab_of("better", &shown);

    lab->config.hooks.evaluate = two_and_a_half;
    open_with(lab, late, 2);
    lab_run(lab, 3 * SECOND);
    CHECK(shown.rounds >= 6);
    CHECK_EQUAL(0, lab->version);
    CHECK_NEAR((double)trainer_iteration(world_trainer(lab->world, 0)),
               (double)trainer_values(world_trainer(lab->world, 0))[0], 0);
    lab_run_rounds(lab, 1);
    CHECK_NEAR(EVERY * shown.rounds, lab_value(lab, 1), 0);
    lab_destroy(&lab);
}

/* ---- AP-10 ---- */

static const struct drifter one_bad[4] = {
    {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 10, 0, 0}, {1, 1.001, 0, 0}};

static struct shown preempted(const char *rule, double spare, unsigned nodes)
{
    struct shown shown;
    struct lab *lab = lab_of("mean", &shown);

    lab->config.hub.policy.preempt = preempt_find(rule);
    lab->config.hub.policy.numbers.spare = spare;
    lab->config.hub.optimizer = OPTIMIZER_RESET;
    open_with(lab, one_bad, nodes);
    lab_run(lab, 20 * SECOND);
    CHECK(shown.rounds > 20);
    lab_destroy(&lab);
    return shown;
}

static void ap_10_the_worst_is_replaced_and_both_scores_are_told(void)
{
    struct shown often = preempted("margin", 2, 4);
    struct shown seldom = preempted("margin", 8, 4);

    CHECK(often.preempted >= 4);
    CHECK_TEXT("n3", often.victim);
    CHECK_CONTAINS("10.0000", often.preemption);
    CHECK_CONTAINS("1.0000", often.preemption);
    CHECK(seldom.preempted >= 1);
    CHECK(seldom.preempted < often.preempted);
    CHECK(seldom.preempted <= seldom.rounds / 8);
    CHECK_EQUAL(OPTIMIZER_RESET, often.optimizer);
    CHECK_TEXT("n3", preempted("quantile", 2, 4).victim);
}

static void ap_10_off_and_the_last_good_node_are_never_replaced(void)
{
    CHECK_EQUAL(0, preempted("off", 2, 4).preempted);
    CHECK_EQUAL(0, preempted("margin", 2, 2).preempted);
    CHECK_EQUAL(0, preempted("margin", 2, 1).preempted);
    CHECK_EQUAL(0, preempted("quantile", 2, 1).preempted);
}

/* ---- AP-11 ---- */

static void ap_11_of_equal_scores_the_lowest_node_is_the_best(void)
{
    static const struct drifter equal[3] = {
        {1, 1, 0, 0}, {2, 1, 0, 0}, {4, 1, 0, 0}};
    struct shown shown;
    struct lab *lab = lab_of("best", &shown);

    CHECK_NEAR(5 * EVERY, led_to(lab, equal, 3, 5), 0);
    lab_destroy(&lab);
}

/* ---- AP-14 ---- */

/* Bytes up-link of a round, of eight nodes. */
static uint64_t round_bytes(const char *preset)
{
    static const struct drifter eight[MOST] = {
        {1, 8, 0, 0}, {1, 7, 0, 0}, {1, 6, 0, 0}, {1, 5, 0, 0},
        {1, 4, 0, 0}, {1, 3, 0, 0}, {1, 2, 0, 0}, {1, 1, 0, 0}};
    struct shown shown;
    struct lab *lab = lab_of(preset, &shown);
    uint64_t bytes;

    (void)led_to(lab, eight, MOST, 10);
    bytes = shown.up_bytes / shown.rounds;
    lab_destroy(&lab);
    return bytes;
}

static void ap_14_best_costs_one_upload_a_round_whatever_n(void)
{
    CHECK_EQUAL(sizeof(float[MOST][ELEMENTS]), round_bytes("mean"));
    CHECK_EQUAL(sizeof(float[ELEMENTS]), round_bytes("best"));
    CHECK_EQUAL(sizeof(float[2][ELEMENTS]), round_bytes("top"));
    CHECK_EQUAL(sizeof(float[ELEMENTS]), round_bytes("lsgd"));
}

/* The first one goes the wrong way and says that its loss is 0. The others say
 * less than their tests do: in the first round the last one is tested, too,
 * and is the best; from then on it is known what it claims. */
static const struct drifter with_a_liar[3] = {
    {-1, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}};

static void ap_14_a_winner_that_lied_is_refuted_and_replaced(void)
{
    struct shown shown;
    struct lab *lab = lab_of("best", &shown);

    lab->config.hub.policy.reduce = &reduce_verified;
    lab->config.hooks.evaluate = distance;
    CHECK_NEAR(2 * EVERY + 4 * EVERY, led_to(lab, with_a_liar, 3, 5), 0);
    CHECK_EQUAL(5, shown.verdicts[0][VERDICT_REFUTED]);
    CHECK_EQUAL(4, shown.verdicts[1][VERDICT_MERGED]);
    CHECK_EQUAL(5, shown.uploads[0]);
    CHECK_EQUAL(5, shown.uploads[1]);
    CHECK_EQUAL(1, shown.uploads[2]);
    lab_destroy(&lab);
}

/* Where nobody tests it, it is believed as long as it is near to the others':
 * a boast is not. */
static void ap_14_without_held_out_data_a_score_is_believed(void)
{
    static const struct drifter near[3] = {
        {-1, 0.5, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}};

    for (unsigned i = 0; i < 2; i++) {
        struct shown shown;
        struct lab *lab = lab_of("best", &shown);

        CHECK_NEAR(i ? 5 * EVERY : -5 * EVERY,
                   led_to(lab, i ? with_a_liar : near, 3, 5), 0);
        CHECK_EQUAL(i ? 5 : 0, shown.verdicts[0][VERDICT_REFUTED]);
        lab_destroy(&lab);
    }
}

/* ---- T25 ---- */

static void t25_the_soup_leaves_a_poisoned_one_out(void)
{
    static const struct drifter poisoned[4] = {
        {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}, {-64, 0, 0, 0}};
    struct shown shown;
    struct lab *lab = lab_of("mean", &shown);

    lab->config.hub.policy.reduce = &reduce_soup;
    lab->config.hooks.evaluate = distance;
    CHECK_NEAR(5 * EVERY, led_to(lab, poisoned, 4, 5), 0);
    CHECK_EQUAL(5, shown.verdicts[3][VERDICT_REFUTED]);
    CHECK_EQUAL(5, shown.verdicts[0][VERDICT_MERGED]);
    lab_destroy(&lab);
}

void add_sim_selection_tests(CU_pSuite suite)
{
    TEST(ap_09_all_the_mean_of_what_all_have_contributed);
    TEST(ap_09_best_what_the_node_with_the_best_score_has);
    TEST(ap_09_better_those_with_better_scores_than_the_centre);
    TEST(ap_09_where_nobody_is_chosen_nothing_is_applied_or_lost);
    TEST(ap_10_the_worst_is_replaced_and_both_scores_are_told);
    TEST(ap_10_off_and_the_last_good_node_are_never_replaced);
    TEST(ap_11_of_equal_scores_the_lowest_node_is_the_best);
    TEST(ap_14_best_costs_one_upload_a_round_whatever_n);
    TEST(ap_14_a_winner_that_lied_is_refuted_and_replaced);
    TEST(ap_14_without_held_out_data_a_score_is_believed);
    TEST(t25_the_soup_leaves_a_poisoned_one_out);
}
