#include "sim/study/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "sim/study/local_learner.h"
#include "sim/study/process_pool.h"
#include "sim/study/scenario_inside.h"
#include "sim/trace/trace.h"

enum { NEAR = 16 };

/* ---- beginning and end ---- */

/* Of two that are a thousandth apart the one with less traffic is first, and
 * no two are equal, so that every library sorts alike. */
static long worth(const struct tune_row *row)
{
    return lround(1000 * log(fmax(row->plan.speed_up, 1e-9)));
}

static int compare(const void *a, const void *b)
{
    const struct tune_row *one = a, *other = b;
    const struct plan_setting *left = &one->setting, *right = &other->setting;
    const double steps[] = {(double)(worth(other) - worth(one)),
                            one->plan.up + one->plan.down - other->plan.up -
                                other->plan.down,
                            (double)left->every - right->every,
                            (double)left->delay - right->delay,
                            (double)left->fragments - right->fragments,
                            (double)left->dylu - right->dylu,
                            (double)((int)left->up - (int)right->up),
                            (double)((int)left->down - (int)right->down)};

    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] != 0)
            return steps[i] > 0 ? 1 : -1;
    return (int)left->policy - (int)right->policy;
}

static enum status fill(struct tune *tune, const struct scenario *scenario,
                        struct why *why)
{
    enum status status = STATUS_OK;

    tune->options = *scenario_options(scenario);
    tune->trains = scenario_compute(scenario) == COMPUTE_REAL;
    if (tune->trains && !tune->options.given.params)
        status =
            local_learner_count(&tune->options, &tune->options.params, why);
    if (tune->options.every == VALUE_AUTO)
        tune->options.given.every = 0;
    if (tune->options.delay == VALUE_AUTO)
        tune->options.given.delay = 0;
    tune->seeds =
        tune->options.given.seeds ? (unsigned)tune->options.seeds : TUNE_SEEDS;
    if (scenario->trace)
        tune->span = (double)scenario->trace->span / (double)SECOND;
    tune_star(&tune->options, scenario->trace, scenario->speeds,
              scenario->speed_count, &tune->star);
    if (status == STATUS_OK)
        status = tune_enumerate(tune, why);
    if (status == STATUS_OK)
        qsort(tune->rows, tune->count, sizeof *tune->rows, compare);
    return status;
}

enum status tune_open(const struct options *options, struct tune **out,
                      struct why *why)
{
    struct tune *tune = calloc(1, sizeof *tune);
    struct scenario *scenario = NULL;
    enum status status;

    if (!tune)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    status = options->scenario[0]
                 ? because(why, STATUS_USAGE,
                           "--scenario: tune measures a star in which nothing "
                           "fails: leave it out, or play it with compare")
                 : scenario_open(options, &scenario, why);
    if (status == STATUS_OK)
        status = fill(tune, scenario, why);
    scenario_close(&scenario);
    if (status == STATUS_OK)
        *out = tune;
    else
        tune_close(&tune);
    return status;
}

void tune_close(struct tune **reference)
{
    struct tune *tune = *reference;

    *reference = NULL;
    if (!tune)
        return;
    free(tune->rows);
    free(tune);
}

/* ---- a setting as options ---- */

double tune_momentum(const struct tune *tune,
                     const struct plan_setting *setting)
{
    uint64_t iterations = tune->options.iterations;

    if (tune->options.given.outer_momentum)
        return tune->options.outer_momentum;
    if (!iterations || setting->policy != PLAN_DILOCO ||
        (double)iterations / setting->every >= 100)
        return NAN;
    return 0.5;
}

static void set_text(value_text text, const char *words, unsigned char *given)
{
    (void)snprintf(text, VALUE_TEXT_BYTES, "%s", words);
    *given = OPTION_ARGUMENT;
}

void tune_apply(const struct tune *tune, const struct plan_setting *setting,
                struct options *options)
{
    double momentum = tune_momentum(tune, setting);

