/* What a stranger may send: every way a field or a header can be wrong. */
#include <string.h>

#include "codec/msg.h"
#include "tests/check.h"
#include "tests/codec/sample.h"

/* Bytes of one value in msgpack. */
struct bytes {
    size_t size;
    unsigned char at[20];
};

#define BYTES(...)                                                             \
    {                                                                          \
        sizeof((unsigned char[]){__VA_ARGS__}),                                \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

static const struct bytes zeros[] = {
    [FIELD_U32] = BYTES(0),
    [FIELD_U64] = BYTES(0),
    [FIELD_I64] = BYTES(0),
    [FIELD_F64] = BYTES(0xcb, 0, 0, 0, 0, 0, 0, 0, 0),
    [FIELD_TEXT] = BYTES(0xa0),
};

/* A message of zeros but for field `index`. */
static size_t craft(enum msg_kind kind, unsigned index,
                    const struct bytes *value, unsigned char *out)
{
    const struct msg_info *info = msg_info(kind);
    size_t size = 0;

    out[size++] = 0xdc;
    out[size++] = 0;
    out[size++] = (unsigned char)(1 + info->field_count);
    out[size++] = (unsigned char)kind;
    for (unsigned i = 0; i < info->field_count; i++) {
        const struct bytes *part = &zeros[info->fields[i].type];

        if (i == index)
            part = value;
        memcpy(out + size, part->at, part->size);
        size += part->size;
    }
    return size;
}

/* Decodes `value` as each field of the types in the mask, and checks the
 * outcome. */
static void try_value(unsigned types, const struct bytes *value,
                      enum status expected)
{
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++) {
        const struct msg_info *info = msg_info(kind);

        for (unsigned i = 0; travels(kind) && i < info->field_count; i++) {
            unsigned char bytes[MSG_MAX_BYTES];
            struct msg msg;

            if (types & 1u << info->fields[i].type)
                CHECK_STATUS(
                    expected,
                    decode_exactly(bytes, craft(kind, i, value, bytes), &msg));
        }
    }
}

enum {
    U32 = 1 << FIELD_U32,
    U64 = 1 << FIELD_U64,
    I64 = 1 << FIELD_I64,
    F64 = 1 << FIELD_F64,
    TEXT = 1 << FIELD_TEXT,
    WHOLE = U32 | U64 | I64,
    ANY = WHOLE | F64 | TEXT
};

static void integers_may_have_any_form_and_any_value_in_range(void)
{
    static const struct bytes forms[] = {
        BYTES(0xcc, 0),          BYTES(0xcd, 0, 0),
        BYTES(0xce, 0, 0, 0, 0), BYTES(0xcf, 0, 0, 0, 0, 0, 0, 0, 0),
        BYTES(0xd0, 0),          BYTES(0xd1, 0, 0),
        BYTES(0xd2, 0, 0, 0, 0), BYTES(0xd3, 0, 0, 0, 0, 0, 0, 0, 0),
    };
    static const struct bytes most_i64 =
        BYTES(0xcf, 0x7f, 255, 255, 255, 255, 255, 255, 255);
    static const struct bytes most_u64 =
        BYTES(0xcf, 255, 255, 255, 255, 255, 255, 255, 255);

    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        try_value(WHOLE, &forms[i], STATUS_OK);
    try_value(U64 | I64, &most_i64, STATUS_OK);
    try_value(U64, &most_u64, STATUS_OK);
}

static void integers_out_of_range_are_refused(void)
{
    static const struct bytes two_to_32 = BYTES(0xcf, 0, 0, 0, 1, 0, 0, 0, 0);
    static const struct bytes two_to_63 =
        BYTES(0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0);
    static const struct bytes negative[] = {
        BYTES(0xff),
        BYTES(0xe0),
        BYTES(0xd0, 0x80),
        BYTES(0xd1, 0x80, 0),
        BYTES(0xd2, 0x80, 0, 0, 0),
        BYTES(0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0),
        BYTES(0xd3, 255, 255, 255, 255, 255, 255, 255, 255),
    };

    try_value(U32, &two_to_32, STATUS_MALFORMED);
    try_value(I64, &two_to_63, STATUS_MALFORMED);
    for (unsigned i = 0; i < sizeof negative / sizeof *negative; i++)
        try_value(WHOLE, &negative[i], STATUS_MALFORMED);
}

