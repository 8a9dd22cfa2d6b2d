#include "collectives/client.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/client_state.h"

struct client *client_new(const struct client_config *config, struct pool *pool)
{
    struct client *client = calloc(1, sizeof *client);

    if (!client)
        return NULL;
    client->config = *config;
    (void)snprintf(client->name, sizeof client->name, "%s", config->name);
    client->config.name = client->name;
    client->pool = pool;
    client->next_number = 1;
    client->group.size = 1;
    client->connection.next_ping = NEVER;
    return client;
}

void client_destroy(struct client **reference)
{
    struct client *client = *reference;

    *reference = NULL;
    if (!client)
        return;
    upload_stop(&client->data.input);
    upload_stop(&client->data.model);
    transfers_free(client);
    free(client);
}

/* ---- messages ---- */

/* Outcomes, credit and segments are a transfer's or a call's, by their number.
 */
static void on_outcome(struct client *client, const struct event *event)
{
    const struct msg_outcome *outcome = &event->msg->outcome;
    struct transfer *transfer = transfer_find(client, outcome->number);

    if (transfer)
        transfer_on_outcome(client, transfer, outcome);
    else
        operation_on_outcome(client, event);
}

static void on_credit(struct client *client, const struct event *event)
{
    const struct msg_credit *credit = &event->msg->credit;
    struct transfer *transfer = transfer_find(client, credit->exchange);

    if (transfer)
        transfer_on_credit(client, transfer, credit);
    else
        data_on_credit(client, event);
}

static void on_piece(struct client *client, const struct event *event)
{
    const struct transfer *transfer =
        transfer_find(client, event->msg->piece.number);

    if (transfer)
        transfer_on_piece(client, transfer, event);
    else
        data_on_piece(client, event);
}

/* A message waits: the program decides when it is taken. */
static void on_mail(struct client *client, const struct event *event)
{
    effects_send(client->out, PEER_TRAINER, event->msg, NULL);
}

static void on_say(struct client *client, const struct event *event)
{
    if (is_joined(client) && event->peer == PEER_TRAINER)
        connection_say(client, event->msg);
}

typedef void handler(struct client *client, const struct event *event);

/* What a message of each kind does. Of others, such as PONG, that they are
 * heard is all. */
static handler *const handlers[MSG_KINDS] = {
    [MSG_ASK] = operation_on_ask,
    [MSG_GIVE] = data_on_give,
    [MSG_POST] = transfer_on_post,
    [MSG_FETCH] = transfer_on_fetch,
    [MSG_SAY] = on_say,
    [MSG_JOINED] = connection_on_joined,
    [MSG_ROSTER] = operation_on_roster,
    [MSG_OUTCOME] = on_outcome,
    [MSG_CREDIT] = on_credit,
    [MSG_PIECE] = on_piece,
    [MSG_SERVE] = data_on_serve,
    [MSG_MAIL] = on_mail,
    [MSG_END] = transfer_on_end,
    [MSG_WITHDRAW] = transfer_on_withdraw,
    [MSG_BYE] = connection_on_bye,
};

static void on_message(struct client *client, const struct event *event)
{
    handler *handle = handlers[event->msg->kind];

    if (event->peer != PEER_TRAINER)
        client->connection.heard = client->now;
    if (handle)
        handle(client, event);
}

/* ---- the machine ---- */

/* The connection first, and what it means for the others; the operation may
 * come to a call, for which data are wanted. */
static void settle(struct client *client)
{
    connection_settle(client);
    transfers_settle(client);
    operation_settle(client);
    data_settle(client);
    client->connection.news = (struct connection_news){false};
}

static void step(void *self, const struct event *event, struct effects *out)
{
    struct client *client = self;

    client->now = event->now;
    client->out = out;
    if (event->kind == EVENT_JOIN)
        connection_open(client, event->peer);
    else if (event->kind == EVENT_LEAVE)
        connection_close(client, event->peer);
    else if (event->kind == EVENT_MESSAGE)
        on_message(client, event);
    else if (event->kind == EVENT_DONE)
        event->job->work->done(client, event->job);
    connection_watch(client);
    settle(client);
    connection_ping(client);
    client->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct client *client = self;
    nanos limit = operation_deadline(client);

    return client->connection.next_ping < limit ? client->connection.next_ping
                                                : limit;
}

struct machine client_machine(struct client *client)
{
    return (struct machine){client, "client", step, deadline};
}
