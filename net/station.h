/* A station: the thread of a channel, with all its connections.
 *
 * It accepts or connects, shakes hands, reads and writes, encrypts and checks,
 * and decodes, so that none of that delays the loop or the other channel. It
 * tells the loop what happened by notices, in order, and does what it is
 * ordered. A connection is known by its number; numbers grow and are never used
 * again.
 *
 * On a station that binds, a connection is a stranger until its first message
 * has come. Strangers get a share of the processor, a number, a time and a
 * memory of their own: what they do costs nobody else. */
#ifndef NET_STATION_H
#define NET_STATION_H

#include "net/admission.h"
#include "net/notices.h"
#include "net/plan.h"

struct station;

/* Binds, or begins to connect, unless the plan is held; `admission` is NULL
 * where it does not bind; `bell` is rung with notices. What is borrowed
 * outlives the station. */
enum status station_open(const struct channel_plan *plan, struct pool *pool,
                         struct admission *admission, const struct bell *bell,
                         struct station **out, struct why *why) MUST_CHECK;
/* What was sent has 2 s to get out from here on; begins, and waits for that.
 * Both accept NULL. */
void station_stop(struct station *station);
void station_close(struct station **station);

/* The next notice, the caller's; or NULL. */
struct notice *station_pop(struct station *station);

/* References the payload (or NULL). Who leaves more behind than the plan says
 * is cut. What is for nobody is forgotten. */
void station_send(struct station *station, uint64_t number,
                  const unsigned char *header, size_t size,
                  struct blob *payload);
/* Hears it no more; gently: what was sent has a second to arrive. */
void station_cut(struct station *station, uint64_t number, bool gently);
/* Of one that connects: lets go of what it has, and connects there. */
void station_connect(struct station *station, const struct address *address);
/* MEASURED tells what the system has counted of a connection; of one that is
 * gone nothing does. */
void station_measure(struct station *station, uint64_t number);
/* That connection sends so many bytes a second at most, and lets only so many
 * be on their way here; see net/tcp.h. */
void station_calm(struct station *station, uint64_t number, uint64_t rate,
                  unsigned window);
/* From now on payloads may be so long. */
void station_limit(struct station *station, size_t payload_bytes);
/* Of one that binds: looks at all keys, and who is banned, anew. */
void station_sweep(struct station *station);

#endif
