/* The programs of this release, which lie in one folder. */
#ifndef PROGRAM_BESIDE_H
#define PROGRAM_BESIDE_H

enum { PROGRAM_PATH_BYTES = 4096 };

/* The program of this name in the folder of the one that runs; only its name,
 * to be looked for on the path, where there is none. */
void program_beside(const char *name, char path[PROGRAM_PATH_BYTES]);

#endif
