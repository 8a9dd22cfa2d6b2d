/* starswitch-hub: the program at the centre of the star. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <starswitch.h>

#include "hub/configure.h"
#include "hub/hub.h"
#include "hub/program/beacon.h"
#include "hub/program/clock.h"
#include "hub/program/commands.h"
#include "hub/program/ctl.h"
#include "hub/program/display.h"
#include "hub/program/end.h"
#include "hub/program/keys.h"
#include "hub/program/logs.h"
#include "hub/program/look.h"
#include "hub/program/page.h"
#include "hub/program/room.h"
#include "hub/program/score.h"
#include "hub/program/state.h"
#include "hub/program/watch.h"
#include "net/net.h"
#include "program/output.h"
#include "program/service.h"
#include "program/settings.h"
#include "report/names.h"
#include "store/centre.h"
#include "train/matrix.h"

/* Merging and scoring have a thread each at least. */
enum {
    LEAST_WORKERS = 2,
    /* Of the pool: what uploads and results that wait take at most, about. Less
     * costs memory: what is freed stays with the thread that had it. */
    SPARE_BYTES = 64 << 20
};

struct server {
    struct options options;
    struct pool *pool;
    struct centre_store store;
    struct room_plan room;
    struct hub_keys keys;
    struct centre_loaded *loaded; /* until the hub runs, or NULL */
    struct scorer scorer;
    struct hub *hub;
    struct net *net;
    struct ctl *ctl;
    struct beacon *beacon;
    struct wall_clock clock;
    struct hub_page page;
    struct display display;
    struct service service;
};

static void settle_rest(struct server *server, struct hub_config *config)
{
    config->save = &centre_save;
    config->save_context = &server->store;
    config->save_interval = server->options.save;
    server->room = room_plan(&server->options, &config->policy);
    if (server->scorer.trainer) {
        config->evaluate = &score_centre;
        config->evaluate_context = &server->scorer;
    }
    if (getrandom(config->secret, sizeof config->secret, 0) !=
        (ssize_t)sizeof config->secret)
        config->secret[0] = (uint64_t)net_now();
    while (!config->run)
        if (getrandom(&config->run, sizeof config->run, 0) < 0)
            config->run = (uint64_t)net_now();
}

static enum status check_options(const struct options *options, struct why *why)
{
    struct sockaddr_un control;

    if (options->epochs && !options->tasks)
        return because(why, STATUS_CONFIG,
                       "--epochs counts tasks: say with --tasks how many make "
                       "an epoch, several for each node");
    return ctl_address(options->directory, &control, why);
}

static void complain(const char *sentence)
{
    (void)fprintf(stderr, "starswitch-hub: %s\n", sentence);
}

/* What the hub is to score must be what it goes on with. */
static enum status check_model(const struct server *server, struct why *why)
{
    const struct trainer *trainer = server->scorer.trainer;
    uint64_t held = server->loaded->saved.schema->elements;

    if (!trainer || trainer->model.elements == held)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "%.120s holds a run of another model, with %llu parameters "
                   "instead of %llu: choose another --directory",
                   server->options.directory, (unsigned long long)held,
                   (unsigned long long)trainer->model.elements);
}

/* Goes on with what the directory holds, if it holds a run. What it goes on
 * from is in `loaded`. */
static enum status go_on(struct server *server, struct why *why)
{
    struct centre_loaded **loaded = &server->loaded;
    enum status status = centre_load(&server->store, complain, loaded, why);

    if (status == STATUS_UNAVAILABLE)
        return STATUS_OK;
    if (status == STATUS_OK)
        status = check_model(server, why);
    if (status == STATUS_OK)
        status = hub_restore(server->hub, &(*loaded)->saved, why);
    if (status == STATUS_OK)
        (void)fprintf(stderr,
                      "going on with run %016llx at version %llu, of %s/"
                      "generation-%llu\n",
                      (unsigned long long)(*loaded)->run,
                      (unsigned long long)(*loaded)->version,
                      server->options.directory,
                      (unsigned long long)(*loaded)->generation);
    if (status == STATUS_OK && server->options.given.chunk &&
        hub_chunk_bytes(server->hub) != server->options.chunk)
        complain("--chunk is for new runs, and this one keeps the chunks that "
                 "it has: for others start a new run in another --directory");
    return status;
}

/* ---- what the driver tells ---- */

static void on_note(void *self, nanos now, const struct note *note)
{
    struct server *server = self;

    display_note(&server->display, now, note);
    hub_page_note(&server->page, &server->display, now, note);
}

static void on_watch(void *self, const struct event *event,
                     const struct effects *effects)
{
    struct server *server = self;

    server->store.schema = hub_schema(server->hub);
    display_watch(&server->display, event, effects);
}

