#include "tests/store/folder.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"

enum { PATHS = 4, PATH_BYTES = 512 };

bool folder_new(struct folder *folder)
{
    *folder = (struct folder){"/tmp/starswitch-test-XXXXXX"};
    return mkdtemp(folder->path);
}

static void remove_entry(const char *path)
{
    folder_discard(path);
    (void)remove(path);
}

void folder_remove(struct folder *folder)
{
    struct dirent **entries;
    int count = scandir(folder->path, &entries, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;

        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            remove_entry(folder_file(folder, name));
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    (void)rmdir(folder->path);
}

const char *folder_file(const struct folder *folder, const char *name)
{
    static char paths[PATHS][PATH_BYTES];
    static unsigned next;
    char *path = paths[next++ % PATHS];

    (void)snprintf(path, PATH_BYTES, "%s/%s", folder->path, name);
    return path;
}

char *file_content(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat found;
    char *bytes;

    if (!file)
        return NULL;
    *size = fstat(fileno(file), &found) == 0 ? (size_t)found.st_size : 0;
    bytes = calloc(1, *size + 1);
    if (bytes)
        *size = fread(bytes, 1, *size, file);
    (void)fclose(file);
    return bytes;
}

bool file_fill(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool filled;

    if (!file)
        return false;
    filled = fwrite(bytes, 1, size, file) == size;
    return fclose(file) == 0 && filled;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static struct rlimit files;

void limit_files(void)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_NOFILE, &files);
    limit = files;
    limit.rlim_cur = 0;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void unlimit_files(void)
{
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

void limit_file_size(unsigned long bytes)
{
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN);
    (void)getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    (void)setrlimit(RLIMIT_FSIZE, &limit);
}

void unlimit_file_size(void)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    (void)signal(SIGXFSZ, SIG_DFL);
}
