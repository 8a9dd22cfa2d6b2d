/* libstarswitch: attaching a training loop to a run, and leaving it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "net/net.h"
#include "node/library/inside.h"

/* The way back to a hub that was lost may take 10 s, its last round as long,
 * twice that where a member keeps it waiting; then it must save. */
#define GOODBYE (34 * SECOND)
/* As long as its hub is there and takes what the node has learnt, no longer
 * than this from one sign of it to the next: a chunk may take minutes. */
#define GIVING (600 * SECOND)
/* What was sent last gets out meanwhile. */
#define CLOSING (3 * SECOND)

/* What a program should exit with after a farewell. */
static const enum status farewell_status[FAREWELL_COUNT] = {
    [FAREWELL_DONE] = STATUS_OK,         [FAREWELL_LEAVING] = STATUS_OK,
    [FAREWELL_VERSION] = STATUS_VERSION, [FAREWELL_SCHEMA] = STATUS_CONFIG,
    [FAREWELL_REPLACED] = STATUS_AGAIN,  [FAREWELL_FULL] = STATUS_UNAVAILABLE,
    [FAREWELL_OFFENCE] = STATUS_BUG,     [FAREWELL_STRANGER] = STATUS_BUG,
    [FAREWELL_KEY] = STATUS_REFUSED,     [FAREWELL_SUPERSEDED] = STATUS_AGAIN,
    [FAREWELL_PORT] = STATUS_CONFIG,
};

/* ---- the network's thread ---- */

static void on_note(void *self, nanos now, const struct note *note)
{
    struct star_link *link = self;

    (void)now;
    if (note->kind == NOTE_LAST_LOST) {
        (void)pthread_mutex_lock(&link->shell.lock);
        link->lost = true;
        (void)pthread_mutex_unlock(&link->shell.lock);
    }
    entry_note(&link->shell.entry, note);
}

/* Says what lets this node in, once the hub has refused its key. */
static void tell_key(const struct star_link *link)
{
    char text[NOTE_BYTES];

    credentials_say(&link->shell.entry.own, text);
    entry_tell(&link->shell.entry, NOTE_WAITING, text);
}

/* What the machine sends to the trainer. */
static void local(void *self, const struct msg *msg, struct blob *payload)
{
    struct star_link *link = self;

    (void)pthread_mutex_lock(&link->shell.lock);
    while (!agenda_receive(&link->training.agenda, msg, payload)) {
        (void)pthread_mutex_unlock(&link->shell.lock);
        need_wait();
        (void)pthread_mutex_lock(&link->shell.lock);
    }
    if (msg->kind == MSG_LOCAL_TASK) {
        link_assign_task(link, &msg->local_task);
    } else if (msg->kind == MSG_LOCAL_REVIEW) {
        link_start_review(link, msg->local_review.number, payload);
    } else if (msg->kind == MSG_LOCAL_BYE) {
        link->ended = msg->local_bye;
        link->stopping = !msg->local_bye.refused;
        link->over = msg->local_bye.final;
    }
    if (link->over && link->ended.refused)
        link_alone(link);
    (void)pthread_cond_broadcast(&link->shell.changed);
    (void)pthread_mutex_unlock(&link->shell.lock);
    if (msg->kind == MSG_LOCAL_BYE && msg->local_bye.farewell == FAREWELL_KEY &&
        link->shell.entry.own.certificate.has_secret)
        tell_key(link);
}

/* The hub will not have this node: nothing more comes of it. */
static void refused(struct star_link *link, enum farewell farewell,
                    const char *text)
{
    struct msg msg = {.kind = MSG_LOCAL_BYE};

    msg.local_bye.refused = 1;
    msg.local_bye.final = 1;
    msg.local_bye.farewell = farewell;
    (void)snprintf(msg.local_bye.text, sizeof msg.local_bye.text, "%s", text);
    local(link, &msg, NULL);
}

static bool tick(void *self, nanos now)
{
    struct star_link *link = self;
    struct why why = {""};
    enum enrol_state state =
        entry_tick(&link->shell.entry, link->shell.net, now, &why);

    if (state == ENROL_REFUSED)
        refused(link, FAREWELL_KEY, why.text);
    else if (state == ENROL_MISLED)
        refused(link, FAREWELL_PORT, why.text);
    (void)pthread_mutex_lock(&link->shell.lock);
    link->trouble = *entry_trouble(&link->shell.entry, link->shell.net);
    (void)pthread_mutex_unlock(&link->shell.lock);
    return true;
}

/* ---- attaching ---- */

const char *star_version(void)
{
    return STAR_VERSION;
}

static void make_node(struct star_link *link)
{
    struct node_config config = {.name = link->shell.identity.name,
                                 .uuid_high = link->shell.identity.high,
                                 .uuid_low = link->shell.identity.low,
                                 .schema = link->schema,
                                 .reviews = link->options.evaluate != NULL,
                                 .up = link->options.up,
                                 .down = link->options.down};

    config.incarnation = (uint64_t)net_wall();
    link->node = node_new(&config, link->shell.pool);
}

