#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store, second;

static void a_hub_goes_on_where_it_was_saved(void)
{
    struct fake_node a = store_filled(&store, "a");
    struct hub_fixture *f = hub_fixture_new();
    const struct hub_view *view;
    struct why why;

    f->config.run = 99;
    store_lend(&second, f);
    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    view = hub_fixture_look(f);
    CHECK_EQUAL(7, view->run);
    CHECK(view->founded && view->version == 2);
    CHECK_NEAR(1.0 / 3, view->best_score, 0);
    CHECK_NEAR(2.0 / 3, view->best_accuracy, 0);
    CHECK_EQUAL(1, view->count);
    CHECK_TEXT("a", view->nodes[0].name);
    CHECK(view->nodes[0].gone);
    CHECK(view->nodes[0].accuracy < 0);
    CHECK(!(view->nodes[0].loss < NO_SCORE));

    a.hello.run = 7;
    a.hello.base_version = 2;
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GO, fake_node_heard(f, &a, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(2, fake_node_heard(f, &a, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(1, hub_fixture_look(f)->count);
    fake_node_offers(f, &a, 2);
    CHECK_EQUAL(VERDICT_DUPLICATE, fake_node_verdict(f, &a, 2, 0));
    fake_node_gives(f, &a, 3, 0.5);
    CHECK_NEAR(2.5, fake_node_result(f, &a, 3, 2), 0);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(3, fake_node_heard(f, &a, MSG_PONG)->pong.samples);
    hub_fixture_destroy(&f);
}

/* It had a hub for ten seconds when it was saved. */
static void the_time_of_a_run_goes_on_with_it(void)
{
    struct hub_fixture *f;
    struct why why;

    (void)store_filled(&store, "a");
    f = hub_fixture_new();
    f->config.time = 20 * SECOND;
    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    hand_wait(&f->hand, 5 * SECOND);
    CHECK(!hub_fixture_look(f)->ending);
    CHECK(hub_fixture_look(f)->run_time > 12 * SECOND);
    hand_wait(&f->hand, 7 * SECOND);
    CHECK_TEXT("the time is over", hub_fixture_look(f)->reason);
    hub_fixture_destroy(&f);
}

static void a_stranger_takes_the_restored_centre(void)
{
    struct hub_fixture *f;
    struct fake_node b;
    struct why why;

    (void)store_filled(&store, "a");
    f = hub_fixture_new();
    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    b = fake_node_other(f);
    fake_node_lives(f, &b, 3 * SECOND); /* a may come back with more */
    fake_node_credits(f, &b, 0, 0);
    CHECK_EQUAL(START_TAKE, fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    CHECK_NEAR(2, fake_node_result(f, &b, 0, 0), 0);
    hub_fixture_destroy(&f);
}

static void a_state_that_is_cut_short_is_refused(void)
{
    size_t length, head;
    struct why why;

    (void)store_filled(&store, "a");
    length = strlen(store.state);
    head = (size_t)(strstr(store.state, "best ") - store.state) + 5;
    for (size_t i = 0; i < length - 2; i++) {
        struct hub_fixture *f = hub_fixture_new();
        char state[STATE_ROOM];
        enum status status;

        memcpy(state, store.state, i);
        state[i] = '\0';
        hub_fixture_open(f);
        status = store_restore(&store, f, state, &why);
        if (i <= head)
            CHECK_STATUS(STATUS_MALFORMED, status);
        if (status != STATUS_OK)
            CHECK_CONTAINS("damaged", why.text);
        CHECK_EQUAL(status == STATUS_OK, hub_fixture_look(f)->founded);
        hub_fixture_destroy(&f);
    }
}

static void a_state_with_a_wrong_byte_is_refused_or_makes_sense(void)
{
    struct prng prng;

    (void)store_filled(&store, "a");
    prng_seed(&prng, 1);
    for (unsigned i = 0; i < 2000; i++) {
        struct hub_fixture *f = hub_fixture_new();
        char state[STATE_ROOM];
        struct why why;

        memcpy(state, store.state, sizeof state);
        state[prng_below(&prng, strlen(state))] =
            (char)(1 + prng_below(&prng, 255));
        hub_fixture_open(f);
        (void)store_restore(&store, f, state, &why);
        if (hub_check(f->hub))
            CHECK_TEXT(NULL, hub_check(f->hub));
        (void)hub_fixture_look(f);
        hub_fixture_destroy(&f);
    }
}

static void a_failed_restore_changes_nothing(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    struct why why;

    hub_fixture_open(f);
    CHECK_STATUS(STATUS_MALFORMED,
                 store_restore(&store, f, "run 3\nepoch 9\nversion 8\n", &why));
    CHECK_EQUAL(7, hub_fixture_look(f)->run);
    CHECK_EQUAL(0, hub_fixture_look(f)->version);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    hub_fixture_destroy(&f);
}

static void names_of_any_bytes_can_be_saved(void)
{
    static const char cut[] = "a name of more than forty bytes: it is cut";
    static const char *const names[] = {"",          " ",
                                        "two words", "\n",
                                        "run 7",     "\x7f\x01\xff",
                                        "%s%n",      "a\nnode 1 2 3 4 evil",
                                        cut};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct hub_fixture *f = hub_fixture_new();
        struct why why;

        (void)store_filled(&store, names[i]);
        hub_fixture_open(f);
        CHECK_OK(store_restore(&store, f, store.state, &why));
        CHECK_EQUAL(1, hub_fixture_look(f)->count);
        hub_fixture_destroy(&f);
    }
}

/* ---- what merge rules keep ---- */

enum { GIVEN = 4, LOST_OF_B = 2 };

/* A run of a and b, one offer after the other; from each of them there are
 * GIVEN, and what b gives as its second lacks its chunk 1. Offer number 3 (from
 * 0) is in the middle of a period of `delayed` in that chunk alone. */
static void play(struct hub_fixture *f, struct fake_node nodes[2],
                 unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct fake_node *node = &nodes[i % 2];
        uint64_t exchange = i / 2 + 1;
        double value = 0.3 + 0.7 * i;

        fake_node_offers(f, node, exchange);
        for (uint32_t j = 0; j < FIXTURE_CHUNKS; j++)
            fake_node_delivers(f, node, exchange, j,
                               i % 2 && exchange == LOST_OF_B && j == 1
                                   ? (double)NAN
                                   : value / (1 + j));
    }
    fake_node_lives(f, &nodes[0], 500 * MILLISECOND);
    fake_node_pings(f, &nodes[1], 1);
}

static struct hub_fixture *hub_fixture_with(const struct merge_rule *merge)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.policy.gate = &gate_async;
    f->config.policy.merge = merge;
    f->config.policy.numbers.outer_lr = 0.7;
    f->config.policy.numbers.outer_momentum = 0.9;
    f->config.policy.numbers.early = 0.2;
    f->config.staleness = 100;
    f->config.save_interval = 100 * MILLISECOND;
    f->config.nodes = 2;
    return f;
}

static struct hub_fixture *begin(const struct merge_rule *merge,
                                 struct fake_node nodes[2])
{
    struct hub_fixture *f = hub_fixture_with(merge);

    store_lend(&store, f);
    hub_fixture_open(f);
    nodes[0] = fake_node_comes(f, "a");
    fake_node_founds(f, &nodes[0], 1);
    nodes[1] = fake_node_comes(f, "b");
    return f;
}

/* Another hub goes on with what the store holds, by a rule of its own. */
static struct hub_fixture *go_on(const struct merge_rule *merge,
                                 struct fake_node nodes[2])
{
    struct hub_fixture *f = hub_fixture_with(merge);
    struct store before = store;
    struct hub_saved saved = {
        .schema = f->schema, .theta = before.theta, .state = before.state};
    struct why why;

    for (unsigned i = 0; i < before.slots; i++)
        saved.slot[i] = before.slot[i];
    store_lend(&store, f);
    hub_fixture_open(f);
    CHECK_OK(hub_restore(f->hub, &saved, &why));
    for (unsigned i = 0; i < 2; i++) {
        nodes[i].hello.run = 7;
        nodes[i].hello.base_version = before.version;
        fake_node_comes_again(f, &nodes[i]);
    }
    return f;
}

static bool same_bits(const float *a, const float *b)
{
    uint32_t one[FIXTURE_ELEMENTS], other[FIXTURE_ELEMENTS];

    memcpy(one, a, sizeof one);
    memcpy(other, b, sizeof other);
    for (size_t i = 0; i < FIXTURE_ELEMENTS; i++)
        if (one[i] != other[i])
            return false;
    return true;
}

/* T27, with the state of every rule that keeps any, saved at any moment. */
static void a_resumed_run_is_the_run_to_the_last_bit(void)
{
    const struct merge_rule *const rules[] = {
        &merge_mean, &merge_delayed, &merge_adam, &merge_schedule_free};
    struct fake_node nodes[2];

    for (unsigned rule = 0; rule < sizeof rules / sizeof *rules; rule++) {
        struct hub_fixture *f = begin(rules[rule], nodes);
        struct store undisturbed;

        play(f, nodes, 0, 2 * GIVEN);
        CHECK_EQUAL(2 * GIVEN, store.version);
        undisturbed = store;
        hub_fixture_destroy(&f);
        for (unsigned at = 1; at < 2 * GIVEN; at++) {
            f = begin(rules[rule], nodes);
            play(f, nodes, 0, at);
            CHECK_EQUAL(at, store.version);
            CHECK_EQUAL(undisturbed.slots, store.slots);
            hub_fixture_destroy(&f);
            f = go_on(rules[rule], nodes);
            play(f, nodes, at, 2 * GIVEN);
            CHECK_EQUAL(2 * GIVEN, store.version);
            CHECK(same_bits(undisturbed.theta, store.theta));
            for (unsigned i = 0; i < POLICY_SLOTS; i++)
                CHECK(same_bits(undisturbed.slot[i], store.slot[i]));
            hub_fixture_destroy(&f);
        }
    }
}

static void what_another_rule_has_kept_is_not_used(void)
{
    struct fake_node nodes[2];
    struct hub_fixture *f = begin(&merge_adam, nodes);
    float moved;

    play(f, nodes, 0, 3);
    moved = store.theta[0];
    hub_fixture_destroy(&f);
    f = go_on(&merge_mean, nodes);
    play(f, nodes, 3, 4);
    CHECK_NEAR((double)moved + 0.7 * 1.9 * (0.3 + 0.7 * 3) / 2,
               (double)store.theta[0], 1e-5);
    hub_fixture_destroy(&f);
}

static void a_size_of_chunks_that_cannot_be_is_refused(void)
{
    static const char *const lines[] = {"", "chunk 0\n", "chunk -1\n",
                                        "chunk 4294967296\n"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct hub_fixture *f = hub_fixture_new();
        char state[STATE_ROOM];
        struct why why;

        hub_fixture_open(f);
        (void)snprintf(state, sizeof state,
                       "run 7\nepoch 0\nversion 2\nlineage 5\n%s"
                       "exact 0 0 0\nbest 1 0.5\n",
                       lines[i]);
        CHECK_STATUS(STATUS_MALFORMED, store_restore(&store, f, state, &why));
        CHECK_CONTAINS("damaged: take another --directory", why.text);
        hub_fixture_destroy(&f);
    }
}

static void turns_that_are_not_of_the_model_are_refused(void)
{
    static const char *const turns[] = {"",
                                        "9 1",
                                        "11 1",
                                        "10",
                                        "4 1 4 1 4 1",
                                        "10 1 x",
                                        "18446744073709551615 1 11 1"};

    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct hub_fixture *f = hub_fixture_new();
        char state[STATE_ROOM];
        struct why why;

        hub_fixture_open(f);
        (void)snprintf(state, sizeof state,
                       "run 7\nepoch 0\nversion 2\nlineage 5\nchunk 4\n"
                       "exact 0 0 0\nbest 1 0.5\nmerge mean %s\n",
                       turns[i]);
        CHECK_STATUS(STATUS_MALFORMED, store_restore(&store, f, state, &why));
        CHECK_CONTAINS("merge rule is damaged", why.text);
        CHECK(!hub_fixture_look(f)->founded);
        hub_fixture_destroy(&f);
    }
}

void add_hub_saved_tests(CU_pSuite suite)
{
    TEST(a_hub_goes_on_where_it_was_saved);
    TEST(the_time_of_a_run_goes_on_with_it);
    TEST(a_stranger_takes_the_restored_centre);
    TEST(a_state_that_is_cut_short_is_refused);
    TEST(a_state_with_a_wrong_byte_is_refused_or_makes_sense);
    TEST(a_failed_restore_changes_nothing);
    TEST(names_of_any_bytes_can_be_saved);
    TEST(a_resumed_run_is_the_run_to_the_last_bit);
    TEST(what_another_rule_has_kept_is_not_used);
    TEST(a_size_of_chunks_that_cannot_be_is_refused);
    TEST(turns_that_are_not_of_the_model_are_refused);
}
