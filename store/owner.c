#include "store/owner.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"

/* The folder that `path` is in, which may end with a slash itself. */
static void folder_of(const char *path, char folder[FILE_PATH_BYTES])
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    (void)snprintf(folder, FILE_PATH_BYTES, "%.*s", length ? (int)length : 1,
                   length ? path : ".");
}

void owner_give(int file, const char *path)
{
    char folder[FILE_PATH_BYTES];
    struct stat itself, around;

    if (geteuid() != 0 || fstat(file, &itself) != 0 ||
        (S_ISREG(itself.st_mode) && itself.st_nlink != 1) ||
        S_ISCHR(itself.st_mode) || S_ISBLK(itself.st_mode))
        return; /* what has other names may be of elsewhere */
    folder_of(path, folder);
    if (stat(folder, &around) == 0 && around.st_uid != 0)
        (void)!fchown(file, around.st_uid, around.st_gid);
}

bool owner_make_folder(const char *path)
{
    int folder;

    if (mkdir(path, 0777) != 0)
        return false;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) {
        owner_give(folder, path);
        (void)close(folder);
    }
    return true;
}
