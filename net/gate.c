/* Where a station binds: who comes in, and what strangers may cost. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "net/station_inside.h"

#define HANDSHAKE_LIMIT (5 * SECOND)
#define SILENCE_LIMIT (30 * SECOND)
/* A message that comes, while others have no room, has to come this fast, in
 * each span of this length. */
#define SLOW_LIMIT (5 * SECOND)
#define SLOW_BYTES_PER_SECOND 16384
/* Of the processor for strangers: one part in so many. */
#define STRANGERS_SHARE 8
#define TIDY_INTERVAL (10 * SECOND)

enum {
    ACCEPT_BATCH = 32,
    STRANGERS_MAX = 4096, /* then the oldest makes room for who comes */
    COMMANDS_MAX = 200    /* of a connection in 100 ms */
};

nanos gate_clock(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (nanos)now.tv_sec * SECOND + now.tv_nsec;
}

static void let_strangers(struct station *station, bool in)
{
    struct epoll_event event = {.events = in ? EPOLLIN : 0,
                                .data.ptr = &station->strangers};

    if (station->strangers_rest != in)
        return;
    station->strangers_rest = !in;
    (void)epoll_ctl(station->set, EPOLL_CTL_MOD, station->strangers, &event);
}

static void refill(struct station *station)
{
    station->stranger_time +=
        (station->now - station->refilled_at) / STRANGERS_SHARE;
    station->refilled_at = station->now;
    if (station->stranger_time > STRANGERS_BURST)
        station->stranger_time = STRANGERS_BURST;
    let_strangers(station, station->stranger_time > 0);
}

void gate_charge(struct station *station, nanos before)
{
    station->stranger_time -= gate_clock() - before;
    refill(station);
}

enum zmtp_fault gate_admit(void *self, const unsigned char *bytes)
{
    struct station *station = self;
    struct admission *admission = station->admission;
    struct key key;
    enum key_role role;

    memcpy(key.bytes, bytes, sizeof key.bytes);
    role = allowed_keys_admit(&admission->allowed, &key);
    if (role == KEY_ROLE_NONE)
        return ZMTP_FAULT_KEY;
    if (role == KEY_ROLE_NODE &&
        bans_hold(&admission->bans, station->now, key_hash(&key)))
        return ZMTP_FAULT_BANNED;
    return ZMTP_FAULT_NONE;
}

/* ---- who comes ---- */

/* The stranger that came first, of this host or (NULL) of all. */
static struct link *oldest_stranger(const struct station *station,
                                    const struct host *host)
{
    for (struct link *link = station->oldest; link; link = link->next)
        if (link->stranger && (!host || link->host == host))
            return link;
    return NULL;
}

/* The oldest makes room; false when there is none. */
static bool make_room(struct station *station, const struct host *host)
{
    struct link *link = oldest_stranger(station, host);

    if (!link)
        return false;
    admission_refuse_later(station->admission, REFUSAL_CROWD, &link->origin);
    station_end(link, false);
    return true;
}

static bool admit(struct station *station, struct host *host,
                  const struct origin *origin)
{
    bool local = origin_is_local(origin);
    enum net_refusal refusal = REFUSAL_CROWD;
    unsigned most = station->admission->room / 2;

    if (most > STRANGERS_MAX)
        most = STRANGERS_MAX;
    if (admission_bans(station->admission, station->now, 0, origin))
        refusal = REFUSAL_BANNED;
    else if ((local || host_may_come(host, station->now)) &&
             (local || host->silent < HOST_SILENT_MAX ||
              make_room(station, host)) &&
             (station->silent < most || make_room(station, NULL)) &&
             (station->count < station->admission->room ||
              make_room(station, NULL)))
        return true;
    admission_refuse_later(station->admission, refusal, origin);
    return false;
}

static void take_in(struct station *station, int fd,
                    const struct origin *origin)
{
    struct host *host = hosts_find(&station->hosts, origin, station->now);
    struct link *link;

    if (!admit(station, host, origin)) {
        (void)close(fd);
        return;
    }
    link = station_add(station, fd, LINK_SHAKING);
    link->origin = *origin;
    link->host = host;
    link->stranger = true;
    host->links++;
    host->silent++;
    station->silent++;
    if (!link_flush(link, station->pool))
        station_end(link, false);
    else
        station_watch(link);
}

/* When descriptors are out, nobody can come for a while. */
static void listen_on(struct station *station, bool yes)
{
    struct epoll_event event = {.events = EPOLLIN,
                                .data.ptr = &station->listener};

    if (station->listening == yes || station->listener < 0)
        return;
    station->listening = yes;
    (void)epoll_ctl(station->strangers, yes ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
                    station->listener, &event);
}

