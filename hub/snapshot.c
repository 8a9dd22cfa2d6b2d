/* Complete versions of the centre: scored, the best one kept, saved. The best
 * one goes to the disk with the centre, as one whole, so that what is saved
 * with the centre of the best one is true.
 *
 * A snapshot is references to immutable chunks, so taking one costs nothing;
 * it keeps old values alive while it is being worked on, at most once the
 * model's size for each kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/state.h"

#define SAY_SAVE_FAILURE (60 * SECOND)

/* Whether all chunks have merged the same exchanges. */
static bool is_complete(const struct hub *hub)
{
    if (hub->merging)
        return false;
    for (uint32_t i = 0; i < hub->chunks; i++)
        if (hub->centre[i].busy)
            return false;
    return hub->founded;
}

/* What "best" means, lower is better: the goal's measure where there is one. */
static double measure(const struct hub *hub)
{
    return hub->config.goal == GOAL_ACCURACY && hub->accuracy >= 0
               ? 1 - hub->accuracy
               : hub->score;
}

static void keep_best(struct hub *hub, uint64_t version,
                      const struct input *chunks)
{
    snapshot_drop(hub, &hub->best);
    hub->best = snapshot_keep(hub, chunks);
    hub->best_measure = measure(hub);
    hub->best_score = hub->score;
    hub->best_accuracy = hub->accuracy;
    hub->best_version = version;
    effects_note(hub->out, NOTE_BEST, "", "version %llu, loss %.4f",
                 (unsigned long long)version, hub->best_score);
}

/* Of the centre as it is. */
static void fill(const struct hub *hub, struct job *job, const void *context)
{
    for (uint32_t i = 0; i < hub->chunks; i++)
        job->in[i].blob = blob_ref(hub->centre[i].theta);
    job->context = context;
    job->extent.elements = (size_t)hub->schema->elements;
}

void snapshot_scored(struct hub *hub, struct job *job)
{
    const struct score_job *scored = (struct score_job *)job;
    uint64_t version = scored->version;

    hub->evaluating = false;
    hub->dirty |= DIRTY_PHASE | DIRTY_MEMORY;
    if (job->id < hub->first_score)
        return;
    hub->scored_version = version;
    if (job->status != STATUS_OK) {
        effects_note(hub->out, NOTE_SCORED, "", "scoring failed: %s",
                     status_words(job->status));
        return;
    }
    hub->score = scored->loss;
    hub->accuracy = scored->accuracy;
    hub->error = scored->error;
    if (hub->accuracy >= 0)
        effects_note(hub->out, NOTE_SCORED, "",
                     "version %llu: loss %.9g, test accuracy %.2f %%",
                     (unsigned long long)version, hub->score,
                     100 * hub->accuracy);
    else
        effects_note(hub->out, NOTE_SCORED, "", "version %llu: loss %.9g",
                     (unsigned long long)version, hub->score);
    if (measure(hub) < hub->best_measure)
        keep_best(hub, version, job->in);
    rollback_judge(hub, version, job->in);
}

static void hinted(void *machine, struct job *job)
{
    snapshot_scored(machine, job);
}

/* Stands for scoring where the hub cannot score: the score is what the nodes
 * said, and is in the job already. */
static void hint(struct job *job)
{
    (void)job;
}

static const struct work work_hint = {"hint", hint, hinted};

static void score_start(struct hub *hub)
{
    const struct work *evaluate = hub->config.evaluate;
    struct score_job *score =
        job_make(evaluate ? evaluate : &work_hint, sizeof *score, hub->pool,
                 hub->chunks);

    fill(hub, &score->job, hub->config.evaluate_context);
    score->version = hub->version;
    score->loss = hub->hint;
    score->accuracy = -1;
    if (hub->ledger.parts)
        (void)ledger_print(&hub->ledger, hub->back.scored,
                           sizeof hub->back.scored);
    hub->want_evaluate = false;
    hub->next_evaluate = hub->now + hub->config.evaluate_interval;
    hub->evaluating = true;
    hub_job(hub, &score->job);
}

/* Planes to be saved: none as long as no chunk has any. */
static unsigned planes_moved(const struct hub *hub)
{
    for (uint32_t i = 0; i < hub->chunks; i++)
        if (hub->centre[i].plane[0])
            return hub_planes(hub);
    return 0;
}

/* Adds references to `chunks` to the job, from input `at` on. */
static uint32_t add_chunks(const struct hub *hub, struct job *job,
                           struct blob *const *chunks, uint32_t at)
{
    for (uint32_t i = 0; i < hub->chunks; i++)
        job->in[at++].blob = blob_ref(chunks[i]);
    return at;
}

static void save_start(struct hub *hub)
{
    unsigned planes = planes_moved(hub);
    unsigned vectors = planes + (hub->best ? 1 : 0);
    struct save_job *save =
        job_make(hub->config.save, sizeof *save, hub->pool,
                 (1 + vectors) * hub->chunks + 1);
    struct job *job = &save->job;
    uint32_t at = hub->chunks;

    fill(hub, job, hub->config.save_context);
    save->version = hub->version;
    save->planes = planes;
    save->over = hub->phase == PHASE_CLOSING;
    save->has_best = hub->best != NULL;
    save->best_version = hub->best_version;
    for (unsigned plane = 0; plane < planes; plane++)
        for (uint32_t i = 0; i < hub->chunks; i++)
            job->in[at++].blob = blob_ref(hub->centre[i].plane[plane]);
    if (hub->best)
        at = add_chunks(hub, job, hub->best, at);
    job->in[at].blob = saved_write(hub);
    hub->want_save = false;
    hub->saving = true;
    hub->next_save = hub->now + hub->config.save_interval;
    hub_job(hub, job);
    keeping_saved(hub);
}

