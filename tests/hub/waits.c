/* For whom the others wait, and for how long (hub/patience.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hub/patience.h"
#include "tests/check.h"
#include "tests/hub/pair.h"
#include "tests/hub/store.h"

#define STEP (100 * MILLISECOND)

/* One chunk in ten seconds is what both links carry. */
static void equal_links_are_waited_for_however_slow(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_offers(pair.f, &pair.a, 1);
    fake_node_offers(pair.f, &pair.b, 1);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        pair_live(&pair, 10 * SECOND, 10);
        fake_node_delivers(pair.f, &pair.a, 1, i, 1);
        pair_live(&pair, 2 * SECOND, 10);
        fake_node_delivers(pair.f, &pair.b, 1, i, 1);
    }
    CHECK_EQUAL(1, pair_rounds(&pair));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(pair.f, &pair.b, 1, 2));
    CHECK_TEXT(NULL, pair_held_up(&pair));
    hub_fixture_destroy(&pair.f);
}

/* All others wait for one that the policy has chosen. */
static void the_only_uploader_may_need_half_a_minute_a_chunk(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct pair pair;

    f->config.policy.select = &select_best;
    pair = pair_of(f);
    fake_node_offers(f, &pair.b, 1);
    fake_node_offers(f, &pair.a, 1);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        pair_live(&pair, 28 * SECOND, 10);
        fake_node_delivers(f, &pair.a, 1, i, 1);
    }
    CHECK_EQUAL(1, pair_rounds(&pair));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &pair.a, 1, 2));
    hub_fixture_destroy(&f);
}

static void an_upload_that_stops_is_cut_when_patience_is_used_up(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_offers(pair.f, &pair.b, 1);
    fake_node_delivers(pair.f, &pair.b, 1, 0, 1);
    pair_gives(&pair);
    pair_live(&pair, 4 * SECOND, 10);
    CHECK_EQUAL(0, pair_rounds(&pair));
    CHECK_CONTAINS("waits for b to upload", hub_fixture_look(pair.f)->state);
    pair_live(&pair, 2 * SECOND, 10);
    CHECK_EQUAL(1, pair_rounds(&pair));
    CHECK_TEXT("b", pair_held_up(&pair));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(pair.f, &pair.b, 1, 0));
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(pair.f, &pair.b, 1, 1));
    CHECK_CONTAINS("rounds do not wait for it",
                   hub_fixture_node(pair.f, "b")->why);
    hub_fixture_destroy(&pair.f);
}

/* All wait behind a save that is due; b has two exchanges under way, and has
 * sent a part of them. */
static void who_keeps_a_save_from_being_made_is_soon_cut(void)
{
    static struct store store;
    struct hub_fixture *f = hub_fixture_new();
    struct pair pair;

    f->config.policy.gate = &gate_async;
    store_lend(&store, f);
    f->config.save_interval = SECOND;
    pair = pair_of(f);
    fake_node_gives(f, &pair.b, 1, 0);
    fake_node_returns(f, &pair.b, 1);
    for (uint64_t i = 2; i < 4; i++) {
        fake_node_offers(f, &pair.b, i);
        fake_node_delivers(f, &pair.b, i, 0, 0);
    }
    pair_gives(&pair);
    pair_live(&pair, 2 * SECOND, 10);
    hand_forget(&f->hand);
    fake_node_offers(f, &pair.a, pair.next);
    pair_live(&pair, 2 * SECOND, 10);
    CHECK(fake_node_heard(f, &pair.a, MSG_GRANT) == NULL);
    pair_live(&pair, 6 * SECOND, 10);
    CHECK(fake_node_heard(f, &pair.a, MSG_GRANT) != NULL);
    CHECK_TEXT("b", pair_held_up(&pair));
    hub_fixture_destroy(&f);
}

/* A training loop that hangs. */
static void who_offers_nothing_is_soon_not_waited_for(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    pair_gives(&pair);
    pair_live(&pair, 2 * SECOND, 10);
    CHECK_CONTAINS("waits for b to offer", hub_fixture_look(pair.f)->state);
    pair_live(&pair, 6 * SECOND, 10);
    CHECK_EQUAL(1, pair_rounds(&pair));
    CHECK_TEXT("b", pair_held_up(&pair));
    for (int i = 0; i < 100; i++) {
        pair_gives(&pair);
        pair_live(&pair, SECOND, 10);
        hand_forget(&pair.f->hand);
    }
    CHECK_EQUAL(101, pair_rounds(&pair));
    CHECK(!hub_fixture_node(pair.f, "b")->gone);
    hub_fixture_destroy(&pair.f);
}

