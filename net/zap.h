/* Who may come in: the ZAP thread of a hub with keys (ZeroMQ RFC 27).
 *
 * libzmq asks it about each CURVE handshake, over inproc://zeromq.zap.01, and
 * lets in whom it says yes to. Sockets are made so that nobody comes in where
 * nobody answers (sockets.c), so whatever goes wrong here shuts the door. What
 * is asked is read strictly, and the yes says whose the connection is: the
 * User-Id of its messages is the hash of its key, in 16 hexadecimal digits. */
#ifndef NET_ZAP_H
#define NET_ZAP_H

#include "net/bans.h"
#include "net/keys.h"
#include "net/net.h"
#include "net/origin.h"

#define ZAP_DOMAIN "starswitch"

struct zap;

/* Binds and starts the thread, before any socket of the context that asks it;
 * at first nobody is let in. The context and the bans are borrowed.
 * UNAVAILABLE. */
enum status zap_open(void *context, struct bans *bans, struct zap **out,
                     struct why *why) MUST_CHECK;
/* Ends the thread; before the context does. Accepts NULL. */
void zap_close(struct zap **zap);

/* See net_allow. */
void zap_allow(struct zap *zap, const struct key *keys, unsigned count,
               const struct key *enrolment);

enum zap_role { ZAP_NOBODY, ZAP_ENROLS, ZAP_NODE };

/* What a key may do now, by its hash. */
enum zap_role zap_role(struct zap *zap, uint64_t key);

struct zap_refusal {
    enum net_refusal why;
    struct origin from;
};

/* A refusal that nobody has asked for yet, the last first; `missed`: how many
 * more there were of its kind that were not kept. */
bool zap_refusal(struct zap *zap, struct zap_refusal *out, unsigned *missed);

/* The key in the User-Id of a message, or 0. */
uint64_t zap_user(const char *user);

#endif
