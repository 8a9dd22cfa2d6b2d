/* A chunk that is gathered (gather.c) is merged and released. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"
#include "hub/work.h"

#define FADE 0.1
#define SHARED 1.01 /* nodes, at least, once there were several */

/* The sums are taken in the order of the contributors, which is fixed when the
 * round closes, so the result does not depend on who delivers first. */

/* By how much the member applies a result: with --dylu by k and d of its own.
 */
static double weight_of(const struct hub *hub, const struct round *round,
                        const struct member *member)
{
    const struct policy *policy = round->policy;
    bool own = hub->config.dylu && member->every;
    double delay = own ? (double)member->delay / (double)member->every
                       : (double)hub->adapt.delay / (double)hub->adapt.every;

    return policy->merge->weight
               ? policy->merge->weight(&policy->numbers, round->live, delay)
               : 1;
}

/* What the contributor at `place` is sent of a chunk: the centre,
 * another one's parameters, or nothing (false). */
static bool answer(struct hub *hub, const struct round *round, unsigned place,
                   uint32_t chunk, struct msg_result *result,
                   struct blob **payload)
{
    const struct merge_rule *merge = round->policy->merge;
    const struct centre_chunk *centre = &hub->centre.chunk[chunk];
    int donor = round->list[place]->donor;
    const struct update_chunk *given =
        donor >= 0 ? &round->list[donor]->chunks[chunk] : NULL;

    if (round->empty || donor == RECEIVE_NOTHING ||
        (given && given->state != CHUNK_DELIVERED))
        return false;
    result->verb =
        round->policy->exchange == EXCHANGE_GRADIENT ? VERB_PULL : merge->verb;
    result->lineage =
        given ? round->list[donor]->offer.lineage : hub->centre.lineage;
    result->codec = given ? given->codec : CODEC_RAW;
    *payload = given                    ? given->payload
               : centre->previous_theta ? centre->previous_theta
                                        : last_sent_of(centre);
    result->checksum = (*payload)->checksum;
    return true;
}

/* Sends the chunk to all contributors that are still here and are to get it;
 * who gets nothing of any chunk is told when the round is over. */
static void release(struct hub *hub, struct round *round, uint32_t chunk)
{
    for (unsigned i = 0; i < round->count; i++) {
        struct update *update = round->list[i];
        struct member *member = update_member(hub, update);
        struct msg_result result = {.chunk = chunk};
        struct blob *payload;

        if (!member || !fragment_holds(update->part, chunk))
            continue;
        result.exchange = update->offer.exchange;
        result.version = result.base = hub->centre.chunk[chunk].version;
        result.verdict = update_verdict(update, chunk);
        if (!update->passed_over &&
            answer(hub, round, i, chunk, &result, &payload)) {
            result.weight = weight_of(hub, round, member);
            last_sent_shorten(hub, member, update, &result, &payload);
            delivery_add(hub, update, &result, payload);
            update->answered++;
        }
        if (update->chunks[chunk].bytes && !update->credit.prompt)
            flow_return(hub, member, result.exchange, &update->credit,
                        update->chunks[chunk].bytes);
    }
    EACH_OFFER(round, one)
        if (one->chunks[chunk].state == CHUNK_DELIVERED)
            update_close(hub, one, chunk, update_verdict(one, chunk));
    blob_unref(&hub->centre.chunk[chunk].previous_theta);
    blob_unref(&hub->centre.chunk[chunk].change);
    hub->centre.chunk[chunk].sole = false;
}

static void chunk_finished(struct hub *hub, struct round *round, uint32_t chunk)
{
    hub->centre.chunk[chunk].version += !round->empty;
    if (!round->empty && fragment_holds(round->part, chunk))
        hub->centre.chunk[chunk].changed = hub->centre.chunk[chunk].version;
    chunk_done(hub, round, chunk);
    release(hub, round, chunk);
}

/* Its job has ended: the round that it was for. */
static struct round *chunk_is_free(struct hub *hub, uint32_t chunk)
{
    struct centre_chunk *centre = &hub->centre.chunk[chunk];
    struct round *round = centre->round;

