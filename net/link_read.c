/* What a connection receives; see net/link.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "core/need.h"
#include "net/keys.h"
#include "net/station_inside.h"

enum {
    TURN_READS = 16, /* before others have their turn */
    TURN_BYTES = 4 << 20,
    LARGE_BYTES = 4096 /* what is worth a place of its own */
};
#define ARRIVING_INTERVAL (500 * MILLISECOND)

/* Whether somebody has been given the hub's second port as its first, who is
 * to be told: no offender. */
static bool is_misled(const struct link *link, const struct msg *msg)
{
    const struct channel_plan *plan = &link->station->plan;

    return plan->binds && plan->channel == CHANNEL_BULK && !link->announced &&
           (msg->kind == MSG_HELLO || msg->kind == MSG_ENROL ||
            msg->kind == MSG_JOIN || msg->kind == MSG_PROBE);
}

/* Reads the header and says what is wrong with the message, or NULL. */
static const char *judge(const struct link *link, struct msg *msg)
{
    const struct zmtp *zmtp = &link->zmtp;
    const struct msg_info *info;

    if (msg_decode(zmtp->header, zmtp->header_size, msg) != STATUS_OK)
        return "sent bytes that are no message";
    info = msg_info(msg->kind);
    if (info->channel != link->station->plan.channel && !is_misled(link, msg))
        return "sent a message on the wrong channel";
    if (info->payload != PAYLOAD_CHUNK_UNLESS_KNOWN &&
        (info->payload != PAYLOAD_NONE) != (zmtp->payload != NULL))
        return "sent a message without its payload, or with one too many";
    return NULL;
}

static struct notice *new_notice(struct link *link, enum notice_kind kind)
{
    struct notice *notice = notice_new(kind);

    notice->number = link->number;
    notice->origin = link->origin;
    notice->key = link->key;
    return notice;
}

/* A hub is left out when it sends nonsense, a peer of a hub is cut. */
static void nonsense(struct link *link, const char *words)
{
    struct notice *notice;

    blob_unref(&link->zmtp.payload);
    if (link->station->plan.binds) {
        station_gone(link, words);
        return;
    }
    notice = new_notice(link, NOTICE_NONSENSE);
    notice->words = words;
    notice->meter = link->meter;
    notice->bytes = sizeof *notice;
    station_tell(link, notice);
}

/* What this end has sent over the link, for who tests it (hub/probe.h). */
static void count_sent(const struct link *link, struct msg_fill *fill)
{
    struct tcp_facts facts;

    tcp_facts_read(link->fd, &facts);
    fill->sent = (int64_t)facts.sent;
    fill->resent = (int64_t)facts.resent;
}

static void message(struct link *link)
{
    struct notice *notice;
    struct msg msg;
    const char *words = judge(link, &msg);

    station_release(link);
    if (words) {
        nonsense(link, words);
        return;
    }
    if (msg.kind == MSG_FILL)
        count_sent(link, &msg.fill);
    notice = new_notice(link, NOTICE_MESSAGE);
    notice->msg = msg;
    notice->payload = link->zmtp.payload;
    link->gave |= notice->payload != NULL;
    link->zmtp.payload = NULL;
    notice->meter = link->meter;
    notice->bytes =
        sizeof *notice + (notice->payload ? notice->payload->size : 0);
    notice->first = !link->announced;
    link->announced = true;
    if (link->stage == LINK_SILENT)
        gate_known(link);
    station_tell(link, notice);
}

static void fail(struct link *link)
{
    enum zmtp_fault fault = link->zmtp.fault;

    if (link->stage == LINK_KNOWN || link->stage == LINK_SILENT)
        station_gone(link, zmtp_fault_words(fault));
    else if (link->station->plan.binds)
        gate_refuse(link, fault);
    else
        dial_failed(link, fault);
}

static bool is_heard(const struct link *link)
{
    return link->stage != LINK_ENDING && link->stage != LINK_DEAD;
}

/* Finds room for what is asked for; what the engine says then, or ROOM if
 * that has to wait. */
static enum zmtp_event make_room(struct link *link)
{
    struct blob *blob = station_room(link, zmtp_room(&link->zmtp));

    return blob ? zmtp_give(&link->zmtp, blob) : ZMTP_ROOM;
}

