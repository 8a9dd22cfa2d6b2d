/* How many iterations a second does a star do whose nodes exchange every k
 * iterations behind their training, beside one that averages at every step,
 * and beside a ring all-reduce at every step, of which the closed form is
 * taken?
 *
 * The trainer moves its parameters, a k-th of them each step, and otherwise
 * sleeps: on a machine with fewer cores than nodes, real ones would measure the
 * cores, and moving all of them its memory. The star that
 * averages at every step is measured as a step's time and then a round.
 * Ring, for nodes N, bytes S, goodput B: step + 2 (N - 1) / N S / B. */
#include <stdio.h>

#include "bench/kit/kit.h"
#include "bench/kit/star.h"

enum { MOST_ROUNDS = 100, WARM_UP = 1 };

static struct {
    unsigned nodes, megabytes, rounds, every, delay;
    double step, seconds, goodput;
    const char *network, *policy;
} settings = {.nodes = 8,
              .megabytes = 40,
              .rounds = 5,
              .every = 50,
              .delay = 40,
              .step = 0.1,
              .seconds = 25,
              .policy = "diloco"};

static const char question[] =
    "How many iterations a second does a star do that exchanges every k\n"
    "iterations, beside one that averages at every step, and a ring?";

static void start(struct process_star *star, char *const *options)
{
    struct order order = {.kind = ORDER_ROUND};

    *star = (struct process_star){
        .network = settings.network,
        .clean = star_clean,
        .post = {.nodes = settings.nodes,
                 .elements = settings.megabytes * MEBIBYTE / sizeof(float),
                 .extra = options}};
    process_star_start(star, star_hub, star_node);
    (void)process_star_order(star, &order, NULL);
}

/* Seconds of an iteration of the star that averages at every step. */
static double every_step(void)
{
    static struct process_star star;
    static char *options[] = {"--policy", "mean", "--every", "1",
                              "--delay",  "0",    NULL};
    struct order order = {.kind = ORDER_ROUND};
    double took[MOST_ROUNDS];

    start(&star, options);
    for (unsigned i = 0; i < settings.rounds + WARM_UP; i++) {
        double round = process_star_order(&star, &order, NULL);

        if (i >= WARM_UP)
            took[i - WARM_UP] = settings.step + round;
    }
    process_star_stop(&star);
    return median(took, settings.rounds);
}

/* Iterations a second of the slowest node of ours; in *applied the fewest
 * results that one has applied. */
static double ours(double *applied)
{
    static struct process_star star;
    static char policy[32], every[16], delay[16];
    char *options[] = {"--policy", policy, "--every", every,
                       "--delay",  delay,  NULL};
    struct order order = {.kind = ORDER_SHOW};
    struct answer before[PROCESS_STAR_NODES], after[PROCESS_STAR_NODES];
    double slowest = 0;

    (void)snprintf(policy, sizeof policy, "%s", settings.policy);
    (void)snprintf(every, sizeof every, "%u", settings.every);
    (void)snprintf(delay, sizeof delay, "%u", settings.delay);
    start(&star, options);
    (void)process_star_order(&star, &order, before);
    order = (struct order){ORDER_PACED, settings.seconds, settings.step,
                           settings.every};
    (void)process_star_order(&star, &order, after);
    for (unsigned n = 0; n < settings.nodes; n++) {
        double rate = (double)(after[n].iterations - before[n].iterations) /
                      (after[n].end - after[n].begin);
        double results = (double)(after[n].applied - before[n].applied);

        if (n == 0 || rate < slowest)
            slowest = rate;
        if (n == 0 || results < *applied)
            *applied = results;
    }
    process_star_stop(&star);
    return slowest;
}

int main(int argc, char **argv)
{
    const struct setting list[] = {
        {"nodes", SETTING_COUNT, &settings.nodes, "nodes (8)"},
        {"megabytes", SETTING_COUNT, &settings.megabytes,
         "MiB of parameters (40: 10 million)"},
        {"rounds", SETTING_COUNT, &settings.rounds,
         "rounds of the star that averages at every step (5)"},
        {"every", SETTING_COUNT, &settings.every, "k (50)"},
        {"delay", SETTING_COUNT, &settings.delay, "d (40)"},
        {"policy", SETTING_TEXT, &settings.policy, "preset (diloco)"},
        {"step-time", SETTING_REAL, &settings.step,
         "seconds of an iteration (0.1)"},
        {"seconds", SETTING_REAL, &settings.seconds,
         "that ours is measured (25)"},
        {"bytes", SETTING_REAL, &settings.goodput,
         "goodput of a link, bytes/s; for the ring"},
        {"network", SETTING_TEXT, &settings.network,
         "where bench/kit/network has made namespaces of this name"},
    };
    double star, rate, applied = 0, n;

    (void)settings_read(argc, argv, question, list, sizeof list / sizeof *list);
    if (settings.rounds > MOST_ROUNDS)
        give_up("at most %d rounds", MOST_ROUNDS);
    n = settings.nodes;
    star = every_step();
    rate = ours(&applied);
    (void)printf("{\"bench\":\"end_to_end\",\"nodes\":%u,\"megabytes\":%u,"
                 "\"rounds\":%u,\"policy\":\"%s\",\"every\":%u,\"delay\":%u,"
                 "\"step_s\":%.3f,\"rate\":%.3f,\"applied\":%.0f,"
                 "\"star_rate\":%.3f,\"times_star\":%.2f",
                 settings.nodes, settings.megabytes, settings.rounds,
                 settings.policy, settings.every, settings.delay, settings.step,
                 rate, applied, 1 / star, rate * star);
    if (settings.goodput > 0) {
        double ring = settings.step + 2 * (n - 1) / n * settings.megabytes *
                                          (double)MEBIBYTE / settings.goodput;

        (void)printf(",\"ring_rate\":%.3f,\"times_ring\":%.2f", 1 / ring,
                     rate * ring);
    }
    (void)printf("}\n");
    return 0;
}
