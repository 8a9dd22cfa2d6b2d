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
#define FOUNDER_PATIENCE (60 * SECOND)
#define AWAY_PATIENCE (10 * SECOND)
#define SAID_EVERY (60 * SECOND)

void gift_drop(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->centre.gift.count; i++)
        blob_unref(&hub->centre.gift.chunks[i]);
    free((void *)hub->centre.gift.chunks);
    free(hub->centre.gift.given);
    hub->centre.gift = (struct gift){0};
}

/* Whose it is: if that node comes back, it goes on with it. */
static void sign(struct gift *gift, const struct member *member,
                 enum start start)
{
    gift->start = start;
    gift->place = member->place;
    gift->incarnation = member->incarnation;
    gift->run = member->run;
    gift->lineage = member->lineage;
    gift->base_version = member->base_version;
}

void gift_ask(struct hub *hub, struct member *member, enum start start)
{
    struct gift *gift = &hub->centre.gift;

    assert(hub->centre.schema && member_is_here(member));
    gift_drop(hub);
    hub->memory.recovery.progress = hub->now;
    hub->centre.founder = member->place;
    sign(gift, member, start);
    gift->chunk_elements =
        start == START_GIVE ? member->keeps_chunk : hub->config.chunk_elements;
    gift->count = chunks_of(hub->centre.schema->elements, gift->chunk_elements);
    gift->credit.left = gift->count;
    gift->first_job = hub->next_job;
    gift->given = need_memory(gift->count, sizeof *gift->given);
    gift->chunks = need_memory(gift->count, sizeof(struct blob *));
    member->asked++;
    member_start(hub, member, start);
    flow_open(hub, member, 0, &hub->centre.gift.credit);
}

/* Who began it, here or away, as it was then; NULL: nobody can go on. */
static struct member *giver_of(const struct hub *hub)
{
    const struct gift *gift = &hub->centre.gift;
    struct member *member = gift->here && gift->start == START_FOUND
                                ? hub->roll.members[gift->place]
                                : NULL;

    return member && !member->mistrusted &&
                   member->incarnation == gift->incarnation &&
                   member->run == gift->run &&
                   member->lineage == gift->lineage &&
                   member->base_version == gift->base_version
               ? member
               : NULL;
}

/* It is back after a break: the chunks that are here it need not give again. */
static void gift_resume(struct hub *hub, struct member *member)
{
    struct gift *gift = &hub->centre.gift;

    hub->memory.recovery.progress = hub->now;
    hub->centre.founder = member->place;
    gift->resumed = true;
    gift->first_job = hub->next_job;
    gift->credit = (struct upload_credit){.left = gift->count - gift->here};
    member->asked++;
    member_start(hub, member, START_FOUND);
    for (uint32_t i = 0; i < gift->count; i++) {
        gift->given[i] = gift->chunks[i] != NULL;
        if (gift->given[i])
            verdict_send(hub, member, 0, i, 1, VERDICT_MERGED);
    }
    flow_open(hub, member, 0, &gift->credit);
}

void gift_again(struct hub *hub, struct member *member, uint64_t bytes)
{
    struct gift *gift = &hub->centre.gift;

    if (!gift->resumed || !flow_allows(hub, &gift->credit))
        return;
    gift->credit.bytes += (int64_t)bytes;
    gift->credit.came++;
    flow_return(hub, member, 0, &gift->credit, bytes);
}

void gift_forget(struct hub *hub, const struct member *member)
{
    if (hub->centre.gift.count && hub->centre.gift.place == member->place &&
        hub->run.phase != PHASE_RECOVERING)
        gift_drop(hub);
}

void gift_begins(struct hub *hub)
{
    hub->centre.gift.begun = true;
    hub->memory.recovery.progress = hub->now;
}

