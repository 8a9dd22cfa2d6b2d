#include "sim/loss.h"

#include <math.h>

#define PACKET_BYTES 1448
/* Packets behind a lost one by which the receiver tells of it. */
enum { TELLING = 3 };
/* A packet is not lost more often, one after the other. */
enum { MOST_LOSSES = 10 };
#define TIMEOUT (200 * MILLISECOND)
#define MATHIS 1.22

static nanos round_trip(const struct world_link *link)
{
    return 2 * link->latency + link->jitter;
}

static double power(double base, uint64_t exponent)
{
    double product = 1;

    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            product *= base;
        base *= base;
    }
    return product;
}

/* How often the unluckiest of so many packets is lost: each is lost r times
 * or more with loss^r, so that all have less with (1 - loss^r)^packets. */
static unsigned losses(struct prng *prng, double loss, uint64_t packets)
{
    double chance, again = loss;
    unsigned count = 0;

    if (!packets)
        return 0;
    chance = prng_unit(prng);
    while (count < MOST_LOSSES && chance >= power(1 - again, packets)) {
        again *= loss;
        count++;
    }
    return count;
}

nanos loss_delay(struct prng *prng, const struct world_link *link,
                 uint64_t bytes, bool last)
{
    uint64_t packets = bytes ? (bytes - 1) / PACKET_BYTES + 1 : 1;
    uint64_t tail = packets < TELLING ? packets : TELLING;
    nanos trip = round_trip(link);
    unsigned told, silent;

    if (!(link->loss > 0))
        return 0;
    if (!last)
        tail = 0;
    told = losses(prng, link->loss, packets - tail);
    silent = losses(prng, link->loss, tail);
    return told * trip + ((nanos)(1u << silent) - 1) * (TIMEOUT + trip);
}

uint64_t loss_ceiling(const struct world_link *link)
{
    double trip = (double)round_trip(link) / (double)SECOND, rate;

    if (!(link->loss > 0) || !(trip > 0))
        return 0;
    rate = MATHIS * PACKET_BYTES / (trip * sqrt(link->loss));
    return rate < 1 ? 1 : (uint64_t)rate;
}
