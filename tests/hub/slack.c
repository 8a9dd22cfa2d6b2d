/* The round that waits as long as nobody waits for it (policies/gate_quorum.c).
 */
#include "tests/check.h"
#include "tests/hub/pair.h"

/* d is 5 s there, and b's upload takes 1 s of them. */
static void with_slack_a_round_waits_while_nobody_waits_for_it(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct pair pair;

    f->config.policy.gate = &gate_slack;
    f->config.policy.numbers.quorum = 0;
    f->config.policy.numbers.grace = 1000;
    f->config.delay = 50;
    pair = pair_of(f);
    fake_node_offers(f, &pair.a, 1);
    fake_node_offers(f, &pair.b, 1);
    pair_live(&pair, SECOND, 10);
    fake_node_delivers_all(f, &pair.a, 1, 1);
    fake_node_delivers_all(f, &pair.b, 1, 1);
    fake_node_returns(f, &pair.a, 1);
    fake_node_returns(f, &pair.b, 1);
    pair_live(&pair, SECOND, 10);
    CHECK_EQUAL(1, pair_rounds(&pair));
    fake_node_gives(f, &pair.a, 2, 1);
    pair_live(&pair, 3 * SECOND, 10);
    CHECK_EQUAL(1, pair_rounds(&pair));
    pair_live(&pair, SECOND / 4, 10);
    CHECK_EQUAL(2, pair_rounds(&pair));
    hub_fixture_destroy(&f);
}

void add_hub_slack_tests(CU_pSuite suite)
{
    TEST(with_slack_a_round_waits_while_nobody_waits_for_it);
}
