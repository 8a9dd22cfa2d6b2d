#include "train/lm.h"

#include <string.h>

#include "tests/check.h"
#include "tests/train/files.h"
#include "tests/train/models.h"

/* Where rows of the embedding begin when they have two numbers. */
enum { FIRST_OF_P = 2 * 'p', FIRST_OF_Z = 2 * 'z' };

static struct folder folder;
static struct why why;

/* A text of 100 bytes that repeats itself: 90 - 4 places to train on with a
 * context of 4. */
static const char *set_up(void)
{
    char text[101];

    if (!CHECK(folder_new(&folder)))
        return NULL;
    for (unsigned i = 0; i < 100; i++)
        text[i] = "parameter "[i % 10];
    CHECK(file_fill(folder_file(&folder, "text"), text, 100));
    return folder_file(&folder, "text");
}

static void gradients_are_those_of_finite_differences(void)
{
    const char *text = set_up();
    struct trainer *trainer;

    if (!text)
        return;
    trainer =
        model_open("lm:context=4,embedding=3,hidden=10,batch=86", text, 3);
    if (trainer)
        check_gradients(trainer);
    trainer_close(&trainer);
    folder_remove(&folder);
}

/* Only the rows of bytes that occur have a gradient: 'p' does. */
static void the_embedding_of_a_byte_that_occurs_has_a_gradient(void)
{
    const char *text = set_up();
    struct trainer *trainer;

    if (!text)
        return;
    trainer = model_open("lm:context=4,embedding=2,batch=86", text, 1);
    if (trainer) {
        const float *gradients = trainer->model.gradients;

        (void)model_train(trainer, 1);
        CHECK(gradients[FIRST_OF_P] < 0 || gradients[FIRST_OF_P] > 0);
        CHECK(gradients[FIRST_OF_Z] == 0);
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static void a_text_that_repeats_is_learnt_by_heart(void)
{
    const char *text = set_up();
    struct trainer *trainer;
    struct star_evaluation result = {0};

    if (!text)
        return;
    trainer = model_open("lm:context=4,hidden=32,lr=0.01", text, 1);
    if (trainer) {
        CHECK(model_train(trainer, 100) < 0.05);
        CHECK_OK(trainer_evaluate(trainer, NULL, 0, &result, &why));
        CHECK_NEAR(1, result.accuracy, 0);
        CHECK_EQUAL(6, result.samples);
        check_tensors(trainer);
        CHECK_TEXT("embedding", trainer->model.tensors[0].name);
        CHECK_TEXT("lm 64-32-256", trainer->model.summary);
        CHECK_EQUAL(86, trainer->model.training_samples);
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static void training_is_the_same_bit_for_bit(void)
{
    const char *text = set_up();

    if (!text)
        return;
    check_determinism("lm:context=4,embedding=4,hidden=8,batch=9", text);
    check_evaluation_is_pure("lm:context=4,embedding=4,hidden=8", text);
    check_deviation("lm:context=4,embedding=4,hidden=8", text);
    folder_remove(&folder);
}

static void a_text_too_short_is_refused(void)
{
    struct trainer_choice choice = {.model = "lm:context=10", .shards = 1};
    struct trainer *trainer = NULL;

    choice.data = set_up();
    if (!choice.data)
        return;
    CHECK_STATUS(STATUS_CONFIG, trainer_open(&choice, &trainer, &why));
    CHECK_CONTAINS("give at least 110", why.text);
    choice.data = NULL;
    CHECK_STATUS(STATUS_USAGE, trainer_open(&choice, &trainer, &why));
    folder_remove(&folder);
}

void add_train_lm_tests(CU_pSuite suite)
{
    TEST(gradients_are_those_of_finite_differences);
    TEST(the_embedding_of_a_byte_that_occurs_has_a_gradient);
    TEST(a_text_that_repeats_is_learnt_by_heart);
    TEST(training_is_the_same_bit_for_bit);
    TEST(a_text_too_short_is_refused);
}
