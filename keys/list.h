/* The keys in a folder's files, NAME.key each; other files are nobody's
 * business. */
#ifndef KEYS_LIST_H
#define KEYS_LIST_H

#include "keys/certificate.h"

enum { LIST_MOST = 16384 }; /* files in a folder */

struct list_entry {
    struct key key;
    char name[KEY_NAME_BYTES];
    uint64_t line; /* that let it in; 0: the operator did */
};

struct list {
    struct list_entry *entries; /* by key */
    unsigned count, room;
};

/* Reads a folder into an empty list; one that is not there is empty. The list
 * is to be freed on failure, too. IO, MALFORMED, CONFIG (there are too many):
 * the sentence names the file. */
enum status list_read(const char *folder, struct list *out,
                      struct why *why) MUST_CHECK;
void list_free(struct list *list);
/* CONFIG: two files have one key. */
enum status list_check(const struct list *list, const char *folder,
                       struct why *why) MUST_CHECK;
bool list_has(const struct list *list, const struct key *key);
/* Adds it, unless its key is there. NO_MEMORY. */
enum status list_insert(struct list *list, const struct list_entry *entry,
                        struct why *why) MUST_CHECK;
void list_remove(struct list *list, const struct key *key);

#endif
