/* First parameters given, and the centre taken, over several sessions. */
#include "tests/check.h"
#include "tests/node/node_fixture.h"

static void what_the_hub_has_of_first_parameters_is_not_given_again(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 3);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_FOUND);
    node_fixture_grants(f, 0, 2);
    CHECK_EQUAL(2, node_fixture_chunks(f, 0));
    node_fixture_breaks(f);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_FOUND);
    hand_forget(&f->hand);
    node_fixture_verdicts(f, 0, 0, 2, VERDICT_MERGED);
    node_fixture_grants(f, 0, 1);
    CHECK_EQUAL(1, node_fixture_chunks(f, 0));
    CHECK_NEAR(3, node_fixture_chunk(f, 0, 2), 0);
    node_fixture_destroy(&f);
}

static void result_of(struct node_fixture *f, uint32_t chunk, double value)
{
    struct msg_result result = {.chunk = chunk,
                                .verb = VERB_REPLACE,
                                .weight = 1,
                                .version = f->version,
                                .base = f->version,
                                .lineage = f->welcome.lineage};

    node_fixture_result(f, &result, value);
}

/* Two chunks of the centre are here when the link breaks. */
static struct node_fixture *node_fixture_taking(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_connects(f);
    f->version = 40;
    node_fixture_welcomes(f, START_TAKE);
    CHECK(!node_fixture_sent(f, MSG_CLOSE));
    result_of(f, 0, 9);
    result_of(f, 1, 9);
    node_fixture_breaks(f);
    hand_forget(&f->hand);
    return f;
}

static void who_takes_says_what_has_come_before_a_break(void)
{
    struct node_fixture *f = node_fixture_taking();

    node_fixture_connects(f);
    node_fixture_welcomes(f, START_TAKE);
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_CLOSE)->close.exchange);
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_CLOSE)->close.first);
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_CLOSE)->close.chunks);
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_CREDIT)->credit.more);
    f->version = 41;
    result_of(f, 2, 9); /* on the other connection: it may be the first */
    CHECK(!node_fixture_told(f, MSG_LOCAL_RESULT));
    node_fixture_verdicts(f, 0, 0, 2, VERDICT_MERGED);
    CHECK_NEAR(9, node_fixture_apply(f, 0, 0), 0);
    CHECK_NEAR(9, node_fixture_apply(f, 0, 2), 0);
    node_fixture_applied(f, 0);
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.offering);
    node_fixture_offers(f, 1, 11);
    CHECK_NEAR(2, node_fixture_chunk(f, 1, 0), 0);
    CHECK_EQUAL(40, node_fixture_sent(f, MSG_OFFER)->offer.base_version);
    node_fixture_destroy(&f);
}

static void over_several_breaks_what_has_come_adds_up(void)
{
    struct node_fixture *f = node_fixture_taking();

    node_fixture_connects(f);
    node_fixture_welcomes(f, START_TAKE);
    node_fixture_breaks(f);
    node_fixture_connects(f);
    hand_forget(&f->hand);
    node_fixture_welcomes(f, START_TAKE);
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_CLOSE)->close.chunks);
    node_fixture_verdicts(f, 0, 0, 1, VERDICT_MERGED);
    result_of(f, 1, 7);
    node_fixture_breaks(f);
    node_fixture_connects(f);
    hand_forget(&f->hand);
    node_fixture_welcomes(f, START_TAKE);
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_CLOSE)->close.chunks);
    node_fixture_verdicts(f, 0, 0, 2, VERDICT_MERGED);
    result_of(f, 2, 5);
    CHECK_NEAR(9, node_fixture_apply(f, 0, 0), 0);
    CHECK_NEAR(7, node_fixture_apply(f, 0, 1), 0);
    CHECK_NEAR(5, node_fixture_apply(f, 0, 2), 0);
    node_fixture_destroy(&f);
}

/* It has gone back, or is of a former release. */
static void a_hub_may_send_all_of_its_centre_again(void)
{
    struct node_fixture *f = node_fixture_taking();

    node_fixture_connects(f);
    node_fixture_welcomes(f, START_TAKE);
    f->version = 50;
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        result_of(f, i, 4);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(4, node_fixture_apply(f, 0, i), 0);
    node_fixture_destroy(&f);
}

static void nothing_is_kept_of_another_centre(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct node_fixture *f = node_fixture_taking();

        f->welcome.run += i == 0;
        f->welcome.lineage += i == 1;
        node_fixture_connects(f);
        node_fixture_welcomes(f, START_TAKE);
        CHECK(!node_fixture_sent(f, MSG_CLOSE));
        node_fixture_destroy(&f);
    }
}

void add_node_initial_download_tests(CU_pSuite suite)
{
    TEST(what_the_hub_has_of_first_parameters_is_not_given_again);
    TEST(who_takes_says_what_has_come_before_a_break);
    TEST(over_several_breaks_what_has_come_adds_up);
    TEST(a_hub_may_send_all_of_its_centre_again);
    TEST(nothing_is_kept_of_another_centre);
}
