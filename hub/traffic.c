#include "hub/traffic.h"

#include "hub/state.h"

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
    traffic->counted = hub->now;
}

/* Under a rate of the hub's, credit is what that is spent on, used or not. */
void traffic_uploaded(struct hub *hub, const struct update *one)
{
    struct traffic *traffic = &hub->roll.members[one->member]->traffic;
    int64_t bytes = one->credit.bytes, given = one->credit.given;

    if (bytes <= 0)
        return; /* of another fragment */
    traffic->up_bytes += (uint64_t)(given > bytes ? given : bytes);
    traffic->uploads++;
}

void traffic_fetched(const struct hub *hub, struct member *member, nanos since)
{
    if (!member->takes)
        member->traffic.down += hub->now - later(since, hub->adapt.began);
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
