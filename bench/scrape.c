/* How long does a scrape of /metrics take with many nodes? The hub is another
 * process (bench/scrape.sh); the nodes are a crowd, on a thread of this one,
 * that has joined and says PING. Each scrape is a connection
 * of its own, from its beginning until the hub has closed it. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/kit/crowd.h"
#include "bench/kit/kit.h"

static struct {
    unsigned port, page, nodes, scrapes;
} settings = {.port = 7500, .page = 7540, .nodes = 256, .scrapes = 100};

static const char question[] =
    "How long does a scrape of /metrics take with many nodes?\nA hub must run.";

static atomic_uint over;

/* Lives until everything is measured. */
static void *live(void *self)
{
    struct crowd *crowd = self;

    crowd_live(crowd, 0, &over, 1);
    return NULL;
}

static int page_open(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)settings.page)};
    int handle = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (handle < 0 ||
        connect(handle, (struct sockaddr *)&address, sizeof address) != 0)
        give_up("no page on port %u", settings.page);
    return handle;
}

/* All that the hub answers, as a string of the caller's. */
static size_t scrape(char *answer, size_t room)
{
    static const char ask[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
                              "Connection: close\r\n\r\n";
    int handle = page_open();
    size_t size = 0;
    ssize_t more;

    if (write(handle, ask, sizeof ask - 1) != (ssize_t)sizeof ask - 1)
        give_up("the hub takes no request");
    while ((more = read(handle, answer + size, room - size - 1)) > 0)
        size += (size_t)more;
    answer[size] = '\0';
    (void)close(handle);
    return size;
}

static unsigned nodes_told(const char *answer)
{
    static const char name[] = "starswitch_node_up{";
    unsigned count = 0;

    while ((answer = strstr(answer, name)) != NULL) {
        answer += sizeof name - 1;
        count++;
    }
    return count;
}

static void measure(void)
{
    enum { ROOM = 16 << 20 };
    char *answer = malloc(ROOM);
    double *took = calloc(settings.scrapes, sizeof *took);
    double until = seconds() + 30;
    size_t size = 0;

    if (!answer || !took)
        give_up("no memory");
    while (size = scrape(answer, ROOM), nodes_told(answer) < settings.nodes)
        if (seconds() > until)
            give_up("%u nodes are told of", nodes_told(answer));
    for (unsigned i = 0; i < settings.scrapes; i++) {
        double begin = seconds();

        size = scrape(answer, ROOM);
        took[i] = 1000 * (seconds() - begin);
        sleep_until(seconds() + 0.05);
    }
    (void)printf("{\"bench\":\"scrape\",\"nodes\":%u,\"bytes\":%zu,"
                 "\"scrapes\":%u,\"p50_ms\":%.3g,\"p99_ms\":%.3g}\n",
                 settings.nodes, size, settings.scrapes,
                 median(took, settings.scrapes),
                 quantile(took, settings.scrapes, 0.99));
    free(took);
    free(answer);
}

int main(int argc, char **argv)
{
    static const struct setting list[] = {
        {"port", SETTING_COUNT, &settings.port, "of the hub"},
        {"page", SETTING_COUNT, &settings.page, "of its page"},
        {"nodes", SETTING_COUNT, &settings.nodes, "that join"},
        {"scrapes", SETTING_COUNT, &settings.scrapes, "that are measured"}};
    struct crowd *crowd;
    pthread_t thread;

    (void)settings_read(argc, argv, question, list, 4);
    crowd = crowd_open(settings.port, settings.nodes, 1, NULL);
    crowd_come(crowd);
    crowd_found(crowd);
    for (unsigned i = 1; i < settings.nodes; i++)
        crowd_come(crowd);
    if (pthread_create(&thread, NULL, live, crowd) != 0)
        give_up("no thread");
    measure();
    atomic_store(&over, 1);
    (void)pthread_join(thread, NULL);
    crowd_close(&crowd);
    return 0;
}