    centre->busy = false;
    centre->round = NULL;
    if (centre->ready)
        bitset_set(&hub->centre.ready, (int)chunk, true);
    hub->dirty |= DIRTY_CENTRE | DIRTY_MEMORY;
    return round;
}

static void diffed(void *machine, struct job *job)
{
    struct hub *hub = machine;
    uint32_t chunk = ((struct chunk_diff *)job)->chunk;
    struct round *round = chunk_is_free(hub, chunk);

    last_sent_done(hub, chunk, job);
    chunk_finished(hub, round, chunk);
}

static const struct work work_diff = {"diff", diff_chunk, diffed};

/* The centre is where the round leaves it; what nodes hold follows it. */
static void chunk_merged(struct hub *hub, struct round *round, uint32_t chunk)
{
    if (!last_sent_follows(hub, round, chunk)) {
        chunk_finished(hub, round, chunk);
        return;
    }
    hub->centre.chunk[chunk].busy = true;
    hub->centre.chunk[chunk].round = round;
    last_sent_start(hub, &work_diff, chunk);
}

static void merged(void *machine, struct job *job)
{
    struct hub *hub = machine;
    uint32_t chunk = ((struct chunk_merge *)job)->chunk;
    struct centre_chunk *centre = &hub->centre.chunk[chunk];
    struct round *round = chunk_is_free(hub, chunk);

    if (job->status == STATUS_OK) {
        if (round->policy->merge->sends_previous)
            centre->previous_theta = blob_ref(centre->theta);
        last_sent_before_merge(hub, round, chunk);
        blob_unref(&centre->theta);
        centre->theta = blob_ref(job->out[0]);
        centre->sole = ((struct chunk_merge *)job)->sole;
        for (unsigned i = 0; i < POLICY_SLOTS && job->out[1 + i]; i++) {
            blob_unref(&centre->slot[i]);
            centre->slot[i] = blob_ref(job->out[1 + i]);
        }
    } else {
        EACH_OFFER(round, one)
            update_close(hub, one, chunk, VERDICT_LOST);
        effects_note(hub->out, NOTE_NO_MEMORY, "", "a merge failed: %s",
                     status_words(job->status));
    }
    chunk_merged(hub, round, chunk);
}

const struct work work_merge = {"merge", merge_chunk, merged};

/* The updates that have delivered this chunk, with their shares. */
struct delivered {
    unsigned count;
    struct update_chunk **place;
    struct candidate *list;
    double *share, *means, divisor;
};

static struct delivered delivered_new(const struct round *round)
{
    struct delivered new = {
        .place = need_memory(round->count, sizeof(struct update_chunk *)),
        .list = need_memory(round->count, sizeof *new.list),
        .share = need_memory(round->count, sizeof *new.share),
        .means = need_memory(round->count, sizeof *new.means)};

    return new;
}

/* What a node has under way when nothing is late: d / k offers, and what it has
 * done since. */
static unsigned rounds_in_flight(const struct hub *hub)
{
    uint64_t every = hub->adapt.every ? hub->adapt.every : 1;
    uint64_t delay = hub->adapt.delay;
    uint64_t hidden = delay / every + (delay % every != 0);

    return hidden < MAX_OFFERS ? 1 + (unsigned)hidden : MAX_OFFERS;
}

/* The policy wants nothing of it, now or later. */
static bool is_passed_over(const struct update *update, uint32_t chunk)
{
    enum verdict verdict = update_verdict(update, chunk);

    return verdict == VERDICT_DECLINED || verdict == VERDICT_REFUTED;
}

static void deliver(struct hub *hub, struct round *round, uint32_t chunk,
                    struct delivered *out)
{
    struct policy_context context = hub_policy_context(hub, round->live);

    context.usual_norm = round->usual_norm;
    EACH_OFFER(round, update) {
        context.present += is_passed_over(update, chunk);
        if (!update->merges || update->chunks[chunk].state != CHUNK_DELIVERED)
            continue;
        out->place[out->count] = &update->chunks[chunk];
        out->list[out->count++] = update->candidate;
    }
    context.last = round->last ? rounds_in_flight(hub) : 0;
    context.present += out->count;
    policy_shares(round->policy, out->list, out->count, &context, out->share,
                  &out->divisor);
    if (hub->centre.schema->statistics.count)
        policy_means(round->policy, out->list, out->count, &context,
                     out->means);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): delivered_free frees them
}

