#include "collectives/segment.h"

#include <stdlib.h>

#include "collectives/state.h"
#include "collectives/work.h"

/* Input segments that may be on their way, of all participants of a call. */
enum { ON_THEIR_WAY = 4 * COORDINATOR_MEMBERS };

static bool is_gathered(const struct call *call)
{
    return call->spec.collective == COLLECTIVE_ALLGATHER;
}

static bool is_reduced(const struct call *call)
{
    return call->spec.collective == COLLECTIVE_ALLREDUCE;
}

static void begin_job(struct coordinator *coordinator, struct job *job)
{
    job->id = ++coordinator->calls.next_job;
    effects_job(coordinator->out, job);
}

/* ---- credit for input segments ---- */

/* A holder of a model brings it while it is in another call. */
static struct allowance *allowance_of(struct coordinator *coordinator,
                                      struct member *member,
                                      const struct call *call)
{
    return call == coordinator->checkpoint.fetch
               ? &coordinator->checkpoint.allowance
               : &member->request.allowance;
}

void input_open(struct coordinator *coordinator, struct member *member,
                struct call *call, const struct participant *participant)
{
    struct allowance *allowance = allowance_of(coordinator, member, call);
    bool gives = participant_gives(call, participant) &&
                 participant->checked < participant->count;

    allowance->credit = 0;
    allowance->due = gives ? coordinator->config.window : 0;
    coordinator->dirty |= DIRTY_DELIVERY;
}

/* One segment of the participant is done with: it may send one more, if it is
 * in the call. */
static void input_done(struct coordinator *coordinator, struct call *call,
                       const struct participant *participant)
{
    struct member *member = participant->member;

    if (!member ||
        (member->request.call != call && call != coordinator->checkpoint.fetch))
        return;
    allowance_of(coordinator, member, call)->due++;
    coordinator->dirty |= DIRTY_DELIVERY;
}

static void grant(struct coordinator *coordinator, const struct member *member,
                  struct allowance *allowance, const struct call *call)
{
    uint32_t share = ON_THEIR_WAY / call->size;
    uint32_t window =
        share < coordinator->config.window ? share : coordinator->config.window;
    uint32_t room = allowance->credit < window ? window - allowance->credit : 0;
    uint32_t more = allowance->due < room ? allowance->due : room;
    struct msg msg = {.kind = MSG_CREDIT};

    allowance->due = 0;
    if (!more)
        return;
    allowance->credit += more;
    msg.credit.exchange = allowance->number;
    msg.credit.more = more;
    effects_send(coordinator->out, member->control, &msg, NULL);
}

void inputs_grant(struct coordinator *coordinator)
{
    struct checkpoint *checkpoint = &coordinator->checkpoint;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];
        struct request *request = &member->request;

        if (request->call)
            grant(coordinator, member, &request->allowance, request->call);
    }
    if (checkpoint->fetch)
        grant(coordinator, checkpoint->holder, &checkpoint->allowance,
              checkpoint->fetch);
}

/* ---- results ---- */

/* A result as long as what the call was asked for. */
static void lay_one(struct coordinator *coordinator, struct call *call)
{
    uint32_t size = coordinator->config.segment_bytes;

    for (uint32_t i = 0; i < call->count; i++)
        call->results[i].offset = (uint64_t)i * size;
}

/* One after the other what the participants have brought, or will. */
static void lay_all(struct coordinator *coordinator, struct call *call)
{
    struct result_segment *result = call->results;
    uint64_t offset = 0;

    for (unsigned i = 0; i < call->size; i++) {
        struct participant *participant = &call->participants[i];

        for (uint32_t j = 0; j < participant->count; j++, result++) {
            struct input_segment *input = &participant->segments[j];

            result->offset =
                offset + (uint64_t)j * coordinator->config.segment_bytes;
            result->blob = input->blob;
            call->ready += input->blob != NULL;
            input->blob = NULL;
        }
        offset += participant->bytes;
    }
}

static uint32_t count_results(const struct coordinator *coordinator,
                              const struct call *call)
{
    uint32_t size = coordinator->config.segment_bytes, count = 0;

    if (!is_gathered(call))
        return (uint32_t)((call->bytes + size - 1) / size);
    for (unsigned i = 0; i < call->size; i++)
        count += call->participants[i].count;
    return count;
}

