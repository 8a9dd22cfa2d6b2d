/* A hub that has lost its centre, or a part of it, and what its nodes keep. */
#include <math.h>
#include <string.h>

#include "codec/manifest.h"
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

/* What a node keeps. */
struct treasure {
    unsigned char manifest[4096];
    size_t bytes;
    uint64_t version, epoch, merged;
    float value[BENCH_CHUNKS]; /* all values of a chunk are the same */
};

/* A hub's next life does not begin before nodes could come back. */
#define RECOVERY HUB_RECOVERY

static struct bench *new_life(void)
{
    struct bench *bench = bench_new();

    bench->config.keeping = 1000000;
    bench->config.mac_key[0] = 9;
    store_lend(&store, bench);
    bench->config.evaluate = NULL;
    return bench;
}

/* What the guest has been told to keep last. */
static struct treasure kept_by(const struct bench *bench,
                               const struct guest *guest)
{
    const struct hand_sent *keep =
        hand_last(&bench->hand, guest->bulk, MSG_KEEP);
    struct treasure treasure = {.bytes = 0};

    CHECK(keep != NULL);
    if (!keep ||
        !CHECK(keep->payload->size <= sizeof treasure.manifest))
        return treasure;
    treasure.bytes = keep->payload->size;
    treasure.version = keep->msg.keep.version;
    treasure.epoch = keep->msg.keep.epoch;
    treasure.merged = keep->msg.keep.merged;
    memcpy(treasure.manifest, keep->payload->bytes, treasure.bytes);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        treasure.value[i] =
            (float)guest_result(bench, guest, treasure.merged, i);
    return treasure;
}

/* A run of guest a, which gives 0.5 `rounds` times; what it then keeps. */
static struct treasure train(struct bench *bench, struct guest *a,
                             uint64_t rounds)
{
    struct treasure treasure;

    bench_open(bench);
    *a = guest_comes(bench, "a");
    guest_founds(bench, a, 1);
    for (uint64_t i = 1; i <= rounds; i++) {
        guest_lives(bench, a, SECOND);
        guest_gives(bench, a, i, 0.5);
        guest_returns(bench, a, i);
    }
    treasure = kept_by(bench, a);
    a->hello.run = 7;
    a->hello.epoch = treasure.epoch;
    a->hello.kept = 1 + treasure.version;
    a->hello.base_version = treasure.version;
    return treasure;
}

/* The guest answers the start `give`. */
static void give_manifest(struct bench *bench, const struct guest *guest,
                          const struct treasure *treasure)
{
    struct blob *payload = blob_new(bench->hand.pool, treasure->bytes);
    struct msg msg = {.kind = MSG_KEPT};

    msg.kept.version = treasure->version;
    memcpy(payload->bytes, treasure->manifest, treasure->bytes);
    hand_say(&bench->hand, guest->bulk, &msg, payload);
    blob_unref(&payload);
}

static void give(struct bench *bench, struct guest *guest,
                 const struct treasure *treasure)
{
    give_manifest(bench, guest, treasure);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        guest_delivers(bench, guest, 0, i, (double)treasure->value[i]);
}

static enum start start_of(const struct bench *bench,
                           const struct guest *guest)
{
    return (enum start)guest_heard(bench, guest, MSG_WELCOME)->welcome.start;
}

/* Goes on from the disk as it was after so many rounds; `rounds` more are only
 * with a. */
static struct bench *resume(struct guest *a, struct treasure *treasure)
{
    struct bench *bench = new_life();
    struct store before;
    struct hub_saved saved = {.theta = before.theta, .state = before.state};
    struct why why;

    bench->config.save_interval = 1500 * MILLISECOND;
    *treasure = train(bench, a, 4);
    CHECK_EQUAL(4, treasure->version);
    bench_destroy(&bench);
    before = store;
    CHECK(before.version < 4);
    bench = new_life();
    saved.schema = bench->schema;
    bench->config.life = 5;
    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    return bench;
}

static const char *restored(const struct bench *bench)
{
    const struct note *note = hand_note(&bench->hand, NOTE_RESTORED);

    return note ? note->text : "";
}

