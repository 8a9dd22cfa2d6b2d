/* Messages from one member to another. A sender announces one, and its data
 * flow once the receiver has a place for it: segment by segment, on the
 * receiver's credit, through the hub, which neither keeps nor reads them. */
#ifndef COLLECTIVES_MAIL_H
#define COLLECTIVES_MAIL_H

#include "collectives/coordinator.h"

struct member;

/* Where a message comes from, or goes to: a member as long as its connection
 * lasts. */
struct mail_end {
    struct member *member;
    uint64_t session;
    uint64_t number; /* the member's own for the message */
};

struct mail {
    struct mail *next;
    uint64_t id;
    uint64_t turn; /* when it was taken, 0: not yet */
    struct mail_end from, to;
    uint64_t bytes;
    bool flows;      /* one at a time for each receiver */
    uint32_t credit; /* segments that the sender may send */
};

struct mails {
    struct mail *list; /* oldest first */
    uint64_t next_id, next_turn;
};

void mail_on_send(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
void mail_on_take(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
/* A segment of a message; one of no message is forgotten. */
void mail_on_segment(struct coordinator *coordinator, struct member *member,
                     const struct event *event);
void mail_on_credit(struct coordinator *coordinator,
                    const struct member *member,
                    const struct msg_credit *credit);
void mail_on_end(struct coordinator *coordinator, struct member *member,
                 const struct event *event);
void mail_on_received(struct coordinator *coordinator, struct member *member,
                      const struct event *event);

/* The settle pass: messages of which an end is lost are, too; the next one
 * flows to a receiver that has got the one before. */
void mail_settle(struct coordinator *coordinator);
void mails_destroy(struct coordinator *coordinator);

#endif