static void a_limit_is_held_to_the_number(void)
{
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++) {
        const struct msg_info *info = msg_info(kind);

        for (unsigned i = 0; travels(kind) && i < info->field_count; i++) {
            uint32_t limit = info->fields[i].limit;
            struct bytes below = BYTES(0xcc, (unsigned char)(limit - 1));
            struct bytes at = BYTES(0xcc, (unsigned char)limit);
            unsigned char bytes[MSG_MAX_BYTES];
            struct msg msg;

            if (!limit)
                continue;
            CHECK(limit < 256);
            CHECK_OK(
                decode_exactly(bytes, craft(kind, i, &below, bytes), &msg));
            CHECK_STATUS(
                STATUS_MALFORMED,
                decode_exactly(bytes, craft(kind, i, &at, bytes), &msg));
        }
    }
}

static void numbers_are_finite_float64s(void)
{
    static const struct bytes largest =
        BYTES(0xcb, 0x7f, 0xef, 255, 255, 255, 255, 255, 255);
    static const struct bytes wrong[] = {
        BYTES(0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0),
        BYTES(0xcb, 0xff, 0xf0, 0, 0, 0, 0, 0, 0),
        BYTES(0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0),
        BYTES(0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 1),
        BYTES(0xca, 0, 0, 0, 0),
        BYTES(0),
    };

    try_value(F64, &largest, STATUS_OK);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        try_value(F64, &wrong[i], STATUS_MALFORMED);
}

/* STOP with a text of `length` letters, or one NUL at `nul`. */
static enum status text_of(size_t length, size_t nul)
{
    unsigned char bytes[300] = {0x92, MSG_STOP, 0xd9, (unsigned char)length};
    struct msg msg;

    memset(bytes + 4, 'x', length);
    if (nul < length)
        bytes[4 + nul] = '\0';
    return decode_exactly(bytes, 4 + length, &msg);
}

static void texts_have_a_length_and_no_nul(void)
{
    CHECK_OK(text_of(0, 300));
    CHECK_OK(text_of(MSG_TEXT_BYTES - 1, 300));
    CHECK_STATUS(STATUS_MALFORMED, text_of(MSG_TEXT_BYTES, 300));
    CHECK_STATUS(STATUS_MALFORMED, text_of(255, 300));
    for (size_t nul = 0; nul < MSG_TEXT_BYTES - 1; nul++)
        CHECK_STATUS(STATUS_MALFORMED, text_of(MSG_TEXT_BYTES - 1, nul));
}

static void texts_may_have_any_form(void)
{
    static const struct bytes forms[] = {
        BYTES(0xa1, 'x'),
        BYTES(0xd9, 1, 'x'),
        BYTES(0xda, 0, 1, 'x'),
        BYTES(0xdb, 0, 0, 0, 1, 'x'),
    };
    static const struct bytes longer[] = {
        BYTES(0xda, 1, 0, 'x'),
        BYTES(0xdb, 0, 0, 1, 0, 'x'),
        BYTES(0xdb, 255, 255, 255, 255, 'x'),
        BYTES(0xdb, 0, 0),
    };

    for (unsigned i = 0; i < 4; i++) {
        try_value(TEXT, &forms[i], STATUS_OK);
        try_value(TEXT, &longer[i], STATUS_MALFORMED);
    }
}

static void nothing_but_numbers_and_texts_is_a_field(void)
{
    static const struct bytes others[] = {
        BYTES(0x90),       BYTES(0x91, 0),    BYTES(0x80),
        BYTES(0x81, 0, 0), BYTES(0xc0),       BYTES(0xc1),
        BYTES(0xc2),       BYTES(0xc3),       BYTES(0xc4, 0),
        BYTES(0xc5, 0, 0), BYTES(0xc7, 0, 0), BYTES(0xd4, 0, 0),
        BYTES(0xdc, 0, 0), BYTES(0xde, 0, 0), BYTES(0xdd, 0, 0, 0, 0),
    };
    static const struct bytes text = BYTES(0xa1, '1');

    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        try_value(ANY, &others[i], STATUS_MALFORMED);
    try_value(WHOLE | F64, &text, STATUS_MALFORMED);
}

