/* Keys as people copy them: one word, that no shell and no terminal breaks.
 *
 *     H...  a hub's public key                              44 characters
 *     E...  that, and the secret half of its enrolment key  87 characters
 *     N...  a node's public key                             44 characters
 *
 * The letter says what it is, and that the word does not begin with a hyphen;
 * the rest is base64url (RFC 4648, section 5) without padding. */
#ifndef KEYS_INVITATION_H
#define KEYS_INVITATION_H

#include "keys/key.h"

enum { INVITATION_BYTES = 88, NODE_KEY_BYTES = 45 /* each with its NUL */ };

/* What a node is told: who the hub is, and leave to enrol. */
struct invitation {
    struct key hub;
    bool enrols;
    struct key_pair enrolment; /* if it enrols */
};

/* An H or E word. CONFIG with a sentence that does not repeat it. */
enum status invitation_read(const char *text, struct invitation *out,
                            struct why *why) MUST_CHECK;
void invitation_print(const struct invitation *invitation,
                      char text[INVITATION_BYTES]);
void invitation_wipe(struct invitation *invitation);

/* The word in a file that nobody else may read, or that comes through a pipe;
 * `-`: standard input. Nothing is known of it then. CONFIG, IO. */
enum status invitation_file(const char *path, char word[INVITATION_BYTES],
                            struct why *why) MUST_CHECK;

/* An N word; USAGE. */
enum status node_key_read(const char *text, struct key *out,
                          struct why *why) MUST_CHECK;
void node_key_print(const struct key *key, char text[NODE_KEY_BYTES]);

#endif
