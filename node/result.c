/* A result on its way to the trainer: collected, turned into what is to be
 * applied, and, once applied, carried over to all that depends on it. */
#include "node/state.h"
#include "node/work.h"

static struct flight *flight_of(struct node *node, uint64_t exchange)
{
    return exchange ? flight_find(node, exchange) : node->initial_download;
}

/* Whether what is in flight moves along with an earlier correction. Parameters
 * of which a part is taken do not: the hub moves its centre by that part of
 * what it was sent, and only a node that does the same keeps the sum of all
 * parameters (EASGD). */
static bool moves_along(const struct flight *later,
                        const struct flight_chunk *earlier)
{
    return later->offer.kind != EXCHANGE_PARAMETERS ||
           earlier->verb != VERB_REBASE || earlier->weight == 1;
}

/* How many corrections before this one the trainer has yet to apply; -1 when
 * one of them is not there yet, so that this one must wait. Where a due result
 * may still be skipped, nothing is built on it. */
static int corrections_ahead(const struct node *node,
                             const struct flight *flight)
{
    int ahead = 0;

    for (const struct flight *other = node->flights; other && other != flight;
         other = other->next) {
        if (other->result >= RESULT_SKIPPED ||
            !fragments_meet(other->part, flight->part))
            continue;
        if (other->result == RESULT_COMING || node->welcome.miss == MISS_SKIP ||
            !other->rebase)
            return -1;
        ahead++;
    }
    return ahead;
}

/* Of parameters of which a part is taken, averages among the statistics are as
 * the others. Of progress they are v's, whatever part of it nodes move by: in
 * the terms of x_sent they stand as they are, and are not to be added up. */
static bool adds_means(const struct flight *flight,
                       const struct flight_chunk *place)
{
    return flight->offer.kind == EXCHANGE_PARAMETERS &&
           place->verb == VERB_REBASE && place->weight != 1;
}

/* c = a (v - x_sent - the corrections that come first); other verbs take v, and
 * statistics are v's. */
static struct job *correction(struct node *node, struct flight *flight,
                              uint32_t chunk, int ahead)
{
    struct flight_chunk *place = &flight->chunks[chunk];
    bool rebase = place->verb == VERB_REBASE;
    unsigned inputs = 1 + (rebase ? place->sent.count + (unsigned)ahead : 0);
    struct job *job = job_new(&work_correct, node->pool, inputs);
    double weight = rebase ? place->weight : 1;
    unsigned at = 1;

    job->in[0] = (struct input){blob_ref(place->result), weight, CODEC_RAW};
    if (!rebase)
        return job;
    job->plain = 1;
    job->adds_means = adds_means(flight, place);
    at = sum_into(&place->sent, -weight, job, at);
    for (struct flight *other = node->flights; other != flight;
         other = other->next)
        if (other->result < RESULT_SKIPPED && other->chunks[chunk].applied &&
            moves_along(flight, &other->chunks[chunk]))
            job->in[at++] = (struct input){
                blob_ref(other->chunks[chunk].applied), -weight, CODEC_RAW};
    job->inputs = at;
    return job;
}

static void correct(struct node *node, struct flight *flight, uint32_t chunk,
                    int ahead)
{
    struct flight_chunk *place = &flight->chunks[chunk];
    struct job *job = correction(node, flight, chunk, ahead);

    flight->correcting++;
    job->extent = node_extent(node, chunk);
    job->tag[0] = flight->offer.exchange;
    job->tag[1] = chunk;
    job->tag[2] = place->checksum;
    job->tag[3] = node->welcome.session;
    node_job(node, job);
    place->job = job->id;
}

/* The result itself, which comes raw, to be pulled to. */
static void hand_anchor(struct node *node, const struct msg *apply,
                        struct blob *result)
{
    struct msg msg = *apply;

    msg.local_result.anchor = 1;
    if (node->welcome.anchor > 0)
        node_to_trainer(node, &msg, result);
}

static void hand_over(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_LOCAL_RESULT};

    flight->result = RESULT_HANDED;
    flight->rebase = true;
    msg.local_result.exchange = flight->offer.exchange;
    msg.local_result.parts = flight->corrected;
    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride) {
        struct flight_chunk *place = &flight->chunks[i];

        if (!place->applied)
            continue;
        flight->rebase &= place->verb == VERB_REBASE;
        msg.local_result.chunk = i;
        msg.local_result.first = (uint64_t)i * node->chunk_elements;
        msg.local_result.verb = place->verb;
        msg.local_result.weight = /* c has it; averages go to v as ever */
            place->verb == VERB_REBASE && !adds_means(flight, place)
                ? 1
                : place->weight;
        hand_anchor(node, &msg, place->result);
        node_to_trainer(node, &msg, place->applied);
    }
    node->dirty |= DIRTY_OVER;
}

