/* A Byzantine node in the last round has one vote, however much it offers. */
#include <math.h>

#include "tests/check.h"
#include "tests/hub/store.h"

enum { HONEST = 3, ROUNDS = 4 };

static struct store store;

/* Of ten equal values; its length is stated as it is. */
static void gives(struct bench *bench, struct guest *guest, uint64_t exchange,
                  double value, bool last)
{
    struct msg_offer offer = {.exchange = exchange,
                              .base_version = bench_look(bench)->version,
                              .samples = 1,
                              .norm = fabs(value) * sqrt(BENCH_ELEMENTS),
                              .last = last,
                              .score = NO_SCORE};

    guest_offer(bench, guest, &offer);
    guest_delivers_all(bench, guest, exchange, value);
    guest_returns(bench, guest, exchange);
}

/* Four guests have made rounds in step, and the run ends. */
static struct bench *near_the_end(const char *preset,
                                  struct guest guests[HONEST + 1])
{
    static const char *const names[] = {"a", "b", "c", "liar"};
    struct bench *bench = bench_new();

    bench->config.policy = preset_find(preset)->policy;
    store_lend(&store, bench);
    bench_open(bench);
    for (unsigned i = 0; i <= HONEST; i++)
        guests[i] = guest_comes(bench, names[i]);
    guest_founds(bench, &guests[0], 1);
    for (uint64_t round = 1; round <= ROUNDS; round++)
        for (unsigned i = 0; i <= HONEST; i++)
            gives(bench, &guests[i], round, 1, false);
    CHECK_EQUAL(ROUNDS, bench_look(bench)->version);
    return bench;
}

/* The first value that is saved when the fourth makes so many offers more, all
 * of this value. */
static double end_of(const char *preset, unsigned offers, double value)
{
    struct guest guests[HONEST + 1];
    struct bench *bench = near_the_end(preset, guests);

    bench_stop(bench);
    for (unsigned i = 1; i <= offers; i++)
        gives(bench, &guests[HONEST], ROUNDS + i, value, i == offers);
    for (unsigned i = 0; i < HONEST; i++)
        gives(bench, &guests[i], ROUNDS + 1, 1, true);
    for (unsigned i = 0; !hub_ended(bench->hub) && i < 400; i++)
        for (unsigned j = 0; j <= HONEST; j++)
            guest_lives(bench, &guests[j], 125 * MILLISECOND);
    CHECK(hub_ended(bench->hub));
    bench_destroy(&bench);
    return (double)store.theta[0];
}

static void one_byzantine_node_of_four_has_one_vote_in_the_last_round(void)
{
    static const char *const rules[] = {"robust", "median", "trimmed",
                                        "krum",   "clip",   "diloco"};
    static const unsigned offers[] = {1, 8, 200};

    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++) {
        double honest = end_of(rules[i], 1, 1);

        CHECK(honest >= 1 + ROUNDS + 1);
        for (unsigned j = 0; j < 3; j++) {
            double away = end_of(rules[i], offers[j], -1e4) - honest;

            CHECK(fabs(away) <= 2);
            CHECK_NEAR(end_of(rules[i], 1, -1e4) - honest, away, 0);
        }
    }
}

/* What it offers after its last offer is turned down, and before it goes back
 * to it. */
