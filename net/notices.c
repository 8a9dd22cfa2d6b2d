#include "net/notices.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"

void notices_init(struct notices *notices, size_t limit, size_t each,
                  const struct bell *reader, const struct bell *writer)
{
    memset(notices, 0, sizeof *notices);
    (void)pthread_mutex_init(&notices->lock, NULL);
    notices->end = &notices->first;
    notices->limit = limit;
    notices->each = each;
    notices->reader = reader;
    notices->writer = writer;
}

struct notice *notice_new(enum notice_kind kind)
{
    struct notice *notice = need_memory(1, sizeof *notice);

    notice->kind = kind;
    return notice;
}

void notice_destroy(struct notice **reference)
{
    struct notice *notice = *reference;

    *reference = NULL;
    if (!notice)
        return;
    blob_unref(&notice->payload);
    free(notice);
}

/* All below with the lock held. */
static void release(struct meter *meter)
{
    if (--meter->references == 0)
        free(meter);
}

static void queue(struct meter **list, struct meter *meter)
{
    if (meter->queued)
        return;
    meter->queued = true;
    meter->references++;
    meter->next = *list;
    *list = meter;
}

static struct meter *unqueue(struct meter **list)
{
    struct meter *meter = *list;

    if (meter) {
        *list = meter->next;
        meter->queued = false;
    }
    return meter;
}

static void move(struct meter **from, struct meter **to)
{
    struct meter *meter = *from;

    *from = meter->next;
    meter->next = *to;
    *to = meter;
}

static bool count(struct notices *notices, struct meter *meter, size_t bytes)
{
    notices->bytes += bytes;
    meter->bytes += bytes;
    meter->references++;
    if (meter->bytes > notices->each || notices->bytes > notices->limit)
        meter->paused = true;
    return meter->paused;
}

/* Whether there is a connection that may be read from again. */
static bool discount(struct notices *notices, struct meter *meter, size_t bytes)
{
    notices->bytes -= bytes;
    meter->bytes -= bytes;
    if (meter->paused && meter->link && meter->bytes <= notices->each / 2)
        queue(&notices->waiting, meter);
    if (notices->bytes <= notices->limit / 2)
        while (notices->waiting)
            move(&notices->waiting, &notices->resumed);
    release(meter);
    return notices->resumed != NULL;
}

bool notices_put(struct notices *notices, struct notice *notice)
{
    bool pause = false, was_empty;

    (void)pthread_mutex_lock(&notices->lock);
    was_empty = !notices->first;
    *notices->end = notice;
    notices->end = &notice->next;
    if (notice->meter)
        pause = count(notices, notice->meter, notice->bytes);
    (void)pthread_mutex_unlock(&notices->lock);
    if (was_empty && notices->reader)
        bell_ring(notices->reader);
    return pause;
}

struct notice *notices_pop(struct notices *notices)
{
    struct notice *notice;
    bool resumes = false;

    (void)pthread_mutex_lock(&notices->lock);
    notice = notices->first;
    if (notice) {
        notices->first = notice->next;
        if (!notices->first)
            notices->end = &notices->first;
        if (notice->meter)
            resumes = discount(notices, notice->meter, notice->bytes);
    }
    (void)pthread_mutex_unlock(&notices->lock);
    if (resumes && notices->writer)
        bell_ring(notices->writer);
    return notice;
}

struct meter *meter_new(void *link)
{
    struct meter *meter = need_memory(1, sizeof *meter);

    meter->references = 1;
    meter->link = link;
    return meter;
}

void meter_end(struct notices *notices, struct meter *meter)
{
    (void)pthread_mutex_lock(&notices->lock);
    meter->link = NULL;
    release(meter);
    (void)pthread_mutex_unlock(&notices->lock);
}

void *notices_resumed(struct notices *notices)
{
    struct meter *meter;
    void *link = NULL;

    (void)pthread_mutex_lock(&notices->lock);
    while (!link && (meter = unqueue(&notices->resumed)) != NULL) {
        link = meter->link;
        meter->paused = false;
        release(meter);
    }
    (void)pthread_mutex_unlock(&notices->lock);
    return link;
}

static void empty(struct meter **list)
{
    struct meter *meter;

    while ((meter = unqueue(list)) != NULL)
        release(meter);
}

void notices_free(struct notices *notices)
{
    struct notice *notice;

    while ((notice = notices_pop(notices)) != NULL)
        notice_destroy(&notice);
    empty(&notices->waiting);
    empty(&notices->resumed);
    (void)pthread_mutex_destroy(&notices->lock);
}
