#include "collectives/client.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/client_inside.h"

struct client *client_new(const struct client_config *config, struct pool *pool)
{
    struct client *client = calloc(1, sizeof *client);

    if (!client)
        abort();
    client->config = *config;
    (void)snprintf(client->name, sizeof client->name, "%s", config->name);
    client->config.name = client->name;
    client->pool = pool;
    client->next_number = 1;
    client->size = 1;
    client->next_ping = NEVER;
    return client;
}

void client_destroy(struct client **reference)
{
    struct client *client = *reference;

    *reference = NULL;
    if (!client)
        return;
    upload_stop(&client->call);
    upload_stop(&client->model);
    transfer_free_all(client);
    free(client);
}

void client_say(struct client *client, const struct msg *msg)
{
    effects_send(client->out, PEER_CONTROL, msg, NULL);
}

/* ---- the connection ---- */

static void join(struct client *client)
{
    const struct client_config *config = &client->config;
    struct msg msg = {.kind = MSG_JOIN};

    client->heard = client->now;
    if (client->left || client->refused)
        return;
    client->next_ping = client->now + PING_INTERVAL;
    msg.join.protocol_min = PROTOCOL_MIN;
    msg.join.protocol_max = PROTOCOL_MAX;
    msg.join.node_high = config->high;
    msg.join.node_low = config->low;
    msg.join.incarnation = config->incarnation;
    msg.join.manner = config->manner;
    msg.join.size = config->size;
    msg.join.patience = config->patience;
    msg.join.version = client->version;
    (void)snprintf(msg.join.name, sizeof msg.join.name, "%s", client->name);
    client_say(client, &msg);
}

/* Says SIT once bulk is there, too; then it is a member. */
static void sit(struct client *client)
{
    struct msg msg = {.kind = MSG_SIT};

    if (!client->hub.session || !client->bulk)
        return;
    msg.sit.session = client->hub.session;
    client->hub.session = 0;
    effects_send(client->out, PEER_BULK, &msg, NULL);
    client->joined = true;
    client->next_ping = client->now;
    effects_note(client->out, NOTE_ATTACHED, client->name,
                 "in the group for collectives");
    ask_resume(client);
}

static void refuse(struct client *client, const char *text)
{
    client->refused = true;
    (void)snprintf(client->refusal, sizeof client->refusal, "%s", text);
    effects_note(client->out, NOTE_REFUSED, client->name, "%s", text);
    ask_refuse(client);
}

static void on_joined(struct client *client, const struct msg_joined *joined)
{
    bool again = client->run && client->run != joined->run;

    client->heard = client->now;
    client->hub = *joined;
    client->run = joined->run;
    if (again && client->config.manner == MANNER_PATIENT &&
        (client->version || client->sequence)) {
        refuse(client, "the hub was started again, and has lost the group's "
                       "results and checkpoints");
        return;
    }
    sit(client);
}

static void lose(struct client *client)
{
    if (client->joined)
        effects_note(client->out, NOTE_DETACHED, client->name,
                     "the connection to the hub was lost");
    client->joined = false;
    client->hub.session = 0;
    client->next_ping = NEVER;
    ask_interrupt(client);
}

void client_reconnect(struct client *client)
{
    if (client->control)
        effects_drop(client->out, PEER_CONTROL);
    if (client->bulk)
        effects_drop(client->out, PEER_BULK);
    client->control = client->bulk = false;
    lose(client);
}

static void on_join(struct client *client, peer_id peer)
{
    if (peer == PEER_CONTROL) {
        client->control = true;
        join(client);
    } else if (peer == PEER_BULK) {
        client->bulk = true;
        sit(client);
    }
}

static void on_leave(struct client *client, peer_id peer)
{
    if (peer == PEER_CONTROL && client->control)
        client->control = false;
    else if (peer == PEER_BULK && client->bulk)
        client->bulk = false;
    else
        return;
    /* One without the other is of no use: both begin anew. */
    if (client->joined)
        client_reconnect(client);
    else
        lose(client);
}

/* ---- messages ---- */

static void on_bye(struct client *client, const struct msg_bye *bye)
{
    if (bye->farewell != FAREWELL_DONE && bye->farewell != FAREWELL_STRANGER)
        refuse(client, bye->text);
    client_reconnect(client);
}

static void on_message(struct client *client, const struct event *event)
{
    const struct msg *msg = event->msg;

    if (event->peer != PEER_TRAINER)
        client->heard = client->now;
    switch (msg->kind) {
    case MSG_ASK:
        ask_begin(client, &msg->ask);
        break;
    case MSG_GIVE:
        data_on_give(client, &msg->give, event->payload);
        break;
    case MSG_JOINED:
        on_joined(client, &msg->joined);
        break;
    case MSG_ROSTER:
        ask_on_roster(client, &msg->roster);
        break;
    case MSG_OUTCOME:
        ask_on_outcome(client, &msg->outcome);
        break;
    case MSG_CREDIT:
        data_on_credit(client, &msg->credit);
        break;
    case MSG_PIECE:
        data_on_piece(client, &msg->piece, event->payload);
        break;
    case MSG_MAIL:
        effects_send(client->out, PEER_TRAINER, msg, NULL);
        break;
    case MSG_WITHDRAW:
        transfer_on_withdraw(client, msg);
        break;
    case MSG_END:
        transfer_on_end(client, &msg->end);
        break;
    case MSG_POST:
        transfer_on_post(client, &msg->post, event->payload);
        break;
    case MSG_FETCH:
        transfer_on_fetch(client, &msg->fetch);
        break;
    case MSG_SAY:
        if (client->joined && event->peer == PEER_TRAINER)
            client_say(client, msg);
        break;
    case MSG_SERVE:
        client->serve = msg->serve.version;
        data_serve(client);
        break;
    case MSG_BYE:
        on_bye(client, &msg->bye);
        break;
    default: /* PONG: that it was heard is all */
        break;
    }
}

static void ping(struct client *client)
{
    struct msg msg = {.kind = MSG_PING};

    client->next_ping = client->now + PING_INTERVAL;
    if (!client->joined)
        return;
    msg.ping.sent = client->now;
    msg.ping.loss = NO_SCORE;
    client_say(client, &msg);
}

static void tick(struct client *client)
{
    if (client->next_ping != NEVER &&
        client->now - client->heard >= CLIENT_PATIENCE)
        client_reconnect(client);
    if (client->now >= client->next_ping)
        ping(client);
    ask_tick(client);
}

static void step(void *self, const struct event *event, struct effects *out)
{
    struct client *client = self;

    client->now = event->now;
    client->out = out;
    if (event->kind == EVENT_JOIN)
        on_join(client, event->peer);
    else if (event->kind == EVENT_LEAVE)
        on_leave(client, event->peer);
    else if (event->kind == EVENT_MESSAGE)
        on_message(client, event);
    else if (event->kind == EVENT_DONE)
        data_done(client, event->job);
    tick(client);
    client->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct client *client = self;
    nanos limit = ask_deadline(client);

    return client->next_ping < limit ? client->next_ping : limit;
}

struct machine client_machine(struct client *client)
{
    return (struct machine){client, "client", step, deadline};
}
