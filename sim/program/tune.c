/* starswitch-sim tune: which settings a star should have, and why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "core/quote.h"
#include "sim/program/program.h"
#include "sim/program/run.h"
#include "sim/study/tune.h"

enum { PAGE_BYTES = 16 * 1024, RUNNERS_UP = 5 };

static const char *const bounds[] = {
    [TUNE_BY_FLOOR] = "floor",
    [TUNE_BY_STRAGGLER] = "straggler",
    [TUNE_BY_HIDING] = "hiding",
    [TUNE_BY_LEARNING] = "k_half",
};

static bool is_worth_it(const struct tune_row *row)
{
    return row->speed_up > TUNE_LEAST;
}

/* What all-reduce of float32 is worth, predicted. */
static double ring_speed_up(const struct tune *tune)
{
    struct plan plan;

    plan_ring(&tune->star, &plan);
    return plan.speed_up;
}

/* Whether nobody has said B: then a speed-up is a range. */
static bool is_a_guess(const struct plan_star *star)
{
    return star->nodes > 1 &&
           !(star->noise_scale < PLAN_NOISE || star->noise_scale > PLAN_NOISE);
}

/* An end of that range. */
static double end_of_range(const struct plan_star *star, double speed_up,
                           double noise_scale)
{
    return is_a_guess(star) ? plan_with_noise(star, speed_up, noise_scale)
                            : speed_up;
}

static bool has_goal(const struct tune *tune)
{
    return tune->options.goal.kind != GOAL_NONE;
}

/* Whether it can be tried how long the choice takes. */
static bool has_play(const struct tune *tune)
{
    return tune->trains && has_goal(tune) && tune->rows[tune->best].trial.done;
}

/* ---- JSON ---- */

static void add_number(struct text *out, const char *name, double value)
{
    text_add(out, ",\"%s\":", name);
    quote_json_number(out, value);
}

static const struct trial unplayed = {.rate = NAN,
                                      .used = NAN,
                                      .every = NAN,
                                      .delay = NAN,
                                      .up = NAN,
                                      .down = NAN,
                                      .start = NAN};

static void print_row_json(const struct tune *tune, const struct tune_row *row,
                           const char *kind)
{
    const struct plan *plan = &row->plan;
    const struct trial *trial = row->trial.done ? &row->trial : &unplayed;
    double speed_up = row->trial.done ? row->speed_up : NAN;
    char bytes[PAGE_BYTES], command[512];
    struct text out, words;

    text_init(&out, bytes, sizeof bytes);
    text_init(&words, command, sizeof command);
    tune_command(tune, &row->setting, &words);
    text_add(&out,
             "{\"tune\":\"%s\",\"compute\":\"surrogate\",\"command\":", kind);
    quote_json(&out, command);
    text_add(&out, ",\"bound\":\"%s\"",
             bounds[tune_bound(tune, &row->setting)]);
    add_number(&out, "exchange_s", plan->exchange);
    add_number(&out, "lag_s", plan->lag);
    add_number(&out, "floor", plan->floor);
    add_number(&out, "predicted_iterations_per_s", plan->rate);
    add_number(&out, "predicted_used", plan->used);
    add_number(&out, "predicted_every", plan->every);
    add_number(&out, "predicted_delay", plan->delay);
    add_number(&out, "predicted_up_bytes_per_s", plan->up);
    add_number(&out, "predicted_down_bytes_per_s", plan->down);
    add_number(&out, "predicted_speed_up", plan->speed_up);
    add_number(&out, "iterations_per_s", trial->rate);
    add_number(&out, "used", trial->used);
    add_number(&out, "every", trial->every);
    add_number(&out, "delay", trial->delay);
    add_number(&out, "up_bytes_per_s", trial->up);
    add_number(&out, "down_bytes_per_s", trial->down);
    add_number(&out, "start_s", trial->start);
    add_number(&out, "hub_in_bytes_per_s", trial->up * tune->star.nodes);
    add_number(&out, "hub_out_bytes_per_s", trial->down * tune->star.nodes);
    add_number(&out, "speed_up", speed_up);
    add_number(&out, "speed_up_least",
               end_of_range(&tune->star, speed_up, PLAN_NOISE_LEAST));
    add_number(&out, "speed_up_most",
               end_of_range(&tune->star, speed_up, PLAN_NOISE_MOST));
    add_number(&out, "over_ring_allreduce", speed_up / ring_speed_up(tune));
    if (row == &tune->rows[tune->best] && has_goal(tune)) {
        add_number(&out, "goal_s", tune->goal.seconds);
        add_number(&out, "goal_least_s", tune->goal.least);
        add_number(&out, "goal_most_s", tune->goal.most);
    }
    (void)printf("%s}\n", bytes);
}

