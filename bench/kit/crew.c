#include "bench/kit/crew.h"

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
#include <unistd.h>

#include "bench/kit/kit.h"

enum { FIRST_PORT = 20000, PORTS = 6000, CREWS = 4, LOOK_EVERY = 200 };

/* Those alive, and the process that has started them. */
static struct {
    struct crew *crews[CREWS];
    unsigned count;
    pid_t process;
} alive;

// ---- ending ----

void crew_stop(struct crew *crew)
{
    for (unsigned n = 0; n < crew->started; n++) {
        (void)close(crew->orders[n]);
        if (crew->nodes[n] <= 0)
            continue;
        (void)kill(crew->nodes[n], SIGKILL);
        (void)waitpid(crew->nodes[n], NULL, 0);
    }
    crew->started = 0;
    if (crew->hub <= 0)
        return;
    (void)kill(crew->hub, SIGKILL);
    (void)waitpid(crew->hub, NULL, 0);
    crew->hub = 0;
    if (crew->clean)
        crew->clean(crew);
}

static void stop_all(void)
{
    for (unsigned i = 0; getpid() == alive.process && i < alive.count; i++)
        crew_stop(alive.crews[i]);
}

/* Waiting ends with EINTR, and the program with a sentence. */
static void interrupt(int number)
{
    (void)number;
}

static void mind(struct crew *crew)
{
    const struct sigaction action = {.sa_handler = interrupt};

    if (!alive.process) {
        alive.process = getpid();
        (void)atexit(stop_all);
        (void)sigaction(SIGTERM, &action, NULL);
        (void)sigaction(SIGINT, &action, NULL);
    }
    for (unsigned i = 0; i < alive.count; i++)
        if (alive.crews[i] == crew)
            return;
    if (alive.count == CREWS)
        give_up("at most %d stars", CREWS);
    alive.crews[alive.count++] = crew;
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

pid_t crew_fork(const struct crew *crew, unsigned node, int *orders,
                void (*work)(const struct post *))
{
    struct post post = crew->post;
    char place[16];
    int ends[2];
    pid_t child;

    (void)snprintf(place, sizeof place, "%u", node);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        give_up("cannot make a socket");
    child = fork_into(crew->network, place);
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

void crew_start(struct crew *crew, void (*hub)(const struct post *),
                void (*node)(const struct post *))
{
    mind(crew);
    crew->post.address = crew->network ? "10.98.0.1" : "127.0.0.1";
    crew->post.port = free_ports();
    if (crew->post.nodes > CREW_NODES)
        give_up("at most %d nodes", CREW_NODES);
    crew->hub = fork_into(crew->network, "hub");
    if (crew->hub == 0) {
        hub(&crew->post);
        exit(1);
    }
    for (unsigned n = 0; n < crew->post.nodes; n++) {
        crew->nodes[n] = crew_fork(crew, n, &crew->orders[n], node);
        crew->started = n + 1;
    }
}

// ---- orders ----

void crew_tell(struct crew *crew, const struct order *order)
{
    for (unsigned n = 0; n < crew->started; n++)
        if (send(crew->orders[n], order, sizeof *order, MSG_NOSIGNAL) !=
            sizeof *order)
            give_up("node %u is gone", n);
}

static _Noreturn void hub_lost(struct crew *crew)
{
    crew->hub = 0;
    if (crew->clean)
        crew->clean(crew);
    give_up("the hub has ended");
}

static _Noreturn void lost(struct crew *crew, unsigned n)
{
    int status = 0;

    (void)waitpid(crew->nodes[n], &status, 0);
    crew->nodes[n] = 0;
    if (WIFSIGNALED(status))
        give_up("node %u was ended by signal %d", n, WTERMSIG(status));
    give_up("node %u has ended with %d", n, WEXITSTATUS(status));
}

static void hear(struct crew *crew, unsigned n, double until,
                 struct answer *answer)
{
    struct pollfd poll_one = {crew->orders[n], POLLIN, 0};
    int known = 0;

    while (known == 0) {
        if (waitpid(crew->hub, NULL, WNOHANG) == crew->hub)
            hub_lost(crew);
        if (seconds() > until)
            give_up("node %u does not answer in time", n);
        known = poll(&poll_one, 1, LOOK_EVERY);
    }
    if (known < 0)
        give_up("interrupted");
    if (recv(crew->orders[n], answer, sizeof *answer, 0) != sizeof *answer)
        lost(crew, n);
}

double crew_hear(struct crew *crew, double patience, struct answer *answers)
{
    double until = seconds() + patience, begin = 0, end = 0;

    for (unsigned n = 0; n < crew->started; n++) {
        struct answer answer;

        hear(crew, n, until, &answer);
        if (n == 0 || answer.begin < begin)
            begin = answer.begin;
        if (n == 0 || answer.end > end)
            end = answer.end;
        if (answers)
            answers[n] = answer;
    }
    return end - begin;
}

double crew_order(struct crew *crew, const struct order *order,
                  struct answer *answers)
{
    crew_tell(crew, order);
    return crew_hear(crew, CREW_PATIENCE + order->seconds, answers);
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

double crew_hub_memory(const struct crew *crew)
{
    char path[64], line[256];
    unsigned long kibibytes = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)crew->hub);
    file = fopen(path, "r");
    if (!file)
        return 0;
    while (!kibibytes && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kibibytes = strtoul(line + 6, NULL, 10);
    (void)fclose(file);
    return (double)kibibytes / 1024;
}
