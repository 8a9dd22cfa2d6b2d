/* A node that is asked to evaluate what others have trained. */
#include "node/review.h"

#include <math.h>

#include "tests/check.h"
#include "tests/node/desk.h"

/* The hub shows a chunk of parameters that are all `value`. */
static void hub_shows(struct desk *desk, uint64_t review, uint32_t chunk,
                      double value)
{
    struct msg msg = {.kind = MSG_REVIEW};
    struct blob *payload =
        hand_floats(desk->hand.pool, desk_length(chunk), value);

    msg.review.review = review;
    msg.review.chunk = chunk;
    msg.review.checksum = payload->checksum;
    payload->checksum = 0;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
}

static void hub_shows_all(struct desk *desk, uint64_t review, double value)
{
    for (uint32_t i = 0; i < DESK_CHUNKS; i++)
        hub_shows(desk, review, i, value);
}

static void trainer_says(struct desk *desk, uint64_t number, bool made,
                         double loss)
{
    struct msg msg = {.kind = MSG_EXAMINED};

    msg.examined.number = number;
    msg.examined.made = made;
    msg.examined.loss = loss;
    msg.examined.error = 0.25;
    hand_say(&desk->hand, PEER_TRAINER, &msg, NULL);
}

static unsigned shown(const struct desk *desk)
{
    return hand_count(&desk->hand, PEER_TRAINER, MSG_EXAMINE);
}

static uint64_t number_shown(const struct desk *desk)
{
    return desk_told(desk, MSG_EXAMINE)->examine.number;
}

static unsigned answers(const struct desk *desk)
{
    return hand_count(&desk->hand, PEER_CONTROL, MSG_REVIEWED);
}

static const struct msg_reviewed *answer(const struct desk *desk)
{
    return &desk_sent(desk, MSG_REVIEWED)->reviewed;
}

/* A member whose trainer can evaluate. */
static struct desk *desk_of_reviewer(void)
{
    struct desk *desk = desk_reviewing();

    desk_ready(desk, 1);
    return desk;
}

static void the_trainer_evaluates_what_has_come_as_a_whole(void)
{
    struct desk *desk = desk_of_reviewer();
    const struct hand_sent *examine;

    hub_shows(desk, 7, 2, 3);
    hub_shows(desk, 7, 0, 1);
    CHECK_EQUAL(0, shown(desk));
    hub_shows(desk, 7, 1, 2);
    examine = hand_last(&desk->hand, PEER_TRAINER, MSG_EXAMINE);
    CHECK_EQUAL(DESK_ELEMENTS * sizeof(float), examine->payload->size);
    CHECK_NEAR(1, hand_float(examine->payload, 0), 0);
    CHECK_NEAR(2, hand_float(examine->payload, 4), 0);
    CHECK_NEAR(3, hand_float(examine->payload, 9), 0);
    CHECK_EQUAL(0, answers(desk));
    trainer_says(desk, number_shown(desk), true, 0.5);
    CHECK_EQUAL(7, answer(desk)->review);
    CHECK_EQUAL(1, answer(desk)->made);
    CHECK_NEAR(0.5, answer(desk)->loss, 0);
    CHECK_NEAR(0.25, answer(desk)->error, 0);
    desk_destroy(&desk);
}

static void each_chunk_gives_its_credit_back(void)
{
    struct desk *desk = desk_of_reviewer();
    unsigned before = hand_count(&desk->hand, PEER_CONTROL, MSG_CREDIT);

    hub_shows_all(desk, 7, 1);
    hub_shows(desk, 7, 1, 1);
    CHECK_EQUAL(before + DESK_CHUNKS + 1,
                hand_count(&desk->hand, PEER_CONTROL, MSG_CREDIT));
    CHECK_EQUAL(1, shown(desk));
    desk_destroy(&desk);
}

