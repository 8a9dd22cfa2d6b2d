/* Complete versions of the centre: scored, the best one kept, saved. The best
 * one goes to the disk with the centre, as one whole, so that what is saved
 * with the centre of the best one is true.
 *
 * A snapshot is references to immutable chunks, so taking one costs nothing;
 * it keeps old values alive while it is being worked on, at most once the
 * model's size for each kind. A hub with data of its own keeps each best one
 * until it is saved. Without, losses are what nodes say, which is noise: the
 * best one is that of those which are saved anyway, and costs no memory. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"

#define SAY_SAVE_FAILURE (60 * SECOND)

/* Whether all chunks have merged the same exchanges. */
static bool is_complete(const struct hub *hub)
{
    if (hub->rounds.merging)
        return false;
    for (uint32_t i = 0; i < hub->centre.count; i++)
        if (hub->centre.chunk[i].busy)
            return false;
    return centre_is_founded(hub);
}

double snapshot_measure(const struct hub *hub, double score, double accuracy)
{
    return hub->config.goal == GOAL_ACCURACY && accuracy >= 0 ? 1 - accuracy
                                                              : score;
}

static double measure(const struct hub *hub)
{
    return snapshot_measure(hub, hub->memory.score, hub->memory.accuracy);
}

/* ---- back to a good version ----
 * A centre that got much worse goes back to what it was (guard against
 * updates that no rule has stopped, and against divergence).
 *
 * Each complete version that the hub has scored itself, and that is not bad,
 * is the good one until the next; it is kept by references, which cost memory
 * only for the chunks that have changed since: at most once the model. A
 * version is bad when its loss is not finite, or exceeds the good one's by more
 * than `rollback` times that and by more than three standard errors, unpaired.
 * The good one is the newest and not the best: a loss that rises slowly, as by
 * overfitting, is no accident, and best.safetensors is for that. What nodes say
 * of themselves is never a reason. Where training comes to the same loss again
 * and again, it goes on from there: the good one was better by chance.
 *
 * The operator may order it, too, whatever the losses say.
 *
 * The bad version is left when every chunk is complete, behind the fence that
 * saves wait for, too. The centre takes a step like any other: values of the
 * good one, state vectors of zeros, a version that is new. Tasks that were done
 * since are to be done again. Nodes take the centre as a late joiner does: what
 * they have learnt departs from the bad one, and may not even be finite, so
 * that no correction of it would help. */
#define ERRORS 3   /* standard errors that must lie between good and bad */
#define IN_A_ROW 3 /* then a finite loss is no accident */

static struct blob **snapshot_ref(const struct hub *hub,
                                  const struct input *chunks)
{
    struct blob **kept = need_memory(hub->centre.count, sizeof(struct blob *));

    for (uint32_t i = 0; i < hub->centre.count; i++)
        kept[i] = blob_ref(chunks[i].blob);
    return kept;
}

static void snapshot_drop(const struct hub *hub, struct blob ***chunks)
{
    for (uint32_t i = 0; *chunks && i < hub->centre.count; i++)
        blob_unref(&(*chunks)[i]);
    free((void *)*chunks);
    *chunks = NULL;
}

static bool is_bad(const struct hub *hub)
{
    const struct rollback *good = &hub->memory.back;
    double worse = hub->memory.score - good->score;
    /* not hypot, which is newer than some C libraries that the wheel meets */
    double error =
        sqrt(good->error * good->error + hub->memory.error * hub->memory.error);

    if (!isfinite(hub->memory.score))
        return true;
    return good->in_a_row < IN_A_ROW &&
           worse > hub->policy->numbers.rollback * fabs(good->score) &&
           worse > ERRORS * error;
}

void rollback_forget(struct hub *hub)
{
    snapshot_drop(hub, &hub->memory.back.chunks);
}

void snapshot_forget(struct hub *hub)
{
    snapshot_drop(hub, &hub->memory.best);
    rollback_forget(hub);
}

