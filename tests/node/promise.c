/* What a node has given and a hub has merged and lost again. */
#include <string.h>

#include "tests/check.h"
#include "tests/node/keeper.h"
#include "tests/node/rig.h"

/* Exchange 1 at x = 3 has been merged; the centre is 5, and so is x. */
static struct desk *desk_merged(void)
{
    struct desk *desk = desk_offering();

    desk_answers(desk, 1, VERB_REBASE, 5);
    desk_applied(desk, 1);
    return desk;
}

static void what_a_lost_centre_had_is_offered_again(void)
{
    struct desk *desk = desk_merged();

    keeper_comes_back(desk, 0, START_GO);
    CHECK_CONTAINS("1 merged exchanges are offered again, 0 are lost",
                   hand_note(&desk->hand, NOTE_RESTORED)->text);
    desk_offers(desk, 2, 6); /* 1 since, and the 2 of exchange 1 */
    for (uint32_t i = 0; i < DESK_CHUNKS; i++)
        CHECK_NEAR(3, desk_chunk(desk, 2, i), 0);
    desk_destroy(&desk);
}

static void it_is_offered_again_once(void)
{
    struct desk *desk = desk_merged();

    keeper_comes_back(desk, 0, START_GO);
    desk_restarts(desk, START_GO);
    keeper_comes_back(desk, 0, START_GO);
    desk_offers(desk, 2, 6);
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_answers(desk, 2, VERB_REBASE, 8);
    desk_applied(desk, 2);
    desk_offers(desk, 3, 9);
    CHECK_NEAR(1, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void what_the_centre_has_is_not_offered_again(void)
{
    struct desk *desk = desk_merged();

    keeper_comes_back(desk, 1, START_GO);
    CHECK(!hand_note(&desk->hand, NOTE_RESTORED));
    desk_offers(desk, 2, 6);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* It was on the disk of a hub that loses that as well. */
static void it_may_be_lost_by_the_life_after(void)
{
    struct desk *desk = desk_merged();

    keeper_comes_back(desk, 1, START_GO);
    keeper_comes_back(desk, 0, START_GO);
    desk_offers(desk, 2, 6);
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void the_same_life_has_lost_nothing(void)
{
    struct desk *desk = desk_merged();

    desk_breaks(desk);
    desk->welcome.epoch++;
    desk_rejoins(desk); /* in part merged: `merged` says nothing of it */
    desk_offers(desk, 2, 6);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* The hub may go on without this node, and so without what it keeps. */
static void what_is_kept_is_offered_again_where_the_hub_has_not_got_it(void)
{
    struct desk *desk = desk_merged();

    keeper_says(desk, 1, 1, NULL);
    keeper_comes_back(desk, 0, START_GO);
    desk_offers(desk, 2, 6);
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* The disk may be lost while this node, which keeps the newest, is away. */
static void what_is_kept_and_saved_twice_is_remembered_too(void)
{
    struct desk *desk = desk_merged();

    keeper_says(desk, 1, 1, NULL);
    keeper_saves(desk, 1);
    keeper_saves(desk, 2);
    keeper_comes_back(desk, 0, START_GO);
    desk_offers(desk, 2, 6);
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* Fragments do not wait for each other: 2 is merged, and 1 was not, in the
 * version that the hub goes on from. */
static void what_the_hub_says_was_not_merged_is_offered_again(void)
{
    struct desk *desk = desk_merged();

    desk_offers(desk, 2, 7);
    desk_answers(desk, 2, VERB_REBASE, 8);
    desk_applied(desk, 2);
    desk_breaks(desk);
    desk->welcome.epoch += LIFE;
    desk->welcome.merged = 2;
    desk_connects(desk);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_LOST);
    desk_welcomes(desk, START_GO);
    CHECK_CONTAINS("1 merged exchanges are offered again, 0 are lost",
                   hand_note(&desk->hand, NOTE_RESTORED)->text);
    desk_offers(desk, 3, 9); /* 1 since, and the 2 of exchange 1 */
    CHECK_NEAR(3, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void verdicts_before_the_welcome_say_what_there_is(void)
{
    struct desk *desk = desk_merged();

    desk_offers(desk, 2, 7);
    desk_answers(desk, 2, VERB_REBASE, 8);
    desk_breaks(desk);
    desk->welcome.epoch += LIFE;
    desk_connects(desk);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_MERGED);
    desk_welcomes(desk, START_GO);
    desk_applied(desk, 2);
    desk_offers(desk, 3, 9); /* 1 since, and the 2 of exchange 2 */
    CHECK_NEAR(3, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void nothing_is_decided_before_the_hub_has_a_centre(void)
{
    for (int has = 0; has < 2; has++) {
        struct desk *desk = desk_merged();

        keeper_says(desk, 1, 0, NULL);
        desk_offers(desk, 2, 7); /* in flight: 2 */
        keeper_comes_back(desk, 0, START_GIVE);
        desk_restarts(desk, START_HOLD);
        desk->welcome.merged = has ? 2 : 0;
        desk_restarts(desk, START_GO);
        desk_offers(desk, 3, 8);
        CHECK_NEAR(has ? 1 : 1 + 2 + 2, desk_chunk(desk, 3, 0), 0);
        desk_destroy(&desk);
    }
}

/* d > k: results that are on their way are those of the lost centre. */
static void results_in_flight_are_applied_all_the_same(void)
{
    struct desk *desk = desk_offering();

    desk_offers(desk, 2, 4);
    desk_answers(desk, 1, VERB_REBASE, 5);
    desk_answers(desk, 2, VERB_REBASE, 8);
    CHECK_NEAR(2, desk_apply(desk, 1, 0), 0);
    CHECK_NEAR(2, desk_apply(desk, 2, 0), 0);
    hand_forget(&desk->hand);
    keeper_comes_back(desk, 1, START_GO);
    CHECK_EQUAL(0, hand_count(&desk->hand, PEER_TRAINER, MSG_APPLY));
    CHECK(!desk_forgot(desk, 2));
    desk_applied(desk, 1);
    desk_applied(desk, 2); /* x = 4 + 2 + 2 */
    desk_offers(desk, 3, 8.5);
    CHECK_NEAR(0.5 + 1, desk_chunk(desk, 3, 0), 0);
    desk_answers(desk, 3, VERB_REBASE, 10);
    CHECK_NEAR(1.5, desk_apply(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void who_takes_the_centre_offers_it_from_there(void)
{
    struct desk *desk = desk_merged();

    desk->welcome.lineage = 5;
    desk_breaks(desk);
    desk_rejoins(desk);
    desk_welcomes(desk, START_TAKE);
    desk_answers(desk, 0, VERB_REPLACE, 5);
    desk_applied(desk, 0); /* of lineage 5 from here on */
    desk_offers(desk, 1 + 1, 7);
    desk_answers(desk, 2, VERB_REBASE, 8);
    desk_applied(desk, 2);
    keeper_comes_back(desk, 1, START_TAKE);
    desk_answers(desk, 0, VERB_REPLACE, 4);
    desk_applied(desk, 0);
    desk_offers(desk, 3, 4.5);
    CHECK_NEAR(0.5 + 2, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void another_lineage_forgets_it(void)
{
    struct desk *desk = desk_merged();

    desk->welcome.lineage = 6;
    keeper_comes_back(desk, 0, START_TAKE);
    desk_answers(desk, 0, VERB_REPLACE, 4);
    desk_applied(desk, 0);
    desk_offers(desk, 2, 5);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void another_run_forgets_it(void)
{
    struct desk *desk = desk_merged();

    desk->welcome.run = 8;
    keeper_comes_back(desk, 0, START_GO);
    desk_offers(desk, 2, 6);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void gradients_are_added_to_the_next(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_GRADIENT;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 0.5);
    desk_answers(desk, 1, VERB_PULL, 5);
    desk_applied(desk, 1);
    keeper_comes_back(desk, 0, START_GO);
    desk_offers(desk, 2, 0.25);
    CHECK_NEAR(0.75, desk_chunk(desk, 2, 0), 0);
    desk_answers(desk, 2, VERB_PULL, 5);
    desk_applied(desk, 2);
    desk_offers(desk, 3, 0.25);
    CHECK_NEAR(0.25, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

/* One that a break has taken; one that is turned down takes nothing with it. */
static void gradients_that_a_break_takes_are_added_to_the_next(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_GRADIENT;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 0.5);
    desk_breaks(desk);
    desk_rejoins(desk);
    desk_offers(desk, 2, 0.25);
    CHECK_NEAR(0.75, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(0.75, node_owes(desk->node, 0), 0);
    desk_judges(desk, 2, 0, DESK_CHUNKS, VERDICT_EXPIRED);
    CHECK_NEAR(0.5, node_owes(desk->node, 0), 0);
    desk_offers(desk, 3, 0.125);
    CHECK_NEAR(0.625, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void parameters_are_not_promised(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_PARAMETERS;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    desk_answers(desk, 1, VERB_REBASE, 5);
    desk_applied(desk, 1);
    keeper_comes_back(desk, 0, START_GO);
    CHECK(!hand_note(&desk->hand, NOTE_RESTORED));
    desk_destroy(&desk);
}

/* Exchanges twelve times, of which the hub answers the last but one or two.
 * `merged` and `centre` are then what the hub goes back to: what it had two
 * exchanges before the end; returned is the exchange that that has. */
static uint64_t exchanges(struct rig *rig, int ahead,
                          double merged[DESK_ELEMENTS],
                          double centre[DESK_ELEMENTS])
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
        double merged[DESK_ELEMENTS] = {0}, centre[DESK_ELEMENTS] = {0};
        uint64_t back;
        struct rig rig;

        rig_open(&rig, codec, seed);
        rig.loses = (unsigned)(seed % 3) * 10;
        rig.desk->welcome.fragments = seed % 2 ? 1 : DESK_CHUNKS;
        desk_welcomes(rig.desk, START_GO);
        rig.others = 0.5;
        back = exchanges(&rig, 1 + (int)(seed % 2), merged, centre);
        rig.answers = 0;
        memcpy(rig.merged, merged, sizeof merged);
        memcpy(rig.centre, centre, sizeof centre);
        keeper_comes_back(rig.desk, back, START_GO);
        rig_drift(&rig);
        rig_settles(&rig);
        for (int i = 0; i < DESK_ELEMENTS; i++)
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
