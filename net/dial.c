/* Where a station connects: to one hub, again and again. */
#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "net/station_inside.h"

#define FIRST_PAUSE (250 * MILLISECOND) /* nothing connects sooner */
#define LONGEST_PAUSE SECOND            /* a hub is back soon noticed */
#define CONNECT_LIMIT (5 * SECOND)
#define HANDSHAKE_LIMIT (5 * SECOND)

static void tell(struct station *station, enum net_hindrance hindrance,
                 int error)
{
    struct notice *notice = notice_new(NOTICE_FAILED);

    notice->hindrance = hindrance;
    notice->error = error;
    (void)notices_put(&station->notices, notice);
}

/* So that not all nodes of a hub that was away come at once. */
static nanos spread(struct station *station, nanos pause)
{
    station->spread = station->spread * 6364136223846793005u + 1;
    return pause + (nanos)(station->spread >> 33) % (pause / 4);
}

static void try_later(struct station *station)
{
    if (station->pause < FIRST_PAUSE)
        station->pause = FIRST_PAUSE;
    station->dial_at = station->now + spread(station, station->pause);
    station->pause *= 2;
    if (station->pause > LONGEST_PAUSE)
        station->pause = LONGEST_PAUSE;
}

static enum net_hindrance hindrance_of_error(int error)
{
    switch (error) {
    case ECONNREFUSED:
        return HINDRANCE_REFUSED;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
        return HINDRANCE_NO_ROUTE;
    case ETIMEDOUT:
        return HINDRANCE_TIMED_OUT;
    case ECONNRESET:
    case EPIPE:
        return HINDRANCE_HUNG_UP;
    default:
        return HINDRANCE_SYSTEM;
    }
}

static enum net_hindrance hindrance_of(const struct link *link,
                                       enum zmtp_fault fault)
{
    switch ((int)fault) {
    case ZMTP_FAULT_NONE:
        /* Who cannot open our HELLO says nothing. */
        return link->zmtp.expects == ZMTP_EXPECTS_WELCOME ? HINDRANCE_UNPROVED
                                                          : HINDRANCE_HUNG_UP;
    case ZMTP_FAULT_NO_KEYS:
        return HINDRANCE_HAS_NO_KEY;
    case ZMTP_FAULT_WANTS_KEYS:
        return HINDRANCE_WANTS_KEY;
    case ZMTP_FAULT_PROOF:
        return HINDRANCE_UNPROVED;
    case ZMTP_FAULT_SAID_REFUSED:
        /* Only what has opened our HELLO is the hub. */
        return link->zmtp.expects == ZMTP_EXPECTS_WELCOME
                   ? HINDRANCE_UNPROVED
                   : HINDRANCE_REFUSES_KEY;
    case ZMTP_FAULT_SAID_BANNED:
        return HINDRANCE_BANS_KEY;
    case ZMTP_FAULT_SAID_ERROR:
        return HINDRANCE_HUNG_UP;
    default:
        return HINDRANCE_NO_HUB;
    }
}

void dial(struct station *station)
{
    const struct tcp_place *place;
    struct tcp_places places;
    int error, fd;

    if (station->dial_at == NEVER)
        try_later(station);
    if (station->held || station->dialled || station->now < station->dial_at)
        return;
    error = tcp_look_up(&station->plan.address, &places);
    station->now = net_now(); /* that may have taken its time */
    if (error) {
        tell(station, error == EAI_AGAIN ? HINDRANCE_RESOLVER : HINDRANCE_NAME,
             error);
        try_later(station);
        return;
    }
    place = &places.list[station->turn++ % places.count];
    fd = tcp_connect(place, station->plan.segment);
    if (fd < 0) {
        tell(station, hindrance_of_error(errno), errno);
        try_later(station);
        return;
    }
    station->dialled = station_add(station, fd, LINK_CONNECTING);
    station->dialled->origin = origin_from(&place->address);
    station_watch(station->dialled);
}

void dial_go(struct station *station, const struct address *address)
{
    station->plan.address = *address;
    station->held = false;
    if (station->dialled) {
        station->dialled->announced = false;
        station_end(station->dialled, false);
    }
    station->turn = 0;
    station->pause = 0;
    station->dial_at = station->now;
}

void dial_connected(struct link *link)
{
    int error = tcp_outcome(link->fd);

    if (error) {
        tell(link->station, hindrance_of_error(error), error);
        station_end(link, false);
        return;
    }
    link->stage = LINK_SHAKING;
    link->since = link->station->now;
    (void)link_flush(link, link->station->pool);
    station_watch(link);
}

void dial_shaken(struct link *link)
{
    struct notice *notice = notice_new(NOTICE_READY);

    link->stage = LINK_KNOWN;
    link->station->pause = 0;
    link->station->turn--; /* this address is the right one */
    notice->number = link->number;
    notice->origin = link->origin;
    link->announced = true;
    station_tell(link, notice);
}

void dial_failed(struct link *link, enum zmtp_fault fault)
{
    struct station *station = link->station;
    enum net_hindrance hindrance = hindrance_of(link, fault);

    tell(station, hindrance, 0);
    if (hindrance != HINDRANCE_HUNG_UP)
        station->pause = LONGEST_PAUSE; /* it has answered */
    station_end(link, false);
}

void dial_guard(struct station *station)
{
    struct link *link = station->dialled;
    nanos age = link ? station->now - link->since : 0;

    if (!link)
        return;
    if (link->stage == LINK_CONNECTING && age > CONNECT_LIMIT)
        tell(station, HINDRANCE_TIMED_OUT, 0);
    else if (link->stage == LINK_SHAKING && age > HANDSHAKE_LIMIT)
        tell(station, HINDRANCE_SILENT, 0);
    else
        return;
    station_end(link, false);
}
