/* What each fault does: the functions that faults.def names. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/chaos/stage.h"

void send_signal(const struct actor *actor, int number)
{
    if (actor->pid)
        (void)kill(actor->pid, number);
}

/* Waits until it is gone: it may not be started twice. */
void kill_actor(struct stage *stage, struct actor *actor, enum fault fault)
{
    int status = 0;

    (void)fault;
    send_signal(actor, SIGKILL);
    if (waitpid(actor->pid, &status, 0) == actor->pid)
        log_line(stage->log, "gone %s %u %d", actor->name, actor->life,
                 WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                     : WEXITSTATUS(status));
    actor->pid = 0;
}

void revive_actor(struct stage *stage, struct actor *actor, enum fault fault)
{
    (void)fault;
    if (!actor->pid)
        actor_start(actor, stage->drive, stage->log);
}

void stop_actor(struct stage *stage, struct actor *actor, enum fault fault)
{
    (void)stage;
    (void)fault;
    send_signal(actor, SIGSTOP);
}

void go_on_actor(struct stage *stage, struct actor *actor, enum fault fault)
{
    (void)stage;
    (void)fault;
    send_signal(actor, SIGCONT);
}

static void change_link(struct stage *stage, struct actor *actor,
                        enum fault fault, char *how)
{
    char script[] = "tests/chaos/network", link[] = "link", rate[8];
    char word[NAME_BYTES + 4];
    const char *name = fault_name(fault);
    char *words[] = {script, link, actor->name, word, how, rate, NULL};

    if (strncmp(name, "hub-", 4) == 0)
        name += 4;
    (void)snprintf(word, sizeof word, "%s", name);
    (void)snprintf(rate, sizeof rate, "%" PRIu64,
                   1 + prng_below(&stage->prng, 40));
    if (!command_run(words))
        log_line(stage->log, "failed %s %s %s", name, actor->name, how);
}

void begin_link(struct stage *stage, struct actor *actor, enum fault fault)
{
    char how[] = "on";

    change_link(stage, actor, fault, how);
}

void end_link(struct stage *stage, struct actor *actor, enum fault fault)
{
    char how[] = "off";

    change_link(stage, actor, fault, how);
}

static void remove_run(const struct drive *drive)
{
    char path[PATH_ROOM], remove[] = "rm", all[] = "-rf";
    char *words[] = {remove, all, path, NULL};

    (void)snprintf(path, sizeof path, "%s/disk/run", drive->folder);
    (void)command_run(words);
}

void lose_hub(struct stage *stage, struct actor *actor, enum fault fault)
{
    kill_actor(stage, actor, fault);
    remove_run(stage->drive);
}

static void filler(const struct drive *drive, char path[PATH_ROOM])
{
    (void)snprintf(path, PATH_ROOM, "%s/disk/filler", drive->folder);
}

void fill_disk(struct stage *stage, struct actor *actor, enum fault fault)
{
    static const char zeros[65536];
    char path[PATH_ROOM];
    int file;

    (void)actor;
    (void)fault;
    filler(stage->drive, path);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    while (file >= 0 && write(file, zeros, sizeof zeros) > 0)
        continue;
    if (file >= 0)
        (void)close(file);
}

void free_disk(struct stage *stage, struct actor *actor, enum fault fault)
{
    char path[PATH_ROOM];

    (void)actor;
    (void)fault;
    filler(stage->drive, path);
    (void)unlink(path);
}
