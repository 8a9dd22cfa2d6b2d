/* The last-sent copy: results as changes of what nodes hold (--codec-down).
 *
 * Parameters bear no lossy codec, changes do: what is left out of one is in the
 * next. So the hub keeps what it has sent, the last-sent copy, beside the
 * centre, and sends q = Q(theta - last_sent) to those who hold the last-sent
 * copy; they and the hub move it by what q decodes to. Theta never moves by
 * what the codec did: the rest of theta - last_sent, the residual, is in the
 * next q by itself, which is error feedback for the way down. Who does not hold
 * the last-sent copy, because it is new, was away or took no part in the last
 * round, is sent the last-sent copy as it is.
 *
 * Without such a codec values are sent as they are, but for two that a node
 * knows: what it was sent for a review, and the last-sent copy changed by what
 * it gave, where that alone made the round (the best of several). Reviews are
 * of the last-sent copy and what it would be with an update: who holds it is
 * sent the update as it came (hub/review.c).
 *
 * What a node holds is what was last queued for it, as long as neither its
 * connection nor its queue has changed since. A chunk's last-sent copy stays
 * the same over versions that do not send it (other fragments' rounds): those
 * from `since` on. */
#include <string.h>

#include "core/need.h"
#include "hub/state.h"

static bool is_kept(const struct hub *hub)
{
    return hub->config.codec_down != CODEC_RAW;
}

bool last_sent_follows(const struct hub *hub, const struct round *round,
                       uint32_t chunk)
{
    return is_kept(hub) && centre_is_founded(hub) && !round->empty &&
           fragment_holds(round->part, chunk);
}

struct blob *last_sent_of(const struct centre_chunk *centre)
{
    return centre->last_sent ? centre->last_sent : centre->theta;
}

void last_sent_drop(struct centre_chunk *centre, uint64_t version)
{
    blob_unref(&centre->last_sent);
    blob_unref(&centre->change);
    centre->before = centre->since;
    centre->since = version;
}

void last_sent_before_merge(struct hub *hub, const struct round *round,
                            uint32_t chunk)
{
    struct centre_chunk *centre = &hub->centre.chunk[chunk];

    if (!last_sent_follows(hub, round, chunk))
        last_sent_drop(centre, centre->version + 1);
    else if (!centre->last_sent)
        centre->last_sent = blob_ref(centre->theta);
}

void last_sent_start(struct hub *hub, const struct work *work, uint32_t chunk)
{
    struct centre_chunk *centre = &hub->centre.chunk[chunk];
    struct chunk_diff *diff =
        job_make(work, sizeof *diff, hub->pool, DIFF_INPUTS);
    struct job *job = &diff->job;

    job->in[DIFF_THETA].blob = blob_ref(centre->theta);
    job->in[DIFF_LAST_SENT].blob = blob_ref(last_sent_of(centre));
    job->in[DIFF_CHANGE].codec = hub->config.codec_down;
    job->extent = centre_extent(hub, chunk);
    diff->chunk = chunk;
    hub_job(hub, job);
}

/* Where there is no change everybody is sent values: theta itself. */
void last_sent_done(struct hub *hub, uint32_t chunk, const struct job *job)
{
    struct centre_chunk *centre = &hub->centre.chunk[chunk];

    last_sent_drop(centre, centre->version + 1);
    if (job->status != STATUS_OK)
        return;
    centre->last_sent = blob_ref(job->out[0]);
    centre->change = blob_ref(job->out[1]);
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

/* Whether that is what the change departs from. */
static bool holds_former(const struct centre_chunk *centre, uint64_t version)
{
    return version >= centre->before && version < centre->since;
}

struct blob *last_sent_next(const struct hub *hub, const struct member *member,
                            uint32_t chunk)
{
    const struct centre_chunk *centre = &hub->centre.chunk[chunk];
    const uint64_t *held = member->delivery.holds;

    return centre->change && held && holds_former(centre, held[chunk])
               ? centre->change
               : last_sent_of(centre);
}

/* Whether it may be left to know what values are. */
static bool is_spared(const struct member *member)
{
    return member->protocol >= PROTOCOL_SPARED;
}

bool last_sent_is(const struct hub *hub, const struct member *member,
                  uint32_t chunk, const struct blob *values)
{
    const struct centre_chunk *centre = &hub->centre.chunk[chunk];
    const uint64_t *held = member->delivery.holds;

    return is_spared(member) && values && values == last_sent_of(centre) &&
           held && held[chunk] != NO_VERSION && held[chunk] >= centre->since;
}

void last_sent_review(const struct hub *hub, struct member *member,
                      uint32_t chunk, const struct blob *values)
{
    struct delivery *delivery = &member->delivery;

    if (!delivery->tested)
        delivery->tested =
            need_memory(hub->centre.count, sizeof *delivery->tested);
    delivery->tested[chunk] = values->checksum;
}

/* What it was sent for a review; a result makes it forget that. */
static uint64_t take_tested(struct member *member, uint32_t chunk)
{
    uint64_t *tested = member->delivery.tested, checksum = 0;

    if (tested) {
        checksum = tested[chunk];
        tested[chunk] = 0;
    }
    return checksum;
}

/* Whether it alone has made the centre of what it gave, and still has that: of
 * what it gave on an earlier connection, or before it took another centre, it
 * has nothing left. */
static bool has_made(const struct centre_chunk *centre,
                     const struct member *member, const struct update *update,
                     uint32_t chunk)
{
    return centre->sole && update->merges && member->start == START_GO &&
           update->connection == member->session &&
           update->offer.exchange > member->forgotten &&
           update->chunks[chunk].state == CHUNK_DELIVERED;
}

void last_sent_shorten(struct hub *hub, struct member *member,
                       const struct update *answers, struct msg_result *result,
                       struct blob **payload)
{
    const struct centre_chunk *centre = &hub->centre.chunk[result->chunk];
    uint64_t *held = &holds(hub, member)[result->chunk], former = *held;
    uint64_t tested = take_tested(member, result->chunk);

    *held = NO_VERSION;
    if (*payload != last_sent_of(centre) ||
        !(is_kept(hub) || verb_is_kept((enum verb)result->verb)))
        return;
    if (centre->change && holds_former(centre, former)) {
        *payload = centre->change;
        result->codec = hub->config.codec_down;
        result->base = former;
        result->checksum = centre->change->checksum;
    } else if (answers && !is_kept(hub) && is_spared(member)) {
        bool made = has_made(centre, member, answers, result->chunk) &&
                    holds_former(centre, former);

        if (made)
            result->base = former;
        if (made || (tested && tested == result->checksum)) {
            member->told.spared += (*payload)->wire_bytes;
            *payload = NULL;
        }
    }
    *held = result->version;
}