static void whoever_has_been_called_gives_its_last_offer_only(void)
{
    struct guest guests[HONEST + 1];
    struct bench *bench = near_the_end("mean", guests);

    guest_offers(bench, &guests[0], ROUNDS + 1);
    guest_delivers(bench, &guests[0], ROUNDS + 1, 0, 5);
    bench_stop(bench);
    CHECK_EQUAL(VERDICT_SUPERSEDED,
                guest_verdict(bench, &guests[0], ROUNDS + 1, 0));
    guest_offers(bench, &guests[0], ROUNDS + 2);
    CHECK_EQUAL(VERDICT_SUPERSEDED,
                guest_verdict(bench, &guests[0], ROUNDS + 2, 0));
    gives(bench, &guests[0], ROUNDS + 3, 1, true);
    gives(bench, &guests[0], ROUNDS + 4, 9, true);
    CHECK_EQUAL(VERDICT_SUPERSEDED,
                guest_verdict(bench, &guests[0], ROUNDS + 4, 0));
    for (unsigned i = 1; i <= HONEST; i++)
        gives(bench, &guests[i], ROUNDS + 1, 1, true);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(1 + ROUNDS + 1, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

/* One has gone when another life begins, with a Byzantine node or with
 * momentum. */
static struct bench *another_life(const char *preset, struct guest *one)
{
    struct guest guests[HONEST + 1];
    struct bench *bench = near_the_end(preset, guests), *next = bench_new();
    struct store before;
    struct hub_saved saved;
    struct why why;

    for (unsigned i = 0; i <= HONEST; i++)
        guest_lives(bench, &guests[i], 11 * SECOND);
    CHECK_EQUAL(ROUNDS, store.version);
    before = store;
    bench_destroy(&bench);
    next->config.policy = preset_find(preset)->policy;
    store_lend(&store, next);
    bench_open(next);
    saved = (struct hub_saved){.schema = next->schema,
                               .theta = before.theta,
                               .slot = {before.slot[0], before.slot[1]},
                               .state = before.state};
    CHECK_OK(hub_restore(next->hub, &saved, &why));
    *one = guests[HONEST];
    one->hello.run = 7;
    one->hello.base_version = ROUNDS;
    guest_comes_again(next, one);
    guest_lives(next, one, 3 * SECOND);
    return next;
}

static void the_first_of_another_life_is_measured_by_those_before(void)
{
    struct guest byzantine;
    struct bench *bench = another_life("clip", &byzantine);

    gives(bench, &byzantine, ROUNDS + 1, 1e20, false);
    CHECK_NEAR(1 + ROUNDS + 2, guest_result(bench, &byzantine, ROUNDS + 1, 0),
               1e-5);
    bench_destroy(&bench);
}

/* theta += lr mu m, and m = mu m (1 / 4): three of four are gone. */
static void one_that_is_left_of_four_goes_on_with_its_part_of_the_momentum(void)
{
    struct guest one;
    struct bench *bench = another_life("diloco", &one);
    double velocity = 0, before = 1;

    for (unsigned i = 0; i < ROUNDS; i++) {
        velocity = 0.9 * velocity + 1;
        before += 0.7 * (1 + 0.9 * velocity);
    }
    gives(bench, &one, ROUNDS + 1, 0, false);
    CHECK_NEAR(before + 0.7 * 0.9 * 0.9 * velocity / 4,
               guest_result(bench, &one, ROUNDS + 1, 0), 1e-4);
    bench_destroy(&bench);
}

/* Three nodes, one of which may be bad, cannot be compared by Krum. */
static void krum_says_when_there_are_too_few_to_compare(void)
{
    struct bench *bench = bench_new();
    struct guest guests[HONEST + 1];
    const struct note *note;

    bench->config.policy = preset_find("krum")->policy;
    bench_open(bench);
    for (unsigned i = 0; i < HONEST; i++)
        guests[i] = guest_comes(bench, i == 0 ? "a" : i == 1 ? "b" : "c");
    guest_founds(bench, &guests[0], 1);
    for (unsigned i = 0; i < HONEST; i++)
        gives(bench, &guests[i], 1, 1, false);
    note = hand_note(&bench->hand, NOTE_TOO_FEW);
    if (CHECK(note != NULL))
        CHECK_CONTAINS("--reduce krum compares 4 updates at least, and "
                       "there are 3",
                       note->text);
    bench_destroy(&bench);
    bench = near_the_end("krum", guests);
    CHECK(!hand_note(&bench->hand, NOTE_TOO_FEW));
    note = hand_note(&bench->hand, NOTE_DECLINED);
    if (CHECK(note != NULL))
        CHECK_CONTAINS("further from the others", note->text);
    bench_destroy(&bench);
}

void add_hub_last_round_tests(CU_pSuite suite)
{
    TEST(one_byzantine_node_of_four_has_one_vote_in_the_last_round);
    TEST(whoever_has_been_called_gives_its_last_offer_only);
    TEST(the_first_of_another_life_is_measured_by_those_before);
    TEST(one_that_is_left_of_four_goes_on_with_its_part_of_the_momentum);
    TEST(krum_says_when_there_are_too_few_to_compare);
}