/* False when nothing more is to be taken now. */
static bool handle(struct link *link, enum zmtp_event event)
{
    if (event == ZMTP_ROOM)
        event = make_room(link);
    switch (event) {
    case ZMTP_WANTS:
        break;
    case ZMTP_SHAKEN:
        if (link->station->plan.binds)
            gate_shaken(link);
        else
            dial_shaken(link);
        break;
    case ZMTP_ROOM:
        return false;
    case ZMTP_MESSAGE:
        message(link);
        break;
    case ZMTP_FAILED:
        fail(link);
        break;
    }
    return is_heard(link);
}

static void keep(struct link *link, const unsigned char *bytes, size_t size)
{
    if (!size)
        return;
    link->stash = need_memory(1, size);
    memcpy(link->stash, bytes, size);
    link->stash_bytes = size;
}

/* Takes all of it, or keeps what cannot be taken yet; false as handle. */
static bool take(struct link *link, const unsigned char *bytes, size_t size)
{
    enum zmtp_event event;
    bool goes_on = true;
    size_t used;

    while (size && goes_on && !link->paused) {
        event = zmtp_receive(&link->zmtp, bytes, size, &used);
        bytes += used;
        size -= used;
        goes_on = handle(link, event);
    }
    if (size && is_heard(link))
        keep(link, bytes, size);
    return goes_on && !link->paused;
}

static void ended(struct link *link)
{
    if (link->stage == LINK_KNOWN)
        station_gone(link, NULL);
    else if (link->station->plan.binds)
        gate_refuse(link, ZMTP_FAULT_NONE);
    else
        dial_failed(link, ZMTP_FAULT_NONE);
}

/* Reads once: to where the engine wants it, and what is behind that to the
 * scratch. Returns what came, or 0 when it is not to be read from now. */
static size_t read_once(struct link *link)
{
    unsigned char *scratch = link->station->scratch, *place;
    struct iovec pieces[2];
    size_t room, direct;
    ssize_t got;
    int count = 0;

    if (!zmtp_want(&link->zmtp, &place, &room))
        return 0;
    direct = room >= LARGE_BYTES ? room : 0;
    if (direct)
        pieces[count++] = (struct iovec){place, room};
    pieces[count++] = (struct iovec){scratch, SCRATCH_BYTES};
    got = readv(link->fd, pieces, count);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got <= 0) {
        ended(link);
        return 0;
    }
    if (direct) {
        if (direct > (size_t)got)
            direct = (size_t)got;
        if (!handle(link, zmtp_got(&link->zmtp, direct)))
            return 0; /* it has ended */
    }
    return take(link, scratch, (size_t)got - direct) ? (size_t)got : 0;
}

static bool is_read(const struct link *link)
{
    return is_heard(link) && !link->paused && !link->waits;
}

/* What takes long to come is a sign of life all the while. */
static void tell_arriving(struct link *link)
{
    const struct station *station = link->station;
    struct notice *notice;

    if (link->stage != LINK_KNOWN || !link->announced || !link->room ||
        link->zmtp.have <= link->told_bytes ||
        station->now - link->told < ARRIVING_INTERVAL)
        return;
    link->told = station->now;
    link->told_bytes = link->zmtp.have;
    notice = new_notice(link, NOTICE_MESSAGE);
    notice->msg.kind = MSG_ARRIVING;
    notice->msg.arriving.bytes = link->zmtp.have;
    notice->msg.arriving.whole = link->zmtp.need;
    notice->meter = link->meter;
    notice->bytes = sizeof *notice;
    station_tell(link, notice);
}

void link_read(struct link *link)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < TURN_READS && bytes < TURN_BYTES && is_read(link);
         i++) {
        size_t got = read_once(link);

        if (!got)
            break;
        bytes += got;
    }
    tell_arriving(link);
}

void link_go_on(struct link *link)
{
    unsigned char *stash = link->stash;
    size_t size = link->stash_bytes;

    link->stash = NULL;
    link->stash_bytes = 0;
    if (link->waits) {
        link->waits = false;
        (void)handle(link, ZMTP_ROOM);
    }
    if (link->waits) {
        link->stash = stash;
        link->stash_bytes = size;
        return;
    }
    if (is_heard(link))
        (void)take(link, stash, size);
    free(stash);
}
