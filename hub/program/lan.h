/* Which address this machine has on its network. */
#ifndef HUB_PROGRAM_LAN_H
#define HUB_PROGRAM_LAN_H

#include "core/endpoint.h"
#include "core/status.h"
#include "core/text.h"

enum { LAN_DEVICE_BYTES = 16, LAN_MOST = 16 };

struct lan {
    char host[ENDPOINT_HOST_BYTES];
    char device[LAN_DEVICE_BYTES];
};

/* IPv4, of the device that has the default route, or else of the only one that
 * is up and not loopback. CONFIG: there is none, or there are several; then
 * the sentence lists them and asks for --listen. */
enum status lan_find(struct lan *out, struct why *why) MUST_CHECK;

/* All of them, up to LAN_MOST; returns how many. */
unsigned lan_list(struct lan out[LAN_MOST]);

#endif
