/* libstarswitch's groups: coming and going. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/endpoint.h"
#include "node/library/group.h"

#define DEFAULT_TIMEOUT 60.0
#define DEFAULT_PATIENCE 1800.0

static void *run(void *self)
{
    struct star_group *group = self;

    net_run(group->net);
    return NULL;
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
    struct client_config config = {
        .name = group->identity.name,
        .high = group->identity.high,
        .low = group->identity.low,
        .manner = patient ? MANNER_PATIENT : MANNER_ELASTIC,
        .active = options->mode == STAR_ACTIVE,
        .size = options->members ? options->members : 1,
        .patience = (nanos)(patience * (double)SECOND)};
    struct timespec time;

    (void)clock_gettime(CLOCK_REALTIME, &time);
    config.incarnation =
        (uint64_t)time.tv_sec * (uint64_t)SECOND + (uint64_t)time.tv_nsec;
    group->timeout = (nanos)(timeout * (double)SECOND);
    group->client = client_new(&config, group->pool);
}

/* ---- the network's thread ---- */

static void say_note(void *self, nanos now, const struct note *note)
{
    const struct star_group *group = self;

    (void)now;
    entry_note(&group->entry, note);
}

/* All that is asked of the group gets this answer. */
static void refused(struct star_group *group, const struct why *why)
{
    struct msg bye = {.kind = MSG_BYE, .bye.farewell = FAREWELL_KEY};

    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%.*s",
                   (int)sizeof bye.bye.text - 1, why->text);
    net_post(group->net, &bye, NULL);
}

static bool tick(void *self, nanos now)
{
    struct star_group *group = self;
    struct why why = {""};

    if (entry_tick(&group->entry, group->net, now, &why) == ENROL_REFUSED)
        refused(group, &why);
    return true;
}

/* ---- joining ---- */

static enum status open_net(struct star_group *group, const char *hub,
                            struct why *why)
{
    struct net_owner owner = {
        .self = group, .local = group_local, .note = say_note,
        .tick = tick};
    struct net_config config = {.workers = 1};
    enum status status;

    group->entry.log = group->options.log;
    group->entry.context = group->options.context;
    group->entry.name = group->identity.name;
    if (!hub)
        hub = getenv("STARSWITCH_HUB");
    status = endpoints_parse(hub && hub[0] ? hub : "127.0.0.1", &config.hubs,
                             why);
    if (status == STATUS_OK)
        status = credentials_open(&group->entry.own, group->options.key,
                                  group->options.identity, group->identity.name,
                                  &config, why);
    group->options.key = NULL; /* the caller's, who may wipe it */
    if (status != STATUS_OK)
        return status;
    (void)sigemptyset(&config.signals);
    status = net_open_node(&config, client_machine(group->client), group->pool,
                           &owner, &group->net, why);
    explicit_bzero(&config.keys, sizeof config.keys);
    return status;
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
    credentials_close(&group->entry.own);
    identity_close(&group->identity);
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
    prepare_locks(group);
    identity_open(name, "member", &group->identity);
    status = options ? sized_read(&group->options, sizeof group->options,
                                  options, "star_group_options", &why)
                     : STATUS_OK;
    if (status == STATUS_OK) {
        make_client(group);
        status = open_net(group, hub, &why);
    }
    if (status != STATUS_OK) {
        group_free(group);
        return failure(error, error_size,
                       status == STATUS_USAGE || status == STATUS_CONFIG
                           ? STAR_BAD_ARGUMENT
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
    struct star_group *group = reference ? *reference : NULL;

    if (!group)
        return;
    *reference = NULL;
    wait_for_the_others(group);
    (void)group_ask(group, &ask, NULL);
    net_stop(group->net);
    (void)pthread_join(group->thread, NULL);
    group_free(group);
}
