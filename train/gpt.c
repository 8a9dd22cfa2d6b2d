#include "train/gpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/corpus.h"
#include "train/learner.h"
#include "train/transformer.h"

/* Enough to tell 0.02 nats, and within a second for a million parameters. */
enum { HELD_OUT = 1 << 14 };

struct gpt {
    struct learner learner; /* first, as learner.h says */
    struct transformer transformer;
    struct input corpus;
    size_t split;            /* where the held-out bytes begin */
    struct permutation draw; /* of the held-out windows */
};

/* The bytes of a window, and one behind them. */
static const unsigned char *window_of(const struct gpt *gpt,
                                      const struct batch *batch, size_t i)
{
    size_t context = gpt->transformer.shape.context;
    uint64_t place = batch->places[i];

    if (batch->held_out)
        place = gpt->split + permutation_at(&gpt->draw, place) * context;
    return gpt->corpus.bytes + place;
}

static float *forward(void *of, const struct batch *batch, const float *values,
                      int32_t *labels)
{
    struct gpt *gpt = of;
    size_t context = gpt->transformer.shape.context;
    unsigned char *inputs = transformer_inputs(&gpt->transformer);

    for (size_t i = 0; i < batch->count; i++) {
        const unsigned char *window = window_of(gpt, batch, i);

        memcpy(inputs + i * context, window, context);
        for (size_t c = 0; c < context; c++)
            labels[i * context + c] = window[c + 1];
    }
    return transformer_forward(&gpt->transformer, values, batch->count,
                               context);
}

static void backward(void *of, const struct batch *batch, const float *values,
                     float *gradients)
{
    struct gpt *gpt = of;

    (void)batch;
    transformer_backward(&gpt->transformer, values, gradients);
}

static struct transformer_shape shape_of(const struct spec *spec)
{
    return (struct transformer_shape){
        .layers = (size_t)spec->number[SPEC_LAYERS],
        .width = (size_t)spec->number[SPEC_WIDTH],
        .heads = (size_t)spec->number[SPEC_HEADS],
        .context = (size_t)spec->number[SPEC_CONTEXT]};
}

/* As train/transformer_shape.h has them. */
static void add_tensors(struct learner *learner,
                        const struct transformer_shape *shape)
{
    size_t width = shape->width;
    char name[LEARNER_NAME_BYTES - 8];

    learner_add(learner, ROLE_OTHER, "wte.weight", TRANSFORMER_BYTES, width);
    learner_add(learner, ROLE_OTHER, "wpe.weight", shape->context, width);
    for (size_t l = 0; l < shape->layers; l++)
        for (int part = 0; part < TRANSFORMER_PARTS; part++) {
            const struct transformer_row *row = &transformer_rows[part];

            (void)snprintf(name, sizeof name, "h.%zu.%s", l, row->name);
            learner_add_pair(learner, row->columns ? ROLE_HIDDEN : ROLE_OTHER,
                             name, row->rows * width, row->columns * width);
        }
    learner_add_pair(learner, ROLE_OTHER, "ln_f", width, 0);
}

static void set_network(struct gpt *gpt, const struct transformer_shape *shape,
                        const struct spec *spec)
{
    size_t context = shape->context, most = HELD_OUT / context;
    size_t windows = (gpt->corpus.size - gpt->split - 1) / context;

    gpt->learner.network =
        (struct network){.of = gpt,
                         .guesses = context,
                         .classes = TRANSFORMER_BYTES,
                         .most = (size_t)spec->number[SPEC_BATCH],
                         .training = gpt->split / context - 1,
                         .held_out = windows < most ? windows : most,
                         .forward = forward,
                         .backward = backward};
}

/* Once there are data. */
static enum status begin(struct gpt *gpt, const struct spec *spec,
                         const struct star_trainer_settings *settings,
                         struct why *why)
{
    struct learner *learner = &gpt->learner;
    struct transformer_shape shape = shape_of(spec);
    struct prng prng;
    enum status status;

