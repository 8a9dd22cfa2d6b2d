#include "tests/hub/treasure.h"

#include <string.h>

#include "tests/check.h"

struct hub_fixture *treasure_life(struct store *store)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.keeping = 1000000;
    f->config.seal.key[0] = 9;
    store_lend(store, f);
    f->config.evaluate = NULL;
    return f;
}

struct hub_fixture *treasure_after(struct store *store, struct store *before,
                                   struct fake_node *a,
                                   struct treasure *treasure)
{
    struct hub_fixture *f = treasure_life(store);

    f->config.save_interval = 1500 * MILLISECOND;
    *treasure = treasure_train(f, a, 4);
    CHECK_EQUAL(4, treasure->version);
    hub_fixture_destroy(&f);
    *before = *store;
    CHECK(before->version < 4);
    f = treasure_life(store);
    f->config.life = 5;
    return f;
}

void treasure_open(struct hub_fixture *f, const struct store *before)
{
    const struct hub_saved saved = {
        .schema = f->schema, .theta = before->theta, .state = before->state};
    struct why why;

    hub_fixture_open(f);
    CHECK_OK(hub_restore(f->hub, &saved, &why));
}

struct hub_fixture *treasure_resume(struct store *store, struct fake_node *a,
                                    struct treasure *treasure)
{
    struct store before;
    struct hub_fixture *f = treasure_after(store, &before, a, treasure);

    treasure_open(f, &before);
    return f;
}

/* The last of the manifests that it was sent, or NULL. */
static const struct hand_sent *manifest_of(const struct hub_fixture *f,
                                           const struct fake_node *node,
                                           unsigned *count)
{
    const struct hand_sent *last = NULL;
    unsigned told = hand_count(&f->hand, node->bulk, MSG_KEEP);

    *count = 0;
    for (unsigned i = 0; i < told; i++) {
        const struct hand_sent *keep =
            hand_nth(&f->hand, node->bulk, MSG_KEEP, i);

        last = keep->payload ? keep : last;
        *count += keep->payload != NULL;
    }
    return last;
}

unsigned treasure_count(const struct hub_fixture *f,
                        const struct fake_node *node)
{
    unsigned count;

    (void)manifest_of(f, node, &count);
    return count;
}

struct treasure treasure_of(const struct hub_fixture *f,
                            const struct fake_node *node)
{
    unsigned count;
    const struct hand_sent *keep = manifest_of(f, node, &count);
    struct treasure treasure = {.bytes = 0};

    CHECK(keep != NULL);
    if (!keep || !CHECK(keep->payload->size <= sizeof treasure.manifest))
        return treasure;
    treasure.bytes = keep->payload->size;
    treasure.version = keep->msg.keep.version;
    treasure.epoch = keep->msg.keep.epoch;
    treasure.merged = keep->msg.keep.merged;
    memcpy(treasure.manifest, keep->payload->bytes, treasure.bytes);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        treasure.value[i] =
            (float)fake_node_result(f, node, treasure.merged, i);
    return treasure;
}

struct treasure treasure_train(struct hub_fixture *f, struct fake_node *a,
                               uint64_t rounds)
{
    struct treasure treasure;

    hub_fixture_open(f);
    *a = fake_node_comes(f, "a");
    fake_node_founds(f, a, 1);
    for (uint64_t i = 1; i <= rounds; i++) {
        fake_node_lives(f, a, SECOND);
        fake_node_gives(f, a, i, 0.5);
        fake_node_returns(f, a, i);
    }
    treasure = treasure_of(f, a);
    a->hello.run = 7;
    a->hello.epoch = treasure.epoch;
    a->hello.kept = 1 + treasure.version;
    a->hello.kept_life = (uint32_t)epoch_life(treasure.epoch);
    a->hello.base_version = treasure.version;
    return treasure;
}

void treasure_proves(struct hub_fixture *f, const struct fake_node *node,
                     const struct treasure *treasure)
{
    struct blob *payload = blob_new(f->hand.pool, treasure->bytes);
    struct msg msg = {.kind = MSG_KEPT};

    msg.kept.version = treasure->version;
    memcpy(payload->bytes, treasure->manifest, treasure->bytes);
    hand_say(&f->hand, node->bulk, &msg, payload);
    blob_unref(&payload);
}

void treasure_given(struct hub_fixture *f, struct fake_node *node,
                    const struct treasure *treasure)
{
    treasure_proves(f, node, treasure);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        fake_node_delivers(f, node, 0, i, (double)treasure->value[i]);
}

enum start treasure_start(const struct hub_fixture *f,
                          const struct fake_node *node)
{
    return (enum start)fake_node_heard(f, node, MSG_WELCOME)->welcome.start;
}

const char *treasure_note(const struct hub_fixture *f)
{
    const struct note *note = hand_note(&f->hand, NOTE_RESTORED);

    return note ? note->text : "";
}
