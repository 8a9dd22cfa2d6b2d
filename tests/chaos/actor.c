#include "tests/chaos/actor.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/net.h"

enum { MOST_WORDS = 40 };

extern char **environ;

void log_line(FILE *log, const char *format, ...)
{
    nanos now = net_now();
    va_list arguments;

    (void)fprintf(log, "%" PRId64 ".%09" PRId64 " ", now / SECOND,
                  now % SECOND);
    va_start(arguments, format);
    (void)vfprintf(log, format, arguments);
    va_end(arguments);
    (void)fputc('\n', log);
    (void)fflush(log);
}

/* Starts a command, with what it prints added to `output`, or NULL. */
static pid_t spawn(char *const *words, const char *output)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND;
    posix_spawn_file_actions_t files;
    pid_t pid = 0;

    assert(words[0]);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                           O_RDONLY, 0);
    if (output) {
        (void)posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output,
                                               flags, 0644);
        (void)posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO,
                                               STDERR_FILENO);
    }
    if (posix_spawnp(&pid, words[0], &files, NULL, words, environ) != 0) {
        (void)fprintf(stderr, "star-chaos: %s cannot be started\n", words[0]);
        exit(1);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return pid;
}

bool command_run(char *const *words)
{
    pid_t pid = spawn(words, NULL);
    int status = 0;

    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* The words of a command, from a line of them. */
struct words {
    char text[4 * PATH_ROOM];
    char *list[MOST_WORDS + 1];
};

static void cut_words(struct words *words)
{
    unsigned count = 0;
    char *rest = words->text;

    for (char *word; count < MOST_WORDS && (word = strsep(&rest, " "));)
        if (*word)
            words->list[count++] = word;
    words->list[count] = NULL;
}

static void hub_words(const struct actor *actor, const struct drive *drive,
                      struct words *words)
{
    (void)snprintf(words->text, sizeof words->text,
                   "ip netns exec %s %s/starswitch-hub --listen 10.99.0.1:7541 "
                   "--insecure --directory %s/disk/run --save 500ms --chunk "
                   "4KiB --every 20 --delay 4 --init hub --json "
                   "--record %s/%s.%u.record %s",
                   actor->name, drive->programs, drive->folder, drive->folder,
                   actor->name, actor->life, drive->settings);
}

static void node_words(const struct actor *actor, const struct drive *drive,
                       struct words *words)
{
    char model[2 * PATH_ROOM + 80];

    if (drive->counted)
        (void)snprintf(model, sizeof model,
                       "--trainer %s/tests/preload/counting_trainer.so "
                       "--model x:%u,%s/%s.steps",
                       drive->programs, actor->index, drive->folder,
                       actor->name);
    else
        (void)snprintf(model, sizeof model,
                       "--model mlp:6-300-3 --data %s/blobs.csv",
                       drive->folder);
    (void)snprintf(words->text, sizeof words->text,
                   "ip netns exec %s %s/starswitch-node --hub 10.99.0.1:7541 "
                   "--name %s %s --step-time 10ms --json "
                   "--record %s/%s.%u.record",
                   actor->name, drive->programs, actor->name, model,
                   drive->folder, actor->name, actor->life);
}

void actor_start(struct actor *actor, const struct drive *drive, FILE *log)
{
    struct words words = {.text = ""};
    char output[PATH_ROOM];

    actor->life++;
    actor->restart = NEVER;
    (void)snprintf(output, sizeof output, "%s/%s.out", drive->folder,
                   actor->name);
    if (actor->index == 0)
        hub_words(actor, drive, &words);
    else
        node_words(actor, drive, &words);
    cut_words(&words);
    actor->pid = spawn(words.list, output);
    log_line(log, "start %s %u %d", actor->name, actor->life, (int)actor->pid);
}