/* Corrects what can be, and gives the trainer all there will be of it. */
static void advance(struct node *node, struct flight *flight)
{
    int ahead;

    if (!flight || flight->result != RESULT_COMING)
        return;
    ahead = flight->correcting == flight->arrived ? -1
            : flight == node->initial_download
                ? 0
                : corrections_ahead(node, flight);
    for (uint32_t i = flight->part.first; i < node->chunks && ahead >= 0;
         i += flight->part.stride)
        if (flight->chunks[i].result && !flight->chunks[i].job)
            correct(node, flight, i, ahead);
    if (flight->corrected &&
        flight->corrected ==
            (flight->cut == CUT_RESULT ? flight->arrived : flight->parts))
        hand_over(node, flight);
}

void results_settle(struct node *node)
{
    advance(node, node->initial_download);
    for (struct flight *flight = node->flights; flight; flight = flight->next)
        advance(node, flight);
}

void result_arrived(struct node *node, const struct msg_result *result,
                    struct blob *values)
{
    struct flight *flight = flight_of(node, result->exchange);
    struct flight_chunk *place;

    if (values->size != node_chunk_length(node, result->chunk) * sizeof(float))
        return;
    keep_result(node, result, values);
    if (!flight || !fragment_holds(flight->part, result->chunk) ||
        (result->exchange && flight->stage < FLIGHT_OFFERED))
        return;
    place = &flight->chunks[result->chunk];
    if (place->result)
        return;
    if (flight->cut == CUT_RESULT || flight->result >= RESULT_SKIPPED) {
        flight_set_verdict(node, flight, result->chunk, result->verdict);
        return;
    }
    place->result = blob_ref(values);
    place->verb = result->verb;
    place->weight = result->weight;
    place->version = result->version;
    place->lineage = result->lineage;
    place->checksum = result->checksum;
    flight->arrived++;
    node->dirty |= DIRTY_RESULTS;
    if (result->exchange)
        flight_set_verdict(node, flight, result->chunk, result->verdict);
}

void result_corrected(struct node *node, struct job *job)
{
    struct flight *flight = flight_of(node, job->tag[0]);

    if (!flight || job->tag[1] >= node->chunks || /* it is cut anew since */
        flight->chunks[job->tag[1]].job != job->id ||
        flight->result != RESULT_COMING || job->tag[3] != node->welcome.session)
        return;
    if (job->status != STATUS_OK) {
        node_drop_failed(node, job, "a result was damaged on its way");
        return;
    }
    flight->chunks[job->tag[1]].applied = blob_ref(job->out[0]);
    flight->corrected++;
    node->dirty |= DIRTY_RESULTS;
}

/* Whether r moves by v - x_sent. A PULL leaves x between where it was and v,
 * but r moves by all of it: what is offered next is measured from the centre
 * (Streaming DiLoCo, algorithm 2: the base of the next pseudo-gradient is the
 * new outer parameters). */
static bool moves_whole(const struct flight_chunk *place)
{
    return place->verb == VERB_PULL ||
           (place->verb == VERB_REBASE && place->weight == 1);
}

/* Carries what was applied over to r, or to the x_sent of a later send. Where
 * terms of x_sent cancel, as all do when nothing was sent since, v takes their
 * place. */
static void carry(struct sum *sum, const struct flight_chunk *place)
{
    if (place->verb == VERB_PULL ||
        (moves_whole(place) && sums_meet(sum, &place->sent))) {
        sum_join(sum, &place->sent, -1);
        sum_add(sum, place->result, 1, CODEC_RAW);
        return;
    }
    switch (place->verb) {
    case VERB_REBASE:
        sum_add(sum, place->applied, 1, CODEC_RAW);
        break;
    case VERB_ADD:
        sum_add(sum, place->applied, place->weight, CODEC_RAW);
        break;
    case VERB_REPLACE:
        sum_set(sum, place->applied);
        break;
    case VERB_PULL:
    case VERB_STEP:
    case VERB_COUNT:
        break;
    }
}

/* x moved by c: so do r and the x_sent of all that is still in flight. Of what
 * is offered again x still holds 1 - a after a PULL, and r none. */
