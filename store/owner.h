/* Whose files are that root makes.
 *
 * Root looks after the folder of a service, with a key more or less, and what
 * it leaves there must be the service's: else that cannot read it, and fails
 * when it is started again. So what is new belongs to whom its folder belongs
 * to. For all but root that is themselves, and nothing happens. */
#ifndef STORE_OWNER_H
#define STORE_OWNER_H

#include <stdbool.h>

/* Gives the file or folder that was made at `path`, and is open, to its
 * folder's owner, as far as that goes. */
void owner_give(int file, const char *path);
/* Makes a folder so; false, and errno says why. */
bool owner_make_folder(const char *path);

#endif
