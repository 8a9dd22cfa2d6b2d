/* How many chunks a second one hub merges for many nodes, and for few.
 *
 * The hub is the real machine under the real driver, on a thread of its own.
 * The nodes are state machines on one other thread: each offers a fragment of
 * one chunk of 256 KiB, is granted it, sends it, and takes the result; policy
 * mean with gate async, so that there are as many rounds under way as nodes.
 * What is measured is chunks merged a second with 8 nodes and with many, in
 * turn, the same number of chunks each time; the medians' ratio is the answer.
 * Before that so many nodes join at once, from a process of their own: the
 * time from the first HELLO to the last ATTACH, and what the hub's process then
 * needs more for each; each merges a chunk. With keys all links are encrypted,
 * each node has a key of its own, and in the end one more knocks whose key the
 * hub does not know: it must be refused. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/kit/crowd.h"
#include "bench/kit/kit.h"
#include "bench/kit/process_star.h"
#include "hub/hub.h"
#include "keys/key.h"
#include "net/net.h"

enum { REFERENCE = 8, WINDOW = 8, WORKERS = 2, PAIRS_MOST = 99 };
#define TARGET 0.8

/* What the hub counts, for the crowd to see. */
struct tally {
    atomic_uint attached, refused;
};

struct plan {
    unsigned nodes, megabytes, rounds, pairs, joins, port;
    bool encrypted;
    struct key_pair hub;
    struct net_keys *keys; /* of as many nodes as may come, or NULL */
    struct key *shown;     /* their public halves */
    struct tally *tally;   /* shared with other processes */
};

struct joined {
    double seconds, kibibytes; /* of all; of the hub's process, for each */
    unsigned attached, refused;
};

/* ---- the hub ---- */

struct server {
    struct pool *pool;
    struct hub *hub;
    struct net *net;
    pthread_t thread;
    struct tally *tally;
};

static void count_attached(void *self, const struct event *event,
                           const struct effects *effects)
{
    struct server *server = self;

    (void)effects;
    if (event->kind == EVENT_MESSAGE && event->msg->kind == MSG_ATTACH)
        atomic_fetch_add(&server->tally->attached, 1);
}

static bool count_refused(void *self, nanos now)
{
    struct server *server = self;
    const struct net_refusals *refusals = net_refusals(server->net);

    (void)now;
    atomic_store(&server->tally->refused,
                 (unsigned)refusals->count[REFUSAL_KEY]);
    return true;
}

static void *serve(void *of)
{
    struct server *server = of;

    net_run(server->net);
    return NULL;
}

