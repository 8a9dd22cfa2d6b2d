/* libstarswitch's groups: messages from one member to another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/library/group.h"

/* ---- on the network's thread ---- */

static struct star_request *request_find(struct star_group *group,
                                         uint64_t number)
{
    for (struct star_request *each = group->requests; each; each = each->next)
        if (each->number == number)
            return each;
    return NULL;
}

void mail_take_gain(struct star_group *group, const struct msg_gain *gain,
                    const struct blob *payload)
{
    struct star_request *request = request_find(group, gain->request);

    if (request && request->place && gain->offset <= request->bytes &&
        payload->size <= request->bytes - gain->offset)
        memcpy(request->place + gain->offset, payload->bytes, payload->size);
}

void mail_delivered(struct star_group *group,
                    const struct msg_delivered *delivered)
{
    struct star_request *request = request_find(group, delivered->request);

    if (!request)
        return;
    request->done = true;
    request->outcome = delivered->outcome;
    memcpy(request->text, delivered->text, sizeof request->text);
}

void mail_add(struct star_group *group, const struct msg_mail *mail)
{
    struct waiting **link = &group->waiting;
    struct waiting *made = calloc(1, sizeof *made);

    if (!made)
        return; /* its sender waits */
    made->mail = *mail;
    while (*link)
        link = &(*link)->next;
    *link = made;
}

static void waiting_remove(struct waiting **link)
{
    struct waiting *gone = *link;

    *link = gone->next;
    free(gone);
}

void mail_withdraw(struct star_group *group,
                   const struct msg_withdraw *withdraw)
{
    for (struct waiting **link = &group->waiting; *link; link = &(*link)->next)
        if ((*link)->mail.id == withdraw->id) {
            waiting_remove(link);
            return;
        }
}

void mail_free(struct star_group *group)
{
    struct star_request *next;

    while (group->waiting)
        waiting_remove(&group->waiting);
    for (struct star_request *each = group->requests; each; each = next) {
        next = each->next;
        free(each);
    }
    group->requests = NULL;
}

/* ---- on the program's ---- */

static struct star_request *request_add(struct star_group *group)
{
    struct star_request *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    (void)pthread_mutex_lock(&group->shell.lock);
    made->number = ++group->request;
    made->next = group->requests;
    group->requests = made;
    (void)pthread_mutex_unlock(&group->shell.lock);
    return made;
}

struct star_request *star_group_isend(struct star_group *group,
                                      const void *data, size_t bytes,
                                      unsigned to, int tag)
{
    struct star_request *request = request_add(group);
    struct span span = span_of(data, bytes);
    struct msg msg = {.kind = MSG_POST};
    struct blob *blob;

    if (!request)
        return NULL;
    msg.post.request = request->number;
    msg.post.to = to;
    msg.post.tag = (uint32_t)tag;
    blob = blob_wrap(group->shell.pool, span.bytes, span.size, NULL, NULL);
    if (blob) {
        shell_post(&group->shell, &msg, blob);
    } else {
        request->done = true;
        request->outcome = ENDING_FAIL;
        (void)snprintf(request->text, sizeof request->text,
                       "there is no memory");
    }
    return request;
}

/* With the lock held. */
static bool probe(struct star_group *group, int source, int tag,
                  struct star_message *message)
{
    struct waiting **link = &group->waiting;
    struct star_message found = {.size = sizeof found};
    const struct msg_mail *mail;

    while (*link &&
           ((source != STAR_ANY && (int)(*link)->mail.from != source) ||
            (tag != STAR_ANY && (int)(*link)->mail.tag != tag)))
        link = &(*link)->next;
    if (!*link)
        return false;
    mail = &(*link)->mail;
    found.source = (int)mail->from;
    found.tag = (int)mail->tag;
    found.bytes = (size_t)mail->bytes;
    found.id = mail->id;
    if (sized_write(message, &found, sizeof found) != STATUS_OK)
        return false;
    waiting_remove(link);
    return true;
}

int star_group_improbe(struct star_group *group, int source, int tag,
                       struct star_message *message)
{
    return star_group_mprobe(group, source, tag, 0, message);
}

/* How long a call waits for a message. */
struct patience {
    nanos until;
    uint64_t interrupts; /* of the group, when it began */
};

