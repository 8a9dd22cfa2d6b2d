/* A hub that has lost its centre, or a part of it, and what its nodes keep. */
#include <math.h>
#include <string.h>

#include "codec/manifest.h"
#include "tests/check.h"
#include "tests/hub/treasure.h"

static struct store store;

static void nodes_keep_complete_versions(void)
{
    struct bench *bench = treasure_life(&store);
    struct manifest manifest;
    struct treasure treasure;
    struct guest a;
    float values[4];

    treasure = treasure_train(bench, &a, 2);
    CHECK_EQUAL(2, treasure.version);
    CHECK_EQUAL(2, treasure.merged);
    CHECK_EQUAL(bench_look(bench)->epoch, treasure.epoch);
    if (CHECK(manifest_read(&manifest, treasure.manifest, treasure.bytes))) {
        CHECK(manifest_is_genuine(&manifest, bench->config.seal.key));
        for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
            for (unsigned j = 0; j < 4; j++)
                values[j] = treasure.value[i];
            CHECK_EQUAL(2, manifest_version(&manifest, i));
            CHECK(manifest_holds(&manifest, i, values,
                                 bench_length(i) * sizeof *values));
        }
    }
    bench_destroy(&bench);
}

/* Three in a hundred of what it is sent would be none. */
static void a_small_model_is_kept_and_not_drowned_in_manifests(void)
{
    struct bench *bench = treasure_life(&store);
    struct guest a;
    unsigned told;

    bench->config.keeping = 0;
    a = guest_alone(bench);
    for (uint64_t i = 1; i <= 20; i++) {
        guest_lives(bench, &a, SECOND);
        guest_gives(bench, &a, i, 0.5);
        guest_returns(bench, &a, i);
    }
    told = treasure_count(bench, &a);
    CHECK(told >= 5 && told <= 11);
    bench_destroy(&bench);
}

/* Else who founds a run that is lost at once has nothing to show for it. */
static void the_first_parameters_are_kept_before_anything_is_merged(void)
{
    struct bench *bench = treasure_life(&store);
    struct guest a = guest_alone(bench);

    CHECK_EQUAL(1, treasure_count(bench, &a));
    CHECK_EQUAL(0, treasure_of(bench, &a).version);
    CHECK_EQUAL(0, treasure_of(bench, &a).merged);
    bench_destroy(&bench);
}

/* Nothing has come of exchange 7 while version 6 is told: a node that took it
 * for a part of that would not offer it again. */
static void what_is_being_uploaded_is_not_in_what_is_kept(void)
{
    struct bench *bench = treasure_life(&store);
    struct treasure treasure;
    struct guest a;

    (void)treasure_train(bench, &a, 5);
    guest_gives(bench, &a, 6, 0.5);
    guest_returns(bench, &a, 6);
    guest_offers(bench, &a, 7);
    guest_lives(bench, &a, 3 * SECOND);
    treasure = treasure_of(bench, &a);
    CHECK_EQUAL(6, treasure.version);
    CHECK_EQUAL(6, treasure.merged);
    guest_delivers_all(bench, &a, 7, 0.5);
    guest_lives(bench, &a, 3 * SECOND);
    treasure = treasure_of(bench, &a);
    CHECK_EQUAL(7, treasure.version);
    CHECK_EQUAL(7, treasure.merged);
    bench_destroy(&bench);
}

static void nobody_keeps_what_is_not_the_centre(void)
{
    struct bench *bench = treasure_life(&store);
    struct guest a;

    bench->config.policy.receive = &receive_leader;
    a = guest_alone(bench);
    guest_lives(bench, &a, SECOND);
    guest_gives(bench, &a, 1, 0.5);
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(0, treasure_count(bench, &a));
    bench_destroy(&bench);
}

