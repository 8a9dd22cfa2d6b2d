/* What the commands that run scenarios share: their options and their words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <starswitch.h>

#include "codec/pages.h"
#include "core/quote.h"
#include "core/score.h"
#include "policies/pages.h"
#include "program/output.h"
#include "program/settings.h"
#include "report/names.h"
#include "sim/program/run.h"

int run_fail(enum status status, const struct why *why)
{
    return output_fail("starswitch-sim", status, why);
}

bool run_options(int count, char **words, struct options *out, int *code)
{
    struct why why = {""};
    enum status status = settings_read(out, PROGRAM_SIM, count, words, &why);

    *code = 0;
    if (status != STATUS_OK) {
        *code = run_fail(status, &why);
        return false;
    }
    if (out->help)
        names_print();
    if (out->version)
        (void)printf("starswitch-sim %s\n", STAR_VERSION);
    return !out->help && !out->version;
}

void run_goal(const struct options *options, struct text *out)
{
    if (options->goal.kind == GOAL_ACCURACY)
        text_add(out, "%.4g %% accuracy", 100 * options->goal.value);
    else if (options->goal.kind == GOAL_LOSS)
        text_add(out, "loss %.4g", options->goal.value);
}

static void describe_compute(const struct scenario *scenario, struct text *out)
{
    const struct options *options = scenario_options(scenario);
    enum compute compute = scenario_compute(scenario);

    text_add(out, " compute  %s: ", compute_words[compute].text);
    if (compute == COMPUTE_SURROGATE)
        text_add(out, "a noisy quadratic that weighs as %.4g M parameters\n",
                 (double)options->params / 1e6);
    else if (compute == COMPUTE_RECORDED)
        text_add(out, "scores and times of %s\n", options->trace);
    else
        text_add(out, "%s on %s, in virtual time\n",
                 options->model[0] ? options->model : options->trainer,
                 options->data[0] ? options->data : "its own data");
}

static void add_rate(uint64_t bytes_per_second, struct text *out)
{
    if (bytes_per_second)
        text_add(out, "%.4g Mbit/s", 8e-6 * (double)bytes_per_second);
    else
        text_add(out, "no limit");
}

void run_describe_star(const struct scenario *scenario, struct text *out)
{
    const struct options *options = scenario_options(scenario);

    describe_compute(scenario, out);
    text_add(out, " star     %llu node%s, ",
             (unsigned long long)options->star_nodes,
             plural(options->star_nodes));
    add_rate(options->rate, out);
    text_add(out, " each, ");
    add_rate(options->port, out);
    text_add(out, " at the hub, %.3g ms + %.3g ms, steps of %.4g ms%s%s%s%s\n",
             1e-6 * (double)options->latency, 1e-6 * (double)options->jitter,
             1e-6 * (double)options->step_time,
             options->speeds[0] ? ", speeds " : "", options->speeds,
             options->trace[0] ? ", as in " : "",
             options->trace[0] ? options->trace : "");
}

void run_describe_policy(const struct scenario *scenario, struct text *out)
{
    const struct options *options = scenario_options(scenario);
    const struct hub_config *hub = scenario_hub(scenario);

    text_add(out, " policy   %s k=%llu d=%llu%s", options->policy,
             (unsigned long long)hub->every, (unsigned long long)hub->delay,
             hub->free_every || hub->free_delay ? " at first" : "");
    policy_describe(&hub->policy, out);
    codecs_describe(hub->codec_up, hub->codec_down, out);
    text_add(out, "\n");
}

void run_describe(const struct scenario *scenario, struct text *out)
{
    run_describe_star(scenario, out);
    run_describe_policy(scenario, out);
}

static void add_number(const char *name, double value, struct text *out)
{
    text_add(out, ",\"%s\":", name);
    if (isfinite(value))
        text_add(out, "%.9g", value);
    else
        text_add(out, "null");
}

void run_json(const struct outcome *outcome, struct text *out)
{
    text_add(out, "\"done\":%s,\"goal_reached\":%s",
             outcome->done ? "true" : "false",
             outcome->reached ? "true" : "false");
    add_number("time_s", outcome->time, out);
    add_number("loss", outcome->loss < NO_SCORE ? outcome->loss : NAN, out);
    add_number("accuracy", outcome->accuracy < 0 ? NAN : outcome->accuracy,
               out);
    text_add(out, ",\"every\":%llu,\"delay\":%llu",
             (unsigned long long)outcome->every,
             (unsigned long long)outcome->delay);
    if (outcome->chosen_at > 0) {
        add_number("chosen_at", outcome->chosen_at, out);
        text_add(out, ",\"chosen\":");
        quote_json(out, outcome->chosen);
    }
    text_add(out, ",\"rounds\":%llu", (unsigned long long)outcome->rounds);
    add_number("round_s", outcome->round_time, out);
    add_number("iterations", outcome->iterations, out);
    add_number("iterations_per_s", outcome->rate, out);
    add_number("up_bytes", outcome->up, out);
    add_number("down_bytes", outcome->down, out);
    add_number("idle", outcome->idle, out);
    add_number("staleness_p95", outcome->staleness, out);
    add_number("late", outcome->late, out);
    text_add(out, ",\"steps\":%llu", (unsigned long long)outcome->steps);
    if (outcome->history)
        text_add(out, ",\"history\":\"%016llx\"",
                 (unsigned long long)outcome->history);
}
