#include "hub/program/commands.h"

#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "core/words.h"
#include "hub/program/command_line.h"

#define ACTION_HUB(verb) {#verb, command_##verb},
#define ACTION_NODE(verb)
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
        (void)because(&why, status,
                      "%s is asked of a hub that runs: say "
                      "starswitch-hub ctl %s",
                      shown, shown);
    else
        (void)because(&why, status,
                      "there is no command %s; there are %s; "
                      "without one a hub starts, by --name value: --help says "
                      "more",
                      shown, bytes);
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
