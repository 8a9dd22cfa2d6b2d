/* Data: what members bring comes up in input segments, results go down in
 * result segments. */
#include <stdlib.h>

#include "collectives/inside.h"

bool participant_gives(const struct call *call,
                       const struct participant *participant)
{
    switch ((enum collective)call->spec.collective) {
    case COLLECTIVE_ALLREDUCE:
    case COLLECTIVE_ALLGATHER:
        return true;
    case COLLECTIVE_BROADCAST:
        return (uint32_t)(participant - call->participants) == call->spec.root;
    case COLLECTIVE_CHECKPOINT:
    case COLLECTIVE_MODEL:
        return (int)(participant - call->participants) == call->source;
    default:
        return false;
    }
}

static bool is_gathered(const struct call *call)
{
    return call->spec.collective == COLLECTIVE_ALLGATHER;
}

static bool is_reduced(const struct call *call)
{
    return call->spec.collective == COLLECTIVE_ALLREDUCE;
}

/* Bytes of an input segment. */
static uint64_t segment_size(const struct coordinator *coordinator,
                             const struct participant *participant,
                             uint32_t segment)
{
    uint64_t left = participant->bytes -
                    (uint64_t)segment * coordinator->config.segment_bytes;

    return left < coordinator->config.segment_bytes
               ? left
               : coordinator->config.segment_bytes;
}

/* Parts of this call that the member may send: a member brings a model while it
 * is in another call. */
static uint32_t *upload_of(struct coordinator *coordinator,
                           struct member *member, const struct call *call)
{
    return call == coordinator->fetch ? &coordinator->fetch_upload
                                      : &member->upload;
}

/* Parts of a member that may be on their way: all members share a bound. */
static uint32_t window_of(const struct coordinator *coordinator,
                          const struct call *call)
{
    uint32_t share = COORDINATOR_ON_THEIR_WAY / call->size;

    return share < coordinator->config.window ? share
                                              : coordinator->config.window;
}

static void send_credit(struct coordinator *coordinator, struct member *member,
                        const struct call *call, uint32_t segments)
{
    uint32_t *upload = upload_of(coordinator, member, call);
    uint32_t window = window_of(coordinator, call);
    struct msg msg = {.kind = MSG_CREDIT};

    if (*upload >= window)
        return;
    if (segments > window - *upload)
        segments = window - *upload;
    *upload += segments;
    msg.credit.exchange = call == coordinator->fetch ? coordinator->fetch_number
                                                     : member->request.number;
    msg.credit.more = segments;
    effects_send(coordinator->out, member->control, &msg, NULL);
}

void participant_open(struct coordinator *coordinator, struct member *member,
                      struct call *call, struct participant *participant)
{
    *upload_of(coordinator, member, call) = 0;
    if (participant_gives(call, participant) &&
        participant->here < participant->count)
        send_credit(coordinator, member, call, coordinator->config.window);
}

/* ---- result segments ---- */

/* A reduction has one result segment for all input segments of one place;
 * otherwise there is one for each, in the order of the ranks. */
void results_lay(struct coordinator *coordinator, struct call *call)
{
    bool gathers = is_gathered(call);
    uint32_t size = coordinator->config.segment_bytes;
    uint64_t offset = 0;
    uint32_t at = 0;

    if (!gathers) {
        call->bytes =
            call->spec.collective == COLLECTIVE_LAZY ? 0 : call->spec.bytes;
        coordinator->held += call->bytes;
    }
    call->count = (uint32_t)((call->bytes + size - 1) / size);
    if (gathers)
        call->count = 0;
    for (unsigned i = 0; gathers && i < call->size; i++)
        call->count += call->participants[i].count;
    call->results =
        calloc(call->count ? call->count : 1, sizeof *call->results);
    if (!call->results)
        abort();
    call->laid = true;
    for (uint32_t i = 0; !gathers && i < call->count; i++)
        call->results[i].offset = (uint64_t)i * size;
    for (unsigned i = 0; gathers && i < call->size; i++) {
        struct participant *participant = &call->participants[i];

        for (uint32_t j = 0; j < participant->count; j++, at++) {
            call->results[at].offset = offset + (uint64_t)j * size;
            call->results[at].blob = participant->segments[j].blob;
            call->ready += participant->segments[j].blob != NULL;
            participant->segments[j].blob = NULL;
        }
        offset += participant->bytes;
    }
}

