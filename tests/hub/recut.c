/* A hub is started again with another --chunk: a run keeps the chunks that it
 * has had. */
#include <string.h>

#include "tests/check.h"
#include "tests/hub/kept_centre.h"

enum { WHOLE = FIXTURE_ELEMENTS, CUT = 4 };

static struct store store;

static uint32_t told_cut(const struct hub_fixture *f,
                         const struct fake_node *node)
{
    return fake_node_heard(f, node, MSG_WELCOME)->welcome.chunk_elements;
}

static void a_run_from_the_disk_keeps_its_chunks(void)
{
    struct store before;
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_after(&store, &before, &a, &kept);

    f->config.chunk_elements = WHOLE;
    kept_centre_open(f, &before);
    CHECK_EQUAL(FIXTURE_CHUNK_BYTES, hub_chunk_bytes(f->hub));
    CHECK_EQUAL(FIXTURE_CHUNK_BYTES, hub_longest_payload(f->hub));
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    CHECK_EQUAL(CUT, told_cut(f, &a));
    fake_node_gives(f, &a, 5, 0.5);
    CHECK_NEAR(3.5, fake_node_result(f, &a, 5, 2), 0);
    hub_fixture_destroy(&f);
}

/* A hub with nothing, and another --chunk than the run that node a knows. */
static struct hub_fixture *lose_all(struct fake_node *a,
                                    struct kept_centre *kept, nanos recovery)
{
    struct hub_fixture *f = kept_centre_life(&store);

    *kept = kept_centre_train(f, a, 3);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.run = 1234;
    f->config.chunk_elements = WHOLE;
    f->config.recovery = recovery;
    hub_fixture_open(f);
    return f;
}

static void a_hub_with_nothing_takes_the_runs_chunks_from_a_node(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = lose_all(&a, &kept, HUB_RECOVERY);

    CHECK_EQUAL(0, hub_longest_payload(f->hub));
    fake_node_comes_again(f, &a);
    b = fake_node_other(f);
    CHECK_EQUAL(WHOLE, told_cut(f, &b));
    fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &b));
    CHECK_EQUAL(CUT, told_cut(f, &a));
    CHECK_EQUAL(CUT, told_cut(f, &b));
    CHECK_EQUAL(7, hub_fixture_look(f)->run);
    CHECK_TEXT("version 3; the run has chunks of 16 bytes, --chunk is for new "
               "runs",
               kept_centre_note(f));
    CHECK_EQUAL(FIXTURE_CHUNK_BYTES, hub_longest_payload(f->hub));
    fake_node_gives(f, &a, 4, 0.5);
    CHECK_NEAR(3, fake_node_result(f, &a, 4, 2), 0);
    fake_node_lives(f, &a, 20 * SECOND);
    CHECK(strstr(store.state, "\nchunk 4\n") != NULL);
    hub_fixture_destroy(&f);
}

/* Values for a model that is cut as the hub's configuration says. */
static void founds_whole(struct hub_fixture *f, struct fake_node *node)
{
    struct blob *payload = hand_floats(f->hand.pool, WHOLE, 9);
    const struct msg_chunk msg = {.checksum = payload->checksum};

    fake_node_chunk(f, node, &msg, payload);
    blob_unref(&payload);
    CHECK(hub_fixture_look(f)->founded);
}

/* Of what b and c were sent of the young run, cut otherwise, nothing may be
 * taken for a chunk of the run that goes on. */
static void a_young_run_of_other_chunks_makes_room(void)
{
    struct kept_centre kept;
    struct fake_node a, b, c;
    struct hub_fixture *f = lose_all(&a, &kept, 0);

    b = fake_node_other(f);
    founds_whole(f, &b);
    c = fake_node_new(f, "c");
    c.hello.lineage++;
    fake_node_comes_again(f, &c);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &c));
    fake_node_credits(f, &c, 0, 0);
    CHECK_NEAR(9, fake_node_result(f, &c, 0, 0), 0);
    fake_node_comes_again(f, &a);
    fake_node_pings(f, &b, 1);
    fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_EQUAL(CUT, told_cut(f, &b));
    CHECK(hand_dropped(&f->hand, c.bulk));
    hand_forget(&f->hand);
    fake_node_comes_again(f, &c);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &c));
    fake_node_credits(f, &c, 0, 0);
    CHECK_NEAR(2.5, fake_node_result(f, &c, 0, 2), 0);
    hub_fixture_destroy(&f);
}

static void who_lies_about_the_cut_changes_nothing(void)
{
    static const uint32_t cuts[] = {0, 5, WHOLE};

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct kept_centre kept;
        struct fake_node a;
        struct hub_fixture *f = lose_all(&a, &kept, HUB_RECOVERY);

        a.hello.kept_chunk = cuts[i];
        fake_node_comes_again(f, &a);
        fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
        CHECK_EQUAL(cuts[i] ? START_GIVE : START_FOUND,
                    kept_centre_start(f, &a));
        if (cuts[i])
            kept_centre_proves(f, &a, &kept);
        CHECK_EQUAL(START_FOUND, kept_centre_start(f, &a));
        CHECK_EQUAL(WHOLE, told_cut(f, &a));
        founds_whole(f, &a);
        hub_fixture_destroy(&f);
    }
}

void add_hub_recut_tests(CU_pSuite suite)
{
    TEST(a_run_from_the_disk_keeps_its_chunks);
    TEST(a_hub_with_nothing_takes_the_runs_chunks_from_a_node);
    TEST(a_young_run_of_other_chunks_makes_room);
    TEST(who_lies_about_the_cut_changes_nothing);
}