    set_network(gpt, &shape, spec);
    permutation_init(&gpt->draw,
                     (gpt->corpus.size - gpt->split - 1) / shape.context,
                     settings->split_seed);
    sampler_init_text(&learner->sampler, learner->network.training,
                      shape.context, settings->seed);
    add_tensors(learner, &shape);
    status = learner_begin(learner, spec, settings, why);
    if (status)
        return status;
    status = transformer_init(&gpt->transformer, &shape, learner->network.most);
    if (status) {
        learner_free(learner);
        return because(why, status, "no memory for a model of this size");
    }
    (void)snprintf(learner->summary, sizeof learner->summary,
                   "gpt L%zu-D%zu-H%zu-T%zu", shape.layers, shape.width,
                   shape.heads, shape.context);
    prng_seed(&prng, settings->seed);
    transformer_randomize(&shape, learner->values, &prng);
    return STATUS_OK;
}

static enum status gpt_init(void *self,
                            const struct star_trainer_settings *settings,
                            struct why *why)
{
    struct gpt *gpt = self;
    struct spec spec;
    struct transformer_shape shape;
    enum status status = spec_parse(settings->spec, SPEC_GPT, &spec, why);

    if (status)
        return status;
    shape = shape_of(&spec);
    if (shape.width % shape.heads)
        return because(why, STATUS_USAGE,
                       "a width of %zu is no multiple of %zu heads",
                       shape.width, shape.heads);
    if (!settings->data)
        return because(why, STATUS_USAGE,
                       "gpt needs data; add --data with any file or folder");
    status = corpus_read(settings->data, &gpt->corpus, why);
    if (status)
        return status;
    status = corpus_split(&gpt->corpus, settings->data, shape.context,
                          &gpt->split, why);
    if (!status)
        status = begin(gpt, &spec, settings, why);
    if (status)
        input_free(&gpt->corpus);
    return status;
}

static void gpt_destroy(void *self)
{
    struct gpt *gpt = self;

    transformer_free(&gpt->transformer);
    learner_free(&gpt->learner);
    input_free(&gpt->corpus);
    free(gpt);
}

/* One of the 256 bytes, by their logits: sharper than they say, as rare bytes
 * spoil what is read. -1 where they are not finite. */
static int draw_byte(const float *logits, struct prng *prng)
{
    const double temperature = 0.8;
    double p[TRANSFORMER_BYTES], sum = 0, left;
    float largest = logits[0];
    int byte = 0;

    for (int i = 1; i < TRANSFORMER_BYTES; i++)
        largest = logits[i] > largest ? logits[i] : largest;
    for (int i = 0; i < TRANSFORMER_BYTES; i++)
        sum += p[i] = exp(((double)logits[i] - (double)largest) / temperature);
    if (!isfinite(sum))
        return -1;
    left = prng_unit(prng) * sum;
    while (byte < TRANSFORMER_BYTES - 1 && left >= p[byte])
        left -= p[byte++];
    return byte;
}

/* What follows a line's end, byte by byte. */
static size_t gpt_generate(void *self, const float *values, unsigned char *out,
                           size_t size)
{
    struct gpt *gpt = self;
    struct transformer *transformer = &gpt->transformer;
    unsigned char *inputs = transformer_inputs(transformer);
    size_t length = 1;
    struct prng prng;

    if (!values)
        values = gpt->learner.values;
    prng_seed(&prng, 1);
    inputs[0] = '\n';
    for (size_t i = 0; i < size; i++) {
        const float *logits =
            transformer_forward(transformer, values, 1, length);
        int byte = draw_byte(logits + (length - 1) * TRANSFORMER_BYTES, &prng);

        if (byte < 0)
            return i;
        if (length == transformer->shape.context)
            memmove(inputs, inputs + 1, --length);
        inputs[length++] = out[i] = (unsigned char)byte;
    }
    return size;
}

LEARNER_TYPE(gpt, "a transformer for any text: gpt:L4-D128-H4-T64",
             gpt_generate)