/* The centre's score is new: these chunks are good, or the centre is to be
 * rolled back. */
static void rollback_consider(struct hub *hub, uint64_t version,
                              const struct input *chunks)
{
    struct rollback *good = &hub->memory.back;

    if (!(hub->policy->numbers.rollback > 0) || !hub->config.evaluate ||
        good->wanted)
        return;
    if (good->chunks && is_bad(hub)) {
        hub->memory.back.wanted = true;
        return;
    }
    if (!isfinite(hub->memory.score))
        return;
    rollback_forget(hub);
    good->in_a_row = 0;
    good->chunks = snapshot_ref(hub, chunks);
    good->version = version;
    good->score = hub->memory.score;
    good->accuracy = hub->memory.accuracy;
    good->error = hub->memory.error;
    memcpy(good->tasks, hub->memory.back.scored, sizeof good->tasks);
}

enum status rollback_order(struct hub *hub, struct why *why)
{
    struct rollback *good = &hub->memory.back;

    if (!hub->config.evaluate)
        return because(why, STATUS_CONFIG,
                       "no version is known to be good: start the hub with "
                       "--data, so that it has held-out data");
    if (!(hub->policy->numbers.rollback > 0))
        return because(why, STATUS_CONFIG,
                       "--rollback 0 keeps no version to go back to");
    if (!good->chunks)
        return because(why, STATUS_AGAIN, "no version has been scored yet");
    if (good->version == hub->centre.version && !hub->rounds.merging)
        return because(why, STATUS_AGAIN,
                       "version %llu, the centre's, is the last good one",
                       (unsigned long long)good->version);
    good->wanted = good->ordered = true;
    return STATUS_OK;
}

/* All who are here take the centre. Who is taking it already would get parts of
 * two versions: it ends what it does and, like those who are away, is told by
 * its next offer, whose base is behind `turned`. */
static void replace_all(struct hub *hub)
{
    hub->memory.back.turned = hub->centre.version;
    rounds_discard(hub);
    EACH_MEMBER(hub, member) {
        member->trial = (struct trial){.score = NO_SCORE};
        if (!member_is_here(member) || member->finished ||
            hub->run.phase == PHASE_CLOSING || member->start != START_GO ||
            member->takes)
            continue;
        delivery_clear(&member->delivery);
        (void)snprintf(member->why, sizeof member->why, "rolled back");
        member_start(hub, member, START_TAKE);
    }
}

static void restore_centre(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        struct centre_chunk *chunk = &hub->centre.chunk[i];

        blob_unref(&chunk->theta);
        chunk->theta = blob_ref(hub->memory.back.chunks[i]);
        for (unsigned j = 0; j < POLICY_SLOTS; j++)
            blob_unref(&chunk->slot[j]);
        chunk->updates_before = 0; /* nor has it any history */
        chunk->changed = ++chunk->version;
        last_sent_drop(chunk, chunk->version);
    }
    hub->centre.version++;
    if (hub->run.ledger.parts)
        (void)ledger_read(&hub->run.ledger, hub->memory.back.tasks);
}

/* Whoever dies now must not go on from the bad one: it is saved, too. */
static void settle_scores(struct hub *hub)
{
    hub->memory.score = hub->memory.back.score;
    hub->memory.accuracy = hub->memory.back.accuracy;
    hub->memory.error = hub->memory.back.error;
    hub->memory.back.version = hub->memory.scored_version = hub->centre.version;
    hub->memory.back.wanted = hub->memory.back.ordered =
        hub->memory.want_evaluate = false;
    hub->memory.want_save = hub->config.save != NULL;
}

