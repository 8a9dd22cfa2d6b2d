/* star-seeds FOLDER: writes a valid message of each kind that may travel, as a
 * seed for the fuzzer, to FOLDER/message/<name>. */
#include <stdio.h>
#include <string.h>

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

static int write_seed(const char *folder, enum msg_kind kind)
{
    struct msg msg = make_message(kind);
    unsigned char bytes[MSG_MAX_BYTES];
    size_t size = msg_encode(&msg, bytes);
    char path[1000];
    FILE *file;
    int failed;

    (void)snprintf(path, sizeof path, "%s/message/%s", folder,
                   msg_info(kind)->name);
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

int main(int count, char **arguments)
{
    int failed = 0;

    if (count != 2) {
        (void)fprintf(stderr, "usage: star-seeds FOLDER\n");
        return 64;
    }
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        if (msg_info(kind)->channel != CHANNEL_LOCAL)
            failed |= write_seed(arguments[1], kind);
    return failed;
}
