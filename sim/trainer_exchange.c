#include "sim/trainer_inside.h"

#include <stdlib.h>
#include <string.h>

void trainer_look(struct trainer *trainer, enum trainer_moment moment,
                  uint64_t exchange)
{
    struct trainer_look shown = {
        .moment = moment,
        .now = trainer->now,
        .iteration = trainer->agenda.pacer.iteration,
        .exchange = exchange,
        .reset = trainer->agenda.pacer.schedule.optimizer == OPTIMIZER_RESET,
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

/* ---- offering ---- */

static struct blob *vector_new(struct trainer *trainer, size_t elements)
{
    struct blob *blob = blob_new(trainer->pool, elements * sizeof(float));

    if (!blob)
        abort();
    return blob;
}

static struct blob *offered_values(struct trainer *trainer)
{
    const struct span span = {trainer->x, trainer->config.elements};
    struct blob *blob = vector_new(trainer, agenda_elements(&trainer->agenda));

    agenda_copy(&trainer->agenda, &span, blob_floats(blob));
    return blob;
}

static void post_vector(struct trainer *trainer, uint64_t exchange,
                        struct blob *blob)
{
    struct msg msg = {.kind = MSG_SNAPSHOT};

    agenda_describe(&trainer->agenda, &msg.snapshot);
    msg.snapshot.exchange = exchange;
    msg.snapshot.score = trainer->started_loss ? trainer->loss : NO_SCORE;
    msg.snapshot.last = trainer->leaving;
    post(trainer, &msg, blob);
    blob_unref(&blob);
}

static void post_all(struct trainer *trainer)
{
    size_t elements = trainer->config.elements;
    struct blob *blob = vector_new(trainer, elements);

    memcpy(blob_floats(blob), trainer->x, elements * sizeof(float));
    post_vector(trainer, 0, blob);
}

void trainer_found(struct trainer *trainer)
{
    post_all(trainer);
}

void trainer_offer(struct trainer *trainer)
{
    bool last = trainer->leaving, offered = false;
    uint64_t exchange;

    trainer->offered_last |= last;
    while (!(last && offered) &&
           agenda_offer(&trainer->agenda, last, &exchange)) {
        trainer_look(trainer, TRAINER_OFFERED, exchange);
        post_vector(trainer, exchange, offered_values(trainer));
        offered = true;
    }
    if (last && !offered && agenda_wants_gradients(&trainer->agenda))
        post_vector(trainer, 0, NULL);
    else if (last && !offered)
        post_all(trainer);
}

void trainer_post_progress(struct trainer *trainer)
{
    struct msg msg = {.kind = MSG_PROGRESS};

    msg.progress.iteration = trainer->agenda.pacer.iteration;
    msg.progress.loss = trainer->started_loss ? trainer->loss : NO_SCORE;
    msg.progress.accuracy = -1;
    msg.progress.missed = trainer->agenda.pacer.missed;
    msg.progress.waited = trainer_waited(trainer);
    msg.progress.blocked = trainer->waiting > 0;
    post(trainer, &msg, NULL);
    trainer->next_progress = trainer->now + PROGRESS_INTERVAL;
}

/* ---- reviews ---- */

void trainer_examine(struct trainer *trainer)
{
    const struct trainer_config *config = &trainer->config;
    struct msg msg = {.kind = MSG_EXAMINED};

    if (!trainer->to_examine)
        return;
    msg.examined.number = trainer->examined;
    msg.examined.made =
        config->evaluate(config->context, blob_floats(trainer->to_examine),
                         config->elements, &msg.examined.loss,
                         &msg.examined.error);
    blob_unref(&trainer->to_examine);
    post(trainer, &msg, NULL);
}

/* ---- applying ---- */

static void post_applied(struct trainer *trainer, uint64_t exchange,
                         bool skipped)
{
    struct msg msg = {.kind = MSG_APPLIED};

    msg.applied.exchange = exchange;
    msg.applied.iteration = trainer->agenda.pacer.iteration;
    msg.applied.skipped = skipped;
    post(trainer, &msg, NULL);
    trainer_look(trainer, skipped ? TRAINER_SKIPPED : TRAINER_APPLIED,
                 exchange);
}

static void post_cut(struct trainer *trainer, uint64_t exchange, bool final)
{
    struct msg msg = {.kind = MSG_CUT};

    msg.cut.exchange = exchange;
    msg.cut.final = final;
    post(trainer, &msg, NULL);
}

static void apply(struct trainer *trainer, uint64_t exchange)
{
    const struct inbox_optimizer optimizer = {trainer_optimize, trainer};
    const struct span span = {trainer->x, trainer->config.elements};
    bool replaced;

    (void)agenda_apply(&trainer->agenda, exchange, &span, trainer->anchor,
                       &optimizer, &replaced);
    if (replaced)
        trainer_look(trainer, TRAINER_REPLACED, exchange);
    post_applied(trainer, exchange, false);
}

void trainer_wait_ends(struct trainer *trainer)
{
    if (trainer->waiting)
        trainer->waited += trainer->now - trainer->wait_began;
    trainer->waiting = 0;
}

/* Whether the trainer is blocked now for this exchange. */
static bool waits(struct trainer *trainer, uint64_t exchange)
{
    nanos longest = trainer->agenda.pacer.schedule.wait;

    if (trainer->waiting != exchange) {
        trainer_wait_ends(trainer);
        trainer->waiting = exchange;
        trainer->wait_began = trainer->now;
        trainer->wake =
            longest < NEVER - trainer->now ? trainer->now + longest : NEVER;
        trainer_look(trainer, TRAINER_BLOCKED, exchange);
        trainer_post_progress(trainer);
    }
    if (trainer->now < trainer->wake && !trainer->called)
        return true;
    trainer_wait_ends(trainer);
    pacer_give_up(&trainer->agenda.pacer, exchange);
    return false;
}

/* Applies all that is due; false: blocked. */
bool trainer_apply_due(struct trainer *trainer)
{
    uint64_t exchange = 0;

    for (;;) {
        switch (agenda_due(&trainer->agenda, &exchange)) {
        case PACER_APPLY:
            apply(trainer, exchange);
            break;
        case PACER_SKIP:
            agenda_skip(&trainer->agenda, exchange);
            post_applied(trainer, exchange, true);
            break;
        case PACER_CLOSE:
            post_cut(trainer, exchange, false);
            break;
        case PACER_CUT:
            post_cut(trainer, exchange, true);
            break;
        case PACER_WAIT:
            if (waits(trainer, exchange))
                return false;
            break;
        case PACER_GO:
        default:
            trainer_wait_ends(trainer);
            return true;
        }
    }
}
