#include "tests/collectives/elastic.h"

#include "tests/check.h"

struct virtual_group *elastic_started(unsigned count, bool active)
{
    struct virtual_group *group = virtual_new(MANNER_ELASTIC, count);

    for (unsigned i = 0; i < count; i++)
        group->members[i].config.active = active;
    virtual_start_all(group);
    return group;
}

struct virtual_group *elastic_built(unsigned count, bool active)
{
    struct virtual_group *group = elastic_started(count, active);

    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, 10 * SECOND));
    return group;
}

void elastic_average(struct virtual_group *group, unsigned place)
{
    virtual_floats(group, place, 20, place + 1);
    virtual_call(group, place, COLLECTIVE_ALLREDUCE);
}

/* Everybody averages its place plus one. */
void elastic_average_all(struct virtual_group *group)
{
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].client)
            elastic_average(group, i);
    CHECK(virtual_settle(group, 100 * SECOND));
}

void elastic_check_all(const struct virtual_group *group, enum ending outcome)
{
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].client)
            CHECK_EQUAL(outcome, virtual_told(group, i)->outcome);
}

bool elastic_asks(struct virtual_group *group, unsigned place, enum ask ask)
{
    virtual_ask(group, place, ask);
    CHECK(virtual_settle(group, 100 * SECOND));
    return virtual_told(group, place)->yes;
}
