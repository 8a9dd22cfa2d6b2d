/* How long does a round take, in which every node sends its parameters and
 * gets the mean of all back, beside a hub that does nothing but sum; what
 * processor time does it take; and how much memory does the hub need?
 *
 * The stars of processes are alive together and take turns, round by round: the
 * references, and ours. Raw nodes make no pass over their parameters, those
 * "with passes" the three that training needs. In ours every node is a program
 * on the library whose every step offers and waits (--policy mean --every 1
 * --delay 0), and a round is what star_step takes: copying, comparing and
 * applying are part of it. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/kit/kit.h"
#include "bench/kit/raw.h"
#include "bench/kit/star.h"

enum { MOST_ROUNDS = 1000, WARM_UP = 2, MOST_OPTIONS = 48 };

struct settings {
    unsigned nodes, megabytes, rounds;
    double bytes_per_second;
    const char *against, *network, *name;
    bool lossy, scores, keys;
    char *extra[MOST_OPTIONS];
};

/* A star, and what its measured rounds have taken. */
struct side {
    const char *name;
    void (*hub)(const struct post *), (*node)(const struct post *);
    struct process_star star;
    double took[MOST_ROUNDS];
    struct processor_time spent;
};

enum { OURS, REFERENCE, PASSES, SIDES };

static const char question[] =
    "How long does a round take in which every node sends its parameters and\n"
    "gets the mean of all back? What follows \"--\" is given to our hub.";

static char *f32_options[] = {"--policy", "mean", "--every", "1",
                              "--delay",  "0",    NULL};

static void read_settings(int argc, char **argv, struct settings *out)
{
    const struct setting settings[] = {
        {"nodes", SETTING_COUNT, &out->nodes, "nodes of a star (2)"},
        {"megabytes", SETTING_COUNT, &out->megabytes, "MiB of parameters (64)"},
        {"rounds", SETTING_COUNT, &out->rounds, "rounds measured (5)"},
        {"against", SETTING_TEXT, &out->against,
         "raw: a hub that only sums, and one whose nodes make passes;\n"
         "                 f32: our own without keys and what follows --;\n"
         "                 none: nothing (raw)"},
        {"network", SETTING_TEXT, &out->network,
         "where bench/kit/network has made namespaces of this name"},
        {"bytes", SETTING_REAL, &out->bytes_per_second,
         "goodput of a link, bytes/s; for comparing with nodes * S / B"},
        {"name", SETTING_TEXT, &out->name, "of the figure (star_round)"},
        {"scores", SETTING_FLAG, &out->scores, "nodes say how well they do"},
        {"keys", SETTING_FLAG, &out->keys, "all of ours is encrypted"},
        {"lossy", SETTING_FLAG, &out->lossy, "results are not exact means"},
    };
    int first = settings_read(argc, argv, question, settings,
                              sizeof settings / sizeof *settings);
    unsigned count = 0;

    for (; f32_options[count]; count++)
        out->extra[count] = f32_options[count];
    for (; first < argc && count < MOST_OPTIONS - 1; first++)
        out->extra[count++] = argv[first];
    if (out->rounds > MOST_ROUNDS)
        give_up("at most %d rounds", MOST_ROUNDS);
}

/* Joins in a first round, in which nothing has changed yet and nodes may weigh
 * differently, by how long they have waited for the others. */
static void start(struct side *side, const struct settings *settings,
                  char *const *extra, struct star_keys *keys)
{
    const struct order order = {.kind = ORDER_ROUND};

    side->star = (struct process_star){
        .network = settings->network,
        .clean = extra ? star_clean : NULL,
        .post = {.nodes = settings->nodes,
                 .elements = settings->megabytes * MEBIBYTE / sizeof(float),
                 .scores = settings->scores,
                 .extra = extra,
                 .keys = keys}};
    process_star_start(&side->star, side->hub, side->node);
    (void)process_star_order(&side->star, &order, NULL);
}

/* Returns how many of `sides` there are. */
static unsigned start_all(struct side *sides, struct settings *settings)
{
    static struct star_keys keys;
    bool raw = strcmp(settings->against, "raw") == 0;
    unsigned count = strcmp(settings->against, "none") == 0 ? 1
                     : raw                                  ? SIDES
                                                            : 1 + REFERENCE;

    sides[OURS] =
        (struct side){.name = "ours", .hub = star_hub, .node = star_node};
    sides[REFERENCE] = (struct side){.name = settings->against,
                                     .hub = raw ? raw_hub : star_hub,
                                     .node = raw ? raw_node : star_node};
    sides[PASSES] = (struct side){
        .name = "passes", .hub = raw_hub, .node = raw_passing_node};
    if (settings->keys)
        star_keys_make(&keys);
    for (unsigned i = 1; i < count; i++)
        start(&sides[i], settings, raw ? NULL : f32_options, NULL);
    start(&sides[OURS], settings, settings->extra,
          settings->keys ? &keys : NULL);
    return count;
}

