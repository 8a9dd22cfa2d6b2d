#include "hub/program/clock.h"

#include "net/net.h"

/* Less is no news for people: drift comes to that in a day. */
#define NEWS (20 * MILLISECOND)

void clock_tell(struct wall_clock *clock, struct net *net, nanos now)
{
    struct msg msg = {.kind = MSG_LOCAL_CLOCK};
    nanos ahead, news;

    msg.local_clock.wall = net_wall();
    ahead = msg.local_clock.wall - now;
    news = ahead - clock->ahead;
    if (clock->told && news < NEWS && news > -NEWS)
        return;
    clock->told = net_post(net, &msg, NULL);
    clock->ahead = ahead;
}