static void who_cannot_evaluate_says_so_at_the_first_chunk(void)
{
    struct desk *desk = desk_member();

    hub_shows(desk, 7, 0, 1);
    CHECK_EQUAL(1, answers(desk));
    CHECK_EQUAL(7, answer(desk)->review);
    CHECK_EQUAL(0, answer(desk)->made);
    hub_shows(desk, 7, 1, 1);
    CHECK_EQUAL(1, answers(desk));
    CHECK_EQUAL(0, shown(desk));
    desk_destroy(&desk);
}

static void the_hub_waits_for_the_newest_one_only(void)
{
    struct desk *desk = desk_of_reviewer();
    uint64_t first;

    hub_shows(desk, 7, 0, 1);
    hub_shows_all(desk, 8, 2);
    first = number_shown(desk);
    hub_shows_all(desk, 9, 3);
    trainer_says(desk, first, true, 0.5);
    CHECK_EQUAL(0, answers(desk));
    trainer_says(desk, number_shown(desk), true, 0.75);
    CHECK_EQUAL(1, answers(desk));
    CHECK_EQUAL(9, answer(desk)->review);
    trainer_says(desk, number_shown(desk), true, 0.75);
    CHECK_EQUAL(1, answers(desk));
    desk_destroy(&desk);
}

/* The next hub counts its reviews from 1 again. */
static void no_answer_is_taken_for_one_to_another_hub(void)
{
    struct desk *desk = desk_of_reviewer();
    uint64_t first;

    hub_shows_all(desk, 1, 2);
    first = number_shown(desk);
    desk_breaks(desk);
    desk_rejoins(desk);
    hub_shows_all(desk, 1, 3);
    trainer_says(desk, first, true, 0.5);
    CHECK_EQUAL(0, answers(desk));
    CHECK_EQUAL(2, shown(desk));
    desk_destroy(&desk);
}

static void what_is_not_finite_is_the_worst_there_is(void)
{
    struct desk *desk = desk_of_reviewer();

    hub_shows_all(desk, 7, 1);
    trainer_says(desk, number_shown(desk), true, (double)NAN);
    CHECK_EQUAL(1, answer(desk)->made);
    CHECK(!score_known(answer(desk)->loss));
    desk_destroy(&desk);
}

static void a_trainer_that_fails_says_so(void)
{
    struct desk *desk = desk_of_reviewer();

    hub_shows_all(desk, 7, 1);
    trainer_says(desk, number_shown(desk), false, 0);
    CHECK_EQUAL(0, answer(desk)->made);
    desk_destroy(&desk);
}

static void chunks_that_make_no_sense_are_left_out(void)
{
    struct desk *desk = desk_of_reviewer();
    struct msg msg = {.kind = MSG_REVIEW};
    struct blob *payload = hand_floats(desk->hand.pool, 3, 1);

    msg.review.review = 7;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    msg.review.chunk = DESK_CHUNKS;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
    hub_shows_all(desk, 7, 1);
    CHECK_EQUAL(1, shown(desk));
    desk_destroy(&desk);
}

static void damage_ends_the_connection(void)
{
    struct desk *desk = desk_of_reviewer();
    struct msg msg = {.kind = MSG_REVIEW};
    struct blob *payload = hand_floats(desk->hand.pool, desk_length(2), 1);

    hub_shows(desk, 7, 0, 1);
    hub_shows(desk, 7, 1, 1);
    msg.review.review = 7;
    msg.review.chunk = 2;
    msg.review.checksum = payload->checksum + 1;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
    CHECK_EQUAL(0, shown(desk));
    CHECK(hand_dropped(&desk->hand, PEER_BULK));
    desk_destroy(&desk);
}

void add_node_review_tests(CU_pSuite suite)
{
    TEST(the_trainer_evaluates_what_has_come_as_a_whole);
    TEST(each_chunk_gives_its_credit_back);
    TEST(who_cannot_evaluate_says_so_at_the_first_chunk);
    TEST(the_hub_waits_for_the_newest_one_only);
    TEST(no_answer_is_taken_for_one_to_another_hub);
    TEST(what_is_not_finite_is_the_worst_there_is);
    TEST(a_trainer_that_fails_says_so);
    TEST(chunks_that_make_no_sense_are_left_out);
    TEST(damage_ends_the_connection);
}