static void a_node_has_a_newer_version_than_the_disk(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);

    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_EQUAL(4, guest_heard(bench, &a, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(4, bench_look(bench)->version);
    CHECK_CONTAINS("version 4 instead of version", treasure_note(bench));
    guest_offers(bench, &a, 4);
    CHECK_EQUAL(VERDICT_DUPLICATE, guest_verdict(bench, &a, 4, 0));
    guest_gives(bench, &a, 5, 0.5);
    CHECK_NEAR(3.5, guest_result(bench, &a, 5, 2), 0);
    guest_lives(bench, &a, 2 * SECOND);
    CHECK_EQUAL(5, store.version);
    bench_destroy(&bench);
}

static void what_the_disk_has_is_kept_when_no_node_has_more(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);
    uint64_t version = bench_look(bench)->version;

    a.hello.kept = 1 + version;
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_EQUAL(version, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void a_hub_waits_so_long_for_nodes_that_are_away(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = treasure_resume(&store, &a, &treasure);

    b = guest_other(bench);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    guest_lives(bench, &b, HUB_RECOVERY - 500 * MILLISECOND);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    CHECK_CONTAINS("asking the nodes", bench_look(bench)->state);
    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static void epochs_never_go_back(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);

    a.hello.epoch = (uint64_t)40 << 32 | 3;
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME)->welcome.epoch >= (uint64_t)41
                                                                    << 32);
    CHECK(bench_look(bench)->epoch >= (uint64_t)41 << 32);
    bench_destroy(&bench);
    bench = treasure_resume(&store, &a, &treasure);
    CHECK_EQUAL(6, bench_look(bench)->epoch >> 32);
    bench_destroy(&bench);
}

static void a_manifest_of_another_key_is_an_offence(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);
    uint64_t version = bench_look(bench)->version;
    unsigned char key[MANIFEST_KEY_BYTES] = {1};

    manifest_seal(treasure.manifest, key);
    guest_comes_again(bench, &a);
    treasure_proves(bench, &a, &treasure);
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK_CONTAINS("not this hub's", treasure_note(bench));
    CHECK_EQUAL(version, bench_look(bench)->version);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    bench_destroy(&bench);
}

static void a_damaged_chunk_is_noticed(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);
    uint64_t version = bench_look(bench)->version;

    treasure.value[1] += 1e-6f;
    guest_comes_again(bench, &a);
    treasure_given(bench, &a, &treasure);
    CHECK_CONTAINS("not as the hub had sent it", treasure_note(bench));
    CHECK_EQUAL(version, bench_look(bench)->version);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    bench_destroy(&bench);
}

