#include "train/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/floats.h"
#include "train/muon.h"

const struct optimizer_row optimizer_rows[OPTIMIZERS] = {
#define OPTIMIZER(ID, name, rate, doc) {#name, rate, doc},
#include "train/optimizers.def"
#undef OPTIMIZER
};

/* What one part is, in each of the vectors. */
struct slice {
    size_t count;
    float *values;
    const float *gradients;
    float *first, *second; /* as the optimizer's */
    double rate, decay;
    float scale; /* of the gradients */
};

static size_t elements_of(const struct optimizer_part *part)
{
    return part->rows * part->columns;
}

static enum status copy_parts(struct optimizer *optimizer,
                              const struct optimizer_part *parts, size_t count)
{
    optimizer->parts = malloc(count * sizeof *parts);
    if (!optimizer->parts)
        return STATUS_NO_MEMORY;
    memcpy(optimizer->parts, parts, count * sizeof *parts);
    optimizer->part_count = count;
    for (size_t i = 0; i < count; i++)
        optimizer->elements += elements_of(&parts[i]);
    return STATUS_OK;
}

static int is_muon(const struct optimizer *optimizer,
                   const struct optimizer_part *part)
{
    return optimizer->settings.kind == OPTIMIZER_MUON &&
           part->role == ROLE_HIDDEN;
}

/* Floats for the largest matrix and its orthogonalisation. */
static size_t scratch_size(const struct optimizer *optimizer)
{
    size_t most = 0;

    for (size_t i = 0; i < optimizer->part_count; i++) {
        const struct optimizer_part *part = &optimizer->parts[i];
        size_t size =
            elements_of(part) + muon_scratch(part->rows, part->columns);

        if (is_muon(optimizer, part) && size > most)
            most = size;
    }
    return most;
}

/* Zeroes; sets *failed where there is no memory. */
static float *floats_new(size_t count, int *failed)
{
    float *floats = count ? calloc(count, sizeof *floats) : NULL;

    *failed |= count && !floats;
    return floats;
}

enum status optimizer_init(struct optimizer *optimizer,
                           const struct optimizer_settings *settings,
                           const struct optimizer_part *parts,
                           size_t part_count)
{
    int sgd = settings->kind == OPTIMIZER_SGD, failed;
    size_t count;

    memset(optimizer, 0, sizeof *optimizer);
    optimizer->settings = *settings;
    failed = copy_parts(optimizer, parts, part_count) != STATUS_OK;
    count = optimizer->elements;
    if (!sgd || settings->momentum > 0)
        optimizer->first = floats_new(count, &failed);
    if (!sgd)
        optimizer->second = floats_new(count, &failed);
    optimizer->scratch = floats_new(scratch_size(optimizer), &failed);
    if (!failed)
        return STATUS_OK;
    optimizer_free(optimizer);
    return STATUS_NO_MEMORY;
}

