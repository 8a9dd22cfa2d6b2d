#include "hub/program/end.h"

#include <inttypes.h>

#include "store/generation.h"

/* What the disk says, not what the hub has thought. */
static enum status unsaved(const char *directory, const struct hub_view *view,
                           struct why *why)
{
    uint64_t number = generation_current(directory);
    struct inventory held = {0};
    struct why words = {"no centre"};
    bool holds =
        number && generation_open(directory, number, &held, NULL) == STATUS_OK;
    bool best = holds && held.version == view->version;

    if (holds)
        explain(&words, "version %" PRIu64, held.version);
    inventory_free(&held);
    return because(why, STATUS_IO,
                   "the %s centre, version %" PRIu64 ", could not be saved: "
                   "%.80s holds %s; %s",
                   best ? "best" : "last",
                   best ? view->best_version : view->version, directory,
                   words.text, view->unsaved);
}

/* --time is the most that a run may take, and nothing that it is to reach. */
static bool wants_more(const struct options *options,
                       const struct hub_view *view)
{
    return !view->reached && (options->goal.kind != GOAL_NONE ||
                              options->iterations || options->epochs);
}

enum status end_of_run(const struct options *options,
                       const struct hub_view *view, enum status reported,
                       struct why *why)
{
    const char *directory = options->directory;

    if (view->superseded)
        return because(why, STATUS_AGAIN,
                       "another hub has taken the run over, and has what %s "
                       "lacks: stop that one first, or start this one with "
                       "another --directory",
                       directory);
    if (view->unsaved)
        return unsaved(directory, view, why);
    if (reported != STATUS_OK)
        return reported;
    if (!view->version && !view->founded && !view->stopping)
        return because(why, STATUS_SHORT,
                       "the run has ended before it had a centre: no model is "
                       "saved");
    if (view->stopping && wants_more(options, view))
        return because(why, STATUS_SHORT,
                       "stopped before the run's end; to go on, start the hub "
                       "again by the line above");
    if (options->goal.kind != GOAL_NONE && !view->reached)
        return because(why, STATUS_SHORT,
                       "the goal is not reached: %.100s; to go on, start the "
                       "hub again by the line above",
                       view->reason);
    return STATUS_OK;
}
