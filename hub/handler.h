/* What a message does to the peer that it comes from; see hub.c. */
#ifndef HUB_HANDLER_H
#define HUB_HANDLER_H

struct blob;
struct hub;
struct msg;
struct peer;

typedef void handler(struct hub *hub, struct peer *peer,
                     const struct msg *msg, struct blob *payload);

#endif
