#include "store/seal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "store/file.h"

#define SEAL_FILE "seal"

static bool read_seal(const char *path, unsigned char key[MANIFEST_KEY_BYTES])
{
    char *bytes = NULL;
    size_t size = 0;
    bool whole = file_read_saved(path, MANIFEST_KEY_BYTES, &bytes, &size,
                                 NULL) == STATUS_OK &&
                 size == MANIFEST_KEY_BYTES;

    if (whole)
        memcpy(key, bytes, MANIFEST_KEY_BYTES);
    if (bytes)
        explicit_bzero(bytes, size);
    free(bytes);
    return whole;
}

static enum status write_seal(const char *path, const unsigned char *key,
                              struct why *why)
{
    return file_replace_private(path, &(struct part){key, MANIFEST_KEY_BYTES},
                                1, why);
}

enum status seal_open(const char *directory,
                      unsigned char key[MANIFEST_KEY_BYTES], struct why *why)
{
    char path[FILE_PATH_BYTES];

    path_join(path, directory, SEAL_FILE);
    if (read_seal(path, key))
        return STATUS_OK;
    if (access(path, F_OK) == 0)
        explain(why,
                "%.200s is damaged and made anew: what nodes keep of this run "
                "is refused, where it is newer than what is saved here",
                path);
    if (getrandom(key, MANIFEST_KEY_BYTES, 0) != MANIFEST_KEY_BYTES)
        return because(why, STATUS_IO, "this system has no random numbers");
    return write_seal(path, key, why);
}

enum status seal_keep(const char *directory,
                      const unsigned char key[MANIFEST_KEY_BYTES],
                      struct why *why)
{
    unsigned char there[MANIFEST_KEY_BYTES];
    char path[FILE_PATH_BYTES];
    bool same;

    path_join(path, directory, SEAL_FILE);
    same = read_seal(path, there) && memcmp(there, key, sizeof there) == 0;
    explicit_bzero(there, sizeof there);
    return same ? STATUS_OK : write_seal(path, key, why);
}