static void link_free(void *self)
{
    struct star_link *link = self;

    shell_free(&link->shell);
    record_close(&link->record);
    node_destroy(&link->node);
    training_free(&link->training);
    blob_unref(&link->to_examine);
    link_free_centre(link);
    pool_destroy(&link->shell.pool);
    schema_destroy(&link->schema);
    free(link->values);
    free(link->gradients);
    free(link);
}

static struct star_link *link_new(size_t count)
{
    struct star_link *link = calloc(1, sizeof *link);

    if (!link)
        return NULL;
    shell_ready(&link->shell);
    link->count = count;
    link->values = calloc(count, sizeof *link->values);
    link->gradients = calloc(count, sizeof *link->gradients);
    link->schema = schema_new();
    if (link->values && link->gradients && link->schema)
        return link;
    link_free(link);
    return NULL;
}

static enum status open_shell(struct star_link *link, struct why *why)
{
    const struct star_options *options = &link->options;
    const struct shell_plan plan = {.hub = options->hub,
                                    .key = options->key,
                                    .identity = options->identity,
                                    .cores = options->cores,
                                    .log = options->log,
                                    .context = options->context,
                                    .quiet = options->quiet != 0,
                                    .release = link_free,
                                    .of = link};
    const struct net_owner owner = {.self = link,
                                    .local = local,
                                    .note = on_note,
                                    .watch = link_watch,
                                    .tick = tick};
    enum status status =
        shell_open(&link->shell, &plan, node_machine(link->node), &owner, why);

    link->options.key = NULL; /* the caller's, who may wipe it */
    return status;
}

/* The first offer finds room that is in use already: in fresh pages a copy
 * takes up to thirty times as long, and that would be the training thread's. */
static void warm_up(struct star_link *link)
{
    struct blob *room = blob_new(
        link->shell.pool, (size_t)link->schema->elements * sizeof(float));

    if (room)
        memset(room->bytes, 0, room->size);
    blob_unref(&room);
}

static enum status prepare(struct star_link *link,
                           const struct star_options *options,
                           const struct star_tensor *tensors, struct why *why)
{
    struct training_owner owner;
    enum status status = options
                             ? sized_read(&link->options, sizeof link->options,
                                          options, "star_options", why)
                             : STATUS_OK;

    if (status == STATUS_OK)
        status = link_describe(link, tensors, why);
    if (status == STATUS_OK)
        status = shell_init(&link->shell, "node", link->options.name, why);
    if (status != STATUS_OK)
        return status;
    owner = link_owner(link);
    if (!training_init(&link->training, &owner, link->shell.pool,
                       (size_t)link->schema->elements))
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    link->training.values = link->values;
    make_node(link);
    if (!link->node)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    status = link_record(link, why);
    if (status == STATUS_OK)
        status = open_shell(link, why);
    if (status != STATUS_OK)
        return status;
    training_spend_from(&link->training, net_now());
    if (!training_found(&link->training))
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    warm_up(link);
    link->shell.logs = true;
    return shell_start(&link->shell, why);
}

enum star_status star_attach(const struct star_options *options,
                             const struct star_tensor *tensors, size_t count,
                             struct star_link **out, char *error, size_t size)
{
    struct star_link *link;
    struct why why = {""};
    enum status status;

    if (out)
        *out = NULL;
    if (!tensors || !count || !out)
        return shell_failure(error, size, STATUS_USAGE,
                             "there are no tensors to attach");
    link = link_new(count);
    if (!link)
        return shell_failure(error, size, STATUS_NO_MEMORY,
                             "not enough memory");
    status = prepare(link, options, tensors, &why);
    if (status != STATUS_OK) {
        link_free(link);
        return shell_failure(error, size, status, why.text);
    }
    *out = link;
    return STAR_OK;
}

/* ---- looking and leaving ---- */

/* By how many iterations the oldest result is late, once that is worth saying:
 * by k or more. */
static uint64_t lateness(const struct pacer *pacer)
{
    uint64_t due = pacer->count ? pacer->flight[0].due : UINT64_MAX;
    uint64_t now = pacer_time(pacer), late = now > due ? now - due : 0;

    return late >= pacer->schedule.every ? late : 0;
}

static void say(const struct star_link *link, char *out, size_t size)
{
    const struct msg_local_tune *schedule =
        &link->training.agenda.pacer.schedule;
    uint64_t late = lateness(&link->training.agenda.pacer);
    char reason[MSG_TEXT_BYTES] = "looking for the hub";

    if (net_trouble_is_sure(&link->trouble))
        net_trouble_print(&link->trouble, false, reason, sizeof reason);
    if (link->ended.text[0])
        (void)snprintf(out, size, "%s", link->ended.text);
    else if (!schedule->attached)
        (void)snprintf(out, size, "training alone; %.110s", reason);
    else if (late)
        (void)snprintf(out, size,
                       "training; result %" PRIu64 " iterations late", late);
    else
        (void)snprintf(out, size, "%s",
                       schedule->offering
                           ? "training, part of the run"
                           : "training; exchanging first parameters");
}

