#include "tests/sim/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

static int redirect(int fd, const char *path)
{
    int kept = dup(fd);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(kept >= 0 && file >= 0 && dup2(file, fd) == fd);
    (void)close(file);
    return kept;
}

static void restore(int fd, int kept)
{
    CHECK(dup2(kept, fd) == fd);
    (void)close(kept);
}

struct command command_call(const struct folder *folder,
                            int (*command)(int argc, char **argv),
                            const char *const words[COMMAND_WORDS])
{
    struct command left;
    char *argv[COMMAND_WORDS];
    int argc = 0, out, err;
    size_t size;

    for (; words[argc]; argc++)
        argv[argc] = strdup(words[argc]);
    (void)fflush(NULL);
    out = redirect(1, folder_file(folder, "stdout"));
    err = redirect(2, folder_file(folder, "stderr"));
    left.code = command(argc, argv);
    (void)fflush(NULL);
    restore(1, out);
    restore(2, err);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    left.out = file_content(folder_file(folder, "stdout"), &size);
    left.err = file_content(folder_file(folder, "stderr"), &size);
    return left;
}

struct command command_line(const struct folder *folder,
                            int (*command)(int argc, char **argv),
                            const char *line)
{
    const char *words[COMMAND_WORDS] = {NULL};
    char copy[1024], *rest = copy, *word;
    int count = 0;

    CHECK(snprintf(copy, sizeof copy, "%s", line) < (int)sizeof copy);
    while (count + 1 < COMMAND_WORDS && (word = strsep(&rest, " ")) != NULL)
        if (*word)
            words[count++] = word;
    CHECK(rest == NULL);
    return command_call(folder, command, words);
}

void command_free(struct command *command)
{
    free(command->out);
    free(command->err);
}
