/* The client's inside. Each noun is written by its file only:
 *
 *     client_connection.c   the hub: JOIN, SIT, PING, BYE, loss
 *     client_operation.c      what the program asks, from ASK to TOLD
 *     client_data.c         input segments up, result segments down
 *     client_transfer.c     messages to and from other members
 *
 * A handler, the end of a job and a tick record facts in their noun. What
 * follows for another noun is the settle pass's, in client.c. */
#ifndef COLLECTIVES_CLIENT_STATE_H
#define COLLECTIVES_CLIENT_STATE_H

#include "collectives/client.h"

enum { CLIENT_NAME_BYTES = 40 };

/* ---- the connection to the hub ---- */

enum connection_state {
    CONNECTION_NONE,     /* the hub has not taken us in */
    CONNECTION_ACCEPTED, /* it has; SIT is still to be said */
    CONNECTION_JOINED,
    CONNECTION_REFUSED, /* for good, by the hub */
    CONNECTION_LEFT     /* for good, at the program's wish */
};

/* What has happened to the connection in this step. */
struct connection_news {
    bool refused;
    bool lost; /* and `cut`: what is left of it is to be dropped */
    bool cut;
    bool joined;
};

struct connection {
    enum connection_state state;
    bool control, bulk;    /* channels that are there */
    struct msg_joined hub; /* what it said when it took us in */
    uint64_t run;          /* the hub's; 0: none yet */
    nanos heard;           /* when last */
    nanos next_ping;       /* NEVER while not connected */
    char refusal[MSG_TEXT_BYTES];
    struct connection_news news;
};

/* ---- the program's operation ---- */

/* How far it is. */
enum stage {
    STAGE_IDLE,  /* there is none */
    STAGE_HUB,   /* waits for the hub to take us in */
    STAGE_PROBE, /* an active member asks who is there */
    STAGE_BUILD, /* asks who is there, to work with them */
    STAGE_CALL   /* has come to the collective */
};

struct operation {
    enum stage stage;
    struct msg_ask ask;
    nanos since;
    struct msg_outcome outcome; /* SUCCESS, once `ended` */
    bool ended;
    uint64_t gained; /* bytes of the result so far */
};

/* Whether the group is built: FTLib's initialized and skip_allreduce. */
enum build { BUILD_NONE, BUILD_DONE, BUILD_ALONE };

struct group_view {
    enum build build;
    bool newcomer;    /* rank 0: a new member has reported */
    bool reported;    /* this one has */
    bool took_part;   /* in a collective of this group: it has a past */
    uint64_t confirm; /* number of the last WHO */
    uint64_t epoch, averages, version, sequence;
    uint32_t rank, size, exit;
};

/* ---- data ---- */

/* Data on their way to the hub. */
struct upload {
    uint64_t number;    /* of the CALL that they are for; 0: none */
    bool wanted;        /* the program has been asked for them */
    struct blob *whole; /* NULL: it has not given them yet */
    uint32_t next, credit;
};

struct data {
    struct upload input; /* of the operation */
    struct upload model; /* of a lazy checkpoint, for somebody else */
    uint64_t serve;      /* version of the model that the hub wants, or 0 */
};

struct transfer;

struct client {
    struct client_config config; /* its name points to `name` */
    char name[CLIENT_NAME_BYTES];
    struct pool *pool;
    struct effects *out; /* of the step under way */
    nanos now;
    uint64_t next_number; /* of CALLs and messages */

    struct connection connection;
    struct operation operation;
    struct group_view group;
    struct data data;
    struct transfer *transfers;
};

static inline bool is_joined(const struct client *client)
{
    return client->connection.state == CONNECTION_JOINED;
}

/* ---- client_connection.c ---- */

/* To the hub, on control. */
void connection_say(struct client *client, const struct msg *msg);
void connection_open(struct client *client, peer_id peer);
void connection_close(struct client *client, peer_id peer);
void connection_on_joined(struct client *client, const struct event *event);
void connection_on_bye(struct client *client, const struct event *event);
/* Both channels are to begin anew. */
void connection_cut(struct client *client);
/* The program leaves the group. */
void connection_leave(struct client *client);
/* Loses a hub that is silent. */
void connection_watch(struct client *client);
void connection_ping(struct client *client);
/* The settle pass: drops what is cut, says SIT; `news` tells the others. */
void connection_settle(struct client *client);

/* ---- client_operation.c ---- */

void operation_on_ask(struct client *client, const struct event *event);
void operation_on_roster(struct client *client, const struct event *event);
void operation_on_outcome(struct client *client, const struct event *event);
/* When the operation has waited for long enough, NEVER without one. */
nanos operation_deadline(const struct client *client);
/* The settle pass: what news of the connection, a whole result and the time
 * mean for the operation. */
void operation_settle(struct client *client);

/* ---- client_data.c ---- */

void data_on_give(struct client *client, const struct event *event);
void data_on_serve(struct client *client, const struct event *event);
void data_on_credit(struct client *client, const struct event *event);
void data_on_piece(struct client *client, const struct event *event);
/* Begins a new upload under this number; `again` keeps the data. */
void upload_start(struct upload *upload, uint64_t number, bool again);
void upload_stop(struct upload *upload);
/* The operation is over, and with it its data. */
void data_stop(struct client *client);
/* The settle pass: asks the program for what is wanted, and has segments
 * sealed that there is credit for. */
void data_settle(struct client *client);

/* ---- client_transfer.c ---- */

struct transfer *transfer_find(const struct client *client, uint64_t number);
void transfer_on_post(struct client *client, const struct event *event);
void transfer_on_fetch(struct client *client, const struct event *event);
void transfer_on_end(struct client *client, const struct event *event);
void transfer_on_withdraw(struct client *client, const struct event *event);
/* Of this transfer: */
void transfer_on_credit(struct client *client, struct transfer *transfer,
                        const struct msg_credit *credit);
void transfer_on_piece(struct client *client, const struct transfer *transfer,
                       const struct event *event);
void transfer_on_outcome(struct client *client, struct transfer *transfer,
                         const struct msg_outcome *outcome);
/* The settle pass: a connection that is lost fails them all. */
void transfers_settle(struct client *client);
void transfers_free(struct client *client);

#endif
