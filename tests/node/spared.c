/* Results and reviews that come without what the node knows. */
#include "tests/check.h"
#include "tests/node/node_fixture.h"

/* A RESULT of chunk 0 without a payload, of values that are all `value`. */
static void known(struct node_fixture *f, uint64_t exchange, uint64_t base,
                  uint64_t version, double value)
{
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *values =
        hand_floats(f->hand.pool, node_fixture_length(0), value);

    msg.result.exchange = exchange;
    msg.result.weight = 1;
    msg.result.base = base;
    msg.result.version = version;
    msg.result.lineage = f->welcome.lineage;
    msg.result.checksum = values->checksum;
    hand_say(&f->hand, PEER_BULK, &msg, NULL);
    blob_unref(&values);
}

/* A REVIEW of chunk 0: of `value`, or by it; NULL payload: of what is held. */
static void review(struct node_fixture *f, bool sent, bool change, double value)
{
    struct msg msg = {.kind = MSG_REVIEW};
    struct blob *values =
        hand_floats(f->hand.pool, node_fixture_length(0), value);

    msg.review.review = 7;
    msg.review.change = change;
    msg.review.checksum = values->checksum;
    hand_say(&f->hand, PEER_BULK, &msg, sent ? values : NULL);
    blob_unref(&values);
}

static bool is_dropped(const struct node_fixture *f)
{
    return hand_dropped(&f->hand, PEER_CONTROL);
}

/* Exchange 1 was answered by 5; exchange 2 is offered at 9: it gave 4. */
static struct node_fixture *holding(struct node_fixture *f)
{
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 2, 9);
    CHECK_NEAR(4, node_fixture_chunk(f, 2, 0), 0);
    return f;
}

/* x_sent was 9, and so is 5 + 4: there is nothing to correct. */
static void what_the_node_gave_is_added_to_what_it_holds(void)
{
    struct node_fixture *f = holding(node_fixture_new());

    known(f, 2, 1, 2, 9);
    for (uint32_t i = 1; i < FIXTURE_CHUNKS; i++) {
        const struct msg_result rest = {.exchange = 2,
                                        .chunk = i,
                                        .weight = 1,
                                        .version = 2,
                                        .lineage = f->welcome.lineage};

        node_fixture_result(f, &rest, 10);
    }
    CHECK(!is_dropped(f));
    CHECK_NEAR(0, node_fixture_apply(f, 2, 0), 0);
    CHECK_NEAR(1, node_fixture_apply(f, 2, 1), 0);
    node_fixture_destroy(&f);
}

static void it_must_come_to_what_the_hub_says(void)
{
    struct node_fixture *f = holding(node_fixture_new());

    known(f, 2, 1, 2, 9.5);
    CHECK(is_dropped(f));
    CHECK_CONTAINS("damaged", hand_note(&f->hand, NOTE_DETACHED)->text);
    node_fixture_destroy(&f);
}

static void a_change_of_another_version_drops_the_hub(void)
{
    struct node_fixture *f = holding(node_fixture_new());

    known(f, 2, 7, 8, 9);
    CHECK(is_dropped(f));
    node_fixture_destroy(&f);
}

/* Until values come, nothing is held then. */
static void an_exchange_that_is_forgotten_is_passed_over(void)
{
    struct node_fixture *f = holding(node_fixture_new());

    known(f, 99, 1, 2, 9);
    CHECK(!is_dropped(f));
    known(f, 2, 2, 3, 9);
    CHECK(is_dropped(f));
    node_fixture_destroy(&f);
}

static void what_was_shown_last_is_the_result(void)
{
    struct node_fixture *f = holding(node_fixture_reviewing());

    review(f, true, false, 11);
    known(f, 2, 2, 2, 11);
    CHECK(!is_dropped(f));
    known(f, 3, 3, 3, 11); /* a result has come since */
    CHECK(is_dropped(f));
    node_fixture_destroy(&f);
}

static void what_was_shown_must_be_what_the_hub_says(void)
{
    struct node_fixture *f = holding(node_fixture_reviewing());

    review(f, true, false, 11);
    known(f, 2, 2, 2, 12);
    CHECK(is_dropped(f));
    node_fixture_destroy(&f);
}

/* 5 + 6, and then what that is comes without a payload. */
static void a_review_may_change_what_is_held(void)
{
    struct node_fixture *f = holding(node_fixture_reviewing());

    review(f, true, true, 6);
    known(f, 2, 2, 2, 11);
    CHECK(!is_dropped(f));
    node_fixture_destroy(&f);
}

/* The jobs are late: what comes without a payload waits for its turn. */
static void all_that_comes_has_its_turn(void)
{
    struct node_fixture *f = holding(node_fixture_reviewing());

    f->hand.holds_jobs = true;
    known(f, 2, 1, 2, 9);
    review(f, false, false, 9);
    known(f, 3, 3, 3, 9);
    CHECK(!is_dropped(f));
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK(!is_dropped(f));
    node_fixture_destroy(&f);
}

static void a_review_of_nothing_drops_the_hub(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct node_fixture *f = node_fixture_reviewing();

        node_fixture_ready(f, 1);
        review(f, i == 0, i == 0, 1);
        CHECK(is_dropped(f));
        node_fixture_destroy(&f);
    }
}

void add_node_spared_tests(CU_pSuite suite)
{
    TEST(what_the_node_gave_is_added_to_what_it_holds);
    TEST(it_must_come_to_what_the_hub_says);
    TEST(a_change_of_another_version_drops_the_hub);
    TEST(an_exchange_that_is_forgotten_is_passed_over);
    TEST(what_was_shown_last_is_the_result);
    TEST(what_was_shown_must_be_what_the_hub_says);
    TEST(a_review_may_change_what_is_held);
    TEST(all_that_comes_has_its_turn);
    TEST(a_review_of_nothing_drops_the_hub);
}
