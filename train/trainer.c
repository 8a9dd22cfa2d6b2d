#include "train/trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/prng.h"
#include "core/text.h"
#include "train/cnn.h"
#include "train/gpt.h"
#include "train/lm.h"
#include "train/mlp.h"
#include "train/outcome.h"
#include "train/plugin.h"

enum { NAMES_BYTES = 128, SPLIT_SEED = 1 };

static const struct star_trainer_type *const builtins[] = {
#define TRAINER(name) &name##_trainer,
#include "train/trainers.def"
#undef TRAINER
};

enum { BUILTINS = sizeof builtins / sizeof *builtins };

const struct star_trainer_type *trainer_builtin(unsigned i)
{
    return i < BUILTINS ? builtins[i] : NULL;
}

static const char *or_null(const char *text)
{
    return text[0] ? text : NULL;
}

struct trainer_choice trainer_choose(const struct options *options)
{
    return (struct trainer_choice){.model = or_null(options->model),
                                   .plugin = or_null(options->trainer),
                                   .data = or_null(options->data),
                                   .seed = options->seed,
                                   .split_seed = SPLIT_SEED,
                                   .shards = 1};
}

uint64_t trainer_seed_of(uint64_t seed, const char *name)
{
    seed = prng_mix(seed);
    for (; *name; name++)
        seed = prng_mix(seed ^ (unsigned char)*name);
    return seed;
}

static enum status find_builtin(const char *model,
                                const struct star_trainer_type **out,
                                struct why *why)
{
    size_t size = model ? strcspn(model, ":") : 0;
    char names[NAMES_BYTES];
    struct text list;

    text_init(&list, names, sizeof names);
    for (unsigned i = 0; i < BUILTINS; i++)
        text_add_item(&list, builtins[i]->name);
    if (!model)
        return because(why, STATUS_USAGE,
                       "no model was named; add --model with one of %s, or "
                       "--trainer FILE.so",
                       names);
    for (unsigned i = 0; i < BUILTINS; i++)
        if (strlen(builtins[i]->name) == size &&
            memcmp(builtins[i]->name, model, size) == 0) {
            *out = builtins[i];
            return STATUS_OK;
        }
    return because(why, STATUS_USAGE,
                   "there is no model '%.*s'; take one of %s, or --trainer "
                   "FILE.so",
                   (int)(size < 64 ? size : 64), model, names);
}

static const char *spec_of(const char *model)
{
    const char *colon = model ? strchr(model, ':') : NULL;

    return colon ? colon + 1 : "";
}

static enum status create(struct trainer *trainer,
                          const struct trainer_choice *choice, struct why *why)
{
    struct star_trainer_settings settings = {.spec = spec_of(choice->model),
                                             .data = choice->data,
                                             .seed = choice->seed,
                                             .split_seed = choice->split_seed,
                                             .shard = choice->shard,
                                             .shards = choice->shards};
    struct why text = {"no reason was given"};
    enum status status = outcome_status(trainer->type->create(
        &settings, &trainer->self, text.text, sizeof text.text));

    text.text[sizeof text.text - 1] = 0;
    if (status) {
        trainer->self = NULL;
        return because(why, status, "%s", text.text);
    }
    trainer->type->describe(trainer->self, &trainer->model);
    return plugin_check_model(trainer->type->name, &trainer->model, why);
}

enum status trainer_open(const struct trainer_choice *choice,
                         struct trainer **out, struct why *why)
{
    struct trainer *trainer = calloc(1, sizeof *trainer);
    enum status status;

    if (!trainer)
        return because(why, STATUS_NO_MEMORY, "no memory for a trainer");
    if (choice->plugin)
        status =
            plugin_open(choice->plugin, &trainer->library, &trainer->type, why);
    else
        status = find_builtin(choice->model, &trainer->type, why);
    if (!status)
        status = create(trainer, choice, why);
    if (status)
        trainer_close(&trainer);
    else
        *out = trainer;
    return status;
}

void trainer_close(struct trainer **trainer)
{
    if (!*trainer)
        return;
    if ((*trainer)->self)
        (*trainer)->type->destroy((*trainer)->self);
    plugin_close(&(*trainer)->library);
    free(*trainer);
    *trainer = NULL;
}

/* Turns an outcome into a status with its sentence. */
static enum status finish(struct trainer *trainer,
                          enum star_trainer_outcome outcome, struct why *why)
{
    const char *words = NULL;

    if (outcome == STAR_TRAINER_OK)
        return STATUS_OK;
    if (trainer->type->last_error)
        words = trainer->type->last_error(trainer->self);
    return because(why, outcome_status(outcome), "trainer %s: %s",
                   trainer->type->name, words ? words : "it failed");
}

enum status trainer_gradient(struct trainer *trainer, double *loss,
                             uint64_t *samples, struct why *why)
{
    return finish(trainer,
                  trainer->type->gradient(trainer->self, loss, samples), why);
}

enum status trainer_step(struct trainer *trainer, struct why *why)
{
    return finish(trainer, trainer->type->step(trainer->self), why);
}

enum status trainer_evaluate(struct trainer *trainer, const float *values,
                             uint64_t max_samples, struct star_evaluation *out,
                             struct why *why)
{
    return finish(
        trainer,
        trainer->type->evaluate(trainer->self, values, max_samples, out), why);
}

enum status trainer_set_shard(struct trainer *trainer, uint32_t shard,
                              uint32_t shards, struct why *why)
{
    return finish(trainer,
                  trainer->type->set_shard(trainer->self, shard, shards), why);
}

void trainer_reset_optimizer(struct trainer *trainer)
{
    if (trainer->type->reset_optimizer)
        trainer->type->reset_optimizer(trainer->self);
}

size_t trainer_write(struct trainer *trainer, const float *values, char *out,
                     size_t size)
{
    size_t count = 0, used = 0;

    if (trainer->type->generate)
        count = trainer->type->generate(trainer->self, values,
                                        (unsigned char *)out, size - 1);
    for (size_t i = 0; i < count; i++)
        if (out[i])
            out[used++] = out[i];
    out[used] = '\0';
    return used;
}
