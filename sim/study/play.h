/* The inside of a scene: scene.c reads it, play.c plays it. */
#ifndef SIM_STUDY_PLAY_H
#define SIM_STUDY_PLAY_H

#include "hub/hub.h"
#include "sim/study/scene.h"

enum { SCENE_SPEEDS = 256 };
/* Where the options do not say. */
#define USUAL_STEP (100 * MILLISECOND)
#define USUAL_RUN (600 * SECOND)

struct trace;
struct acts;

struct scene {
    struct options options;
    struct hub_config hub; /* without what a play adds */
    struct trace *trace;   /* NULL: none */
    struct acts *acts;     /* NULL: none */
    double speeds[SCENE_SPEEDS];
    unsigned speed_count;
};

#endif
