#include "collectives/matching.h"

#include <inttypes.h>
#include <stdio.h>

#include "collectives/segment.h"
#include "collectives/state.h"
#include "collectives/work.h"
#include "core/text.h"

enum { MOST_CALLS = 1 << 14 }; /* of one version */

static bool is_elastic(const struct coordinator *coordinator)
{
    return coordinator->group.manner == MANNER_ELASTIC;
}

/* ---- messages ---- */

/* The call of an elastic group that the member leaves before it is done, which
 * fails it; or NULL. */
static struct call *call_left(const struct coordinator *coordinator,
                              const struct member *member)
{
    const struct request *request = &member->request;

    return is_elastic(coordinator) && request->state == REQUEST_CALLING
               ? request->call
               : NULL;
}

void matching_on_call(struct coordinator *coordinator, struct member *member,
                      const struct event *event)
{
    struct request *request = &member->request;
    struct call *left = call_left(coordinator, member);

    request_drop(coordinator, member);
    if (left) {
        group_renew(coordinator);
        call_fail(coordinator, left, ENDING_FAIL, "a member has left the call");
    }
    request->spec = event->msg->call;
    request->allowance.number = request->spec.number;
    request->state = REQUEST_WAITING;
    coordinator->dirty |= DIRTY_REQUESTS;
}

void matching_on_give_up(struct coordinator *coordinator, struct member *member,
                         const struct event *event)
{
    const struct msg_give_up *give_up = &event->msg->give_up;
    struct call *left = call_left(coordinator, member);
    char text[MSG_TEXT_BYTES];

    request_drop(coordinator, member);
    (void)snprintf(text, sizeof text, "%s: %.70s", member->name, give_up->text);
    if (left)
        call_fail(coordinator, left, ENDING_FAIL, text);
    if (!is_elastic(coordinator) || !is_listed(member) ||
        give_up->era != coordinator->group.epoch)
        return;
    group_renew(coordinator);
    calls_lose(coordinator, member, text);
}

/* ---- what members say of a call ---- */

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

/* Why a call of this kind cannot be, or NULL. */
static const char *nonsense(const struct coordinator *coordinator,
                            const struct msg_call *spec)
{
    if (spec->bytes > coordinator->config.limit)
        return "more than the hub keeps: send less";
    if (spec->collective >= COLLECTIVE_CHECKPOINT && is_elastic(coordinator))
        return "only a patient group has checkpoints";
    if (spec->collective == COLLECTIVE_STOP && !is_elastic(coordinator))
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

    describe(&member->request.spec, ours, sizeof ours);
    describe(&call->spec, first, sizeof first);
    text_init(&out, text, sizeof text);
    text_add(&out, "call %" PRIu64 ": %s here, %s at %s", call->sequence, ours,
             first, call->first);
    request_end(coordinator, member, ENDING_ABORT, text);
    if (is_elastic(coordinator)) {
        group_renew(coordinator);
        call_fail(coordinator, call, ENDING_ABORT, text);
    }
}

/* ---- a call that begins ---- */

/* Whether the call follows those of its era that there are, all of them done;
 * of an elastic group what is done is gone, and each is the next. */
static const char *out_of_order(const struct coordinator *coordinator,
                                const struct msg_call *spec)
{
    const struct calls *calls = &coordinator->calls;
    uint64_t next = calls->kept ? calls->kept->sequence + 1 : 0;

    for (const struct call *call = calls->list; call; call = call->next)
        if (call->state == CALL_OPEN && call->era == spec->era &&
            call != coordinator->checkpoint.fetch)
            return "the call before this one is not done";
    return !is_elastic(coordinator) && spec->sequence > next
               ? "calls before this one were left out"
               : NULL;
}

/* Why there cannot be such a new call now; NULL: there can. */
static const char *too_early(const struct coordinator *coordinator,
                             const struct member *member)
{
    const struct msg_call *spec = &member->request.spec;

    if (is_elastic(coordinator))
        return spec->era != coordinator->group.epoch || !is_listed(member)
                   ? "the membership has changed"
                   : out_of_order(coordinator, spec);
    if (spec->era != coordinator->checkpoint.version)
        return "the group is at another version: load its checkpoint first";
    if (spec->sequence >= MOST_CALLS)
        return "more calls than the hub keeps: checkpoint more often";
    return out_of_order(coordinator, spec);
}

/* The members keep the model of a lazy checkpoint. */
static bool has_room(const struct coordinator *coordinator,
                     const struct msg_call *spec)
{
    return spec->collective == COLLECTIVE_LAZY ||
           calls_have_room(coordinator, spec->bytes);
}

static struct call *begin(struct coordinator *coordinator,
                          struct member *member)
{
    const struct msg_call *spec = &member->request.spec;
    enum ending outcome = is_elastic(coordinator) ? ENDING_FAIL : ENDING_ABORT;
    const char *words = too_early(coordinator, member);
    struct call *call;

