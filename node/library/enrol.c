/* How a link comes in at the hub; on the network's thread. */
#include <stdio.h>

#include "node/library/inside.h"

void link_note(void *self, nanos now, const struct note *note)
{
    const struct star_link *link = self;

    (void)now;
    entry_note(&link->shell.entry, note);
}

void link_tell_key(const struct star_link *link)
{
    char text[NOTE_BYTES];

    credentials_say(&link->shell.entry.own, text);
    entry_tell(&link->shell.entry, NOTE_WAITING, text);
}

/* The hub will not have this node: nothing more comes of it. */
static void refused(struct star_link *link, const char *text)
{
    struct msg msg = {.kind = MSG_ENDED};

    msg.ended.refused = 1;
    msg.ended.final = 1;
    msg.ended.farewell = FAREWELL_KEY;
    (void)snprintf(msg.ended.text, sizeof msg.ended.text, "%s", text);
    link_local(link, &msg, NULL);
}

bool link_tick(void *self, nanos now)
{
    struct star_link *link = self;
    struct why why = {""};

    if (entry_tick(&link->shell.entry, link->shell.net, now, &why) ==
        ENROL_REFUSED)
        refused(link, why.text);
    (void)pthread_mutex_lock(&link->shell.lock);
    link->trouble = *entry_trouble(&link->shell.entry, link->shell.net);
    (void)pthread_mutex_unlock(&link->shell.lock);
    return true;
}
