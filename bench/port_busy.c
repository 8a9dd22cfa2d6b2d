/* How busy is the hub's port when every node exchanges at its own time
 * (--policy async) and always has something to send?
 *
 * Bytes are counted where the hub's network device counts them, in both
 * directions, headers included, as what limits a link does: busy is their mean
 * over the rate of the link. Without --rate there is only the sum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kit/kit.h"
#include "bench/kit/star.h"

enum { MOST_ROUNDS = 100 };

static const char question[] =
    "How busy is the hub's port when every node exchanges at its own time?";

struct traffic {
    double in, out; /* bytes so far */
};

/* All devices but the bridge's and those that are down count here once: the
 * hub has eth0 in a network of ours, and lo without. */
static struct traffic look(const struct process_star *star)
{
    const char *device = star->network ? "eth0:" : "lo:";
    struct traffic traffic = {0};
    char path[64], line[512];
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/net/dev", (int)star->hub);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *at = strstr(line, device);

        if (!at)
            continue;
        at += strlen(device);
        traffic.in = strtod(at, &at);
        for (int skipped = 0; skipped < 7; skipped++)
            (void)strtod(at, &at);
        traffic.out = strtod(at, NULL);
    }
    if (file)
        (void)fclose(file);
    return traffic;
}

int main(int argc, char **argv)
{
    static struct process_star star;
    static char *options[] = {"--policy", "async", "--every", "2",
                              "--delay",  "1",     NULL};
    unsigned nodes = 4, megabytes = 64, rounds = 5;
    double length = 5, rate = 0, shares[MOST_ROUNDS], in, out;
    struct order order = {.kind = ORDER_ROUND};
    const char *network = NULL;
    const struct setting list[] = {
        {"nodes", SETTING_COUNT, &nodes, "nodes (4)"},
        {"megabytes", SETTING_COUNT, &megabytes, "MiB of parameters (64)"},
        {"rounds", SETTING_COUNT, &rounds, "times measured (5)"},
        {"seconds", SETTING_REAL, &length, "each of them lasts (5)"},
        {"rate", SETTING_REAL, &rate, "of the link, bits/s"},
        {"network", SETTING_TEXT, &network,
         "where bench/kit/network has made namespaces of this name"},
    };
    struct traffic first, before, after;

    (void)settings_read(argc, argv, question, list, sizeof list / sizeof *list);
    if (rounds > MOST_ROUNDS)
        give_up("at most %d rounds", MOST_ROUNDS);
    star = (struct process_star){
        .network = network,
        .clean = star_clean,
        .post = {.nodes = nodes,
                 .elements = megabytes * MEBIBYTE / sizeof(float),
                 .extra = options}};
    process_star_start(&star, star_hub, star_node);
    (void)process_star_order(&star, &order, NULL);
    order = (struct order){ORDER_PACED, (rounds + 1) * length, 0.05, 0};
    process_star_tell(&star, &order);
    sleep_until(seconds() + length); /* until all are at their speed */
    first = before = look(&star);
    for (unsigned i = 0; i < rounds; i++) {
        double began = seconds();

        sleep_until(began + length);
        after = look(&star);
        shares[i] = (after.in - before.in + after.out - before.out) / 2 /
                    (seconds() - began);
        before = after;
    }
    in = (before.in - first.in) / (rounds * length);
    out = (before.out - first.out) / (rounds * length);
    (void)printf("{\"bench\":\"port_busy\",\"nodes\":%u,\"megabytes\":%u,"
                 "\"rounds\":%u,\"in_bytes_per_second\":%.0f,"
                 "\"out_bytes_per_second\":%.0f",
                 nodes, megabytes, rounds, in, out);
    if (rate > 0)
        (void)printf(",\"busy\":%.3f", 8 * median(shares, rounds) / rate);
    (void)printf("}\n");
    return 0;
}
