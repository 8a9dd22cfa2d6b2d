#include "train/mlp.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/train/files.h"
#include "tests/train/models.h"

static struct folder folder;
static struct why why;

/* 40 images of four classes, of which 36 are trained on. */
static bool set_up(void)
{
    return CHECK(folder_new(&folder)) &&
           CHECK(pair_fill(&folder, "train", 40, ""));
}

static void gradients_are_those_of_finite_differences(void)
{
    struct trainer *trainer;

    if (!set_up())
        return;
    trainer = model_open("mlp:4-40-30-4,batch=36", folder.path, 3);
    if (trainer) {
        check_gradients(trainer);
        (void)model_train(trainer, 20);
        check_gradients(trainer);
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

/* Trains with these settings until the tiny set is known by heart. */
static void check_learns(const char *model)
{
    struct trainer *trainer = model_open(model, folder.path, 1);
    struct star_evaluation result = {0};

    if (!trainer)
        return;
    CHECK(model_train(trainer, 400) < 0.02);
    CHECK_OK(trainer_evaluate(trainer, NULL, 0, &result, &why));
    CHECK_NEAR(1, result.accuracy, 0);
    CHECK_EQUAL(4, result.samples);
    trainer_close(&trainer);
}

static void a_tiny_set_is_learnt_by_heart(void)
{
    if (!set_up())
        return;
    check_learns("mlp:32,optimizer=adamw,lr=0.01,batch=8");
    check_learns("mlp:4-32-4,optimizer=sgd,lr=0.1,momentum=0.9,batch=8");
    check_learns("mlp:hidden=16-16,optimizer=sgd,lr=0.5,momentum=0");
    folder_remove(&folder);
}

static void training_is_the_same_bit_for_bit(void)
{
    if (!set_up())
        return;
    check_determinism("mlp:16,batch=5", folder.path);
    check_evaluation_is_pure("mlp:16,batch=5", folder.path);
    check_deviation("mlp:16,batch=5", folder.path);
    folder_remove(&folder);
}

static void tensors_have_the_names_and_shapes_of_the_layers(void)
{
    struct trainer *trainer;

    if (!set_up())
        return;
    trainer = model_open("mlp:4-16-4", folder.path, 1);
    if (trainer) {
        check_tensors(trainer);
        CHECK_EQUAL(4, trainer->model.tensor_count);
        CHECK_TEXT("layer1.weight", trainer->model.tensors[0].name);
        CHECK_EQUAL(16, trainer->model.tensors[0].shape[0]);
        CHECK_EQUAL(4, trainer->model.tensors[0].shape[1]);
        CHECK_TEXT("layer2.bias", trainer->model.tensors[3].name);
        CHECK_TEXT("mlp 4-16-4", trainer->model.summary);
        CHECK_EQUAL(36, trainer->model.training_samples);
        CHECK_EQUAL(32, trainer->model.batch);
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static void shards_train_on_different_samples(void)
{
    struct trainer *trainer;
    double first;

    if (!set_up())
        return;
    trainer = model_open("mlp:4-16-4,batch=18,optimizer=sgd", folder.path, 1);
    if (trainer) {
        float whole[4 * 16];
        uint64_t samples;

        CHECK_OK(trainer_set_shard(trainer, 0, 2, &why));
        CHECK_OK(trainer_gradient(trainer, &first, &samples, &why));
        memcpy(whole, trainer->model.gradients, sizeof whole);
        CHECK_OK(trainer_set_shard(trainer, 1, 2, &why));
        CHECK(fabs(first - model_train(trainer, 1)) > 1e-9);
        CHECK(!same_floats(whole, trainer->model.gradients, 64));
        CHECK_STATUS(STATUS_CONFIG, trainer_set_shard(trainer, 2, 2, &why));
        CHECK_CONTAINS("shard 2 of 2 does not exist", why.text);
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static void values_that_are_no_numbers_score_nothing(void)
{
    struct trainer *trainer;
    struct star_evaluation result = {0};

    if (!set_up())
        return;
    trainer = model_open("mlp:4-4", folder.path, 1);
    if (trainer) {
        trainer->model.values[0] = NAN;
        trainer->model.values[16] = NAN;
        CHECK_OK(trainer_evaluate(trainer, NULL, 0, &result, &why));
        CHECK(isnan(result.loss));
        CHECK_NEAR(0, result.accuracy, 0);
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static void check_refused(const char *model, const char *data,
                          enum status expected, const char *words)
{
    struct trainer_choice choice = {.model = model, .data = data, .shards = 1};
    struct trainer *trainer = NULL;

    CHECK_STATUS(expected, trainer_open(&choice, &trainer, &why));
    CHECK_CONTAINS(words, why.text);
    trainer_close(&trainer);
}

static void what_does_not_fit_is_refused(void)
{
    if (!set_up())
        return;
    check_refused("mlp:5-4", folder.path, STATUS_CONFIG, "begin the widths");
    check_refused("mlp:4-3", folder.path, STATUS_CONFIG, "end the widths");
    check_refused("mlp:x", folder.path, STATUS_USAGE, "list of widths");
    check_refused("mlp", NULL, STATUS_USAGE, "add --data");
    check_refused("mlp", "/nowhere.csv", STATUS_IO, "/nowhere.csv");
    check_refused("mlp:4-65536-65536-4", folder.path, STATUS_CONFIG,
                  "narrower");
    folder_remove(&folder);
}

void add_train_mlp_tests(CU_pSuite suite)
{
    TEST(gradients_are_those_of_finite_differences);
    TEST(a_tiny_set_is_learnt_by_heart);
    TEST(training_is_the_same_bit_for_bit);
    TEST(tensors_have_the_names_and_shapes_of_the_layers);
    TEST(shards_train_on_different_samples);
    TEST(values_that_are_no_numbers_score_nothing);
    TEST(what_does_not_fit_is_refused);
}
