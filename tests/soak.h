/* The soak: seeded lives of a hub and its nodes, with every fault there is.
 *
 * A seed decides on the configuration (soak_random.c), on what goes wrong
 * when (soak_faults.c), and so on the whole history. The judge
 * (soak_judge.c) looks at every step and every message. */
#ifndef TESTS_SOAK_H
#define TESTS_SOAK_H

#include <stdio.h>

#include "core/prng.h"
#include "sim/models.h"
#include "sim/world.h"

enum {
    SOAK_NODES = 8,
    SOAK_CHUNKS = 5,
    SOAK_ELEMENTS = 20,
    SOAK_EXCHANGES = 512, /* remembered by the judge, of each node */
    SOAK_REMEDIES = 256,
    SOAK_LINES = 40,
    SOAK_LINE_BYTES = 200
};
/* How long faults come, and how long all may take to recover from them: a
 * lease of 60 s, a reconnect, a hello, and some exchanges. */
#define SOAK_FAULTS (20 * SECOND)
#define SOAK_RECOVERY (90 * SECOND)

/* What became of one chunk. */
struct soak_fate {
    uint64_t incarnation, exchange;
    enum verdict verdict[SOAK_CHUNKS];
    uint64_t version[SOAK_CHUNKS];
    bool judged[SOAK_CHUNKS];
    bool decided; /* of one of them a round has come to it */
};

enum soak_health { HEALTHY, DOWN, FROZEN, CUT };

struct soak;

/* What ends a fault. */
struct soak_remedy {
    struct soak *soak;
    unsigned process;
};

/* The last lines of a transcript; all of them go to `file`, if there is one. */
struct soak_tail {
    FILE *file;
    char lines[SOAK_LINES][SOAK_LINE_BYTES];
    unsigned count;
};

struct soak {
    uint64_t seed;
    struct prng prng;
    struct world_config config;
    struct schema *schema;
    struct exempt *exempt;
    struct world *world;
    unsigned nodes;
    uint32_t chunks;
    uint64_t task_steps; /* 0: no tasks */
    float starts[SOAK_NODES][SOAK_ELEMENTS];
    float centres[SOAK_NODES][SOAK_ELEMENTS];
    struct quadratic models[SOAK_NODES];

    enum soak_health health[SOAK_NODES], hub_health;
    struct soak_remedy remedies[SOAK_REMEDIES];
    unsigned remedy_count;

    struct soak_fate fates[SOAK_NODES][SOAK_EXCHANGES];
    uint64_t chunk_versions[SOAK_CHUNKS]; /* of the hub's present life */
    uint64_t version;
    uint64_t decided_since[SOAK_NODES]; /* exchanges, since faults ended */
    char complaint[240]; /* the first; empty: all is well */
    struct soak_tail *tail; /* where to keep the end of the transcript */
};

/* soak_random.c: a whole configuration; the world is made but not started. */
void soak_configure(struct soak *soak);
uint64_t soak_below(struct soak *soak, uint64_t bound);

/* soak_faults.c */
void soak_start(struct soak *soak);
/* All processes run and all links work from now on. */
void soak_heal(struct soak *soak);

/* soak_judge.c */
void soak_judge_step(void *context, const struct world_step *step);
void soak_judge_message(struct soak *soak,
                        const struct world_message *message);
/* The hub has been started: versions may be older than before. */
void soak_judge_forget(struct soak *soak);
void soak_complain(struct soak *soak, const char *format, ...) FORMAT(2, 3);

#endif
