/* A group's inside: what the program's thread and the network's thread share.
 *
 * The program's thread posts ASK and waits; while it waits it gives what WANT
 * asks for. The network's thread owns the machine and drops its messages
 * here. */
#ifndef NODE_LIBRARY_GROUP_H
#define NODE_LIBRARY_GROUP_H

#include <starswitch_ancestors.h>
#include <stdbool.h>

#include "collectives/client.h"
#include "node/library/shell.h"
#include "node/library/sized.h"

/* A stretch of memory; several may travel as one vector. */
struct span {
    void *bytes;
    size_t size;
};

/* A segment of a result, until all have come. */
struct gain {
    struct blob *blob;
    uint64_t offset;
};

/* What a call contributes, and where its result goes. */
struct cargo {
    const struct span *in; /* NULL: nothing */
    size_t in_count;
    const struct span *out; /* NULL: it stays in group->gains */
    size_t out_count;
    void (*prepare)(void *argument);
    void *argument;
};

/* A send or receive under way. */
struct star_request {
    struct star_request *next;
    uint64_t number; /* among those of ASK */
    bool done;
    enum ending outcome;
    char text[MSG_TEXT_BYTES];
    unsigned char *place; /* of a receive */
    size_t bytes;
};

/* A message that nobody has asked for yet. */
struct waiting {
    struct waiting *next;
    struct msg_mail mail;
};

struct star_group {
    struct shell shell;
    struct star_group_options options;
    nanos timeout;
    struct client *client;
    void *loaded;     /* the model that was given out last */
    struct span lazy; /* the model of the last lazy checkpoint */

    /* Behind shell.lock. */
    uint64_t request; /* the newest number; that of the call under way is: */
    uint64_t asked;
    struct star_request *requests;
    struct waiting *waiting; /* oldest first */
    bool done, wants, wants_model;
    bool interrupted;
    uint64_t interrupts; /* for who waits for a message: how often */
    struct msg_told told;
    struct gain *gains;
    size_t gain_count, gain_room;
};

/* Why such a call failed. */
#define GROUP_INTERRUPTED "the program interrupted the call"

/* group.c */
/* Takes a message of the machine; on the network's thread. */
void group_local(void *self, const struct msg *msg, struct blob *payload);
/* Asks, gives what is wanted, waits for the answer: in group->told. */
enum star_group_status group_ask(struct star_group *group,
                                 const struct msg_ask *ask,
                                 const struct cargo *cargo);
/* group_mail.c, with the lock held */
void mail_take_gain(struct star_group *group, const struct msg_gain *gain,
                    const struct blob *payload);
void mail_delivered(struct star_group *group,
                    const struct msg_delivered *delivered);
void mail_add(struct star_group *group, const struct msg_mail *mail);
void mail_withdraw(struct star_group *group,
                   const struct msg_withdraw *withdraw);
void mail_free(struct star_group *group);

/* group.c */
void gains_drop(struct star_group *group);
/* Copies the result's bytes into the spans, one after the other. */
void gains_copy(const struct star_group *group, const struct span *spans,
                size_t count);
size_t spans_size(const struct span *spans, size_t count);

/* A span that is only read from. */
static inline struct span span_of(const void *bytes, size_t size)
{
    const union {
        const void *from;
        void *bytes;
    } either = {bytes};

    return (struct span){either.bytes, size};
}

#endif
