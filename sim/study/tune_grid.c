/* Which settings there are to choose from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "policies/pace.h"
#include "sim/study/tune.h"

enum { FEW = 16 };

static const unsigned ks[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
static const enum codec_id wires[] = {CODEC_RAW, CODEC_F16, CODEC_INT8,
                                      CODEC_INT4};

/* The values of one choice, each once. */
struct choice {
    unsigned list[FEW], count;
};

static void choose(struct choice *choice, double value)
{
    unsigned number = (unsigned)(value + 0.5);

    for (unsigned i = 0; i < choice->count; i++)
        if (choice->list[i] == number)
            return;
    if (choice->count < FEW)
        choice->list[choice->count++] = number;
}

/* ---- the values of each choice ---- */

/* No k so large that the target is reached in fewer than 20 rounds. */
static bool is_too_rare(const struct tune *tune, double every)
{
    uint64_t iterations = tune->options.iterations;

    return every > 1 && iterations && every * 20 > (double)iterations;
}

static void choose_every(const struct tune *tune, struct choice *out)
{
    *out = (struct choice){.count = 0};
    if (tune->options.given.every) {
        choose(out, (double)tune->options.every);
        return;
    }
    for (unsigned i = 0; i < sizeof ks / sizeof *ks; i++)
        if (!is_too_rare(tune, ks[i]))
            choose(out, ks[i]);
}

/* None, what hides the exchange without and with a fifth to spare, and parts
 * of k that are more; where nothing up to k/2 hides it, k/2. */
static void choose_delay(const struct tune *tune,
                         const struct plan_setting *setting, struct choice *out)
{
    const struct plan_star *star = &tune->star;
    double most = floor(setting->every / 2.0), hiding;
    struct plan plan;

    *out = (struct choice){.count = 0};
    if (tune->options.given.delay) {
        choose(out, (double)tune->options.delay);
        return;
    }
    plan_predict(star, setting, &plan);
    hiding = (plan.exchange + plan.lag) /
             (setting->dylu ? star->fastest : star->step);
    choose(out, 0);
    choose(out, fmin(ceil(hiding), most));
    choose(out, fmin(ceil(1.2 * hiding), most));
    choose(out, fmax(fmin(ceil(hiding), most), floor(most / 2)));
    choose(out, most);
}

/* One, a few, or as many as flatten the traffic. */
static void choose_fragments(const struct tune *tune,
                             const struct plan_setting *setting,
                             struct choice *out)
{
    const struct plan_star *star = &tune->star;
    double chunks = ceil(star->params * sizeof(float) / star->chunk);
    struct plan plan;

    *out = (struct choice){.count = 0};
    if (tune->options.given.fragments) {
        choose(out, (double)tune->options.fragments);
        return;
    }
    plan_predict(star, setting, &plan);
    choose(out, 1);
    choose(out, fmin(chunks, fmin(4, setting->every)));
    choose(out, fmin(chunks, plan_fragments(plan.exchange, star->step,
                                            setting->every)));
}

static void choose_codecs(const char *given, bool fixed, struct choice *out)
{
    *out = (struct choice){.count = 0};
    for (unsigned i = 0; !*given && !fixed && i < sizeof wires / sizeof *wires;
         i++)
        choose(out, wires[i]);
    if (*given && codec_find(given))
        choose(out, (double)(codec_find(given) - codecs));
    else if (fixed)
        choose(out, CODEC_RAW);
}

/* The families, a barrier and none; or what the options name. */
static enum status choose_policies(const struct tune *tune, struct choice *out,
                                   struct why *why)
{
    const struct options *options = &tune->options;

    *out = (struct choice){.count = 0};
    if (!options->given.policy) {
        choose(out, PLAN_AUTO);
        choose(out, PLAN_ASYNC);
        return STATUS_OK;
    }
    for (unsigned i = 0; i < PLAN_POLICIES; i++)
        if (strcmp(options->policy, plan_policies[i].name) == 0)
            choose(out, i);
    if (out->count)
        return STATUS_OK;
    return because(why, STATUS_USAGE,
                   "--policy %.40s: what it costs in iterations has not been "
                   "measured; tune knows auto, mean, diloco, delayed and "
                   "async",
                   options->policy);
}

/* ---- all of them ---- */

static bool is_same(const struct plan_setting *a, const struct plan_setting *b)
{
    return a->policy == b->policy && a->dylu == b->dylu &&
           a->every == b->every && a->delay == b->delay &&
           a->fragments == b->fragments && a->up == b->up && a->down == b->down;
}

unsigned tune_add(struct tune *tune, const struct plan_setting *setting)
{
    struct tune_row *row;

    for (unsigned i = 0; i < tune->count; i++)
        if (is_same(&tune->rows[i].setting, setting))
            return i;
    if (tune->count == tune->room) {
        tune->room = 2 * tune->room + 64;
        tune->rows = realloc(tune->rows, tune->room * sizeof *tune->rows);
        if (!tune->rows)
            abort();
    }
    row = &tune->rows[tune->count];
    *row = (struct tune_row){.setting = *setting};
    plan_predict(&tune->star, setting, &row->plan);
    return tune->count++;
}

