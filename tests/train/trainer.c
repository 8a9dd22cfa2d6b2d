#include "train/trainer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "tests/check.h"
#include "tests/train/files.h"
#include "tests/train/models.h"
#include "train/outcome.h"
#include "train/plugin.h"

static struct why why;

static void check_refused(struct trainer_choice choice, enum status expected,
                          const char *words)
{
    struct trainer *trainer = NULL;

    choice.shards = 1;
    CHECK_STATUS(expected, trainer_open(&choice, &trainer, &why));
    CHECK_CONTAINS(words, why.text);
    CHECK(!trainer);
    trainer_close(&trainer);
}

static void an_unknown_model_names_those_that_there_are(void)
{
    check_refused((struct trainer_choice){.model = "rnn:3"}, STATUS_USAGE,
                  "there is no model 'rnn'; take one of mlp, cnn, lm");
    check_refused((struct trainer_choice){.model = "ml"}, STATUS_USAGE,
                  "no model 'ml'");
    check_refused((struct trainer_choice){.model = NULL}, STATUS_USAGE,
                  "add --model");
}

static void every_builtin_is_complete(void)
{
    for (unsigned i = 0; trainer_builtin(i); i++) {
        CHECK_EQUAL(STAR_TRAINER_ABI, trainer_builtin(i)->abi);
        CHECK(strlen(trainer_builtin(i)->help) > 0);
    }
    CHECK_TEXT("mlp", trainer_builtin(0)->name);
}

/* A shared object that is there but no trainer: zlib's. */
static const char *other_library(void)
{
    const char *(*function)(void) = zlibVersion;
    void *address;
    Dl_info found = {0};

    memcpy(&address, &function, sizeof address);
    CHECK(dladdr(address, &found) != 0);
    return found.dli_fname;
}

static void a_plugin_that_is_none_is_refused(void)
{
    struct folder folder;

    check_refused((struct trainer_choice){.plugin = "/nowhere/x.so"},
                  STATUS_UNAVAILABLE, "/nowhere/x.so");
    check_refused((struct trainer_choice){.plugin = "libm.so.6"},
                  STATUS_UNAVAILABLE, "./libm.so.6");
    check_refused((struct trainer_choice){.plugin = other_library()},
                  STATUS_UNAVAILABLE, "does not export star_trainer()");
    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(file_fill(folder_file(&folder, "x.so"), "nothing", 7));
    check_refused(
        (struct trainer_choice){.plugin = folder_file(&folder, "x.so")},
        STATUS_UNAVAILABLE, "cannot load a trainer");
    folder_remove(&folder);
}

static void a_plugin_of_another_abi_or_with_gaps_is_refused(void)
{
    struct star_trainer_type type = *trainer_builtin(0);

    CHECK_OK(plugin_check_type("x.so", &type, &why));
    type.step = NULL;
    CHECK_STATUS(STATUS_CONFIG, plugin_check_type("x.so", &type, &why));
    type.abi++;
    CHECK_STATUS(STATUS_VERSION, plugin_check_type("x.so", &type, &why));
    CHECK_CONTAINS("x.so was built for version 4", why.text);
    CHECK_STATUS(STATUS_UNAVAILABLE, plugin_check_type("x.so", NULL, &why));
}

static void ef_01_a_model_and_its_gradient_is_all_that_a_user_writes(void)
{
    char path[300];
    struct trainer_choice choice = {.plugin = path, .shard = 1, .shards = 4};
    struct trainer *trainer = NULL;
    struct star_evaluation before = {0}, after = {0};

    (void)snprintf(path, sizeof path, "%s/examples/blobs_trainer.so",
                   build_folder());
    if (!CHECK_OK(trainer_open(&choice, &trainer, &why))) {
        (void)puts(why.text);
        return;
    }
    CHECK_OK(trainer_evaluate(trainer, NULL, 0, &before, &why));
    (void)model_train(trainer, 200);
    CHECK_OK(trainer_evaluate(trainer, NULL, 0, &after, &why));
    CHECK(after.loss < before.loss / 2);
    CHECK(after.accuracy > 0.8);
    CHECK_STATUS(STATUS_CONFIG, trainer_set_shard(trainer, 4, 4, &why));
    CHECK_CONTAINS("trainer blobs: it failed", why.text);
    trainer_reset_optimizer(trainer);
    check_tensors(trainer);
    trainer_close(&trainer);
}

/* A model of two tensors, with 2 x 3 and 1 floats. */
static float values[8], gradients[8];
static struct star_trainer_tensor tensors[2];
static struct star_trainer_model model;

static void set_up_model(void)
{
    tensors[0] =
        (struct star_trainer_tensor){"a", 2, {2, 3}, values, gradients};
    tensors[1] =
        (struct star_trainer_tensor){"b", 0, {0}, values + 6, gradients + 6};
    model = (struct star_trainer_model){.tensors = tensors,
                                        .tensor_count = 2,
                                        .values = values,
                                        .gradients = gradients,
                                        .elements = 7,
                                        .summary = "two tensors"};
}

static void check_model_refused(const char *words)
{
    CHECK_STATUS(STATUS_CONFIG, plugin_check_model("x", &model, &why));
    CHECK_CONTAINS(words, why.text);
    set_up_model();
}

static void a_model_with_gaps_or_lies_is_refused(void)
{
    set_up_model();
    CHECK_OK(plugin_check_model("x", &model, &why));
    tensors[1].value++;
    check_model_refused("tensor 1 does not follow");
    tensors[0].shape[0] = UINT64_MAX;
    check_model_refused("tensor 0 does not follow");
    tensors[0].shape[1] = 0;
    check_model_refused("tensor 0 does not follow");
    tensors[0].rank = 99;
    check_model_refused("tensor 0 does not follow");
    model.elements = 8;
    check_model_refused("fewer floats");
    model.elements = 6;
    check_model_refused("tensor 1 does not follow");
    model.values = NULL;
    check_model_refused("describes no model");
}

static void outcomes_and_statuses_agree(void)
{
    for (int i = 0; i <= STAR_TRAINER_FAILED; i++) {
        enum star_trainer_outcome outcome = (enum star_trainer_outcome)i;

        CHECK_EQUAL(i, outcome_of(outcome_status(outcome)));
    }
    CHECK_EQUAL(STAR_TRAINER_FAILED, outcome_of(STATUS_AGAIN));
}

static void destroying_nothing_is_fine(void)
{
    struct trainer *trainer = NULL;

    trainer_close(&trainer);
    CHECK(!trainer);
}

void add_train_trainer_tests(CU_pSuite suite)
{
    TEST(an_unknown_model_names_those_that_there_are);
    TEST(every_builtin_is_complete);
    TEST(a_plugin_that_is_none_is_refused);
    TEST(a_plugin_of_another_abi_or_with_gaps_is_refused);
    TEST(ef_01_a_model_and_its_gradient_is_all_that_a_user_writes);
    TEST(a_model_with_gaps_or_lies_is_refused);
    TEST(outcomes_and_statuses_agree);
    TEST(destroying_nothing_is_fine);
}
