/* A hub is started again with another --chunk: a run keeps the chunks that it
 * has had. */
#include <string.h>

#include "tests/check.h"
#include "tests/hub/treasure.h"

enum { WHOLE = BENCH_ELEMENTS, CUT = 4 };

static struct store store;

static uint32_t told_cut(const struct bench *bench, const struct guest *guest)
{
    return guest_heard(bench, guest, MSG_WELCOME)->welcome.chunk_elements;
}

static void a_run_from_the_disk_keeps_its_chunks(void)
{
    struct store before;
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_after(&store, &before, &a, &treasure);

    bench->config.chunk_elements = WHOLE;
    treasure_open(bench, &before);
    CHECK_EQUAL(BENCH_CHUNK_BYTES, hub_chunk_bytes(bench->hub));
    CHECK_EQUAL(BENCH_CHUNK_BYTES, hub_longest_payload(bench->hub));
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    CHECK_EQUAL(CUT, told_cut(bench, &a));
    guest_gives(bench, &a, 5, 0.5);
    CHECK_NEAR(3.5, guest_result(bench, &a, 5, 2), 0);
    bench_destroy(&bench);
}

/* A hub with nothing, and another --chunk than the run that guest a knows. */
static struct bench *lose_all(struct guest *a, struct treasure *treasure,
                              nanos recovery)
{
    struct bench *bench = treasure_life(&store);

    *treasure = treasure_train(bench, a, 3);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench->config.chunk_elements = WHOLE;
    bench->config.recovery = recovery;
    bench_open(bench);
    return bench;
}

static void a_hub_with_nothing_takes_the_runs_chunks_from_a_node(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure, HUB_RECOVERY);

    CHECK_EQUAL(0, hub_longest_payload(bench->hub));
    guest_comes_again(bench, &a);
    b = guest_other(bench);
    CHECK_EQUAL(WHOLE, told_cut(bench, &b));
    guest_lives(bench, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &b));
    CHECK_EQUAL(CUT, told_cut(bench, &a));
    CHECK_EQUAL(CUT, told_cut(bench, &b));
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_TEXT("version 3; the run has chunks of 16 bytes, --chunk is for new "
               "runs",
               treasure_note(bench));
    CHECK_EQUAL(BENCH_CHUNK_BYTES, hub_longest_payload(bench->hub));
    guest_gives(bench, &a, 4, 0.5);
    CHECK_NEAR(3, guest_result(bench, &a, 4, 2), 0);
    guest_lives(bench, &a, 20 * SECOND);
    CHECK(strstr(store.state, "\nchunk 4\n") != NULL);
    bench_destroy(&bench);
}

/* Values for a model that is cut as the hub's configuration says. */
static void founds_whole(struct bench *bench, struct guest *guest)
{
    struct blob *payload = hand_floats(bench->hand.pool, WHOLE, 9);
    const struct msg_chunk msg = {.checksum = payload->checksum};

    guest_chunk(bench, guest, &msg, payload);
    blob_unref(&payload);
    CHECK(bench_look(bench)->founded);
}

/* Of what b and c were sent of the young run, cut otherwise, nothing may be
 * taken for a chunk of the run that goes on. */
static void a_young_run_of_other_chunks_makes_room(void)
{
    struct treasure treasure;
    struct guest a, b, c;
    struct bench *bench = lose_all(&a, &treasure, 0);

    b = guest_other(bench);
    founds_whole(bench, &b);
    c = guest_new(bench, "c");
    c.hello.lineage++;
    guest_comes_again(bench, &c);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &c));
    guest_credits(bench, &c, 0, 0);
    CHECK_NEAR(9, guest_result(bench, &c, 0, 0), 0);
    guest_comes_again(bench, &a);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, HUB_RECOVERY + SECOND);
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(CUT, told_cut(bench, &b));
    CHECK(hand_dropped(&bench->hand, c.bulk));
    hand_forget(&bench->hand);
    guest_comes_again(bench, &c);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &c));
    guest_credits(bench, &c, 0, 0);
    CHECK_NEAR(2.5, guest_result(bench, &c, 0, 2), 0);
    bench_destroy(&bench);
}

static void who_lies_about_the_cut_changes_nothing(void)
{
    static const uint32_t cuts[] = {0, 5, WHOLE};

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct treasure treasure;
        struct guest a;
        struct bench *bench = lose_all(&a, &treasure, HUB_RECOVERY);

        a.hello.kept_chunk = cuts[i];
        guest_comes_again(bench, &a);
        guest_lives(bench, &a, HUB_RECOVERY + SECOND);
        CHECK_EQUAL(cuts[i] ? START_GIVE : START_FOUND,
                    treasure_start(bench, &a));
        if (cuts[i])
            treasure_proves(bench, &a, &treasure);
        CHECK_EQUAL(START_FOUND, treasure_start(bench, &a));
        CHECK_EQUAL(WHOLE, told_cut(bench, &a));
        founds_whole(bench, &a);
        bench_destroy(&bench);
    }
}

void add_hub_recut_tests(CU_pSuite suite)
{
    TEST(a_run_from_the_disk_keeps_its_chunks);
    TEST(a_hub_with_nothing_takes_the_runs_chunks_from_a_node);
    TEST(a_young_run_of_other_chunks_makes_room);
    TEST(who_lies_about_the_cut_changes_nothing);
}