/* Nothing has come for longer than others wait for it. */
static bool is_overdue(const struct hub *hub)
{
    return hub->now - hub->memory.recovery.progress >= FOUNDER_PATIENCE;
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
static void choose_founder(struct hub *hub)
{
    struct member *giver, *first;

    if (centre_is_founded(hub) || tournament_goes_on(hub) ||
        hub->centre.founder >= 0 || hub->run.phase == PHASE_RECOVERING)
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
        gift_resume(hub, first);
    else
        gift_ask(hub, first, START_FOUND);
}

/* It goes on for long: what to do is said once a minute. */
static void say_slow(struct hub *hub)
{
    const struct gift *gift = &hub->centre.gift;

    if (!gift->count || hub->now - hub->centre.said < SAID_EVERY)
        return;
    hub->centre.said = hub->now;
    effects_note(hub->out, NOTE_BARREN, hub->roll.members[gift->place]->name,
                 "%u of %u chunks of its first parameters are here after "
                 "%.0f s: its link is slow or breaks. Let a node with a better "
                 "link join first, or start the hub with a smaller --chunk",
                 gift->here, gift->count,
                 (double)(hub->now - hub->centre.since) / (double)SECOND);
}

/* Where nobody else could give them, there is no hurry. */
static void pass_on(struct hub *hub)
{
    struct member *founder = hub->roll.members[hub->centre.founder];

    effects_note(hub->out, NOTE_SUSPECT, founder->name,
                 "was to give the first parameters, and none has come for "
                 "60 s: another node is asked");
    founder->mistrusted = true;
    member_start(hub, founder, START_HOLD);
    gift_drop(hub);
    hub->centre.founder = -1;
}

void gift_hurry(struct hub *hub)
{
    if (centre_is_founded(hub) || tournament_goes_on(hub) ||
        hub->run.phase == PHASE_RECOVERING)
        return;
    if (hub->centre.founder >= 0 && is_overdue(hub) &&
        first_of(hub, hub->centre.founder))
        pass_on(hub);
    hub->dirty |= DIRTY_PHASE;
    say_slow(hub);
}

/* The centre is there: tells everybody what to do with it. */
static void founded(struct hub *hub)
{
    struct member *founder = hub->roll.members[hub->centre.founder];

    for (uint32_t i = 0; i < hub->centre.count; i++)
        hub->centre.chunk[i].theta = blob_ref(hub->centre.gift.chunks[i]);
    gift_drop(hub);
    hub->centre.founding = FOUNDING_DONE;
    hub->centre.lineage = founder->lineage;
    effects_note(hub->out, NOTE_FOUNDED, founder->name,
                 "gave the first parameters: %llu in %u chunk%s",
                 (unsigned long long)hub->centre.schema->elements,
                 hub->centre.count, plural(hub->centre.count));
    EACH_HERE(hub, member)
        member_start(hub, member,
                     member->lineage == hub->centre.lineage ||
                             (centre_is_apart(hub) && member->lineage)
                         ? START_GO
                         : START_TAKE);
    hub->centre.founder = -1;
    keeping_begin(hub);
    hub->dirty |= DIRTY_ROUNDS;
}

void gift_settle(struct hub *hub)
{
    if (hub->run.phase != PHASE_RECOVERING && hub->centre.founder >= 0 &&
        hub->centre.gift.here == hub->centre.gift.count)
        founded(hub);
    choose_founder(hub);
}

static void gift_checked(void *machine, struct job *job)
{
    struct hub *hub = machine;
    const struct chunk_check *check = (struct chunk_check *)job;
    struct member *giver = hub->roll.members[check->member];

    if (hub->centre.founder != giver->place ||
        job->id < hub->centre.gift.first_job ||
        hub->centre.gift.chunks[check->chunk] ||
        giver->session != check->session)
        return;
    hub->dirty |= DIRTY_PHASE;
    if (hub->run.phase == PHASE_RECOVERING && job->status != STATUS_OK) {
        hub->centre.gift.spoiled = true;
        return;
    }
    if (job->status != STATUS_OK || job->in[0].codec != CODEC_RAW) {
        member_offends(hub, giver,
                       "its first parameters are damaged or not finite");
        return;
    }
    hub->centre.gift.chunks[check->chunk] = blob_ref(job->out[0]);
    flow_return(hub, giver, 0, &hub->centre.gift.credit,
                job->in[0].blob->wire_bytes);
    hub->centre.gift.here++;
}

static const struct work work_given = {"check", check_given, gift_checked};
static const struct work work_kept = {"kept", check_kept, gift_checked};

void gift_check(struct hub *hub, const struct member *member,
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
    check->job.extent = gift_extent(hub, chunk->chunk);
    hub_job(hub, &check->job);
}
