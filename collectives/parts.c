/* Data: contributions come up in parts, results go down in pieces. */
#include <stdlib.h>

#include "collectives/inside.h"

bool entry_gives(const struct call *call, const struct entry *entry)
{
    switch ((enum collective)call->spec.collective) {
    case COLLECTIVE_ALLREDUCE:
    case COLLECTIVE_ALLGATHER:
        return true;
    case COLLECTIVE_BROADCAST:
        return (uint32_t)(entry - call->entries) == call->spec.root;
    case COLLECTIVE_CHECKPOINT:
    case COLLECTIVE_MODEL:
        return (int)(entry - call->entries) == call->giver;
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

/* Bytes of part `part` of a contribution. */
static uint64_t part_size(const struct coordinator *coordinator,
                          const struct entry *entry, uint32_t part)
{
    uint64_t left =
        entry->bytes - (uint64_t)part * coordinator->config.part_bytes;

    return left < coordinator->config.part_bytes
               ? left
               : coordinator->config.part_bytes;
}

/* Parts of this call that the member may send: a member brings a model while it
 * is in another call. */
static uint32_t *upload_of(struct coordinator *coordinator,
                           struct member *member, const struct call *call)
{
    return call == coordinator->model ? &coordinator->model_upload
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
                        const struct call *call, uint32_t parts)
{
    uint32_t *upload = upload_of(coordinator, member, call);
    uint32_t window = window_of(coordinator, call);
    struct msg msg = {.kind = MSG_CREDIT};

    if (*upload >= window)
        return;
    if (parts > window - *upload)
        parts = window - *upload;
    *upload += parts;
    msg.credit.exchange = call == coordinator->model ? coordinator->model_number
                                                     : member->request.number;
    msg.credit.more = parts;
    effects_send(coordinator->out, member->control, &msg, NULL);
}

void entry_open(struct coordinator *coordinator, struct member *member,
                struct call *call, struct entry *entry)
{
    *upload_of(coordinator, member, call) = 0;
    if (entry_gives(call, entry) && entry->here < entry->count)
        send_credit(coordinator, member, call, coordinator->config.window);
}

/* ---- pieces ---- */

/* Of a reduction piece i is of all parts i; otherwise there is a piece for
 * each part, in the order of the ranks. */
void pieces_lay(struct coordinator *coordinator, struct call *call)
{
    bool gathers = is_gathered(call);
    uint32_t size = coordinator->config.part_bytes;
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
        call->count += call->entries[i].count;
    call->pieces = calloc(call->count ? call->count : 1, sizeof *call->pieces);
    if (!call->pieces)
        abort();
    call->laid = true;
    for (uint32_t i = 0; !gathers && i < call->count; i++)
        call->pieces[i].offset = (uint64_t)i * size;
    for (unsigned i = 0; gathers && i < call->size; i++) {
        struct entry *entry = &call->entries[i];

        for (uint32_t j = 0; j < entry->count; j++, at++) {
            call->pieces[at].offset = offset + (uint64_t)j * size;
            call->pieces[at].blob = entry->parts[j].blob;
            call->ready += entry->parts[j].blob != NULL;
            entry->parts[j].blob = NULL;
        }
        offset += entry->bytes;
    }
}

/* The piece that a part of this entry becomes, if it is not reduced. */
static struct piece *piece_of(struct call *call, const struct entry *entry,
                              uint32_t part)
{
    uint32_t at = part;

    if (is_gathered(call))
        for (const struct entry *each = call->entries; each < entry; each++)
            at += each->count;
    return &call->pieces[at];
}

void pieces_deliver(struct coordinator *coordinator, struct member *member)
{
    struct call *call = member->call;
    struct msg msg = {.kind = MSG_PIECE};

    if (!call || !call->laid)
        return;
    while (member->takes && member->bulk != PEER_NONE && member->credit &&
           member->next < call->count && call->pieces[member->next].blob) {
        const struct piece *piece = &call->pieces[member->next++];

        member->credit--;
        msg.piece.number = member->request.number;
        msg.piece.offset = piece->offset;
        msg.piece.checksum = piece->blob->checksum;
        effects_send(coordinator->out, member->bulk, &msg, piece->blob);
    }
    if (call->complete && (!member->takes || member->next == call->count))
        member->call = NULL;
}

void pieces_deliver_all(struct coordinator *coordinator, struct call *call)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].call == call)
            pieces_deliver(coordinator, &coordinator->members[i]);
}

void parts_on_credit(struct coordinator *coordinator, struct member *member,
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
    pieces_deliver(coordinator, member);
}

/* ---- parts ---- */

static void check(struct coordinator *coordinator, struct call *call,
                  const struct entry *entry, const struct msg_part *part,
                  struct blob *payload)
{
    struct job *job = job_new(&work_part_check, coordinator->pool, 1);

    job->in[0].blob = blob_ref(payload);
    job->tag[0] = call->id;
    job->tag[1] = (uint64_t)(entry - call->entries) << 32 | part->part;
    job->tag[2] = part->checksum;
    coordinator_job(coordinator, job);
}

