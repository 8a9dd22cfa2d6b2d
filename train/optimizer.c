#include "train/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct optimizer_row optimizer_rows[OPTIMIZERS] = {
#define OPTIMIZER(ID, name, rate, doc) {#name, rate, doc},
#include "train/optimizers.def"
#undef OPTIMIZER
};

enum status optimizer_init(struct optimizer *optimizer,
                           const struct optimizer_settings *settings,
                           size_t elements)
{
    int adamw = settings->kind == OPTIMIZER_ADAMW;
    int wants_first = adamw || settings->momentum > 0;

    memset(optimizer, 0, sizeof *optimizer);
    optimizer->settings = *settings;
    optimizer->elements = elements;
    if (wants_first)
        optimizer->first = calloc(elements, sizeof(float));
    if (adamw)
        optimizer->second = calloc(elements, sizeof(float));
    if ((optimizer->first || !wants_first) && (optimizer->second || !adamw))
        return STATUS_OK;
    optimizer_free(optimizer);
    return STATUS_NO_MEMORY;
}

void optimizer_free(struct optimizer *optimizer)
{
    free(optimizer->first);
    free(optimizer->second);
    optimizer->first = optimizer->second = NULL;
}

void optimizer_reset(struct optimizer *optimizer)
{
    size_t bytes = optimizer->elements * sizeof(float);

    optimizer->steps = 0;
    if (optimizer->first)
        memset(optimizer->first, 0, bytes);
    if (optimizer->second)
        memset(optimizer->second, 0, bytes);
}

/* Decaying averages of values whose gradient has become 0 would end as
 * denormal numbers, which cost a hundred cycles each; 0 is as good. */
static inline float settle(float x)
{
    return fabsf(x) < 1e-30f ? 0 : x;
}

static void step_plain(const struct optimizer *optimizer,
                       float *restrict values, const float *restrict gradients)
{
    float rate = (float)optimizer->settings.rate;
    float decay = (float)optimizer->settings.decay;

    for (size_t i = 0; i < optimizer->elements; i++)
        values[i] -= rate * (gradients[i] + decay * values[i]);
}

static void step_momentum(const struct optimizer *optimizer,
                          float *restrict values,
                          const float *restrict gradients)
{
    float rate = (float)optimizer->settings.rate;
    float decay = (float)optimizer->settings.decay;
    float momentum = (float)optimizer->settings.momentum;
    float *restrict velocity = optimizer->first;

    for (size_t i = 0; i < optimizer->elements; i++) {
        float pull = gradients[i] + decay * values[i];

        velocity[i] = settle(momentum * velocity[i] + pull);
        values[i] -= rate * velocity[i];
    }
}

static void step_adamw(const struct optimizer *optimizer,
                       float *restrict values, const float *restrict gradients)
{
    const struct optimizer_settings *s = &optimizer->settings;
    double t = (double)optimizer->steps;
    float keep = (float)(1 - s->rate * s->decay);
    float beta1 = (float)s->beta1, rest1 = (float)(1 - s->beta1);
    float beta2 = (float)s->beta2, rest2 = (float)(1 - s->beta2);
    float rate = (float)(s->rate / (1 - pow(s->beta1, t)));
    float scale = (float)(1 / sqrt(1 - pow(s->beta2, t)));
    float epsilon = (float)s->epsilon;
    float *restrict mean = optimizer->first;
    float *restrict square = optimizer->second;

    for (size_t i = 0; i < optimizer->elements; i++) {
        float g = gradients[i];

        mean[i] = settle(beta1 * mean[i] + rest1 * g);
        square[i] = settle(beta2 * square[i] + rest2 * g * g);
        values[i] = keep * values[i] -
                    rate * mean[i] / (sqrtf(square[i]) * scale + epsilon);
    }
}

void optimizer_step(struct optimizer *optimizer, float *values,
                    const float *gradients)
{
    optimizer->steps++;
    if (optimizer->settings.kind == OPTIMIZER_ADAMW)
        step_adamw(optimizer, values, gradients);
    else if (optimizer->first)
        step_momentum(optimizer, values, gradients);
    else
        step_plain(optimizer, values, gradients);
}
