/* The key for nodes, as the options give it: themselves or in a file. */
#ifndef NODE_PROGRAM_KEY_H
#define NODE_PROGRAM_KEY_H

#include "core/options.h"

/* Reads --key-file into `key`, and warns of --key. CONFIG, IO. */
enum status main_key_read(struct options *options, struct why *why) MUST_CHECK;
/* Whether it is one. CONFIG. */
enum status main_key_check(const struct options *options,
                           struct why *why) MUST_CHECK;

#endif
