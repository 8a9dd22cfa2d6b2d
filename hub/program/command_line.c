#include "hub/program/command_line.h"

#include <stdio.h>
#include <string.h>

#include "program/output.h"
#include "program/settings.h"

static bool is_taken(const char *const *taken, const char *name)
{
    while (*taken && strcmp(*taken, name) != 0)
        taken++;
    return *taken || strcmp(name, "config") == 0 || strcmp(name, "help") == 0;
}

static enum status check_given(const struct options *options,
                               const char *command, const char *const *taken,
                               struct why *why)
{
    char bytes[80] = "";
    struct text names;
    size_t count;
    const struct option *rows = options_rows(&count);

    text_init(&names, bytes, sizeof bytes);
    for (const char *const *name = taken; *name; name++)
        text_add(&names, "%s--%s", name == taken ? "" : ", ", *name);
    for (size_t i = 0; i < count; i++)
        if (*((const unsigned char *)options + rows[i].given) ==
                OPTION_ARGUMENT &&
            !is_taken(taken, rows[i].name))
            return because(
                why, STATUS_USAGE, "--%s is for a hub that starts; %s takes %s",
                rows[i].name, command, *bytes ? bytes : "no options");
    return STATUS_OK;
}

/* Puts the words that stand behind -- to those before the options, which end
 * at the number that it returns. */
static int gather(int count, char **words, int *plain)
{
    int end = *plain;

    while (end < count && strcmp(words[end], "--") != 0)
        end++;
    for (int i = end + 1; i < count; i++) {
        char *word = words[i];

        memmove(words + *plain + 1, words + *plain,
                (size_t)(i - *plain) * sizeof *words);
        words[(*plain)++] = word;
    }
    return end < count ? count - 1 : count;
}

bool command_help(int count, char **words, const char *const *taken)
{
    char bytes[OPTIONS_PAGE_BYTES];
    struct text page;
    int at = 1;

    while (at < count && strcmp(words[at], "--help") != 0 &&
           strcmp(words[at], "-h") != 0 && strcmp(words[at], "--") != 0)
        at++;
    if (at == count || strcmp(words[at], "--") == 0)
        return false;
    text_init(&page, bytes, sizeof bytes);
    options_print_action(PROGRAM_HUB, words[0], taken, &page);
    if (strcmp(words[0], "ctl") == 0)
        options_print_commands(&page);
    (void)fputs(bytes, stdout);
    return true;
}

enum status command_read(int count, char **words, const char *const *taken,
                         struct options *out, int *plain, struct why *why)
{
    enum status status;

    options_defaults(out);
    out->help = command_help(count, words, taken);
    if (out->help)
        return STATUS_OK;
    for (*plain = 1; *plain < count && words[*plain][0] != '-';)
        ++*plain;
    count = gather(count, words, plain);
    status = settings_read(out, PROGRAM_HUB, count - *plain + 1,
                           words + *plain - 1, why);
    return status == STATUS_OK ? check_given(out, words[0], taken, why)
                               : status;
}

int command_end(enum status status, const struct why *why)
{
    return output_fail("starswitch-hub", status, why);
}
