#include "codec/msg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <msgpack/pack.h>

/* One table of fields per message. */
#define MESSAGE(KIND, name, channel, to, payload, doc)                         \
    static const struct msg_field name##_fields[] = {
#define FIELD(name, type, field, limit, doc)                                   \
    {#field, FIELD_##type, offsetof(struct msg, name.field),                   \
     (limit) == OPTIONAL ? 0 : (limit), (limit) == OPTIONAL},
#define MESSAGE_END(name)                                                      \
    }                                                                          \
    ;
#include "codec/messages.def"
#undef MESSAGE
#undef FIELD
#undef MESSAGE_END

static const struct msg_info infos[MSG_KINDS] = {
#define MESSAGE(KIND, name, channel, to, payload, doc)                         \
    [MSG_##                                                                    \
        KIND] = {#name,         CHANNEL_##channel,                             \
                 #to,           PAYLOAD_##payload,                             \
                 name##_fields, sizeof name##_fields / sizeof *name##_fields},
#define FIELD(name, type, field, limit, doc)
#define MESSAGE_END(name)
#include "codec/messages.def"
#undef MESSAGE
#undef FIELD
#undef MESSAGE_END
};

/* The most bytes that each message can take: three for the array, five for the
 * kind, and its fields. */
#define BYTES_U32 +5
#define BYTES_U64 +9
#define BYTES_I64 +9
#define BYTES_F64 +9
#define BYTES_TEXT +2 + MSG_TEXT_BYTES - 1
#define MESSAGE(KIND, name, channel, to, payload, doc) _Static_assert(3 + 5
#define FIELD(name, type, field, limit, doc) BYTES_##type
#define MESSAGE_END(name) <= MSG_MAX_BYTES, #name " can be too long");
#include "codec/messages.def"
#undef MESSAGE
#undef FIELD
#undef MESSAGE_END
#undef BYTES_U32
#undef BYTES_U64
#undef BYTES_I64
#undef BYTES_F64
#undef BYTES_TEXT

const struct msg_info *msg_info(enum msg_kind kind)
{
    assert((unsigned)kind < MSG_KINDS);
    return &infos[kind];
}

/* ---- writing ---- */

struct writer {
    unsigned char *bytes;
    size_t length;
};

static int write_bytes(void *self, const char *bytes, size_t length)
{
    struct writer *writer = self;

    assert(length <= MSG_MAX_BYTES - writer->length);
    memcpy(writer->bytes + writer->length, bytes, length);
    writer->length += length;
    return 0;
}

static void pack_u32(msgpack_packer *packer, const struct msg_field *field,
                     const void *value)
{
    uint32_t number;

    memcpy(&number, value, sizeof number);
    assert(field->limit == 0 || number < field->limit);
    (void)msgpack_pack_uint32(packer, number);
}

static void pack_u64(msgpack_packer *packer, const struct msg_field *field,
                     const void *value)
{
    uint64_t number;

    (void)field;
    memcpy(&number, value, sizeof number);
    (void)msgpack_pack_uint64(packer, number);
}

static void pack_i64(msgpack_packer *packer, const struct msg_field *field,
                     const void *value)
{
    int64_t number;

    (void)field;
    memcpy(&number, value, sizeof number);
    (void)msgpack_pack_uint64(packer, number < 0 ? 0 : (uint64_t)number);
}

static void pack_f64(msgpack_packer *packer, const struct msg_field *field,
                     const void *value)
{
    double number;

    (void)field;
    memcpy(&number, value, sizeof number);
    (void)msgpack_pack_double(packer, isfinite(number) ? number : NO_SCORE);
}

static void pack_text(msgpack_packer *packer, const struct msg_field *field,
                      const void *value)
{
    size_t length = strnlen(value, MSG_TEXT_BYTES - 1);

    (void)field;
    (void)msgpack_pack_str(packer, length);
    (void)msgpack_pack_str_body(packer, value, length);
}

/* ---- reading ---- */

struct reader {
    const unsigned char *at;
    size_t left;
};

/* `width` bytes, the highest first. */
static bool read_bytes(struct reader *reader, unsigned width, uint64_t *out)
{
    uint64_t value = 0;

    if (reader->left < width)
        return false;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | reader->at[i];
    reader->at += width;
    reader->left -= width;
    *out = value;
    return true;
}

/* An integer that is not negative, in any of its forms: 0 to 0x7f; 0xcc to
 * 0xcf, unsigned of 1, 2, 4, 8 bytes; 0xd0 to 0xd3, signed of as many. */
static bool read_whole(struct reader *reader, uint64_t *out)
{
    uint64_t lead;
    bool is_negative;

    if (!read_bytes(reader, 1, &lead))
        return false;
    if (lead < 0x80) {
        *out = lead;
        return true;
    }
    if (lead < 0xcc || lead > 0xd3)
        return false;
    is_negative = lead >= 0xd0 && reader->left && reader->at[0] >= 0x80;
    return !is_negative && read_bytes(reader, 1u << (lead & 3), out);
}

/* An array of up to 15 elements, or of up to 65535. */
static bool read_array(struct reader *reader, uint64_t *count)
{
    uint64_t lead;

    if (!read_bytes(reader, 1, &lead))
        return false;
    if (lead == 0xdc)
        return read_bytes(reader, 2, count);
    *count = lead & 0x0f;
    return (lead & 0xf0) == 0x90;
}

static bool read_u32(struct reader *reader, const struct msg_field *field,
                     void *out)
{
    uint64_t value;
    uint32_t number;

    if (!read_whole(reader, &value) || value > UINT32_MAX)
        return false;
    number = (uint32_t)value;
    memcpy(out, &number, sizeof number);
    return field->limit == 0 || number < field->limit;
}

static bool read_u64(struct reader *reader, const struct msg_field *field,
                     void *out)
{
    uint64_t value;

    (void)field;
    if (!read_whole(reader, &value))
        return false;
    memcpy(out, &value, sizeof value);
    return true;
}

static bool read_i64(struct reader *reader, const struct msg_field *field,
                     void *out)
{
    uint64_t value;

    (void)field;
    if (!read_whole(reader, &value) || value > INT64_MAX)
        return false;
    memcpy(out, &value, sizeof value);
    return true;
}

static bool read_f64(struct reader *reader, const struct msg_field *field,
                     void *out)
{
    uint64_t lead, bits;
    double number;

    (void)field;
    if (!read_bytes(reader, 1, &lead) || lead != 0xcb ||
        !read_bytes(reader, 8, &bits))
        return false;
    memcpy(&number, &bits, sizeof number);
    memcpy(out, &number, sizeof number);
    return isfinite(number);
}

/* How many bytes of a text follow, in any of its forms: up to 31 in the lead;
 * 0xd9 to 0xdb: in the next 1, 2 or 4 bytes. */
static bool read_length(struct reader *reader, uint64_t *out)
{
    uint64_t lead;

    if (!read_bytes(reader, 1, &lead))
        return false;
    *out = lead & 0x1f;
    if ((lead & 0xe0) == 0xa0)
        return true;
    return lead >= 0xd9 && lead <= 0xdb &&
           read_bytes(reader, 1u << (lead - 0xd9), out);
}

static bool read_text(struct reader *reader, const struct msg_field *field,
                      void *out)
{
    uint64_t length;

    (void)field;
    if (!read_length(reader, &length))
        return false;
    if (length >= MSG_TEXT_BYTES || length > reader->left ||
        memchr(reader->at, '\0', (size_t)length))
        return false;
    memcpy(out, reader->at, (size_t)length);
    ((char *)out)[length] = '\0';
    reader->at += length;
    reader->left -= (size_t)length;
    return true;
}

/* ---- messages ---- */

struct type {
    void (*pack)(msgpack_packer *packer, const struct msg_field *field,
                 const void *value);
    bool (*read)(struct reader *reader, const struct msg_field *field,
                 void *out);
};

static const struct type types[] = {
    [FIELD_U32] = {pack_u32, read_u32},    [FIELD_U64] = {pack_u64, read_u64},
    [FIELD_I64] = {pack_i64, read_i64},    [FIELD_F64] = {pack_f64, read_f64},
    [FIELD_TEXT] = {pack_text, read_text},
};

/* How many fields are said: optional ones that are 0 are not, at the end. */
static unsigned fields_said(const struct msg_info *info, const struct msg *msg)
{
    unsigned count = info->field_count;

    for (; count && info->fields[count - 1].optional; count--) {
        const struct msg_field *field = &info->fields[count - 1];

        assert(field->type == FIELD_I64);
        if (*(const int64_t *)((const char *)msg + field->offset) != 0)
            break;
    }
    return count;
}

size_t msg_encode(const struct msg *msg, unsigned char bytes[MSG_MAX_BYTES])
{
    const struct msg_info *info = msg_info(msg->kind);
    const unsigned count = fields_said(info, msg);
    struct writer writer = {bytes, 0};
    msgpack_packer packer;

    assert(info->channel != CHANNEL_LOCAL);
    msgpack_packer_init(&packer, &writer, write_bytes);
    (void)msgpack_pack_array(&packer, 1 + (size_t)count);
    (void)msgpack_pack_uint32(&packer, msg->kind);
    for (unsigned i = 0; i < count; i++) {
        const struct msg_field *field = &info->fields[i];

        types[field->type].pack(&packer, field,
                                (const char *)msg + field->offset);
    }
    return writer.length;
}

/* The kind of a message that may come from outside, and how many fields are
 * said to follow. */
static bool read_kind(struct reader *reader, enum msg_kind *out,
                      uint64_t *fields)
{
    uint64_t kind;

    if (!read_array(reader, fields) || !(*fields)-- ||
        !read_whole(reader, &kind) || kind >= MSG_KINDS ||
        infos[kind].channel == CHANNEL_LOCAL)
        return false;
    *out = (enum msg_kind)kind;
    return true;
}

/* Whether a HELLO that cannot be read any further says that its sender speaks
 * no protocol of ours; the rest of `msg` becomes zero. */
static bool is_foreign(struct msg *msg)
{
    struct msg foreign = {.kind = MSG_HELLO};

    foreign.hello.protocol_min = msg->hello.protocol_min;
    foreign.hello.protocol_max = msg->hello.protocol_max;
    if (msg->kind != MSG_HELLO || protocol_fits(&msg->hello) ||
        foreign.hello.protocol_min < 1 ||
        foreign.hello.protocol_max < foreign.hello.protocol_min)
        return false;
    memcpy(msg, &foreign, sizeof foreign);
    return true;
}

/* What a newer peer says behind the fields of a message that may grow. */
static bool read_rest(struct reader *reader, const struct msg_info *info,
                      uint64_t count)
{
    const struct msg_field *last = &info->fields[info->field_count - 1];
    uint64_t ignored;

    if (count > info->field_count && !last->optional)
        return false;
    for (uint64_t i = info->field_count; i < count; i++)
        if (!read_whole(reader, &ignored))
            return false;
    return !reader->left;
}

static bool read_fields(struct reader *reader, uint64_t count, struct msg *msg)
{
    const struct msg_info *info = &infos[msg->kind];

    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *field = &info->fields[i];

        void *value = (char *)msg + field->offset;

        if (i >= count && field->optional)
            break;
        if (i >= count || !types[field->type].read(reader, field, value))
            return i >= HELLO_VERSIONS && is_foreign(msg);
    }
    return read_rest(reader, info, count) || is_foreign(msg);
}

bool protocol_fits(const struct msg_hello *hello)
{
    return hello->protocol_min <= PROTOCOL_MAX &&
           hello->protocol_max >= PROTOCOL_MIN;
}

uint32_t protocol_common(uint32_t peer_max)
{
    return peer_max < PROTOCOL_MAX ? peer_max : PROTOCOL_MAX;
}

enum status msg_decode(const unsigned char *bytes, size_t size, struct msg *msg)
{
    struct reader reader = {bytes, size};
    uint64_t count;
    struct msg read;

    memset(&read, 0, sizeof read);
    if (size > MSG_MAX_BYTES || !read_kind(&reader, &read.kind, &count) ||
        !read_fields(&reader, count, &read))
        return STATUS_MALFORMED;
    memcpy(msg, &read, sizeof read);
    return STATUS_OK;
}