static void who_offers_again_is_waited_for_again(void)
{
    struct pair pair = pair_of(hub_fixture_new());
    bool back = false;

    pair_gives(&pair);
    pair_live(&pair, 8 * SECOND, 10);
    CHECK_EQUAL(1, pair_rounds(&pair));
    fake_node_gives(pair.f, &pair.b, 1, 1);
    pair_gives(&pair);
    CHECK_EQUAL(2, pair_rounds(&pair));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(pair.f, &pair.b, 1, 2));
    for (int i = 0; i < 24; i++) {
        back |= hand_note(&pair.f->hand, NOTE_RECOVERED) != NULL;
        hand_forget(&pair.f->hand);
        pair_live(&pair, 5 * SECOND, 10);
    }
    CHECK(back);
    hand_forget(&pair.f->hand);
    pair_gives(&pair);
    CHECK_EQUAL(2, pair_rounds(&pair));
    fake_node_gives(pair.f, &pair.b, 2, 1);
    CHECK_EQUAL(3, pair_rounds(&pair));
    hub_fixture_destroy(&pair.f);
}

/* Four times slower is what it says and does. */
static void a_slower_node_is_waited_for_as_ever(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    for (uint64_t i = 1; i <= 40; i++) {
        pair_live(&pair, SECOND, 2.5);
        pair_gives(&pair);
        pair_live(&pair, 3 * SECOND, 2.5);
        fake_node_gives(pair.f, &pair.b, i, 1);
        fake_node_returns(pair.f, &pair.b, i);
        CHECK_EQUAL(i, pair_rounds(&pair));
        CHECK_TEXT(NULL, pair_held_up(&pair));
        hand_forget(&pair.f->hand);
    }
    hub_fixture_destroy(&pair.f);
}

/* Whatever b does: a makes an offer a second, for `seconds`. Returns the share
 * of them that made a round within a tick. */
static double share_of(struct pair *pair, unsigned seconds,
                       void (*act)(struct pair *pair))
{
    uint64_t before = pair_rounds(pair), given = pair->next;

    for (unsigned i = 0; i < 10 * seconds; i++) {
        bool open = pair_rounds(pair) - before < pair->next - given;

        if (i % 10 == 0 && !open)
            fake_node_gives(pair->f, &pair->a, pair->next++, 0);
        act(pair);
        fake_node_returns(pair->f, &pair->a, pair->next - 1);
        hand_forget(&pair->f->hand);
        hand_wait(&pair->f->hand, STEP);
        pair_pings(pair->f, &pair->a, 10);
        pair_pings(pair->f, &pair->b, 10);
    }
    return (double)(pair_rounds(pair) - before) / seconds;
}

static struct {
    uint64_t exchange;
    unsigned turns;
} drip;

/* Offers, and then delivers a chunk in 0.9 s. */
static void drips(struct pair *pair)
{
    unsigned turn = drip.turns++ % (9 * (FIXTURE_CHUNKS + 1));

    if (turn == 0)
        fake_node_offers(pair->f, &pair->b, ++drip.exchange);
    else if (turn % 9 == 0)
        fake_node_delivers(pair->f, &pair->b, drip.exchange, turn / 9 - 1, 1);
}

static void one_that_drips_costs_the_others_little(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    memset(&drip, 0, sizeof drip);
    (void)share_of(&pair, 200, drips);
    CHECK_NEAR(1, share_of(&pair, 2000, drips), 0.1);
    hub_fixture_destroy(&pair.f);
}

/* Offers just when it would not be waited for any more. */
static void offers_late(struct pair *pair)
{
    if (++drip.turns % 60 == 0) {
        fake_node_gives(pair->f, &pair->b, ++drip.exchange, 1);
        fake_node_returns(pair->f, &pair->b, drip.exchange);
    }
}

static void one_that_offers_as_late_as_it_can_costs_little(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    memset(&drip, 0, sizeof drip);
    (void)share_of(&pair, 200, offers_late);
    CHECK_NEAR(1, share_of(&pair, 2000, offers_late), 0.1);
    hub_fixture_destroy(&pair.f);
}

/* Nobody delivers what it has offered. */
/* A quarter of a second; every second one somebody else is new, and takes the
 * centre, in the place of the one before. */
static void somebody_comes(struct pair *pair, struct fake_node *node,
                           unsigned quarter)
{
    char name[16];

    if (quarter % 8 == 0) {
        if (quarter)
            fake_node_breaks(pair->f, node);
        (void)snprintf(name, sizeof name, "new%u", quarter);
        *node = fake_node_comes(pair->f, name);
        fake_node_credits(pair->f, node, 0, 0);
    }
    pair_live(pair, 250 * MILLISECOND, 10);
}

static bool is_granted(struct pair *pair, uint64_t exchange)
{
    const struct msg *grant = fake_node_heard(pair->f, &pair->b, MSG_GRANT);

    return grant && grant->grant.exchange == exchange;
}

/* Whoever comes under another name all the time gains nothing by it: after the
 * first five seconds a twentieth. */
