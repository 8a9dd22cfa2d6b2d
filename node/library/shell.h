/* What a link and a member of a group have in common: who they are, how they
 * come in, the network's thread, and what is said of it all to people.
 *
 * The program's thread and the network's thread share what lies behind `lock`,
 * and `changed` is told when that has changed. Whoever goes last frees: where
 * the program leaves while the network's thread is still busy (a name being
 * looked up, the last bytes on a slow link), that thread does.
 *
 * Memory: the program's thread does without what it does not get, and is told.
 * The network's threads wait until there is some (core/need.h), holding nothing
 * that the program's thread needs. */
#ifndef NODE_LIBRARY_SHELL_H
#define NODE_LIBRARY_SHELL_H

#include <pthread.h>
#include <starswitch.h>

#include "core/status.h"
#include "keys/entry.h"
#include "keys/identity.h"
#include "net/net.h"
#include "node/library/sized.h"

enum { SHELL_EVENTS = 64 };

/* What the program has said of how it wants to come in; borrowed. */
struct shell_plan {
    const char *hub, *key, *identity, *cores; /* each NULL: the default */
    void (*log)(void *context, enum star_level level, const char *event,
                const char *sentence);
    void *context;
    bool quiet;                /* without `log`, nothing goes to stderr */
    void (*release)(void *of); /* frees all that there is, shell included */
    void *of;
};

struct shell {
    struct shell_plan plan;
    struct identity identity;
    struct pool *pool;
    struct net *net;
    struct entry entry; /* the network's thread's */
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;     /* the network's thread is done with it all */
    bool abandoned; /* the program is: the thread frees */

    pthread_mutex_t telling; /* held while the program's `log` is called */
    bool logs;               /* lines go to the hub, too */
    bool silent;             /* the program has gone */
    bool missing; /* memory, on the program's thread, since it was told */
    bool starved; /* what the program has said is lost */
    nanos starved_told;
    uint64_t waits_seen;   /* for memory, by threads of the library */
    unsigned first, count; /* of the events, which are a ring */
    uint64_t lost;
    struct star_event events[SHELL_EVENTS];
};

/* Of a shell that is zeroed: locks. shell_free may follow. */
void shell_ready(struct shell *shell);
/* Memory, and a name: `kind` and `name` as in identity_open. NO_MEMORY; USAGE:
 * that is no name. */
enum status shell_init(struct shell *shell, const char *kind, const char *name,
                       struct why *why) MUST_CHECK;
/* Makes the connection of a machine, as the plan says. */
enum status shell_open(struct shell *shell, const struct shell_plan *plan,
                       struct machine machine, const struct net_owner *owner,
                       struct why *why) MUST_CHECK;
/* Begins to run it, on a thread that leaves all signals to others. */
enum status shell_start(struct shell *shell, struct why *why) MUST_CHECK;
/* Ends that, and frees by plan.release: now, or, where it is not ended by
 * `until`, when it is. */
void shell_stop(struct shell *shell, nanos until);
/* What shell_init and shell_open have made, but for the pool, which outlives
 * what is made of it. */
void shell_free(struct shell *shell);

/* With the lock held: waits until something changes; false: it is `until`. */
bool shell_wait(struct shell *shell, nanos until);
/* So many seconds, which are not below 0; of more than 70 years, these. */
nanos shell_span(double seconds);
/* In so many seconds; below 0: in as long as `most`. */
nanos shell_limit(double seconds, nanos most);

/* Says something to people, on any thread. */
void shell_tell(struct shell *shell, enum star_level level, const char *event,
                const char *sentence);
/* Says something to the hub alone, on any thread. */
void shell_say(struct shell *shell, enum star_level level, const char *event,
               const char *sentence);
/* Passes a message on to the machine, on the program's thread; where there is
 * no memory even for that, the shell is starved. */
void shell_post(struct shell *shell, const struct msg *msg,
                struct blob *payload);
/* Says so, every ten seconds at most, if memory was missing since the last time
 * or `also`; returns whether it is missing now. On the program's thread. */
bool shell_tell_memory(struct shell *shell, bool also);
/* The oldest event that the program has not had; false: none. */
bool shell_poll(struct shell *shell, struct star_event *out);
/* Puts the sentence where the program wants it, and says how it ended. */
enum star_status shell_failure(char *error, size_t size, enum status status,
                               const char *text);

#endif