/* What the centre as it is now is wanted for; it is complete. */
static void take_now(struct hub *hub)
{
    if (hub->want_evaluate && !hub->evaluating)
        score_start(hub);
    if (hub->want_save && !hub->saving)
        save_start(hub);
    keeping_start(hub);
}

void snapshot_settle(struct hub *hub)
{
    bool wanted, fenced = hub->fence;

    if (hub->back.wanted && !hub->evaluating && is_complete(hub))
        rollback_do(hub);
    wanted = hub->want_evaluate || hub->want_save || hub->back.wanted ||
             hub->keeping.wanted;
    if (is_complete(hub)) {
        take_now(hub);
        wanted = false;
    }
    /* Last offers do not wait for one of them that never comes: what is saved
     * at the end has them all. */
    wanted &= hub->founded && (!run_is_ending(hub) || hub->back.wanted);
    hub->fence = hub->phase >= PHASE_STOPPING || hub->keeping.first || wanted;
    if (fenced && !hub->fence)
        hub->dirty |= DIRTY_ROUNDS;
}

void snapshot_tick(struct hub *hub)
{
    const struct hub_config *config = &hub->config;

    if (!hub->founded || hub->phase >= PHASE_STOPPING ||
        hub->phase == PHASE_RECOVERING)
        return;
    keeping_tick(hub);
    if (!hub->evaluating && hub->now >= hub->next_evaluate &&
        hub->scored_version != hub->version &&
        (config->evaluate || hub->hint < NO_SCORE))
        hub->want_evaluate = true;
    if (config->save && !hub->saving && hub->now >= hub->next_save &&
        hub->saved_version != hub->version)
        hub->want_save = true;
    hub->dirty |= DIRTY_MEMORY;
}

void snapshot_unscored(struct hub *hub)
{
    snapshot_drop(hub, &hub->best);
    hub->first_score = hub->next_job;
    hub->scored_version = NO_VERSION;
    hub->best_version = 0;
    hub->hint = hub->score = NO_SCORE;
    hub->best_score = hub->best_measure = NO_SCORE;
    hub->accuracy = hub->best_accuracy = -1;
    hub->error = 0;
}

/* The last save is tried again: a full disk may be cleared. Returns what
 * happens next. */
static const char *last_failed(struct hub *hub)
{
    if (!hub->save_until) {
        hub->save_until = hub->now + LAST_SAVES;
        hub->say_failure = 0;
    }
    hub->next_save = hub->now + SAVE_AGAIN;
    hub->unsaved = hub->now >= hub->save_until;
    return hub->unsaved ? "given up" : "tried again for up to 30 s";
}

/* The same again and again is said now and then, with how often. */
static void save_failed(struct hub *hub, const struct save_job *save)
{
    const struct job *job = &save->job;
    const char *words = job->out[0] ? (const char *)job->out[0]->bytes
                                    : status_words(job->status);
    const char *next = hub->phase >= PHASE_STOPPING
                           ? last_failed(hub)
                           : "serving goes on, and saving is tried again";
    char times[32] = "";

    hub->saves_failed++;
    if (strcmp(words, hub->save_failure.text) != 0)
        hub->say_failure = 0;
    explain(&hub->save_failure, "%s", words);
    if (hub->now < hub->say_failure && !hub->unsaved)
        return;
    hub->say_failure = hub->now + SAY_SAVE_FAILURE;
    if (hub->saves_failed > 1)
        (void)snprintf(times, sizeof times, ", %u saves in a row",
                       hub->saves_failed);
    effects_note(hub->out, NOTE_SAVE_FAILED, "", "version %llu: %s; %s%s",
                 (unsigned long long)save->version, hub->save_failure.text,
                 next, times);
}

static void save_went_well(struct hub *hub, const struct save_job *save)
{
    uint64_t version = save->version;

    hub->saved_version = version;
    hub->save_until = hub->say_failure = 0;
    if (save->has_best && save->best_version == hub->best_version)
        snapshot_drop(hub, &hub->best);
    if (hub->saves_failed)
        effects_note(hub->out, NOTE_SAVED, "",
                     "version %llu: saving works again, after %u save%s that "
                     "failed", (unsigned long long)version, hub->saves_failed,
                     plural(hub->saves_failed));
    else
        effects_note(hub->out, NOTE_SAVED, "", "version %llu",
                     (unsigned long long)version);
    hub->saves_failed = 0;
    hub->save_failure.text[0] = '\0';
}

void snapshot_saved(struct hub *hub, struct job *job)
{
    const struct save_job *save = (struct save_job *)job;

    hub->saving = false;
    if (job->status == STATUS_OK)
        save_went_well(hub, save);
    else
        save_failed(hub, save);
    orders_saved(hub, save);
    hub->dirty |= DIRTY_PHASE | DIRTY_MEMORY;
}
