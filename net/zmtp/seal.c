/* CURVE, once hands are shaken: what is in a MESSAGE. */
#include <sodium.h>
#include <string.h>

#include "net/zmtp/inside.h"

enum {
    MAC_AT = MESSAGE_NAME_BYTES + NONCE_BYTES,
    SEALED_AT = MAC_AT + MAC_BYTES
};

_Static_assert(SEALED_AT + 1 == ZMTP_SEAL_BYTES, "what a box adds");

struct nonce nonce_short(const char *name, const unsigned char *number)
{
    struct nonce nonce;

    memcpy(nonce.bytes, name, sizeof nonce.bytes - NONCE_BYTES);
    memcpy(nonce.bytes + sizeof nonce.bytes - NONCE_BYTES, number, NONCE_BYTES);
    return nonce;
}

void nonce_next(struct zmtp *zmtp, unsigned char out[NONCE_BYTES])
{
    uint64_t number = ++zmtp->nonce;

    for (unsigned i = NONCE_BYTES; i-- > 0; number >>= 8)
        out[i] = (unsigned char)number;
}

bool nonce_accept(struct zmtp *zmtp, const unsigned char *bytes)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < NONCE_BYTES; i++)
        number = number << 8 | bytes[i];
    if (number <= zmtp->peer_nonce)
        return false;
    zmtp->peer_nonce = number;
    return true;
}

static const char *message_nonce(bool from_server)
{
    return from_server ? "CurveZMQMESSAGES" : "CurveZMQMESSAGEC";
}

int curve_open(struct zmtp *zmtp, unsigned char *body, size_t size)
{
    struct nonce nonce;

    zmtp->fault = ZMTP_FAULT_BOX;
    if (memcmp(body, "\7MESSAGE", MESSAGE_NAME_BYTES) != 0)
        return -1;
    nonce = nonce_short(message_nonce(!zmtp->plan.server),
                        body + MESSAGE_NAME_BYTES);
    if (crypto_box_open_detached_afternm(body + SEALED_AT, body + SEALED_AT,
                                         body + MAC_AT, size - SEALED_AT,
                                         nonce.bytes, zmtp->session) != 0)
        return -1;
    zmtp->fault = ZMTP_FAULT_NONCE;
    if (!nonce_accept(zmtp, body + MESSAGE_NAME_BYTES))
        return -1;
    zmtp->fault = ZMTP_FAULT_NONE;
    return body[SEALED_AT];
}

void curve_seal(struct zmtp *zmtp, unsigned char flags, const void *bytes,
                size_t size, unsigned char *out)
{
    struct nonce nonce;

    memcpy(out, "\7MESSAGE", MESSAGE_NAME_BYTES);
    nonce_next(zmtp, out + MESSAGE_NAME_BYTES);
    nonce =
        nonce_short(message_nonce(zmtp->plan.server), out + MESSAGE_NAME_BYTES);
    out[SEALED_AT] = flags;
    if (size)
        memcpy(out + ZMTP_SEAL_BYTES, bytes, size);
    (void)crypto_box_detached_afternm(out + SEALED_AT, out + MAC_AT,
                                      out + SEALED_AT, size + 1, nonce.bytes,
                                      zmtp->session);
}
