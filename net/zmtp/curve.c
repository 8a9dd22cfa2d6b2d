/* CURVE (RFC 26): both sides prove the keys they hold, and what follows is
 * sealed with a key of this connection alone.
 *
 * Between a client with keys c, C and a server with s, S; c' and s' are made
 * for the connection:
 *     HELLO     C', Box[64 zeros](C' > S)
 *     WELCOME   Box[S', cookie](S > C')
 *     INITIATE  cookie, Box[C, Box[C', S](C > S'), metadata](C' > S')
 *     READY     Box[metadata](S' > C')
 * A server of the RFC keeps nothing until INITIATE and has all of it in the
 * cookie. Ours keeps the connection anyway: its cookie is random, and has to
 * come back. */
#include <sodium.h>
#include <string.h>

#include "net/zmtp/inside.h"

enum {
    KEY = ZMTP_KEY_BYTES,
    COOKIE_BYTES = 96,
    LONG_NONCE_BYTES = 16,
    /* In random: what each is for. */
    RANDOM_TRANSIENT = 0,
    RANDOM_NONCE = KEY,
    RANDOM_COOKIE = KEY + LONG_NONCE_BYTES,
    /* HELLO */
    HELLO_KEY_AT = 80, /* a name, a version, 72 bytes of padding */
    HELLO_NONCE_AT = HELLO_KEY_AT + KEY,
    HELLO_BOX_AT = HELLO_NONCE_AT + NONCE_BYTES,
    ZEROS = 64,
    HELLO_BYTES = HELLO_BOX_AT + MAC_BYTES + ZEROS,
    /* WELCOME */
    WELCOME_NONCE_AT = 8,
    WELCOME_BOX_AT = WELCOME_NONCE_AT + LONG_NONCE_BYTES,
    WELCOME_INSIDE = KEY + COOKIE_BYTES,
    WELCOME_BYTES = WELCOME_BOX_AT + MAC_BYTES + WELCOME_INSIDE,
    /* INITIATE, and what is in its box */
    INITIATE_COOKIE_AT = 9,
    INITIATE_NONCE_AT = INITIATE_COOKIE_AT + COOKIE_BYTES,
    INITIATE_BOX_AT = INITIATE_NONCE_AT + NONCE_BYTES,
    VOUCH_NONCE_AT = KEY,
    VOUCH_AT = VOUCH_NONCE_AT + LONG_NONCE_BYTES,
    VOUCH_INSIDE = 2 * KEY,
    METADATA_AT = VOUCH_AT + MAC_BYTES + VOUCH_INSIDE,
    /* READY */
    READY_NONCE_AT = 6,
    READY_BOX_AT = READY_NONCE_AT + NONCE_BYTES
};

_Static_assert(RANDOM_COOKIE + COOKIE_BYTES == ZMTP_RANDOM_BYTES,
               "random bytes are enough, and all used");
_Static_assert(sizeof(struct nonce) == crypto_box_NONCEBYTES, "of a box");

/* A name of 8 bytes and random ones. */
static struct nonce long_nonce(const char *name, const unsigned char *random)
{
    struct nonce nonce;

    memcpy(nonce.bytes, name, sizeof nonce.bytes - LONG_NONCE_BYTES);
    memcpy(nonce.bytes + sizeof nonce.bytes - LONG_NONCE_BYTES, random,
           LONG_NONCE_BYTES);
    return nonce;
}

static bool is(const unsigned char *body, size_t size, const char *name)
{
    return size >= strlen(name) && memcmp(body, name, strlen(name)) == 0;
}

static bool make_transient(struct zmtp *zmtp)
{
    memcpy(zmtp->transient, zmtp->random + RANDOM_TRANSIENT, KEY);
    return crypto_scalarmult_base(zmtp->transient_shown, zmtp->transient) == 0;
}

/* ---- the client ---- */

