#include "bench/convergence/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/options.h"
#include "hub/configure.h"

const struct arm arms[ARMS] = {
#define ARM(ID, workload, kind, nodes, twists, rate, options, name)            \
    [ID] = {#ID, name, workload, kind, nodes, twists, rate, options},
#include "bench/convergence/arms.def"
#undef ARM
};

#define NO_ROW(row, headline, text)
#define NO_SHOW(row, arm)
#define NO_CLAIM(row, measure, left, right, relation, target, prior, text)

const struct row rows[ROWS] = {
#define ROW(row, headline, text) {#row, headline, text},
#define SHOW NO_SHOW
#define CLAIM NO_CLAIM
#include "bench/convergence/rows.def"
#undef ROW
#undef SHOW
#undef CLAIM
};

const struct claim claims[] = {
#define ROW NO_ROW
#define SHOW(row, arm) {ROW_##row, SHOWN, arm, NOTHING, AT_MOST, 0, "", ""},
#define CLAIM(row, measure, left, right, relation, target, prior, text)        \
    {ROW_##row, measure, left, right, relation, target, prior, text},
#include "bench/convergence/rows.def"
#undef ROW
#undef SHOW
#undef CLAIM
};

const unsigned claim_count = sizeof claims / sizeof *claims;

double arm_pace(const struct arm *arm, unsigned node)
{
    static const double paces[] = {0.58, 0.75, 1.51, 3.33};

    return arm->twists & PACED ? paces[node % 4] : 0.1;
}

double arm_rate(const struct arm *arm)
{
    return arm->rate > 0 ? arm->rate : workloads[arm->workload].rate;
}

/* ---- from options to the hub ---- */

enum { WORDS = 64, LINE = 512 };

static enum status parse(const struct arm *arm, struct options *options,
                         struct why *why)
{
    char line[LINE], *words[WORDS], *at = line;
    int count = 0;

    (void)snprintf(line, sizeof line,
                   "hub --nodes %u --evaluate 24h --save 24h %s %s", arm->nodes,
                   arm->twists & AS_IT_IS ? ""
                                          : "--codec-up raw --codec-down raw",
                   arm->options);
    while (*at && count < WORDS) {
        words[count++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = 0;
        at += strspn(at, " ");
    }
    options_defaults(options);
    return options_parse_arguments(options, PROGRAM_HUB, count, words, why);
}

/* Where an arm does not say how nodes begin, they begin alike; where it does
 * not say how values travel, they are raw. */
enum status arm_configure(const struct arm *arm, struct hub_config *out,
                          struct why *why)
{
    struct options options;
    enum status status = parse(arm, &options, why);

    if (status == STATUS_OK)
        status = hub_configure(&options, out, why);
    if (status == STATUS_OK && !options.given.init &&
        out->init == INIT_TOURNAMENT)
        out->init = INIT_HUB;
    return status;
}
