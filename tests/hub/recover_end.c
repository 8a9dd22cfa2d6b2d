/* A run is to end, or a node to leave, while the hub still looks for its newest
 * centre: a goodbye would send away who keeps it. */
#include "tests/check.h"
#include "tests/hub/treasure.h"

static struct store store, before;

/* The hub goes on from its disk and has asked a for version 4. */
static struct bench *ask(struct guest *a, struct treasure *treasure,
                         uint64_t iterations)
{
    struct bench *bench = treasure_after(&store, &before, a, treasure);

    bench->config.iterations = bench->config.every = 100;
    a->hello.iteration = iterations;
    treasure_open(bench, &before);
    guest_comes_again(bench, a);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, a));
    return bench;
}

static bool is_sent_away(struct bench *bench, const struct guest *guest)
{
    return hub_ended(bench->hub) ||
           guest_heard(bench, guest, MSG_STOP) != NULL ||
           guest_heard(bench, guest, MSG_BYE) != NULL;
}

static const char *reason(const struct bench *bench, const struct guest *guest)
{
    const struct msg *stop = guest_heard(bench, guest, MSG_STOP);

    return stop ? stop->stop.reason : "";
}

static void a_run_whose_iterations_are_done_ends_at_the_newest_version(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = ask(&a, &treasure, 100);

    hand_wait(&bench->hand, SECOND);
    CHECK(!is_sent_away(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    hand_wait(&bench->hand, 500 * MILLISECOND);
    CHECK_TEXT("100 iterations done", reason(bench, &a));
    guest_gives_last(bench, &a, 5, 0.5);
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(5, store.version);
    CHECK_NEAR(3.5, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

static void a_stop_counts_from_when_the_newest_version_is_there(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = ask(&a, &treasure, 1);

    bench_stop(bench);
    guest_lives(bench, &a, 9 * SECOND);
    CHECK(!is_sent_away(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    CHECK_TEXT("ended by hand", reason(bench, &a));
    guest_lives(bench, &a, 9 * SECOND);
    CHECK(!hub_ended(bench->hub));
    guest_lives(bench, &a, 2 * SECOND);
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(4, store.version);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    bench_destroy(&bench);
}

static void a_hub_that_nobody_comes_to_ends_when_it_has_looked(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_after(&store, &before, &a, &treasure);

    treasure_open(bench, &before);
    bench_stop(bench);
    CHECK(!hub_ended(bench->hub));
    hand_wait(&bench->hand, HUB_RECOVERY + SECOND);
    CHECK(hub_ended(bench->hub));
    bench_destroy(&bench);
}

static void nor_does_it_wait_beyond_its_time(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_after(&store, &before, &a, &treasure);

    bench->config.time = 60 * SECOND; /* some of which it had before */
    treasure_open(bench, &before);
    hand_wait(&bench->hand, 9 * SECOND);
    CHECK(!hub_ended(bench->hub));
    hand_wait(&bench->hand, 52 * SECOND + HUB_RECOVERY);
    CHECK(hub_ended(bench->hub));
    bench_destroy(&bench);
}

static void who_is_drained_gives_what_it_keeps_before_it_leaves(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = ask(&a, &treasure, 1);
    uint64_t ticket = bench_order(bench, COMMAND_DRAIN, "a");

    bench_answered(bench, ticket, STATUS_OK, "last offer");
    guest_lives(bench, &a, SECOND);
    CHECK(!is_sent_away(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    CHECK_CONTAINS("drained", reason(bench, &a));
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &a));
    guest_gives_last(bench, &a, 5, 0.5);
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    CHECK_EQUAL(5, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* It may keep the newest centre: its connections break, and it is let in. */
static void who_is_drained_and_breaks_off_still_gives_what_it_keeps(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = ask(&a, &treasure, 1);

    (void)bench_order(bench, COMMAND_DRAIN, "a");
    guest_breaks(bench, &a);
    hand_wait(&bench->hand, SECOND);
    hand_forget(&bench->hand);
    guest_comes_again(bench, &a);
    CHECK(!is_sent_away(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    CHECK_CONTAINS("drained", reason(bench, &a));
    guest_gives_last(bench, &a, 5, 0.5);
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    CHECK_EQUAL(5, bench_look(bench)->version);
    bench_destroy(&bench);
}

void add_hub_recover_end_tests(CU_pSuite suite)
{
    TEST(a_run_whose_iterations_are_done_ends_at_the_newest_version);
    TEST(a_stop_counts_from_when_the_newest_version_is_there);
    TEST(a_hub_that_nobody_comes_to_ends_when_it_has_looked);
    TEST(nor_does_it_wait_beyond_its_time);
    TEST(who_is_drained_gives_what_it_keeps_before_it_leaves);
    TEST(who_is_drained_and_breaks_off_still_gives_what_it_keeps);
}
