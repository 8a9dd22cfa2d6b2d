#include "sim/study/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "hub/configure.h"
#include "tests/check.h"

/* Options of starswitch-sim tune, as words. */
static struct options options_of(const char *line)
{
    char words[512], *list[32] = {words}, *rest = NULL;
    struct options options;
    struct why why = {""};
    int count = 1;

    (void)snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok_r(words, " ", &rest); word && count < 32;
         word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    options_defaults(&options);
    CHECK_OK(options_parse_arguments(&options, PROGRAM_SIM, count, list, &why));
    return options;
}

static struct tune *open_with(const char *line)
{
    struct options options = options_of(line);
    struct tune *tune = NULL;
    struct why why = {""};

    CHECK_OK(tune_open(&options, &tune, &why));
    CHECK_TEXT("", why.text);
    return tune;
}

#define SMALL                                                                  \
    "--nodes 3 --params 2M --step-time 100ms --rate 100Mbit "                  \
    "--port 100Mbit --seeds 1 "

/* ---- enumerating ---- */

static void some_hundred_settings_are_predicted_and_the_best_is_first(void)
{
    struct tune *tune = open_with(SMALL);
    bool async = false, fine = false, coarse = false;

    if (!tune)
        return;
    CHECK(tune->count > 300);
    for (unsigned i = 0; i < tune->count; i++) {
        const struct tune_row *row = &tune->rows[i];

        async |= row->setting.policy == PLAN_ASYNC;
        fine |= row->setting.up == CODEC_RAW;
        coarse |= row->setting.up == CODEC_INT4;
        CHECK(row->setting.delay * 2 <= row->setting.every);
        CHECK(row->plan.speed_up <= tune->rows[0].plan.speed_up * 1.001);
        CHECK(!row->setting.delay || row->setting.every >= row->plan.floor);
    }
    CHECK(async && fine && coarse);
    tune_close(&tune);
}

static void what_is_given_is_not_varied(void)
{
    struct tune *tune = open_with(SMALL "--every 30 --delay 4 --fragments 2 "
                                        "--codec-up int8 --policy diloco");

    if (!tune)
        return;
    for (unsigned i = 0; i < tune->count; i++) {
        const struct plan_setting *setting = &tune->rows[i].setting;

        CHECK_EQUAL(30, setting->every);
        CHECK_EQUAL(4, setting->delay);
        CHECK_EQUAL(2, setting->fragments);
        CHECK_EQUAL(CODEC_INT8, setting->up);
        CHECK_EQUAL(PLAN_DILOCO, setting->policy);
    }
    CHECK_EQUAL(4, tune->count); /* codecs down */
    tune_close(&tune);
}

static void a_policy_that_was_not_measured_is_refused(void)
{
    struct options options = options_of(SMALL "--policy easgd");
    struct tune *tune = NULL;
    struct why why = {""};

    CHECK_STATUS(STATUS_USAGE, tune_open(&options, &tune, &why));
    CHECK_CONTAINS("tune knows auto, mean, diloco, delayed and async",
                   why.text);
    CHECK(tune == NULL);
}

static void faults_are_refused(void)
{
    struct options options = options_of(SMALL "--scenario faults");
    struct tune *tune = NULL;
    struct why why = {""};

    CHECK_STATUS(STATUS_USAGE, tune_open(&options, &tune, &why));
    CHECK_CONTAINS("--scenario: tune measures a star", why.text);
    CHECK(tune == NULL);
}

static void a_trial_without_a_word_has_died(void)
{
    const struct trial trials[2] = {{.done = true}, {.done = false}};
    struct trial mean;

    trial_mean(trials, 2, &mean);
    CHECK(!mean.done);
    CHECK_TEXT("its process died", mean.trouble);
}

/* 2000 iterations: k <= 100 leaves 20 rounds; below 100 rounds momentum is
 * 0.5. */
static void a_budget_bounds_k_and_momentum(void)
{
    struct tune *tune = open_with(SMALL "--iterations 2000");
    struct plan_setting setting = {.policy = PLAN_DILOCO, .every = 20};

    if (!tune)
        return;
    for (unsigned i = 0; i < tune->count; i++)
        CHECK(tune->rows[i].setting.every <= 100);
    CHECK(isnan(tune_momentum(tune, &setting)));
    setting.every = 50;
    CHECK_NEAR(0.5, tune_momentum(tune, &setting), 0);
    tune_close(&tune);
}

static bool is_paced(const struct options *options)
{
    static struct hub_config config;
    struct why why;

    return hub_configure(options, &config, &why) == STATUS_OK && config.dylu;
}

