/* The end of a run that a member keeps from coming: it says PING, and never
 * finishes. The others' last offers are in the centre all the same. */
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

struct pair {
    struct hub_fixture *f;
    struct fake_node honest, idle;
};

static struct pair pair_with(const char *preset, uint64_t window)
{
    struct pair pair = {.f = hub_fixture_new()};

    pair.f->config.policy = preset_find(preset)->policy;
    pair.f->config.window = window;
    store_lend(&store, pair.f);
    hub_fixture_open(pair.f);
    pair.honest = fake_node_comes(pair.f, "honest");
    pair.idle = fake_node_comes(pair.f, "idle");
    fake_node_founds(pair.f, &pair.honest, 1);
    return pair;
}

static struct pair pair_of(const char *preset)
{
    return pair_with(preset, 8 * FIXTURE_CHUNK_BYTES);
}

static void both_live(struct pair *pair, nanos span)
{
    for (nanos gone = 0; gone < span; gone += 250 * MILLISECOND) {
        hand_wait(&pair->f->hand, 250 * MILLISECOND);
        fake_node_pings(pair->f, &pair->honest, 1);
        fake_node_pings(pair->f, &pair->idle, 1);
    }
}

static bool ends_within(struct pair *pair, nanos span)
{
    while (!hub_ended(pair->f->hub) && span > 0) {
        both_live(pair, SECOND);
        span -= SECOND;
    }
    return hub_ended(pair->f->hub);
}

/* What was offered before the end is not delivered, and the other's waits for
 * it: that one's last offer holds what came of it later. */
static void an_exchange_that_never_comes_keeps_nobody_from_its_last_offer(void)
{
    static const char *const names[] = {"mean", "async", "soup"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        struct pair pair = pair_of(names[i]);

        fake_node_offers(pair.f, &pair.idle, 1);
        fake_node_offers(pair.f, &pair.honest, 1);
        fake_node_delivers_all(pair.f, &pair.honest, 1, 1);
        hub_fixture_stop(pair.f);
        both_live(&pair, 11 * SECOND);
        CHECK(!hub_ended(pair.f->hub));
        fake_node_gives_last(pair.f, &pair.honest, 2, 1);
        CHECK(ends_within(&pair, 21 * SECOND));
        CHECK_EQUAL(VERDICT_MERGED,
                    fake_node_verdict(pair.f, &pair.honest, 2, 0));
        hub_fixture_destroy(&pair.f);
    }
}

/* Its first chunk comes at once and is merged when the time is up; there is no
 * credit for more before that. The next ones take a second each. */
static void a_last_offer_that_has_begun_to_come_may_pause(void)
{
    const struct msg_offer offer = {.exchange = 1, .samples = 1, .last = 1};
    struct pair pair = pair_with("mean", 1);

    hub_fixture_stop(pair.f);
    fake_node_offer(pair.f, &pair.honest, &offer);
    fake_node_delivers(pair.f, &pair.honest, 1, 0, 1);
    both_live(&pair, 10500 * MILLISECOND);
    for (uint32_t i = 1; i < FIXTURE_CHUNKS; i++) {
        both_live(&pair, SECOND);
        fake_node_delivers(pair.f, &pair.honest, 1, i, 1);
    }
    CHECK(ends_within(&pair, 5 * SECOND));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(pair.f, &pair.honest, 1, 2));
    hub_fixture_destroy(&pair.f);
}

/* 45 s for a chunk, and of these the link is away for 25 s. */
static void a_last_offer_may_take_as_long_as_its_link_needs(void)
{
    const struct msg_offer offer = {.exchange = 1, .samples = 1, .last = 1};
    struct pair pair = pair_with("mean", 8 * FIXTURE_CHUNK_BYTES);

    hub_fixture_stop(pair.f);
    fake_node_offer(pair.f, &pair.honest, &offer);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        for (unsigned j = 1; j <= 8; j++) {
            struct msg msg = {
                .kind = MSG_ARRIVING,
                .arriving = {UINT64_C(2) * j, FIXTURE_CHUNK_BYTES}};

            hand_say(&pair.f->hand, pair.honest.bulk, &msg, NULL);
            both_live(&pair, 2500 * MILLISECOND);
        }
        for (unsigned j = 0; j < 25; j++) {
            hand_wait(&pair.f->hand, SECOND);
            fake_node_pings(pair.f, &pair.idle, 1);
        }
        fake_node_delivers(pair.f, &pair.honest, 1, i, 1);
    }
    CHECK(ends_within(&pair, 5 * SECOND));
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_EQUAL(VERDICT_MERGED,
                    fake_node_verdict(pair.f, &pair.honest, 1, i));
    hub_fixture_destroy(&pair.f);
}

