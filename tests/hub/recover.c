/* A hub that has lost its centre, or a part of it, and what its nodes keep. */
#include <math.h>
#include <string.h>

#include "codec/manifest.h"
#include "tests/check.h"
#include "tests/hub/kept_centre.h"

static struct store store;

static void nodes_keep_complete_versions(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct manifest manifest;
    struct kept_centre kept;
    struct fake_node a;
    float values[4];

    kept = kept_centre_train(f, &a, 2);
    CHECK_EQUAL(2, kept.version);
    CHECK_EQUAL(2, kept.merged);
    CHECK_EQUAL(hub_fixture_look(f)->epoch, kept.epoch);
    if (CHECK(manifest_read(&manifest, kept.manifest, kept.bytes))) {
        CHECK(manifest_is_genuine(&manifest, f->config.seal.key));
        for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
            for (unsigned j = 0; j < 4; j++)
                values[j] = kept.value[i];
            CHECK_EQUAL(2, manifest_version(&manifest, i));
            CHECK(manifest_holds(&manifest, i, values,
                                 hub_fixture_length(i) * sizeof *values));
        }
    }
    hub_fixture_destroy(&f);
}

/* Three in a hundred of what it is sent would be none. */
static void a_small_model_is_kept_and_not_drowned_in_manifests(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct fake_node a;
    unsigned told;

    f->config.keeping = 0;
    a = fake_node_alone(f);
    for (uint64_t i = 1; i <= 20; i++) {
        fake_node_lives(f, &a, SECOND);
        fake_node_gives(f, &a, i, 0.5);
        fake_node_returns(f, &a, i);
    }
    told = kept_centre_count(f, &a);
    CHECK(told >= 5 && told <= 11);
    hub_fixture_destroy(&f);
}

/* Else who founds a run that is lost at once has nothing to show for it. */
static void the_first_parameters_are_kept_before_anything_is_merged(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct fake_node a = fake_node_alone(f);

    CHECK_EQUAL(1, kept_centre_count(f, &a));
    CHECK_EQUAL(0, kept_centre_of(f, &a).version);
    CHECK_EQUAL(0, kept_centre_of(f, &a).merged);
    hub_fixture_destroy(&f);
}

/* Nothing has come of exchange 7 while version 6 is told: a node that took it
 * for a part of that would not offer it again. */
static void what_is_being_uploaded_is_not_in_what_is_kept(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct kept_centre kept;
    struct fake_node a;

    (void)kept_centre_train(f, &a, 5);
    fake_node_gives(f, &a, 6, 0.5);
    fake_node_returns(f, &a, 6);
    fake_node_offers(f, &a, 7);
    fake_node_lives(f, &a, 3 * SECOND);
    kept = kept_centre_of(f, &a);
    CHECK_EQUAL(6, kept.version);
    CHECK_EQUAL(6, kept.merged);
    fake_node_delivers_all(f, &a, 7, 0.5);
    fake_node_lives(f, &a, 3 * SECOND);
    kept = kept_centre_of(f, &a);
    CHECK_EQUAL(7, kept.version);
    CHECK_EQUAL(7, kept.merged);
    hub_fixture_destroy(&f);
}

static void nobody_keeps_what_is_not_the_centre(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct fake_node a;

    f->config.policy.receive = &receive_leader;
    a = fake_node_alone(f);
    fake_node_lives(f, &a, SECOND);
    fake_node_gives(f, &a, 1, 0.5);
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(0, kept_centre_count(f, &a));
    hub_fixture_destroy(&f);
}

