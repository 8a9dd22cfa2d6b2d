/* Of what nodes say that they keep, the newest. */
#include "tests/check.h"
#include "tests/hub/kept_centre.h"

static struct store store;

/* A later life of the run went on from an older version: a keeps 2 of that, b
 * still 4 of the former one. What 3 and 4 had was given again since. Opens a
 * hub that has lost its disk. */
static struct hub_fixture *lose_two_lives(struct fake_node *a,
                                          struct kept_centre *latest,
                                          struct fake_node *b,
                                          struct kept_centre *former)
{
    struct hub_fixture *f = kept_centre_life(&store);

    *former = kept_centre_train(f, b, 4);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.life = 3;
    *latest = kept_centre_train(f, a, 2);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.run = 1234;
    hub_fixture_open(f);
    b->hello.node_low = 77;
    return f;
}

static void of_one_run_the_latest_life_goes_on(void)
{
    struct kept_centre former, latest;
    struct fake_node a, b;
    struct hub_fixture *f = lose_two_lives(&a, &latest, &b, &former);

    fake_node_comes_again(f, &b);
    fake_node_comes_again(f, &a);
    CHECK(a.hello.kept < b.hello.kept);
    fake_node_lives(f, &b, 1500 * MILLISECOND);
    fake_node_pings(f, &a, 1);
    fake_node_lives(f, &b, 1500 * MILLISECOND);
    CHECK(fake_node_heard(f, &b, MSG_GRANT) == NULL);
    kept_centre_given(f, &a, &latest);
    CHECK_EQUAL(latest.version, hub_fixture_look(f)->version);
    CHECK_EQUAL(latest.epoch, hub_fixture_look(f)->from);
    CHECK(former.version > latest.version);
    hub_fixture_destroy(&f);
}

/* a's bulk connection comes when the hub has given it up, and asked b. */
static void who_attaches_at_last_is_asked_at_last(void)
{
    struct kept_centre former, latest;
    struct fake_node a, b;
    struct hub_fixture *f = lose_two_lives(&a, &latest, &b, &former);

    fake_node_comes_again(f, &b);
    a.control = a.bulk = PEER_NONE;
    fake_node_hello(f, &a);
    for (int i = 0; i < 8; i++) {
        fake_node_pings(f, &a, 1);
        fake_node_lives(f, &b, SECOND);
    }
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &b));
    fake_node_attach(f, &a);
    kept_centre_given(f, &b, &former);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &latest);
    CHECK_EQUAL(latest.version, hub_fixture_look(f)->version);
    CHECK_EQUAL(latest.epoch, hub_fixture_look(f)->from);
    hub_fixture_destroy(&f);
}

void add_hub_recover_claims_tests(CU_pSuite suite)
{
    TEST(of_one_run_the_latest_life_goes_on);
    TEST(who_attaches_at_last_is_asked_at_last);
}
