/* Is reserved bandwidth kept? A real hub with --up and --down, and nodes that
 * always have something to offer; and, without limits, how even the traffic is
 * with fragments.
 *
 * Bytes are counted by the kernel, at the hub's bulk connections: what TCP has
 * received and what it has sent (sock_diag(7), tcp_info), looked at every few
 * milliseconds with the time of the look, so that a late one makes no burst. It
 * prints a line of JSON: the most in any second and the mean, against the rate,
 * each way; then the most in any k / F iterations against the mean. The rate is
 * per second, of payload; TCP carries a little more. */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <starswitch.h>

#include "bench/kit/kit.h"

enum {
    MOST_NODES = 8,
    MOST_CONNECTIONS = 4 * MOST_NODES,
    MOST_LOOKS = 60000,
    EVERY = 40, /* k */
    AHEAD = 20, /* exchanges that the delay hides */
    REPLY_BYTES = 1 << 16,
    ESTABLISHED = 1 /* TCP_ESTABLISHED */
};

#define LOOK_EVERY 0.004
/* Seconds of an iteration: as fast as they go where the rate is the limit. */
#define QUICK_STEP 0.001
#define STEP 0.02
/* Seconds until the first parameters are where they belong, and nodes know how
 * fast they are. */
#define SETTLED 3

enum { TO_HUB, FROM_HUB, WAYS };

struct look {
    double when;
    double bytes[WAYS]; /* so far */
};

/* Of a connection that is gone, the last that was seen. */
struct connection {
    unsigned port; /* the node's */
    double bytes[WAYS];
};

struct bench {
    unsigned nodes, fragments, megabytes, rounds, rate; /* rate 0: none */
    size_t elements;
    double step;
    unsigned port;
    pid_t hub, node[MOST_NODES];
    atomic_bool over;
    struct connection connections[MOST_CONNECTIONS];
    unsigned connected;
    struct look looks[MOST_LOOKS];
    unsigned count;
};

static const char question[] =
    "Is reserved bandwidth kept, and how even is the traffic with fragments?";

/* ---- what passes ---- */

static void ask(int handle, unsigned port)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 request;
    } question_asked = {
        .head = {.nlmsg_len = sizeof question_asked,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .request = {.sdiag_family = AF_INET,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                    .idiag_states = 1 << ESTABLISHED,
                    .id = {.idiag_sport = htons((uint16_t)port)}}};

    if (send(handle, &question_asked, sizeof question_asked, 0) < 0)
        give_up("the kernel does not tell of connections");
}

static void note(struct bench *bench, unsigned port,
                 const struct tcp_info *info)
{
    unsigned i = 0;

    while (i < bench->connected && bench->connections[i].port != port)
        i++;
    if (i == MOST_CONNECTIONS)
        give_up("at most %d connections", MOST_CONNECTIONS);
    if (i == bench->connected)
        bench->connected++;
    bench->connections[i].port = port;
    bench->connections[i].bytes[TO_HUB] = (double)info->tcpi_bytes_received;
    bench->connections[i].bytes[FROM_HUB] = (double)info->tcpi_bytes_sent;
}

static void take_in(struct bench *bench, const struct nlmsghdr *head)
{
    const struct inet_diag_msg *socket = NLMSG_DATA(head);
    const struct nlattr *at = (const void *)(socket + 1);
    long left = (long)(head->nlmsg_len - NLMSG_LENGTH(sizeof *socket));

    while (left >= (long)sizeof *at && at->nla_len >= sizeof *at) {
        struct tcp_info info = {0};
        size_t size = at->nla_len - sizeof *at;

        if (at->nla_type == INET_DIAG_INFO) {
            memcpy(&info, at + 1, size < sizeof info ? size : sizeof info);
            note(bench, ntohs(socket->id.idiag_dport), &info);
        }
        left -= NLMSG_ALIGN(at->nla_len);
        at = (const void *)((const char *)at + NLMSG_ALIGN(at->nla_len));
    }
}

/* False: there is more to come. */
static bool hear(struct bench *bench, int handle)
{
    static _Alignas(struct nlmsghdr) char reply[REPLY_BYTES];
    ssize_t left = recv(handle, reply, sizeof reply, 0);
    const struct nlmsghdr *head = (const void *)reply;

    if (left < 0)
        give_up("the kernel does not tell of connections");
    for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
        if (head->nlmsg_type == NLMSG_DONE)
            return true;
        if (head->nlmsg_type == NLMSG_ERROR)
            give_up("the kernel does not tell of connections");
        take_in(bench, head);
    }
    return false;
}