static void a_node_has_a_newer_version_than_the_disk(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);

    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_EQUAL(4, fake_node_heard(f, &a, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    CHECK_CONTAINS("version 4 instead of version", kept_centre_note(f));
    fake_node_offers(f, &a, 4);
    CHECK_EQUAL(VERDICT_DUPLICATE, fake_node_verdict(f, &a, 4, 0));
    fake_node_gives(f, &a, 5, 0.5);
    CHECK_NEAR(3.5, fake_node_result(f, &a, 5, 2), 0);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK_EQUAL(5, store.version);
    hub_fixture_destroy(&f);
}

/* m = mu m + D; theta -= D + mu m, with D = -0.5 and m of the last save. */
static void what_a_rule_keeps_goes_back_to_the_disk(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct kept_centre kept;
    struct fake_node a;
    struct store before;
    double velocity;

    f->config.policy.numbers.outer_momentum = 0.5;
    f->config.save_interval = 1500 * MILLISECOND;
    kept = kept_centre_train(f, &a, 4);
    hub_fixture_destroy(&f);
    before = store;
    CHECK(before.version > 0 && before.version < kept.version);
    velocity = 0.5 * (double)before.slot[0][0] - 0.5;
    CHECK(velocity < -0.5);
    f = kept_centre_life(&store);
    f->config.policy.numbers.outer_momentum = 0.5;
    f->config.life = 5;
    kept_centre_open(f, &before);
    fake_node_comes_again(f, &a);
    kept_centre_given(f, &a, &kept);
    CHECK_CONTAINS("state is of the last save", kept_centre_note(f));
    fake_node_gives(f, &a, 5, 0.5);
    CHECK_NEAR((double)kept.value[0] + 0.5 - 0.5 * velocity,
               fake_node_result(f, &a, 5, 0), 1e-6);
    hub_fixture_destroy(&f);
}

static void what_the_disk_has_is_kept_when_no_node_has_more(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);
    uint64_t version = hub_fixture_look(f)->version;

    a.hello.kept = 1 + version;
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_EQUAL(version, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

static void a_hub_waits_so_long_for_nodes_that_are_away(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);

    b = fake_node_other(f);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &b));
    fake_node_lives(f, &b, HUB_RECOVERY - 500 * MILLISECOND);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &b));
    CHECK_CONTAINS("asking the nodes", hub_fixture_look(f)->state);
    fake_node_lives(f, &b, SECOND);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &b));
    hub_fixture_destroy(&f);
}

static void epochs_never_go_back(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);

    a.hello.epoch = (uint64_t)40 << 32 | 3;
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME)->welcome.epoch >= (uint64_t)41
                                                                    << 32);
    CHECK(hub_fixture_look(f)->epoch >= (uint64_t)41 << 32);
    hub_fixture_destroy(&f);
    f = kept_centre_resume(&store, &a, &kept);
    CHECK_EQUAL(6, hub_fixture_look(f)->epoch >> 32);
    hub_fixture_destroy(&f);
}

static void a_manifest_of_another_key_is_an_offence(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);
    uint64_t version = hub_fixture_look(f)->version;
    unsigned char key[MANIFEST_KEY_BYTES] = {1};

    manifest_seal(kept.manifest, key);
    fake_node_comes_again(f, &a);
    kept_centre_proves(f, &a, &kept);
    CHECK(hand_dropped(&f->hand, a.control));
    CHECK_CONTAINS("not this hub's", kept_centre_note(f));
    CHECK_EQUAL(version, hub_fixture_look(f)->version);
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    hub_fixture_destroy(&f);
}

static void a_damaged_chunk_is_noticed(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);
    uint64_t version = hub_fixture_look(f)->version;

    kept.value[1] += 1e-6f;
    fake_node_comes_again(f, &a);
    kept_centre_given(f, &a, &kept);
    CHECK_CONTAINS("not as the hub had sent it", kept_centre_note(f));
    CHECK_EQUAL(version, hub_fixture_look(f)->version);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    hub_fixture_destroy(&f);
}

