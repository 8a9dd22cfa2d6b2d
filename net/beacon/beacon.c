#include "net/beacon/beacon.h"

#include <endian.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "net/beacon/cast.h"
#include "net/net.h"

enum { AT_PORT = 8, AT_KEYED = 10, AT_RUN = 12, AT_FINGERPRINT = 20 };

static const char mark[] = "starsw 1"; /* the digit: of this layout */

#ifdef STAR_PORTABLE
static const struct cast *const cast = &cast_sockets;
#else
static const struct cast *const cast = &cast_zbeacon;
#endif

struct beacon {
    void *announcer;
    struct beacon_hub hub;
};

/* ---- the datagram ---- */

void beacon_write(const struct beacon_hub *hub, uint8_t out[BEACON_BYTES])
{
    uint16_t port = htole16(hub->at.port), keyed = htole16(hub->keyed);
    uint64_t run = htole64(hub->run);

    memset(out, 0, BEACON_BYTES);
    memcpy(out, mark, MARK_BYTES);
    memcpy(out + AT_PORT, &port, sizeof port);
    memcpy(out + AT_KEYED, &keyed, sizeof keyed);
    memcpy(out + AT_RUN, &run, sizeof run);
    if (hub->keyed)
        memcpy(out + AT_FINGERPRINT, hub->fingerprint,
               BEACON_FINGERPRINT_BYTES);
}

bool beacon_read(const uint8_t *bytes, size_t size, struct beacon_hub *out)
{
    uint16_t port, keyed;
    uint64_t run;

    if (size != BEACON_BYTES || memcmp(bytes, mark, MARK_BYTES) != 0)
        return false;
    memcpy(&port, bytes + AT_PORT, sizeof port);
    memcpy(&keyed, bytes + AT_KEYED, sizeof keyed);
    memcpy(&run, bytes + AT_RUN, sizeof run);
    if (!port || le16toh(keyed) > 1)
        return false;
    memset(out, 0, sizeof *out);
    out->at.port = le16toh(port);
    out->keyed = keyed;
    out->run = le64toh(run);
    memcpy(out->fingerprint, bytes + AT_FINGERPRINT, BEACON_FINGERPRINT_BYTES);
    return true;
}

void beacon_fingerprint(const struct key *shown,
                        uint8_t out[BEACON_FINGERPRINT_BYTES])
{
    (void)crypto_generichash(out, BEACON_FINGERPRINT_BYTES, shown->bytes,
                             KEY_BYTES, NULL, 0);
}

/* ---- announcing ---- */

static void publish(const struct beacon *beacon)
{
    uint8_t bytes[BEACON_BYTES];

    if (!beacon->hub.run)
        return;
    beacon_write(&beacon->hub, bytes);
    cast->say(beacon->announcer, bytes);
}

enum status beacon_announce(const struct beacon_hub *hub, struct beacon **out,
                            struct why *why)
{
    struct beacon *beacon = calloc(1, sizeof *beacon);

    *out = beacon;
    if (!beacon)
        return because(why, STATUS_NO_MEMORY, "no memory for the beacon");
    beacon->hub = *hub;
    beacon->announcer = cast->announce(hub->at.host);
    if (beacon->announcer) {
        publish(beacon);
        return STATUS_OK;
    }
    beacon_close(out);
    return because(why, STATUS_UNAVAILABLE,
                   "nodes do not find this hub by themselves, as the network "
                   "of %s has no broadcast: give them --hub",
                   hub->at.host);
}

void beacon_set_run(struct beacon *beacon, uint64_t run)
{
    if (!beacon || beacon->hub.run == run)
        return;
    beacon->hub.run = run;
    publish(beacon);
}

void beacon_close(struct beacon **beacon)
{
    if (*beacon && (*beacon)->announcer)
        cast->hush((*beacon)->announcer);
    free(*beacon);
    *beacon = NULL;
}

/* ---- listening ---- */

/* It may have several addresses, or come to another run meanwhile. */
static bool is_same(const struct beacon_hub *one,
                    const struct beacon_hub *other)
{
    return (one->run == other->run ||
            strcmp(one->at.host, other->at.host) == 0) &&
           one->at.port == other->at.port && one->keyed == other->keyed &&
           memcmp(one->fingerprint, other->fingerprint,
                  BEACON_FINGERPRINT_BYTES) == 0;
}

static bool is_new(const struct beacon_hub *heard,
                   const struct beacon_hub *known, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (is_same(&known[i], heard))
            return false;
    return true;
}

unsigned beacon_find(struct beacon_hub out[BEACON_MOST], unsigned most,
                     unsigned more)
{
    nanos until = net_now() + most * MILLISECOND, left;
    void *listener = cast->listen(mark);
    unsigned count = 0;

    while (listener && (left = until - net_now()) > 0) {
        uint8_t bytes[BEACON_BYTES];
        char host[ENDPOINT_HOST_BYTES];
        struct beacon_hub heard;
        size_t size =
            cast->hear(listener, (int)(left / MILLISECOND) + 1, bytes, host);

        if (!beacon_read(bytes, size, &heard))
            continue;
        memcpy(heard.at.host, host, strlen(host) + 1);
        if (count == BEACON_MOST || !is_new(&heard, out, count))
            continue;
        out[count++] = heard;
        if (count == 1 && until > net_now() + more * MILLISECOND)
            until = net_now() + more * MILLISECOND;
    }
    if (listener)
        cast->leave(listener);
    return count;
}
