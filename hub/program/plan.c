/* starswitch-hub plan: which settings a star should have, or that one PC will
 * do. The simulator's tune answers it: the program beside this one, or the one
 * that is found on the way to programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/quote.h"
#include "core/value.h"
#include "hub/program/command_line.h"
#include "hub/program/commands.h"
#include "program/beside.h"

enum { WORDS_MOST = 128 };

static const char simulator[] = "starswitch-sim", link_option[] = "--link";

/* The rate of "--link RATE" or "--link=RATE", and how many words that is; NULL:
 * it is another word. Without a rate that is empty. */
static char *link_of(int count, char **words, int at, int *taken)
{
    static char none[] = "";
    size_t length = sizeof link_option - 1;

    *taken = 1;
    if (strncmp(words[at], link_option, length) != 0)
        return NULL;
    if (words[at][length] == '=')
        return words[at] + length + 1;
    if (words[at][length] != '\0')
        return NULL;
    if (at + 1 >= count)
        return none;
    *taken = 2;
    return words[at + 1];
}

/* Who answers knows no --link. */
static enum status check_link(const char *link, struct why *why)
{
    const struct value_type type = {.kind = VALUE_RATE};
    struct why detail = {""};
    char bytes[64];
    struct text shown;
    union value value;

    if (value_parse(&type, link, &value, &detail) == STATUS_OK)
        return STATUS_OK;
    text_init(&shown, bytes, sizeof bytes);
    (void)quote_plain(&shown, link, 40);
    return because(why, STATUS_USAGE, "plan --link%s%s: %s", *bytes ? " " : "",
                   bytes, detail.text);
}

/* A link's rate is that of each node, and of the hub's port. */
int command_plan(int count, char **words)
{
    static char rate[] = "--rate", port[] = "--port", tune[] = "tune";
    static char path[PROGRAM_PATH_BYTES];
    static const char *const none[] = {NULL};
    char *passed[4 * WORDS_MOST + 3]; /* --link=RATE becomes four */
    int made = 0, taken;
    struct why why;

    (void)command_help(count, words, none);
    (void)fflush(stdout);
    program_beside(simulator, path);
    passed[made++] = path;
    passed[made++] = tune;
    if (count > WORDS_MOST)
        return command_end(because(&why, STATUS_USAGE, "plan: too many words"),
                           &why);
    for (int i = 1; i < count; i += taken) {
        char *link = link_of(count, words, i, &taken);

        if (!link) {
            passed[made++] = words[i];
            continue;
        }
        if (check_link(link, &why) != STATUS_OK)
            return command_end(STATUS_USAGE, &why);
        passed[made++] = rate;
        passed[made++] = link;
        passed[made++] = port;
        passed[made++] = link;
    }
    passed[made] = NULL;
    (void)execvp(path, passed);
    return command_end(because(&why, STATUS_UNAVAILABLE,
                               "plan asks %s, which cannot be started: %s",
                               simulator, strerror(errno)),
                       &why);
}
