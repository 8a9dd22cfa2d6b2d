/* Bad numbers, damage, and who takes no part for a while. */
#include "hub/quarantine.h"

#include <math.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

#define INFINITE 1e300 /* as a float */

/* Two nodes whose offers make rounds, the second of which may misbehave. */
struct pair {
    struct hub_fixture *f;
    struct fake_node good, bad;
    uint64_t exchange;
};

static struct pair pair_new(void)
{
    struct pair pair = {.f = hub_fixture_new()};

    pair.good = fake_node_alone(pair.f);
    pair.bad = fake_node_comes(pair.f, "b");
    return pair;
}

/* An exchange of both, in which the second one gives this value. */
static void both_give(struct pair *pair, double value)
{
    uint64_t exchange = ++pair->exchange;

    hand_forget(&pair->f->hand);
    fake_node_pings(pair->f, &pair->good, exchange);
    fake_node_pings(pair->f, &pair->bad, exchange);
    fake_node_offers(pair->f, &pair->good, exchange);
    fake_node_offers(pair->f, &pair->bad, exchange);
    fake_node_delivers_all(pair->f, &pair->good, exchange, 0.5);
    if (fake_node_verdict(pair->f, &pair->bad, exchange, 0) !=
        VERDICT_QUARANTINED)
        fake_node_delivers_all(pair->f, &pair->bad, exchange, value);
    fake_node_returns(pair->f, &pair->good, exchange);
    fake_node_returns(pair->f, &pair->bad, exchange);
}

static void give_bad(struct pair *pair, unsigned times)
{
    while (times--)
        both_give(pair, INFINITE);
}

static bool is_held(struct pair *pair)
{
    return hub_fixture_node(pair->f, "b")->quarantined;
}

/* How many exchanges of the second node are turned down. */
static unsigned term_of(struct pair *pair)
{
    unsigned term = 0;

    while (is_held(pair)) {
        both_give(pair, 0.5);
        term += fake_node_verdict(pair->f, &pair->bad, pair->exchange, 0) ==
                VERDICT_QUARANTINED;
    }
    return term;
}

static void the_third_bad_exchange_is_followed_by_sixteen_in_quarantine(void)
{
    struct pair pair = pair_new();

    give_bad(&pair, 2);
    CHECK(!is_held(&pair));
    CHECK(hand_note(&pair.f->hand, NOTE_QUARANTINED) == NULL);
    give_bad(&pair, 1);
    CHECK(is_held(&pair));
    CHECK_TEXT("b", hand_note(&pair.f->hand, NOTE_QUARANTINED)->subject);
    CHECK_EQUAL(TERM_FIRST, term_of(&pair));
    both_give(&pair, 0.5);
    CHECK_EQUAL(VERDICT_MERGED,
                fake_node_verdict(pair.f, &pair.bad, pair.exchange, 0));
    hub_fixture_destroy(&pair.f);
}

static void rounds_go_on_without_who_is_in_quarantine(void)
{
    struct pair pair = pair_new();
    uint64_t version;

    give_bad(&pair, 3);
    version = hub_fixture_look(pair.f)->version;
    fake_node_gives(pair.f, &pair.good, ++pair.exchange, 0.5);
    CHECK_EQUAL(version + 1, hub_fixture_look(pair.f)->version);
    CHECK_NEAR(3, fake_node_result(pair.f, &pair.good, pair.exchange, 0), 0);
    hub_fixture_destroy(&pair.f);
}

static void an_offer_that_waits_is_turned_down_with_the_third_bad_one(void)
{
    struct pair pair = pair_new();

    give_bad(&pair, 2);
    fake_node_offers(pair.f, &pair.good, 3);
    fake_node_offers(pair.f, &pair.bad, 3);
    fake_node_offers(pair.f, &pair.bad, 4);
    fake_node_delivers(pair.f, &pair.bad, 3, 0, INFINITE);
    CHECK_EQUAL(VERDICT_QUARANTINED,
                fake_node_verdict(pair.f, &pair.bad, 4, 0));
    fake_node_delivers_all(pair.f, &pair.good, 3, 0.5);
    CHECK_EQUAL(VERDICT_NONFINITE, fake_node_verdict(pair.f, &pair.bad, 3, 0));
    CHECK_EQUAL(VERDICT_QUARANTINED,
                fake_node_verdict(pair.f, &pair.bad, 3, 1));
    hub_fixture_destroy(&pair.f);
}

static void bad_exchanges_far_apart_are_forgiven(void)
{
    struct pair pair = pair_new();

    for (unsigned i = 0; i < 4; i++) {
        give_bad(&pair, 1);
        for (unsigned j = 0; j < BAD_SPAN / 2; j++)
            both_give(&pair, 0.5);
    }
    CHECK(!is_held(&pair));
    hub_fixture_destroy(&pair.f);
}

