/* A member's connection to the hub. */
#include <stdio.h>

#include "collectives/client_state.h"

#define PING_INTERVAL (500 * MILLISECOND)

static bool is_over(const struct connection *connection)
{
    return connection->state == CONNECTION_REFUSED ||
           connection->state == CONNECTION_LEFT;
}

void connection_say(struct client *client, const struct msg *msg)
{
    effects_send(client->out, PEER_CONTROL, msg, NULL);
}

/* ---- coming ---- */

static void join(struct client *client)
{
    const struct client_config *config = &client->config;
    struct msg msg = {.kind = MSG_JOIN};

    client->connection.heard = client->now;
    if (is_over(&client->connection))
        return;
    client->connection.next_ping = client->now + PING_INTERVAL;
    msg.join.protocol_min = PROTOCOL_MIN;
    msg.join.protocol_max = PROTOCOL_MAX;
    msg.join.node_high = config->high;
    msg.join.node_low = config->low;
    msg.join.incarnation = config->incarnation;
    msg.join.manner = config->manner;
    msg.join.size = config->size;
    msg.join.patience = config->patience;
    msg.join.version = client->group.version;
    (void)snprintf(msg.join.name, sizeof msg.join.name, "%s", client->name);
    connection_say(client, &msg);
}

void connection_open(struct client *client, peer_id peer)
{
    if (peer == PEER_CONTROL) {
        client->connection.control = true;
        join(client);
    } else if (peer == PEER_BULK) {
        client->connection.bulk = true;
    }
}

static void refuse(struct client *client, const char *text)
{
    struct connection *connection = &client->connection;

    connection->state = CONNECTION_REFUSED;
    connection->news.refused = true;
    (void)snprintf(connection->refusal, sizeof connection->refusal, "%s", text);
    effects_note(client->out, NOTE_REFUSED, client->name, "%s", text);
}

void connection_on_joined(struct client *client, const struct event *event)
{
    const struct msg_joined *joined = &event->msg->joined;
    struct connection *connection = &client->connection;
    bool again = connection->run && connection->run != joined->run;

    if (connection->state != CONNECTION_NONE)
        return; /* it is no answer to JOIN, or too late */
    if (!joined->part_bytes) {
        effects_note(client->out, NOTE_OFFENCE, client->name,
                     "segments of no bytes make no sense");
        connection_cut(client);
        return;
    }
    connection->hub = *joined;
    connection->run = joined->run;
    if (again && client->config.manner == MANNER_PATIENT &&
        (client->group.version || client->group.sequence))
        refuse(client, "the hub was started again, and has lost the group's "
                       "results and checkpoints");
    else
        connection->state = CONNECTION_ACCEPTED;
}

/* Says SIT once bulk is there, too; then it is a member. */
static void sit(struct client *client)
{
    struct connection *connection = &client->connection;
    struct msg msg = {.kind = MSG_SIT};

    msg.sit.session = connection->hub.session;
    effects_send(client->out, PEER_BULK, &msg, NULL);
    connection->state = CONNECTION_JOINED;
    connection->news.joined = true;
    connection->next_ping = client->now;
    effects_note(client->out, NOTE_ATTACHED, client->name,
                 "in the group for collectives");
}

/* ---- going ---- */

void connection_cut(struct client *client)
{
    client->connection.news.lost = client->connection.news.cut = true;
}

/* One channel without the other is of no use to a member: both begin anew. */
void connection_close(struct client *client, peer_id peer)
{
    struct connection *connection = &client->connection;

    if (peer == PEER_CONTROL && connection->control)
        connection->control = false;
    else if (peer == PEER_BULK && connection->bulk)
        connection->bulk = false;
    else
        return;
    connection->news.lost = true;
    connection->news.cut = connection->state == CONNECTION_JOINED;
}

void connection_on_bye(struct client *client, const struct event *event)
{
    const struct msg_bye *bye = &event->msg->bye;

    if (bye->farewell != FAREWELL_DONE && bye->farewell != FAREWELL_STRANGER)
        refuse(client, bye->text);
    connection_cut(client);
}

void connection_leave(struct client *client)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = FAREWELL_LEAVING;
    if (is_joined(client))
        connection_say(client, &bye);
    client->connection.state = CONNECTION_LEFT;
}

static void drop(struct client *client)
{
    struct connection *connection = &client->connection;

    if (connection->control)
        effects_drop(client->out, PEER_CONTROL);
    if (connection->bulk)
        effects_drop(client->out, PEER_BULK);
    connection->control = connection->bulk = false;
}

static void lose(struct client *client)
{
    struct connection *connection = &client->connection;

    if (connection->news.cut)
        drop(client);
    if (connection->state == CONNECTION_JOINED)
        effects_note(client->out, NOTE_DETACHED, client->name,
                     "the connection to the hub was lost");
    if (!is_over(connection))
        connection->state = CONNECTION_NONE;
    connection->next_ping = NEVER;
}

void connection_settle(struct client *client)
{
    struct connection *connection = &client->connection;

    if (connection->news.lost)
        lose(client);
    if (connection->state == CONNECTION_ACCEPTED && connection->bulk)
        sit(client);
}

/* ---- time ---- */

void connection_watch(struct client *client)
{
    const struct connection *connection = &client->connection;

    if (connection->next_ping != NEVER &&
        client->now - connection->heard >= CLIENT_PATIENCE)
        connection_cut(client);
}

void connection_ping(struct client *client)
{
    struct connection *connection = &client->connection;
    struct msg msg = {.kind = MSG_PING};

    if (client->now < connection->next_ping)
        return;
    connection->next_ping = client->now + PING_INTERVAL;
    if (connection->state != CONNECTION_JOINED)
        return;
    msg.ping.sent = client->now;
    msg.ping.loss = NO_SCORE;
    connection_say(client, &msg);
}