/* The call that the member means by this number, NULL: none any more. */
static struct call *call_of(struct coordinator *coordinator,
                            const struct member *member, uint64_t number)
{
    if (member->call && number == member->request.number)
        return member->call;
    return coordinator->server == (int)(member - coordinator->members) &&
                   number == coordinator->model_number
               ? coordinator->model
               : NULL;
}

void parts_on_part(struct coordinator *coordinator, struct member *member,
                   const struct event *event)
{
    const struct msg_part *part = &event->msg->part;
    struct call *call = call_of(coordinator, member, part->number);
    struct entry *entry = call ? call_entry(call, coordinator, member) : NULL;

    if (!call)
        mails_on_part(coordinator, member, event);
    if (!entry || call->complete)
        return; /* the call has failed meanwhile */
    if (!entry_gives(call, entry) || part->part >= entry->count ||
        !*upload_of(coordinator, member, call) ||
        event->payload->size != part_size(coordinator, entry, part->part)) {
        member_lost(coordinator, member, "it sent a part that nobody wanted",
                    false);
        return;
    }
    --*upload_of(coordinator, member, call);
    if (entry->parts[part->part].state != PART_MISSING) {
        send_credit(coordinator, member, call, 1); /* it does it again */
        return;
    }
    entry->parts[part->part].state = PART_CHECKING;
    check(coordinator, call, entry, part, event->payload);
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
                                const struct entry *entry)
{
    struct member *member =
        entry->member >= 0 ? &coordinator->members[entry->member] : NULL;

    return member && (member->call == call || call == coordinator->model)
               ? member
               : NULL;
}

/* Everybody's part is here: reduces them, in rank order. */
static void reduce(struct coordinator *coordinator, struct call *call,
                   uint32_t part)
{
    struct job *job;

    if (call->pieces[part].busy || call->pieces[part].blob)
        return;
    for (unsigned i = 0; i < call->size; i++)
        if (!call->entries[i].entered ||
            call->entries[i].parts[part].state != PART_HERE)
            return;
    job = job_new(&work_part_reduce, coordinator->pool, call->size);
    for (unsigned i = 0; i < call->size; i++) {
        job->in[i].blob = call->entries[i].parts[part].blob;
        call->entries[i].parts[part].blob = NULL;
        call->entries[i].parts[part].state = PART_DONE;
    }
    job->number[0] = (double)call->spec.scalar;
    job->number[1] = (double)call->spec.reduction;
    job->tag[0] = call->id;
    job->tag[1] = part;
    call->pieces[part].busy = true;
    coordinator_job(coordinator, job);
}

/* A piece is there: sends it to those who wait for it. */
static void piece_ready(struct coordinator *coordinator, struct call *call)
{
    call->ready++;
    pieces_deliver_all(coordinator, call);
    call_advance(coordinator, call);
}

/* Another giver of a checkpoint may have brought this piece already. */
static void place(struct coordinator *coordinator, struct call *call,
                  struct piece *piece, struct blob **blob)
{
    if (piece->blob) {
        blob_unref(blob);
        call_advance(coordinator, call);
        return;
    }
    piece->blob = *blob;
    *blob = NULL;
    piece_ready(coordinator, call);
}

static void checked(struct coordinator *coordinator, struct call *call,
                    struct job *job)
{
    struct entry *entry = &call->entries[job->tag[1] >> 32];
    uint32_t part = (uint32_t)job->tag[1];
    struct member *member = member_in(coordinator, call, entry);

    if (job->status != STATUS_OK) {
        entry->parts[part].state = PART_MISSING;
        if (member)
            member_lost(coordinator, member,
                        "a part did not match its checksum", false);
        return;
    }
    entry->parts[part].state = PART_HERE;
    entry->parts[part].blob = blob_ref(job->in[0].blob);
    entry->here++;
    if (is_reduced(call)) {
        reduce(coordinator, call, part);
        return;
    }
    if (member)
        send_credit(coordinator, member, call, 1);
    if (!call->laid)
        return;
    entry->parts[part].state = PART_DONE;
    place(coordinator, call, piece_of(call, entry, part),
          &entry->parts[part].blob);
}

static void reduced(struct coordinator *coordinator, struct call *call,
                    struct job *job)
{
    uint32_t part = (uint32_t)job->tag[1];

    if (job->status != STATUS_OK) {
        calls_fail(coordinator, -1, ENDING_ABORT, status_words(job->status));
        return;
    }
    call->pieces[part].blob = blob_ref(job->out[0]);
    for (unsigned i = 0; i < call->size; i++) {
        struct member *member = member_in(coordinator, call, &call->entries[i]);

        if (member)
            send_credit(coordinator, member, call, 1);
    }
    piece_ready(coordinator, call);
}

void parts_done(struct coordinator *coordinator, struct job *job)
{
    struct call *call = call_by_id(coordinator, job->tag[0]);

    if (!call || call->complete)
        return;
    if (job->work == &work_part_reduce)
        reduced(coordinator, call, job);
    else
        checked(coordinator, call, job);
}