/* Of what is gathered the bytes have been counted as members came. */
void results_lay(struct coordinator *coordinator, struct call *call)
{
    if (!is_gathered(call) && call->spec.collective != COLLECTIVE_LAZY) {
        call->bytes = call->spec.bytes;
        coordinator->calls.held += call->bytes;
    }
    call->count = count_results(coordinator, call);
    call->results =
        calloc(call->count ? call->count : 1, sizeof *call->results);
    if (!call->results)
        abort();
    if (is_gathered(call))
        lay_all(coordinator, call);
    else
        lay_one(coordinator, call);
}

static void result_ready(struct coordinator *coordinator, struct call *call)
{
    call->ready++;
    coordinator->dirty |= DIRTY_CALLS | DIRTY_DELIVERY;
}

static void send_results(struct coordinator *coordinator,
                         const struct member *member, struct request *request)
{
    const struct call *call = request->call;
    struct msg msg = {.kind = MSG_PIECE};

    msg.piece.number = request->spec.number;
    while (request->credit && request->next < call->count &&
           call->results[request->next].blob) {
        const struct result_segment *result = &call->results[request->next++];

        request->credit--;
        msg.piece.offset = result->offset;
        msg.piece.checksum = result->blob->checksum;
        effects_send(coordinator->out, member->bulk, &msg, result->blob);
    }
}

void results_send(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];
        struct request *request = &member->request;
        const struct call *call = request->call;

        if (!call)
            continue;
        if (request->takes && member->bulk != PEER_NONE)
            send_results(coordinator, member, request);
        if (request->state == REQUEST_RECEIVING &&
            (!request->takes || request->next == call->count))
            request_drop(coordinator, member);
    }
}

void results_on_credit(struct coordinator *coordinator, struct member *member,
                       const struct msg_credit *credit)
{
    struct request *request = &member->request;

    if (credit->more > coordinator->config.window - request->credit) {
        group_lose(coordinator, member, "it gives more credit than was agreed");
        return;
    }
    request->credit += (uint32_t)credit->more;
    coordinator->dirty |= DIRTY_DELIVERY;
}

/* ---- reducing ---- */

struct segment_reduce {
    struct job job;
    enum scalar scalar;
    enum reduction reduction;
    uint64_t call;
    uint32_t segment;
};

static void run_reduce(struct job *job)
{
    const struct segment_reduce *reduce = (struct segment_reduce *)job;

    reduce_inputs(job, reduce->scalar, reduce->reduction);
}

static void on_reduced(void *machine, struct job *job)
{
    const struct segment_reduce *reduce = (struct segment_reduce *)job;
    struct coordinator *coordinator = machine;
    struct call *call = call_by_id(coordinator, reduce->call);

    if (!call)
        return;
    if (job->status != STATUS_OK) {
        calls_fail(coordinator, ENDING_ABORT, status_words(job->status));
        return;
    }
    call->results[reduce->segment].blob = blob_ref(job->out[0]);
    for (unsigned i = 0; i < call->size; i++)
        input_done(coordinator, call, &call->participants[i]);
    result_ready(coordinator, call);
}

static const struct work segment_reduce = {"segment_reduce", run_reduce,
                                           on_reduced};

static bool all_checked(const struct call *call, uint32_t segment)
{
    for (unsigned i = 0; i < call->size; i++) {
        const struct participant *participant = &call->participants[i];

        if (!participant->entered ||
            participant->segments[segment].state != SEGMENT_CHECKED)
            return false;
    }
    return true;
}

/* Reduces the participants' segments of one place, once all are there. */
static void reduce(struct coordinator *coordinator, struct call *call,
                   uint32_t segment)
{
    struct result_segment *result = &call->results[segment];
    struct segment_reduce *made;

    if (result->busy || result->blob || !all_checked(call, segment))
        return;
    made =
        job_make(&segment_reduce, sizeof *made, coordinator->pool, call->size);
    for (unsigned i = 0; i < call->size; i++) {
        struct input_segment *input = &call->participants[i].segments[segment];

        made->job.in[i].blob = input->blob;
        input->blob = NULL;
        input->state = SEGMENT_USED;
    }
    made->scalar = call->spec.scalar;
    made->reduction = call->spec.reduction;
    made->call = call->id;
    made->segment = segment;
    result->busy = true;
    begin_job(coordinator, &made->job);
}

/* ---- checking ---- */

struct segment_check {
    struct job job;
    uint64_t checksum; /* that it must have */
    uint64_t call;
    unsigned rank;
    uint32_t segment;
};