/* More often than the network carries: offers would queue up without end. */
static bool is_too_often(const struct tune *tune,
                         const struct plan_setting *setting)
{
    const struct plan_star *star = &tune->star;
    double share = setting->dylu ? star->fastest / star->step : 1;

    return setting->delay && !tune->options.given.every &&
           setting->every * share <
               plan_floor(star, plan_payload(star, setting->up),
                          plan_payload(star, setting->down));
}

static void add_times(struct tune *tune, struct plan_setting setting)
{
    struct choice fragments, delays;

    choose_fragments(tune, &setting, &fragments);
    for (unsigned f = 0; f < fragments.count; f++) {
        setting.fragments = fragments.list[f];
        setting.delay = 0;
        choose_delay(tune, &setting, &delays);
        for (unsigned d = 0; d < delays.count; d++) {
            setting.delay = delays.list[d];
            if (!is_too_often(tune, &setting))
                (void)tune_add(tune, &setting);
        }
    }
}

static void add_codecs(struct tune *tune, struct plan_setting setting)
{
    const struct options *options = &tune->options;
    struct choice ups, downs, every;

    choose_codecs(options->codec_up, false, &ups);
    choose_codecs(options->codec_down, !plan_policies[setting.policy].barrier,
                  &downs);
    choose_every(tune, &every);
    for (unsigned k = 0; k < every.count; k++)
        for (unsigned u = 0; u < ups.count; u++)
            for (unsigned d = 0; d < downs.count; d++) {
                setting.every = every.list[k];
                setting.up = (enum codec_id)ups.list[u];
                setting.down = (enum codec_id)downs.list[d];
                add_times(tune, setting);
            }
}

enum status tune_enumerate(struct tune *tune, struct why *why)
{
    const struct options *options = &tune->options;
    bool unequal = tune->star.fastest < (1 - PACE_SAME) * tune->star.slowest;
    struct choice policies;
    enum status status = choose_policies(tune, &policies, why);

    for (unsigned p = 0; status == STATUS_OK && p < policies.count; p++) {
        struct plan_setting setting = {.policy =
                                           (enum plan_policy)policies.list[p],
                                       .dylu = options->dylu,
                                       .waits = options->miss == MISS_WAIT,
                                       .fragments = 1};

        add_codecs(tune, setting);
        if (unequal && !options->given.dylu) {
            setting.dylu = true;
            add_codecs(tune, setting);
        }
    }
    tune->enumerated = tune->count;
    return status;
}

/* ---- near one ---- */

struct near {
    const struct tune *tune;
    struct plan_setting *out;
    unsigned count, room;
};

static void come_near(struct near *near, struct plan_setting setting)
{
    const struct tune *tune = near->tune;

    if (near->count == near->room || setting.every < 1 ||
        setting.delay * 2 > setting.every || is_too_rare(tune, setting.every) ||
        is_too_often(tune, &setting))
        return;
    near->out[near->count++] = setting;
}

/* The next codec that is coarser, or finer. */
static enum codec_id step_codec(enum codec_id codec, int step)
{
    int count = (int)(sizeof wires / sizeof *wires);

    for (int i = 0; i < count; i++)
        if (wires[i] == codec && i + step >= 0 && i + step < count)
            return wires[i + step];
    return codec;
}

static void near_times(struct near *near, const struct plan_setting *setting)
{
    const struct options *options = &near->tune->options;
    static const double scales[] = {0.7, 1.4};

    for (unsigned i = 0; i < 2; i++) {
        struct plan_setting other = *setting;

        if (!options->given.every) {
            other.every = (unsigned)(setting->every * scales[i] + 0.5);
            come_near(near, other);
        }
        if (options->given.delay)
            continue;
        other = *setting;
        other.delay = (unsigned)(setting->delay * scales[i] + (i ? 1 : 0));
        come_near(near, other);
    }
}

static void near_codecs(struct near *near, const struct plan_setting *setting)
{
    const struct options *options = &near->tune->options;

    for (int step = -1; step <= 1; step += 2) {
        struct plan_setting other = *setting;

        if (!*options->codec_up)
            other.up = step_codec(setting->up, step);
        come_near(near, other);
        other = *setting;
        if (!*options->codec_down && plan_policies[setting->policy].barrier)
            other.down = step_codec(setting->down, step);
        come_near(near, other);
    }
}

static void near_fragments(struct near *near,
                           const struct plan_setting *setting)
{
    const struct plan_star *star = &near->tune->star;
    double chunks = ceil(star->params * sizeof(float) / star->chunk);
    struct plan_setting other = *setting;

    if (near->tune->options.given.fragments)
        return;
    if (setting->fragments > 1) {
        other.fragments = setting->fragments / 2;
        come_near(near, other);
    }
    other.fragments = setting->fragments * 2;
    if (other.fragments <= fmin(chunks, fmin(64, setting->every)))
        come_near(near, other);
}

unsigned tune_neighbours(const struct tune *tune,
                         const struct plan_setting *setting,
                         struct plan_setting *out, unsigned room)
{
    struct near near = {tune, out, 0, room};

    near_times(&near, setting);
    near_codecs(&near, setting);
    near_fragments(&near, setting);
    return near.count;
}
