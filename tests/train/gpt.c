#include "train/gpt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/train/files.h"
#include "tests/train/models.h"
#include "tests/train/waves.h"

static struct folder folder;
static struct why why;

/* Ten times 120 bytes: of these 1080 are to train on, 53 windows of 20. */
enum { BYTES = 1200 };

static const char *set_up(void)
{
    static const char words[] = "the parameter switch gives each what others "
                                "have learnt; ";
    char text[BYTES];

    if (!CHECK(folder_new(&folder)))
        return NULL;
    for (size_t i = 0; i < BYTES; i++)
        text[i] = words[i % (sizeof words - 1)];
    CHECK(file_fill(folder_file(&folder, "text"), text, BYTES));
    return folder.path;
}

static void the_tensors_of_a_gpt_have_the_names_of_gpt_2(void)
{
    const char *text = set_up();
    struct trainer *trainer;

    if (!text)
        return;
    trainer = model_open("gpt:L4-D128-H4-T64", text, 1);
    if (trainer) {
        check_tensors(trainer);
        CHECK_EQUAL(834304, trainer->model.elements);
        CHECK_EQUAL(2 + 4 * 12 + 2, trainer->model.tensor_count);
        CHECK_EQUAL(8 * 64, trainer->model.batch);
        CHECK_EQUAL(15 * 64, trainer->model.training_samples);
        CHECK_EQUAL(64, trainer->model.held_out_samples);
        CHECK_TEXT("gpt L4-D128-H4-T64", trainer->model.summary);
        CHECK_TEXT("wte.weight", trainer->model.tensors[0].name);
        CHECK_TEXT("h.3.mlp.c_proj.bias", trainer->model.tensors[49].name);
        CHECK_EQUAL(512, trainer->model.tensors[48].shape[1]);
        CHECK_TEXT("ln_f.bias", trainer->model.tensors[51].name);
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static void check_learns(const char *model, const char *text,
                         unsigned iterations)
{
    struct trainer *trainer = model_open(model, text, 1);
    struct star_evaluation result = {0};

    if (!trainer)
        return;
    CHECK(model_train(trainer, iterations) < 0.4);
    CHECK_OK(trainer_evaluate(trainer, NULL, 0, &result, &why));
    CHECK(result.accuracy > 0.9);
    CHECK(result.loss < 0.4);
    CHECK_EQUAL(100, result.samples);
    trainer_close(&trainer);
}

static void a_text_that_repeats_is_learnt_by_heart(void)
{
    const char *text = set_up();

    if (!text)
        return;
    check_learns("gpt:L2-D32-H2-T20,batch=4,lr=0.003", text, 300);
    check_learns("gpt:L2-D32-H2-T20,batch=4,lr=0.01,optimizer=muon", text, 150);
    folder_remove(&folder);
}

static void training_is_the_same_bit_for_bit(void)
{
    const char *text = set_up();

    if (!text)
        return;
    check_determinism("gpt:L1-D16-H2-T20,batch=3", text);
    check_determinism("gpt:L1-D16-H2-T20,batch=3,optimizer=muon", text);
    check_evaluation_is_pure("gpt:L1-D16-H2-T20,batch=3", text);
    check_deviation("gpt:L1-D16-H2-T20,batch=3", text);
    folder_remove(&folder);
}

/* Who reads the first half only learns nothing of the second. */
static void a_shard_is_a_stretch_of_the_text(void)
{
    struct trainer *trainer;
    char text[BYTES];

    if (!CHECK(folder_new(&folder)))
        return;
    memset(text, 'a', sizeof text);
    memset(text + 560, 'b', sizeof text - 560);
    CHECK(file_fill(folder_file(&folder, "text"), text, BYTES));
    trainer = model_open("gpt:L1-D16-H2-T20,batch=20,lr=0.01", folder.path, 1);
    if (trainer) {
        CHECK_OK(trainer_set_shard(trainer, 0, 2, &why));
        CHECK(model_train(trainer, 60) < 3);
        CHECK_OK(trainer_set_shard(trainer, 1, 2, &why));
        CHECK(model_train(trainer, 1) > 5);
        CHECK_STATUS(STATUS_CONFIG, trainer_set_shard(trainer, 53, 54, &why));
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static const struct golden adamw_golden[] = {
#define LOSS(loss)
#define GRADIENT(name, length, first, second)
#define MOVED_BY_ADAMW(name, length, first, second)                            \
    {name, length, first, second},
#define MOVED_BY_MUON(name, length, first, second)
#include "tests/train/golden/gpt.def"
#undef MOVED_BY_ADAMW
#undef MOVED_BY_MUON
};

static const struct golden muon_golden[] = {
#define MOVED_BY_ADAMW(name, length, first, second)
#define MOVED_BY_MUON(name, length, first, second)                             \
    {name, length, first, second},
#include "tests/train/golden/gpt.def"
};

/* Steps as golden/gpt.py does, by gradients that are waves. */
static void check_moves(const char *optimizer, const struct golden *golden)
{
    static float before[32768];
    struct trainer *trainer;
    char model[200];
    uint64_t at = 0;

    (void)snprintf(model, sizeof model,
                   "gpt:L2-D24-H3-T20,lr=0.01,weight_decay=0.1,epsilon=0.001,"
                   "clip=3,warmup=2,optimizer=%s",
                   optimizer);
    trainer = model_open(model, folder.path, 1);
    if (!trainer || !CHECK(trainer->model.elements <= 32768))
        return;
    waves_fill(before, trainer->model.elements);
    waves_fill(trainer->model.values, trainer->model.elements);
    for (int step = 1; step <= 3; step++) {
        for (uint64_t i = 0; i < trainer->model.elements; i++)
            trainer->model.gradients[i] =
                (float)wave_at(i + 1, 0.9 + 0.2 * step);
        CHECK_OK(trainer_step(trainer, &why));
    }
    for (size_t i = 0; i < trainer->model.tensor_count; i++) {
        const struct star_trainer_tensor *tensor = &trainer->model.tensors[i];
        uint64_t count = tensor->shape[0];

        count *= tensor->rank == 2 ? tensor->shape[1] : 1;
        CHECK_TEXT(golden[i].name, tensor->name);
        (void)check_golden(&golden[i], tensor->value, before + at, count, 1e-4);
        at += count;
    }
    trainer_close(&trainer);
}

static void steps_are_those_of_pytorch(void)
{
    if (!set_up())
        return;
    check_moves("adamw", adamw_golden);
    check_moves("muon", muon_golden);
    folder_remove(&folder);
}

static void what_is_learnt_is_written(void)
{
    static const char words[] = "the parameter switch gives each what";
    char text[101], again[101];
    const char *data = set_up();
    struct trainer *trainer;

    if (!data)
        return;
    trainer =
        model_open("gpt:L2-D32-H2-T20,batch=4,lr=0.01,optimizer=muon", data, 1);
    if (trainer) {
        (void)model_train(trainer, 200);
        CHECK_EQUAL(100, trainer_write(trainer, NULL, text, sizeof text));
        CHECK_CONTAINS(words, text);
        CHECK_EQUAL(100, trainer_write(trainer, trainer->model.values, again,
                                       sizeof again));
        CHECK_TEXT(text, again);
        trainer->model.values[0] = NAN;
        CHECK_EQUAL(0, trainer_write(trainer, NULL, again, sizeof again));
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static void what_does_not_fit_is_refused(void)
{
    static const struct {
        const char *model;
        enum status status;
        const char *words;
    } cases[] = {{"gpt:D128-H3", STATUS_USAGE, "128 is no multiple of 3 heads"},
                 {"gpt:T120", STATUS_CONFIG, "give at least 1210"},
                 {"gpt:T20-L64-D8192", STATUS_CONFIG, "narrower"},
                 {"gpt:4-128", STATUS_USAGE, "like L4-D128-H4-T64"}};
    struct trainer *trainer = NULL;

    if (!set_up())
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trainer_choice choice = {
            .model = cases[i].model, .data = folder.path, .shards = 1};

        CHECK_STATUS(cases[i].status, trainer_open(&choice, &trainer, &why));
        CHECK_CONTAINS(cases[i].words, why.text);
        choice.data = NULL;
        CHECK(trainer_open(&choice, &trainer, &why) != STATUS_OK);
    }
    folder_remove(&folder);
}

void add_train_gpt_tests(CU_pSuite suite)
{
    TEST(the_tensors_of_a_gpt_have_the_names_of_gpt_2);
    TEST(a_text_that_repeats_is_learnt_by_heart);
    TEST(training_is_the_same_bit_for_bit);
    TEST(a_shard_is_a_stretch_of_the_text);
    TEST(steps_are_those_of_pytorch);
    TEST(what_is_learnt_is_written);
    TEST(what_does_not_fit_is_refused);
}
