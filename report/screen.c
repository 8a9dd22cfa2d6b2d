#include "report/screen.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text.h"

#define REDRAW (250 * MILLISECOND)
#define REPEAT (5 * SECOND)

enum {
    PATIENCE = 50, /* milliseconds for a reader to make room */
    DEFAULT_WIDTH = 80,
    ESCAPES = 4096 /* room for what moves the cursor */
};

/* ---- what there is ---- */

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

static bool is_same(int a, int b)
{
    struct stat first, second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

struct screen_setup screen_look_around(bool json)
{
    const char *term = getenv("TERM");
    struct screen_setup setup = {STDOUT_FILENO, STDERR_FILENO, json,
                                 false,         false,         false};

    setup.live = !json && isatty(setup.out) && term && *term &&
                 strcmp(term, "dumb") != 0;
    setup.together = is_same(setup.out, setup.err);
    setup.colour = setup.live && !is_set("NO_COLOR");
    return setup;
}

/* The number in an environment variable, or 0. */
static unsigned number_of(const char *name)
{
    const char *value = getenv(name);
    unsigned long number = value ? strtoul(value, NULL, 10) : 0;

    return number <= SHRT_MAX ? (unsigned)number : 0;
}

static struct table_style style_of(const struct screen *screen)
{
    struct winsize size = {0};
    struct table_style style = {.colour = screen->setup.colour};

    if (ioctl(screen->setup.out, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    style.width = number_of("COLUMNS");
    if (!style.width)
        style.width = size.ws_col ? size.ws_col : DEFAULT_WIDTH;
    style.height = size.ws_row;
    return style;
}

/* ---- writing without being held up ---- */

/* False if there is no room in time. A reader that was too slow once gets no
 * more time until it has caught up. */
static bool has_room(const struct screen *screen, int file)
{
    struct pollfd poll_file = {.fd = file, .events = POLLOUT};

    return poll(&poll_file, 1, screen->stuck ? 0 : PATIENCE) == 1 &&
           (poll_file.revents & POLLOUT) != 0;
}

/* Small pieces: poll promises room for no more. */
static bool put(struct screen *screen, int file, const char *bytes, size_t size)
{
    while (size > 0) {
        size_t piece = size < PIPE_BUF ? size : PIPE_BUF;
        ssize_t written =
            has_room(screen, file) ? write(file, bytes, piece) : -1;

        screen->stuck = written <= 0;
        if (screen->stuck)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

void screen_init(struct screen *screen, const struct screen_setup *setup)
{
    memset(screen, 0, sizeof *screen);
    screen->setup = *setup;
}

/* ---- the table ---- */

/* Goes up to the first line of the old table, writes the new one over it line
 * by line, so that nothing flickers, and clears what is left below. */
static void redraw(struct screen *screen)
{
    char bytes[TABLE_BYTES + ESCAPES];
    const char *line = screen->drawn;
    struct text out;
    unsigned rows = 0;

    text_init(&out, bytes, sizeof bytes);
    if (screen->rows)
        text_add(&out, "\r\033[%uA", screen->rows);
    while (*line) {
        size_t length = strcspn(line, "\n");

        text_add(&out, "%.*s\033[K\n", (int)length, line);
        line += length + (line[length] == '\n');
        rows++;
    }
    text_add(&out, "\033[J");
    screen->rows = rows;
    (void)put(screen, screen->setup.out, bytes, out.length);
}

static void show_live(struct screen *screen, const struct table *table)
{
    struct table_style style = style_of(screen);
    struct text text;

    /* Terminals differ in what they do to old lines when they are resized:
     * those are left alone. */
    if (style.width != screen->width)
        screen->rows = 0;
    screen->width = style.width;
    text_init(&text, screen->drawn, sizeof screen->drawn);
    table_draw(table, &style, &text);
    redraw(screen);
}

static void show_line(struct screen *screen, const struct table *table)
{
    struct text text;

    text_init(&text, screen->drawn, sizeof screen->drawn);
    if (screen->setup.json)
        table_json(table, &text);
    else
        table_line(table, &text);
    (void)put(screen, screen->setup.out, text.bytes, text.length);
}

void screen_show(struct screen *screen, const struct table *table, nanos now,
                 bool now_or_never)
{
    if (now < screen->next && !now_or_never)
        return;
    screen->next = now + (screen->setup.live ? REDRAW : REPEAT);
    if (screen->setup.live)
        show_live(screen, table);
    else
        show_line(screen, table);
}

/* ---- the log ---- */

static void say_lost(struct screen *screen)
{
    char line[80];
    int length = snprintf(line, sizeof line,
                          "... %llu lines were lost: nobody took them\n",
                          (unsigned long long)screen->lost);

    if (!screen->setup.json &&
        !put(screen, screen->setup.err, line, (size_t)length))
        return;
    screen->lost = 0;
}

void screen_say(void *of, const char *line)
{
    struct screen *screen = of;
    bool above = screen->rows && screen->setup.together;
    char up[32];

    if (above) {
        int length = snprintf(up, sizeof up, "\r\033[%uA\033[J", screen->rows);

        (void)put(screen, screen->setup.out, up, (size_t)length);
        screen->rows = 0;
    }
    if (screen->lost)
        say_lost(screen);
    if (screen->lost || !put(screen, screen->setup.err, line, strlen(line)))
        screen->lost++;
    if (above)
        redraw(screen);
}