/* The result segment that an input segment becomes, if it is not
 * reduced. */
static struct result_segment *result_of(struct call *call,
                                        const struct participant *participant,
                                        uint32_t segment)
{
    uint32_t at = segment;

    if (is_gathered(call))
        for (const struct participant *each = call->participants;
             each < participant; each++)
            at += each->count;
    return &call->results[at];
}

void results_deliver(struct coordinator *coordinator, struct member *member)
{
    struct call *call = member->call;
    struct msg msg = {.kind = MSG_PIECE};

    if (!call || !call->laid)
        return;
    while (member->takes && member->bulk != PEER_NONE && member->credit &&
           member->next < call->count && call->results[member->next].blob) {
        const struct result_segment *segment = &call->results[member->next++];

        member->credit--;
        msg.piece.number = member->request.number;
        msg.piece.offset = segment->offset;
        msg.piece.checksum = segment->blob->checksum;
        effects_send(coordinator->out, member->bulk, &msg, segment->blob);
    }
    if (call->complete && (!member->takes || member->next == call->count))
        member->call = NULL;
}

void results_deliver_all(struct coordinator *coordinator, struct call *call)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].call == call)
            results_deliver(coordinator, &coordinator->members[i]);
}

void segments_on_credit(struct coordinator *coordinator, struct member *member,
                        const struct event *event)
{
    const struct msg_credit *credit = &event->msg->credit;

    if (!member->call || credit->exchange != member->request.number) {
        mails_on_credit(coordinator, member, credit);
        return;
    }
    if (credit->more > coordinator->config.window - member->credit) {
        member_lost(coordinator, member, "it gives more credit than was agreed",
                    false);
        return;
    }
    member->credit += (uint32_t)credit->more;
    results_deliver(coordinator, member);
}

/* ---- input segments ---- */

static void check(struct coordinator *coordinator, struct call *call,
                  const struct participant *participant,
                  const struct msg_part *part, struct blob *payload)
{
    struct job *job = job_new(&work_segment_check, coordinator->pool, 1);

    job->in[0].blob = blob_ref(payload);
    job->tag[0] = call->id;
    job->tag[1] =
        (uint64_t)(participant - call->participants) << 32 | part->part;
    job->tag[2] = part->checksum;
    coordinator_job(coordinator, job);
}

/* The call that the member means by this number, NULL: none any more. */
static struct call *call_of(struct coordinator *coordinator,
                            const struct member *member, uint64_t number)
{
    if (member->call && number == member->request.number)
        return member->call;
    return coordinator->holder == (int)(member - coordinator->members) &&
                   number == coordinator->fetch_number
               ? coordinator->fetch
               : NULL;
}

void segments_on_part(struct coordinator *coordinator, struct member *member,
                      const struct event *event)
{
    const struct msg_part *part = &event->msg->part;
    struct call *call = call_of(coordinator, member, part->number);
    struct participant *participant =
        call ? call_participant(call, coordinator, member) : NULL;

    if (!call)
        mails_on_part(coordinator, member, event);
    if (!participant || call->complete)
        return; /* the call has failed meanwhile */
    if (!participant_gives(call, participant) ||
        part->part >= participant->count ||
        !*upload_of(coordinator, member, call) ||
        event->payload->size !=
            segment_size(coordinator, participant, part->part)) {
        member_lost(coordinator, member, "it sent a segment that nobody wanted",
                    false);
        return;
    }
    --*upload_of(coordinator, member, call);
    if (participant->segments[part->part].state != SEGMENT_MISSING) {
        send_credit(coordinator, member, call, 1); /* it does it again */
        return;
    }
    participant->segments[part->part].state = SEGMENT_CHECKING;
    check(coordinator, call, participant, part, event->payload);
}