static void *watch(void *of)
{
    struct bench *bench = of;
    int handle =
        socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    while (!atomic_load(&bench->over) && bench->count < MOST_LOOKS) {
        struct look *look = &bench->looks[bench->count++];

        ask(handle, bench->port + 1);
        while (!hear(bench, handle))
            continue;
        *look = (struct look){.when = seconds()};
        for (unsigned i = 0; i < bench->connected; i++)
            for (int way = 0; way < WAYS; way++)
                look->bytes[way] += bench->connections[i].bytes[way];
        sleep_until(look->when + LOOK_EVERY);
    }
    (void)close(handle);
    return NULL;
}

/* ---- hub and nodes ---- */

static _Noreturn void be_hub(const struct bench *bench, const char *directory)
{
    const char *build = getenv("STAR_BUILD");
    char program[256], listening[32], rate[32], chunk[32], every[16], delay[16],
        fragments[16];

    (void)snprintf(program, sizeof program, "%s/starswitch-hub",
                   build ? build : "build");
    (void)snprintf(listening, sizeof listening, "127.0.0.1:%u", bench->port);
    (void)snprintf(rate, sizeof rate, "%lluB/s",
                   (unsigned long long)bench->rate);
    (void)snprintf(
        chunk, sizeof chunk, "%llu",
        (unsigned long long)(bench->rate ? bench->rate / 50 : 65536));
    (void)snprintf(every, sizeof every, "%d", EVERY);
    /* A node offers nothing beside a result that is late: none is. */
    (void)snprintf(delay, sizeof delay, "%d",
                   bench->rate ? AHEAD * EVERY : EVERY);
    (void)snprintf(fragments, sizeof fragments, "%u",
                   bench->rate ? 1 : bench->fragments);
    if (!freopen("/dev/null", "w", stdout) ||
        !freopen("/dev/null", "w", stderr))
        give_up("no /dev/null");
    (void)execl(program, program, "--listen", listening, "--directory",
                directory, "--policy", "mean", "--init", "hub", "--up",
                bench->rate ? rate : "none", "--down",
                bench->rate ? rate : "none", "--chunk", chunk, "--every", every,
                "--delay", delay, "--staleness", "1000", "--fragments",
                fragments, "--save", "24h", (char *)NULL);
    give_up("cannot run %s", program);
}

/* A node whose parameters drift. */
static _Noreturn void be_node(const struct bench *bench, unsigned number)
{
    float *values = pages(bench->elements * sizeof *values);
    const struct star_tensor tensor =
        STAR_TENSOR("w", 2, values, NULL, 2, bench->elements / 2);
    char hub[32], name[16], error[256];
    struct star_options options = {
        .size = sizeof options, .hub = hub, .name = name};
    struct star_state state = {.size = sizeof state};
    struct star_link *link;

    (void)snprintf(hub, sizeof hub, "127.0.0.1:%u", bench->port);
    (void)snprintf(name, sizeof name, "n%u", number);
    if (star_attach(&options, &tensor, 1, &link, error, sizeof error))
        give_up("%s", error);
    while (state.offered < (uint64_t)bench->rounds * bench->fragments) {
        for (size_t i = 0; i < bench->elements; i += 4096)
            values[i] += 0.01f;
        if (star_step(link, NULL) != STAR_GO)
            break;
        star_look(link, &state);
        sleep_until(seconds() + bench->step);
    }
    (void)kill(getpid(), SIGKILL); /* no last round: it would not be paced */
    exit(0);
}

static void run(struct bench *bench)
{
    char directory[] = "/tmp/star-pacing-XXXXXX";
    pthread_t thread;

    if (!mkdtemp(directory))
        give_up("no folder %s", directory);
    atomic_store(&bench->over, false);
    bench->count = bench->connected = 0;
    bench->hub = fork();
    if (bench->hub == 0)
        be_hub(bench, directory);
    (void)usleep(300000); /* it listens; nodes would only try again */
    for (unsigned i = 0; i < bench->nodes; i++) {
        bench->node[i] = fork();
        if (bench->node[i] == 0)
            be_node(bench, i);
    }
    if (pthread_create(&thread, NULL, watch, bench) != 0)
        give_up("cannot start a thread");
    for (unsigned i = 0; i < bench->nodes; i++)
        (void)waitpid(bench->node[i], NULL, 0);
    atomic_store(&bench->over, true);
    (void)pthread_join(thread, NULL);
    (void)kill(bench->hub, SIGKILL);
    (void)waitpid(bench->hub, NULL, 0);
    folder_remove(directory);
}

