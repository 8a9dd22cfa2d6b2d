/* Feeds files to a fuzz target, without libFuzzer: replay-NAME PATH...
 * A path is a file, or a folder of files; one that is not there is empty. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST_INPUT (1u << 22)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The target gets a copy that is exact to the byte, so that a sanitizer sees
 * what reads beyond the end. */
static bool replay_file(const char *path)
{
    static uint8_t buffer[LONGEST_INPUT];
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    size_t size;

    if (!file)
        return false;
    size = fread(buffer, 1, sizeof buffer, file);
    (void)fclose(file);
    bytes = malloc(size ? size : 1);
    if (!bytes)
        return false;
    memcpy(bytes, buffer, size);
    (void)LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return true;
}

static long replay_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    long fed = 0;

    for (int i = 0; i < count; i++) {
        char file[4096];
        int length =
            snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);

        if (entries[i]->d_name[0] != '.' && length < (int)sizeof file)
            fed += replay_file(file);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return fed;
}

int main(int count, char **arguments)
{
    long fed = 0;

    for (int i = 1; i < count; i++) {
        struct stat found;

        if (stat(arguments[i], &found) == 0 && S_ISREG(found.st_mode))
            fed += replay_file(arguments[i]);
        else
            fed += replay_folder(arguments[i]);
    }
    (void)printf("%s: %ld inputs\n", arguments[0], fed);
    return 0;
}
