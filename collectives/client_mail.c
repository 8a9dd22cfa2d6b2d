/* A member's messages to and from others. What it sends stays in the program's
 * memory, and is copied segment by segment as the receiver takes it. */
#include <stdio.h>
#include <stdlib.h>

#include <xxhash.h>

#include "collectives/client_inside.h"
#include "collectives/work.h"

static uint32_t segments_in(const struct client *client, uint64_t bytes)
{
    uint32_t size = client->hub.part_bytes;

    return (uint32_t)((bytes + size - 1) / size);
}

/* A new one at the head of the list. */
static struct transfer *transfer_add(struct client *client, bool incoming,
                                     uint64_t request, uint64_t bytes)
{
    struct transfer *made = calloc(1, sizeof *made);

    if (!made)
        abort();
    made->incoming = incoming;
    made->number = client->next_number++;
    made->request = request;
    made->bytes = bytes;
    made->segments = segments_in(client, bytes);
    made->checksums =
        calloc(made->segments ? made->segments : 1, sizeof(uint64_t));
    if (!made->checksums)
        abort();
    made->next = client->transfers;
    client->transfers = made;
    return made;
}

static struct transfer *transfer_find(struct client *client, uint64_t number)
{
    for (struct transfer *each = client->transfers; each; each = each->next)
        if (each->number == number)
            return each;
    return NULL;
}

static void transfer_free(struct client *client, struct transfer *gone)
{
    struct transfer **link = &client->transfers;

    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    blob_unref(&gone->whole);
    free(gone->checksums);
    free(gone);
}

void transfer_free_all(struct client *client)
{
    while (client->transfers)
        transfer_free(client, client->transfers);
}

static void tell(struct client *client, uint64_t request, enum ending outcome,
                 const char *text)
{
    struct msg msg = {.kind = MSG_DELIVERED};

    msg.delivered.request = request;
    msg.delivered.outcome = outcome;
    (void)snprintf(msg.delivered.text, sizeof msg.delivered.text, "%s", text);
    effects_send(client->out, PEER_TRAINER, &msg, NULL);
}

static void end(struct client *client, struct transfer *one,
                enum ending outcome, const char *text)
{
    tell(client, one->request, outcome, text);
    transfer_free(client, one);
}

/* Not before nothing reads the program's memory any more. */
static void fail(struct client *client, struct transfer *one, const char *text)
{
    one->failed = true;
    (void)snprintf(one->text, sizeof one->text, "%s", text);
    if (!one->busy)
        end(client, one, ENDING_FAIL, one->text);
}

void transfer_fail_all(struct client *client, const char *text)
{
    struct transfer *next;

    for (struct transfer *each = client->transfers; each; each = next) {
        next = each->next;
        if (!each->failed)
            fail(client, each, text);
    }
}

/* The end mark: vouches for all segments and their order. */
static uint64_t checksum_of(const struct transfer *one)
{
    return XXH3_64bits(one->checksums, one->segments * sizeof(uint64_t));
}

/* ---- sending ---- */

void transfer_on_post(struct client *client, const struct msg_post *post,
                      struct blob *payload)
{
    struct msg msg = {.kind = MSG_SEND};
    struct transfer *made;

    if (!client->joined) {
        tell(client, post->request, ENDING_FAIL, "there is no hub");
        return;
    }
    made = transfer_add(client, false, post->request, payload->size);
    made->whole = blob_ref(payload);
    msg.send.number = made->number;
    msg.send.to = post->to;
    msg.send.tag = post->tag;
    msg.send.bytes = payload->size;
    client_say(client, &msg);
}

static void send_end(struct client *client, const struct transfer *one)
{
    struct msg msg = {.kind = MSG_END};

    msg.end.number = one->number;
    msg.end.checksum = checksum_of(one);
    client_say(client, &msg);
}

bool transfer_on_credit(struct client *client, const struct msg_credit *credit)
{
    struct transfer *one = transfer_find(client, credit->exchange);
    uint32_t size = client->hub.part_bytes;

    if (!one)
        return false;
    if (!one->segments)
        send_end(client, one);
    for (uint32_t i = 0;
         i < credit->more && one->asked < one->segments && !one->failed; i++) {
        struct job *job = job_new(&work_segment_copy, client->pool, 1);
        uint64_t offset = (uint64_t)one->asked * size;
        uint64_t left = one->bytes - offset;

        job->pool = client->pool;
        job->in[0].blob = blob_slice(one->whole, (size_t)offset,
                                     (size_t)(left < size ? left : size));
        job->tag[0] = one->number;
        job->tag[1] = one->asked++;
        one->busy++;
        effects_job(client->out, job);
    }
    return true;
}

