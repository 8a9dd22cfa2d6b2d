#include "tests/hub/spoiled.h"

#include <math.h>

#include "tests/check.h"

struct hub_fixture *spoiled_fixture(struct store *store)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.save_interval = 1000 * SECOND;
    store_lend(store, f);
    return f;
}

void spoiled_give(struct hub_fixture *f, struct fake_node *node,
                  uint64_t exchange, double value)
{
    fake_node_gives(f, node, exchange, value);
    fake_node_returns(f, node, exchange);
}

struct fake_node spoiled_begin(struct hub_fixture *f, struct store *store,
                               double loss)
{
    struct fake_node a = fake_node_alone(f);

    store->loss = loss;
    spoiled_give(f, &a, 1, 1);
    fake_node_lives(f, &a, 2 * EACH);
    CHECK_NEAR(loss, hub_fixture_look(f)->score, 0);
    return a;
}

void spoil(struct hub_fixture *f, struct store *store, struct fake_node *node,
           double loss)
{
    store->loss = loss;
    spoiled_give(f, node, 2, 100);
    fake_node_lives(f, node, 2 * EACH);
}

bool is_rolled_back(struct hub_fixture *f)
{
    return hand_note(&f->hand, NOTE_ROLLED_BACK) != NULL;
}

double fake_node_takes(struct hub_fixture *f, struct fake_node *node)
{
    if (fake_node_heard(f, node, MSG_WELCOME)->welcome.start != START_TAKE)
        return (double)NAN;
    fake_node_credits(f, node, 0, 0);
    return fake_node_result(f, node, 0, FIXTURE_CHUNKS - 1);
}
