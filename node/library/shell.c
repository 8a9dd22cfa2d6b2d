#include "node/library/shell.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/endpoint.h"
#include "core/need.h"
#include "net/net.h"
#include "node/library/memory.h"

/* How star_attach says that this was the matter. */
static const enum star_status failures[STATUSES] = {
    [STATUS_SHORT] = STAR_NO_NETWORK,       [STATUS_USAGE] = STAR_BAD_ARGUMENT,
    [STATUS_UNAVAILABLE] = STAR_NO_NETWORK, [STATUS_BUG] = STAR_NO_NETWORK,
    [STATUS_NO_MEMORY] = STAR_NO_MEMORY,    [STATUS_IO] = STAR_NO_FILE,
    [STATUS_AGAIN] = STAR_NO_NETWORK,       [STATUS_VERSION] = STAR_NO_NETWORK,
    [STATUS_REFUSED] = STAR_NO_NETWORK,     [STATUS_CONFIG] = STAR_BAD_ARGUMENT,
    [STATUS_MALFORMED] = STAR_NO_FILE,
};

enum star_status shell_failure(char *error, size_t size, enum status status,
                               const char *text)
{
    if (error && size)
        (void)snprintf(error, size, "%s", text);
    return failures[status];
}

/* ---- events ---- */

static void remember(struct shell *shell, enum star_level level,
                     const char *event, const char *sentence)
{
    struct star_event *place;

    if (shell->count == SHELL_EVENTS) {
        shell->first = (shell->first + 1) % SHELL_EVENTS;
        shell->count--;
        shell->lost++;
    }
    place = &shell->events[(shell->first + shell->count++) % SHELL_EVENTS];
    *place = (struct star_event){.size = sizeof *place, .level = level};
    (void)snprintf(place->event, sizeof place->event, "%s", event);
    (void)snprintf(place->text, sizeof place->text, "%s", sentence);
}

/* Passes a line on to the machine, for the hub; where there is no memory for it
 * it is lost. With `telling` held. */
static void tell_hub(struct shell *shell, enum star_level level,
                     const char *event, const char *sentence)
{
    struct msg msg = {.kind = MSG_LOCAL_LOG};
    struct msg_local_log *line = &msg.local_log;
    size_t cut = 0;

    line->time = net_wall();
    line->level = (uint32_t)level;
    (void)snprintf(line->event, sizeof line->event, "%s", event);
    cut = strnlen(sentence, sizeof line->text - 1);
    while (cut && (sentence[cut] & 0xc0) == 0x80)
        cut--; /* between two characters */
    memcpy(line->text, sentence, cut);
    (void)snprintf(line->rest, sizeof line->rest, "%s", sentence + cut);
    (void)net_post(shell->net, &msg, NULL);
}

void shell_tell(struct shell *shell, enum star_level level, const char *event,
                const char *sentence)
{
    const struct shell_plan *plan = &shell->plan;

    (void)pthread_mutex_lock(&shell->telling);
    remember(shell, level, event, sentence);
    if (shell->logs && level > STAR_DEBUG)
        tell_hub(shell, level, event, sentence);
    if (!shell->silent && plan->log)
        plan->log(plan->context, level, event, sentence);
    else if (!shell->silent && !plan->quiet && level >= STAR_WARNING)
        (void)fprintf(stderr, "starswitch %s: %s\n", shell->identity.name,
                      sentence);
    (void)pthread_mutex_unlock(&shell->telling);
}

void shell_say(struct shell *shell, enum star_level level, const char *event,
               const char *sentence)
{
    (void)pthread_mutex_lock(&shell->telling);
    if (shell->logs)
        tell_hub(shell, level, event, sentence);
    (void)pthread_mutex_unlock(&shell->telling);
}

static void take_note(void *self, enum star_level level, const char *event,
                      const char *text)
{
    shell_tell(self, level, event, text);
}