static void newcomers_share_one_patience(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node node = {0};
    unsigned quarter = 0;
    struct pair pair;

    f->config.delay = 1000; /* nobody waits for results */
    pair = pair_of(f);
    pair_live(&pair, SECOND, 10);
    for (uint64_t i = 1; i <= 100; i++) {
        fake_node_offers(pair.f, &pair.a, i);
        fake_node_offers(pair.f, &pair.b, i);
        while (i > 1 && !is_granted(&pair, i) && quarter < 1000)
            somebody_comes(&pair, &node, quarter++);
        fake_node_delivers_all(pair.f, &pair.a, i, 0);
        fake_node_delivers_all(pair.f, &pair.b, i, 0);
        fake_node_returns(pair.f, &pair.a, i);
        fake_node_returns(pair.f, &pair.b, i);
        for (unsigned j = 0; j < 3; j++)
            somebody_comes(&pair, &node, quarter++);
    }
    CHECK_EQUAL(100, pair_rounds(&pair));
    /* 300 without newcomers, and what five seconds and a twentieth are */
    CHECK(quarter <= 300 + 20 + 20 + 5);
    hub_fixture_destroy(&pair.f);
}

/* Of two the policy chooses one again and again. */
static void who_is_not_chosen_is_no_newcomer(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct pair pair;

    f->config.policy.select = &select_best;
    pair = pair_of(f);
    fake_node_offers(f, &pair.b, 1);
    pair_gives(&pair);
    fake_node_returns(f, &pair.b, 1);
    CHECK_EQUAL(VERDICT_DECLINED, fake_node_verdict(f, &pair.b, 1, 0));
    fake_node_offers(f, &pair.a, 2);
    pair_live(&pair, 6 * SECOND, 10);
    CHECK_TEXT(NULL, pair_held_up(&pair));
    pair_live(&pair, 3 * SECOND, 10);
    CHECK_TEXT("b", pair_held_up(&pair));
    hub_fixture_destroy(&f);
}

static void rounds_that_bring_nothing_are_told_of(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    for (uint64_t i = 1; i <= 3; i++) {
        CHECK(hand_note(&pair.f->hand, NOTE_BARREN) == NULL);
        fake_node_offers(pair.f, &pair.a, i);
        fake_node_offers(pair.f, &pair.b, i);
        hand_forget(&pair.f->hand);
        pair_live(&pair, 61 * SECOND, 10);
        CHECK_EQUAL(i, pair_rounds(&pair));
    }
    CHECK_CONTAINS("larger --every, --codec-up int4 and --fragments 8",
                   hand_note(&pair.f->hand, NOTE_BARREN)->text);
    hub_fixture_destroy(&pair.f);
}

/* Its link needs 20 s for its last offer, and before that it was too slow. */
static void the_end_waits_for_last_offers_that_are_under_way(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    pair_gives(&pair);
    pair_live(&pair, 8 * SECOND, 10);
    CHECK_TEXT("b", pair_held_up(&pair));
    hub_fixture_stop(pair.f);
    fake_node_gives_last(pair.f, &pair.a, pair.next, 0);
    fake_node_offer(
        pair.f, &pair.b,
        &(struct msg_offer){.exchange = 1, .samples = 1, .last = 1});
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        hand_forget(&pair.f->hand);
        pair_live(&pair, 7 * SECOND, 10);
        CHECK(!hub_ended(pair.f->hub));
        fake_node_delivers(pair.f, &pair.b, 1, i, 1);
    }
    pair_live(&pair, SECOND, 10);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(pair.f, &pair.b, 1, 2));
    CHECK(hub_ended(pair.f->hub));
    hub_fixture_destroy(&pair.f);
}

static void a_median_of_others_leaves_out_its_own(void)
{
    double list[] = {1, 2, 4, 8};
    struct sorted_values values = {list, 4}, one = {list, 1}, none = {list, 0};

    CHECK_NEAR(4, median_of_others(&values, 1), 0);
    CHECK_NEAR(4, median_of_others(&values, 2), 0);
    CHECK_NEAR(2, median_of_others(&values, 4), 0);
    CHECK_NEAR(2, median_of_others(&values, 0), 0);
    CHECK_NEAR(0, median_of_others(&one, 1), 0);
    CHECK_NEAR(0, median_of_others(&none, 0), 0);
    /* It is of a member that has just been lost. */
    CHECK_NEAR(2, median_of_others(&values, 3), 0);
    CHECK_NEAR(1, median_of_others(&one, 3), 0);
    CHECK_NEAR(0, median_of_others(&none, 3), 0);
}

void add_hub_waits_tests(CU_pSuite suite)
{
    TEST(equal_links_are_waited_for_however_slow);
    TEST(the_only_uploader_may_need_half_a_minute_a_chunk);
    TEST(an_upload_that_stops_is_cut_when_patience_is_used_up);
    TEST(who_keeps_a_save_from_being_made_is_soon_cut);
    TEST(who_offers_nothing_is_soon_not_waited_for);
    TEST(who_offers_again_is_waited_for_again);
    TEST(a_slower_node_is_waited_for_as_ever);
    TEST(one_that_drips_costs_the_others_little);
    TEST(one_that_offers_as_late_as_it_can_costs_little);
    TEST(newcomers_share_one_patience);
    TEST(who_is_not_chosen_is_no_newcomer);
    TEST(rounds_that_bring_nothing_are_told_of);
    TEST(the_end_waits_for_last_offers_that_are_under_way);
    TEST(a_median_of_others_leaves_out_its_own);
}
