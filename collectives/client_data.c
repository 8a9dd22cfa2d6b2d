/* A member's data: input segments up, result segments down. */
#include "collectives/client_inside.h"
#include "collectives/work.h"

void upload_stop(struct upload *upload)
{
    blob_unref(&upload->whole);
    *upload = (struct upload){0};
}

void upload_start(struct upload *upload, uint64_t number, bool again)
{
    if (!again)
        upload_stop(upload);
    upload->number = number;
    upload->next = upload->credit = 0;
}

/* Has the next segments sealed, as many as there is credit for. */
static void pump(struct client *client, struct upload *upload)
{
    uint32_t size = client->hub.part_bytes;

    while (upload->whole && upload->credit &&
           (uint64_t)upload->next * size < upload->whole->size) {
        struct job *job = job_new(&work_segment_seal, client->pool, 1);
        uint64_t offset = (uint64_t)upload->next * size;
        uint64_t left = upload->whole->size - offset;

        job->pool = client->pool;
        job->in[0].blob = blob_slice(upload->whole, (size_t)offset,
                                     (size_t)(left < size ? left : size));
        job->tag[0] = upload->number;
        job->tag[1] = upload->next++;
        upload->credit--;
        effects_job(client->out, job);
    }
}

static void want(struct client *client, struct upload *upload)
{
    struct msg msg = {.kind = MSG_WANT};

    if (upload->wanted)
        return;
    upload->wanted = true;
    msg.want.request = client->ask.request;
    msg.want.model = upload == &client->model;
    effects_send(client->out, PEER_TRAINER, &msg, NULL);
}

void data_on_credit(struct client *client, const struct msg_credit *credit)
{
    struct upload *upload = credit->exchange == client->call.number
                                ? &client->call
                                : &client->model;

    if (transfer_on_credit(client, credit) || !credit->exchange ||
        upload->number != credit->exchange)
        return;
    upload->credit += (uint32_t)credit->more;
    want(client, upload);
    pump(client, upload);
}

/* Only within a collective of its version is the model sure to be as it was
 * at the checkpoint. */
void data_serve(struct client *client)
{
    bool steady = client->stage == STAGE_CALL &&
                  client->ask.collective < COLLECTIVE_CHECKPOINT;

    if (client->serve && client->serve == client->version && steady &&
        client->joined)
        want(client, &client->model);
}

static void bring_model(struct client *client, struct blob *payload)
{
    struct msg msg = {.kind = MSG_CALL};

    if (!client->serve || client->serve != client->version || !payload)
        return;
    upload_start(&client->model, client->next_number++, false);
    client->model.wanted = true;
    client->model.whole = blob_ref(payload);
    msg.call.number = client->model.number;
    msg.call.era = client->serve;
    msg.call.collective = COLLECTIVE_MODEL;
    msg.call.bytes = payload->size;
    client->serve = 0;
    client_say(client, &msg);
}

void data_on_give(struct client *client, const struct msg_give *give,
                  struct blob *payload)
{
    if (give->model) {
        bring_model(client, payload);
        return;
    }
    if (client->stage != STAGE_CALL || client->ask.request != give->request ||
        !payload || payload->size != client->ask.bytes)
        return;
    blob_unref(&client->call.whole);
    client->call.whole = blob_ref(payload);
    pump(client, &client->call);
}

void data_check(struct client *client, const struct msg_piece *piece,
                struct blob *payload)
{
    struct job *job = job_new(&work_segment_check, client->pool, 1);

    job->pool = client->pool;
    job->in[0].blob = blob_ref(payload);
    job->tag[0] = piece->number;
    job->tag[1] = piece->offset;
    job->tag[2] = piece->checksum;
    effects_job(client->out, job);
}

void data_on_piece(struct client *client, const struct msg_piece *piece,
                   struct blob *payload)
{
    if (!transfer_on_piece(client, piece, payload) &&
        client->stage == STAGE_CALL && piece->number == client->call.number)
        data_check(client, piece, payload);
}

static void gained(struct client *client, struct job *job)
{
    struct msg msg = {.kind = MSG_GAIN};
    struct msg credit = {.kind = MSG_CREDIT};

    if (client->stage != STAGE_CALL || job->tag[0] != client->call.number)
        return;
    if (job->status != STATUS_OK) {
        effects_note(client->out, NOTE_OFFENCE, client->name,
                     "a segment of a result did not match its checksum");
        client_reconnect(client);
        return;
    }
    msg.gain.request = client->ask.request;
    msg.gain.offset = job->tag[1];
    effects_send(client->out, PEER_TRAINER, &msg, job->in[0].blob);
    client->gained += job->in[0].blob->size;
    credit.credit.exchange = client->call.number;
    credit.credit.more = 1;
    client_say(client, &credit);
    ask_look(client);
}

static void sealed(struct client *client, struct job *job)
{
    struct msg msg = {.kind = MSG_PART};
    uint64_t number = job->tag[0];

    if (!client->joined ||
        (number != client->call.number && number != client->model.number))
        return;
    msg.part.number = number;
    msg.part.part = (uint32_t)job->tag[1];
    msg.part.checksum = job->in[0].blob->checksum;
    effects_send(client->out, PEER_BULK, &msg, job->in[0].blob);
}

void data_done(struct client *client, struct job *job)
{
    if (transfer_done(client, job))
        return;
    if (job->work == &work_segment_seal)
        sealed(client, job);
    else
        gained(client, job);
}
