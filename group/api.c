/* libstarswitch's groups: coming, going, and how a call waits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "core/endpoint.h"
#include "group/api_group.h"

#define DEFAULT_TIMEOUT 60.0
#define DEFAULT_PATIENCE 1800.0
/* The machine ends a request in time; should it not, this does. */
#define SPARE (10 * SECOND)

static const enum star_group_status statuses[OUTCOME_COUNT] = {
    [OUTCOME_SUCCESS] = STAR_GROUP_SUCCESS,
    [OUTCOME_FAIL] = STAR_GROUP_FAIL,
    [OUTCOME_ABORT] = STAR_GROUP_ABORT,
    [OUTCOME_NO_NEED] = STAR_GROUP_NO_NEED,
};

/* ---- the network's thread ---- */

static void take_gain(struct star_group *group, uint64_t offset,
                      struct blob *payload)
{
    if (group->gain_count == group->gain_room) {
        size_t room = group->gain_room ? 2 * group->gain_room : 16;
        struct gain *gains = realloc(group->gains, room * sizeof *gains);

        if (!gains)
            abort();
        group->gains = gains;
        group->gain_room = room;
    }
    group->gains[group->gain_count++] =
        (struct gain){blob_ref(payload), offset};
}

static void take_want(struct star_group *group, const struct msg_want *want)
{
    if (want->model)
        group->wants_model = true;
    else
        group->wants = true;
}

static void local(void *self, const struct msg *msg, struct blob *payload)
{
    struct star_group *group = self;

    (void)pthread_mutex_lock(&group->lock);
    if (msg->kind == MSG_WANT && msg->want.request == group->asked) {
        take_want(group, &msg->want);
    } else if (msg->kind == MSG_GAIN && msg->gain.request == group->asked) {
        take_gain(group, msg->gain.offset, payload);
    } else if (msg->kind == MSG_GAIN) {
        mail_take_gain(group, &msg->gain, payload);
    } else if (msg->kind == MSG_TOLD && msg->told.request == group->asked) {
        group->told = msg->told;
        group->done = true;
    } else if (msg->kind == MSG_DELIVERED) {
        mail_delivered(group, &msg->delivered);
    } else if (msg->kind == MSG_MAIL) {
        mail_add(group, &msg->mail);
    } else if (msg->kind == MSG_WITHDRAW) {
        mail_withdraw(group, &msg->withdraw);
    }
    (void)pthread_cond_broadcast(&group->changed);
    (void)pthread_mutex_unlock(&group->lock);
}

static void note(void *self, nanos now, const struct note *note)
{
    struct star_group *group = self;
    enum level level = note_level(note->kind);

    (void)now;
    if (group->options.log)
        group->options.log(group->options.context, (enum star_level)level,
                           note_name(note->kind), note->text);
    else if (level >= LEVEL_WARNING)
        (void)fprintf(stderr, "starswitch %s: %s\n", group->name, note->text);
}

static void *run(void *self)
{
    struct star_group *group = self;

    net_run(group->net);
    return NULL;
}

/* ---- a call ---- */

struct span span_of(const void *bytes, size_t size)
{
    const union {
        const void *from;
        void *bytes;
    } either = {bytes};

    return (struct span){either.bytes, size};
}

size_t spans_size(const struct span *spans, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += spans[i].size;
    return size;
}

/* The part of a piece that lies in the span that begins at `start`. */
static void copy_into(const struct span *span, uint64_t start,
                      const struct gain *gain)
{
    uint64_t first = gain->offset > start ? gain->offset : start;
    uint64_t end = gain->offset + gain->blob->size;

    if (end > start + span->size)
        end = start + span->size;
    if (first < end)
        memcpy((unsigned char *)span->bytes + (first - start),
               gain->blob->bytes + (first - gain->offset),
               (size_t)(end - first));
}

void gains_copy(const struct star_group *group, const struct span *spans,
                size_t count)
{
    uint64_t start = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < group->gain_count; j++)
            copy_into(&spans[i], start, &group->gains[j]);
        start += spans[i].size;
    }
}

