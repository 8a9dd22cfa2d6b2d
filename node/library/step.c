/* The training thread's side of a link: star_step and what it does. */
#include <math.h>
#include <time.h>

#include "node/deferred.h"
#include "node/library/inside.h"

/* Who waits is asked so often whether to go on. */
#define HURRIED_EVERY (200 * MILLISECOND)

static void post(void *self, const struct msg *msg, struct blob *payload)
{
    struct star_link *link = self;

    shell_post(&link->shell, msg, payload);
}

static void optimize(void *context, const float *gradient, size_t first,
                     size_t count)
{
    struct star_link *link = context;
    nanos begin = net_now();

    if (!link->options.step)
        return;
    training_spend(&link->training, SPENT_NET_WAIT, begin);
    link->options.step(link->options.context, gradient, first, count);
    training_spend(&link->training, SPENT_OPTIMIZER, net_now());
}

static void hear(void *self, enum training_moment moment, uint64_t exchange)
{
    struct star_link *link = self;
    bool reset =
        link->training.agenda.pacer.schedule.optimizer == OPTIMIZER_RESET;

    (void)exchange;
    if (moment == TRAINING_REPLACED && link->options.replaced)
        link->options.replaced(link->options.context, reset);
}

static void change(void *self, double keep, double scale, const float *values,
                   size_t first, size_t count)
{
    const struct star_link *link = self;

    link->options.change(link->options.context, keep, scale, values, first,
                         count);
}

static void raise_largest(void *self, const float *values, size_t first,
                          size_t count)
{
    const struct star_link *link = self;

    link->options.raise_to(link->options.context, values, first, count);
}

struct training_owner link_owner(struct star_link *link)
{
    return (struct training_owner){
        .self = link,
        .post = post,
        .optimize = optimize,
        .told = hear,
        .change = link->options.change ? change : NULL,
        .raise_to = link->options.raise_to ? raise_largest : NULL,
        .statistics = &link->schema->statistics};
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

/* Applies all that may be applied now; blocks only where the schedule says
 * so. */
static void apply_due(struct star_link *link)
{
    struct training *training = &link->training;
    bool hurried = false;

    while (!training_apply(training, net_now(), hurried) && !link->over) {
        nanos examining = link->examining;

        hurried = link_is_hurried(link);
        if (hurried)
            continue;
        if (!link_review(link))
            (void)link_wait_a_moment(link, training->wait_until);
        training->wait_began += link->examining - examining;
    }
    if (link->over)
        training_wait_ends(training, net_now());
}

/* What the program says of its iteration; what makes no sense is nothing. */
static void spend_apart(struct star_link *link, enum spent where,
                        double seconds, nanos now)
{
    if (seconds > 0)
        training_spend_apart(
            &link->training, where,
            seconds < 1e9 ? (nanos)(seconds * (double)SECOND) : NEVER, now);
}

/* What lies between two calls is the program's. */
static void spend_outside(struct star_link *link,
                          const struct star_progress *progress, nanos now)
{
    spend_apart(link, SPENT_OPTIMIZER, progress->optimizer, now);
    spend_apart(link, SPENT_DATA_WAIT, progress->data_wait, now);
    spend_apart(link, SPENT_IDLE, progress->idle, now);
    training_spend(&link->training, SPENT_COMPUTE, now);
}

/* The same while there is nothing to train on: until the first of such calls
 * the program may have computed. */
static enum spent idle_state(const struct star_link *link)
{
    const struct msg_local_tune *schedule =
        &link->training.agenda.pacer.schedule;