/* Of a run that goes on: the other is through, and the link away for 5 s. */
static void a_node_that_leaves_may_be_silent_while_it_gives(void)
{
    const struct msg_offer offer = {.exchange = 1, .samples = 1, .last = 1};
    struct pair pair = pair_with("mean", 8 * FIXTURE_CHUNK_BYTES);

    fake_node_offers(pair.f, &pair.idle, 1);
    fake_node_offer(pair.f, &pair.honest, &offer);
    both_live(&pair, 2 * SECOND);
    fake_node_delivers(pair.f, &pair.honest, 1, 0, 1);
    fake_node_delivers_all(pair.f, &pair.idle, 1, 3);
    for (unsigned i = 0; i < 10; i++) {
        hand_wait(&pair.f->hand, 500 * MILLISECOND);
        fake_node_pings(pair.f, &pair.idle, 1);
    }
    fake_node_delivers(pair.f, &pair.honest, 1, 1, 1);
    fake_node_delivers(pair.f, &pair.honest, 1, 2, 1);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_EQUAL(VERDICT_MERGED,
                    fake_node_verdict(pair.f, &pair.honest, 1, i));
    hub_fixture_destroy(&pair.f);
}

/* One that never comes to an end holds the end up for half an hour at most. */
static void a_last_offer_that_drips_is_cut(void)
{
    const struct msg_offer offer = {.exchange = 1, .samples = 1, .last = 1};
    struct pair pair = pair_with("mean", 8 * FIXTURE_CHUNK_BYTES);

    hub_fixture_stop(pair.f);
    fake_node_offer(pair.f, &pair.honest, &offer);
    for (unsigned i = 0; i < 140 && !hub_ended(pair.f->hub); i++) {
        struct msg msg = {.kind = MSG_ARRIVING,
                          .arriving = {1 + i % 16, FIXTURE_CHUNK_BYTES}};

        hand_say(&pair.f->hand, pair.honest.bulk, &msg, NULL);
        both_live(&pair, 15 * SECOND);
    }
    CHECK(hub_ended(pair.f->hub));
    hub_fixture_destroy(&pair.f);
}

/* Where offers are chosen before they are granted, those that are there when
 * the time is up are. */
static void what_is_chosen_when_the_time_is_up_may_still_come(void)
{
    const struct msg_offer offer = {.exchange = 1, .samples = 1, .last = 1};
    struct pair pair = pair_of("lsgd");

    hub_fixture_stop(pair.f);
    fake_node_offer(pair.f, &pair.honest, &offer);
    CHECK_EQUAL(0, fake_node_heard(pair.f, &pair.honest, MSG_GRANT)
                       ->grant.exchange); /* that was the first centre */
    both_live(&pair, 11 * SECOND);
    CHECK_EQUAL(
        1, fake_node_heard(pair.f, &pair.honest, MSG_GRANT)->grant.exchange);
    CHECK(!hub_ended(pair.f->hub));
    fake_node_delivers_all(pair.f, &pair.honest, 1, 4);
    CHECK(ends_within(&pair, 2 * SECOND));
    CHECK_NEAR(4, (double)store.theta[0], 0);
    hub_fixture_destroy(&pair.f);
}

/* It came when rounds were going on, and brings nothing. */
static void who_is_new_and_brings_nothing_takes_nothing_from_last_offers(void)
{
    static const char *const names[] = {"mean", "median"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        struct pair pair = {.f = hub_fixture_new()};

        pair.f->config.policy = preset_find(names[i])->policy;
        store_lend(&store, pair.f);
        hub_fixture_open(pair.f);
        pair.honest = fake_node_comes(pair.f, "honest");
        fake_node_founds(pair.f, &pair.honest, 1);
        fake_node_offers(pair.f, &pair.honest, 1);
        fake_node_delivers_all(pair.f, &pair.honest, 1, 1);
        fake_node_returns(pair.f, &pair.honest, 1);
        CHECK_EQUAL(1, hub_fixture_look(pair.f)->version);
        pair.idle = fake_node_comes(pair.f, "idle");
        fake_node_says(pair.f, &pair.idle, MSG_CREDIT);
        fake_node_returns(pair.f, &pair.idle, 0);
        hub_fixture_stop(pair.f);
        fake_node_gives_last(pair.f, &pair.honest, 2, 8);
        CHECK(ends_within(&pair, 21 * SECOND));
        CHECK_NEAR(10, (double)store.theta[0], 0);
        hub_fixture_destroy(&pair.f);
    }
}

void add_hub_finish_held_tests(CU_pSuite suite)
{
    TEST(an_exchange_that_never_comes_keeps_nobody_from_its_last_offer);
    TEST(a_last_offer_that_has_begun_to_come_may_pause);
    TEST(a_last_offer_may_take_as_long_as_its_link_needs);
    TEST(a_node_that_leaves_may_be_silent_while_it_gives);
    TEST(a_last_offer_that_drips_is_cut);
    TEST(what_is_chosen_when_the_time_is_up_may_still_come);
    TEST(who_is_new_and_brings_nothing_takes_nothing_from_last_offers);
}
