/* Of what nodes say that they keep, the newest. */
#include "tests/check.h"
#include "tests/hub/treasure.h"

static struct store store;

/* A later life of the run went on from an older version: a keeps 2 of that, b
 * still 4 of the former one. What 3 and 4 had was given again since. */
static void of_one_run_the_latest_life_goes_on(void)
{
    struct bench *bench = treasure_life(&store);
    struct treasure former, latest;
    struct guest a, b;

    former = treasure_train(bench, &b, 4);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.life = 3;
    latest = treasure_train(bench, &a, 2);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench_open(bench);
    b.hello.node_low = 77;
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

void add_hub_recover_claims_tests(CU_pSuite suite)
{
    TEST(of_one_run_the_latest_life_goes_on);
}
