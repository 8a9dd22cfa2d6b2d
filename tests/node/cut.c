/* A node whose trainer says that an exchange's time is up. Its parameters are 1
 * at first, and it offers chunks that have moved by 1, 3 and 2. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/desk.h"

static const uint32_t largest_first[] = {1, 2, 0};

static struct desk *cutting_desk(void)
{
    struct desk *desk = desk_new();

    desk->welcome.miss = MISS_CUT;
    desk_ready(desk, 1);
    return desk;
}

/* Offers x, which differs from chunk to chunk. */
static void offers_three(struct desk *desk, uint64_t exchange,
                         const double x[DESK_CHUNKS])
{
    const struct msg_snapshot snapshot = {
        .exchange = exchange, .iteration = exchange, .fragments = 1};
    struct blob *values = hand_floats(desk->hand.pool, DESK_ELEMENTS, 0);

    for (unsigned i = 0; i < DESK_ELEMENTS; i++)
        blob_floats(values)[i] = (float)x[i / 4];
    values->checksum = 0;
    desk_takes(desk, &snapshot, values);
    blob_unref(&values);
}

static const double moved[] = {2, 4, 3};

static void cuts(struct desk *desk, uint64_t exchange, bool final)
{
    struct msg msg = {.kind = MSG_CUT};

    msg.cut.exchange = exchange;
    msg.cut.final = final;
    hand_say(&desk->hand, PEER_TRAINER, &msg, NULL);
}

static void answers(struct desk *desk, uint64_t exchange, uint32_t chunk,
                    double value, enum verdict verdict)
{
    const struct msg_result result = {.exchange = exchange,
                                      .chunk = chunk,
                                      .version = exchange,
                                      .base = exchange,
                                      .lineage = 5,
                                      .verdict = verdict,
                                      .weight = 1};

    desk_result(desk, &result, value);
}

static uint32_t sent_at(const struct desk *desk, unsigned nth)
{
    const struct hand_sent *sent =
        hand_nth(&desk->hand, PEER_BULK, MSG_CHUNK, nth);

    return sent ? sent->msg.chunk.chunk : UINT32_MAX;
}

static void the_chunks_that_moved_most_go_first(void)
{
    struct desk *desk = cutting_desk();

    offers_three(desk, 1, moved);
    for (unsigned i = 0; i < DESK_CHUNKS; i++)
        CHECK_EQUAL(largest_first[i], sent_at(desk, i));
    desk_destroy(&desk);
}

static void others_go_by_number(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    offers_three(desk, 1, moved);
    for (unsigned i = 0; i < DESK_CHUNKS; i++)
        CHECK_EQUAL(i, sent_at(desk, i));
    desk_destroy(&desk);
}

/* A desk that had credit for `sent` of the chunks of exchange 1. */
static struct desk *desk_in_the_middle(uint32_t sent)
{
    struct desk *desk = cutting_desk();

    desk->ungranted = true;
    offers_three(desk, 1, moved);
    for (uint32_t i = 0; i < sent; i++) {
        struct msg msg = {.kind = MSG_CREDIT};

        msg.credit.exchange = 1;
        msg.credit.more = i ? 16 : 1; /* the largest has 16 bytes */
        hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
    }
    CHECK_EQUAL(sent, desk_chunks(desk, 1));
    desk->ungranted = false;
    return desk;
}

/* The nth CLOSE names these chunks. */
static void check_closed(const struct desk *desk, unsigned nth, uint32_t first,
                         uint32_t chunks)
{
    const struct hand_sent *sent =
        hand_nth(&desk->hand, PEER_CONTROL, MSG_CLOSE, nth);

    CHECK(sent != NULL);
    if (!sent)
        return;
    CHECK_EQUAL(first, sent->msg.close.first);
    CHECK_EQUAL(chunks, sent->msg.close.chunks);
}

static void what_was_not_sent_is_offered_again(void)
{
    struct desk *desk = desk_in_the_middle(1);

    cuts(desk, 1, false);
    check_closed(desk, 0, 0, 1);
    check_closed(desk, 1, 2, 1);
    desk_grants(desk, 1, DESK_CHUNKS);
    CHECK_EQUAL(1, desk_chunks(desk, 1));
    offers_three(desk, 2, moved);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(0, desk_chunk(desk, 2, 1), 0);
    CHECK_NEAR(2, desk_chunk(desk, 2, 2), 0);
    CHECK_EQUAL(2, sent_at(desk, 1)); /* it is the largest now */
    desk_destroy(&desk);
}

static void what_is_here_at_the_cut_is_applied(void)
{
    struct desk *desk = desk_in_the_middle(2);

    answers(desk, 1, 1, 6, VERDICT_MERGED);
    CHECK(isnan(desk_apply(desk, 1, 1)));
    cuts(desk, 1, true);
    CHECK_NEAR(6 - 4, desk_apply(desk, 1, 1), 0);
    CHECK_EQUAL(1, desk_told(desk, MSG_APPLY)->apply.parts);
    CHECK_EQUAL(1, hand_count(&desk->hand, PEER_CONTROL, MSG_WAIVE));
    answers(desk, 1, 2, 9, VERDICT_MERGED); /* too late */
    CHECK_EQUAL(1, hand_count(&desk->hand, PEER_TRAINER, MSG_APPLY));
    desk_applied(desk, 1);
    /* x = 2, 6, 3; chunk 0 was never sent, the others are merged. */
    offers_three(desk, 2, (const double[]){2, 6, 3});
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(0, desk_chunk(desk, 2, 1), 0);
    CHECK_NEAR(0, desk_chunk(desk, 2, 2), 0);
    desk_destroy(&desk);
}

