#include "hub/configure.h"

#include <string.h>

#include "codec/codec.h"
#include "tests/check.h"

static struct options options;
static struct hub_config config;
static struct why why;

static void set(const char *name, const char *text)
{
    CHECK_OK(
        options_set(&options, PROGRAM_HUB, name, text, OPTION_ARGUMENT, &why));
}

static void start(const char *policy)
{
    options_defaults(&options);
    memset(&config, 0, sizeof config);
    why = (struct why){""};
    set("policy", policy);
}

static enum status configure(const char *policy, const char *up,
                             const char *down)
{
    start(policy);
    if (*up)
        set("codec-up", up);
    if (*down)
        set("codec-down", down);
    return hub_configure(&options, &config, &why);
}

static enum status configure_cut(const char *policy, const char *tasks)
{
    options_defaults(&options);
    memset(&config, 0, sizeof config);
    why = (struct why){""};
    set("policy", policy);
    set("miss", "cut");
    set("tasks", tasks);
    return hub_configure(&options, &config, &why);
}

static void only_progress_can_be_cut(void)
{
    CHECK_OK(configure_cut("diloco", "0"));
    CHECK_EQUAL(MISS_CUT, config.miss);
    CHECK_STATUS(STATUS_CONFIG, configure_cut("easgd", "0"));
    CHECK_CONTAINS("--miss cut and --policy easgd: what is cut off", why.text);
    CHECK_STATUS(STATUS_CONFIG, configure_cut("krum", "0"));
    CHECK_STATUS(STATUS_CONFIG, configure_cut("diloco", "10"));
    CHECK_CONTAINS("merged as a whole", why.text);
}

static void check_tempo(uint64_t every, uint64_t delay, bool is_free)
{
    CHECK_OK(hub_configure(&options, &config, &why));
    CHECK_EQUAL(every, config.every);
    CHECK_EQUAL(delay, config.delay);
    CHECK_EQUAL(is_free, config.free_every);
    CHECK_EQUAL(is_free, config.free_delay);
}

/* One that begins small and is never chosen anew would stay small. */
static void k_and_d_begin_small_only_where_they_are_chosen(void)
{
    start("auto");
    check_tempo(5, 2, true);
    set("fragments", "4");
    check_tempo(20, 4, false);
    start("auto");
    set("miss", "cut");
    check_tempo(20, 4, false);
    start("diloco");
    check_tempo(20, 4, false);
}

static bool is_paced(const char *option, const char *value)
{
    start("auto");
    if (option)
        set(option, value);
    CHECK_OK(hub_configure(&options, &config, &why));
    return config.dylu;
}

static void k_follows_the_speed_where_it_is_chosen(void)
{
    CHECK(is_paced(NULL, NULL));
    CHECK(!is_paced("dylu", "no"));
    CHECK(!is_paced("every", "20"));
    CHECK(is_paced("delay", "4"));
    CHECK(!is_paced("policy", "mean"));
}

static void check_merge_numbers(const char *policy, const char *merge,
                                double outer_lr, double outer_momentum,
                                double pull)
{
    const struct policy_numbers *numbers = &config.policy.numbers;

    start(policy);
    set("merge", merge);
    CHECK_OK(hub_configure(&options, &config, &why));
    CHECK_TEXT(merge, config.policy.merge->name);
    CHECK_NEAR(outer_lr, numbers->outer_lr, 0);
    CHECK_NEAR(outer_momentum, numbers->outer_momentum, 0);
    CHECK_NEAR(pull, numbers->pull, 0);
}

/* auto's step of 1.25 with 0.5 would be one of 2.5 by mean's rule, and mean's
 * pull a tenth of the way by Schedule-Free's. */
static void numbers_go_with_the_merge_rule(void)
{
    check_merge_numbers("auto", "schedule-free", 1.25, 0.5, 0);
    check_merge_numbers("auto", "mean", 1, 0, 0.1);
    check_merge_numbers("mean", "schedule-free", 1.25, 0.5, 0);
    check_merge_numbers("mean", "adam", 0.01, 0.9, 0);
    check_merge_numbers("diloco", "heloco", 0.7, 0.9, 0.1);
    start("auto");
    set("merge", "mean");
    set("outer-lr", "0.7");
    CHECK_OK(hub_configure(&options, &config, &why));
    CHECK_NEAR(0.7, config.policy.numbers.outer_lr, 0);
}

