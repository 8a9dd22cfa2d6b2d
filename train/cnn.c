#include "train/cnn.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"
#include "train/classifier.h"
#include "train/convolution.h"
#include "train/data.h"

struct cnn {
    struct classifier classifier; /* first, as classifier.h says */
    struct data data;
    unsigned blocks;
    struct convolution block[CONVOLUTION_BLOCKS_MAX];
    /* A batch's pictures as they come into the blocks. */
    float *pictures[CONVOLUTION_BLOCKS_MAX];
    struct convolution_work work[CONVOLUTION_BLOCKS_MAX];
    float *memory;    /* what pictures and scratch lie in */
    uint8_t *winners; /* and those of all blocks */
};

static void cnn_randomize(const void *of, float *own_values, struct prng *prng)
{
    const struct cnn *cnn = of;

    for (unsigned b = 0; b < cnn->blocks; b++) {
        convolution_randomize(&cnn->block[b], own_values, prng);
        own_values += convolution_elements(&cnn->block[b]);
    }
}

static void cnn_load(const void *of, const struct batch *batch,
                     const float *own_values, float *inputs, int32_t *labels)
{
    const struct cnn *cnn = of;

    data_load(&cnn->data, batch->held_out, batch->places, batch->count,
              cnn->pictures[0], labels);
    for (unsigned b = 0; b < cnn->blocks; b++) {
        convolution_forward(
            &cnn->block[b], own_values, cnn->pictures[b], batch->count,
            &cnn->work[b], b + 1 < cnn->blocks ? cnn->pictures[b + 1] : inputs);
        own_values += convolution_elements(&cnn->block[b]);
    }
}

/* The derivative by what came into a block lies where that was. */
static void cnn_gather(const void *of, const struct batch *batch,
                       const float *own_values, float *input_gradients,
                       float *own_gradients)
{
    const struct cnn *cnn = of;
    size_t offset = cnn->classifier.own;

    for (unsigned b = cnn->blocks; b-- > 0;) {
        const struct convolution *block = &cnn->block[b];
        const float *dy =
            b + 1 < cnn->blocks ? cnn->pictures[b + 1] : input_gradients;

        offset -= convolution_elements(block);
        convolution_backward_values(block, cnn->pictures[b], dy, batch->count,
                                    &cnn->work[b], own_gradients + offset);
        if (b)
            convolution_backward_inputs(block, own_values + offset, dy,
                                        batch->count, &cnn->work[b],
                                        cnn->pictures[b]);
    }
}

/* What a picture is, of so many numbers. */
static enum status shape_picture(const struct spec *spec, size_t numbers,
                                 struct convolution *out, struct why *why)
{
    size_t channels = (size_t)spec->number[SPEC_IN_CHANNELS];
    size_t height = (size_t)spec->number[SPEC_HEIGHT];
    size_t pixels = numbers / channels;

    if (!height)
        height = (size_t)sqrt((double)pixels);
    out->in = channels;
    out->height = height;
    out->width = height ? pixels / height : 0;
    if (channels * height * out->width == numbers &&
        (spec->number[SPEC_HEIGHT] > 0 || out->width == height))
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "the data has %zu numbers per sample, which are no %s of "
                   "%zu channel%s; give the model height=ROWS and "
                   "in_channels=N that fit, or take an mlp",
                   numbers,
                   spec->number[SPEC_HEIGHT] > 0 ? "picture of that height"
                                                 : "square picture",
                   channels, plural(channels));
}

/* Each block halves what comes in. */
static enum status shape_blocks(struct cnn *cnn, const struct spec *spec,
                                struct why *why)
{
    struct convolution next, picture = {0};
    enum status status =
        shape_picture(spec, cnn->data.training.features, &picture, why);

    next = picture;
    for (unsigned b = 0; b < spec->channel_count && !status; b++) {
        if (next.height < 2 || next.width < 2)
            return because(why, STATUS_CONFIG,
                           "the model halves pictures %u times, but %zux%zu "
                           "can be halved %u times; give so many channels, "
                           "such as C16-C32 for two, or take an mlp",
                           spec->channel_count, picture.height, picture.width,
                           b);
        next.out = spec->channels[b];
        cnn->block[b] = next;
        cnn->blocks = b + 1;
        next.in = next.out;
        next.height /= 2;
        next.width /= 2;
    }
    return status;
}

static size_t features_of(const struct cnn *cnn)
{
    return convolution_outputs(&cnn->block[cnn->blocks - 1]);
}

static enum status check_features(const struct cnn *cnn, struct why *why)
{
    if (features_of(cnn) <= DENSE_WIDTH_MAX)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "the last block would give %zu numbers to the dense layers; "
                   "at most %d are supported, take fewer channels or one block "
                   "more",
                   features_of(cnn), DENSE_WIDTH_MAX);
}

