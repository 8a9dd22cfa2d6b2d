/* The shadow: results as changes of what nodes hold (--codec-down).
 *
 * Parameters bear no lossy codec, changes do: what is left out of one is in the
 * next. So the hub keeps what it has sent, the shadow, beside the centre, and
 * sends q = Q(theta - shadow) to those who hold the shadow; they and the hub
 * move it by what q decodes to. Theta never moves by what the codec did: the
 * rest of theta - shadow, the residual, is in the next q by itself, which is
 * error feedback for the way down. Who does not hold the shadow, because it is
 * new, was away or took no part in the last round, is sent the shadow as it is.
 *
 * What a node holds is what was last queued for it, as long as neither its
 * connection nor its queue has changed since. A chunk's shadow stays the same
 * over versions that do not send it (other fragments' rounds): those from
 * `since` on. */
#include <string.h>

#include "core/need.h"
#include "hub/state.h"

static bool is_kept(const struct hub *hub)
{
    return hub->config.codec_down != CODEC_RAW;
}

bool shadow_follows(const struct hub *hub, const struct round *round,
                    uint32_t chunk)
{
    return is_kept(hub) && centre_is_founded(hub) && !round->empty &&
           fragment_holds(round->part, chunk);
}

struct blob *shadow_of(const struct centre_chunk *centre)
{
    return centre->shadow ? centre->shadow : centre->theta;
}

void shadow_drop(struct centre_chunk *centre, uint64_t version)
{
    blob_unref(&centre->shadow);
    blob_unref(&centre->change);
    centre->since = version;
}

void shadow_keep(struct hub *hub, const struct round *round, uint32_t chunk)
{
    struct centre_chunk *centre = &hub->centre.chunk[chunk];

    if (!shadow_follows(hub, round, chunk))
        shadow_drop(centre, centre->version + 1);
    else if (!centre->shadow)
        centre->shadow = blob_ref(centre->theta);
}

void shadow_start(struct hub *hub, const struct work *work, uint32_t chunk)
{
    struct centre_chunk *centre = &hub->centre.chunk[chunk];
    struct chunk_shade *shade =
        job_make(work, sizeof *shade, hub->pool, SHADE_INPUTS);
    struct job *job = &shade->job;

    job->in[SHADE_THETA].blob = blob_ref(centre->theta);
    job->in[SHADE_SHADOW].blob = blob_ref(shadow_of(centre));
    job->in[SHADE_CHANGE].codec = hub->config.codec_down;
    job->extent = centre_extent(hub, chunk);
    shade->chunk = chunk;
    hub_job(hub, job);
}

/* Where there is no change everybody is sent values: theta itself. */
void shadow_done(struct hub *hub, uint32_t chunk, const struct job *job)
{
    struct centre_chunk *centre = &hub->centre.chunk[chunk];
    uint64_t before = centre->since;

    shadow_drop(centre, centre->version + 1);
    if (job->status != STATUS_OK)
        return;
    centre->shadow = blob_ref(job->out[0]);
    centre->change = blob_ref(job->out[1]);
    centre->before = before;
}

static uint64_t *holds(const struct hub *hub, struct member *member)
{
    struct delivery *delivery = &member->delivery;
    size_t bytes = hub->centre.count * sizeof *delivery->holds;

    if (delivery->holds)
        return delivery->holds;
    delivery->holds = need_memory(1, bytes);
    memset(delivery->holds, 0xff, bytes);
    return delivery->holds;
}

struct blob *shadow_next(const struct hub *hub, const struct member *member,
                         uint32_t chunk)
{
    const struct centre_chunk *centre = &hub->centre.chunk[chunk];
    const uint64_t *held = member->delivery.holds;

    return centre->change && held && held[chunk] >= centre->before &&
                   held[chunk] < centre->since
               ? centre->change
               : shadow_of(centre);
}

void shadow_shorten(struct hub *hub, struct member *member,
                    struct msg_result *result, struct blob **payload)
{
    const struct centre_chunk *centre = &hub->centre.chunk[result->chunk];
    uint64_t *held;

    if (!is_kept(hub))
        return;
    held = &holds(hub, member)[result->chunk];
    if (*payload != shadow_of(centre)) {
        *held = NO_VERSION;
        return;
    }
    *payload = shadow_next(hub, member, result->chunk);
    if (*payload == centre->change) {
        result->codec = hub->config.codec_down;
        result->base = *held;
        result->checksum = centre->change->checksum;
    }
    *held = result->version;
}
