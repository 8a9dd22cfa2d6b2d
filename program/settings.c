#include "program/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 64 * 1024 };

static const char *look_up(const char *name)
{
    return getenv(name);
}

/* Reads at most size bytes; on failure errno says why. */
static enum status read_bytes(const char *path, char *bytes, size_t size,
                              size_t *length)
{
    FILE *file = fopen(path, "rb");
    enum status status = STATUS_OK;

    if (!file)
        return STATUS_IO;
    *length = fread(bytes, 1, size, file);
    if (ferror(file))
        status = STATUS_IO;
    (void)fclose(file);
    return status;
}

static enum status read_config(struct options *options, enum program program,
                               const char *path, struct why *why)
{
    char *bytes = malloc(FILE_BYTES_MAX + 1);
    struct why detail = {""};
    enum status status;
    size_t length = 0;

    if (!bytes)
        return because(why, STATUS_NO_MEMORY, "no memory for %s", path);
    errno = 0;
    status = read_bytes(path, bytes, FILE_BYTES_MAX + 1, &length);
    if (status != STATUS_OK)
        (void)because(&detail, status, "cannot be read: %s", strerror(errno));
    else if (length > FILE_BYTES_MAX)
        status =
            because(&detail, STATUS_CONFIG, "a config file has at most 64 KiB");
    else
        status =
            options_parse_config_text(options, program, bytes, length, &detail);
    free(bytes);
    if (status != STATUS_OK)
        return because(why, status, "%.120s: %s", path, detail.text);
    return STATUS_OK;
}

/* `verb`: the command's, first of all, or else no matter. */
static void print_help(enum program program, const char *verb)
{
    static const char *const none[] = {NULL};
    char bytes[OPTIONS_PAGE_BYTES];
    struct text page;

    text_init(&page, bytes, sizeof bytes);
    options_print_action(program, verb, none, &page);
    if (page.length)
        text_add(&page, "\n");
    options_print_help(program, &page);
    (void)fputs(bytes, stdout);
}

/* No more than a warning: others give such names, too, as a container's
 * manager does for a service that is called starswitch-hub. */
static void warn_of_variables(enum program program)
{
    struct why why;

    for (char **variable = environ; *variable; variable++)
        if (options_check_variable(*variable, &why) != STATUS_OK)
            (void)fprintf(stderr, "%s: warning: %s\n", programs[program].name,
                          why.text);
}

enum status settings_read(struct options *out, enum program program, int argc,
                          char *const *argv, struct why *why)
{
    enum status status;
    struct options next;

    options_defaults(&next);
    status = options_parse_arguments(&next, program, argc, argv, why);
    options_hide_secrets(program, argc, argv);
    if (status != STATUS_OK)
        return status;
    if (next.help)
        print_help(program, argc > 0 ? argv[0] : "");
    if (!next.help && !next.version && *next.config)
        status = read_config(&next, program, next.config, why);
    if (status == STATUS_OK && !next.help && !next.version)
        warn_of_variables(program);
    if (status == STATUS_OK && !next.help && !next.version)
        status = options_parse_environment(&next, program, look_up, why);
    if (status == STATUS_OK)
        *out = next;
    return status;
}
