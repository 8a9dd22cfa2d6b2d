/* Messages from the program around the loop, posted by any thread.
 *
 * Posting takes a lock that is held for a few instructions, never the network.
 * The mailbox has no bound of its own: it holds what this process posts. Some
 * letters are there in advance, for when there is no memory: who posts is
 * somebody's program, and is not to end or wait. PROGRESS gets none of them, as
 * the next one says the same. */
#ifndef NET_MAILBOX_H
#define NET_MAILBOX_H

#include <pthread.h>

#include "net/bell.h"
#include "seam/machine.h"

struct letter {
    struct letter *next;
    struct mailbox *home; /* whose spare it is, or NULL */
    struct msg msg;
    struct blob *payload; /* a reference, or NULL */
};

struct mailbox {
    pthread_mutex_t lock;
    struct letter *first, **end;     /* in the order they were posted */
    struct letter *spares, *reserve; /* free, of all that there are */
    const struct bell *bell;         /* rung with each letter */
};

/* The bell is borrowed. False: there is no memory; mailbox_free may follow. */
bool mailbox_init(struct mailbox *mailbox, const struct bell *bell);
/* Destroys the letters that nobody took. */
void mailbox_free(struct mailbox *mailbox);
/* Copies the message and takes over one reference of `payload`. False: there is
 * no memory for it, and it is lost. */
bool mailbox_post(struct mailbox *mailbox, const struct msg *msg,
                  struct blob *payload);
/* All letters in order, linked by `next` and now the caller's; or NULL. */
struct letter *mailbox_drain(struct mailbox *mailbox);
/* Releases the payload too; before its mailbox is freed. */
void letter_destroy(struct letter **letter);

#endif