static void each_term_is_twice_as_long_as_the_one_before(void)
{
    static const unsigned terms[] = {16, 32, 64, 128, 256, 256};
    struct pair pair = pair_new();

    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        give_bad(&pair, BAD_MOST);
        CHECK_EQUAL(terms[i], term_of(&pair));
    }
    for (unsigned i = 0; i < TERM_MOST; i++)
        both_give(&pair, 0.5);
    give_bad(&pair, BAD_MOST);
    CHECK_EQUAL(TERM_FIRST, term_of(&pair));
    hub_fixture_destroy(&pair.f);
}

static void a_new_process_of_the_node_stays_in_quarantine(void)
{
    struct pair pair = pair_new();

    give_bad(&pair, 3);
    fake_node_breaks(pair.f, &pair.bad);
    pair.bad.hello.incarnation++;
    pair.bad.hello.lineage = pair.f->lineage;
    fake_node_comes_again(pair.f, &pair.bad);
    fake_node_offers(pair.f, &pair.bad, 1);
    CHECK(is_held(&pair));
    CHECK_EQUAL(VERDICT_QUARANTINED,
                fake_node_verdict(pair.f, &pair.bad, 1, 0));
    hub_fixture_destroy(&pair.f);
}

/* ---- energy ---- */

/* Announces a norm, delivers three chunks of four, four and two equal values,
 * and says how many are merged. */
static unsigned merged_of(double norm, const double *values)
{
    struct pair pair = pair_new();
    struct msg_offer offer = {.exchange = 1, .norm = norm};
    unsigned merged = 0;

    fake_node_offers(pair.f, &pair.good, 1);
    fake_node_offer(pair.f, &pair.bad, &offer);
    fake_node_delivers_all(pair.f, &pair.good, 1, 0.5);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        fake_node_delivers(pair.f, &pair.bad, 1, i, values[i]);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        merged += fake_node_verdict(pair.f, &pair.bad, 1, i) == VERDICT_MERGED;
    hub_fixture_destroy(&pair.f);
    return merged;
}

static void what_is_merged_is_never_larger_than_announced(void)
{
    const double even[] = {1, 1, 1}, first[] = {100, 0, 0},
                 last[] = {0, 0, 100}, much[] = {2, 2, 2};

    CHECK_EQUAL(3, merged_of(3.17, even));
    CHECK_EQUAL(3, merged_of(2.9, even)); /* rounding is spared */
    CHECK_EQUAL(2, merged_of(2.83, even));
    CHECK_EQUAL(1, merged_of(2, even));
    CHECK_EQUAL(0, merged_of(1, even));
    CHECK_EQUAL(0, merged_of(1, first));
    CHECK_EQUAL(2, merged_of(1, last));
    CHECK_EQUAL(1, merged_of(4, much));
}

static void what_is_not_finite_hides_no_energy(void)
{
    const double hidden[] = {(double)NAN, 100, 100};

    CHECK_EQUAL(0, merged_of(1, hidden));
}

static void more_energy_than_announced_is_a_bad_number(void)
{
    struct pair pair = pair_new();

    for (unsigned i = 0; i < 3; i++)
        both_give(&pair, 1e8);
    CHECK(is_held(&pair));
    hub_fixture_destroy(&pair.f);
}

/* ---- damage ---- */

/* One chunk whose checksum is wrong by this much. */
static void give_damaged(struct pair *pair, uint64_t exchange, uint32_t number,
                         uint64_t by)
{
    struct blob *payload =
        hand_floats(pair->f->hand.pool, hub_fixture_length(number), 0.5);
    struct msg_chunk chunk = {.exchange = exchange,
                              .chunk = number,
                              .checksum = payload->checksum + by};

    fake_node_chunk(pair->f, &pair->bad, &chunk, payload);
    blob_unref(&payload);
}

static void the_third_damaged_chunk_in_a_row_cuts_the_node(void)
{
    struct pair pair = pair_new();

    fake_node_offers(pair.f, &pair.bad, 1);
    give_damaged(&pair, 1, 0, 1);
    give_damaged(&pair, 1, 1, 1);
    CHECK(!hub_fixture_node(pair.f, "b")->gone);
    give_damaged(&pair, 1, 2, 1);
    CHECK_EQUAL(FAREWELL_OFFENCE, fake_node_farewell(pair.f, &pair.bad));
    CHECK(hub_fixture_node(pair.f, "b")->gone);
    CHECK(hand_dropped(&pair.f->hand, pair.bad.control));
    CHECK_CONTAINS("3 chunks in a row came damaged",
                   hand_note(&pair.f->hand, NOTE_OFFENCE)->text);
    CHECK(!is_held(&pair));
    hub_fixture_destroy(&pair.f);
}

