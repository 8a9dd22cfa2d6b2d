/* The hub's page: a small server of HTTP in the hub's process.
 *
 * It has one thread, which owns all of libmicrohttpd and reads what the hub's
 * loop puts into the feed (hub/page/feed.h); the loop never waits for it. Who
 * may ask what is hub/page/request.h. At most WEB_VISITORS connections are
 * served at a time; who has not said what it wants within WEB_PATIENCE, or does
 * not take what it is sent, is cut off, and before that the one that has been
 * at it for longest where another one comes: so many of them keep nobody from
 * asking. */
#ifndef HUB_PAGE_WEB_H
#define HUB_PAGE_WEB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/endpoint.h"
#include "core/goal.h"
#include "core/status.h"
#include "hub/page/course_file.h"
#include "hub/page/feed.h"
#include "hub/page/token.h"
#include "report/table.h"

enum {
    WEB_PORT = 7540,
    WEB_VISITORS = 32,
    WEB_PLACES = WEB_VISITORS + 16, /* with those that were just cut off */
    WEB_BACKLOG_BYTES = 4 << 20     /* that a slow reader may lag behind */
};
#define WEB_PATIENCE (10 * SECOND)
#define WEB_ANSWER_TIME (30 * SECOND) /* for taking an answer */
#define WEB_ORDER_TIME (60 * SECOND)  /* for an order to be done */

/* The tickets of its orders begin here, those of others below. */
#define WEB_TICKETS (UINT64_C(1) << 62)

/* Gives the hub an order, a line as ctl has it; on the page's thread. Its
 * answer goes to feed_answer. USAGE, ... : no order was given. */
typedef enum status web_order(void *owner, const char *line, uint64_t ticket,
                              struct why *why);

struct web_config {
    struct endpoint at;
    bool any_port; /* if that port is taken, another one is as good */
    struct token token;
    const struct table_head *head; /* outlives the server */
    struct goal goal;
    web_order *order;
    void *owner; /* outlives it, too */
    /* Outlives it, too. Not NULL: no hub is shown but this course. */
    const struct course_reader *course;
};

struct web;

/* Listens, and starts the thread, in which no signal is taken. UNAVAILABLE when
 * the port is taken or the address not ours; NO_MEMORY. The config is copied.
 */
enum status web_open(const struct web_config *config, struct web **out,
                     struct why *why) MUST_CHECK;
/* Who is there is cut off. Accepts NULL. */
void web_close(struct web **web);
/* What the hub's loop writes to; the server's. */
struct feed *web_feed(struct web *web);
/* Where it listens, as it is after all. */
const struct endpoint *web_at(const struct web *web);

#endif
