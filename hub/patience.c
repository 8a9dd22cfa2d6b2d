#include "hub/patience.h"

#include "core/need.h"
#include "hub/state.h"
#include "policies/order.h"

double patience_seconds(nanos span)
{
    return (double)span / (double)SECOND;
}

nanos patience_took(const struct hub *hub, nanos since)
{
    return hub->now > since ? hub->now - since : 1;
}

/* Seconds of it, when none is used up. */
static double patience_most(const struct patience *patience)
{
    return PATIENCE_FIRST + patience->more;
}

bool patience_is_shared(const struct hub *hub, const struct member *member)
{
    return hub->rounds.here && !tournament_goes_on(hub) &&
           !member->patience.proved;
}

/* Whether there is none left after that. Newcomers are waited for at the same
 * time, which is counted once. */
static bool is_used_up(struct hub *hub, struct member *member, nanos span)
{
    struct newcomers *newcomers = &hub->rounds.newcomers;

    member->patience.used += patience_seconds(span);
    if (!patience_is_shared(hub, member))
        return member->patience.used >= patience_most(&member->patience);
    if (newcomers->counted != hub->now)
        newcomers->used += patience_seconds(span);
    newcomers->counted = hub->now;
    return newcomers->used >= PATIENCE_FIRST;
}

bool patience_use(struct hub *hub, struct member *member, nanos span,
                  const char *what)
{
    struct patience *patience = &member->patience;

    if (!is_used_up(hub, member, span) || patience->spent ||
        members_live(hub) < 2) /* somebody must be waited for */
        return patience->spent;
    patience->spent = true;
    patience->offers = false;
    member_recount(hub, member);
    effects_note(hub->out, NOTE_HELD_UP, member->name,
                 "%s, and the others have waited %.1f s for it: rounds go on "
                 "without it until it keeps up again",
                 what, patience->used);
    return true;
}

void patience_return(struct hub *hub, struct member *member, nanos span)
{
    struct patience *patience = &member->patience;

    patience->used -= PATIENCE_BACK * patience_seconds(span);
    if (patience->used > 0)
        return;
    patience->used = 0;
    if (!patience->spent || !patience->offers)
        return;
    patience->spent = false;
    member_recount(hub, member);
    if (member_is_here(member))
        effects_note(hub->out, NOTE_RECOVERED, member->name,
                     "rounds wait for it again");
}

void patience_grow(struct patience *patience)
{
    patience->more = 2 * patience_most(patience) - PATIENCE_FIRST;
    if (patience->more > PATIENCE_MOST - PATIENCE_FIRST)
        patience->more = PATIENCE_MOST - PATIENCE_FIRST;
}

struct sorted_values values_of(const struct hub *hub,
                               double (*of)(const struct member *))
{
    struct sorted_values values = {
        .list = need_memory((size_t)hub->roll.count, sizeof(double))};

    EACH_HERE(hub, member)
        if (of(member) > 0)
            values.list[values.count++] = of(member);
    values_sort(values.list, values.count);
    return values;
}

double median_of_others(const struct sorted_values *values, double own)
{
    unsigned count = values->count, place = 0, middle;

    while (place < count && values->list[place] < own)
        place++;
    if (place < count && values->list[place] == own)
        count--; /* a member that has just been lost is not among them */
    else
        place = count;
    if (!count)
        return 0;
    middle = (count - 1) / 2;
    return values->list[middle + (place <= middle)];
}
