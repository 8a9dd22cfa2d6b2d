#include "hub/traffic.h"

#include <math.h>

#include "hub/state.h"

/* Exchanges that tell how long one takes: fewer do not, of more the older half
 * fades. */
enum { FEWEST = 4, MOST = 32 };

static nanos later(nanos a, nanos b)
{
    return a > b ? a : b;
}

/* Of exchanges that overlap, the time that they share counts once: it is the
 * link's. They end in the order in which they began. */
void traffic_sent(const struct hub *hub, struct member *member, nanos since)
{
    struct traffic *traffic = &member->traffic;

    since = later(later(since, traffic->counted), hub->adapt.began);
    traffic->up += hub->now - since;
    member->busy.up += hub->now - since;
    traffic->counted = hub->now;
}

/* Under a rate of the hub's, credit is what that is spent on, used or not. */
void traffic_uploaded(struct hub *hub, const struct update *one)
{
    struct member *member = hub->roll.members[one->member];
    struct traffic *traffic = &member->traffic;
    struct busy *busy = &member->busy;
    int64_t bytes = one->credit.bytes, given = one->credit.given;

    if (bytes <= 0)
        return; /* of another fragment */
    traffic->up_bytes += (uint64_t)(given > bytes ? given : bytes);
    traffic->uploads++;
    busy->exchanges++;
    if (busy->exchanges == MOST)
        *busy = (struct busy){busy->up / 2, busy->down / 2, MOST / 2};
}

void traffic_fetched(const struct hub *hub, struct member *member, nanos since)
{
    nanos span = hub->now - later(since, hub->adapt.began);

    if (member->takes)
        return;
    member->traffic.down += span;
    member->busy.down += span;
}

double traffic_busy(const struct member *member)
{
    const struct busy *busy = &member->busy;

    if (busy->exchanges < FEWEST)
        return NAN;
    return (double)later(busy->up, busy->down) / (double)SECOND /
           (double)busy->exchanges;
}

void traffic_count(const struct hub *hub, struct member *member)
{
    const struct update *one = member->in_rounds;

    while (one && one->credit.given <= one->credit.bytes)
        one = one->next;
    if (one)
        traffic_sent(hub, member, one->credit.since);
    if (member->delivery.out)
        traffic_fetched(hub, member, member->patience.began);
}