    *options = tune->options;
    options->every = setting->every;
    options->delay = setting->delay;
    options->fragments = setting->fragments;
    options->dylu = setting->dylu;
    set_text(options->policy, plan_policies[setting->policy].name,
             &options->given.policy);
    set_text(options->codec_up, codecs[setting->up].name,
             &options->given.codec_up);
    set_text(options->codec_down, codecs[setting->down].name,
             &options->given.codec_down);
    if (!isnan(momentum)) {
        options->outer_momentum = momentum;
        options->given.outer_momentum = OPTION_ARGUMENT;
    }
}

/* Whether somebody has chosen it and tune_words does not say it anyway. */
static bool is_to_be_repeated(const struct tune *tune,
                              const struct plan_setting *setting,
                              const struct option *row)
{
    static const char *const groups[] = {"Exchange", "Connection",
                                         "Numbers of policies"};
    static const char *const said[] = {
        "policy", "every",     "delay",    "codec-up",      "codec-down",
        "dylu",   "fragments", "insecure", "outer-momentum"};
    bool is_of_group = false;

    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
        is_of_group |= strcmp(row->group, groups[i]) == 0;
    for (unsigned i = 0; i < sizeof said / sizeof *said; i++)
        is_of_group &= strcmp(row->name, said[i]) != 0;
    return is_of_group && option_is_of(row, PROGRAM_HUB) &&
           option_is_of(row, PROGRAM_SIM) &&
           *((const unsigned char *)&tune->options + row->given) &&
           !(setting->waits && strcmp(row->name, "miss") == 0);
}

/* What else the options name: it was played, so it is part of the choice. */
static void add_given(const struct tune *tune,
                      const struct plan_setting *setting, struct text *out)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++) {
        union value value;

        if (!is_to_be_repeated(tune, setting, &rows[i]))
            continue;
        memset(&value, 0, sizeof value);
        memcpy(&value, (const char *)&tune->options + rows[i].offset,
               value_size(rows[i].type.kind));
        text_add(out, " --%s ", rows[i].name);
        value_print(&rows[i].type, &value, out);
    }
}

void tune_words(const struct tune *tune, const struct plan_setting *setting,
                struct text *out)
{
    double momentum = tune_momentum(tune, setting);

    text_add(
        out, "--policy %s --every %u --delay %u --codec-up %s --codec-down %s",
        plan_policies[setting->policy].name, setting->every, setting->delay,
        codecs[setting->up].name, codecs[setting->down].name);
    if (setting->fragments > 1)
        text_add(out, " --fragments %u", setting->fragments);
    if (setting->dylu)
        text_add(out, " --dylu");
    if (setting->waits)
        text_add(out, " --miss wait");
    if (!isnan(momentum))
        text_add(out, " --outer-momentum %.3g", momentum);
    add_given(tune, setting, out);
}

void tune_command(const struct tune *tune, const struct plan_setting *setting,
                  struct text *out)
{
    text_add(out, "starswitch-hub --nodes %u ", tune->star.nodes);
    tune_words(tune, setting, out);
}

void tune_command_by_itself(const struct tune *tune, struct text *out)
{
    const struct options *options = &tune->options;
    const struct plan_setting *setting = &tune->by_itself.setting;
    double momentum = tune_momentum(tune, setting);

    text_add(out, "starswitch-hub --nodes %u", tune->star.nodes);
    if (options->given.dylu && !options->dylu)
        text_add(out, " --no-dylu");
    if (!isnan(momentum))
        text_add(out, " --outer-momentum %.3g", momentum);
    add_given(tune, setting, out);
}

/* ---- playing ---- */

struct heat {
    const struct tune *tune;
    const unsigned *rows;
};

/* Until there is a centre: a tournament, in which nodes send their parameters
 * as they are, and get those of the best. */