static void on_answer(void *self, const struct msg *msg, struct blob *payload)
{
    struct server *server = self;

    (void)payload;
    if (msg->kind == MSG_LOCAL_ENROL)
        hub_keys_admit(&server->keys, server->net, net_now(),
                       &msg->local_enrol);
    else if (!hub_page_answer(&server->page, msg))
        ctl_answer(server->ctl, msg);
}

static bool on_tick(void *self, nanos now)
{
    struct server *server = self;
    const struct page_sources sources = {&server->display, server->net,
                                         server->pool, server->hub};
    static struct hub_view view;

    clock_tell(&server->clock, server->net, now);
    hub_look(server->hub, now, &view);
    net_limit(server->net, hub_longest_payload(server->hub));
    display_view(&server->display, now, &view);
    room_watch(&server->room, &server->store, &server->display, now);
    hub_keys_tick(&server->keys, server->net);
    beacon_set_run(server->beacon, view.run);
    ctl_tick(server->ctl, server->net, now);
    hub_page_tick(&server->page, &sources, now, &view);
    state_tell(&server->service, server->net, now, &view);
    return !hub_ended(server->hub);
}

/* The first signal stops the hub in good order, a second one at once. */
static void stop(struct server *server)
{
    struct msg msg = {.kind = MSG_ORDER};
    sigset_t set;

    msg.order.command = COMMAND_STOP;
    net_post(server->net, &msg, NULL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Reads again what people may change while it runs. */
static enum status reload(void *self, struct why *why)
{
    struct server *server = self;
    struct note note = {.kind = NOTE_RELOADED, .text = "keys read again"};
    enum status status;

    service_reloading(net_now());
    status = hub_keys_reload(&server->keys, server->net, why);
    if (status != STATUS_OK) {
        note.kind = NOTE_REFUSED;
        (void)snprintf(note.text, sizeof note.text,
                       "the old list of keys stays: %.160s", why->text);
    }
    display_note(&server->display, net_now(), &note);
    service_ready();
    return status;
}

/* How the run and the hub are, for ctl status. */
static void describe(void *self, struct text *people, struct text *json)
{
    struct server *server = self;

    state_describe(&server->display, server->net, server->pool, server->hub,
                   people, json);
}

/* What top and logs ask. */
static bool query(void *self, const char *line, struct text *out)
{
    static struct hub_view view;
    struct server *server = self;
    nanos now = net_now();
    struct table table;

    if (logs_answer(line, hub_logs(server->hub), server->display.wall, out))
        return true;
    hub_look(server->hub, now, &view);
    table = display_table(&server->display, now, &view);
    return look_answer(line, &table, out);
}

static void on_signal(void *self, int number)
{
    struct server *server = self;
    struct why why = {""};

    if (number == SIGHUP) {
        (void)!reload(server, &why);
    } else if (number == SIGUSR1) {
        state_dump(&server->display, server->net, server->pool, server->hub);
    } else {
        stop(server);
    }
}

/* ---- from options to a running hub ---- */

/* One core is left to the network. */
static unsigned workers(const struct options *options,
                        const struct cores *cores)
{
    unsigned spare = cores_count(cores) - 1;

    if (options->threads)
        return (unsigned)options->threads;
    return spare > LEAST_WORKERS ? spare : LEAST_WORKERS;
}

static enum status open_net(struct server *server, struct why *why)
{
    const struct options *options = &server->options;
    struct net_owner owner = {.self = server,
                              .local = on_answer,
                              .note = on_note,
                              .watch = on_watch,
                              .tick = on_tick,
                              .signal = on_signal};
    struct net_config config = {.port = options->listen.port,
                                .chunk_bytes = hub_longest_payload(server->hub),
                                .workers = 1};
    enum status status = cores_read(options->cores, &config.cores, why);

    if (status != STATUS_OK)
        return status;
    config.workers = workers(options, &config.cores);
    memcpy(config.host, options->listen.host, sizeof config.host);
    (void)sigemptyset(&config.signals);
    (void)sigaddset(&config.signals, SIGTERM);
    (void)sigaddset(&config.signals, SIGINT);
    (void)sigaddset(&config.signals, SIGHUP);
    (void)sigaddset(&config.signals, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &config.signals, NULL);
    room_for_nodes();
    config.keys.on = server->keys.on;
    config.keys.own = server->keys.ring.hub;
    status = net_open_hub(&config, hub_machine(server->hub), server->pool,
                          &owner, &server->net, why);
    explicit_bzero(&config.keys, sizeof config.keys);
    if (status == STATUS_OK)
        hub_keys_apply(&server->keys, server->net);
    return status;
}

static enum status open_display(struct server *server,
                                const struct hub_config *config,
                                struct why *why)
{
    const struct trainer *trainer = server->scorer.trainer;
    const struct centre_loaded *loaded = server->loaded;
    enum status status =
        display_open(&server->display, &server->options, config,
                     loaded ? &loaded->saved : NULL,
                     trainer ? trainer->model.summary : NULL, why);

    centre_loaded_destroy(&server->loaded);
    return status;
}

static void open_seal(struct server *server, struct hub_seal *seal)
{
    struct why why = {""};
    enum status status =
        hub_keys_seal(&server->keys, server->options.directory, seal, &why);

    if (status != STATUS_OK || why.text[0])
        complain(why.text);
    server->store.seals = seal->keyless;
    memcpy(server->store.seal, seal->key, sizeof seal->key);
}

static enum status open_all(struct server *server, struct why *why)
{
    const struct ctl_owner owner = {server, reload, describe, query};
    struct hub_config config = {0};
    enum status status = check_options(&server->options, why);

    if (status == STATUS_OK)
        status = scorer_check(&server->options, why);
    if (status == STATUS_OK)
        status = hub_page_plan(&server->page, &server->options, why);
    if (status == STATUS_OK)
        status = hub_keys_plan(&server->keys, &server->options, why);
    if (status == STATUS_OK)
        status = hub_configure(&server->options, &config, why);
    if (status == STATUS_OK)
        status = scorer_open(&server->scorer, &server->options, why);
    if (status == STATUS_OK)
        status = centre_open(&server->store, server->options.directory, why);
    if (status == STATUS_OK)
        status = hub_keys_open(&server->keys, &server->options, why);
    if (status != STATUS_OK)
        return status;
    if (server->options.data[0] && !server->scorer.trainer)
        complain("--data is not read: without --model this hub scores nothing");
    if (server->store.trouble.text[0])
        complain(server->store.trouble.text);
    server->store.best = (unsigned)server->options.best;
    config.life = server->store.life;
    config.schema = scorer_schema(&server->scorer);
    open_seal(server, &config.seal);
    settle_rest(server, &config);
    server->hub = hub_new(&config, server->pool);
    explicit_bzero(&config.seal, sizeof config.seal);
    status = go_on(server, why);
    server->store.schema = hub_schema(server->hub);
    if (status == STATUS_OK)
        status = open_display(server, &config, why);
    if (status == STATUS_OK)
        status = open_net(server, why);
    if (status == STATUS_OK)
        status = ctl_open(server->options.directory, &owner, &server->ctl, why);
    return status;
}

static void close_all(struct server *server)
{
    hub_page_close(&server->page);
    beacon_close(&server->beacon);
    ctl_close(&server->ctl);
    net_close(&server->net);
    display_close(&server->display);
    hub_destroy(&server->hub);
    centre_loaded_destroy(&server->loaded);
    centre_close(&server->store);
    hub_keys_close(&server->keys);
    scorer_close(&server->scorer);
    pool_destroy(&server->pool);
}

/* Asked of a hub that is still starting, these are answered once it runs. Left
 * as they are they would end it. */
static void hold_questions(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGHUP);
    (void)sigaddset(&set, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
    static struct server server;
    static struct hub_view view;
    char words[TRAINER_WORDS_BYTES];
    struct why why = {""};
    enum status status;
    int code;

    if (command_run(argc, argv, &code))
        return output_end("starswitch-hub", code);
    matrix_use_processor(argv);
    service_keep_memory();
    hold_questions();
    service_begin(&server.service);
    status = settings_read(&server.options, PROGRAM_HUB, argc, argv, &why);
    if (status == STATUS_OK && server.options.help)
        names_print();
    if (status == STATUS_OK && server.options.version)
        (void)printf("starswitch-hub %s\n", STAR_VERSION);
    if (status == STATUS_OK && (server.options.version || server.options.help))
        return output_end("starswitch-hub", 0);
    if (status == STATUS_OK && server.options.supervise)
        watch_over();
    server.pool = pool_new();
    pool_limit_spare(server.pool, SPARE_BYTES);
    if (status == STATUS_OK)
        status = open_all(&server, &why);
    if (status == STATUS_OK) {
        hub_keys_say(&server.keys, &server.options);
        hub_page_open(&server.page, &server.options, &server.display,
                      server.net);
        server.beacon = hub_beacon_open(&server.options, &server.keys, 0);
        service_ready();
        net_run(server.net);
        hub_look(server.hub, net_now(), &view);
        (void)scorer_write(&server.scorer, words, sizeof words);
        status = display_end(&server.display, net_now(), &view, words, &why);
        status = end_of_run(&server.options, &view, status, &why);
    }
    if (status != STATUS_OK)
        (void)fprintf(stderr, "starswitch-hub: %s\n", why.text);
    close_all(&server);
    return status_exit_code(status);
}
