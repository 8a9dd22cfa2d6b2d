#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

/* Leaves in the store what a hub saves after two rounds of `name`. */
static struct guest save_something(const char *name)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    store.loss = 1.0 / 3;
    store.accuracy = 2.0 / 3;
    bench_open(bench);
    a = guest_comes(bench, name);
    guest_founds(bench, &a, 1);
    guest_gives(bench, &a, 1, 0.5);
    guest_gives(bench, &a, 2, 0.5);
    guest_lives(bench, &a, 12 * SECOND);
    CHECK_EQUAL(2, store.version);
    CHECK_EQUAL(1, store.saves);
    bench_destroy(&bench);
    return a;
}

static enum status restore(struct bench *bench, const char *state,
                           struct why *why)
{
    const struct hub_saved saved = {
        .schema = bench->schema, .theta = store.theta, .state = state};

    return hub_restore(bench->hub, &saved, why);
}

static void a_hub_goes_on_where_it_was_saved(void)
{
    struct guest a = save_something("a");
    struct bench *bench = bench_new();
    const struct hub_view *view;
    struct why why;

    bench->config.run = 99;
    bench_open(bench);
    CHECK_OK(restore(bench, store.state, &why));
    view = bench_look(bench);
    CHECK_EQUAL(7, view->run);
    CHECK_EQUAL(2, view->version);
    CHECK(view->founded);
    CHECK_NEAR(1.0 / 3, view->best_score, 0);
    CHECK_NEAR(2.0 / 3, view->best_accuracy, 0);
    CHECK_EQUAL(1, view->count);
    CHECK_TEXT("a", view->nodes[0].name);
    CHECK(view->nodes[0].gone);
    CHECK(view->nodes[0].accuracy < 0);
    CHECK(!(view->nodes[0].loss < NO_SCORE));

    a.hello.run = 7;
    a.hello.base_version = 2;
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GO, guest_heard(bench, &a, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(2, guest_heard(bench, &a, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(1, bench_look(bench)->count);
    guest_offers(bench, &a, 2);
    CHECK_EQUAL(VERDICT_DUPLICATE, guest_verdict(bench, &a, 2, 0));
    guest_gives(bench, &a, 3, 0.5);
    CHECK_NEAR(2.5, guest_result(bench, &a, 3, 2), 0);
    CHECK_EQUAL(3, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* It had a hub for ten seconds when it was saved. */
static void the_time_of_a_run_goes_on_with_it(void)
{
    struct bench *bench;
    struct why why;

    (void)save_something("a");
    bench = bench_new();
    bench->config.time = 20 * SECOND;
    bench_open(bench);
    CHECK_OK(restore(bench, store.state, &why));
    hand_wait(&bench->hand, 5 * SECOND);
    CHECK(!bench_look(bench)->ending);
    hand_wait(&bench->hand, 7 * SECOND);
    CHECK_TEXT("the time is over", bench_look(bench)->reason);
    bench_destroy(&bench);
}

static void a_stranger_takes_the_restored_centre(void)
{
    struct bench *bench;
    struct guest b;
    struct why why;

    (void)save_something("a");
    bench = bench_new();
    bench_open(bench);
    CHECK_OK(restore(bench, store.state, &why));
    b = guest_other(bench);
    guest_lives(bench, &b, 3 * SECOND); /* a may come back with more */
    guest_credits(bench, &b, 0, 0);
    CHECK_EQUAL(START_TAKE, guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    CHECK_NEAR(2, guest_result(bench, &b, 0, 0), 0);
    bench_destroy(&bench);
}

static void a_state_that_is_cut_short_is_refused(void)
{
    size_t length, head;
    struct why why;

    (void)save_something("a");
    length = strlen(store.state);
    head = (size_t)(strstr(store.state, "best ") - store.state) + 5;
    for (size_t i = 0; i < length - 2; i++) {
        struct bench *bench = bench_new();
        char state[STATE_ROOM];
        enum status status;

        memcpy(state, store.state, i);
        state[i] = '\0';
        bench_open(bench);
        status = restore(bench, state, &why);
        if (i <= head)
            CHECK_STATUS(STATUS_MALFORMED, status);
        if (status != STATUS_OK)
            CHECK_CONTAINS("damaged", why.text);
        CHECK_EQUAL(status == STATUS_OK, bench_look(bench)->founded);
        bench_destroy(&bench);
    }
}

static void a_state_with_a_wrong_byte_is_refused_or_makes_sense(void)
{
    struct prng prng;

    (void)save_something("a");
    prng_seed(&prng, 1);
    for (unsigned i = 0; i < 2000; i++) {
        struct bench *bench = bench_new();
        char state[STATE_ROOM];
        struct why why;

        memcpy(state, store.state, sizeof state);
        state[prng_below(&prng, strlen(state))] =
            (char)(1 + prng_below(&prng, 255));
        bench_open(bench);
        (void)restore(bench, state, &why);
        if (hub_check(bench->hub))
            CHECK_TEXT(NULL, hub_check(bench->hub));
        (void)bench_look(bench);
        bench_destroy(&bench);
    }
}

static void a_failed_restore_changes_nothing(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    struct why why;

    bench_open(bench);
    CHECK_STATUS(STATUS_MALFORMED,
                 restore(bench, "run 3\nepoch 9\nversion 8\n", &why));
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(0, bench_look(bench)->version);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    bench_destroy(&bench);
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
        struct bench *bench = bench_new();
        struct why why;

        (void)save_something(names[i]);
        bench_open(bench);
        CHECK_OK(restore(bench, store.state, &why));
        CHECK_EQUAL(1, bench_look(bench)->count);
        bench_destroy(&bench);
    }
}

/* ---- what merge rules keep ---- */

enum { GIVEN = 4, LOST_OF_B = 2 };

/* A run of a and b, one offer after the other; from each of them there are
 * GIVEN, and what b gives as its second lacks its chunk 1. Offer number 3 (from
 * 0) is in the middle of a period of `delayed` in that chunk alone. */
static void play(struct bench *bench, struct guest guests[2], unsigned from,
                 unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct guest *guest = &guests[i % 2];
        uint64_t exchange = i / 2 + 1;
        double value = 0.3 + 0.7 * i;

        guest_offers(bench, guest, exchange);
        for (uint32_t j = 0; j < BENCH_CHUNKS; j++)
            guest_delivers(bench, guest, exchange, j,
                           i % 2 && exchange == LOST_OF_B && j == 1
                               ? (double)NAN
                               : value / (1 + j));
    }
    guest_lives(bench, &guests[0], 500 * MILLISECOND);
    guest_pings(bench, &guests[1], 1);
}

static struct bench *bench_with(const struct merge_rule *merge)
{
    struct bench *bench = bench_new();

    bench->config.policy.gate = &gate_async;
    bench->config.policy.merge = merge;
    bench->config.policy.numbers.outer_lr = 0.7;
    bench->config.policy.numbers.outer_momentum = 0.9;
    bench->config.policy.numbers.early = 0.2;
    bench->config.staleness = 100;
    bench->config.save_interval = 100 * MILLISECOND;
    bench->config.nodes = 2;
    return bench;
}

static struct bench *begin(const struct merge_rule *merge,
                           struct guest guests[2])
{
    struct bench *bench = bench_with(merge);

    store_lend(&store, bench);
    bench_open(bench);
    guests[0] = guest_comes(bench, "a");
    guest_founds(bench, &guests[0], 1);
    guests[1] = guest_comes(bench, "b");
    return bench;
}

/* Another hub goes on with what the store holds, by a rule of its own. */
static struct bench *go_on(const struct merge_rule *merge,
                           struct guest guests[2])
{
    struct bench *bench = bench_with(merge);
    struct store before = store;
    struct hub_saved saved = {
        .schema = bench->schema, .theta = before.theta, .state = before.state};
    struct why why;

    for (unsigned i = 0; i < before.slots; i++)
        saved.slot[i] = before.slot[i];
    store_lend(&store, bench);
    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    for (unsigned i = 0; i < 2; i++) {
        guests[i].hello.run = 7;
        guests[i].hello.base_version = before.version;
        guest_comes_again(bench, &guests[i]);
    }
    return bench;
}

static bool same_bits(const float *a, const float *b)
{
    uint32_t one[BENCH_ELEMENTS], other[BENCH_ELEMENTS];

    memcpy(one, a, sizeof one);
    memcpy(other, b, sizeof other);
    for (size_t i = 0; i < BENCH_ELEMENTS; i++)
        if (one[i] != other[i])
            return false;
    return true;
}

/* T27, with the state of every rule that keeps any, saved at any moment. */
static void a_resumed_run_is_the_run_to_the_last_bit(void)
{
    const struct merge_rule *const rules[] = {&merge_mean, &merge_delayed,
                                              &merge_adam};
    struct guest guests[2];

    for (unsigned rule = 0; rule < sizeof rules / sizeof *rules; rule++) {
        struct bench *bench = begin(rules[rule], guests);
        struct store undisturbed;

        play(bench, guests, 0, 2 * GIVEN);
        CHECK_EQUAL(2 * GIVEN, store.version);
        undisturbed = store;
        bench_destroy(&bench);
        for (unsigned at = 1; at < 2 * GIVEN; at++) {
            bench = begin(rules[rule], guests);
            play(bench, guests, 0, at);
            CHECK_EQUAL(at, store.version);
            CHECK_EQUAL(undisturbed.slots, store.slots);
            bench_destroy(&bench);
            bench = go_on(rules[rule], guests);
            play(bench, guests, at, 2 * GIVEN);
            CHECK_EQUAL(2 * GIVEN, store.version);
            CHECK(same_bits(undisturbed.theta, store.theta));
            for (unsigned i = 0; i < POLICY_SLOTS; i++)
                CHECK(same_bits(undisturbed.slot[i], store.slot[i]));
            bench_destroy(&bench);
        }
    }
}

static void what_another_rule_has_kept_is_not_used(void)
{
    struct guest guests[2];
    struct bench *bench = begin(&merge_adam, guests);
    float moved;

    play(bench, guests, 0, 3);
    moved = store.theta[0];
    bench_destroy(&bench);
    bench = go_on(&merge_mean, guests);
    play(bench, guests, 3, 4);
    CHECK_NEAR((double)moved + 0.7 * 1.9 * (0.3 + 0.7 * 3) / 2,
               (double)store.theta[0], 1e-5);
    bench_destroy(&bench);
}

static void a_size_of_chunks_that_cannot_be_is_refused(void)
{
    static const char *const lines[] = {"", "chunk 0\n", "chunk -1\n",
                                        "chunk 4294967296\n"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct bench *bench = bench_new();
        char state[STATE_ROOM];
        struct why why;

        bench_open(bench);
        (void)snprintf(state, sizeof state,
                       "run 7\nepoch 0\nversion 2\nlineage 5\n%s"
                       "exact 0 0 0\nbest 1 0.5\n",
                       lines[i]);
        CHECK_STATUS(STATUS_MALFORMED, restore(bench, state, &why));
        CHECK_CONTAINS("damaged: take another --directory", why.text);
        bench_destroy(&bench);
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
        struct bench *bench = bench_new();
        char state[STATE_ROOM];
        struct why why;

        bench_open(bench);
        (void)snprintf(state, sizeof state,
                       "run 7\nepoch 0\nversion 2\nlineage 5\nchunk 4\n"
                       "exact 0 0 0\nbest 1 0.5\nmerge mean %s\n",
                       turns[i]);
        CHECK_STATUS(STATUS_MALFORMED, restore(bench, state, &why));
        CHECK_CONTAINS("merge rule is damaged", why.text);
        CHECK(!bench_look(bench)->founded);
        bench_destroy(&bench);
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