/* Under the names and shapes that PyTorch gives them. An optimizer has filters
 * as a matrix, each a row. */
static void add_tensors(struct cnn *cnn)
{
    struct learner *learner = &cnn->classifier.learner;
    char name[LEARNER_NAME_BYTES - 8];

    for (unsigned b = 0; b < cnn->blocks; b++) {
        const struct convolution *block = &cnn->block[b];
        struct star_trainer_tensor *filters =
            &learner->tensors[learner->tensor_count];

        (void)snprintf(name, sizeof name, "conv%u", b + 1);
        learner_add_pair(learner, ROLE_HIDDEN, name, block->out,
                         block->in * CONVOLUTION_TAPS);
        filters->rank = 4;
        filters->shape[1] = block->in;
        filters->shape[2] = filters->shape[3] = CONVOLUTION_SIDE;
    }
}

/* Room for the batches of the network. */
static enum status allocate(struct cnn *cnn)
{
    size_t most = cnn->classifier.learner.network.most;
    size_t numbers = 0, outputs = 0, scratch = 0;
    float *memory;
    uint8_t *winners;

    assert(cnn->blocks >= 1);
    for (unsigned b = 0; b < cnn->blocks; b++) {
        size_t own = convolution_scratch(&cnn->block[b]);

        numbers += convolution_inputs(&cnn->block[b]);
        outputs += convolution_outputs(&cnn->block[b]);
        scratch = own > scratch ? own : scratch;
    }
    cnn->memory = memory = malloc((numbers * most + scratch) * sizeof *memory);
    cnn->winners = winners = malloc(outputs * most);
    if (!memory || !winners)
        return STATUS_NO_MEMORY;
    for (unsigned b = 0; b < cnn->blocks; b++) {
        cnn->work[b] = (struct convolution_work){memory, winners};
        winners += convolution_outputs(&cnn->block[b]) * most;
    }
    memory += scratch;
    for (unsigned b = 0; b < cnn->blocks; b++) {
        cnn->pictures[b] = memory;
        memory += convolution_inputs(&cnn->block[b]) * most;
    }
    return STATUS_OK;
}

static void release(struct cnn *cnn)
{
    free(cnn->memory);
    free(cnn->winners);
    data_close(&cnn->data);
}

/* Such as "cnn 1x28x28-C16-C32-", before the widths of dense layers. */
static void write_title(const struct cnn *cnn, char *out, size_t size)
{
    const struct convolution *first = cnn->block;
    struct text text;

    text_init(&text, out, size);
    text_add(&text, "cnn %zux%zux%zu-", first->in, first->height, first->width);
    for (unsigned b = 0; b < cnn->blocks; b++)
        text_add(&text, "C%zu-", cnn->block[b].out);
}

/* Once there are data. */
static enum status begin(struct cnn *cnn, struct spec *spec,
                         const struct star_trainer_settings *settings,
                         struct why *why)
{
    struct source source = {.of = cnn,
                            .training = cnn->data.training.count,
                            .held_out = cnn->data.held_out.count,
                            .randomize = cnn_randomize,
                            .load = cnn_load,
                            .gather = cnn_gather};
    char title[LEARNER_SUMMARY_BYTES];
    enum status status = shape_blocks(cnn, spec, why);

    if (!status)
        status = check_features(cnn, why);
    if (!status)
        status = spec_complete(spec, features_of(cnn),
                               (size_t)cnn->data.classes, why);
    if (status)
        return status;
    add_tensors(cnn);
    write_title(cnn, title, sizeof title);
    status =
        classifier_init(&cnn->classifier, title, spec, &source, settings, why);
    if (status || !allocate(cnn))
        return status;
    classifier_free(&cnn->classifier);
    return because(why, STATUS_NO_MEMORY, "no memory for a model of this size");
}

static enum status cnn_init(void *self,
                            const struct star_trainer_settings *settings,
                            struct why *why)
{
    struct cnn *cnn = self;
    struct spec spec;
    enum status status = spec_parse(settings->spec, SPEC_CNN, &spec, why);

    if (!status)
        status =
            data_open(settings->data, settings->split_seed, &cnn->data, why);
    if (status)
        return status;
    status = begin(cnn, &spec, settings, why);
    if (status)
        release(cnn);
    return status;
}

static void cnn_destroy(void *self)
{
    struct cnn *cnn = self;

    classifier_free(&cnn->classifier);
    release(cnn);
    free(cnn);
}

LEARNER_TYPE(cnn, "classifies pictures by convolutions: cnn:C16-C32-H64 or cnn",
             NULL)
