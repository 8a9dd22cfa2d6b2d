#include "program/beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void program_beside(const char *name, char path[PROGRAM_PATH_BYTES])
{
    ssize_t length = readlink("/proc/self/exe", path, PROGRAM_PATH_BYTES - 1);
    size_t room;
    char *slash;

    path[length > 0 ? length : 0] = '\0';
    slash = strrchr(path, '/');
    room = slash ? (size_t)PROGRAM_PATH_BYTES - (size_t)(slash + 1 - path) : 0;
    if (strlen(name) < room)
        memcpy(slash + 1, name, strlen(name) + 1);
    if (strlen(name) >= room || access(path, X_OK) != 0)
        (void)snprintf(path, PROGRAM_PATH_BYTES, "%s", name);
}
