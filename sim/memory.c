/* What the hub saves and how it is scored: the works that a world lends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world_inside.h"

static void *room_for(size_t count, size_t size)
{
    void *room = calloc(count, size);

    if (!room)
        abort();
    return room;
}

/* The chunks from place `first` on as one vector; one that is not there has
 * not moved: zeros. */
static float *gather(const struct world *world, const struct job *job,
                     unsigned first)
{
    float *values = room_for(job->extent.elements, sizeof *values);
    size_t length = world->config.hub.chunk_elements;

    for (size_t at = 0; at < job->extent.elements; at += length, first++) {
        const struct blob *blob = job->in[first].blob;

        if (blob)
            memcpy(values + at, blob->bytes, blob->size);
    }
    return values;
}

static void replace(float **old, float *values)
{
    free(*old);
    *old = values;
}

static void remember(struct job *job)
{
    const struct save_job *save = (const struct save_job *)job;
    struct world *world = (struct world *)job->context;
    struct world_saved *saved = &world->saved;
    const struct blob *state = job->in[job->inputs - 1].blob;
    unsigned chunks =
        chunks_of(job->extent.elements, world->config.hub.chunk_elements);
    unsigned slots = save->slots;

    if (save->has_best) {
        replace(&saved->best, gather(world, job, (1 + slots) * chunks));
        saved->best_version = save->best_version;
    }
    saved->count++;
    saved->last = save->over;
    saved->version = save->version;
    saved->elements = job->extent.elements;
    replace(&saved->theta, gather(world, job, 0));
    for (unsigned i = 0; i < POLICY_SLOTS; i++) {
        replace(&saved->slot[i],
                i < slots ? gather(world, job, (1 + i) * chunks) : NULL);
    }
    free(saved->state);
    saved->state = room_for(state->size + 1, 1);
    memcpy(saved->state, state->bytes, state->size);
}

static void score(struct job *job)
{
    struct score_job *score = (struct score_job *)job;
    const struct world *world = job->context;
    const struct world_hooks *hooks = &world->config.hooks;
    float *theta = gather(world, job, 0);

    hooks->evaluate(hooks->context, theta, job->extent.elements, &score->loss,
                    &score->accuracy);
    free(theta);
}

const struct work work_remember = {"save", remember, NULL};
const struct work work_score = {"evaluate", score, NULL};

void memory_restore(struct world *world)
{
    struct world_saved *saved = &world->saved;
    struct hub_saved from = {.schema = (struct schema *)world->config.schema,
                             .theta = saved->theta,
                             .state = saved->state};
    struct why why = {""};

    for (unsigned i = 0; i < POLICY_SLOTS; i++)
        from.slot[i] = saved->slot[i];
    if (saved->count && hub_restore(world->hub, &from, &why) != STATUS_OK)
        (void)snprintf(world->broken, sizeof world->broken,
                       "the hub cannot go on from what it saved: %.200s",
                       why.text);
}

void memory_free(struct world_saved *saved)
{
    free(saved->theta);
    for (unsigned i = 0; i < POLICY_SLOTS; i++)
        free(saved->slot[i]);
    free(saved->best);
    free(saved->state);
    *saved = (struct world_saved){0};
}
