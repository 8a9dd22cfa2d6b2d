#include "net/complaints.h"

#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

void complaints_init(struct complaints *complaints,
                     const struct net_owner *owner)
{
    complaints->owner = owner;
    complaints->next = 0;
    complaints->held = 0;
}

/* address:port of the other side, or "somebody". */
static void name_peer(int fd, char subject[SUBJECT_BYTES])
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (fd >= 0 && getpeername(fd, (struct sockaddr *)&address, &size) == 0 &&
        getnameinfo((struct sockaddr *)&address, size, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        (void)snprintf(subject, SUBJECT_BYTES, "%.30s:%.8s", host, port);
    else
        (void)snprintf(subject, SUBJECT_BYTES, "somebody");
}

void complain(struct complaints *complaints, nanos now, int fd,
              const char *words)
{
    struct note note = {.kind = NOTE_OFFENCE};

    if (now < complaints->next) {
        complaints->held++;
        return;
    }
    name_peer(fd, note.subject);
    if (complaints->held)
        (void)snprintf(note.text, sizeof note.text,
                       "%.100s; %u more offences before", words,
                       complaints->held);
    else
        (void)snprintf(note.text, sizeof note.text, "%.100s", words);
    complaints->next = now + SECOND;
    complaints->held = 0;
    if (complaints->owner->note)
        complaints->owner->note(complaints->owner->self, now, &note);
}
