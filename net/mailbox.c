#include "net/mailbox.h"

#include <stdlib.h>

enum { SPARE_LETTERS = 128 };

/* Puts one more aside, if there is room and memory. */
static void spare(struct mailbox *mailbox)
{
    struct letter *letter = NULL;

    if (mailbox->spare_count < SPARE_LETTERS)
        letter = malloc(sizeof *letter);
    if (!letter)
        return;
    letter->next = mailbox->spares;
    mailbox->spares = letter;
    mailbox->spare_count++;
}

static struct letter *take_spare(struct mailbox *mailbox)
{
    struct letter *letter = mailbox->spares;

    if (letter) {
        mailbox->spares = letter->next;
        mailbox->spare_count--;
    }
    return letter;
}

void mailbox_init(struct mailbox *mailbox, const struct bell *bell)
{
    (void)pthread_mutex_init(&mailbox->lock, NULL);
    mailbox->spares = NULL;
    mailbox->spare_count = 0;
    for (unsigned i = 0; i < SPARE_LETTERS; i++)
        spare(mailbox);
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
    while ((letter = take_spare(mailbox)))
        free(letter);
    (void)pthread_mutex_destroy(&mailbox->lock);
}

bool mailbox_post(struct mailbox *mailbox, const struct msg *msg,
                  struct blob *payload)
{
    struct letter *letter = malloc(sizeof *letter);

    (void)pthread_mutex_lock(&mailbox->lock);
    if (letter)
        spare(mailbox);
    else
        letter = take_spare(mailbox);
    if (letter) {
        *letter = (struct letter){.msg = *msg, .payload = payload};
        *mailbox->end = letter;
        mailbox->end = &letter->next;
    }
    (void)pthread_mutex_unlock(&mailbox->lock);
    if (!letter)
        blob_unref(&payload);
    bell_ring(mailbox->bell);
    return letter != NULL;
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
