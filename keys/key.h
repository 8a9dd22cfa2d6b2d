/* Keys as they are made, and as people write them. */
#ifndef KEYS_KEY_H
#define KEYS_KEY_H

#include <stddef.h>

#include "core/status.h"
#include "net/keys.h"

enum { KEY_TEXT_BYTES = 41 /* Z85, with its NUL */ };

/* A new pair; UNAVAILABLE when the system has no random numbers. */
enum status key_pair_make(struct key_pair *out, struct why *why) MUST_CHECK;
/* Makes the public half from the secret one; false when there is none. */
bool key_pair_complete(struct key_pair *pair);

/* As Z85 text, and back; false when the text is no key. */
void key_print(const struct key *key, char text[KEY_TEXT_BYTES]);
bool key_parse(const char *text, size_t length, struct key *out);

#endif