void curve_begin(struct zmtp *zmtp)
{
    unsigned char hello[HELLO_BYTES] = "\5HELLO\1";
    static const unsigned char zeros[ZEROS];
    struct nonce nonce;

    (void)make_transient(zmtp);
    memcpy(hello + HELLO_KEY_AT, zmtp->transient_shown, KEY);
    nonce_next(zmtp, hello + HELLO_NONCE_AT);
    nonce = nonce_short("CurveZMQHELLO---", hello + HELLO_NONCE_AT);
    if (crypto_box_easy(hello + HELLO_BOX_AT, zeros, ZEROS, nonce.bytes,
                        zmtp->plan.keys->server, zmtp->transient) != 0)
        memset(hello + HELLO_BOX_AT, 0, MAC_BYTES + ZEROS);
    zmtp_put_command(zmtp, hello, sizeof hello);
}

/* What is in INITIATE's box; returns its length, or 0. */
static size_t write_initiate(struct zmtp *zmtp, unsigned char *out)
{
    const struct zmtp_keys *keys = zmtp->plan.keys;
    unsigned char vouch[VOUCH_INSIDE];
    struct nonce nonce = long_nonce("VOUCH---", zmtp->random + RANDOM_NONCE);

    memcpy(vouch, zmtp->transient_shown, KEY);
    memcpy(vouch + KEY, keys->server, KEY);
    memcpy(out, keys->shown, KEY);
    memcpy(out + VOUCH_NONCE_AT, zmtp->random + RANDOM_NONCE, LONG_NONCE_BYTES);
    if (crypto_box_easy(out + VOUCH_AT, vouch, sizeof vouch, nonce.bytes,
                        zmtp->peer_transient, keys->secret) != 0)
        return 0;
    return METADATA_AT + zmtp_metadata(zmtp, out + METADATA_AT);
}

static enum zmtp_event initiate(struct zmtp *zmtp, const unsigned char *cookie)
{
    unsigned char body[INITIATE_BOX_AT + MAC_BYTES + METADATA_AT +
                       METADATA_BYTES] = "\10INITIATE";
    unsigned char inside[METADATA_AT + METADATA_BYTES];
    size_t size = write_initiate(zmtp, inside);
    struct nonce nonce;

    if (!size)
        return zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    memcpy(body + INITIATE_COOKIE_AT, cookie, COOKIE_BYTES);
    nonce_next(zmtp, body + INITIATE_NONCE_AT);
    nonce = nonce_short("CurveZMQINITIATE", body + INITIATE_NONCE_AT);
    (void)crypto_box_easy_afternm(body + INITIATE_BOX_AT, inside, size,
                                  nonce.bytes, zmtp->session);
    zmtp_put_command(zmtp, body, INITIATE_BOX_AT + MAC_BYTES + size);
    zmtp->expects = ZMTP_EXPECTS_READY;
    return ZMTP_WANTS;
}

static enum zmtp_event welcome(struct zmtp *zmtp, const unsigned char *body,
                               size_t size)
{
    unsigned char inside[WELCOME_INSIDE];
    struct nonce nonce;

    if (!is(body, size, "\7WELCOME"))
        return zmtp_fail(zmtp, ZMTP_FAULT_ORDER);
    if (size != WELCOME_BYTES)
        return zmtp_fail(zmtp, ZMTP_FAULT_HANDSHAKE);
    nonce = long_nonce("WELCOME-", body + WELCOME_NONCE_AT);
    if (crypto_box_open_easy(inside, body + WELCOME_BOX_AT,
                             MAC_BYTES + WELCOME_INSIDE, nonce.bytes,
                             zmtp->plan.keys->server, zmtp->transient) != 0)
        return zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    memcpy(zmtp->peer_transient, inside, KEY);
    if (crypto_box_beforenm(zmtp->session, zmtp->peer_transient,
                            zmtp->transient) != 0)
        return zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    return initiate(zmtp, inside + KEY);
}