static struct call *call_by_id(struct coordinator *coordinator, uint64_t id)
{
    for (struct call *call = coordinator->calls; call; call = call->next)
        if (call->id == id && !call->retired)
            return call;
    return NULL;
}

static struct member *member_in(struct coordinator *coordinator,
                                const struct call *call,
                                const struct participant *participant)
{
    struct member *member = participant->member >= 0
                                ? &coordinator->members[participant->member]
                                : NULL;

    return member && (member->call == call || call == coordinator->fetch)
               ? member
               : NULL;
}

/* Reduces the members' segments of one place in rank order, once all are here.
 */
static void reduce(struct coordinator *coordinator, struct call *call,
                   uint32_t segment)
{
    struct job *job;

    if (call->results[segment].busy || call->results[segment].blob)
        return;
    for (unsigned i = 0; i < call->size; i++)
        if (!call->participants[i].entered ||
            call->participants[i].segments[segment].state != SEGMENT_CHECKED)
            return;
    job = job_new(&work_segment_reduce, coordinator->pool, call->size);
    for (unsigned i = 0; i < call->size; i++) {
        job->in[i].blob = call->participants[i].segments[segment].blob;
        call->participants[i].segments[segment].blob = NULL;
        call->participants[i].segments[segment].state = SEGMENT_USED;
    }
    job->number[0] = (double)call->spec.scalar;
    job->number[1] = (double)call->spec.reduction;
    job->tag[0] = call->id;
    job->tag[1] = segment;
    call->results[segment].busy = true;
    coordinator_job(coordinator, job);
}

/* A result segment is there: sends it to those who wait for it. */
static void result_ready(struct coordinator *coordinator, struct call *call)
{
    call->ready++;
    results_deliver_all(coordinator, call);
    call_advance(coordinator, call);
}

/* Another source of a checkpoint may have brought this result segment already.
 */
static void place(struct coordinator *coordinator, struct call *call,
                  struct result_segment *segment, struct blob **blob)
{
    if (segment->blob) {
        blob_unref(blob);
        call_advance(coordinator, call);
        return;
    }
    segment->blob = *blob;
    *blob = NULL;
    result_ready(coordinator, call);
}

static void checked(struct coordinator *coordinator, struct call *call,
                    struct job *job)
{
    struct participant *participant = &call->participants[job->tag[1] >> 32];
    uint32_t segment = (uint32_t)job->tag[1];
    struct member *member = member_in(coordinator, call, participant);

    if (job->status != STATUS_OK) {
        participant->segments[segment].state = SEGMENT_MISSING;
        if (member)
            member_lost(coordinator, member,
                        "a segment did not match its checksum", false);
        return;
    }
    participant->segments[segment].state = SEGMENT_CHECKED;
    participant->segments[segment].blob = blob_ref(job->in[0].blob);
    participant->here++;
    if (is_reduced(call)) {
        reduce(coordinator, call, segment);
        return;
    }
    if (member)
        send_credit(coordinator, member, call, 1);
    if (!call->laid)
        return;
    participant->segments[segment].state = SEGMENT_USED;
    place(coordinator, call, result_of(call, participant, segment),
          &participant->segments[segment].blob);
}

static void reduced(struct coordinator *coordinator, struct call *call,
                    struct job *job)
{
    uint32_t segment = (uint32_t)job->tag[1];

    if (job->status != STATUS_OK) {
        calls_fail(coordinator, -1, ENDING_ABORT, status_words(job->status));
        return;
    }
    call->results[segment].blob = blob_ref(job->out[0]);
    for (unsigned i = 0; i < call->size; i++) {
        struct member *member =
            member_in(coordinator, call, &call->participants[i]);

        if (member)
            send_credit(coordinator, member, call, 1);
    }
    result_ready(coordinator, call);
}

void segments_done(struct coordinator *coordinator, struct job *job)
{
    struct call *call = call_by_id(coordinator, job->tag[0]);

    if (!call || call->complete)
        return;
    if (job->work == &work_segment_reduce)
        reduced(coordinator, call, job);
    else
        checked(coordinator, call, job);
}
