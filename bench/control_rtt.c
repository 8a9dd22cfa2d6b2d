/* How long does a control message take to the hub and back while bulk data
 * keep it and its links busy, beside a ping to the raw hub under its load?
 *
 * The bulk is rounds of the star (star_round.c), one after the other. Both
 * stars take turns, each with its load, for some seconds. */
#include <stdbool.h>
#include <stdio.h>

#include "bench/kit/kit.h"
#include "bench/kit/pinger.h"
#include "bench/kit/raw.h"
#include "bench/kit/star.h"

enum { MOST_ROUNDS = 100 };

struct settings {
    unsigned nodes, megabytes, rounds;
    double seconds;
    const char *network, *name;
};

struct side {
    struct process_star star;
    struct pinger pinger;
    double middle[MOST_ROUNDS], late[MOST_ROUNDS]; /* p50, p99 */
};

static const char question[] =
    "How long does a control message take to the hub and back while bulk data\n"
    "keep it busy?";

static char *hub_options[] = {"--policy", "mean", "--every", "1",
                              "--delay",  "0",    NULL};

static void start(struct side *side, const struct settings *settings, bool ours)
{
    struct order order = {.kind = ORDER_ROUND};

    side->star = (struct process_star){
        .network = settings->network,
        .clean = ours ? star_clean : NULL,
        .post = {.nodes = settings->nodes,
                 .elements = settings->megabytes * MEBIBYTE / sizeof(float),
                 .extra = hub_options}};
    process_star_start(&side->star, ours ? star_hub : raw_hub,
                       ours ? star_node : raw_node);
    (void)process_star_order(&side->star, &order, NULL);
    pinger_start(&side->pinger, &side->star,
                 ours ? pinger_of_star : pinger_of_raw);
}

static void measure(struct side *side, const struct settings *settings,
                    unsigned round)
{
    struct order order = {.kind = ORDER_ROUND};
    double until = seconds() + settings->seconds, *took;
    size_t count;

    pinger_begin(&side->pinger);
    while (seconds() < until)
        (void)process_star_order(&side->star, &order, NULL);
    count = pinger_end(&side->pinger, &took);
    if (!count)
        give_up("no ping came back");
    side->middle[round] = quantile(took, count, 0.5);
    side->late[round] = quantile(took, count, 0.99);
}

int main(int argc, char **argv)
{
    static struct side ours, raw;
    struct settings settings = {.nodes = 1,
                                .megabytes = 64,
                                .rounds = 5,
                                .seconds = 2,
                                .name = "control_rtt"};
    const struct setting list[] = {
        {"nodes", SETTING_COUNT, &settings.nodes, "nodes with bulk data (1)"},
        {"megabytes", SETTING_COUNT, &settings.megabytes,
         "MiB of parameters (64)"},
        {"rounds", SETTING_COUNT, &settings.rounds,
         "times that each star has its turn (5)"},
        {"seconds", SETTING_REAL, &settings.seconds, "of a turn (2)"},
        {"network", SETTING_TEXT, &settings.network,
         "where bench/kit/network has made namespaces of this name"},
        {"name", SETTING_TEXT, &settings.name, "of the figure (control_rtt)"},
    };
    double p99, raw_p99;

    (void)settings_read(argc, argv, question, list, sizeof list / sizeof *list);
    if (settings.rounds > MOST_ROUNDS)
        give_up("at most %d rounds", MOST_ROUNDS);
    start(&raw, &settings, false);
    start(&ours, &settings, true);
    for (unsigned i = 0; i < settings.rounds; i++) {
        measure(&raw, &settings, i);
        measure(&ours, &settings, i);
    }
    p99 = median(ours.late, settings.rounds);
    raw_p99 = median(raw.late, settings.rounds);
    (void)printf("{\"bench\":\"%s\",\"nodes\":%u,\"megabytes\":%u,"
                 "\"rounds\":%u,\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
                 "\"raw_p50_ms\":%.3f,\"raw_p99_ms\":%.3f,\"ratio\":%.3f}\n",
                 settings.name, settings.nodes, settings.megabytes,
                 settings.rounds, 1e3 * median(ours.middle, settings.rounds),
                 1e3 * p99, 1e3 * median(raw.middle, settings.rounds),
                 1e3 * raw_p99, p99 / raw_p99);
    return 0;
}
