#include "store/seal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "store/file.h"

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

enum status seal_open(const char *directory,
                      unsigned char key[MANIFEST_KEY_BYTES], struct why *why)
{
    char path[FILE_PATH_BYTES];

    path_join(path, directory, "seal");
    if (read_seal(path, key))
        return STATUS_OK;
    if (getrandom(key, MANIFEST_KEY_BYTES, 0) != MANIFEST_KEY_BYTES)
        return because(why, STATUS_IO, "this system has no random numbers");
    return file_replace_private(path, &(struct part){key, MANIFEST_KEY_BYTES},
                                1, why);
}
