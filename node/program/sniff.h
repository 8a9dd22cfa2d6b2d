/* What listens at a port, if it is no hub: by what it says when nobody asks, or
 * when it is asked as a browser would ask. */
#ifndef NODE_PROGRAM_SNIFF_H
#define NODE_PROGRAM_SNIFF_H

#include <stddef.h>

#include "core/endpoint.h"

enum { SNIFF_WORDS = 80 };

/* Connects, twice at most; some seconds. "": nothing can be said. */
void sniff(const struct endpoint *at, char words[SNIFF_WORDS]);
/* By what it has said. Pure. */
void sniff_words(const unsigned char *said, size_t size,
                 char words[SNIFF_WORDS]);

#endif
