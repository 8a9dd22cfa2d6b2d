/* What a hub without keys seals by what its nodes keep (codec/manifest.h): a
 * random number in a file of its directory, `seal`, that nobody else may read.
 * A hub with keys derives it from them. */
#ifndef STORE_SEAL_H
#define STORE_SEAL_H

#include "codec/manifest.h"
#include "core/status.h"

/* Reads it; makes it where there is none, or none that is whole: that is OK,
 * and `why`, which begins empty, says so. IO: it could not be written. */
enum status seal_open(const char *directory,
                      unsigned char key[MANIFEST_KEY_BYTES],
                      struct why *why) MUST_CHECK;
/* Writes it again, unless it is there. */
enum status seal_keep(const char *directory,
                      const unsigned char key[MANIFEST_KEY_BYTES],
                      struct why *why) MUST_CHECK;

#endif
