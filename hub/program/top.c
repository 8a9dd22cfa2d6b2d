/* starswitch-hub top: the table of a hub that runs on this machine. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "hub/program/command_line.h"
#include "hub/program/commands.h"
#include "hub/program/ctl.h"
#include "report/screen.h"

#define REDRAW (500 * MILLISECOND)
#define REPEAT (5 * SECOND)
#define AGAIN SECOND /* a hub that is away is looked for so often */

enum { FRAME_BYTES = TABLE_BYTES, DEFAULT_WIDTH = 80, PATIENCE = 3 /* s */ };

static volatile sig_atomic_t over, resized;

static void on_end(int number)
{
    (void)number;
    over = 1;
}

static void on_resize(int number)
{
    (void)number;
    resized = 1;
}

struct top {
    const char *directory;
    struct screen_setup setup;
    bool keyed; /* keys are read one by one, as it was before: */
    struct termios before;
    nanos away;              /* the hub, since then; 0: it is here */
    char table[FRAME_BYTES]; /* the last one there was */
};

/* ---- the terminal ---- */

/* Keys come one by one, and are not shown; also where nothing can be redrawn.
 * Who is in the background must not touch the terminal. */
static void take_keys(struct top *top)
{
    struct termios mode;

    if (!isatty(STDOUT_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
        tcgetattr(STDIN_FILENO, &top->before) != 0)
        return;
    mode = top->before;
    mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    top->keyed = tcsetattr(STDIN_FILENO, TCSANOW, &mode) == 0;
}

static void enter(struct top *top)
{
    struct sigaction action = {.sa_handler = on_end};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    action.sa_handler = on_resize;
    (void)sigaction(SIGWINCH, &action, NULL);
    take_keys(top);
    if (top->setup.live)
        (void)fputs("\033[?1049h\033[?25l", stdout);
}

/* What it last showed stays there to be read. */
static void leave(const struct top *top)
{
    if (top->setup.live) {
        (void)fputs("\033[?25h\033[?1049l", stdout);
        (void)fputs(top->table, stdout);
        (void)fflush(stdout);
    }
    if (top->keyed)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &top->before);
}

static struct winsize size_of(void)
{
    struct winsize size = {0};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        size = (struct winsize){.ws_col = DEFAULT_WIDTH};
    return size;
}

/* ---- frames ---- */

static void write_question(const struct top *top, char line[CTL_LINE_BYTES])
{
    struct winsize size = size_of();

    if (top->setup.json)
        (void)snprintf(line, CTL_LINE_BYTES, "json");
    else if (!top->setup.live)
        (void)snprintf(line, CTL_LINE_BYTES, "line");
    else /* a line is for the hub that is away, and one for the cursor */
        (void)snprintf(line, CTL_LINE_BYTES, "table %u %u %s", size.ws_col,
                       size.ws_row > 4 ? size.ws_row - 2U : size.ws_row,
                       top->setup.colour ? "colour" : "plain");
}

/* Bytes of a line that fit: colours take no column, and characters of several
 * bytes take one. */
static size_t fitting(const char *line, size_t length, unsigned columns)
{
    size_t at = 0;

    while (at < length) {
        if (line[at] == '\033')
            at += strcspn(line + at, "m") + 1;
        else if (columns == 0)
            break;
        else
            for (at++, columns--; (line[at] & 0xc0) == 0x80;)
                at++;
    }
    return at < length ? at : length;
}

/* The table of a hub that is away is as wide as the terminal was. */
static void draw(const struct top *top)
{
    const struct winsize size = size_of();
    const char *line = top->table;

    (void)fputs("\033[H", stdout);
    for (unsigned row = 2; *line && (!size.ws_row || row < size.ws_row);
         row++) {
        size_t length = strcspn(line, "\n");

        (void)printf("%.*s\033[0m\033[K\n",
                     (int)fitting(line, length, size.ws_col), line);
        line += length + (line[length] == '\n');
    }
    if (top->away)
        (void)printf(" %.*s\033[K", size.ws_col - 2,
                     "the hub is away: looking for it");
    (void)fputs("\033[J", stdout);
}

static void say_away(const struct top *top, nanos now)
{
    double seconds = (double)(now - top->away) / (double)SECOND;

    if (top->setup.json)
        (void)printf("{\"event\":\"away\",\"seconds\":%.1f}\n", seconds);
    else
        (void)printf("hub=away seconds=%.0f\n", seconds);
}

static void show(const struct top *top, nanos now)
{
    if (top->setup.live)
        draw(top);
    else if (top->away)
        say_away(top, now);
    else
        (void)fputs(top->table, stdout);
    if (fflush(stdout) != 0)
        over = 1; /* nobody reads any more */
}

/* Asks for a frame; the first that fails is the caller's to say. */
static enum status look(struct top *top, nanos now, struct why *why)
{
    static char answer[CTL_ANSWER_BYTES];
    char line[CTL_LINE_BYTES];
    struct text text;
    bool runs;
    enum status status;

    write_question(top, line);
    status = ctl_ask(top->directory, line, PATIENCE, answer, &runs, why);
    if (status == STATUS_OK) {
        text_init(&text, top->table, sizeof top->table);
        ctl_text(answer, &text);
        top->away = 0;
    } else if (!top->away) {
        top->away = now;
    }
    return status;
}

/* ---- waiting ---- */

/* Until then, a key, or another size. */
static void wait_until(const struct top *top, nanos until)
{
    struct pollfd keys = {.fd = top->keyed ? STDIN_FILENO : -1,
                          .events = POLLIN};
    nanos left;
    char key;

    while (!over && !resized && (left = until - net_now()) > 0) {
        if (poll(&keys, 1, (int)(left / MILLISECOND) + 1) <= 0)
            continue;
        if (read(STDIN_FILENO, &key, 1) != 1)
            keys.fd = -1;
        else if (key == 'q' || key == 'Q')
            over = 1;
    }
    resized = 0;
}

static enum status watch(struct top *top, struct why *why)
{
    enum status status = look(top, net_now(), why);

    if (status != STATUS_OK)
        return status;
    enter(top);
    while (!over) {
        nanos now = net_now();

        show(top, now);
        wait_until(top, now + (!top->setup.live ? REPEAT
                               : top->away      ? AGAIN
                                                : REDRAW));
        if (!over)
            (void)!look(top, net_now(), why);
    }
    leave(top);
    return STATUS_OK;
}

int command_top(int count, char **words)
{
    static const char *const taken[] = {"directory", "json", NULL};
    static struct options options;
    static struct top top;
    struct why why = {""};
    int plain;
    enum status status =
        command_read(count, words, taken, &options, &plain, &why);

    if (status == STATUS_OK && options.help)
        return 0;
    if (status == STATUS_OK && plain > 1)
        status = because(&why, STATUS_USAGE, "top takes options only");
    if (status == STATUS_OK) {
        top.directory = options.directory;
        top.setup = screen_look_around(options.json);
        status = watch(&top, &why);
    }
    return command_end(status, &why);
}
