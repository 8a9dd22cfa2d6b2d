#include "net/plan.h"

#include "codec/manifest.h"

/* Messages that may wait for a peer: control, and what bulk has above its
 * window. */
enum { CONTROL_LIMIT = 128, BULK_SPARE = 72 };

size_t plan_bulk_bytes(size_t chunk_bytes)
{
    size_t chunk = chunk_bytes ? chunk_bytes : DEFAULT_CHUNK_BYTES;

    return chunk > MANIFEST_ROOM_BYTES ? chunk : MANIFEST_ROOM_BYTES;
}

struct channel_plan channel_plan(const struct net_config *config,
                                 enum channel channel, bool binds,
                                 const struct address *control,
                                 const struct net_keys *keys)
{
    unsigned window = config->window ? config->window : DEFAULT_WINDOW;
    bool bulk = channel == CHANNEL_BULK;

    return (struct channel_plan){
        .channel = channel,
        .binds = binds,
        .address = bulk ? address_behind(control) : *control,
        .payload_bytes =
            bulk ? plan_bulk_bytes(config->chunk_bytes) : (size_t)CONTROL_BYTES,
        .send_limit = bulk ? 2 * window + BULK_SPARE : CONTROL_LIMIT,
        .keys = keys,
        .held = !binds};
}
