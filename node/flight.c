/* An offer on its way: granted, sent, judged. */
#include <stdlib.h>

#include "core/need.h"
#include "node/state.h"

/* More than any exchange takes, so that sums do not overflow. */
#define MOST_CREDIT ((int64_t)1 << 60)
/* A fragment is sent over so much of the time that there is for it. */
#define SPREAD 0.9
/* A hub is patient for longer than this. */
enum { LATE_OFFERS = 3 }; /* in a row, before that is said */
#define MOST_SPACING (500 * MILLISECOND)

struct flight *flight_new(struct node *node,
                          const struct msg_snapshot *snapshot)
{
    struct flight *flight =
        need_memory(1, sizeof *flight + node->chunks * sizeof *flight->chunks);
    flight->snapshot = *snapshot;
    flight->part = fragment_of(snapshot->fragment, snapshot->fragments);
    flight->parts = fragment_chunks(flight->part, node->chunks);
    flight->base_version = node->base_version;
    flight->lineage = node->lineage;
    return flight;
}

struct flight *flight_find(struct node *node, uint64_t exchange)
{
    struct flight *flight = node->flights;

    while (flight && flight->snapshot.exchange != exchange)
        flight = flight->next;
    return flight;
}

void flight_destroy(struct node *node, struct flight **reference)
{
    struct flight *flight = *reference;

    *reference = NULL;
    for (uint32_t i = 0; flight && i < node->chunks; i++) {
        blob_unref(&flight->chunks[i].taken);
        blob_unref(&flight->chunks[i].encoded);
        blob_unref(&flight->chunks[i].result);
        blob_unref(&flight->chunks[i].applied);
        sum_free(&flight->chunks[i].sent);
    }
    if (flight)
        free(flight->order);
    node->judged -= flight && flight->stage == FLIGHT_JUDGED;
    free(flight);
}

void flight_forget(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_FORGET};

    if (flight->skipped)
        return;
    flight->skipped = true;
    msg.forget.first = msg.forget.last = flight->snapshot.exchange;
    node_to_trainer(node, &msg, NULL);
}

/* Whether progress that got this verdict is to be offered again. What the
 * policy has thrown away is not: the result takes it back. Where none comes,
 * x and the centre stay as they are, and so does what is between them. */
static bool is_kept(const struct flight *flight, uint32_t chunk,
                    enum verdict verdict)
{
    bool chosen = verdict != VERDICT_DECLINED && verdict != VERDICT_REFUTED;

    return flight->snapshot.kind == EXCHANGE_DELTA && !flight->obsolete &&
           verdict != VERDICT_MERGED && verdict != VERDICT_LINEAGE &&
           (chosen || !flight->chunks[chunk].result);
}

/* All of an offer has its verdict: whether the link is too slow, again and
 * again. The hub has cut it, or the node has, with --miss cut. */
static void say_late(struct node *node, const struct flight *flight)
{
    bool late = false;

    for (uint32_t i = 0; i < node->chunks; i++)
        late |= fragment_holds(flight->part, i) &&
                flight->chunks[i].verdict == VERDICT_EXPIRED;
    if (flight->merged)
        node->late = 0;
    else if (late && ++node->late % LATE_OFFERS == 0)
        effects_note(node->out, NOTE_BARREN, node->name,
                     "%u offers in a row came too late to be merged: the link "
                     "to the hub is too slow or breaks too often. Start the "
                     "hub with a larger --every, --codec-up int4 and "
                     "--fragments 8",
                     node->late);
}

/* Whether a connection, and no hub, has kept a last offer from being merged. */
static bool is_adrift(const struct node *node, const struct flight *flight,
                      enum verdict verdict)
{
    return flight->snapshot.last && verdict == VERDICT_LOST &&
           (node->hub != HUB_MEMBER || node->unsettled ||
            node->start != START_GO);
}

void flight_judge(struct node *node, struct flight *flight, uint32_t chunk,
                  enum verdict verdict, double share)
{
    struct flight_chunk *place = &flight->chunks[chunk];

