#include "sim/trainer_inside.h"

void trainer_look(struct trainer *trainer, enum trainer_moment moment,
                  uint64_t exchange)
{
    struct trainer_look shown = {
        .moment = moment,
        .now = trainer->now,
        .iteration = trainer->training.agenda.pacer.iteration,
        .exchange = exchange,
        .reset = trainer->training.agenda.pacer.schedule.optimizer ==
                 OPTIMIZER_RESET,
        .x = trainer->x,
        .elements = trainer->config.elements};

    if (trainer->task.parts)
        shown.task = &trainer->task;
    if (trainer->config.look)
        trainer->config.look(trainer->config.observer, &shown);
}

static void post(struct trainer *trainer, const struct msg *msg,
                 struct blob *payload)
{
    effects_send(trainer->out, PEER_TRAINER, msg, payload);
}

void trainer_optimize(void *context, const float *gradient, size_t first,
                      size_t count)
{
    struct trainer *trainer = context;
    float *x = trainer->x + first;

    if (trainer->config.optimizer) {
        trainer->config.optimizer(trainer->config.context, trainer->x, gradient,
                                  first, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        x[i] =
            (float)((double)x[i] - trainer->config.rate * (double)gradient[i]);
}

/* ---- reviews ---- */

void trainer_examine(struct trainer *trainer)
{
    const struct trainer_config *config = &trainer->config;
    struct msg msg = {.kind = MSG_LOCAL_REVIEWED};

    if (!trainer->to_examine)
        return;
    msg.local_reviewed.number = trainer->examined;
    msg.local_reviewed.made = config->evaluate(
        config->context, blob_floats(trainer->to_examine), config->elements,
        &msg.local_reviewed.loss, &msg.local_reviewed.error);
    blob_unref(&trainer->to_examine);
    post(trainer, &msg, NULL);
}

/* ---- exchanging ---- */

static void take_post(void *self, const struct msg *msg, struct blob *payload)
{
    post(self, msg, payload);
    blob_unref(&payload);
}

static void show(void *self, enum training_moment moment, uint64_t exchange)
{
    static const enum trainer_moment moments[] = {
        [TRAINING_OFFERED] = TRAINER_OFFERED,
        [TRAINING_REPLACED] = TRAINER_REPLACED,
        [TRAINING_APPLIED] = TRAINER_APPLIED,
        [TRAINING_SKIPPED] = TRAINER_SKIPPED,
        [TRAINING_BLOCKED] = TRAINER_BLOCKED};

    trainer_look(self, moments[moment], exchange);
}

struct training_owner trainer_owner(struct trainer *trainer)
{
    return (struct training_owner){.self = trainer,
                                   .post = take_post,
                                   .optimize = trainer_optimize,
                                   .told = show,
                                   .statistics = trainer->config.statistics};
}

void trainer_offer(struct trainer *trainer)
{
    trainer->offered_last |= trainer->leaving;
    training_offer(&trainer->training, trainer->leaving);
}

bool trainer_apply_due(struct trainer *trainer)
{
    bool done =
        training_apply(&trainer->training, trainer->now, trainer->called);

    if (!done)
        trainer->wake = trainer->training.wait_until;
    return done;
}
