/* The client's inside, shared by client.c, client_ask.c, client_data.c and
 * client_mail.c. */
#ifndef COLLECTIVES_CLIENT_INSIDE_H
#define COLLECTIVES_CLIENT_INSIDE_H

#include "collectives/client.h"

enum { CLIENT_NAME_BYTES = 40 };

#define PING_INTERVAL (500 * MILLISECOND)

/* How far the program's request is. */
enum stage {
    STAGE_IDLE,  /* there is none */
    STAGE_HUB,   /* waits for the hub to take us in */
    STAGE_PROBE, /* an active member asks who is there */
    STAGE_BUILD, /* asks who is there, to work with them */
    STAGE_CALL   /* has come to the collective */
};

/* Data on their way to the hub. */
struct upload {
    uint64_t number;    /* of the CALL they are for; 0: none */
    bool wanted;        /* the program has been asked for them */
    struct blob *whole; /* NULL: it has not given them yet */
    uint32_t next, credit;
};

/* A message to another member, or from one. */
struct transfer {
    struct transfer *next;
    bool incoming;
    uint64_t number, request, bytes;
    uint32_t segments, done; /* in all; sent, or received and checked */
    uint32_t asked;          /* of an outgoing one: jobs begun */
    unsigned busy;           /* jobs that read the program's memory */
    struct blob *whole;      /* outgoing: the program's memory */
    uint64_t *checksums;     /* of its segments, as far as they are done */
    bool marked;             /* incoming: the end mark has come: */
    uint64_t end;
    bool failed; /* outgoing: is told when nothing reads any more */
    char text[MSG_TEXT_BYTES]; /* why */
};

struct client {
    struct client_config config; /* its name points to `name` */
    char name[CLIENT_NAME_BYTES];
    struct pool *pool;
    struct effects *out; /* of the step under way */
    nanos now;

    bool control, bulk; /* connections */
    bool joined;        /* the hub has taken us in */
    bool refused, left;
    char refusal[MSG_TEXT_BYTES];
    struct msg_joined hub;  /* what it said then */
    uint64_t run;           /* 0: none yet */
    nanos heard, next_ping; /* next_ping: NEVER while not connected */

    bool built, skip, newcomer, reported; /* FTLib's flags */
    bool took_part; /* in a collective of this group: it has a past */
    uint64_t epoch, averages, version, sequence;
    uint32_t rank, size, exit;

    enum stage stage;
    struct msg_ask ask;
    nanos asked;
    uint64_t next_number, confirm; /* numbers of CALLs and WHOs */
    struct upload call, model;
    bool ended; /* OUTCOME has come */
    struct msg_outcome outcome;
    uint64_t gained; /* bytes of the result so far */
    uint64_t serve;  /* version of the model that the hub wants, or 0 */
    struct transfer *transfers;
};

/* client_ask.c: the program's requests */
void ask_begin(struct client *client, const struct msg_ask *ask);
/* The hub is there (again). */
void ask_resume(struct client *client);
/* The connection to the hub is lost. */
void ask_interrupt(struct client *client);
void ask_on_roster(struct client *client, const struct msg_roster *roster);
void ask_on_outcome(struct client *client, const struct msg_outcome *outcome);
/* The result may be complete. */
void ask_look(struct client *client);
/* When the request has waited for long enough, NEVER without one. */
nanos ask_deadline(const struct client *client);
void ask_tick(struct client *client);
/* The hub will not have us: ends the request, if any. */
void ask_refuse(struct client *client);

/* client_data.c: data up and down */
void data_on_credit(struct client *client, const struct msg_credit *credit);
void data_on_give(struct client *client, const struct msg_give *give,
                  struct blob *payload);
void data_on_piece(struct client *client, const struct msg_piece *piece,
                   struct blob *payload);
/* Has a segment of a result or of mail checked. */
void data_check(struct client *client, const struct msg_piece *piece,
                struct blob *payload);
void data_done(struct client *client, struct job *job);
/* Begins a new upload under this number; `again` keeps the data. */
void upload_start(struct upload *upload, uint64_t number, bool again);
void upload_stop(struct upload *upload);
/* Asks the program for the model that the hub wants, where that is possible. */
void data_serve(struct client *client);

/* client_mail.c: messages from one member to another */
void transfer_on_post(struct client *client, const struct msg_post *post,
                      struct blob *payload);
void transfer_on_fetch(struct client *client, const struct msg_fetch *fetch);
void transfer_on_end(struct client *client, const struct msg_end *end);
void transfer_on_withdraw(struct client *client, const struct msg *msg);
/* False when it is for none of them. */
bool transfer_on_credit(struct client *client, const struct msg_credit *credit);
bool transfer_on_piece(struct client *client, const struct msg_piece *piece,
                       struct blob *payload);
bool transfer_on_outcome(struct client *client,
                         const struct msg_outcome *outcome);
bool transfer_done(struct client *client, struct job *job);
/* The connection is lost: so are they. */
void transfer_fail_all(struct client *client, const char *text);
void transfer_free_all(struct client *client);

/* client.c */
void client_say(struct client *client, const struct msg *msg);
void client_reconnect(struct client *client);

#endif