static void look(struct star_link *link, struct star_state *state)
{
    const struct msg_local_tune *schedule =
        &link->training.agenda.pacer.schedule;

    (void)pthread_mutex_lock(&link->shell.lock);
    state->attached = schedule->attached && !link->over;
    state->iteration = link->training.agenda.pacer.iteration;
    state->offered = link->training.offered;
    state->applied = link->training.applied;
    state->missed = link->training.agenda.pacer.missed;
    state->every = schedule->every;
    state->delay = schedule->delay;
    state->shard = schedule->shard;
    state->shards = schedule->shards;
    state->tasks = schedule->attached ? schedule->tasks : 0;
    state->bytes_up = link->bytes_up;
    state->bytes_down = link->bytes_down;
    state->global_samples = link->samples;
    state->members = link->members;
    state->version = link->version;
    state->inside = (double)link->inside / (double)SECOND;
    state->waited = (double)link->training.waited / (double)SECOND;
    state->status = link->starving ? STAR_NO_MEMORY : STAR_OK;
    state->exit_code = status_exit_code(farewell_status[link->ended.farewell]);
    memcpy(state->name, link->shell.identity.name, sizeof state->name);
    say(link, state->text, sizeof state->text);
    (void)pthread_mutex_unlock(&link->shell.lock);
}

enum star_status star_look(struct star_link *link, struct star_state *out)
{
    struct star_state state = {.text = "training alone"};

    if (link)
        look(link, &state);
    return !out || sized_write(out, &state, sizeof state) == STATUS_OK
               ? STAR_OK
               : STAR_BAD_ARGUMENT;
}

enum star_status star_wait(struct star_link *link, double seconds)
{
    enum star_status status = STAR_TIMEOUT;
    nanos until = shell_limit(seconds, NEVER);

    if (!link)
        return status;
    (void)pthread_mutex_lock(&link->shell.lock);
    while (!link->over && !link->training.agenda.pacer.schedule.attached &&
           !link_is_hurried(link) && link_wait_a_moment(link, until))
        continue;
    if (link->over)
        status = STAR_CLOSED;
    else if (link->training.agenda.pacer.schedule.attached)
        status = STAR_OK;
    (void)pthread_mutex_unlock(&link->shell.lock);
    return status;
}

int star_poll(struct star_link *link, struct star_event *event)
{
    return link && event && shell_poll(&link->shell, event);
}

void star_say(struct star_link *link, enum star_level level, const char *event,
              const char *sentence)
{
    if (link && (unsigned)level <= STAR_ERROR && event && sentence)
        shell_say(&link->shell, level, event, sentence);
}

/* Waits until the link is over, and makes the reviews that others wait for
 * meanwhile. */
static void wait_until_over(struct star_link *link, nanos until)
{
    bool waits = true;

    while (!link->over && waits)
        if (net_now() >= until || !link_review(link))
            waits = shell_wait(&link->shell, until);
}

/* On a slow link the last offer, which is as it is, takes long. */
static void wait_while_giving(struct star_link *link)
{
    while (!link->over && link->gives && net_now() - link->taken < GIVING)
        wait_until_over(link, net_now() + SECOND);
}

/* Leaves with a last offer, which has until then, or as long as its hub takes
 * it; where nobody does, says only goodbye. Returns whether it was taken. */
static bool say_goodbye(struct star_link *link, nanos until, nanos farewell,
                        bool patient)
{
    bool attached, taken;

    (void)pthread_mutex_lock(&link->shell.lock);
    attached = link->training.agenda.pacer.schedule.attached != 0;
    training_report(&link->training, net_now());
    if (!link->over) {
        training_offer(&link->training, true);
        wait_until_over(link, until);
        if (patient)
            wait_while_giving(link);
    }
    taken = link->over && attached && !link->lost && !link->ended.refused;
    if (!link->over) {
        training_farewell(&link->training);
        wait_until_over(link, net_now() + farewell);
    }
    (void)pthread_mutex_unlock(&link->shell.lock);
    return taken;
}

void star_detach(struct star_link **reference)
{
    struct star_link *link = reference ? *reference : NULL;

    if (!link)
        return;
    *reference = NULL;
    (void)say_goodbye(link, net_now() + GOODBYE, SECOND, true);
    shell_stop(&link->shell, net_now() + CLOSING);
}

enum star_status star_detach_within(struct star_link **reference,
                                    double seconds)
{
    struct star_link *link = reference ? *reference : NULL;
    nanos now = net_now();
    nanos end = time_after(now, seconds >= 0 ? shell_span(seconds) : GOODBYE);
    nanos farewell = (end - now) / 4 < SECOND ? (end - now) / 4 : SECOND;
    bool taken;

    if (!link)
        return STAR_OK;
    *reference = NULL;
    taken = say_goodbye(link, end - farewell, farewell / 2, false);
    shell_stop(&link->shell, end);
    return taken ? STAR_OK : STAR_TIMEOUT;
}
