/* A scene: a star as the options of starswitch-sim describe it, to be played
 * with one seed after the other.
 *
 *     status = scene_open(&options, &scene, &why);
 *     scene_play(scene, seed, NULL, &outcome);
 *     scene_close(&scene);
 *
 * A play depends on nothing but scene and seed; the node n1 of a seed has the
 * same data, the same first parameters and the same luck under all settings, so
 * that settings are compared in pairs. What a play computes is one of enum
 * compute. A scene is not changed by its plays, and so forks can share it. */
#ifndef SIM_STUDY_SCENE_H
#define SIM_STUDY_SCENE_H

#include "core/options.h"
#include "core/status.h"
#include "sim/study/outcome.h"
#include "sim/world.h"

struct scene;
struct trace;
struct acts;

/* The --time of a run that has another end, if nobody has said one. */
#define LONGEST_RUN (86400 * SECOND)

/* Reads the trace and the scenario that the options name and checks that all
 * goes together; `options` are copied. USAGE, CONFIG, IO, MALFORMED. */
enum status scene_open(const struct options *options, struct scene **out,
                       struct why *why) MUST_CHECK;
/* The same with a trace, which is the scene's from now on even if this fails,
 * and acts, the same, in place of those that the options name. Both may be
 * NULL: those of the options. */
enum status scene_open_as(const struct options *options, struct trace *trace,
                          struct acts *acts, struct scene **out,
                          struct why *why) MUST_CHECK;
void scene_close(struct scene **scene);

/* Who wants to see more of a play than its outcome. All may be NULL. */
struct scene_watcher {
    void *of;
    /* The world, before anything happens in it. */
    void (*begin)(void *of, struct world *world);
    void (*step)(void *of, const struct world_step *step, nanos now);
    /* About every `interval` of virtual time; 0: never. */
    nanos interval;
    void (*look)(void *of, struct world *world);
    void (*line)(void *of, const char *line);
    /* What came of it, while its world is still there: what `look` has kept
     * of the hub's view is not, once the play is over. */
    void (*end)(void *of, const struct outcome *outcome);
};

/* Plays it; `watcher` may be NULL. What goes wrong is in `out`. */
void scene_play(const struct scene *scene, uint64_t seed,
                const struct scene_watcher *watcher, struct outcome *out);

const struct options *scene_options(const struct scene *scene);
/* What it computes, never a guess of the reader's. */
enum compute scene_compute(const struct scene *scene);
/* The policy, codecs and numbers that the options came to. */
const struct hub_config *scene_hub(const struct scene *scene);

#endif
