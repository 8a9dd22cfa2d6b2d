/* What starswitch-sim validate says: both runs side by side. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "core/score.h"
#include "sim/program/run.h"
#include "sim/program/validate.h"

enum { PAGE_BYTES = 16 << 10, WARNED_PERCENT = 10 };

static double error_of(double real, double simulated)
{
    return 100 * (simulated / real - 1);
}

/* Both, and how far the simulation is off; returns that, 0 where one of them
 * is not known. */
static double print_row(const char *what, double real, double simulated,
                        double unit, struct text *out)
{
    text_add(out, " %-28s %12.5g %12.5g", what, real * unit, simulated * unit);
    if (!(real > 0) || !(simulated > 0)) {
        text_add(out, "\n");
        return 0;
    }
    text_add(out, " %+8.1f %%\n", error_of(real, simulated));
    return fabs(error_of(real, simulated));
}

/* Its number in the simulation, or NULL. */
static const struct measured_node *counterpart(const struct validation *of,
                                               const char *name)
{
    char own[MEASURED_NAME_BYTES] = "";

    for (size_t i = 0; i < of->recorded->node_count; i++)
        if (strcmp(of->recorded->nodes[i]->name, name) == 0)
            (void)snprintf(own, sizeof own, "n%u", of->numbers[i] + 1);
    for (unsigned i = 0; i < of->simulated.node_count; i++)
        if (strcmp(of->simulated.nodes[i].name, own) == 0)
            return &of->simulated.nodes[i];
    return NULL;
}

static void print_nodes(const struct validation *of, double *worst,
                        struct text *out)
{
    for (unsigned i = 0; i < of->real.node_count; i++) {
        const struct measured_node *real = &of->real.nodes[i], *other;
        char what[MEASURED_NAME_BYTES + 32];

        other = counterpart(of, real->name);
        (void)snprintf(what, sizeof what, "%.12s, iterations/s", real->name);
        *worst = fmax(*worst, print_row(what, real->rate,
                                        other ? other->rate : 0, 1, out));
    }
}

static void print_table(const struct validation *of, struct text *out)
{
    const struct measures *real = &of->real, *other = &of->simulated;
    double worst = 0;

    text_add(out, " %-28s %12s %12s %10s\n", "", "real", "simulated", "error");
    worst =
        fmax(worst, print_row("rounds", real->rounds, other->rounds, 1, out));
    worst = fmax(worst, print_row("time per round, ms", real->round_time,
                                  other->round_time, 1e3, out));
    if (real->goal_time >= 0 || other->goal_time >= 0)
        worst = fmax(worst, print_row("time to the goal, s", real->goal_time,
                                      other->goal_time, 1, out));
    print_nodes(of, &worst, out);
    worst = fmax(worst,
                 print_row("to the hub, MB/s", real->up, other->up, 1e-6, out));
    worst = fmax(worst, print_row("from the hub, MB/s", real->down, other->down,
                                  1e-6, out));
    /* Shares, whose errors say little where they are small. */
    (void)print_row("results late, %", real->late, other->late, 100, out);
    (void)print_row("trainers waited, %", real->idle, other->idle, 100, out);
    if (score_known(real->loss) && score_known(other->loss))
        (void)print_row("loss at the end", real->loss, other->loss, 1, out);
    if (worst > WARNED_PERCENT)
        text_add(out,
                 "Warning: off by %.3g %%. Was the machine busy, or is "
                 "the network another than --rate, --port, --latency say?\n",
                 worst);
}

static void print_json(const struct measures *of, const char *name,
                       struct text *out)
{
    text_add(out,
             "\"%s\":{\"rounds\":%.0f,\"round_time\":%.6g,\"goal_time\":"
             "%.6g,\"rate\":%.6g,\"step\":%.6g,\"up\":%.6g,\"down\":%.6g,"
             "\"late\":%.6g,\"idle\":%.6g",
             name, of->rounds, of->round_time, of->goal_time, of->rate,
             of->step, of->up, of->down, of->late, of->idle);
    if (score_known(of->loss))
        text_add(out, ",\"loss\":%.6g", of->loss);
    text_add(out, "}");
}

void validation_print(const struct validation *of,
                      const struct scenario *scenario)
{
    static char bytes[PAGE_BYTES];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    if (of->options.json) {
        text_add(&text, "{\"validated\":");
        quote_json(&text, of->path);
        text_add(&text, ",\"compute\":\"%s\",\"seed\":%llu,",
                 compute_words[scenario_compute(scenario)].text,
                 (unsigned long long)of->options.seed);
        print_json(&of->real, "real", &text);
        text_add(&text, ",");
        print_json(&of->simulated, "simulated", &text);
        text_add(&text, "}\n");
    } else {
        run_describe(scenario, &text);
        print_table(of, &text);
    }
    (void)fputs(bytes, stdout);
}
