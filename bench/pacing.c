/* Is reserved bandwidth kept? A real hub with --up and --down, and nodes that
 * always have something to offer; and, without limits, how even the traffic is
 * with fragments.
 *
 * All bulk connections go through this program, which counts what passes, to 10
 * ms. It prints a line of JSON: the most in any second and the mean, against
 * the rate, each way; then the peak of the traffic over k / F iterations
 * against its mean. The rate is per second, of payload; TCP carries a little
 * more. */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <starswitch.h>

enum {
    MOST_NODES = 8,
    MOST_PIPES = 4 * MOST_NODES + 4,
    BINS = 12000,
    BIN_MS = 10,
    SECOND_BINS = 1000 / BIN_MS,
    EVERY = 40, /* k, and the step time */
    STEP_MS = 5
};

struct bench {
    unsigned nodes, fragments;
    size_t elements;
    uint64_t rounds, rate; /* rate 0: none */
    unsigned hub_port, port;
    pid_t hub, node[MOST_NODES];
    long begun;
    atomic_bool over;
    uint64_t passed[2][BINS]; /* to the hub, from the hub */
};

static long now_ms(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- what passes ---- */

/* A connection of a node, and ours to the hub in its place. */
struct pipe {
    int fd[2]; /* the node's, the hub's; -1: closed */
    bool bulk;
};

static struct sockaddr_in address_of(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int listen_at(unsigned port)
{
    struct sockaddr_in address = address_of(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) ||
        listen(fd, 64))
        fail("listening");
    return fd;
}

static void take_in(const struct bench *bench, struct pipe *pipe,
                    int listener, bool bulk)
{
    struct sockaddr_in address = address_of(bench->hub_port + bulk);

    pipe->bulk = bulk;
    pipe->fd[0] = accept(listener, NULL, NULL);
    pipe->fd[1] = socket(AF_INET, SOCK_STREAM, 0);
    if (pipe->fd[0] >= 0 && pipe->fd[1] >= 0 &&
        connect(pipe->fd[1], (struct sockaddr *)&address, sizeof address) == 0)
        return;
    for (int i = 0; i < 2; i++) {
        if (pipe->fd[i] >= 0)
            (void)close(pipe->fd[i]);
        pipe->fd[i] = -1;
    }
}

/* Passes on what has come from one end. */
static void pass(struct bench *bench, struct pipe *pipe, int from)
{
    static char bytes[1 << 18];
    long bin = (now_ms() - bench->begun) / BIN_MS;
    ssize_t size = recv(pipe->fd[from], bytes, sizeof bytes, 0);

    if (size <= 0 || send(pipe->fd[!from], bytes, (size_t)size,
                          MSG_NOSIGNAL) != size) {
        (void)close(pipe->fd[0]);
        (void)close(pipe->fd[1]);
        pipe->fd[0] = pipe->fd[1] = -1;
    } else if (pipe->bulk && bin < BINS) {
        bench->passed[from][bin] += (uint64_t)size;
    }
}

static void *pass_all(void *of)
{
    struct bench *bench = of;
    static struct pipe pipes[MOST_PIPES];
    struct pollfd fds[2 + 2 * MOST_PIPES];
    unsigned count = 0;
    int listener[2] = {listen_at(bench->port), listen_at(bench->port + 1)};

    while (!atomic_load(&bench->over)) {
        for (int i = 0; i < 2; i++)
            fds[i] = (struct pollfd){.fd = listener[i], .events = POLLIN};
        for (unsigned i = 0; i < 2 * count; i++)
            fds[2 + i] = (struct pollfd){.fd = pipes[i / 2].fd[i % 2],
                                         .events = POLLIN};
        (void)poll(fds, 2 + 2 * count, 50);
        for (unsigned i = 0; i < 2 * count; i++)
            if (fds[2 + i].revents && pipes[i / 2].fd[i % 2] >= 0)
                pass(bench, &pipes[i / 2], (int)(i % 2));
        for (int i = 0; i < 2; i++)
            if (fds[i].revents && count < MOST_PIPES)
                take_in(bench, &pipes[count++], listener[i], i == 1);
    }
    for (unsigned i = 0; i < 2 * count; i++)
        (void)close(pipes[i / 2].fd[i % 2]);
    (void)close(listener[0]);
    (void)close(listener[1]);
    return NULL;
}

/* ---- hub and nodes ---- */

static _Noreturn void be_hub(const struct bench *bench, const char *directory)
{
    const char *build = getenv("STAR_BUILD");
    char program[256], listening[32], rate[32], chunk[32], every[16],
        fragments[16];

    (void)snprintf(program, sizeof program, "%s/starswitch-hub",
                   build ? build : "build");
    (void)snprintf(listening, sizeof listening, "127.0.0.1:%u",
                   bench->hub_port);
    (void)snprintf(rate, sizeof rate, "%lluB/s",
                   (unsigned long long)bench->rate);
    (void)snprintf(chunk, sizeof chunk, "%llu",
                   (unsigned long long)(bench->rate ? bench->rate / 200 * 4
                                                    : 65536));
    (void)snprintf(every, sizeof every, "%d", EVERY);
    (void)snprintf(fragments, sizeof fragments, "%u",
                   bench->rate ? 1 : bench->fragments);
    if (!freopen("/dev/null", "w", stdout) ||
        !freopen("/dev/null", "w", stderr))
        fail("/dev/null");
    (void)execl(program, program, "--listen", listening, "--directory",
                directory, "--policy", "mean", "--codec-up", "raw",
                "--codec-down", "raw", "--init", "hub", "--up",
                bench->rate ? rate : "none", "--down",
                bench->rate ? rate : "none", "--chunk", chunk, "--every", every,
                "--delay", every, "--staleness", "1000", "--fragments",
                fragments, "--save", "24h", (char *)NULL);
    fail(program);
}

/* A node whose parameters drift. */
static _Noreturn void be_node(const struct bench *bench, unsigned number)
{
    float *values = calloc(bench->elements, sizeof *values);
    const struct timespec pause = {0, STEP_MS * 1000000L};
    const struct star_tensor tensor = {
        "w", 2, {2, bench->elements / 2}, values, NULL};
    char hub[32], name[16], error[256];
    struct star_options options = {.hub = hub, .name = name};
    struct star_state state = {0};
    struct star_link *link;

    (void)snprintf(hub, sizeof hub, "127.0.0.1:%u", bench->port);
    (void)snprintf(name, sizeof name, "n%u", number);
    if (!values ||
        star_attach(&options, &tensor, 1, &link, error, sizeof error))
        fail("attaching");
    while (state.offered < bench->rounds * bench->fragments) {
        for (size_t i = 0; i < bench->elements; i += 4096)
            values[i] += 0.01f;
        if (star_step(link, NULL) != STAR_GO)
            break;
        star_look(link, &state);
        (void)nanosleep(&pause, NULL);
    }
    (void)kill(getpid(), SIGKILL); /* no last round: it would not be paced */
    exit(0);
}

static void run(struct bench *bench)
{
    char directory[] = "/tmp/star-pacing-XXXXXX", command[64];
    pthread_t thread;

    if (!mkdtemp(directory))
        fail(directory);
    bench->begun = now_ms();
    bench->hub = fork();
    if (bench->hub == 0)
        be_hub(bench, directory);
    (void)usleep(300000); /* it listens; nodes would only try again */
    for (unsigned i = 0; i < bench->nodes; i++) {
        bench->node[i] = fork();
        if (bench->node[i] == 0)
            be_node(bench, i);
    }
    if (pthread_create(&thread, NULL, pass_all, bench) != 0)
        fail("a thread");
    for (unsigned i = 0; i < bench->nodes; i++)
        (void)waitpid(bench->node[i], NULL, 0);
    atomic_store(&bench->over, true);
    (void)pthread_join(thread, NULL);
    (void)kill(bench->hub, SIGKILL);
    (void)waitpid(bench->hub, NULL, 0);
    (void)snprintf(command, sizeof command, "rm -rf %s", directory);
    (void)!system(command);
}

/* ---- what it comes to ---- */

/* The most in any `span` bins from `first` on, and the mean of that over the
 * middle of the run: without its first and last sixth, in which there is less
 * to do. */
static void measure(const uint64_t *bins, unsigned first, unsigned span,
                    double *most, double *mean)
{
    unsigned last = BINS;
    double sum = 0, window = 0;

    while (first + 1 < BINS && !bins[first])
        first++;
    while (last > first + 1 && !bins[last - 1])
        last--;
    *most = 0;
    for (unsigned i = first; i < last; i++) {
        window += (double)bins[i];
        if (i >= first + span)
            window -= (double)bins[i - span];
        *most = window > *most ? window : *most;
    }
    span = span < last - first ? span : last - first;
    first += (last - first) / 6;
    last -= (last - first) / 5;
    for (unsigned i = first; i < last; i++)
        sum += (double)bins[i];
    *mean = sum * span / (last > first ? last - first : 1);
}

static uint64_t number(char **arguments, const char *name, uint64_t otherwise)
{
    for (; *arguments; arguments++)
        if (strcmp(*arguments, name) == 0 && arguments[1])
            return strtoull(arguments[1], NULL, 10);
    return otherwise;
}

int main(int count, char **arguments)
{
    static struct bench bench;
    static uint64_t both[BINS];
    double most[2], mean[2], peak, even;
    double rate;

    (void)count;
    bench.nodes = (unsigned)number(arguments, "--nodes", 2);
    bench.fragments = (unsigned)number(arguments, "--fragments", 4);
    bench.elements = number(arguments, "--megabytes", 4) * 1000000 / 4;
    bench.rounds = number(arguments, "--rounds", 40);
    bench.rate = number(arguments, "--rate", 20000000);
    bench.hub_port = 20000 + (unsigned)getpid() % 3000 * 4;
    bench.port = bench.hub_port + 2;
    if (!bench.nodes || bench.nodes > MOST_NODES || !bench.rate ||
        !bench.fragments) {
        (void)fprintf(stderr, "pacing: 1 to %d nodes\n", MOST_NODES);
        return 64;
    }
    rate = (double)bench.rate;
    run(&bench);
    for (int i = 0; i < 2; i++)
        measure(bench.passed[i], 0, SECOND_BINS, &most[i], &mean[i]);
    memset(bench.passed, 0, sizeof bench.passed);
    atomic_store(&bench.over, false);
    bench.rate = 0;
    run(&bench);
    for (int i = 0; i < BINS; i++)
        both[i] = bench.passed[0][i] + bench.passed[1][i];
    /* Before that the first parameters are on their way. */
    measure(both, 2 * SECOND_BINS,
            EVERY * STEP_MS / BIN_MS / bench.fragments, &peak, &even);
    (void)printf("{\"bench\": \"pacing\", \"nodes\": %u, \"rate\": %.0f, "
                 "\"down_most\": %.3f, \"down_mean\": %.3f, "
                 "\"up_most\": %.3f, \"up_mean\": %.3f, "
                 "\"fragments\": %u, \"peak_to_mean\": %.2f}\n",
                 bench.nodes, rate, most[0] / rate, mean[0] / rate,
                 most[1] / rate, mean[1] / rate, bench.fragments,
                 even > 0 ? peak / even : 0);
    return 0;
}
