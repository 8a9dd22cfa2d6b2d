/* Who is asked for data, and what becomes of those who are not there. */
#include <string.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"
#include "tests/hub/store.h"

/* Three nodes of a founded run; every value of the centre is 1. */
struct three {
    struct hub_fixture *f;
    struct fake_node a, b, c;
};

static struct three three_by(const struct policy *policy)
{
    struct three three = {.f = hub_fixture_new()};

    three.f->config.policy = *policy;
    hub_fixture_open(three.f);
    three.a = fake_node_comes(three.f, "a");
    three.b = fake_node_comes(three.f, "b");
    three.c = fake_node_comes(three.f, "c");
    fake_node_founds(three.f, &three.a, 1);
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

static void offer(struct hub_fixture *f, struct fake_node *node,
                  uint64_t exchange, double score)
{
    const struct msg_offer scored = {
        .exchange = exchange, .samples = 1, .score = score};

    fake_node_offer(f, node, &scored);
}

static void the_best_one_is_asked_for_data(void)
{
    struct three three = three_trusting("best");

    hand_forget(&three.f->hand);
    offer(three.f, &three.a, 1, 2);
    offer(three.f, &three.b, 1, 1);
    CHECK(!fake_node_heard(three.f, &three.b, MSG_GRANT));
    offer(three.f, &three.c, 1, 3);
    CHECK(!fake_node_heard(three.f, &three.a, MSG_GRANT));
    CHECK(fake_node_heard(three.f, &three.b, MSG_GRANT) != NULL);
    fake_node_delivers_all(three.f, &three.b, 1, 0.5);
    CHECK_NEAR(1.5, fake_node_result(three.f, &three.c, 1, 2), 0);
    CHECK_EQUAL(VERDICT_DECLINED, fake_node_verdict(three.f, &three.c, 1, 2));
    hub_fixture_destroy(&three.f);
}

/* A quorum of all is sync. */
static void who_is_passed_over_is_in_the_round(void)
{
    struct policy policy = preset_find("best")->policy;
    struct three three;

    policy.reduce = &reduce_mean;
    policy.gate = &gate_quorum;
    policy.numbers.quorum = 1;
    three = three_by(&policy);
    offer(three.f, &three.a, 1, 2);
    offer(three.f, &three.b, 1, 1);
    offer(three.f, &three.c, 1, 3);
    fake_node_delivers_all(three.f, &three.b, 1, 0.5);
    CHECK_NEAR(1.5, fake_node_result(three.f, &three.c, 1, 2), 0);
    hub_fixture_destroy(&three.f);
}

static void whoever_is_gone_is_not_chosen(void)
{
    struct three three = three_trusting("best");

    offer(three.f, &three.a, 1, 0);
    offer(three.f, &three.b, 1, 1);
    fake_node_breaks(three.f, &three.a);
    offer(three.f, &three.c, 1, 2);
    fake_node_delivers_all(three.f, &three.b, 1, 0.5);
    CHECK_NEAR(1.5, fake_node_result(three.f, &three.b, 1, 0), 0);
    CHECK_NEAR(1.5, fake_node_result(three.f, &three.c, 1, 0), 0);
    hub_fixture_destroy(&three.f);
}

/* "a" is the leader: the others are given its parameters, and it nothing. */
static void whoever_is_gone_is_not_followed(void)
{
    struct three three = three_trusting("lsgd");

    offer(three.f, &three.a, 1, 0);
    offer(three.f, &three.b, 1, 1);
    fake_node_breaks(three.f, &three.a);
    offer(three.f, &three.c, 1, 2);
    fake_node_delivers_all(three.f, &three.b, 1, 7);
    CHECK_NEAR(7, fake_node_result(three.f, &three.c, 1, 0), 0);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(three.f, &three.b, 1, 0));
    hub_fixture_destroy(&three.f);
}

static void who_gets_a_result_gets_no_verdict_beside_it(void)
{
    struct three three = three_trusting("lsgd");

    hand_forget(&three.f->hand);
    offer(three.f, &three.a, 1, 2);
    offer(three.f, &three.b, 1, 1);
    offer(three.f, &three.c, 1, 3);
    fake_node_delivers_all(three.f, &three.b, 1, 7);
    CHECK_EQUAL(0, fake_node_heard_count(three.f, &three.a, MSG_VERDICT));
    CHECK_EQUAL(FIXTURE_CHUNKS,
                fake_node_heard_count(three.f, &three.a, MSG_RESULT));
    CHECK_EQUAL(1, fake_node_heard_count(three.f, &three.b, MSG_VERDICT));
    CHECK_EQUAL(0, fake_node_heard_count(three.f, &three.b, MSG_RESULT));
    hub_fixture_destroy(&three.f);
}

static void what_is_judged_as_a_whole_is_granted_as_a_whole(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.policy = preset_find("soup")->policy;
    f->config.window = 1;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    offer(f, &a, 1, 1);
    CHECK(fake_node_heard(f, &a, MSG_GRANT)->grant.credit >= FIXTURE_BYTES);
    hub_fixture_destroy(&f);
}

/* What "a" has delivered is not merged yet, and may never be. */
static void a_node_that_is_back_is_not_told_what_is_not_decided(void)
{
    struct three three = three_of("krum");

    offer(three.f, &three.a, 1, 1);
    offer(three.f, &three.b, 1, 1);
    fake_node_delivers_all(three.f, &three.a, 1, 0.5);
    fake_node_breaks(three.f, &three.a);
    hand_forget(&three.f->hand);
    fake_node_comes_again(three.f, &three.a);
    CHECK_EQUAL(VERDICT_LOST, fake_node_verdict(three.f, &three.a, 1, 0));
    offer(three.f, &three.c, 1, 1);
    fake_node_delivers_all(three.f, &three.b, 1, 2);
    fake_node_delivers_all(three.f, &three.c, 1, 4);
    CHECK_NEAR(4, fake_node_result(three.f, &three.b, 1, 0), 0);
    hub_fixture_destroy(&three.f);
}