static void nodes_keep_complete_versions(void)
{
    struct bench *bench = new_life();
    struct manifest manifest;
    struct treasure treasure;
    struct guest a;
    float values[4];

    treasure = train(bench, &a, 2);
    CHECK_EQUAL(2, treasure.version);
    CHECK_EQUAL(2, treasure.merged);
    CHECK_EQUAL(bench_look(bench)->epoch, treasure.epoch);
    if (CHECK(manifest_read(&manifest, treasure.manifest, treasure.bytes))) {
        CHECK(manifest_is_genuine(&manifest, bench->config.mac_key));
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

static void a_small_model_is_not_drowned_in_manifests(void)
{
    struct bench *bench = new_life();
    struct guest a;

    bench->config.keeping = 0;
    a = guest_alone(bench);
    for (uint64_t i = 1; i <= 20; i++) {
        guest_lives(bench, &a, SECOND);
        guest_gives(bench, &a, i, 0.5);
        guest_returns(bench, &a, i);
    }
    CHECK_EQUAL(0, guest_heard_count(bench, &a, MSG_KEEP));
    bench_destroy(&bench);
}

static void nobody_keeps_what_is_not_the_centre(void)
{
    struct bench *bench = new_life();
    struct guest a;

    bench->config.policy.receive = &receive_leader;
    a = guest_alone(bench);
    guest_lives(bench, &a, SECOND);
    guest_gives(bench, &a, 1, 0.5);
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(0, guest_heard_count(bench, &a, MSG_KEEP));
    bench_destroy(&bench);
}

static void a_node_has_a_newer_version_than_the_disk(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = resume(&a, &treasure);

    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GIVE, start_of(bench, &a));
    give(bench, &a, &treasure);
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    CHECK_EQUAL(4, guest_heard(bench, &a, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(4, bench_look(bench)->version);
    CHECK_CONTAINS("version 4 instead of version", restored(bench));
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
    struct bench *bench = resume(&a, &treasure);
    uint64_t version = bench_look(bench)->version;

    a.hello.kept = 1 + version;
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    CHECK_EQUAL(version, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void a_hub_waits_so_long_for_nodes_that_are_away(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = resume(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    CHECK_EQUAL(START_HOLD, start_of(bench, &b));
    guest_lives(bench, &b, RECOVERY - 500 * MILLISECOND);
    CHECK_EQUAL(START_HOLD, start_of(bench, &b));
    CHECK_CONTAINS("asking the nodes", bench_look(bench)->state);
    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(START_TAKE, start_of(bench, &b));
    bench_destroy(&bench);
}

static void epochs_never_go_back(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = resume(&a, &treasure);

    a.hello.epoch = (uint64_t)40 << 32 | 3;
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME)->welcome.epoch >=
          (uint64_t)41 << 32);
    CHECK(bench_look(bench)->epoch >= (uint64_t)41 << 32);
    bench_destroy(&bench);
    bench = resume(&a, &treasure);
    CHECK_EQUAL(6, bench_look(bench)->epoch >> 32);
    bench_destroy(&bench);
}

/* An empty disk, perhaps on another host. */
static struct bench *lose_all(struct guest *a, struct treasure *treasure)
{
    struct bench *bench = new_life();

    *treasure = train(bench, a, 3);
    bench_destroy(&bench);
    bench = new_life();
    bench->config.run = 1234;
    bench_open(bench);
    return bench;
}

static void a_hub_with_nothing_goes_on_from_a_node(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = lose_all(&a, &treasure);

    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, start_of(bench, &a));
    guest_lives(bench, &a, RECOVERY + SECOND);
    CHECK_EQUAL(START_GIVE, start_of(bench, &a));
    give(bench, &a, &treasure);
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_TEXT("version 3", restored(bench));
    guest_gives(bench, &a, 4, 0.5);
    CHECK_NEAR(3, guest_result(bench, &a, 4, 0), 0);
    bench_destroy(&bench);
}

static void a_founder_is_stopped_by_who_keeps_a_centre(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    CHECK_EQUAL(START_FOUND, start_of(bench, &b));
    guest_delivers(bench, &b, 0, 0, 9);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, start_of(bench, &b));
    guest_delivers(bench, &b, 0, 1, 9);
    guest_delivers(bench, &b, 0, 2, 9);
    CHECK(!bench_look(bench)->founded);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    give(bench, &a, &treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_TAKE, start_of(bench, &b));
    bench_destroy(&bench);
}

static void an_empty_hub_waits_before_it_founds(void)
{
    struct bench *bench = new_life();
    struct treasure treasure;
    struct guest a, b;

    treasure = train(bench, &a, 3);
    bench_destroy(&bench);
    bench = new_life();
    bench->config.run = 1234;
    bench->config.recovery = HUB_RECOVERY;
    bench_open(bench);
    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    CHECK_EQUAL(START_HOLD, start_of(bench, &b));
    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(START_HOLD, start_of(bench, &b));
    guest_comes_again(bench, &a);
    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(START_GIVE, start_of(bench, &a));
    give(bench, &a, &treasure);
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_TAKE, start_of(bench, &b));
    bench_destroy(&bench);
}

static void an_empty_hub_founds_when_nobody_keeps_anything(void)
{
    struct bench *bench = new_life();
    struct guest a;

    bench->config.recovery = HUB_RECOVERY;
    bench_open(bench);
    a = guest_new(bench, "a");
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, start_of(bench, &a));
    guest_lives(bench, &a, HUB_RECOVERY + 500 * MILLISECOND);
    CHECK_EQUAL(START_FOUND, start_of(bench, &a));
    bench_destroy(&bench);
}

