#include "hub/program/commands.h"

#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "core/words.h"
#include "net/settings.h"

#define ACTION_HUB(verb) {#verb, command_##verb},
#define ACTION_SIM(verb)
#define ACTION(NAME, verb, arguments, what) ACTION_##NAME(verb)
static const struct {
    const char *name;
    int (*run)(int count, char **words);
} commands[] = {
#include "core/programs.def"
};

static bool is_order(const char *word)
{
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(command_words[i].text, word) == 0)
            return true;
    return false;
}

/* What stands first and is no option. */
static int unknown(const char *word)
{
    char shown[64], bytes[120];
    struct text text, names;
    struct why why;
    enum status status = STATUS_USAGE;

    text_init(&text, shown, sizeof shown);
    (void)quote_plain(&text, word, 40);
    text_init(&names, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        text_add_item(&names, commands[i].name);
    if (is_order(word))
        (void)because(&why, status, "%s is asked of a hub that runs: say "
                      "starswitch-hub ctl %s", shown, shown);
    else
        (void)because(&why, status, "there is no command %s; there are %s; "
                      "without one a hub starts, by --name value: --help says "
                      "more", shown, bytes);
    return command_end(status, &why);
}

bool command_run(int argc, char **argv, int *code)
{
    const char *word = argc > 1 ? argv[1] : "";

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, word) == 0) {
            *code = commands[i].run(argc - 1, argv + 1);
            return true;
        }
    if (argc > 1 && *word != '-') {
        *code = unknown(word);
        return true;
    }
    return false;
}

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
            return because(why, STATUS_USAGE,
                           "--%s is for a hub that starts; %s takes %s",
                           rows[i].name, command,
                           *bytes ? bytes : "no options");
    return STATUS_OK;
}

enum status command_read(int count, char *const *words,
                         const char *const *taken, struct options *out,
                         int *plain, struct why *why)
{
    enum status status;

    for (*plain = 1; *plain < count && words[*plain][0] != '-';)
        ++*plain;
    status = settings_read(out, PROGRAM_HUB, count - *plain + 1,
                           words + *plain - 1, why);
    return status == STATUS_OK ? check_given(out, words[0], taken, why)
                               : status;
}

int command_end(enum status status, const struct why *why)
{
    if (status != STATUS_OK)
        (void)fprintf(stderr, "starswitch-hub: %s\n", why->text);
    return status_exit_code(status);
}
