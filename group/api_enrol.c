/* What a group's member says to people, and how it enrols; on the network's
 * thread. */
#include <stdio.h>
#include <string.h>

#include "group/api_group.h"

void group_note(void *self, nanos now, const struct note *note)
{
    struct star_group *group = self;
    enum level level = note_level(note->kind);

    (void)now;
    if (group->options.log)
        group->options.log(group->options.context, (enum star_level)level,
                           note_name(note->kind), note->text);
    else if (level >= LEVEL_WARNING)
        (void)fprintf(stderr, "starswitch %s: %s\n",
                      group->identity.name, note->text);
}

/* All that is asked of the group gets this answer. */
static void refused(struct star_group *group, const struct why *why)
{
    struct msg bye = {.kind = MSG_BYE, .bye.farewell = FAREWELL_KEY};

    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%.*s",
                   (int)sizeof bye.bye.text - 1, why->text);
    net_post(group->net, &bye, NULL);
}

bool group_tick(void *self, nanos now)
{
    struct star_group *group = self;
    struct note note = {.kind = NOTE_ENROLLED,
                        .text = "the hub knows this member's key now"};
    struct why why = {""};

    if (!group->own.enrol)
        return true;
    switch (credentials_step(&group->own, now, &why)) {
    case ENROL_DONE:
        group_note(group, now, &note);
        net_connect(group->net);
        break;
    case ENROL_REFUSED:
        refused(group, &why);
        break;
    case ENROL_WAITS:
        break;
    }
    return true;
}
