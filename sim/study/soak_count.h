/* Counting what is learnt, in the soak: a trainer whose every step adds 1 to a
 * number of its own in each chunk, so that the centre says how many of the
 * steps it holds.
 *
 * A *stint* is what a trainer does from the same parameters on, in one run:
 * since its start, since its parameters were replaced, or since its node came
 * to another run. Each has a number of its own, so that one's loss does not
 * hide behind another's gain. Lives that count merge by rules that add: all
 * progress, no momentum, and shares that are 1 and divided by 1; so a number of
 * the centre is the sum of what was merged.
 *
 * Held to it:
 * - At the end all that each honest node has learnt in its last stint is in the
 *   centre that was saved: no step is missing and none is there twice, whatever
 *   became of hub, links and other nodes since, whatever the codecs are.
 * - Where gradients are offered each counts for one, whatever k is, and is in
 *   the centre, or owed by its node (what the codec has left out, or a break
 *   has taken: its next offer would hold it), or was turned down as a whole: as
 *   it came too late, or the run was ending. What one that is turned down
 *   carries of others is not lost with it.
 * - At no time does a saved centre hold more than was learnt. By a lossy codec
 *   an offer may be a little more than it is, and the next one less.
 * - A hub that goes on has the version that it says, number by number.
 * - No node has two votes in one round, in any life.
 * - A stint's first offer claims no more samples than it has seen, in any life.
 *   (Later ones claim those of offers that nobody has merged once more.)
 *
 * Not promised:
 * - Where results are changes by a lossy codec, what nodes keep is what they
 *   hold: the centre but for what the codec has left out on the way down. A hub
 *   that goes on from what a node keeps has lost that, or has it too much. It
 *   is borne in mind here, number by number, and nothing beside it forgiven.
 * - When a hub has lost its disk, and none of its nodes that come in time keeps
 *   a whole version, another run begins: what the former one held is gone, but
 *   for what its founder has of it, which by a lossy codec down may be more of
 *   a number than was merged, or less, as rounded on its way: by no more than
 *   what the hub has sent once was off its centre. What a node has not given
 *   yet it gives to the other run.
 * - A node that dies takes with it what was not merged. What one has learnt
 *   before it has the run's parameters goes when it takes them. Steps of a node
 *   that offers gradients and has no hub move that node alone.
 *
 * A Byzantine node may add what it likes to numbers that are its own, and to no
 * others: what a mean makes of a Byzantine node's numbers is no loss of the
 * hub's. */
#ifndef SIM_STUDY_SOAK_COUNT_H
#define SIM_STUDY_SOAK_COUNT_H

#include "policies/policy.h"
#include "sim/study/soak_plan.h"
#include "sim/world.h"

struct life;

enum {
    SOAK_OWN = SOAK_NODES * SOAK_STINTS, /* numbers of a chunk that count */
    SOAK_VERSIONS = 1024,                /* of a chunk, remembered */
    SOAK_UPLOADS = 4096 /* chunks on their way, whose they are */
};

struct soak_stint {
    uint64_t steps;
    uint64_t offers;               /* of gradients */
    uint64_t dropped[SOAK_CHUNKS]; /* of these, turned down */
    uint64_t alone;                /* steps that moved its own parameters */
    bool offered;                  /* it has said how many samples it is */
    bool other_run;                /* it began within k steps of a gradient */
    float before;                  /* its number, before the step under way */
};

/* Whose trainer it is. */
struct soak_seat {
    struct life *life;
    unsigned node;
};

/* Of a number: by which it may be off, rounded on its way down. */
struct soak_margin {
    float more, less;
};

/* A chunk of the centre that was: what it stands for. */
struct soak_version {
    uint64_t run, life, version; /* the hub's life that had it */
    bool used;
    float stands[SOAK_OWN], lost[SOAK_OWN];
};

struct soak_count {
    struct gate_rule gate;     /* the plan's, whose shares add */
    struct reduce_rule reduce; /* the same in the last round */
    struct soak_seat seats[SOAK_NODES];
    struct soak_stint stints[SOAK_NODES][SOAK_STINTS + 1];
    unsigned stint[SOAK_NODES]; /* the present one; SOAK_STINTS: it has no
                                   number */
    uint64_t run[SOAK_NODES];   /* that the node is in */
    bool takes[SOAK_NODES];     /* the hub has told it to, and it has not */
    unsigned saves;             /* that were looked at */
    struct soak_version versions[SOAK_CHUNKS][SOAK_VERSIONS];
    unsigned next_version[SOAK_CHUNKS];
    uint64_t now[SOAK_CHUNKS]; /* 1 + the version of the chunk; 0: none */
    float lost[SOAK_CHUNKS][SOAK_OWN]; /* that the present centre has less */
    struct soak_margin sent[SOAK_CHUNKS][SOAK_OWN];    /* by which that was
                                                          ever off */
    struct soak_margin founded[SOAK_CHUNKS][SOAK_OWN]; /* by which its run's
                                                          founder may be */
    uint64_t disk_run, disk_version; /* that the hub has started with */
    bool blind; /* the hub has gone on from what is forgotten here */
    struct soak_upload {
        const struct blob *blob;
        unsigned node;
    } uploads[SOAK_UPLOADS];
    unsigned next_upload;
};

/* The same gate, by which shares are 1 and divided by 1. */
struct gate_rule count_gate(const struct gate_rule *gate);
/* Lets a life that counts add. */
void count_open(struct life *life);
/* For a trainer, whose context and observer is its seat. */
trainer_gradient count_gradient;
void count_look(void *observer, const struct trainer_look *look);
/* The number in a chunk that is a node's own in its present stint. */
size_t count_place(const struct life *life, unsigned node);

/* An honest node's offer, for the first time. */
void count_offer(struct life *life, unsigned node,
                 const struct msg_offer *offer);
/* A chunk that a node sends. */
void count_chunk(struct life *life, unsigned node, const struct blob *blob);
/* What becomes of a chunk that it has offered, told for the first time. */
void count_verdict(struct life *life, unsigned node, uint32_t chunk,
                   enum verdict verdict);
/* What the hub tells it to do first. */
void count_welcome(struct life *life, unsigned node, enum start start);
void count_node_step(struct life *life, unsigned node);
/* The hub has started, or else has found what it goes on from. */
void count_resumed(struct life *life, const struct hub_view *view,
                   bool started);
/* After a step of the hub. */
void count_hub_step(struct life *life, const struct hub_view *view);
/* What the hub has begun in a step. */
void count_jobs(struct life *life, const struct world_step *step);
/* Once all have ended. */
void count_end(struct life *life);

/* soak_versions.c: a number of the centre that was saved, with what was lost of
 * it with hubs. */
double count_held(const struct life *life, unsigned node, unsigned stint,
                  uint32_t chunk);
/* By which it may not be what was learnt, as its run was founded so. */
const struct soak_margin *count_founded(const struct life *life, unsigned node,
                                        unsigned stint, uint32_t chunk);
/* Bears in mind what the centre's chunks are. */
void count_versions(struct life *life, const struct hub_view *view);

#endif