static void gains_drop(struct star_group *group)
{
    for (size_t i = 0; i < group->gain_count; i++)
        blob_unref(&group->gains[i].blob);
    group->gain_count = 0;
}

/* Hands the machine a copy of these bytes. */
static void give(struct star_group *group, const struct span *spans,
                 size_t count, bool model)
{
    struct msg msg = {.kind = MSG_GIVE};
    struct blob *blob = blob_new(group->pool, spans_size(spans, count));
    unsigned char *at;

    if (!blob)
        return; /* no memory: the call ends at its limit */
    at = blob->bytes;
    for (size_t i = 0; i < count; i++) {
        if (spans[i].size)
            memcpy(at, spans[i].bytes, spans[i].size);
        at += spans[i].size;
    }
    msg.give.request = group->asked;
    msg.give.model = model;
    net_post(group->net, &msg, blob);
}

/* With the lock held, which it lets go: what the machine wants. */
static void provide(struct star_group *group, const struct cargo *cargo)
{
    bool wants = group->wants, wants_model = group->wants_model;

    group->wants = group->wants_model = false;
    (void)pthread_mutex_unlock(&group->lock);
    if (wants && cargo && cargo->in) {
        if (cargo->prepare)
            cargo->prepare(cargo->argument);
        give(group, cargo->in, cargo->in_count, false);
    }
    if (wants_model && group->lazy.bytes)
        give(group, &group->lazy, 1, true);
    (void)pthread_mutex_lock(&group->lock);
}

static void wait_until_done(struct star_group *group, nanos limit,
                            const struct cargo *cargo)
{
    nanos until = net_now() + limit + SPARE;
    struct timespec time = {until / SECOND, until % SECOND};
    int waiting = 0;

    while (!group->done && waiting != ETIMEDOUT) {
        if (group->wants || group->wants_model)
            provide(group, cargo);
        else
            waiting = pthread_cond_timedwait(&group->changed, &group->lock,
                                             &time);
    }
}

enum star_group_status group_ask(struct star_group *group,
                                 const struct msg_ask *ask,
                                 const struct cargo *cargo)
{
    struct msg msg = {.kind = MSG_ASK, .ask = *ask};
    enum star_group_status status;

    (void)pthread_mutex_lock(&group->lock);
    gains_drop(group);
    free(group->loaded);
    group->loaded = NULL;
    msg.ask.request = group->asked = ++group->request;
    if (!msg.ask.limit)
        msg.ask.limit = group->timeout;
    group->done = group->wants = group->wants_model = false;
    net_post(group->net, &msg, NULL);
    wait_until_done(group, msg.ask.limit, cargo);
    if (!group->done) {
        group->told.outcome = OUTCOME_ABORT;
        (void)snprintf(group->told.text, sizeof group->told.text,
                       "the thread for the network does not answer");
        group->asked = 0; /* whatever it still says is for nobody */
    }
    status = statuses[group->told.outcome];
    if (status == STAR_GROUP_SUCCESS && cargo && cargo->out)
        gains_copy(group, cargo->out, cargo->out_count);
    (void)pthread_mutex_unlock(&group->lock);
    return status;
}

/* ---- coming and going ---- */

static void choose_name(struct star_group *group, const char *wanted)
{
    char host[24] = "member";

    if (wanted && wanted[0]) {
        (void)snprintf(group->name, sizeof group->name, "%.39s", wanted);
        return;
    }
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(group->name, sizeof group->name, "%.23s-%d", host,
                   (int)getpid());
}

