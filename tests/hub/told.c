/* What nodes say of themselves (hub/finish.c, hub/rounds.c). */
#include "tests/check.h"
#include "tests/hub/bench.h"

/* Merges so many exchanges of the only node. */
static void trains(struct bench *bench, struct guest *guest, uint64_t first,
                   unsigned count, double score)
{
    for (uint64_t i = first; i < first + count; i++) {
        struct msg_offer offer = {
            .exchange = i, .samples = 1, .score = score, .base_version = i - 1};

        guest_offer(bench, guest, &offer);
        guest_delivers_all(bench, guest, i, 0);
        guest_returns(bench, guest, i);
        hand_wait(&bench->hand, 100 * MILLISECOND);
    }
}

/* Nobody is there to contradict it, but its exchanges are. */
static void one_alone_must_have_trained_what_it_says(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.iterations = 100;
    bench->config.every = 10;
    a = guest_alone(bench);
    guest_pings(bench, &a, (uint64_t)1 << 63);
    trains(bench, &a, 1, 4, 1);
    hand_wait(&bench->hand, SECOND);
    CHECK(!bench_look(bench)->ending);
    trains(bench, &a, 5, 1, 1);
    hand_wait(&bench->hand, SECOND);
    CHECK_TEXT("100 iterations done", bench_look(bench)->reason);
    bench_destroy(&bench);
}

/* As members of collectives do. */
static void where_nobody_offers_iterations_are_what_is_said(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.iterations = 100;
    bench->config.every = 0;
    a = guest_alone(bench);
    guest_pings(bench, &a, 100);
    hand_wait(&bench->hand, SECOND);
    CHECK_TEXT("100 iterations done", bench_look(bench)->reason);
    bench_destroy(&bench);
}

static void a_goal_is_not_what_one_alone_says_at_once(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.goal = GOAL_LOSS;
    bench->config.goal_value = 0.5;
    a = guest_alone(bench);
    trains(bench, &a, 1, 9, -1e200);
    guest_lives(bench, &a, 2 * SECOND);
    CHECK(!bench_look(bench)->ending);
    trains(bench, &a, 10, 1, 0.4);
    guest_lives(bench, &a, 2 * SECOND);
    CHECK(bench_look(bench)->ending);
    bench_destroy(&bench);
}

static void iterations_that_one_of_two_makes_up_end_nothing(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench->config.iterations = 100;
    a = guest_alone(bench);
    b = guest_new(bench, "b");
    b.hello.iteration = (uint64_t)1 << 63;
    guest_hello(bench, &b);
    guest_attach(bench, &b);
    guest_pings(bench, &b, UINT64_MAX);
    guest_pings(bench, &a, 99);
    hand_wait(&bench->hand, SECOND);
    CHECK(!bench_look(bench)->ending);
    guest_pings(bench, &a, 100);
    hand_wait(&bench->hand, SECOND);
    CHECK_TEXT("100 iterations done", bench_look(bench)->reason);
    bench_destroy(&bench);
}

/* Nor a loss, where nobody has held-out data; and it is not the best for ever.
 */
static void a_loss_that_one_of_two_makes_up_reaches_no_goal(void)
{
    struct bench *bench = bench_new();
    struct msg_offer offer = {.exchange = 1, .samples = 1, .score = -1e200};
    struct guest a, b;

    bench->config.policy.gate = &gate_async;
    bench->config.goal = GOAL_LOSS;
    bench->config.goal_value = 0.5;
    a = guest_alone(bench);
    b = guest_comes(bench, "b");
    guest_offer(bench, &b, &offer);
    guest_delivers_all(bench, &b, 1, 0);
    guest_lives(bench, &a, 2 * SECOND);
    CHECK(!bench_look(bench)->ending);
    CHECK(bench_look(bench)->score >= NO_SCORE);
    guest_credits(bench, &a, 0, 0);
    offer.base_version = 1;
    offer.score = 2;
    guest_offer(bench, &a, &offer);
    guest_delivers_all(bench, &a, 1, 0);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    CHECK(!bench_look(bench)->ending);
    CHECK_NEAR(2, bench_look(bench)->best_score, 0);
    bench_destroy(&bench);
}

void add_hub_told_tests(CU_pSuite suite)
{
    TEST(one_alone_must_have_trained_what_it_says);
    TEST(where_nobody_offers_iterations_are_what_is_said);
    TEST(a_goal_is_not_what_one_alone_says_at_once);
    TEST(iterations_that_one_of_two_makes_up_end_nothing);
    TEST(a_loss_that_one_of_two_makes_up_reaches_no_goal);
}
