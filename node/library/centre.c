/* The run's centre as this node was last sent it, for the program: the
 * network's thread leaves references here, the program's copies what they hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "node/library/inside.h"

static void centre_clear(struct centre *centre)
{
    for (uint32_t i = 0; i < centre->chunks; i++)
        blob_unref(&centre->chunk[i].values);
    free(centre->chunk);
    *centre = (struct centre){0};
}

void link_free_centre(struct star_link *link)
{
    centre_clear(&link->centre);
}

/* ---- the network's thread ---- */

void link_note_centre(struct star_link *link)
{
    struct centre *centre = &link->centre;
    struct centre_chunk *fresh = NULL;
    struct node_chunk chunk;

    while (node_centre_next(link->node, &chunk)) {
        bool other =
            chunk.centre != centre->number || chunk.chunks != centre->chunks;

        if (other)
            fresh = need_memory(chunk.chunks, sizeof *fresh);
        (void)pthread_mutex_lock(&link->shell.lock);
        if (other) {
            centre_clear(centre);
            *centre = (struct centre){chunk.centre, chunk.chunks, 0, fresh};
        }
        centre->here += !centre->chunk[chunk.chunk].values;
        blob_unref(&centre->chunk[chunk.chunk].values);
        centre->chunk[chunk.chunk] =
            (struct centre_chunk){blob_ref(chunk.values), chunk.version};
        (void)pthread_mutex_unlock(&link->shell.lock);
    }
}

/* ---- the program's thread ---- */

static enum star_status say_missing(const struct star_link *link,
                                    const struct centre *centre, char *error,
                                    size_t size)
{
    const struct msg_local_tune *schedule =
        &link->training.agenda.pacer.schedule;

    if (!error || !size)
        return STAR_NOT_YET;
    if (centre->here)
        (void)snprintf(error, size,
                       "%u of %u parts of the run's parameters are here",
                       (unsigned)centre->here, (unsigned)centre->chunks);
    else if (!schedule->attached)
        (void)snprintf(error, size,
                       "no hub has sent this node the run's parameters yet");
    else
        (void)snprintf(
            error, size, "%s",
            schedule->exchange == EXCHANGE_PARAMETERS
                ? "the hub has sent this node no parameters of the run, but "
                  "perhaps other nodes': its policy decides"
                : "the hub has not sent this node the run's parameters yet");
    return STAR_NOT_YET;
}

/* References to what is there now, so that it can be copied without the
 * lock. */
static enum star_status take_all(struct star_link *link, struct centre *out,
                                 char *error, size_t size)
{
    const struct centre *centre = &link->centre;
    enum star_status status = STAR_OK;

    (void)pthread_mutex_lock(&link->shell.lock);
    if (!centre->chunks || centre->here < centre->chunks) {
        status = say_missing(link, centre, error, size);
    } else {
        out->chunk = calloc(centre->chunks, sizeof *out->chunk);
        if (!out->chunk)
            status = shell_failure(error, size, STATUS_NO_MEMORY,
                                   "not enough memory");
    }
    for (uint32_t i = 0; out->chunk && i < centre->chunks; i++) {
        out->chunk[i] = centre->chunk[i];
        (void)blob_ref(out->chunk[i].values);
        out->chunks++;
    }
    (void)pthread_mutex_unlock(&link->shell.lock);
    return status;
}

static void copy_all(const struct centre *centre, float *values,
                     struct star_versions *versions)
{
    versions->lowest = UINT64_MAX;
    for (uint32_t i = 0; i < centre->chunks; i++) {
        const struct centre_chunk *chunk = &centre->chunk[i];

        memcpy(values, chunk->values->bytes, chunk->values->size);
        values += chunk->values->size / sizeof *values;
        if (chunk->version < versions->lowest)
            versions->lowest = chunk->version;
        if (chunk->version > versions->highest)
            versions->highest = chunk->version;
    }
}

/* False: the program's struct has no size. */
static bool tell(const struct star_versions *found, struct star_versions *out)
{
    return !out || sized_write(out, found, sizeof *found) == STATUS_OK;
}

// NOLINTNEXTLINE(readability-function-size): two places for what it says
enum star_status star_centre(struct star_link *link, float *values,
                             size_t count, struct star_versions *versions,
                             char *error, size_t size)
{
    struct star_versions found = {0};
    struct centre centre = {0};
    enum star_status status;

    if (!link)
        return shell_failure(error, size, STATUS_USAGE, "there is no link");
    if (!values || count != link->schema->elements)
        return shell_failure(error, size, STATUS_USAGE,
                             "the tensors have another number of values");
    if (!tell(&found, versions))
        return shell_failure(error, size, STATUS_USAGE,
                             "the size of struct star_versions is not set");
    status = take_all(link, &centre, error, size);
    if (status == STAR_OK) {
        copy_all(&centre, values, &found);
        status = tell(&found, versions) ? STAR_OK : STAR_BAD_ARGUMENT;
    }
    centre_clear(&centre);
    return status;
}
