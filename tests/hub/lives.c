/* Lives of a run that nodes tell of: what is believed, and with what proof. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/check.h"
#include "tests/hub/kept_centre.h"

enum { KEY_A = 100, KEY_B = 200, CLAIM_MOST = 1000000, FAR = 10000000 };

static struct store store;

/* A hub that goes on from its disk, where node a and somebody who does not
 * come are listed; `life` is that of the disk. */
static struct hub_fixture *resume(uint64_t life)
{
    struct hub_fixture *f = hub_fixture_new();
    const float theta[FIXTURE_ELEMENTS] = {0};
    char state[256];
    struct hub_saved saved = {
        .schema = f->schema, .theta = theta, .state = state};
    struct why why;

    (void)snprintf(state, sizeof state,
                   "run 7\nepoch %" PRIu64 "\nversion 2\nlineage 5\nchunk 4\n"
                   "exact 0 0 0\nbest 1 0.5\nnode 1 1 1 0 %d a\n"
                   "node 1 99 1 0 0 away\n",
                   life << 32, KEY_A);
    hub_fixture_open(f);
    CHECK_OK(hub_restore(f->hub, &saved, &why));
    return f;
}

/* Guest a, under this key, says HELLO and that it knows this life. */
static struct fake_node claims(struct hub_fixture *f, uint64_t key,
                               uint64_t life)
{
    struct fake_node node = fake_node_new(f, "a");

    node.key = key;
    node.hello.node_low = 1;
    node.hello.run = 7;
    node.hello.epoch = life << 32;
    fake_node_hello(f, &node);
    return node;
}

static uint64_t life_of(struct hub_fixture *f)
{
    return hub_fixture_look(f)->epoch >> 32;
}

static void a_life_that_a_node_makes_up_is_not_believed(void)
{
    struct hub_fixture *f = resume(5);
    struct fake_node a;

    CHECK_EQUAL(6, life_of(f));
    a = claims(f, KEY_A, UINT32_MAX - 1);
    CHECK_EQUAL(6, life_of(f));
    CHECK_EQUAL(6, fake_node_heard(f, &a, MSG_WELCOME)->welcome.epoch >> 32);
    CHECK_CONTAINS("not believed without proof",
                   hand_note(&f->hand, NOTE_REFUSED)->text);
    hub_fixture_destroy(&f);
}

static void nobody_walks_up_step_by_step(void)
{
    struct hub_fixture *f = resume(5);

    (void)claims(f, KEY_A, 6 + CLAIM_MOST);
    CHECK_EQUAL(7 + CLAIM_MOST, life_of(f));
    (void)claims(f, KEY_A, 7 + CLAIM_MOST);
    CHECK_EQUAL(7 + CLAIM_MOST, life_of(f));
    (void)claims(f, KEY_A, 6 + 2 * CLAIM_MOST);
    CHECK_EQUAL(7 + CLAIM_MOST, life_of(f));
    hub_fixture_destroy(&f);
}

/* With keys anybody is let in as itself; not one of another release. */
static void who_is_not_let_in_is_not_believed(void)
{
    struct hub_fixture *f = resume(5);
    struct fake_node byzantine = fake_node_new(f, "a");

    byzantine.key = KEY_A;
    byzantine.hello.node_low = 1;
    byzantine.hello.run = 7;
    byzantine.hello.epoch = (uint64_t)40 << 32;
    byzantine.hello.protocol_min = byzantine.hello.protocol_max = 99;
    fake_node_hello(f, &byzantine);
    CHECK_EQUAL(FAREWELL_VERSION, fake_node_farewell(f, &byzantine));
    CHECK_EQUAL(6, life_of(f));
    (void)claims(f, KEY_A, 40);
    CHECK_EQUAL(41, life_of(f));
    hub_fixture_destroy(&f);
}

/* Lives that a hub leaves out where the disk is lost: as many more as its run
 * says, which is random. */
enum { LOST = 4096, RUN = 1234 };

/* The hub that has lost its disk counts lives from the beginning; of those that
 * came after what the node keeps, others may know. */
static void what_is_proved_counts_without_bounds(void)
{
    static const bool says_so[] = {false, true};

    for (unsigned i = 0; i < 2; i++) {
        struct hub_fixture *f = kept_centre_life(&store);
        struct kept_centre kept;
        struct fake_node a;

        f->config.life = FAR;
        kept = kept_centre_train(f, &a, 3);
        hub_fixture_destroy(&f);
        f = kept_centre_life(&store);
        f->config.run = RUN;
        hub_fixture_open(f);
        if (!says_so[i])
            a.hello.epoch = 0;
        fake_node_comes_again(f, &a);
        CHECK(life_of(f) <= 1);
        fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
        kept_centre_given(f, &a, &kept);
        CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
        CHECK_EQUAL(3, hub_fixture_look(f)->version);
        CHECK_EQUAL(1 + FAR + LOST + RUN, life_of(f));
        hub_fixture_destroy(&f);
    }
}

static void the_lives_do_not_begin_again(void)
{
    struct hub_fixture *f = resume(UINT32_MAX);
    struct fake_node a;

    CHECK_EQUAL(UINT32_MAX, life_of(f));
    a = claims(f, KEY_A, UINT32_MAX);
    fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(UINT32_MAX, life_of(f));
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    hub_fixture_destroy(&f);
}

void add_hub_lives_tests(CU_pSuite suite)
{
    TEST(a_life_that_a_node_makes_up_is_not_believed);
    TEST(nobody_walks_up_step_by_step);
    TEST(who_is_not_let_in_is_not_believed);
    TEST(what_is_proved_counts_without_bounds);
    TEST(the_lives_do_not_begin_again);
}
