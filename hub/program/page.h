/* The hub's page (hub/page/web.h) as the program runs it: what its options say,
 * and what the loop tells it.
 *
 * A hub never stays away because of its page: where it cannot listen it says
 * so, and the hub serves nodes without. */
#ifndef HUB_PROGRAM_PAGE_H
#define HUB_PROGRAM_PAGE_H

#include "hub/page/web.h"
#include "hub/program/display.h"
#include "net/net.h"

/* What the page is told of; all of it the program's. */
struct page_sources {
    struct display *display;
    struct net *net;
    struct pool *pool;
    const struct hub *hub;
};

struct hub_page {
    struct web *web;              /* NULL: there is none */
    struct course_writer *course; /* NULL: none is written */
    struct token token;
    nanos told;    /* when it was last told of everything */
    nanos counted; /* and of the uploads */
    nanos saved;   /* wall, of the last save; 0: none */
};

/* Reads the token, if there is one. CONFIG: others could ask without; IO. */
enum status hub_page_plan(struct hub_page *page, const struct options *options,
                          struct why *why) MUST_CHECK;
/* Serves from now on, if it can; says where, or why not. `net` takes its
 * orders. */
void hub_page_open(struct hub_page *page, const struct options *options,
                   struct display *display, struct net *net);
/* Before what it was opened with is closed. */
void hub_page_close(struct hub_page *page);

/* On the loop's thread; each returns at once. */
void hub_page_note(struct hub_page *page, const struct display *display,
                   nanos now, const struct note *note);
/* True: it was an answer to one of the page's orders. */
bool hub_page_answer(struct hub_page *page, const struct msg *msg);
void hub_page_tick(struct hub_page *page, const struct page_sources *sources,
                   nanos now, const struct hub_view *view);

#endif
