/* The training thread's side of a link: star_step and what it does. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node/api_link.h"

/* The hub's table wants to know about this often. */
#define PROGRESS_EVERY (200 * MILLISECOND)
/* Weight of an iteration in the smoothed loss. */
#define LOSS_SHARE 0.05

static bool exchanges_gradients(const struct star_link *link)
{
    const struct msg_schedule *schedule = &link->pacer.schedule;

    return schedule->attached && schedule->exchange == EXCHANGE_GRADIENT &&
           link->gradients;
}

static struct blob *copy_values(const struct star_link *link,
                                struct fragment part, uint32_t chunk_elements)
{
    size_t elements = (size_t)link->schema->elements;
    size_t count = fragment_elements(part, elements, chunk_elements);
    struct blob *blob = blob_new(link->pool, count * sizeof(float));

    if (blob)
        fragment_copy(part, elements, chunk_elements, link->values,
                      blob_floats(blob));
    return blob;
}

/* Adds this iteration's gradient; the mean is taken when it is offered. */
static void sum_gradient(struct star_link *link)
{
    size_t at = 0;

    if (!link->sum)
        link->sum = calloc(link->schema->elements, sizeof *link->sum);
    if (!link->sum)
        abort();
    for (size_t i = 0; i < link->count; i++)
        for (size_t j = 0; j < link->gradients[i].count; j++)
            link->sum[at++] += (double)link->gradients[i].values[j];
    link->summed++;
}

static struct blob *take_gradient(struct star_link *link)
{
    size_t elements = (size_t)link->schema->elements;
    struct blob *blob = blob_new(link->pool, elements * sizeof(float));

    for (size_t i = 0; blob && i < elements; i++)
        blob_floats(blob)[i] = (float)(link->sum[i] / (double)link->summed);
    memset(link->sum, 0, elements * sizeof *link->sum);
    link->summed = 0;
    return blob;
}

/* What the run wants of the exchange that was begun last, or NULL. */
static struct blob *offered_values(struct star_link *link, bool last)
{
    const struct msg_schedule *schedule = &link->pacer.schedule;
    struct fragment part =
        fragment_of(link->pacer.fragment, schedule->fragments);

    if (schedule->exchange != EXCHANGE_GRADIENT)
        return copy_values(link, part, schedule->chunk_elements);
    return link->summed > 0 && !last ? take_gradient(link) : NULL;
}

void link_offer(struct star_link *link, uint64_t exchange, bool last)
{
    const struct msg_schedule *schedule = &link->pacer.schedule;
    struct msg msg = {.kind = MSG_SNAPSHOT};
    struct blob *blob = exchange ? offered_values(link, last) : NULL;

    msg.snapshot.exchange = exchange;
    msg.snapshot.iteration = link->pacer.iteration;
    msg.snapshot.samples = link->samples;
    msg.snapshot.score = isfinite(link->loss) ? link->loss : NO_SCORE;
    msg.snapshot.last = last;
    msg.snapshot.kind = schedule->exchange;
    msg.snapshot.fragment = link->pacer.fragment;
    msg.snapshot.fragments = schedule->fragments;
    link->samples = 0;
    if (blob) {
        link->offered++;
        link->bytes_up += blob->size;
    }
    net_post(link->net, &msg, blob);
}

void link_found(struct star_link *link)
{
    struct msg msg = {.kind = MSG_SNAPSHOT};

    link->start = copy_values(link, fragment_of(0, 1), UINT32_MAX);
    msg.snapshot.score = NO_SCORE;
    net_post(link->net, &msg, blob_ref(link->start));
}

void link_progress(struct star_link *link, bool blocked)
{
    struct msg msg = {.kind = MSG_PROGRESS};

    msg.progress.iteration = link->pacer.iteration;
    msg.progress.loss = isfinite(link->loss) ? link->loss : NO_SCORE;
    msg.progress.accuracy = link->accuracy;
    msg.progress.missed = link->pacer.missed;
    msg.progress.waited = link->waited;
    msg.progress.blocked = blocked;
    net_post(link->net, &msg, NULL);
    link->posted = net_now();
}

static void post_applied(struct star_link *link, uint64_t exchange,
                         bool skipped)
{
    struct msg msg = {.kind = MSG_APPLIED};

    msg.applied.exchange = exchange;
    msg.applied.iteration = link->pacer.iteration;
    msg.applied.skipped = skipped;
    net_post(link->net, &msg, NULL);
}

static void optimize(void *context, const float *gradient, size_t first,
                     size_t count)
{
    struct star_link *link = context;

    if (link->options.step)
        link->options.step(link->options.context, gradient, first, count);
}

