#include "hub/page/web.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hub/page/asset.h"
#include "hub/page/follow.h"
#include "hub/page/status.h"
#include "net/net.h"

enum {
    TURN_MILLISECONDS = 100, /* longest that the thread sleeps */
    NICENESS = 10,           /* what it may be held up by: all else */
    CONNECTION_BYTES = 32 * 1024,
    LONGEST_SILENCE = 30, /* seconds */
    TOLD_NODES = 256      /* of more those who follow are told no more */
};

#define TELL_EVERY SECOND
#define TELL_SOON (200 * MILLISECOND)
#define LAST_WORDS (500 * MILLISECOND) /* that the hub's end waits for them */
#define PING_EVERY (15 * SECOND)

/* ---- where it listens ---- */

static int listen_on(const struct addrinfo *at)
{
    static const int yes = 1;
    int fd =
        socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
               at->ai_protocol);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* The port that the system has given. */
static void read_port(int fd, struct endpoint *at)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char port[8] = "";

    if (getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
        getnameinfo((const struct sockaddr *)&address, length, NULL, 0, port,
                    sizeof port, NI_NUMERICSERV) == 0)
        at->port = (uint16_t)strtoul(port, NULL, 10);
}

static enum status listen_at(struct web *web, uint16_t port, struct why *why)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    const char *host = web->config.at.host;
    struct addrinfo *found = NULL;
    char service[8];
    int code;

    (void)snprintf(service, sizeof service, "%u", port);
    code = getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, service, &hints,
                       &found);
    if (code != 0)
        return because(why, STATUS_UNAVAILABLE, "no page at %.100s: %s", host,
                       gai_strerror(code));
    errno = 0;
    for (const struct addrinfo *at = found; at && web->socket < 0;
         at = at->ai_next)
        web->socket = listen_on(at);
    freeaddrinfo(found);
    if (web->socket < 0)
        return because(why, STATUS_UNAVAILABLE,
                       "no page at %s%.100s%s:%u: %s; "
                       "--page HOST:PORT says another place, --page none none",
                       endpoint_opens(host), host, endpoint_closes(host), port,
                       strerror(errno));
    read_port(web->socket, &web->config.at);
    return STATUS_OK;
}

static enum status open_socket(struct web *web, struct why *why)
{
    enum status status = listen_at(web, web->config.at.port, why);

    if (status == STATUS_UNAVAILABLE && web->config.any_port)
        status = listen_at(web, 0, why);
    return status;
}

/* ---- the thread ---- */

static void look(struct web *web)
{
    bool fresh;

    web->now = feed_look(&web->feed, &fresh);
    if (!fresh)
        return;
    web->heard = net_now();
    timeline_look(&web->timeline, web->now);
}

/* Each second, and soon after something has happened. */
static void tell(struct web *web, nanos now)
{
    nanos span = now - web->told;
    unsigned nodes;
    char *bytes;
    struct status_source source = web_status(web);
    struct text text;

    if (!web->now || !follow_count(web) ||
        span < (web->awaited ? TELL_SOON : TELL_EVERY))
        return;
    nodes =
        web->now->view.count < TOLD_NODES ? web->now->view.count : TOLD_NODES;
    bytes = malloc(status_room(nodes));
    if (!bytes)
        return;
    text_init(&text, bytes, status_room(nodes));
    status_write(&source, nodes, &text);
    stream_add(&web->stream, frame_of("status", bytes, text.length));
    free(bytes);
    web->told = web->said = now;
    web->awaited = false;
}

static void turn(struct web *web)
{
    struct msg_answer answer;
    struct told_note note;
    nanos now = net_now();

    look(web);
    while (feed_next_note(&web->feed, &note)) {
        stream_note(&web->stream, &note);
        web->awaited = true;
    }
    while (feed_next_answer(&web->feed, &answer))
        visit_answer(web, &answer);
    tell(web, now);
    if (now - web->said > PING_EVERY) {
        stream_add(&web->stream, frame_ping());
        web->said = now;
    }
    follow_tick(web);
    visits_tick(web, now);
}

