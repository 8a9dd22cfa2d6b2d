#include "hub/program/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/quote.h"
#include "report/table.h"
#include "store/file.h"

enum {
    CLIENTS = 8,
    PEOPLE_BYTES = 16 * 1024,  /* the table, in lines */
    QUERY_BYTES = TABLE_BYTES, /* what the program answers itself */
    REPLY_BYTES = 2 * QUERY_BYTES + TABLE_STATE_BYTES
};
#define LISTENS_FOR (5 * SECOND)

struct client {
    int fd;          /* -1: this place is free */
    nanos since;     /* when it came, or was answered */
    uint64_t ticket; /* of its order; 0: nothing asked yet */
    enum command command;
    char line[CTL_LINE_BYTES];
    size_t length;
    char *reply; /* NULL: not yet */
    size_t size, sent;
};

struct ctl {
    int fd;
    struct sockaddr_un address;
    struct ctl_owner owner;
    uint64_t next_ticket;
    struct client clients[CLIENTS];
};

/* ---- replies ---- */

static void client_leave(struct client *client)
{
    (void)close(client->fd);
    free(client->reply);
    *client = (struct client){.fd = -1};
}

static void client_write(struct client *client)
{
    while (client->sent < client->size) {
        ssize_t count =
            send(client->fd, client->reply + client->sent,
                 client->size - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (count < 0)
            break;
        client->sent += (size_t)count;
    }
    client_leave(client);
}

/* An empty reply with room; false, and the client is gone: no memory. */
static bool reply_begin(struct client *client, struct text *reply)
{
    client->since = net_now();
    client->reply = malloc(REPLY_BYTES);
    if (!client->reply) {
        client_leave(client);
        return false;
    }
    text_init(reply, client->reply, REPLY_BYTES);
    return true;
}

static void reply_end(struct client *client, struct text *reply)
{
    text_add(reply, "}\n");
    client->size = reply->length;
    client_write(client);
}

static void refuse(struct client *client, enum status status,
                   const char *sentence)
{
    char bytes[sizeof(struct why)];
    struct text reply, plain;

    if (!reply_begin(client, &reply))
        return;
    text_init(&plain, bytes, sizeof bytes);
    (void)quote_plain(&plain, sentence, sizeof bytes);
    text_add(&reply,
             "{\"ok\":false,\"code\":%d,\"text\":", status_exit_code(status));
    quote_json(&reply, bytes);
    reply_end(client, &reply);
}

/* All that there is to know; the lines for people are the answer's text. */
static void say_status(struct ctl *ctl, struct client *client)
{
    struct text reply, people, json;
    char *bytes = malloc(PEOPLE_BYTES + TABLE_STATE_BYTES);

    if (!bytes) {
        refuse(client, STATUS_NO_MEMORY, "no memory for the answer");
        return;
    }
    text_init(&people, bytes, PEOPLE_BYTES);
    text_init(&json, bytes + PEOPLE_BYTES, TABLE_STATE_BYTES);
    ctl->owner.describe(ctl->owner.self, &people, &json);
    if (reply_begin(client, &reply)) {
        text_add(&reply, "{\"ok\":true,\"text\":");
        quote_json(&reply, people.bytes);
        text_add(&reply, ",%.*s", (int)strcspn(json.bytes + 1, "\n") - 1,
                 json.bytes + 1);
        reply_end(client, &reply);
    }
    free(bytes);
}

static void say_done(struct client *client, const struct msg_answer *answer)
{
    struct text reply;

    if (!reply_begin(client, &reply))
        return;
    text_add(&reply,
             "{\"ok\":true,\"version\":%" PRIu64 ",\"text\":", answer->version);
    quote_json(&reply, answer->text);
    reply_end(client, &reply);
}

static void client_answer(struct ctl *ctl, struct client *client,
                          const struct msg_answer *answer)
{
    if (answer->status != STATUS_OK) {
        refuse(client, answer->status, answer->text);
    } else if (client->command == COMMAND_STATUS) {
        say_status(ctl, client);
    } else {
        say_done(client, answer);
    }
}

void ctl_answer(struct ctl *ctl, const struct msg *msg)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *client = &ctl->clients[i];

        if (client->fd >= 0 && !client->reply && client->ticket &&
            client->ticket == msg->answer.ticket)
            client_answer(ctl, client, &msg->answer);
    }
}

/* ---- orders ---- */

/* What the program answers itself. */
static bool answers_itself(struct ctl *ctl, struct client *client)
{
    char *bytes = malloc(QUERY_BYTES);
    struct text words, reply;
    bool taken = false;

    if (bytes) {
        text_init(&words, bytes, QUERY_BYTES);
        taken = ctl->owner.query(ctl->owner.self, client->line, &words);
    }
    if (taken && reply_begin(client, &reply)) {
        text_add(&reply, "{\"ok\":true,\"text\":");
        quote_json(&reply, bytes);
        reply_end(client, &reply);
    }
    free(bytes);
    return taken;
}

