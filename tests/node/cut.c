/* A node whose trainer says that an exchange's time is up. Its parameters are 1
 * at first, and it offers chunks that have moved by 1, 3 and 2. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/node_fixture.h"

static const uint32_t largest_first[] = {1, 2, 0};

static struct node_fixture *cutting_fixture(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.miss = MISS_CUT;
    node_fixture_ready(f, 1);
    return f;
}

/* Offers x, which differs from chunk to chunk. */
static void offers_three(struct node_fixture *f, uint64_t exchange,
                         const double x[FIXTURE_CHUNKS])
{
    const struct msg_local_offer snapshot = {
        .exchange = exchange, .iteration = exchange, .fragments = 1};
    struct blob *values = hand_floats(f->hand.pool, FIXTURE_ELEMENTS, 0);

    for (unsigned i = 0; i < FIXTURE_ELEMENTS; i++)
        blob_floats(values)[i] = (float)x[i / 4];
    values->checksum = 0;
    node_fixture_takes(f, &snapshot, values);
    blob_unref(&values);
}

static const double moved[] = {2, 4, 3};

static void cuts(struct node_fixture *f, uint64_t exchange, bool final)
{
    struct msg msg = {.kind = MSG_LOCAL_CLOSE};

    msg.local_close.exchange = exchange;
    msg.local_close.final = final;
    hand_say(&f->hand, PEER_TRAINER, &msg, NULL);
}

static void answers(struct node_fixture *f, uint64_t exchange, uint32_t chunk,
                    double value, enum verdict verdict)
{
    const struct msg_result result = {.exchange = exchange,
                                      .chunk = chunk,
                                      .version = exchange,
                                      .base = exchange,
                                      .lineage = 5,
                                      .verdict = verdict,
                                      .weight = 1};

    node_fixture_result(f, &result, value);
}

static uint32_t sent_at(const struct node_fixture *f, unsigned nth)
{
    const struct hand_sent *sent =
        hand_nth(&f->hand, PEER_BULK, MSG_CHUNK, nth);

    return sent ? sent->msg.chunk.chunk : UINT32_MAX;
}

static void the_chunks_that_moved_most_go_first(void)
{
    struct node_fixture *f = cutting_fixture();

    offers_three(f, 1, moved);
    for (unsigned i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_EQUAL(largest_first[i], sent_at(f, i));
    node_fixture_destroy(&f);
}

static void others_go_by_number(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    offers_three(f, 1, moved);
    for (unsigned i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_EQUAL(i, sent_at(f, i));
    node_fixture_destroy(&f);
}

/* A fixture that had credit for `sent` of the chunks of exchange 1. */
static struct node_fixture *node_fixture_in_the_middle(uint32_t sent)
{
    struct node_fixture *f = cutting_fixture();

    f->ungranted = true;
    offers_three(f, 1, moved);
    for (uint32_t i = 0; i < sent; i++) {
        struct msg msg = {.kind = MSG_CREDIT};

        msg.credit.exchange = 1;
        msg.credit.more = i ? 16 : 1; /* the largest has 16 bytes */
        hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
    }
    CHECK_EQUAL(sent, node_fixture_chunks(f, 1));
    f->ungranted = false;
    return f;
}

/* The nth CLOSE names these chunks. */
static void check_closed(const struct node_fixture *f, unsigned nth,
                         uint32_t first, uint32_t chunks)
{
    const struct hand_sent *sent =
        hand_nth(&f->hand, PEER_CONTROL, MSG_CLOSE, nth);

    CHECK(sent != NULL);
    if (!sent)
        return;
    CHECK_EQUAL(first, sent->msg.close.first);
    CHECK_EQUAL(chunks, sent->msg.close.chunks);
}

static void what_was_not_sent_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_in_the_middle(1);

    cuts(f, 1, false);
    check_closed(f, 0, 0, 1);
    check_closed(f, 1, 2, 1);
    node_fixture_grants(f, 1, FIXTURE_CHUNKS);
    CHECK_EQUAL(1, node_fixture_chunks(f, 1));
    offers_three(f, 2, moved);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(0, node_fixture_chunk(f, 2, 1), 0);
    CHECK_NEAR(2, node_fixture_chunk(f, 2, 2), 0);
    CHECK_EQUAL(2, sent_at(f, 1)); /* it is the largest now */
    node_fixture_destroy(&f);
}

/* Of what was not sent, x still holds half after the pull. */
static void what_was_not_sent_is_offered_once_after_a_pull(void)
{
    struct node_fixture *f = node_fixture_in_the_middle(1);
    struct msg_result result = {.exchange = 1,
                                .verb = VERB_PULL,
                                .verdict = VERDICT_EXPIRED,
                                .version = 1,
                                .weight = 0.5};

    cuts(f, 1, false);
    for (; result.chunk < FIXTURE_CHUNKS; result.chunk++)
        node_fixture_result(f, &result, 1);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 2, 2); /* chunk 2 was 3, and 1 in the centre */
    CHECK_NEAR(2, node_fixture_chunk(f, 2, 2), 0);
    node_fixture_destroy(&f);
}

static void what_is_here_at_the_cut_is_applied(void)
{
    struct node_fixture *f = node_fixture_in_the_middle(2);

    answers(f, 1, 1, 6, VERDICT_MERGED);
    CHECK(isnan(node_fixture_apply(f, 1, 1)));
    cuts(f, 1, true);
    CHECK_NEAR(6 - 4, node_fixture_apply(f, 1, 1), 0);
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_RESULT)->local_result.parts);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_WAIVE));
    answers(f, 1, 2, 9, VERDICT_MERGED); /* too late */
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_TRAINER, MSG_LOCAL_RESULT));
    node_fixture_applied(f, 1);
    /* x = 2, 6, 3; chunk 0 was never sent, the others are merged. */
    offers_three(f, 2, (const double[]){2, 6, 3});
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(0, node_fixture_chunk(f, 2, 1), 0);
    CHECK_NEAR(0, node_fixture_chunk(f, 2, 2), 0);
    node_fixture_destroy(&f);
}