static enum zmtp_event ready(struct zmtp *zmtp, const unsigned char *body,
                             size_t size)
{
    unsigned char inside[ZMTP_HANDSHAKE_BYTES];
    enum zmtp_fault fault;
    struct nonce nonce;

    if (!is(body, size, "\5READY"))
        return zmtp_fail(zmtp, ZMTP_FAULT_ORDER);
    if (size < READY_BOX_AT + MAC_BYTES)
        return zmtp_fail(zmtp, ZMTP_FAULT_HANDSHAKE);
    if (!nonce_accept(zmtp, body + READY_NONCE_AT))
        return zmtp_fail(zmtp, ZMTP_FAULT_NONCE);
    nonce = nonce_short("CurveZMQREADY---", body + READY_NONCE_AT);
    size -= READY_BOX_AT;
    if (crypto_box_open_easy_afternm(inside, body + READY_BOX_AT, size,
                                     nonce.bytes, zmtp->session) != 0)
        return zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    fault = zmtp_read_metadata(zmtp, inside, size - MAC_BYTES);
    return fault ? zmtp_fail(zmtp, fault) : ZMTP_SHAKEN;
}

/* ---- the server ---- */

static enum zmtp_event answer_hello(struct zmtp *zmtp,
                                    const unsigned char *shared)
{
    unsigned char body[WELCOME_BYTES] = "\7WELCOME", inside[WELCOME_INSIDE];
    const unsigned char *random = zmtp->random + RANDOM_NONCE;
    struct nonce nonce = long_nonce("WELCOME-", random);

    if (!make_transient(zmtp) ||
        crypto_box_beforenm(zmtp->session, zmtp->peer_transient,
                            zmtp->transient) != 0)
        return zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    memcpy(inside, zmtp->transient_shown, KEY);
    memcpy(inside + KEY, zmtp->random + RANDOM_COOKIE, COOKIE_BYTES);
    memcpy(body + WELCOME_NONCE_AT, random, LONG_NONCE_BYTES);
    (void)crypto_box_easy_afternm(body + WELCOME_BOX_AT, inside, sizeof inside,
                                  nonce.bytes, shared);
    zmtp_put_command(zmtp, body, sizeof body);
    zmtp->expects = ZMTP_EXPECTS_INITIATE;
    return ZMTP_WANTS;
}

static enum zmtp_event hello(struct zmtp *zmtp, const unsigned char *body,
                             size_t size)
{
    unsigned char shared[crypto_box_BEFORENMBYTES], inside[ZEROS];
    enum zmtp_event event;
    struct nonce nonce;

    if (!is(body, size, "\5HELLO"))
        return zmtp_fail(zmtp, ZMTP_FAULT_ORDER);
    if (size != HELLO_BYTES || body[6] != 1 || body[7] != 0)
        return zmtp_fail(zmtp, ZMTP_FAULT_HANDSHAKE);
    memcpy(zmtp->peer_transient, body + HELLO_KEY_AT, KEY);
    (void)nonce_accept(zmtp, body + HELLO_NONCE_AT);
    nonce = nonce_short("CurveZMQHELLO---", body + HELLO_NONCE_AT);
    if (crypto_box_beforenm(shared, zmtp->peer_transient,
                            zmtp->plan.keys->secret) != 0 ||
        crypto_box_open_easy_afternm(inside, body + HELLO_BOX_AT,
                                     MAC_BYTES + ZEROS, nonce.bytes,
                                     shared) != 0)
        event = zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    else
        event = answer_hello(zmtp, shared);
    sodium_memzero(shared, sizeof shared);
    return event;
}

/* Whether who holds C has said that C' is its own, to this server. */
static bool vouches(struct zmtp *zmtp, const unsigned char *inside)
{
    struct nonce nonce = long_nonce("VOUCH---", inside + VOUCH_NONCE_AT);
    unsigned char vouch[VOUCH_INSIDE];

    return crypto_box_open_easy(vouch, inside + VOUCH_AT,
                                MAC_BYTES + VOUCH_INSIDE, nonce.bytes, inside,
                                zmtp->transient) == 0 &&
           sodium_memcmp(vouch, zmtp->peer_transient, KEY) == 0 &&
           sodium_memcmp(vouch + KEY, zmtp->plan.keys->shown, KEY) == 0;
}

