/* An offer on its way: granted, sent, judged; and cut, when its time is up.
 *
 * The deadline cut: what matters most is sent first; what has not been sent
 * when the trainer says so stays here, and what is here of the result at i+d is
 * all that is applied of it. What had been sent is merged or not, as the hub's
 * verdict says. A result that is void changes nothing; the next one of that
 * chunk carries it. An offer of which nothing could be sent yet is closed
 * behind its first chunk, so that each brings something, however short the
 * time.
 *
 * Gradients owe e: what a codec has left out, or nobody has merged. One that a
 * break has taken is offered again, with the next one. One that comes too late,
 * or is not wanted, is dropped, as it is of a step that others have made
 * without it; what it carries of those before is not. */
#include <stdlib.h>

#include "core/need.h"
#include "node/state.h"

/* More than any exchange takes, so that sums do not overflow. */
#define MOST_CREDIT ((int64_t)1 << 60)
/* A fragment is sent over so much of the time that there is for it. */
#define SPREAD 0.9
/* A hub is patient for longer than this. */
enum { MOST_RUNS = 64 };
enum { LATE_OFFERS = 3 }; /* in a row, before that is said */
#define MOST_SPACING (500 * MILLISECOND)

struct flight *flight_new(struct node *node,
                          const struct msg_local_offer *offer)
{
    struct flight *flight =
        need_memory(1, sizeof *flight + node->chunks * sizeof *flight->chunks);
    flight->offer = *offer;
    flight->part = fragment_of(offer->fragment, offer->fragments);
    flight->parts = fragment_chunks(flight->part, node->chunks);
    flight->base_version = node->base_version;
    flight->lineage = node->lineage;
    return flight;
}

struct flight *flight_find(struct node *node, uint64_t exchange)
{
    struct flight *flight = node->flights;

    while (flight && flight->offer.exchange != exchange)
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
        blob_unref(&flight->chunks[i].back);
        blob_unref(&flight->chunks[i].result);
        blob_unref(&flight->chunks[i].applied);
        sum_free(&flight->chunks[i].sent);
    }
    if (flight)
        free(flight->order);
    free(flight);
}

/* Tells the trainer that nothing more comes of it. */
static void end_result(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_LOCAL_VERDICT};

    flight->result = RESULT_OVER;
    node->dirty |= DIRTY_RESULTS | DIRTY_OVER;
    msg.local_verdict.first = msg.local_verdict.last = flight->offer.exchange;
    node_to_trainer(node, &msg, NULL);
}

void flight_forget(struct node *node, struct flight *flight)
{
    if (flight->result < RESULT_SKIPPED)
        end_result(node, flight);
}

void flight_released(struct node *node, struct flight *flight)
{
    if (flight->result == RESULT_SKIPPED && flight->stage == FLIGHT_JUDGED)
        end_result(node, flight);
}

/* Whether the policy has thrown it away, so that the result takes it back.
 * Where none comes, x and the centre stay as they are, and so does what is
 * between them. */
static bool is_discarded(const struct flight *flight, uint32_t chunk,
                         enum verdict verdict)
{
    return (verdict == VERDICT_DECLINED || verdict == VERDICT_REFUTED) &&
           flight->chunks[chunk].result;
}

/* Whether progress that got this verdict is to be offered again. */
static bool is_kept(const struct flight *flight, uint32_t chunk,
                    enum verdict verdict)
{
    return flight->offer.kind == EXCHANGE_DELTA && !flight->obsolete &&
           verdict != VERDICT_MERGED && verdict != VERDICT_LINEAGE &&
           !is_discarded(flight, chunk, verdict);
}

void flight_give_back(struct node *node, const struct msg_local_offer *offer)
{
    if (offer->fragments > 1 && !offer->last &&
        offer->iteration == node->back_at)
        return;
    node->back_at = offer->iteration;
    node->samples_back += offer->samples;
    if (offer->last) /* it may be made again */
        node->parting.samples = 0;
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
    return flight->offer.last && verdict == VERDICT_LOST &&
           (node->hub != HUB_MEMBER || node->unreconciled ||
            node->start != START_GO);
}

static void judge_gradient(struct node *node, const struct flight *flight,
                           uint32_t chunk, enum verdict verdict)
{
    const struct flight_chunk *place = &flight->chunks[chunk];
    struct sum *residual = &node->residual[chunk];
    bool again = verdict == VERDICT_LOST || verdict == VERDICT_CORRUPT;

    if (flight->offer.kind != EXCHANGE_GRADIENT || flight->obsolete ||
        !place->encoded || verdict == VERDICT_MERGED ||
        (!again && !place->taken))
        return;
    sum_add(residual, place->encoded, 1, flight->codec);
    if (!again)
        sum_add(residual, place->taken, -1, CODEC_RAW);
}