static void make_client(struct star_group *group)
{
    const struct star_group_options *options = &group->options;
    double patience =
        options->patience > 0 ? options->patience : DEFAULT_PATIENCE;
    bool patient = options->manner == STAR_PATIENT;
    double timeout = options->timeout > 0 ? options->timeout
                     : patient            ? DEFAULT_TIMEOUT + patience
                                          : DEFAULT_TIMEOUT;
    XXH128_hash_t hash = XXH3_128bits(group->name, strlen(group->name));
    struct client_config config = {
        .name = group->name,
        .high = hash.high64,
        .low = hash.low64,
        .manner = patient ? MANNER_PATIENT : MANNER_ELASTIC,
        .active = options->mode == STAR_ACTIVE,
        .size = options->size ? options->size : 1,
        .patience = (nanos)(patience * (double)SECOND)};
    struct timespec time;

    (void)clock_gettime(CLOCK_REALTIME, &time);
    config.incarnation =
        (uint64_t)time.tv_sec * (uint64_t)SECOND + (uint64_t)time.tv_nsec;
    group->timeout = (nanos)(timeout * (double)SECOND);
    group->client = client_new(&config, group->pool);
}

static enum status open_net(struct star_group *group, const char *hub,
                            struct why *why)
{
    struct net_owner owner = {.self = group, .local = local, .note = note};
    struct net_config config = {.workers = 1};
    struct endpoint endpoint;
    enum status status;

    if (!hub)
        hub = getenv("STARSWITCH_HUB");
    status = endpoint_parse(hub && hub[0] ? hub : "127.0.0.1", &endpoint, why);
    if (status != STATUS_OK)
        return status;
    memcpy(config.host, endpoint.host, sizeof config.host);
    config.port = endpoint.port;
    (void)sigemptyset(&config.signals);
    return net_open_node(&config, client_machine(group->client), group->pool,
                         &owner, &group->net, why);
}

static void prepare_locks(struct star_group *group)
{
    pthread_condattr_t monotonic;

    (void)pthread_mutex_init(&group->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&group->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

static void group_free(struct star_group *group)
{
    net_close(&group->net);
    client_destroy(&group->client);
    mail_free(group);
    gains_drop(group);
    free(group->gains);
    free(group->loaded);
    pool_destroy(&group->pool);
    (void)pthread_mutex_destroy(&group->lock);
    (void)pthread_cond_destroy(&group->changed);
    free(group);
}

/* Starts the network's thread, which leaves all signals to others. */
static int start(struct star_group *group)
{
    sigset_t all, before;
    int failed;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&group->thread, NULL, run, group);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static enum star_status failure(char *error, size_t size,
                                enum star_status status, const char *text)
{
    if (error && size)
        (void)snprintf(error, size, "%s", text);
    return status;
}

enum star_status star_group_join(const char *hub, const char *name,
                                 const struct star_group_options *options,
                                 struct star_group **out, char *error,
                                 size_t error_size)
{
    struct star_group *group = calloc(1, sizeof *group);
    struct why why = {""};
    enum status status;

    if (!group || !(group->pool = pool_new())) {
        free(group);
        return failure(error, error_size, STAR_NO_MEMORY, "not enough memory");
    }
    if (options)
        group->options = *options;
    prepare_locks(group);
    choose_name(group, name);
    make_client(group);
    status = open_net(group, hub, &why);
    if (status != STATUS_OK) {
        group_free(group);
        return failure(error, error_size,
                       status == STATUS_USAGE ? STAR_BAD_ARGUMENT
                                              : STAR_NO_NETWORK,
                       why.text);
    }
    if (start(group) != 0) {
        group_free(group);
        return failure(error, error_size, STAR_NO_NETWORK,
                       "no thread can be made for the network");
    }
    *out = group;
    return STAR_OK;
}

/* Somebody who was lost may still need the model that only we have. */
static void wait_for_the_others(struct star_group *group)
{
    const struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                                .collective = COLLECTIVE_BARRIER};

    if (group->lazy.bytes)
        (void)group_ask(group, &ask, NULL);
}

void star_group_leave(struct star_group **reference)
{
    const struct msg_ask ask = {.ask = ASK_LEAVE, .limit = SECOND};
    struct star_group *group = *reference;

    *reference = NULL;
    if (!group)
        return;
    wait_for_the_others(group);
    (void)group_ask(group, &ask, NULL);
    net_stop(group->net);
    (void)pthread_join(group->thread, NULL);
    group_free(group);
}
