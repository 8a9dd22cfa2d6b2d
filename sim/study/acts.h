/* What happens to the processes of a star, and when: a scenario.
 *
 *     # the hub is killed; meanwhile half of the star is cut off
 *     at 5s crash hub
 *     at 5.5s cut n1 n2
 *     at 7s start hub
 *     at 9s repair n1 n2
 *
 * A line is `at TIME VERB PROCESS...`, a time without a unit is in seconds, `#`
 * begins a comment. The verbs are the rows of acts.def. Nothing is out of
 * place: what cannot be done when its time comes (to freeze what does not run)
 * is not done.
 *
 *     status = acts_parse(text, size, &acts, &why);
 *     if (acts_first_start(acts, WORLD_HUB) == NEVER)
 *         world_start(world, WORLD_HUB);
 *     acts_schedule(acts, world);         // acts must outlive the world
 *     acts_destroy(&acts); */
#ifndef SIM_STUDY_ACTS_H
#define SIM_STUDY_ACTS_H

#include <stddef.h>

#include "core/status.h"
#include "core/text.h"
#include "core/time.h"
#include "sim/world.h"

enum deed {
#define DEED(NAME, word, of_hub, function, what) DEED_##NAME,
#include "sim/study/acts.def"
#undef DEED
    DEEDS
};

struct act {
    nanos at;
    enum deed deed;
    unsigned process; /* a node, or WORLD_HUB */
};

/* In the order they were written; of those at one time, as they happen. */
struct acts {
    struct act *list;
    unsigned count, room;
};

struct acts *acts_new(void);
void acts_destroy(struct acts **acts);
void acts_add(struct acts *acts, struct act act);
/* By time; of those at one time the order stays. */
void acts_sort(struct acts *acts);

/* The whole text of a scenario. MALFORMED: the line that it is about begins
 * the sentence, and `out` is unchanged. */
enum status acts_parse(const char *text, size_t size, struct acts **out,
                       struct why *why) MUST_CHECK;
/* One line, without its end: adds what it says; it is cut into words. */
enum status acts_read_line(struct acts *acts, char *line,
                           struct why *why) MUST_CHECK;

/* One act, as a line without its end. */
void act_print(const struct act *act, struct text *out);

/* Does one act, now. */
void act_play(const struct act *act, struct world *world);
/* Has the world do all of them, none before its present time; `acts` must not
 * change any more and outlive the world. */
void acts_schedule(const struct acts *acts, struct world *world);

/* When a process is started, if that is the first that happens to it. Else
 * NEVER: whoever plays starts it, at the beginning. */
nanos acts_first_start(const struct acts *acts, unsigned process);
/* How many nodes there must be at least. */
unsigned acts_nodes(const struct acts *acts);

#endif
