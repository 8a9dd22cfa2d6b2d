/* The faults and starts of the processes of a star, and their times: a script
 * (--scenario).
 *
 *     # the hub is killed; meanwhile half of the star is cut off
 *     at 5s crash hub
 *     at 5.5s cut n1 n2
 *     at 7s start hub
 *     at 9s repair n1 n2
 *
 * A line is `at TIME VERB PROCESS...`, a time without a unit is in seconds, `#`
 * begins a comment. The verbs are the rows of script.def. Nothing is out of
 * place: what cannot be done when its time comes (to freeze what does not run)
 * is not done.
 *
 *     status = script_parse(text, size, &script, &why);
 *     if (script_first_start(script, WORLD_HUB) == NEVER)
 *         world_start(world, WORLD_HUB);
 *     script_schedule(script, world);         // script must outlive the world
 *     script_destroy(&script); */
#ifndef SIM_STUDY_SCRIPT_H
#define SIM_STUDY_SCRIPT_H

#include <stddef.h>

#include "core/status.h"
#include "core/text.h"
#include "core/time.h"
#include "sim/world.h"

enum script_verb {
#define SCRIPT_VERB(NAME, word, of_hub, function, what) SCRIPT_##NAME,
#include "sim/study/script.def"
#undef SCRIPT_VERB
    SCRIPT_VERBS
};

struct script_event {
    nanos at;
    enum script_verb verb;
    unsigned process; /* a node, or WORLD_HUB */
};

/* In the order they were written; of those at one time, as they happen. */
struct script {
    struct script_event *list;
    unsigned count, room;
};

struct script *script_new(void);
void script_destroy(struct script **script);
void script_add(struct script *script, struct script_event event);
/* By time; of those at one time the order stays. */
void script_sort(struct script *script);

/* The whole text of a scenario. MALFORMED: the line that it is about begins
 * the sentence, and `out` is unchanged. */
enum status script_parse(const char *text, size_t size, struct script **out,
                         struct why *why) MUST_CHECK;
/* One line, without its end: adds what it says; it is cut into words. */
enum status script_read_line(struct script *script, char *line,
                             struct why *why) MUST_CHECK;

/* One event, as a line without its end. */
void script_event_print(const struct script_event *event, struct text *out);

/* Does one event, now. */
void script_event_run(const struct script_event *event, struct world *world);
/* Has the world do all of them, none before its present time; `script` must not
 * change any more and outlive the world. */
void script_schedule(const struct script *script, struct world *world);

/* When a process is started, if that is the first that happens to it. Else
 * NEVER: whoever runs starts it, at the beginning. */
nanos script_first_start(const struct script *script, unsigned process);
/* How many nodes there must be at least. */
unsigned script_nodes(const struct script *script);

#endif
