/* starswitch-sim: a star of PCs on a virtual clock. */
#include <stdio.h>
#include <string.h>

#include <starswitch.h>

#include "core/options.h"
#include "core/quote.h"
#include "program/output.h"
#include "sim/program/program.h"
#include "sim/trace/import.h"
#include "train/matrix.h"

#define ACTION_NODE(verb)
#define ACTION_SIM(verb) {#verb, sim_##verb},
#define ACTION(NAME, verb, arguments, what) ACTION_##NAME(verb)
static const struct {
    const char *name;
    int (*run)(int count, char **words);
} commands[] = {
#include "core/programs.def"
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static int print_help(void)
{
    static char bytes[OPTIONS_PAGE_BYTES];
    struct text page;

    text_init(&page, bytes, sizeof bytes);
    options_print_help(PROGRAM_SIM, &page);
    text_add(&page, "\nKinds of files for import (import --help says more):\n");
    for (unsigned i = 0; i < importer_count; i++)
        text_add(&page, "  %-10s  %s\n", importers[i].name, importers[i].doc);
    text_add(&page, "\nWhat a --scenario may say of n1, n2 ... or hub, as in "
                    "`at 20s crash n3`:\n");
#define SCRIPT_VERB(NAME, word, of_hub, function, what)                        \
    text_add(&page, "  %-10s  %s\n", word, what);
#include "sim/study/script.def"
#undef SCRIPT_VERB
    (void)fputs(bytes, stdout);
    return 0;
}

static int fail(const char *word)
{
    char names[200], shown[64];
    struct text list, quoted;

    text_init(&list, names, sizeof names);
    for (unsigned i = 0; i < COMMANDS; i++)
        text_add_item(&list, commands[i].name);
    text_init(&quoted, shown, sizeof shown);
    (void)quote_plain(&quoted, word, 40);
    if (*word)
        (void)fprintf(stderr,
                      "starswitch-sim: there is no command %s; there are %s\n",
                      shown, names);
    else
        (void)fprintf(stderr,
                      "starswitch-sim: what is to be done? Say one of %s; "
                      "--help says more\n",
                      names);
    return status_exit_code(STATUS_USAGE);
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    for (unsigned i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, word) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help();
    if (strcmp(word, "--version") == 0) {
        (void)printf("starswitch-sim %s\n", STAR_VERSION);
        return 0;
    }
    return fail(word);
}

int main(int argc, char **argv)
{
    matrix_use_processor(argv);
    return output_end("starswitch-sim", run(argc, argv));
}
