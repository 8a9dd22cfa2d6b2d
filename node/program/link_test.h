/* Tests the link to a hub: PROBE and FILL of hub/probe.h, over two connections
 * of its own. Takes some seconds at most, of which the link is busy for a few
 * tenths. */
#ifndef NODE_PROGRAM_LINK_TEST_H
#define NODE_PROGRAM_LINK_TEST_H

#include "net/keys.h"
#include "node/program/doctor.h"

/* Fills in what is about the link; `keys` are to connect with. */
void link_test(const struct endpoint *hub, const struct net_keys *keys,
               struct doctor_facts *facts);

#endif
