/* The engine, with another at the other end. */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/net/zmtp/pair.h"

static unsigned char sent[2 * WIRE_PAYLOAD], payload[WIRE_PAYLOAD + 1];

static void fill(void)
{
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (unsigned char)(i * 13 + i / 253);
}

static void shake(struct wire *wire, bool keyed)
{
    wire_open(wire, keyed);
    CHECK_EQUAL(ZMTP_WANTS, wire_run(wire));
    CHECK_EQUAL(2, wire->shaken);
}

static void both(void (*test)(bool keyed))
{
    test(false);
    test(true);
}

static void hear(struct wire *wire, struct zmtp *to, size_t size,
                 const char *header, size_t payload_bytes)
{
    CHECK_EQUAL(ZMTP_MESSAGE, wire_give(wire, to, sent, size));
    CHECK_EQUAL(strlen(header), to->header_size);
    CHECK(memcmp(to->header, header, to->header_size) == 0);
    if (payload_bytes == SIZE_MAX) {
        CHECK(!to->payload);
        return;
    }
    CHECK(to->payload != NULL);
    if (!to->payload)
        return;
    CHECK_EQUAL(payload_bytes, to->payload->size);
    CHECK(memcmp(to->payload->bytes, payload, payload_bytes) == 0);
    CHECK_EQUAL(0, (uintptr_t)to->payload->bytes % 64);
    blob_unref(&to->payload);
}

static void messages_pass(bool keyed)
{
    static const size_t sizes[] = {0, 1, 200, 255, 256, 4096, WIRE_PAYLOAD};
    struct wire wire;
    size_t size;

    fill();
    shake(&wire, keyed);
    for (unsigned grain = 0; grain < 3; grain++) {
        wire.grain = grain;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size = wire_message(&wire, &wire.client, "a chunk", payload,
                                sizes[i], sent);
            hear(&wire, &wire.server, size, "a chunk", sizes[i]);
        }
        size = wire_message(&wire, &wire.server, "a word", NULL, 0, sent);
        hear(&wire, &wire.client, size, "a word", SIZE_MAX);
    }
    wire_close(&wire);
}

static void messages_of_all_sizes_pass_in_pieces_of_any_size(void)
{
    both(messages_pass);
}

/* Up to each byte of a handshake the engine wants more, and nothing else. */
static void prefixes(bool keyed)
{
    struct wire wire;

    wire_open(&wire, keyed);
    wire.grain = 1;
    CHECK_EQUAL(ZMTP_WANTS, wire_run(&wire));
    CHECK_EQUAL(2, wire.shaken);
    wire_close(&wire);
}

static void a_handshake_may_come_a_byte_at_a_time(void)
{
    both(prefixes);
}

/* Gives the server these bytes, after the handshake or before. */
static enum zmtp_fault after(bool keyed, bool shaken, const void *bytes,
                             size_t size)
{
    enum zmtp_fault fault;
    struct wire wire;

    wire_open(&wire, keyed);
    if (shaken)
        CHECK_EQUAL(ZMTP_WANTS, wire_run(&wire));
    (void)wire_give(&wire, &wire.server, bytes, size);
    fault = wire.server.fault;
    wire_close(&wire);
    return fault;
}

struct row {
    enum zmtp_fault fault;
    const char *bytes;
    size_t size;
};

/* clang-format off */
#define ROW(fault, bytes) {ZMTP_FAULT_##fault, bytes, sizeof(bytes) - 1}
/* clang-format on */

