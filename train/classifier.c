#include "train/classifier.h"

#include <stdio.h>

#include "core/text.h"

enum { EVALUATION_ROWS = 128 };

void classifier_free(struct classifier *classifier)
{
    dense_free(&classifier->dense);
    learner_free(&classifier->learner);
}

static void add_tensors(struct classifier *classifier, const struct spec *spec)
{
    struct learner *learner = &classifier->learner;
    const size_t *width = spec->widths;
    char name[LEARNER_NAME_BYTES - 8];

    classifier->own = learner->elements;
    for (unsigned l = 1; l < spec->width_count; l++) {
        enum role role = l + 1 < spec->width_count ? ROLE_HIDDEN : ROLE_WEIGHT;

        (void)snprintf(name, sizeof name, "layer%u", l);
        learner_add_pair(learner, role, name, width[l], width[l - 1]);
    }
}

/* Loads and runs a batch forward. */
static float *forward(void *of, const struct batch *batch, const float *values,
                      int32_t *labels)
{
    struct classifier *classifier = of;

    classifier->source.load(classifier->source.of, batch, values,
                            dense_inputs(&classifier->dense), labels);
    return dense_forward(&classifier->dense, values + classifier->own,
                         batch->count);
}

static void backward(void *of, const struct batch *batch, const float *values,
                     float *gradients)
{
    struct classifier *classifier = of;
    const struct source *source = &classifier->source;

    dense_backward(&classifier->dense, values + classifier->own,
                   gradients + classifier->own, batch->count,
                   source->gather != NULL);
    if (source->gather)
        source->gather(source->of, batch, values,
                       dense_inputs(&classifier->dense), gradients);
}

static struct network network_of(struct classifier *classifier,
                                 const struct spec *spec)
{
    size_t batch = (size_t)spec->number[SPEC_BATCH];

    return (struct network){.of = classifier,
                            .guesses = 1,
                            .classes = spec->widths[spec->width_count - 1],
                            .most = batch < EVALUATION_ROWS ? EVALUATION_ROWS
                                                            : batch,
                            .training = classifier->source.training,
                            .held_out = classifier->source.held_out,
                            .forward = forward,
                            .backward = backward};
}

static void randomize(struct classifier *classifier, uint64_t seed)
{
    float *values = classifier->learner.values;
    struct prng prng;

    prng_seed(&prng, seed);
    if (classifier->source.randomize)
        classifier->source.randomize(classifier->source.of, values, &prng);
    dense_randomize(&classifier->dense, values + classifier->own, &prng);
}

enum status classifier_init(struct classifier *classifier, const char *title,
                            const struct spec *spec,
                            const struct source *source,
                            const struct star_trainer_settings *settings,
                            struct why *why)
{
    struct learner *learner = &classifier->learner;
    char widths[LEARNER_SUMMARY_BYTES];
    struct text summary;
    enum status status;

    classifier->source = *source;
    learner->network = network_of(classifier, spec);
    add_tensors(classifier, spec);
    sampler_init(&learner->sampler, source->training, settings->split_seed,
                 settings->seed);
    status = learner_begin(learner, spec, settings, why);
    if (status)
        return status;
    status = dense_init(&classifier->dense, spec->widths, spec->width_count - 1,
                        learner->network.most);
    if (status) {
        learner_free(learner);
        return because(why, status, "no memory for a model of this size");
    }
    spec_print_widths(spec, widths, sizeof widths);
    text_init(&summary, learner->summary, sizeof learner->summary);
    text_add(&summary, "%s%s", title, widths);
    randomize(classifier, settings->seed);
    return STATUS_OK;
}
