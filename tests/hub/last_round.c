/* A Byzantine node in the last round has one vote, however much it offers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/hub/store.h"

enum { HONEST = 3, ROUNDS = 4 };

static struct store store;

/* Of ten equal values; its length is stated as it is. */
static void gives(struct hub_fixture *f, struct fake_node *node,
                  uint64_t exchange, double value, bool last)
{
    struct msg_offer offer = {.exchange = exchange,
                              .base_version = hub_fixture_look(f)->version,
                              .samples = 1,
                              .norm = fabs(value) * sqrt(FIXTURE_ELEMENTS),
                              .last = last,
                              .score = NO_SCORE};

    fake_node_offer(f, node, &offer);
    fake_node_delivers_all(f, node, exchange, value);
    fake_node_returns(f, node, exchange);
}

/* Four nodes have made rounds in step, and the run ends. */
static struct hub_fixture *near_the_end(const char *preset,
                                        struct fake_node nodes[HONEST + 1])
{
    static const char *const names[] = {"a", "b", "c", "liar"};
    struct hub_fixture *f = hub_fixture_new();

    f->config.policy = preset_find(preset)->policy;
    store_lend(&store, f);
    hub_fixture_open(f);
    for (unsigned i = 0; i <= HONEST; i++)
        nodes[i] = fake_node_comes(f, names[i]);
    fake_node_founds(f, &nodes[0], 1);
    for (uint64_t round = 1; round <= ROUNDS; round++)
        for (unsigned i = 0; i <= HONEST; i++)
            gives(f, &nodes[i], round, 1, false);
    CHECK_EQUAL(ROUNDS, hub_fixture_look(f)->version);
    return f;
}

/* The first value that is saved when the fourth makes so many offers more, all
 * of this value. */
static double end_of(const char *preset, unsigned offers, double value)
{
    struct fake_node nodes[HONEST + 1];
    struct hub_fixture *f = near_the_end(preset, nodes);

    hub_fixture_stop(f);
    for (unsigned i = 1; i <= offers; i++)
        gives(f, &nodes[HONEST], ROUNDS + i, value, i == offers);
    for (unsigned i = 0; i < HONEST; i++)
        gives(f, &nodes[i], ROUNDS + 1, 1, true);
    for (unsigned i = 0; !hub_ended(f->hub) && i < 400; i++)
        for (unsigned j = 0; j <= HONEST; j++)
            fake_node_lives(f, &nodes[j], 125 * MILLISECOND);
    CHECK(hub_ended(f->hub));
    hub_fixture_destroy(&f);
    return (double)store.theta[0];
}

static void one_byzantine_node_of_four_has_one_vote_in_the_last_round(void)
{
    static const char *const rules[] = {"robust", "median", "trimmed",
                                        "krum",   "auto",   "diloco"};
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
    struct fake_node nodes[HONEST + 1];
    struct hub_fixture *f = near_the_end("mean", nodes);

    fake_node_offers(f, &nodes[0], ROUNDS + 1);
    fake_node_delivers(f, &nodes[0], ROUNDS + 1, 0, 5);
    hub_fixture_stop(f);
    CHECK_EQUAL(VERDICT_SUPERSEDED,
                fake_node_verdict(f, &nodes[0], ROUNDS + 1, 0));
    fake_node_offers(f, &nodes[0], ROUNDS + 2);
    CHECK_EQUAL(VERDICT_SUPERSEDED,
                fake_node_verdict(f, &nodes[0], ROUNDS + 2, 0));
    gives(f, &nodes[0], ROUNDS + 3, 1, true);
    gives(f, &nodes[0], ROUNDS + 4, 9, true);
    CHECK_EQUAL(VERDICT_SUPERSEDED,
                fake_node_verdict(f, &nodes[0], ROUNDS + 4, 0));
    for (unsigned i = 1; i <= HONEST; i++)
        gives(f, &nodes[i], ROUNDS + 1, 1, true);
    CHECK(hub_ended(f->hub));
    CHECK_NEAR(1 + ROUNDS + 1, (double)store.theta[0], 0);
    hub_fixture_destroy(&f);
}

/* One has gone when another life begins, with a Byzantine node or with
 * momentum. */
static struct hub_fixture *another_life(const char *preset,
                                        struct fake_node *one)
{
    struct fake_node nodes[HONEST + 1];
    struct hub_fixture *f = near_the_end(preset, nodes),
                       *next = hub_fixture_new();
    struct store before;
    struct hub_saved saved;
    struct why why;

