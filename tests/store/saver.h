/* A store in a folder of its own, with a model of three chunks, and the jobs
 * that a hub would have it do. */
#ifndef TESTS_STORE_SAVER_H
#define TESTS_STORE_SAVER_H

#include "store/centre.h"
#include "tests/store/folder.h"

enum { SAVER_ELEMENTS = 7, SAVER_CHUNK = 3, SAVER_CHUNKS = 3 };

struct saver {
    struct folder folder;
    struct centre_store store;
    struct schema *schema;
    struct pool *pool;
};

bool saver_open(struct saver *saver);
void saver_close(struct saver *saver);

/* A job that saves run 9. Values of the centre begin at `value`, those of
 * slots at -value and -2 value. */
struct job *saver_job(struct saver *saver, double version, float value,
                      unsigned slots);
/* The same with a best centre, unless its version is below 0: its values begin
 * at 10 times that. */
struct job *saver_job_best(struct saver *saver, double version, float value,
                           unsigned slots, double best);
/* Runs the job and destroys it. */
enum status saver_do(struct job *job);
enum status saver_save(struct saver *saver, double version, float value,
                       unsigned slots);

/* What is there to go on from; it must be something. */
struct centre_loaded *saver_load(struct saver *saver);
/* For centre_load: keeps the last sentence. */
void saver_complain(const char *sentence);
extern char saver_complaint[400]; /* since saver_load, or "" */

#endif