void optimizer_free(struct optimizer *optimizer)
{
    free(optimizer->parts);
    free(optimizer->first);
    free(optimizer->second);
    free(optimizer->scratch);
    memset(optimizer, 0, sizeof *optimizer);
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

static void step_plain(const struct slice *slice)
{
    float rate = (float)slice->rate, decay = (float)slice->decay;
    float *restrict values = slice->values;
    const float *restrict gradients = slice->gradients;

    for (size_t i = 0; i < slice->count; i++)
        values[i] -= rate * (slice->scale * gradients[i] + decay * values[i]);
}

static void step_momentum(const struct slice *slice, double kept)
{
    float rate = (float)slice->rate, decay = (float)slice->decay;
    float scale = slice->scale, momentum = (float)kept;
    float *restrict values = slice->values;
    const float *restrict gradients = slice->gradients;
    float *restrict velocity = slice->first;

    for (size_t i = 0; i < slice->count; i++) {
        float pull = scale * gradients[i] + decay * values[i];

        velocity[i] = settle(momentum * velocity[i] + pull);
        values[i] -= rate * velocity[i];
    }
}

static void step_adamw(const struct slice *slice,
                       const struct optimizer_settings *s, uint64_t steps)
{
    double t = (double)steps;
    float keep = (float)(1 - slice->rate * slice->decay);
    float beta1 = (float)s->beta1, rest1 = (float)(1 - s->beta1);
    float beta2 = (float)s->beta2, rest2 = (float)(1 - s->beta2);
    float rate = (float)(slice->rate / (1 - pow(s->beta1, t)));
    float root = (float)(1 / sqrt(1 - pow(s->beta2, t)));
    float epsilon = (float)s->epsilon, scale = slice->scale;
    float *restrict values = slice->values;
    const float *restrict gradients = slice->gradients;
    float *restrict mean = slice->first;
    float *restrict square = slice->second;

    for (size_t i = 0; i < slice->count; i++) {
        float g = scale * gradients[i];

        mean[i] = settle(beta1 * mean[i] + rest1 * g);
        square[i] = settle(beta2 * square[i] + rest2 * g * g);
        values[i] = keep * values[i] -
                    rate * mean[i] / (sqrtf(square[i]) * root + epsilon);
    }
}

static void step_muon(const struct slice *slice, double kept,
                      const struct optimizer_part *part, float *scratch)
{
    size_t count = slice->count;
    size_t longer = part->rows > part->columns ? part->rows : part->columns;
    float keep = (float)(1 - slice->rate * slice->decay);
    float rate = (float)(slice->rate * 0.2 * sqrt((double)longer));
    float scale = slice->scale, momentum = (float)kept;
    float *restrict values = slice->values;
    float *restrict velocity = slice->first;
    float *restrict pull = scratch;

    for (size_t i = 0; i < count; i++) {
        float g = scale * slice->gradients[i];

        velocity[i] = settle(momentum * velocity[i] + g);
        pull[i] = g + momentum * velocity[i];
    }
    muon_orthogonalize(pull, part->rows, part->columns, scratch + count);
    for (size_t i = 0; i < count; i++)
        values[i] = keep * values[i] - rate * pull[i];
}

static void step_part(const struct optimizer *optimizer,
                      const struct optimizer_part *part,
                      const struct slice *slice)
{
    const struct optimizer_settings *settings = &optimizer->settings;

    if (is_muon(optimizer, part))
        step_muon(slice, settings->muon_momentum, part, optimizer->scratch);
    else if (settings->kind != OPTIMIZER_SGD)
        step_adamw(slice, settings, optimizer->steps);
    else if (slice->first)
        step_momentum(slice, settings->momentum);
    else
        step_plain(slice);
}

/* What shortens a gradient that is too long. */
static float clip_scale(double most, const float *gradients, size_t count)
{
    struct squares squares = {{0}};
    double length;

    if (most == 0)
        return 1;
    squares_add(&squares, gradients, count);
    length = sqrt(squares_sum(&squares));
    return length > most ? (float)(most / length) : 1;
}

static double warm_rate(const struct optimizer *optimizer)
{
    const struct optimizer_settings *settings = &optimizer->settings;

    if (optimizer->steps >= settings->warmup)
        return settings->rate;
    return settings->rate * (double)optimizer->steps / (double)settings->warmup;
}

void optimizer_step(struct optimizer *optimizer, float *values,
                    const float *gradients)
{
    const struct optimizer_settings *settings = &optimizer->settings;
    struct slice slice = {.values = values,
                          .gradients = gradients,
                          .first = optimizer->first,
                          .second = optimizer->second};

    optimizer->steps++;
    slice.rate = warm_rate(optimizer);
    slice.scale = clip_scale(settings->clip, gradients, optimizer->elements);
    for (size_t i = 0; i < optimizer->part_count; i++) {
        const struct optimizer_part *part = &optimizer->parts[i];

        slice.count = elements_of(part);
        slice.decay = part->role == ROLE_OTHER ? 0 : settings->decay;
        step_part(optimizer, part, &slice);
        slice.values += slice.count;
        slice.gradients += slice.count;
        if (slice.first)
            slice.first += slice.count;
        if (slice.second)
            slice.second += slice.count;
    }
}