static void a_bulk_connection_that_comes_late_is_waited_for(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = lose_all(&a, &treasure);

    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY + 3 * SECOND);
    CHECK_EQUAL(START_HOLD, start_of(bench, &a));
    guest_lives(bench, &a, 3 * SECOND);
    CHECK_CONTAINS("no bulk connection", restored(bench));
    CHECK(!bench_look(bench)->recovering);
    bench_destroy(&bench);
}

static void once_something_is_merged_it_is_too_late(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    b.hello.lineage = 99;
    guest_comes_again(bench, &b);
    guest_founds(bench, &b, 9);
    guest_gives(bench, &b, 1, 1);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_TAKE, start_of(bench, &a));
    CHECK_CONTAINS("it keeps version 3",
                   hand_note(&bench->hand, NOTE_REFUSED)->text);
    CHECK_EQUAL(1234, bench_look(bench)->run);
    bench_destroy(&bench);
}

static void a_manifest_of_another_key_is_an_offence(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = resume(&a, &treasure);
    uint64_t version = bench_look(bench)->version;
    unsigned char key[MANIFEST_KEY_BYTES] = {1};

    manifest_seal(treasure.manifest, key);
    guest_comes_again(bench, &a);
    give_manifest(bench, &a, &treasure);
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK_CONTAINS("not this hub's", restored(bench));
    CHECK_EQUAL(version, bench_look(bench)->version);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    bench_destroy(&bench);
}

static void a_damaged_chunk_is_noticed(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = resume(&a, &treasure);
    uint64_t version = bench_look(bench)->version;

    treasure.value[1] += 1e-6f;
    guest_comes_again(bench, &a);
    give(bench, &a, &treasure);
    CHECK_CONTAINS("not as the hub had sent it", restored(bench));
    CHECK_EQUAL(version, bench_look(bench)->version);
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    bench_destroy(&bench);
}