static double founding(const struct tune *tune)
{
    const struct options *options = &tune->options;
    const struct plan_star *star = &tune->star;
    double model = plan_payload(star, CODEC_RAW);
    double iterations = options->tournament
                            ? (double)options->tournament
                            : fmax(50, (double)options->iterations / 100);

    return iterations * star->slowest + 4 * plan_serial(star, model, model);
}

/* Whole spans of a trace, so that none sees better times than another. */
static struct trial_window window_of(const struct tune *tune,
                                     const struct tune_row *row)
{
    const struct plan_star *star = &tune->star;
    double round =
        row->setting.every * star->step + row->plan.exchange + row->plan.lag;
    struct trial_window window = {
        .turns = TUNE_WARM, .length = TUNE_ROUNDS * round - star->step / 2};

    if (tune->span > 0)
        window.length = ceil(window.length / tune->span) * tune->span;
    window.most = 4 * (window.length + TUNE_WARM * round + founding(tune));
    return window;
}

static void run(void *of, unsigned number, void *result)
{
    const struct heat *heat = of;
    const struct tune *tune = heat->tune;
    const struct tune_row *row = &tune->rows[heat->rows[number / tune->seeds]];
    struct trial_window window = window_of(tune, row);
    struct options options;

    tune_apply(tune, &row->setting, &options);
    trial_run(&options, tune->options.seed + number % tune->seeds, &window,
              result);
}

static void take(struct tune *tune, struct tune_row *row,
                 const struct trial *trials)
{
    struct plan plan = row->plan;

    trial_mean(trials, tune->seeds, &row->trial);
    tune->tried++;
    if (!row->trial.done)
        return;
    plan_learn(&tune->star, &row->setting, row->trial.every, row->trial.delay,
               &plan);
    row->speed_up = plan_speed_up(&tune->star, row->trial.rate, plan.phi);
}

bool tune_try(struct tune *tune, const unsigned *rows, unsigned count,
              unsigned workers, const char *noun)
{
    unsigned *fresh = calloc(count + 1, sizeof *fresh), left = 0;
    struct trial *trials =
        calloc((size_t)count * tune->seeds + 1, sizeof *trials);
    struct heat heat = {tune, fresh};
    struct process_pool pool = {.workers = workers,
                                .size = sizeof *trials,
                                .of = &heat,
                                .run = run,
                                .noun = noun};
    bool whole;

    if (!fresh || !trials)
        abort();
    for (unsigned i = 0; i < count; i++) {
        if (!tune->rows[rows[i]].tried)
            fresh[left++] = rows[i];
        tune->rows[rows[i]].tried = true;
    }
    pool.count = left * tune->seeds;
    whole = process_pool_run(&pool, trials);
    for (unsigned i = 0; whole && i < left; i++)
        take(tune, &tune->rows[fresh[i]], trials + (size_t)i * tune->seeds);
    free(trials);
    free(fresh);
    return whole;
}

/* ---- searching ---- */

static bool is_alike(const struct plan_setting *a, const struct plan_setting *b)
{
    return a->policy == b->policy && a->every == b->every &&
           a->dylu == b->dylu && (a->up == b->up || a->down == b->down);
}

/* The best predictions of which no two differ only in d, F or one codec. */
static unsigned pick(const struct tune *tune, unsigned picks[TUNE_PICKS])
{
    unsigned count = 0;

    for (unsigned i = 0; i < tune->count && count < TUNE_PICKS; i++) {
        bool alike = false;

        for (unsigned j = 0; j < count; j++)
            alike |=
                is_alike(&tune->rows[i].setting, &tune->rows[picks[j]].setting);
        if (!alike)
            picks[count++] = i;
    }
    return count;
}

static double traffic(const struct tune_row *row)
{
    return row->trial.up + row->trial.down;
}

/* Less traffic; of as much, more speed. */
static bool is_better(const struct tune_row *row, const struct tune_row *now)
{
    bool alike = fabs(traffic(row) / traffic(now) - 1) < TUNE_ALIKE;

    return alike ? row->speed_up > now->speed_up : traffic(row) < traffic(now);
}

