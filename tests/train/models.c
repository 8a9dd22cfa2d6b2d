#include "tests/train/models.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"

static struct why why;

struct trainer *model_open(const char *model, const char *data, uint64_t seed)
{
    struct trainer_choice choice = {
        .model = model, .data = data, .seed = seed, .shards = 1};
    struct trainer *trainer = NULL;

    why.text[0] = 0;
    CHECK_OK(trainer_open(&choice, &trainer, &why));
    CHECK_TEXT("", why.text);
    return trainer;
}

static double gradient_loss(struct trainer *trainer)
{
    uint64_t samples = 0;
    double loss = 0;

    CHECK_OK(trainer_gradient(trainer, &loss, &samples, &why));
    CHECK(samples > 0);
    return loss;
}

double model_train(struct trainer *trainer, unsigned iterations)
{
    double loss = 0;

    while (iterations-- > 0) {
        loss = gradient_loss(trainer);
        CHECK_OK(trainer_step(trainer, &why));
    }
    return loss;
}

void check_gradients(struct trainer *trainer)
{
    const struct star_trainer_model *model = &trainer->model;
    const float step = 1.0f / 128;

    /* 97 is no divisor of any width here, so every tensor is met. */
    for (uint64_t i = 0; i < model->elements; i += 97) {
        float before = model->values[i];
        double above, below, derivative;

        model->values[i] = before + step;
        above = gradient_loss(trainer);
        model->values[i] = before - step;
        below = gradient_loss(trainer);
        model->values[i] = before;
        (void)gradient_loss(trainer);
        derivative = (above - below) / (2 * (double)step);
        CHECK_NEAR(derivative, (double)model->gradients[i],
                   2e-3 + 0.02 * fabs(derivative));
    }
}

bool same_floats(const float *a, const float *b, uint64_t count)
{
    return same_bytes(a, b, count * sizeof *a);
}

static bool same_values(const struct trainer *a, const struct trainer *b)
{
    return a->model.elements == b->model.elements &&
           same_floats(a->model.values, b->model.values, a->model.elements);
}

void check_determinism(const char *model, const char *data)
{
    struct trainer *a = model_open(model, data, 1);
    struct trainer *b = model_open(model, data, 1);
    struct trainer *c = model_open(model, data, 2);

    if (a && b && c) {
        CHECK(!same_values(a, c));
        CHECK(model_train(a, 20) == model_train(b, 20));
        CHECK(same_values(a, b));
    }
    trainer_close(&a);
    trainer_close(&b);
    trainer_close(&c);
}

/* What the m-th sample adds to m times the mean loss of m is its loss. */
void check_deviation(const char *model, const char *data)
{
    struct trainer *trainer = model_open(model, data, 1);
    struct star_evaluation result = {0};
    double before = 0, loss[64], mean, sum = 0;
    uint64_t count;

    if (!trainer)
        return;
    (void)model_train(trainer, 3);
    count = trainer->model.held_out_samples;
    count = count < 64 ? count : 64;
    CHECK(count > 1);
    for (uint64_t i = 0; i < count; i++) {
        CHECK_OK(trainer_evaluate(trainer, NULL, i + 1, &result, &why));
        if (i == 0)
            CHECK_NEAR(0, result.deviation, 0);
        loss[i] = (double)(i + 1) * result.loss - before;
        before += loss[i];
    }
    mean = before / (double)count;
    for (uint64_t i = 0; i < count; i++)
        sum += (loss[i] - mean) * (loss[i] - mean);
    CHECK(sum > 0);
    CHECK_NEAR(sqrt(sum / (double)(count - 1)), result.deviation, 1e-6);
    trainer_close(&trainer);
}

void check_evaluation_is_pure(const char *model, const char *data)
{
    struct trainer *a = model_open(model, data, 1);
    struct trainer *b = model_open(model, data, 1);
    struct trainer *c = model_open(model, data, 2);
    struct star_evaluation own, again;

    if (!a || !b || !c)
        return;
    (void)model_train(a, 3);
    (void)model_train(b, 3);
    CHECK_OK(trainer_evaluate(a, NULL, 0, &own, &why));
    CHECK_OK(trainer_evaluate(c, a->model.values, 0, &again, &why));
    CHECK(own.loss == again.loss && own.accuracy == again.accuracy);
    CHECK_EQUAL(a->model.held_out_samples, own.samples);
    CHECK_OK(trainer_evaluate(a, c->model.values, 2, &own, &why));
    CHECK_EQUAL(2, own.samples);
    CHECK(model_train(a, 3) == model_train(b, 3));
    CHECK(same_values(a, b));
    trainer_close(&a);
    trainer_close(&b);
    trainer_close(&c);
}

void check_tensors(const struct trainer *trainer)
{
    const struct star_trainer_model *model = &trainer->model;
    const float *next = model->values;

    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct star_trainer_tensor *tensor = &model->tensors[i];
        uint64_t size = 1;

        CHECK(tensor->value == next);
        CHECK(tensor->gradient - model->gradients == next - model->values);
        for (int d = 0; d < tensor->rank; d++)
            size *= tensor->shape[d];
        next += size;
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(tensor->name, model->tensors[j].name) != 0);
    }
    CHECK_EQUAL(model->elements, next - model->values);
}