static void nobody_passes_off_one_version_as_another(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = resume(&a, &treasure);
    uint64_t version = bench_look(bench)->version;

    a.hello.kept = 100;
    guest_comes_again(bench, &a);
    give(bench, &a, &treasure);
    CHECK_CONTAINS("not what it said", restored(bench));
    CHECK_EQUAL(version, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* Two nodes with the same version: a gives half of it and is gone. */
static void another_holder_is_asked_when_the_first_is_gone(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    guest_comes_again(bench, &a);
    b = guest_new(bench, "b");
    b.hello = a.hello;
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    CHECK_EQUAL(START_GIVE, start_of(bench, &a));
    CHECK_EQUAL(START_HOLD, start_of(bench, &b));
    give_manifest(bench, &a, &treasure);
    guest_delivers(bench, &a, 0, 0, (double)treasure.value[0]);
    guest_breaks(bench, &a);
    CHECK_EQUAL(START_GIVE, start_of(bench, &b));
    give(bench, &b, &treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_GO, start_of(bench, &b));
    bench_destroy(&bench);
}

static void the_newest_of_two_holders_is_asked(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello = a.hello;
    b.hello.node_low = 77;
    b.hello.kept--;
    guest_comes_again(bench, &b);
    guest_comes_again(bench, &a);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    guest_pings(bench, &a, 1);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    CHECK_EQUAL(START_GIVE, start_of(bench, &a));
    CHECK_EQUAL(START_HOLD, start_of(bench, &b));
    bench_destroy(&bench);
}

static void who_is_asked_and_gives_nothing_is_not_waited_for(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = resume(&a, &treasure);
    uint64_t version = bench_look(bench)->version;

    guest_comes_again(bench, &a);
    guest_lives(bench, &a, 11 * SECOND);
    CHECK_CONTAINS("sends nothing", restored(bench));
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    CHECK_EQUAL(version, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* What nodes keep of a life that the disk's has superseded leads astray. */
static void a_branch_that_was_left_is_not_taken(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = new_life();
    struct store before;
    struct hub_saved saved = {.theta = before.theta, .state = before.state};
    struct why why;

    treasure = train(bench, &a, 4);
    bench_destroy(&bench);
    bench = new_life();
    bench->config.save_interval = SECOND;
    bench->config.life = 3;
    (void)train(bench, &a, 2);
    guest_lives(bench, &a, 2 * SECOND);
    before = store;
    bench_destroy(&bench);
    bench = new_life();
    saved.schema = bench->schema;
    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    a.hello.kept = 1 + treasure.version;
    guest_comes_again(bench, &a);
    give(bench, &a, &treasure);
    CHECK_CONTAINS("gone on from an older one", restored(bench));
    CHECK_EQUAL(before.version, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void a_hub_that_was_superseded_steps_down(void)
{
    struct bench *bench = new_life();
    struct guest a = guest_alone(bench);
    struct guest b = guest_new(bench, "b");

    guest_gives(bench, &a, 1, 0.5);
    b.hello.run = 7;
    b.hello.epoch = (uint64_t)1 << 32;
    guest_hello(bench, &b);
    CHECK(hand_note(&bench->hand, NOTE_SUPERSEDED) != NULL);
    CHECK(bench_look(bench)->superseded);
    CHECK(hub_ended(bench->hub));
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK(hand_dropped(&bench->hand, b.control));
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &a));
    bench_destroy(&bench);
}

static void a_higher_epoch_of_another_run_means_nothing(void)
{
    struct bench *bench = new_life();
    struct guest a = guest_alone(bench);
    struct guest b = guest_new(bench, "b");

    b.hello.run = 8;
    b.hello.epoch = (uint64_t)1 << 32;
    guest_hello(bench, &b);
    CHECK(!bench_look(bench)->superseded);
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    bench_destroy(&bench);
}

/* What was merged of an exchange in part is known in the hub's next life. */
static void an_exchange_merged_in_part_keeps_its_verdicts(void)
{
    struct bench *bench = new_life();
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
    treasure = kept_by(bench, &a);
    bench_destroy(&bench);
    bench = new_life();
    bench->config.run = 1234;
    bench_open(bench);
    a.hello.run = b.hello.run = 7;
    a.hello.kept = 1 + treasure.version;
    guest_comes_again(bench, &a);
    guest_lives(bench, &a, RECOVERY + SECOND);
    give(bench, &a, &treasure);
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
    struct bench *bench = new_life();
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
    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    bench_destroy(&bench);
}

void add_hub_recover_tests(CU_pSuite suite)
{
    TEST(nodes_keep_complete_versions);
    TEST(a_small_model_is_not_drowned_in_manifests);
    TEST(nobody_keeps_what_is_not_the_centre);
    TEST(a_node_has_a_newer_version_than_the_disk);
    TEST(what_the_disk_has_is_kept_when_no_node_has_more);
    TEST(a_hub_waits_so_long_for_nodes_that_are_away);
    TEST(epochs_never_go_back);
    TEST(a_hub_with_nothing_goes_on_from_a_node);
    TEST(a_founder_is_stopped_by_who_keeps_a_centre);
    TEST(an_empty_hub_waits_before_it_founds);
    TEST(an_empty_hub_founds_when_nobody_keeps_anything);
    TEST(a_bulk_connection_that_comes_late_is_waited_for);
    TEST(once_something_is_merged_it_is_too_late);
    TEST(a_manifest_of_another_key_is_an_offence);
    TEST(a_damaged_chunk_is_noticed);
    TEST(nobody_passes_off_one_version_as_another);
    TEST(another_holder_is_asked_when_the_first_is_gone);
    TEST(the_newest_of_two_holders_is_asked);
    TEST(who_is_asked_and_gives_nothing_is_not_waited_for);
    TEST(a_branch_that_was_left_is_not_taken);
    TEST(a_hub_that_was_superseded_steps_down);
    TEST(a_higher_epoch_of_another_run_means_nothing);
    TEST(an_exchange_merged_in_part_keeps_its_verdicts);
    TEST(what_the_operator_has_ordered_survives);
}
