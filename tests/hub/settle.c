#include "hub/settle.h"

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

static enum status settle(const char *policy, const char *up, const char *down)
{
    options_defaults(&options);
    memset(&config, 0, sizeof config);
    why = (struct why){""};
    set("policy", policy);
    if (*up)
        set("codec-up", up);
    if (*down)
        set("codec-down", down);
    return hub_settle(&options, &config, &why);
}

static void without_a_word_nothing_is_encoded(void)
{
    CHECK_OK(settle("diloco", "", ""));
    CHECK_EQUAL(CODEC_RAW, config.codec_up);
    CHECK_EQUAL(CODEC_RAW, config.codec_down);
}

static void each_way_has_its_codec(void)
{
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        CHECK_OK(settle("diloco", codecs[i].name, "bf16"));
        CHECK_EQUAL(i, config.codec_up);
        CHECK_EQUAL(CODEC_BF16, config.codec_down);
        CHECK_OK(settle("diloco", "int4", codecs[i].name));
        CHECK_EQUAL(CODEC_INT4, config.codec_up);
        CHECK_EQUAL(i, config.codec_down);
    }
}

static void of_an_unknown_codec_all_that_there_are_are_named(void)
{
    CHECK_STATUS(STATUS_USAGE, settle("diloco", "int7", ""));
    CHECK_CONTAINS("--codec-up int7: there is no such codec", why.text);
    for (unsigned i = 0; i < CODEC_COUNT; i++)
        CHECK_CONTAINS(codecs[i].name, why.text);
    CHECK_STATUS(STATUS_USAGE, settle("diloco", "int8", "RAW"));
    CHECK_CONTAINS("--codec-down RAW: ", why.text);
}

static void parameters_are_encoded_by_what_is_for_all(void)
{
    for (unsigned i = 0; i < CODEC_COUNT; i++)
        CHECK_STATUS(codecs[i].use == CODEC_FOR_ALL ? STATUS_OK : STATUS_CONFIG,
                     settle("lsgd", codecs[i].name, ""));
    CHECK_STATUS(STATUS_CONFIG, settle("lsgd", "sign", ""));
    CHECK_CONTAINS("--codec-up sign is for changes and gradients", why.text);
    CHECK_CONTAINS("--policy lsgd", why.text);
}

static void encoded_results_need_that_all_nodes_get_the_same(void)
{
    CHECK_STATUS(STATUS_CONFIG, settle("async", "", "f16"));
    CHECK_CONTAINS("--codec-down f16", why.text);
    CHECK_CONTAINS("--policy async", why.text);
    CHECK_OK(settle("async", "int8", ""));
    CHECK_OK(settle("async", "int8", "raw"));
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
        CHECK_OK(settle(fit[i], "", "int8"));
        CHECK_EQUAL(CODEC_INT8, config.codec_down);
    }
    for (unsigned i = 0; i < 3; i++) {
        CHECK_STATUS(STATUS_CONFIG, settle(unfit[i].policy, "", "int8"));
        CHECK_CONTAINS(unfit[i].words, why.text);
    }
}

void add_hub_settle_tests(CU_pSuite suite)
{
    TEST(without_a_word_nothing_is_encoded);
    TEST(each_way_has_its_codec);
    TEST(of_an_unknown_codec_all_that_there_are_are_named);
    TEST(parameters_are_encoded_by_what_is_for_all);
    TEST(encoded_results_need_that_all_nodes_get_the_same);
    TEST(t20_changes_are_for_policies_that_send_all_nodes_the_centre);
}
