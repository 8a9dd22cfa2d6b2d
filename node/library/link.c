/* libstarswitch: attaching a training loop to a run, and leaving it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/endpoint.h"
#include "net/memory.h"
#include "node/library/inside.h"

/* The way back to a hub that was lost may take 10 s, its last round as long,
 * twice that where a member keeps it waiting; then it must save. */
#define GOODBYE (34 * SECOND)
/* As long as its hub is there and takes what the node has learnt, no longer
 * than this from one sign of it to the next: a chunk may take minutes. */
#define GIVING (600 * SECOND)

/* What a program should exit with after a farewell. */
static const enum status farewell_status[FAREWELL_COUNT] = {
    [FAREWELL_DONE] = STATUS_OK,
    [FAREWELL_LEAVING] = STATUS_OK,
    [FAREWELL_VERSION] = STATUS_VERSION,
    [FAREWELL_SCHEMA] = STATUS_CONFIG,
    [FAREWELL_REPLACED] = STATUS_AGAIN,
    [FAREWELL_FULL] = STATUS_UNAVAILABLE,
    [FAREWELL_OFFENCE] = STATUS_BUG,
    [FAREWELL_STRANGER] = STATUS_BUG,
    [FAREWELL_KEY] = STATUS_REFUSED,
    [FAREWELL_SUPERSEDED] = STATUS_AGAIN,
    [FAREWELL_PORT] = STATUS_CONFIG,
};

/* How star_attach says that this was the matter. */
static const enum star_status failures[STATUSES] = {
    [STATUS_SHORT] = STAR_NO_NETWORK,
    [STATUS_USAGE] = STAR_BAD_ARGUMENT,
    [STATUS_UNAVAILABLE] = STAR_NO_NETWORK,
    [STATUS_BUG] = STAR_NO_NETWORK,
    [STATUS_NO_MEMORY] = STAR_NO_MEMORY,
    [STATUS_IO] = STAR_NO_FILE,
    [STATUS_AGAIN] = STAR_NO_NETWORK,
    [STATUS_VERSION] = STAR_NO_NETWORK,
    [STATUS_REFUSED] = STAR_NO_NETWORK,
    [STATUS_CONFIG] = STAR_BAD_ARGUMENT,
    [STATUS_MALFORMED] = STAR_NO_FILE,
};

/* ---- the network's thread ---- */

void link_local(void *self, const struct msg *msg, struct blob *payload)
{
    struct star_link *link = self;

    (void)pthread_mutex_lock(&link->lock);
    agenda_take(&link->agenda, msg, payload);
    if (msg->kind == MSG_ASSIGN) {
        link_take_task(link, &msg->assign);
    } else if (msg->kind == MSG_EXAMINE) {
        link_take_review(link, msg->examine.number, payload);
    } else if (msg->kind == MSG_ENDED) {
        link->ended = msg->ended;
        link->stopping = !msg->ended.refused;
        link->over = msg->ended.final;
    }
    (void)pthread_cond_broadcast(&link->changed);
    (void)pthread_mutex_unlock(&link->lock);
    if (msg->kind == MSG_ENDED && msg->ended.farewell == FAREWELL_KEY &&
        link->entry.own.certificate.has_secret)
        link_tell_key(link);
}

static void *run(void *self)
{
    struct star_link *link = self;

    net_run(link->net);
    return NULL;
}

/* ---- attaching ---- */

const char *star_version(void)
{
    return STAR_VERSION;
}

static enum star_status failure(char *error, size_t size,
                                enum star_status status, const char *text)
{
    if (error && size)
        (void)snprintf(error, size, "%s", text);
    return status;
}

static void make_node(struct star_link *link)
{
    struct node_config config = {.name = link->identity.name,
                                 .uuid_high = link->identity.high,
                                 .uuid_low = link->identity.low,
                                 .schema = link->schema,
                                 .reviews = link->options.evaluate != NULL,
                                 .up = link->options.up,
                                 .down = link->options.down};
    struct timespec time;

    (void)clock_gettime(CLOCK_REALTIME, &time);
    config.incarnation =
        (uint64_t)time.tv_sec * (uint64_t)SECOND + (uint64_t)time.tv_nsec;
    link->node = node_new(&config, link->pool);
}

static enum status open_net(struct star_link *link, struct why *why)
{
    const char *hub = link->options.hub ? link->options.hub
                                        : getenv("STARSWITCH_HUB");
    struct net_owner owner = {.self = link, .local = link_local,
                              .note = link_note,
                              .watch = link_watch,
                              .tick = link_tick};
    struct net_config config = {.workers = 1};
    enum status status = endpoints_parse(hub && hub[0] ? hub : "127.0.0.1",
                                         &config.hubs, why);

    if (status == STATUS_OK && link->options.cores)
        status = cores_read(link->options.cores, &config.cores, why);
    if (status == STATUS_OK)
        status = credentials_open(&link->entry.own, link->options.key,
                                  link->options.identity, link->identity.name,
                                  &config, why);
    if (status != STATUS_OK)
        return status;
    link->options.key = NULL; /* the caller's, who may wipe it */
    (void)sigemptyset(&config.signals);
    memory_grow();
    status = net_open_node(&config, node_machine(link->node), link->pool,
                           &owner, &link->net, why);
    explicit_bzero(&config.keys, sizeof config.keys);
    if (status == STATUS_OK && link->entry.own.enrol)
        entry_tell(&link->entry, NOTE_WAITING,
                   "waiting for the hub to enrol this node; training alone");
    return status;
}

