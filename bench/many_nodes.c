/* How many chunks a second one hub merges for many nodes, and for few.
 *
 * The hub is the real machine under the real driver, on a thread of its own.
 * The nodes are state machines on one other thread: each offers a fragment of
 * one chunk of 256 KiB, is granted it, sends it, and takes the result; policy
 * mean with gate async, so that there are as many rounds under way as nodes.
 * What is measured is chunks merged a second with 8 nodes and with many, in
 * turn, the same number of chunks each time; the medians' ratio is the answer.
 * Then so many nodes join at once: the time from the first HELLO to the last
 * ATTACH. Links are not encrypted yet, so joining costs no key exchange. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/kit/crowd.h"
#include "bench/kit/kit.h"
#include "hub/hub.h"
#include "net/net.h"

enum {
    REFERENCE = 8,
    WINDOW = 8,
    WORKERS = 2,
    PAIRS_MOST = 99
};
#define TARGET 0.8

struct plan {
    unsigned nodes, megabytes, rounds, pairs, joins;
};

/* ---- the hub ---- */

struct server {
    struct pool *pool;
    struct hub *hub;
    struct net *net;
    pthread_t thread;
    atomic_uint attached;
};

static void count_attached(void *self, const struct event *event,
                           const struct effects *effects)
{
    struct server *server = self;

    (void)effects;
    if (event->kind == EVENT_MESSAGE && event->msg->kind == MSG_ATTACH)
        atomic_fetch_add(&server->attached, 1);
}

static void *serve(void *of)
{
    struct server *server = of;

    net_run(server->net);
    return NULL;
}

static void server_open(struct server *server, uint32_t chunks)
{
    struct net_owner owner = {.self = server, .watch = count_attached};
    struct net_config net = {.host = "127.0.0.1",
                             .port = CROWD_PORT,
                             .chunk_bytes = CROWD_CHUNK_BYTES,
                             .window = WINDOW,
                             .workers = WORKERS};
    struct hub_config config = {.policy = preset_find("mean")->policy,
                                .init = INIT_HUB,
                                .run = 1,
                                .every = 1,
                                .nodes = 1,
                                .fragments = chunks,
                                .chunk_elements = CROWD_CHUNK_ELEMENTS,
                                .window = (uint64_t)WINDOW * CROWD_CHUNK_BYTES,
                                .staleness = UINT64_MAX - 1,
                                .save_interval = NEVER / 2,
                                .evaluate_interval = NEVER / 2};
    struct why why;

    config.policy.gate = &gate_async;
    memset(server, 0, sizeof *server);
    server->pool = pool_new();
    server->hub = hub_new(&config, server->pool);
    (void)sigemptyset(&net.signals);
    if (net_open_hub(&net, hub_machine(server->hub), server->pool, &owner,
                     &server->net, &why) != STATUS_OK)
        give_up("many_nodes: %s", why.text);
    if (pthread_create(&server->thread, NULL, serve, server) != 0)
        abort();
}

static void server_close(struct server *server)
{
    net_stop(server->net);
    (void)pthread_join(server->thread, NULL);
    net_close(&server->net);
    hub_destroy(&server->hub);
    pool_destroy(&server->pool);
}

/* ---- what is measured ---- */

/* A first node founds the centre; the others come; all attach. Returns the
 * seconds that it took the others. */
static double gather(struct crowd *crowd, struct server *server,
                     unsigned nodes)
{
    double from;

    crowd_come(crowd);
    crowd_found(crowd);
    from = seconds();
    for (unsigned i = 1; i < nodes; i++)
        crowd_come(crowd);
    crowd_live(crowd, 0, &server->attached, nodes);
    return seconds() - from;
}

/* Chunks a second, once a tenth of them has warmed it up. */
static double rate_of(const struct plan *plan, unsigned nodes)
{
    uint32_t chunks = plan->megabytes * (1024 * 1024 / CROWD_CHUNK_BYTES);
    uint64_t all = (uint64_t)plan->rounds * plan->nodes, warm = all / 10;
    struct server server;
    struct crowd *crowd;
    double from, lasted;

    server_open(&server, chunks);
    crowd = crowd_open(nodes, chunks);
    (void)gather(crowd, &server, nodes);
    crowd_offer(crowd, all + warm + nodes);
    crowd_live(crowd, warm, &server.attached, 0);
    from = seconds();
    crowd_live(crowd, warm + all, &server.attached, 0);
    lasted = seconds() - from;
    crowd_close(&crowd);
    server_close(&server);
    return (double)all / lasted;
}

static double join_seconds(const struct plan *plan)
{
    struct server server;
    struct crowd *crowd;
    double lasted;

    server_open(&server, 1);
    crowd = crowd_open(plan->joins, 1);
    lasted = gather(crowd, &server, plan->joins);
    crowd_close(&crowd);
    server_close(&server);
    return lasted;
}

static void read_plan(struct plan *plan, int argc, char **argv)
{
    const struct setting settings[] = {
        {"nodes", SETTING_COUNT, &plan->nodes, "many nodes (256)"},
        {"megabytes", SETTING_COUNT, &plan->megabytes, "of the model, MiB (1)"},
        {"rounds", SETTING_COUNT, &plan->rounds, "chunks of a node (20)"},
        {"pairs", SETTING_COUNT, &plan->pairs, "figures of a median (5)"},
        {"joins", SETTING_COUNT, &plan->joins,
         "nodes that join at once (1000); 1: none"},
    };

    (void)settings_read(argc, argv,
                        "How many chunks does a hub merge for many nodes?",
                        settings, sizeof settings / sizeof *settings);
    if (plan->pairs > PAIRS_MOST)
        give_up("many_nodes: at most %d pairs", PAIRS_MOST);
}

int main(int argc, char **argv)
{
    struct plan plan = {256, 1, 20, 5, 1000};
    double few[PAIRS_MOST] = {0}, many[PAIRS_MOST] = {0}, slow, fast;
    struct rlimit limit;

    read_plan(&plan, argc, argv);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    for (unsigned i = 0; i < plan.pairs; i++) {
        few[i] = rate_of(&plan, REFERENCE);
        many[i] = rate_of(&plan, plan.nodes);
    }
    fast = median(few, plan.pairs);
    slow = median(many, plan.pairs);
    (void)printf("{\"bench\":\"many_nodes\",\"nodes\":%u,\"megabytes\":%u,"
                 "\"chunks_per_s\":%.1f,\"reference_nodes\":%d,"
                 "\"reference_chunks_per_s\":%.1f,\"ratio\":%.3f,"
                 "\"target\":%.1f,\"pairs\":%u",
                 plan.nodes, plan.megabytes, slow, REFERENCE, fast,
                 slow / fast, TARGET, plan.pairs);
    if (plan.joins > 1)
        (void)printf(",\"joins\":%u,\"join_seconds\":%.3f,\"curve\":false",
                     plan.joins, join_seconds(&plan));
    (void)printf("}\n");
    return 0;
}
