#include "report/course.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE_EVERY (200 * MILLISECOND)

enum { COURSE_LAST = COURSE_MOMENTS - COURSE_FIRST };

struct course *course_new(void)
{
    return calloc(1, sizeof(struct course));
}

void course_destroy(struct course **course)
{
    free(*course);
    *course = NULL;
}

/* Values that stay say nothing new. */
static void add_change(struct series *series, double time, double value)
{
    if (!series->per_point || value != series->newest.value)
        series_add(series, time, value);
}

/* A place that now belongs to another node begins anew. */
static void look_at_node(struct node_course *course, double time,
                         const struct hub_node_view *view)
{
    if (strncmp(course->name, view->name, sizeof course->name) != 0) {
        memset(course, 0, sizeof *course);
        memcpy(course->name, view->name, sizeof course->name);
    }
    if (view->gone || view->iteration == course->iteration ||
        !(view->loss < NO_SCORE))
        return;
    course->iteration = view->iteration;
    series_add(&course->loss, time, view->loss);
}

void course_look(struct course *course, nanos elapsed,
                 const struct hub_view *view)
{
    double time = (double)elapsed / (double)SECOND;

    if (elapsed < course->next && !view->ended)
        return;
    course->next = elapsed + SAMPLE_EVERY;
    course->nodes = view->count < COURSE_NODES ? view->count : COURSE_NODES;
    for (unsigned i = 0; i < course->nodes; i++)
        look_at_node(&course->node[i], time, &view->nodes[i]);
    if (view->score < NO_SCORE)
        add_change(&course->loss, time, view->score);
    if (view->accuracy >= 0)
        add_change(&course->accuracy, time, view->accuracy);
    series_add(&course->megabytes, time,
               (double)(view->moved.up_bytes + view->moved.down_bytes) / 1e6);
}

void course_note(struct course *course, nanos elapsed, const struct note *note)
{
    uint64_t place = course->moments_seen;

    course->notes[note->kind]++;
    if (note_level(note->kind) == LEVEL_DEBUG)
        return;
    if (place >= COURSE_MOMENTS)
        place = COURSE_FIRST + (place - COURSE_FIRST) % COURSE_LAST;
    course->moments[place].elapsed = elapsed;
    course->moments[place].note = *note;
    course->moments_seen++;
}

unsigned course_moments(const struct course *course)
{
    return course->moments_seen < COURSE_MOMENTS
               ? (unsigned)course->moments_seen
               : COURSE_MOMENTS;
}

const struct moment *course_moment(const struct course *course, unsigned place)
{
    uint64_t oldest = course->moments_seen > COURSE_MOMENTS
                          ? (course->moments_seen - COURSE_FIRST) % COURSE_LAST
                          : 0;

    if (place < COURSE_FIRST)
        return &course->moments[place];
    return &course->moments[COURSE_FIRST +
                            (place - COURSE_FIRST + oldest) % COURSE_LAST];
}