static void copied(struct client *client, struct transfer *one, struct job *job)
{
    struct msg msg = {.kind = MSG_PART};

    one->busy--;
    blob_unref(&job->in[0].blob);
    if (one->failed || job->status != STATUS_OK) {
        fail(client, one, one->failed ? one->text : "not enough memory");
        return;
    }
    one->checksums[job->tag[1]] = job->out[0]->checksum;
    msg.part.number = one->number;
    msg.part.part = (uint32_t)job->tag[1];
    msg.part.checksum = job->out[0]->checksum;
    effects_send(client->out, PEER_BULK, &msg, job->out[0]);
    if (++one->done == one->segments)
        send_end(client, one);
}

bool transfer_on_outcome(struct client *client,
                         const struct msg_outcome *outcome)
{
    struct transfer *one = transfer_find(client, outcome->number);

    if (!one)
        return false;
    if (outcome->outcome == ENDING_SUCCESS)
        end(client, one, ENDING_SUCCESS, "");
    else
        fail(client, one, outcome->text);
    return true;
}

/* ---- receiving ---- */

void transfer_on_fetch(struct client *client, const struct msg_fetch *fetch)
{
    struct msg msg = {.kind = MSG_TAKE};

    if (!client->joined) {
        tell(client, fetch->request, ENDING_FAIL, "there is no hub");
        return;
    }
    msg.take.id = fetch->id;
    msg.take.number =
        transfer_add(client, true, fetch->request, fetch->bytes)->number;
    client_say(client, &msg);
}

static void received(struct client *client, struct transfer *one, bool good)
{
    struct msg msg = {.kind = MSG_RECEIVED};

    msg.received.number = one->number;
    msg.received.good = good;
    client_say(client, &msg);
    end(client, one, good ? ENDING_SUCCESS : ENDING_FAIL,
        good ? "" : "the message does not match its checksum");
}

/* It is complete with its last segment and its end mark, whichever comes last.
 */
static void look(struct client *client, struct transfer *one)
{
    if (one->marked && one->done == one->segments)
        received(client, one, checksum_of(one) == one->end);
}

void transfer_on_end(struct client *client, const struct msg_end *mark)
{
    struct transfer *one = transfer_find(client, mark->number);

    if (!one || !one->incoming)
        return;
    one->marked = true;
    one->end = mark->checksum;
    look(client, one);
}

/* Is told to the program as well, which may not have taken it yet. */
void transfer_on_withdraw(struct client *client, const struct msg *msg)
{
    struct transfer *one = transfer_find(client, msg->withdraw.number);

    if (one && one->incoming)
        fail(client, one, "the sender is lost");
    effects_send(client->out, PEER_TRAINER, msg, NULL);
}

bool transfer_on_piece(struct client *client, const struct msg_piece *piece,
                       struct blob *payload)
{
    struct transfer *one = transfer_find(client, piece->number);

    if (!one || !one->incoming || piece->offset >= one->bytes ||
        piece->offset % client->hub.part_bytes != 0 ||
        payload->size > one->bytes - piece->offset)
        return false;
    data_check(client, piece, payload);
    return true;
}

static void checked(struct client *client, struct transfer *one,
                    struct job *job)
{
    struct msg msg = {.kind = MSG_GAIN};

    if (job->status != STATUS_OK) {
        received(client, one, false);
        return;
    }
    one->checksums[job->tag[1] / client->hub.part_bytes] = job->tag[2];
    one->done++;
    msg.gain.request = one->request;
    msg.gain.offset = job->tag[1];
    effects_send(client->out, PEER_TRAINER, &msg, job->in[0].blob);
    msg = (struct msg){.kind = MSG_CREDIT};
    msg.credit.exchange = one->number;
    msg.credit.more = 1;
    client_say(client, &msg);
    look(client, one);
}

bool transfer_done(struct client *client, struct job *job)
{
    struct transfer *one = transfer_find(client, job->tag[0]);

    if (one && job->work == &work_segment_copy)
        copied(client, one, job);
    else if (one && one->incoming && job->work == &work_segment_check)
        checked(client, one, job);
    return one != NULL || job->work == &work_segment_copy;
}
