/* Who is asked for data, and what becomes of those who are not there. */
#include <string.h>

#include "tests/check.h"
#include "tests/hub/bench.h"
#include "tests/hub/store.h"

/* Three nodes of a founded run; every value of the centre is 1. */
struct three {
    struct bench *bench;
    struct guest a, b, c;
};

static struct three three_by(const struct policy *policy)
{
    struct three three = {.bench = bench_new()};

    three.bench->config.policy = *policy;
    bench_open(three.bench);
    three.a = guest_comes(three.bench, "a");
    three.b = guest_comes(three.bench, "b");
    three.c = guest_comes(three.bench, "c");
    guest_founds(three.bench, &three.a, 1);
    return three;
}

static struct three three_of(const char *preset)
{
    return three_by(&preset_find(preset)->policy);
}

/* What nodes say of themselves is believed. */
static struct three three_trusting(const char *preset)
{
    struct policy policy = preset_find(preset)->policy;

    policy.reduce = &reduce_mean;
    return three_by(&policy);
}

static void offer(struct bench *bench, struct guest *guest, uint64_t exchange,
                  double score)
{
    const struct msg_offer scored = {
        .exchange = exchange, .samples = 1, .score = score};

    guest_offer(bench, guest, &scored);
}

static void the_best_one_is_asked_for_data(void)
{
    struct three three = three_trusting("best");

    hand_forget(&three.bench->hand);
    offer(three.bench, &three.a, 1, 2);
    offer(three.bench, &three.b, 1, 1);
    CHECK(!guest_heard(three.bench, &three.b, MSG_GRANT));
    offer(three.bench, &three.c, 1, 3);
    CHECK(!guest_heard(three.bench, &three.a, MSG_GRANT));
    CHECK(guest_heard(three.bench, &three.b, MSG_GRANT) != NULL);
    guest_delivers_all(three.bench, &three.b, 1, 0.5);
    CHECK_NEAR(1.5, guest_result(three.bench, &three.c, 1, 2), 0);
    CHECK_EQUAL(VERDICT_DECLINED, guest_verdict(three.bench, &three.c, 1, 2));
    bench_destroy(&three.bench);
}

static void whoever_is_gone_is_not_chosen(void)
{
    struct three three = three_trusting("best");

    offer(three.bench, &three.a, 1, 0);
    offer(three.bench, &three.b, 1, 1);
    guest_breaks(three.bench, &three.a);
    offer(three.bench, &three.c, 1, 2);
    guest_delivers_all(three.bench, &three.b, 1, 0.5);
    CHECK_NEAR(1.5, guest_result(three.bench, &three.b, 1, 0), 0);
    CHECK_NEAR(1.5, guest_result(three.bench, &three.c, 1, 0), 0);
    bench_destroy(&three.bench);
}

/* "a" is the leader: the others are given its parameters, and it nothing. */
static void whoever_is_gone_is_not_followed(void)
{
    struct three three = three_trusting("lsgd");

    offer(three.bench, &three.a, 1, 0);
    offer(three.bench, &three.b, 1, 1);
    guest_breaks(three.bench, &three.a);
    offer(three.bench, &three.c, 1, 2);
    guest_delivers_all(three.bench, &three.b, 1, 7);
    CHECK_NEAR(7, guest_result(three.bench, &three.c, 1, 0), 0);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(three.bench, &three.b, 1, 0));
    bench_destroy(&three.bench);
}

static void who_gets_a_result_gets_no_verdict_beside_it(void)
{
    struct three three = three_trusting("lsgd");

    hand_forget(&three.bench->hand);
    offer(three.bench, &three.a, 1, 2);
    offer(three.bench, &three.b, 1, 1);
    offer(three.bench, &three.c, 1, 3);
    guest_delivers_all(three.bench, &three.b, 1, 7);
    CHECK_EQUAL(0, guest_heard_count(three.bench, &three.a, MSG_VERDICT));
    CHECK_EQUAL(BENCH_CHUNKS,
                guest_heard_count(three.bench, &three.a, MSG_RESULT));
    CHECK_EQUAL(1, guest_heard_count(three.bench, &three.b, MSG_VERDICT));
    CHECK_EQUAL(0, guest_heard_count(three.bench, &three.b, MSG_RESULT));
    bench_destroy(&three.bench);
}

static void what_is_judged_as_a_whole_is_granted_as_a_whole(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.policy = preset_find("soup")->policy;
    bench->config.window = 1;
    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    offer(bench, &a, 1, 1);
    CHECK(guest_heard(bench, &a, MSG_GRANT)->grant.credit >= BENCH_BYTES);
    bench_destroy(&bench);
}

