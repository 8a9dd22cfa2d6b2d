#include "train/cnn.h"

#include "tests/check.h"
#include "tests/train/files.h"
#include "tests/train/models.h"
#include "tests/train/waves.h"

enum { PICTURES = 80, SIDE = 7, PIXELS = SIDE * SIDE };

static struct folder folder;
static struct why why;

/* Whether a pixel is bright: lines across and down, small and large squares,
 * which begin anywhere. No pixel tells what is there, only those beside it
 * do. */
static bool is_bright(unsigned kind, unsigned row, unsigned column,
                      unsigned begin)
{
    switch (kind) {
    case 0:
        return (row + begin) % 2;
    case 1:
        return (column + begin) % 2;
    case 2:
        return (row + column + begin) % 2;
    default:
        return ((row + begin) / 2 + (column + begin / 2) / 2) % 2;
    }
}

static bool fill(const char *name, const unsigned *shape, unsigned dimensions,
                 const unsigned char *bytes)
{
    return CHECK(
        idx_fill(folder_file(&folder, name), shape, dimensions, bytes));
}

/* 80 pictures of four kinds, of which 72 are trained on. */
static bool set_up(void)
{
    static const unsigned shape[] = {PICTURES, SIDE, SIDE};
    unsigned char labels[PICTURES], pixels[PICTURES * PIXELS];

    if (!CHECK(folder_new(&folder)))
        return false;
    for (unsigned i = 0; i < PICTURES; i++) {
        labels[i] = (unsigned char)(i % 4);
        for (unsigned p = 0; p < PIXELS; p++)
            pixels[i * PIXELS + p] =
                (unsigned char)(is_bright(i % 4, p / SIDE, p % SIDE, i / 4)
                                    ? 200 + i % 50
                                    : i % 40);
    }
    return fill("train-images-idx3-ubyte", shape, 3, pixels) &&
           fill("train-labels-idx1-ubyte", shape, 1, labels);
}

/* Trains with these settings until it knows pictures that it has not seen. */
static void check_learns(const char *model)
{
    struct trainer *trainer = model_open(model, folder.path, 1);
    struct star_evaluation result = {0};

    if (!trainer)
        return;
    CHECK(model_train(trainer, 200) < 0.05);
    CHECK_OK(trainer_evaluate(trainer, NULL, 0, &result, &why));
    CHECK_NEAR(1, result.accuracy, 0);
    CHECK_EQUAL(8, result.samples);
    trainer_close(&trainer);
}

static void pictures_are_told_apart(void)
{
    if (!set_up())
        return;
    check_learns("cnn:C6-C8-H16,lr=0.01,batch=8");
    check_learns("cnn:C6-C8-H16,lr=0.01,batch=8,optimizer=muon,clip=1");
    check_learns("cnn:C6-H16,optimizer=sgd,lr=0.05,batch=8,warmup=10");
    folder_remove(&folder);
}

static void training_is_the_same_bit_for_bit(void)
{
    if (!set_up())
        return;
    check_determinism("cnn:C3-C5-H6,batch=5", folder.path);
    check_determinism("cnn:C3-C5-H6,batch=1,optimizer=muon", folder.path);
    check_evaluation_is_pure("cnn:C3-C5-H6,batch=5", folder.path);
    check_deviation("cnn:C3-C5-H6,batch=5", folder.path);
    folder_remove(&folder);
}

