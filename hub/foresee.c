/* When the run will end, as hub/eta.h estimates it from what it was like. */
#include "hub/state.h"

/* So many iterations have been done by as many nodes as end a run by them: more
 * than half of those that are here. */
static uint64_t iterations_told(const struct hub *hub)
{
    uint64_t low = 0, high = hub->config.iterations;

    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        uint64_t there = 0;

        EACH_HERE(hub, member)
            there += member->iteration >= middle;
        if (2 * there > hub->roll.tally.present)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint64_t tasks_told(const struct hub *hub)
{
    const struct ledger *ledger = &hub->run.ledger;

    return ledger->epoch * ledger->parts + ledger->count[TASK_DONE];
}

/* What falls as the goal comes nearer. */
static double score_told(const struct hub *hub)
{
    return hub->config.goal == GOAL_ACCURACY ? 1 - hub->memory.accuracy
                                             : hub->memory.score;
}

static double score_wanted(const struct hub *hub)
{
    return hub->config.goal == GOAL_ACCURACY ? 1 - hub->config.goal_value
                                             : hub->config.goal_value;
}

static bool has_score(const struct hub *hub)
{
    return hub->config.goal == GOAL_ACCURACY ? hub->memory.accuracy >= 0
                                             : score_known(hub->memory.score);
}

void foresee_tick(struct hub *hub)
{
    struct foresight *told = &hub->run.foresight;

    if (hub->run.phase != PHASE_RUNNING || !hub->rounds.here)
        return;
    if (hub->config.iterations)
        eta_note_count(&told->iterations, hub->now,
                       (double)iterations_told(hub));
    if (hub->config.epochs)
        eta_note_count(&told->tasks, hub->now, (double)tasks_told(hub));
    if (hub->config.goal != GOAL_NONE && has_score(hub) &&
        eta_note_score(&told->score, hub->now, score_told(hub)))
        eta_settle(&told->goal, hub->now,
                   eta_of_score(&told->score,
                                hub->first_round_at - hub->run.former, hub->now,
                                score_wanted(hub)));
}

/* Nobody that has fallen silent trains, as far as is known. */
static bool somebody_trains(const struct hub *hub)
{
    EACH_HERE(hub, member)
        if (member->state == MEMBER_HERE)
            return true;
    return false;
}

/* Of several ends the first one counts, and one of which nothing is known may
 * come before all others. */
static void add(struct hub_view *view, enum eta_end by, struct eta_left left)
{
    view->eta_at_most |= !left.known;
    if (!left.known ||
        (view->eta_by != ETA_NOTHING && left.seconds >= view->eta.seconds))
        return;
    view->eta_by = by;
    view->eta = left;
}

/* Ends that are worked for. */
static void foresee_work(const struct hub *hub, nanos now,
                         struct hub_view *view)
{
    const struct hub_config *config = &hub->config;
    const struct foresight *told = &hub->run.foresight;

    if (config->goal != GOAL_NONE)
        add(view, ETA_GOAL, eta_answer_now(&told->goal, now));
    if (config->iterations)
        add(view, ETA_ITERATIONS,
            eta_of_count(&told->iterations, (double)iterations_told(hub),
                         (double)config->iterations));
    if (config->epochs)
        add(view, ETA_EPOCHS,
            eta_of_count(&told->tasks, (double)tasks_told(hub),
                         (double)config->epochs * hub->run.ledger.parts));
}

void foresee_look(const struct hub *hub, nanos now, struct hub_view *view)
{
    const struct hub_config *config = &hub->config;
    struct eta_left left = {.known = true};

    view->has_end = config->iterations || config->epochs || config->time ||
                    config->goal != GOAL_NONE;
    if (hub->run.phase != PHASE_RUNNING && !view->stopping)
        return;
    if (somebody_trains(hub))
        foresee_work(hub, now, view);
    else
        view->eta_at_most =
            config->iterations || config->epochs || config->goal != GOAL_NONE;
    if (!config->time || config->time_unsaid)
        return;
    left.seconds = (double)(config->time - hub_time(hub)) / (double)SECOND;
    left.seconds = left.seconds > 0 ? left.seconds : 0;
    add(view, ETA_TIME, left);
}