    if (!words && !has_room(coordinator, spec)) {
        outcome = ENDING_ABORT;
        words = "more than the hub keeps, with the results and the model that "
                "it has: checkpoint more often, or send less";
    } else if (!words && spec->collective == COLLECTIVE_BROADCAST &&
               spec->root >= coordinator->group.size) {
        outcome = ENDING_ABORT;
        words = "no member has the root's rank";
    }
    if (words) {
        request_end(coordinator, member, outcome, words);
        return NULL;
    }
    call = call_new(coordinator, spec, member->name);
    if (spec->collective != COLLECTIVE_ALLGATHER)
        results_lay(coordinator, call);
    return call;
}

/* ---- coming to a call ---- */

/* With what this member contributes the result is more than there is room for:
 * there will be none. */
static void outgrown(struct coordinator *coordinator, struct member *member,
                     struct call *call)
{
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text,
                   "with %.30s's %" PRIu64 " bytes more than the hub keeps, "
                   "%" PRIu64 ": send less at a time",
                   member->name, member->request.spec.bytes,
                   coordinator->config.limit);
    request_end(coordinator, member, ENDING_ABORT, text);
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
        return call->state != CALL_OPEN || !participant ||
               !participant_gives(call, participant);
    default:
        return false;
    }
}

/* A new call while others stop: nobody else will come to it. */
static bool is_stopped(struct coordinator *coordinator, struct member *member)
{
    struct calls *calls = &coordinator->calls;
    bool stops = member->request.spec.collective == COLLECTIVE_STOP;

    if (stops && !calls->stopping) {
        calls->stopping = true;
        calls_fail(coordinator, ENDING_NO_NEED, "the group stops");
    }
    if (!calls->stopping || stops)
        return false;
    request_end(coordinator, member, ENDING_NO_NEED, "the group stops");
    return true;
}

static void enter(struct coordinator *coordinator, struct member *member)
{
    struct request *request = &member->request;
    struct call *call = call_find(coordinator, &request->spec);
    struct participant *participant;

    if (!call)
        call = begin(coordinator, member);
    if (!call)
        return;
    if (!agree(&request->spec, &call->spec)) {
        mismatch(coordinator, member, call);
        return;
    }
    participant = call_participant(call, member);
    if (participant &&
        !participant_fill(coordinator, call, participant, &request->spec)) {
        outgrown(coordinator, member, call);
        return;
    }
    if (participant && request->spec.bytes != participant->bytes) {
        mismatch(coordinator, member, call);
        return;
    }
    request->takes = takes(call, participant);
    request_attend(coordinator, member, call);
    if (participant && call->state == CALL_OPEN)
        input_open(coordinator, member, call, participant);
    coordinator->dirty |= DIRTY_CALLS;
}

/* Members of a patient group wait until all founders are there. */
void matching_enter(struct coordinator *coordinator)
{
    bool forms =
        !is_elastic(coordinator) && coordinator->group.phase != GROUP_FORMED;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];
        const struct request *request = &member->request;
        const char *words;

        if (request->state != REQUEST_WAITING || forms)
            continue;
        words = nonsense(coordinator, &request->spec);
        if (words)
            request_end(coordinator, member, ENDING_ABORT, words);
        else if (request->spec.collective == COLLECTIVE_LOAD)
            checkpoint_load(coordinator, member);
        else if (!is_stopped(coordinator, member))
            enter(coordinator, member);
    }
}

/* ---- completing ---- */

static void complete(struct coordinator *coordinator, struct call *call)
{
    switch ((enum collective)call->spec.collective) {
    case COLLECTIVE_STOP:
        call_close(coordinator, call);
        coordinator->calls.stopping = false;
        group_renew(coordinator);
        break;
    case COLLECTIVE_CHECKPOINT:
    case COLLECTIVE_LAZY:
        call_close(coordinator, call);
        checkpoint_commit(coordinator, call);
        break;
    case COLLECTIVE_MODEL:
        call_close(coordinator, call);
        checkpoint_fetched(coordinator, call);
        break;
    default:
        if (is_elastic(coordinator)) {
            coordinator->calls.averages++;
            call_close(coordinator, call);
        } else {
            call_keep(coordinator, call);
        }
    }
}

static bool all_entered(const struct coordinator *coordinator,
                        const struct call *call)
{
    if (call->spec.collective == COLLECTIVE_CHECKPOINT ||
        call->spec.collective == COLLECTIVE_LAZY)
        return checkpoint_has_all(coordinator, call);
    if (call->spec.collective == COLLECTIVE_MODEL)
        return true;
    for (unsigned i = 0; i < call->size; i++)
        if (!call->participants[i].entered)
            return false;
    return true;
}

/* Completes the call, if nothing is missing any more. */
static void advance(struct coordinator *coordinator, struct call *call)
{
    if (call->state != CALL_OPEN || !all_entered(coordinator, call))
        return;
    if (!call->results)
        results_lay(coordinator, call);
    if (call->spec.collective == COLLECTIVE_CHECKPOINT &&
        checkpoint_needs_source(coordinator, call))
        return;
    if (call->ready == call->count)
        complete(coordinator, call);
}

/* A call that is complete may leave the list, and have others closed. */
void matching_complete(struct coordinator *coordinator)
{
    struct call *next;

    for (struct call *call = coordinator->calls.list; call; call = next) {
        next = call->next;
        advance(coordinator, call);
    }
}
