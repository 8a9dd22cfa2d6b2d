#include "tests/record/journaled_star.h"

#include <stdlib.h>

#include "sim/world_inside.h" /* work_remember; its `place` is not check.h's */
#include "tests/sim/policy_sweep.h"

static struct journal *kept;

static void keep(struct lab *lab, const struct world_step *step)
{
    (void)lab;
    if (step->process == WORLD_HUB)
        journal_step(kept, step->event, step->effects);
}

struct hub_config journaled_star_config(const struct lab *lab)
{
    struct hub_config config = lab->config.hub;

    config.save = lab->config.saves ? &work_remember : NULL;
    config.evaluate = lab->config.hooks.evaluate ? &work_score : NULL;
    return config;
}

void journaled_star_begin(struct lab *lab, const char *path,
                          const struct hub_saved *saved)
{
    struct hub_config config = journaled_star_config(lab);
    const struct journal_of of = {"", &config, saved};
    const struct spool_complaint nobody = {NULL, NULL};

    config.life = lab->world ? world_saved(lab->world)->lives : 0;
    if (kept || journal_open(path, &of, nobody, &kept, NULL) != STATUS_OK)
        abort();
    lab->after_step = keep;
}

void journaled_star_end(struct lab *lab)
{
    lab->after_step = NULL;
    journal_close(&kept);
}

enum status journaled_star_replay(const char *path,
                                  const struct hub_config *config,
                                  struct replay *out, struct why *why)
{
    struct journal_reader *reader = NULL;
    struct hub_config again = *config;
    struct pool *pool = pool_new();
    enum status status = journal_read(path, &reader, why);

    if (status == STATUS_OK) {
        again.life = journal_head(reader)->life;
        status = replay_run(reader, &again, pool, out, why);
    }
    journal_read_close(&reader);
    pool_destroy(&pool);
    return status;
}

struct hub_config journaled_star_sweep(const char *path, struct lab *lab,
                                       unsigned nodes, nanos span)
{
    struct hub_config config;

    lab->config.hub.evaluate_interval = SECOND;
    config = journaled_star_config(lab);
    journaled_star_begin(lab, path, NULL);
    sweep_open(lab, 1, nodes);
    (void)lab_run(lab, span);
    journaled_star_end(lab);
    lab_destroy(&lab);
    return config;
}

struct hub_config journaled_star_star(const char *path, unsigned nodes,
                                      nanos span)
{
    const struct policy mean = preset_find("mean")->policy;
    struct seen seen;
    struct lab *lab = sweep_lab(&mean, &seen);

    lab->config.hub.nodes = nodes;
    return journaled_star_sweep(path, lab, nodes, span);
}
