/* A hub without a centre, or with a young run of its own, meets nodes that keep
 * one. */
#include "tests/check.h"
#include "tests/hub/treasure.h"

static struct store store;

/* An empty disk, perhaps on another host. */
static struct bench *lose_all(struct guest *a, struct treasure *treasure)
{
    struct bench *bench = treasure_life(&store);

    *treasure = treasure_train(bench, a, 3);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench_open(bench);
    return bench;
}

static void a_hub_with_nothing_goes_on_from_a_node(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = lose_all(&a, &treasure);

    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &a));
    guest_lives(bench, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_TEXT("version 3", treasure_note(bench));
    guest_gives(bench, &a, 4, 0.5);
    CHECK_NEAR(3, guest_result(bench, &a, 4, 0), 0);
    bench_destroy(&bench);
}

static void a_founder_is_stopped_by_who_keeps_a_centre(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    CHECK_EQUAL(START_FOUND, treasure_start(bench, &b));
    guest_delivers(bench, &b, 0, 0, 9);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    guest_delivers(bench, &b, 0, 1, 9);
    guest_delivers(bench, &b, 0, 2, 9);
    CHECK(!bench_look(bench)->founded);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static void an_empty_hub_waits_before_it_founds(void)
{
    struct bench *bench = treasure_life(&store);
    struct treasure treasure;
    struct guest a, b;

    treasure = treasure_train(bench, &a, 3);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench->config.recovery = HUB_RECOVERY;
    bench_open(bench);
    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    guest_comes_again(bench, &a);
    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static void an_empty_hub_founds_when_nobody_keeps_anything(void)
{
    struct bench *bench = treasure_life(&store);
    struct guest a;

    bench->config.recovery = HUB_RECOVERY;
    bench_open(bench);
    a = guest_new(bench, "a");
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &a));
    guest_lives(bench, &a, HUB_RECOVERY + 500 * MILLISECOND);
    CHECK_EQUAL(START_FOUND, treasure_start(bench, &a));
    bench_destroy(&bench);
}

static void a_bulk_connection_that_comes_late_is_waited_for(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = lose_all(&a, &treasure);

    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY + 3 * SECOND);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &a));
    guest_lives(bench, &a, 3 * SECOND);
    CHECK_CONTAINS("no bulk connection", treasure_note(bench));
    CHECK(!bench_look(bench)->recovering);
    bench_destroy(&bench);
}

static void once_something_is_merged_it_is_too_late(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    b.hello.lineage = 99;
    guest_comes_again(bench, &b);
    guest_founds(bench, &b, 9);
    guest_gives(bench, &b, 1, 1);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &a));
    CHECK_CONTAINS("it keeps version 3",
                   hand_note(&bench->hand, NOTE_REFUSED)->text);
    CHECK_EQUAL(1234, bench_look(bench)->run);
    bench_destroy(&bench);
}

/* Two nodes with the same version: a gives half of it and is gone. */
static void another_holder_is_asked_when_the_first_is_gone(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    guest_comes_again(bench, &a);
    b = guest_new(bench, "b");
    b.hello = a.hello;
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    treasure_proves(bench, &a, &treasure);
    guest_delivers(bench, &a, 0, 0, (double)treasure.value[0]);
    guest_breaks(bench, &a);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &b));
    treasure_given(bench, &b, &treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_GO, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static void the_newest_of_two_holders_is_asked(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello = a.hello;
    b.hello.node_low = 77;
    b.hello.kept--;
    guest_comes_again(bench, &b);
    guest_comes_again(bench, &a);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    guest_pings(bench, &a, 1);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    bench_destroy(&bench);
}

void add_hub_recover_young_tests(CU_pSuite suite)
{
    TEST(a_hub_with_nothing_goes_on_from_a_node);
    TEST(a_founder_is_stopped_by_who_keeps_a_centre);
    TEST(an_empty_hub_waits_before_it_founds);
    TEST(an_empty_hub_founds_when_nobody_keeps_anything);
    TEST(a_bulk_connection_that_comes_late_is_waited_for);
    TEST(once_something_is_merged_it_is_too_late);
    TEST(another_holder_is_asked_when_the_first_is_gone);
    TEST(the_newest_of_two_holders_is_asked);
}
