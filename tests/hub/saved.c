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
    CHECK_EQUAL(1, view->count);
    CHECK_TEXT("a", view->nodes[0].name);
    CHECK(view->nodes[0].gone);

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

static void a_stranger_takes_the_restored_centre(void)
{
    struct bench *bench;
    struct guest b;
    struct why why;

    (void)save_something("a");
    bench = bench_new();
    bench_open(bench);
    CHECK_OK(restore(bench, store.state, &why));
    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    guest_credits(bench, &b, 0, 0);
    CHECK_EQUAL(START_TAKE,
                guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
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
    static const char *const names[] = {
        "", " ", "two words", "a\nnode 1 2 3 4 evil", "\n", "run 7",
        "\x7f\x01\xff", "%s%n", "a name of more than forty bytes: it is cut"};

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

void add_hub_saved_tests(CU_pSuite suite)
{
    TEST(a_hub_goes_on_where_it_was_saved);
    TEST(a_stranger_takes_the_restored_centre);
    TEST(a_state_that_is_cut_short_is_refused);
    TEST(a_state_with_a_wrong_byte_is_refused_or_makes_sense);
    TEST(a_failed_restore_changes_nothing);
    TEST(names_of_any_bytes_can_be_saved);
}