static void carry_over(struct node *node, struct flight *flight, uint32_t chunk)
{
    struct flight_chunk *place = &flight->chunks[chunk];

    carry(&node->reference[chunk], place);
    if (place->back && place->verb == VERB_PULL)
        sum_add(&node->reference[chunk], place->back, 1 - place->weight,
                flight->codec);
    for (struct flight *later = flight->next; later; later = later->next)
        if (fragment_holds(later->part, chunk) && moves_along(later, place))
            carry(&later->chunks[chunk].sent, place);
    if (place->verb == VERB_REPLACE)
        sum_free(&node->residual[chunk]);
}

static void raise_base(struct node *node, const struct flight *flight)
{
    uint64_t version = UINT64_MAX;

    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride)
        if (flight->chunks[i].applied && flight->chunks[i].version < version)
            version = flight->chunks[i].version;
    if (version > node->base_version || !flight->offer.exchange)
        node->base_version = version;
}

static void make_obsolete(struct node *node)
{
    for (struct flight *flight = node->flights; flight; flight = flight->next) {
        flight->obsolete = true;
        flight_forget(node, flight);
    }
    node->dirty |= DIRTY_OFFERS;
}

/* And what that costs: iterations of which nothing was merged. */
static void say_taken(struct node *node, const struct flight_chunk *taken)
{
    uint64_t now = node->progress.iteration, then = node->merged_iteration;

    effects_note(node->out, NOTE_TAKEN, node->name,
                 "version %llu, in place of what it had learnt in %llu "
                 "iterations",
                 (unsigned long long)taken->version,
                 (unsigned long long)(now > then ? now - then : 0));
    node->merged_iteration = now;
}

/* A result, or what there was of it, is in x now. */
static void arrive(struct node *node, struct flight *flight)
{
    const struct flight_chunk *replaced = NULL;

    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride) {
        if (!flight->chunks[i].applied)
            continue;
        carry_over(node, flight, i);
        if (flight->chunks[i].verb == VERB_REPLACE)
            replaced = &flight->chunks[i];
    }
    raise_base(node, flight);
    flight->result = RESULT_OVER;
    if (!replaced)
        return;
    if (replaced->lineage != node->lineage)
        promises_forget(node);
    promises_abandon(node);
    node->lineage = replaced->lineage;
    node->samples_back = 0;
    make_obsolete(node);
    say_taken(node, replaced);
}

static void taken(struct node *node)
{
    arrive(node, node->initial_download);
    promises_reconcile(node, node->welcome.merged);
    node_starts(node);
    download_ends(node);
    node->dirty |= DIRTY_SCHEDULE;
}

void node_on_applied(struct node *node, const struct event *event)
{
    struct flight *flight = flight_of(node, event->msg->applied.exchange);

    if (!flight || flight->result >= RESULT_SKIPPED)
        return;
    if (event->msg->applied.skipped) {
        flight->result = RESULT_SKIPPED;
        flight_released(node, flight);
        node->dirty |= DIRTY_RESULTS | DIRTY_OVER;
        return;
    }
    if (flight->result != RESULT_HANDED)
        return;
    if (!event->msg->applied.exchange) {
        taken(node);
        return;
    }
    arrive(node, flight);
    node->dirty |= DIRTY_RESULTS | DIRTY_OVER;
}

void node_on_verdict(struct node *node, const struct event *event)
{
    const struct msg_verdict *verdict = &event->msg->verdict;
    struct flight *flight = flight_find(node, verdict->exchange);
    uint32_t end;

    if (verdict->first >= node->chunks)
        return;
    end = verdict->chunks < node->chunks - verdict->first
              ? verdict->first + verdict->chunks
              : node->chunks;
    if (!verdict->exchange) {
        download_resumes(node, verdict, end);
        return;
    }
    if (flight && flight->stage < FLIGHT_OFFERED)
        flight = NULL;
    for (uint32_t i = verdict->first; flight && i < end; i++)
        flight_set_verdict(node, flight, i, verdict->verdict);
    promises_recall(node, verdict, end);
    if (!flight)
        return;
    if ((verdict->verdict == VERDICT_MERGED ||
         verdict->verdict == VERDICT_DECLINED) &&
        flight->offer.kind == EXCHANGE_PARAMETERS &&
        verdict->version > node->base_version)
        node->base_version = verdict->version;
    node_hub_is_at(node, verdict->version);
    if (flight->arrived < flight->parts && flight->cut != CUT_RESULT &&
        flight->result == RESULT_COMING)
        flight_forget(node, flight);
}
