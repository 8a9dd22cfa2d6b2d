/* What an attack does to its victim. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/attack/attack.h"

/* The first line of a file of /proc about it. */
static bool read_line(unsigned pid, const char *name, char *line, int size)
{
    char path[64];
    FILE *file;
    bool read;

    (void)snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
    file = fopen(path, "re");
    if (!file)
        return false;
    read = fgets(line, size, file) != NULL;
    (void)fclose(file);
    return read;
}

static uint64_t count_descriptors(unsigned pid)
{
    char path[64];
    uint64_t count = 0;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%u/fd", pid);
    folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        (void)closedir(folder);
    return count;
}

/* The word of this number, from 0, behind the name in parentheses. */
static uint64_t word(const char *line, unsigned number)
{
    const char *at = strrchr(line, ')');

    at = at ? at + 2 : line;
    while (number-- && at)
        at = (at = strchr(at, ' ')) ? at + 1 : NULL;
    return at ? strtoull(at, NULL, 10) : 0;
}

bool look_at(struct victim *victim)
{
    char line[1024];
    const unsigned user_ticks = 11, system_ticks = 12;

    if (!victim->pid)
        return true;
    if (!read_line(victim->pid, "stat", line, sizeof line))
        return false;
    victim->processor =
        (double)(word(line, user_ticks) + word(line, system_ticks)) /
        (double)sysconf(_SC_CLK_TCK);
    if (strchr(line, ')') && *(strrchr(line, ')') + 2) == 'Z')
        return false;
    if (!read_line(victim->pid, "statm", line, sizeof line))
        return false;
    victim->rss = word(line, 1) * (uint64_t)sysconf(_SC_PAGESIZE);
    victim->descriptors = count_descriptors(victim->pid);
    return true;
}