static void print_by_itself_json(const struct tune *tune)
{
    const struct tune_row *row = &tune->by_itself;
    char bytes[512];
    struct text out;

    if (!row->trial.done)
        return;
    text_init(&out, bytes, sizeof bytes);
    text_add(&out, "{\"tune\":\"by itself\",\"compute\":\"surrogate\","
                   "\"command\":\"");
    tune_command_by_itself(tune, &out);
    text_add(&out, "\"");
    add_number(&out, "iterations_per_s", row->trial.rate);
    add_number(&out, "used", row->trial.used);
    add_number(&out, "every", row->trial.every);
    add_number(&out, "delay", row->trial.delay);
    add_number(&out, "speed_up", row->speed_up);
    (void)printf("%s}\n", bytes);
}

static void print_json(const struct tune *tune)
{
    const struct tune_row *best = &tune->rows[tune->best];

    for (unsigned i = 0; i < tune->count; i++)
        if (tune->rows[i].trial.done)
            print_row_json(tune, &tune->rows[i], "tried");
    print_by_itself_json(tune);
    print_row_json(tune, best, is_worth_it(best) ? "choice" : "one PC");
}

/* ---- words ---- */

static void add_goal(const struct tune *tune, struct text *out)
{
    const struct tune_goal *goal = &tune->goal;

    if (!has_goal(tune))
        return;
    text_add(out, " goal     ");
    run_goal(&tune->options, out);
    if (!tune->trains)
        text_add(out, ": when is not foreseen; say --model and --data\n");
    else if (isfinite(goal->seconds))
        text_add(out,
                 " after %.4g s, %.4g to %.4g s with %u seed%s, trained in "
                 "virtual time\n",
                 goal->seconds, goal->least, goal->most, tune->seeds,
                 plural(tune->seeds));
    else
        text_add(out, " is NOT reached%s%s\n", goal->trouble[0] ? ": " : "",
                 goal->trouble);
}

static void describe(const struct tune *tune, struct text *out)
{
    const struct plan_star *star = &tune->star;

    text_add(out,
             " star     %u node%s, %.4g M parameters, steps of %.4g ms; the "
             "hub's port %.4g MB/s,\n          a node's link %.4g MB/s%s\n",
             star->nodes, plural(star->nodes), 1e-6 * star->params,
             1e3 * star->step, 1e-6 * star->port, 1e-6 * star->link,
             tune->options.trace[0] ? " at half of the trace's times" : "");
    text_add(out,
             " tried    %u settings by closed forms, %u of them played, %u "
             "time%s each (surrogate)\n",
             tune->count, tune->tried, tune->seeds, plural(tune->seeds));
    text_add(out,
             " assumed  k_half %.4g, gradient noise scale %.4g batches "
             "(--k-half, --noise-scale)\n",
             star->k_half, star->noise_scale);
}

/* The least k of which the link carries the bytes, for each codec both ways
 * (docs/ancestors.md, AP-13). */
static void add_least(const struct tune *tune, struct text *out)
{
    static const enum codec_id list[] = {CODEC_RAW, CODEC_F16, CODEC_INT8,
                                         CODEC_INT4};
    const struct plan_star *star = &tune->star;

    text_add(out, " ~        least k = N P b / (B t):");
    for (unsigned i = 0; i < 4; i++)
        text_add(out, "%s %s %llu", i ? "," : "", codecs[list[i]].name,
                 (unsigned long long)plan_least_every(
                     star->nodes, star->params, codecs[list[i]].bits / 8,
                     fmin(star->port, star->link * star->nodes), star->step));
    text_add(out, "\n");
}

static void add_bound(const struct tune *tune, const struct tune_row *row,
                      struct text *out)
{
    const struct plan *plan = &row->plan;