static void what_is_no_frame_of_ours_is_a_fault_with_its_name(void)
{
    static const struct row rows[] = {
        ROW(FLAGS, "\x08"),
        ROW(FLAGS, "\x80"),
        ROW(FLAGS, "\x05"), /* a command with more to come */
        ROW(EMPTY, "\0\0"),
        ROW(EMPTY, "\1\0"),
        ROW(EMPTY, "\3\0\0\0\0\0\0\0\0"),
        ROW(HEADER, "\2\0\0\0\0\0\0\x08\x01"),
        ROW(HEADER, "\2\xff\xff\xff\xff\xff\xff\xff\xff"),
        ROW(PAYLOAD, "\1\1x\2\0\0\0\0\0\1\x86\xa1"),
        ROW(PAYLOAD, "\1\1x\2\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ROW(FRAMES, "\1\1x\1\1y"),
        ROW(COMMAND, "\4\0"),
        ROW(COMMAND, "\6\0\0\0\0\0\0\2\1"),
        ROW(COMMAND, "\4\1\1"),       /* a name that is not there */
        ROW(COMMAND, "\4\2\0x"),      /* no name */
        ROW(COMMAND, "\4\6\4PING\0"), /* no time to live */
        ROW(COMMAND, "\4\x18\4PING\0\0"
                     "12345678901234567"),
        ROW(SAID_ERROR, "\4\x9\5ERROR\2no"),
        ROW(NONE, "\4\4\3ABC"), /* unknown: read over */
        ROW(NONE, "\1\1x\0\1y"),
        ROW(NONE, "\1\1x\4\7\4PING\0\0\0\1y"), /* between two frames */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQUAL(rows[i].fault,
                    after(false, true, rows[i].bytes, rows[i].size));
}

static void what_is_no_greeting_is_a_fault_at_its_first_wrong_byte(void)
{
    unsigned char greeting[64] = {0xff, [9] = 0x7f, 3, 0, 'N', 'U', 'L', 'L'};

    CHECK_EQUAL(ZMTP_FAULT_SIGNATURE, after(false, false, "GET /", 1));
    CHECK_EQUAL(ZMTP_FAULT_NONE, after(false, false, greeting, 64));
    CHECK_EQUAL(ZMTP_FAULT_NO_KEYS, after(true, false, greeting, 64));
    memcpy(greeting + 12, "CURVE", sizeof "CURVE");
    CHECK_EQUAL(ZMTP_FAULT_WANTS_KEYS, after(false, false, greeting, 64));
    memcpy(greeting + 12, "PLAIN", sizeof "PLAIN");
    CHECK_EQUAL(ZMTP_FAULT_MECHANISM, after(true, false, greeting, 64));
    greeting[10] = 2;
    CHECK_EQUAL(ZMTP_FAULT_VERSION, after(false, false, greeting, 11));
    greeting[9] = 0x7e;
    CHECK_EQUAL(ZMTP_FAULT_SIGNATURE, after(false, false, greeting, 10));
}

/* READY behind a greeting, as a DEALER of libzmq says it, with changes. */
static enum zmtp_fault ready(const char *body, size_t size)
{
    unsigned char bytes[64 + 2 + 255] = {0xff, [9] = 0x7f, 3,   0,
                                         'N',  'U',        'L', 'L'};

    bytes[64] = 4;
    bytes[65] = (unsigned char)size;
    memcpy(bytes + 66, body, size);
    return after(false, false, bytes, 66 + size);
}

#define READY(text) ready(text, sizeof(text) - 1)

static void metadata_are_read_to_their_end(void)
{
    CHECK_EQUAL(ZMTP_FAULT_NONE, READY("\5READY\xbSocket-Type\0\0\0\6DEALER"));
    CHECK_EQUAL(ZMTP_FAULT_NONE, READY("\5READY\xbSOCKET-type\0\0\0\6DEALER"));
    CHECK_EQUAL(ZMTP_FAULT_NONE, READY("\5READY\xbSocket-Type\0\0\0\6DEALER"
                                       "\x8Identity\0\0\0\2me\1X\0\0\0\0"));
    CHECK_EQUAL(ZMTP_FAULT_SOCKET_TYPE, READY("\5READY"));
    CHECK_EQUAL(ZMTP_FAULT_SOCKET_TYPE,
                READY("\5READY\xbSocket-Type\0\0\0\3REQ"));
    CHECK_EQUAL(ZMTP_FAULT_HANDSHAKE,
                READY("\5READY\xbSocket-Type\0\0\0\7DEALER"));
    CHECK_EQUAL(ZMTP_FAULT_HANDSHAKE,
                READY("\5READY\xbSocket-Type\xff\xff\xff\xff"
                      "DEALER"));
    CHECK_EQUAL(ZMTP_FAULT_HANDSHAKE, READY("\5READY\0\0\0\0\0"));
    CHECK_EQUAL(ZMTP_FAULT_HANDSHAKE, READY("\5READY\xff"
                                            "abc"));
    CHECK_EQUAL(ZMTP_FAULT_ORDER, READY("\5HELLO"));
    CHECK_EQUAL(ZMTP_FAULT_SAID_REFUSED, READY("\5ERROR\003400"));
    CHECK_EQUAL(ZMTP_FAULT_SAID_BANNED, READY("\5ERROR\003300"));
    CHECK_EQUAL(ZMTP_FAULT_COMMAND, READY("\5ERROR\004400"));
}

/* Changes each byte of what the client says in the handshake, one by one. */
static void no_byte_of_a_handshake_with_keys_can_be_changed(void)
{
    unsigned let_in = 0;

    for (size_t at = 0; at < 600; at++) {
        struct wire wire;
        size_t seen = 0;

        wire_open(&wire, true);
        for (unsigned i = 0; i < 6; i++) {
            unsigned char copy[ZMTP_OUT_BYTES];
            const unsigned char *bytes;
            size_t size;

            bytes = zmtp_output(&wire.client, &size);
            memcpy(copy, bytes, size);
            zmtp_sent(&wire.client, size);
            if (at >= seen && at < seen + size)
                copy[at - seen] ^= 1;
            seen += size;
            (void)wire_give(&wire, &wire.server, copy, size);
            bytes = zmtp_output(&wire.server, &size);
            memcpy(copy, bytes, size);
            zmtp_sent(&wire.server, size);
            (void)wire_give(&wire, &wire.client, copy, size);
        }
        if (wire.shaken == 2)
            let_in++;
        else
            CHECK(wire.server.fault != 0 || wire.shaken < 2);
        wire_close(&wire);
    }
    /* Of the greeting what ZMTP says is padding, minor version, role and
     * filler, and padding of HELLO; and what is behind its last byte. */
    CHECK(let_in < 600 - 350);
}

static void who_is_not_let_in_is_told_so(void)
{
    struct wire wire;

    wire_open(&wire, true);
    wire.verdict = ZMTP_FAULT_KEY;
    CHECK_EQUAL(ZMTP_FAILED, wire_run(&wire));
    CHECK_EQUAL(ZMTP_FAULT_KEY, wire.server.fault);
    CHECK_EQUAL(ZMTP_FAULT_SAID_REFUSED, wire.client.fault);
    wire_close(&wire);
    wire_open(&wire, true);
    wire.verdict = ZMTP_FAULT_BANNED;
    (void)wire_run(&wire);
    CHECK_EQUAL(ZMTP_FAULT_SAID_BANNED, wire.client.fault);
    wire_close(&wire);
}

static void a_client_of_another_server_gets_no_answer(void)
{
    struct wire wire;

    wire_open(&wire, true);
    wire.client_keys.server[0] ^= 1;
    CHECK_EQUAL(ZMTP_FAILED, wire_run(&wire));
    CHECK_EQUAL(ZMTP_FAULT_PROOF, wire.server.fault);
    CHECK_EQUAL(0, wire.shaken);
    wire_close(&wire);
}

static void a_box_is_opened_once_and_only_as_it_was(void)
{
    struct wire wire;
    size_t size;

    shake(&wire, true);
    size = wire_message(&wire, &wire.client, "word", NULL, 0, sent);
    CHECK_EQUAL(ZMTP_MESSAGE, wire_give(&wire, &wire.server, sent, size));
    CHECK_EQUAL(ZMTP_FAILED, wire_give(&wire, &wire.server, sent, size));
    CHECK_EQUAL(ZMTP_FAULT_NONCE, wire.server.fault);
    wire_close(&wire);
    for (size_t at = 2; at < size; at++) {
        shake(&wire, true);
        size = wire_message(&wire, &wire.client, "word", NULL, 0, sent);
        sent[at] ^= 0x10;
        CHECK_EQUAL(ZMTP_FAILED, wire_give(&wire, &wire.server, sent, size));
        wire_close(&wire);
    }
}

static void pings_are_answered_one_at_a_time(void)
{
    static const unsigned char ping[] = {4,   10, 4, 'P', 'I', 'N',
                                         'G', 0,  9, 'a', 'b', 'c'};
    const unsigned char *out;
    struct wire wire;
    size_t size;

    shake(&wire, false);
    for (unsigned i = 0; i < 1000; i++)
        CHECK_EQUAL(ZMTP_WANTS,
                    wire_give(&wire, &wire.server, ping, sizeof ping));
    out = zmtp_output(&wire.server, &size);
    CHECK_EQUAL(10, size);
    CHECK(memcmp(out, "\4\x8\4PONGabc", 10) == 0);
    CHECK_EQUAL(1000, wire.server.commands);
    wire_close(&wire);
}

/* A frame may be as large as it says; what is kept before it has come is what
 * was asked for, and nothing for what is refused. */
static void no_room_is_asked_for_what_is_too_large(void)
{
    struct wire wire;
    size_t used;

    shake(&wire, false);
    CHECK_EQUAL(
        ZMTP_ROOM,
        zmtp_receive(&wire.server,
                     (const unsigned char *)"\1\1x\2\0\0\0\0\0\1\x86\xa0", 12,
                     &used));
    CHECK_EQUAL(WIRE_PAYLOAD, zmtp_room(&wire.server));
    wire_close(&wire);
    CHECK_EQUAL(ZMTP_FAULT_PAYLOAD,
                after(false, true, "\1\1x\2\0\0\0\0\0\1\x86\xa1", 12));
}

void add_net_zmtp_engine_tests(CU_pSuite suite)
{
    TEST(messages_of_all_sizes_pass_in_pieces_of_any_size);
    TEST(a_handshake_may_come_a_byte_at_a_time);
    TEST(what_is_no_frame_of_ours_is_a_fault_with_its_name);
    TEST(what_is_no_greeting_is_a_fault_at_its_first_wrong_byte);
    TEST(metadata_are_read_to_their_end);
    TEST(no_byte_of_a_handshake_with_keys_can_be_changed);
    TEST(who_is_not_let_in_is_told_so);
    TEST(a_client_of_another_server_gets_no_answer);
    TEST(a_box_is_opened_once_and_only_as_it_was);
    TEST(pings_are_answered_one_at_a_time);
    TEST(no_room_is_asked_for_what_is_too_large);
}