/* The parameters were replaced: what is in flight is of no use any more. */
static void begin_anew(struct star_link *link)
{
    pacer_forget(&link->pacer, 1, UINT64_MAX);
    inbox_forget(&link->inbox, 1, UINT64_MAX);
    if (link->options.replaced)
        link->options.replaced(link->options.context,
                               link->pacer.schedule.optimizer ==
                                   OPTIMIZER_RESET);
}

static void apply(struct star_link *link, uint64_t exchange)
{
    const struct inbox_optimizer optimizer = {optimize, link};
    bool replaces = inbox_replaces(&link->inbox, exchange);

    link->bytes_down += sizeof(float) *
                        inbox_apply(&link->inbox, exchange, link->values,
                                    link->anchor, &optimizer);
    link->applied++;
    if (exchange)
        pacer_done(&link->pacer, exchange);
    if (replaces)
        begin_anew(link);
    post_applied(link, exchange, false);
}

/* Blocks until something comes or the schedule's wait is over; false: over. */
static bool wait_for_change(struct star_link *link, nanos until)
{
    struct timespec time = {until / SECOND, until % SECOND};

    return pthread_cond_timedwait(&link->changed, &link->lock, &time) !=
           ETIMEDOUT;
}

static void wait_for(struct star_link *link, uint64_t exchange)
{
    nanos begin = net_now();
    nanos until = begin + link->pacer.schedule.wait;
    uint64_t still = exchange;

    link_progress(link, true);
    while (!link->over && pacer_due(&link->pacer, &still) == PACER_WAIT &&
           still == exchange && !inbox_complete(&link->inbox, 0))
        if (!wait_for_change(link, until)) {
            pacer_give_up(&link->pacer, exchange);
            break;
        }
    link->waited += net_now() - begin;
    link_progress(link, false);
}

/* Applies all that may be applied now; blocks only where the schedule says
 * so. */
static void apply_due(struct star_link *link)
{
    uint64_t exchange = 0;

    for (;;) {
        if (inbox_complete(&link->inbox, 0)) {
            apply(link, 0);
            continue;
        }
        switch (pacer_due(&link->pacer, &exchange)) {
        case PACER_APPLY:
            apply(link, exchange);
            break;
        case PACER_SKIP:
            pacer_done(&link->pacer, exchange);
            inbox_forget(&link->inbox, exchange, exchange);
            post_applied(link, exchange, true);
            break;
        case PACER_WAIT:
            if (link->over)
                return;
            wait_for(link, exchange);
            break;
        case PACER_GO:
            return;
        }
    }
}

static void note_iteration(struct star_link *link,
                           const struct star_progress *progress)
{
    if (progress) {
        link->samples += progress->samples;
        if (progress->accuracy > 0)
            link->accuracy = progress->accuracy;
        if (isfinite(progress->loss))
            link->loss = isnan(link->loss)
                             ? progress->loss
                             : link->loss + LOSS_SHARE * (progress->loss -
                                                          link->loss);
    }
    pacer_tick(&link->pacer);
    if (exchanges_gradients(link))
        sum_gradient(link);
}

/* Pulls to the anchor, which begins as the starting parameters; as the present
 * ones, where the first hub had none. */
static void pull(struct star_link *link)
{
    const struct msg_schedule *schedule = &link->pacer.schedule;
    size_t elements = (size_t)link->schema->elements;

    if (!schedule->attached)
        return;
    if (schedule->anchor > 0 && !link->anchor) {
        link->anchor = malloc(elements * sizeof *link->anchor);
        if (!link->anchor)
            abort();
        if (link->start)
            memcpy(link->anchor, link->start->bytes, link->start->size);
        else
            fragment_copy(fragment_of(0, 1), elements, UINT32_MAX,
                          link->values, link->anchor);
    }
    blob_unref(&link->start);
    inbox_pull(&link->inbox, schedule, link->values, link->anchor);
}

enum star_advice star_step(struct star_link *link,
                           const struct star_progress *progress)
{
    enum star_advice advice = STAR_GO;
    nanos begin = net_now(), waited = link->waited;
    uint64_t exchange;

    (void)pthread_mutex_lock(&link->lock);
    note_iteration(link, progress);
    pull(link);
    apply_due(link);
    while (!link->stopping && pacer_offer(&link->pacer, false, &exchange))
        link_offer(link, exchange, false);
    if (link->pacer.schedule.delay == 0)
        apply_due(link);
    if (begin - link->posted >= PROGRESS_EVERY)
        link_progress(link, false);
    if (link->ended.refused)
        advice = STAR_REFUSED;
    else if (link->stopping || link->over)
        advice = STAR_STOP;
    (void)pthread_mutex_unlock(&link->lock);
    link->inside += net_now() - begin - (link->waited - waited);
    return advice;
}

int star_wants_gradient(struct star_link *link)
{
    int wants;

    (void)pthread_mutex_lock(&link->lock);
    wants = exchanges_gradients(link);
    (void)pthread_mutex_unlock(&link->lock);
    return wants;
}
