/* Parameters that a node gives: the first ones, or those that it keeps.
 *
 * What has come of the first ones is worth waiting for: on a link that is away
 * for some seconds now and then, or breaks, all of it would else never come. */
#include <assert.h>
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"

/* Who is to give the first parameters and sends none of them for so long is
 * passed over, though it is heard of: a chunk of 1 MiB takes as long at
 * 0.14 Mbit/s. */
#define SOURCE_PATIENCE (60 * SECOND)
#define AWAY_PATIENCE (10 * SECOND)
#define SAID_EVERY (60 * SECOND)

void state_transfer_drop(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->centre.transfer.count; i++)
        blob_unref(&hub->centre.transfer.chunks[i]);
    free((void *)hub->centre.transfer.chunks);
    free(hub->centre.transfer.given);
    hub->centre.transfer = (struct state_transfer){0};
}

/* Whose it is: if that node comes back, it goes on with it. */
static void sign(struct state_transfer *transfer, const struct member *member,
                 enum start start)
{
    transfer->start = start;
    transfer->place = member->place;
    transfer->incarnation = member->incarnation;
    transfer->run = member->run;
    transfer->lineage = member->lineage;
    transfer->base_version = member->base_version;
}

void state_transfer_ask(struct hub *hub, struct member *member,
                        enum start start)
{
    struct state_transfer *transfer = &hub->centre.transfer;

    assert(hub->centre.schema && member_is_here(member));
    state_transfer_drop(hub);
    hub->memory.recovery.progress = hub->now;
    hub->centre.state_source = member->place;
    sign(transfer, member, start);
    transfer->chunk_elements =
        start == START_GIVE ? member->keeps_chunk : hub->config.chunk_elements;
    transfer->count =
        chunks_of(hub->centre.schema->elements, transfer->chunk_elements);
    transfer->credit.left = transfer->count;
    transfer->first_job = hub->next_job;
    transfer->given = need_memory(transfer->count, sizeof *transfer->given);
    transfer->chunks = need_memory(transfer->count, sizeof(struct blob *));
    member->asked++;
    member_start(hub, member, start);
    flow_open(hub, member, 0, &hub->centre.transfer.credit);
}

/* Who began it, here or away, as it was then; NULL: nobody can go on. */
static struct member *giver_of(const struct hub *hub)
{
    const struct state_transfer *transfer = &hub->centre.transfer;
    struct member *member = transfer->here && transfer->start == START_FOUND
                                ? hub->roll.members[transfer->place]
                                : NULL;

    return member && !member->mistrusted &&
                   member->incarnation == transfer->incarnation &&
                   member->run == transfer->run &&
                   member->lineage == transfer->lineage &&
                   member->base_version == transfer->base_version
               ? member
               : NULL;
}

/* It is back after a break: the chunks that are here it need not give again. */
static void state_transfer_resume(struct hub *hub, struct member *member)
{
    struct state_transfer *transfer = &hub->centre.transfer;

    hub->memory.recovery.progress = hub->now;
    hub->centre.state_source = member->place;
    transfer->resumed = true;
    transfer->first_job = hub->next_job;
    transfer->credit =
        (struct upload_credit){.left = transfer->count - transfer->here};
    member->asked++;
    member_start(hub, member, START_FOUND);
    for (uint32_t i = 0; i < transfer->count; i++) {
        transfer->given[i] = transfer->chunks[i] != NULL;
        if (transfer->given[i])
            verdict_send(hub, member, 0, i, 1, VERDICT_MERGED);
    }
    flow_open(hub, member, 0, &transfer->credit);
}

void state_transfer_again(struct hub *hub, struct member *member,
                          uint64_t bytes)
{
    struct state_transfer *transfer = &hub->centre.transfer;

    if (!transfer->resumed || !flow_allows(hub, &transfer->credit))
        return;
    transfer->credit.bytes += (int64_t)bytes;
    transfer->credit.came++;
    flow_return(hub, member, 0, &transfer->credit, bytes);
}

void state_transfer_forget(struct hub *hub, const struct member *member)
{
    if (hub->centre.transfer.count &&
        hub->centre.transfer.place == member->place &&
        hub->run.phase != PHASE_RECOVERING)
        state_transfer_drop(hub);
}

void state_transfer_begins(struct hub *hub)
{
    hub->centre.transfer.begun = true;
    hub->memory.recovery.progress = hub->now;
}

/* Nothing has come for longer than others wait for it. */
static bool is_overdue(const struct hub *hub)
{
    return hub->now - hub->memory.recovery.progress >= SOURCE_PATIENCE;
}

/* Who has begun to give them, and is away, may be back at once. */
static bool is_back_soon(const struct hub *hub, const struct member *giver)
{
    return !is_overdue(hub) &&
           (!giver->lost || hub->now - giver->lost < AWAY_PATIENCE);
}

static bool may_found(const struct member *member)
{
    return member->state == MEMBER_HERE && member->bulk != PEER_NONE;
}

/* The first that has not been asked in vain; if that is nobody, the first. */
static struct member *first_of(const struct hub *hub, int except)
{
    struct member *first = NULL;

    for (int i = hub->roll.count - 1; i >= 0; i--) {
        struct member *member = hub->roll.members[i];

        if (i != except && may_found(member) &&
            (!first || first->mistrusted || !member->mistrusted))
            first = member;
    }
    return first;
}

