/* Lives of a run that nodes tell of: what is believed, and with what proof. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/check.h"
#include "tests/hub/treasure.h"

enum { KEY_A = 100, KEY_B = 200, CLAIM_MOST = 1000000, FAR = 10000000 };

static struct store store;

/* A hub that goes on from its disk, where guest a and somebody who does not
 * come are listed; `life` is that of the disk. */
static struct bench *resume(uint64_t life)
{
    struct bench *bench = bench_new();
    const float theta[BENCH_ELEMENTS] = {0};
    char state[256];
    struct hub_saved saved = {
        .schema = bench->schema, .theta = theta, .state = state};
    struct why why;

    (void)snprintf(state, sizeof state,
                   "run 7\nepoch %" PRIu64 "\nversion 2\nlineage 5\nchunk 4\n"
                   "exact 0 0 0\nbest 1 0.5\nnode 1 1 1 0 %d a\n"
                   "node 1 99 1 0 0 away\n",
                   life << 32, KEY_A);
    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    return bench;
}

/* Guest a, under this key, says HELLO and that it knows this life. */
static struct guest claims(struct bench *bench, uint64_t key, uint64_t life)
{
    struct guest guest = guest_new(bench, "a");

    guest.key = key;
    guest.hello.node_low = 1;
    guest.hello.run = 7;
    guest.hello.epoch = life << 32;
    guest_hello(bench, &guest);
    return guest;
}

static uint64_t life_of(struct bench *bench)
{
    return bench_look(bench)->epoch >> 32;
}

static void a_life_that_a_node_makes_up_is_not_believed(void)
{
    struct bench *bench = resume(5);
    struct guest a;

    CHECK_EQUAL(6, life_of(bench));
    a = claims(bench, KEY_A, UINT32_MAX - 1);
    CHECK_EQUAL(6, life_of(bench));
    CHECK_EQUAL(6, guest_heard(bench, &a, MSG_WELCOME)->welcome.epoch >> 32);
    CHECK_CONTAINS("not believed without proof",
                   hand_note(&bench->hand, NOTE_REFUSED)->text);
    bench_destroy(&bench);
}

static void nobody_walks_up_step_by_step(void)
{
    struct bench *bench = resume(5);

    (void)claims(bench, KEY_A, 6 + CLAIM_MOST);
    CHECK_EQUAL(7 + CLAIM_MOST, life_of(bench));
    (void)claims(bench, KEY_A, 7 + CLAIM_MOST);
    CHECK_EQUAL(7 + CLAIM_MOST, life_of(bench));
    (void)claims(bench, KEY_A, 6 + 2 * CLAIM_MOST);
    CHECK_EQUAL(7 + CLAIM_MOST, life_of(bench));
    bench_destroy(&bench);
}

/* With keys anybody is let in as itself; not one of another release. */
static void who_is_not_let_in_is_not_believed(void)
{
    struct bench *bench = resume(5);
    struct guest byzantine = guest_new(bench, "a");

    byzantine.key = KEY_A;
    byzantine.hello.node_low = 1;
    byzantine.hello.run = 7;
    byzantine.hello.epoch = (uint64_t)40 << 32;
    byzantine.hello.protocol_min = byzantine.hello.protocol_max = 99;
    guest_hello(bench, &byzantine);
    CHECK_EQUAL(FAREWELL_VERSION, guest_farewell(bench, &byzantine));
    CHECK_EQUAL(6, life_of(bench));
    (void)claims(bench, KEY_A, 40);
    CHECK_EQUAL(41, life_of(bench));
    bench_destroy(&bench);
}

/* Lives that a hub leaves out where the disk is lost. */
enum { LOST = 4096 };

/* The hub that has lost its disk counts lives from the beginning; of those that
 * came after what the node keeps, others may know. */
static void what_is_proved_counts_without_bounds(void)
{
    static const bool says_so[] = {false, true};

    for (unsigned i = 0; i < 2; i++) {
        struct bench *bench = treasure_life(&store);
        struct treasure treasure;
        struct guest a;

        bench->config.life = FAR;
        treasure = treasure_train(bench, &a, 3);
        bench_destroy(&bench);
        bench = treasure_life(&store);
        bench->config.run = 1234;
        bench_open(bench);
        if (!says_so[i])
            a.hello.epoch = 0;
        guest_comes_again(bench, &a);
        CHECK(life_of(bench) <= 1);
        guest_lives(bench, &a, HUB_RECOVERY + SECOND);
        treasure_given(bench, &a, &treasure);
        CHECK_EQUAL(START_GO, treasure_start(bench, &a));
        CHECK_EQUAL(3, bench_look(bench)->version);
        CHECK_EQUAL(1 + FAR + LOST, life_of(bench));
        bench_destroy(&bench);
    }
}

static void the_lives_do_not_begin_again(void)
{
    struct bench *bench = resume(UINT32_MAX);
    struct guest a;

    CHECK_EQUAL(UINT32_MAX, life_of(bench));
    a = claims(bench, KEY_A, UINT32_MAX);
    guest_lives(bench, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(UINT32_MAX, life_of(bench));
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    bench_destroy(&bench);
}

void add_hub_lives_tests(CU_pSuite suite)
{
    TEST(a_life_that_a_node_makes_up_is_not_believed);
    TEST(nobody_walks_up_step_by_step);
    TEST(who_is_not_let_in_is_not_believed);
    TEST(what_is_proved_counts_without_bounds);
    TEST(the_lives_do_not_begin_again);
}
