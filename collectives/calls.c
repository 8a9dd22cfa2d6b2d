/* From CALL to OUTCOME: who meets whom, in which call. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/inside.h"
#include "core/text.h"

/* "allreduce sum of 40 bytes f32" */
static void describe(const struct msg_call *spec, char *text, size_t size)
{
    struct text out;

    text_init(&out, text, size);
    text_add(&out, "%s", collective_words[spec->collective].text);
    if (spec->collective == COLLECTIVE_ALLREDUCE)
        text_add(&out, " %s", reduction_words[spec->reduction].text);
    text_add(&out, " of %" PRIu64 " bytes", spec->bytes);
    if (spec->collective == COLLECTIVE_ALLREDUCE)
        text_add(&out, " %s", scalar_words[spec->scalar].text);
    if (spec->collective == COLLECTIVE_BROADCAST)
        text_add(&out, " from rank %u", spec->root);
}

void calls_on_give_up(struct coordinator *coordinator, struct member *member,
                      const struct event *event)
{
    const struct msg_give_up *give_up = &event->msg->give_up;
    int place = (int)(member - coordinator->members);
    char text[MSG_TEXT_BYTES];

    member->calling = false;
    member->call = NULL;
    if (coordinator->manner == MANNER_PATIENT ||
        give_up->era != coordinator->epoch || !member->listed)
        return;
    (void)snprintf(text, sizeof text, "%s: %.70s", member->name, give_up->text);
    roster_renew(coordinator);
    calls_fail(coordinator, place, ENDING_FAIL, text);
}

/* ---- coming to a call ---- */

/* Why a call of this kind cannot be, or NULL. */
static const char *nonsense(const struct coordinator *coordinator,
                            const struct msg_call *spec)
{
    bool patient = coordinator->manner == MANNER_PATIENT;

    if (spec->bytes > coordinator->config.limit)
        return "more than the hub keeps: send less";
    if (spec->collective >= COLLECTIVE_CHECKPOINT && !patient)
        return "only a patient group has checkpoints";
    if (spec->collective == COLLECTIVE_STOP && patient)
        return "only an elastic group can be stopped";
    if (spec->collective == COLLECTIVE_CHECKPOINT && spec->bytes == 0)
        return "a checkpoint of zero bytes";
    if (spec->collective != COLLECTIVE_ALLREDUCE)
        return NULL;
    if (!reduction_fits(spec->reduction, spec->scalar))
        return "this reduction is not defined for such numbers";
    if (spec->bytes % scalar_bytes(spec->scalar) != 0)
        return "half a number";
    return NULL;
}

/* Whether two calls are one and the same collective. */
static bool agree(const struct msg_call *one, const struct msg_call *other)
{
    bool same = one->collective == other->collective;

    if (one->collective != COLLECTIVE_ALLGATHER &&
        one->collective != COLLECTIVE_LAZY)
        same = same && one->bytes == other->bytes;
    if (one->collective == COLLECTIVE_ALLREDUCE)
        same = same && one->scalar == other->scalar &&
               one->reduction == other->reduction;
    if (one->collective == COLLECTIVE_BROADCAST)
        same = same && one->root == other->root;
    return same;
}

static void mismatch(struct coordinator *coordinator, struct member *member,
                     struct call *call)
{
    char text[MSG_TEXT_BYTES], ours[64], first[64];
    struct text out;

    describe(&member->request, ours, sizeof ours);
    describe(&call->spec, first, sizeof first);
    text_init(&out, text, sizeof text);
    text_add(&out, "call %" PRIu64 ": %s here, %s at %s", call->sequence, ours,
             first, call->first);
    member_told(coordinator, member, ENDING_ABORT, text);
    if (coordinator->manner == MANNER_ELASTIC && !call->complete) {
        roster_renew(coordinator);
        call_fail(coordinator, call, ENDING_ABORT, text);
    }
}

/* Whether the call follows those of its era that there are, all of them done;
 * of an elastic group what is done is gone, and each is the next. */
static const char *out_of_order(const struct coordinator *coordinator,
                                const struct msg_call *spec)
{
    bool elastic = coordinator->manner == MANNER_ELASTIC;
    uint64_t next = 0;

    for (const struct call *call = coordinator->calls; call;
         call = call->next) {
        if (call->retired || call->era != spec->era ||
            call == coordinator->fetch)
            continue;
        if (!call->complete)
            return "the call before this one is not done";
        if (call->sequence >= next && call != coordinator->checkpoint)
            next = call->sequence + 1;
    }
    return !elastic && spec->sequence > next
               ? "calls before this one were left out"
               : NULL;
}

