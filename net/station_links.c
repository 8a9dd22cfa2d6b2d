/* How a station keeps its links; see net/station_inside.h. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/need.h"
#include "net/station_inside.h"

#define DROP_GRACE SECOND

/* For messages that come and are not whole: of strangers, and of all others,
 * half of it for those of whom a whole payload has come before: who only begins
 * does not keep them waiting. One payload alone may be larger. */
#define STRANGERS_ROOM ((size_t)32 << 20)
#define KNOWN_ROOM ((size_t)256 << 20)

struct link *station_add(struct station *station, int fd, enum link_stage stage)
{
    unsigned char random[ZMTP_RANDOM_BYTES] = {0};
    struct link *link = need_memory(1, sizeof *link);

    if (station->zmtp.keys)
        randombytes_buf(random, sizeof random);
    link->number = station->next_number;
    station->next_number += 2;
    link->station = station;
    link->fd = fd;
    link->stage = stage;
    link->since = station->now;
    link->end = &link->first;
    link->meter = meter_new(link);
    zmtp_init(&link->zmtp, &station->zmtp, random);
    explicit_bzero(random, sizeof random);
    link->previous = station->newest;
    if (link->previous)
        link->previous->next = link;
    else
        station->oldest = link;
    station->newest = link;
    station->count++;
    index_put(&station->numbers, link->number, 0, link);
    return link;
}

static uint32_t wanted(const struct link *link)
{
    uint32_t events = 0;
    size_t output;

    if (link->stage == LINK_CONNECTING)
        return EPOLLOUT;
    (void)zmtp_output(&link->zmtp, &output);
    if (!link->broken && (output || (link->first && link->zmtp.expects ==
                                                        ZMTP_EXPECTS_MESSAGES)))
        events |= EPOLLOUT;
    if (link->stage != LINK_ENDING && !link->paused && !link->waits)
        events |= EPOLLIN;
    return events;
}

static void unwatch(struct link *link)
{
    struct station *station = link->station;

    if (link->watched)
        (void)epoll_ctl(link->stranger ? station->strangers : station->set,
                        EPOLL_CTL_DEL, link->fd, NULL);
    link->watched = false;
}

void station_watch(struct link *link)
{
    struct station *station = link->station;
    struct epoll_event event = {.data.ptr = link};

    if (link->stage == LINK_DEAD)
        return;
    event.events = wanted(link);
    /* One that is not looked at may still hang up, which would be said again
     * and again. */
    if (!event.events && link->stage != LINK_ENDING) {
        unwatch(link);
        return;
    }
    if (link->watched && event.events == link->events)
        return;
    (void)epoll_ctl(link->stranger ? station->strangers : station->set,
                    link->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, link->fd,
                    &event);
    link->watched = true;
    link->events = event.events;
}

void station_release(struct link *link)
{
    struct station *station = link->station;

    if (!link->room)
        return;
    if (link->stranger)
        station->stranger_room -= link->room;
    else
        station->known_room -= link->room;
    link->room = 0;
    station->room_freed = true;
}

static void wait_for_room(struct link *link)
{
    struct station *station = link->station;

    link->waits = true;
    link->next_waiting = NULL;
    *station->waiting_end = link;
    station->waiting_end = &link->next_waiting;
    station->short_of_room = true;
}

static size_t room_for(const struct link *link)
{
    if (link->stranger)
        return STRANGERS_ROOM;
    return link->gave ? KNOWN_ROOM : KNOWN_ROOM / 2;
}

static void gone(struct link *link, const char *words, bool scores)
{
    struct notice *notice;

    if (link->announced || words) {
        notice = notice_new(NOTICE_GONE);
        notice->number = link->number;
        notice->origin = link->origin;
        notice->key = link->key;
        notice->words = words;
        notice->scores = scores;
        if (!link->station->plan.binds)
            tcp_facts_read(link->fd, &notice->facts);
        station_tell(link, notice);
    }
    link->announced = false;
    station_end(link, false);
}

struct blob *station_room(struct link *link, size_t bytes)
{
    struct station *station = link->station;
    size_t *used =
        link->stranger ? &station->stranger_room : &station->known_room;
    struct blob *blob;

    /* What is still held was a command's, in the place of a payload. */
    station_release(link);
    if (*used && *used + bytes > room_for(link)) {
        wait_for_room(link);
        return NULL;
    }
    blob = blob_new(station->pool, bytes);
    if (!blob) {
        gone(link, "was cut: there is no memory for what it sent", false);
        return NULL;
    }
    *used += bytes;
    link->room = bytes;
    link->room_since = station->now;
    link->room_seen = 0;
    link->told = station->now;
    link->told_bytes = 0;
    return blob;
}

static void forget_stranger(struct link *link)
{
    if (!link->stranger)
        return;
    unwatch(link);
    link->stranger = false;
    link->station->silent--;
    link->host->silent--;
}

static void finish(struct link *link)
{
    struct station *station = link->station;

    unwatch(link);
    (void)close(link->fd);
    link->fd = -1;
    if (link->stage == LINK_ENDING)
        station->ending--;
    link->stage = LINK_DEAD;
    if (link->host)
        link->host->links--;
    link_discard(link);
    index_remove(&station->numbers, link->number, 0);
    link->next_dead = station->dead;
    station->dead = link;
}

void station_end(struct link *link, bool gently)
{
    struct station *station = link->station;

    if (link->stage == LINK_DEAD || (gently && link->stage == LINK_ENDING))
        return;
    if (link == station->dialled) {
        station->dialled = NULL;
        station->dial_at = NEVER;
    }
    station_release(link);
    forget_stranger(link);
    if (!gently || link->broken || link->stage == LINK_CONNECTING) {
        finish(link);
        return;
    }
    link->stage = LINK_ENDING;
    link->ends_at = station->now + DROP_GRACE;
    if (station->stop_at != NEVER)
        link->ends_at = station->stop_at;
    station->ending++;
    if (!link_flush(link, station->pool))
        finish(link);
    else
        station_watch(link);
}

void station_tell(struct link *link, struct notice *notice)
{
    if (notices_put(&link->station->notices, notice))
        link->paused = true;
}

void station_gone(struct link *link, const char *offence)
{
    gone(link, offence, offence != NULL);
}
