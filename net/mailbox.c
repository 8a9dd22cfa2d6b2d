#include "net/mailbox.h"

#include <stdlib.h>

void mailbox_init(struct mailbox *mailbox, const struct bell *bell)
{
    (void)pthread_mutex_init(&mailbox->lock, NULL);
    mailbox->first = NULL;
    mailbox->end = &mailbox->first;
    mailbox->bell = bell;
}

void letter_destroy(struct letter **letter)
{
    if (!*letter)
        return;
    blob_unref(&(*letter)->payload);
    free(*letter);
    *letter = NULL;
}

void mailbox_free(struct mailbox *mailbox)
{
    struct letter *letter = mailbox_take(mailbox);

    while (letter) {
        struct letter *next = letter->next;

        letter_destroy(&letter);
        letter = next;
    }
    (void)pthread_mutex_destroy(&mailbox->lock);
}

void mailbox_post(struct mailbox *mailbox, const struct msg *msg,
                  struct blob *payload)
{
    struct letter *letter = malloc(sizeof *letter);

    if (!letter)
        abort();
    letter->next = NULL;
    letter->msg = *msg;
    letter->payload = payload;
    (void)pthread_mutex_lock(&mailbox->lock);
    *mailbox->end = letter;
    mailbox->end = &letter->next;
    (void)pthread_mutex_unlock(&mailbox->lock);
    bell_ring(mailbox->bell);
}

struct letter *mailbox_take(struct mailbox *mailbox)
{
    struct letter *first;

    (void)pthread_mutex_lock(&mailbox->lock);
    first = mailbox->first;
    mailbox->first = NULL;
    mailbox->end = &mailbox->first;
    (void)pthread_mutex_unlock(&mailbox->lock);
    return first;
}
