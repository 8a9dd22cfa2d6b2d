/* A hub without keys meets what another hub has sealed, or nobody. */
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/hub/kept_centre.h"

static struct store store, disk;

/* Its directory is lost, and with it what it sealed by. */
static struct hub_fixture *lose_seal(struct fake_node *a,
                                     struct kept_centre *kept)
{
    struct hub_fixture *f = kept_centre_life(&store);

    *kept = kept_centre_train(f, a, 3);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.seal.key[0] = 1;
    f->config.seal.keyless = true;
    f->config.recovery = HUB_RECOVERY;
    return f;
}

static void without_keys_a_hub_with_nothing_takes_what_another_has_sealed(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = lose_seal(&a, &kept);

    hub_fixture_open(f);
    fake_node_comes_again(f, &a);
    fake_node_lives(f, &a, HUB_RECOVERY);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_TEXT("version 3", kept_centre_note(f));
    hub_fixture_destroy(&f);
}

/* The same in life `life`, under a key of one's own. */
static void forge(struct kept_centre *kept, uint64_t life)
{
    static const unsigned char key[MANIFEST_KEY_BYTES] = {2};
    struct manifest manifest;
    unsigned char rows[sizeof kept->manifest];
    char state[2048];
    size_t row_bytes;
    const char *epoch, *end;
    uint32_t size;

    CHECK(manifest_read(&manifest, kept->manifest, kept->bytes));
    epoch = strstr(manifest.state, "epoch ");
    end = strchr(epoch, '\n');
    size = (uint32_t)snprintf(
        state, sizeof state, "%.*sepoch %llu%.*s",
        (int)(epoch - manifest.state), manifest.state,
        (unsigned long long)(life << 32),
        (int)(manifest.state + manifest.state_bytes - end), end);
    row_bytes = (size_t)(manifest.hash - manifest.rows);
    memcpy(rows, manifest.rows, row_bytes);
    manifest_begin(kept->manifest, FIXTURE_CHUNKS, state, size);
    memcpy(kept->manifest + 8 + size, rows, row_bytes);
    manifest_seal(kept->manifest, key);
    kept->epoch = life << 32;
    kept->bytes = manifest_bytes(FIXTURE_CHUNKS, size);
}

/* What the hub says to the first that is offered. */
static void refused(void (*spoil)(struct kept_centre *), const char *words)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = lose_seal(&a, &kept);

    hub_fixture_open(f);
    spoil(&kept);
    a.hello.kept_life = (uint32_t)epoch_life(kept.epoch);
    fake_node_comes_again(f, &a);
    fake_node_lives(f, &a, HUB_RECOVERY);
    kept_centre_proves(f, &a, &kept);
    CHECK_CONTAINS(words, kept_centre_note(f));
    CHECK_EQUAL(0, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

static void damage(struct kept_centre *kept)
{
    kept->manifest[8 + 4] ^= 1;
}

static void add_lives(struct kept_centre *kept)
{
    forge(kept, UINT64_C(1) << 31);
}

static void but_not_what_was_damaged_nor_what_no_hub_can_have_sealed(void)
{
    refused(damage, "not this hub's");
    refused(add_lives, "no hub has had so many lives");
}

/* A hub without keys cannot tell a forged centre from that of a hub that took
 * over, and has one of its own. */
static void without_keys_another_seal_is_not_taken_in_place_of_the_disk(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_after(&store, &disk, &a, &kept);
    unsigned char key[MANIFEST_KEY_BYTES] = {1};
    uint64_t version;

    f->config.seal.keyless = true;
    kept_centre_open(f, &disk);
    version = hub_fixture_look(f)->version;
    manifest_seal(kept.manifest, key);
    fake_node_comes_again(f, &a);
    kept_centre_proves(f, &a, &kept);
    CHECK_CONTAINS("start this one with an empty one", kept_centre_note(f));
    CHECK_EQUAL(version, hub_fixture_look(f)->version);
    CHECK(!hand_dropped(&f->hand, a.control));
    CHECK(!hub_ended(f->hub));
    hub_fixture_destroy(&f);
}

void add_hub_recover_sealed_tests(CU_pSuite suite)
{
    TEST(without_keys_a_hub_with_nothing_takes_what_another_has_sealed);
    TEST(but_not_what_was_damaged_nor_what_no_hub_can_have_sealed);
    TEST(without_keys_another_seal_is_not_taken_in_place_of_the_disk);
}
