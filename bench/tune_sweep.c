/* Whether tune's choice is one: every setting of a coarse grid is played, also
 * those that closed forms would not think of, and the best of them is compared
 * with what a search chooses. Takes the options of starswitch-sim tune; prints
 * a line of JSON. bench/tune_check.sh has the situations. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/kit/kit.h"
#include "codec/codec.h"
#include "core/options.h"
#include "sim/study/tune.h"

static const unsigned ks[] = {5, 10, 20, 50, 100, 200};
static const double delays[] = {0, 0.1, 0.25, 0.5}; /* of k */
static const unsigned parts[] = {1, 4};
static const enum codec_id wires[] = {CODEC_RAW, CODEC_INT8, CODEC_INT4};
static const enum plan_policy policies[] = {PLAN_AUTO, PLAN_ASYNC};

/* In one piece and in four. */
static unsigned add_times(struct tune *tune, struct plan_setting setting,
                          unsigned *rows)
{
    unsigned count = 0;

    for (unsigned d = 0; d < 4; d++)
        for (unsigned f = 0; f < 2; f++) {
            setting.delay = (unsigned)(setting.every * delays[d]);
            setting.fragments = parts[f];
            rows[count++] = tune_add(tune, &setting);
        }
    return count;
}

static unsigned add_codecs(struct tune *tune, struct plan_setting setting,
                           unsigned *rows)
{
    bool barrier = plan_policies[setting.policy].barrier;
    unsigned count = 0;

    for (unsigned up = 0; up < 3; up++)
        for (unsigned down = 0; down < (barrier ? 3 : 1); down++) {
            setting.up = wires[up];
            setting.down = wires[down];
            count += add_times(tune, setting, rows + count);
        }
    return count;
}

/* Leaves only the grid's rows in the tune. */
static unsigned make_grid(struct tune *tune, unsigned *rows)
{
    unsigned count = 0;

    tune->count = 0;
    for (unsigned p = 0; p < 2; p++)
        for (unsigned k = 0; k < sizeof ks / sizeof *ks; k++) {
            struct plan_setting setting = {.policy = policies[p],
                                           .every = ks[k]};

            count += add_codecs(tune, setting, rows + count);
        }
    return count;
}

static void open_one(const struct options *options, struct tune **out)
{
    struct why why = {""};

    if (tune_open(options, out, &why) != STATUS_OK)
        give_up("%s", why.text);
}

static void add_row(const struct tune_row *row, const char *name,
                    struct text *out)
{
    const struct plan_setting *setting = &row->setting;

    text_add(out,
             ",\"%s\":{\"speed_up\":%.3f,\"predicted\":%.3f,"
             "\"policy\":\"%s\",\"every\":%u,\"delay\":%u,\"fragments\":%u,"
             "\"up\":\"%s\",\"down\":\"%s\"}",
             name, row->speed_up, row->plan.speed_up,
             plan_policies[setting->policy].name, setting->every,
             setting->delay, setting->fragments, codecs[setting->up].name,
             codecs[setting->down].name);
}

int main(int argc, char **argv)
{
    struct tune *search = NULL, *sweep = NULL;
    const struct tune_row *ours, *best;
    static unsigned rows[1024];
    struct options options;
    struct why why = {""};
    unsigned count;
    char bytes[2048];
    struct text line;

    options_defaults(&options);
    if (options_parse_arguments(&options, PROGRAM_SIM, argc, argv, &why) !=
        STATUS_OK)
        give_up("%s", why.text);
    open_one(&options, &search);
    options.seeds = 1;
    options.given.seeds = OPTION_ARGUMENT;
    open_one(&options, &sweep);
    count = make_grid(sweep, rows);
    if (!tune_search(search, (unsigned)options.workers, "plays to choose") ||
        !tune_try(sweep, rows, count, (unsigned)options.workers,
                  "plays of the sweep"))
        return 1;
    ours = &search->rows[search->best];
    best = &sweep->rows[0];
    for (unsigned i = 0; i < sweep->count; i++)
        if (sweep->rows[i].speed_up > best->speed_up)
            best = &sweep->rows[i];
    text_init(&line, bytes, sizeof bytes);
    text_add(&line,
             "{\"bench\":\"tune_sweep\",\"compute\":\"surrogate\","
             "\"predicted\":%u,\"played\":%u,\"swept\":%u",
             search->count, search->tried, count);
    add_row(ours, "choice", &line);
    add_row(best, "best", &line);
    (void)printf("%s,\"ratio\":%.4f}\n", bytes,
                 ours->speed_up / best->speed_up);
    tune_close(&search);
    tune_close(&sweep);
    return 0;
}
