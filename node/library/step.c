/* The training thread's side of a link: star_step and what it does. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node/library/inside.h"

/* The hub's table wants to know about this often. */
#define PROGRESS_EVERY (200 * MILLISECOND)
/* Who waits is asked so often whether to go on. */
#define HURRIED_EVERY (200 * MILLISECOND)
/* Weight of an iteration in the smoothed loss. */
#define LOSS_SHARE 0.05

static bool exchanges_gradients(const struct star_link *link)
{
    return agenda_wants_gradients(&link->agenda) && link->gradients;
}

static void copy_all(const struct star_link *link, float *to)
{
    fragment_copy(fragment_of(0, 1), (size_t)link->schema->elements, UINT32_MAX,
                  link->values, to);
}

void link_offer(struct star_link *link, uint64_t exchange, bool last)
{
    struct msg msg = {.kind = MSG_SNAPSHOT};
    struct blob *blob = NULL;

    if (exchange) {
        blob = blob_new(link->shell.pool,
                        agenda_elements(&link->agenda) * sizeof(float));
        if (blob)
            agenda_copy(&link->agenda, link->values, blob_floats(blob));
    } else if (last && !agenda_wants_gradients(&link->agenda)) {
        blob = blob_new(link->shell.pool,
                        (size_t)link->schema->elements * sizeof(float));
        if (blob) /* once the hub is back */
            copy_all(link, blob_floats(blob));
    }
    agenda_describe(&link->agenda, &msg.snapshot);
    msg.snapshot.exchange = exchange;
    msg.snapshot.score = isfinite(link->loss) ? link->loss : NO_SCORE;
    msg.snapshot.last = last;
    link->offered += blob != NULL;
    net_post(link->shell.net, &msg, blob);
}

void link_found(struct star_link *link)
{
    struct msg msg = {.kind = MSG_SNAPSHOT};

    msg.snapshot.score = NO_SCORE;
    link->start = blob_new(link->shell.pool,
                           (size_t)link->schema->elements * sizeof(float));
    if (link->start)
        copy_all(link, blob_floats(link->start));
    net_post(link->shell.net, &msg, blob_ref(link->start));
}

void link_progress(struct star_link *link, bool blocked)
{
    struct msg msg = {.kind = MSG_PROGRESS};

    msg.progress.iteration = link->agenda.pacer.iteration;
    msg.progress.loss = isfinite(link->loss) ? link->loss : NO_SCORE;
    msg.progress.accuracy = link->accuracy;
    msg.progress.missed = link->agenda.pacer.missed;
    msg.progress.waited = link->waited;
    msg.progress.blocked = blocked;
    net_post(link->shell.net, &msg, NULL);
    link->posted = net_now();
}

static void post_applied(struct star_link *link, uint64_t exchange,
                         bool skipped)
{
    struct msg msg = {.kind = MSG_APPLIED};

    msg.applied.exchange = exchange;
    msg.applied.iteration = link->agenda.pacer.iteration;
    msg.applied.skipped = skipped;
    net_post(link->shell.net, &msg, NULL);
}

static void post_cut(struct star_link *link, uint64_t exchange, bool final)
{
    struct msg msg = {.kind = MSG_CUT};

    msg.cut.exchange = exchange;
    msg.cut.final = final;
    net_post(link->shell.net, &msg, NULL);
}

static void optimize(void *context, const float *gradient, size_t first,
                     size_t count)
{
    struct star_link *link = context;

    if (link->options.step)
        link->options.step(link->options.context, gradient, first, count);
}

static void apply(struct star_link *link, uint64_t exchange)
{
    const struct inbox_optimizer optimizer = {optimize, link};
    bool reset = link->agenda.pacer.schedule.optimizer == OPTIMIZER_RESET;
    bool replaced;

    (void)agenda_apply(&link->agenda, exchange, link->values, link->anchor,
                       &optimizer, &replaced);
    link->applied++;
    if (replaced && link->options.replaced)
        link->options.replaced(link->options.context, reset);
    post_applied(link, exchange, false);
}