static void run_check(struct job *job)
{
    check_input(job, ((struct segment_check *)job)->checksum);
}

/* The result segment that an input segment becomes as it is. */
static struct result_segment *result_of(struct call *call, unsigned rank,
                                        uint32_t segment)
{
    uint32_t at = segment;

    for (unsigned i = 0; is_gathered(call) && i < rank; i++)
        at += call->participants[i].count;
    return &call->results[at];
}

/* Another source of a checkpoint may have brought the segment already. */
static void place(struct coordinator *coordinator, struct call *call,
                  struct result_segment *result, struct input_segment *input)
{
    input->state = SEGMENT_USED;
    if (result->blob) {
        blob_unref(&input->blob);
        return;
    }
    result->blob = input->blob;
    input->blob = NULL;
    result_ready(coordinator, call);
}

/* A member that is not in the call (any more) is not at fault. */
static void reject(struct coordinator *coordinator, const struct call *call,
                   const struct participant *participant)
{
    struct member *member = participant->member;

    if (member &&
        (member->request.call == call || call == coordinator->checkpoint.fetch))
        group_lose(coordinator, member, "a segment did not match its checksum");
}

static void on_checked(void *machine, struct job *job)
{
    const struct segment_check *check = (struct segment_check *)job;
    struct coordinator *coordinator = machine;
    struct call *call = call_by_id(coordinator, check->call);
    struct participant *participant;
    struct input_segment *input;

    if (!call)
        return;
    participant = &call->participants[check->rank];
    input = &participant->segments[check->segment];
    if (job->status != STATUS_OK) {
        input->state = SEGMENT_MISSING;
        reject(coordinator, call, participant);
        return;
    }
    input->state = SEGMENT_CHECKED;
    input->blob = blob_ref(job->in[0].blob);
    participant->checked++;
    if (is_reduced(call)) {
        reduce(coordinator, call, check->segment);
        return;
    }
    input_done(coordinator, call, participant);
    if (call->results)
        place(coordinator, call, result_of(call, check->rank, check->segment),
              input);
}

static const struct work segment_check = {"segment_check", run_check,
                                          on_checked};

static void check(struct coordinator *coordinator, const struct call *call,
                  const struct participant *participant,
                  const struct event *event)
{
    struct segment_check *made =
        job_make(&segment_check, sizeof *made, coordinator->pool, 1);

    made->job.in[0].blob = blob_ref(event->payload);
    made->checksum = event->msg->part.checksum;
    made->call = call->id;
    made->rank = (unsigned)(participant - call->participants);
    made->segment = event->msg->part.part;
    begin_job(coordinator, &made->job);
}

bool segments_do(const struct work *work)
{
    return work == &segment_check || work == &segment_reduce;
}

/* ---- input segments ---- */

struct call *input_call(const struct coordinator *coordinator,
                        const struct member *member, uint64_t number)
{
    const struct checkpoint *checkpoint = &coordinator->checkpoint;

    if (member->request.call && number == member->request.spec.number)
        return member->request.call;
    return checkpoint->holder == member &&
                   number == checkpoint->allowance.number
               ? checkpoint->fetch
               : NULL;
}

static uint64_t input_size(const struct coordinator *coordinator,
                           const struct participant *participant,
                           uint32_t segment)
{
    uint32_t size = coordinator->config.segment_bytes;
    uint64_t left = participant->bytes - (uint64_t)segment * size;

    return left < size ? left : size;
}

void input_on_part(struct coordinator *coordinator, struct member *member,
                   struct call *call, const struct event *event)
{
    struct participant *participant = call_participant(call, member);
    struct allowance *allowance = allowance_of(coordinator, member, call);
    uint32_t segment = event->msg->part.part;

    if (!participant || call->state != CALL_OPEN)
        return; /* it is complete, or has failed meanwhile */
    if (!participant_gives(call, participant) ||
        segment >= participant->count || !allowance->credit ||
        event->payload->size != input_size(coordinator, participant, segment)) {
        group_lose(coordinator, member, "it sent a segment that nobody wanted");
        return;
    }
    allowance->credit--;
    if (participant->segments[segment].state != SEGMENT_MISSING) {
        input_done(coordinator, call, participant); /* does its work again */
        return;
    }
    participant->segments[segment].state = SEGMENT_CHECKING;
    check(coordinator, call, participant, event);
}
