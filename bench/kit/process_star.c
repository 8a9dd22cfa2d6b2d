#include "bench/kit/process_star.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/kit/kit.h"

enum { FIRST_PORT = 20000, PORTS = 6000, STARS = 4, LOOK_EVERY = 200 };

/* Those alive, and the process that has started them. */
static struct {
    struct process_star *stars[STARS];
    unsigned count;
    pid_t process;
} alive;

// ---- ending ----

void process_star_stop(struct process_star *star)
{
    for (unsigned n = 0; n < star->started; n++) {
        (void)close(star->orders[n]);
        if (star->nodes[n] <= 0)
            continue;
        (void)kill(star->nodes[n], SIGKILL);
        (void)waitpid(star->nodes[n], NULL, 0);
    }
    star->started = 0;
    if (star->hub <= 0)
        return;
    (void)kill(star->hub, SIGKILL);
    (void)waitpid(star->hub, NULL, 0);
    star->hub = 0;
    if (star->clean)
        star->clean(star);
}

static void stop_all(void)
{
    for (unsigned i = 0; getpid() == alive.process && i < alive.count; i++)
        process_star_stop(alive.stars[i]);
}

/* Waiting ends with EINTR, and the program with a sentence. */
static void interrupt(int number)
{
    (void)number;
}

static void mind(struct process_star *star)
{
    const struct sigaction action = {.sa_handler = interrupt};

    if (!alive.process) {
        alive.process = getpid();
        (void)atexit(stop_all);
        (void)sigaction(SIGTERM, &action, NULL);
        (void)sigaction(SIGINT, &action, NULL);
    }
    for (unsigned i = 0; i < alive.count; i++)
        if (alive.stars[i] == star)
            return;
    if (alive.count == STARS)
        give_up("at most %d stars", STARS);
    alive.stars[alive.count++] = star;
}

// ---- starting ----

static void enter(const char *network, const char *place)
{
    char path[128];
    int file;

    (void)snprintf(path, sizeof path, "/run/netns/%s-%s", network, place);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || setns(file, CLONE_NEWNET) != 0)
        give_up("cannot enter the network namespace %s", path);
    (void)close(file);
}

/* Returns in the child with 0. */
static pid_t fork_into(const char *network, const char *place)
{
    pid_t parent = getpid(), child;

    (void)fflush(NULL);
    child = fork();
    if (child < 0)
        give_up("cannot start a process");
    if (child > 0)
        return child;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    if (getppid() != parent)
        _exit(1);
    if (network)
        enter(network, place);
    return 0;
}

static bool is_free(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port)};
    int one = 1, handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is;

    (void)setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    is = bind(handle, (struct sockaddr *)&address, sizeof address) == 0;
    (void)close(handle);
    return is;
}

/* Two in a row, below those that the system gives away itself. */
static unsigned free_ports(void)
{
    static unsigned tried;

    for (unsigned n = 0; n < PORTS; n++) {
        unsigned port = FIRST_PORT + ((unsigned)getpid() + tried++) % PORTS * 2;

        if (is_free(port) && is_free(port + 1))
            return port;
    }
    give_up("there is no free port");
}

pid_t process_star_fork(const struct process_star *star, unsigned node,
                        int *orders, void (*work)(const struct post *))
{
    struct post post = star->post;
    char place[16];
    int ends[2];
    pid_t child;

    (void)snprintf(place, sizeof place, "%u", node);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        give_up("cannot make a socket");
    child = fork_into(star->network, place);
    if (child == 0) {
        (void)close(ends[0]);
        post.node = node;
        post.orders = ends[1];
        work(&post);
        exit(0);
    }
    (void)close(ends[1]);
    *orders = ends[0];
    return child;
}

