/* What a message does to the peer that it comes from; see hub.c. */
#ifndef HUB_HANDLER_H
#define HUB_HANDLER_H

struct blob;
struct hub;
struct member;
struct msg;
struct peer;

struct incoming {
    struct peer *peer;
    struct member *member; /* whose the peer is; NULL: nobody's */
    const struct msg *msg;
    struct blob *payload; /* NULL: it has none */
};

typedef void handler(struct hub *hub, const struct incoming *in);

#endif
