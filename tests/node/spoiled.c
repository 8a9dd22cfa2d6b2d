/* A trainer's parameters go bad: nobody gets them. */
#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/node/node_fixture.h"
#include "tests/node/rig.h"

static void parameters_that_are_not_finite_are_never_sent(void)
{
    struct node_fixture *f = node_fixture_member();

    hand_forget(&f->hand);
    node_fixture_offers(f, 1, (double)NAN);
    CHECK(!node_fixture_sent(f, MSG_OFFER));
    CHECK_EQUAL(0, node_fixture_chunks(f, 1));
    CHECK(node_fixture_forgot(f, 1));
    CHECK_CONTAINS("NaN", hand_note(&f->hand, NOTE_DECLINED)->text);
    if (CHECK(node_fixture_sent(f, MSG_HELLO) != NULL))
        CHECK_EQUAL(0, node_fixture_sent(f, MSG_HELLO)->hello.lineage);
    node_fixture_welcomes(f, START_TAKE);
    node_fixture_answers(f, 0, VERB_REPLACE, 4);
    node_fixture_applied(f, 0);
    node_fixture_offers(f, 2, 5);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 2), 0);
    node_fixture_destroy(&f);
}

static void who_goes_bad_again_and_again_asks_and_says_so_now_and_then(void)
{
    struct node_fixture *f = node_fixture_member();
    unsigned before = hand_count(&f->hand, PEER_CONTROL, MSG_HELLO);

    for (uint64_t i = 1; i <= 20; i++) {
        node_fixture_offers(f, i, (double)NAN);
        if (i == 1)
            CHECK(hand_note(&f->hand, NOTE_DECLINED) != NULL);
        CHECK_EQUAL(before + 1, hand_count(&f->hand, PEER_CONTROL, MSG_HELLO));
        node_fixture_restarts(f, i % 2 ? START_GO : START_TAKE);
    }
    hand_wait(&f->hand, 10 * SECOND);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    hand_forget(&f->hand);
    node_fixture_offers(f, 21, (double)NAN);
    CHECK(hand_note(&f->hand, NOTE_DECLINED) != NULL);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_HELLO));
    node_fixture_destroy(&f);
}

/* Its hub is lost, and what comes instead has no parameters. */
static void who_went_bad_in_a_run_founds_none_and_goes_on(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_offers(f, 1, (double)NAN);
    node_fixture_breaks(f);
    hand_wait(&f->hand, 10 * SECOND);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_FOUND);
    node_fixture_grants(f, 0, 8);
    CHECK_EQUAL(0, node_fixture_chunks(f, 0));
    if (CHECK(node_fixture_sent(f, MSG_BYE) != NULL))
        CHECK_EQUAL(FAREWELL_LEAVING,
                    node_fixture_sent(f, MSG_BYE)->bye.farewell);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(!node_ended(f->node));
    hand_forget(&f->hand);
    node_fixture_connects(f);
    CHECK(!node_fixture_sent(f, MSG_HELLO)); /* not at once */
    hand_wait(&f->hand, 10 * SECOND);
    CHECK(node_fixture_sent(f, MSG_HELLO) != NULL);
    node_fixture_destroy(&f);
}

/* Twice: that is said once. */
static void what_there_is_no_memory_for_is_offered_later(void)
{
    struct node_fixture *f = node_fixture_member();

    hand_forget(&f->hand);
    f->hand.starves = 1;
    for (uint64_t i = 1; i <= 2; i++) {
        node_fixture_offers(f, i, 2 + (double)i);
        CHECK(!node_fixture_sent(f, MSG_OFFER));
        CHECK(node_fixture_forgot(f, i));
        CHECK(hand_note(&f->hand, NOTE_DECLINED) == NULL);
        CHECK_EQUAL(1, f->hand.note_count);
    }
    CHECK(hand_note(&f->hand, NOTE_NO_MEMORY) != NULL);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    f->hand.starves = 0;
    node_fixture_offers(f, 3, 6);
    CHECK_NEAR(5, node_fixture_chunk(f, 3, 0), 0);
    CHECK_NEAR(5, node_fixture_chunk(f, 3, 2), 0);
    node_fixture_destroy(&f);
}

