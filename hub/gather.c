/* A chunk is gathered from the contributors: each one is checked. */
#include "hub/state.h"
#include "hub/work.h"

/* By which a squared norm may be larger than announced. */
#define NORM_SPARE 1.2
#define NORM_GRAIN 1e-30

static const char too_many[] = "is more than the model has";

/* What a node has kept is checked against its manifest, too. */
static void check_start(struct hub *hub, int member,
                        const struct msg_chunk *chunk, struct blob *payload)
{
    bool kept = !chunk->exchange && hub->recovery.on;
    struct job *job = job_new(kept ? &work_kept : &work_check, hub->pool,
                              kept ? 2 : 1);

    if (kept)
        job->in[1].blob = blob_ref(hub->recovery.manifest);
    job->in[0] = (struct input){blob_ref(payload), 1, chunk->codec};
    job->extent = chunk->exchange ? centre_extent(hub, chunk->chunk)
                                  : gift_extent(hub, chunk->chunk);
    job->tag[0] = chunk->exchange;
    job->tag[1] = (uint64_t)chunk->chunk << 16 | (uint64_t)member;
    job->tag[2] = chunk->checksum;
    job->tag[3] = hub->members[member]->session;
    hub_job(hub, job);
}

/* A chunk that the node had no right to send. */
static void offend(struct hub *hub, struct member *member,
                   const struct msg_chunk *chunk, const char *what)
{
    member_offends(hub, member, "chunk %u of exchange %llu %s", chunk->chunk,
                   (unsigned long long)chunk->exchange, what);
}

/* A chunk of the first parameters, or of those that a node has kept. One that
 * is asked again may have sent some on the credit that it had the first time:
 * what is too much of that comes once more. */
static void give_with(struct hub *hub, int member,
                      const struct msg_chunk *chunk, struct blob *payload)
{
    struct gift *gift = &hub->gift;

    if (hub->founder != member ||
        (hub->recovery.on && !hub->recovery.manifest))
        return;
    if (chunk->chunk >= gift->count) {
        offend(hub, hub->members[member], chunk, too_many);
        return;
    }
    if (gift->given[chunk->chunk]) {
        gift_again(hub, hub->members[member], payload->wire_bytes);
        return;
    }
    if (!flow_allows(hub, &gift->loan)) {
        if (hub->members[member]->asked < 2)
            offend(hub, hub->members[member], chunk, "came without credit");
        return;
    }
    gift->given[chunk->chunk] = true;
    gift_begins(hub);
    flow_came(&gift->loan, payload->wire_bytes);
    flow_stir(hub);
    check_start(hub, member, chunk, payload);
}

void hub_on_chunk(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload)
{
    struct member *member = hub_member(hub, peer);
    const struct msg_chunk *chunk = &msg->chunk;
    struct contribution *contribution;

    member->up_bytes += payload->wire_bytes;
    member->arrival = (struct arrival){0};
    if (chunk->exchange == 0) {
        give_with(hub, peer->member, chunk, payload);
        return;
    }
    if (chunk->chunk >= hub->chunks) {
        offend(hub, member, chunk, too_many);
        return;
    }
    contribution = contribution_find(hub, peer->member, chunk->exchange);
    if (!contribution || !contribution->granted ||
        contribution->chunks[chunk->chunk].state != CHUNK_EXPECTED)
        return;
    if (!flow_allows(hub, &contribution->loan)) {
        offend(hub, member, chunk, "came without credit");
        return;
    }
    contribution->chunks[chunk->chunk].state = CHUNK_CHECKING;
    contribution->chunks[chunk->chunk].codec = chunk->codec;
    contribution->chunks[chunk->chunk].bytes = payload->wire_bytes;
    contribution->progress = hub->now;
    flow_came(&contribution->loan, payload->wire_bytes);
    flow_stir(hub);
    if (contribution->loan.prompt)
        flow_return(hub, member, chunk->exchange, &contribution->loan,
                    payload->wire_bytes);
    check_start(hub, peer->member, chunk, payload);
}

void hub_on_close(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload)
{
    const struct msg_close *close = &msg->close;
    struct contribution *contribution =
        contribution_find(hub, peer->member, close->exchange);

    (void)payload;
    if (!close->exchange)
        delivery_claimed(hub_member(hub, peer), close);
    if (!contribution || !contribution->granted)
        return;
    for (uint32_t i = close->first;
         i < hub->chunks && i - close->first < close->chunks; i++) {
        if (contribution->chunks[i].state != CHUNK_EXPECTED)
            continue;
        contribution_close(hub, contribution, i, VERDICT_EXPIRED);
        contribution->delivered++;
        contribution->loan.left -= contribution->loan.left > 0;
    }
    rounds_settle(hub);
    merge_try_all(hub);
}

/* Weights follow the announced norm, so that it must hold. It is that of what
 * is sent, as it is decoded here. */
static bool is_too_large(const struct contribution *contribution)
{
    double norm = contribution->offer.norm;

    return contribution->squares > NORM_SPARE * norm * norm + NORM_GRAIN;
}

/* What is wrong with a chunk; MERGED: nothing. Nodes encode as WELCOME said, or
 * not at all. All that has come of the exchange counts, so that what is merged
 * of it is never larger than announced, however few of its chunks are. */
static enum verdict fault_of(const struct hub *hub,
                             struct contribution *contribution,
                             const struct job *job)
{
    enum codec_id codec = job->in[0].codec;

    if (job->status != STATUS_OK)
        return job->status == STATUS_CONFIG ? VERDICT_NONFINITE
                                            : VERDICT_CORRUPT;
    if (codec != CODEC_RAW && codec != hub->config.codec_up)
        return VERDICT_CORRUPT;
    contribution->squares += job->number[0];
    return is_too_large(contribution) ? VERDICT_NORM : VERDICT_MERGED;
}

/* The member may be cut or in quarantine afterwards. */
static void judge_sender(struct hub *hub, struct contribution *contribution,
                         const struct job *job, enum verdict fault)
{
    bool damaged = job->status == STATUS_AGAIN;

    if (!damaged && fault != VERDICT_MERGED)
        quarantine_bad(hub, contribution);
    quarantine_damaged(hub, hub->members[contribution->member], damaged);
}

void gather_checked(struct hub *hub, struct job *job)
{
    int member = (int)(job->tag[1] & 0xffff);
    uint32_t chunk = (uint32_t)(job->tag[1] >> 16);
    struct contribution *contribution;
    struct contribution_chunk *place;
    enum verdict fault;

    if (job->tag[0] == 0) {
        gift_checked(hub, job);
        return;
    }
    contribution = contribution_find(hub, member, job->tag[0]);
    if (!contribution || contribution->connection != job->tag[3])
        return;
    place = &contribution->chunks[chunk];
    if (place->state != CHUNK_CHECKING)
        return;
    contribution->delivered++;
    fault = fault_of(hub, contribution, job);
    if (fault == VERDICT_MERGED) {
        chunk_here(hub, contribution, chunk);
        place->state = CHUNK_DELIVERED;
        place->payload = blob_ref(job->in[0].blob);
    } else {
        contribution_close(hub, contribution, chunk, fault);
    }
    if (contribution->delivered >= hub->chunks) {
        waits_delivered(hub, contribution);
        waits_skip(hub, contribution->round);
        rounds_settle(hub);
        merge_try_all(hub);
    }
    judge_sender(hub, contribution, job, fault);
    merge_try(hub, chunk);
}

