/* A node that is asked to evaluate what others have trained. */
#include "node/review.h"

#include <math.h>

#include "tests/check.h"
#include "tests/node/node_fixture.h"

/* The hub shows a chunk of so many parameters that are all `value`. */
static void hub_shows_cut(struct node_fixture *f, uint64_t review,
                          uint32_t chunk, size_t elements, double value)
{
    struct msg msg = {.kind = MSG_REVIEW};
    struct blob *payload = hand_floats(f->hand.pool, elements, value);

    msg.review.review = review;
    msg.review.chunk = chunk;
    msg.review.checksum = payload->checksum;
    payload->checksum = 0;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
}

static void hub_shows(struct node_fixture *f, uint64_t review, uint32_t chunk,
                      double value)
{
    hub_shows_cut(f, review, chunk, node_fixture_length(chunk), value);
}

static void hub_shows_all(struct node_fixture *f, uint64_t review, double value)
{
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        hub_shows(f, review, i, value);
}

static void trainer_says(struct node_fixture *f, uint64_t number, bool made,
                         double loss)
{
    struct msg msg = {.kind = MSG_LOCAL_REVIEWED};

    msg.local_reviewed.number = number;
    msg.local_reviewed.made = made;
    msg.local_reviewed.loss = loss;
    msg.local_reviewed.error = 0.25;
    hand_say(&f->hand, PEER_TRAINER, &msg, NULL);
}

static unsigned shown(const struct node_fixture *f)
{
    return hand_count(&f->hand, PEER_TRAINER, MSG_LOCAL_REVIEW);
}

static uint64_t number_shown(const struct node_fixture *f)
{
    return node_fixture_told(f, MSG_LOCAL_REVIEW)->local_review.number;
}

static unsigned answers(const struct node_fixture *f)
{
    return hand_count(&f->hand, PEER_CONTROL, MSG_REVIEWED);
}

static const struct msg_reviewed *answer(const struct node_fixture *f)
{
    return &node_fixture_sent(f, MSG_REVIEWED)->reviewed;
}

/* A member whose trainer can evaluate. */
static struct node_fixture *node_fixture_of_reviewer(void)
{
    struct node_fixture *f = node_fixture_reviewing();

    node_fixture_ready(f, 1);
    return f;
}

static void the_trainer_evaluates_what_has_come_as_a_whole(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();
    const struct hand_sent *examine;

    hub_shows(f, 7, 2, 3);
    hub_shows(f, 7, 0, 1);
    CHECK_EQUAL(0, shown(f));
    hub_shows(f, 7, 1, 2);
    examine = hand_last(&f->hand, PEER_TRAINER, MSG_LOCAL_REVIEW);
    CHECK_EQUAL(FIXTURE_ELEMENTS * sizeof(float), examine->payload->size);
    CHECK_NEAR(1, hand_float(examine->payload, 0), 0);
    CHECK_NEAR(2, hand_float(examine->payload, 4), 0);
    CHECK_NEAR(3, hand_float(examine->payload, 9), 0);
    CHECK_EQUAL(0, answers(f));
    trainer_says(f, number_shown(f), true, 0.5);
    CHECK_EQUAL(7, answer(f)->review);
    CHECK_EQUAL(1, answer(f)->made);
    CHECK_NEAR(0.5, answer(f)->loss, 0);
    CHECK_NEAR(0.25, answer(f)->error, 0);
    node_fixture_destroy(&f);
}

static void each_chunk_gives_its_credit_back(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();
    unsigned before = hand_count(&f->hand, PEER_CONTROL, MSG_CREDIT);

    hub_shows_all(f, 7, 1);
    hub_shows(f, 7, 1, 1);
    CHECK_EQUAL(before + FIXTURE_CHUNKS + 1,
                hand_count(&f->hand, PEER_CONTROL, MSG_CREDIT));
    CHECK_EQUAL(1, shown(f));
    node_fixture_destroy(&f);
}

