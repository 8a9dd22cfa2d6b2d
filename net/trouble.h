/* Why a node does not reach its hub, from what its station tells. */
#ifndef NET_TROUBLE_H
#define NET_TROUBLE_H

#include "net/address.h"
#include "net/net.h"
#include "net/notices.h"

/* Takes a FAILED notice of trying this address. */
void trouble_add(struct net_trouble *trouble, const struct notice *notice,
                 const struct address *address);

/* Where its name was not looked up in time, that is what is said first. */
void trouble_look_up(struct net_trouble *trouble,
                     const struct address *address);

#endif
