/* A chunk is gathered from the contributors: each one is checked. */
#include "core/prng.h"
#include "hub/state.h"
#include "hub/work.h"

/* By which a squared norm may be larger than announced. */
#define NORM_SPARE 1.2
#define NORM_GRAIN 1e-30

static const char too_many[] = "is more than the model has";

/* A chunk that the node had no right to send. */
static void offend(struct hub *hub, struct member *member,
                   const struct msg_chunk *chunk, const char *what)
{
    member_offends(hub, member, "chunk %u of exchange %llu %s", chunk->chunk,
                   (unsigned long long)chunk->exchange, what);
}

/* Weights follow the announced norm, so that it must hold. It is that of what
 * is sent, as it is decoded here. */
static bool is_too_large(const struct update *update)
{
    double norm = update->offer.norm;

    return update->squares > NORM_SPARE * norm * norm + NORM_GRAIN;
}

/* What is wrong with a chunk; MERGED: nothing. Nodes encode as WELCOME said, or
 * not at all. All that has come of the exchange counts, so that what is merged
 * of it is never larger than announced, however few of its chunks are. */
static enum verdict fault_of(const struct hub *hub, struct update *update,
                             const struct chunk_check *check)
{
    enum codec_id codec = check->job.in[0].codec;

    if (check->job.status != STATUS_OK)
        return check->job.status == STATUS_CONFIG ? VERDICT_NONFINITE
                                                  : VERDICT_CORRUPT;
    if (codec != CODEC_RAW && codec != hub->config.codec_up)
        return VERDICT_CORRUPT;
    update->squares += check->squares;
    if (update->sketch)
        sketch_merge(update->sketch, &check->sketch);
    return is_too_large(update) ? VERDICT_NORM : VERDICT_MERGED;
}

/* The member may be cut or in quarantine afterwards. */
static void judge_sender(struct hub *hub, struct update *update,
                         const struct job *job, enum verdict fault)
{
    bool damaged = job->status == STATUS_AGAIN;

    if (!damaged && fault != VERDICT_MERGED)
        quarantine_bad(hub, update);
    quarantine_damaged(hub, hub->roll.members[update->member], damaged);
}

static void checked(void *machine, struct job *job)
{
    struct hub *hub = machine;
    const struct chunk_check *check = (struct chunk_check *)job;
    struct update *update = update_find(hub, check->member, check->exchange);
    struct update_chunk *place;
    enum verdict fault;

    if (!update || update->connection != check->session)
        return;
    place = &update->chunks[check->chunk];
    if (place->state != CHUNK_CHECKING)
        return;
    update->delivered++;
    fault = fault_of(hub, update, check);
    if (fault == VERDICT_MERGED) {
        chunk_here(hub, update, check->chunk);
        place->state = CHUNK_DELIVERED;
        place->payload = blob_ref(job->in[0].blob);
    } else {
        update_close(hub, update, check->chunk, fault);
    }
    if (update->delivered >= hub->centre.count) {
        waits_delivered(hub, update);
        traffic_uploaded(hub, update);
        waits_skip(hub, update->round);
        hub->dirty |= DIRTY_ROUNDS;
    }
    judge_sender(hub, update, job, fault);
}

static const struct work work_check = {"check", check_chunk, checked};

static void check_start(struct hub *hub, const struct member *member,
                        const struct update *update,
                        const struct msg_chunk *chunk, struct blob *payload)
{
    struct chunk_check *check =
        check_make(&work_check, hub->pool, 1, chunk, payload);

    check->member = member->place;
    check->session = member->session;
    check->sketched = update->sketch ? prng_mix(hub->config.seed) | 1 : 0;
    check->job.extent = centre_extent(hub, chunk->chunk);
    hub_job(hub, &check->job);
}

/* A chunk of the first parameters, or of those that a node has kept. One that
 * is asked again may have sent some on the credit that it had the first time:
 * what is too much of that comes once more. */