static void damage_now_and_then_is_the_networks(void)
{
    struct pair pair = pair_new();

    for (uint64_t exchange = 1; exchange <= 8; exchange++) {
        fake_node_pings(pair.f, &pair.good, exchange);
        fake_node_pings(pair.f, &pair.bad, exchange);
        fake_node_offers(pair.f, &pair.good, exchange);
        fake_node_offers(pair.f, &pair.bad, exchange);
        fake_node_delivers_all(pair.f, &pair.good, exchange, 0.5);
        for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
            give_damaged(&pair, exchange, i, i < 2);
        CHECK_EQUAL(VERDICT_CORRUPT,
                    fake_node_verdict(pair.f, &pair.bad, exchange, 0));
        CHECK_EQUAL(VERDICT_MERGED,
                    fake_node_verdict(pair.f, &pair.bad, exchange, 2));
        fake_node_returns(pair.f, &pair.good, exchange);
        fake_node_returns(pair.f, &pair.bad, exchange);
    }
    CHECK(!is_held(&pair) && !hub_fixture_node(pair.f, "b")->gone);
    hub_fixture_destroy(&pair.f);
}

static void a_payload_that_was_made_wrong_is_no_damage(void)
{
    struct pair pair = pair_new();

    for (uint64_t exchange = 1; exchange <= 3; exchange++) {
        struct blob *payload = hand_floats(pair.f->hand.pool, 3, 0.5);
        struct msg_chunk chunk = {.exchange = exchange,
                                  .checksum = payload->checksum};

        fake_node_offers(pair.f, &pair.bad, exchange);
        fake_node_chunk(pair.f, &pair.bad, &chunk, payload);
        blob_unref(&payload);
        fake_node_gives(pair.f, &pair.good, exchange, 0.5);
        fake_node_delivers(pair.f, &pair.bad, exchange, 1, 0.5);
        fake_node_delivers(pair.f, &pair.bad, exchange, 2, 0.5);
        fake_node_returns(pair.f, &pair.good, exchange);
        fake_node_returns(pair.f, &pair.bad, exchange);
    }
    CHECK(is_held(&pair));
    CHECK(!hub_fixture_node(pair.f, "b")->gone);
    hub_fixture_destroy(&pair.f);
}

/* ---- one name, two processes ---- */

/* Another process of the name comes while this one is here. */
static void replace(struct pair *pair, nanos later)
{
    hand_wait(&pair->f->hand, later);
    pair->bad.hello.incarnation++;
    pair->bad.hello.lineage = pair->f->lineage;
    fake_node_comes_again(pair->f, &pair->bad);
    fake_node_pings(pair->f, &pair->good, 1);
}

static void two_that_replace_each_other_again_and_again_are_quarantined(void)
{
    struct pair pair = pair_new();

    for (unsigned i = 0; i < FLAPS_MOST; i++)
        replace(&pair, SECOND);
    CHECK(!is_held(&pair));
    replace(&pair, SECOND);
    CHECK(is_held(&pair));
    CHECK_CONTAINS("replace each other",
                   hand_note(&pair.f->hand, NOTE_QUARANTINED)->text);
    fake_node_offers(pair.f, &pair.bad, 1);
    CHECK_EQUAL(VERDICT_QUARANTINED,
                fake_node_verdict(pair.f, &pair.bad, 1, 0));
    hub_fixture_destroy(&pair.f);
}

static void who_is_replaced_now_and_then_is_not_quarantined(void)
{
    struct pair pair = pair_new();

    for (unsigned i = 0; i < 8; i++)
        replace(&pair, 25 * SECOND);
    CHECK(!is_held(&pair));
    hub_fixture_destroy(&pair.f);
}

void add_hub_quarantine_tests(CU_pSuite suite)
{
    TEST(the_third_bad_exchange_is_followed_by_sixteen_in_quarantine);
    TEST(rounds_go_on_without_who_is_in_quarantine);
    TEST(an_offer_that_waits_is_turned_down_with_the_third_bad_one);
    TEST(bad_exchanges_far_apart_are_forgiven);
    TEST(each_term_is_twice_as_long_as_the_one_before);
    TEST(a_new_process_of_the_node_stays_in_quarantine);
    TEST(what_is_merged_is_never_larger_than_announced);
    TEST(what_is_not_finite_hides_no_energy);
    TEST(more_energy_than_announced_is_a_bad_number);
    TEST(the_third_damaged_chunk_in_a_row_cuts_the_node);
    TEST(damage_now_and_then_is_the_networks);
    TEST(a_payload_that_was_made_wrong_is_no_damage);
    TEST(two_that_replace_each_other_again_and_again_are_quarantined);
    TEST(who_is_replaced_now_and_then_is_not_quarantined);
}