/* Why there cannot be such a new call now; NULL: there can. */
static const char *too_early(const struct coordinator *coordinator,
                             const struct member *member)
{
    const struct msg_call *spec = &member->request;

    if (coordinator->manner == MANNER_ELASTIC)
        return spec->era != coordinator->epoch || !member->listed
                   ? "the membership has changed"
                   : out_of_order(coordinator, spec);
    if (spec->era != coordinator->version)
        return "the group is at another version: load its checkpoint first";
    if (spec->sequence >= COORDINATOR_CALLS)
        return "more calls than the hub keeps: checkpoint more often";
    return out_of_order(coordinator, spec);
}

static struct call *call_begin(struct coordinator *coordinator,
                               struct member *member)
{
    const struct msg_call *spec = &member->request;
    const char *words = too_early(coordinator, member);
    struct call *call;

    if (words) {
        member_told(coordinator, member,
                    coordinator->manner == MANNER_ELASTIC ? ENDING_FAIL
                                                          : ENDING_ABORT,
                    words);
        return NULL;
    }
    if (!coordinator_has_room(coordinator, spec->bytes)) {
        member_told(coordinator, member, ENDING_ABORT,
                    "more than the hub keeps: checkpoint more often, or send "
                    "less");
        return NULL;
    }
    if (spec->collective == COLLECTIVE_BROADCAST &&
        spec->root >= coordinator->size) {
        member_told(coordinator, member, ENDING_ABORT,
                    "no member has the root's rank");
        return NULL;
    }
    call = call_new(coordinator, spec, member->name);
    if (spec->collective != COLLECTIVE_ALLGATHER)
        results_lay(coordinator, call);
    return call;
}

void call_attend(struct coordinator *coordinator, struct member *member,
                 struct call *call)
{
    member->call = call;
    member->next = 0;
    member->credit = coordinator->config.window;
    if (call->complete) {
        send_outcome(coordinator, member, ENDING_SUCCESS, call, "");
        member->calling = false;
    }
    results_deliver(coordinator, member);
}

/* Of a number of bytes that has been checked against the limit. */
static uint32_t segments_in(const struct coordinator *coordinator,
                            uint64_t bytes)
{
    return (uint32_t)((bytes + coordinator->config.segment_bytes - 1) /
                      coordinator->config.segment_bytes);
}

bool participant_fill(struct coordinator *coordinator, struct call *call,
                      struct participant *participant,
                      const struct msg_call *spec)
{
    if (participant->entered)
        return true;
    if (call->spec.collective == COLLECTIVE_ALLGATHER) {
        if (!coordinator_has_room(coordinator, spec->bytes))
            return false;
        call->bytes += spec->bytes;
        coordinator->held += spec->bytes;
    }
    participant->entered = true;
    participant->bytes = spec->bytes;
    participant->count = call->spec.collective == COLLECTIVE_LAZY
                             ? 0
                             : segments_in(coordinator, spec->bytes);
    participant->segments = calloc(participant->count ? participant->count : 1,
                                   sizeof *participant->segments);
    if (!participant->segments)
        abort();
    return true;
}

/* With what this member contributes the result is more than there is room for:
 * there will be none. */
static void outgrown(struct coordinator *coordinator, struct member *member,
                     struct call *call)
{
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text,
                   "with %.30s's %" PRIu64 " bytes more than the hub keeps, "
                   "%" PRIu64 ": send less at a time",
                   member->name, member->request.bytes,
                   coordinator->config.limit);
    member_told(coordinator, member, ENDING_ABORT, text);
    call_fail(coordinator, call, ENDING_ABORT, text);
}

/* Whether the member is to get the result: one that sends it has it. */
static bool takes(const struct call *call,
                  const struct participant *participant)
{
    switch ((enum collective)call->spec.collective) {
    case COLLECTIVE_ALLREDUCE:
    case COLLECTIVE_ALLGATHER:
        return true;
    case COLLECTIVE_BROADCAST:
        return call->complete || !participant ||
               !participant_gives(call, participant);
    default:
        return false;
    }
}

/* A new call while others stop: nobody else will come to it. */
static bool is_stopped(struct coordinator *coordinator, struct member *member)
{
    if (member->request.collective == COLLECTIVE_STOP &&
        !coordinator->stopping) {
        coordinator->stopping = true;
        calls_fail(coordinator, -1, ENDING_NO_NEED, "the group stops");
    }
    if (!coordinator->stopping || member->request.collective == COLLECTIVE_STOP)
        return false;
    member_told(coordinator, member, ENDING_NO_NEED, "the group stops");
    return true;
}

