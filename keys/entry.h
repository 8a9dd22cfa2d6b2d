/* How one end of a star comes in at the hub, and what is said of that to
 * people: what a link and a member of a group have in common. */
#ifndef KEYS_ENTRY_H
#define KEYS_ENTRY_H

#include <starswitch.h>

#include "keys/credentials.h"
#include "net/net.h"

struct entry {
    void (*log)(void *context, enum star_level level, const char *event,
                const char *text);
    void *context;
    struct credentials own;
    struct net_trouble trouble; /* what was said of it last */
    nanos tell_at;              /* another thing is not told before, */
    nanos told; /* the same not for so much longer; 0: it is not told */
};

/* On any thread. */
void entry_note(const struct entry *entry, const struct note *note);
void entry_tell(const struct entry *entry, enum note_kind kind,
                const char *text);

/* On the network's thread, about ten times a second. Says what keeps it from
 * the hub, when that changes, and goes on enrolling, if it has to: connects
 * when that is DONE; REFUSED or MISLED once, for good. */
enum enrol_state entry_tick(struct entry *entry, struct net *net, nanos now,
                            struct why *why);
/* What keeps it from the hub now. */
const struct net_trouble *entry_trouble(const struct entry *entry,
                                        const struct net *net);

#endif