/* Who follows learns how it ended, if he takes it at once. */
static void say_last(struct web *web)
{
    nanos until = net_now() + LAST_WORDS;

    web->awaited = true;
    web->told = 0;
    turn(web);
    web->closes = true;
    while (follow_count(web) && net_now() < until) {
        follow_tick(web);
        (void)MHD_run_wait(web->daemon, 10);
    }
}

static void *run(void *of)
{
    struct web *web = of;

    (void)pthread_setname_np(pthread_self(), "page");
    (void)setpriority(PRIO_PROCESS, 0, NICENESS); /* of this thread alone */
    while (!atomic_load(&web->ends)) {
        (void)MHD_run_wait(web->daemon, TURN_MILLISECONDS);
        turn(web);
    }
    say_last(web);
    return NULL;
}

static enum status start_thread(struct web *web, struct why *why)
{
    sigset_t all, before;
    int code;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    code = pthread_create(&web->thread, NULL, &run, web);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return because(why, STATUS_NO_MEMORY, "no thread for the page: %s",
                       strerror(code));
    web->started = true;
    return STATUS_OK;
}

/* A path is compared as it came: with %00 decoded it would end there. */
static size_t as_it_came(void *of, struct MHD_Connection *connection,
                         char *words)
{
    (void)of;
    (void)connection;
    return strlen(words);
}

static enum status start_daemon(struct web *web, struct why *why)
{
    web->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, &visit_request,
        web, MHD_OPTION_LISTEN_SOCKET, web->socket, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)WEB_PLACES, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)LONGEST_SILENCE, MHD_OPTION_UNESCAPE_CALLBACK, &as_it_came,
        NULL, MHD_OPTION_NOTIFY_CONNECTION, &visit_connection, web,
        MHD_OPTION_NOTIFY_COMPLETED, &visit_completed, web, MHD_OPTION_END);
    if (!web->daemon)
        return because(why, STATUS_UNAVAILABLE,
                       "the page's server does not start");
    return STATUS_OK;
}

enum status web_open(const struct web_config *config, struct web **out,
                     struct why *why)
{
    struct web *web = calloc(1, sizeof *web);
    enum status status;

    if (!web)
        return because(why, STATUS_NO_MEMORY, "no memory for the page");
    asset_begin();
    web->config = *config;
    web->socket = -1;
    web->next_ticket = WEB_TICKETS;
    feed_init(&web->feed);
    /* No other server of this run begins in the same millisecond. */
    stream_init(&web->stream, (uint64_t)(net_wall() / MILLISECOND));
    timeline_init(&web->timeline);
    atomic_init(&web->ends, false);
    web->guard.local = endpoint_is_loopback(&config->at);
    web->guard.token = &web->config.token;
    if (gethostname(web->guard.name, sizeof web->guard.name - 1) != 0)
        web->guard.name[0] = '\0';
    status = open_socket(web, why);
    if (status == STATUS_OK)
        status = start_daemon(web, why);
    if (status == STATUS_OK)
        status = start_thread(web, why);
    *out = web;
    if (status != STATUS_OK)
        web_close(out);
    return status;
}

void web_close(struct web **reference)
{
    struct web *web = *reference;

    *reference = NULL;
    if (!web)
        return;
    atomic_store(&web->ends, true);
    if (web->started)
        (void)pthread_join(web->thread, NULL);
    if (web->daemon) {
        visits_end(web);
        MHD_stop_daemon(web->daemon); /* closes the socket, too */
    } else if (web->socket >= 0) {
        (void)close(web->socket);
    }
    stream_free(&web->stream);
    feed_free(&web->feed);
    token_forget(&web->config.token);
    free(web);
}

struct feed *web_feed(struct web *web)
{
    return &web->feed;
}

const struct endpoint *web_at(const struct web *web)
{
    return &web->config.at;
}