/* ---- what it comes to ---- */

static double all(const struct look *look, unsigned ways)
{
    double sum = 0;

    for (int way = 0; way < WAYS; way++)
        sum += ways & 1U << way ? look->bytes[way] : 0;
    return sum;
}

/* The looks between which there is traffic, without the first seconds. */
static void trim(const struct bench *bench, unsigned ways, double seconds,
                 unsigned *first, unsigned *last)
{
    const struct look *looks = bench->looks;

    *first = 0;
    *last = bench->count - 1;
    while (*first < *last && all(&looks[*first], ways) <= 0)
        ++*first;
    seconds += looks[*first].when;
    while (*first < *last && looks[*first].when < seconds)
        ++*first;
    while (*last > *first &&
           all(&looks[*last - 1], ways) >= all(&looks[bench->count - 1], ways))
        --*last;
}

/* Bytes per second of these ways: the most in any `span` seconds, and the mean
 * over the middle of the run, without its first and last sixth, in which there
 * is less to do. */
static void measure(const struct bench *bench, unsigned ways, double skipped,
                    double span, double *most, double *mean)
{
    const struct look *looks = bench->looks;
    unsigned first, last, sixth, end;

    trim(bench, ways, skipped, &first, &last);
    *most = 0;
    for (unsigned i = end = first; i < last; i++) {
        double rate;

        while (end < last && looks[end].when < looks[i].when + span)
            end++;
        if (looks[end].when < looks[i].when + span)
            break;
        rate = (all(&looks[end], ways) - all(&looks[i], ways)) /
               (looks[end].when - looks[i].when);
        *most = rate > *most ? rate : *most;
    }
    sixth = (last - first) / 6;
    first += sixth;
    last -= sixth;
    *mean = (all(&looks[last], ways) - all(&looks[first], ways)) /
            (looks[last].when - looks[first].when);
}

int main(int argc, char **argv)
{
    static struct bench bench = {.nodes = 2,
                                 .fragments = 4,
                                 .megabytes = 4,
                                 .rounds = 40,
                                 .rate = 20000000,
                                 .step = QUICK_STEP};
    const struct setting list[] = {
        {"nodes", SETTING_COUNT, &bench.nodes, "nodes (2)"},
        {"fragments", SETTING_COUNT, &bench.fragments, "fragments (4)"},
        {"megabytes", SETTING_COUNT, &bench.megabytes, "MB of parameters (4)"},
        {"rounds", SETTING_COUNT, &bench.rounds, "offers of a node (40)"},
        {"rate", SETTING_COUNT, &bench.rate, "bytes/s, each way (20000000)"},
    };
    double most[WAYS], mean[WAYS], peak, even, rate;

    (void)settings_read(argc, argv, question, list, sizeof list / sizeof *list);
    if (bench.nodes > MOST_NODES)
        give_up("at most %d nodes", MOST_NODES);
    rate = bench.rate;
    bench.elements = (size_t)bench.megabytes * 1000000 / sizeof(float);
    bench.port = 20000 + (unsigned)getpid() % 6000 * 2;
    run(&bench);
    for (unsigned way = 0; way < WAYS; way++)
        measure(&bench, 1U << way, 0, 1, &most[way], &mean[way]);
    bench.rate = 0;
    bench.step = STEP;
    run(&bench);
    measure(&bench, 1U << TO_HUB | 1U << FROM_HUB, SETTLED,
            EVERY * STEP / bench.fragments, &peak, &even);
    (void)printf("{\"bench\":\"pacing\",\"nodes\":%u,\"rate\":%.0f,"
                 "\"down_most\":%.3f,\"down_mean\":%.3f,"
                 "\"up_most\":%.3f,\"up_mean\":%.3f,"
                 "\"fragments\":%u,\"peak_to_mean\":%.2f}\n",
                 bench.nodes, rate, most[TO_HUB] / rate, mean[TO_HUB] / rate,
                 most[FROM_HUB] / rate, mean[FROM_HUB] / rate, bench.fragments,
                 even > 0 ? peak / even : 0);
    return 0;
}
