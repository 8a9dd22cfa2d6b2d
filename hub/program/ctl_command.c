/* starswitch-hub ctl: asks something of a hub that runs on this machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/quote.h"
#include "hub/program/command_line.h"
#include "hub/program/commands.h"
#include "hub/program/ctl.h"
#include "store/generation.h"

enum { ANSWER_BYTES = CTL_ANSWER_BYTES, PATIENCE = 60 };

/* ---- what both ends know ---- */

enum status ctl_address(const char *directory, struct sockaddr_un *out,
                        struct why *why)
{
    struct text path;

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    text_init(&path, out->sun_path, sizeof out->sun_path);
    text_add(&path, "%s/control.sock", directory);
    if (path.cut)
        return because(why, STATUS_CONFIG,
                       "--directory %.60s...: the name has %zu bytes, too many "
                       "for the socket in it; choose one of at most %zu",
                       directory, strlen(directory),
                       sizeof out->sun_path - sizeof "/control.sock");
    return STATUS_OK;
}

static bool names_a_node(enum command command)
{
    return command == COMMAND_DRAIN || command == COMMAND_PIN;
}

static enum status unknown(const char *line, struct why *why)
{
    char bytes[120], shown[64];
    struct text names, word;

    text_init(&names, bytes, sizeof bytes);
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        text_add_item(&names, command_words[i].text);
    if (!*line)
        return because(why, STATUS_USAGE, "ctl: which command? There are %s",
                       bytes);
    text_init(&word, shown, sizeof shown);
    (void)quote_plain(&word, line, 40);
    return because(why, STATUS_USAGE,
                   "ctl %s: there is no such command; there are %s", shown,
                   bytes);
}

enum status ctl_read(const char *line, struct msg_order *out, struct why *why)
{
    size_t length = strcspn(line, " ");
    const char *node = line + length + strspn(line + length, " ");
    unsigned command = 0;
    struct text name;

    while (command < COMMAND_COUNT &&
           (strlen(command_words[command].text) != length ||
            memcmp(command_words[command].text, line, length) != 0))
        command++;
    if (command == COMMAND_COUNT)
        return unknown(line, why);
    if (names_a_node(command) && !*node)
        return because(why, STATUS_USAGE,
                       "ctl %s: which node? ctl status lists them",
                       command_words[command].text);
    if (!names_a_node(command) && *node)
        return because(why, STATUS_USAGE, "ctl %s takes no more words",
                       command_words[command].text);
    *out = (struct msg_order){.command = command};
    text_init(&name, out->node, sizeof out->node);
    text_add(&name, "%s", node);
    return STATUS_OK;
}

/* ---- asking ---- */

/* What the words before the options say, as one line. */
static enum status read_words(int count, char *const *words, char *bytes,
                              struct why *why)
{
    struct msg_order order;
    enum status status;
    struct text line;

    text_init(&line, bytes, CTL_LINE_BYTES);
    for (int i = 0; i < count; i++)
        text_add(&line, "%s%s", i ? " " : "", words[i]);
    if (line.cut)
        return because(why, STATUS_USAGE, "ctl: an order has at most %d bytes",
                       CTL_LINE_BYTES - 1);
    if (strchr(bytes, '\n'))
        return because(why, STATUS_USAGE, "ctl: an order is one line of text");
    status = ctl_read(bytes, &order, why);
    if (status == STATUS_OK && count > 2)
        return because(why, STATUS_USAGE,
                       "ctl %s takes one node, the others one by one; quote a "
                       "name with blanks",
                       words[0]);
    return status;
}

static enum status no_hub_runs(const char *directory, struct why *why)
{
    if (generation_current(directory))
        return because(why, STATUS_UNAVAILABLE,
                       "no hub is running in %.150s, which holds a run: "
                       "starswitch-hub --directory %.150s goes on with it",
                       directory, directory);
    return because(why, STATUS_UNAVAILABLE,
                   "no hub is running in %s: name the folder of one with "
                   "--directory",
                   directory);
}

/* *runs: a hub is there, whether it answers or not. */
static enum status reach(const char *directory, int seconds, int *out,
                         bool *runs, struct why *why)
{
    const struct timeval patience = {.tv_sec = seconds};
    struct sockaddr_un address;
    enum status status = ctl_address(directory, &address, why);
    int fd;

    *runs = true;
    if (status != STATUS_OK)
        return status;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return because(why, STATUS_UNAVAILABLE, "no socket: %s",
                       strerror(errno));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        *out = fd;
        return STATUS_OK;
    }
    *runs = errno != ENOENT && errno != ECONNREFUSED;
    if (!*runs)
        status = no_hub_runs(directory, why);
    else
        status = because(why, STATUS_UNAVAILABLE,
                         "cannot reach the hub in "
                         "%s: %s",
                         directory, strerror(errno));
    (void)close(fd);
    return status;
}