bool shell_poll(struct shell *shell, struct star_event *out)
{
    struct star_event *event;
    bool any = false;

    (void)pthread_mutex_lock(&shell->telling);
    if (shell->count) {
        event = &shell->events[shell->first];
        event->lost = shell->lost;
        any = sized_write(out, event, sizeof *event) == STATUS_OK;
    }
    if (any) {
        shell->lost = 0;
        shell->first = (shell->first + 1) % SHELL_EVENTS;
        shell->count--;
    }
    (void)pthread_mutex_unlock(&shell->telling);
    return any;
}

/* ---- memory ---- */

#define MEMORY_EVERY (10 * MILLISECOND)
#define MEMORY_TOLD_EVERY (10 * SECOND)

static atomic_uint waiting; /* threads of the library that wait for memory */
static atomic_ullong waits; /* how often they have had to */

static void wait_for_memory(void)
{
    const struct timespec time = {0, MEMORY_EVERY};

    (void)atomic_fetch_add(&waiting, 1);
    (void)atomic_fetch_add(&waits, 1);
    (void)nanosleep(&time, NULL);
    (void)atomic_fetch_sub(&waiting, 1);
}

void shell_post(struct shell *shell, const struct msg *msg,
                struct blob *payload)
{
    if (net_post(shell->net, msg, payload))
        return;
    shell->missing = true;
    shell->starved |= msg->kind != MSG_LOCAL_PING;
}

bool shell_tell_memory(struct shell *shell, bool also)
{
    uint64_t now_waits = atomic_load(&waits);
    bool missing = also || shell->missing || atomic_load(&waiting) ||
                   now_waits != shell->waits_seen;
    nanos now = net_now();

    shell->missing = shell->starved;
    shell->waits_seen = now_waits;
    if (missing && (!shell->starved_told ||
                    now - shell->starved_told >= MEMORY_TOLD_EVERY)) {
        shell->starved_told = now;
        shell_tell(shell, STAR_WARNING, "no_memory",
                   "there is not enough memory: training goes on alone until "
                   "there is");
    }
    return missing;
}

/* ---- coming ---- */