    for (unsigned i = 0; i <= HONEST; i++)
        fake_node_lives(f, &nodes[i], 11 * SECOND);
    CHECK_EQUAL(ROUNDS, store.version);
    before = store;
    hub_fixture_destroy(&f);
    next->config.policy = preset_find(preset)->policy;
    store_lend(&store, next);
    hub_fixture_open(next);
    saved = (struct hub_saved){.schema = next->schema,
                               .theta = before.theta,
                               .slot = {before.slot[0], before.slot[1]},
                               .state = before.state};
    CHECK_OK(hub_restore(next->hub, &saved, &why));
    *one = nodes[HONEST];
    one->hello.run = 7;
    one->hello.base_version = ROUNDS;
    fake_node_comes_again(next, one);
    fake_node_lives(next, one, 3 * SECOND);
    return next;
}

static double saved_usual(void)
{
    const char *line = strstr(store.state, "\nusual ");
    uint64_t bits = line ? strtoull(line + 7, NULL, 10) : 0;
    double usual;

    memcpy(&usual, &bits, sizeof usual);
    return usual;
}

/* Cut to twice what was usual. The centre is between z and the mean x; of those
 * who gave the updates before, one is left of four; nine tenths of the others
 * count on, and its step is short by as much. */
static void the_first_of_another_life_is_measured_by_those_before(void)
{
    struct fake_node byzantine;
    struct hub_fixture *f = another_life("auto", &byzantine);
    double z = 1, x = 1, nodes = 1 + 0.9 * HONEST;

    for (unsigned t = 1; t <= ROUNDS; t++) {
        z += 1.25;
        x += 20. / (t + 19) * (z - x);
    }
    for (unsigned more = 1; more <= 2; more++) {
        z += 1.25 * (more == 1 ? 2 : 1) / nodes;
        x += 20 / (20 + (4 * ROUNDS + more - 1) / nodes) / nodes * (z - x);
        gives(f, &byzantine, ROUNDS + more, more == 1 ? 1e20 : 1, false);
        CHECK_NEAR((z + x) / 2,
                   fake_node_result(f, &byzantine, ROUNDS + more, 0), 1e-5);
        nodes = 1 + 0.9 * (nodes - 1);
    }
    fake_node_lives(f, &byzantine, 11 * SECOND);
    CHECK_NEAR(1 + (nodes - 1) / 0.9, saved_usual(), 1e-9);
    hub_fixture_destroy(&f);
}

/* theta += lr mu m, and m = mu m (1 / 4): three of four are gone. */
static void one_that_is_left_of_four_goes_on_with_its_part_of_the_momentum(void)
{
    struct fake_node one;
    struct hub_fixture *f = another_life("diloco", &one);
    double velocity = 0, before = 1;

    for (unsigned i = 0; i < ROUNDS; i++) {
        velocity = 0.9 * velocity + 1;
        before += 0.7 * (1 + 0.9 * velocity);
    }
    gives(f, &one, ROUNDS + 1, 0, false);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(before + 0.7 * 0.9 * 0.9 * velocity / 4,
                   fake_node_result(f, &one, ROUNDS + 1, i), 1e-4);
    hub_fixture_destroy(&f);
}

/* Three nodes, one of which may be bad, cannot be compared by Krum. */
static void krum_says_when_there_are_too_few_to_compare(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node nodes[HONEST + 1];
    const struct note *note;

    f->config.policy = preset_find("krum")->policy;
    hub_fixture_open(f);
    for (unsigned i = 0; i < HONEST; i++)
        nodes[i] = fake_node_comes(f, i == 0 ? "a" : i == 1 ? "b" : "c");
    fake_node_founds(f, &nodes[0], 1);
    for (unsigned i = 0; i < HONEST; i++)
        gives(f, &nodes[i], 1, 1, false);
    note = hand_note(&f->hand, NOTE_TOO_FEW);
    if (CHECK(note != NULL))
        CHECK_CONTAINS("--reduce krum compares 4 updates at least, and "
                       "there are 3",
                       note->text);
    hub_fixture_destroy(&f);
    f = near_the_end("krum", nodes);
    CHECK(!hand_note(&f->hand, NOTE_TOO_FEW));
    note = hand_note(&f->hand, NOTE_DECLINED);
    if (CHECK(note != NULL))
        CHECK_CONTAINS("further from the others", note->text);
    hub_fixture_destroy(&f);
}

void add_hub_last_round_tests(CU_pSuite suite)
{
    TEST(one_byzantine_node_of_four_has_one_vote_in_the_last_round);
    TEST(whoever_has_been_called_gives_its_last_offer_only);
    TEST(the_first_of_another_life_is_measured_by_those_before);
    TEST(one_that_is_left_of_four_goes_on_with_its_part_of_the_momentum);
    TEST(krum_says_when_there_are_too_few_to_compare);
}
