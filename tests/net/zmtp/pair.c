#include "tests/net/zmtp/pair.h"

#include <sodium.h>
#include <string.h>

#include "tests/check.h"

static enum zmtp_fault admit(void *self, const unsigned char *key)
{
    const struct wire *wire = self;

    CHECK(memcmp(key, wire->client_keys.shown, ZMTP_KEY_BYTES) == 0);
    return wire->verdict;
}

void wire_open(struct wire *wire, bool keyed)
{
    struct zmtp_plan plan = {
        .payload_bytes = WIRE_PAYLOAD, .admit = admit, .self = wire};
    unsigned char random[ZMTP_RANDOM_BYTES];

    memset(wire, 0, sizeof *wire);
    wire->pool = pool_new();
    wire->keyed = keyed;
    CHECK(sodium_init() >= 0);
    (void)crypto_box_keypair(wire->server_keys.shown, wire->server_keys.secret);
    (void)crypto_box_keypair(wire->client_keys.shown, wire->client_keys.secret);
    memcpy(wire->client_keys.server, wire->server_keys.shown, ZMTP_KEY_BYTES);
    randombytes_buf(random, sizeof random);
    plan.server = true;
    plan.keys = keyed ? &wire->server_keys : NULL;
    zmtp_init(&wire->server, &plan, random);
    randombytes_buf(random, sizeof random);
    plan.server = false;
    plan.keys = keyed ? &wire->client_keys : NULL;
    zmtp_init(&wire->client, &plan, random);
}

void wire_close(struct wire *wire)
{
    zmtp_free(&wire->server);
    zmtp_free(&wire->client);
    pool_destroy(&wire->pool);
}

enum zmtp_event wire_give(struct wire *wire, struct zmtp *end,
                          const unsigned char *bytes, size_t size)
{
    enum zmtp_event event = ZMTP_WANTS;

    while (size && event == ZMTP_WANTS) {
        size_t piece = wire->grain && wire->grain < size ? wire->grain : size;
        size_t used;

        event = zmtp_receive(end, bytes, piece, &used);
        bytes += used;
        size -= used;
        if (event == ZMTP_ROOM)
            event = zmtp_give(end, blob_new(wire->pool, zmtp_room(end)));
        if (event == ZMTP_SHAKEN) {
            wire->shaken++;
            event = ZMTP_WANTS;
        }
    }
    return event;
}

static enum zmtp_event move(struct wire *wire, struct zmtp *from,
                            struct zmtp *to)
{
    unsigned char copy[ZMTP_OUT_BYTES];
    const unsigned char *bytes;
    size_t size;

    bytes = zmtp_output(from, &size);
    memcpy(copy, bytes, size);
    zmtp_sent(from, size);
    return wire_give(wire, to, copy, size);
}

enum zmtp_event wire_run(struct wire *wire)
{
    enum zmtp_event last = ZMTP_WANTS;

    for (unsigned i = 0; i < 10; i++) {
        enum zmtp_event one = move(wire, &wire->client, &wire->server);
        enum zmtp_event other = move(wire, &wire->server, &wire->client);

        last = one != ZMTP_WANTS ? one : last;
        last = other != ZMTP_WANTS ? other : last;
    }
    return last;
}

static size_t put(const struct wire *wire, struct zmtp *from, bool more,
                  const void *bytes, size_t size, unsigned char *out)
{
    size_t head;

    if (wire->keyed) {
        zmtp_seal(from, more, bytes, size, out);
        return zmtp_sealed_bytes(size);
    }
    head = zmtp_head(more, size, out);
    if (size)
        memcpy(out + head, bytes, size);
    return head + size;
}

size_t wire_message(struct wire *wire, struct zmtp *from, const char *header,
                    const void *payload, size_t size, unsigned char *out)
{
    size_t length =
        put(wire, from, payload != NULL, header, strlen(header), out);

    return payload
               ? length + put(wire, from, false, payload, size, out + length)
               : length;
}