bool link_is_hurried(const struct star_link *link)
{
    return link->stopping ||
           (link->options.hurry && link->options.hurry(link->options.context));
}

bool link_wait_a_moment(struct star_link *link, nanos until)
{
    nanos moment = net_now() + HURRIED_EVERY;

    return shell_wait(&link->shell, moment < until ? moment : until) ||
           moment < until;
}

static void wait_for(struct star_link *link, uint64_t exchange)
{
    nanos begin = net_now();
    nanos longest = link->agenda.pacer.schedule.wait;
    nanos until = longest < NEVER - begin ? begin + longest : NEVER;
    nanos examining = link->examining;
    uint64_t still = exchange;

    link_progress(link, true);
    while (!link->over && agenda_due(&link->agenda, &still) == PACER_WAIT &&
           still == exchange)
        if (link_is_hurried(link) ||
            (!link_review(link) && !link_wait_a_moment(link, until))) {
            pacer_give_up(&link->agenda.pacer, exchange);
            break;
        }
    link->waited += net_now() - begin - (link->examining - examining);
    link_progress(link, false);
}

/* Applies all that may be applied now; blocks only where the schedule says
 * so. */
static void apply_due(struct star_link *link)
{
    uint64_t exchange = 0;

    for (;;) {
        switch (agenda_due(&link->agenda, &exchange)) {
        case PACER_APPLY:
            apply(link, exchange);
            break;
        case PACER_SKIP:
            agenda_skip(&link->agenda, exchange);
            post_applied(link, exchange, true);
            break;
        case PACER_CLOSE:
            post_cut(link, exchange, false);
            break;
        case PACER_CUT:
            post_cut(link, exchange, true);
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
                           const struct star_progress *given)
{
    struct star_progress progress = {.loss = (double)NAN, .accuracy = -1};
    struct why why;

    if (given && sized_read(&progress, sizeof progress, given, "star_progress",
                            &why) != STATUS_OK)
        shell_tell(&link->shell, STAR_ERROR, "progress_unread", why.text);
    if (progress.accuracy >= 0)
        link->accuracy = progress.accuracy;
    if (isfinite(progress.loss))
        link->loss =
            isnan(link->loss)
                ? progress.loss
                : link->loss + LOSS_SHARE * (progress.loss - link->loss);
    agenda_step(&link->agenda, progress.samples, link->gradients);
}

/* Pulls to the anchor, which begins as the starting parameters; as the present
 * ones, where the first hub had none. */
static void pull(struct star_link *link)
{
    const struct msg_schedule *schedule = &link->agenda.pacer.schedule;
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
            copy_all(link, link->anchor);
    }
    blob_unref(&link->start);
    inbox_pull(&link->agenda.inbox, schedule, link->values, link->anchor);
}

enum star_advice star_step(struct star_link *link,
                           const struct star_progress *progress)
{
    enum star_advice advice = STAR_GO;
    nanos begin = net_now(), waited = link ? link->waited : 0;
    uint64_t exchange;

    if (!link)
        return STAR_GO;
    (void)pthread_mutex_lock(&link->shell.lock);
    note_iteration(link, progress);
    pull(link);
    apply_due(link);
    while (!link->stopping &&
           agenda_offer(&link->agenda, false, &exchange))
        link_offer(link, exchange, false);
    if (link->agenda.pacer.schedule.delay == 0)
        apply_due(link);
    (void)link_review(link);
    if (begin - link->posted >= PROGRESS_EVERY)
        link_progress(link, false);
    if (link->ended.refused)
        advice = STAR_REFUSED;
    else if (link->stopping || link->over)
        advice = STAR_STOP;
    (void)pthread_mutex_unlock(&link->shell.lock);
    link->inside += net_now() - begin - (link->waited - waited);
    return advice;
}

int star_wants_gradient(struct star_link *link)
{
    int wants;

    if (!link)
        return 0;
    (void)pthread_mutex_lock(&link->shell.lock);
    wants = exchanges_gradients(link);
    (void)pthread_mutex_unlock(&link->shell.lock);
    return wants;
}
