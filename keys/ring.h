/* The keys of a hub, in a folder:
 *
 *     hub.key_secret, hub.key   its own; the second is for whoever wants to
 *                               know the hub
 *     enrolment.key_secret      whoever holds it may enrol; without this file
 *                               nobody may
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

#include "keys/certificate.h"
#include "store/file.h"

struct ring {
    char folder[FILE_PATH_BYTES];
    struct key_pair hub, enrolment;
    bool enrols; /* there is an enrolment key */
    struct key *allowed, *revoked;
    unsigned allowed_count, revoked_count;
};

/* Whether the folder holds a hub's key. */
bool ring_is_there(const char *folder);
/* Makes what there is not yet: the folder and each of both keys; *made says
 * whether the hub's is new. Nothing is ever written over. IO, CONFIG,
 * MALFORMED. */
enum status ring_make(const char *folder, bool *made,
                      struct why *why) MUST_CHECK;
/* Reads all of it; UNAVAILABLE: there are no keys. */
enum status ring_open(const char *folder, struct ring *out,
                      struct why *why) MUST_CHECK;
/* Wipes it. Also for a zeroed ring. */
void ring_close(struct ring *ring);
/* Reads allowed/ and revoked/ again; on failure the ring is as it was. */
enum status ring_reload(struct ring *ring, struct why *why) MUST_CHECK;

/* A node that has enrolled: allowed from now on, also if it is already, under
 * whatever name. REFUSED: the name is another key's, the key is revoked, or
 * there is no room; USAGE: the name cannot be a file's; CONFIG, MALFORMED: the
 * folder, which is looked at anew, cannot be read. */
enum status ring_admit(struct ring *ring, const char *name,
                       const struct key *key, struct why *why) MUST_CHECK;
/* The same by the operator's word, which also brings a revoked key back,
 * whatever name it was revoked under. */
enum status ring_enrol(struct ring *ring, const char *name,
                       const struct key *key, struct why *why) MUST_CHECK;
/* The node is not let in any more, and no other is for that. USAGE: there is
 * none of this name. */
enum status ring_revoke(const char *folder, const char *name,
                        struct why *why) MUST_CHECK;

#endif
