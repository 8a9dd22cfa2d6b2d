/* What a node has given and a hub has merged and lost again. */
#include <string.h>

#include "tests/check.h"
#include "tests/node/keeper.h"
#include "tests/node/rig.h"

static void what_a_lost_centre_had_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_merged();

    keeper_comes_back(f, 0, START_GO);
    CHECK_CONTAINS("1 merged exchanges are offered again, 0 are lost",
                   hand_note(&f->hand, NOTE_RESTORED)->text);
    node_fixture_offers(f, 2, 6); /* 1 since, and the 2 of exchange 1 */
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(3, node_fixture_chunk(f, 2, i), 0);
    node_fixture_destroy(&f);
}

static void it_is_offered_again_once(void)
{
    struct node_fixture *f = node_fixture_merged();

    keeper_comes_back(f, 0, START_GO);
    node_fixture_restarts(f, START_GO);
    keeper_comes_back(f, 0, START_GO);
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_answers(f, 2, VERB_REBASE, 8);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 9);
    CHECK_NEAR(1, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void what_the_centre_has_is_not_offered_again(void)
{
    struct node_fixture *f = node_fixture_merged();

    keeper_comes_back(f, 1, START_GO);
    CHECK(!hand_note(&f->hand, NOTE_RESTORED));
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* It was on the disk of a hub that loses that as well. */
static void it_may_be_lost_by_the_life_after(void)
{
    struct node_fixture *f = node_fixture_merged();

    keeper_comes_back(f, 1, START_GO);
    keeper_comes_back(f, 0, START_GO);
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void the_same_life_has_lost_nothing(void)
{
    struct node_fixture *f = node_fixture_merged();

    node_fixture_breaks(f);
    f->welcome.epoch++;
    node_fixture_rejoins(f); /* in part merged: `merged` says nothing of it */
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* The hub may go on without this node, and so without what it keeps. */
static void what_is_kept_is_offered_again_where_the_hub_has_not_got_it(void)
{
    struct node_fixture *f = node_fixture_merged();

    keeper_says(f, 1, 1, NULL);
    keeper_comes_back(f, 0, START_GO);
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* The disk may be lost while this node, which keeps the newest, is away. */
static void what_is_kept_and_saved_twice_is_remembered_too(void)
{
    struct node_fixture *f = node_fixture_merged();

    keeper_says(f, 1, 1, NULL);
    keeper_saves(f, 1);
    keeper_saves(f, 2);
    keeper_comes_back(f, 0, START_GO);
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* Fragments do not wait for each other: 2 is merged, and 1 was not, in the
 * version that the hub goes on from. */
static void what_the_hub_says_was_not_merged_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_merged();

    node_fixture_offers(f, 2, 7);
    node_fixture_answers(f, 2, VERB_REBASE, 8);
    node_fixture_applied(f, 2);
    node_fixture_breaks(f);
    f->welcome.epoch += LIFE;
    f->welcome.merged = 2;
    node_fixture_connects(f);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_LOST);
    node_fixture_welcomes(f, START_GO);
    CHECK_CONTAINS("1 merged exchanges are offered again, 0 are lost",
                   hand_note(&f->hand, NOTE_RESTORED)->text);
    node_fixture_offers(f, 3, 9); /* 1 since, and the 2 of exchange 1 */
    CHECK_NEAR(3, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void verdicts_before_the_welcome_say_what_there_is(void)
{
    struct node_fixture *f = node_fixture_merged();

    node_fixture_offers(f, 2, 7);
    node_fixture_answers(f, 2, VERB_REBASE, 8);
    node_fixture_breaks(f);
    f->welcome.epoch += LIFE;
    node_fixture_connects(f);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    node_fixture_welcomes(f, START_GO);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 9); /* 1 since, and the 2 of exchange 2 */
    CHECK_NEAR(3, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void nothing_is_decided_before_the_hub_has_a_centre(void)
{
    for (int has = 0; has < 2; has++) {
        struct node_fixture *f = node_fixture_merged();

        keeper_says(f, 1, 0, NULL);
        node_fixture_offers(f, 2, 7); /* in flight: 2 */
        keeper_comes_back(f, 0, START_GIVE);
        node_fixture_restarts(f, START_HOLD);
        f->welcome.merged = has ? 2 : 0;
        node_fixture_restarts(f, START_GO);
        node_fixture_offers(f, 3, 8);
        CHECK_NEAR(has ? 1 : 1 + 2 + 2, node_fixture_chunk(f, 3, 0), 0);
        node_fixture_destroy(&f);
    }
}

/* d > k: results that are on their way are those of the lost centre. */
static void results_in_flight_are_applied_all_the_same(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_answers(f, 2, VERB_REBASE, 8);
    CHECK_NEAR(2, node_fixture_apply(f, 1, 0), 0);
    CHECK_NEAR(2, node_fixture_apply(f, 2, 0), 0);
    hand_forget(&f->hand);
    keeper_comes_back(f, 1, START_GO);
    CHECK_EQUAL(0, hand_count(&f->hand, PEER_TRAINER, MSG_LOCAL_RESULT));
    CHECK(!node_fixture_forgot(f, 2));
    node_fixture_applied(f, 1);
    node_fixture_applied(f, 2); /* x = 4 + 2 + 2 */
    node_fixture_offers(f, 3, 8.5);
    CHECK_NEAR(0.5 + 1, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_answers(f, 3, VERB_REBASE, 10);
    CHECK_NEAR(1.5, node_fixture_apply(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void who_takes_the_centre_offers_it_from_there(void)
{
    struct node_fixture *f = node_fixture_merged();

    f->welcome.lineage = 5;
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    node_fixture_welcomes(f, START_TAKE);
    node_fixture_answers(f, 0, VERB_REPLACE, 5);
    node_fixture_applied(f, 0); /* of lineage 5 from here on */
    node_fixture_offers(f, 1 + 1, 7);
    node_fixture_answers(f, 2, VERB_REBASE, 8);
    node_fixture_applied(f, 2);
    keeper_comes_back(f, 1, START_TAKE);
    node_fixture_answers(f, 0, VERB_REPLACE, 4);
    node_fixture_applied(f, 0);
    node_fixture_offers(f, 3, 4.5);
    CHECK_NEAR(0.5 + 2, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void another_lineage_forgets_it(void)
{
    struct node_fixture *f = node_fixture_merged();

    f->welcome.lineage = 6;
    keeper_comes_back(f, 0, START_TAKE);
    node_fixture_answers(f, 0, VERB_REPLACE, 4);
    node_fixture_applied(f, 0);
    node_fixture_offers(f, 2, 5);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void another_run_forgets_it(void)
{
    struct node_fixture *f = node_fixture_merged();

    f->welcome.run = 8;
    keeper_comes_back(f, 0, START_GO);
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void gradients_are_added_to_the_next(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_GRADIENT;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 0.5);
    node_fixture_answers(f, 1, VERB_PULL, 5);
    node_fixture_applied(f, 1);
    keeper_comes_back(f, 0, START_GO);
    node_fixture_offers(f, 2, 0.25);
    CHECK_NEAR(0.75, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_answers(f, 2, VERB_PULL, 5);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 0.25);
    CHECK_NEAR(0.25, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

/* One that a break has taken; one that is turned down takes nothing with it. */
static void gradients_that_a_break_takes_are_added_to_the_next(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_GRADIENT;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 0.5);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    node_fixture_offers(f, 2, 0.25);
    CHECK_NEAR(0.75, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(0.75, node_owes(f->node, 0), 0);
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS, VERDICT_EXPIRED);
    CHECK_NEAR(0.5, node_owes(f->node, 0), 0);
    node_fixture_offers(f, 3, 0.125);
    CHECK_NEAR(0.625, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void parameters_are_not_promised(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_PARAMETERS;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_applied(f, 1);
    keeper_comes_back(f, 0, START_GO);
    CHECK(!hand_note(&f->hand, NOTE_RESTORED));
    node_fixture_destroy(&f);
}

/* Exchanges twelve times, of which the hub answers the last but one or two.
 * `merged` and `centre` are then what the hub goes back to: what it had two
 * exchanges before the end; returned is the exchange that that has. */
static uint64_t exchanges(struct rig *rig, int ahead,
                          double merged[FIXTURE_ELEMENTS],
                          double centre[FIXTURE_ELEMENTS])
{
    uint64_t back = 0;

    for (int i = 0; i < 12; i++) {
        if (i == 10) {
            memcpy(merged, rig->merged, sizeof rig->merged);
            memcpy(centre, rig->centre, sizeof rig->centre);
            back = rig->exchange;
        }
        rig_drift(rig);
        rig_offers(rig);
        if (i >= ahead)
            rig_answer(rig);
    }
    return back;
}

/* Lossy codecs, fragments, lost chunks: whatever the hub goes back to, what it
 * has then and what is offered after that is all of the trainer's progress. */
static void whatever_the_hub_loses_all_progress_counts_once(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        enum codec_id codec = (enum codec_id)(seed % CODEC_COUNT);
        double merged[FIXTURE_ELEMENTS] = {0}, centre[FIXTURE_ELEMENTS] = {0};
        uint64_t back;
        struct rig rig;

        rig_open(&rig, codec, seed);
        rig.loses = (unsigned)(seed % 3) * 10;
        rig.f->welcome.fragments = seed % 2 ? 1 : FIXTURE_CHUNKS;
        node_fixture_welcomes(rig.f, START_GO);
        rig.others = 0.5;
        back = exchanges(&rig, 1 + (int)(seed % 2), merged, centre);
        rig.answers = 0;
        memcpy(rig.merged, merged, sizeof merged);
        memcpy(rig.centre, centre, sizeof centre);
        keeper_comes_back(rig.f, back, START_GO);
        rig_drift(&rig);
        rig_finishes(&rig);
        for (int i = 0; i < FIXTURE_ELEMENTS; i++)
            CHECK_NEAR(rig.own[i], rig.merged[i], 1e-4);
        rig_close(&rig);
    }
}

void add_node_promise_tests(CU_pSuite suite)
{
    TEST(what_a_lost_centre_had_is_offered_again);
    TEST(it_is_offered_again_once);
    TEST(what_the_centre_has_is_not_offered_again);
    TEST(it_may_be_lost_by_the_life_after);
    TEST(the_same_life_has_lost_nothing);
    TEST(what_is_kept_is_offered_again_where_the_hub_has_not_got_it);
    TEST(what_is_kept_and_saved_twice_is_remembered_too);
    TEST(what_the_hub_says_was_not_merged_is_offered_again);
    TEST(verdicts_before_the_welcome_say_what_there_is);
    TEST(nothing_is_decided_before_the_hub_has_a_centre);
    TEST(results_in_flight_are_applied_all_the_same);
    TEST(who_takes_the_centre_offers_it_from_there);
    TEST(another_lineage_forgets_it);
    TEST(another_run_forgets_it);
    TEST(gradients_are_added_to_the_next);
    TEST(gradients_that_a_break_takes_are_added_to_the_next);
    TEST(parameters_are_not_promised);
    TEST(whatever_the_hub_loses_all_progress_counts_once);
}