/* With the lock held. */
static struct patience patience_of(const struct star_group *group,
                                   double seconds)
{
    return (struct patience){shell_limit(seconds, NEVER), group->interrupts};
}

/* With the lock held: false once it is not to wait any longer. */
static bool wait_more(struct star_group *group, const struct patience *patience)
{
    return shell_wait(&group->shell, patience->until) &&
           group->interrupts == patience->interrupts;
}

/* With the lock held: why it has nothing. */
static void say_in_vain(struct star_group *group,
                        const struct patience *patience, double seconds,
                        const char *what)
{
    if (group->interrupts != patience->interrupts)
        (void)snprintf(group->told.text, sizeof group->told.text, "%s",
                       GROUP_INTERRUPTED);
    else
        (void)snprintf(group->told.text, sizeof group->told.text,
                       "waited %.1f s for a message%s", seconds, what);
}

int star_group_mprobe(struct star_group *group, int source, int tag,
                      double seconds, struct star_message *message)
{
    bool waits = seconds > 0, found;
    struct patience patience;

    (void)pthread_mutex_lock(&group->shell.lock);
    patience = patience_of(group, seconds);
    while (!(found = probe(group, source, tag, message)) && waits)
        waits = wait_more(group, &patience);
    if (!found && seconds > 0)
        say_in_vain(group, &patience, seconds, "");
    (void)pthread_mutex_unlock(&group->shell.lock);
    return found;
}

struct star_request *star_group_imrecv(struct star_group *group,
                                       const struct star_message *given,
                                       void *place, size_t bytes)
{
    struct star_request *request = request_add(group);
    struct msg msg = {.kind = MSG_FETCH};
    struct star_message message = {.size = sizeof message};
    struct why why;

    if (!request)
        return NULL;
    if (sized_read(&message, sizeof message, given, "star_message", &why) !=
        STATUS_OK) {
        request->done = true;
        request->outcome = ENDING_FAIL;
        (void)snprintf(request->text, sizeof request->text, "%.119s", why.text);
        return request;
    }
    request->place = place;
    request->bytes = message.bytes;
    if (bytes < message.bytes) {
        request->done = true;
        request->outcome = ENDING_FAIL;
        (void)snprintf(request->text, sizeof request->text,
                       "the message has %zu bytes, its place %zu",
                       message.bytes, bytes);
        return request;
    }
    msg.fetch.request = request->number;
    msg.fetch.id = message.id;
    msg.fetch.bytes = message.bytes;
    shell_post(&group->shell, &msg, NULL);
    return request;
}

/* With the lock held: frees what is done, and was not freed before. */
static bool finish(struct star_group *group, struct star_request **reference,
                   enum star_group_status *status)
{
    struct star_request *request = *reference;
    struct star_request **link = &group->requests;

    if (!request)
        return true;
    if (!request->done)
        return false;
    *status = request->outcome == ENDING_SUCCESS ? STAR_GROUP_SUCCESS
                                                 : STAR_GROUP_FAIL;
    if (*status != STAR_GROUP_SUCCESS)
        memcpy(group->told.text, request->text, sizeof request->text);
    while (*link != request)
        link = &(*link)->next;
    *link = request->next;
    free(request);
    *reference = NULL;
    return true;
}

int star_group_test(struct star_group *group, struct star_request **request,
                    enum star_group_status *status)
{
    bool done;

    (void)pthread_mutex_lock(&group->shell.lock);
    done = finish(group, request, status);
    (void)pthread_mutex_unlock(&group->shell.lock);
    return done;
}

enum star_group_status star_group_wait(struct star_group *group,
                                       struct star_request **request,
                                       double seconds)
{
    enum star_group_status status = STAR_GROUP_FAIL;
    struct patience patience;
    bool waits = true;

    (void)pthread_mutex_lock(&group->shell.lock);
    patience = patience_of(group, seconds);
    while (!finish(group, request, &status) && waits)
        waits = wait_more(group, &patience);
    if (*request)
        say_in_vain(group, &patience, seconds,
                    (*request)->place ? " to be received" : " to be taken");
    (void)pthread_mutex_unlock(&group->shell.lock);
    return status;
}
