/* A member's messages to and from others. What it sends stays in the program's
 * memory, and is copied segment by segment as the receiver takes it. */
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "collectives/client_state.h"
#include "collectives/work.h"
#include "core/need.h"

enum transfer_state {
    TRANSFER_FLOWS,
    TRANSFER_MARKED, /* incoming: the end mark has come */
    TRANSFER_FAILED  /* outgoing: is told when nothing reads any more */
};

struct transfer {
    struct transfer *next;
    enum transfer_state state;
    bool incoming;
    uint64_t number;  /* the member's for it, among its CALLs */
    uint64_t request; /* the program's */
    uint64_t bytes;
    uint32_t segments, done;   /* in all; sent, or received and checked */
    uint32_t asked;            /* of an outgoing one: jobs begun */
    unsigned busy;             /* jobs that read the program's memory */
    struct blob *whole;        /* outgoing: the program's memory */
    uint64_t *checksums;       /* of its segments, as far as they are done */
    uint64_t mark;             /* once MARKED */
    char text[MSG_TEXT_BYTES]; /* why it FAILED */
};

/* ---- the list of transfers ---- */

static uint32_t segments_in(const struct client *client, uint64_t bytes)
{
    uint32_t size = client->connection.hub.part_bytes;

    return (uint32_t)((bytes + size - 1) / size);
}

static struct transfer *transfer_new(struct client *client, bool incoming,
                                     uint64_t request, uint64_t bytes)
{
    struct transfer *made = need_memory(1, sizeof *made);

    made->incoming = incoming;
    made->number = client->next_number++;
    made->request = request;
    made->bytes = bytes;
    made->segments = segments_in(client, bytes);
    made->checksums = need_memory(made->segments, sizeof(uint64_t));
    made->next = client->transfers;
    client->transfers = made;
    return made;
}

struct transfer *transfer_find(const struct client *client, uint64_t number)
{
    struct transfer *transfer = client->transfers;

    while (transfer && transfer->number != number)
        transfer = transfer->next;
    return transfer;
}

static void transfer_destroy(struct client *client, struct transfer *gone)
{
    struct transfer **link = &client->transfers;

    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    blob_unref(&gone->whole);
    free(gone->checksums);
    free(gone);
}

void transfers_free(struct client *client)
{
    while (client->transfers)
        transfer_destroy(client, client->transfers);
}

/* ---- ending ---- */

static void tell(struct client *client, uint64_t request, enum ending outcome,
                 const char *text)
{
    struct msg msg = {.kind = MSG_DELIVERED};

    msg.delivered.request = request;
    msg.delivered.outcome = outcome;
    (void)snprintf(msg.delivered.text, sizeof msg.delivered.text, "%s", text);
    effects_send(client->out, PEER_TRAINER, &msg, NULL);
}

static void end(struct client *client, struct transfer *transfer,
                enum ending outcome, const char *text)
{
    tell(client, transfer->request, outcome, text);
    transfer_destroy(client, transfer);
}

/* Not before nothing reads the program's memory any more. */
static void end_failed(struct client *client, struct transfer *transfer)
{
    if (!transfer->busy)
        end(client, transfer, ENDING_FAIL, transfer->text);
}

static void fail(struct client *client, struct transfer *transfer,
                 const char *text)
{
    transfer->state = TRANSFER_FAILED;
    (void)snprintf(transfer->text, sizeof transfer->text, "%s", text);
    end_failed(client, transfer);
}

void transfers_settle(struct client *client)
{
    struct transfer *next;

    if (!client->connection.news.lost)
        return;
    for (struct transfer *each = client->transfers; each; each = next) {
        next = each->next;
        if (each->state != TRANSFER_FAILED)
            fail(client, each, "the connection to the hub was lost");
    }
}

/* The end mark: vouches for all segments and their order. */
static uint64_t mark_of(const struct transfer *transfer)
{
    return XXH3_64bits(transfer->checksums,
                       transfer->segments * sizeof(uint64_t));
}

/* ---- sending ---- */

void transfer_on_post(struct client *client, const struct event *event)
{
    const struct msg_post *post = &event->msg->post;
    struct msg msg = {.kind = MSG_SEND};
    struct transfer *made;

    if (!is_joined(client)) {
        tell(client, post->request, ENDING_FAIL, "there is no hub");
        return;
    }
    made = transfer_new(client, false, post->request, event->payload->size);
    made->whole = blob_ref(event->payload);
    msg.send.number = made->number;
    msg.send.to = post->to;
    msg.send.tag = post->tag;
    msg.send.bytes = made->bytes;
    connection_say(client, &msg);
}

static void send_mark(struct client *client, const struct transfer *transfer)
{
    struct msg msg = {.kind = MSG_END};

    msg.end.number = transfer->number;
    msg.end.checksum = mark_of(transfer);
    connection_say(client, &msg);
}

struct transfer_copy {
    struct job job;
    uint64_t transfer; /* its number */
    uint32_t segment;
};

static void on_copied(void *machine, struct job *job)
{
    const struct transfer_copy *copy = (struct transfer_copy *)job;
    struct client *client = machine;
    struct transfer *transfer = transfer_find(client, copy->transfer);
    struct msg msg = {.kind = MSG_PART};

    if (!transfer)
        return;
    transfer->busy--;
    blob_unref(&job->in[0].blob);
    if (transfer->state == TRANSFER_FAILED) {
        end_failed(client, transfer);
        return;
    }
    transfer->checksums[copy->segment] = job->out[0]->checksum;
    msg.part.number = transfer->number;
    msg.part.part = copy->segment;
    msg.part.checksum = job->out[0]->checksum;
    effects_send(client->out, PEER_BULK, &msg, job->out[0]);
    if (++transfer->done == transfer->segments)
        send_mark(client, transfer);
}

