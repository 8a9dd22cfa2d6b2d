/* Whether a name is known, asked of the system's resolver, which may take many
 * seconds to say that nobody answers it: so not for longer than one likes. */
#ifndef NET_NAME_H
#define NET_NAME_H

#include "core/time.h"

/* 0: it is known, or an address; a resolver's error, EAI_INPROGRESS: it has not
 * answered yet. Who asks it then ends by itself. */
int name_ask(const char *host, nanos patience);

#endif
