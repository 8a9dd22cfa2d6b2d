/* What the soak holds the hub to, after every step; the names are those of the
 * project's invariants. Honest nodes only, except where the hub is meant.
 *
 * N1 no silent loss: offered chunks = verdicts + open ones (hub_check, at every
 *    step); a chunk is never told two verdicts by one life of the hub (a hub
 *    that gives way to a newer centre than it had begins another), nor MERGED
 *    by a later one of which another has said otherwise, but that it was lost:
 *    a newer centre may have it; what is offered after the last fault has one
 *    for each of its chunks within SOAK_RECOVERY where a later one of them has
 *    its result (WELCOME is an answer to all that was offered before). A later
 *    one may well be first: it waits for a grant behind others, for a review,
 *    for its share of the hub's rate.
 *    What was merged after the centre was last saved is lost with a hub that
 *    crashes, though its nodes were told: they hold it, and the hub says which
 *    version it is back at.
 * N2 at most once: of (node, incarnation, exchange, chunk) one version of the
 *    centre is told to hold it, whatever is sent twice, late or again over a
 *    new connection, and over all lives of the hub: a node that is back after
 *    a hub's restart offers under new numbers.
 * N3 monotone: while a hub lives, the centre's version, its chunks' versions
 *    and the epoch never fall, neither in the hub nor in what nodes are told.
 * N4 the centre survives: a hub that starts has what was saved last, and what
 *    is saved is never older than what was saved before, unless the disk is
 *    lost. What it goes on from is no older than what any node keeps of the
 *    life before that is with it by then.
 * N5 bounded: bytes of uploads that the hub holds, see judge_memory.
 * N6 live: after the last fault all nodes exchange, and the run can end, each
 *    within SOAK_RECOVERY; a node that has no patience left, as the hub says,
 *    has SOAK_PATIENCE more, and before that a hub without a centre has
 *    SOAK_FOUNDER for each Byzantine node that it may ask for one.
 * N7 deterministic: a plan has one history (soak_live_twice).
 * N8 training never waits, with d > 0 and without --miss wait; parameters and
 *    results are finite.
 *
 * The machines' own invariants (hub_check, node_check) are asked by the world,
 * at every step, of Byzantine nodes too. */
#ifndef SIM_STUDY_SOAK_JUDGE_H
#define SIM_STUDY_SOAK_JUDGE_H

#include "core/fragment.h"
#include "core/time.h"
#include "core/words.h"
#include "sim/study/soak_plan.h"

enum { SOAK_EXCHANGES = 512 /* remembered of each node */ };
/* A lease of 60 s, a reconnect, a hello, and some exchanges. */
#define SOAK_RECOVERY (90 * SECOND)
/* What a node has used up of its first patience has come back after that. */
#define SOAK_PATIENCE (120 * SECOND)
/* Who is to give the first parameters and sends none is passed over then. */
#define SOAK_FOUNDER (60 * SECOND)

/* What became of an exchange. */
struct soak_fate {
    uint64_t incarnation, exchange;
    enum verdict verdict[SOAK_CHUNKS];
    uint64_t version[SOAK_CHUNKS]; /* of the centre that holds it */
    unsigned life[SOAK_CHUNKS];    /* of the hub, that has told of it last */
    bool judged[SOAK_CHUNKS];
    bool decided;         /* of one of them a round has come to it */
    struct fragment part; /* of the model that it holds; stride 0: unknown */
    bool offered;
    bool owed; /* a later one of the same chunks was answered before it */
    unsigned awaited; /* chunks offered after the last fault */
    unsigned results; /* chunks of the centre that have come in answer */
};

struct soak_judge {
    struct soak_fate fates[SOAK_NODES][SOAK_EXCHANGES];
    uint64_t chunk_versions[SOAK_CHUNKS]; /* of the hub's present life */
    uint64_t version, epoch;              /* the same */
    uint64_t told[SOAK_NODES];            /* the same: newest version */
    uint32_t fragments[SOAK_NODES];       /* F that it was told */
    uint64_t saved;
    unsigned lives;                     /* of the hub, up to the present one */
    bool recovering;                    /* the hub was, at its last step */
    uint64_t decided_since[SOAK_NODES]; /* exchanges, since faults ended */
    unsigned owed;                      /* exchanges */
};

#endif
