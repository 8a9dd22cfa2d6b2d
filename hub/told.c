/* What nodes say of themselves and nobody can check: of two or more no one
 * alone ends the run, or is what the centre is judged by. One that is alone has
 * nobody beside it: what it says must fit the versions that the run has. */
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"
#include "policies/order.h"

enum {
    ALONE_TIMES = 2,    /* k iterations that a version stands for, at most */
    ALONE_VERSIONS = 10 /* before what it tells can be the goal */
};

void told_score(struct hub *hub, const struct contribution *contribution)
{
    struct conduct *conduct = &hub->members[contribution->member]->conduct;

    if (!contribution->offer.samples ||
        !score_known(contribution->offer.score))
        return;
    conduct->tells = true;
    conduct->told = contribution->offer.score;
}

double told_median(const struct hub *hub)
{
    double *list = need_memory((size_t)hub->member_count, sizeof *list);
    double found = NO_SCORE;
    unsigned count = 0;

    EACH_HERE(hub, member)
        if (member->conduct.tells)
            list[count++] = member->conduct.told;
    values_sort(list, count);
    if (count && 2 * count > hub->tally.present)
        found = list[count / 2];
    free(list);
    return found;
}

static bool is_alone(const struct hub *hub)
{
    return hub->tally.present < 2;
}

bool told_goal(const struct hub *hub)
{
    return hub->config.evaluate || !is_alone(hub) ||
           hub->version >= ALONE_VERSIONS;
}

/* Versions that the run must have before iterations are believed to be done;
 * none where nobody offers by itself. */
static uint64_t versions_due(const struct hub *hub)
{
    uint64_t every = hub->config.every;

    return every ? hub->config.iterations / ALONE_TIMES / every : 0;
}

bool told_done(const struct hub *hub)
{
    return 2 * hub->tally.done > hub->tally.present &&
           (!is_alone(hub) || hub->version >= versions_due(hub));
}
