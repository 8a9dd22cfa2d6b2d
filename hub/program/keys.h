/* The keys of a hub that runs: where it may listen with or without them, who is
 * let in, and who is not any more. */
#ifndef HUB_PROGRAM_KEYS_H
#define HUB_PROGRAM_KEYS_H

#include "core/options.h"
#include "hub/hub.h"
#include "hub/program/admit.h"
#include "hub/program/lan.h"
#include "net/net.h"

struct hub_keys {
    bool on;
    struct ring ring;
    struct clerk *clerk; /* or NULL */
    nanos second;        /* since when enrolments are counted: */
    unsigned enrolments;
    struct lan lan; /* of --lan without --listen; host empty: not asked for */
};

/* Where the hub is to listen, which with --lan is found out now; CONFIG: that
 * is open to a network, and there are no keys. Writes nothing. */
enum status hub_keys_plan(struct hub_keys *keys, struct options *options,
                          struct why *why) MUST_CHECK;
/* Reads the keys if there are to be some; makes them with --lan or --keys. */
enum status hub_keys_open(struct hub_keys *keys, const struct options *options,
                          struct why *why) MUST_CHECK;
void hub_keys_close(struct hub_keys *keys);
/* What the hub knows its own words by, when nodes give them back: derived from
 * its secret key, or without keys what the directory holds. IO: that could not
 * be written, and is good for this life of the hub. The caller's to wipe. */
enum status hub_keys_seal(const struct hub_keys *keys, const char *directory,
                          struct hub_seal *out, struct why *why) MUST_CHECK;
/* Says where the hub listens and what to do on other PCs. */
void hub_keys_say(const struct hub_keys *keys, const struct options *options);

/* On the loop's thread, or before it. */
/* Lets in who is on the list, and tells the machine who is not any more: once
 * the list has been read. */
void hub_keys_apply(struct hub_keys *keys, struct net *net);
/* Reads the list again; on failure the old one stays. */
enum status hub_keys_reload(struct hub_keys *keys, struct net *net,
                            struct why *why) MUST_CHECK;
/* Takes LOCAL_ENROL; the answer may come with a later tick. */
void hub_keys_admit(struct hub_keys *keys, struct net *net, nanos now,
                    const struct msg_local_enrol *admit);
void hub_keys_tick(struct hub_keys *keys, struct net *net);

/* The folder of keys: --keys, or keys/ in the directory. CONFIG: too long. */
enum status hub_keys_folder(const struct options *options,
                            const char *directory, char out[FILE_PATH_BYTES],
                            struct why *why) MUST_CHECK;
/* What to say on other PCs, which have the invitation, of a hub with these
 * options that is reached there; no secret is in it. */
void hub_keys_line(const struct options *options, const char *host,
                   uint16_t port, struct text *out);
/* How long the key for nodes serves, and for how many; or how keygen, with
 * these words behind it, makes another one. */
void hub_keys_terms(const struct ring *ring, const char *keygen,
                    struct text *out);
/* Above that line: on which PCs it is to be typed. */
const char *hub_keys_where(bool here);
/* Adds the words that tell keygen of this hub: its directory, --keys and
 * --listen. */
void hub_keys_place(const struct options *options, const char *directory,
                    struct text *out);

#endif
