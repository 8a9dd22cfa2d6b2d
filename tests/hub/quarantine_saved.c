/* A quarantine is the identity's: whatever process, or hub, comes next. */
#include <stdio.h>

#include "hub/quarantine.h"
#include "tests/check.h"
#include "tests/hub/kept_centre.h"

#define INFINITE 1e300 /* as a float */

enum { SERVED = 5 };

static struct store store;

/* An exchange of both, in which b gives this value, unless it is turned down,
 * which is returned. */
static bool both_give(struct hub_fixture *f, struct fake_node *a,
                      struct fake_node *b, uint64_t exchange, double value)
{
    bool down;

    hand_forget(&f->hand);
    fake_node_pings(f, a, exchange);
    fake_node_pings(f, b, exchange);
    fake_node_offers(f, a, exchange);
    fake_node_offers(f, b, exchange);
    down = fake_node_verdict(f, b, exchange, 0) == VERDICT_QUARANTINED;
    fake_node_delivers_all(f, a, exchange, 0.5);
    if (!down)
        fake_node_delivers_all(f, b, exchange, value);
    fake_node_returns(f, a, exchange);
    fake_node_returns(f, b, exchange);
    return down;
}

/* Opens a fixture where b has served so much of its first quarantine; the next
 * exchange. */
static uint64_t misbehave(struct hub_fixture *f, struct fake_node *a,
                          struct fake_node *b, unsigned served)
{
    uint64_t exchange = 0;

    *a = fake_node_alone(f);
    *b = fake_node_comes(f, "b");
    while (exchange < BAD_MOST)
        CHECK(!both_give(f, a, b, ++exchange, INFINITE));
    while (exchange < BAD_MOST + served)
        CHECK(both_give(f, a, b, ++exchange, 0.5));
    CHECK(hub_fixture_node(f, "b")->quarantined);
    return exchange + 1;
}

/* A new process of the node's node. */
static void starts_again(struct hub_fixture *f, struct fake_node *node)
{
    node->hello.incarnation++;
    node->hello.lineage = f->lineage;
    node->hello.run = 7;
    node->hello.base_version = hub_fixture_look(f)->version;
    fake_node_comes_again(f, node);
}

static void a_new_hub_goes_on_with_what_is_left(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;
    uint64_t exchange;
    struct why why;

    store_lend(&store, f);
    exchange = misbehave(f, &a, &b, SERVED);
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_CONTAINS("\nquarantine 11 16 ", store.state);
    hub_fixture_destroy(&f);
    f = hub_fixture_new();
    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    f->lineage = 5;
    starts_again(f, &a);
    starts_again(f, &b);
    for (unsigned i = 0; i < TERM_FIRST - SERVED; i++)
        CHECK(both_give(f, &a, &b, exchange++, 0.5));
    CHECK(!hub_fixture_node(f, "b")->quarantined);
    for (unsigned i = 0; i < BAD_MOST; i++)
        CHECK(!both_give(f, &a, &b, exchange++, INFINITE));
    CHECK_CONTAINS("next 32 exchanges",
                   hand_note(&f->hand, NOTE_QUARANTINED)->text);
    hub_fixture_destroy(&f);
}

/* b has come to the empty hub before that is given its centre. */
static void a_hub_learns_of_it_with_what_a_node_keeps(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct kept_centre kept;
    struct fake_node a, b;
    uint64_t exchange;

    exchange = misbehave(f, &a, &b, 0);
    fake_node_lives(f, &a, SECOND);
    CHECK(both_give(f, &a, &b, exchange++, 0.5));
    kept = kept_centre_of(f, &a);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.run = 1234;
    hub_fixture_open(f);
    a.hello.kept = 1 + kept.version;
    a.hello.epoch = kept.epoch;
    a.hello.kept_life = (uint32_t)epoch_life(kept.epoch);
    starts_again(f, &b);
    starts_again(f, &a);
    CHECK(!hub_fixture_node(f, "b")->quarantined);
    fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(7, hub_fixture_look(f)->run);
    CHECK(hub_fixture_node(f, "b")->quarantined);
    CHECK(both_give(f, &a, &b, exchange, 0.5));
    hub_fixture_destroy(&f);
}

static void a_term_that_makes_no_sense_is_refused(void)
{
    static const char *const lines[] = {
        "quarantine 16",        "quarantine 16 16",   "quarantine 16 16 x",
        "quarantine 16 16 3 4", "quarantine 17 16 3", "quarantine 0 0 3",
        "quarantine 1 257 3",   "quarantine -1 16 3", "quarantine 1 16 3 "};

    for (size_t i = 0; i <= sizeof lines / sizeof *lines; i++) {
        bool last = i == sizeof lines / sizeof *lines;
        struct hub_fixture *f = hub_fixture_new();
        const float theta[FIXTURE_ELEMENTS] = {0};
        char state[STATE_ROOM];
        struct hub_saved saved = {
            .schema = f->schema, .theta = theta, .state = state};
        struct why why = {""};

        (void)snprintf(state, sizeof state,
                       "run 7\nepoch 0\nversion 2\nlineage 5\nchunk 4\n"
                       "exact 0 0 0\nbest 1 0.5\nnode 1 1 1 0 0 b\n%s\n",
                       last ? "quarantine 16 16 3" : lines[i]);
        hub_fixture_open(f);
        CHECK_EQUAL(last, hub_restore(f->hub, &saved, &why) == STATUS_OK);
        if (!last)
            CHECK_CONTAINS("nodes is damaged", why.text);
        hub_fixture_destroy(&f);
    }
}

static void who_is_in_quarantine_is_forgotten_last(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b, c;

    f->config.most = 3;
    (void)misbehave(f, &a, &b, 0);
    c = fake_node_comes(f, "c");
    fake_node_breaks(f, &b);
    fake_node_breaks(f, &c);
    (void)fake_node_comes(f, "d");
    starts_again(f, &b);
    CHECK(hub_fixture_node(f, "b")->quarantined);
    fake_node_breaks(f, &b);
    (void)fake_node_comes(f, "e"); /* there is no other place */
    CHECK(hub_fixture_node(f, "b") == NULL);
    hub_fixture_destroy(&f);
}

void add_hub_quarantine_saved_tests(CU_pSuite suite)
{
    TEST(a_new_hub_goes_on_with_what_is_left);
    TEST(a_hub_learns_of_it_with_what_a_node_keeps);
    TEST(a_term_that_makes_no_sense_is_refused);
    TEST(who_is_in_quarantine_is_forgotten_last);
}
