/* starswitch-sim sweep: every combination of some settings. */
#include "sim/program/arms.h"
#include "sim/program/program.h"
#include "sim/program/run.h"

/* The first of the settings that goes together stands for all. If none does,
 * the first one's reason is `why`. */
static enum status describe(const struct arms *arms, struct text *out,
                            struct why *why)
{
    struct scenario *scenario = NULL;
    enum status first = STATUS_OK;
    struct options options;

    for (unsigned i = 0; i < arms->count && !scenario; i++) {
        struct why detail = {""};
        enum status status;

        arms_options(arms, i, &options);
        status = scenario_open(&options, &scenario, &detail);
        if (status != STATUS_OK && first == STATUS_OK) {
            *why = detail;
            first = status;
        }
    }
    if (!scenario)
        return first;
    run_describe_star(scenario, out);
    run_describe_policy(scenario, out);
    text_add(out,
             " over     %s: %u settings with seeds %llu to %llu; "
             "above is one of them\n",
             arms->options.over, arms->count,
             (unsigned long long)arms->options.seed,
             (unsigned long long)arms->options.seed + arms->seeds - 1);
    scenario_close(&scenario);
    return STATUS_OK;
}

static enum status read_grid(const struct options *options, struct grid *grid,
                             struct why *why)
{
    return grid_parse(options->over, "over", grid, why);
}

int sim_sweep(int count, char **words)
{
    static struct arms_study study = {
        .sweeps = true, .read = read_grid, .describe = describe};

    return arms_command(&study, count, words);
}