/* What "a" has delivered is not merged yet, and may never be. */
static void a_node_that_is_back_is_not_told_what_is_not_decided(void)
{
    struct three three = three_of("krum");

    offer(three.bench, &three.a, 1, 1);
    offer(three.bench, &three.b, 1, 1);
    guest_delivers_all(three.bench, &three.a, 1, 0.5);
    guest_breaks(three.bench, &three.a);
    hand_forget(&three.bench->hand);
    guest_comes_again(three.bench, &three.a);
    CHECK_EQUAL(VERDICT_LOST, guest_verdict(three.bench, &three.a, 1, 0));
    offer(three.bench, &three.c, 1, 1);
    guest_delivers_all(three.bench, &three.b, 1, 2);
    guest_delivers_all(three.bench, &three.c, 1, 4);
    CHECK_NEAR(4, guest_result(three.bench, &three.b, 1, 0), 0);
    bench_destroy(&three.bench);
}

static void t22_nothing_of_another_lineage_is_merged(void)
{
    static const char *const names[] = {"mean", "ddp", "easgd"};

    for (unsigned i = 0; i < 3; i++) {
        struct three three = three_of(names[i]);
        struct msg_offer other = {
            .exchange = 1, .samples = 1, .score = 1, .lineage = 99};

        guest_offer(three.bench, &three.a, &other);
        CHECK_EQUAL(VERDICT_LINEAGE,
                    guest_verdict(three.bench, &three.a, 1, 0));
        CHECK_EQUAL(
            START_TAKE,
            guest_heard(three.bench, &three.a, MSG_WELCOME)->welcome.start);
        bench_destroy(&three.bench);
    }
}

static void lineages_that_are_kept_apart_are_merged(void)
{
    struct bench *bench = bench_new();
    struct msg_offer other = {
        .exchange = 1, .samples = 1, .score = 1, .lineage = 99};
    struct guest a;

    bench->config.policy = preset_find("easgd")->policy;
    bench->config.init = INIT_ELASTIC;
    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    guest_offer(bench, &a, &other);
    guest_delivers_all(bench, &a, 1, 3);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 1, 0));
    bench_destroy(&bench);
}

/* ---- T27 ---- */

static void give_third(struct bench *bench, struct guest *a, struct guest *b)
{
    guest_offers(bench, a, 3);
    guest_offers(bench, b, 3);
    guest_delivers_all(bench, a, 3, 0.1);
    guest_delivers_all(bench, b, 3, 0.7);
}

/* Two rounds, saved; the third is under way. */
static struct bench *two_rounds(struct store *store, struct guest *a,
                                struct guest *b)
{
    struct bench *bench = bench_new();

    store_lend(store, bench);
    bench_open(bench);
    *a = guest_comes(bench, "a");
    *b = guest_comes(bench, "b");
    guest_founds(bench, a, 1);
    for (uint64_t i = 1; i <= 2; i++) {
        guest_gives(bench, a, i, 0.3);
        guest_gives(bench, b, i, 0.5);
        guest_credits(bench, a, i, BENCH_BYTES);
        guest_credits(bench, b, i, BENCH_BYTES);
    }
    (void)bench_order(bench, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(2, store->version);
    return bench;
}

/* What a third round comes to, in a hub that was not stopped or in one that
 * goes on from what was saved. */
static void t27_a_restart_in_a_round_comes_to_the_same_centre(void)
{
    static struct store store;
    struct guest a, b, a_again, b_again;
    struct bench *bench = two_rounds(&store, &a, &b);
    struct bench *again = bench_new();
    const struct hub_saved saved = {
        .schema = bench->schema, .theta = store.theta, .state = store.state};
    struct why why;

    give_third(bench, &a, &b);
    bench_open(again);
    CHECK_OK(hub_restore(again->hub, &saved, &why));
    a.hello.run = b.hello.run = 7;
    a.hello.base_version = b.hello.base_version = 2;
    a_again = a;
    b_again = b;
    guest_comes_again(again, &b_again);
    guest_comes_again(again, &a_again);
    give_third(again, &a_again, &b_again);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        CHECK_NEAR(guest_result(bench, &a, 3, i),
                   guest_result(again, &a_again, 3, i), 0);
    CHECK_EQUAL(3, bench_look(again)->version);
    bench_destroy(&again);
    bench_destroy(&bench);
}

void add_hub_choice_tests(CU_pSuite suite)
{
    TEST(the_best_one_is_asked_for_data);
    TEST(whoever_is_gone_is_not_chosen);
    TEST(whoever_is_gone_is_not_followed);
    TEST(who_gets_a_result_gets_no_verdict_beside_it);
    TEST(what_is_judged_as_a_whole_is_granted_as_a_whole);
    TEST(a_node_that_is_back_is_not_told_what_is_not_decided);
    TEST(t22_nothing_of_another_lineage_is_merged);
    TEST(lineages_that_are_kept_apart_are_merged);
    TEST(t27_a_restart_in_a_round_comes_to_the_same_centre);
}
