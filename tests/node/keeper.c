#include "tests/node/keeper.h"

#include "codec/manifest.h"

struct blob *keeper_manifest(struct node_fixture *f, uint32_t chunks,
                             uint64_t version, const uint64_t *versions)
{
    static const unsigned char key[MANIFEST_KEY_BYTES];
    struct blob *blob = blob_new(f->hand.pool, manifest_bytes(chunks, 3));

    manifest_begin(blob->bytes, chunks, "run", 3);
    for (uint32_t i = 0; i < chunks; i++)
        manifest_add(blob->bytes, i, versions ? versions[i] : version, NULL, 0);
    manifest_seal(blob->bytes, key);
    return blob;
}

void keeper_says(struct node_fixture *f, uint64_t version, uint64_t merged,
                 const uint64_t *versions)
{
    struct blob *manifest =
        keeper_manifest(f, FIXTURE_CHUNKS, version, versions);
    struct msg msg = {.kind = MSG_KEEP};

    msg.keep.epoch = f->welcome.epoch;
    msg.keep.version = version;
    msg.keep.merged = merged;
    hand_say(&f->hand, PEER_BULK, &msg, manifest);
    blob_unref(&manifest);
}

void keeper_comes_back(struct node_fixture *f, uint64_t merged,
                       enum start start)
{
    node_fixture_breaks(f);
    f->welcome.epoch += LIFE;
    f->welcome.merged = merged;
    node_fixture_connects(f);
    node_fixture_welcomes(f, start);
}

void keeper_saves(struct node_fixture *f, uint64_t merged)
{
    struct msg mark = {.kind = MSG_SAVING};

    mark.saving.merged = merged;
    hand_say(&f->hand, PEER_BULK, &mark, NULL);
}