static void rollback_do(struct hub *hub)
{
    uint64_t bad = hub->centre.version;
    char why[32] = "by order";

    if (!hub->memory.back.ordered)
        (void)snprintf(why, sizeof why, "loss %.4g", hub->memory.score);
    assert(hub->memory.back.chunks && is_complete(hub));
    restore_centre(hub);
    hub->memory.back.count++;
    hub->memory.back.in_a_row += !hub->memory.back.ordered;
    effects_note(
        hub->out, NOTE_ROLLED_BACK, "",
        "%s at version %llu: version %llu is version %llu again, "
        "loss %.4g",
        why, (unsigned long long)bad, (unsigned long long)hub->centre.version,
        (unsigned long long)hub->memory.back.version, hub->memory.back.score);
    settle_scores(hub);
    if (!centre_is_apart(hub))
        replace_all(hub);
}

/* ---- scoring ---- */

static void keep_best(struct hub *hub, uint64_t version,
                      const struct input *chunks)
{
    snapshot_drop(hub, &hub->memory.best);
    hub->memory.best = snapshot_ref(hub, chunks);
    hub->memory.best_measure = measure(hub);
    hub->memory.best_score = hub->memory.score;
    hub->memory.best_accuracy = hub->memory.accuracy;
    hub->memory.best_version = version;
    effects_note(hub->out, NOTE_BEST, "", "version %llu, loss %.4f",
                 (unsigned long long)version, hub->memory.best_score);
}

/* Of the centre as it is. */
static void fill(const struct hub *hub, struct job *job, const void *context)
{
    for (uint32_t i = 0; i < hub->centre.count; i++)
        job->in[i].blob = blob_ref(hub->centre.chunk[i].theta);
    job->context = context;
    job->extent.elements = (size_t)hub->centre.schema->elements;
}

static void take_score(struct hub *hub, uint64_t version, double loss,
                       double accuracy, double error)
{
    hub->memory.scored_version = version;
    hub->memory.score = loss;
    hub->memory.accuracy = accuracy;
    hub->memory.error = error;
    if (!score_known(hub->memory.first) && isfinite(loss))
        hub->memory.first = loss;
    if (accuracy >= 0)
        effects_note(hub->out, NOTE_SCORED, "",
                     "version %llu: loss %.9g, test accuracy %.2f %%",
                     (unsigned long long)version, loss, 100 * accuracy);
    else
        effects_note(hub->out, NOTE_SCORED, "", "version %llu: loss %.9g",
                     (unsigned long long)version, loss);
}

void snapshot_scored(struct hub *hub, struct job *job)
{
    const struct score_job *scored = (struct score_job *)job;
    uint64_t version = scored->version;

    hub->memory.evaluating = false;
    hub->dirty |= DIRTY_PHASE | DIRTY_MEMORY;
    if (job->id < hub->memory.first_score)
        return;
    if (job->status != STATUS_OK) {
        hub->memory.scored_version = version;
        effects_note(hub->out, NOTE_SCORED, "", "scoring failed: %s",
                     status_words(job->status));
        return;
    }
    take_score(hub, version, scored->loss, scored->accuracy, scored->error);
    if (measure(hub) < hub->memory.best_measure)
        keep_best(hub, version, job->in);
    rollback_consider(hub, version, job->in);
}

static void score_start(struct hub *hub)
{
    struct score_job *score = job_make(hub->config.evaluate, sizeof *score,
                                       hub->pool, hub->centre.count);

    fill(hub, &score->job, hub->config.evaluate_context);
    score->version = hub->centre.version;
    score->accuracy = -1;
    if (hub->run.ledger.parts)
        (void)ledger_print(&hub->run.ledger, hub->memory.back.scored,
                           sizeof hub->memory.back.scored);
    hub->memory.evaluating = true;
    hub_job(hub, &score->job);
}

/* Where the hub has no data, what the nodes said is the score. */
static void score_now(struct hub *hub)
{
    hub->memory.want_evaluate = false;
    hub->memory.next_evaluate = hub->now + hub->config.evaluate_interval;
    if (hub->config.evaluate) {
        score_start(hub);
        return;
    }
    take_score(hub, hub->centre.version, hub->memory.hint, -1, 0);
    hub->dirty |= DIRTY_PHASE;
}

