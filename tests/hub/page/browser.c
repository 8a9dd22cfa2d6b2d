#include "tests/hub/page/browser.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/net.h"
#include "tests/check.h"

#define PATIENCE (5 * SECOND)

static const struct table_head head = {
    .title = "hub on 127.0.0.1:7541", .model = "mlp:6-16-3", .policy = "mean"};

static enum status take_order(void *owner, const char *line, uint64_t ticket,
                              struct why *why)
{
    struct browser *browser = owner;
    struct msg_answer answer = {.ticket = ticket, .version = 17};

    (void)snprintf(browser->line, sizeof browser->line, "%s", line);
    browser->ticket = ticket;
    if (browser->refuses != STATUS_OK)
        return because(why, browser->refuses, "no such order");
    (void)snprintf(answer.text, sizeof answer.text, "done");
    feed_answer(web_feed(browser->web), &answer);
    return STATUS_OK;
}

void browser_open(struct browser *browser, const char *token)
{
    struct web_config config = {.at = {.host = "127.0.0.1"},
                                .head = &head,
                                .order = &take_order,
                                .owner = browser};
    struct why why = {""};

    memset(browser, 0, sizeof *browser);
    browser->socket = -1;
    if (token)
        CHECK_OK(token_set(&config.token, token, &why));
    CHECK_OK(web_open(&config, &browser->web, &why));
    browser->view = (struct hub_view){.version = 212,
                                      .count = 2,
                                      .nodes = browser->nodes,
                                      .score = 0.5,
                                      .accuracy = 0.9};
    (void)snprintf(browser->nodes[0].name, NODE_NAME_BYTES, "n1");
    (void)snprintf(browser->nodes[1].name, NODE_NAME_BYTES, "n2");
    (void)snprintf(browser->view.state, sizeof browser->view.state, "testing");
}

void browser_close(struct browser *browser)
{
    if (browser->socket >= 0)
        (void)close(browser->socket);
    web_close(&browser->web);
}

void browser_tell(struct browser *browser)
{
    browser->snapshot.view = browser->view;
    browser->snapshot.now = net_now();
    CHECK(feed_publish(web_feed(browser->web), &browser->snapshot));
}

int browser_connect(const struct browser *browser)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(web_at(browser->web)->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

bool browser_send(struct browser *browser, const char *bytes)
{
    size_t length = strlen(bytes);

    return send(browser->socket, bytes, length, MSG_NOSIGNAL) ==
           (ssize_t)length;
}

bool browser_read(struct browser *browser, const char *end)
{
    nanos until = net_now() + PATIENCE;
    size_t length = 0;

    browser->answer[0] = '\0';
    while (!*end || !strstr(browser->answer, end)) {
        struct pollfd poll_for = {.fd = browser->socket, .events = POLLIN};
        ssize_t count;

        if (net_now() > until || length == BROWSER_BYTES - 1)
            return false;
        if (poll(&poll_for, 1, 100) <= 0)
            continue;
        count = recv(browser->socket, browser->answer + length,
                     BROWSER_BYTES - 1 - length, 0);
        if (count <= 0)
            return !*end;
        length += (size_t)count;
        browser->answer[length] = '\0';
    }
    return true;
}

unsigned browser_ask(struct browser *browser, const char *request)
{
    if (browser->socket >= 0)
        (void)close(browser->socket);
    browser->socket = browser_connect(browser);
    if (!CHECK(browser->socket >= 0) || !browser_send(browser, request))
        return 0;
    (void)browser_read(browser, "");
    if (strncmp(browser->answer, "HTTP/1.1 ", 9) != 0)
        return 0;
    return (unsigned)strtoul(browser->answer + 9, NULL, 10);
}

unsigned browser_get(struct browser *browser, const char *path,
                     const char *headers)
{
    char request[4096];

    (void)snprintf(request, sizeof request,
                   "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                   "%s\r\n",
                   path, headers);
    return browser_ask(browser, request);
}
