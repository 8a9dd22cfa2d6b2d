/* Prints the vectors that another implementation is tested with, for
 * tools/docs: bytes, and what they mean. Each is made by the functions that
 * hub and nodes use.
 *
 *     star-vectors          the path of the page
 *     star-vectors PATH     the page */
#include "tools/vectors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "codec/msg.h"
#include "core/quote.h"

#define PAGE "docs/vectors.json"

void failed(const char *what)
{
    (void)fprintf(stderr, "star-vectors: %s\n", what);
    exit(70);
}

void put_hex(const char *key, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    printf("\"%s\": \"", key);
    for (size_t i = 0; i < size; i++)
        printf("%02x", at[i]);
    printf("\"");
}

void put_text(const char *key, const char *words)
{
    char bytes[TEXT_ROOM];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    quote_json(&text, words);
    printf("\"%s\": %s", key, bytes);
}

void put_hash(const char *key, const void *bytes, size_t size)
{
    printf("\"%s\": %" PRIu64, key, (uint64_t)XXH3_64bits(bytes, size));
}

/* ---- messages ---- */

/* Whether all numbers are as large as they may be, or small. */
static void fill(struct msg *msg, const struct msg_field *field, unsigned i,
                 bool large)
{
    void *to = (char *)msg + field->offset;
    uint32_t u32 = large                               ? UINT32_MAX - i
                   : field->limit && i >= field->limit ? field->limit - 1
                                                       : i;
    uint64_t u64 = large ? UINT64_MAX - i : 100 * (uint64_t)i;
    int64_t i64 = large ? INT64_MAX - (int64_t)i : 1000 * (int64_t)i;
    double f64 = large ? NO_SCORE : -.125 * i;

    if (large && field->limit)
        u32 = field->limit - 1;
    switch (field->type) {
    case FIELD_U32:
        memcpy(to, &u32, sizeof u32);
        break;
    case FIELD_U64:
        memcpy(to, &u64, sizeof u64);
        break;
    case FIELD_I64:
        memcpy(to, &i64, sizeof i64);
        break;
    case FIELD_F64:
        memcpy(to, &f64, sizeof f64);
        break;
    case FIELD_TEXT:
        (void)snprintf(to, MSG_TEXT_BYTES, "%s",
                       large ? "a text of more than 31 bytes, in UTF-8: "
                               "\xc3\xa4\xc3\xb6\xc3\xbc"
                             : "a text");
        break;
    }
}

static void put_field(const struct msg *msg, const struct msg_field *field)
{
    static const char *const types[] = {"U32", "U64", "I64", "F64", "TEXT"};
    const void *from = (const char *)msg + field->offset;
    char bytes[TEXT_ROOM];
    struct text text;
    uint32_t u32;
    uint64_t u64;
    double f64;

    text_init(&text, bytes, sizeof bytes);
    if (field->type == FIELD_U32) {
        memcpy(&u32, from, sizeof u32);
        text_add(&text, "%" PRIu32, u32);
    } else if (field->type == FIELD_F64) {
        memcpy(&f64, from, sizeof f64);
        quote_json_number(&text, f64);
    } else if (field->type == FIELD_TEXT) {
        quote_json(&text, from);
    } else {
        memcpy(&u64, from, sizeof u64);
        text_add(&text, "%" PRIu64, u64);
    }
    printf("[\"%s\", \"%s\", %s]", field->name, types[field->type], bytes);
}

static void put_message(enum msg_kind kind, bool large)
{
    const struct msg_info *info = msg_info(kind);
    struct msg msg = {.kind = kind};
    unsigned char bytes[MSG_MAX_BYTES];
    size_t size;

    for (unsigned i = 0; i < info->field_count; i++)
        fill(&msg, &info->fields[i], i, large);
    size = msg_encode(&msg, bytes);
    printf("  {\"name\": \"%s\", \"kind\": %d, \"channel\": \"%s\", "
           "\"to\": \"%s\", \"fields\": [",
           info->name, (int)kind, channel_words[info->channel].text, info->to);
    for (unsigned i = 0; i < info->field_count; i++) {
        printf("%s", i ? ", " : "");
        put_field(&msg, &info->fields[i]);
    }
    printf("],\n   ");
    put_hex("header", bytes, size);
    printf("}");
}

static void put_messages(void)
{
    bool first = true;

    printf("\"messages\": [");
    for (unsigned kind = 0; kind < MSG_KINDS; kind++)
        for (int large = 0; large < 2; large++) {
            if (msg_info(kind)->channel == CHANNEL_LOCAL)
                continue;
            printf("%s\n", first ? "" : ",");
            put_message(kind, large);
            first = false;
        }
    printf("\n]");
}

