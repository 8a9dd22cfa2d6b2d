/* What the link says to people, and how it enrols; on the network's thread. */
#include <stdio.h>

#include "node/api_link.h"

void link_note(void *self, nanos now, const struct note *note)
{
    struct star_link *link = self;
    enum level level = note_level(note->kind);

    (void)now;
    if (link->options.log)
        link->options.log(link->options.context, (enum star_level)level,
                          note_name(note->kind), note->text);
    else if (level >= LEVEL_WARNING)
        (void)fprintf(stderr, "starswitch %s: %s\n",
                      link->identity.name, note->text);
}

void link_tell(struct star_link *link, enum note_kind kind, nanos now,
               const char *text)
{
    struct note said = {.kind = kind};

    (void)snprintf(said.text, sizeof said.text, "%s", text);
    link_note(link, now, &said);
}

void link_tell_key(struct star_link *link)
{
    char text[NOTE_BYTES];

    credentials_say(&link->own, text);
    link_tell(link, NOTE_WAITING, net_now(), text);
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

    link_hindered(link, now);
    if (!link->own.enrol)
        return true;
    switch (credentials_step(&link->own, now, &why)) {
    case ENROL_DONE:
        link_tell(link, NOTE_ENROLLED, now,
                  "the hub knows this node's key now");
        net_connect(link->net);
        break;
    case ENROL_REFUSED:
        link_tell(link, NOTE_REFUSED, now, why.text);
        refused(link, why.text);
        break;
    case ENROL_WAITS:
        break;
    }
    return true;
}