static void prepare_locks(struct star_link *link)
{
    pthread_condattr_t monotonic;

    (void)pthread_mutex_init(&link->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&link->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

static void link_free(struct star_link *link)
{
    net_close(&link->net);
    credentials_close(&link->entry.own);
    identity_close(&link->identity);
    record_close(&link->record);
    node_destroy(&link->node);
    agenda_free(&link->agenda);
    blob_unref(&link->start);
    blob_unref(&link->to_examine);
    pool_destroy(&link->pool);
    schema_destroy(&link->schema);
    (void)pthread_mutex_destroy(&link->lock);
    (void)pthread_cond_destroy(&link->changed);
    free(link->values);
    free(link->gradients);
    free(link->anchor);
    free(link);
}

/* Starts the network's thread, which leaves all signals to others. */
static int start(struct star_link *link)
{
    sigset_t all, before;
    int failed;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&link->thread, NULL, run, link);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static struct star_link *link_new(size_t count)
{
    struct star_link *link = calloc(1, sizeof *link);

    if (!link)
        return NULL;
    link->count = count;
    link->loss = (double)NAN;
    link->accuracy = -1;
    link->identity.lock = -1;
    prepare_locks(link);
    link->values = calloc(count, sizeof *link->values);
    link->gradients = calloc(count, sizeof *link->gradients);
    link->pool = pool_new();
    link->schema = schema_new();
    if (link->values && link->gradients && link->pool && link->schema)
        return link;
    link_free(link);
    return NULL;
}

enum star_status star_attach(const struct star_options *options,
                             const struct star_tensor *tensors, size_t count,
                             struct star_link **out, char *error, size_t size)
{
    struct star_link *link;
    struct why why = {""};
    enum status status;

    if (!tensors || !count || !out)
        return failure(error, size, STAR_BAD_ARGUMENT,
                       "there are no tensors to attach");
    link = link_new(count);
    if (!link)
        return failure(error, size, STAR_NO_MEMORY, "not enough memory");
    status = options ? sized_read(&link->options, sizeof link->options, options,
                                  "star_options", &why)
                     : STATUS_OK;
    if (status == STATUS_OK)
        status = link_describe(link, tensors, &why);
    if (status != STATUS_OK) {
        link_free(link);
        return failure(error, size, failures[status], why.text);
    }
    agenda_init(&link->agenda, (size_t)link->schema->elements);
    identity_open(link->options.name, "node", &link->identity);
    link->entry.log = link->options.log;
    link->entry.context = link->options.context;
    link->entry.name = link->identity.name;
    make_node(link);
    status = link_record(link, &why);
    if (status == STATUS_OK)
        status = open_net(link, &why);
    if (status != STATUS_OK) {
        link_free(link);
        return failure(error, size, failures[status], why.text);
    }
    if (link->identity.doubt.text[0])
        entry_tell(&link->entry, NOTE_NAMELESS, link->identity.doubt.text);
    link_found(link);
    if (start(link) != 0) {
        link_free(link);
        return failure(error, size, STAR_NO_NETWORK,
                       "no thread can be made for the network");
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
    uint64_t late = pacer->iteration > due ? pacer->iteration - due : 0;

    return late >= pacer->schedule.every ? late : 0;
}

static void say(const struct star_link *link, char *out, size_t size)
{
    const struct msg_schedule *schedule = &link->agenda.pacer.schedule;
    uint64_t late = lateness(&link->agenda.pacer);
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
    const struct msg_schedule *schedule = &link->agenda.pacer.schedule;

    (void)pthread_mutex_lock(&link->lock);
    state->attached = schedule->attached != 0;
    state->iteration = link->agenda.pacer.iteration;
    state->offered = link->offered;
    state->applied = link->applied;
    state->missed = link->agenda.pacer.missed;
    state->every = schedule->every;
    state->delay = schedule->delay;
    state->shard = schedule->shard;
    state->shards = schedule->shards;
    state->bytes_up = link->bytes_up;
    state->bytes_down = link->bytes_down;
    state->inside = (double)link->inside / (double)SECOND;
    state->waited = (double)link->waited / (double)SECOND;
    state->exit_code =
        status_exit_code(farewell_status[link->ended.farewell]);
    memcpy(state->name, link->identity.name, sizeof state->name);
    say(link, state->text, sizeof state->text);
    (void)pthread_mutex_unlock(&link->lock);
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

/* Waits until the link is over, at most so long, and makes the reviews that
 * others wait for meanwhile. */
static void wait_until_over(struct star_link *link, nanos longest)
{
    nanos until = net_now() + longest;
    struct timespec time = {until / SECOND, until % SECOND};
    int waiting = 0;

    while (!link->over && waiting != ETIMEDOUT)
        if (!link_review(link))
            waiting = pthread_cond_timedwait(&link->changed, &link->lock,
                                             &time);
}

/* On a slow link the last offer, which is as it is, takes long. */
static void wait_while_giving(struct star_link *link)
{
    while (!link->over && link->gives && net_now() - link->taken < GIVING)
        wait_until_over(link, SECOND);
}

/* Leaves with a last offer; where nobody takes it in time, without. */
static void say_goodbye(struct star_link *link)
{
    uint64_t exchange = 0;

    (void)pthread_mutex_lock(&link->lock);
    link_progress(link, false);
    if (!link->over) {
        (void)agenda_offer(&link->agenda, true, &exchange);
        link_offer(link, exchange, true);
        wait_until_over(link, GOODBYE);
        wait_while_giving(link);
    }
    if (!link->over) {
        link_offer(link, 0, true);
        wait_until_over(link, SECOND);
    }
    (void)pthread_mutex_unlock(&link->lock);
}

void star_detach(struct star_link **reference)
{
    struct star_link *link = reference ? *reference : NULL;

    if (!link)
        return;
    *reference = NULL;
    say_goodbye(link);
    net_stop(link->net);
    (void)pthread_join(link->thread, NULL);
    link_free(link);
}
