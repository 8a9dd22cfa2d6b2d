/* A scenario: a star as the options of starswitch-sim describe it, to be run
 * with one seed after the other.
 *
 *     status = scenario_open(&options, &scenario, &why);
 *     scenario_run(scenario, seed, NULL, &outcome);
 *     scenario_close(&scenario);
 *
 * A run depends on nothing but scenario and seed; the node n1 of a seed has the
 * same data, the same first parameters and the same luck under all settings, so
 * that settings are compared in pairs. What a run computes is one of enum
 * compute. A scenario is not changed by its runs, and so forks can share it. */
#ifndef SIM_STUDY_SCENARIO_H
#define SIM_STUDY_SCENARIO_H

#include "core/options.h"
#include "core/status.h"
#include "sim/study/outcome.h"
#include "sim/world.h"

struct scenario;
struct trace;
struct script;

/* The --time of a run that has another end, if nobody has said one. */
#define LONGEST_RUN (86400 * SECOND)

/* Reads the trace and the scenario that the options name and checks that all
 * goes together; `options` are copied. USAGE, CONFIG, IO, MALFORMED. */
enum status scenario_open(const struct options *options, struct scenario **out,
                          struct why *why) MUST_CHECK;
/* The same with a trace, which is the scenario's from now on even if this
 * fails, and a script, the same, in place of those that the options name. Both
 * may be NULL: those of the options. */
enum status scenario_open_as(const struct options *options, struct trace *trace,
                             struct script *script, struct scenario **out,
                             struct why *why) MUST_CHECK;
void scenario_close(struct scenario **scenario);

/* An observer that sees more of a run than its outcome. All may be NULL. */
struct scenario_watcher {
    void *of;
    /* The world, before anything happens in it. */
    void (*begin)(void *of, struct world *world);
    void (*step)(void *of, const struct world_step *step, nanos now);
    /* About every `interval` of virtual time; 0: never. */
    nanos interval;
    void (*look)(void *of, struct world *world);
    void (*line)(void *of, const char *line);
    /* What came of it, while its world is still there: what `look` has kept
     * of the hub's view is not, once the run is over. */
    void (*end)(void *of, const struct outcome *outcome);
};

/* Plays it; `watcher` may be NULL. What goes wrong is in `out`. */
void scenario_run(const struct scenario *scenario, uint64_t seed,
                  const struct scenario_watcher *watcher, struct outcome *out);

const struct options *scenario_options(const struct scenario *scenario);
/* The computation, as it was chosen or derived. */
enum compute scenario_compute(const struct scenario *scenario);
/* The policy, codecs and numbers that the options came to. */
const struct hub_config *scenario_hub(const struct scenario *scenario);

#endif