static void bombs_are_refused(void)
{
    static const struct bytes bombs[] = {
        BYTES(0xdd, 0x10, 0, 0, 0),
        BYTES(0xdd, 255, 255, 255, 255),
        BYTES(0xdc, 255, 255),
        BYTES(0xdc, 255, 255, MSG_STOP),
        BYTES(0xdf, 0x10, 0, 0, 0),
        BYTES(0xc6, 255, 255, 255, 255),
        BYTES(0xdb, 255, 255, 255, 255),
        BYTES(0x92, MSG_STOP, 0xdb, 255, 255, 255, 255),
        BYTES(0x92, MSG_STOP, 0xd9, 255),
        BYTES(0x92, MSG_STOP, 0xbf),
        BYTES(0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91),
    };
    unsigned char nested[MSG_MAX_BYTES];
    struct msg msg;

    for (unsigned i = 0; i < sizeof bombs / sizeof *bombs; i++)
        CHECK_STATUS(STATUS_MALFORMED,
                     decode_exactly(bombs[i].at, bombs[i].size, &msg));
    memset(nested, 0x91, sizeof nested);
    CHECK_STATUS(STATUS_MALFORMED, decode_exactly(nested, sizeof nested, &msg));
}

/* Whether the last fields, so many, are optional. */
static bool may_be_missing(enum msg_kind kind, unsigned last)
{
    const struct msg_info *info = msg_info(kind);

    return info->field_count >= last &&
           info->fields[info->field_count - last].optional;
}

static void an_optional_field_may_be_missing_or_have_others_behind_it(void)
{
    unsigned char bytes[MSG_MAX_BYTES];
    size_t size = craft(MSG_PING, UINT32_MAX, NULL, bytes);
    unsigned char fields = bytes[2];
    struct msg msg;

    CHECK(may_be_missing(MSG_PING, 1));
    for (unsigned less = 1; less <= fields - 2u; less++) {
        bytes[2] = (unsigned char)(fields - less);
        if (!may_be_missing(MSG_PING, less))
            break;
        CHECK_OK(decode_exactly(bytes, size - less, &msg));
        CHECK_EQUAL(0, msg.ping.idle);
        CHECK_STATUS(STATUS_MALFORMED, decode_exactly(bytes, size, &msg));
    }
    bytes[2] = (unsigned char)(fields + 1);
    bytes[size] = 0x7f;
    CHECK_OK(decode_exactly(bytes, size + 1, &msg));
    bytes[size] = 0xa0; /* a text */
    CHECK_STATUS(STATUS_MALFORMED, decode_exactly(bytes, size + 1, &msg));
    CHECK_STATUS(STATUS_MALFORMED, decode_exactly(bytes, size, &msg));
}

static void a_message_with_a_field_more_or_less_is_refused(void)
{
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        for (int more = -1; travels(kind) && more <= 1; more++) {
            unsigned char bytes[MSG_MAX_BYTES];
            size_t size = craft(kind, UINT32_MAX, NULL, bytes);
            bool grows = may_be_missing(kind, 1);
            struct msg msg;

            bytes[2] = (unsigned char)(bytes[2] + more);
            bytes[size] = 0;
            CHECK_STATUS(more < 0 || (more > 0 && !grows) ? STATUS_MALFORMED
                                                          : STATUS_OK,
                         decode_exactly(bytes, size + (more > 0), &msg));
        }
}

