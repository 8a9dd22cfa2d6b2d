/* starswitch-sim compare: policies with the same seeds. */
#include <string.h>

#include "sim/program/arms.h"
#include "sim/program/program.h"
#include "sim/program/run.h"

/* "policy=A,B" of "A, B". */
static enum status read_grid(const struct options *options, struct grid *grid,
                             struct why *why)
{
    char bytes[VALUE_TEXT_BYTES + 16];
    struct text text;

    if (options->over[0])
        return because(why, STATUS_USAGE,
                       "--over is of starswitch-sim sweep; compare has "
                       "--policy A,B");
    if (!strchr(options->policy, ','))
        return because(why, STATUS_USAGE,
                       "--policy: say what is to be compared, such as "
                       "--policy mean,diloco,easgd");
    text_init(&text, bytes, sizeof bytes);
    text_add(&text, "policy=");
    for (const char *at = options->policy; *at; at++)
        if (*at != ' ')
            text_add_character(&text, *at);
    return grid_parse(bytes, "policy", grid, why);
}

/* Finds out what each policy comes to, or why it does not go, before anything
 * is played. */
static enum status describe(const struct arms *arms, struct text *out,
                            struct why *why)
{
    for (unsigned i = 0; i < arms->count; i++) {
        struct options options;
        struct scenario *scenario = NULL;
        struct why detail = {""};
        enum status status;

        arms_options(arms, i, &options);
        status = scenario_open(&options, &scenario, &detail);
        if (status != STATUS_OK)
            return because(why, status, "%s: %s", options.policy, detail.text);
        if (i == 0)
            run_describe_star(scenario, out);
        run_describe_policy(scenario, out);
        scenario_close(&scenario);
    }
    text_add(out, " seeds    %llu to %llu\n",
             (unsigned long long)arms->options.seed,
             (unsigned long long)arms->options.seed + arms->seeds - 1);
    return STATUS_OK;
}

int sim_compare(int count, char **words)
{
    static struct arms_study study = {.read = read_grid, .describe = describe};

    return arms_command(&study, count, words);
}
