#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/msg.h"
#include "core/quote.h"
#include "core/text.h"

static void print_u32(const void *value, struct text *out)
{
    uint32_t number;

    memcpy(&number, value, sizeof number);
    text_add(out, "%" PRIu32, number);
}

static void print_u64(const void *value, struct text *out)
{
    uint64_t number;

    memcpy(&number, value, sizeof number);
    text_add(out, "%" PRIu64, number);
}

static void print_i64(const void *value, struct text *out)
{
    int64_t number;

    memcpy(&number, value, sizeof number);
    text_add(out, "%" PRId64, number);
}

/* 17 digits always read back as the same number, 15 are often enough. */
static void print_f64(const void *value, struct text *out)
{
    char bytes[32];
    double number;

    memcpy(&number, value, sizeof number);
    for (int digits = 15; digits <= 17; digits++) {
        double again;

        (void)snprintf(bytes, sizeof bytes, "%.*g", digits, number);
        again = strtod(bytes, NULL);
        if (again <= number && again >= number)
            break;
    }
    text_add(out, "%s", bytes);
}

static void print_text(const void *value, struct text *out)
{
    char string[MSG_TEXT_BYTES];

    memcpy(string, value, sizeof string);
    string[MSG_TEXT_BYTES - 1] = '\0';
    quote_json(out, string);
}

static void (*const printers[])(const void *value, struct text *out) = {
    [FIELD_U32] = print_u32, [FIELD_U64] = print_u64,   [FIELD_I64] = print_i64,
    [FIELD_F64] = print_f64, [FIELD_TEXT] = print_text,
};

size_t msg_print(const struct msg *msg, char *text, size_t size)
{
    const struct msg_info *info = msg_info(msg->kind);
    struct text out;

    text_init(&out, text, size);
    text_add(&out, "%s", info->name);
    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *field = &info->fields[i];

        text_add(&out, " %s=", field->name);
        printers[field->type]((const char *)msg + field->offset, &out);
    }
    return out.length;
}
