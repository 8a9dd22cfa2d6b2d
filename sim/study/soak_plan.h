/* What a life in the soak is made of: settings and acts, as one text.
 *
 *     set policy easgd
 *     set nodes 4
 *     at 2.5s crash hub
 *     at 3s start hub
 *
 * `set NAME VALUE` names a row of sim/study/soak_plan.def or an option of
 * starswitch-hub; `at` is a line of sim/study/script.h. A plan and nothing else
 * decides on the history, so a failing seed can be cut to the few lines that it
 * takes (sim/study/soak_shrink.h), kept as a file, and lived again. */
#ifndef SIM_STUDY_SOAK_PLAN_H
#define SIM_STUDY_SOAK_PLAN_H

#include <stdio.h>

#include "core/options.h"
#include "hub/hub.h"
#include "sim/study/script.h"

/* SOAK_STINTS are counted of a node (soak_count.h), each with a number in each
 * chunk; SOAK_ELEMENTS are what others train. */
enum {
    SOAK_NODES = 16,
    SOAK_CHUNKS = 5,
    SOAK_ELEMENTS = 20,
    SOAK_STINTS = 12,
    SOAK_NUMBERS = SOAK_CHUNKS * SOAK_NODES * SOAK_STINTS
};

struct soak_plan {
    struct options options; /* of the hub; those of exchange and policy count */
    uint64_t seed, nodes, task_steps, elements, link, lost, late, twice;
    uint64_t byzantine, lies;
    nanos faults, save, step, latency, reconnect, job;
    bool saves, evaluates, reviews, bias, apart, uneven, counts;
    struct script *script;
};

struct soak_plan *soak_plan_new(void); /* the defaults */
struct soak_plan *soak_plan_copy(const struct soak_plan *plan);
void soak_plan_destroy(struct soak_plan **plan);

/* USAGE: there is no such setting, or no such value. */
enum status soak_plan_set(struct soak_plan *plan, const char *name,
                          const char *value, struct why *why) MUST_CHECK;
/* The same of what is known to be right. */
void soak_plan_put(struct soak_plan *plan, const char *name, const char *format,
                   ...) FORMAT(3, 4);

/* Reads a plan's text. MALFORMED and CONFIG, beginning with the line. */
enum status soak_plan_parse(const char *text, size_t size,
                            struct soak_plan **out, struct why *why) MUST_CHECK;
/* Writes what is not as by default, so that it reads as the same plan. */
void soak_plan_print(const struct soak_plan *plan, FILE *out);

/* The settings, by number, for whoever tries all of them. */
unsigned soak_plan_settings(void);
bool soak_plan_is_default(const struct soak_plan *plan, unsigned setting);
void soak_plan_reset(struct soak_plan *plan, unsigned setting);

/* What a hub makes of it. CONFIG: it does not go together. */
enum status soak_plan_configure(const struct soak_plan *plan,
                                struct hub_config *out,
                                struct why *why) MUST_CHECK;

#endif