    switch (tune_bound(tune, &row->setting)) {
    case TUNE_BY_FLOOR:
        text_add(out, "The network binds: it hardly carries more.");
        break;
    case TUNE_BY_STRAGGLER:
        text_add(out, "The slowest node binds: a round waits %.3g s for it.",
                 plan->lag);
        break;
    case TUNE_BY_HIDING:
        text_add(out,
                 "The exchange binds: waiting for it, or having it "
                 "later, costs %.0f %%, rarity %.0f %%.",
                 100 * (plan->phi_d / plan->used - 1), 100 * (plan->phi_k - 1));
        break;
    case TUNE_BY_LEARNING:
        text_add(out,
                 "Learning binds (k_half): rarity costs %.0f %%, waiting "
                 "for the exchange, or having it later, %.0f %%.",
                 100 * (plan->phi_k - 1), 100 * (plan->phi_d / plan->used - 1));
        break;
    }
}

static void add_why(const struct tune *tune, const struct tune_row *row,
                    struct text *out)
{
    const struct plan *plan = &row->plan;
    double step = row->setting.dylu ? tune->star.fastest : tune->star.step;
    char bytes[600];
    struct text words;

    text_init(&words, bytes, sizeof bytes);
    text_add(&words,
             "An exchange%s takes %.3g s%s; d is %.3g s, k is %.4g s, "
             "and the network carries no more than one in %.3g s. ",
             row->setting.fragments > 1 ? " of a fragment" : "",
             plan->exchange + plan->lag,
             plan->lag > 0 ? " with the slowest node" : "",
             row->setting.delay * step, row->setting.every * step,
             plan->floor * tune->star.step);
    add_bound(tune, row, &words);
    text_add(out, " why");
    text_pad(out, 10);
    text_wrap(out, bytes, 10, 79);
    text_add(out, "\n");
}

static void add_pair(struct text *out, const char *what, double predicted,
                     double measured)
{
    text_add(out, "          %-26s %10.4g %10.4g\n", what, predicted, measured);
}

static void add_figures(const struct tune *tune, const struct tune_row *row,
                        struct text *out)
{
    const struct plan *plan = &row->plan;
    const struct trial *trial = &row->trial;
    double nodes = tune->star.nodes, other = ring_speed_up(tune);

    text_add(out, "          %-26s %10s %10s\n", "", "predicted", "simulated");
    add_pair(out, "iterations/s of a node", plan->rate, trial->rate);
    add_pair(out, "% of its time in training", 100 * plan->used,
             100 * trial->used);
    add_pair(out, "k, as it comes out", plan->every, trial->every);
    add_pair(out, "d, as it comes out", plan->delay, trial->delay);
    add_pair(out, "a node sends, MB/s", 1e-6 * plan->up, 1e-6 * trial->up);
    add_pair(out, "a node is sent, MB/s", 1e-6 * plan->down,
             1e-6 * trial->down);
    add_pair(out, "the hub is sent, MB/s", 1e-6 * nodes * plan->up,
             1e-6 * nodes * trial->up);
    add_pair(out, "the hub sends, MB/s", 1e-6 * nodes * plan->down,
             1e-6 * nodes * trial->down);
    text_add(out, "          %-26s %10s %10.4g\n", "s until all train together",
             "", trial->start);
    add_pair(out, "speed-up over one PC", plan->speed_up, row->speed_up);
    add_pair(out, "over a ring all-reduce", plan->speed_up / other,
             row->speed_up / other);
    text_add(out, "          (the network is simulated; what k and d cost in "
                  "learning is foreseen\n          by the same equations in "
                  "both columns)\n");
}

/* What needs no choice, and goes on choosing while the network changes. */
static void add_by_itself(const struct tune *tune, struct text *out)
{
    const struct tune_row *row = &tune->by_itself;

    if (!row->trial.done)
        return;
    text_add(out, "\n auto     left to itself (");
    tune_command_by_itself(tune, out);
    text_add(out,
             ")\n          it comes to k = %.3g, d = %.3g: %.2f times as fast, "
             "and goes on\n          choosing while the network changes\n",
             row->trial.every, row->trial.delay, row->speed_up);
}

static int compare(const void *a, const void *b)
{
    double one = (*(const struct tune_row *const *)a)->speed_up;
    double other = (*(const struct tune_row *const *)b)->speed_up;

    return (other > one) - (other < one);
}

