/* A key in a file: a CURVE certificate as CZMQ has them (ZPL, RFC 4 of
 * ZeroMQ), which CZMQ's tools read and whose files we read.
 *
 *     metadata
 *         name = "pc1"
 *     curve
 *         public-key = "..."
 *         secret-key = "..."
 *
 * We read and write it ourselves (docs/decisions/certificates.md): whole or not
 * at all, and a secret is never in a file that others may read. */
#ifndef KEYS_CERTIFICATE_H
#define KEYS_CERTIFICATE_H

#include "keys/key.h"

enum { KEY_NAME_BYTES = 40, KEY_TIME_BYTES = 32 };

struct certificate {
    struct key_pair pair; /* the secret half, if has_secret */
    bool has_secret;
    /* Metadata; empty, or false: the file does not say. */
    char name[KEY_NAME_BYTES];
    char time[KEY_TIME_BYTES]; /* when it was made, UTC */
    bool enrolled;             /* of a node: the hub with this key knows it */
    struct key hub;
    uint64_t line; /* of a node, at the hub: the hash of the enrolment key that
                      let it in; 0: the operator did */
    int64_t until; /* of an enrolment key: when it ends, in seconds since 1970;
                      0: never */
    uint64_t most; /* nodes that it lets in; 0: any number */
};

/* UNAVAILABLE: there is no such file; IO; CONFIG: others may read a secret;
 * MALFORMED. Each sentence names the file. */
enum status certificate_read(const char *path, struct certificate *out,
                             struct why *why) MUST_CHECK;
/* Replaces the file; of mode 0600 with a secret. IO. */
enum status certificate_write(const char *path,
                              const struct certificate *certificate,
                              struct why *why) MUST_CHECK;
/* Sets its time to now. */
void certificate_date(struct certificate *certificate);
void certificate_wipe(struct certificate *certificate);

/* Reads a certificate with a secret; where there is none, makes one under this
 * name first, and the folder that it is in. *made (or NULL) says which. Of
 * several programs that do so at once one makes it, for all of them. */
enum status certificate_own(const char *path, const char *name,
                            struct certificate *out, bool *made,
                            struct why *why) MUST_CHECK;

/* Whether it is a name that can be a file's: letters, digits, . _ and -, the
 * first of them a letter or a digit. */
bool key_name_fits(const char *name);

#endif