static void nobody_passes_off_one_version_as_another(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);
    uint64_t version = hub_fixture_look(f)->version;

    a.hello.kept = 100;
    fake_node_comes_again(f, &a); /* it says that it is of this life */
    kept_centre_given(f, &a, &kept);
    CHECK_CONTAINS("not what it said", kept_centre_note(f));
    CHECK_EQUAL(version, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

static void who_is_asked_and_gives_nothing_is_not_waited_for(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);
    uint64_t version = hub_fixture_look(f)->version;

    fake_node_comes_again(f, &a);
    fake_node_lives(f, &a, 11 * SECOND);
    CHECK_CONTAINS("sends nothing", kept_centre_note(f));
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_EQUAL(version, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* What nodes keep of a life that the disk's has superseded leads astray. */
static void a_branch_that_was_left_is_not_taken(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_life(&store);
    struct store before;
    struct why why;

    kept = kept_centre_train(f, &a, 4);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.save_interval = SECOND;
    f->config.life = 3;
    (void)kept_centre_train(f, &a, 2);
    fake_node_lives(f, &a, 2 * SECOND);
    before = store;
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    hub_fixture_open(f);
    CHECK_OK(store_restore(&before, f, before.state, &why));
    a.hello.kept = 1 + kept.version;
    CHECK(kept.version > before.version);
    CHECK(epoch_life(kept.epoch) < a.hello.kept_life);
    fake_node_comes_again(f, &a);
    kept_centre_given(f, &a, &kept);
    CHECK_CONTAINS("not what it said", kept_centre_note(f));
    a.hello.kept_life = (uint32_t)epoch_life(kept.epoch);
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_EQUAL(before.version, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* What was merged of an exchange in part is known in the hub's next life. */
static void an_exchange_merged_in_part_keeps_its_verdicts(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct kept_centre kept;
    struct fake_node a, b;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    b = fake_node_comes(f, "b");
    f->config.nodes = 2;
    fake_node_lives(f, &a, SECOND);
    fake_node_offers(f, &b, 1);
    fake_node_delivers(f, &b, 1, 0, 0.5);
    fake_node_delivers(f, &b, 1, 1, (double)NAN);
    fake_node_delivers(f, &b, 1, 2, 0.5);
    fake_node_lives(f, &a, SECOND);
    fake_node_gives(f, &a, 1, 0.5);
    kept = kept_centre_of(f, &a);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.run = 1234;
    hub_fixture_open(f);
    a.hello.run = b.hello.run = 7;
    a.hello.kept = 1 + kept.version;
    fake_node_comes_again(f, &a);
    fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
    kept_centre_given(f, &a, &kept);
    fake_node_comes_again(f, &b);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, 0));
    CHECK_EQUAL(VERDICT_NONFINITE, fake_node_verdict(f, &b, 1, 1));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, 2));
    fake_node_offers(f, &b, 1);
    CHECK_EQUAL(VERDICT_DUPLICATE, fake_node_verdict(f, &b, 1, 1));
    hub_fixture_destroy(&f);
}

static void what_the_operator_has_ordered_survives(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct fake_node a, b;
    struct why why;

    a = fake_node_alone(f);
    b = fake_node_comes(f, "b");
    (void)hub_fixture_order(f, COMMAND_PIN, "b");
    (void)hub_fixture_order(f, COMMAND_DRAIN, "a");
    (void)hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK_CONTAINS(" b\ndid 0 0 0 0 0 0\npinned\n", store.state);
    CHECK_CONTAINS("\ndrained\nnode ", store.state);
    hub_fixture_destroy(&f);
    f = hub_fixture_new();
    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    fake_node_comes_again(f, &b);
    CHECK(hub_fixture_node(f, "b")->pinned);
    fake_node_comes_again(f, &a);
    fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &a));
    CHECK(fake_node_heard(f, &a, MSG_STOP) != NULL);
    fake_node_gives_last(f, &a, 1, 4);
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    hand_forget(&f->hand);
    a.control = a.bulk = PEER_NONE;
    fake_node_hello(f, &a);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    hub_fixture_destroy(&f);
}

void add_hub_recover_tests(CU_pSuite suite)
{
    TEST(nodes_keep_complete_versions);
    TEST(a_small_model_is_kept_and_not_drowned_in_manifests);
    TEST(the_first_parameters_are_kept_before_anything_is_merged);
    TEST(what_is_being_uploaded_is_not_in_what_is_kept);
    TEST(nobody_keeps_what_is_not_the_centre);
    TEST(a_node_has_a_newer_version_than_the_disk);
    TEST(what_a_rule_keeps_goes_back_to_the_disk);
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