void gate_accept(struct station *station)
{
    for (unsigned i = 0; i < ACCEPT_BATCH && station->listener >= 0; i++) {
        struct origin origin = {.port = 0};
        int fd = tcp_accept(station->listener, &origin);

        if (fd >= 0) {
            take_in(station, fd, &origin);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
            errno == ENOMEM)
            listen_on(station, false);
        return;
    }
}

void gate_shaken(struct link *link)
{
    struct key key;

    link->stage = LINK_SILENT;
    link->since = link->station->now;
    if (!link->station->plan.keys)
        return;
    memcpy(key.bytes, link->zmtp.peer_key, sizeof key.bytes);
    link->key = key_hash(&key);
}

void gate_known(struct link *link)
{
    struct station *station = link->station;

    link->stage = LINK_KNOWN;
    if (link->watched)
        (void)epoll_ctl(station->strangers, EPOLL_CTL_DEL, link->fd, NULL);
    link->watched = link->stranger = false;
    station->silent--;
    link->host->silent--;
    station_watch(link);
}

/* ---- who is refused ---- */

static enum net_refusal refusal_of(const struct link *link,
                                   enum zmtp_fault fault)
{
    switch ((int)fault) {
    case ZMTP_FAULT_NONE:
        return REFUSAL_HUNG_UP;
    case ZMTP_FAULT_NO_KEYS:
        return REFUSAL_MECHANISM;
    case ZMTP_FAULT_WANTS_KEYS:
        return REFUSAL_WANTS_KEYS;
    case ZMTP_FAULT_KEY:
        return REFUSAL_KEY;
    case ZMTP_FAULT_BANNED:
        return REFUSAL_BANNED;
    case ZMTP_FAULT_PROOF:
        return link->zmtp.expects == ZMTP_EXPECTS_HELLO ? REFUSAL_HUB_KEY
                                                        : REFUSAL_MALFORMED;
    default:
        return REFUSAL_MALFORMED;
    }
}

/* One that has shaken hands and goes again has been refused nothing. */
void gate_refuse(struct link *link, enum zmtp_fault fault)
{
    if (link->stage == LINK_SHAKING)
        admission_refuse_later(link->station->admission,
                               refusal_of(link, fault), &link->origin);
    station_end(link, fault != ZMTP_FAULT_NONE);
}

void gate_sweep(struct station *station)
{
    struct admission *admission = station->admission;

    for (struct link *link = station->oldest; link; link = link->next) {
        if (link->stage != LINK_SILENT && link->stage != LINK_KNOWN)
            continue;
        if (admission->keyed && !admission_knows(admission, link->key))
            admission_refuse_later(admission, REFUSAL_KEY, &link->origin);
        else if (admission_bans(admission, station->now, link->key,
                                &link->origin))
            admission_refuse_later(admission, REFUSAL_BANNED, &link->origin);
        else
            continue;
        station_gone(link, NULL);
    }
}

/* ---- what it costs ---- */

/* Looks at what has come since it looked last, SLOW_LIMIT ago. */
static bool is_slow(const struct station *station, struct link *link)
{
    nanos took = station->now - link->room_since;
    size_t came = link->zmtp.have - link->room_seen;

    if (!link->room || took < SLOW_LIMIT)
        return false;
    link->room_since = station->now;
    link->room_seen = link->zmtp.have;
    return station->short_of_room &&
           (double)came * (double)SECOND < (double)took * SLOW_BYTES_PER_SECOND;
}

static void guard(struct station *station, struct link *link)
{
    nanos age = station->now - link->since;
    unsigned commands = link->zmtp.commands;

    link->zmtp.commands = 0;
    if (link->stage == LINK_DEAD || link->stage == LINK_ENDING)
        return;
    if ((link->stage == LINK_SHAKING && age > HANDSHAKE_LIMIT) ||
        (link->stage == LINK_SILENT && age > SILENCE_LIMIT)) {
        admission_refuse_later(station->admission, REFUSAL_SILENT,
                               &link->origin);
        station_end(link, false);
    } else if (commands > COMMANDS_MAX) {
        station_gone(link, "was cut: it sends commands without end");
    } else if (is_slow(station, link)) {
        station_gone(link, "was cut: it sends a message without end");
    }
}

void gate_guard(struct station *station)
{
    struct link *next;

    refill(station);
    listen_on(station, true);
    for (struct link *link = station->oldest; link; link = next) {
        next = link->next;
        guard(station, link);
    }
    station->short_of_room = station->waiting != NULL;
    if (station->now < station->next_tidy)
        return;
    station->next_tidy = station->now + TIDY_INTERVAL;
    hosts_tidy(&station->hosts, station->now);
}