/* What is sent where no codec is named. */
static void check_default(const char *policy, enum codec_id up,
                          enum codec_id down)
{
    CHECK_OK(configure(policy, "", ""));
    CHECK_TEXT(codecs[up].name, codecs[config.codec_up].name);
    CHECK_TEXT(codecs[down].name, codecs[config.codec_down].name);
}

static void t20_changes_are_int8_unless_something_else_is_said(void)
{
    check_default("mean", CODEC_INT8, CODEC_INT8);
    check_default("diloco", CODEC_INT8, CODEC_INT8);
    check_default("streaming", CODEC_INT8, CODEC_INT8);
    check_default("best", CODEC_INT8, CODEC_INT8);
    CHECK_OK(configure("diloco", "raw", "raw"));
    CHECK_EQUAL(CODEC_RAW, config.codec_up);
    CHECK_EQUAL(CODEC_RAW, config.codec_down);
    CHECK_OK(configure("diloco", "", "f16"));
    CHECK_EQUAL(CODEC_INT8, config.codec_up);
    CHECK_EQUAL(CODEC_F16, config.codec_down);
}

static void t20_results_that_cannot_be_changes_are_raw(void)
{
    check_default("async", CODEC_INT8, CODEC_RAW);
    check_default("downpour", CODEC_INT8, CODEC_RAW);
}

static void presets_of_few_bytes_have_codecs_of_their_own(void)
{
    check_default("lean", CODEC_SIGN, CODEC_SIGN);
    check_default("sparse", CODEC_SPARSE, CODEC_SIGN);
    CHECK_OK(configure("lean", "int4", ""));
    CHECK_EQUAL(CODEC_INT4, config.codec_up);
    CHECK_EQUAL(CODEC_SIGN, config.codec_down);
    start("lean");
    set("gate", "async"); /* not all get the same */
    CHECK_OK(hub_configure(&options, &config, &why));
    CHECK_EQUAL(CODEC_SIGN, config.codec_up);
    CHECK_EQUAL(CODEC_RAW, config.codec_down);
}

static void t20_gradients_and_parameters_are_raw(void)
{
    static const char *const raw[] = {"ddp", "easgd", "easgd-async", "lsgd",
                                      "pbt"};

    for (unsigned i = 0; i < sizeof raw / sizeof *raw; i++)
        check_default(raw[i], CODEC_RAW, CODEC_RAW);
    start("diloco");
    set("exchange", "gradient");
    set("outer-lr", "0.1");
    CHECK_OK(hub_configure(&options, &config, &why));
    CHECK_EQUAL(CODEC_RAW, config.codec_up);
    CHECK_EQUAL(CODEC_RAW, config.codec_down);
}

static void check_refusal(const char *policy, const char *option,
                          const char *value, const char *words)
{
    start(policy);
    set(option, value);
    CHECK_STATUS(STATUS_CONFIG, hub_configure(&options, &config, &why));
    CHECK_CONTAINS(words, why.text);
}

/* They would learn nothing, or lose what is learnt, without a word. */
static void what_cannot_learn_is_refused(void)
{
    check_refusal("diloco", "exchange", "gradient", "say --outer-lr");
    check_refusal("ddp", "exchange", "delta", "say --outer-lr");
    check_refusal("sparse", "reduce", "median", "--codec-up int8");
    check_refusal("robust", "codec-up", "top1", "--codec-up int8");
    check_refusal("best", "tasks", "10", "such as auto");
    check_refusal("multi-krum", "tasks", "10", "such as auto");
    start("verified");
    set("tasks", "10");
    CHECK_OK(hub_configure(&options, &config, &why));
}

static void t20_every_preset_goes_with_the_codecs_it_has(void)
{
    for (unsigned i = 0; i < preset_count; i++) {
        CHECK_OK(configure(presets[i].name, "", ""));
        CHECK(config.codec_down == CODEC_RAW ||
              !configure_changes_conflict(&config.policy));
        CHECK(config.codec_up == CODEC_RAW ||
              config.policy.exchange == EXCHANGE_DELTA);
    }
}

static void each_way_has_its_codec(void)
{
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        CHECK_OK(configure("diloco", codecs[i].name, "bf16"));
        CHECK_EQUAL(i, config.codec_up);
        CHECK_EQUAL(CODEC_BF16, config.codec_down);
        CHECK_OK(configure("diloco", "int4", codecs[i].name));
        CHECK_EQUAL(CODEC_INT4, config.codec_up);
        CHECK_EQUAL(i, config.codec_down);
    }
}