static void enter(struct coordinator *coordinator, struct member *member)
{
    struct call *call = call_find(coordinator, &member->request);
    struct participant *participant;

    if (!call)
        call = call_begin(coordinator, member);
    if (!call)
        return;
    if (!agree(&member->request, &call->spec)) {
        mismatch(coordinator, member, call);
        return;
    }
    participant = call_participant(call, coordinator, member);
    if (participant &&
        !participant_fill(coordinator, call, participant, &member->request)) {
        outgrown(coordinator, member, call);
        return;
    }
    if (participant && member->request.bytes != participant->bytes) {
        mismatch(coordinator, member, call);
        return;
    }
    member->takes = takes(call, participant);
    call_attend(coordinator, member, call);
    if (call->complete)
        return;
    if (participant)
        participant_open(coordinator, member, call, participant);
    call_advance(coordinator, call);
}

static void calls_enter(struct coordinator *coordinator, struct member *member)
{
    bool patient = coordinator->manner == MANNER_PATIENT;
    const char *words = nonsense(coordinator, &member->request);

    if (!member->calling || member->call || (patient && !coordinator->begun))
        return;
    if (words)
        member_told(coordinator, member, ENDING_ABORT, words);
    else if (member->request.collective == COLLECTIVE_LOAD)
        checkpoint_load(coordinator, member);
    else if (!is_stopped(coordinator, member))
        enter(coordinator, member);
}

void calls_enter_all(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].present)
            calls_enter(coordinator, &coordinator->members[i]);
    for (struct call *call = coordinator->calls; call; call = call->next)
        if (!call->retired)
            call_advance(coordinator, call);
}

/* Who leaves a call of an elastic group before it is done fails it. */
void calls_on_call(struct coordinator *coordinator, struct member *member,
                   const struct event *event)
{
    struct call *left = member->calling ? member->call : NULL;

    if (event->msg->call.collective == COLLECTIVE_MODEL) {
        checkpoint_on_model(coordinator, member, &event->msg->call);
        return;
    }
    member->call = NULL;
    member->calling = false;
    if (left && coordinator->manner == MANNER_ELASTIC) {
        roster_renew(coordinator);
        call_fail(coordinator, left, ENDING_FAIL, "a member has left the call");
    }
    member->request = event->msg->call;
    member->calling = true;
    calls_enter(coordinator, member);
}

/* ---- completing ---- */

static void complete(struct coordinator *coordinator, struct call *call)
{
    bool stops = call->spec.collective == COLLECTIVE_STOP;

    call->complete = true;
    call->retired = coordinator->manner == MANNER_ELASTIC;
    coordinator->averages += call->retired && !stops;
    for (unsigned i = 0; i < call->size; i++) {
        free(call->participants[i]
                 .segments); /* all of them are in the result segments */
        call->participants[i].segments = NULL;
    }
    if (call->spec.collective == COLLECTIVE_CHECKPOINT ||
        call->spec.collective == COLLECTIVE_LAZY)
        checkpoint_commit(coordinator, call);
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].call == call) {
            send_outcome(coordinator, &coordinator->members[i], ENDING_SUCCESS,
                         call, "");
            coordinator->members[i].calling = false;
        }
    results_deliver_all(coordinator, call);
    if (call->spec.collective == COLLECTIVE_MODEL)
        checkpoint_fetched(coordinator, call);
    if (stops) {
        coordinator->stopping = false;
        roster_renew(coordinator);
    }
}

static bool all_entered(const struct coordinator *coordinator,
                        const struct call *call)
{
    if (call->spec.collective == COLLECTIVE_CHECKPOINT ||
        call->spec.collective == COLLECTIVE_LAZY)
        return checkpoint_all_here(coordinator, call);
    if (call->spec.collective == COLLECTIVE_MODEL)
        return true;
    for (unsigned i = 0; i < call->size; i++)
        if (!call->participants[i].entered)
            return false;
    return true;
}

void call_advance(struct coordinator *coordinator, struct call *call)
{
    if (call->complete || call->retired || !all_entered(coordinator, call))
        return;
    if (!call->laid)
        results_lay(coordinator, call);
    if (call->spec.collective == COLLECTIVE_CHECKPOINT &&
        checkpoint_choose_source(coordinator, call))
        return;
    if (call->ready == call->count)
        complete(coordinator, call);
}