/* Planes to be saved: none as long as no chunk has any. */
static unsigned slots_moved(const struct hub *hub)
{
    for (uint32_t i = 0; i < hub->centre.count; i++)
        if (hub->centre.chunk[i].slot[0])
            return hub_slots(hub);
    return 0;
}

/* Adds references to `chunks` to the job, from input `at` on. */
static uint32_t add_chunks(const struct hub *hub, struct job *job,
                           struct blob *const *chunks, uint32_t at)
{
    for (uint32_t i = 0; i < hub->centre.count; i++)
        job->in[at++].blob = blob_ref(chunks[i]);
    return at;
}

static void save_start(struct hub *hub)
{
    /* Without data the best one is among those that are saved. */
    bool best =
        !hub->config.evaluate && hub->memory.hint < hub->memory.best_measure;
    unsigned slots = slots_moved(hub);
    unsigned vectors = slots + (best || hub->memory.best ? 1 : 0);
    struct save_job *save = job_make(hub->config.save, sizeof *save, hub->pool,
                                     (1 + vectors) * hub->centre.count + 1);
    struct job *job = &save->job;
    uint32_t at = hub->centre.count;

    fill(hub, job, hub->config.save_context);
    if (best) {
        hub->memory.score = hub->memory.hint;
        keep_best(hub, hub->centre.version, job->in);
    }
    save->version = hub->centre.version;
    save->slots = slots;
    save->over = hub->run.phase == PHASE_CLOSING;
    save->has_best = hub->memory.best != NULL;
    save->best_version = hub->memory.best_version;
    for (unsigned slot = 0; slot < slots; slot++)
        for (uint32_t i = 0; i < hub->centre.count; i++)
            job->in[at++].blob = blob_ref(hub->centre.chunk[i].slot[slot]);
    if (hub->memory.best)
        at = add_chunks(hub, job, hub->memory.best, at);
    job->in[at].blob = saved_write(hub);
    hub->memory.want_save = false;
    hub->memory.saving = true;
    hub->memory.next_save = hub->now + hub->config.save_interval;
    hub_job(hub, job);
    keeping_saved(hub);
}

/* What the centre as it is now is wanted for; it is complete. */
static void take_now(struct hub *hub)
{
    if (hub->memory.want_evaluate && !hub->memory.evaluating)
        score_now(hub);
    if (hub->memory.want_save && !hub->memory.saving)
        save_start(hub);
    keeping_start(hub);
}

void snapshot_settle(struct hub *hub)
{
    bool wanted, fenced = hub->memory.fence;

    if (hub->memory.back.wanted && !hub->memory.evaluating && is_complete(hub))
        rollback_do(hub);
    wanted = hub->memory.want_evaluate || hub->memory.want_save ||
             hub->memory.back.wanted || hub->memory.keeping.wanted;
    if (is_complete(hub)) {
        take_now(hub);
        wanted = false;
    }
    /* Last offers do not wait for one of them that never comes: what is saved
     * at the end has them all. */
    wanted &= centre_is_founded(hub) &&
              (!run_is_ending(hub) || hub->memory.back.wanted);
    hub->memory.fence =
        hub->run.phase >= PHASE_STOPPING || hub->memory.keeping.first || wanted;
    if (fenced && !hub->memory.fence)
        hub->dirty |= DIRTY_ROUNDS;
}

bool snapshot_is_behind(const struct hub *hub)
{
    return hub->memory.saved_version != hub->centre.version || hub->memory.best;
}

/* What the disk has may have reached the goal: then no node need come. */
static void score_recovered(struct hub *hub)
{
    if (hub->config.goal == GOAL_NONE || !hub->config.evaluate ||
        hub->memory.evaluating ||
        hub->memory.scored_version == hub->centre.version)
        return;
    hub->memory.want_evaluate = true;
    hub->dirty |= DIRTY_MEMORY;
}