void process_star_start(struct process_star *star,
                        void (*hub)(const struct post *),
                        void (*node)(const struct post *))
{
    mind(star);
    star->post.address = star->network ? "10.98.0.1" : "127.0.0.1";
    star->post.port = free_ports();
    if (star->post.nodes > PROCESS_STAR_NODES)
        give_up("at most %d nodes", PROCESS_STAR_NODES);
    star->hub = fork_into(star->network, "hub");
    if (star->hub == 0) {
        hub(&star->post);
        exit(1);
    }
    for (unsigned n = 0; n < star->post.nodes; n++) {
        star->nodes[n] = process_star_fork(star, n, &star->orders[n], node);
        star->started = n + 1;
    }
}

// ---- orders ----

void process_star_tell(struct process_star *star, const struct order *order)
{
    for (unsigned n = 0; n < star->started; n++)
        if (send(star->orders[n], order, sizeof *order, MSG_NOSIGNAL) !=
            sizeof *order)
            give_up("node %u is gone", n);
}

static _Noreturn void hub_lost(struct process_star *star)
{
    star->hub = 0;
    if (star->clean)
        star->clean(star);
    give_up("the hub has ended");
}

static _Noreturn void lost(struct process_star *star, unsigned n)
{
    int status = 0;

    (void)waitpid(star->nodes[n], &status, 0);
    star->nodes[n] = 0;
    if (WIFSIGNALED(status))
        give_up("node %u was ended by signal %d", n, WTERMSIG(status));
    give_up("node %u has ended with %d", n, WEXITSTATUS(status));
}

static void hear(struct process_star *star, unsigned n, double until,
                 struct answer *answer)
{
    struct pollfd poll_one = {star->orders[n], POLLIN, 0};
    int known = 0;

    while (known == 0) {
        if (waitpid(star->hub, NULL, WNOHANG) == star->hub)
            hub_lost(star);
        if (seconds() > until)
            give_up("node %u does not answer in time", n);
        known = poll(&poll_one, 1, LOOK_EVERY);
    }
    if (known < 0)
        give_up("interrupted");
    if (recv(star->orders[n], answer, sizeof *answer, 0) != sizeof *answer)
        lost(star, n);
}

double process_star_hear(struct process_star *star, double patience,
                         struct answer *answers)
{
    double until = seconds() + patience, begin = 0, end = 0;

    for (unsigned n = 0; n < star->started; n++) {
        struct answer answer;

        hear(star, n, until, &answer);
        if (n == 0 || answer.begin < begin)
            begin = answer.begin;
        if (n == 0 || answer.end > end)
            end = answer.end;
        if (answers)
            answers[n] = answer;
    }
    return end - begin;
}

double process_star_order(struct process_star *star, const struct order *order,
                          struct answer *answers)
{
    process_star_tell(star, order);
    return process_star_hear(star, PROCESS_STAR_PATIENCE + order->seconds,
                             answers);
}

int next_order(const struct post *post, struct order *order)
{
    return recv(post->orders, order, sizeof *order, 0) == sizeof *order;
}

void answer_order(const struct post *post, const struct answer *answer)
{
    (void)send(post->orders, answer, sizeof *answer, MSG_NOSIGNAL);
}

// ---- looking ----

double process_star_hub_memory(const struct process_star *star)
{
    char path[64], line[256];
    unsigned long kibibytes = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)star->hub);
    file = fopen(path, "r");
    if (!file)
        return 0;
    while (!kibibytes && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kibibytes = strtoul(line + 6, NULL, 10);
    (void)fclose(file);
    return (double)kibibytes / 1024;
}

/* Linux: all threads of the process; 0 when it is gone. */
static double processor_seconds(pid_t process)
{
    clockid_t clock;
    struct timespec time;

    if (clock_getcpuclockid(process, &clock) != 0 ||
        clock_gettime(clock, &time) != 0)
        return 0;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct processor_time process_star_time(const struct process_star *star)
{
    struct processor_time time = {.hub = processor_seconds(star->hub)};

    for (unsigned n = 0; n < star->started; n++)
        time.nodes += processor_seconds(star->nodes[n]);
    return time;
}
