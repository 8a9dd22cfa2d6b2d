/* Fuzzes the message decoder: what it accepts can be sent on and means the
 * same, and can be printed into any room. */
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "codec/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void print(const struct msg *msg, size_t size)
{
    char text[2000];
    size_t length;

    memset(text, '!', sizeof text);
    length = msg_print(msg, text, size);
    assert(length < size && strlen(text) == length && text[size] == '!');
}

/* Of a HELLO of another protocol only the versions are read, so that all of
 * ours may be longer. */
static bool is_foreign(const struct msg *msg)
{
    return msg->kind == MSG_HELLO && !protocol_fits(&msg->hello);
}

/* Bytes by which it may grow: fields that were left out are sent as 0, and a
 * longer list may need a longer head. */
static size_t left_out(const struct msg *msg)
{
    const struct msg_info *info = msg_info(msg->kind);
    size_t count = 0;

    for (unsigned i = 0; i < info->field_count; i++)
        count += info->fields[i].optional;
    return count ? count + 2 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned char once[MSG_MAX_BYTES], twice[MSG_MAX_BYTES];
    struct msg msg, copy;
    size_t length;

    if (msg_decode(bytes, size, &msg))
        return 0;
    length = msg_encode(&msg, once);
    assert(length <= MSG_MAX_BYTES);
    assert(length <= size + left_out(&msg) || is_foreign(&msg));
    assert(msg_decode(once, length, &copy) == STATUS_OK);
    assert(msg_encode(&copy, twice) == length);
    assert(memcmp(once, twice, length) == 0);
    print(&msg, 1999);
    print(&msg, 1 + size % 100);
    return 0;
}
