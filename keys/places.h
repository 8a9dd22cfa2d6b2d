/* Where a user's programs keep what is theirs, as the XDG Base Directory
 * Specification has it. */
#ifndef KEYS_PLACES_H
#define KEYS_PLACES_H

#include "keys/certificate.h"
#include "store/file.h"

/* $XDG_CONFIG_HOME/starswitch and $XDG_STATE_HOME/starswitch, or in the home
 * directory. Nothing is made. CONFIG: there is no home directory. */
enum status place_of_config(char folder[FILE_PATH_BYTES],
                            struct why *why) MUST_CHECK;
enum status place_of_state(char folder[FILE_PATH_BYTES],
                           struct why *why) MUST_CHECK;

/* A name that a file can have. */
void place_name(const char *name, char out[KEY_NAME_BYTES]);

#endif
