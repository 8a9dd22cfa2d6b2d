/* A centre that got much worse goes back to what it was (guard against
 * contributions that no rule has stopped, and against divergence).
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
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"

#define ERRORS 3 /* standard errors that must lie between good and bad */
#define IN_A_ROW 3 /* then a finite loss is no accident */

static bool is_bad(const struct hub *hub)
{
    const struct rollback *good = &hub->back;
    double worse = hub->score - good->score;

    if (!isfinite(hub->score))
        return true;
    return good->in_a_row < IN_A_ROW &&
           worse > hub->policy->numbers.rollback * fabs(good->score) &&
           worse > ERRORS * hypot(good->error, hub->error);
}

struct blob **snapshot_keep(const struct hub *hub, const struct input *chunks)
{
    struct blob **kept = need_memory(hub->chunks, sizeof(struct blob *));

    for (uint32_t i = 0; i < hub->chunks; i++)
        kept[i] = blob_ref(chunks[i].blob);
    return kept;
}

void snapshot_drop(const struct hub *hub, struct blob ***chunks)
{
    for (uint32_t i = 0; *chunks && i < hub->chunks; i++)
        blob_unref(&(*chunks)[i]);
    free((void *)*chunks);
    *chunks = NULL;
}

void rollback_forget(struct hub *hub)
{
    snapshot_drop(hub, &hub->back.chunks);
}

void rollback_judge(struct hub *hub, uint64_t version,
                    const struct input *chunks)
{
    struct rollback *good = &hub->back;

    if (!(hub->policy->numbers.rollback > 0) || !hub->config.evaluate ||
        good->wanted)
        return;
    if (good->chunks && is_bad(hub)) {
        hub->back.wanted = true;
        return;
    }
    if (!isfinite(hub->score))
        return;
    rollback_forget(hub);
    good->in_a_row = 0;
    good->chunks = snapshot_keep(hub, chunks);
    good->version = version;
    good->score = hub->score;
    good->accuracy = hub->accuracy;
    good->error = hub->error;
    memcpy(good->tasks, hub->back.scored, sizeof good->tasks);
}

enum status rollback_order(struct hub *hub, struct why *why)
{
    struct rollback *good = &hub->back;

    if (!hub->config.evaluate)
        return because(why, STATUS_CONFIG,
                       "no version is known to be good: start the hub with "
                       "--data, so that it has held-out data");
    if (!(hub->policy->numbers.rollback > 0))
        return because(why, STATUS_CONFIG,
                       "--rollback 0 keeps no version to go back to");
    if (!good->chunks)
        return because(why, STATUS_AGAIN, "no version has been scored yet");
    if (good->version == hub->version && !hub->merging)
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
    hub->back.turned = hub->version;
    rounds_discard(hub);
    EACH_MEMBER(hub, member) {
        member->trial = (struct trial){.score = NO_SCORE};
        if (!member_is_here(member) || member->finished ||
            hub->phase == PHASE_CLOSING || member->start != START_GO ||
            member->takes)
            continue;
        delivery_clear(&member->delivery);
        (void)snprintf(member->why, sizeof member->why, "rolled back");
        member_start(hub, member, START_TAKE);
    }
}

static void restore_centre(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->chunks; i++) {
        struct centre_chunk *chunk = &hub->centre[i];

        blob_unref(&chunk->theta);
        chunk->theta = blob_ref(hub->back.chunks[i]);
        for (unsigned j = 0; j < POLICY_PLANES; j++)
            blob_unref(&chunk->plane[j]);
        chunk->changed = ++chunk->version;
        shadow_drop(chunk, chunk->version);
    }
    hub->version++;
    if (hub->ledger.parts)
        (void)ledger_read(&hub->ledger, hub->back.tasks);
}

/* Whoever dies now must not go on from the bad one: it is saved, too. */
static void settle_scores(struct hub *hub)
{
    hub->score = hub->back.score;
    hub->accuracy = hub->back.accuracy;
    hub->error = hub->back.error;
    hub->back.version = hub->scored_version = hub->version;
    hub->back.wanted = hub->back.ordered = hub->want_evaluate = false;
    hub->want_save = hub->config.save != NULL;
}

void rollback_do(struct hub *hub)
{
    uint64_t bad = hub->version;
    char why[32] = "by order";

    if (!hub->back.ordered)
        (void)snprintf(why, sizeof why, "loss %.4g", hub->score);
    restore_centre(hub);
    hub->back.count++;
    hub->back.in_a_row += !hub->back.ordered;
    effects_note(hub->out, NOTE_ROLLED_BACK, "",
                 "%s at version %llu: version %llu is version %llu again, "
                 "loss %.4g",
                 why, (unsigned long long)bad,
                 (unsigned long long)hub->version,
                 (unsigned long long)hub->back.version, hub->back.score);
    settle_scores(hub);
    if (!centre_is_apart(hub))
        replace_all(hub);
}
