#include "hub/program/logs.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/quote.h"
#include "hub/program/command_line.h"
#include "hub/program/commands.h"
#include "hub/program/ctl.h"
#include "report/stamp.h"
#include "seam/machine.h"

#define AGAIN (250 * MILLISECOND)

enum { PATIENCE = 3 /* s */ };

static const char next_word[] = "next ";

/* ---- the hub's part ---- */

static void add_left_out(struct text *out, uint64_t count)
{
    if (count)
        text_add(out, "... %" PRIu64 " line%s left out\n", count,
                 plural(count));
}

static void add_line(struct text *out, const struct msg_log *line)
{
    add_left_out(out, line->left_out);
    stamp_add(out, line->time);
    text_add(out, " %s ", level_capitals((enum level)line->level));
    quote_visible(out, line->event);
    text_add(out, ": ");
    quote_visible(out, line->text);
    quote_visible(out, line->rest);
    text_add(out, "\n");
}

/* Where the last `count` lines begin, with those that say what was left out. */
static uint64_t last_lines(const struct logs_node *node, uint64_t count)
{
    uint64_t from = node->next, taken = node->left_out != 0;

    while (from > node->first) {
        taken += node->lines[(from - 1) % LOGS_LINES].left_out ? 2 : 1;
        if (taken > count)
            break;
        from--;
    }
    return from;
}

static void add_lines(struct text *out, const struct logs_node *node,
                      uint64_t count, uint64_t from, nanos born)
{
    if (!from || from > node->next)
        from = last_lines(node, count);
    text_add(out, "%s%" PRIu64 " %" PRId64 "\n", next_word, node->next, born);
    if (from < node->first) {
        add_left_out(out, node->first - from);
        from = node->first;
    }
    for (; from < node->next; from++)
        add_line(out, &node->lines[from % LOGS_LINES]);
    if (count)
        add_left_out(out, node->left_out);
}

static void add_names(struct text *out, const struct logs *logs,
                      const char *name)
{
    text_add(out, "no node ");
    (void)quote_plain(out, name, sizeof logs->nodes[0]->name);
    text_add(out, " has said anything to this hub; %s",
             logs->count ? "these have:" : "nor has any other");
    for (unsigned i = 0; i < logs->count; i++) {
        text_add(out, "%s ", i ? "," : "");
        (void)quote_plain(out, logs->nodes[i]->name,
                          sizeof logs->nodes[i]->name);
    }
}

bool logs_answer(const char *line, const struct logs *logs, nanos born,
                 struct text *out)
{
    static const char word[] = "logs ";
    const struct logs_node *node;
    uint64_t count, from;
    char *end;

    if (strncmp(line, word, sizeof word - 1) != 0)
        return false;
    count = strtoull(line + sizeof word - 1, &end, 10);
    from = strtoull(end, &end, 10);
    end += *end == ' ';
    node = logs_of(logs, end);
    if (node)
        add_lines(out, node, count, from, born);
    else
        add_names(out, logs, end);
    return true;
}

/* ---- the command ---- */

/* Where the command is in a node's lines. */
struct place {
    uint64_t from; /* the next line; 0: the last ones */
    int64_t born;  /* of the hub that they are of; 0: not known yet */
};

/* Asks once. Of a hub that has been started since, nothing is printed: the
 * place is its first line. */
static enum status ask(const char *directory, const char *name, uint64_t count,
                       struct place *place, struct why *why)
{
    static char answer[CTL_ANSWER_BYTES], words[CTL_ANSWER_BYTES];
    char line[CTL_LINE_BYTES], *rest;
    int64_t former = place->born;
    struct text text;
    bool runs;
    enum status status;

    (void)snprintf(line, sizeof line, "logs %" PRIu64 " %" PRIu64 " %s", count,
                   place->from, name);
    status = ctl_ask(directory, line, PATIENCE, answer, &runs, why);
    if (status != STATUS_OK)
        return status;
    text_init(&text, words, sizeof words);
    ctl_text(answer, &text);
    if (strncmp(words, next_word, sizeof next_word - 1) != 0)
        return because(why, STATUS_USAGE, "%s", words);
    place->from = strtoull(words + sizeof next_word - 1, &rest, 10);
    place->born = strtoll(rest, &rest, 10);
    if (former && former != place->born) {
        place->from = 1;
        return STATUS_AGAIN;
    }
    (void)fputs(rest + (*rest == '\n'), stdout);
    return fflush(stdout) == 0
               ? STATUS_OK
               : because(why, STATUS_IO, "nobody reads the lines any more");
}

/* Prints what is new. */
static enum status show(const char *directory, const char *name, uint64_t count,
                        struct place *place, struct why *why)
{
    enum status status = ask(directory, name, count, place, why);

    return status == STATUS_AGAIN ? ask(directory, name, count, place, why)
                                  : status;
}

static volatile sig_atomic_t over;

static void on_end(int number)
{
    (void)number;
    over = 1;
}

/* Ctrl-C and SIGTERM end it well. */
static void expect_end(void)
{
    const struct sigaction action = {.sa_handler = on_end};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* Until it is over; a hub that is away is waited for. */
static enum status follow(const char *directory, const char *name,
                          struct place *place, struct why *why)
{
    const struct timespec pause = {0, AGAIN};
    bool away = false;
    enum status status = STATUS_OK;

    while (status != STATUS_IO && !over) {
        (void)nanosleep(&pause, NULL);
        status = show(directory, name, 0, place, why);
        if (status != STATUS_OK && !away && !over)
            (void)fprintf(stderr, "starswitch-hub: %s; looking again\n",
                          why->text);
        away = status != STATUS_OK;
    }
    return status;
}

/* -f and -n, as tail has them, are --follow and --lines. */
static void lengthen(int count, char **words)
{
    static char follows[] = "--follow", lines[] = "--lines";

    for (int i = 1; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "-f") == 0)
            words[i] = follows;
        else if (strcmp(words[i], "-n") == 0)
            words[i] = lines;
}

int command_logs(int count, char **words)
{
    static const char *const taken[] = {"directory", "follow", "lines", NULL};
    static struct options options;
    struct why why = {""};
    struct place place = {0};
    int plain;
    enum status status;

    lengthen(count, words);
    status = command_read(count, words, taken, &options, &plain, &why);
    if (status == STATUS_OK && options.help)
        return 0;
    if (status == STATUS_OK && plain != 2)
        status = because(&why, STATUS_USAGE,
                         "logs takes the name of one node, before its options, "
                         "or behind -- at the end; starswitch-hub top shows "
                         "the names");
    if (status == STATUS_OK && options.follow)
        expect_end();
    if (status == STATUS_OK)
        status = show(options.directory, words[1], options.lines, &place, &why);
    if (status == STATUS_OK && options.follow)
        status = follow(options.directory, words[1], &place, &why);
    return command_end(over ? STATUS_OK : status, &why);
}
