#include "codec/msg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <msgpack.h>

#include "tests/check.h"
#include "tests/codec/sample.h"

static int rounds(void)
{
    return runs_slowly() ? 50 : 500;
}

static void every_message_comes_back_as_it_was(void)
{
    struct prng prng;

    prng_seed(&prng, 1);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        for (int round = 0; travels(kind) && round < rounds(); round++) {
            struct msg sent = sample_message(kind, &prng), got;
            unsigned char bytes[MSG_MAX_BYTES];
            size_t size = msg_encode(&sent, bytes);

            if (!CHECK_OK(msg_decode(bytes, size, &got)) ||
                !CHECK(same_message(&sent, &got)))
                return;
        }
}

static bool same_u32(const msgpack_object *object, const void *value)
{
    uint32_t number;

    memcpy(&number, value, sizeof number);
    return object->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
           object->via.u64 == number;
}

static bool same_u64(const msgpack_object *object, const void *value)
{
    return object->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
           memcmp(&object->via.u64, value, sizeof(uint64_t)) == 0;
}

static bool same_f64(const msgpack_object *object, const void *value)
{
    double number;

    memcpy(&number, value, sizeof number);
    return object->type == MSGPACK_OBJECT_FLOAT64 &&
           object->via.f64 <= number && object->via.f64 >= number;
}

static bool same_text(const msgpack_object *object, const void *value)
{
    size_t size = strlen(value);

    return object->type == MSGPACK_OBJECT_STR && object->via.str.size == size &&
           (size == 0 || memcmp(object->via.str.ptr, value, size) == 0);
}

static bool (*const same[])(const msgpack_object *object, const void *value) = {
    [FIELD_U32] = same_u32, [FIELD_U64] = same_u64,   [FIELD_I64] = same_u64,
    [FIELD_F64] = same_f64, [FIELD_TEXT] = same_text,
};

static bool same_array(const msgpack_object *array, const struct msg *msg)
{
    static const msgpack_object none = {.type =
                                            MSGPACK_OBJECT_POSITIVE_INTEGER};
    const struct msg_info *info = msg_info(msg->kind);

    if (array->type != MSGPACK_OBJECT_ARRAY ||
        array->via.array.size > 1 + info->field_count ||
        array->via.array.ptr[0].via.u64 != msg->kind)
        return false;
    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *field = &info->fields[i];

        bool missing = 1 + i >= array->via.array.size;

        if ((missing && !field->optional) ||
            !same[field->type](missing ? &none : &array->via.array.ptr[1 + i],
                               (const char *)msg + field->offset))
            return false;
    }
    return true;
}

static void msgpack_c_reads_the_same_from_our_bytes(void)
{
    struct prng prng;

    prng_seed(&prng, 2);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        for (int round = 0; travels(kind) && round < rounds(); round++) {
            struct msg msg = sample_message(kind, &prng);
            unsigned char bytes[MSG_MAX_BYTES];
            size_t size = msg_encode(&msg, bytes), end = 0;
            msgpack_unpacked unpacked;
            bool equal;

            msgpack_unpacked_init(&unpacked);
            equal = msgpack_unpack_next(&unpacked, (const char *)bytes, size,
                                        &end) == MSGPACK_UNPACK_SUCCESS &&
                    end == size && same_array(&unpacked.data, &msg);
            msgpack_unpacked_destroy(&unpacked);
            if (!CHECK(equal))
                return;
        }
}

static void optional_fields_that_are_zero_are_left_out_at_the_end(void)
{
    const unsigned char fields = (unsigned char)msg_info(MSG_PING)->field_count;
    unsigned char bytes[MSG_MAX_BYTES];
    struct msg msg = {.kind = MSG_PING}, back;

    for (unsigned i = 0; i < 3; i++) {
        size_t size;

        msg.ping.net_wait = i == 1 ? 7 : 0; /* the second of five */
        msg.ping.idle = i == 2 ? 7 : 0;     /* the last */
        size = msg_encode(&msg, bytes);
        /* A fixarray, or an array16, whose length is behind it. */
        CHECK_EQUAL(1 + fields -
                        (i == 0   ? 5
                         : i == 1 ? 3
                                  : 0),
                    bytes[0] == 0xdc ? bytes[2] : bytes[0] & 15);
        CHECK_OK(msg_decode(bytes, size, &back));
        CHECK_EQUAL(msg.ping.net_wait, back.ping.net_wait);
        CHECK_EQUAL(msg.ping.idle, back.ping.idle);
        CHECK_EQUAL(0, back.ping.compute);
    }
}

static struct msg through_the_wire(const struct msg *msg)
{
    unsigned char bytes[MSG_MAX_BYTES];
    struct msg got = {0};

    CHECK_OK(msg_decode(bytes, msg_encode(msg, bytes), &got));
    return got;
}

static void a_number_that_is_not_finite_travels_as_no_score(void)
{
    const double numbers[] = {NAN, INFINITY, -INFINITY};

    for (unsigned i = 0; i < 3; i++) {
        struct msg msg = {.kind = MSG_OFFER, .offer = {.score = numbers[i]}};

        CHECK(through_the_wire(&msg).offer.score >= NO_SCORE);
        CHECK(through_the_wire(&msg).offer.norm <= 0);
    }
}

static void a_negative_time_travels_as_zero(void)
{
    struct msg msg = {.kind = MSG_PING, .ping = {.sent = -1, .waited = 7}};

    CHECK_EQUAL(0, through_the_wire(&msg).ping.sent);
    CHECK_EQUAL(7, through_the_wire(&msg).ping.waited);
}