    if (place->judged || !fragment_holds(flight->part, chunk))
        return;
    place->judged = true;
    flight->adrift |= is_adrift(node, flight, verdict);
    place->verdict = verdict;
    flight->judged++;
    if (verdict == VERDICT_MERGED && !flight->obsolete &&
        flight->snapshot.kind == EXCHANGE_PARAMETERS)
        sum_copy(&node->reference[chunk], &place->sent);
    promise_chunk(node, flight, chunk, verdict);
    if (is_kept(flight, chunk, verdict) && place->encoded)
        sum_add(&node->reference[chunk], place->encoded, -share,
                flight->codec);
    gradient_judged(node, flight, chunk, verdict);
    blob_unref(&place->encoded);
    blob_unref(&place->taken);
    flight->merged |= verdict == VERDICT_MERGED;
    if (verdict == VERDICT_MERGED &&
        flight->snapshot.iteration > node->merged_iteration)
        node->merged_iteration = flight->snapshot.iteration;
    flight->kept |= is_kept(flight, chunk, verdict);
    if (flight->judged == flight->parts) {
        flight->stage = FLIGHT_JUDGED;
        node->judged++;
        flight_settled(node, flight);
        say_late(node, flight);
        if (flight->kept && !flight->merged && !flight->obsolete)
            node->samples_back += flight->snapshot.samples;
    }
}

void flight_judge_rest(struct node *node, struct flight *flight,
                       enum verdict verdict)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        flight_judge(node, flight, i, verdict, 1);
}

void flights_lost(struct node *node, uint64_t merged)
{
    for (struct flight *flight = node->flights; flight;
         flight = flight->next) {
        if (flight->stage == FLIGHT_FORMING)
            continue;
        flight_judge_rest(node, flight,
                          flight->snapshot.exchange <= merged
                              ? VERDICT_MERGED
                              : VERDICT_LOST);
        if (!flight->complete)
            flight_forget(node, flight);
    }
}

void flights_drop(struct node *node)
{
    while (node->flights) {
        struct flight *flight = node->flights;

        node->flights = flight->next;
        flight->skipped &= !flight->awaited;
        if (node->out)
            flight_forget(node, flight);
        flight_destroy(node, &flight);
    }
}

void flights_obsolete(struct node *node)
{
    for (struct flight *flight = node->flights; flight;
         flight = flight->next) {
        flight->obsolete = true;
        flight_forget(node, flight);
    }
}

bool flights_judged(const struct node *node)
{
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        if (flight->stage != FLIGHT_JUDGED)
            return false;
    return true;
}

/* Whether nothing more can come of it: judged, and the trainer is through. The
 * last one ends the node's part, and so waits for all verdicts. */
static bool is_over(const struct node *node, const struct flight *flight)
{
    return flight->stage == FLIGHT_JUDGED &&
           (flight->snapshot.last ? flights_judged(node) : flight->skipped);
}

void flights_sweep(struct node *node)
{
    struct flight **link = &node->flights;

    while (node->judged && *link) {
        struct flight *flight = *link;
        bool last = flight->snapshot.last && !flight->adrift;

        if (!is_over(node, flight)) {
            link = &flight->next;
            continue;
        }
        *link = flight->next;
        if (last)
            parting_judged(node, flight);
        flight_destroy(node, &flight);
    }
}

/* Whether the node's rate allows it; else says when. */
static bool may_send(struct node *node, const struct blob *payload)
{
    if (bucket_take(&node->up, payload->wire_bytes, node->now))
        return true;
    node->send_at = bucket_when(&node->up, payload->wire_bytes, node->now);
    return false;
}

uint32_t flight_next_chunk(const struct flight *flight)
{
    return flight->order
               ? flight->order[flight->to_send]
               : flight->part.first + flight->to_send * flight->part.stride;
}

/* Between two chunks, so that fragments are even traffic: each has the time up
 * to the next one's turn, k / F iterations, or half of d, as its result must
 * come in d. Results follow their chunks, and so are spread as well. */
static nanos spacing_of(const struct node *node, const struct flight *flight)
{
    double iterations = (double)node->welcome.every / flight->part.stride;
    double half = (double)node->welcome.delay / 2, spacing;

    if (flight->part.stride < 2 || node->rate <= 0 || node->stopping)
        return 0;
    spacing = SPREAD * (half < iterations ? half : iterations) / node->rate /
              flight->parts * (double)SECOND;
    return spacing < (double)MOST_SPACING ? (nanos)spacing : MOST_SPACING;
}

/* Whether it is this flight's time; else says when. */
static bool is_time(struct node *node, const struct flight *flight)
{
    if (flight->next_at <= node->now)
        return true;
    if (flight->next_at < node->spread_at)
        node->spread_at = flight->next_at;
    return false;
}