/* Lets in the first `nodes` keys, if there are any. */
static void server_open(struct server *server, const struct plan *plan,
                        uint32_t chunks, unsigned nodes)
{
    struct net_owner owner = {
        .self = server, .watch = count_attached, .tick = count_refused};
    struct net_config net = {.host = "127.0.0.1",
                             .port = (uint16_t)plan->port,
                             .keys = {.on = plan->encrypted, .own = plan->hub},
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
    server->tally = plan->tally;
    atomic_store(&server->tally->attached, 0);
    server->pool = pool_new();
    server->hub = hub_new(&config, server->pool);
    (void)sigemptyset(&net.signals);
    if (net_open_hub(&net, hub_machine(server->hub), server->pool, &owner,
                     &server->net, &why) != STATUS_OK)
        give_up("many_nodes: %s", why.text);
    if (plan->encrypted)
        net_allow(server->net, plan->shown, nodes, NULL);
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
static double gather(struct crowd *crowd, const struct tally *tally,
                     unsigned nodes)
{
    double from;

    crowd_come(crowd);
    crowd_found(crowd);
    from = seconds();
    for (unsigned i = 1; i < nodes; i++)
        crowd_come(crowd);
    crowd_live(crowd, 0, &tally->attached, nodes);
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

    server_open(&server, plan, chunks, nodes);
    crowd = crowd_open(plan->port, nodes, chunks, plan->keys);
    (void)gather(crowd, plan->tally, nodes);
    crowd_offer(crowd, all + warm + nodes);
    crowd_live(crowd, warm, &plan->tally->attached, 0);
    from = seconds();
    crowd_live(crowd, warm + all, &plan->tally->attached, 0);
    lasted = seconds() - from;
    crowd_close(&crowd);
    server_close(&server);
    return (double)all / lasted;
}

/* ---- many at once ---- */

static const struct plan *joining;

/* The process of those that join: an order, they do; another, they exchange
 * and, with keys, a stranger knocks; none, they go. */
static void join(const struct post *post)
{
    const struct tally *tally = joining->tally;
    unsigned nodes = joining->joins;
    struct answer answer = {.begin = 0};
    struct crowd *crowd =
        crowd_open(joining->port, nodes + 1, 1, joining->keys);
    struct order order;

    if (!next_order(post, &order))
        return;
    answer.end = gather(crowd, tally, nodes);
    answer_order(post, &answer);
    if (!next_order(post, &order))
        return;
    crowd_offer(crowd, nodes);
    crowd_live(crowd, nodes, &tally->attached, nodes);
    if (joining->encrypted) {
        crowd_come(crowd);
        crowd_live(crowd, 0, &tally->refused, 1);
    }
    answer_order(post, &answer);
    (void)next_order(post, &order);
    crowd_close(&crowd);
}

static void ask(int orders, struct answer *answer)
{
    const struct order order = {.kind = ORDER_ROUND};

    if (send(orders, &order, sizeof order, MSG_NOSIGNAL) != sizeof order ||
        recv(orders, answer, sizeof *answer, 0) != sizeof *answer)
        give_up("many_nodes: those that join have ended");
}

/* Before anything else has taken memory: what it has at most is what counts. */
static struct joined join_all(const struct plan *plan)
{
    const struct process_star alone = {.hub = getpid()};
    struct joined joined;
    struct server server;
    struct answer answer;
    double before;
    int orders;
    pid_t process;

    joining = plan;
    process = process_star_fork(&alone, 0, &orders, join);
    server_open(&server, plan, 1, plan->joins);
    before = process_star_hub_memory(&alone);
    ask(orders, &answer);
    joined.seconds = answer.end;
    joined.kibibytes =
        1024 * (process_star_hub_memory(&alone) - before) / plan->joins;
    ask(orders, &answer);
    joined.attached = atomic_load(&plan->tally->attached);
    joined.refused = atomic_load(&plan->tally->refused);
    (void)close(orders);
    (void)waitpid(process, NULL, 0);
    server_close(&server);
    return joined;
}

/* ---- settings ---- */

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        give_up("many_nodes: no memory");
    return memory;
}

/* For the most that come at a time, and one that is not let in. */
static void make_keys(struct plan *plan)
{
    unsigned nodes = plan->nodes > REFERENCE ? plan->nodes : REFERENCE;
    unsigned count = (plan->joins > nodes ? plan->joins : nodes) + 1;
    struct why why;

    plan->keys = room(count, sizeof *plan->keys);
    plan->shown = room(count, sizeof *plan->shown);
    if (key_pair_make(&plan->hub, &why) != STATUS_OK)
        give_up("many_nodes: %s", why.text);
    for (unsigned i = 0; i < count; i++) {
        plan->keys[i].on = true;
        plan->keys[i].hub = plan->hub.shown;
        if (key_pair_make(&plan->keys[i].own, &why) != STATUS_OK)
            give_up("many_nodes: %s", why.text);
        plan->shown[i] = plan->keys[i].own.shown;
    }
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
        {"port", SETTING_COUNT, &plan->port, "of the hub (17541)"},
        {"keys", SETTING_FLAG, &plan->encrypted, "all of it is encrypted"},
    };

    (void)settings_read(argc, argv,
                        "How many chunks does a hub merge for many nodes?",
                        settings, sizeof settings / sizeof *settings);
    if (plan->pairs > PAIRS_MOST)
        give_up("many_nodes: at most %d pairs", PAIRS_MOST);
}

static void print(const struct plan *plan, double slow, double fast,
                  const struct joined *joined)
{
    (void)printf("{\"bench\":\"many_nodes\",\"nodes\":%u,\"megabytes\":%u,"
                 "\"chunks_per_s\":%.1f,\"reference_nodes\":%d,"
                 "\"reference_chunks_per_s\":%.1f,\"ratio\":%.3f,"
                 "\"target\":%.1f,\"pairs\":%u,\"curve\":%s",
                 plan->nodes, plan->megabytes, slow, REFERENCE, fast,
                 slow / fast, TARGET, plan->pairs,
                 plan->encrypted ? "true" : "false");
    if (plan->joins > 1)
        (void)printf(",\"joins\":%u,\"join_seconds\":%.3f,"
                     "\"hub_kib_each\":%.1f,\"attached\":%u,"
                     "\"refused\":%u",
                     plan->joins, joined->seconds, joined->kibibytes,
                     joined->attached, joined->refused);
    (void)printf("}\n");
}

int main(int argc, char **argv)
{
    struct plan plan = {.nodes = 256,
                        .megabytes = 1,
                        .rounds = 20,
                        .pairs = 5,
                        .joins = 1000,
                        .port = 17541};
    double few[PAIRS_MOST] = {0}, many[PAIRS_MOST] = {0};
    struct joined joined = {.seconds = 0};
    struct rlimit limit;

    read_plan(&plan, argc, argv);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    plan.tally = shared_pages(sizeof *plan.tally);
    if (plan.encrypted)
        make_keys(&plan);
    if (plan.joins > 1)
        joined = join_all(&plan);
    for (unsigned i = 0; i < plan.pairs; i++) {
        few[i] = rate_of(&plan, REFERENCE);
        many[i] = rate_of(&plan, plan.nodes);
    }
    print(&plan, median(many, plan.pairs), median(few, plan.pairs), &joined);
    free(plan.keys);
    free(plan.shown);
    return 0;
}