static void what_expires_after_the_cut_is_offered_again(void)
{
    struct desk *desk = desk_in_the_middle(2);

    answers(desk, 1, 1, 6, VERDICT_MERGED);
    cuts(desk, 1, true);
    desk_judges(desk, 1, 2, 1, VERDICT_EXPIRED);
    CHECK(!desk_forgot(desk, 1));
    desk_applied(desk, 1);
    offers_three(desk, 2, (const double[]){2, 6, 3});
    CHECK_NEAR(2, desk_chunk(desk, 2, 2), 0);
    desk_destroy(&desk);
}

static void where_nothing_is_here_the_exchange_is_forgotten(void)
{
    struct desk *desk = desk_in_the_middle(2);

    cuts(desk, 1, true);
    CHECK(desk_forgot(desk, 1));
    desk_judges(desk, 1, 1, 2, VERDICT_MERGED);
    offers_three(desk, 2, moved);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(0, desk_chunk(desk, 2, 1), 0);
    desk_destroy(&desk);
}

/* The hub has let it in as of the session that followed. */
static void what_is_granted_and_was_taken_back_is_closed(void)
{
    struct desk *desk = desk_new();
    const struct hand_sent *close;

    desk_ready(desk, 1);
    desk->ungranted = true;
    desk_offers(desk, 1, 3);
    desk_breaks(desk);
    desk_rejoins(desk);
    desk_grants(desk, 1, DESK_CHUNKS);
    CHECK_EQUAL(0, desk_chunks(desk, 1));
    close = hand_last(&desk->hand, PEER_CONTROL, MSG_CLOSE);
    if (CHECK(close != NULL)) {
        CHECK_EQUAL(1, close->msg.close.exchange);
        CHECK_EQUAL(0, close->msg.close.first);
        CHECK_EQUAL(DESK_CHUNKS, close->msg.close.chunks);
    }
    desk_destroy(&desk);
}

/* However short the time is: each offer brings its largest chunk. */
static void the_first_chunk_is_always_sent(void)
{
    struct desk *desk = desk_in_the_middle(0);

    cuts(desk, 1, false);
    cuts(desk, 1, true);
    CHECK_EQUAL(0, hand_count(&desk->hand, PEER_CONTROL, MSG_CLOSE));
    desk_grants(desk, 1, DESK_CHUNKS);
    CHECK_EQUAL(1, desk_chunks(desk, 1));
    CHECK_EQUAL(1, sent_at(desk, 0));
    CHECK_EQUAL(2, hand_count(&desk->hand, PEER_CONTROL, MSG_CLOSE));
    desk_destroy(&desk);
}

static void what_is_complete_is_not_cut(void)
{
    struct desk *desk = cutting_desk();

    offers_three(desk, 1, moved);
    desk_answers(desk, 1, VERB_REBASE, 5);
    cuts(desk, 1, false);
    cuts(desk, 1, true);
    CHECK_EQUAL(DESK_CHUNKS, desk_told(desk, MSG_APPLY)->apply.parts);
    CHECK_EQUAL(0, hand_count(&desk->hand, PEER_CONTROL, MSG_CLOSE));
    CHECK_EQUAL(0, hand_count(&desk->hand, PEER_CONTROL, MSG_WAIVE));
    desk_destroy(&desk);
}

/* The corrections of the exchange behind it know which chunks will move. */
static void a_result_behind_one_that_is_cut_counts_its_chunks_only(void)
{
    struct desk *desk = cutting_desk();

    offers_three(desk, 1, moved);
    offers_three(desk, 2, moved);
    answers(desk, 1, 1, 6, VERDICT_MERGED);
    answers(desk, 2, 0, 7, VERDICT_MERGED);
    answers(desk, 2, 1, 7, VERDICT_MERGED);
    cuts(desk, 1, true);
    cuts(desk, 2, true);
    CHECK_NEAR(6 - 4, desk_apply(desk, 1, 1), 0);
    CHECK_NEAR(7 - 2, desk_apply(desk, 2, 0), 0);
    CHECK_NEAR(7 - 4 - 2, desk_apply(desk, 2, 1), 0);
    desk_destroy(&desk);
}

static void a_lost_connection_takes_back_what_is_not_merged(void)
{
    struct desk *desk = desk_in_the_middle(2);

    answers(desk, 1, 1, 6, VERDICT_MERGED);
    cuts(desk, 1, true);
    desk_applied(desk, 1);
    desk_breaks(desk);
    desk_rejoins(desk);
    offers_three(desk, 2, (const double[]){2, 6, 3});
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(0, desk_chunk(desk, 2, 1), 0);
    CHECK_NEAR(2, desk_chunk(desk, 2, 2), 0);
    desk_destroy(&desk);
}

void add_node_cut_tests(CU_pSuite suite)
{
    TEST(the_chunks_that_moved_most_go_first);
    TEST(others_go_by_number);
    TEST(what_was_not_sent_is_offered_again);
    TEST(what_is_here_at_the_cut_is_applied);
    TEST(what_expires_after_the_cut_is_offered_again);
    TEST(where_nothing_is_here_the_exchange_is_forgotten);
    TEST(what_is_granted_and_was_taken_back_is_closed);
    TEST(the_first_chunk_is_always_sent);
    TEST(what_is_complete_is_not_cut);
    TEST(a_result_behind_one_that_is_cut_counts_its_chunks_only);
    TEST(a_lost_connection_takes_back_what_is_not_merged);
}