void flight_send(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_CHUNK};

    if (!node->bulk_up || flight->forming < flight->parts || flight->broken ||
        node->send_at < NEVER)
        return;
    while (flight->credit > 0 && flight->to_send < flight->parts) {
        uint32_t chunk = flight_next_chunk(flight);
        struct flight_chunk *place = &flight->chunks[chunk];

        if (place->encoded &&
            (!is_time(node, flight) || !may_send(node, place->encoded)))
            return;
        if (place->encoded) {
            msg.chunk.exchange = flight->snapshot.exchange;
            msg.chunk.chunk = chunk;
            msg.chunk.codec = flight->codec;
            msg.chunk.checksum = place->encoded->checksum;
            node_to_hub(node, &msg, place->encoded);
            flight->credit -= (int64_t)place->encoded->wire_bytes;
            flight->next_at += flight->spacing;
        }
        flight->to_send++;
        flight_close(node, flight);
    }
    if (flight == node->founding && flight->to_send == flight->parts)
        keep_gave(node);
}

void flights_advance(struct node *node)
{
    if (node->send_at > node->now && node->spread_at > node->now)
        return;
    if (node->send_at <= node->now)
        node->send_at = NEVER;
    node->spread_at = NEVER;
    if (node->founding)
        flight_send(node, node->founding);
    for (struct flight *flight = node->flights; flight;
         flight = flight->next)
        flight_send(node, flight);
}

static void credit(struct flight *flight, uint64_t bytes)
{
    flight->credit += bytes < MOST_CREDIT ? (int64_t)bytes : MOST_CREDIT;
    if (flight->credit > MOST_CREDIT)
        flight->credit = MOST_CREDIT;
}

static struct flight *flight_granted(struct node *node, uint64_t exchange)
{
    return exchange ? flight_find(node, exchange) : node->founding;
}

void node_on_grant(struct node *node, const struct msg *msg,
                  struct blob *payload)
{
    struct flight *flight = flight_granted(node, msg->grant.exchange);

    (void)payload;
    if (msg->grant.exchange && (!flight || flight->stage == FLIGHT_JUDGED))
        flight_none(node, msg->grant.exchange);
    if (!flight || flight->stage == FLIGHT_JUDGED ||
        (flight->snapshot.exchange && flight->stage == FLIGHT_FORMING))
        return;
    if (flight->snapshot.exchange && flight->stage != FLIGHT_GRANTED) {
        flight->stage = FLIGHT_GRANTED;
        flight->spacing = spacing_of(node, flight);
        flight->next_at = node->now;
    }
    credit(flight, msg->grant.credit);
    flight_send(node, flight);
}

void node_on_credit(struct node *node, const struct msg *msg,
                   struct blob *payload)
{
    struct flight *flight = flight_granted(node, msg->credit.exchange);

    (void)payload;
    if (!flight)
        return;
    credit(flight, msg->credit.more);
    flight_send(node, flight);
}

void node_on_verdict(struct node *node, const struct msg *msg,
                    struct blob *payload)
{
    const struct msg_verdict *verdict = &msg->verdict;
    struct flight *flight = flight_find(node, verdict->exchange);
    uint32_t end;

    (void)payload;
    if (verdict->first >= node->chunks)
        return;
    end = verdict->chunks < node->chunks - verdict->first
              ? verdict->first + verdict->chunks
              : node->chunks;
    if (!verdict->exchange) {
        taking_resumes(node, verdict, end);
        return;
    }
    if (flight && flight->stage == FLIGHT_FORMING)
        flight = NULL;
    for (uint32_t i = verdict->first; flight && i < end; i++)
        flight_judge(node, flight, i, verdict->verdict, 1);
    promises_recall(node, verdict, end);
    if (!flight)
        return;
    if ((verdict->verdict == VERDICT_MERGED ||
         verdict->verdict == VERDICT_DECLINED) &&
        flight->snapshot.kind == EXCHANGE_PARAMETERS &&
        verdict->version > node->base_version)
        node->base_version = verdict->version;
    node_hub_is_at(node, verdict->version);
    if (flight->arrived < flight->parts && !flight->complete && !flight->cut)
        flight_forget(node, flight);
    results_advance(node);
}
