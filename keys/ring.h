/* The keys of a hub, in a folder:
 *
 *     hub.key_secret, hub.key   its own; the second is for whoever wants to
 *                               know the hub
 *     enrolment.key_secret      the line's: whoever holds it may enrol, as long
 *                               and as many as it says; without this file
 *                               nobody may
 *     invitation                that, as a node is given it (--key-file)
 *     allowed/NAME.key          the nodes that are let in
 *     revoked/NAME.key          those that are not any more
 *
 * A file in allowed/ is all there is to being let in, so that a folder can be
 * looked at, copied and changed with the tools of the system. The ring reads
 * all of it at once and refuses what is ambiguous: a key in two files of
 * allowed/. In revoked/ the keys count and not the names, of which a second key
 * takes another, NAME-2; a key that is in both folders is let in. */
#ifndef KEYS_RING_H
#define KEYS_RING_H

#include <time.h>

#include "keys/invitation.h"
#include "keys/list.h"
#include "store/file.h"

struct ring {
    char folder[FILE_PATH_BYTES];
    struct key_pair hub, enrolment;
    bool enrols;   /* there is an enrolment key */
    int64_t until; /* of that, in seconds since 1970; 0: for ever */
    uint64_t most; /* nodes that it lets in, 0: any number; */
    uint64_t used; /* and those that it has let in */
    struct list allowed, revoked; /* revoked: without those that are allowed */
    unsigned writing;             /* entries of `allowed` without a file yet */
    struct timespec stamp[2];     /* when the folders were changed last */
};

/* The limits of an invitation; 0: no bound. */
struct ring_line {
    int64_t seconds;
    uint64_t nodes;
};

/* Unless somebody wants it otherwise. */
enum { RING_LINE_SECONDS = 24 * 60 * 60, RING_LINE_NODES = 256 };

/* Whether the folder holds a hub's key. */
bool ring_is_there(const char *folder);
/* Makes what there is not yet: the folder and each of both keys; *made says
 * whether the hub's is new. Nothing is ever written over. IO, CONFIG,
 * MALFORMED. */
enum status ring_make(const char *folder, bool *made,
                      struct why *why) MUST_CHECK;
/* Puts a new enrolment key in the place of the old one, whose line counts no
 * more once it is read, and invites by it; `line` NULL: the usual one. IO,
 * UNAVAILABLE: there are no keys. */
enum status ring_renew(const char *folder, const struct ring_line *line,
                       struct why *why) MUST_CHECK;
/* Reads all of it; UNAVAILABLE: there are no keys. */
enum status ring_open(const char *folder, struct ring *out,
                      struct why *why) MUST_CHECK;
/* Wipes it. Also for a zeroed ring. */
void ring_close(struct ring *ring);
/* Reads all but the hub's key again; on failure the ring is as it was. */
enum status ring_reload(struct ring *ring, struct why *why) MUST_CHECK;
/* What a node is told: who the hub is and, if anybody, whom it lets in. The
 * caller's to wipe. */
struct invitation ring_invitation(const struct ring *ring);
/* Whether its line would let somebody in now. */
bool ring_line_serves(const struct ring *ring);

/* A node that enrols by the line is allowed from then on, and if its name is
 * another key's, it is one like that. Nothing is read unless others have
 * changed the folder. *out is what is to be written, its name empty: the key is
 * allowed already. REFUSED: the key is revoked, the line serves no more, or
 * there is no room; USAGE: the name cannot be a file's; CONFIG, MALFORMED: the
 * folder cannot be read. */
enum status ring_ask(struct ring *ring, const char *name, const struct key *key,
                     struct list_entry *out, struct why *why) MUST_CHECK;
/* Then, on any thread; IO. */
enum status ring_write(const char *folder, const struct list_entry *entry,
                       struct why *why) MUST_CHECK;
/* Then. NO_MEMORY. */
enum status ring_written(struct ring *ring, const struct list_entry *entry,
                         bool well, struct why *why) MUST_CHECK;
/* All three. */
enum status ring_admit(struct ring *ring, const char *name,
                       const struct key *key, struct why *why) MUST_CHECK;
/* By the operator's word, for which a line need not be, and which also brings a
 * revoked key back, whatever name it was revoked under. REFUSED: the name is
 * another key's, or there is no room. */
enum status ring_enrol(struct ring *ring, const char *name,
                       const struct key *key, struct why *why) MUST_CHECK;
/* The node is not let in any more, and no other is for that. USAGE: there is
 * none of this name. */
enum status ring_revoke(const char *folder, const char *name,
                        struct why *why) MUST_CHECK;

#endif
