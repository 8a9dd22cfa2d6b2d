/* How many bytes a second does one TCP stream bring from a node to the hub,
 * as iperf3 counts them? Other figures are compared with it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bench/kit/kit.h"
#include "bench/kit/process_star.h"
#include "bench/kit/raw.h"

enum { PIECE = 1 << 20, MOST_ROUNDS = 100 };

static const char question[] =
    "How many bytes a second does one TCP stream bring from a node to the hub?";

static atomic_ullong *arrived; /* shared by all processes */

static void sink(const struct post *post)
{
    static char bytes[PIECE];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)post->port)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), handle;
    ssize_t got;

    (void)inet_pton(AF_INET, post->address, &address.sin_addr);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0)
        give_up("cannot listen");
    handle = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    while ((got = recv(handle, bytes, sizeof bytes, 0)) > 0)
        atomic_fetch_add(arrived, (unsigned long long)got);
}

static void flood(const struct post *post)
{
    static char bytes[PIECE];
    struct answer answer = {0};
    struct order order;
    int handle;

    if (!next_order(post, &order))
        return;
    handle = raw_connect(post, RAW_BULK);
    answer_order(post, &answer);
    while (send(handle, bytes, sizeof bytes, MSG_NOSIGNAL) > 0)
        ;
}

int main(int argc, char **argv)
{
    static struct process_star star;
    unsigned nodes = 1, megabytes = 1, rounds = 5;
    double length = 1, rates[MOST_ROUNDS];
    struct order order = {.kind = ORDER_ROUND};
    const char *network = NULL;
    const struct setting list[] = {
        {"nodes", SETTING_COUNT, &nodes, "has no effect"},
        {"megabytes", SETTING_COUNT, &megabytes, "has no effect"},
        {"rounds", SETTING_COUNT, &rounds, "times measured (5)"},
        {"seconds", SETTING_REAL, &length, "each of them lasts (1)"},
        {"network", SETTING_TEXT, &network,
         "where bench/kit/network has made namespaces of this name"},
    };

    (void)settings_read(argc, argv, question, list, sizeof list / sizeof *list);
    if (rounds > MOST_ROUNDS)
        give_up("at most %d rounds", MOST_ROUNDS);
    arrived = shared_pages(sizeof *arrived);
    star = (struct process_star){.network = network, .post = {.nodes = 1}};
    process_star_start(&star, sink, flood);
    (void)process_star_order(&star, &order, NULL);
    sleep_until(seconds() + length); /* until it is at its speed */
    for (unsigned i = 0; i < rounds; i++) {
        unsigned long long before = atomic_load(arrived);
        double began = seconds();

        sleep_until(began + length);
        rates[i] =
            (double)(atomic_load(arrived) - before) / (seconds() - began);
    }
    (void)printf("{\"bench\":\"goodput\",\"rounds\":%u,"
                 "\"bytes_per_second\":%.0f}\n",
                 rounds, median(rates, rounds));
    return 0;
}
