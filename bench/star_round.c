/* How long does a round take, in which every node sends its parameters and
 * gets the mean of all back, beside a hub that does nothing but sum; and how
 * much memory does the hub need?
 *
 * Two stars of processes are alive and take turns, round by round: the
 * reference, and ours. In ours every node is a program on the library whose
 * every step offers and waits (--policy mean --every 1 --delay 0), and a round
 * is what star_step takes: copying, comparing and applying are part of it. */
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

struct side {
    struct process_star star;
    bool ours;
    double took[MOST_ROUNDS];
};

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
         "raw: a hub that only sums; f32: our own without keys and what\n"
         "                 follows --; none: nothing (raw)"},
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

    side->ours = extra != NULL;
    side->star = (struct process_star){
        .network = settings->network,
        .clean = extra ? star_clean : NULL,
        .post = {.nodes = settings->nodes,
                 .elements = settings->megabytes * MEBIBYTE / sizeof(float),
                 .scores = settings->scores,
                 .extra = extra,
                 .keys = keys}};
    process_star_start(&side->star, extra ? star_hub : raw_hub,
                       extra ? star_node : raw_node);
    (void)process_star_order(&side->star, &order, NULL);
}

static double run_round(struct side *side)
{
    struct order order = {.kind = ORDER_DRIFT};

    (void)process_star_order(&side->star, &order, NULL);
    order.kind = ORDER_ROUND;
    return process_star_order(&side->star, &order, NULL);
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

static void print(const struct settings *settings, struct side *ours,
                  struct side *reference)
{
    double s = settings->megabytes, rounds = settings->rounds;
    double took = median(ours->took, settings->rounds);

    (void)printf("{\"bench\":\"%s\",\"nodes\":%u,\"megabytes\":%u,"
                 "\"rounds\":%.0f,\"ours_ms\":%.1f,\"worst_ms\":%.1f",
                 settings->name, settings->nodes, settings->megabytes, rounds,
                 1e3 * took, 1e3 * ours->took[settings->rounds - 1]);
    if (reference) {
        double other = median(reference->took, settings->rounds);

        (void)printf(",\"%s_ms\":%.1f,\"ratio\":%.3f", settings->against,
                     1e3 * other, took / other);
    }
    if (settings->bytes_per_second > 0) {
        double limit =
            settings->nodes * s * (double)MEBIBYTE / settings->bytes_per_second;

        (void)printf(",\"limit_ms\":%.1f,\"of_limit\":%.3f", 1e3 * limit,
                     took / limit);
    }
    (void)printf(",\"hub_mib\":%.0f,\"hub_limit_mib\":%.0f}\n",
                 process_star_hub_memory(&ours->star), 1.3 * s + 64);
    (void)fflush(stdout);
}

static void check(struct side *side, const struct settings *settings)
{
    if (!is_mean(side, settings->rounds + WARM_UP))
        give_up("what the nodes of the %s star have is not the mean",
                side->ours ? "starswitch" : "raw");
}

int main(int argc, char **argv)
{
    static struct side ours, reference;
    static struct star_keys keys;
    struct settings settings = {.nodes = 2,
                                .megabytes = 64,
                                .rounds = 5,
                                .against = "raw",
                                .name = "star_round"};
    struct side *other = &reference;

    read_settings(argc, argv, &settings);
    if (strcmp(settings.against, "none") == 0)
        other = NULL;
    if (other)
        start(other, &settings,
              strcmp(settings.against, "raw") == 0 ? NULL : f32_options, NULL);
    if (settings.keys)
        star_keys_make(&keys);
    start(&ours, &settings, settings.extra, settings.keys ? &keys : NULL);
    for (unsigned i = 0; i < settings.rounds + WARM_UP; i++) {
        double before = other ? run_round(other) : 0, now = run_round(&ours);

        if (i >= WARM_UP) {
            reference.took[i - WARM_UP] = before;
            ours.took[i - WARM_UP] = now;
        }
    }
    if (other)
        check(other, &settings);
    if (!settings.lossy)
        check(&ours, &settings);
    print(&settings, &ours, other);
    return 0;
}