void shell_ready(struct shell *shell)
{
    pthread_condattr_t monotonic;

    (void)pthread_mutex_init(&shell->lock, NULL);
    (void)pthread_mutex_init(&shell->telling, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&shell->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    shell->identity.lock = -1;
}

enum status shell_init(struct shell *shell, const char *kind, const char *name,
                       struct why *why)
{
    enum status status = identity_check(name, why);

    if (status != STATUS_OK)
        return status;
    need_when_missing(wait_for_memory);
    shell->waits_seen = atomic_load(&waits);
    shell->pool = pool_new();
    if (!shell->pool)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    identity_open(name, kind, &shell->identity);
    return STATUS_OK;
}

/* Where the hub is; what cannot be one is said. */
static enum status find_hub(const char *hub, struct endpoints *out,
                            struct why *why)
{
    enum status status = endpoints_parse(hub, out, why);
    struct why plain = why ? *why : (struct why){0};

    return status == STATUS_OK
               ? status
               : because(why, status, "hub %.80s: %s", hub, plain.text);
}

/* Where the hub is, and what lets us in. */
static enum status configure(struct shell *shell, struct net_config *config,
                             struct why *why)
{
    const struct shell_plan *plan = &shell->plan;
    const char *hub = plan->hub ? plan->hub : getenv("STARSWITCH_HUB");
    enum status status =
        find_hub(hub && hub[0] ? hub : "127.0.0.1", &config->hubs, why);

    if (status == STATUS_OK && plan->cores)
        status = cores_read(plan->cores, &config->cores, why);
    if (status == STATUS_OK)
        status = credentials_open(&shell->entry.own, plan->key, plan->identity,
                                  shell->identity.name, config, why);
    (void)sigemptyset(&config->signals);
    return status;
}

enum status shell_open(struct shell *shell, const struct shell_plan *plan,
                       struct machine machine, const struct net_owner *owner,
                       struct why *why)
{
    struct net_config config = {.workers = 1};
    enum status status;

    shell->plan = *plan;
    shell->entry.log = take_note;
    shell->entry.context = shell;
    status = configure(shell, &config, why);
    shell->plan.hub = shell->plan.key = shell->plan.identity = NULL;
    if (status != STATUS_OK)
        return status;
    memory_grow();
    status =
        net_open_node(&config, machine, shell->pool, owner, &shell->net, why);
    explicit_bzero(&config.keys, sizeof config.keys);
    if (status == STATUS_OK && shell->entry.own.enrol)
        entry_tell(&shell->entry, NOTE_WAITING,
                   "waiting for the hub to enrol this node; training alone");
    if (status == STATUS_OK && shell->identity.doubt.text[0])
        entry_tell(&shell->entry, NOTE_NAMELESS, shell->identity.doubt.text);
    return status;
}

/* ---- the network's thread ---- */

static void *run(void *self)
{
    struct shell *shell = self;
    bool abandoned;

    net_run(shell->net);
    (void)pthread_mutex_lock(&shell->telling);
    shell->logs = false;
    (void)pthread_mutex_unlock(&shell->telling);
    (void)pthread_mutex_lock(&shell->lock); /* the program has stopped it */
    (void)pthread_mutex_unlock(&shell->lock);
    net_close(&shell->net);
    (void)pthread_mutex_lock(&shell->lock);
    shell->ended = true;
    abandoned = shell->abandoned;
    (void)pthread_cond_broadcast(&shell->changed);
    (void)pthread_mutex_unlock(&shell->lock);
    if (abandoned)
        shell->plan.release(shell->plan.of);
    return NULL;
}

enum status shell_start(struct shell *shell, struct why *why)
{
    sigset_t all, before;
    int failed;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&shell->thread, NULL, run, shell);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? because(why, STATUS_UNAVAILABLE,
                            "no thread can be made for the network")
                  : STATUS_OK;
}

void shell_stop(struct shell *shell, nanos until)
{
    pthread_t thread = shell->thread;
    bool ended;

    (void)pthread_mutex_lock(&shell->telling);
    shell->silent = true;
    (void)pthread_mutex_unlock(&shell->telling);
    (void)pthread_mutex_lock(&shell->lock);
    if (!shell->ended)
        net_stop(shell->net);
    while (!shell->ended && shell_wait(shell, until))
        continue;
    ended = shell->ended;
    shell->abandoned = !ended;
    (void)pthread_mutex_unlock(&shell->lock);
    if (!ended) {
        (void)pthread_detach(thread);
        return;
    }
    (void)pthread_join(thread, NULL);
    shell->plan.release(shell->plan.of);
}

void shell_free(struct shell *shell)
{
    net_close(&shell->net);
    credentials_close(&shell->entry.own);
    identity_close(&shell->identity);
    (void)pthread_mutex_destroy(&shell->lock);
    (void)pthread_mutex_destroy(&shell->telling);
    (void)pthread_cond_destroy(&shell->changed);
}

/* ---- waiting ---- */

bool shell_wait(struct shell *shell, nanos until)
{
    struct timespec time = {until / SECOND, until % SECOND};

    return pthread_cond_timedwait(&shell->changed, &shell->lock, &time) !=
           ETIMEDOUT;
}

nanos shell_span(double seconds)
{
    static const nanos most = NEVER / 4;

    return seconds < (double)most / (double)SECOND
               ? (nanos)(seconds * (double)SECOND)
               : most;
}

nanos shell_limit(double seconds, nanos most)
{
    nanos now = net_now();

    if (!(seconds >= 0) || seconds >= (double)most / (double)SECOND)
        return time_after(now, most);
    return now + (nanos)(seconds * (double)SECOND);
}
