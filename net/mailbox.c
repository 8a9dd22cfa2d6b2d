#include "net/mailbox.h"

#include <stdlib.h>

/* More than a program says while nobody listens, but for PROGRESS: what it
 * applies, cuts and has done is bounded by what is in flight and given out. */
enum { SPARE_LETTERS = 256 };

/* With the lock held, but for the first time. */
static void put_aside(struct mailbox *mailbox, struct letter *letter)
{
    letter->home = mailbox;
    letter->next = mailbox->spares;
    mailbox->spares = letter;
}

/* With the lock held. */
static struct letter *take_spare(struct mailbox *mailbox)
{
    struct letter *letter = mailbox->spares;

    if (letter)
        mailbox->spares = letter->next;
    return letter;
}

bool mailbox_init(struct mailbox *mailbox, const struct bell *bell)
{
    *mailbox = (struct mailbox){.bell = bell};
    mailbox->end = &mailbox->first;
    (void)pthread_mutex_init(&mailbox->lock, NULL);
    mailbox->reserve = calloc(SPARE_LETTERS, sizeof *mailbox->reserve);
    for (unsigned i = 0; mailbox->reserve && i < SPARE_LETTERS; i++)
        put_aside(mailbox, &mailbox->reserve[i]);
    return mailbox->reserve;
}

void letter_destroy(struct letter **reference)
{
    struct letter *letter = *reference;
    struct mailbox *home = letter ? letter->home : NULL;

    *reference = NULL;
    if (!letter)
        return;
    blob_unref(&letter->payload);
    if (!home) {
        free(letter);
        return;
    }
    (void)pthread_mutex_lock(&home->lock);
    put_aside(home, letter);
    (void)pthread_mutex_unlock(&home->lock);
}

void mailbox_free(struct mailbox *mailbox)
{
    struct letter *letter = mailbox_drain(mailbox);

    while (letter) {
        struct letter *next = letter->next;

        letter_destroy(&letter);
        letter = next;
    }
    free(mailbox->reserve);
    mailbox->reserve = NULL;
    (void)pthread_mutex_destroy(&mailbox->lock);
}

bool mailbox_post(struct mailbox *mailbox, const struct msg *msg,
                  struct blob *payload)
{
    struct letter *letter = malloc(sizeof *letter);

    if (letter)
        letter->home = NULL;
    (void)pthread_mutex_lock(&mailbox->lock);
    if (!letter && msg->kind != MSG_LOCAL_PING && msg->kind != MSG_LOCAL_LOG)
        letter = take_spare(mailbox);
    if (letter) {
        letter->next = NULL;
        letter->msg = *msg;
        letter->payload = payload;
        *mailbox->end = letter;
        mailbox->end = &letter->next;
    }
    (void)pthread_mutex_unlock(&mailbox->lock);
    if (!letter)
        blob_unref(&payload);
    bell_ring(mailbox->bell);
    return letter != NULL;
}

struct letter *mailbox_drain(struct mailbox *mailbox)
{
    struct letter *first;

    (void)pthread_mutex_lock(&mailbox->lock);
    first = mailbox->first;
    mailbox->first = NULL;
    mailbox->end = &mailbox->first;
    (void)pthread_mutex_unlock(&mailbox->lock);
    return first;
}