/* The checks of what three have delivered are followed by the judge's job. */
static void what_could_not_be_compared_is_offered_again(void)
{
    struct three three = three_of("krum");

    offer(three.f, &three.a, 1, 1);
    offer(three.f, &three.b, 1, 1);
    offer(three.f, &three.c, 1, 1);
    three.f->hand.starved = 0;
    three.f->hand.starves = 3 * FIXTURE_CHUNKS + 1;
    fake_node_delivers_all(three.f, &three.a, 1, 1);
    fake_node_delivers_all(three.f, &three.b, 1, 1);
    fake_node_delivers_all(three.f, &three.c, 1, 1);
    CHECK_EQUAL(VERDICT_LOST, fake_node_verdict(three.f, &three.a, 1, 0));
    CHECK_EQUAL(VERDICT_LOST, fake_node_verdict(three.f, &three.c, 1, 2));
    CHECK_NEAR(1, fake_node_result(three.f, &three.b, 1, 0), 0);
    hub_fixture_destroy(&three.f);
}

static void t22_nothing_of_another_lineage_is_merged(void)
{
    static const char *const names[] = {"mean", "ddp", "easgd"};

    for (unsigned i = 0; i < 3; i++) {
        struct three three = three_of(names[i]);
        struct msg_offer other = {
            .exchange = 1, .samples = 1, .score = 1, .lineage = 99};

        fake_node_offer(three.f, &three.a, &other);
        CHECK_EQUAL(VERDICT_LINEAGE,
                    fake_node_verdict(three.f, &three.a, 1, 0));
        CHECK_EQUAL(
            START_TAKE,
            fake_node_heard(three.f, &three.a, MSG_WELCOME)->welcome.start);
        hub_fixture_destroy(&three.f);
    }
}

static void lineages_that_are_kept_apart_are_merged(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer other = {
        .exchange = 1, .samples = 1, .score = 1, .lineage = 99};
    struct fake_node a;

    f->config.policy = preset_find("easgd")->policy;
    f->config.init = INIT_ELASTIC;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    fake_node_offer(f, &a, &other);
    fake_node_delivers_all(f, &a, 1, 3);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &a, 1, 0));
    hub_fixture_destroy(&f);
}

/* ---- T27 ---- */

static void give_third(struct hub_fixture *f, struct fake_node *a,
                       struct fake_node *b)
{
    fake_node_offers(f, a, 3);
    fake_node_offers(f, b, 3);
    fake_node_delivers_all(f, a, 3, 0.1);
    fake_node_delivers_all(f, b, 3, 0.7);
}

/* Two rounds, saved; the third is under way. */
static struct hub_fixture *two_rounds(struct store *store, struct fake_node *a,
                                      struct fake_node *b)
{
    struct hub_fixture *f = hub_fixture_new();

    store_lend(store, f);
    hub_fixture_open(f);
    *a = fake_node_comes(f, "a");
    *b = fake_node_comes(f, "b");
    fake_node_founds(f, a, 1);
    for (uint64_t i = 1; i <= 2; i++) {
        fake_node_gives(f, a, i, 0.3);
        fake_node_gives(f, b, i, 0.5);
        fake_node_credits(f, a, i, FIXTURE_BYTES);
        fake_node_credits(f, b, i, FIXTURE_BYTES);
    }
    (void)hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(2, store->version);
    return f;
}

/* What a third round comes to, in a hub that was not stopped or in one that
 * goes on from what was saved. */
static void t27_a_restart_in_a_round_comes_to_the_same_centre(void)
{
    static struct store store;
    struct fake_node a, b, a_again, b_again;
    struct hub_fixture *f = two_rounds(&store, &a, &b);
    struct hub_fixture *again = hub_fixture_new();
    struct why why;

    give_third(f, &a, &b);
    hub_fixture_open(again);
    CHECK_OK(store_restore(&store, again, store.state, &why));
    a.hello.run = b.hello.run = 7;
    a.hello.base_version = b.hello.base_version = 2;
    a_again = a;
    b_again = b;
    fake_node_comes_again(again, &b_again);
    fake_node_comes_again(again, &a_again);
    give_third(again, &a_again, &b_again);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(fake_node_result(f, &a, 3, i),
                   fake_node_result(again, &a_again, 3, i), 0);
    CHECK_EQUAL(3, hub_fixture_look(again)->version);
    hub_fixture_destroy(&again);
    hub_fixture_destroy(&f);
}

void add_hub_choice_tests(CU_pSuite suite)
{
    TEST(the_best_one_is_asked_for_data);
    TEST(who_is_passed_over_is_in_the_round);
    TEST(whoever_is_gone_is_not_chosen);
    TEST(whoever_is_gone_is_not_followed);
    TEST(who_gets_a_result_gets_no_verdict_beside_it);
    TEST(what_is_judged_as_a_whole_is_granted_as_a_whole);
    TEST(a_node_that_is_back_is_not_told_what_is_not_decided);
    TEST(what_could_not_be_compared_is_offered_again);
    TEST(t22_nothing_of_another_lineage_is_merged);
    TEST(lineages_that_are_kept_apart_are_merged);
    TEST(t27_a_restart_in_a_round_comes_to_the_same_centre);
}
