#include "train/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "tests/check.h"
#include "tests/store/folder.h"

static struct spec spec;
static struct why why;

static void check_refused(enum spec_model model, const char *text,
                          const char *words)
{
    CHECK_STATUS(STATUS_USAGE, spec_parse(text, model, &spec, &why));
    CHECK_CONTAINS(words, why.text);
}

static void check_widths(const char *text, const char *widths)
{
    char printed[100];

    if (!CHECK_OK(spec_parse(text, SPEC_MLP, &spec, &why)) ||
        !CHECK_OK(spec_complete(&spec, 784, 10, &why)))
        return;
    spec_print_widths(&spec, printed, sizeof printed);
    CHECK_TEXT(widths, printed);
}

static void widths_are_given_or_found_in_the_data(void)
{
    check_widths("", "784-128-10");
    check_widths("64", "784-64-10");
    check_widths("784-10", "784-10");
    check_widths("784-32-16-10", "784-32-16-10");
    check_widths("784-32-12", "784-32-12");
    check_widths("hidden=32-16", "784-32-16-10");
    check_widths("batch=1", "784-128-10");
}

/* What docs/trainers.md says of each setting. */
#define MLP (1U << SPEC_MLP)
#define CNN (1U << SPEC_CNN)
#define LM (1U << SPEC_LM)
#define GPT (1U << SPEC_GPT)
#define TEXT (LM | GPT)
#define ALL (MLP | CNN | TEXT)
static const struct {
    const char *name, *doc;
    unsigned models;
    double defaults[SPEC_MODELS];
} documented[] = {
#define NUMBER(ID, name, kind, models, least, most, mlp, cnn, lm, gpt, doc)    \
    {#name, doc, models, {mlp, cnn, lm, gpt}},
#include "train/numbers.def"
#undef NUMBER
};

static void the_page_on_trainers_has_every_setting(void)
{
    char row[200];
    struct text text;
    size_t size = 0;
    char *page = file_content("docs/trainers.md", &size);

    if (!CHECK(page != NULL))
        return;
    for (size_t i = 0; i < sizeof documented / sizeof *documented; i++) {
        text_init(&text, row, sizeof row);
        text_add(&text, "\n| %s |", documented[i].name);
        for (unsigned m = 0; m < SPEC_MODELS; m++)
            if (documented[i].models >> m & 1)
                text_add(&text, " %g |", documented[i].defaults[m]);
            else
                text_add(&text, " |");
        text_add(&text, " %s |\n", documented[i].doc);
        CHECK_CONTAINS(row, page);
    }
    for (unsigned i = 0; i < OPTIMIZERS; i++) {
        (void)snprintf(row, sizeof row, "`%s` (lr %g)", optimizer_rows[i].name,
                       optimizer_rows[i].rate);
        CHECK_CONTAINS(row, page);
    }
    free(page);
}

static void widths_that_do_not_fit_the_data_are_refused(void)
{
    CHECK_OK(spec_parse("28-10", SPEC_MLP, &spec, &why));
    CHECK_STATUS(STATUS_CONFIG, spec_complete(&spec, 784, 10, &why));
    CHECK_CONTAINS("takes 28 numbers but the data has 784", why.text);
    CHECK_OK(spec_parse("784-9", SPEC_MLP, &spec, &why));
    CHECK_STATUS(STATUS_CONFIG, spec_complete(&spec, 784, 10, &why));
    CHECK_CONTAINS("tells 9 classes apart but the data has 10", why.text);
}

static void settings_are_read(void)
{
    struct optimizer_settings optimizer;

    if (!CHECK_OK(spec_parse("8,batch=4,optimizer=sgd,lr=0.5,momentum=0.25,"
                             "weight_decay=0.125",
                             SPEC_MLP, &spec, &why)))
        return;
    optimizer = spec_optimizer(&spec);
    CHECK_NEAR(4, spec.number[SPEC_BATCH], 0);
    CHECK_EQUAL(OPTIMIZER_SGD, optimizer.kind);
    CHECK_NEAR(0.5, optimizer.rate, 0);
    CHECK_NEAR(0.25, optimizer.momentum, 0);
    CHECK_NEAR(0.125, optimizer.decay, 0);
}

static void each_optimizer_has_its_own_default_rate(void)
{
    for (unsigned i = 0; i < OPTIMIZERS; i++) {
        char text[40] = "optimizer=";

        memcpy(text + 10, optimizer_rows[i].name,
               strlen(optimizer_rows[i].name) + 1);
        CHECK_OK(spec_parse(text, SPEC_LM, &spec, &why));
        CHECK_NEAR(optimizer_rows[i].rate, spec.number[SPEC_RATE], 0);
    }
}

static void the_shape_of_a_gpt_is_read(void)
{
    if (!CHECK_OK(spec_parse("T32-L2,heads=8", SPEC_GPT, &spec, &why)))
        return;
    CHECK_NEAR(2, spec.number[SPEC_LAYERS], 0);
    CHECK_NEAR(128, spec.number[SPEC_WIDTH], 0);
    CHECK_NEAR(8, spec.number[SPEC_HEADS], 0);
    CHECK_NEAR(32, spec.number[SPEC_CONTEXT], 0);
    check_refused(SPEC_GPT, "L4-D", "'L4-D' is not a shape");
    check_refused(SPEC_GPT, "L4-", "like L4-D128-H4-T64");
    check_refused(SPEC_GPT, "L0", "not a shape");
    check_refused(SPEC_GPT, "T1025", "not a shape");
    check_refused(SPEC_GPT, "X4", "not a shape");
    check_refused(SPEC_GPT, "L+4", "not a shape");
    check_refused(SPEC_GPT, "L4D8", "not a shape");
    check_refused(SPEC_GPT, "12-8", "not a shape");
    check_refused(SPEC_GPT, "hidden=8", "'hidden' is not a setting");
    check_refused(SPEC_LM, "layers=8", "'layers' is not a setting");
}

static void check_shape(const char *text, size_t channels, size_t last,
                        size_t widths, size_t hidden)
{
    if (!CHECK_OK(spec_parse(text, SPEC_CNN, &spec, &why)))
        return;
    CHECK_EQUAL(channels, spec.channel_count);
    CHECK_EQUAL(last, spec.channels[channels - 1]);
    CHECK_EQUAL(widths, spec.width_count);
    CHECK_EQUAL(hidden, spec.widths[widths - 1]);
}

static void the_shape_of_a_cnn_is_read(void)
{
    check_shape("", 2, 32, 1, 64);
    check_shape("C16-C32-H64", 2, 32, 1, 64);
    check_shape("C8,lr=0.1", 1, 8, 1, 64);
    check_shape("H10-H20", 2, 32, 2, 20);
    check_shape("channels=4-5-6,hidden=7", 3, 6, 1, 7);
    check_shape("C4-H5,channels=6-7", 2, 7, 1, 5);
    check_refused(SPEC_CNN, "16-32", "'16-32' is not a shape");
    check_refused(SPEC_CNN, "C8-", "like C16-C32-H64");
    check_refused(SPEC_CNN, "H8-C8", "channels of the blocks, then widths");
    check_refused(SPEC_CNN, "C0", "not a shape");
    check_refused(SPEC_CNN, "C4097", "not a shape");
    check_refused(SPEC_CNN, "H65537", "not a shape");
    check_refused(SPEC_CNN, "C1-C1-C1-C1-C1-C1-C1-C1-C1", "not a shape");
    check_refused(SPEC_CNN, "channels=1-1-1-1-1-1-1-1-1",
                  "up to 8 numbers from 1 to 4096");
    check_refused(SPEC_CNN, "channels=x", "not a list of channels");
    check_refused(SPEC_CNN, "context=8", "one of: channels, hidden");
    check_refused(SPEC_MLP, "8,channels=8", "'channels' is not a setting");
    check_refused(SPEC_MLP, "8,height=8", "'height' is not a setting");
}

static void what_is_wrong_is_said(void)
{
    check_refused(SPEC_MLP, "12-x", "'12-x' is not a list of widths");
    check_refused(SPEC_MLP, "12-", "not a list of widths");
    check_refused(SPEC_MLP, "-12", "not a list of widths");
    check_refused(SPEC_MLP, "0", "not a list of widths");
    check_refused(SPEC_MLP, "1-65537", "not a list of widths");
    check_refused(SPEC_MLP, "1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1",
                  "not a list of widths");
    check_refused(SPEC_MLP, "hidden=1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1",
                  "at most 15");
    check_refused(SPEC_MLP, "8,batch=0", "batch=0 does not work");
    check_refused(SPEC_MLP, "8,batch=1.5", "a whole number from 1");
    check_refused(SPEC_MLP, "8,lr=nan", "lr=nan does not work");
    check_refused(SPEC_MLP, "8,lr=", "lr= does not work");
    check_refused(SPEC_MLP, "8,optimizer=sdg", "take one of sgd, adamw, muon");
    check_refused(SPEC_MLP, "8,context=3", "'context' is not a setting");
    check_refused(SPEC_LM, "8", "'8' is not a setting");
    check_refused(SPEC_LM, "hidden=8,,batch=1", "'' is not a setting");
}

static void a_refused_spec_changes_nothing(void)
{
    CHECK_OK(spec_parse("5", SPEC_MLP, &spec, &why));
    CHECK_STATUS(STATUS_USAGE, spec_parse("6,lr=x", SPEC_MLP, &spec, &why));
    CHECK_EQUAL(5, spec.widths[0]);
}

void add_train_spec_tests(CU_pSuite suite)
{
    TEST(widths_are_given_or_found_in_the_data);
    TEST(the_page_on_trainers_has_every_setting);
    TEST(widths_that_do_not_fit_the_data_are_refused);
    TEST(settings_are_read);
    TEST(each_optimizer_has_its_own_default_rate);
    TEST(the_shape_of_a_gpt_is_read);
    TEST(the_shape_of_a_cnn_is_read);
    TEST(what_is_wrong_is_said);
    TEST(a_refused_spec_changes_nothing);
}
