/* k and d from what is measured: how often nodes offer, and how long they wait
 * for what comes of it.
 *
 * The smaller k is, the better nodes learn at equal iterations, as long as it
 * is twice what an exchange can take; so k is the smallest that the network
 * carries with room to spare:
 *
 *     k = the largest of  B v / 0.75     links are busy 3/4 of the time at most
 *                         E v / 0.01     a training thread works for it 1 % of
 *                                        the time at most
 *                         v / 20         20 exchanges a second at most
 *                         2 Q            the quickest tenth of exchanges takes
 *                                        half of k at most
 *                         R              the slowest node, which offers every
 *                                        k / R iterations, does one at least
 *
 * rounded up, R to the nearest, with B `busy`, E `exchanging`, v `rate`, Q
 * `quick` and R `spread`. Nodes that
 * train on for nearly k before a result comes correct for what it has already
 * divided by N, and drift apart (docs/decisions/what-the-delay-costs.md). Q and
 * not what is usual, as others wait for nodes that are slower, whatever k is,
 * or for a link that is slow at times, on which offers are left out. What
 * the hub's own work costs is in Q, too: it delays results. A bound in
 * exchanges a second is there because each costs a hub some messages and jobs
 * per node, however little they hold.
 *
 *     d = the smaller of  U and k / 2,  rounded up, at least Q and 1
 *
 * with U `usual`. A result that is late is applied when it comes, and one that
 * waits for d is applied late, which costs more: so d is no more than what
 * every other exchange takes. Who waits for longer is faster than the others,
 * and is not to be ever further ahead. All of it falls as links get faster. */
#ifndef POLICIES_TEMPO_H
#define POLICIES_TEMPO_H

#include <stdbool.h>
#include <stdint.h>

/* What is not known is 0. */
struct tempo_seen {
    double busy;       /* seconds that an exchange occupies the busiest link */
    double rate;       /* iterations a second of the nodes that set the pace */
    double spread;     /* iterations at that rate in one of the slowest node */
    double exchanging; /* processor seconds of a trainer that one costs */
    double quick;      /* iterations that one takes: 10th percentile */
    double usual;      /* median */
};

/* Neither k nor d is chosen larger. */
#define TEMPO_MOST 1000000u

/* In `bound` (or NULL): what sets it. */
uint64_t tempo_every(const struct tempo_seen *seen, const char **bound);
uint64_t tempo_delay(const struct tempo_seen *seen, uint64_t every);
/* By more than a quarter: worth telling. */
bool tempo_differs(uint64_t now, uint64_t before);

struct tempo_value {
    double value, weight;
};

/* The value that a share of the weights is not above, by nearest rank; 0 of
 * none. Sorts the list. */
double tempo_percentile(struct tempo_value *list, unsigned count, double share);

#endif
