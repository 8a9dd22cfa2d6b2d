#include "tests/hub/kept_centre.h"

#include <string.h>

#include "tests/check.h"

struct hub_fixture *kept_centre_life(struct store *store)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.keeping = 1000000;
    f->config.seal.key[0] = 9;
    store_lend(store, f);
    f->config.evaluate = NULL;
    return f;
}

struct hub_fixture *kept_centre_after(struct store *store, struct store *before,
                                      struct fake_node *a,
                                      struct kept_centre *kept)
{
    struct hub_fixture *f = kept_centre_life(store);

    f->config.save_interval = 1500 * MILLISECOND;
    *kept = kept_centre_train(f, a, 4);
    CHECK_EQUAL(4, kept->version);
    hub_fixture_destroy(&f);
    *before = *store;
    CHECK(before->version < 4);
    f = kept_centre_life(store);
    f->config.life = 5;
    return f;
}

void kept_centre_open(struct hub_fixture *f, const struct store *before)
{
    const struct hub_saved saved = {.schema = f->schema,
                                    .theta = before->theta,
                                    .slot = {before->slot[0], before->slot[1]},
                                    .state = before->state};
    struct why why;

    hub_fixture_open(f);
    CHECK_OK(hub_restore(f->hub, &saved, &why));
}

struct hub_fixture *kept_centre_resume(struct store *store, struct fake_node *a,
                                       struct kept_centre *kept)
{
    struct store before;
    struct hub_fixture *f = kept_centre_after(store, &before, a, kept);

    kept_centre_open(f, &before);
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

unsigned kept_centre_count(const struct hub_fixture *f,
                           const struct fake_node *node)
{
    unsigned count;

    (void)manifest_of(f, node, &count);
    return count;
}

struct kept_centre kept_centre_of(const struct hub_fixture *f,
                                  const struct fake_node *node)
{
    unsigned count;
    const struct hand_sent *keep = manifest_of(f, node, &count);
    struct kept_centre kept = {.bytes = 0};

    CHECK(keep != NULL);
    if (!keep || !CHECK(keep->payload->size <= sizeof kept.manifest))
        return kept;
    kept.bytes = keep->payload->size;
    kept.version = keep->msg.keep.version;
    kept.epoch = keep->msg.keep.epoch;
    kept.merged = keep->msg.keep.merged;
    memcpy(kept.manifest, keep->payload->bytes, kept.bytes);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        kept.value[i] = (float)fake_node_result(f, node, kept.merged, i);
    return kept;
}

struct kept_centre kept_centre_train(struct hub_fixture *f, struct fake_node *a,
                                     uint64_t rounds)
{
    struct kept_centre kept;

    hub_fixture_open(f);
    *a = fake_node_comes(f, "a");
    fake_node_founds(f, a, 1);
    for (uint64_t i = 1; i <= rounds; i++) {
        fake_node_lives(f, a, SECOND);
        fake_node_gives(f, a, i, 0.5);
        fake_node_returns(f, a, i);
    }
    kept = kept_centre_of(f, a);
    a->hello.run = 7;
    a->hello.epoch = kept.epoch;
    a->hello.kept = 1 + kept.version;
    a->hello.kept_life = (uint32_t)epoch_life(kept.epoch);
    a->hello.base_version = kept.version;
    return kept;
}

void kept_centre_proves(struct hub_fixture *f, const struct fake_node *node,
                        const struct kept_centre *kept)
{
    struct blob *payload = blob_new(f->hand.pool, kept->bytes);
    struct msg msg = {.kind = MSG_KEPT};

    msg.kept.version = kept->version;
    memcpy(payload->bytes, kept->manifest, kept->bytes);
    hand_say(&f->hand, node->bulk, &msg, payload);
    blob_unref(&payload);
}

void kept_centre_given(struct hub_fixture *f, struct fake_node *node,
                       const struct kept_centre *kept)
{
    kept_centre_proves(f, node, kept);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        fake_node_delivers(f, node, 0, i, (double)kept->value[i]);
}

enum start kept_centre_start(const struct hub_fixture *f,
                             const struct fake_node *node)
{
    return (enum start)fake_node_heard(f, node, MSG_WELCOME)->welcome.start;
}

const char *kept_centre_note(const struct hub_fixture *f)
{
    const struct note *note = hand_note(&f->hand, NOTE_RESTORED);

    return note ? note->text : "";
}