static void add_others(const struct tune *tune, struct text *out)
{
    const struct tune_row **rows = calloc(tune->count, sizeof *rows);
    unsigned count = 0;

    if (!rows)
        return;
    for (unsigned i = 0; i < tune->count; i++)
        if (tune->rows[i].trial.done && i != tune->best)
            rows[count++] = &tune->rows[i];
    qsort(rows, count, sizeof *rows, compare);
    text_add(out,
             "\n others   of those within %.0f %% of the best the one with "
             "least traffic is chosen\n          speed-up  it/s  MB/s\n",
             100 * TUNE_CLOSE);
    for (unsigned i = 0; i < count && i < RUNNERS_UP; i++) {
        text_add(out, "          %8.2f %5.3g %5.3g  ", rows[i]->speed_up,
                 rows[i]->trial.rate,
                 1e-6 * (rows[i]->trial.up + rows[i]->trial.down));
        tune_words(tune, &rows[i]->setting, out);
        text_add(out, "\n");
    }
    free(rows);
}

static void print_words(const struct tune *tune)
{
    const struct tune_row *best = &tune->rows[tune->best];
    double speed_up = best->trial.done ? best->speed_up : best->plan.speed_up;
    char bytes[PAGE_BYTES];
    struct text out;

    text_init(&out, bytes, sizeof bytes);
    describe(tune, &out);
    add_least(tune, &out);
    if (is_worth_it(best))
        text_add(&out, " choice   %.2f times as fast as the fastest alone",
                 speed_up);
    else
        text_add(&out,
                 " choice   use one PC: nothing is worth the network. The "
                 "best is %.2f times as fast\n          as the fastest "
                 "alone%s",
                 speed_up, best->trial.done ? "" : ", by closed forms");
    if (is_a_guess(&tune->star))
        text_add(&out,
                 "\n          (%.2f to %.2f, by how much your model gains from "
                 "larger batches)",
                 plan_with_noise(&tune->star, speed_up, PLAN_NOISE_LEAST),
                 plan_with_noise(&tune->star, speed_up, PLAN_NOISE_MOST));
    text_add(&out, ":\n");
    text_add(&out, "\n  ");
    tune_command(tune, &best->setting, &out);
    text_add(&out, "\n\n");
    add_why(tune, best, &out);
    if (best->trial.done) {
        add_figures(tune, best, &out);
        add_by_itself(tune, &out);
        add_others(tune, &out);
    }
    (void)fputs(bytes, stdout);
    (void)fflush(stdout);
}

static void print_goal(const struct tune *tune)
{
    char bytes[PAGE_BYTES];
    struct text out;

    text_init(&out, bytes, sizeof bytes);
    if (tune->rows[tune->best].trial.done)
        add_goal(tune, &out);
    (void)fputs(bytes, stdout);
}

/* What was found, and then how long the choice takes until the goal. False:
 * interrupted in that. */
static bool show(struct tune *tune, const struct options *options)
{
    bool whole = tune_by_itself(tune, (unsigned)options->workers, NULL);

    tune->goal = (struct tune_goal){NAN, NAN, NAN, ""};
    if (!options->json)
        print_words(tune);
    if (whole && has_play(tune)) {
        (void)fputs("Now until the goal, which may take as long as one PC "
                    "needs: --time limits it.\n",
                    stderr);
        whole = tune_until_goal(tune, (unsigned)options->workers,
                                "seeds until the goal");
    }
    if (options->json)
        print_json(tune);
    else if (whole)
        print_goal(tune);
    return whole;
}

int sim_tune(int count, char **words)
{
    struct options options;
    struct tune *tune = NULL;
    struct why why = {""};
    enum status status;
    int code;

    if (!run_options(count, words, &options, &code))
        return code;
    status = tune_open(&options, &tune, &why);
    if (status != STATUS_OK)
        return run_fail(status, &why);
    if (!tune_search(tune, (unsigned)options.workers, "plays"))
        status = because(&why, STATUS_AGAIN, "stopped before it was done");
    else if (tune->tried && !tune->rows[tune->best].trial.done)
        status =
            because(&why, STATUS_CONFIG, "nothing that was played works: %s",
                    tune->rows[tune->best].trial.trouble);
    else if (!show(tune, &options))
        status = because(&why, STATUS_AGAIN, "stopped before the goal");
    tune_close(&tune);
    return status == STATUS_OK ? 0 : run_fail(status, &why);
}