static void nobody_passes_off_one_version_as_another(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);
    uint64_t version = bench_look(bench)->version;

    a.hello.kept = 100;
    guest_comes_again(bench, &a); /* it says that it is of this life */
    treasure_given(bench, &a, &treasure);
    CHECK_CONTAINS("not what it said", treasure_note(bench));
    CHECK_EQUAL(version, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void who_is_asked_and_gives_nothing_is_not_waited_for(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);
    uint64_t version = bench_look(bench)->version;

    guest_comes_again(bench, &a);
    guest_lives(bench, &a, 11 * SECOND);
    CHECK_CONTAINS("sends nothing", treasure_note(bench));
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_EQUAL(version, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* What nodes keep of a life that the disk's has superseded leads astray. */
static void a_branch_that_was_left_is_not_taken(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_life(&store);
    struct store before;
    struct hub_saved saved = {.theta = before.theta, .state = before.state};
    struct why why;

    treasure = treasure_train(bench, &a, 4);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.save_interval = SECOND;
    bench->config.life = 3;
    (void)treasure_train(bench, &a, 2);
    guest_lives(bench, &a, 2 * SECOND);
    before = store;
    bench_destroy(&bench);
    bench = treasure_life(&store);
    saved.schema = bench->schema;
    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    a.hello.kept = 1 + treasure.version;
    CHECK(treasure.version > before.version);
    CHECK(epoch_life(treasure.epoch) < a.hello.kept_life);
    guest_comes_again(bench, &a);
    treasure_given(bench, &a, &treasure);
    CHECK_CONTAINS("not what it said", treasure_note(bench));
    a.hello.kept_life = (uint32_t)epoch_life(treasure.epoch);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_EQUAL(before.version, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* What was merged of an exchange in part is known in the hub's next life. */
static void an_exchange_merged_in_part_keeps_its_verdicts(void)
{
    struct bench *bench = treasure_life(&store);
    struct treasure treasure;
    struct guest a, b;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    b = guest_comes(bench, "b");
    bench->config.nodes = 2;
    guest_lives(bench, &a, SECOND);
    guest_offers(bench, &b, 1);
    guest_delivers(bench, &b, 1, 0, 0.5);
    guest_delivers(bench, &b, 1, 1, (double)NAN);
    guest_delivers(bench, &b, 1, 2, 0.5);
    guest_lives(bench, &a, SECOND);
    guest_gives(bench, &a, 1, 0.5);
    treasure = treasure_of(bench, &a);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench_open(bench);
    a.hello.run = b.hello.run = 7;
    a.hello.kept = 1 + treasure.version;
    guest_comes_again(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY + SECOND);
    treasure_given(bench, &a, &treasure);
    guest_comes_again(bench, &b);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, 0));
    CHECK_EQUAL(VERDICT_NONFINITE, guest_verdict(bench, &b, 1, 1));
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, 2));
    guest_offers(bench, &b, 1);
    CHECK_EQUAL(VERDICT_DUPLICATE, guest_verdict(bench, &b, 1, 1));
    bench_destroy(&bench);
}

static void what_the_operator_has_ordered_survives(void)
{
    struct bench *bench = treasure_life(&store);
    struct hub_saved saved = {.theta = store.theta, .state = store.state};
    struct guest a, b;
    struct why why;

    a = guest_alone(bench);
    b = guest_comes(bench, "b");
    (void)bench_order(bench, COMMAND_PIN, "b");
    (void)bench_order(bench, COMMAND_DRAIN, "a");
    (void)bench_order(bench, COMMAND_CHECKPOINT, "");
    CHECK_CONTAINS(" b\npinned\n", store.state);
    CHECK_CONTAINS(" a\ndrained\n", store.state);
    bench_destroy(&bench);
    bench = bench_new();
    saved.schema = bench->schema;
    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    guest_comes_again(bench, &b);
    CHECK(bench_node(bench, "b")->pinned);
    guest_comes_again(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &a));
    CHECK(guest_heard(bench, &a, MSG_STOP) != NULL);
    guest_gives_last(bench, &a, 1, 4);
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    CHECK_EQUAL(1, bench_look(bench)->version);
    hand_forget(&bench->hand);
    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    bench_destroy(&bench);
}

void add_hub_recover_tests(CU_pSuite suite)
{
    TEST(nodes_keep_complete_versions);
    TEST(a_small_model_is_kept_and_not_drowned_in_manifests);
    TEST(the_first_parameters_are_kept_before_anything_is_merged);
    TEST(what_is_being_uploaded_is_not_in_what_is_kept);
    TEST(nobody_keeps_what_is_not_the_centre);
    TEST(a_node_has_a_newer_version_than_the_disk);
    TEST(what_the_disk_has_is_kept_when_no_node_has_more);
    TEST(a_hub_waits_so_long_for_nodes_that_are_away);
    TEST(epochs_never_go_back);
    TEST(a_manifest_of_another_key_is_an_offence);
    TEST(a_damaged_chunk_is_noticed);
    TEST(nobody_passes_off_one_version_as_another);
    TEST(who_is_asked_and_gives_nothing_is_not_waited_for);
    TEST(a_branch_that_was_left_is_not_taken);
    TEST(an_exchange_merged_in_part_keeps_its_verdicts);
    TEST(what_the_operator_has_ordered_survives);
}