/* Sends the line, and reads until the hub closes; `answer` is a string. */
static enum status exchange(int fd, const char *line, int patience,
                            char *answer, struct why *why)
{
    size_t length = 0;
    ssize_t count = send(fd, line, strlen(line), MSG_NOSIGNAL);

    if (count >= 0)
        count = send(fd, "\n", 1, MSG_NOSIGNAL);
    while (count > 0 && length < ANSWER_BYTES - 1) {
        count = recv(fd, answer + length, ANSWER_BYTES - 1 - length, 0);
        length += count > 0 ? (size_t)count : 0;
    }
    answer[length] = '\0';
    if (length && answer[length - 1] == '\n')
        return STATUS_OK;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return because(why, STATUS_AGAIN,
                       "the hub has not answered for %d s; it may do it yet",
                       patience);
    return because(why, STATUS_UNAVAILABLE,
                   "the hub ended before it had answered");
}

/* The value of `key` in an answer that is a failure's. */
static const char *value_of(const char *answer, const char *key)
{
    const char *at = strstr(answer, key);

    return at ? at + strlen(key) : "";
}

/* The status that ends programs with this exit code. */
static enum status status_of(long code)
{
    for (unsigned i = 0; i < STATUSES; i++)
        if (status_exit_code((enum status)i) == code)
            return (enum status)i;
    return STATUS_MALFORMED;
}

/* What the hub says in words. They hold no control characters but the ends of
 * lines, and what gives the table its colours. */
void ctl_text(const char *answer, struct text *out)
{
    static const char escape[] = "\\u001b[";
    const char *at = value_of(answer, "\"text\":\"");

    for (; *at && *at != '"'; at++) {
        bool escaped = *at == '\\' && at[1];

        if (strncmp(at, escape, sizeof escape - 1) == 0) {
            text_add_character(out, '\033');
            at += sizeof escape - 3;
            continue;
        }
        at += escaped;
        text_add_character(out, escaped && *at == 'n' ? '\n' : *at);
    }
}

/* How the hub says that the order ended. */
static enum status verdict(const char *answer, struct why *why)
{
    static const char done[] = "{\"ok\":true";
    long code = strtol(value_of(answer, "\"code\":"), NULL, 10);
    struct text text;

    if (strncmp(answer, done, sizeof done - 1) == 0)
        return STATUS_OK;
    text_init(&text, why->text, sizeof why->text);
    ctl_text(answer, &text);
    return code ? status_of(code) : STATUS_MALFORMED;
}

enum status ctl_ask(const char *directory, const char *line, int patience,
                    char answer[ANSWER_BYTES], bool *runs, struct why *why)
{
    int fd = -1;
    enum status status = reach(directory, patience, &fd, runs, why);

    if (status != STATUS_OK)
        return status;
    status = exchange(fd, line, patience, answer, why);
    (void)close(fd);
    return status == STATUS_OK ? verdict(answer, why) : status;
}

enum status ctl_tell(const char *directory, const char *line, bool *runs,
                     struct why *why)
{
    static char answer[ANSWER_BYTES];
    enum status status = ctl_ask(directory, line, PATIENCE, answer, runs, why);

    return *runs ? status : STATUS_OK;
}

static void print_answer(const char *answer, bool json)
{
    static char bytes[ANSWER_BYTES];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    if (json)
        text_add(&text, "%s", answer);
    else
        ctl_text(answer, &text);
    while (text.length && bytes[text.length - 1] == '\n')
        bytes[--text.length] = '\0';
    (void)puts(bytes);
}

int command_ctl(int count, char **words)
{
    static const char *const taken[] = {"directory", "json", NULL};
    static char answer[ANSWER_BYTES];
    static struct options options;
    char line[CTL_LINE_BYTES];
    struct why why = {""};
    int plain;
    bool runs;
    enum status status =
        command_read(count, words, taken, &options, &plain, &why);

    if (status == STATUS_OK && options.help)
        return 0;
    if (status == STATUS_OK)
        status = read_words(plain - 1, words + 1, line, &why);
    if (status == STATUS_OK)
        status =
            ctl_ask(options.directory, line, PATIENCE, answer, &runs, &why);
    if (status == STATUS_OK)
        print_answer(answer, options.json);
    return command_end(status, &why);
}
