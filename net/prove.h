/* Whether the door is shut: tried before a hub lets anybody near it. */
#ifndef NET_PROVE_H
#define NET_PROVE_H

#include "net/keys.h"

/* Binds a socket of the hub's settings on a loopback port that the system
 * chooses, and lets a key that nobody knows knock, over TCP as a stranger
 * would: inproc has no handshake. CONFIG when it is let in, or when nobody
 * answers within 5 s. For a context that has a ZAP thread. */
enum status prove_refusal(void *context, const struct net_keys *keys,
                          struct why *why) MUST_CHECK;

#endif
