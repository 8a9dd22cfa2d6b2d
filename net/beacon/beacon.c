#include "net/beacon/beacon.h"

#include <czmq.h>
#include <endian.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INTERVAL = 500 /* ms */, NETWORKS = 16 };

enum {
    MARK_BYTES = 8,
    AT_PORT = 8,
    AT_KEYED = 10,
    AT_RUN = 12,
    AT_FINGERPRINT = 20
};

static const char mark[] = "starsw 1"; /* the digit: of this layout */

struct beacon {
    zactor_t *actors[NETWORKS]; /* one per network */
    unsigned count;
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

/* ---- CZMQ, kept on a short lead ---- */

/* Before its first use: it would read variables ZSYS_*, take SIGINT and
 * SIGTERM, and print what goes wrong. */
static void tame(void)
{
    char name[64];
    size_t length;

    for (char **each = environ; *each;) {
        length = strcspn(*each, "=");
        if (strncmp(*each, "ZSYS_", 5) != 0 || length >= sizeof name) {
            each++;
            continue;
        }
        memcpy(name, *each, length);
        name[length] = '\0';
        (void)unsetenv(name); /* what stood behind it stands here now */
    }
    zsys_handler_set(NULL);
    (void)zsys_init();
    zsys_set_logstream(NULL);
}

/* On one network, by the name of its interface; `*`: heard from all. Its
 * own address, "" or `*` comes back from CONFIGURE. */
static zactor_t *actor_open(const char *interface)
{
    zactor_t *actor;
    char *host;
    bool works;

    zsys_set_interface(interface);
    actor = zactor_new(zbeacon, NULL);
    if (!actor)
        return NULL;
    (void)zsock_send(actor, "si", "CONFIGURE", (int)BEACON_PORT);
    host = zstr_recv(actor);
    works = host && host[0];
    zstr_free(&host);
    if (!works)
        zactor_destroy(&actor);
    return actor;
}

/* ---- announcing ---- */

static void publish(struct beacon *beacon)
{
    uint8_t bytes[BEACON_BYTES];

    if (!beacon->hub.run)
        return;
    beacon_write(&beacon->hub, bytes);
    for (unsigned i = 0; i < beacon->count; i++)
        (void)zsock_send(beacon->actors[i], "sbi", "PUBLISH", bytes,
                         sizeof bytes, (int)INTERVAL);
}

static void announce_on_all(struct beacon *beacon, const char *host)
{
    bool everywhere = strcmp(host, "0.0.0.0") == 0;
    ziflist_t *networks = ziflist_new();
    const char *name;

    for (name = ziflist_first(networks); name && beacon->count < NETWORKS;
         name = ziflist_next(networks)) {
        if (!everywhere && strcmp(ziflist_address(networks), host) != 0)
            continue;
        beacon->actors[beacon->count] = actor_open(name);
        beacon->count += beacon->actors[beacon->count] != NULL;
    }
    ziflist_destroy(&networks);
}

enum status beacon_announce(const struct beacon_hub *hub, struct beacon **out,
                            struct why *why)
{
    struct beacon *beacon = calloc(1, sizeof *beacon);

    *out = beacon;
    if (!beacon)
        return because(why, STATUS_NO_MEMORY, "no memory for the beacon");
    tame();
    beacon->hub = *hub;
    announce_on_all(beacon, hub->at.host);
    publish(beacon);
    if (beacon->count)
        return STATUS_OK;
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
    if (!*beacon)
        return;
    for (unsigned i = 0; i < (*beacon)->count; i++)
        zactor_destroy(&(*beacon)->actors[i]);
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

/* Takes a datagram with its sender's address; returns how many hubs there are
 * now. */
static unsigned take(zmsg_t *message, struct beacon_hub *out, unsigned count)
{
    struct beacon_hub heard;
    char *host = zmsg_popstr(message);
    zframe_t *frame = zmsg_pop(message);
    bool is_new = host && frame && strlen(host) < sizeof heard.at.host &&
                  beacon_read(zframe_data(frame), zframe_size(frame), &heard);

    if (is_new)
        memcpy(heard.at.host, host, strlen(host) + 1);
    for (unsigned i = 0; is_new && i < count; i++)
        is_new = !is_same(&out[i], &heard);
    if (is_new && count < BEACON_MOST)
        out[count++] = heard;
    zstr_free(&host);
    zframe_destroy(&frame);
    return count;
}

unsigned beacon_find(struct beacon_hub out[BEACON_MOST], unsigned most,
                     unsigned more)
{
    int64_t until = zclock_mono() + most;
    zactor_t *actor;
    unsigned count = 0;

    tame();
    actor = actor_open("*");
    if (!actor)
        return 0;
    (void)zsock_send(actor, "sb", "SUBSCRIBE", mark, (size_t)MARK_BYTES);
    for (int64_t left = most; left > 0; left = until - zclock_mono()) {
        zmsg_t *message;
        unsigned before = count;

        zsock_set_rcvtimeo(actor, (int)left);
        message = zmsg_recv(actor);
        if (!message)
            continue;
        count = take(message, out, count);
        zmsg_destroy(&message);
        if (!before && count && until > zclock_mono() + more)
            until = zclock_mono() + more;
    }
    zactor_destroy(&actor);
    return count;
}
