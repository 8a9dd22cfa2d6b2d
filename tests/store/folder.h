/* A folder of its own for a test that writes files; the tests of store/ and
 * show/ use it. */
#ifndef TESTS_STORE_FOLDER_H
#define TESTS_STORE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

struct folder {
    char path[64];
};

bool folder_new(struct folder *folder);
void folder_remove(struct folder *folder); /* and all that is in it */

/* The path of a file in it; valid until the fourth next call. */
const char *folder_file(const struct folder *folder, const char *name);

/* The whole file with a NUL behind it, to be freed; NULL if it is not there. */
char *file_content(const char *path, size_t *size);
bool file_fill(const char *path, const void *bytes, size_t size);
bool file_exists(const char *path);

/* While limited, this process can write no file beyond `bytes`. */
void limit_file_size(unsigned long bytes);
void unlimit_file_size(void);

/* While limited, it can open no file or folder. */
void limit_files(void);
void unlimit_files(void);

#endif
