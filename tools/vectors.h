/* What the parts of star-vectors share: pieces of JSON on standard output. */
#ifndef TOOLS_VECTORS_H
#define TOOLS_VECTORS_H

#include <stddef.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { TEXT_ROOM = 8192 };

/* Ends the program. */
_Noreturn void failed(const char *what);
/* A member of an object: bytes, a string, the XXH3-64 of bytes. */
void put_hex(const char *key, const void *bytes, size_t size);
void put_text(const char *key, const char *words);
void put_hash(const char *key, const void *bytes, size_t size);

/* Members of the page. */
void put_models(void);
void put_chunks(void);
void put_rebases(void);
void put_manifest(void);
void put_keys(void);

#endif
