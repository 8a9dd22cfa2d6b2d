/* A small star for tests, with defaults, that keeps what the hub publishes.
 *
 *     struct lab *lab = lab_new(1);       one parameter
 *     lab->config.hub.every = 5;          change what matters
 *     lab_open(lab, 3);                   seed; the hub runs now
 *     lab_add(lab, "n1", &model);         starts 20 ms after the one before
 *     lab_run_rounds(lab, 10);
 *     lab_value(lab, 10)                  the first parameter of version 10
 *     lab_destroy(&lab);
 *
 * By default: preset mean, exchange delta, k=1, d=0, four elements a chunk, 1
 * to 2 ms of latency, steps of 100 ms; all nodes start from the same values. */
#ifndef TESTS_SIM_LAB_H
#define TESTS_SIM_LAB_H

#include "codec/payload.h"
#include "sim/models.h"
#include "sim/world.h"

enum { LAB_VERSIONS = 2048 };

/* What a node trains. */
struct model {
    trainer_gradient *gradient;
    const void *context;
    double rate;
    nanos step; /* 0: 100 ms */
    void (*look)(void *observer, const struct trainer_look *look);
    void *observer;
};

struct lab {
    struct world_config config;
    struct schema *schema;
    struct world *world;
    size_t elements;
    float *start;        /* parameters of all nodes, zero at first */
    uint64_t samples;    /* of an iteration; at first 1 */
    uint64_t task_steps; /* iterations of a task; 0: nodes ask for none */
    uint64_t promised;   /* of nodes added later, see node_config */
    trainer_evaluator *evaluate; /* of nodes added later; NULL: no reviews */
    unsigned nodes;
    uint64_t version; /* newest that has been published in all chunks */
    uint32_t chunks;
    uint32_t *published;        /* chunks of each version */
    float *versions;            /* values of each version */
    struct exempt *exempt;      /* of the schema */
    uint64_t results, unmerged; /* chunks in results; not merged of them */
    /* Called as well; context is the lab. */
    void (*after_step)(struct lab *lab, const struct world_step *step);
    void *own;            /* of the test */
    struct hub_view view; /* of lab_look */
};

struct lab *lab_new(size_t elements);
void lab_open(struct lab *lab, uint64_t seed);
unsigned lab_add(struct lab *lab, const char *name, const struct model *model);
/* The same, but leaves starting it to the test. */
unsigned lab_describe(struct lab *lab, const char *name,
                      const struct model *model);
void lab_destroy(struct lab **lab);

/* Runs until version `rounds` is published; false when that takes more than
 * an hour of virtual time or an invariant breaks (that is a failed check). */
bool lab_run_rounds(struct lab *lab, uint64_t rounds);
/* Runs to the end of the hub's run; the same. */
bool lab_run_to_end(struct lab *lab);
/* Runs for so long. */
bool lab_run(struct lab *lab, nanos span);

/* The values of a raw result that is being sent. Its node knows them if there
 * is no payload: then it is the centre as it is now, or NULL where that is a
 * later version. */
const float *lab_result(const struct lab *lab, const struct msg_result *result,
                        struct blob *payload);

/* What the hub tells of itself; until the next call. */
const struct hub_view *lab_look(struct lab *lab);
/* Parameter 0 of a version; all of them. */
double lab_value(const struct lab *lab, uint64_t version);
const float *lab_values(const struct lab *lab, uint64_t version);
/* Parameters of a version that are not, bit for bit, those. */
unsigned lab_differing(const struct lab *lab, uint64_t version,
                       const float *values);

/* An evaluator of those who descend to the origin: half the square of the
 * distance. */
bool lab_tell_truth(const void *context, const float *x, size_t elements,
                    double *loss, double *error);

#endif
