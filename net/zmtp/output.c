/* What an engine has to send. */
#include <assert.h>
#include <string.h>

#include "net/zmtp/inside.h"

void zmtp_put(struct zmtp *zmtp, const void *bytes, size_t size)
{
    assert(size <= sizeof zmtp->out - zmtp->out_size);
    memcpy(zmtp->out + zmtp->out_size, bytes, size);
    zmtp->out_size += size;
}

static size_t write_head(unsigned char flags, size_t size, unsigned char *out)
{
    if (size <= SHORT_FRAME) {
        out[0] = flags;
        out[1] = (unsigned char)size;
        return 2;
    }
    out[0] = flags | FLAG_LONG;
    for (unsigned i = 0; i < 8; i++)
        out[1 + i] = (unsigned char)((uint64_t)size >> (56 - 8 * i));
    return ZMTP_HEAD_BYTES;
}

void zmtp_put_command(struct zmtp *zmtp, const void *body, size_t size)
{
    unsigned char head[ZMTP_HEAD_BYTES];
    size_t length = write_head(FLAG_COMMAND, size, head);

    zmtp_put(zmtp, head, length);
    zmtp_put(zmtp, body, size);
}

const unsigned char *zmtp_output(const struct zmtp *zmtp, size_t *size)
{
    *size = zmtp->out_size - zmtp->out_sent;
    return zmtp->out + zmtp->out_sent;
}

void zmtp_sent(struct zmtp *zmtp, size_t size)
{
    zmtp->out_sent += size;
    if (zmtp->out_sent == zmtp->out_size)
        zmtp->out_sent = zmtp->out_size = 0;
}

size_t zmtp_head(bool more, size_t size, unsigned char out[ZMTP_HEAD_BYTES])
{
    return write_head(more ? FLAG_MORE : 0, size, out);
}

size_t zmtp_sealed_bytes(size_t size)
{
    size += ZMTP_SEAL_BYTES;
    return size + (size <= SHORT_FRAME ? 2 : ZMTP_HEAD_BYTES);
}

void zmtp_seal(struct zmtp *zmtp, bool more, const void *bytes, size_t size,
               unsigned char *out)
{
    size_t head = write_head(0, size + ZMTP_SEAL_BYTES, out);

    curve_seal(zmtp, more ? SEALED_MORE : 0, bytes, size, out + head);
}

/* A PONG that finds something else waiting is not sent: whoever asks without
 * end gets one answer at a time. */
void zmtp_answer_ping(struct zmtp *zmtp, const unsigned char *context,
                      size_t size)
{
    unsigned char body[5 + ZMTP_CONTEXT_BYTES] = "\4PONG";
    unsigned char sealed[ZMTP_SEAL_BYTES + sizeof body];

    if (zmtp->out_size)
        return;
    memcpy(body + 5, context, size);
    size += 5;
    if (!zmtp->plan.keys) {
        zmtp_put_command(zmtp, body, size);
        return;
    }
    curve_seal(zmtp, SEALED_COMMAND, body, size, sealed);
    size += ZMTP_SEAL_BYTES;
    zmtp_put(zmtp, (unsigned char[]){0, (unsigned char)size}, 2);
    zmtp_put(zmtp, sealed, size);
}
