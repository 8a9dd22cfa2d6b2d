/* What a running hub tells of itself when it is asked to (SIGUSR1), and what it
 * tells its service manager. On the loop's thread; waits for no disk. */
#ifndef HUB_PROGRAM_STATE_H
#define HUB_PROGRAM_STATE_H

#include "core/blob.h"
#include "hub/program/display.h"
#include "net/net.h"
#include "program/service.h"

/* Of connections, by reason. */
void state_refusals(const struct net *net,
                    struct table_count out[REFUSAL_COUNT]);

/* Says a line of JSON, and writes the same with all nodes to
 * DIRECTORY/state.json: whole, or as it was. */
void state_dump(struct display *display, const struct net *net,
                struct pool *pool, const struct hub *hub);

/* The same for whoever asks: as lines for people, and as that line of JSON. */
void state_describe(struct display *display, const struct net *net,
                    struct pool *pool, const struct hub *hub,
                    struct text *people, struct text *json);

/* At each tick: a line about the run now and then, a sign of life while jobs
 * begin, and towards the end that it needs time. */
void state_tell(struct service *service, const struct net *net, nanos now,
                const struct hub_view *view);

#endif