static void give_with(struct hub *hub, int member,
                      const struct msg_chunk *chunk, struct blob *payload)
{
    struct state_transfer *transfer = &hub->centre.transfer;

    if (hub->centre.state_source != member ||
        (hub->run.phase == PHASE_RECOVERING && !hub->memory.recovery.manifest))
        return;
    if (chunk->chunk >= transfer->count) {
        offend(hub, hub->roll.members[member], chunk, too_many);
        return;
    }
    if (transfer->given[chunk->chunk]) {
        state_transfer_again(hub, hub->roll.members[member],
                             payload->wire_bytes);
        return;
    }
    if (!flow_allows(hub, &transfer->credit)) {
        if (hub->roll.members[member]->asked < 2)
            offend(hub, hub->roll.members[member], chunk,
                   "came without credit");
        return;
    }
    transfer->given[chunk->chunk] = true;
    state_transfer_begins(hub);
    flow_came(hub, hub->roll.members[member], &transfer->credit,
              payload->wire_bytes);
    flow_stir(hub);
    state_transfer_check(hub, hub->roll.members[member], chunk, payload);
}

/* A chunk that does not come: it is merged without this one. */
static void give_up(struct hub *hub, struct update *update, uint32_t chunk)
{
    if (update->chunks[chunk].state != CHUNK_EXPECTED)
        return;
    update_close(hub, update, chunk, VERDICT_EXPIRED);
    update->delivered++;
    update->credit.left -= update->credit.left > 0;
}

/* Who has used up its credit gets more when what has come is merged, which
 * waits for what others have left out, as theirs waits for what it has: nobody
 * waits for what has been overtaken. */
static void close_gaps(struct hub *hub, struct update *update)
{
    const struct upload_credit *credit = &update->credit;

    if (credit->prompt || credit->all_at_once || credit->given > credit->bytes)
        return;
    for (; update->whole < update->reach; update->whole++)
        give_up(hub, update, update->whole);
}

void hub_on_chunk(struct hub *hub, const struct incoming *in)
{
    struct member *member = in->member;
    const struct msg_chunk *chunk = &in->msg->chunk;
    struct update *update;

    member->here.up_bytes += in->payload->wire_bytes;
    member->arrival = (struct arrival){0};
    if (chunk->exchange == 0) {
        give_with(hub, in->member->place, chunk, in->payload);
        return;
    }
    if (chunk->chunk >= hub->centre.count) {
        offend(hub, member, chunk, too_many);
        return;
    }
    update = update_find(hub, in->member->place, chunk->exchange);
    if (!update || !update->granted ||
        update->chunks[chunk->chunk].state != CHUNK_EXPECTED)
        return;
    if (!flow_allows(hub, &update->credit)) {
        offend(hub, member, chunk, "came without credit");
        return;
    }
    update->chunks[chunk->chunk].state = CHUNK_CHECKING;
    update->chunks[chunk->chunk].codec = chunk->codec;
    update->chunks[chunk->chunk].bytes = in->payload->wire_bytes;
    update->progress = hub->now;
    flow_came(hub, in->member, &update->credit, in->payload->wire_bytes);
    if (update->reach <= chunk->chunk)
        update->reach = chunk->chunk + 1;
    close_gaps(hub, update);
    flow_stir(hub);
    if (update->credit.prompt)
        flow_return(hub, member, chunk->exchange, &update->credit,
                    in->payload->wire_bytes);
    check_start(hub, member, update, chunk, in->payload);
}

void hub_on_close(struct hub *hub, const struct incoming *in)
{
    const struct msg_close *close = &in->msg->close;
    struct update *update =
        update_find(hub, in->member->place, close->exchange);

    if (!close->exchange)
        delivery_claimed(in->member, close);
    if (!update || !update->granted)
        return;
    for (uint32_t i = close->first;
         i < hub->centre.count && i - close->first < close->chunks; i++)
        give_up(hub, update, i);
    hub->dirty |= DIRTY_ROUNDS;
}
