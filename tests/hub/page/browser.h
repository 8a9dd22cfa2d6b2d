/* A page's server with a made-up hub behind it, and somebody who asks. */
#ifndef TESTS_HUB_PAGE_BROWSER_H
#define TESTS_HUB_PAGE_BROWSER_H

#include "hub/page/web.h"

enum { BROWSER_BYTES = 1 << 20 };

struct browser {
    struct web *web;
    struct hub_view view;
    struct hub_node_view nodes[4];
    struct snapshot snapshot;
    char line[256];      /* the order that came last */
    enum status refuses; /* orders, with this; OK: they wait */
    uint64_t ticket;
    int socket;
    char answer[BROWSER_BYTES]; /* all that came */
};

/* On a port of its own; with that token, or NULL. */
void browser_open(struct browser *browser, const char *token);
void browser_close(struct browser *browser);
/* The made-up hub tells what it is. */
void browser_tell(struct browser *browser);

/* A new connection; sends what is given; reads until `end` has come, the other
 * side closes, or five seconds are over. False: `end` has not come. */
int browser_connect(const struct browser *browser);
bool browser_send(struct browser *browser, const char *bytes);
bool browser_read(struct browser *browser, const char *end);
/* The status of the answer to one request, which is whole. */
unsigned browser_ask(struct browser *browser, const char *request);
/* The same of GET with these further headers, each with its line end. */
unsigned browser_get(struct browser *browser, const char *path,
                     const char *headers);

#endif