static double run_round(struct side *side)
{
    struct order order = {.kind = ORDER_DRIFT};
    struct processor_time before, after;
    double took;

    (void)process_star_order(&side->star, &order, NULL);
    order.kind = ORDER_ROUND;
    before = process_star_time(&side->star);
    took = process_star_order(&side->star, &order, NULL);
    after = process_star_time(&side->star);
    side->spent.hub += after.hub - before.hub;
    side->spent.nodes += after.nodes - before.nodes;
    return took;
}

/* All drift alike but for a factor of 1 to N, so the mean of all is known. */
static bool is_mean(struct side *side, unsigned rounds)
{
    struct order order = {.kind = ORDER_SHOW};
    struct answer answers[PROCESS_STAR_NODES];
    unsigned nodes = side->star.post.nodes;
    size_t elements = side->star.post.elements;
    const size_t places[] = {0, elements / 2, elements - 1};

    (void)process_star_order(&side->star, &order, answers);
    for (unsigned n = 0; n < nodes; n++)
        for (unsigned i = 0; i < 3; i++) {
            double wanted = (nodes + 1) / 2.0 * rounds * drift_of(places[i]);

            if (fabs(answers[n].values[i] - wanted) > 1e-3 * fabs(wanted))
                return false;
        }
    return true;
}

static void check(struct side *side, const struct settings *settings)
{
    if (!is_mean(side, settings->rounds + WARM_UP))
        give_up("what the nodes of the %s star have is not the mean",
                side->name);
}

/* Processor seconds for a GB that is sent or received. */
static void print_time(const struct settings *settings, const struct side *side)
{
    double gigabytes = 2e-9 * settings->nodes * settings->megabytes *
                       (double)MEBIBYTE * settings->rounds;

    (void)printf(",\"%s_hub_s_per_gb\":%.3f,\"%s_node_s_per_gb\":%.3f",
                 side->name, side->spent.hub / gigabytes, side->name,
                 side->spent.nodes / gigabytes);
}

static void print(const struct settings *settings, struct side *sides,
                  unsigned count)
{
    struct side *ours = &sides[OURS];
    double took = median(ours->took, settings->rounds);

    (void)printf("{\"bench\":\"%s\",\"nodes\":%u,\"megabytes\":%u,"
                 "\"rounds\":%u,\"ours_ms\":%.1f,\"worst_ms\":%.1f",
                 settings->name, settings->nodes, settings->megabytes,
                 settings->rounds, 1e3 * took,
                 1e3 * ours->took[settings->rounds - 1]);
    for (unsigned i = 1; i < count; i++) {
        double other = median(sides[i].took, settings->rounds);

        (void)printf(",\"%s_ms\":%.1f,\"%s\":%.3f", sides[i].name, 1e3 * other,
                     i == PASSES ? "of_passes" : "ratio", took / other);
    }
    if (settings->bytes_per_second > 0) {
        double limit = settings->nodes * (double)settings->megabytes *
                       (double)MEBIBYTE / settings->bytes_per_second;

        (void)printf(",\"limit_ms\":%.1f,\"of_limit\":%.3f", 1e3 * limit,
                     took / limit);
    }
    for (unsigned i = 0; i < count; i++)
        print_time(settings, &sides[i]);
    if (count == SIDES)
        (void)printf(",\"hub_time_ratio\":%.3f,\"node_time_ratio\":%.3f",
                     ours->spent.hub / sides[REFERENCE].spent.hub,
                     ours->spent.nodes / sides[PASSES].spent.nodes);
    (void)printf(",\"hub_mib\":%.0f,\"hub_limit_mib\":%.0f}\n",
                 process_star_hub_memory(&ours->star),
                 (settings->lossy ? 2.3 : 1.3) * settings->megabytes + 64);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct side sides[SIDES];
    struct settings settings = {.nodes = 2,
                                .megabytes = 64,
                                .rounds = 5,
                                .against = "raw",
                                .name = "star_round"};
    unsigned count;

    read_settings(argc, argv, &settings);
    count = start_all(sides, &settings);
    for (unsigned round = 0; round < settings.rounds + WARM_UP; round++)
        for (unsigned i = count; i-- > 0;) {
            double took = run_round(&sides[i]);

            if (round < WARM_UP)
                sides[i].spent = (struct processor_time){0};
            else
                sides[i].took[round - WARM_UP] = took;
        }
    for (unsigned i = 0; i < count; i++)
        if (i != OURS || !settings.lossy)
            check(&sides[i], &settings);
    print(&settings, sides, count);
    return 0;
}
