/* What does taking part cost the training thread: the step that hands the
 * parameters over, and the step that applies a result, beside a memcpy of the
 * same bytes by the same thread?
 *
 * One node with a hub on loopback. The thread copies the parameters itself
 * just before a step of either kind; nothing else of the star is busy then,
 * as the step time leaves room for each exchange. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/kit/kit.h"
#include "bench/kit/star.h"
#include "include/starswitch.h"

enum { MOST = 200, EVERY = 20, DELAY = 10, WARM_UP = 2 };

struct times {
    double steps[MOST], copies[MOST];
    unsigned count;
};

static struct {
    unsigned nodes, megabytes, rounds;
    double step;
} settings = {1, 256, 5, 0.1};

static const char question[] =
    "How long do the steps take that hand the parameters over and that apply\n"
    "a result, beside a memcpy of the same bytes?";

static void note(struct times *times, double step, double copy)
{
    if (times->count == MOST)
        return;
    times->steps[times->count] = step;
    times->copies[times->count++] = copy;
}

static void print(const char *figure, struct times *times)
{
    unsigned count = times->count - WARM_UP;
    double step = median(times->steps + WARM_UP, count);
    double copy = median(times->copies + WARM_UP, count);

    (void)printf("{\"bench\":\"training_thread\",\"figure\":\"%s\","
                 "\"megabytes\":%u,\"rounds\":%u,\"step_ms\":%.2f,"
                 "\"memcpy_ms\":%.2f,\"ratio\":%.3f,\"target\":1.2}\n",
                 figure, settings.megabytes, count, 1e3 * step, 1e3 * copy,
                 step / copy);
}

/* One iteration; whether the step was one of those two. */
static void iterate(struct star_node *node, float *copy, struct times *given,
                    struct times *applied)
{
    size_t bytes = node->post->elements * sizeof *copy;
    struct star_state before = node->state;
    bool due = (before.iteration + 1) % EVERY == 0 ||
               (before.iteration + 1) % EVERY == DELAY;
    double began = seconds(), copied, stepped;

    if (due)
        memcpy(copy, node->values, bytes);
    copied = seconds();
    star_node_step(node);
    stepped = seconds();
    if (!due || node->state.missed != before.missed)
        return;
    if (node->state.offered != before.offered)
        note(given, stepped - copied, copied - began);
    else if (node->state.applied != before.applied)
        note(applied, stepped - copied, copied - began);
}

static void train(const struct post *post)
{
    static struct times given, applied;
    float *copy = pages(post->elements * sizeof *copy);
    struct star_node node;
    struct order order;
    struct answer answer = {0};

    star_node_attach(&node, post);
    if (!next_order(post, &order))
        return;
    while (given.count < settings.rounds + WARM_UP ||
           applied.count < settings.rounds + WARM_UP) {
        double next = seconds() + settings.step;

        drift(node.values, post->elements, 1);
        sleep_until(next);
        iterate(&node, copy, &given, &applied);
    }
    print("hand over", &given);
    print("apply", &applied);
    (void)fflush(stdout);
    answer_order(post, &answer);
}

int main(int argc, char **argv)
{
    static char every[16], delay[16];
    char *options[] = {"--policy", "mean", "--every", every,
                       "--delay",  delay,  NULL};
    const struct setting list[] = {
        {"nodes", SETTING_COUNT, &settings.nodes, "nodes (1)"},
        {"megabytes", SETTING_COUNT, &settings.megabytes,
         "MiB of parameters (256)"},
        {"rounds", SETTING_COUNT, &settings.rounds, "exchanges measured (5)"},
        {"step-time", SETTING_REAL, &settings.step,
         "seconds of an iteration (0.1)"},
    };
    static struct process_star star;
    struct order order = {.kind = ORDER_PACED};

    (void)settings_read(argc, argv, question, list, sizeof list / sizeof *list);
    (void)snprintf(every, sizeof every, "%d", EVERY);
    (void)snprintf(delay, sizeof delay, "%d", DELAY);
    order.seconds = 4 * settings.step * EVERY * (settings.rounds + WARM_UP);
    star = (struct process_star){
        .clean = star_clean,
        .post = {.nodes = 1,
                 .elements = settings.megabytes * MEBIBYTE / sizeof(float),
                 .extra = options}};
    process_star_start(&star, star_hub, train);
    (void)process_star_order(&star, &order, NULL);
    return 0;
}
