/* Arms as lines of JSON: one per run, then one per setting. */
#include <math.h>
#include <stdio.h>

#include "core/quote.h"
#include "core/score.h"
#include "sim/program/arms.h"
#include "sim/program/run.h"
#include "sim/study/compute.h"

enum { LINE_BYTES = 4096 };

static void add_number(const char *name, double value, struct text *out)
{
    text_add(out, ",\"%s\":", name);
    quote_json_number(out, value);
}

/* What all lines begin with. */
static void begin_line(const struct arms *arms, const char *kind,
                       unsigned place, struct text *out)
{
    const struct grid *grid = arms->grid;
    struct options options;

    arms_options(arms, place, &options);
    text_add(out, "{\"%s\":\"simulated\",\"compute\":\"%s\",\"setting\":{",
             kind, compute_words[compute_of(&options)].text);
    for (unsigned i = 0; i < grid->count; i++) {
        text_add(out, "%s\"%s\":", i ? "," : "", grid->axes[i].name);
        quote_json(out, grid->axes[i].values[grid_value(grid, place, i)]);
    }
    text_add(out, "}");
}

static void print_run(const struct arms *arms, unsigned place, unsigned seed)
{
    const struct arm_run *run = arms_run(arms, place, seed);
    char bytes[LINE_BYTES];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    begin_line(arms, "run", place, &text);
    text_add(&text, ",\"seed\":%llu,",
             (unsigned long long)arms->options.seed + seed);
    run_json(&run->outcome, &text);
    if (run->outcome.trouble[0]) {
        text_add(&text, ",\"trouble\":");
        quote_json(&text, run->outcome.trouble);
    }
    (void)printf("%s}\n", bytes);
}

static void add_summary(const struct arms *arms, const struct arm *arm,
                        struct text *out)
{
    double loss = arm->medians[ARM_LOSS];

    text_add(out, ",\"seeds\":%u,\"done\":%u,\"reached\":%u,\"measure\":\"%s\"",
             arms->seeds, arm->done, arm->reached,
             arms_have_goal(arms) ? "time_s" : "loss");
    add_number("median", arm->result.median, out);
    add_number("q1", arm->result.low, out);
    add_number("q3", arm->result.high, out);
    add_number("loss", loss < NO_SCORE ? loss : NAN, out);
    add_number("iterations", arm->medians[ARM_ITERATIONS], out);
    add_number("moved_bytes", arm->medians[ARM_BYTES], out);
    add_number("idle", arm->medians[ARM_IDLE], out);
    add_number("staleness_p95", arm->medians[ARM_STALENESS], out);
    text_add(out, ",\"wins\":%u,\"times_the_best\":{\"pairs\":%zu", arm->wins,
             arm->best.count);
    add_number("ratio", arm->best.mean.value, out);
    add_number("error", arm->best.mean.error, out);
    text_add(out, ",\"better\":%zu,\"worse\":%zu}", arm->best.below,
             arm->best.above);
}

static void print_summary(const struct arms *arms, unsigned rank)
{
    unsigned place = arms->order[rank];
    const struct arm *arm = &arms->list[place];
    char bytes[LINE_BYTES];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    begin_line(arms, "summary", place, &text);
    if (arm->refused) {
        text_add(&text, ",\"refused\":");
        quote_json(&text, arms_run(arms, place, 0)->outcome.trouble);
    } else {
        text_add(&text, ",\"rank\":%u", rank + 1);
        add_summary(arms, arm, &text);
    }
    (void)printf("%s}\n", bytes);
}

void arms_print_json(const struct arms *arms)
{
    for (unsigned i = 0; i < arms->count; i++)
        for (unsigned seed = 0; seed < arms->seeds; seed++)
            if (!arms->list[i].refused)
                print_run(arms, i, seed);
    for (unsigned i = 0; i < arms->count; i++)
        print_summary(arms, i);
}
