/* What the programs of bench/ share: settings, time, medians.
 *
 * Each program answers one question and prints one line of JSON per figure,
 * on stdout; what it has to say about itself goes to stderr. A figure stands
 * in its line beside its reference, measured in the same run: machines drift
 * by more than most of what is to be seen. */
#ifndef BENCH_KIT_KIT_H
#define BENCH_KIT_KIT_H

#include <stddef.h>

#define MEBIBYTE ((size_t)1 << 20)

/* An option of a program: --name VALUE, or --name alone for a FLAG. */
struct setting {
    const char *name;
    enum setting_kind {
        SETTING_COUNT, /* `at` is an unsigned, 1 or more */
        SETTING_REAL,  /* a double, 0 or more */
        SETTING_TEXT,  /* a const char * */
        SETTING_FLAG   /* a bool */
    } kind;
    void *at; /* holds the default */
    const char *help;
};

/* Reads the command line, of which `settings` (at most 16) are all there is;
 * prints help and ends for --help, ends with 64 when something is wrong.
 * Returns the index of what follows "--", or argc. */
int settings_read(int argc, char **argv, const char *question,
                  const struct setting *settings, unsigned count);

/* Says why on stderr and ends the program with 1. */
void give_up(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* A clock that all processes of the machine share. */
double seconds(void);
void sleep_until(double when);

/* Of count >= 1 values, which are sorted by this. `share` is 0.5 for the
 * median, 0.99 for what 1 % of them exceed. */
double quantile(double *values, size_t count, double share);
double median(double *values, size_t count);

/* With all that is in it. */
void folder_remove(const char *path);

/* `bytes` of zeros in huge pages where the system has them, each touched; not
 * to be freed. Gives up when there is no memory. */
void *pages(size_t bytes);
/* The same for what this process shares with those that it will fork. */
void *shared_pages(size_t bytes);

/* One iteration of a trainer that trains nothing: element i moves by
 * drift_of(i) * scale, so that every element changes, each in its way. */
void drift(float *values, size_t count, float scale);
float drift_of(size_t i);

#endif