/* Who has begun to give them has its turn, though it may be away. */
static void choose_source(struct hub *hub)
{
    struct member *giver, *first;

    if (centre_is_founded(hub) || tournament_goes_on(hub) ||
        hub->centre.state_source >= 0 || hub->run.phase == PHASE_RECOVERING)
        return;
    giver = giver_of(hub);
    first = giver && (may_found(giver) || is_back_soon(hub, giver))
                ? giver
                : first_of(hub, -1);
    if (!first || !may_found(first))
        return;
    if (!hub->centre.since)
        hub->centre.since = hub->centre.said = hub->now;
    if (first == giver)
        state_transfer_resume(hub, first);
    else
        state_transfer_ask(hub, first, START_FOUND);
}

/* It goes on for long: what to do is said once a minute. */
static void say_slow(struct hub *hub)
{
    const struct state_transfer *transfer = &hub->centre.transfer;

    if (!transfer->count || hub->now - hub->centre.said < SAID_EVERY)
        return;
    hub->centre.said = hub->now;
    effects_note(hub->out, NOTE_BARREN,
                 hub->roll.members[transfer->place]->name,
                 "%u of %u chunks of its first parameters are here after "
                 "%.0f s: its link is slow or breaks. Let a node with a better "
                 "link join first, or start the hub with a smaller --chunk",
                 transfer->here, transfer->count,
                 (double)(hub->now - hub->centre.since) / (double)SECOND);
}

/* Where nobody else could give them, there is no hurry. */
static void pass_on(struct hub *hub)
{
    struct member *source = hub->roll.members[hub->centre.state_source];

    effects_note(hub->out, NOTE_SUSPECT, source->name,
                 "was to give the first parameters, and none has come for "
                 "60 s: another node is asked");
    source->mistrusted = true;
    member_start(hub, source, START_HOLD);
    state_transfer_drop(hub);
    hub->centre.state_source = -1;
}

void state_transfer_hurry(struct hub *hub)
{
    if (centre_is_founded(hub) || tournament_goes_on(hub) ||
        hub->run.phase == PHASE_RECOVERING)
        return;
    if (hub->centre.state_source >= 0 && is_overdue(hub) &&
        first_of(hub, hub->centre.state_source))
        pass_on(hub);
    hub->dirty |= DIRTY_PHASE;
    say_slow(hub);
}

/* The centre is there: tells everybody what to do with it. */
static void founded(struct hub *hub)
{
    struct member *source = hub->roll.members[hub->centre.state_source];

    for (uint32_t i = 0; i < hub->centre.count; i++)
        hub->centre.chunk[i].theta = blob_ref(hub->centre.transfer.chunks[i]);
    state_transfer_drop(hub);
    hub->centre.founding = FOUNDING_DONE;
    hub->centre.lineage = source->lineage;
    effects_note(hub->out, NOTE_FOUNDED, source->name,
                 "gave the first parameters: %llu in %u chunk%s",
                 (unsigned long long)hub->centre.schema->elements,
                 hub->centre.count, plural(hub->centre.count));
    EACH_HERE(hub, member)
        member_start(hub, member,
                     member->lineage == hub->centre.lineage ||
                             (centre_is_apart(hub) && member->lineage)
                         ? START_GO
                         : START_TAKE);
    hub->centre.state_source = -1;
    keeping_begin(hub);
    hub->dirty |= DIRTY_ROUNDS;
}

void state_transfer_settle(struct hub *hub)
{
    if (hub->run.phase != PHASE_RECOVERING && hub->centre.state_source >= 0 &&
        hub->centre.transfer.here == hub->centre.transfer.count)
        founded(hub);
    choose_source(hub);
}

static void state_transfer_checked(void *machine, struct job *job)
{
    struct hub *hub = machine;
    const struct chunk_check *check = (struct chunk_check *)job;
    struct member *giver = hub->roll.members[check->member];

    if (hub->centre.state_source != giver->place ||
        job->id < hub->centre.transfer.first_job ||
        hub->centre.transfer.chunks[check->chunk] ||
        giver->session != check->session)
        return;
    hub->dirty |= DIRTY_PHASE;
    if (hub->run.phase == PHASE_RECOVERING && job->status != STATUS_OK) {
        hub->centre.transfer.spoiled = true;
        return;
    }
    if (job->status != STATUS_OK || job->in[0].codec != CODEC_RAW) {
        member_offends(hub, giver,
                       "its first parameters are damaged or not finite");
        return;
    }
    hub->centre.transfer.chunks[check->chunk] = blob_ref(job->out[0]);
    flow_return(hub, giver, 0, &hub->centre.transfer.credit,
                job->in[0].blob->wire_bytes);
    hub->centre.transfer.here++;
}

static const struct work work_given = {"check", check_given,
                                       state_transfer_checked};
static const struct work work_kept = {"kept", check_kept,
                                      state_transfer_checked};

void state_transfer_check(struct hub *hub, const struct member *member,
                          const struct msg_chunk *chunk, struct blob *payload)
{
    bool kept = hub->run.phase == PHASE_RECOVERING;
    struct chunk_check *check =
        check_make(kept ? &work_kept : &work_given, hub->pool, kept ? 2 : 1,
                   chunk, payload);

    if (kept)
        check->job.in[1].blob = blob_ref(hub->memory.recovery.manifest);
    check->member = member->place;
    check->session = member->session;
    check->job.extent = state_transfer_extent(hub, chunk->chunk);
    hub_job(hub, &check->job);
}