static const struct work transfer_copy = {"transfer_copy", copy_input,
                                          on_copied};

static void begin_copy(struct client *client, struct transfer *transfer)
{
    uint32_t size = client->connection.hub.part_bytes;
    struct transfer_copy *copy =
        job_make(&transfer_copy, sizeof *copy, client->pool, 1);
    uint64_t offset = (uint64_t)transfer->asked * size;
    uint64_t left = transfer->bytes - offset;

    copy->job.in[0].blob = blob_slice(transfer->whole, (size_t)offset,
                                      (size_t)(left < size ? left : size));
    copy->transfer = transfer->number;
    copy->segment = transfer->asked++;
    transfer->busy++;
    effects_job(client->out, &copy->job);
}

void transfer_on_credit(struct client *client, struct transfer *transfer,
                        const struct msg_credit *credit)
{
    if (transfer->incoming)
        return; /* a hub that sends it is at fault */
    if (!transfer->segments)
        send_mark(client, transfer);
    for (uint64_t i = 0; i < credit->more; i++) {
        if (transfer->asked >= transfer->segments ||
            transfer->state == TRANSFER_FAILED)
            return;
        begin_copy(client, transfer);
    }
}

void transfer_on_outcome(struct client *client, struct transfer *transfer,
                         const struct msg_outcome *outcome)
{
    if (outcome->outcome != ENDING_SUCCESS)
        fail(client, transfer, outcome->text);
    else if (transfer->done < transfer->segments)
        fail(client, transfer, "said to be received before it was sent");
    else
        end(client, transfer, ENDING_SUCCESS, "");
}

/* ---- receiving ---- */

void transfer_on_fetch(struct client *client, const struct event *event)
{
    const struct msg_fetch *fetch = &event->msg->fetch;
    struct msg msg = {.kind = MSG_TAKE};

    if (!is_joined(client)) {
        tell(client, fetch->request, ENDING_FAIL, "there is no hub");
        return;
    }
    msg.take.id = fetch->id;
    msg.take.number =
        transfer_new(client, true, fetch->request, fetch->bytes)->number;
    connection_say(client, &msg);
}

static void received(struct client *client, struct transfer *transfer,
                     bool good)
{
    struct msg msg = {.kind = MSG_RECEIVED};

    msg.received.number = transfer->number;
    msg.received.good = good;
    connection_say(client, &msg);
    end(client, transfer, good ? ENDING_SUCCESS : ENDING_FAIL,
        good ? "" : "the message does not match its checksum");
}

/* It is complete with its last segment and its end mark, whichever comes last.
 */
static void advance(struct client *client, struct transfer *transfer)
{
    if (transfer->state == TRANSFER_MARKED &&
        transfer->done == transfer->segments)
        received(client, transfer, mark_of(transfer) == transfer->mark);
}

void transfer_on_end(struct client *client, const struct event *event)
{
    const struct msg_end *mark = &event->msg->end;
    struct transfer *transfer = transfer_find(client, mark->number);

    if (!transfer || !transfer->incoming)
        return;
    transfer->state = TRANSFER_MARKED;
    transfer->mark = mark->checksum;
    advance(client, transfer);
}

/* Is told to the program as well, which may not have taken it yet. */
void transfer_on_withdraw(struct client *client, const struct event *event)
{
    struct transfer *transfer =
        transfer_find(client, event->msg->withdraw.number);

    if (transfer && transfer->incoming)
        fail(client, transfer, "the sender is lost");
    effects_send(client->out, PEER_TRAINER, event->msg, NULL);
}

struct transfer_check {
    struct job job;
    uint64_t checksum; /* that it must have */
    uint64_t transfer; /* its number */
    uint64_t offset;
};

static void run_check(struct job *job)
{
    check_input(job, ((struct transfer_check *)job)->checksum);
}

static void on_checked(void *machine, struct job *job)
{
    const struct transfer_check *check = (struct transfer_check *)job;
    struct client *client = machine;
    struct transfer *transfer = transfer_find(client, check->transfer);
    struct msg msg = {.kind = MSG_GAIN};

    if (!transfer)
        return;
    if (job->status != STATUS_OK) {
        received(client, transfer, false);
        return;
    }
    transfer->checksums[check->offset / client->connection.hub.part_bytes] =
        check->checksum;
    transfer->done++;
    msg.gain.request = transfer->request;
    msg.gain.offset = check->offset;
    effects_send(client->out, PEER_TRAINER, &msg, job->in[0].blob);
    msg = (struct msg){.kind = MSG_CREDIT};
    msg.credit.exchange = transfer->number;
    msg.credit.more = 1;
    connection_say(client, &msg);
    advance(client, transfer);
}

static const struct work transfer_check = {"transfer_check", run_check,
                                           on_checked};

void transfer_on_piece(struct client *client, const struct transfer *transfer,
                       const struct event *event)
{
    const struct msg_piece *piece = &event->msg->piece;
    struct transfer_check *check;

    if (!transfer->incoming || piece->offset >= transfer->bytes ||
        piece->offset % client->connection.hub.part_bytes != 0 ||
        event->payload->size > transfer->bytes - piece->offset)
        return;
    check = job_make(&transfer_check, sizeof *check, client->pool, 1);
    check->job.in[0].blob = blob_ref(event->payload);
    check->checksum = piece->checksum;
    check->transfer = piece->number;
    check->offset = piece->offset;
    effects_job(client->out, &check->job);
}
