#include "keys/entry.h"

#include <stdio.h>
#include <string.h>

/* Of several hubs one is tried after the other, each with its own reason. */
#define TELL_EVERY (10 * SECOND)
/* The same reason again, while nobody mends it: after one minute, then
 * two, four and so on. */
#define TELL_AGAIN (60 * SECOND)
#define TELL_LONGEST (64 * TELL_AGAIN)

void entry_note(const struct entry *entry, const struct note *note)
{
    entry->log(entry->context, (enum star_level)note_level(note->kind),
               note_name(note->kind), note->text);
}

void entry_tell(const struct entry *entry, enum note_kind kind,
                const char *text)
{
    struct note said = {.kind = kind};

    (void)snprintf(said.text, sizeof said.text, "%.199s", text);
    entry_note(entry, &said);
}

const struct net_trouble *entry_trouble(const struct entry *entry,
                                        const struct net *net)
{
    return entry->own.enrol ? enrol_trouble(entry->own.enrol)
                            : net_trouble(net);
}

static bool is_same(const struct net_trouble *a, const struct net_trouble *b)
{
    return a->hindrance == b->hindrance && a->port == b->port &&
           strcmp(a->host, b->host) == 0;
}

static void tell_trouble(struct entry *entry, const struct net *net, nanos now)
{
    const struct net_trouble *trouble = entry_trouble(entry, net);
    char text[NOTE_BYTES];

    if (!is_same(trouble, &entry->trouble)) {
        entry->trouble = *trouble;
        entry->told = 0;
    }
    if (now < entry->tell_at + entry->told || !net_trouble_is_sure(trouble))
        return;
    net_trouble_print(trouble, true, text, sizeof text);
    entry_tell(entry, NOTE_UNREACHED, text);
    if (entry->told < TELL_LONGEST)
        entry->told = entry->told ? 2 * entry->told : TELL_AGAIN;
    entry->tell_at = now + TELL_EVERY;
}

enum enrol_state entry_tick(struct entry *entry, struct net *net, nanos now,
                            struct why *why)
{
    enum enrol_state state = ENROL_WAITS;

    tell_trouble(entry, net, now);
    if (entry->own.enrol)
        state = credentials_step(&entry->own, now, why);
    if (state == ENROL_DONE) {
        entry_tell(entry, NOTE_ENROLLED, "the hub knows this node's key now");
        if (why->text[0])
            entry_tell(entry, NOTE_FILE_FAILED, why->text);
        net_connect(net);
    } else if (state != ENROL_WAITS) {
        entry_tell(entry, NOTE_REFUSED, why->text);
    }
    return state;
}