void flight_set_verdict(struct node *node, struct flight *flight,
                        uint32_t chunk, enum verdict verdict)
{
    struct flight_chunk *place = &flight->chunks[chunk];

    if (place->judged || !fragment_holds(flight->part, chunk))
        return;
    place->judged = true;
    flight->adrift |= is_adrift(node, flight, verdict);
    place->verdict = verdict;
    flight->judged++;
    if (verdict == VERDICT_MERGED && !flight->obsolete &&
        flight->offer.kind == EXCHANGE_PARAMETERS)
        sum_copy(&node->reference[chunk], &place->sent);
    promise_chunk(node, flight, chunk, verdict);
    if (is_kept(flight, chunk, verdict) && place->encoded) {
        place->back = blob_ref(place->encoded);
        sum_add(&node->reference[chunk], place->back, -1, flight->codec);
    }
    judge_gradient(node, flight, chunk, verdict);
    blob_unref(&place->encoded);
    blob_unref(&place->taken);
    flight->merged |= verdict == VERDICT_MERGED;
    if (verdict == VERDICT_MERGED &&
        flight->offer.iteration > node->merged_iteration)
        node->merged_iteration = flight->offer.iteration;
    flight->kept |= is_kept(flight, chunk, verdict);
    flight->discarded |= is_discarded(flight, chunk, verdict);
    if (flight->judged == flight->parts) {
        flight->stage = FLIGHT_JUDGED;
        node->dirty |= DIRTY_OFFERS | DIRTY_OVER | DIRTY_PARTING;
        flight_released(node, flight);
        if (flight->discarded)
            tasks_spoil(node);
        say_late(node, flight);
        if (flight->kept && !flight->merged && !flight->obsolete)
            flight_give_back(node, &flight->offer);
    }
}

void flight_set_other_verdicts(struct node *node, struct flight *flight,
                               enum verdict verdict)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        flight_set_verdict(node, flight, i, verdict);
}

void flights_drop(struct node *node)
{
    while (node->flights) {
        struct flight *flight = node->flights;

        node->flights = flight->next;
        if (node->out && flight->result != RESULT_OVER)
            end_result(node, flight);
        flight_destroy(node, &flight);
    }
}

bool flights_have_verdicts(const struct node *node)
{
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        if (flight->stage != FLIGHT_JUDGED)
            return false;
    return true;
}

/* Whether the node's rate allows it; else says when. */
static bool may_send(struct node *node, const struct blob *payload)
{
    if (bucket_spend(&node->up, payload->wire_bytes, node->now))
        return true;
    node->send_at = bucket_when(&node->up, payload->wire_bytes, node->now);
    return false;
}

void flight_waive(struct node *node, const struct flight *flight)
{
    struct msg msg = {.kind = MSG_WAIVE};

    msg.waive.exchange = flight->offer.exchange;
    if (flight->stage == FLIGHT_OFFERED || flight->stage == FLIGHT_GRANTED)
        node_to_hub(node, &msg, NULL);
}

static uint32_t next_chunk(const struct flight *flight)
{
    return flight->order
               ? flight->order[flight->to_send]
               : flight->part.first + flight->to_send * flight->part.stride;
}

/* Says to the hub what will not come, run by run. Control takes few messages
 * at a time: the last one may name some that are on their way, which are then
 * left out, too. */
static void say_closed(struct node *node, const struct flight *flight)
{
    struct msg msg = {.kind = MSG_CLOSE};
    unsigned runs = 0;

    msg.close.exchange = flight->offer.exchange;
    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride) {
        const struct flight_chunk *place = &flight->chunks[i];
        bool closed = place->judged && place->verdict == VERDICT_EXPIRED;

        if (closed && !msg.close.chunks)
            msg.close.first = i;
        if (closed)
            msg.close.chunks = i - msg.close.first + 1;
        if (closed || !msg.close.chunks || runs == MOST_RUNS)
            continue;
        node_to_hub(node, &msg, NULL);
        msg.close.chunks = 0;
        runs++;
    }
    if (msg.close.chunks)
        node_to_hub(node, &msg, NULL);
}