    return schedule->attached && schedule->tasks ? SPENT_DATA_WAIT : SPENT_IDLE;
}

static void note_iteration(struct star_link *link,
                           const struct star_progress *given, nanos now)
{
    struct star_progress progress = {.loss = (double)NAN, .accuracy = -1};
    struct why why;

    if (given && sized_read(&progress, sizeof progress, given, "star_progress",
                            &why) != STATUS_OK)
        shell_tell(&link->shell, STAR_ERROR, "progress_unread", why.text);
    spend_outside(link, &progress, now);
    if (progress.accuracy >= 0)
        link->training.accuracy = progress.accuracy;
    training_iterated(&link->training, progress.loss, progress.samples,
                      link->gradients);
}

/* Says that memory is missing; where not even the node can be told anything any
 * more, nothing will come of it. */
static void tell_memory(struct star_link *link)
{
    uint64_t left_out = link->training.left_out;

    link->starving =
        shell_tell_memory(&link->shell, left_out != link->left_out);
    link->left_out = left_out;
    if (!link->shell.starved || link->over)
        return;
    link->over = true;
    (void)snprintf(link->ended.text, sizeof link->ended.text,
                   "training alone: there was no memory");
}

void link_alone(struct star_link *link)
{
    struct msg_local_tune *schedule = &link->training.agenda.pacer.schedule;

    schedule->attached = schedule->offering = 0;
}

/* Who gives no gradients would be part of the run, and of no use to it. */
static void check_gradients(struct star_link *link)
{
    if (link->over || link->gradients ||
        !agenda_wants_gradients(&link->training.agenda))
        return;
    link->over = true;
    link_alone(link);
    link->ended.refused = true;
    link->ended.farewell = FAREWELL_SCHEMA;
    (void)snprintf(link->ended.text, sizeof link->ended.text,
                   "the run exchanges gradients, and this node gives none");
}

static uint64_t exchanges(const struct star_link *link)
{
    return link->training.offered + link->training.applied;
}

/* A call of the training thread: when it began, what it had waited, worked and
 * exchanged until then. */
struct visit {
    nanos begin, waited, worked;
    uint64_t exchanges;
};

static nanos worked(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static struct visit visit_begin(const struct star_link *link)
{
    return (struct visit){net_now(), link->training.waited, worked(),
                          exchanges(link)};
}

/* An exchange costs what the thread has worked: what others have taken from it
 * meanwhile, on a PC with too few cores, is no reason to exchange less. */
static void visit_end(struct star_link *link, const struct visit *visit,
                      nanos end)
{
    link->inside +=
        end - visit->begin - (link->training.waited - visit->waited);
    if (exchanges(link) != visit->exchanges)
        link->training.exchanging += worked() - visit->worked;
}

/* With the lock held: what is done at the end of an iteration, and where time
 * passes without one. */
static void exchange(struct star_link *link, nanos begin)
{
    check_gradients(link);
    apply_due(link);
    if (!link->stopping)
        training_offer(&link->training, false);
    if (link->training.agenda.pacer.schedule.delay == 0)
        apply_due(link);
    (void)link_review(link);
    training_report_if_due(&link->training, begin);
    tell_memory(link);
}

static enum star_advice advise(const struct star_link *link)
{
    if (link->ended.refused)
        return STAR_REFUSED;
    return link->stopping || (link->over && !link->shell.starved) ? STAR_STOP
                                                                  : STAR_GO;
}

static enum star_advice go_on(struct star_link *link,
                              const struct star_progress *progress, bool idle)
{
    struct visit visit = visit_begin(link);
    enum spent outside;
    enum star_advice advice;
    nanos end;

    (void)pthread_mutex_lock(&link->shell.lock);
    outside = link->idled ? idle_state(link) : SPENT_COMPUTE;
    if (idle)
        training_spend(&link->training, outside, visit.begin);
    if (idle)
        training_idled(&link->training);
    else
        note_iteration(link, progress, visit.begin);
    link->idled = idle;
    exchange(link, visit.begin);
    advice = advise(link);
    end = net_now();
    training_spend(&link->training, idle ? idle_state(link) : SPENT_NET_WAIT,
                   end);
    (void)pthread_mutex_unlock(&link->shell.lock);
    visit_end(link, &visit, end);
    return advice;
}

enum star_advice star_step(struct star_link *link,
                           const struct star_progress *progress)
{
    return link ? go_on(link, progress, false) : STAR_GO;
}

enum star_advice star_idle(struct star_link *link)
{
    return link ? go_on(link, NULL, true) : STAR_GO;
}

unsigned star_due(struct star_link *link)
{
    const struct agenda *agenda;
    unsigned due = 0;
    bool offers;

    if (!link)
        return 0;
    agenda = &link->training.agenda;
    (void)pthread_mutex_lock(&link->shell.lock);
    offers = !link->stopping && !training_awaits(&link->training) &&
             pacer_will_offer(&agenda->pacer);
    if (offers)
        due |= STAR_DUE_OFFER;
    if (training_awaits(&link->training) &&
        link->training.deferred->iteration == agenda->pacer.iteration)
        due |= STAR_DUE_COPY;
    if (inbox_complete(&agenda->inbox, 0) || pacer_will_apply(&agenda->pacer) ||
        (offers && agenda->pacer.schedule.delay == 0) ||
        (agenda->pacer.schedule.offering && agenda->pacer.schedule.anchor > 0))
        due |= STAR_DUE_RESULT;
    (void)pthread_mutex_unlock(&link->shell.lock);
    return due;
}

enum star_status link_give(struct star_link *link, uint64_t iteration,
                           const struct span *values)
{
    struct visit visit = visit_begin(link);
    bool taken;
    nanos end;

    (void)pthread_mutex_lock(&link->shell.lock);
    taken = training_give(&link->training, iteration, values);
    training_spend(&link->training, SPENT_COMPUTE, visit.begin);
    if (taken && link->training.agenda.pacer.schedule.delay == 0)
        apply_due(link);
    tell_memory(link);
    end = net_now();
    training_spend(&link->training, SPENT_NET_WAIT, end);
    (void)pthread_mutex_unlock(&link->shell.lock);
    visit_end(link, &visit, end);
    return taken ? STAR_OK : STAR_BAD_ARGUMENT;
}

enum star_status star_offer(struct star_link *link, uint64_t iteration)
{
    return link ? link_give(link, iteration, link->values) : STAR_OK;
}

int star_wants_gradient(struct star_link *link)
{
    int wants;

    if (!link)
        return 0;
    (void)pthread_mutex_lock(&link->shell.lock);
    wants = agenda_wants_gradients(&link->training.agenda) && link->gradients;
    (void)pthread_mutex_unlock(&link->shell.lock);
    return wants;
}
