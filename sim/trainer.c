#include "sim/trainer_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Log-normal: the mean stays what it is, whatever the spread. */
static double spread(struct trainer *trainer, double mean)
{
    double cv = trainer->config.step_cv;
    double variance = log1p(cv * cv);

    return mean *
           exp(sqrt(variance) * prng_normal(&trainer->prng) - variance / 2);
}

/* The quantile function of Pareto's distribution with shape 2. */
static nanos pause(struct trainer *trainer)
{
    double least = (double)trainer->config.hiccup / 2;

    return (nanos)(least / sqrt(1 - prng_unit(&trainer->prng)));
}

static void start_step(struct trainer *trainer)
{
    const struct trainer_config *config = &trainer->config;
    struct prng *prng = &trainer->prng;
    nanos span = config->step;

    if (config->step_cv > 0)
        span = (nanos)spread(trainer, (double)span);
    if (config->step_jitter > 0)
        span += (nanos)prng_below(prng, (uint64_t)config->step_jitter);
    if (config->hiccups > 0 && prng_unit(prng) < config->hiccups)
        span += pause(trainer);
    training_spend(&trainer->training, SPENT_NET_WAIT, trainer->now);
    trainer->phase = PHASE_STEP;
    trainer->wake = trainer->now + span;
}

/* The gradient lives no longer than this, so that all trainers of a world have
 * theirs in the same memory, which is in the cache. */
static void descend(struct trainer *trainer)
{
    const struct trainer_config *config = &trainer->config;
    float *gradient = malloc(config->elements * sizeof *gradient);
    double loss;

    if (!gradient)
        abort();
    loss = config->gradient(config->context, trainer_iteration(trainer),
                            trainer->x, config->elements, gradient);
    if (!agenda_wants_gradients(&trainer->training.agenda))
        trainer_optimize(trainer, gradient, 0, config->elements);
    training_iterated(&trainer->training, loss, config->samples,
                      &(struct span){gradient, config->elements});
    free(gradient);
}

static void end_step(struct trainer *trainer)
{
    training_spend(&trainer->training, SPENT_COMPUTE, trainer->now);
    descend(trainer);
    trainer_look(trainer, TRAINER_STEPPED, 0);
    trainer_task_step(trainer);
    trainer->phase = PHASE_DUE;
}

static void stop(struct trainer *trainer)
{
    bool steps = trainer->phase == PHASE_STEP;

    training_spend(&trainer->training, steps ? SPENT_COMPUTE : SPENT_NET_WAIT,
                   trainer->now);
    trainer->phase = PHASE_STOPPED;
    trainer->wake = NEVER;
}

/* Goes as far as it can after an iteration. */
static void go_on(struct trainer *trainer)
{
    if (trainer->phase != PHASE_STEP)
        trainer_examine(trainer);
    if (trainer->phase == PHASE_DUE) {
        if (!trainer_apply_due(trainer))
            return;
        trainer_offer(trainer);
        trainer->phase = PHASE_AFTER;
    }
    if (trainer->phase != PHASE_AFTER)
        return;
    if (trainer->training.agenda.pacer.schedule.delay == 0 &&
        !trainer_apply_due(trainer))
        return;
    training_report_if_due(&trainer->training, trainer->now);
    if (trainer->leaving && !trainer->offered_last)
        trainer_offer(trainer); /* it was told while it waited */
    if (trainer->leaving)
        stop(trainer);
    else
        start_step(trainer);
}

static void take_ended(struct trainer *trainer,
                       const struct msg_local_bye *ended)
{
    trainer->leaving = trainer->called = true;
    if (!ended->final)
        return;
    training_wait_ends(&trainer->training, trainer->now);
    stop(trainer);
}

static void take_examine(struct trainer *trainer, uint64_t number,
                         struct blob *payload)
{
    blob_unref(&trainer->to_examine);
    trainer->to_examine = blob_ref(payload);
    trainer->examined = number;
}

static void take_message(struct trainer *trainer, const struct msg *msg,
                         struct blob *payload)
{
    if (msg->kind == MSG_LOCAL_TASK)
        trainer_task_assign(trainer, &msg->local_task);
    else if (msg->kind == MSG_LOCAL_REVIEW)
        take_examine(trainer, msg->local_review.number, payload);
    else if (msg->kind == MSG_LOCAL_BYE)
        take_ended(trainer, &msg->local_bye);
    else
        (void)agenda_receive(&trainer->training.agenda, msg, payload);
}

static void trainer_step(void *self, const struct event *event,
                         struct effects *out)
{
    struct trainer *trainer = self;

    trainer->out = out;
    trainer->now = event->now;
    if (event->kind == EVENT_JOIN && trainer->phase == PHASE_IDLE) {
        (void)training_found(&trainer->training);
        training_spend_from(&trainer->training, trainer->now);
        start_step(trainer);
    } else if (event->kind == EVENT_MESSAGE) {
        take_message(trainer, event->msg, event->payload);
    } else if (event->kind == EVENT_WAKE && trainer->phase == PHASE_STEP &&
               event->now >= trainer->wake) {
        end_step(trainer);
    }
    go_on(trainer);
}

static nanos trainer_deadline(const void *self)
{
    return ((const struct trainer *)self)->wake;
}

struct trainer *trainer_new(const struct trainer_config *config,
                            struct pool *pool)
{
    struct trainer *trainer = calloc(1, sizeof *trainer);
    size_t bytes = config->elements * sizeof(float);
    struct training_owner owner;

    if (!trainer)
        abort();
    trainer->config = *config;
    trainer->pool = pool;
    trainer->wake = NEVER;
    trainer->x = malloc(bytes);
    if (!trainer->x)
        abort();
    memcpy(trainer->x, config->start, bytes);
    trainer->span = (struct span){trainer->x, config->elements};
    for (size_t i = 0; i + 1 < NAME_BYTES && config->name[i]; i++)
        trainer->name[i] = config->name[i];
    owner = trainer_owner(trainer);
    if (!training_init(&trainer->training, &owner, pool, config->elements))
        abort();
    trainer->training.values = &trainer->span;
    prng_seed(&trainer->prng, config->seed);
    return trainer;
}

void trainer_destroy(struct trainer **reference)
{
    struct trainer *trainer = *reference;

    *reference = NULL;
    if (!trainer)
        return;
    training_free(&trainer->training);
    blob_unref(&trainer->to_examine);
    free(trainer->x);
    free(trainer);
}

struct machine trainer_machine(struct trainer *trainer)
{
    return (struct machine){.self = trainer,
                            .name = trainer->name,
                            .step = trainer_step,
                            .deadline = trainer_deadline};
}

void trainer_leave(struct trainer *trainer)
{
    trainer->leaving = true;
}

void trainer_pace(struct trainer *trainer, nanos step)
{
    trainer->config.step = step;
}

const float *trainer_values(const struct trainer *trainer)
{
    return trainer->x;
}

uint64_t trainer_iteration(const struct trainer *trainer)
{
    return trainer->training.agenda.pacer.iteration;
}

uint64_t trainer_missed(const struct trainer *trainer)
{
    return trainer->training.agenda.pacer.missed;
}

nanos trainer_waited(const struct trainer *trainer)
{
    return training_waited(&trainer->training, trainer->now);
}

nanos trainer_spent(const struct trainer *trainer, enum spent where)
{
    return trainer->training.spent[where];
}

bool trainer_stopped(const struct trainer *trainer)
{
    return trainer->phase == PHASE_STOPPED;
}
