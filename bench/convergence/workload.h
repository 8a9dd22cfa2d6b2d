/* What is learnt: two small data sets that Debian's machines have, each in
 * three parts: what nodes train on, what the hub scores by, and what all
 * results here are judged by.
 *
 *   W1  Fashion-MNIST images: 4000 to train on, 1000 others for the hub, 2000
 *       of the test set to be judged by.
 *   W2  the licences of /usr/share/common-licenses as one text, split by
 *       family: Artistic and CC0 for the hub, Apache and BSD to be judged by,
 *       all others to train on. A symlink to a licence is not a second one. */
#ifndef BENCH_CONVERGENCE_WORKLOAD_H
#define BENCH_CONVERGENCE_WORKLOAD_H

#include <stdint.h>

#include "core/status.h"

enum workload_id { W1, W2, WORKLOADS };

/* Who has which part. The mistaught have what nodes have, but on W1 each label
 * y is 9 - y; on W2 there are none. */
enum role { OF_NODES, OF_HUB, OF_JUDGE, OF_MISTAUGHT, ROLES };

struct workload {
    const char *name, *about;
    const char *model;       /* without its learning rate */
    double rate;             /* good for one node: RATES in rows.def */
    uint64_t iterations;     /* of each node */
    unsigned seeds;          /* repetitions */
    const char *data[ROLES]; /* names in the working folder; NULL: none */
};

extern const struct workload workloads[WORKLOADS];

/* Writes the parts into a folder, which is made if need be. IO, MALFORMED. */
enum status workload_prepare(const char *folder, struct why *why) MUST_CHECK;

#endif
