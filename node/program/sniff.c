#include "node/program/sniff.h"

#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/quote.h"

enum { HEARD = 256, SHOWN = 24 };
enum { CONNECT_TIME = 2000, BANNER_TIME = 700, REPLY_TIME = 1500 }; /* ms */

static const struct {
    const char *begins;
    size_t length;
    const char *words;
} known[] = {
    {"SSH-", 4, "an SSH server"},
    {"HTTP/", 5, "a web server (HTTP)"},
    {"\x15\x03", 2, "a server of TLS, such as HTTPS"},
    {"\x16\x03", 2, "a server of TLS, such as HTTPS"},
    {"\xff\0\0\0\0\0\0\0", 8, "another program that speaks ZeroMQ"},
    {"RFB ", 4, "a screen that is shared (VNC)"},
    {"220", 3, "a mail or FTP server"},
    {"-ERR", 4, "Redis"},
    {"* OK", 4, "a mail server (IMAP)"},
    {"+OK", 3, "a mail server (POP3)"},
};

void sniff_words(const unsigned char *said, size_t size,
                 char words[SNIFF_WORDS])
{
    char plain[HEARD + 1] = "";
    struct text text;

    words[0] = '\0';
    if (!size)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (size >= known[i].length &&
            memcmp(said, known[i].begins, known[i].length) == 0) {
            (void)snprintf(words, SNIFF_WORDS, "%s", known[i].words);
            return;
        }
    if (size > 5 && said[4] == 10) {
        (void)snprintf(words, SNIFF_WORDS, "a MySQL server");
        return;
    }
    (void)snprintf(plain, sizeof plain, "%.*s", (int)size, (const char *)said);
    plain[strcspn(plain, "\r\n")] = '\0';
    text_init(&text, words, SNIFF_WORDS);
    text_add(&text, "a program that says \"");
    (void)quote_plain(&text, plain, SHOWN);
    text_add(&text, "\"");
}

static bool is_ready(int fd, short events, int patience)
{
    struct pollfd one = {.fd = fd, .events = events};

    return poll(&one, 1, patience) == 1;
}

static int open_to(const struct endpoint *at)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char port[8];
    int fd, error = 0;
    socklen_t size = sizeof error;

    (void)snprintf(port, sizeof port, "%u", at->port);
    if (getaddrinfo(at->host, port, &hints, &found) != 0)
        return -1;
    fd =
        socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        (void)!connect(fd, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (fd >= 0 && is_ready(fd, POLLOUT, CONNECT_TIME) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static size_t listen_to(int fd, unsigned char said[HEARD], int patience)
{
    ssize_t size =
        is_ready(fd, POLLIN, patience) ? recv(fd, said, HEARD, 0) : 0;

    return size > 0 ? (size_t)size : 0;
}

void sniff(const struct endpoint *at, char words[SNIFF_WORDS])
{
    static const char question[] = "GET / HTTP/1.0\r\n\r\n";
    unsigned char said[HEARD];
    int fd = open_to(at);
    size_t size;

    words[0] = '\0';
    if (fd < 0)
        return;
    size = listen_to(fd, said, BANNER_TIME);
    if (!size && send(fd, question, sizeof question - 1, MSG_NOSIGNAL) > 0)
        size = listen_to(fd, said, REPLY_TIME);
    (void)close(fd);
    sniff_words(said, size, words);
}