void snapshot_tick(struct hub *hub)
{
    const struct hub_config *config = &hub->config;

    if (!centre_is_founded(hub) || hub->run.phase >= PHASE_STOPPING)
        return;
    if (hub->run.phase == PHASE_RECOVERING) {
        score_recovered(hub);
        return;
    }
    keeping_tick(hub);
    if (!hub->memory.evaluating && hub->now >= hub->memory.next_evaluate &&
        hub->memory.scored_version != hub->centre.version &&
        (config->evaluate || hub->memory.hint < NO_SCORE))
        hub->memory.want_evaluate = true;
    if (config->save && !hub->memory.saving &&
        hub->now >= hub->memory.next_save && snapshot_is_behind(hub))
        hub->memory.want_save = true;
    hub->dirty |= DIRTY_MEMORY;
}

void snapshot_unscored(struct hub *hub)
{
    snapshot_drop(hub, &hub->memory.best);
    hub->memory.first_score = hub->next_job;
    hub->memory.scored_version = NO_VERSION;
    hub->memory.best_version = 0;
    hub->memory.hint = hub->memory.score = hub->memory.first = NO_SCORE;
    hub->memory.best_score = hub->memory.best_measure = NO_SCORE;
    hub->memory.accuracy = hub->memory.best_accuracy = -1;
    hub->memory.error = 0;
}

/* The last save is tried again: a full disk may be cleared. Returns what
 * happens next. */
static const char *last_failed(struct hub *hub)
{
    if (!hub->memory.save_until) {
        hub->memory.save_until = hub->now + LAST_SAVES;
        hub->memory.say_failure = 0;
    }
    hub->memory.next_save = hub->now + SAVE_AGAIN;
    hub->memory.unsaved = hub->now >= hub->memory.save_until;
    return hub->memory.unsaved ? "given up" : "tried again for up to 30 s";
}

/* The same again and again is said now and then, with how often. */
static void save_failed(struct hub *hub, const struct save_job *save)
{
    const struct job *job = &save->job;
    const char *words = job->out[0] ? (const char *)job->out[0]->bytes
                                    : status_words(job->status);
    const char *next = hub->run.phase >= PHASE_STOPPING
                           ? last_failed(hub)
                           : "serving goes on, and saving is tried again";
    char times[32] = "";

    hub->memory.saves_failed++;
    if (strcmp(words, hub->memory.save_failure.text) != 0)
        hub->memory.say_failure = 0;
    explain(&hub->memory.save_failure, "%s", words);
    if (hub->now < hub->memory.say_failure && !hub->memory.unsaved)
        return;
    hub->memory.say_failure = hub->now + SAY_SAVE_FAILURE;
    if (hub->memory.saves_failed > 1)
        (void)snprintf(times, sizeof times, ", %u saves in a row",
                       hub->memory.saves_failed);
    effects_note(hub->out, NOTE_SAVE_FAILED, "", "version %llu: %s; %s%s",
                 (unsigned long long)save->version,
                 hub->memory.save_failure.text, next, times);
}

static void save_went_well(struct hub *hub, const struct save_job *save)
{
    uint64_t version = save->version;

    hub->memory.saved_version = version;
    hub->memory.save_until = hub->memory.say_failure = 0;
    if (save->has_best && save->best_version == hub->memory.best_version)
        snapshot_drop(hub, &hub->memory.best);
    if (hub->memory.saves_failed)
        effects_note(hub->out, NOTE_SAVED, "",
                     "version %llu: saving works again, after %u save%s that "
                     "failed",
                     (unsigned long long)version, hub->memory.saves_failed,
                     plural(hub->memory.saves_failed));
    else
        effects_note(hub->out, NOTE_SAVED, "", "version %llu",
                     (unsigned long long)version);
    hub->memory.saves_failed = 0;
    hub->memory.save_failure.text[0] = '\0';
}

void snapshot_saved(struct hub *hub, struct job *job)
{
    const struct save_job *save = (struct save_job *)job;

    hub->memory.saving = false;
    if (job->status == STATUS_OK)
        save_went_well(hub, save);
    else
        save_failed(hub, save);
    hub->dirty |= DIRTY_PHASE | DIRTY_MEMORY;
}
