#include "train/lm.h"

#include <stdlib.h>
#include <string.h>

#include "train/classifier.h"
#include "train/corpus.h"

enum { BYTES = 256 };

struct lm {
    struct classifier classifier; /* first, as classifier.h says */
    struct input corpus;
    size_t split;   /* where the held-out bytes begin */
    size_t context; /* bytes */
    size_t width;   /* of a byte's embedding */
};

/* The context of a sample; the byte to guess stands behind it. */
static const unsigned char *context_of(const struct lm *lm,
                                       const struct batch *batch, size_t i)
{
    size_t begin = batch->held_out ? lm->split : 0;

    return lm->corpus.bytes + begin + (size_t)batch->places[i];
}

static void lm_randomize(const void *of, float *own_values, struct prng *prng)
{
    const struct lm *lm = of;

    for (size_t i = 0; i < BYTES * lm->width; i++)
        own_values[i] = (float)prng_normal(prng);
}

static void lm_load(const void *of, const struct batch *batch,
                    const float *own_values, float *inputs, int32_t *labels)
{
    const struct lm *lm = of;
    size_t width = lm->width;

    for (size_t i = 0; i < batch->count; i++) {
        const unsigned char *context = context_of(lm, batch, i);

        for (size_t c = 0; c < lm->context; c++) {
            memcpy(inputs, own_values + context[c] * width,
                   width * sizeof *inputs);
            inputs += width;
        }
        labels[i] = context[lm->context];
    }
}

static void lm_gather(const void *of, const struct batch *batch,
                      const float *own_values, float *input_gradients,
                      float *own_gradients)
{
    const struct lm *lm = of;
    size_t width = lm->width;

    (void)own_values;
    memset(own_gradients, 0, BYTES * width * sizeof *own_gradients);
    for (size_t i = 0; i < batch->count * lm->context; i++) {
        const unsigned char *context = context_of(lm, batch, i / lm->context);
        float *row = own_gradients + context[i % lm->context] * width;

        for (size_t e = 0; e < width; e++)
            row[e] += input_gradients[i * width + e];
    }
}

static enum status lm_init(void *self,
                           const struct star_trainer_settings *settings,
                           struct why *why)
{
    struct lm *lm = self;
    struct source source = {.of = lm,
                            .randomize = lm_randomize,
                            .load = lm_load,
                            .gather = lm_gather};
    struct spec spec;
    enum status status = spec_parse(settings->spec, SPEC_LM, &spec, why);

    if (status)
        return status;
    lm->context = (size_t)spec.number[SPEC_CONTEXT];
    lm->width = (size_t)spec.number[SPEC_EMBEDDING];
    status = spec_complete(&spec, lm->context * lm->width, BYTES, why);
    if (status)
        return status;
    if (!settings->data)
        return because(why, STATUS_USAGE,
                       "lm needs data; add --data with any file");
    status = corpus_read(settings->data, &lm->corpus, why);
    if (status)
        return status;
    status =
        corpus_split(&lm->corpus, settings->data, lm->context, &lm->split, why);
    if (!status) {
        source.training = lm->split - lm->context;
        source.held_out = lm->corpus.size - lm->split - lm->context;
        learner_add(&lm->classifier.learner, ROLE_OTHER, "embedding", BYTES,
                    lm->width);
        status = classifier_init(&lm->classifier, "lm ", &spec, &source,
                                 settings, why);
    }
    if (status)
        input_free(&lm->corpus);
    return status;
}

static void lm_destroy(void *self)
{
    struct lm *lm = self;

    classifier_free(&lm->classifier);
    input_free(&lm->corpus);
    free(lm);
}

LEARNER_TYPE(lm, "guesses the next byte of any file: lm:context=16,hidden=128",
             NULL)