static void what_expires_after_the_cut_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_in_the_middle(2);

    answers(f, 1, 1, 6, VERDICT_MERGED);
    cuts(f, 1, true);
    node_fixture_verdicts(f, 1, 2, 1, VERDICT_EXPIRED);
    CHECK(!node_fixture_forgot(f, 1));
    node_fixture_applied(f, 1);
    offers_three(f, 2, (const double[]){2, 6, 3});
    CHECK_NEAR(2, node_fixture_chunk(f, 2, 2), 0);
    node_fixture_destroy(&f);
}

static void where_nothing_is_here_the_exchange_is_forgotten(void)
{
    struct node_fixture *f = node_fixture_in_the_middle(2);

    cuts(f, 1, true);
    CHECK(node_fixture_forgot(f, 1));
    node_fixture_verdicts(f, 1, 1, 2, VERDICT_MERGED);
    offers_three(f, 2, moved);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(0, node_fixture_chunk(f, 2, 1), 0);
    node_fixture_destroy(&f);
}

/* The hub has let it in as of the session that followed. */
static void what_is_granted_and_was_taken_back_is_closed(void)
{
    struct node_fixture *f = node_fixture_new();
    const struct hand_sent *close;

    node_fixture_ready(f, 1);
    f->ungranted = true;
    node_fixture_offers(f, 1, 3);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    node_fixture_grants(f, 1, FIXTURE_CHUNKS);
    CHECK_EQUAL(0, node_fixture_chunks(f, 1));
    close = hand_last(&f->hand, PEER_CONTROL, MSG_CLOSE);
    if (CHECK(close != NULL)) {
        CHECK_EQUAL(1, close->msg.close.exchange);
        CHECK_EQUAL(0, close->msg.close.first);
        CHECK_EQUAL(FIXTURE_CHUNKS, close->msg.close.chunks);
    }
    node_fixture_destroy(&f);
}

/* However short the time is: each offer brings its largest chunk. */
static void the_first_chunk_is_always_sent(void)
{
    struct node_fixture *f = node_fixture_in_the_middle(0);

    cuts(f, 1, false);
    cuts(f, 1, true);
    CHECK_EQUAL(0, hand_count(&f->hand, PEER_CONTROL, MSG_CLOSE));
    node_fixture_grants(f, 1, FIXTURE_CHUNKS);
    CHECK_EQUAL(1, node_fixture_chunks(f, 1));
    CHECK_EQUAL(1, sent_at(f, 0));
    CHECK_EQUAL(2, hand_count(&f->hand, PEER_CONTROL, MSG_CLOSE));
    node_fixture_destroy(&f);
}

static void what_is_complete_is_not_cut(void)
{
    struct node_fixture *f = cutting_fixture();

    offers_three(f, 1, moved);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    cuts(f, 1, false);
    cuts(f, 1, true);
    CHECK_EQUAL(FIXTURE_CHUNKS,
                node_fixture_told(f, MSG_LOCAL_RESULT)->local_result.parts);
    CHECK_EQUAL(0, hand_count(&f->hand, PEER_CONTROL, MSG_CLOSE));
    CHECK_EQUAL(0, hand_count(&f->hand, PEER_CONTROL, MSG_WAIVE));
    node_fixture_destroy(&f);
}

/* The corrections of the exchange behind it know which chunks will move. */
static void a_result_behind_one_that_is_cut_counts_its_chunks_only(void)
{
    struct node_fixture *f = cutting_fixture();

    offers_three(f, 1, moved);
    offers_three(f, 2, moved);
    answers(f, 1, 1, 6, VERDICT_MERGED);
    answers(f, 2, 0, 7, VERDICT_MERGED);
    answers(f, 2, 1, 7, VERDICT_MERGED);
    cuts(f, 1, true);
    cuts(f, 2, true);
    CHECK_NEAR(6 - 4, node_fixture_apply(f, 1, 1), 0);
    CHECK_NEAR(7 - 2, node_fixture_apply(f, 2, 0), 0);
    CHECK_NEAR(7 - 4 - 2, node_fixture_apply(f, 2, 1), 0);
    node_fixture_destroy(&f);
}

static void a_lost_connection_takes_back_what_is_not_merged(void)
{
    struct node_fixture *f = node_fixture_in_the_middle(2);

    answers(f, 1, 1, 6, VERDICT_MERGED);
    cuts(f, 1, true);
    node_fixture_applied(f, 1);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    offers_three(f, 2, (const double[]){2, 6, 3});
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(0, node_fixture_chunk(f, 2, 1), 0);
    CHECK_NEAR(2, node_fixture_chunk(f, 2, 2), 0);
    node_fixture_destroy(&f);
}

void add_node_cut_tests(CU_pSuite suite)
{
    TEST(the_chunks_that_moved_most_go_first);
    TEST(others_go_by_number);
    TEST(what_was_not_sent_is_offered_again);
    TEST(what_was_not_sent_is_offered_once_after_a_pull);
    TEST(what_is_here_at_the_cut_is_applied);
    TEST(what_expires_after_the_cut_is_offered_again);
    TEST(where_nothing_is_here_the_exchange_is_forgotten);
    TEST(what_is_granted_and_was_taken_back_is_closed);
    TEST(the_first_chunk_is_always_sent);
    TEST(what_is_complete_is_not_cut);
    TEST(a_result_behind_one_that_is_cut_counts_its_chunks_only);
    TEST(a_lost_connection_takes_back_what_is_not_merged);
}
