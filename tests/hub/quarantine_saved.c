/* A quarantine is the identity's: whatever process, or hub, comes next. */
#include <stdio.h>

#include "hub/quarantine.h"
#include "tests/check.h"
#include "tests/hub/treasure.h"

#define INFINITE 1e300 /* as a float */

enum { SERVED = 5 };

static struct store store;

/* An exchange of both, in which b gives this value, unless it is turned down,
 * which is returned. */
static bool both_give(struct bench *bench, struct guest *a, struct guest *b,
                      uint64_t exchange, double value)
{
    bool down;

    hand_forget(&bench->hand);
    guest_pings(bench, a, exchange);
    guest_pings(bench, b, exchange);
    guest_offers(bench, a, exchange);
    guest_offers(bench, b, exchange);
    down = guest_verdict(bench, b, exchange, 0) == VERDICT_QUARANTINED;
    guest_delivers_all(bench, a, exchange, 0.5);
    if (!down)
        guest_delivers_all(bench, b, exchange, value);
    guest_returns(bench, a, exchange);
    guest_returns(bench, b, exchange);
    return down;
}

/* Opens a bench where b has served so much of its first quarantine; the next
 * exchange. */
static uint64_t misbehave(struct bench *bench, struct guest *a, struct guest *b,
                          unsigned served)
{
    uint64_t exchange = 0;

    *a = guest_alone(bench);
    *b = guest_comes(bench, "b");
    while (exchange < BAD_MOST)
        CHECK(!both_give(bench, a, b, ++exchange, INFINITE));
    while (exchange < BAD_MOST + served)
        CHECK(both_give(bench, a, b, ++exchange, 0.5));
    CHECK(bench_node(bench, "b")->quarantined);
    return exchange + 1;
}

/* A new process of the guest's node. */
static void starts_again(struct bench *bench, struct guest *guest)
{
    guest->hello.incarnation++;
    guest->hello.lineage = bench->lineage;
    guest->hello.run = 7;
    guest->hello.base_version = bench_look(bench)->version;
    guest_comes_again(bench, guest);
}

static void a_new_hub_goes_on_with_what_is_left(void)
{
    struct bench *bench = bench_new();
    struct hub_saved saved = {.theta = store.theta, .state = store.state};
    struct guest a, b;
    uint64_t exchange;
    struct why why;

    store_lend(&store, bench);
    exchange = misbehave(bench, &a, &b, SERVED);
    guest_lives(bench, &a, 12 * SECOND);
    CHECK_CONTAINS(" b\nquarantine 11 16 ", store.state);
    bench_destroy(&bench);
    bench = bench_new();
    saved.schema = bench->schema;
    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    bench->lineage = 5;
    starts_again(bench, &a);
    starts_again(bench, &b);
    for (unsigned i = 0; i < TERM_FIRST - SERVED; i++)
        CHECK(both_give(bench, &a, &b, exchange++, 0.5));
    CHECK(!bench_node(bench, "b")->quarantined);
    for (unsigned i = 0; i < BAD_MOST; i++)
        CHECK(!both_give(bench, &a, &b, exchange++, INFINITE));
    CHECK_CONTAINS("next 32 exchanges",
                   hand_note(&bench->hand, NOTE_QUARANTINED)->text);
    bench_destroy(&bench);
}

/* b has come to the empty hub before that is given its centre. */
static void a_hub_learns_of_it_with_what_a_node_keeps(void)
{
    struct bench *bench = treasure_life(&store);
    struct treasure treasure;
    struct guest a, b;
    uint64_t exchange;

    exchange = misbehave(bench, &a, &b, 0);
    guest_lives(bench, &a, SECOND);
    CHECK(both_give(bench, &a, &b, exchange++, 0.5));
    treasure = treasure_of(bench, &a);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench_open(bench);
    a.hello.kept = 1 + treasure.version;
    a.hello.epoch = treasure.epoch;
    a.hello.kept_life = (uint32_t)epoch_life(treasure.epoch);
    starts_again(bench, &b);
    starts_again(bench, &a);
    CHECK(!bench_node(bench, "b")->quarantined);
    guest_lives(bench, &a, HUB_RECOVERY + SECOND);
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK(bench_node(bench, "b")->quarantined);
    CHECK(both_give(bench, &a, &b, exchange, 0.5));
    bench_destroy(&bench);
}

static void a_term_that_makes_no_sense_is_refused(void)
{
    static const char *const lines[] = {
        "quarantine 16",        "quarantine 16 16",   "quarantine 16 16 x",
        "quarantine 16 16 3 4", "quarantine 17 16 3", "quarantine 0 0 3",
        "quarantine 1 257 3",   "quarantine -1 16 3", "quarantine 1 16 3 "};

    for (size_t i = 0; i <= sizeof lines / sizeof *lines; i++) {
        bool last = i == sizeof lines / sizeof *lines;
        struct bench *bench = bench_new();
        const float theta[BENCH_ELEMENTS] = {0};
        char state[STATE_ROOM];
        struct hub_saved saved = {
            .schema = bench->schema, .theta = theta, .state = state};
        struct why why = {""};

        (void)snprintf(state, sizeof state,
                       "run 7\nepoch 0\nversion 2\nlineage 5\nchunk 4\n"
                       "exact 0 0 0\nbest 1 0.5\nnode 1 1 1 0 0 b\n%s\n",
                       last ? "quarantine 16 16 3" : lines[i]);
        bench_open(bench);
        CHECK_EQUAL(last, hub_restore(bench->hub, &saved, &why) == STATUS_OK);
        if (!last)
            CHECK_CONTAINS("nodes is damaged", why.text);
        bench_destroy(&bench);
    }
}

static void who_is_in_quarantine_is_forgotten_last(void)
{
    struct bench *bench = bench_new();
    struct guest a, b, c;

    bench->config.most = 3;
    (void)misbehave(bench, &a, &b, 0);
    c = guest_comes(bench, "c");
    guest_breaks(bench, &b);
    guest_breaks(bench, &c);
    (void)guest_comes(bench, "d");
    starts_again(bench, &b);
    CHECK(bench_node(bench, "b")->quarantined);
    guest_breaks(bench, &b);
    (void)guest_comes(bench, "e"); /* there is no other place */
    CHECK(bench_node(bench, "b") == NULL);
    bench_destroy(&bench);
}

void add_hub_quarantine_saved_tests(CU_pSuite suite)
{
    TEST(a_new_hub_goes_on_with_what_is_left);
    TEST(a_hub_learns_of_it_with_what_a_node_keeps);
    TEST(a_term_that_makes_no_sense_is_refused);
    TEST(who_is_in_quarantine_is_forgotten_last);
}