static enum zmtp_event refuse(struct zmtp *zmtp, enum zmtp_fault fault)
{
    unsigned char error[] = "\5ERROR\003400";

    if (fault == ZMTP_FAULT_BANNED)
        error[7] = '3';
    zmtp_put_command(zmtp, error, sizeof error - 1);
    return zmtp_fail(zmtp, fault);
}

static enum zmtp_event let_in(struct zmtp *zmtp)
{
    unsigned char body[READY_BOX_AT + MAC_BYTES + METADATA_BYTES] = "\5READY";
    unsigned char metadata[METADATA_BYTES];
    size_t size = zmtp_metadata(zmtp, metadata);
    struct nonce nonce;

    nonce_next(zmtp, body + READY_NONCE_AT);
    nonce = nonce_short("CurveZMQREADY---", body + READY_NONCE_AT);
    (void)crypto_box_easy_afternm(body + READY_BOX_AT, metadata, size,
                                  nonce.bytes, zmtp->session);
    zmtp_put_command(zmtp, body, READY_BOX_AT + MAC_BYTES + size);
    return ZMTP_SHAKEN;
}

static enum zmtp_event judge(struct zmtp *zmtp, const unsigned char *inside,
                             size_t size)
{
    enum zmtp_fault fault;

    if (!vouches(zmtp, inside))
        return zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    fault = zmtp_read_metadata(zmtp, inside + METADATA_AT, size - METADATA_AT);
    if (fault)
        return zmtp_fail(zmtp, fault);
    fault = zmtp->plan.admit(zmtp->plan.self, inside);
    if (fault)
        return refuse(zmtp, fault);
    memcpy(zmtp->peer_key, inside, KEY);
    return let_in(zmtp);
}

static enum zmtp_event take_initiate(struct zmtp *zmtp,
                                     const unsigned char *body, size_t size)
{
    unsigned char inside[ZMTP_HANDSHAKE_BYTES];
    struct nonce nonce;

    if (!is(body, size, "\10INITIATE"))
        return zmtp_fail(zmtp, ZMTP_FAULT_ORDER);
    if (size < INITIATE_BOX_AT + MAC_BYTES + METADATA_AT)
        return zmtp_fail(zmtp, ZMTP_FAULT_HANDSHAKE);
    if (sodium_memcmp(body + INITIATE_COOKIE_AT, zmtp->random + RANDOM_COOKIE,
                      COOKIE_BYTES) != 0)
        return zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    if (!nonce_accept(zmtp, body + INITIATE_NONCE_AT))
        return zmtp_fail(zmtp, ZMTP_FAULT_NONCE);
    nonce = nonce_short("CurveZMQINITIATE", body + INITIATE_NONCE_AT);
    size -= INITIATE_BOX_AT;
    if (crypto_box_open_easy_afternm(inside, body + INITIATE_BOX_AT, size,
                                     nonce.bytes, zmtp->session) != 0)
        return zmtp_fail(zmtp, ZMTP_FAULT_PROOF);
    return judge(zmtp, inside, size - MAC_BYTES);
}

enum zmtp_event curve_step(struct zmtp *zmtp, unsigned char *body, size_t size)
{
    switch (zmtp->expects) {
    case ZMTP_EXPECTS_HELLO:
        return hello(zmtp, body, size);
    case ZMTP_EXPECTS_INITIATE:
        return take_initiate(zmtp, body, size);
    case ZMTP_EXPECTS_WELCOME:
        return welcome(zmtp, body, size);
    case ZMTP_EXPECTS_READY:
        return ready(zmtp, body, size);
    case ZMTP_EXPECTS_MESSAGES:
        break;
    }
    return zmtp_fail(zmtp, ZMTP_FAULT_ORDER);
}