static void a_text_without_an_end_is_cut(void)
{
    struct msg msg = {.kind = MSG_STOP};

    memset(msg.stop.reason, 'x', sizeof msg.stop.reason);
    CHECK_EQUAL(MSG_TEXT_BYTES - 1, strlen(through_the_wire(&msg).stop.reason));
}

static void the_longest_message_has_room(void)
{
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++) {
        const struct msg_info *info = msg_info(kind);
        unsigned char bytes[MSG_MAX_BYTES];
        struct msg msg;

        memset(&msg, 0x7f, sizeof msg);
        msg.kind = kind;
        for (unsigned i = 0; i < info->field_count; i++)
            if (info->fields[i].limit)
                memset((char *)&msg + info->fields[i].offset, 0,
                       sizeof(uint32_t));
        CHECK(!travels(kind) || msg_encode(&msg, bytes) <= MSG_MAX_BYTES);
    }
}

static void the_table_says_what_a_kind_is(void)
{
    const struct msg_info *info = msg_info(MSG_CHUNK);

    CHECK_TEXT("chunk", info->name);
    CHECK_TEXT("HUB", info->to);
    CHECK_EQUAL(CHANNEL_BULK, info->channel);
    CHECK_EQUAL(PAYLOAD_CHUNK, info->payload);
    CHECK_EQUAL(4, info->field_count);
    CHECK_TEXT("codec", info->fields[2].name);
    CHECK_EQUAL(CODEC_COUNT, info->fields[2].limit);
    CHECK_EQUAL(offsetof(struct msg, chunk.codec), info->fields[2].offset);
}

static void a_message_is_printed_as_its_fields(void)
{
    struct msg msg = {.kind = MSG_PONG, .pong = {5, UINT64_MAX, 7}};
    char text[200];

    CHECK_EQUAL(strlen("pong sent=5 version=18446744073709551615 samples=7"),
                msg_print(&msg, text, sizeof text));
    CHECK_TEXT("pong sent=5 version=18446744073709551615 samples=7", text);
}

static void numbers_are_printed_short_and_exact(void)
{
    struct msg msg = {.kind = MSG_PING,
                      .ping = {.rate = 0.1, .loss = 1. / 3, .accuracy = -1}};
    char text[400];

    (void)msg_print(&msg, text, sizeof text);
    CHECK_CONTAINS(" rate=0.1 loss=0.3333333333333333 accuracy=-1 ", text);
}

static void control_characters_are_escaped(void)
{
    struct msg msg = {.kind = MSG_STOP};
    char text[200];

    (void)snprintf(msg.stop.reason, sizeof msg.stop.reason,
                   "a\033[2J\"\\\n\177\xc2\x9b");
    (void)msg_print(&msg, text, sizeof text);
    CHECK_TEXT("stop reason=\"a\\u001b[2J\\\"\\\\\\n\\u007f\\u009b\"", text);
}

static void what_is_printed_is_cut_to_fit(void)
{
    struct prng prng;
    struct msg msg;

    prng_seed(&prng, 3);
    msg = sample_message(MSG_HELLO, &prng);
    for (size_t size = 1; size < 900; size++) {
        char text[900];
        size_t length;

        memset(text, '!', sizeof text);
        length = msg_print(&msg, text, size);
        if (!CHECK(length < size && text[length] == '\0') ||
            !CHECK_EQUAL('!', text[size]))
            return;
    }
}

static void every_kind_can_be_printed(void)
{
    struct prng prng;

    prng_seed(&prng, 4);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++) {
        struct msg msg = sample_message(kind, &prng);
        char text[2000];

        CHECK(msg_print(&msg, text, sizeof text) > 0);
        CHECK_EQUAL(0, strncmp(text, msg_info(kind)->name,
                               strlen(msg_info(kind)->name)));
    }
}

/* `build/star-seeds tests/fuzz/corpus` writes them. */
static void every_kind_has_a_seed_in_the_corpus(void)
{
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++) {
        unsigned char bytes[MSG_MAX_BYTES];
        struct msg msg = {0};
        char path[200];
        FILE *file;

        (void)snprintf(path, sizeof path, "tests/fuzz/corpus/message/%s",
                       msg_info(kind)->name);
        file = travels(kind) ? fopen(path, "rb") : NULL;
        CHECK_EQUAL(travels(kind), file != NULL);
        if (!file)
            continue;
        CHECK_OK(msg_decode(bytes, fread(bytes, 1, sizeof bytes, file), &msg));
        CHECK_EQUAL(kind, msg.kind);
        (void)fclose(file);
    }
}

void add_codec_msg_tests(CU_pSuite suite)
{
    TEST(every_message_comes_back_as_it_was);
    TEST(msgpack_c_reads_the_same_from_our_bytes);
    TEST(optional_fields_that_are_zero_are_left_out_at_the_end);
    TEST(a_number_that_is_not_finite_travels_as_no_score);
    TEST(a_negative_time_travels_as_zero);
    TEST(a_text_without_an_end_is_cut);
    TEST(the_longest_message_has_room);
    TEST(the_table_says_what_a_kind_is);
    TEST(a_message_is_printed_as_its_fields);
    TEST(numbers_are_printed_short_and_exact);
    TEST(control_characters_are_escaped);
    TEST(what_is_printed_is_cut_to_fit);
    TEST(every_kind_can_be_printed);
    TEST(every_kind_has_a_seed_in_the_corpus);
}
