/* What mlp, cnn and lm have in common: dense layers at the end.
 *
 * A source loads samples into the inputs; it may own some parameters of its
 * own (the embedding of lm, the filters of cnn), which come first in the
 * vectors, and then turns the derivative by the inputs into their gradient. A
 * model embeds a struct classifier as its first member, and adds the tensors
 * of its source before classifier_init. */
#ifndef TRAIN_CLASSIFIER_H
#define TRAIN_CLASSIFIER_H

#include "train/learner.h"

struct source {
    const void *of;              /* first argument of the functions */
    uint64_t training, held_out; /* places in the two parts, each a sample */
    /* Fills its own parameters, which are zeroes; NULL if it has none, as
     * gather then. */
    void (*randomize)(const void *of, float *own_values, struct prng *prng);
    /* Writes the batch, count x inputs, and the classes. */
    void (*load)(const void *of, const struct batch *batch,
                 const float *own_values, float *inputs, int32_t *labels);
    /* Overwrites the gradient of its own parameters for the batch that was
     * loaded last, and may use up that of the inputs. */
    void (*gather)(const void *of, const struct batch *batch,
                   const float *own_values, float *input_gradients,
                   float *own_gradients);
};

struct classifier {
    struct learner learner; /* first, as learner.h says */
    struct source source;
    struct dense dense;
    size_t own; /* floats of the source before the dense layers */
};

/* `spec` is complete; the source must outlive the classifier. The summary is
 * the title with the widths behind it. If it fails, there is nothing to
 * free. */
enum status classifier_init(struct classifier *classifier, const char *title,
                            const struct spec *spec,
                            const struct source *source,
                            const struct star_trainer_settings *settings,
                            struct why *why) MUST_CHECK;
void classifier_free(struct classifier *classifier);

#endif
