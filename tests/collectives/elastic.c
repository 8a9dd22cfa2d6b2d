#include "tests/collectives/elastic.h"

#include "tests/check.h"

const struct msg_told *elastic_told(const struct circle *circle, unsigned place)
{
    return &circle->members[place].told;
}

struct circle *elastic_started(unsigned count, bool active)
{
    struct circle *circle = circle_new(MANNER_ELASTIC, count);

    for (unsigned i = 0; i < count; i++)
        circle->members[i].config.active = active;
    circle_start_all(circle);
    return circle;
}

struct circle *elastic_built(unsigned count, bool active)
{
    struct circle *circle = elastic_started(count, active);

    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, 10 * SECOND));
    return circle;
}

void elastic_average(struct circle *circle, unsigned place)
{
    circle_floats(circle, place, 20, place + 1);
    circle_call(circle, place, COLLECTIVE_ALLREDUCE);
}

/* Everybody averages its place plus one. */
void elastic_average_all(struct circle *circle)
{
    for (unsigned i = 0; i < circle->count; i++)
        if (circle->members[i].client)
            elastic_average(circle, i);
    CHECK(circle_settle(circle, 100 * SECOND));
}

void elastic_check_all(const struct circle *circle, enum ending outcome)
{
    for (unsigned i = 0; i < circle->count; i++)
        if (circle->members[i].client)
            CHECK_EQUAL(outcome, elastic_told(circle, i)->outcome);
}

bool elastic_asks(struct circle *circle, unsigned place, enum ask ask)
{
    circle_ask(circle, place, ask);
    CHECK(circle_settle(circle, 100 * SECOND));
    return elastic_told(circle, place)->yes;
}
