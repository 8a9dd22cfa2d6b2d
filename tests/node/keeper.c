#include "tests/node/keeper.h"

#include "codec/manifest.h"

struct blob *keeper_manifest(struct desk *desk, uint32_t chunks,
                             uint64_t version, const uint64_t *versions)
{
    static const unsigned char key[MANIFEST_KEY_BYTES];
    struct blob *blob = blob_new(desk->hand.pool, manifest_bytes(chunks, 3));

    manifest_begin(blob->bytes, chunks, "run", 3);
    for (uint32_t i = 0; i < chunks; i++)
        manifest_add(blob->bytes, i, versions ? versions[i] : version, NULL, 0);
    manifest_seal(blob->bytes, key);
    return blob;
}

void keeper_says(struct desk *desk, uint64_t version, uint64_t merged,
                 const uint64_t *versions)
{
    struct blob *manifest =
        keeper_manifest(desk, DESK_CHUNKS, version, versions);
    struct msg msg = {.kind = MSG_KEEP};

    msg.keep.epoch = desk->welcome.epoch;
    msg.keep.version = version;
    msg.keep.merged = merged;
    hand_say(&desk->hand, PEER_BULK, &msg, manifest);
    blob_unref(&manifest);
}

void keeper_comes_back(struct desk *desk, uint64_t merged, enum start start)
{
    desk_breaks(desk);
    desk->welcome.epoch += LIFE;
    desk->welcome.merged = merged;
    desk_connects(desk);
    desk_welcomes(desk, start);
}

void keeper_saves(struct desk *desk, uint64_t merged)
{
    struct msg mark = {.kind = MSG_SAVING};

    mark.saving.merged = merged;
    hand_say(&desk->hand, PEER_BULK, &mark, NULL);
}