static void delivered_free(struct delivered *delivered)
{
    free((void *)delivered->place);
    free(delivered->list);
    free(delivered->share);
    free(delivered->means);
}

/* Momentum is the mean of what the nodes of former rounds go on with. Where
 * fewer go on than those, the part of the others ends: one node's progress is
 * too noisy to be carried as far as that of all. */
static double lost_share(const struct round *round,
                         const struct centre_chunk *centre)
{
    return round->live < centre->live ? 1 - (double)round->live / centre->live
                                      : 0;
}

/* Nodes that leave count on, a tenth less after each round: the one that is
 * left for some last iterations would else bring the noise of one into a centre
 * that is the mean of several. It is never again as if it had been alone. */
static double usual_nodes(const struct centre_chunk *centre, unsigned live,
                          unsigned updates)
{
    double part = live > updates ? (double)updates / live : 1; /* of a round */
    double usual = live + (1 - FADE * part) * (centre->usual - live);

    if (centre->usual > 1 && usual < SHARED)
        return SHARED;
    return usual > live ? usual : live;
}

static struct job *merge_job(struct hub *hub, struct round *round,
                             uint32_t chunk, const struct delivered *delivered)
{
    size_t means = delivered->count * sizeof *delivered->means;
    struct chunk_merge *merge =
        job_make(&work_merge, sizeof *merge + means, hub->pool,
                 MERGE_FROM + delivered->count);
    struct job *job = &merge->job;
    struct centre_chunk *centre = &hub->centre.chunk[chunk];

    job->in[MERGE_THETA].blob = blob_ref(centre->theta);
    for (unsigned i = 0; i < POLICY_SLOTS; i++)
        job->in[MERGE_SLOTS + i].blob = blob_ref(centre->slot[i]);
    for (unsigned i = 0; i < delivered->count; i++)
        job->in[MERGE_FROM + i] = (struct input){
            blob_ref(delivered->place[i]->payload),
            round->policy->reduce->rows ? 1 : delivered->share[i],
            delivered->place[i]->codec};
    job->extent = centre_extent(hub, chunk);
    memcpy(merge->means, delivered->means, means);
    merge->chunk = chunk;
    merge->live = round->live;
    merge->usual = centre->usual = hub->centre.usual =
        usual_nodes(centre, round->live, delivered->count);
    merge->updates_before = centre->updates_before;
    merge->divisor = delivered->divisor;
    merge->schema = hub->centre.schema;
    merge->lost = lost_share(round, centre);
    centre->live = hub->centre.merged_live = round->live;
    job->context = round->policy;
    return job;
}

/* Starts the merge of a chunk that is gathered; one that nobody delivered is
 * finished as it is. */
static void merge_start(struct hub *hub, struct round *round, uint32_t chunk)
{
    struct delivered delivered = delivered_new(round);

    assert(round->state == ROUND_SETTLED && !hub->centre.chunk[chunk].busy);
    deliver(hub, round, chunk, &delivered);
    if (delivered.count) {
        hub->centre.chunk[chunk].busy = true;
        hub->centre.chunk[chunk].round = round;
        hub_job(hub, merge_job(hub, round, chunk, &delivered));
        hub->centre.chunk[chunk].updates_before += delivered.count;
    } else {
        chunk_merged(hub, round, chunk);
    }
    delivered_free(&delivered);
}

/* What comes while a chunk is busy is looked at again when it is not. */
void merge_ready(struct hub *hub)
{
    struct round *round;

    for (int i = bitset_next(&hub->centre.ready, 0); i >= 0;
         i = bitset_next(&hub->centre.ready, i + 1)) {
        bitset_set(&hub->centre.ready, i, false);
        while (!hub->centre.chunk[i].busy &&
               (round = chunk_next(hub, (uint32_t)i)) != NULL)
            merge_start(hub, round, (uint32_t)i);
    }
}