static void of_an_unknown_codec_all_that_there_are_are_named(void)
{
    CHECK_STATUS(STATUS_USAGE, configure("diloco", "int7", ""));
    CHECK_CONTAINS("--codec-up int7: there is no such codec", why.text);
    for (unsigned i = 0; i < CODEC_COUNT; i++)
        CHECK_CONTAINS(codecs[i].name, why.text);
    CHECK_STATUS(STATUS_USAGE, configure("diloco", "int8", "RAW"));
    CHECK_CONTAINS("--codec-down RAW: ", why.text);
}

static void an_unknown_policy_is_blamed_on_what_has_named_it(void)
{
    options_defaults(&options);
    set("config", "lab.conf");
    CHECK_OK(options_set(&options, PROGRAM_HUB, "policy", "typo", OPTION_CONFIG,
                         &why));
    CHECK_STATUS(STATUS_CONFIG, hub_configure(&options, &config, &why));
    CHECK_CONTAINS("lab.conf: policy = typo: there is no such", why.text);
    CHECK_OK(options_set(&options, PROGRAM_HUB, "policy", "typo",
                         OPTION_ENVIRONMENT, &why));
    CHECK_STATUS(STATUS_CONFIG, hub_configure(&options, &config, &why));
    CHECK_CONTAINS("STARSWITCH_POLICY=typo: there is no such", why.text);
    set("policy", "typo");
    CHECK_STATUS(STATUS_USAGE, hub_configure(&options, &config, &why));
    CHECK_CONTAINS("--policy typo: there is no such", why.text);
}

static void parameters_are_encoded_by_what_is_for_all(void)
{
    for (unsigned i = 0; i < CODEC_COUNT; i++)
        CHECK_STATUS(codecs[i].use == CODEC_FOR_ALL ? STATUS_OK : STATUS_CONFIG,
                     configure("lsgd", codecs[i].name, ""));
    CHECK_STATUS(STATUS_CONFIG, configure("lsgd", "sign", ""));
    CHECK_CONTAINS("--codec-up sign is for changes and gradients", why.text);
    CHECK_CONTAINS("--policy lsgd", why.text);
}

static void encoded_results_need_that_all_nodes_get_the_same(void)
{
    CHECK_STATUS(STATUS_CONFIG, configure("async", "", "f16"));
    CHECK_CONTAINS("--codec-down f16", why.text);
    CHECK_CONTAINS("--policy async", why.text);
    CHECK_OK(configure("async", "int8", ""));
    CHECK_OK(configure("async", "int8", "raw"));
}

static void t20_changes_are_for_policies_that_send_all_nodes_the_centre(void)
{
    static const char *const fit[] = {"mean", "diloco", "ddp", "streaming",
                                      "best"};
    static const struct {
        const char *policy, *words;
    } unfit[] = {{"downpour", "these get different ones"},
                 {"pbt", "these get different ones"},
                 {"easgd", "must get the centre as it is"}};

    for (unsigned i = 0; i < 5; i++) {
        CHECK_OK(configure(fit[i], "", "int8"));
        CHECK_EQUAL(CODEC_INT8, config.codec_down);
    }
    for (unsigned i = 0; i < 3; i++) {
        CHECK_STATUS(STATUS_CONFIG, configure(unfit[i].policy, "", "int8"));
        CHECK_CONTAINS(unfit[i].words, why.text);
    }
}

void add_hub_configure_tests(CU_pSuite suite)
{
    TEST(t20_changes_are_int8_unless_something_else_is_said);
    TEST(t20_results_that_cannot_be_changes_are_raw);
    TEST(presets_of_few_bytes_have_codecs_of_their_own);
    TEST(t20_gradients_and_parameters_are_raw);
    TEST(k_follows_the_speed_where_it_is_chosen);
    TEST(numbers_go_with_the_merge_rule);
    TEST(k_and_d_begin_small_only_where_they_are_chosen);
    TEST(t20_every_preset_goes_with_the_codecs_it_has);
    TEST(what_cannot_learn_is_refused);
    TEST(only_progress_can_be_cut);
    TEST(each_way_has_its_codec);
    TEST(of_an_unknown_codec_all_that_there_are_are_named);
    TEST(an_unknown_policy_is_blamed_on_what_has_named_it);
    TEST(parameters_are_encoded_by_what_is_for_all);
    TEST(encoded_results_need_that_all_nodes_get_the_same);
    TEST(t20_changes_are_for_policies_that_send_all_nodes_the_centre);
}