static void who_cannot_evaluate_says_so_at_the_first_chunk(void)
{
    struct node_fixture *f = node_fixture_member();

    hub_shows(f, 7, 0, 1);
    CHECK_EQUAL(1, answers(f));
    CHECK_EQUAL(7, answer(f)->review);
    CHECK_EQUAL(0, answer(f)->made);
    hub_shows(f, 7, 1, 1);
    CHECK_EQUAL(1, answers(f));
    CHECK_EQUAL(0, shown(f));
    node_fixture_destroy(&f);
}

static void the_hub_waits_for_the_newest_one_only(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();
    uint64_t first;

    hub_shows(f, 7, 0, 1);
    hub_shows_all(f, 8, 2);
    first = number_shown(f);
    hub_shows_all(f, 9, 3);
    trainer_says(f, first, true, 0.5);
    CHECK_EQUAL(0, answers(f));
    trainer_says(f, number_shown(f), true, 0.75);
    CHECK_EQUAL(1, answers(f));
    CHECK_EQUAL(9, answer(f)->review);
    trainer_says(f, number_shown(f), true, 0.75);
    CHECK_EQUAL(1, answers(f));
    node_fixture_destroy(&f);
}

/* The next hub counts its reviews from 1 again. */
static void no_answer_is_taken_for_one_to_another_hub(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();
    uint64_t first;

    hub_shows_all(f, 1, 2);
    first = number_shown(f);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    hub_shows_all(f, 1, 3);
    trainer_says(f, first, true, 0.5);
    CHECK_EQUAL(0, answers(f));
    CHECK_EQUAL(2, shown(f));
    node_fixture_destroy(&f);
}

static void what_is_not_finite_is_the_worst_there_is(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();

    hub_shows_all(f, 7, 1);
    trainer_says(f, number_shown(f), true, (double)NAN);
    CHECK_EQUAL(1, answer(f)->made);
    CHECK(!score_known(answer(f)->loss));
    node_fixture_destroy(&f);
}

static void a_trainer_that_fails_says_so(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();

    hub_shows_all(f, 7, 1);
    trainer_says(f, number_shown(f), false, 0);
    CHECK_EQUAL(0, answer(f)->made);
    node_fixture_destroy(&f);
}

static void chunks_that_make_no_sense_are_left_out(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();
    struct msg msg = {.kind = MSG_REVIEW};
    struct blob *payload = hand_floats(f->hand.pool, 3, 1);

    msg.review.review = 7;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    msg.review.chunk = FIXTURE_CHUNKS;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
    hub_shows_all(f, 7, 1);
    CHECK_EQUAL(1, shown(f));
    node_fixture_destroy(&f);
}

static void damage_ends_the_connection(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();
    struct msg msg = {.kind = MSG_REVIEW};
    struct blob *payload = hand_floats(f->hand.pool, node_fixture_length(2), 1);

    hub_shows(f, 7, 0, 1);
    hub_shows(f, 7, 1, 1);
    msg.review.review = 7;
    msg.review.chunk = 2;
    msg.review.checksum = payload->checksum + 1;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
    CHECK_EQUAL(0, shown(f));
    CHECK(hand_dropped(&f->hand, PEER_BULK));
    node_fixture_destroy(&f);
}

static void a_run_that_is_cut_otherwise_is_evaluated_as_well(void)
{
    struct node_fixture *f = node_fixture_of_reviewer();

    hub_shows_all(f, 7, 1);
    node_fixture_breaks(f);
    f->welcome.run++;
    f->welcome.chunk_elements = 1;
    node_fixture_rejoins(f);
    for (uint32_t i = 0; i < FIXTURE_ELEMENTS; i++)
        hub_shows_cut(f, 1, i, 1, i);
    CHECK_EQUAL(2, shown(f));
    CHECK_NEAR(
        9,
        hand_float(hand_last(&f->hand, PEER_TRAINER, MSG_LOCAL_REVIEW)->payload,
                   9),
        0);
    node_fixture_destroy(&f);
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
    TEST(a_run_that_is_cut_otherwise_is_evaluated_as_well);
}
