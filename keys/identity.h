/* The identity of a node: its name, and the number that a hub knows it by.
 *
 * With a name of its own it is that name, on whatever PC. Without one it is
 * HOST, and its number is a random one in a file of the user's,
 * $XDG_STATE_HOME/starswitch/HOST.KIND (~/.local/state/... if that is not set):
 * so it is the same node whenever it is started, and another one than that of
 * a PC of the same name. The file is locked as long as it runs; who finds it so
 * is HOST-2, HOST-3 and so on. A hub with keys goes by the key instead. */
#ifndef KEYS_IDENTITY_H
#define KEYS_IDENTITY_H

#include "keys/certificate.h"

struct identity {
    char name[KEY_NAME_BYTES];
    uint64_t high, low;
    int lock; /* -1: none; of this process: a child only has it, too */
    int process;
    struct why doubt; /* why it is another one each time; or "" */
};

/* USAGE: a name that somebody has chosen, and that would be cut, so that two
 * might be one, or holds a control character. NULL is none. */
enum status identity_check(const char *name, struct why *why) MUST_CHECK;
/* `name` may be NULL or "". `kind` keeps those apart that one program may be at
 * once, such as "node". Always gives one. */
void identity_open(const char *name, const char *kind, struct identity *out);
/* Lets its name go. Also for one that is zeroed but for lock -1. */
void identity_close(struct identity *identity);

#endif