static void tensors_are_those_of_pytorch(void)
{
    struct trainer *trainer;

    if (!set_up())
        return;
    trainer = model_open("cnn", folder.path, 1);
    if (trainer) {
        const struct star_trainer_tensor *tensors = trainer->model.tensors;

        check_tensors(trainer);
        CHECK_EQUAL(8, trainer->model.tensor_count);
        CHECK_TEXT("conv1.weight", tensors[0].name);
        CHECK_TEXT("conv2.weight", tensors[2].name);
        CHECK_EQUAL(4, tensors[2].rank);
        CHECK_EQUAL(32, tensors[2].shape[0]);
        CHECK_EQUAL(16, tensors[2].shape[1]);
        CHECK_EQUAL(3, tensors[2].shape[2]);
        CHECK_EQUAL(3, tensors[2].shape[3]);
        CHECK_TEXT("conv2.bias", tensors[3].name);
        CHECK_EQUAL(1, tensors[3].rank);
        CHECK_TEXT("layer1.weight", tensors[4].name);
        CHECK_EQUAL(32, tensors[4].shape[1]);
        CHECK_TEXT("cnn 1x7x7-C16-C32-32-64-4", trainer->model.summary);
        CHECK_EQUAL(72, trainer->model.training_samples);
        CHECK_EQUAL(32, trainer->model.batch);
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static const double golden_loss =
#define LOSS(loss) loss
#define GRADIENT(name, length, first, second)
#include "tests/train/golden/cnn.def"
#undef LOSS
#undef GRADIENT
    ;

static const struct golden golden[] = {
#define LOSS(loss)
#define GRADIENT(name, length, first, second) {name, length, first, second},
#include "tests/train/golden/cnn.def"
};

/* Those of golden/cnn.py; what is held out is not looked at. */
static bool set_up_golden(void)
{
    static const unsigned shape[] = {3, 2, 7, 9};
    static const unsigned char labels[] = {1, 3, 0};
    unsigned char pixels[3 * 2 * 7 * 9];

    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)((7 * i * i + 3 * i) % 256);
    return CHECK(folder_new(&folder)) &&
           fill("train-images-idx3-ubyte", shape, 4, pixels) &&
           fill("train-labels-idx1-ubyte", shape, 1, labels) &&
           fill("t10k-images-idx3-ubyte", shape, 4, pixels) &&
           fill("t10k-labels-idx1-ubyte", shape, 1, labels);
}

static void gradients_are_those_of_pytorch(void)
{
    struct trainer *trainer;

    if (!set_up_golden())
        return;
    trainer = model_open("cnn:C3-C5-H6,in_channels=2,height=7,batch=3",
                         folder.path, 1);
    if (trainer && CHECK_EQUAL(sizeof golden / sizeof *golden,
                               trainer->model.tensor_count)) {
        const float *at = trainer->model.gradients;
        double loss = 0;
        uint64_t samples;

        waves_fill(trainer->model.values, trainer->model.elements);
        CHECK_OK(trainer_gradient(trainer, &loss, &samples, &why));
        CHECK_NEAR(golden_loss, loss, 1e-5);
        for (size_t i = 0; i < trainer->model.tensor_count; i++) {
            const struct star_trainer_tensor *tensor =
                &trainer->model.tensors[i];
            size_t count = 1;

            for (int d = 0; d < tensor->rank; d++)
                count *= (size_t)tensor->shape[d];
            CHECK_TEXT(golden[i].name, tensor->name);
            (void)check_golden(&golden[i], at, NULL, count, 1e-5);
            at += count;
        }
    }
    trainer_close(&trainer);
    folder_remove(&folder);
}

static void pictures_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *model;
        enum status status;
        const char *words;
    } cases[] = {
        {"cnn:in_channels=2", STATUS_CONFIG,
         "49 numbers per sample, which are no square picture of 2 channels"},
        {"cnn:height=6", STATUS_CONFIG,
         "no picture of that height of 1 channel;"},
        {"cnn:height=50", STATUS_CONFIG, "give the model height=ROWS"},
        {"cnn:in_channels=50", STATUS_CONFIG, "or take an mlp"},
        {"cnn:C4-C4-C4", STATUS_CONFIG,
         "halves pictures 3 times, but 7x7 can be halved 2 times"},
        {"cnn:height=1", STATUS_CONFIG, "1x49 can be halved 0 times"},
        {"cnn:C4096-C4096-H65536-H65536", STATUS_CONFIG, "narrower"},
        {"cnn:C4096", STATUS_OK, ""},
        {"cnn:7-7", STATUS_USAGE, "like C16-C32-H64"}};

    if (!set_up())
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trainer_choice choice = {
            .model = cases[i].model, .data = folder.path, .shards = 1};
        struct trainer *trainer = NULL;

        why.text[0] = 0;
        CHECK_STATUS(cases[i].status, trainer_open(&choice, &trainer, &why));
        CHECK_CONTAINS(cases[i].words, why.text);
        trainer_close(&trainer);
        choice.data = NULL;
        CHECK_STATUS(STATUS_USAGE, trainer_open(&choice, &trainer, &why));
    }
    folder_remove(&folder);
}

static void too_much_for_a_dense_layer_is_refused(void)
{
    static const unsigned shape[] = {2, 40, 40};
    static const unsigned char pixels[2 * 40 * 40], labels[2];
    struct trainer_choice choice = {
        .model = "cnn:C200", .data = folder.path, .shards = 1};
    struct trainer *trainer = NULL;

    if (!CHECK(folder_new(&folder)) ||
        !fill("train-images-idx3-ubyte", shape, 3, pixels) ||
        !fill("train-labels-idx1-ubyte", shape, 1, labels))
        return;
    CHECK_STATUS(STATUS_CONFIG, trainer_open(&choice, &trainer, &why));
    CHECK_CONTAINS("would give 80000 numbers", why.text);
    CHECK_CONTAINS("fewer channels or one block more", why.text);
    folder_remove(&folder);
}

void add_train_cnn_tests(CU_pSuite suite)
{
    TEST(pictures_are_told_apart);
    TEST(training_is_the_same_bit_for_bit);
    TEST(tensors_are_those_of_pytorch);
    TEST(gradients_are_those_of_pytorch);
    TEST(pictures_that_do_not_fit_are_refused);
    TEST(too_much_for_a_dense_layer_is_refused);
}
