#include "tests/hub/treasure.h"

#include <string.h>

#include "tests/check.h"

struct bench *treasure_life(struct store *store)
{
    struct bench *bench = bench_new();

    bench->config.keeping = 1000000;
    bench->config.seal.key[0] = 9;
    store_lend(store, bench);
    bench->config.evaluate = NULL;
    return bench;
}

struct bench *treasure_after(struct store *store, struct store *before,
                             struct guest *a, struct treasure *treasure)
{
    struct bench *bench = treasure_life(store);

    bench->config.save_interval = 1500 * MILLISECOND;
    *treasure = treasure_train(bench, a, 4);
    CHECK_EQUAL(4, treasure->version);
    bench_destroy(&bench);
    *before = *store;
    CHECK(before->version < 4);
    bench = treasure_life(store);
    bench->config.life = 5;
    return bench;
}

void treasure_open(struct bench *bench, const struct store *before)
{
    const struct hub_saved saved = {.schema = bench->schema,
                                    .theta = before->theta,
                                    .state = before->state};
    struct why why;

    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
}

struct bench *treasure_resume(struct store *store, struct guest *a,
                              struct treasure *treasure)
{
    struct store before;
    struct bench *bench = treasure_after(store, &before, a, treasure);

    treasure_open(bench, &before);
    return bench;
}

/* The last of the manifests that it was sent, or NULL. */
static const struct hand_sent *manifest_of(const struct bench *bench,
                                           const struct guest *guest,
                                           unsigned *count)
{
    const struct hand_sent *last = NULL;
    unsigned told = hand_count(&bench->hand, guest->bulk, MSG_KEEP);

    *count = 0;
    for (unsigned i = 0; i < told; i++) {
        const struct hand_sent *keep =
            hand_nth(&bench->hand, guest->bulk, MSG_KEEP, i);

        last = keep->payload ? keep : last;
        *count += keep->payload != NULL;
    }
    return last;
}

unsigned treasure_count(const struct bench *bench, const struct guest *guest)
{
    unsigned count;

    (void)manifest_of(bench, guest, &count);
    return count;
}

struct treasure treasure_of(const struct bench *bench,
                            const struct guest *guest)
{
    unsigned count;
    const struct hand_sent *keep = manifest_of(bench, guest, &count);
    struct treasure treasure = {.bytes = 0};

    CHECK(keep != NULL);
    if (!keep || !CHECK(keep->payload->size <= sizeof treasure.manifest))
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

struct treasure treasure_train(struct bench *bench, struct guest *a,
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
    treasure = treasure_of(bench, a);
    a->hello.run = 7;
    a->hello.epoch = treasure.epoch;
    a->hello.kept = 1 + treasure.version;
    a->hello.kept_life = (uint32_t)epoch_life(treasure.epoch);
    a->hello.base_version = treasure.version;
    return treasure;
}

void treasure_proves(struct bench *bench, const struct guest *guest,
                     const struct treasure *treasure)
{
    struct blob *payload = blob_new(bench->hand.pool, treasure->bytes);
    struct msg msg = {.kind = MSG_KEPT};

    msg.kept.version = treasure->version;
    memcpy(payload->bytes, treasure->manifest, treasure->bytes);
    hand_say(&bench->hand, guest->bulk, &msg, payload);
    blob_unref(&payload);
}

void treasure_given(struct bench *bench, struct guest *guest,
                    const struct treasure *treasure)
{
    treasure_proves(bench, guest, treasure);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        guest_delivers(bench, guest, 0, i, (double)treasure->value[i]);
}

enum start treasure_start(const struct bench *bench, const struct guest *guest)
{
    return (enum start)guest_heard(bench, guest, MSG_WELCOME)->welcome.start;
}

const char *treasure_note(const struct bench *bench)
{
    const struct note *note = hand_note(&bench->hand, NOTE_RESTORED);

    return note ? note->text : "";
}
