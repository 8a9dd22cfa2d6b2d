/* star-seeds FOLDER: writes seeds for the fuzzers: a valid message of each kind
 * that may travel to FOLDER/message/<name>, a payload of each codec to
 * FOLDER/payload/<name>. */
#include <stdio.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/msg.h"

/* Every number is 1 but where only 0 is allowed, every text a name. */
static struct msg make_message(enum msg_kind kind)
{
    const struct msg_info *info = msg_info(kind);
    const double number = 1;
    struct msg msg = {.kind = kind};

    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *field = &info->fields[i];
        char *value = (char *)&msg + field->offset;

        if (field->type == FIELD_F64)
            memcpy(value, &number, sizeof number);
        else if (field->type == FIELD_TEXT)
            memcpy(value, "node-1", sizeof "node-1");
        else if (field->limit != 1)
            *value = 1; /* the lowest byte: we run on little endian only */
    }
    return msg;
}

static int write_seed(const char *folder, const char *target, const char *name,
                      const unsigned char *bytes, size_t size)
{
    char path[1000];
    FILE *file;
    int failed;

    (void)snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    file = fopen(path, "wb");
    if (!file) {
        perror(path);
        return 1;
    }
    failed = fwrite(bytes, 1, size, file) != size;
    failed |= fclose(file) != 0;
    if (failed)
        perror(path);
    return failed;
}

static int write_message(const char *folder, enum msg_kind kind)
{
    struct msg msg = make_message(kind);
    unsigned char bytes[MSG_MAX_BYTES] = {0};

    return write_seed(folder, "message", msg_info(kind)->name, bytes,
                      msg_encode(&msg, bytes));
}

/* See tests/fuzz/payload.c. Two blocks of most codecs, the second shorter. */
static int write_payload(const char *folder, enum codec_id codec)
{
    enum { ELEMENTS = 300, HEAD = 4 };
    unsigned char bytes[HEAD + 8 * ELEMENTS] = {(unsigned char)codec,
                                                ELEMENTS & 255, ELEMENTS >> 8};
    float values[ELEMENTS];

    for (int i = 0; i < ELEMENTS; i++)
        values[i] = (float)(i * 7919 % 1000) / 500 - 1;
    codecs[codec].encode(values, 0, ELEMENTS, ELEMENTS, bytes + HEAD);
    return write_seed(folder, "payload", codecs[codec].name, bytes,
                      HEAD + codecs[codec].bound(ELEMENTS));
}

int main(int count, char **arguments)
{
    int failed = 0;

    if (count != 2) {
        (void)fprintf(stderr, "usage: star-seeds FOLDER\n");
        return 64;
    }
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        if (msg_info(kind)->channel != CHANNEL_LOCAL)
            failed |= write_message(arguments[1], kind);
    for (int i = 0; i < CODEC_COUNT; i++)
        failed |= write_payload(arguments[1], (enum codec_id)i);
    return failed;
}
