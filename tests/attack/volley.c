/* What is sent in one go. */
#include <string.h>

#include "tests/attack/volley.h"

uint64_t below(struct attack *attack, uint64_t bound)
{
    return prng_below(&attack->prng, bound);
}

bool one_in(struct attack *attack, uint64_t many)
{
    return below(attack, many) == 0;
}

void put(struct volley *volley, const void *bytes, size_t size)
{
    if (size > sizeof volley->bytes - volley->size)
        return;
    if (size)
        memcpy(volley->bytes + volley->size, bytes, size);
    volley->size += size;
}

void put_random(struct attack *attack, struct volley *volley, size_t size)
{
    for (; size; size--)
        put(volley, &(unsigned char){(unsigned char)below(attack, 256)}, 1);
}

void put_head(struct attack *attack, struct volley *volley, unsigned char flags,
              uint64_t said)
{
    unsigned char head[9] = {flags};

    attack->frames++;
    if (volley->frames < VOLLEY_FRAMES)
        volley->begins[volley->frames++] = volley->size;
    if (said < 256 && !(flags & FLAG_LONG)) {
        head[1] = (unsigned char)said;
        put(volley, head, 2);
        return;
    }
    head[0] |= FLAG_LONG;
    for (unsigned i = 0; i < 8; i++)
        head[1 + i] = (unsigned char)(said >> (56 - 8 * i));
    put(volley, head, sizeof head);
}

void put_frame(struct attack *attack, struct volley *volley,
               unsigned char flags, const void *bytes, size_t size)
{
    put_head(attack, volley, flags, size);
    put(volley, bytes, size);
}

void put_greeting(struct attack *attack, struct volley *volley)
{
    unsigned char greeting[64] = {0xff, [8] = 1, 0x7f, 3,  1,
                                  'N',  'U',     'L',  'L'};

    if (attack->keyed)
        memcpy(greeting + 12, "CURVE", sizeof "CURVE");
    put(volley, greeting, sizeof greeting);
}

void put_ready(struct attack *attack, struct volley *volley, const void *name,
               size_t name_bytes)
{
    static const char identity[12] = "\10Identity";
    unsigned char body[600] = "\5READY\xbSocket-Type\0\0\0\6";
    size_t size = 22;

    memcpy(body + size, attack->role, 6);
    size += 6;
    memcpy(body + size, identity, sizeof identity);
    body[size + 12] = (unsigned char)name_bytes;
    memcpy(body + size + 13, name, name_bytes);
    put_frame(attack, volley, FLAG_COMMAND, body, size + 13 + name_bytes);
}

void put_handshake(struct attack *attack, struct volley *volley)
{
    put_greeting(attack, volley);
    put_ready(attack, volley, "", 0);
}

size_t some_header(struct attack *attack, unsigned char out[MSG_MAX_BYTES])
{
    struct msg msg;
    size_t size;

    memset(&msg, 0, sizeof msg);
    msg.kind = (enum msg_kind)below(attack, MSG_KINDS);
    if (msg_info(msg.kind)->channel == CHANNEL_LOCAL)
        msg.kind = MSG_PING;
    size = msg_encode(&msg, out);
    while (one_in(attack, 2))
        out[below(attack, size)] = (unsigned char)below(attack, 256);
    return size;
}

void put_some_frame(struct attack *attack, struct volley *volley)
{
    static const unsigned char flags[] = {0, 0, 0, 1, 1, 2, 3, 4, 6, 8, 0xff};
    unsigned char bytes[MSG_MAX_BYTES];
    unsigned char kind = flags[below(attack, sizeof flags)];
    size_t size = some_header(attack, bytes);

    if (one_in(attack, 3))
        size = below(attack, 20);
    if (one_in(attack, 40)) /* says more, or less, than comes */
        put_head(attack, volley, kind,
                 prng_next(&attack->prng) >> below(attack, 64));
    else
        put_frame(attack, volley, kind, bytes, size);
}