/* What is printed is what was played. */
static void the_hub_understands_the_command_line(void)
{
    struct tune *tune = open_with(SMALL "--iterations 2000 --speeds 1,0.5");
    const struct plan_setting setting = {PLAN_DILOCO, true,     true, 50, 7, 4,
                                         CODEC_INT4,  CODEC_F16};
    char bytes[512], *words[32], *rest = NULL;
    struct options hub, played;
    struct why why = {""};
    struct text text;
    int count = 0;

    if (!tune)
        return;
    text_init(&text, bytes, sizeof bytes);
    tune_command(tune, &setting, &text);
    CHECK_CONTAINS("starswitch-hub --nodes 3 --policy diloco", bytes);
    for (char *word = strtok_r(bytes, " ", &rest); word && count < 32;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    options_defaults(&hub);
    CHECK_OK(options_parse_arguments(&hub, PROGRAM_HUB, count, words, &why));
    tune_apply(tune, &setting, &played);
    CHECK_EQUAL(played.star_nodes, hub.nodes);
    CHECK_EQUAL(played.every, hub.every);
    CHECK_EQUAL(played.delay, hub.delay);
    CHECK_EQUAL(played.fragments, hub.fragments);
    CHECK_EQUAL(played.dylu, hub.dylu);
    CHECK(is_paced(&played) && is_paced(&hub));
    CHECK_TEXT(played.policy, hub.policy);
    CHECK_TEXT(played.codec_up, hub.codec_up);
    CHECK_TEXT(played.codec_down, hub.codec_down);
    CHECK_NEAR(played.outer_momentum, hub.outer_momentum, 0);
    tune_close(&tune);
}

/* ---- playing ---- */

/* Iterations a second of this setting by both, and how many it delays. */
static void check_play(struct tune *tune, const struct plan_setting *setting,
                       double tolerance)
{
    unsigned row = tune_add(tune, setting);
    const struct tune_row *played;

    if (!CHECK(tune_try(tune, &row, 1, 1, NULL)))
        return;
    played = &tune->rows[row];
    CHECK_TEXT("", played->trial.trouble);
    CHECK_NEAR(played->plan.rate, played->trial.rate,
               tolerance * played->plan.rate);
    CHECK_NEAR(played->plan.used, played->trial.used, tolerance);
    CHECK_NEAR(played->plan.every, played->trial.every,
               0.05 * played->plan.every);
    CHECK_NEAR(played->plan.up, played->trial.up, 0.06 * played->plan.up);
}

/* 2 M parameters of 3 nodes take 2.2 s of 12.5 MB/s in float32. */
static void plays_come_to_what_closed_forms_say(void)
{
    struct tune *tune = open_with(SMALL "--miss wait");
    struct plan_setting setting = {PLAN_DILOCO, false, true,      50,
                                   0,           1,     CODEC_RAW, CODEC_RAW};

    if (!tune)
        return;
    check_play(tune, &setting, 0.02);
    setting.delay = 10;
    check_play(tune, &setting, 0.02);
    setting.delay = 25;
    check_play(tune, &setting, 0.02);
    setting.up = setting.down = CODEC_INT8;
    setting.delay = 2;
    check_play(tune, &setting, 0.02);
    setting.fragments = 2;
    setting.delay = 10;
    check_play(tune, &setting, 0.02);
    setting.delay = 0;
    check_play(tune, &setting, 0.02);
    tune_close(&tune);
}

static void a_late_result_is_measured_as_a_longer_delay(void)
{
    struct tune *tune = open_with(SMALL);
    const struct plan_setting setting = {PLAN_DILOCO, false,    false, 50, 5, 1,
                                         CODEC_RAW,   CODEC_RAW};
    unsigned row;

    if (!tune)
        return;
    row = tune_add(tune, &setting);
    CHECK(tune_try(tune, &row, 1, 1, NULL));
    CHECK_NEAR(tune->rows[row].plan.delay, tune->rows[row].trial.delay, 2);
    CHECK(tune->rows[row].trial.delay > 20);
    CHECK_NEAR(10, tune->rows[row].trial.rate, 0.1);
    tune_close(&tune);
}

/* Results are late there, and nodes take the centre one after the other. */
static void what_is_promised_for_slow_links_is_what_plays_come_to(void)
{
    static const char *const stars[] = {
        "--nodes 2 --params 5M --step-time 500ms --rate 1Mbit --seeds 1",
        "--nodes 4 --params 1M --step-time 200ms --rate 0.5Mbit --seeds 1",
        "--nodes 4 --params 1M --step-time 200ms --rate 5Mbit --seeds 1",
        "--nodes 8 --params 1M --step-time 50ms --rate 2Mbit --seeds 1"};

    for (unsigned i = 0; i < sizeof stars / sizeof *stars; i++) {
        struct tune *tune = open_with(stars[i]);
        const struct tune_row *best;

        if (!tune)
            return;
        CHECK(tune_search(tune, 0, NULL));
        best = &tune->rows[tune->best];
        CHECK_NEAR(best->plan.speed_up, best->speed_up, 0.15 * best->speed_up);
        CHECK_NEAR(best->plan.every, best->trial.every,
                   0.15 * best->trial.every);
        CHECK_NEAR(best->plan.delay, best->trial.delay,
                   0.25 * best->trial.delay);
        tune_close(&tune);
    }
}

/* All of a small grid, also what is too often for the network. */
static double best_of_sweep(void)
{
    static const unsigned ks[] = {5, 20, 50, 200};
    static const enum codec_id wires[] = {CODEC_RAW, CODEC_INT8};
    struct tune *tune = open_with(SMALL);
    unsigned rows[64], count = 0;
    double best = 0;

    if (!tune)
        return 0;
    for (unsigned k = 0; k < 4; k++)
        for (unsigned d = 0; d < 3; d++)
            for (unsigned codec = 0; codec < 2; codec++) {
                const struct plan_setting setting = {
                    PLAN_DILOCO,   false, false,        ks[k],
                    ks[k] * d / 4, 1,     wires[codec], wires[codec]};

                rows[count++] = tune_add(tune, &setting);
            }
    CHECK(tune_try(tune, rows, count, 0, NULL));
    for (unsigned i = 0; i < count; i++)
        best = fmax(best, tune->rows[rows[i]].speed_up);
    tune_close(&tune);
    return best;
}

static void the_choice_is_within_a_tenth_of_the_best_of_a_sweep(void)
{
    struct tune *tune = open_with(SMALL);
    double best = best_of_sweep();

    if (!tune)
        return;
    CHECK(tune_search(tune, 0, NULL));
    CHECK(best > 1);
    CHECK(tune->rows[tune->best].speed_up >= 0.9 * best);
    CHECK(tune->tried <= 40);
    tune_close(&tune);
}

/* Twenty million parameters over 2 Mbit/s, and steps of 20 ms. */
static void a_hopeless_network_is_not_simulated(void)
{
    struct tune *tune = open_with("--nodes 2 --params 20M --step-time 20ms "
                                  "--rate 2Mbit --port 2Mbit");

    if (!tune)
        return;
    CHECK(tune->rows[0].plan.speed_up < 0.2);
    CHECK(tune_search(tune, 0, NULL));
    CHECK_EQUAL(0, tune->tried);
    tune_close(&tune);
}

/* Without noise in gradients a second PC has nothing to add. */
static void one_pc_is_enough_where_others_are_worth_nothing(void)
{
    struct tune *tune = open_with(SMALL "--noise-scale 0 --every 50");

    if (!tune)
        return;
    CHECK(tune_search(tune, 0, NULL));
    CHECK(tune->tried > 0);
    CHECK(tune->rows[tune->best].trial.done);
    CHECK(tune->rows[tune->best].speed_up < TUNE_LEAST);
    CHECK(tune->rows[tune->best].speed_up > TUNE_HOPELESS);
    tune_close(&tune);
}

static void of_two_that_are_close_the_one_with_less_traffic_is_best(void)
{
    struct tune_row rows[4] = {{.speed_up = 3, .trial = {.up = 9}},
                               {.speed_up = 2.98, .trial = {.up = 5}},
                               {.speed_up = 2.9, .trial = {.up = 1}},
                               {.speed_up = 0}};
    const struct tune tune = {.rows = rows, .count = 4};

    CHECK_EQUAL(1, tune_best(&tune));
    rows[2] = (struct tune_row){.speed_up = 2.99, .trial = {.up = 5.01}};
    CHECK_EQUAL(2, tune_best(&tune)); /* as much, and faster */
    rows[0].speed_up = 3.1;
    CHECK_EQUAL(0, tune_best(&tune));
}

/* ---- why ---- */

static void what_binds_is_named(void)
{
    struct tune tune = {.star = {.nodes = 4,
                                 .params = 10e6,
                                 .step = 0.1,
                                 .slowest = 0.1,
                                 .fastest = 0.1,
                                 .port = 100e6,
                                 .link = INFINITY,
                                 .k_half = 400,
                                 .noise_scale = 32}};
    struct plan_setting setting = {PLAN_DILOCO, false, false,     18,
                                   9,           1,     CODEC_RAW, CODEC_RAW};

    CHECK_EQUAL(TUNE_BY_FLOOR, tune_bound(&tune, &setting));
    setting.every = 50;
    setting.delay = 20;
    CHECK_EQUAL(TUNE_BY_HIDING, tune_bound(&tune, &setting));
    setting.every = 500;
    CHECK_EQUAL(TUNE_BY_LEARNING, tune_bound(&tune, &setting));
    tune.star.slowest = 0.2;
    CHECK_EQUAL(TUNE_BY_STRAGGLER, tune_bound(&tune, &setting));
}

void add_sim_study_tune_tests(CU_pSuite suite)
{
    TEST(some_hundred_settings_are_predicted_and_the_best_is_first);
    TEST(what_is_given_is_not_varied);
    TEST(a_policy_that_was_not_measured_is_refused);
    TEST(faults_are_refused);
    TEST(a_trial_without_a_word_has_died);
    TEST(a_budget_bounds_k_and_momentum);
    TEST(the_hub_understands_the_command_line);
    TEST(plays_come_to_what_closed_forms_say);
    TEST(a_late_result_is_measured_as_a_longer_delay);
    TEST(what_is_promised_for_slow_links_is_what_plays_come_to);
    TEST(the_choice_is_within_a_tenth_of_the_best_of_a_sweep);
    TEST(a_hopeless_network_is_not_simulated);
    TEST(one_pc_is_enough_where_others_are_worth_nothing);
    TEST(of_two_that_are_close_the_one_with_less_traffic_is_best);
    TEST(what_binds_is_named);
}
