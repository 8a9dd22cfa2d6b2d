/* A hub without keys meets what another hub has sealed, or nobody. */
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/hub/treasure.h"

static struct store store, disk;

/* Its directory is lost, and with it what it sealed by. */
static struct bench *lose_seal(struct guest *a, struct treasure *treasure)
{
    struct bench *bench = treasure_life(&store);

    *treasure = treasure_train(bench, a, 3);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.seal.key[0] = 1;
    bench->config.seal.open = true;
    bench->config.recovery = HUB_RECOVERY;
    return bench;
}

static void without_keys_a_hub_with_nothing_takes_what_another_has_sealed(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = lose_seal(&a, &treasure);

    bench_open(bench);
    guest_comes_again(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_TEXT("version 3", treasure_note(bench));
    bench_destroy(&bench);
}

/* The same in life `life`, under a key of one's own. */
static void forge(struct treasure *treasure, uint64_t life)
{
    static const unsigned char key[MANIFEST_KEY_BYTES] = {2};
    struct manifest manifest;
    unsigned char rows[sizeof treasure->manifest];
    char state[2048];
    size_t row_bytes;
    const char *epoch, *end;
    uint32_t size;

    CHECK(manifest_read(&manifest, treasure->manifest, treasure->bytes));
    epoch = strstr(manifest.state, "epoch ");
    end = strchr(epoch, '\n');
    size = (uint32_t)snprintf(
        state, sizeof state, "%.*sepoch %llu%.*s",
        (int)(epoch - manifest.state), manifest.state,
        (unsigned long long)(life << 32),
        (int)(manifest.state + manifest.state_bytes - end), end);
    row_bytes = (size_t)(manifest.hash - manifest.rows);
    memcpy(rows, manifest.rows, row_bytes);
    manifest_begin(treasure->manifest, BENCH_CHUNKS, state, size);
    memcpy(treasure->manifest + 8 + size, rows, row_bytes);
    manifest_seal(treasure->manifest, key);
    treasure->epoch = life << 32;
    treasure->bytes = manifest_bytes(BENCH_CHUNKS, size);
}

/* What the hub says to the first that is offered. */
static void refused(void (*spoil)(struct treasure *), const char *words)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = lose_seal(&a, &treasure);

    bench_open(bench);
    spoil(&treasure);
    a.hello.kept_life = (uint32_t)epoch_life(treasure.epoch);
    guest_comes_again(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY);
    treasure_proves(bench, &a, &treasure);
    CHECK_CONTAINS(words, treasure_note(bench));
    CHECK_EQUAL(0, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void damage(struct treasure *treasure)
{
    treasure->manifest[8 + 4] ^= 1;
}

static void add_lives(struct treasure *treasure)
{
    forge(treasure, UINT64_C(1) << 31);
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
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_after(&store, &disk, &a, &treasure);
    unsigned char key[MANIFEST_KEY_BYTES] = {1};
    uint64_t version;

    bench->config.seal.open = true;
    treasure_open(bench, &disk);
    version = bench_look(bench)->version;
    manifest_seal(treasure.manifest, key);
    guest_comes_again(bench, &a);
    treasure_proves(bench, &a, &treasure);
    CHECK_CONTAINS("start this one with an empty one", treasure_note(bench));
    CHECK_EQUAL(version, bench_look(bench)->version);
    CHECK(!hand_dropped(&bench->hand, a.control));
    CHECK(!hub_ended(bench->hub));
    bench_destroy(&bench);
}

void add_hub_recover_sealed_tests(CU_pSuite suite)
{
    TEST(without_keys_a_hub_with_nothing_takes_what_another_has_sealed);
    TEST(but_not_what_was_damaged_nor_what_no_hub_can_have_sealed);
    TEST(without_keys_another_seal_is_not_taken_in_place_of_the_disk);
}
