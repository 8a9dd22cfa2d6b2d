#include "tests/codec/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

/* Between 0 and 2^64 - 1, each number of bits equally likely. */
static uint64_t sample_whole(struct prng *prng)
{
    return prng_next(prng) >> prng_below(prng, 64);
}

static void sample_u32(struct prng *prng, uint32_t limit, void *out)
{
    uint32_t number = (uint32_t)sample_whole(prng);

    if (limit)
        number = (uint32_t)prng_below(prng, limit);
    memcpy(out, &number, sizeof number);
}

static void sample_u64(struct prng *prng, uint32_t limit, void *out)
{
    uint64_t number = sample_whole(prng);

    (void)limit;
    memcpy(out, &number, sizeof number);
}

static void sample_i64(struct prng *prng, uint32_t limit, void *out)
{
    uint64_t number = sample_whole(prng) >> 1;

    (void)limit;
    memcpy(out, &number, sizeof number);
}

static void sample_f64(struct prng *prng, uint32_t limit, void *out)
{
    double number;

    (void)limit;
    do {
        uint64_t bits = prng_next(prng);

        memcpy(&number, &bits, sizeof number);
    } while (!isfinite(number));
    memcpy(out, &number, sizeof number);
}

static void sample_text(struct prng *prng, uint32_t limit, void *out)
{
    size_t length = (size_t)prng_below(prng, MSG_TEXT_BYTES);

    (void)limit;
    for (size_t i = 0; i < length; i++)
        ((unsigned char *)out)[i] = (unsigned char)(1 + prng_below(prng, 255));
}

static void (*const samplers[])(struct prng *prng, uint32_t limit,
                                void *out) = {
    [FIELD_U32] = sample_u32,   [FIELD_U64] = sample_u64,
    [FIELD_I64] = sample_i64,   [FIELD_F64] = sample_f64,
    [FIELD_TEXT] = sample_text,
};

static const size_t sizes[] = {
    [FIELD_U32] = sizeof(uint32_t), [FIELD_U64] = sizeof(uint64_t),
    [FIELD_I64] = sizeof(int64_t),  [FIELD_F64] = sizeof(double),
    [FIELD_TEXT] = MSG_TEXT_BYTES,
};

struct msg sample_message(enum msg_kind kind, struct prng *prng)
{
    const struct msg_info *info = msg_info(kind);
    struct msg msg;

    memset(&msg, 0, sizeof msg);
    msg.kind = kind;
    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *field = &info->fields[i];

        samplers[field->type](prng, field->limit, (char *)&msg + field->offset);
    }
    if (kind == MSG_HELLO) /* of others, less is read */
        msg.hello.protocol_min = msg.hello.protocol_max = PROTOCOL_MIN;
    return msg;
}

bool same_message(const struct msg *a, const struct msg *b)
{
    const struct msg_info *info = msg_info(a->kind);

    if (a->kind != b->kind)
        return false;
    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *field = &info->fields[i];

        if (memcmp((const char *)a + field->offset,
                   (const char *)b + field->offset, sizes[field->type]) != 0)
            return false;
    }
    return true;
}

bool travels(enum msg_kind kind)
{
    return msg_info(kind)->channel != CHANNEL_LOCAL;
}

enum status decode_exactly(const unsigned char *bytes, size_t size,
                           struct msg *out)
{
    const unsigned char *after = (const unsigned char *)out;
    unsigned char before[sizeof *out];
    unsigned char *exact = malloc(size ? size : 1);
    enum status status;

    if (!exact)
        abort();
    memcpy(exact, bytes, size);
    memset(before, 0xa5, sizeof before);
    memcpy(out, before, sizeof before);
    status = msg_decode(exact, size, out);
    free(exact);
    CHECK(status == STATUS_OK || status == STATUS_MALFORMED);
    if (status)
        CHECK(memcmp(after, before, sizeof before) == 0);
    return status;
}