static void take_line(struct ctl *ctl, struct client *client, struct net *net)
{
    struct msg msg = {.kind = MSG_ORDER};
    struct why why = {""};
    enum status status;

    if (answers_itself(ctl, client))
        return;
    status = ctl_read(client->line, &msg.order, &why);
    if (status == STATUS_OK && msg.order.command == COMMAND_RELOAD)
        status = ctl->owner.reload(ctl->owner.self, &why);
    if (status != STATUS_OK) {
        refuse(client, status, why.text);
        return;
    }
    client->command = msg.order.command;
    client->ticket = msg.order.ticket = ctl->next_ticket++;
    net_post(net, &msg, NULL);
}

/* Reads what is there; takes the line once it is whole. */
static void client_read(struct ctl *ctl, struct client *client, struct net *net)
{
    size_t room = CTL_LINE_BYTES - client->length;
    ssize_t count =
        recv(client->fd, client->line + client->length, room, MSG_DONTWAIT);
    char *end;

    if (count < 0 &&
        (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (count <= 0) {
        client_leave(client);
        return;
    }
    client->length += (size_t)count;
    end = memchr(client->line, '\n', client->length);
    if (end && memchr(client->line, '\0', (size_t)(end - client->line))) {
        refuse(client, STATUS_USAGE, "an order is text, without NUL bytes");
    } else if (end) {
        *end = '\0';
        take_line(ctl, client, net);
    } else if (client->length == CTL_LINE_BYTES) {
        refuse(client, STATUS_USAGE, "an order is a line of at most 255 bytes");
    }
}

/* A place for a client: a free one, or that of the client that has been
 * silent for longest; NULL: all wait for answers. */
static struct client *client_place(struct ctl *ctl)
{
    struct client *place = NULL;

    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *client = &ctl->clients[i];

        if (client->fd < 0)
            return client;
        if (!client->ticket && (!place || client->since < place->since))
            place = client;
    }
    if (place)
        client_leave(place);
    return place;
}

/* At most so many as there are places, so that a tick ends. Each is read at
 * once, before another may need its place. */
static void take_in(struct ctl *ctl, struct net *net, nanos now)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        int fd = accept4(ctl->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        struct client *client;

        if (fd < 0)
            return;
        client = client_place(ctl);
        if (!client) {
            (void)close(fd);
            return;
        }
        *client = (struct client){.fd = fd, .since = now};
        client_read(ctl, client, net);
    }
}

void ctl_tick(struct ctl *ctl, struct net *net, nanos now)
{
    take_in(ctl, net, now);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *client = &ctl->clients[i];

        if (client->fd < 0)
            continue;
        if (client->reply)
            client_write(client);
        else if (!client->ticket)
            client_read(ctl, client, net);
        if (client->fd >= 0 && now - client->since >= LISTENS_FOR &&
            (!client->ticket || client->reply))
            client_leave(client);
    }
}

/* ---- the socket ---- */

static enum status listen_at(struct ctl *ctl, struct why *why)
{
    const char *path = ctl->address.sun_path;
    struct stat old;

    if (lstat(path, &old) == 0) {
        if (!S_ISSOCK(old.st_mode))
            return because(why, STATUS_IO,
                           "%s is in the way of the hub's socket and is no "
                           "socket: move it away, or choose another "
                           "--directory",
                           path);
        (void)unlink(path);
    }
    ctl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (ctl->fd < 0)
        return file_failed("make the socket", path, why);
    /* The file is made with the mode that the socket has. */
    if (fchmod(ctl->fd, S_IRUSR | S_IWUSR) ||
        bind(ctl->fd, (const struct sockaddr *)&ctl->address,
             sizeof ctl->address) ||
        listen(ctl->fd, CLIENTS)) {
        enum status status = file_failed("listen at", path, why);

        (void)close(ctl->fd);
        return status;
    }
    return STATUS_OK;
}

enum status ctl_open(const char *directory, const struct ctl_owner *owner,
                     struct ctl **out, struct why *why)
{
    struct ctl *ctl = calloc(1, sizeof *ctl);
    enum status status;

    if (!ctl)
        return because(why, STATUS_NO_MEMORY, "no memory for ctl");
    ctl->owner = *owner;
    ctl->next_ticket = 1;
    for (unsigned i = 0; i < CLIENTS; i++)
        ctl->clients[i].fd = -1;
    status = ctl_address(directory, &ctl->address, why);
    if (status == STATUS_OK)
        status = listen_at(ctl, why);
    if (status == STATUS_OK)
        *out = ctl;
    else
        free(ctl);
    return status;
}

void ctl_close(struct ctl **reference)
{
    struct ctl *ctl = *reference;

    *reference = NULL;
    if (!ctl)
        return;
    (void)unlink(ctl->address.sun_path);
    (void)close(ctl->fd);
    for (unsigned i = 0; i < CLIENTS; i++)
        if (ctl->clients[i].fd >= 0)
            client_leave(&ctl->clients[i]);
    free(ctl);
}
