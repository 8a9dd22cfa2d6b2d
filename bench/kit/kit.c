#include "bench/kit/kit.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "core/prng.h"
#include "sim/study/statistics.h"

enum { DRIFTS = 4096, EXIT_WRONG_USE = 64 };

void give_up(const char *format, ...)
{
    va_list arguments;

    (void)fflush(stdout);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    exit(1);
}

// ---- settings ----

static void print_help(const char *program, const char *question,
                       const struct setting *settings, unsigned count)
{
    (void)printf("%s\n\nUsage: %s [--NAME VALUE]...\n\n", question, program);
    for (unsigned i = 0; i < count; i++)
        (void)printf("  --%-12s %s\n", settings[i].name, settings[i].help);
}

static _Noreturn void refuse(const char *program, const char *argument,
                             const char *reason)
{
    (void)fprintf(stderr, "%s: %s: %s; --help lists what there is\n", program,
                  argument, reason);
    exit(EXIT_WRONG_USE);
}

static bool number_of(const char *text, double *number)
{
    char *end;

    errno = 0;
    *number = strtod(text, &end);
    return !errno && end != text && !*end && isfinite(*number);
}

static bool take(const struct setting *setting, const char *text)
{
    double number = 0;

    switch (setting->kind) {
    case SETTING_COUNT:
        if (!number_of(text, &number) || number < 1 || number > 1e9)
            return false;
        *(unsigned *)setting->at = (unsigned)number;
        return true;
    case SETTING_REAL:
        if (!number_of(text, &number) || number < 0)
            return false;
        *(double *)setting->at = number;
        return true;
    case SETTING_TEXT:
        *(const char **)setting->at = text;
        return true;
    case SETTING_FLAG:
    default:
        return false;
    }
}

static const struct setting *
find(const char *argument, const struct setting *settings, unsigned count)
{
    if (strncmp(argument, "--", 2) != 0)
        return NULL;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(argument + 2, settings[i].name) == 0)
            return &settings[i];
    return NULL;
}

int settings_read(int argc, char **argv, const char *question,
                  const struct setting *settings, unsigned count)
{
    for (int i = 1; i < argc; i++) {
        const struct setting *setting = find(argv[i], settings, count);

        if (strcmp(argv[i], "--") == 0)
            return i + 1;
        if (strcmp(argv[i], "--help") == 0) {
            print_help(argv[0], question, settings, count);
            exit(0);
        }
        if (!setting)
            refuse(argv[0], argv[i], "there is no such option");
        if (setting->kind == SETTING_FLAG) {
            *(bool *)setting->at = true;
            continue;
        }
        if (++i == argc)
            refuse(argv[0], argv[i - 1], "its value is missing");
        if (!take(setting, argv[i]))
            refuse(argv[0], argv[i - 1], "its value cannot be right");
    }
    return argc;
}

// ---- time and figures ----

double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sleep_until(double when)
{
    struct timespec then;

    then.tv_sec = (time_t)when;
    then.tv_nsec = (long)((when - (double)then.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) ==
           EINTR)
        ;
}

double quantile(double *values, size_t count, double share)
{
    return statistics_quantile(values, count, share);
}

double median(double *values, size_t count)
{
    return quantile(values, count, 0.5);
}

// ---- files ----

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void folder_remove(const char *path)
{
    (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

// ---- vectors ----

static void *map(size_t bytes, int visible)
{
    int flags = visible | MAP_ANONYMOUS, protection = PROT_READ | PROT_WRITE;
    // Anonymous memory has no file: -1.
    // cppcheck-suppress invalidFunctionArg
    void *memory = mmap(NULL, bytes, protection, flags, -1, 0);

    if (memory == MAP_FAILED)
        give_up("no memory for %zu MiB", bytes / MEBIBYTE);
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    memset(memory, 0, bytes);
    return memory;
}

void *pages(size_t bytes)
{
    return map(bytes, MAP_PRIVATE);
}

void *shared_pages(size_t bytes)
{
    return map(bytes, MAP_SHARED);
}

static const float *drifts(void)
{
    static float table[DRIFTS];

    if (table[0] == 0) {
        struct prng prng;

        prng_seed(&prng, 1);
        for (unsigned i = 0; i < DRIFTS; i++)
            table[i] = (float)(prng_unit(&prng) - 0.5) / 64;
    }
    return table;
}

float drift_of(size_t i)
{
    return drifts()[i % DRIFTS];
}

void drift(float *values, size_t count, float scale)
{
    const float *table = drifts();

    for (size_t first = 0; first < count; first += DRIFTS) {
        size_t some = count - first < DRIFTS ? count - first : DRIFTS;

        for (size_t i = 0; i < some; i++)
            values[first + i] += scale * table[i];
    }
}
