/* The model of a hub that has merged nothing is that of whoever comes first,
 * and may be another one when that node comes again. */
#include "tests/check.h"
#include "tests/hub/bench.h"

/* Adds so many elements to the model that guests come with. */
static void enlarge(struct bench *bench, uint64_t elements)
{
    CHECK_OK(schema_add(bench->schema, "more", 1, &elements, NULL));
}

/* A hub in a tournament asks for its parameters. */
static void enter(struct bench *bench, struct guest *guest)
{
    const struct msg_offer offer = {.exchange = 1,
                                    .iteration = 1,
                                    .samples = 1,
                                    .score = 1,
                                    .kind = EXCHANGE_PARAMETERS,
                                    .lineage = 5};

    guest_offer(bench, guest, &offer);
    CHECK(guest_heard(bench, guest, MSG_GRANT) != NULL);
}

/* It has asked a, which breaks off. */
static struct guest break_off(struct bench *bench)
{
    struct guest a;

    bench->config.init = INIT_TOURNAMENT;
    bench_open(bench);
    a = guest_comes(bench, "a");
    enter(bench, &a);
    guest_breaks(bench, &a);
    CHECK_EQUAL(0, bench_look(bench)->version);
    hand_forget(&bench->hand);
    return a;
}

/* Found by a review: those of the smaller model were read as if they had as
 * many chunks as the larger. */
static void with_another_model_nobody_is_told_of_former_exchanges(void)
{
    struct bench *bench = bench_new();
    struct guest a = break_off(bench);

    enlarge(bench, 1000);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(BENCH_ELEMENTS + 1000, hub_schema(bench->hub)->elements);
    CHECK_EQUAL(0, guest_heard_count(bench, &a, MSG_VERDICT));
    bench_destroy(&bench);
}

static void another_process_may_come_with_a_larger_model(void)
{
    struct bench *bench = bench_new();
    struct guest a = break_off(bench);

    enlarge(bench, 1000);
    a.hello.incarnation++;
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) != NULL);
    enter(bench, &a);
    bench_destroy(&bench);
}

/* What is being checked is of the smaller model, and reads what the hub knows
 * of it. */
static void another_model_waits_for_what_is_being_checked(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    bench->hand.holds_jobs = true;
    guest_delivers(bench, &a, 0, BENCH_CHUNKS - 1, 1);
    guest_breaks(bench, &a);
    hand_forget(&bench->hand);
    enlarge(bench, 1000);
    guest_comes_again(bench, &a);
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK(guest_heard(bench, &a, MSG_WELCOME) == NULL);
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &a));
    hand_work(&bench->hand);
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) != NULL);
    CHECK_EQUAL(BENCH_ELEMENTS + 1000, hub_schema(bench->hub)->elements);
    bench_destroy(&bench);
}

/* Nothing of the model changes for those who are checked. */
static void the_same_model_does_not_wait(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    bench->hand.holds_jobs = true;
    guest_delivers(bench, &a, 0, 0, 1);
    guest_breaks(bench, &a);
    hand_forget(&bench->hand);
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) != NULL);
    bench->hand.holds_jobs = false;
    hand_work(&bench->hand);
    guest_founds(bench, &a, 2);
    bench_destroy(&bench);
}

void add_hub_reshape_tests(CU_pSuite suite)
{
    TEST(with_another_model_nobody_is_told_of_former_exchanges);
    TEST(another_process_may_come_with_a_larger_model);
    TEST(another_model_waits_for_what_is_being_checked);
    TEST(the_same_model_does_not_wait);
}