/* Headers of PONG 1, 2 and STOP "x" in forms of msgpack that are read, and in
 * some that are not. */
static void put_forms(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *what;
    } forms[] = {
#define FORM(bytes, what) {bytes, sizeof bytes - 1, what}
        FORM("\x93\x09\x01\x02", "the shortest"),
        FORM("\xdc\x00\x03\x09\x01\x02", "array16"),
        FORM("\x93\xcc\x09\xcd\x00\x01\xce\x00\x00\x00\x02",
             "uint8, uint16, uint32"),
        FORM("\x93\x09\xcf\x00\x00\x00\x00\x00\x00\x00\x01\xd0\x02",
             "uint64, int8"),
        FORM("\x92\x0a\xa1x", "fixstr"),
        FORM("\x92\x0a\xd9\x01x", "str8"),
        FORM("\x92\x0a\xda\x00\x01x", "str16"),
        FORM("\x92\x0a\xdb\x00\x00\x00\x01x", "str32"),
        FORM("\x92\x0a\xc4\x01x", "bin8"),
        FORM("\xdd\x00\x00\x00\x03\x09\x01\x02", "array32"),
        FORM("\x93\x09\xff\x02", "a negative integer"),
        FORM("\x93\x09\x01\xcb\x40\x00\x00\x00\x00\x00\x00\x00",
             "a float64 for an integer"),
        FORM("\x92\x09\x01", "a field is missing"),
        FORM("\x94\x09\x01\x02\x03", "a field too many"),
        FORM("\x93\x09\x01\x02\xc0", "a byte behind the array"),
#undef FORM
    };

    printf("\"forms\": [");
    for (size_t i = 0; i < LENGTH(forms); i++) {
        struct msg msg;
        bool read = msg_decode((const unsigned char *)forms[i].bytes,
                               forms[i].size, &msg) == STATUS_OK;

        printf("%s\n  {\"what\": \"%s\", \"read\": %s, ", i ? "," : "",
               forms[i].what, read ? "true" : "false");
        put_hex("header", forms[i].bytes, forms[i].size);
        printf("}");
    }
    printf("\n]");
}

/* Words that fields name by number, in the order of the numbers; before them
 * their list, which has no text. */
static const struct {
    const char *list, *text;
} words[] = {
#define LIST(list, LIST_, doc) {#list, NULL},
#define WORD(LIST_, name, text, doc) {NULL, text},
#define LIST_END(list, LIST_)
#define CODEC(NAME, name, bits, use, valid, doc) {NULL, #name},
#include "core/words.def"
    {"codec", NULL},
#include "codec/codecs.def"
#undef LIST
#undef WORD
#undef LIST_END
#undef CODEC
};

static void put_words(void)
{
    printf("\"words\": {");
    for (size_t i = 0; i < LENGTH(words); i++) {
        bool first = i > 0 && words[i - 1].list;

        if (words[i].list)
            printf("%s\n  \"%s\": [", i ? "]," : "", words[i].list);
        else
            printf("%s\"%s\"", first ? "" : ", ", words[i].text);
    }
    printf("]\n}");
}

static void put_page(void)
{
    printf("{\"about\": \"Test vectors of docs/protocol.md, made by make docs. "
           "Bytes are in hex, floats in little-endian float32. Element i of a "
           "model is ((i * 40503 + 12345) mod 65536 - 32768) * 2^-(8 + i mod "
           "8). Whole numbers go up to 2^64 - 1. Of a long payload only the "
           "XXH3-64 is here. A decoded -0 stands here as 0.\",\n"
           "\"protocol\": [%d, %d],\n",
           PROTOCOL_MIN, PROTOCOL_MAX);
    put_messages();
    printf(",\n");
    put_forms();
    printf(",\n");
    put_words();
    printf(",\n");
    put_models();
    printf(",\n");
    put_chunks();
    printf(",\n");
    put_rebases();
    printf(",\n");
    put_manifest();
    printf(",\n");
    put_keys();
    printf("}\n");
}

int main(int count, char **arguments)
{
    if (count < 2) {
        printf("%s\n", PAGE);
    } else if (strcmp(arguments[1], PAGE) == 0) {
        put_page();
    } else {
        (void)fprintf(stderr, "no page %s; without an argument I list them\n",
                      arguments[1]);
        return 64;
    }
    return fflush(stdout) || ferror(stdout) ? 74 : 0;
}
