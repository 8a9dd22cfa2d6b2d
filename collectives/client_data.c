/* A member's data: input segments up, result segments down. */
#include "collectives/client_state.h"
#include "collectives/work.h"

/* ---- uploads ---- */

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

void data_stop(struct client *client)
{
    upload_stop(&client->data.input);
    if (!client->data.model.number) /* it was asked for, and not given */
        client->data.model.wanted = false;
}

void data_on_credit(struct client *client, const struct event *event)
{
    const struct msg_credit *credit = &event->msg->credit;
    struct data *data = &client->data;
    struct upload *upload =
        credit->exchange == data->input.number ? &data->input : &data->model;

    if (credit->exchange && upload->number == credit->exchange)
        upload->credit += (uint32_t)credit->more;
}

void data_on_serve(struct client *client, const struct event *event)
{
    /* What was brought before, the hub has forgotten. */
    upload_stop(&client->data.model);
    client->data.serve = event->msg->serve.version;
}

static void bring_model(struct client *client, struct blob *payload)
{
    struct data *data = &client->data;
    struct msg msg = {.kind = MSG_CALL};

    if (!data->serve || data->serve != client->group.version || !payload)
        return;
    upload_start(&data->model, client->next_number++, false);
    data->model.wanted = true;
    data->model.whole = blob_ref(payload);
    msg.call.number = data->model.number;
    msg.call.era = data->serve;
    msg.call.collective = COLLECTIVE_MODEL;
    msg.call.bytes = payload->size;
    data->serve = 0;
    connection_say(client, &msg);
}

void data_on_give(struct client *client, const struct event *event)
{
    const struct msg_give *give = &event->msg->give;
    const struct operation *operation = &client->operation;

    if (give->model) {
        bring_model(client, event->payload);
        return;
    }
    if (operation->stage != STAGE_CALL ||
        operation->ask.request != give->request || !event->payload ||
        event->payload->size != operation->ask.bytes)
        return;
    blob_unref(&client->data.input.whole);
    client->data.input.whole = blob_ref(event->payload);
}

/* ---- sealing, to be sent ---- */

struct input_seal {
    struct job job;
    uint64_t call; /* the number of the CALL */
    uint32_t segment;
};

static void on_sealed(void *machine, struct job *job)
{
    const struct input_seal *seal = (struct input_seal *)job;
    const struct client *client = machine;
    const struct data *data = &client->data;
    struct msg msg = {.kind = MSG_PART};

    if (!is_joined(client) ||
        (seal->call != data->input.number && seal->call != data->model.number))
        return;
    msg.part.number = seal->call;
    msg.part.part = seal->segment;
    msg.part.checksum = job->in[0].blob->checksum;
    effects_send(client->out, PEER_BULK, &msg, job->in[0].blob);
}

static const struct work input_seal = {"input_seal", seal_input, on_sealed};

/* Has the next segments sealed, as many as there is credit for. */
static void pump(struct client *client, struct upload *upload)
{
    uint32_t size = client->connection.hub.part_bytes;

    while (upload->whole && upload->credit &&
           (uint64_t)upload->next * size < upload->whole->size) {
        struct input_seal *seal =
            job_make(&input_seal, sizeof *seal, client->pool, 1);
        uint64_t offset = (uint64_t)upload->next * size;
        uint64_t left = upload->whole->size - offset;

        seal->job.in[0].blob = blob_slice(upload->whole, (size_t)offset,
                                          (size_t)(left < size ? left : size));
        seal->call = upload->number;
        seal->segment = upload->next++;
        upload->credit--;
        effects_job(client->out, &seal->job);
    }
}

/* ---- results ---- */

struct result_check {
    struct job job;
    uint64_t checksum; /* that it must have */
    uint64_t call;     /* the number of the CALL */
    uint64_t offset;
};

static void run_check(struct job *job)
{
    check_input(job, ((struct result_check *)job)->checksum);
}

static void on_checked(void *machine, struct job *job)
{
    const struct result_check *check = (struct result_check *)job;
    struct client *client = machine;
    struct operation *operation = &client->operation;
    struct msg msg = {.kind = MSG_GAIN};

    if (operation->stage != STAGE_CALL ||
        check->call != client->data.input.number)
        return;
    if (job->status != STATUS_OK) {
        effects_note(client->out, NOTE_OFFENCE, client->name,
                     "a segment of a result did not match its checksum");
        connection_cut(client);
        return;
    }
    msg.gain.request = operation->ask.request;
    msg.gain.offset = check->offset;
    effects_send(client->out, PEER_TRAINER, &msg, job->in[0].blob);
    operation->gained += job->in[0].blob->size;
    msg = (struct msg){.kind = MSG_CREDIT};
    msg.credit.exchange = check->call;
    msg.credit.more = 1;
    connection_say(client, &msg);
}

static const struct work result_check = {"result_check", run_check, on_checked};

void data_on_piece(struct client *client, const struct event *event)
{
    const struct msg_piece *piece = &event->msg->piece;
    struct result_check *check;

    if (client->operation.stage != STAGE_CALL ||
        piece->number != client->data.input.number)
        return;
    check = job_make(&result_check, sizeof *check, client->pool, 1);
    check->job.in[0].blob = blob_ref(event->payload);
    check->checksum = piece->checksum;
    check->call = piece->number;
    check->offset = piece->offset;
    effects_job(client->out, &check->job);
}

/* ---- the settle pass ---- */

static void want(struct client *client, struct upload *upload)
{
    struct msg msg = {.kind = MSG_WANT};

    if (upload->wanted)
        return;
    upload->wanted = true;
    msg.want.request = client->operation.ask.request;
    msg.want.model = upload == &client->data.model;
    effects_send(client->out, PEER_TRAINER, &msg, NULL);
}

/* Only within a collective of its version is the model sure to be as it was
 * at the checkpoint. */
static bool can_serve(const struct client *client)
{
    const struct operation *operation = &client->operation;

    return client->data.serve && client->data.serve == client->group.version &&
           operation->stage == STAGE_CALL &&
           operation->ask.collective < COLLECTIVE_CHECKPOINT &&
           is_joined(client);
}

void data_settle(struct client *client)
{
    struct data *data = &client->data;

    if (client->connection.news.lost) {
        upload_stop(&data->model);
        data->serve = 0;
    }
    if (data->input.credit)
        want(client, &data->input);
    if (can_serve(client))
        want(client, &data->model);
    pump(client, &data->input);
    pump(client, &data->model);
}
