/* Of what nodes say that they keep, the newest. */
#include "tests/check.h"
#include "tests/hub/treasure.h"

static struct store store;

/* A later life of the run went on from an older version: a keeps 2 of that, b
 * still 4 of the former one. What 3 and 4 had was given again since. Opens a
 * hub that has lost its disk. */
static struct bench *lose_two_lives(struct guest *a, struct treasure *latest,
                                    struct guest *b, struct treasure *former)
{
    struct bench *bench = treasure_life(&store);

    *former = treasure_train(bench, b, 4);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.life = 3;
    *latest = treasure_train(bench, a, 2);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench_open(bench);
    b->hello.node_low = 77;
    return bench;
}

static void of_one_run_the_latest_life_goes_on(void)
{
    struct treasure former, latest;
    struct guest a, b;
    struct bench *bench = lose_two_lives(&a, &latest, &b, &former);

    guest_comes_again(bench, &b);
    guest_comes_again(bench, &a);
    CHECK(a.hello.kept < b.hello.kept);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    guest_pings(bench, &a, 1);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    CHECK(guest_heard(bench, &b, MSG_GRANT) == NULL);
    treasure_given(bench, &a, &latest);
    CHECK_EQUAL(latest.version, bench_look(bench)->version);
    CHECK_EQUAL(latest.epoch, bench_look(bench)->from);
    CHECK(former.version > latest.version);
    bench_destroy(&bench);
}

/* a's bulk connection comes when the hub has given it up, and asked b. */
static void who_attaches_at_last_is_asked_at_last(void)
{
    struct treasure former, latest;
    struct guest a, b;
    struct bench *bench = lose_two_lives(&a, &latest, &b, &former);

    guest_comes_again(bench, &b);
    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    for (int i = 0; i < 8; i++) {
        guest_pings(bench, &a, 1);
        guest_lives(bench, &b, SECOND);
    }
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &b));
    guest_attach(bench, &a);
    treasure_given(bench, &b, &former);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &latest);
    CHECK_EQUAL(latest.version, bench_look(bench)->version);
    CHECK_EQUAL(latest.epoch, bench_look(bench)->from);
    bench_destroy(&bench);
}

void add_hub_recover_claims_tests(CU_pSuite suite)
{
    TEST(of_one_run_the_latest_life_goes_on);
    TEST(who_attaches_at_last_is_asked_at_last);
}