/* And it says no goodbye, nor that its parameters are bad. */
static void first_parameters_without_memory_are_asked_for_again(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 7);
    node_fixture_connects(f);
    f->hand.starves = 1;
    node_fixture_welcomes(f, START_FOUND);
    node_fixture_grants(f, 0, 8);
    CHECK_EQUAL(0, node_fixture_chunks(f, 0));
    CHECK(hand_note(&f->hand, NOTE_NO_MEMORY) != NULL);
    CHECK(hand_note(&f->hand, NOTE_DECLINED) == NULL);
    CHECK(!node_fixture_sent(f, MSG_BYE));
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(!node_ended(f->node));
    f->hand.starves = 0;
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_FOUND);
    node_fixture_grants(f, 0, 8);
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 0));
    CHECK_NEAR(7, node_fixture_chunk(f, 0, 2), 0);
    node_fixture_destroy(&f);
}

/* What the trainer has to give: its parameters, or a gradient. */
static void drift(struct rig *rig, bool gradient, float *given)
{
    float before[FIXTURE_ELEMENTS];

    memcpy(before, rig->x, sizeof before);
    rig_drift(rig);
    for (unsigned j = 0; j < FIXTURE_ELEMENTS; j++)
        given[j] = gradient ? rig->x[j] - before[j] : rig->x[j];
}

/* An offer of which each so manieth chunk cannot be formed; 0: all can. */
static void offer(struct rig *rig, const float *given, unsigned starves)
{
    rig_takes(rig, given, false);
    rig->f->hand.starves = starves;
    rig_hub(rig);
    rig->f->hand.starves = 0;
    if (starves)
        rig->answers--;
}

static void finish(struct rig *rig, bool gradients)
{
    const float none[FIXTURE_ELEMENTS] = {0};

    if (gradients)
        rig_gives(rig, none, true);
    else
        rig_finishes(rig);
    for (unsigned j = 0; j < FIXTURE_ELEMENTS; j++)
        CHECK_NEAR(rig->own[j], rig->merged[j], 1e-4);
    rig_close(rig);
}

/* Of each third offer some chunks or all cannot be formed. */
static void check_starving(enum codec_id codec, bool gradients,
                           uint32_t fragments)
{
    float given[FIXTURE_ELEMENTS];
    struct rig rig;

    rig_open(&rig, codec, 3);
    rig.f->welcome.fragments = fragments;
    node_fixture_welcomes(rig.f, START_GO);
    if (gradients)
        node_fixture_tunes(rig.f, 1, EXCHANGE_GRADIENT);
    for (unsigned i = 1; i < 40; i++) {
        drift(&rig, gradients, given);
        offer(&rig, given, i % 3 ? 0 : fragments > 1 ? 1 : 1 + i % 2);
        if (gradients && i % 3)
            rig_verdict(&rig);
        else if (i % 3 && i > 6)
            rig_answer(&rig);
    }
    finish(&rig, gradients);
}

static void lack_of_memory_for_offers_loses_nothing(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        check_starving((enum codec_id)codec, false, 1);
        check_starving((enum codec_id)codec, false, 3);
        check_starving((enum codec_id)codec, true, 1);
    }
}

void add_node_spoiled_tests(CU_pSuite suite)
{
    TEST(parameters_that_are_not_finite_are_never_sent);
    TEST(who_goes_bad_again_and_again_asks_and_says_so_now_and_then);
    TEST(who_went_bad_in_a_run_founds_none_and_goes_on);
    TEST(what_there_is_no_memory_for_is_offered_later);
    TEST(first_parameters_without_memory_are_asked_for_again);
    TEST(lack_of_memory_for_offers_loses_nothing);
}
