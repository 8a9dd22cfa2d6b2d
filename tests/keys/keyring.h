/* A folder of keys for a test. */
#ifndef TESTS_KEYS_KEYRING_H
#define TESTS_KEYS_KEYRING_H

#include "keys/ring.h"
#include "tests/store/folder.h"

struct key some_key(void);
/* New, in a folder of its own; with it the folder goes. */
void ring_new_in(struct folder *folder, struct ring *ring);
void ring_end_in(struct folder *folder, struct ring *ring);

#endif
