/* A member's side of collectives, as a machine. Its trainer is the program: it
 * asks (ASK), is asked for its data when they are needed (WANT, GIVE), gets
 * segments of the result (GAIN), and is told how it ended (TOLD).
 *
 * In an elastic group it is FTLib's wrapper around a collective:
 *   alone                      -> NO_NEED
 *   not initialized            -> rebuild: WHO, ROSTER; if that is not
 *                                 possible ABORT, if alone NO_NEED
 *   rank 0, and somebody new   -> FAIL
 *   the collective             -> SUCCESS, or FAIL and not initialized
 * A passive member believes what it knew until a collective fails; an active
 * one asks the hub first. In a patient group a collective waits for who is
 * lost, also across a lost connection of its own. */
#ifndef COLLECTIVES_CLIENT_H
#define COLLECTIVES_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "seam/machine.h"

/* Exit code of a member that has missed what the others did (FTLib). */
enum { EXIT_BEHIND = 3 };

/* The hub is lost when it says nothing for so long. */
#define CLIENT_PATIENCE (20 * SECOND)

/* An active member waits at most so long to hear who is there: less than a
 * rebuild may take (60 s by default), so that nobody rebuilds on old news. */
#define CONFIRM_LIMIT (25 * SECOND)

struct client_config {
    const char *name; /* borrowed for client_new */
    uint64_t high, low, incarnation;
    enum manner manner;
    bool active;
    unsigned size;  /* members before the first call */
    nanos patience; /* a lost member is waited for so long */
};

struct client;

/* `pool` must outlive the client. NULL: there is no memory. */
struct client *client_new(const struct client_config *config,
                          struct pool *pool);
void client_destroy(struct client **client);
struct machine client_machine(struct client *client);

#endif