unsigned tune_best(const struct tune *tune)
{
    double most = 0;
    unsigned best = 0;

    for (unsigned i = 0; i < tune->count; i++)
        most = fmax(most, tune->rows[i].speed_up);
    for (unsigned i = 0; i < tune->count; i++) {
        const struct tune_row *row = &tune->rows[i], *now = &tune->rows[best];

        if (row->speed_up <= 0 || row->speed_up < (1 - TUNE_CLOSE) * most)
            continue;
        if (now->speed_up < (1 - TUNE_CLOSE) * most || is_better(row, now))
            best = i;
    }
    return best;
}

bool tune_search(struct tune *tune, unsigned workers, const char *noun)
{
    unsigned rows[NEAR], count;
    bool whole;

    if (tune->rows[0].plan.speed_up < TUNE_HOPELESS)
        return true;
    count = pick(tune, rows);
    whole = tune_try(tune, rows, count, workers, noun);
    tune->best = tune_best(tune);
    for (unsigned pass = 0; whole && pass < TUNE_PASSES; pass++) {
        struct plan_setting near[NEAR];
        unsigned before = tune->best;

        count = tune_neighbours(tune, &tune->rows[before].setting, near, NEAR);
        for (unsigned i = 0; i < count; i++)
            rows[i] = tune_add(tune, &near[i]);
        whole = tune_try(tune, rows, count, workers, noun);
        tune->best = tune_best(tune);
        if (tune->best == before)
            break;
    }
    return whole;
}

/* ---- left to itself ---- */

static bool is_left(const struct tune *tune)
{
    const struct options *options = &tune->options;

    return tune->tried && tune->star.nodes > 1 && !options->given.every &&
           !options->given.delay && !options->given.fragments &&
           !options->given.codec_up && !options->given.codec_down &&
           options->miss != MISS_CUT && strcmp(options->policy, "auto") == 0;
}

static void run_by_itself(void *of, unsigned number, void *result)
{
    const struct tune *tune = of;
    struct trial_window window = window_of(tune, &tune->rows[tune->best]);

    window.most += 4 * TUNE_CHOSEN * window.length / TUNE_ROUNDS;
    window.turns = TUNE_CHOSEN;
    trial_run(&tune->options, tune->options.seed + number, &window, result);
}

bool tune_by_itself(struct tune *tune, unsigned workers, const char *noun)
{
    struct trial *trials = calloc(tune->seeds + 1, sizeof *trials);
    struct process_pool pool = {.count = tune->seeds,
                                .workers = workers,
                                .size = sizeof *trials,
                                .of = tune,
                                .run = run_by_itself,
                                .noun = noun};
    bool whole = true;

    if (!trials)
        abort();
    tune->by_itself = (struct tune_row){.setting = {.policy = PLAN_AUTO,
                                                    .fragments = 1,
                                                    .up = CODEC_INT8,
                                                    .down = CODEC_INT8},
                                        .tried = is_left(tune)};
    if (tune->by_itself.tried)
        whole = process_pool_run(&pool, trials);
    if (tune->by_itself.tried && whole)
        take(tune, &tune->by_itself, trials);
    free(trials);
    return whole;
}

/* ---- why ---- */

enum tune_bound tune_bound(const struct tune *tune,
                           const struct plan_setting *setting)
{
    struct plan plan;
    double training = setting->every * tune->star.step;

    plan_predict(&tune->star, setting, &plan);
    if (setting->every < 1.3 * plan.floor)
        return TUNE_BY_FLOOR;
    if (plan.lag > plan.exchange && plan.lag > 0.02 * training)
        return TUNE_BY_STRAGGLER;
    return plan.phi_d / plan.used > plan.phi_k ? TUNE_BY_HIDING
                                               : TUNE_BY_LEARNING;
}