void flight_close(struct node *node, struct flight *flight)
{
    if (!flight->cut || !flight->to_send || flight->to_send == flight->parts)
        return;
    for (; flight->to_send < flight->parts; flight->to_send++)
        flight_set_verdict(node, flight, next_chunk(flight), VERDICT_EXPIRED);
    say_closed(node, flight);
}

/* The hub may have let in as of this session what was offered in one before,
 * which the node has taken back when that broke. */
static void say_none(struct node *node, uint64_t exchange)
{
    struct msg msg = {.kind = MSG_CLOSE};

    msg.close.exchange = exchange;
    msg.close.chunks = node->chunks;
    node_to_hub(node, &msg, NULL);
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

/* Sends what there is credit for, as far as the node's rate allows. */
static void send_chunks(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_CHUNK};

    if (!node->bulk_up || flight->forming < flight->parts || flight->broken ||
        node->send_at < NEVER)
        return;
    while (flight->credit > 0 && flight->to_send < flight->parts) {
        uint32_t chunk = next_chunk(flight);
        struct flight_chunk *place = &flight->chunks[chunk];

        if (place->encoded &&
            (!is_time(node, flight) || !may_send(node, place->encoded)))
            return;
        if (place->encoded) {
            msg.chunk.exchange = flight->offer.exchange;
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
    if (flight == node->initial_upload && flight->to_send == flight->parts)
        keep_gave(node);
}

void flights_settle(struct node *node)
{
    if (node->send_at <= node->now)
        node->send_at = NEVER;
    node->spread_at = NEVER;
    if (node->initial_upload)
        send_chunks(node, node->initial_upload);
    for (struct flight *flight = node->flights; flight; flight = flight->next)
        send_chunks(node, flight);
}

static void credit(struct flight *flight, uint64_t bytes)
{
    flight->credit += bytes < MOST_CREDIT ? (int64_t)bytes : MOST_CREDIT;
    if (flight->credit > MOST_CREDIT)
        flight->credit = MOST_CREDIT;
}

static struct flight *flight_granted(struct node *node, uint64_t exchange)
{
    return exchange ? flight_find(node, exchange) : node->initial_upload;
}

void node_on_grant(struct node *node, const struct event *event)
{
    struct flight *flight = flight_granted(node, event->msg->grant.exchange);

    if (event->msg->grant.exchange &&
        (!flight || flight->stage == FLIGHT_JUDGED))
        say_none(node, event->msg->grant.exchange);
    if (!flight || flight->stage == FLIGHT_JUDGED ||
        (flight->offer.exchange && flight->stage < FLIGHT_OFFERED))
        return;
    if (flight->offer.exchange && flight->stage != FLIGHT_GRANTED) {
        flight->stage = FLIGHT_GRANTED;
        flight->spacing = spacing_of(node, flight);
        flight->next_at = node->now;
    }
    credit(flight, event->msg->grant.credit);
    node->dirty |= DIRTY_CHUNKS;
}

void node_on_credit(struct node *node, const struct event *event)
{
    struct flight *flight = flight_granted(node, event->msg->credit.exchange);

    if (!flight)
        return;
    credit(flight, event->msg->credit.more);
    node->dirty |= DIRTY_CHUNKS;
}

void node_on_local_close(struct node *node, const struct event *event)
{
    struct flight *flight = flight_find(node, event->msg->local_close.exchange);

    if (!flight || flight->offer.kind != EXCHANGE_DELTA || flight->offer.last ||
        flight->result != RESULT_COMING)
        return;
    flight->cut = event->msg->local_close.final ? CUT_RESULT : CUT_SENDING;
    flight_close(node, flight);
    if (!event->msg->local_close.final)
        return;
    flight_waive(node, flight);
    if (!flight->arrived)
        flight_forget(node, flight);
    node->dirty |= DIRTY_RESULTS;
}

double node_owes(const struct node *node, uint64_t element)
{
    uint32_t length = node->chunk_elements;
    uint32_t chunk = length ? (uint32_t)(element / length) : 0;
    size_t at = length ? (size_t)(element % length) : 0;
    struct extent extent;
    double owed;

    if (!node->residual)
        return 0;
    extent = node_extent(node, chunk);
    owed = sum_at(&node->residual[chunk], &extent, at);
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next) {
        struct input given = {flight->chunks[chunk].encoded, 1, flight->codec};
        struct sum sum = {.count = 1, .term = &given};

        if (given.blob && flight->offer.kind == EXCHANGE_GRADIENT)
            owed += sum_at(&sum, &extent, at);
    }
    return owed;
}
