#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"

enum status file_try(const char *path, struct why *why)
{
    char beside[FILE_PATH_BYTES];
    struct stat there;
    enum status status;

    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
        errno = EISDIR;
        return file_failed("write", path, why);
    }
    if (snprintf(beside, sizeof beside, "%s.tmp", path) >=
        (int)sizeof beside)
        return because(why, STATUS_IO, "the file name %.80s... is too long",
                       path);
    status = file_write(beside, NULL, 0, why);
    (void)unlink(beside);
    return status;
}
