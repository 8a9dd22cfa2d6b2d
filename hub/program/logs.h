/* starswitch-hub logs: the last lines of a node's log, through the hub. */
#ifndef HUB_PROGRAM_LOGS_H
#define HUB_PROGRAM_LOGS_H

#include <stdbool.h>

#include "core/text.h"
#include "hub/logs.h"

/* Answers "logs COUNT FROM NAME": "next N BORN", BORN being when this hub
 * was started, so that its lines are told from a former one's, then lines from
 * number FROM on, or the last COUNT if FROM is 0; or a sentence, if the hub
 * knows no such node. False: it is no such line. */
bool logs_answer(const char *line, const struct logs *logs, nanos born,
                 struct text *out);

#endif
