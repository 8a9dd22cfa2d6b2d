#include "hub/traffic.h"

#include <math.h>

#include "hub/state.h"

/* Exchanges that tell how long one takes: fewer do not, of more the older half
 * fades. */
enum { FEWEST = 4, MOST = 32 };

/* From then to now, but for what was counted before: of exchanges that overlap,
 * the time that they share counts once, as it is the link's. They end in the
 * order in which they began. */
static nanos new_time(const struct hub *hub, nanos since, nanos *counted)
{
    nanos span = hub->now - time_later(since, *counted);

    *counted = hub->now;
    return span;
}

void traffic_sent(const struct hub *hub, struct member *member, nanos since)
{
    struct traffic *traffic = &member->traffic;
    struct busy *busy = &member->busy;

    busy->up += new_time(hub, since, &busy->counted_up);
    traffic->up +=
        new_time(hub, time_later(since, hub->adapt.began), &traffic->counted);
}

/* Under a rate of the hub's, credit is what that is spent on, used or not. */
void traffic_uploaded(struct hub *hub, const struct update *one)
{
    struct member *member = hub->roll.members[one->member];
    struct traffic *traffic = &member->traffic;
    struct busy *busy = &member->busy;
    int64_t bytes = one->credit.bytes, given = one->credit.given;

    if (bytes <= 0)
        return;        /* of another fragment */
    if (given > bytes) /* of the end of an upload */
        traffic_sent(hub, member, one->credit.since);
    traffic->up_bytes += (uint64_t)(given > bytes ? given : bytes);
    traffic->uploads++;
    busy->up_bytes += (uint64_t)bytes;
    busy->exchanges++;
    if (busy->exchanges < MOST)
        return;
    busy->up /= 2;
    busy->down /= 2;
    busy->up_bytes /= 2;
    busy->down_bytes /= 2;
    busy->exchanges /= 2;
}

void traffic_sending(struct member *member)
{
    member->busy.down_before = member->here.down_bytes;
}

void traffic_fetched(const struct hub *hub, struct member *member, nanos since)
{
    struct busy *busy = &member->busy;

    if (member->takes)
        return;
    member->traffic.down += hub->now - time_later(since, hub->adapt.began);
    busy->down += new_time(hub, since, &busy->counted_down);
    busy->down_bytes += member->here.down_bytes - busy->down_before;
    busy->down_before = member->here.down_bytes;
}

double traffic_busy(const struct member *member)
{
    const struct busy *busy = &member->busy;

    if (busy->exchanges < FEWEST)
        return NAN;
    return (double)time_later(busy->up, busy->down) / (double)SECOND /
           (double)busy->exchanges;
}

static double carried(const struct busy *busy, uint64_t bytes, nanos span)
{
    if (busy->exchanges < FEWEST || span <= 0)
        return NAN;
    return (double)bytes * (double)SECOND / (double)span;
}

double traffic_up(const struct member *member)
{
    return carried(&member->busy, member->busy.up_bytes, member->busy.up);
}

double traffic_down(const struct member *member)
{
    return carried(&member->busy, member->busy.down_bytes, member->busy.down);
}

static bool is_sending(const struct hub *hub, const struct update *one)
{
    return one->delivered < hub->centre.count &&
           one->credit.given > one->credit.bytes;
}

void traffic_count(const struct hub *hub, struct member *member)
{
    const struct update *one = member->in_rounds;

    while (one && !is_sending(hub, one))
        one = one->next;
    if (one)
        traffic_sent(hub, member, one->credit.since);
    if (member->delivery.out)
        traffic_fetched(hub, member, member->patience.began);
}