static void a_count_that_is_not_the_fields_is_refused(void)
{
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        for (unsigned count = 0; travels(kind) && count < 256; count++) {
            unsigned char bytes[MSG_MAX_BYTES];
            size_t size = craft(kind, UINT32_MAX, NULL, bytes);
            bool is_fine = count == 1 + msg_info(kind)->field_count;
            struct msg msg;

            bytes[2] = (unsigned char)count;
            CHECK_STATUS(is_fine ? STATUS_OK : STATUS_MALFORMED,
                         decode_exactly(bytes, size, &msg));
        }
}

static void local_and_unknown_kinds_are_refused(void)
{
    for (unsigned kind = 0; kind < 128; kind++) {
        enum msg_kind known = kind < MSG_KINDS ? (enum msg_kind)kind : MSG_STOP;
        unsigned char bytes[MSG_MAX_BYTES];
        size_t size = craft(known, UINT32_MAX, NULL, bytes);
        bool is_fine = kind < MSG_KINDS && travels(known);
        struct msg msg;

        bytes[3] = (unsigned char)kind;
        CHECK_STATUS(is_fine ? STATUS_OK : STATUS_MALFORMED,
                     decode_exactly(bytes, size, &msg));
    }
}

static void a_header_that_is_too_large_is_refused(void)
{
    unsigned char bytes[MSG_MAX_BYTES + 1] = {0x92, MSG_STOP, 0xa0};
    struct msg msg;

    CHECK_STATUS(STATUS_MALFORMED, decode_exactly(bytes, sizeof bytes, &msg));
    CHECK_STATUS(STATUS_MALFORMED, msg_decode(bytes, SIZE_MAX, &msg));
}

/* Another release may have other fields, and is to be told so. */
static void a_hello_of_another_protocol_is_read_up_to_its_versions(void)
{
    static const struct bytes older = BYTES(0x93, MSG_HELLO, 1, 1);
    static const struct bytes newer = BYTES(0x95, MSG_HELLO, 8, 9, 0xc0, 0xa1);
    static const struct bytes ours =
        BYTES(0x93, MSG_HELLO, PROTOCOL_MIN, PROTOCOL_MAX);
    static const struct bytes none = BYTES(0x93, MSG_HELLO, 0, 0);
    static const struct bytes turned = BYTES(0x93, MSG_HELLO, 9, 8);
    static const struct bytes half = BYTES(0x92, MSG_HELLO, 1);
    struct msg msg;

    CHECK_EQUAL(STATUS_OK, msg_decode(older.at, older.size, &msg));
    CHECK_EQUAL(1, msg.hello.protocol_min);
    CHECK_EQUAL(1, msg.hello.protocol_max);
    CHECK(!protocol_fits(&msg.hello));
    CHECK_EQUAL(STATUS_OK, msg_decode(newer.at, newer.size, &msg));
    CHECK_EQUAL(9, msg.hello.protocol_max);
    CHECK_TEXT("", msg.hello.name);
    CHECK_EQUAL(STATUS_MALFORMED, msg_decode(ours.at, ours.size, &msg));
    CHECK_EQUAL(STATUS_MALFORMED, msg_decode(none.at, none.size, &msg));
    CHECK_EQUAL(STATUS_MALFORMED, msg_decode(turned.at, turned.size, &msg));
    CHECK_EQUAL(STATUS_MALFORMED, msg_decode(half.at, half.size, &msg));
}

void add_codec_msg_hostile_tests(CU_pSuite suite)
{
    TEST(integers_may_have_any_form_and_any_value_in_range);
    TEST(integers_out_of_range_are_refused);
    TEST(a_limit_is_held_to_the_number);
    TEST(numbers_are_finite_float64s);
    TEST(texts_have_a_length_and_no_nul);
    TEST(texts_may_have_any_form);
    TEST(nothing_but_numbers_and_texts_is_a_field);
    TEST(bombs_are_refused);
    TEST(an_optional_field_may_be_missing_or_have_others_behind_it);
    TEST(a_message_with_a_field_more_or_less_is_refused);
    TEST(a_count_that_is_not_the_fields_is_refused);
    TEST(local_and_unknown_kinds_are_refused);
    TEST(a_header_that_is_too_large_is_refused);
    TEST(a_hello_of_another_protocol_is_read_up_to_its_versions);
}
